/* SPDX-License-Identifier: BSD-2-Clause */
/* PM samples over time: a row per metric with the band from least to most, and what ran. */
#include <math.h>
#include <string.h>

#include "base/strlist.h"
#include "chip/door.h"
#include "picture/picture.h"
#include "series/series.h"

enum {
	WIDTH = 1000,
	LEFT = 290,
	RIGHT = 20,
	LEAST_WIDTH = LEFT + RIGHT + 200,
	TOP = 44,
	KEY = 18, /* a line of the legend */
	KEYS = 3, /* in a line */
	AXIS = 40,
	LANE = 18,    /* a row of bars */
	METRIC = 58,  /* a row of values */
	GAP = 10,     /* between rows */
	HEADING = 24, /* of a GPU, if there are several */
	MOST_PLACES = 16,
};

struct timeline {
	struct opk_svg *svg;
	struct opk_ctx *ctx;
	const struct opk_chart *chart;
	struct opk_axis x; /* ns since its start: doubles are too coarse for host times */
	double y;          /* end of what is drawn so far */
	double metric;     /* height of a row of values */
	struct opk_labels keys;
	size_t joined; /* bars that show several records */
	bool sampled;
};

/* ---- lanes ------------------------------------------------------------------------------ */

static void write_title(struct opk_buf *title, const struct opk_chart_bar *bar)
{
	enum { WIDEST = 400 };
	opk_autofree char *text = opk_label_fit(bar->full_name, WIDEST);

	if (bar->records > 1)
		opk_buf_add_printf(title, "%u, the first one ", bar->records);
	opk_buf_add_printf(title, "%s\n", text ? text : "");
	opk_put_value(title, (double)(bar->end_ns - bar->start_ns), "nanosecond");
}

/* Nanoseconds since the beginning; clamped to the chart's range. */
static double since(const struct opk_chart *chart, uint64_t time)
{
	uint64_t inside = time < chart->start_ns ? chart->start_ns
	                  : time > chart->end_ns ? chart->end_ns
	                                         : time;

	return (double)(inside - chart->start_ns);
}

static void put_bar(struct timeline *t, const struct opk_chart_bar *bar)
{
	double from = opk_axis_at(&t->x, since(t->chart, bar->start_ns));
	double to = opk_axis_at(&t->x, since(t->chart, bar->end_ns));
	opk_autobuf struct opk_buf title = { 0 };
	opk_autofree char *name = NULL;
	char class[16];

	if (bar->end_ns <= t->chart->start_ns || bar->start_ns >= t->chart->end_ns)
		return;
	snprintf(class, sizeof class, "c%u", bar->colour);
	write_title(&title, bar);
	opk_svg_shape(t->svg, &(struct opk_shape){ .kind = OPK_SHAPE_RECT,
	                                           .class = class,
	                                           .x = from,
	                                           .y = t->y,
	                                           .x2 = fmax(to, from + 0.3),
	                                           .y2 = t->y + LANE - 3,
	                                           .stroke = 0.4,
	                                           .opacity = 0.6,
	                                           .title = &title });
	t->joined += bar->records > 1;
	if (bar->records > 1 || to - from < 3 * OPK_SVG_FONT)
		return;
	name = opk_label_fit(bar->name, to - from - 8);
	if (name)
		opk_svg_label(t->svg, "label halo", from + 4, t->y + OPK_SVG_FONT, OPK_ANCHOR_START,
		              name);
}

static void put_lane(struct timeline *t, const struct opk_chart_lane *lane)
{
	opk_autobuf struct opk_buf title = { 0 };

	opk_buf_add_text(&title, lane->title);
	if (!lane->row)
		opk_svg_tick(t->svg,
		             &(struct opk_tick){ OPK_SHAPE_Y_TICK, t->y + LANE / 2.0, LEFT - 10,
		                                 t->y + OPK_SVG_FONT },
		             "label", &title);
	for (size_t i = 0; i < lane->bar_count; i++)
		put_bar(t, &lane->bars[i]);
	t->y += LANE;
}

/* ---- values ----------------------------------------------------------------------------- */

/* Draws the mean of each pixel over a band from its least to its most, for pixels [from, to). */
static void put_band(struct timeline *t, const struct opk_axis *y,
                     const struct opk_chart_line *line, size_t from, size_t to)
{
	size_t columns = to - from, count = 2 * columns;
	opk_autofree double(*points)[2] = opk_alloc_array(count + columns, sizeof *points);
	struct opk_shape shape = { .class = "c0", .x = t->x.begin + (double)from + 0.5, .y = t->y };

	t->svg->buf.failed |= !points;
	for (size_t i = from; points && i < to; i++) {
		double *most = points[i - from], *least = points[count - 1 - (i - from)];
		double *mean = points[count + i - from];

		most[0] = least[0] = mean[0] = t->x.begin + (double)i + 0.5;
		most[1] = opk_axis_at(y, line->most[i]);
		least[1] = opk_axis_at(y, line->least[i]);
		mean[1] = opk_axis_at(y, line->mean[i]);
	}
	if (!points)
		return;
	shape.points = points;
	shape.kind = OPK_SHAPE_AREA;
	shape.stroke = 0.5;
	shape.opacity = 0.3;
	shape.count = count;
	opk_svg_shape(t->svg, &shape);
	shape.kind = OPK_SHAPE_PATH;
	shape.stroke = 1.2;
	shape.opacity = 0;
	shape.points = points + count;
	shape.count = columns;
	opk_svg_shape(t->svg, &shape);
}

static void put_bands(struct timeline *t, const struct opk_axis *y,
                      const struct opk_chart_line *line)
{
	size_t columns = t->chart->points;

	for (size_t i = 0, from; i < columns; i++) {
		for (from = i; i < columns && !isnan(line->most[i]); i++)
			;
		if (i > from)
			put_band(t, y, line, from, i);
	}
}

static void put_scale(struct timeline *t, const struct opk_axis *y, const char *unit)
{
	const double values[] = { y->from, y->to };

	for (size_t i = 0; i < 2; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double at = opk_axis_at(y, values[i]);

		opk_put_value(&text, values[i], unit);
		opk_svg_line(t->svg, "grid", t->x.begin, at, t->x.end, at);
		opk_svg_tick(t->svg,
		             &(struct opk_tick){ OPK_SHAPE_Y_TICK, at, LEFT - 6, at + (i ? 8 : 0) },
		             "muted", &text);
	}
}

struct opk_axis opk_timeline_axis(double lowest, double highest, const char *unit)
{
	double least = fmin(lowest, 0), most = highest;
	struct opk_axis y = { .from = least, .to = most > least ? most : least + 1 };

	if (!strncmp(unit, "percent", 7) && most <= 100)
		y.to = 100;
	opk_axis_round(&y);
	return y;
}

/* All places share the axis of a metric, so that they can be compared. */
static struct opk_axis axis_of(const struct opk_chart *chart, size_t metric, const char *unit)
{
	double lowest = NAN, highest = NAN;

	for (size_t i = 0; i < chart->place_count; i++) {
		const struct opk_chart_place *place = &chart->places[i];

		if (metric >= place->line_count)
			continue;
		lowest = fmin(lowest, place->lines[metric].lowest);
		highest = fmax(highest, place->lines[metric].highest);
	}
	return opk_timeline_axis(lowest, highest, unit);
}

/* `words`: what tables call the metric. */
static int put_line(struct timeline *t, const struct opk_chart_place *place, size_t metric,
                    const char *words)
{
	const struct opk_chart_line *line = &place->lines[metric];
	opk_autofree char *name = opk_label_fit(words, LEFT - 76);
	struct opk_axis y = axis_of(t->chart, metric, line->unit);

	if (!name)
		return opk_nomem(t->ctx, "a picture");
	y.begin = t->y + t->metric;
	y.end = t->y;
	opk_svg_put(t->svg, "<g class=\"metric\"><title>");
	opk_svg_put_text(t->svg, line->name);
	opk_svg_put(t->svg, "</title>\n");
	opk_svg_panel(t->svg, &t->x, &y);
	put_scale(t, &y, line->unit);
	opk_svg_label(t->svg, "label", 12, t->y + t->metric / 2 + 4, OPK_ANCHOR_START, name);
	put_bands(t, &y, line);
	if (isnan(line->highest))
		opk_svg_label(t->svg, "muted", t->x.begin + 6, t->y + t->metric / 2 + 4,
		              OPK_ANCHOR_START, "nan in all samples");
	opk_svg_put(t->svg, "</g>\n");
	t->y += t->metric + GAP;
	return OPK_OK;
}

static int put_lines(struct timeline *t, const struct opk_chart_place *place)
{
	opk_autofree const char **names = opk_alloc_array(place->line_count + 1, sizeof *names);
	opk_autostrlist struct opk_strlist words = { 0 };

	if (!names)
		return opk_nomem(t->ctx, "a picture");
	for (size_t i = 0; i < place->line_count; i++)
		names[i] = place->lines[i].name;
	TRY(opk_metric_labels(&words, t->ctx, names, place->line_count));
	for (size_t i = 0; i < place->line_count; i++)
		TRY(put_line(t, place, i, words.items[i]));
	return OPK_OK;
}

/* ---- a GPU ------------------------------------------------------------------------------ */

static void begin_lanes(struct timeline *t, size_t count)
{
	const struct opk_axis rows = { .from = (double)count,
		                       .begin = t->y + LANE * (double)count,
		                       .end = t->y };

	opk_svg_panel(t->svg, &t->x, &rows);
}

static int put_place(struct timeline *t, const struct opk_chart_place *place)
{
	if (t->chart->all_places > 1) {
		opk_svg_label(t->svg, "label", 12, t->y + OPK_SVG_FONT, OPK_ANCHOR_START,
		              place->title);
		t->y += HEADING;
	}
	if (place->lane_count)
		begin_lanes(t, place->lane_count);
	for (size_t i = 0; i < place->lane_count; i++)
		put_lane(t, &place->lanes[i]);
	t->y += place->lane_count ? GAP : 0;
	return put_lines(t, place);
}

/* ---- the legend ------------------------------------------------------------------------- */

static double key_width(const struct timeline *t)
{
	return (t->svg->width - 24) / KEYS;
}

static int label_keys(struct timeline *t)
{
	const char *names[OPK_LANES_COLOURS + 1];
	size_t count = t->chart->key_count;

	for (size_t i = 0; i < count; i++)
		names[i] = t->chart->keys[i].name;
	if (t->chart->others)
		names[count++] = "all other kernels, copies";
	return opk_labels_make(&t->keys, t->ctx, names, count, key_width(t) - 30);
}

/* Where the rows begin, below the legend. */
static double top_of(const struct timeline *t)
{
	return TOP + KEY * ceil((double)t->keys.count / KEYS);
}

static void put_keys(struct timeline *t)
{
	for (size_t i = 0; i < t->keys.count; i++) {
		double x = 12 + key_width(t) * (double)(i % KEYS);
		double y = TOP + KEY * floor((double)i / KEYS);
		char class[16];

		snprintf(class, sizeof class, "c%u",
		         i < t->chart->key_count ? t->chart->keys[i].colour : OPK_LANES_OTHER);
		opk_svg_put_key(t->svg, x, y, class, t->keys.items[i]);
	}
}

/* ---- the whole -------------------------------------------------------------------------- */

/* Draws the time axis below all rows, and vertical lines through them. */
static void put_times(struct timeline *t)
{
	double bottom = t->svg->height - AXIS - 8;
	struct opk_ticks ticks;

	opk_axis_ticks(&ticks, &t->x, 8);
	for (size_t i = 0; i < ticks.count; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double x = opk_axis_at(&t->x, ticks.values[i]);

		opk_put_value(&text, ticks.values[i], "nanosecond");
		opk_svg_line(t->svg, "grid", x, top_of(t) - 4, x, bottom);
		opk_svg_tick(t->svg,
		             &(struct opk_tick){ OPK_SHAPE_X_TICK, x, x, bottom + OPK_SVG_LINE },
		             "muted", &text);
	}
}

static void put_note(struct timeline *t)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (t->sampled)
		opk_buf_add_text(&text, "The line is the mean of the samples in a column of "
		                        "pixels, the band goes from the least to the most. ");
	if (t->joined)
		opk_buf_add_text(&text, "Bars without names are of what is too near to be told "
		                        "apart. ");
	if (t->chart->place_count < t->chart->all_places)
		opk_buf_add_printf(&text, "The first %zu of %zu GPUs. ", t->chart->place_count,
		                   t->chart->all_places);
	opk_svg_put_buffer(t->svg, "muted", 12, t->svg->height - 8, OPK_ANCHOR_START, &text);
}

static int put_places(struct timeline *t)
{
	t->y = top_of(t);
	for (size_t i = 0; i < t->chart->place_count; i++)
		TRY(put_place(t, &t->chart->places[i]));
	return OPK_OK;
}

/* Rows of values take the height that other rows leave. */
static void measure(struct timeline *t, double wanted)
{
	size_t rows = 0;
	double others = 0;

	for (size_t i = 0; i < t->chart->place_count; i++) {
		const struct opk_chart_place *place = &t->chart->places[i];

		others += t->chart->all_places > 1 ? HEADING : 0;
		others += place->lane_count ? LANE * (double)place->lane_count + GAP : 0;
		rows += place->line_count;
	}
	t->metric = METRIC;
	t->svg->height = top_of(t) + others + (METRIC + GAP) * (double)rows + AXIS + 8;
	if (wanted > t->svg->height && rows) {
		t->metric += (wanted - t->svg->height) / (double)rows;
		t->svg->height = wanted;
	}
	t->sampled = rows > 0;
}

static int draw(struct timeline *t, const struct opk_picture_options *options)
{
	const char *title = options->title ? options->title : "Timeline";

	TRY(label_keys(t));
	measure(t, options->height);
	opk_svg_begin(
		t->svg, title,
		"A timeline: ranges and launches as bars, and the mean of each metric over a band "
		"from its least to its most sample.",
		options->dark);
	opk_svg_heading(t->svg, 12, 24, title);
	put_keys(t);
	put_times(t);
	TRY(put_places(t));
	put_note(t);
	return opk_svg_finish(t->svg, t->ctx);
}

int opk_picture_chart(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_picture_options *options)
{
	double width = options->width > 0 ? options->width : WIDTH;

	if (width < LEAST_WIDTH)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%g pixels are too narrow for a timeline: use %d or more", width,
		                LEAST_WIDTH);
	return opk_chart_new(out, ctx, file, options->eval, (size_t)(width - LEFT - RIGHT),
	                     MOST_PLACES);
}

int opk_draw_timeline(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_chart *chart,
                      const struct opk_picture_options *options)
{
	struct timeline t = { .svg = svg, .ctx = ctx, .chart = chart };
	int code;

	svg->width = options->width > 0 ? options->width : WIDTH;
	t.x = (struct opk_axis){ .to = (double)(chart->end_ns - chart->start_ns),
		                 .begin = LEFT,
		                 .end = svg->width - RIGHT };
	code = draw(&t, options);
	opk_labels_clear(&t.keys);
	return code;
}
