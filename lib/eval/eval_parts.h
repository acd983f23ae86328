/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording's images divided among children that evaluate side by side. */
#ifndef OPK_EVAL_PARTS_H
#define OPK_EVAL_PARTS_H

#include "eval/eval.h"

struct opk_eval_parts {
	struct opk_eval_job *jobs; /* neighbouring images, in the order of the file */
	size_t count;
	uint64_t largest; /* bytes of the largest image */
};

/* `workers`: at most so many; 0: as many as cores and bytes make worthwhile. */
int opk_eval_parts_init(struct opk_eval_parts *parts, struct opk_ctx *ctx,
                        const struct opk_eval_job *job, size_t workers);
void opk_eval_parts_clear(struct opk_eval_parts *parts);

/* Plain bytes of all its images. */
uint64_t opk_images_size(const struct opk_file *file);

#endif
