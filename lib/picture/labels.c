/* SPDX-License-Identifier: BSD-2-Clause */
/* The width of text, without a font; and places for labels that must not overlap. */
#include <string.h>

#include "base/utf8.h"
#include "picture/svg.h"

/* ---- widths */

/* Widths in Helvetica, in thousandths of its size, from blank to ~. */
static const unsigned short widths[] = {
	278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
};

/* Fonts used instead of it are wider. */
static const double allowance = 1.13;

/* The width of the first character; sets its length. */
static double width_of(const char *text, size_t *length)
{
	enum { LONGEST = 4 }; /* character */
	unsigned char first = (unsigned char)*text;

	*length = opk_utf8_length((const unsigned char *)text, strnlen(text, LONGEST));
	*length = *length ? *length : 1;
	if (first >= ' ' && first <= '~')
		return widths[first - ' '];
	/* Characters of three and more bytes belong to scripts with square characters. */
	return *length < 3 ? 600 : 1000;
}

double opk_label_width(const char *text)
{
	double sum = 0;

	for (size_t length; *text; text += length)
		sum += width_of(text, &length);
	return sum / 1000 * OPK_SVG_FONT * allowance;
}

size_t opk_label_beginning(const char *text, double width)
{
	size_t used = 0, length;
	double sum = 0;

	while (text[used]) {
		sum += width_of(text + used, &length) / 1000 * OPK_SVG_FONT * allowance;
		if (sum > width)
			break;
		used += length;
	}
	return used;
}

char *opk_label_fit(const char *text, double width)
{
	double whole = opk_label_width(text), left = width - opk_label_width("\xe2\x80\xa6");
	size_t tail = 0, head, length;

	if (whole <= width)
		return opk_strdup(text);
	head = opk_label_beginning(text, left * 2 / 3);
	while (text[tail] && (tail < head || whole > left / 3)) {
		whole -= width_of(text + tail, &length) / 1000 * OPK_SVG_FONT * allowance;
		tail += length;
	}
	return opk_printf("%.*s\xe2\x80\xa6%s", (int)head, text, text + tail);
}

/* ---- places */

void opk_boxes_add(struct opk_boxes *boxes, const struct opk_box *box)
{
	struct opk_box *added = opk_append(&boxes->items, &boxes->capacity, &boxes->count,
	                                   sizeof *added);

	if (added)
		*added = *box;
}

static bool overlap(const struct opk_box *a, const struct opk_box *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

bool opk_boxes_are_clear(const struct opk_boxes *boxes, const struct opk_box *box)
{
	const struct opk_box *inside = &boxes->inside;

	if (box->left < inside->left || box->right > inside->right || box->top < inside->top
	    || box->bottom > inside->bottom)
		return false;
	for (size_t i = 0; i < boxes->count; i++)
		if (overlap(box, &boxes->items[i]))
			return false;
	return true;
}

bool opk_boxes_take(struct opk_boxes *boxes, const struct opk_box *box)
{
	if (!opk_boxes_are_clear(boxes, box))
		return false;
	opk_boxes_add(boxes, box);
	return true;
}

void opk_boxes_clear(struct opk_boxes *boxes)
{
	free(boxes->items);
	boxes->items = NULL;
	boxes->count = boxes->capacity = 0;
}

/* Labels on one line have a space between them, so that two names don't read as one. */
struct opk_box opk_label_box(double x, double y, enum opk_anchor anchor, const char *text)
{
	enum { SPACE = 4 };
	double width = opk_label_width(text);
	double left = anchor == OPK_ANCHOR_START ? x
	              : anchor == OPK_ANCHOR_END ? x - width
	                                         : x - width / 2;

	return (struct opk_box){ left - SPACE, y - OPK_SVG_FONT, left + width + SPACE, y + 4 };
}
