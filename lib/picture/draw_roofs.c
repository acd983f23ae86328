/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the lines of a roofline: peaks of operations, levels of memory, and their names. */
#include <math.h>

#include "picture/draw_roofline.h"

static char *roof_text(const struct opk_roof *roof)
{
	opk_autofree char *unit = opk_printf("%s/second", roof->unit);
	opk_autobuf struct opk_buf text = { 0 };

	opk_buf_add_printf(&text, "%s ", roof->name);
	opk_put_value(&text, roof->peak, unit ? unit : "");
	return opk_buf_take_text(&text);
}

/*
 * `line`: x, y, x2, y2. It shows its value under the mouse, and is faint if no kernel has such
 * operations.
 */
static void put_roof_line(struct opk_roofline_plot *p, const struct opk_roof *roof,
                          const char *text, const double line[4])
{
	opk_autobuf struct opk_buf title = { 0 };

	opk_buf_add_text(&title, text);
	opk_svg_shape(p->svg, &(struct opk_shape){ .kind = OPK_SHAPE_LINE,
	                                           .class = "roof",
	                                           .x = opk_axis_at(&p->x, line[0]),
	                                           .y = opk_axis_at(&p->y, line[1]),
	                                           .x2 = opk_axis_at(&p->x, line[2]),
	                                           .y2 = opk_axis_at(&p->y, line[3]),
	                                           .stroke = 1.5,
	                                           .opacity = roof->idle ? 0.35 : 0,
	                                           .title = &title });
}

/* Begins elements at this place that move with it, but keep their size, when a page zooms in. */
static void begin_place(struct opk_roofline_plot *p, double x, double y, const char *class)
{
	opk_svg_put(p->svg, "<g");
	opk_svg_put_attribute(p->svg, "class", class);
	opk_svg_put_number(p->svg, "data-x", x);
	opk_svg_put_number(p->svg, "data-y", y);
	opk_svg_put(p->svg, ">");
}

/* The name is above the line, as far right as there is room. */
static void put_roof(struct opk_roofline_plot *p, const struct opk_roof *roof, const char *text)
{
	enum { STEPS = 24 };
	double left = p->fastest > 0 ? fmax(roof->peak / p->fastest, p->x.from) : p->x.from;
	double y = opk_axis_at(&p->y, roof->peak), step = (p->x.end - p->x.begin) / STEPS;

	put_roof_line(p, roof, text, (double[]){ left, roof->peak, p->x.to, roof->peak });
	for (int i = 0; i < STEPS; i++) {
		double x = p->x.end - 4 - i * step;
		struct opk_box box = opk_label_box(x, y - 4, OPK_ANCHOR_END, text);

		if (box.left < opk_axis_at(&p->x, left) || !opk_boxes_take(&p->boxes, &box))
			continue;
		begin_place(p, x, y, "at-right");
		opk_svg_label(p->svg, "muted halo", x, y - 4, OPK_ANCHOR_END, text);
		opk_svg_put(p->svg, "</g>\n");
		return;
	}
	p->nameless++;
}

/* Text along a slope takes a row of small boxes. */
static bool take_slope(struct opk_roofline_plot *p, double x, double y, double cosine, double sine,
                       double width)
{
	enum { HALF = 7 };

	for (int pass = 0; pass < 2; pass++)
		for (double at = HALF; at < width; at += HALF) {
			double middle_x = x + at * cosine, middle_y = y - at * sine;
			struct opk_box box = { middle_x - HALF, middle_y - HALF, middle_x + HALF,
				               middle_y + HALF };

			if (pass)
				opk_boxes_add(&p->boxes, &box);
			else if (!opk_boxes_are_clear(&p->boxes, &box))
				return false;
		}
	return true;
}

static void put_slope_text(struct opk_roofline_plot *p, const char *text, double x, double y,
                           double angle)
{
	begin_place(p, x, y, "along");
	opk_svg_label_along(p->svg, "muted halo", x, y, lround(angle * 180 / acos(-1)), text);
	opk_svg_put(p->svg, "</g>\n");
}

/* The name is on the line, as near its beginning as there is room. */
static void put_level(struct opk_roofline_plot *p, const struct opk_roof *roof, const char *text)
{
	enum { STEPS = 24, ABOVE = 5 };
	double from = fmax(p->x.from, p->y.from / roof->peak);
	double to = fmin(p->highest > 0 ? p->highest / roof->peak : p->x.to, p->x.to);
	double x1 = opk_axis_at(&p->x, from), y1 = opk_axis_at(&p->y, from * roof->peak);
	double x2 = opk_axis_at(&p->x, to), y2 = opk_axis_at(&p->y, to * roof->peak);
	double length = hypot(x2 - x1, y1 - y2), width = opk_label_width(text);
	double cosine = (x2 - x1) / length, sine = (y1 - y2) / length;

	if (!(from < to))
		return;
	put_roof_line(p, roof, text, (double[]){ from, from * roof->peak, to, to * roof->peak });
	for (int i = 0; i < STEPS; i++) {
		double at = 12 + (length - width) * i / STEPS;
		double x = x1 + at * cosine - ABOVE * sine, y = y1 - at * sine - ABOVE * cosine;

		if (at + width > length || !take_slope(p, x, y, cosine, sine, width))
			continue;
		put_slope_text(p, text, x, y, atan2(sine, cosine));
		return;
	}
	p->nameless++;
}

void opk_draw_roofs(struct opk_roofline_plot *p)
{
	const struct opk_roofline *r = p->roofline;

	for (size_t i = 0; i < r->roof_count; i++) {
		opk_autofree char *text = roof_text(&r->roofs[i]);

		if (!text || !(r->roofs[i].peak > 0) || !isfinite(r->roofs[i].peak))
			continue;
		if (r->roofs[i].is_level)
			put_level(p, &r->roofs[i], text);
		else
			put_roof(p, &r->roofs[i], text);
	}
}
