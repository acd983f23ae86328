/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes SVG: no script, no fonts of its own, and no attribute "style", which pages may refuse. */
#include "picture/svg.h"

#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "base/utf8.h"

/* Okabe and Ito's colours; the last one is for what has none of its own. */
static const char colours[] =
	".c0 { fill: #0072b2; stroke: #0072b2 }\n.c1 { fill: #e69f00; stroke: #e69f00 }\n"
	".c2 { fill: #009e73; stroke: #009e73 }\n.c3 { fill: #cc79a7; stroke: #cc79a7 }\n"
	".c4 { fill: #56b4e9; stroke: #56b4e9 }\n.c5 { fill: #d55e00; stroke: #d55e00 }\n"
	".c6 { fill: #f0e442; stroke: #c9bd00 }\n.c7 { fill: #8c959f; stroke: #8c959f }\n";

static const char light[] =
	".paper { fill: #fff }\ntext { fill: #1f2328 }\n.muted { fill: #57606a }\n"
	".grid { stroke: #d8dee4 }\n.axis, .roof { stroke: #57606a }\n.halo { stroke: #fff }\n";
static const char dark_colours[] =
	".paper { fill: #0d1117 }\ntext { fill: #e6edf3 }\n.muted { fill: #9198a1 }\n"
	".grid { stroke: #30363d }\n.axis, .roof { stroke: #9198a1 }\n.halo { stroke: #0d1117 }\n";

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

void opk_svg_put_coordinate(struct opk_svg *svg, char before, double number)
{
	opk_buf_add(&svg->buf, &before, 1);
	put_fixed(&svg->buf, number);
}

/*
 * A character of so many bytes; 0: a byte that is none. XML has no control characters, and after an
 * override of the writing direction text is shown backwards.
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

void opk_svg_put_text(struct opk_svg *svg, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t length = opk_utf8_length((const unsigned char *)text, left);

		put_character(&svg->buf, text, length);
		text += length ? length : 1;
		left -= length ? length : 1;
	}
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

void opk_svg_put_title(struct opk_svg *svg, struct opk_buf *text)
{
	opk_buf_add(text, "", 1);
	svg->buf.failed |= text->failed;
	if (svg->buf.failed)
		return;
	opk_svg_put(svg, "<title>");
	opk_svg_put_text(svg, (const char *)text->data);
	opk_svg_put(svg, "</title>");
}

/* ---- the picture as a whole */

static void put_box(struct opk_svg *svg)
{
	opk_buf_add_printf(&svg->buf, " viewBox=\"0 0 %.0f %.0f\"", svg->width, svg->height);
	opk_svg_put(svg, " font-family=\"Helvetica, Arial, sans-serif\"");
	opk_svg_put_number(svg, "font-size", OPK_SVG_FONT);
}

/* The page is as wide as it is, and its style is not ours. */
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
	opk_svg_put(svg, dark ? dark_colours : light);
	opk_svg_put(svg, colours);
	opk_svg_put(svg, "</style>\n");
	opk_svg_rect(svg, "paper", 0, 0, svg->width, svg->height);
}

int opk_svg_finish(struct opk_svg *svg, struct opk_ctx *ctx, opk_sink_fn *sink, void *data)
{
	opk_svg_put(svg, "</svg>\n");
	if (svg->buf.failed)
		return opk_nomem(ctx, "a picture");
	if (sink(data, svg->buf.data, svg->buf.size))
		return opk_fail(ctx, OPK_EFAILED, "the picture can't be written");
	return OPK_OK;
}

void opk_svg_clear(struct opk_svg *svg)
{
	opk_buf_clear(&svg->buf);
}

/* ---- elements */

void opk_svg_line(struct opk_svg *svg, const char *class, double x1, double y1, double x2,
                  double y2)
{
	opk_svg_put(svg, "<line");
	opk_svg_put_attribute(svg, "class", class);
	opk_svg_put_number(svg, "x1", x1);
	opk_svg_put_number(svg, "y1", y1);
	opk_svg_put_number(svg, "x2", x2);
	opk_svg_put_number(svg, "y2", y2);
	opk_svg_put(svg, "/>\n");
}

void opk_svg_rect(struct opk_svg *svg, const char *class, double x, double y, double width,
                  double height)
{
	opk_svg_put(svg, "<rect");
	opk_svg_put_attribute(svg, "class", class);
	opk_svg_put_number(svg, "x", x);
	opk_svg_put_number(svg, "y", y);
	opk_svg_put_number(svg, "width", width);
	opk_svg_put_number(svg, "height", height);
	opk_svg_put(svg, "/>\n");
}

void opk_svg_label(struct opk_svg *svg, const char *class, double x, double y,
                   enum opk_anchor anchor, const char *text)
{
	static const char *const anchors[] = { NULL, "middle", "end" };

	opk_svg_put(svg, "<text");
	opk_svg_put_attribute(svg, "class", class);
	opk_svg_put_number(svg, "x", x);
	opk_svg_put_number(svg, "y", y);
	/* Lines end before the letters of what has a halo. */
	if (strstr(class, "halo"))
		opk_svg_put(svg, " paint-order=\"stroke\" stroke-width=\"3\"");
	if (anchors[anchor])
		opk_svg_put_attribute(svg, "text-anchor", anchors[anchor]);
	opk_svg_put(svg, ">");
	opk_svg_put_text(svg, text);
	opk_svg_put(svg, "</text>\n");
}

void opk_svg_put_buffer(struct opk_svg *svg, const char *class, double x, double y,
                        enum opk_anchor anchor, struct opk_buf *text)
{
	opk_buf_add(text, "", 1);
	svg->buf.failed |= text->failed;
	if (!text->failed)
		opk_svg_label(svg, class, x, y, anchor, (const char *)text->data);
}

void opk_svg_heading(struct opk_svg *svg, double x, double y, const char *text)
{
	opk_svg_put(svg, "<text class=\"label\" font-weight=\"bold\"");
	opk_svg_put_number(svg, "font-size", OPK_SVG_FONT + 3);
	opk_svg_put_number(svg, "x", x);
	opk_svg_put_number(svg, "y", y);
	opk_svg_put(svg, ">");
	opk_svg_put_text(svg, text);
	opk_svg_put(svg, "</text>\n");
}
