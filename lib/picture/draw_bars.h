/* SPDX-License-Identifier: BSD-2-Clause */
/* A row per kernel: its name, and a place for bars. draw_bars.c */
#ifndef OPK_DRAW_BARS_H
#define OPK_DRAW_BARS_H

#include "picture/door.h"
#include "picture/picture.h"

struct opk_bars {
	struct opk_svg *svg;
	struct opk_axis x;
	size_t rows;
	double top, bottom;
	double names; /* their width */
	struct opk_labels labels;
};
void opk_bars_clear(struct opk_bars *bars);

enum { OPK_BARS_ROW = 24, OPK_BARS_BAR = 16, OPK_BARS_SIDE = 150 };

/* Makes labels of the first kernels' names, and room; call it before opk_bars_measure(). */
int opk_bars_fit_names(struct opk_bars *bars, struct opk_ctx *ctx,
                       const struct opk_picture_options *options,
                       const struct opk_drawn_kernels *kernels, size_t shown);

/*
 * Measures the picture, for an axis with its values set; leaves `above` free for a legend below the
 * title, and `side` right of the bars. A given height is the height of the whole picture.
 */
void opk_bars_measure(struct opk_bars *bars, const struct opk_picture_options *options, size_t rows,
                      double above, double side);
/* Draws title, grid and axis; numbers of the axis have `unit` after them, or are shares of one. */
void opk_bars_begin(struct opk_bars *bars, const struct opk_picture_options *options,
                    const char *title, const char *description, const char *unit, bool shares);
/* The y coordinate of a row's middle. */
double opk_bars_y(const struct opk_bars *bars, size_t row);
/* The label of the row's kernel; for a row without one the text. */
void opk_bars_put_name(struct opk_bars *bars, size_t row, const char *text);
/* A bar between two values, with this title; kernel SIZE_MAX: not of a kernel. */
struct opk_bar {
	size_t row;
	double from, to;
	const char *class;
	size_t kernel;
};
void opk_bars_put_bar(struct opk_bars *bars, const struct opk_bar *bar, struct opk_buf *title);
void opk_bars_put_note(struct opk_bars *bars, const char *note);

#endif
