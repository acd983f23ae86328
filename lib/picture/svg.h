/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures as SVG: elements and text, scales and ticks, labels that keep clear of each other. */
#ifndef OPK_SVG_H
#define OPK_SVG_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/listing.h"

/*
 * A drawing: markup as it grows, and its shapes as rows, with which others draw the same.
 * Coordinates are CSS pixels, x to the right and y down.
 */
struct opk_svg {
	struct opk_buf buf;
	double width, height;
	bool in_page;                        /* the page has the colours, and a title of its own */
	bool dark;                           /* the paper is */
	struct opk_listing *panels, *shapes; /* NULL: only markup is wanted; opk_picture_list() */
	size_t panel;                        /* so many have begun; the last one is here: */
	double left, top, right, bottom;
};

/* The classes c0 to c7 have colours that people with any colour vision tell apart. */
enum { OPK_SVG_COLOURS = 8 };
/* These as variables of CSS, "--c0", and rules that fill pictures of a page with them. */
void opk_svg_put_variables(struct opk_buf *css);

enum { OPK_SVG_LINE = 16, OPK_SVG_FONT = 12 }; /* height of a line of text, and of its letters */

/*
 * The element svg, with title and description for those who can't see it; both are text. Size and
 * options are set before.
 */
void opk_svg_begin(struct opk_svg *svg, const char *title, const char *description, bool dark);
/* The end. OPK_ENOMEM: the drawing lacks something. */
int opk_svg_finish(struct opk_svg *svg, struct opk_ctx *ctx);
void opk_svg_clear(struct opk_svg *svg);
#define opk_autosvg __attribute__((cleanup(opk_svg_clear)))

/* Markup as it is; numbers in it come from opk_svg_put_number(). */
void opk_svg_put(struct opk_svg *svg, const char *markup);
/* ` name="12.3"`: at most two decimals, in every locale. */
void opk_svg_put_number(struct opk_svg *svg, const char *name, double number);
/* Escaped; what XML can't have becomes U+FFFD. */
void opk_svg_put_text(struct opk_svg *svg, const char *text);
/* ` name="text"` */
void opk_svg_put_attribute(struct opk_svg *svg, const char *name, const char *text);

enum opk_anchor { OPK_ANCHOR_START, OPK_ANCHOR_MIDDLE, OPK_ANCHOR_END };

enum opk_shape_kind {
	OPK_SHAPE_LINE,   /* from one end to the other */
	OPK_SHAPE_RECT,   /* from one corner to the other */
	OPK_SHAPE_MARK,   /* around a place: a circle, or points in units of its size */
	OPK_SHAPE_AREA,   /* filled between points */
	OPK_SHAPE_PATH,   /* a line through points */
	OPK_SHAPE_TEXT,   /* the rest are no struct opk_shape: opk_svg_label() */
	OPK_SHAPE_X_TICK, /* opk_svg_tick() */
	OPK_SHAPE_Y_TICK
};

/* What is 0 is as its class says. */
struct opk_shape {
	enum opk_shape_kind kind;
	const char *class; /* one of ours, or several with blanks between */
	double x, y, x2, y2;
	double size; /* of a mark */
	const double (*points)[2];
	size_t count;
	double opacity;        /* of what fills it, or of a line */
	double stroke;         /* the width of its line */
	bool of_kernel;        /* it is a mark of this one */
	size_t kernel;         /* the summary's group of this number */
	const char *level;     /* of memory, that it is at */
	struct opk_buf *title; /* text, which browsers show under the mouse; it ends with this */
};
void opk_svg_shape(struct opk_svg *svg, const struct opk_shape *shape);
void opk_svg_line(struct opk_svg *svg, const char *class, double x1, double y1, double x2,
                  double y2);
void opk_svg_label(struct opk_svg *svg, const char *class, double x, double y,
                   enum opk_anchor anchor, const char *text);
/* The same, along a line that rises by this angle, in degrees. */
void opk_svg_label_along(struct opk_svg *svg, const char *class, double x, double y, long angle,
                         const char *text);
/* The same, of a buffer of text, which ends with this. */
void opk_svg_put_buffer(struct opk_svg *svg, const char *class, double x, double y,
                        enum opk_anchor anchor, struct opk_buf *text);
/* At the left edge, in the font of headings. */
void opk_svg_heading(struct opk_svg *svg, double x, double y, const char *text);

/* A field between two axes begins: what is drawn inside of it from here on is in it. */
struct opk_axis;
void opk_svg_panel(struct opk_svg *svg, const struct opk_axis *x, const struct opk_axis *y);
/* The label of a value of the last panel's axis, at this place of it; its text lies at x, y. */
void opk_svg_tick(struct opk_svg *svg, enum opk_shape_kind which, double at, const char *class,
                  double x, double y, struct opk_buf *text);

/* The first line of a title: a name, or its beginning and end. */
void opk_svg_add_name(struct opk_buf *title, const char *name);

/* How wide a text of this class is likely to be, rather more than less. */
double opk_label_width(const char *text);
/* The text, or its beginning and end with "…" between, so that it is no wider; free(). */
char *opk_label_fit(const char *text, double width);

/* ---- scales: scale.c */

struct opk_axis {
	bool log;
	double from, to;   /* values */
	double begin, end; /* where they are */
	double step;       /* between labels of a linear axis that was rounded; else 0 */
};

double opk_axis_at(const struct opk_axis *axis, double value);
/* Widens the axis to round numbers. */
void opk_axis_round(struct opk_axis *axis);

struct opk_ticks {
	double values[64];
	bool major[64]; /* it has a label */
	size_t count;
};
/* Round numbers in the axis' range: about `wanted` with a label where it is linear. */
void opk_axis_ticks(struct opk_ticks *ticks, const struct opk_axis *axis, size_t wanted);

/* Three digits and a prefix: "3.35 T", "12 k", "0.01". */
void opk_put_short(struct opk_buf *out, double value);
/* The same with a unit as metrics have it, made readable: "3.35 TB/s", "23.2 us", "75.4 %". */
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
/* Takes the place if it is so. */
bool opk_boxes_take(struct opk_boxes *boxes, const struct opk_box *box);
/* Takes it in any case. */
void opk_boxes_add(struct opk_boxes *boxes, const struct opk_box *box);
void opk_boxes_clear(struct opk_boxes *boxes);
#define opk_autoboxes __attribute__((cleanup(opk_boxes_clear)))

/* The place of a label whose baseline begins, ends or has its middle at x, y. */
struct opk_box opk_label_box(double x, double y, enum opk_anchor anchor, const char *text);

#endif
