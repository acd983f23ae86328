/* SPDX-License-Identifier: BSD-2-Clause */
/* What the metadata of several recordings say of all of them. */
#ifndef OPK_MERGE_META_H
#define OPK_MERGE_META_H

#include "base/index.h"
#include "base/ctx.h"

/* Borrows from the first recording's metadata. */
struct opk_common_meta {
	struct opk_meta meta;
	struct opk_index metrics; /* of the first: name to number */
	bool *is_inflated;        /* one a metric: in any recording */
	const char **inflated;
	struct opk_property *run; /* what all say */
};

int opk_common_meta_begin(struct opk_common_meta *common, struct opk_ctx *ctx,
                          const struct opk_meta *first);
/* Another's, of the same metrics. */
int opk_common_meta_add(struct opk_common_meta *common, struct opk_ctx *ctx,
                        const struct opk_meta *meta);
void opk_common_meta_clear(struct opk_common_meta *common);

#endif
