/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/repair alone. */
#ifndef OPK_REPAIR_INSIDE_H
#define OPK_REPAIR_INSIDE_H

#include "base/listing.h"
#include "container/container.h"

/* The list that opk_verify() makes of what was found. verify.c */
int opk_findings_list(struct opk_listing **out, struct opk_ctx *ctx,
                      const struct opk_findings *findings);

struct opk_some_images {
	const struct opk_file *file;
	enum opk_profiler profiler;
	const size_t *sections;
	const uint32_t *passes; /* the one that an image has; 0: it has all */
	size_t count;
};
/*
 * How many ranges or samples NVIDIA's code finds in each, in one child process. OPK_EINPUT where
 * an image can't be evaluated, with the reason as the innermost cause; OPK_ENVIDIA where there is
 * no library to ask.
 */
int opk_image_rows(uint64_t *rows, struct opk_ctx *ctx, const struct opk_some_images *images);

#endif
