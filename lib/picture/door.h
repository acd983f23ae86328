/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of this one, besides the public functions. */
#ifndef OPK_PICTURE_DOOR_H
#define OPK_PICTURE_DOOR_H

#include "base/ctx.h"
#include "picture/svg.h"
#include "summary/door.h"

/* A line of a roofline: a level of memory, or a peak of operations. */
struct opk_roof {
	const char *name;
	bool is_level;    /* of memory: `peak` is bytes per second, else operations per second */
	double peak;      /* the highest of all kernels: it depends on the clock */
	bool idle;        /* of operations that no kernel has */
	const char *unit; /* "byte", or of operations: "flop", or "op" for integers */
};

/* A kernel at a level of memory. */
struct opk_roofline_dot {
	size_t kernel;    /* the number of its group in the summary */
	size_t roof;      /* the number of its level */
	double intensity; /* operations per byte; finite and positive */
	double rate;      /* operations per second; finite and positive */
};

/*
 * How near a kernel is to the lines. Operations of each type are compared with that type's peak, a
 * level with its bytes per second and its throughput; the largest share is the nearest.
 */
struct opk_roofline_kernel {
	/*
	 * The largest known share: "fp32 48.1%"; "L2 at least 12%" if parts of its throughput are
	 * unknown; or "".
	 */
	const char *highest;
	const char *text; /* in words: all shares, the nearest line, and what is unknown */
	bool idle;        /* has no operations, and so no dot */
	bool unknown;     /* its operations, bytes or time are nan somewhere */
};

/* Kernels below their roofs; texts are borrowed from the evaluation. */
struct opk_roofline {
	const char *title; /* may be "" */
	const char *unit;  /* of operations: "flop"; "op" if units differ */
	const struct opk_roof *roofs;
	size_t roof_count;
	const struct opk_roofline_dot *dots; /* dots of one kernel are adjacent */
	size_t dot_count;
	const struct opk_roofline_kernel *kernels; /* by kernel number */
	size_t kernel_count;
	const char *lacks; /* what is missing in every kernel, as a sentence; or "" */
};

/* opk_picture_new() without lists, which can be larger than the SVG: picture.c */
int opk_picture_draw(struct opk_picture **out, struct opk_ctx *ctx, struct opk_file *file,
                     enum opk_picture_kind kind, const struct opk_picture_options *options);

/* A label for each name: names.c */
struct opk_labels {
	char **items;
	size_t count;
};
/*
 * A name that is wider than `width` is cut. Where others begin as it does, its label has the words
 * in which they differ, "...tilesize64x64x8_stage3_...".
 */
int opk_labels_make(struct opk_labels *out, struct opk_ctx *ctx, const char *const *names,
                    size_t count, double width);
void opk_labels_clear(struct opk_labels *labels);
#define opk_autolabels __attribute__((cleanup(opk_labels_clear)))

/*
 * Places a recording's kernels below the roofs that the recording or the set defines; `summary`
 * must outlive the result. The struct and what it points to are read-only. OPK_EUSAGE: no roofline
 * is defined, or the summary lacks a column that it needs.
 */
int opk_roofline_new(struct opk_roofline **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary);
void opk_roofline_free(struct opk_roofline *roofline);
OPK_DEFINE_AUTO(opk_roofline)

/*
 * Pictures in SVG, UTF-8 without scripts; also as shapes, if `svg` has lists for them. An element
 * that shows a kernel has class "mark", the attribute data-kernel with its group's number in the
 * summary, and its name and values as title. Names without room are left out, and the picture says
 * how many. The options don't choose kernels here: the summary did.
 *
 * The roofline is opk_roofline_new() of the same summary.
 */
int opk_picture_roofline(struct opk_svg *svg, struct opk_ctx *ctx,
                         const struct opk_summary *summary, const struct opk_roofline *roofline,
                         const struct opk_picture_options *options);
/* Kernels by time, and their shares. OPK_EUSAGE: no kernels, or their time is unknown. */
int opk_picture_kernels(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                        const struct opk_picture_options *options);

/* The i-th heading whose columns are parts of a whole, borrowed from the summary; NULL: no more. */
const struct opk_meta_heading *opk_picture_stack_heading(const struct opk_summary *summary,
                                                         size_t number);
/* Stacked bars of the columns under such a heading, a row per kernel. */
int opk_picture_stack(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                      const struct opk_meta_heading *heading,
                      const struct opk_picture_options *options);

#endif
