/* SPDX-License-Identifier: BSD-2-Clause */
/* A row a kernel: its name, and a place for bars. draw_bars.c */
#ifndef OPK_DRAW_BARS_H
#define OPK_DRAW_BARS_H

#include "picture/door.h"
#include "picture/picture.h"

struct opk_bars {
	struct opk_svg *svg;
	struct opk_axis x;
	size_t rows;
	double top, bottom;
	double names; /* how wide they are */
};

enum { OPK_BARS_ROW = 24, OPK_BARS_BAR = 16, OPK_BARS_SIDE = 150 };

/* Makes room for the names of the first so many kernels, before the picture is measured. */
void opk_bars_fit_names(struct opk_bars *bars, const struct opk_drawn_kernels *kernels,
                        size_t shown);

/*
 * Measures the picture, whose axis has its values; `above` is left free for a legend below the
 * title, `side` right of the bars. A height that was asked for is that of the whole.
 */
void opk_bars_measure(struct opk_bars *bars, const struct opk_picture_options *options, size_t rows,
                      double above, double side);
/* Title, grid, and the axis, whose numbers are followed by `unit`, or are shares of one. */
void opk_bars_begin(struct opk_bars *bars, const struct opk_picture_options *options,
                    const char *title, const char *description, const char *unit, bool shares);
/* The middle of a row. */
double opk_bars_y(const struct opk_bars *bars, size_t row);
void opk_bars_put_name(struct opk_bars *bars, size_t row, const char *name);
/* A bar between two values, with this title; kernel SIZE_MAX: of none. */
void opk_bars_put_bar(struct opk_bars *bars, size_t row, double from, double to, const char *class,
                      size_t kernel, struct opk_buf *title);
/* A word of the legend, behind its colour. */
void opk_bars_put_key(struct opk_bars *bars, double x, double y, const char *class,
                      const char *text);
void opk_bars_put_note(struct opk_bars *bars, const char *note);

#endif
