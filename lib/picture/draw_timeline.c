/* SPDX-License-Identifier: BSD-2-Clause */
/* PM samples over time: a row a metric with all that lies between least and most, and what ran. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "picture/picture.h"
#include "series/series.h"

enum {
	WIDTH = 1000,
	LEFT = 290,
	RIGHT = 20,
	LEAST_WIDTH = LEFT + RIGHT + 200,
	TOP = 44,
	AXIS = 40,
	LANE = 18,    /* a row of bars */
	METRIC = 58,  /* a row of values */
	GAP = 10,     /* between rows */
	HEADING = 24, /* of a GPU among several */
	MOST_PLACES = 16,
	MOST_BARS = 1500,
};

struct timeline {
	struct opk_svg svg;
	struct opk_ctx *ctx;
	const struct opk_evaluation *evaluation; /* NULL: there are no samples */
	struct opk_series series;
	uint64_t from, to; /* ns of host time */
	struct opk_axis x; /* ns since then: doubles are too coarse for host times */
	double y;          /* what is drawn so far ends here */
	double metric;     /* height of a row of values */
	struct opk_lanes lanes;
	struct opk_series_places places;
	size_t joined; /* bars of several records */
};

/* ---- lanes ------------------------------------------------------------------------------ */

static void put_item_title(struct timeline *t, const struct opk_lane_item *item, const char *name)
{
	enum { WIDEST = 400 };
	opk_autofree char *text = opk_label_fit(name, WIDEST);
	opk_autobuf struct opk_buf title = { 0 };

	if (item->records > 1)
		opk_buf_add_printf(&title, "%u, the first one ", item->records);
	opk_buf_add_printf(&title, "%s\n", text ? text : "");
	opk_put_value(&title, (double)(item->end - item->start), "nanosecond");
	opk_svg_put_title(&t->svg, &title);
}

/* Since the beginning; what lies outside is at its border. */
static double since(const struct timeline *t, uint64_t time)
{
	uint64_t inside = time < t->from ? t->from : time > t->to ? t->to : time;

	return (double)(inside - t->from);
}

static void put_item(struct timeline *t, const struct opk_lane_item *item, const char *class)
{
	double from = opk_axis_at(&t->x, since(t, item->start));
	double to = opk_axis_at(&t->x, since(t, item->end));
	const char *full = t->lanes.names.items[item->name]->name;
	opk_autofree char *name = NULL;

	if (item->end <= t->from || item->start >= t->to)
		return;
	opk_svg_put(&t->svg, "<rect");
	opk_svg_put_attribute(&t->svg, "class", class);
	opk_svg_put(&t->svg, " stroke-width=\"0.4\" fill-opacity=\".55\"");
	opk_svg_put_number(&t->svg, "x", from);
	opk_svg_put_number(&t->svg, "y", t->y);
	opk_svg_put_number(&t->svg, "width", fmax(to - from, 0.3));
	opk_svg_put_number(&t->svg, "height", LANE - 3);
	opk_svg_put(&t->svg, ">");
	put_item_title(t, item, full);
	opk_svg_put(&t->svg, "</rect>\n");
	t->joined += item->records > 1;
	if (item->records > 1 || to - from < 3 * OPK_SVG_FONT)
		return;
	name = opk_label_fit(full, to - from - 8);
	if (name)
		opk_svg_label(&t->svg, "label", from + 4, t->y + OPK_SVG_FONT, OPK_ANCHOR_START,
		              name);
}

static void put_lane(struct timeline *t, const struct opk_lane *lane)
{
	bool ranges = opk_lane_is_range(lane);
	opk_autobuf struct opk_buf name = { 0 };

	if (ranges)
		opk_buf_add_text(&name, "NVTX ranges");
	else
		opk_buf_add_printf(&name, "stream %" PRIu64, lane->of->stream);
	if (!lane->row)
		opk_svg_put_buffer(&t->svg, "label", LEFT - 10, t->y + OPK_SVG_FONT, OPK_ANCHOR_END,
		                   &name);
	for (size_t i = 0; i < lane->items.count; i++)
		put_item(t, &lane->items.items[i], ranges ? "c3" : "c2");
	t->y += LANE;
}

static void put_lanes(struct timeline *t, const struct opk_series_place *place)
{
	bool any = false;

	for (size_t i = 0; i < t->lanes.lanes.count; i++) {
		const struct opk_lane *lane = &t->lanes.lanes.items[i];

		if (!opk_series_place_shows(place, &t->lanes, lane))
			continue;
		put_lane(t, lane);
		any = true;
	}
	t->y += any ? GAP : 0;
}

/* ---- values ----------------------------------------------------------------------------- */

/* From the least to the most of each pixel, for pixels [from, to). */
static void put_band(struct timeline *t, const struct opk_axis *y, const double *least,
                     const double *most, size_t from, size_t to)
{
	opk_svg_put(&t->svg, "<path class=\"c0\" fill-opacity=\".5\" stroke-width=\"0.8\" d=\"");
	for (size_t i = from; i < to; i++) {
		opk_svg_put_coordinate(&t->svg, i == from ? 'M' : 'L',
		                       t->x.begin + (double)i + 0.5);
		opk_svg_put_coordinate(&t->svg, ' ', opk_axis_at(y, most[i]));
	}
	for (size_t i = to; i-- > from;) {
		opk_svg_put_coordinate(&t->svg, 'L', t->x.begin + (double)i + 0.5);
		opk_svg_put_coordinate(&t->svg, ' ', opk_axis_at(y, least[i]));
	}
	opk_svg_put(&t->svg, "Z\"/>\n");
}

static void put_bands(struct timeline *t, const struct opk_axis *y, const double *least,
                      const double *most, size_t columns)
{
	for (size_t i = 0, from; i < columns; i++) {
		for (from = i; i < columns && !isnan(most[i]); i++)
			;
		if (i > from)
			put_band(t, y, least, most, from, i);
	}
}

static void put_scale(struct timeline *t, const struct opk_axis *y, const char *unit)
{
	const double values[] = { y->from, y->to };

	for (size_t i = 0; i < 2; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double at = opk_axis_at(y, values[i]);

		opk_put_value(&text, values[i], unit);
		opk_svg_line(&t->svg, "grid", t->x.begin, at, t->x.end, at);
		opk_svg_put_buffer(&t->svg, "muted", LEFT - 6, at + (i ? 8 : 0), OPK_ANCHOR_END,
		                   &text);
	}
}

static struct opk_axis scale_of(const struct timeline *t, const struct opk_track *track,
                                size_t metric)
{
	const char *unit = opk_evaluation_column_unit(t->evaluation, metric);
	double least = fmin(track->lowest[metric], 0), most = track->highest[metric];
	struct opk_axis y = { .from = least, .to = most > least ? most : least + 1 };

	if (!strncmp(unit, "percent", 7) && most <= 100)
		y.to = 100;
	opk_axis_round(&y);
	y.begin = t->y + t->metric;
	y.end = t->y;
	return y;
}

static int put_metric(struct timeline *t, const struct opk_track *track, size_t metric)
{
	size_t columns = (size_t)(t->x.end - t->x.begin);
	opk_autofree double *least = opk_alloc_array(columns, sizeof *least);
	opk_autofree double *most = opk_alloc_array(columns, sizeof *most);
	opk_autofree char *name = opk_label_fit(opk_evaluation_column(t->evaluation, metric),
	                                        LEFT - 76);
	struct opk_axis y = scale_of(t, track, metric);

	if (!least || !most || !name)
		return opk_nomem(t->ctx, "a picture");
	opk_track_envelope(least, most, columns, track, metric, t->from, t->to);
	opk_svg_put(&t->svg, "<g class=\"metric\"><title>");
	opk_svg_put_text(&t->svg, opk_evaluation_column(t->evaluation, metric));
	opk_svg_put(&t->svg, "</title>\n");
	put_scale(t, &y, opk_evaluation_column_unit(t->evaluation, metric));
	opk_svg_label(&t->svg, "label", 12, t->y + t->metric / 2 + 4, OPK_ANCHOR_START, name);
	put_bands(t, &y, least, most, columns);
	if (isnan(track->highest[metric]))
		opk_svg_label(&t->svg, "muted", t->x.begin + 6, t->y + t->metric / 2 + 4,
		              OPK_ANCHOR_START, "nan in all samples");
	opk_svg_put(&t->svg, "</g>\n");
	t->y += t->metric + GAP;
	return OPK_OK;
}

/* ---- a GPU ------------------------------------------------------------------------------ */

static void put_heading(struct timeline *t, const struct opk_series_place *place)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (place->host && *place->host)
		opk_buf_add_printf(&text, "%s ", place->host);
	if (place->device >= 0)
		opk_buf_add_printf(&text, "GPU %d ", (int)place->device);
	if (place->rank >= 0)
		opk_buf_add_printf(&text, "rank %d", (int)place->rank);
	opk_svg_put_buffer(&t->svg, "label", 12, t->y + OPK_SVG_FONT, OPK_ANCHOR_START, &text);
	t->y += HEADING;
}

static const struct opk_track *track_of(const struct timeline *t,
                                        const struct opk_series_place *place)
{
	return place->track != SIZE_MAX ? &t->series.tracks[place->track] : NULL;
}

static int put_place(struct timeline *t, const struct opk_series_place *place)
{
	const struct opk_track *track = track_of(t, place);
	int code = OPK_OK;

	if (t->places.count > 1)
		put_heading(t, place);
	put_lanes(t, place);
	for (size_t i = 0; !code && track && i < track->metrics; i++)
		code = put_metric(t, track, i);
	return code;
}

/* ---- the whole -------------------------------------------------------------------------- */

static void include(struct timeline *t, uint64_t start, uint64_t end)
{
	t->from = !t->to || start < t->from ? start : t->from;
	t->to = end > t->to ? end : t->to;
}

/* The time of all samples; without any, that of all that ran. */
static void find_times(struct timeline *t)
{
	for (size_t i = 0; i < t->series.count; i++) {
		const struct opk_track *track = &t->series.tracks[i];

		if (track->count)
			include(t, track->starts[0], track->ends[track->count - 1]);
	}
	if (!t->series.count && t->lanes.records)
		include(t, t->lanes.start, t->lanes.end);
	t->x.to = (double)(t->to - t->from);
	t->x.begin = LEFT;
	t->x.end = t->svg.width - RIGHT;
}

/* Time from the beginning on, below all rows; lines through all of them. */
static void put_times(struct timeline *t)
{
	double bottom = t->svg.height - AXIS - 8;
	struct opk_ticks ticks;

	opk_axis_ticks(&ticks, &t->x, 8);
	for (size_t i = 0; i < ticks.count; i++) {
		opk_autobuf struct opk_buf text = { 0 };
		double x = opk_axis_at(&t->x, ticks.values[i]);

		opk_put_value(&text, ticks.values[i], "nanosecond");
		opk_svg_line(&t->svg, "grid", x, TOP - 4, x, bottom);
		opk_svg_put_buffer(&t->svg, "muted", x, bottom + OPK_SVG_LINE, OPK_ANCHOR_MIDDLE,
		                   &text);
	}
}

static void put_note(struct timeline *t)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (t->series.count)
		opk_buf_add_text(&text, "A column of pixels is filled from the least to the most "
		                        "sample in it. ");
	if (t->joined)
		opk_buf_add_text(&text, "Bars without names are of what is too near to be told "
		                        "apart. ");
	if (t->places.count > MOST_PLACES)
		opk_buf_add_printf(&text, "The first %d of %zu GPUs. ", MOST_PLACES,
		                   t->places.count);
	opk_svg_put_buffer(&t->svg, "muted", 12, t->svg.height - 8, OPK_ANCHOR_START, &text);
}

static size_t shown(const struct timeline *t)
{
	return t->places.count < MOST_PLACES ? t->places.count : MOST_PLACES;
}

static int put_places(struct timeline *t)
{
	int code = OPK_OK;

	t->y = TOP;
	for (size_t i = 0; !code && i < shown(t); i++)
		code = put_place(t, &t->places.items[i]);
	return code;
}

/* Rows are as high as what is in them, so the picture is measured by drawing it once. */
static int measure(struct timeline *t, double wanted)
{
	size_t rows = 0;
	int code;

	t->metric = METRIC;
	code = put_places(t);
	for (size_t i = 0; i < shown(t); i++) {
		const struct opk_track *track = track_of(t, &t->places.items[i]);

		rows += track ? track->metrics : 0;
	}
	t->svg.height = t->y + AXIS + 8;
	if (wanted > t->svg.height && rows) {
		t->metric += (wanted - t->svg.height) / (double)rows;
		t->svg.height = wanted;
	}
	opk_buf_clear(&t->svg.buf);
	t->joined = 0;
	return code;
}

static int draw(struct timeline *t, const struct opk_picture_options *options, opk_sink_fn *sink,
                void *sink_data)
{
	const char *title = options->title ? options->title : "Timeline";
	int code;

	t->svg.width = options->width > 0 ? options->width : WIDTH;
	t->svg.in_page = options->in_page;
	find_times(t);
	if (t->svg.width < LEAST_WIDTH)
		return opk_fail(t->ctx, OPK_EUSAGE,
		                "%g pixels are too narrow for a timeline: use %d or more",
		                t->svg.width, LEAST_WIDTH);
	if (t->to <= t->from)
		return opk_fail(t->ctx, OPK_EUSAGE,
		                "no timeline: neither samples nor what ran was recorded");
	code = measure(t, options->height);
	if (code)
		return code;
	opk_svg_begin(
		&t->svg, title,
		"A timeline: ranges and launches as bars, and each metric from its least to its "
		"most sample.",
		options->dark);
	opk_svg_heading(&t->svg, 12, 24, title);
	put_times(t);
	code = put_places(t);
	if (code)
		return code;
	put_note(t);
	return opk_svg_finish(&t->svg, t->ctx, sink, sink_data);
}

int opk_picture_timeline(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_eval_options *eval,
                         const struct opk_picture_options *given)
{
	OPK_OPTIONS(opk_picture_options, options, given);
	struct timeline t = { .ctx = ctx };
	struct opk_evaluation *evaluation = NULL;
	const struct opk_activity *activities;
	const struct opk_meta *meta;
	size_t count;
	int code = opk_file_meta(&meta, ctx, file);

	if (!code && meta->profiler == OPK_PROFILER_PM && strcmp(meta->mode, "trace") != 0)
		code = opk_eval_file(&evaluation, ctx, file, eval);
	if (!code && evaluation)
		code = opk_series_add(&t.series, ctx, evaluation, NULL, 0);
	if (!code)
		code = opk_file_activities(&activities, &count, ctx, file);
	if (!code)
		code = opk_lanes_init(&t.lanes, ctx, activities, count, MOST_BARS);
	if (!code)
		code = opk_series_places(&t.places, ctx, &t.series, &t.lanes);
	t.evaluation = evaluation;
	if (!code)
		code = draw(&t, &options, sink, sink_data);
	opk_svg_clear(&t.svg);
	free(t.places.items);
	opk_lanes_clear(&t.lanes);
	opk_series_clear(&t.series);
	opk_evaluation_free(evaluation);
	return code;
}
