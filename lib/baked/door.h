/* SPDX-License-Identifier: BSD-2-Clause */
/* Values in a recording: what the command uses of this room. */
#ifndef OPK_BAKED_DOOR_H
#define OPK_BAKED_DOOR_H

#include "base/ctx.h"

/* What evaluated the values that a file has; all zeros: it has none. */
struct opk_values_origin {
	char generator[64];
	uint32_t cupti_version; /* 0: not CUPTI */
};
int opk_values_origin_find(struct opk_values_origin *out, struct opk_ctx *ctx,
                           const struct opk_file *file);
/* Another tool computed the values: there never were images. */
bool opk_values_are_foreign(const struct opk_values_origin *origin);

/*
 * The sets whose values a file has, the recorded one first: set, its name, or a hash where a file
 * of an earlier version does not say it; metrics, how many it has; recorded, whether it is the
 * recorded one. *metrics is how many have values in all. No rows: the file has none.
 */
int opk_values_list(struct opk_listing **out, size_t *metrics, struct opk_ctx *ctx,
                    struct opk_file *file);

#endif
