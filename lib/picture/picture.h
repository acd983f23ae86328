/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of evaluated kernels, and of samples over time. */
#ifndef OPK_PICTURE_H
#define OPK_PICTURE_H

#include <string.h>

#include "base/ctx.h"
#include "base/option_struct.h"
#include "eval/door.h"
#include "picture/door.h"
#include "picture/svg.h"

/* The evaluation's column with that name; SIZE_MAX: none. */
static inline size_t opk_find_column(const struct opk_evaluation *evaluation, const char *name)
{
	for (size_t i = 0; i < opk_evaluation_column_count(evaluation); i++)
		if (!strcmp(opk_evaluation_column(evaluation, i), name))
			return i;
	return SIZE_MAX;
}

/* What pictures show of a kernel, or of ranges with one name. */
struct opk_drawn {
	const char *name;
	double time;          /* of all its launches; NaN: unknown */
	double share;         /* of all kernels' time, 0 to 1; or NaN */
	const double *values; /* one per column of the evaluation: means over launches */
};
struct opk_drawn_kernels {
	struct opk_drawn *items; /* by their numbers in the summary */
	size_t count;
	enum opk_summary_time unit; /* of times */
	double *values;
};
int opk_drawn_kernels_init(struct opk_drawn_kernels *out, struct opk_ctx *ctx,
                           const struct opk_summary *summary);
/* Collects kernels from the timeline; they have no values. */
int opk_drawn_kernels_of_launches(struct opk_drawn_kernels *out, struct opk_ctx *ctx,
                                  const struct opk_summary *summary);
void opk_drawn_kernels_clear(struct opk_drawn_kernels *kernels);
#define opk_autodrawn __attribute__((cleanup(opk_drawn_kernels_clear)))

/* draw_roofline.c. The most kernels that it shows marks of without options.top. */
enum { OPK_ROOFLINE_KERNELS = 300 };
int opk_draw_roofline(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_roofline *roofline,
                      const struct opk_drawn_kernels *kernels,
                      const struct opk_picture_options *options);

/*
 * draw_timeline.c: PM samples over time, a row per metric, with recorded NVTX ranges and launches.
 * The chart's resolution is the picture's width. OPK_EUSAGE: the picture is too narrow.
 */
struct opk_chart;
int opk_picture_chart(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_picture_options *options);
/* The axis of a metric's row with samples from `lowest` to `highest`. */
struct opk_axis opk_timeline_axis(double lowest, double highest, const char *unit);
int opk_draw_timeline(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_chart *chart,
                      const struct opk_picture_options *options);

#endif
