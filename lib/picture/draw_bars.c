/* SPDX-License-Identifier: BSD-2-Clause */
/* Common parts of pictures with horizontal bars: rows, names, the axis below. */
#include "picture/draw_bars.h"

#include <math.h>

enum { WIDTH = 820, LEFT = 12, TITLE = 34, AXIS = 26, NOTE = 24 };

/* The share of the width that names may have. */
static const double most_names = 0.4;

static double width_of(const struct opk_picture_options *options)
{
	return options->width > 0 ? options->width : WIDTH;
}

int opk_bars_fit_names(struct opk_bars *bars, struct opk_ctx *ctx,
                       const struct opk_picture_options *options,
                       const struct opk_drawn_kernels *kernels, size_t shown)
{
	enum { LEAST = 60 };
	opk_autofree const char **names = opk_alloc_array(shown + 1, sizeof *names);

	if (!names)
		return opk_nomem(ctx, "a picture");
	for (size_t i = 0; i < shown; i++)
		names[i] = kernels->items[i].name;
	TRY(opk_labels_make(&bars->labels, ctx, names, shown, width_of(options) * most_names));
	bars->names = LEAST;
	for (size_t i = 0; i < shown; i++)
		bars->names = fmax(bars->names, opk_label_width(bars->labels.items[i]));
	return OPK_OK;
}

void opk_bars_clear(struct opk_bars *bars)
{
	opk_labels_clear(&bars->labels);
}

void opk_bars_measure(struct opk_bars *bars, const struct opk_picture_options *options, size_t rows,
                      double above, double side)
{
	struct opk_svg *svg = bars->svg;

	bars->rows = rows ? rows : 1;
	svg->width = width_of(options);
	bars->top = (svg->in_page ? 6 : TITLE) + above;
	bars->bottom = bars->top + OPK_BARS_ROW * (double)bars->rows;
	svg->height = bars->bottom + AXIS + NOTE;
	if (options->height > svg->height) {
		bars->bottom += options->height - svg->height;
		svg->height = options->height;
	}
	bars->names = fmin(bars->names, svg->width * most_names);
	bars->x.begin = LEFT + bars->names + 8;
	bars->x.end = fmax(svg->width - side, bars->x.begin + 50);
}

static void put_tick(struct opk_bars *bars, double value, const char *unit, bool share)
{
	opk_autobuf struct opk_buf text = { 0 };
	double x = opk_axis_at(&bars->x, value);

	opk_svg_line(bars->svg, "grid", x, bars->top, x, bars->bottom);
	if (share)
		opk_buf_add_printf(&text, "%.3g%%", 100 * value);
	else
		opk_put_value(&text, value, unit);
	opk_svg_tick(bars->svg,
	             &(struct opk_tick){ OPK_SHAPE_X_TICK, x, x, bars->bottom + OPK_SVG_LINE },
	             "muted", &text);
}

void opk_bars_begin(struct opk_bars *bars, const struct opk_picture_options *options,
                    const char *title, const char *description, const char *unit, bool shares)
{
	enum { LABELS = 5 };
	const struct opk_axis rows = {
		.from = (double)bars->rows, .to = 0, .begin = bars->bottom, .end = bars->top
	};
	struct opk_ticks ticks;

	title = options->title ? options->title : title;
	opk_svg_begin(bars->svg, title, description, options->dark);
	if (!bars->svg->in_page)
		opk_svg_heading(bars->svg, LEFT, 24, title);
	opk_svg_panel(bars->svg, &bars->x, &rows);
	opk_axis_ticks(&ticks, &bars->x, LABELS);
	for (size_t i = 0; i < ticks.count; i++)
		put_tick(bars, ticks.values[i], unit, shares);
	opk_svg_line(bars->svg, "axis", bars->x.begin, bars->top, bars->x.begin, bars->bottom);
}

double opk_bars_y(const struct opk_bars *bars, size_t row)
{
	double height = (bars->bottom - bars->top) / (double)bars->rows;

	return bars->top + height * ((double)row + 0.5);
}

void opk_bars_put_name(struct opk_bars *bars, size_t row, const char *text)
{
	const char *label = row < bars->labels.count ? bars->labels.items[row] : text;
	opk_autofree char *fitting = opk_label_fit(label, bars->names);
	double y = opk_bars_y(bars, row);
	opk_autobuf struct opk_buf fit = { 0 };

	fit.failed = !fitting;
	opk_buf_add_text(&fit, fitting ? fitting : "");
	opk_svg_tick(bars->svg, &(struct opk_tick){ OPK_SHAPE_Y_TICK, y, bars->x.begin - 8, y + 4 },
	             "label", &fit);
}

void opk_bars_put_bar(struct opk_bars *bars, const struct opk_bar *bar, struct opk_buf *title)
{
	double x = opk_axis_at(&bars->x, bar->from), end = opk_axis_at(&bars->x, bar->to);
	double y = opk_bars_y(bars, bar->row);

	opk_svg_shape(bars->svg,
	              &(struct opk_shape){ .kind = OPK_SHAPE_RECT,
	                                   .class = bar->class,
	                                   .x = x,
	                                   .y = y - OPK_BARS_BAR / 2.0,
	                                   /* Keep nonzero bars visible. */
	                                   .x2 = fmax(end, bar->to > bar->from ? x + 0.5 : x),
	                                   .y2 = y + OPK_BARS_BAR / 2.0,
	                                   .opacity = 0.6,
	                                   .of_kernel = bar->kernel != SIZE_MAX,
	                                   .kernel = bar->kernel,
	                                   .title = title });
}

void opk_bars_put_note(struct opk_bars *bars, const char *note)
{
	opk_svg_label(bars->svg, "muted", LEFT, bars->svg->height - 8, OPK_ANCHOR_START, note);
}
