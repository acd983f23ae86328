/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings with their values: what the command uses of this room. */
#ifndef OPK_BAKING_DOOR_H
#define OPK_BAKING_DOOR_H

#include "base/ctx.h"

struct opk_bake_options {
	bool only; /* without the images */
	/* Further full names, and sets, that are evaluated, too. */
	const char *const *metrics;
	size_t metric_count;
	const struct opk_set *const *sets;
	size_t set_count;
};
/*
 * Copies a recording with the values of its set, and of what reports add to them, which are then
 * read without NVIDIA's libraries. Evaluates the images, as opk_table_new() does. OPK_EUSAGE: there
 * is nothing to evaluate.
 */
int opk_bake(struct opk_ctx *ctx, struct opk_file *file, const struct opk_bake_options *options,
             const char *path);

#endif
