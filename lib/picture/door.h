/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_PICTURE_DOOR_H
#define OPK_PICTURE_DOOR_H

#include "base/ctx.h"
#include "picture/svg.h"
#include "summary/door.h"

/* A line of a roofline: a level of memory, or a peak of operations. */
struct opk_roof {
	const char *name;
	bool is_level;    /* of memory: `peak` is bytes a second, else operations a second */
	double peak;      /* the highest of all kernels: it goes with the clock */
	bool idle;        /* of operations that no kernel has */
	const char *unit; /* "byte", or of operations: "flop", "op" for those of integers */
};

/* A kernel at a level of memory. */
struct opk_roofline_dot {
	size_t kernel;    /* the summary's group of this number */
	size_t roof;      /* its level's */
	double intensity; /* operations a byte, finite and more than 0 */
	double rate;      /* operations a second; in the same way */
};

/*
 * How near a kernel is to the lines. Operations of each type are held against that type's own
 * peak, a level against its bytes a second and its throughput; the largest share is the nearest.
 */
struct opk_roofline_kernel {
	/*
	 * The largest share that is known: "fp32 48.1%"; "L2 at least 12%" where not all parts of
	 * its throughput are known; or "".
	 */
	const char *highest;
	const char *text; /* all shares, the nearest line, and what is not known, in words */
};

/* Kernels between their roofs; texts are borrowed from the evaluation. */
struct opk_roofline {
	const char *title; /* may be "" */
	const char *unit;  /* of operations: "flop"; "op" where some are of another unit */
	const struct opk_roof *roofs;
	size_t roof_count;
	const struct opk_roofline_dot *dots; /* of a kernel one after the other */
	size_t dot_count;
	size_t idle_count;    /* kernels without operations, which have no dot */
	size_t unknown_count; /* kernels whose operations, bytes or time are nan somewhere */
	const struct opk_roofline_kernel *kernels; /* by their numbers */
	size_t kernel_count;
	const char *lacks; /* what is missing in every kernel, as a sentence; or "" */
};

/*
 * Where a recording's kernels are between the roofs, as the recording or the set says; `summary`
 * must outlive it. The struct and what it points to are read only. OPK_EUSAGE: there is no
 * roofline, or the summary lacks a column that it needs.
 */
int opk_roofline_new(struct opk_roofline **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary);
void opk_roofline_free(struct opk_roofline *roofline);
OPK_DEFINE_AUTO(opk_roofline)

/*
 * Pictures in SVG, UTF-8 without scripts, and as shapes where the lists of `svg` are there. What
 * shows a kernel has class "mark", the attribute data-kernel with the number of its group in the
 * summary, and its name and values as title. Names that find no room are left out, and the picture
 * says how many. The options choose no kernel here: the summary has.
 *
 * This is opk_roofline_new() as a picture, and fails as that does, too.
 */
int opk_picture_roofline(struct opk_svg *svg, struct opk_ctx *ctx,
                         const struct opk_summary *summary,
                         const struct opk_picture_options *options);
/* Kernels by time, and their shares. OPK_EUSAGE: there are none, or their time is not known. */
int opk_picture_kernels(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                        const struct opk_picture_options *options);

/*
 * The headings of columns that are parts of a whole, by number from 0, borrowed from the summary;
 * NULL: there are no more.
 */
const struct opk_meta_heading *opk_picture_stack_heading(const struct opk_summary *summary,
                                                         size_t number);
/* Stacked bars of the columns under such a heading, a row a kernel. */
int opk_picture_stack(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                      const struct opk_meta_heading *heading,
                      const struct opk_picture_options *options);

#endif
