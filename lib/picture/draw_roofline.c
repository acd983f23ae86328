/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a roofline: both axes are logarithmic, so that levels of memory are straight lines, too. */
#include <math.h>
#include <string.h>

#include "picture/draw_roofline.h"
#include "summary/door.h"

enum {
	WIDTH = 820,
	HEIGHT = 520,
	LEFT = 70,
	RIGHT = 18,
	TOP = 62,
	BOTTOM = 66,
	LEAST_RADIUS = 4, /* of a dot */
	MOST_RADIUS = 15,
};

/* ---- where things are */

static bool is_shown(const struct opk_roofline_plot *p, const struct opk_roofline_dot *dot)
{
	return dot->kernel < p->shown;
}

static void include(struct opk_axis *axis, double value)
{
	if (!isfinite(value) || value <= 0)
		return;
	axis->from = axis->from > 0 ? fmin(axis->from, value) : value;
	axis->to = fmax(axis->to, value);
}

/* The axes cover all dots, and the corners where levels meet the highest roof. */
static void find_axes(struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;

	for (size_t i = 0; i < r->roof_count; i++) {
		double *most = r->roofs[i].is_level ? &p->fastest : &p->highest;

		*most = fmax(*most, r->roofs[i].peak);
		if (!r->roofs[i].is_level)
			include(&p->y, r->roofs[i].peak * 1.5);
	}
	for (size_t i = 0; i < r->dot_count; i++)
		if (is_shown(p, &r->dots[i])) {
			include(&p->x, r->dots[i].intensity / 2);
			include(&p->x, r->dots[i].intensity * 2);
			include(&p->y, r->dots[i].rate / 2);
			include(&p->y, r->dots[i].rate * 2);
		}
	for (size_t i = 0; i < r->roof_count && p->highest > 0; i++)
		if (r->roofs[i].is_level)
			include(&p->x, p->highest / r->roofs[i].peak * 3);
	if (!(p->x.from > 0))
		p->x = (struct opk_axis){ .from = 0.1, .to = 100 };
	if (!(p->y.from > 0))
		p->y = (struct opk_axis){ .from = 1e9, .to = 1e12 };
	p->x.log = p->y.log = true;
	opk_axis_round(&p->x);
	opk_axis_round(&p->y);
	p->x.begin = LEFT;
	p->x.end = p->svg->width - RIGHT;
	p->y.begin = p->svg->height - BOTTOM;
	p->y.end = TOP;
}

/* ---- axes */

static void put_x_ticks(struct opk_roofline_plot *p)
{
	struct opk_ticks ticks;

	opk_axis_ticks(&ticks, &p->x, 0);
	for (size_t i = 0; i < ticks.count; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double x = opk_axis_at(&p->x, ticks.values[i]);

		opk_svg_line(p->svg, "grid", x, p->y.begin, x, p->y.end);
		if (!ticks.major[i])
			continue;
		opk_put_short(&text, ticks.values[i]);
		opk_svg_tick(p->svg,
		             &(struct opk_tick){ OPK_SHAPE_X_TICK, x, x,
		                                 p->y.begin + OPK_SVG_LINE },
		             "label", &text);
	}
}

static void put_y_ticks(struct opk_roofline_plot *p)
{
	struct opk_ticks ticks;

	opk_axis_ticks(&ticks, &p->y, 0);
	for (size_t i = 0; i < ticks.count; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double y = opk_axis_at(&p->y, ticks.values[i]);

		opk_svg_line(p->svg, "grid", p->x.begin, y, p->x.end, y);
		if (!ticks.major[i])
			continue;
		opk_put_short(&text, ticks.values[i]);
		opk_svg_tick(p->svg,
		             &(struct opk_tick){ OPK_SHAPE_Y_TICK, y, p->x.begin - 6, y + 4 },
		             "label", &text);
	}
}

/* Writes all digits, for scripts. */
static void put_range(struct opk_svg *svg, const char *name, double number)
{
	opk_buf_add_printf(&svg->buf, " %s=\"", name);
	opk_buf_add_double(&svg->buf, number);
	opk_svg_put(svg, "\"");
}

static void put_axes(struct opk_roofline_plot *p)
{
	const char *unit = p->roofline->unit;
	opk_autofree char *x = opk_printf("%s per byte", unit), *y = opk_printf("%s/s", unit);

	opk_svg_put(p->svg, "<g class=\"axes\" stroke-width=\"1\"");
	put_range(p->svg, "data-x-from", p->x.from);
	put_range(p->svg, "data-x-to", p->x.to);
	put_range(p->svg, "data-y-from", p->y.from);
	put_range(p->svg, "data-y-to", p->y.to);
	opk_svg_put(p->svg, ">\n");
	put_x_ticks(p);
	put_y_ticks(p);
	opk_svg_line(p->svg, "axis", p->x.begin, p->y.begin, p->x.end, p->y.begin);
	opk_svg_line(p->svg, "axis", p->x.begin, p->y.begin, p->x.begin, p->y.end);
	opk_svg_put(p->svg, "</g>\n");
	opk_svg_label(p->svg, "label", (p->x.begin + p->x.end) / 2,
	              p->y.begin + 2 * OPK_SVG_LINE + 2, OPK_ANCHOR_MIDDLE, x ? x : "");
	opk_svg_label(p->svg, "label", LEFT - 6, TOP - 10, OPK_ANCHOR_END, y ? y : "");
}

/* ---- dots */

/*
 * The number of a level selects its colour and shape. Levels that all GPUs have are the same in all
 * pictures, and in pages: data/report/answers.css.
 */
static size_t level_of(const struct opk_roofline *r, size_t roof)
{
	static const char *const common[] = { "DRAM", "L2", "L1" };
	enum { COMMON = sizeof common / sizeof *common };
	size_t level = COMMON;

	for (size_t i = 0; i < COMMON; i++)
		if (!strcmp(r->roofs[roof].name, common[i]))
			return i;
	for (size_t i = 0; i < roof; i++)
		level += r->roofs[i].is_level;
	return level;
}

/* The area is proportional to the share of all time. */
static double radius_of(const struct opk_roofline_plot *p, size_t kernel)
{
	double share = p->kernels->items[kernel].share;

	return isnan(share) ? LEAST_RADIUS : fmax(LEAST_RADIUS, MOST_RADIUS * sqrt(share));
}

/* Circle, square, triangle, rhombus, all of equal area: levels differ in print, too. */
static struct opk_shape mark_of(size_t level, double x, double y, double radius)
{
	static const double square[][2] = {
		{ -.886, -.886 }, { .886, -.886 }, { .886, .886 }, { -.886, .886 }
	};
	static const double triangle[][2] = { { 0, -1.5 }, { 1.35, .84 }, { -1.35, .84 } };
	static const double rhombus[][2] = { { 0, -1.25 }, { 1.25, 0 }, { 0, 1.25 }, { -1.25, 0 } };
	static const struct {
		const double (*points)[2];
		size_t count;
	} forms[] = { { NULL, 0 }, { square, 4 }, { triangle, 3 }, { rhombus, 4 } };
	static const char *const classes[OPK_SVG_COLOURS] = { "dot c0", "dot c1", "dot c2",
		                                              "dot c3", "dot c4", "dot c5",
		                                              "dot c6", "dot c7" };

	return (struct opk_shape){ .kind = OPK_SHAPE_MARK,
		                   .class = classes[level % OPK_SVG_COLOURS],
		                   .x = x,
		                   .y = y,
		                   .size = radius,
		                   .points = forms[level % 4].points,
		                   .count = forms[level % 4].count };
}

static void write_title(struct opk_buf *text, const struct opk_roofline_plot *p,
                        const struct opk_roofline_dot *dot)
{
	const struct opk_roofline *r = p->roofline;
	double share = p->kernels->items[dot->kernel].share;
	opk_autofree char *unit = opk_printf("%s/second", r->unit);

	opk_svg_add_name(text, p->kernels->items[dot->kernel].name);
	opk_buf_add_printf(text, "%s: ", r->roofs[dot->roof].name);
	opk_put_short(text, dot->intensity);
	opk_buf_add_printf(text, " %s/byte, ", r->unit);
	opk_put_value(text, dot->rate, unit ? unit : "");
	opk_buf_add_printf(text, "\n%s", r->kernels[dot->kernel].text);
	if (!isnan(share))
		opk_buf_add_printf(text, "\n%.3g%% of the time", 100 * share);
}

static void put_dot(struct opk_roofline_plot *p, const struct opk_roofline_dot *dot)
{
	struct opk_shape mark = mark_of(level_of(p->roofline, dot->roof),
	                                opk_axis_at(&p->x, dot->intensity),
	                                opk_axis_at(&p->y, dot->rate), radius_of(p, dot->kernel));
	opk_autobuf struct opk_buf title = { 0 };

	write_title(&title, p, dot);
	mark.opacity = 0.6;
	mark.of_kernel = true;
	mark.kernel = dot->kernel;
	mark.level = p->roofline->roofs[dot->roof].name;
	mark.title = &title;
	opk_svg_shape(p->svg, &mark);
}

/* Keeps names off the mark. */
static void take_dot(struct opk_roofline_plot *p, const struct opk_roofline_dot *dot)
{
	double x = opk_axis_at(&p->x, dot->intensity), y = opk_axis_at(&p->y, dot->rate);
	double radius = radius_of(p, dot->kernel);

	opk_boxes_add(&p->boxes,
	              &(struct opk_box){ x - radius, y - radius, x + radius, y + radius });
}

/* Kernels are sorted by time, so small marks are on top of large ones. */
static void put_dots(struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;

	opk_svg_put(p->svg, "<g class=\"dots\">\n");
	for (size_t i = 0; i < r->dot_count; i++)
		if (is_shown(p, &r->dots[i]))
			put_dot(p, &r->dots[i]);
	opk_svg_put(p->svg, "</g>\n");
}

/* ---- names of kernels */

/* Puts the name beside one of the kernel's dots, above or below it. */
static bool put_name_at(struct opk_roofline_plot *p, const struct opk_roofline_dot *dot,
                        const char *name)
{
	double x = opk_axis_at(&p->x, dot->intensity), y = opk_axis_at(&p->y, dot->rate);
	double away = radius_of(p, dot->kernel) + 4;
	const struct {
		double x, y;
		enum opk_anchor anchor;
	} places[] = {
		{ x + away, y + 4, OPK_ANCHOR_START },
		{ x - away, y + 4, OPK_ANCHOR_END },
		{ x, y - away - 1, OPK_ANCHOR_MIDDLE },
		{ x, y + away + OPK_SVG_FONT - 2, OPK_ANCHOR_MIDDLE },
	};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct opk_box box = opk_label_box(places[i].x, places[i].y, places[i].anchor,
		                                   name);

		if (!opk_boxes_take(&p->boxes, &box))
			continue;
		opk_svg_put(p->svg, "<g");
		opk_buf_add_printf(&p->svg->buf, " data-kernel=\"%zu\"", dot->kernel);
		opk_svg_put_number(p->svg, "data-x", x);
		opk_svg_put_number(p->svg, "data-y", y);
		opk_svg_put(p->svg, ">");
		opk_svg_label(p->svg, "label halo", places[i].x, places[i].y, places[i].anchor,
		              name);
		opk_svg_put(p->svg, "</g>\n");
		return true;
	}
	return false;
}

/* Puts the kernel's name and its nearest line; tries its dots from the last to the first. */
static void put_name(struct opk_roofline_plot *p, const struct opk_roofline_dot *dots, size_t count)
{
	enum { WIDEST = 170 };
	const char *nearest = p->roofline->kernels[dots->kernel].highest;
	opk_autofree char *kernel = opk_label_fit(p->kernels->items[dots->kernel].name, WIDEST);
	opk_autofree char *name = kernel ? opk_printf("%s%s%s", kernel, *nearest ? ": " : "",
	                                              nearest)
	                                 : NULL;

	while (name && count-- > 0)
		if (put_name_at(p, &dots[count], name))
			return;
	p->nameless++;
}

/* Dots of a kernel are adjacent. */
static void put_names(struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;

	for (size_t i = 0, end; i < r->dot_count && is_shown(p, &r->dots[i]); i = end) {
		for (end = i + 1; end < r->dot_count && r->dots[end].kernel == r->dots[i].kernel;)
			end++;
		put_name(p, &r->dots[i], end - i);
	}
}

/* ---- around it */

static void put_legend(struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;
	double x = p->x.begin + 8, y = TOP - 14;

	for (size_t i = 0; i < r->roof_count; i++) {
		struct opk_shape mark = mark_of(level_of(r, i), x, y - 4, 5);

		if (!r->roofs[i].is_level)
			continue;
		opk_svg_put(p->svg, "<g class=\"level\"");
		opk_svg_put_attribute(p->svg, "data-level", r->roofs[i].name);
		opk_svg_put(p->svg, ">");
		opk_svg_shape(p->svg, &mark);
		opk_svg_label(p->svg, "label", x + 10, y, OPK_ANCHOR_START, r->roofs[i].name);
		opk_svg_put(p->svg, "</g>\n");
		x += opk_label_width(r->roofs[i].name) + 32;
	}
	opk_svg_label(p->svg, "muted", x, y, OPK_ANCHOR_START,
	              "a mark for each kernel and level; area: share of the time");
}

static void add_count(struct opk_buf *out, size_t count, const char *which)
{
	if (count)
		opk_buf_add_printf(out, "%zu kernel%s %s. ", count, count == 1 ? "" : "s", which);
}

/* Adds which of the shown kernels have no dot, and what is unknown. */
static void add_lost(struct opk_buf *out, const struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;
	size_t idle = 0, unknown = 0;

	for (size_t i = 0; i < p->shown; i++) {
		idle += r->kernels[i].idle;
		unknown += r->kernels[i].unknown;
	}
	add_count(out, idle, "without operations");
	add_count(out, unknown, "with values that are nan");
	opk_buf_add_printf(out, "%s%s", r->lacks, *r->lacks ? " " : "");
}

/* Says what is not in the picture. */
static char *notes(const struct opk_roofline_plot *p)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (p->shown < p->kernels->count)
		opk_buf_add_printf(&text, "The first %zu of %zu kernels by time. ", p->shown,
		                   p->kernels->count);
	add_lost(&text, p);
	if (p->nameless)
		opk_buf_add_printf(&text, "No room for %zu name%s.", p->nameless,
		                   p->nameless == 1 ? "" : "s");
	return opk_buf_take_text(&text);
}

/* Begins the plot area: a part of the picture with the same coordinates, but clipped. */
static void begin_field(struct opk_roofline_plot *p)
{
	double width = p->x.end - p->x.begin, height = p->y.begin - p->y.end;

	opk_svg_put(p->svg, "<svg class=\"field\"");
	opk_svg_put_number(p->svg, "x", p->x.begin);
	opk_svg_put_number(p->svg, "y", p->y.end);
	opk_svg_put_number(p->svg, "width", width);
	opk_svg_put_number(p->svg, "height", height);
	opk_buf_add_printf(&p->svg->buf, " viewBox=\"%ld %ld %ld %ld\">\n", lround(p->x.begin),
	                   lround(p->y.end), lround(width), lround(height));
}

static void put_all(struct opk_roofline_plot *p, const char *title, bool dark)
{
	opk_autofree char *note = NULL;

	opk_svg_begin(p->svg, title,
	              "A roofline: operations a second of each kernel over its operations per byte "
	              "of each level of memory, on logarithmic axes, below the peaks of this run.",
	              dark);
	if (!p->svg->in_page)
		opk_svg_heading(p->svg, 12, 24, title);
	find_axes(p);
	p->boxes.inside = (struct opk_box){ p->x.begin, p->y.end - 2, p->x.end, p->y.begin };
	opk_svg_panel(p->svg, &p->x, &p->y);
	put_axes(p);
	put_legend(p);
	for (size_t i = 0; i < p->roofline->dot_count; i++)
		if (is_shown(p, &p->roofline->dots[i]))
			take_dot(p, &p->roofline->dots[i]);
	begin_field(p);
	opk_draw_roofs(p);
	put_dots(p);
	put_names(p);
	opk_svg_put(p->svg, "</svg>\n");
	note = notes(p);
	opk_svg_label(p->svg, "muted", 12, p->svg->height - 8, OPK_ANCHOR_START, note ? note : "");
}

/* The number of first kernels, by time, that includes enough kernels with marks. */
static size_t shown_of(const struct opk_roofline *r, const struct opk_drawn_kernels *kernels,
                       size_t top)
{
	size_t marked = 0;

	if (top)
		return kernels->count < top ? kernels->count : top;
	for (size_t i = 0; i < r->dot_count; i++)
		if ((!i || r->dots[i].kernel != r->dots[i - 1].kernel)
		    && marked++ == OPK_ROOFLINE_KERNELS)
			return r->dots[i].kernel;
	return kernels->count;
}

int opk_draw_roofline(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_roofline *roofline,
                      const struct opk_drawn_kernels *kernels,
                      const struct opk_picture_options *options)
{
	struct opk_roofline_plot p = { .svg = svg, .roofline = roofline, .kernels = kernels };

	p.shown = shown_of(roofline, kernels, options->top);
	svg->width = options->width > 0 ? options->width : WIDTH;
	svg->height = options->height > 0 ? options->height : HEIGHT;
	put_all(&p, options->title ? options->title : roofline->title, options->dark);
	opk_boxes_clear(&p.boxes);
	return opk_svg_finish(svg, ctx);
}

int opk_picture_roofline(struct opk_svg *svg, struct opk_ctx *ctx,
                         const struct opk_summary *summary, const struct opk_roofline *roofline,
                         const struct opk_picture_options *options)
{
	opk_autodrawn struct opk_drawn_kernels kernels = { 0 };

	TRY(opk_drawn_kernels_init(&kernels, ctx, summary));
	return opk_draw_roofline(svg, ctx, roofline, &kernels, options);
}
