/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacked bars: a row per kernel, by time, and a colour per part. */
#include <math.h>
#include <string.h>

#include "picture/draw_bars.h"
#include "picture/stack.h"
#include "summary/door.h"

enum { MOST = 25, LEGEND_LINE = 20, SIDE = 84 };

struct stacks {
	struct opk_bars bars;
	const struct opk_stack *stack;
	const struct opk_drawn_kernels *kernels;
	size_t shown, unknown; /* kernels shown; values that are nan or infinite */
	bool infinite;         /* some of these are */
};

/* ---- legend */

/* Finds a place for a word of the legend, on a new line if this one is full. */
static void find_place(const struct stacks *s, double *x, double *y, const char *text)
{
	if (*x > s->bars.x.begin && *x + 20 + opk_label_width(text) > s->bars.svg->width - 8) {
		*x = s->bars.x.begin;
		*y += LEGEND_LINE;
	}
}

static void put_word(struct stacks *s, double *x, double *y, size_t colour, const char *text,
                     bool draw)
{
	char class[16];

	snprintf(class, sizeof class, "c%zu", colour);
	find_place(s, x, y, text);
	if (draw)
		opk_svg_put_key(s->bars.svg, *x, *y, class, text);
	*x += opk_label_width(text) + 32;
}

/* Draws the legend, or only counts its lines; `y` is the first line. */
static size_t put_legend(struct stacks *s, double y, bool draw)
{
	const struct opk_stack *stack = s->stack;
	double x = s->bars.x.begin, first = y;
	size_t others = 0;

	for (size_t i = 0; i < stack->count; i++) {
		others += !stack->parts[i].own;
		if (stack->parts[i].own)
			put_word(s, &x, &y, stack->parts[i].colour, stack->parts[i].text, draw);
	}
	if (others) {
		opk_autofree char *text = opk_printf("%zu others", others);

		put_word(s, &x, &y, OPK_SVG_COLOURS - 1, text ? text : "", draw);
	}
	return (size_t)((y - first) / LEGEND_LINE) + 1;
}

/* ---- bars */

static void put_value(struct opk_buf *out, const struct stacks *s, double value)
{
	if (s->stack->shares)
		opk_buf_add_printf(out, "%.1f%%", 100 * value);
	else
		opk_put_value(out, value, s->stack->unit);
}

/* A part that is wide enough shows its value inside. */
static void put_inside(struct stacks *s, size_t row, double from, double to)
{
	opk_autobuf struct opk_buf text = { 0 };
	double x = opk_axis_at(&s->bars.x, from), end = opk_axis_at(&s->bars.x, to);

	put_value(&text, s, to - from);
	opk_buf_add(&text, "", 1);
	if (text.failed || opk_label_width((char *)text.data) + 6 > end - x)
		return;
	opk_svg_label(s->bars.svg, "label halo", (x + end) / 2, opk_bars_y(&s->bars, row) + 4,
	              OPK_ANCHOR_MIDDLE, (char *)text.data);
}

static void put_part(struct stacks *s, size_t row, const struct opk_stack_part *part, double *at)
{
	const struct opk_drawn *kernel = &s->kernels->items[row];
	double value = kernel->values[part->column];
	opk_autobuf struct opk_buf title = { 0 };
	char class[16];

	s->unknown += !isfinite(value);
	s->infinite |= isinf(value);
	if (!(value > 0) || isinf(value))
		return;
	opk_svg_add_name(&title, kernel->name);
	opk_buf_add_printf(&title, "%s: ", part->text);
	put_value(&title, s, value);
	snprintf(class, sizeof class, "c%zu", part->colour);
	opk_bars_put_bar(&s->bars, &(struct opk_bar){ row, *at, *at + value, class, row }, &title);
	if (part->own)
		put_inside(s, row, *at, *at + value);
	*at += value;
}

/* Notes beside the bar that it has no length, or that something is missing. */
static void put_remark(struct stacks *s, size_t row, double at, size_t unknown)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (unknown == s->stack->count)
		opk_buf_add_text(&text, "no value");
	else if (at == 0)
		put_value(&text, s, 0);
	if (unknown && unknown < s->stack->count)
		opk_buf_add_printf(&text, "%s+ nan", at == 0 ? " " : "");
	if (text.size)
		opk_svg_put_buffer(s->bars.svg, "muted", opk_axis_at(&s->bars.x, at) + 6,
		                   opk_bars_y(&s->bars, row) + 4, OPK_ANCHOR_START, &text);
}

/* Draws the parts that have a separate colour in the set's order, then the others. */
static void put_kernel(struct stacks *s, size_t row)
{
	size_t unknown = s->unknown;
	double at = 0;

	opk_bars_put_name(&s->bars, row, s->kernels->items[row].name);
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < s->stack->count; i++)
			if (s->stack->parts[i].own == own)
				put_part(s, row, &s->stack->parts[i], &at);
	put_remark(s, row, at, s->unknown - unknown);
	if (!isnan(s->kernels->items[row].share)) {
		opk_autobuf struct opk_buf text = { 0 };

		opk_buf_add_printf(&text, "%.1f%%", 100 * s->kernels->items[row].share);
		opk_svg_put_buffer(s->bars.svg, "muted", s->bars.svg->width - 12,
		                   opk_bars_y(&s->bars, row) + 4, OPK_ANCHOR_END, &text);
	}
}

static char *notes(const struct stacks *s)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (s->kernels->unit)
		opk_buf_add_text(&text, "Right: the kernel's share of the time. ");
	if (s->shown < s->kernels->count)
		opk_buf_add_printf(&text, "The first %zu of %zu kernels by time. ", s->shown,
		                   s->kernels->count);
	if (s->unknown)
		opk_buf_add_printf(&text, "%zu value%s nan%s.", s->unknown,
		                   s->unknown == 1 ? " is" : "s are",
		                   s->infinite ? " or infinite" : "");
	return opk_buf_take_text(&text);
}

static void put_all(struct stacks *s, const struct opk_picture_options *options)
{
	opk_autofree char *note = NULL;
	size_t lines;

	s->bars.x = (struct opk_axis){ .from = 0, .to = s->stack->shares ? 1 : s->stack->most };
	if (!(s->bars.x.to > 0))
		s->bars.x.to = 1;
	opk_axis_round(&s->bars.x);
	opk_bars_measure(&s->bars, options, s->shown, LEGEND_LINE, SIDE);
	lines = put_legend(s, 0, false);
	opk_bars_measure(&s->bars, options, s->shown, LEGEND_LINE * (double)lines, SIDE);
	opk_bars_begin(
		&s->bars, options, s->stack->heading->title,
		"Stacked bars, a row for each kernel by time: the parts of what it is about.",
		s->stack->unit, s->stack->shares);
	put_legend(s, s->bars.top - 8 - LEGEND_LINE * (double)(lines - 1), true);
	for (size_t i = 0; i < s->shown; i++)
		put_kernel(s, i);
	note = notes(s);
	opk_bars_put_note(&s->bars, note ? note : "");
}

int opk_draw_stack(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_stack *stack,
                   const struct opk_drawn_kernels *kernels,
                   const struct opk_picture_options *options)
{
	struct stacks s = { .bars.svg = svg, .stack = stack, .kernels = kernels };
	size_t most = options->top ? options->top : MOST;
	int code;

	s.shown = kernels->count < most ? kernels->count : most;
	code = opk_bars_fit_names(&s.bars, ctx, options, kernels, s.shown);
	if (!code)
		put_all(&s, options);
	opk_bars_clear(&s.bars);
	return code ? code : opk_svg_finish(svg, ctx);
}

int opk_picture_stack(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                      const struct opk_meta_heading *heading,
                      const struct opk_picture_options *options)
{
	opk_autodrawn struct opk_drawn_kernels kernels = { 0 };
	opk_autostack struct opk_stack stack = { 0 };

	TRY(opk_drawn_kernels_init(&kernels, ctx, summary));
	TRY(opk_stack_init(&stack, ctx, summary->evaluation, &kernels, heading));
	return opk_draw_stack(svg, ctx, &stack, &kernels, options);
}
