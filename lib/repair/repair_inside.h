/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/repair alone. */
#ifndef OPK_REPAIR_INSIDE_H
#define OPK_REPAIR_INSIDE_H

#include "base/listing.h"
#include "container/container.h"

/* Makes opk_verify()'s list of the findings. verify.c */
int opk_findings_list(struct opk_listing **out, struct opk_ctx *ctx,
                      const struct opk_findings *findings);

struct opk_some_images {
	const struct opk_file *file;
	enum opk_profiler profiler;
	const size_t *sections;
	const uint32_t *passes; /* the pass of each image; 0: all passes */
	size_t count;
};
/*
 * Asks NVIDIA's code, in one child process, how many ranges or samples each image has. OPK_EINPUT:
 * an image can't be evaluated, and the innermost cause is the reason; OPK_ENVIDIA: the library is
 * missing.
 */
int opk_image_rows(uint64_t *rows, struct opk_ctx *ctx, const struct opk_some_images *images);

/*
 * Whether a module that is kept whole has the CRC that names it, as NVIDIA's code computes it in a
 * child process. OPK_EINPUT: it has not; OPK_ENVIDIA: the library is missing.
 */
int opk_module_check_crc(struct opk_ctx *ctx, const struct opk_file *file, size_t section);

#endif
