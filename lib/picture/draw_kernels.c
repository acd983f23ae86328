/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernels by time: a bar each, and the cumulative share of all time. */
#include <inttypes.h>
#include <math.h>

#include "picture/draw_bars.h"

enum { MOST = 25, LEGEND = 22 };

struct kernels {
	struct opk_bars bars;
	const struct opk_drawn_kernels *of;
	size_t shown;
	size_t timeless;         /* kernels not shown whose time is unknown */
	double rest, rest_share; /* the time of the others, and their share; NaN: there are none */
};

static void put_time(struct opk_buf *out, const struct kernels *k, double time)
{
	opk_put_value(out, time, k->of->unit == OPK_SUMMARY_CYCLES ? "cycle" : "nanosecond");
}

/* "12.3 ms  45.1%" */
static void put_side(struct kernels *k, size_t row, double time, double share)
{
	opk_autobuf struct opk_buf text = { 0 }, percent = { 0 };
	double y = opk_bars_y(&k->bars, row) + 4;

	put_time(&text, k, time);
	if (isnan(share))
		opk_buf_add_text(&percent, "nan");
	else
		opk_buf_add_printf(&percent, "%.1f%%", 100 * share);
	opk_svg_put_buffer(k->bars.svg, "label", k->bars.x.end + 82, y, OPK_ANCHOR_END, &text);
	opk_svg_put_buffer(k->bars.svg, "muted", k->bars.x.end + 138, y, OPK_ANCHOR_END, &percent);
}

static void put_kernel(struct kernels *k, size_t row)
{
	const struct opk_drawn *kernel = &k->of->items[row];
	opk_autobuf struct opk_buf title = { 0 };

	opk_svg_add_name(&title, kernel->name);
	put_time(&title, k, kernel->time);
	opk_buf_add_printf(&title, ", %.1f%% of the time", 100 * kernel->share);
	opk_bars_put_name(&k->bars, row, kernel->name);
	if (kernel->share > 0)
		opk_bars_put_bar(&k->bars, &(struct opk_bar){ row, 0, kernel->share, "c0", row },
		                 &title);
	put_side(k, row, kernel->time, kernel->share);
}

/* Draws all other kernels as one bar. */
static void put_rest(struct kernels *k)
{
	size_t row = k->shown, count = k->of->count - k->shown;
	opk_autofree char *name = opk_printf("%zu more", count), *note = NULL;
	opk_autobuf struct opk_buf title = { 0 };

	opk_buf_add_printf(&title, "%s kernels", name ? name : "");
	opk_bars_put_name(&k->bars, row, name ? name : "");
	if (k->rest_share > 0)
		opk_bars_put_bar(&k->bars,
		                 &(struct opk_bar){ row, 0, k->rest_share, "c7", SIZE_MAX },
		                 &title);
	put_side(k, row, k->rest, k->rest_share);
	if (!k->timeless)
		return;
	note = opk_printf("%zu of the %zu more kernels %s no time (nan).", k->timeless, count,
	                  k->timeless == 1 ? "has" : "have");
	opk_bars_put_note(&k->bars, note ? note : "");
}

/* Adds up the kernels that have no row. */
static void find_rest(struct kernels *k)
{
	k->rest = k->rest_share = NAN;
	for (size_t i = k->shown; i < k->of->count; i++) {
		const struct opk_drawn *kernel = &k->of->items[i];

		k->timeless += isnan(kernel->time);
		if (!isnan(kernel->time))
			k->rest = kernel->time + (isnan(k->rest) ? 0 : k->rest);
		if (!isnan(kernel->share))
			k->rest_share = kernel->share + (isnan(k->rest_share) ? 0 : k->rest_share);
	}
}

/* Draws the cumulative share of the kernels down to each row. */
static void put_sum(struct kernels *k)
{
	opk_autofree double(*points)[2] = opk_alloc_array(k->shown, sizeof *points);
	double sum = 0;

	k->bars.svg->buf.failed |= !points;
	for (size_t i = 0; points && i < k->shown; i++) {
		sum += isnan(k->of->items[i].share) ? 0 : k->of->items[i].share;
		points[i][0] = opk_axis_at(&k->bars.x, fmin(sum, 1));
		points[i][1] = opk_bars_y(&k->bars, i);
	}
	opk_svg_shape(k->bars.svg, &(struct opk_shape){ .kind = OPK_SHAPE_PATH,
	                                                .class = "c5",
	                                                .stroke = 1.5,
	                                                .points = points,
	                                                .count = k->shown });
}

static void put_legend(struct kernels *k)
{
	double x = k->bars.x.begin, y = k->bars.top - 9;

	opk_svg_put_key(k->bars.svg, x, y, "c0", "share of the time");
	opk_svg_line(k->bars.svg, "c5", x + 150, y - 4, x + 168, y - 4);
	opk_svg_label(k->bars.svg, "label", x + 174, y, OPK_ANCHOR_START,
	              "of this kernel and those above it");
}

static void put_all(struct kernels *k, const struct opk_picture_options *options)
{
	bool more = k->shown < k->of->count;

	opk_bars_measure(&k->bars, options, k->shown + more, LEGEND, OPK_BARS_SIDE);
	opk_bars_begin(&k->bars, options, "Kernels by time",
	               "Bars: the share of all time that each kernel took in all its launches. A "
	               "line: the share of the kernels down to each row.",
	               "", true);
	put_legend(k);
	for (size_t i = 0; i < k->shown; i++)
		put_kernel(k, i);
	if (more)
		put_rest(k);
	put_sum(k);
}

static bool is_of_devices(const struct opk_summary *summary)
{
	return summary->kind == OPK_SUMMARY_DEVICES && !summary->kernel_count;
}

int opk_picture_kernels(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_summary *summary,
                        const struct opk_picture_options *options)
{
	opk_autodrawn struct opk_drawn_kernels kernels = { 0 };
	struct kernels k = { .bars = { .svg = svg, .x = { .from = 0, .to = 1 } }, .of = &kernels };
	size_t most = options->top ? options->top : MOST;
	int code;

	TRY(summary->kernel_count ? opk_drawn_kernels_of_launches(&kernels, ctx, summary)
	                          : opk_drawn_kernels_init(&kernels, ctx, summary));
	/* Groups of samples are devices: their time is not a kernel's time. */
	if (!kernels.count || !kernels.unit || is_of_devices(summary))
		return opk_fail(ctx, OPK_EUSAGE,
		                "no kernels by time: the recording has no kernel, or no time of "
		                "one; gpu__time_duration.sum is such a time");
	k.shown = kernels.count < most ? kernels.count : most;
	find_rest(&k);
	code = opk_bars_fit_names(&k.bars, ctx, options, &kernels, k.shown);
	if (!code)
		put_all(&k, options);
	opk_bars_clear(&k.bars);
	return code ? code : opk_svg_finish(svg, ctx);
}
