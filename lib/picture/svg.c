/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes SVG: no script, no fonts, and no attribute "style", which pages may refuse. */
#include "picture/svg.h"

#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "base/utf8.h"

/*
 * Okabe and Ito's colours, on light and on dark paper; the last one is for all without a separate
 * colour. The command, pages and Python take them from here.
 */
static const char *const colours[OPK_SVG_COLOURS][2] = {
	{ "#0072b2", "#4aa3df" }, { "#e69f00", "#f0b541" }, { "#009e73", "#2fbf95" },
	{ "#cc79a7", "#dd9cc0" }, { "#56b4e9", "#8fd0f5" }, { "#d55e00", "#f08a3c" },
	{ "#c9bd00", "#f0e442" }, { "#8c959f", "#a9adb4" },
};

static const char light[] =
	".paper { fill: #fff }\ntext { fill: #1f2328 }\n.muted { fill: #57606a }\n"
	".grid { stroke: #d8dee4 }\n.axis, .roof { stroke: #57606a }\n.halo { stroke: #fff }\n";
static const char dark_style[] =
	".paper { fill: #0d1117 }\ntext { fill: #e6edf3 }\n.muted { fill: #9198a1 }\n"
	".grid { stroke: #30363d }\n.axis, .roof { stroke: #9198a1 }\n.halo { stroke: #0d1117 }\n";

static void put_rules(struct opk_buf *css, const char *format, int dark)
{
	for (int i = 0; i < OPK_SVG_COLOURS; i++)
		opk_buf_add_printf(css, format, i, colours[i][dark]);
}

void opk_svg_put_variables(struct opk_buf *css)
{
	opk_buf_add_text(css, ":root {\n");
	put_rules(css, "\t--c%d: %s;\n", 0);
	opk_buf_add_text(css, "}\n@media screen and (prefers-color-scheme: dark) {\n"
	                      ":root:not([data-theme=\"light\"]) {\n");
	put_rules(css, "\t--c%d: %s;\n", 1);
	opk_buf_add_text(css, "}\n}\n@media screen {\n:root[data-theme=\"dark\"] {\n");
	put_rules(css, "\t--c%d: %s;\n", 1);
	opk_buf_add_text(css, "}\n}\n");
	for (int i = 0; i < OPK_SVG_COLOURS; i++)
		opk_buf_add_printf(css, ".picture .c%d { fill: var(--c%d); stroke: var(--c%d); }\n",
		                   i, i, i);
}

void opk_svg_put(struct opk_svg *svg, const char *markup)
{
	opk_buf_add_text(&svg->buf, markup);
}

static void put_fixed(struct opk_buf *out, double number)
{
	long hundredths = lround((isfinite(number) ? number : 0) * 100);
	unsigned long size = (unsigned long)labs(hundredths);

	opk_buf_add_printf(out, "%s%lu", hundredths < 0 ? "-" : "", size / 100);
	if (size % 10)
		opk_buf_add_printf(out, ".%02lu", size % 100);
	else if (size % 100)
		opk_buf_add_printf(out, ".%lu", size % 100 / 10);
}

void opk_svg_put_number(struct opk_svg *svg, const char *name, double number)
{
	opk_buf_add_printf(&svg->buf, " %s=\"", name);
	put_fixed(&svg->buf, number);
	opk_svg_put(svg, "\"");
}

/*
 * Writes a character of `length` bytes; 0: an invalid byte. XML forbids control characters, and
 * after an override of the writing direction text would be shown backwards.
 */
static void put_character(struct opk_buf *out, const char *text, size_t length)
{
	switch (*text) {
	case '&':
		opk_buf_add_text(out, "&amp;");
		break;
	case '<':
		opk_buf_add_text(out, "&lt;");
		break;
	case '>':
		opk_buf_add_text(out, "&gt;");
		break;
	case '"':
		opk_buf_add_text(out, "&quot;");
		break;
	case '\n':
		opk_buf_add_text(out, "\n");
		break;
	default:
		if (opk_terminal_obeys(text, length)
		    || (length == 3 && !memcmp(text, "\xef\xbf", 2)
		        && (unsigned char)text[2] >= 0xbe))
			opk_buf_add_text(out, "\xef\xbf\xbd");
		else
			opk_buf_add(out, text, length);
	}
}

void opk_xml_put_text(struct opk_buf *out, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t length = opk_utf8_length((const unsigned char *)text, left);

		put_character(out, text, length);
		text += length ? length : 1;
		left -= length ? length : 1;
	}
}

void opk_svg_put_text(struct opk_svg *svg, const char *text)
{
	opk_xml_put_text(&svg->buf, text);
}

void opk_svg_put_attribute(struct opk_svg *svg, const char *name, const char *text)
{
	opk_buf_add_printf(&svg->buf, " %s=\"", name);
	opk_svg_put_text(svg, text);
	opk_svg_put(svg, "\"");
}

void opk_svg_add_name(struct opk_buf *title, const char *name)
{
	enum { LONGEST = 300 };
	opk_autofree char *text = opk_utf8_fit(name, LONGEST);

	title->failed |= !text;
	opk_buf_add_printf(title, "%s\n", text ? text : "");
}

/* ---- the picture as a whole */

static void put_box(struct opk_svg *svg)
{
	opk_buf_add_printf(&svg->buf, " viewBox=\"0 0 %.0f %.0f\"", svg->width, svg->height);
	opk_svg_put(svg, " font-family=\"Helvetica, Arial, sans-serif\"");
	opk_svg_put_number(svg, "font-size", OPK_SVG_FONT);
}

/* The page determines width and style. */
static void begin_in_page(struct opk_svg *svg, const char *title, const char *description)
{
	opk_svg_put(svg, "<svg class=\"picture\" role=\"group\"");
	opk_svg_put_attribute(svg, "aria-label", title);
	put_box(svg);
	opk_svg_put(svg, ">\n<desc>");
	opk_svg_put_text(svg, description);
	opk_svg_put(svg, "</desc>\n");
}

void opk_svg_begin(struct opk_svg *svg, const char *title, const char *description, bool dark)
{
	svg->dark = dark;
	if (svg->in_page) {
		begin_in_page(svg, title, description);
		return;
	}
	opk_svg_put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	                 "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
	                 "aria-labelledby=\"title description\"");
	opk_buf_add_printf(&svg->buf, " width=\"%.0f\" height=\"%.0f\"", svg->width, svg->height);
	put_box(svg);
	opk_svg_put(svg, ">\n<title id=\"title\">");
	opk_svg_put_text(svg, title);
	opk_svg_put(svg, "</title>\n<desc id=\"description\">");
	opk_svg_put_text(svg, description);
	opk_svg_put(svg, "</desc>\n<style>\n");
	opk_svg_put(svg, dark ? dark_style : light);
	for (int i = 0; i < OPK_SVG_COLOURS; i++)
		opk_buf_add_printf(&svg->buf, ".c%d { fill: %s; stroke: %s }\n", i,
		                   colours[i][dark], colours[i][dark]);
	opk_svg_put(svg, "</style>\n<rect class=\"paper\"");
	opk_svg_put_number(svg, "width", svg->width);
	opk_svg_put_number(svg, "height", svg->height);
	opk_svg_put(svg, "/>\n");
}

int opk_svg_finish(struct opk_svg *svg, struct opk_ctx *ctx)
{
	opk_svg_put(svg, "</svg>\n");
	return svg->buf.failed ? opk_nomem(ctx, "a picture") : OPK_OK;
}

void opk_svg_clear(struct opk_svg *svg)
{
	opk_buf_clear(&svg->buf);
	opk_listing_free(svg->panels);
	opk_listing_free(svg->shapes);
}

/* ---- shapes as rows */

static bool is_inside(const struct opk_svg *svg, double x, double y)
{
	return x > svg->left - 0.5 && x < svg->right + 0.5 && y > svg->top - 0.5
	       && y < svg->bottom + 0.5;
}

/* The colour of the class; "" if the class is not a series. */
static const char *colour_of(const struct opk_svg *svg, const char *class)
{
	const char *last = strrchr(class, ' ');

	last = last ? last + 1 : class;
	return *last == 'c' && last[1] ? colours[last[1] - '0'][svg->dark] : "";
}

static char *points_text(const struct opk_shape *shape)
{
	struct opk_buf text = { 0 };

	for (size_t i = 0; i < shape->count; i++)
		opk_buf_add_printf(&text, "%.9g %.9g ", shape->points[i][0], shape->points[i][1]);
	return opk_buf_take_text(&text);
}

static void add_row(struct opk_svg *svg, const struct opk_shape *shape, const char *text,
                    enum opk_anchor anchor, long angle)
{
	static const char *const kinds[] = { "line", "rect", "mark",   "area",
		                             "path", "text", "x tick", "y tick" };
	static const char *const anchors[] = { "left", "center", "right" };
	bool tick = shape->kind >= OPK_SHAPE_X_TICK;
	opk_autofree char *points = svg->shapes ? points_text(shape) : NULL;

	if (!svg->shapes)
		return;
	svg->buf.failed |= !points;
	opk_listing_row(svg->shapes, cell_text(kinds[shape->kind]),
	                cell_known(svg->panel - 1,
	                           svg->panel && (tick || is_inside(svg, shape->x, shape->y))),
	                cell_text(shape->class), cell_value(shape->x), cell_value(shape->y),
	                cell_value(shape->x2), cell_value(shape->y2), cell_value(shape->size),
	                cell_text(points ? points : ""), cell_text(text),
	                cell_text(anchors[anchor]), cell_value((double)angle),
	                cell_text(colour_of(svg, shape->class)),
	                cell_value(shape->opacity > 0 ? shape->opacity : 1),
	                cell_value(shape->stroke > 0 ? shape->stroke : 1),
	                cell_known(shape->kernel, shape->of_kernel));
}

void opk_svg_panel(struct opk_svg *svg, const struct opk_axis *x, const struct opk_axis *y)
{
	svg->panel++;
	svg->left = x->begin;
	svg->right = x->end;
	svg->top = y->end;
	svg->bottom = y->begin;
	opk_listing_row(svg->panels, cell_value(svg->left), cell_value(svg->top),
	                cell_value(svg->right), cell_value(svg->bottom), cell_value(x->from),
	                cell_value(x->to), cell_flag(x->log), cell_value(y->from),
	                cell_value(y->to), cell_flag(y->log), cell_value(svg->width),
	                cell_value(svg->height));
}

/* ---- shapes as elements */

static void put_coordinate(struct opk_svg *svg, char before, double number)
{
	opk_buf_add(&svg->buf, &before, 1);
	put_fixed(&svg->buf, number);
}

static void put_points(struct opk_svg *svg, const struct opk_shape *shape)
{
	bool mark = shape->kind == OPK_SHAPE_MARK;
	double size = mark ? shape->size : 1, x = mark ? shape->x : 0, y = mark ? shape->y : 0;

	opk_svg_put(svg, " d=\"");
	for (size_t i = 0; i < shape->count; i++) {
		put_coordinate(svg, i ? 'L' : 'M', x + shape->points[i][0] * size);
		put_coordinate(svg, ' ', y + shape->points[i][1] * size);
	}
	opk_svg_put(svg, shape->kind == OPK_SHAPE_PATH ? "\"" : "Z\"");
}

static void put_place(struct opk_svg *svg, const struct opk_shape *shape)
{
	bool line = shape->kind == OPK_SHAPE_LINE, circle = shape->kind == OPK_SHAPE_MARK;

	if (shape->count) {
		put_points(svg, shape);
		return;
	}
	opk_svg_put_number(svg, line ? "x1" : circle ? "cx" : "x", shape->x);
	opk_svg_put_number(svg, line ? "y1" : circle ? "cy" : "y", shape->y);
	if (circle) {
		opk_svg_put_number(svg, "r", shape->size);
		return;
	}
	opk_svg_put_number(svg, line ? "x2" : "width", shape->x2 - (line ? 0 : shape->x));
	opk_svg_put_number(svg, line ? "y2" : "height", shape->y2 - (line ? 0 : shape->y));
}

static void put_mark(struct opk_svg *svg, const struct opk_shape *shape)
{
	opk_buf_add_printf(&svg->buf, " class=\"%s%s\"", shape->of_kernel ? "mark " : "",
	                   shape->class);
	if (shape->of_kernel)
		opk_buf_add_printf(&svg->buf, " data-kernel=\"%zu\"", shape->kernel);
	if (!shape->level)
		return;
	opk_svg_put_attribute(svg, "data-level", shape->level);
	opk_svg_put_number(svg, "data-x", shape->x);
	opk_svg_put_number(svg, "data-y", shape->y);
}

static void put_title(struct opk_svg *svg, struct opk_buf *text)
{
	opk_buf_add(text, "", 1);
	svg->buf.failed |= text->failed;
	if (svg->buf.failed)
		return;
	opk_svg_put(svg, "<title>");
	opk_svg_put_text(svg, (const char *)text->data);
	opk_svg_put(svg, "</title>");
}

void opk_svg_shape(struct opk_svg *svg, const struct opk_shape *shape)
{
	static const char *const elements[] = { "line", "rect", "circle" };
	const char *element = shape->count ? "path" : elements[shape->kind];
	bool line = shape->kind == OPK_SHAPE_LINE;

	add_row(svg, shape, "", OPK_ANCHOR_START, 0);
	opk_buf_add_printf(&svg->buf, "<%s", element);
	put_mark(svg, shape);
	if (shape->kind == OPK_SHAPE_PATH)
		opk_svg_put(svg, " fill-opacity=\"0\"");
	if (shape->stroke > 0)
		opk_svg_put_number(svg, "stroke-width", shape->stroke);
	if (shape->opacity > 0)
		opk_svg_put_number(svg, line ? "opacity" : "fill-opacity", shape->opacity);
	put_place(svg, shape);
	if (!shape->title) {
		opk_svg_put(svg, "/>\n");
		return;
	}
	opk_svg_put(svg, ">");
	put_title(svg, shape->title);
	opk_buf_add_printf(&svg->buf, "</%s>\n", element);
}

void opk_svg_line(struct opk_svg *svg, const char *class, double x1, double y1, double x2,
                  double y2)
{
	opk_svg_shape(svg,
	              &(struct opk_shape){ OPK_SHAPE_LINE, class, x1, y1, x2, y2, .stroke = 0 });
}

/* ---- text */

static void put_label(struct opk_svg *svg, const char *class, double x, double y,
                      enum opk_anchor anchor, const char *text)
{
	static const char *const anchors[] = { NULL, "middle", "end" };

	opk_svg_put(svg, "<text");
	opk_svg_put_attribute(svg, "class", class);
	opk_svg_put_number(svg, "x", x);
	opk_svg_put_number(svg, "y", y);
	/* With a halo, the outline is painted before the letters. */
	if (strstr(class, "halo"))
		opk_svg_put(svg, " paint-order=\"stroke\" stroke-width=\"3\"");
	if (anchors[anchor])
		opk_svg_put_attribute(svg, "text-anchor", anchors[anchor]);
	opk_svg_put(svg, ">");
	opk_svg_put_text(svg, text);
	opk_svg_put(svg, "</text>\n");
}

void opk_svg_label(struct opk_svg *svg, const char *class, double x, double y,
                   enum opk_anchor anchor, const char *text)
{
	add_row(svg, &(struct opk_shape){ OPK_SHAPE_TEXT, class, x, y, .size = OPK_SVG_FONT }, text,
	        anchor, 0);
	put_label(svg, class, x, y, anchor, text);
}

void opk_svg_label_along(struct opk_svg *svg, const char *class, double x, double y, long angle,
                         const char *text)
{
	add_row(svg, &(struct opk_shape){ OPK_SHAPE_TEXT, class, x, y, .size = OPK_SVG_FONT }, text,
	        OPK_ANCHOR_START, angle);
	opk_buf_add_printf(&svg->buf, "<g transform=\"translate(%ld %ld) rotate(%ld)\">", lround(x),
	                   lround(y), -angle);
	put_label(svg, class, 0, 0, OPK_ANCHOR_START, text);
	opk_svg_put(svg, "</g>");
}

void opk_svg_put_buffer(struct opk_svg *svg, const char *class, double x, double y,
                        enum opk_anchor anchor, struct opk_buf *text)
{
	opk_buf_add(text, "", 1);
	svg->buf.failed |= text->failed;
	if (!text->failed)
		opk_svg_label(svg, class, x, y, anchor, (const char *)text->data);
}

void opk_svg_tick(struct opk_svg *svg, const struct opk_tick *tick, const char *class,
                  struct opk_buf *text)
{
	bool across = tick->kind == OPK_SHAPE_X_TICK;
	enum opk_anchor anchor = across ? OPK_ANCHOR_MIDDLE : OPK_ANCHOR_END;

	opk_buf_add(text, "", 1);
	svg->buf.failed |= text->failed;
	if (text->failed)
		return;
	add_row(svg,
	        &(struct opk_shape){ tick->kind, class, across ? tick->at : tick->x,
	                             across ? tick->y : tick->at, .size = OPK_SVG_FONT },
	        (const char *)text->data, anchor, 0);
	put_label(svg, class, tick->x, tick->y, anchor, (const char *)text->data);
}

void opk_svg_put_key(struct opk_svg *svg, double x, double y, const char *class, const char *text)
{
	opk_svg_shape(svg, &(struct opk_shape){ .kind = OPK_SHAPE_RECT,
	                                        .class = class,
	                                        .x = x,
	                                        .y = y - 9,
	                                        .x2 = x + 10,
	                                        .y2 = y + 1,
	                                        .opacity = 0.6 });
	opk_svg_label(svg, "label", x + 16, y, OPK_ANCHOR_START, text);
}

void opk_svg_heading(struct opk_svg *svg, double x, double y, const char *text)
{
	add_row(svg,
	        &(struct opk_shape){ OPK_SHAPE_TEXT, "heading", x, y, .size = OPK_SVG_FONT + 3 },
	        text, OPK_ANCHOR_START, 0);
	opk_svg_put(svg, "<text class=\"label\" font-weight=\"bold\"");
	opk_svg_put_number(svg, "font-size", OPK_SVG_FONT + 3);
	opk_svg_put_number(svg, "x", x);
	opk_svg_put_number(svg, "y", y);
	opk_svg_put(svg, ">");
	opk_svg_put_text(svg, text);
	opk_svg_put(svg, "</text>\n");
}
