/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures as SVG: elements and text, scales and ticks, labels that don't overlap. */
#ifndef OPK_SVG_H
#define OPK_SVG_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/listing.h"

/*
 * A drawing: its markup so far, and its shapes as rows for drawing it elsewhere. Coordinates are
 * CSS pixels, x to the right and y down.
 */
struct opk_svg {
	struct opk_buf buf;
	double width, height;
	bool in_page;                        /* the page has the colours and a title */
	bool dark;                           /* the paper is dark */
	struct opk_listing *panels, *shapes; /* NULL: only markup is needed; opk_picture_list() */
	size_t panel;                        /* number of panels begun; the last one is current */
	double left, top, right, bottom;
};

/* Classes c0 to c7: colours that people with any colour vision can distinguish. */
enum { OPK_SVG_COLOURS = 8 };
/* The colours as CSS variables, "--c0", and rules that apply them to a page's pictures. */
void opk_svg_put_variables(struct opk_buf *css);

enum { OPK_SVG_LINE = 16, OPK_SVG_FONT = 12 }; /* height of a line of text, and of its letters */

/*
 * Begins the element svg, with title and description, both text, for people who can't see it. Size
 * and options must be set before.
 */
void opk_svg_begin(struct opk_svg *svg, const char *title, const char *description, bool dark);
/* Ends the drawing. OPK_ENOMEM: it is incomplete. */
int opk_svg_finish(struct opk_svg *svg, struct opk_ctx *ctx);
void opk_svg_clear(struct opk_svg *svg);
#define opk_autosvg __attribute__((cleanup(opk_svg_clear)))

/* Adds markup unchanged; for numbers in it use opk_svg_put_number(). */
void opk_svg_put(struct opk_svg *svg, const char *markup);
/* Adds ` name="12.3"`: at most two decimals, in every locale. */
void opk_svg_put_number(struct opk_svg *svg, const char *name, double number);
/* Adds escaped text; characters that XML forbids become U+FFFD. */
void opk_xml_put_text(struct opk_buf *out, const char *text);
void opk_svg_put_text(struct opk_svg *svg, const char *text);
/* Adds ` name="text"`. */
void opk_svg_put_attribute(struct opk_svg *svg, const char *name, const char *text);

enum opk_anchor { OPK_ANCHOR_START, OPK_ANCHOR_MIDDLE, OPK_ANCHOR_END };

enum opk_shape_kind {
	OPK_SHAPE_LINE,   /* between the two ends */
	OPK_SHAPE_RECT,   /* between the two corners */
	OPK_SHAPE_MARK,   /* at a place: a circle, or points in units of its size */
	OPK_SHAPE_AREA,   /* filled between points */
	OPK_SHAPE_PATH,   /* a line through points */
	OPK_SHAPE_TEXT,   /* from here on not in struct opk_shape: opk_svg_label() */
	OPK_SHAPE_X_TICK, /* opk_svg_tick() */
	OPK_SHAPE_Y_TICK
};

/* For members that are 0 the class decides. */
struct opk_shape {
	enum opk_shape_kind kind;
	const char *class; /* predefined, or several with blanks between */
	double x, y, x2, y2;
	double size; /* of a mark */
	const double (*points)[2];
	size_t count;
	double opacity;        /* of the fill, or of a line */
	double stroke;         /* the line width */
	bool of_kernel;        /* it is a mark of `kernel` */
	size_t kernel;         /* the number of its group in the summary */
	const char *level;     /* of memory, for a mark */
	struct opk_buf *title; /* text, which browsers show under the mouse; freed here */
};
void opk_svg_shape(struct opk_svg *svg, const struct opk_shape *shape);
void opk_svg_line(struct opk_svg *svg, const char *class, double x1, double y1, double x2,
                  double y2);
void opk_svg_label(struct opk_svg *svg, const char *class, double x, double y,
                   enum opk_anchor anchor, const char *text);
/* opk_svg_label() along a line that rises by this angle, in degrees. */
void opk_svg_label_along(struct opk_svg *svg, const char *class, double x, double y, long angle,
                         const char *text);
/* opk_svg_label() with a buffer's text, to which it appends a NUL. */
void opk_svg_put_buffer(struct opk_svg *svg, const char *class, double x, double y,
                        enum opk_anchor anchor, struct opk_buf *text);
/* A word of a legend, after its colour. */
void opk_svg_put_key(struct opk_svg *svg, double x, double y, const char *class, const char *text);
/* Text at the left edge, in the font of headings. */
void opk_svg_heading(struct opk_svg *svg, double x, double y, const char *text);

/* Begins a panel, an area between two axes: what is drawn next is inside. */
struct opk_axis;
void opk_svg_panel(struct opk_svg *svg, const struct opk_axis *x, const struct opk_axis *y);
/* Labels a value on the last panel's axis, at this position; the text is at x, y. */
struct opk_tick {
	enum opk_shape_kind kind;
	double at;
	double x, y; /* of its label */
};
void opk_svg_tick(struct opk_svg *svg, const struct opk_tick *tick, const char *class,
                  struct opk_buf *text);

/* Adds the first line of a title: a name, or its beginning and end. */
void opk_svg_add_name(struct opk_buf *title, const char *name);

/* An estimate, rather too large, of a text's width. */
double opk_label_width(const char *text);
/* The number of bytes of the longest beginning that fits the width. */
size_t opk_label_beginning(const char *text, double width);
/* The text, or its beginning and end with "…" between to fit the width; free(). */
char *opk_label_fit(const char *text, double width);

/* ---- scales: scale.c */

struct opk_axis {
	bool log;
	double from, to;   /* values */
	double begin, end; /* their positions */
	double step;       /* between labels of a rounded linear axis; else 0 */
};

double opk_axis_at(const struct opk_axis *axis, double value);
/* Widens the axis to round numbers. */
void opk_axis_round(struct opk_axis *axis);

struct opk_ticks {
	double values[64];
	bool major[64]; /* has a label */
	size_t count;
};
/* Round numbers in the axis' range: about `wanted` with a label if it is linear. */
void opk_axis_ticks(struct opk_ticks *ticks, const struct opk_axis *axis, size_t wanted);

/* Three digits and a prefix: "3.35 T", "12 k", "0.01". */
void opk_put_short(struct opk_buf *out, double value);
/* opk_put_short() with a metric's unit made readable: "3.35 TB/s", "23.2 us", "75.4 %". */
void opk_put_value(struct opk_buf *out, double value, const char *unit);

/* ---- labels: labels.c */

struct opk_box {
	double left, top, right, bottom;
};
struct opk_boxes {
	struct opk_box *items;
	size_t count, capacity;
	struct opk_box inside; /* where labels may be */
};
/* Whether the place is inside and free. */
bool opk_boxes_are_clear(const struct opk_boxes *boxes, const struct opk_box *box);
/* Takes the place if it is inside and free. */
bool opk_boxes_take(struct opk_boxes *boxes, const struct opk_box *box);
/* Takes the place, even if it is outside or not free. */
void opk_boxes_add(struct opk_boxes *boxes, const struct opk_box *box);
void opk_boxes_clear(struct opk_boxes *boxes);
#define opk_autoboxes __attribute__((cleanup(opk_boxes_clear)))

/* The place of a label whose baseline begins, ends or is centred at x, y, and space beside it. */
struct opk_box opk_label_box(double x, double y, enum opk_anchor anchor, const char *text);

#endif
