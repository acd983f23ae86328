/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_PICTURE_DOOR_H
#define OPK_PICTURE_DOOR_H

#include "base/ctx.h"

struct opk_picture_options {
	size_t size;
	double width, height; /* in CSS pixels; 0: what suits the picture */
	const char *title;    /* NULL: the picture's own */
	bool dark;
	/*
	 * A part of an HTML page: without colours, which the page gives its classes, and without a
	 * title that appears under the mouse.
	 */
	bool in_page;
	size_t top; /* at most so many kernels; 0: as many as suit the picture */
};

/*
 * Pictures in SVG, UTF-8 without scripts, written to the sink once they are whole. What shows a
 * kernel has class "mark", the attribute data-kernel with the number of its
 * opk_summary_get_group(), and its name and values as title. Names that find no room are left out,
 * and the picture says how many. OPK_EFAILED: the sink refused.
 *
 * This is opk_roofline_new() as a picture, and fails as that does, too.
 */
int opk_picture_roofline(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                         const struct opk_summary *summary,
                         const struct opk_picture_options *options);
/* Kernels by time, and their shares. OPK_EUSAGE: there are none, or their time is not known. */
int opk_picture_kernels(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                        const struct opk_summary *summary,
                        const struct opk_picture_options *options);

/*
 * The headings of columns that are parts of a whole, by number from 0, borrowed from the summary;
 * NULL: there are no more.
 */
const struct opk_meta_heading *opk_picture_stack_heading(const struct opk_summary *summary,
                                                         size_t number);
/* Stacked bars of the columns under such a heading, a row a kernel. OPK_EUSAGE: it is NULL. */
int opk_picture_stack(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                      const struct opk_summary *summary, const struct opk_meta_heading *heading,
                      const struct opk_picture_options *options);

/*
 * PM samples over time, a row a metric, with NVTX ranges and launches where these were recorded.
 * `eval` chooses the metrics; NULL: all. OPK_EUSAGE: neither samples nor what ran was recorded, or
 * `width` is too small. Otherwise it fails as opk_chart_new() does.
 */
int opk_picture_timeline(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_eval_options *eval,
                         const struct opk_picture_options *options);

#endif
