/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a chart from samples and what ran: a place for each GPU, with lines and lanes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "container/container.h"
#include "eval/door.h"
#include "eval/eval.h"
#include "series/series.h"

enum { MOST_BARS = 1500 };

struct chart {
	struct opk_chart public;
	struct opk_ctx *ctx;
	struct opk_evaluation *evaluation; /* NULL: no samples */
	struct opk_series series;
	struct opk_lanes lanes;
	struct opk_series_places series_places;
	struct opk_kernel_names *kernels;
	struct opk_chart_place *places;
	struct opk_chart_lane *lane_list; /* all lanes, to be copied to places */
};

static void clear_place(struct opk_chart_place *place)
{
	for (size_t i = 0; i < place->line_count; i++)
		free((void *)place->lines[i].least);
	free((void *)place->lines);
	free((void *)place->lanes);
	free((void *)place->title);
}

void opk_chart_free(struct opk_chart *public)
{
	struct chart *chart = (struct chart *)public;

	if (!chart)
		return;
	for (size_t i = 0; chart->places && i < chart->public.place_count; i++)
		clear_place(&chart->places[i]);
	for (size_t i = 0; chart->lane_list && i < chart->lanes.lanes.count; i++) {
		free((void *)chart->lane_list[i].title);
		free((void *)chart->lane_list[i].bars);
	}
	free(chart->places);
	free(chart->lane_list);
	opk_series_places_clear(&chart->series_places);
	opk_lanes_clear(&chart->lanes);
	opk_series_clear(&chart->series);
	opk_kernel_names_free(chart->kernels);
	opk_evaluation_free(chart->evaluation);
	free(chart);
}

static int nomem(const struct chart *chart)
{
	return opk_nomem(chart->ctx, "a timeline");
}

/* ---- what was recorded ------------------------------------------------------------------ */

static int name_kernels(struct chart *chart)
{
	TRY(opk_kernel_names_new(&chart->kernels, chart->ctx, OPK_KERNEL_SHORT));
	for (size_t i = 0; i < chart->lanes.names.count; i++) {
		struct opk_range range = opk_activity_range(chart->lanes.names.items[i]);

		if (chart->lanes.names.items[i]->kind == OPK_ACTIVITY_KERNEL)
			TRY(opk_kernel_names_add(chart->kernels, chart->ctx, &range, 1));
	}
	return OPK_OK;
}

static int read_file(struct chart *chart, struct opk_file *file,
                     const struct opk_eval_options *eval)
{
	const struct opk_activity *activities;
	const struct opk_meta *meta;
	size_t count;

	TRY(opk_file_meta(&meta, chart->ctx, file));
	if (meta->profiler == OPK_PROFILER_PM && strcmp(meta->mode, "trace") != 0)
		TRY(opk_eval_file(&chart->evaluation, chart->ctx, file, eval));
	else if (eval && eval->metric_count)
		return opk_fail(chart->ctx, OPK_EUSAGE,
		                "no timeline of metrics: the recording has no PM samples");
	if (chart->evaluation)
		TRY(opk_series_add(&chart->series, chart->ctx, chart->evaluation, NULL, 0));
	TRY(opk_file_activities(&activities, &count, chart->ctx, file));
	TRY(opk_lanes_init(&chart->lanes, chart->ctx, activities, count, MOST_BARS));
	TRY(name_kernels(chart));
	return opk_series_places(&chart->series_places, chart->ctx, &chart->series, &chart->lanes);
}

static void include(struct opk_chart *chart, uint64_t start, uint64_t end)
{
	chart->start_ns = !chart->end_ns || start < chart->start_ns ? start : chart->start_ns;
	chart->end_ns = end > chart->end_ns ? end : chart->end_ns;
}

static int fail_empty(const struct chart *chart)
{
	const struct opk_evaluation *evaluation = chart->evaluation;
	uint64_t begun = evaluation ? opk_evaluation_incomplete_samples(evaluation) : 0;

	if (begun)
		return opk_fail(chart->ctx, OPK_EUSAGE,
		                "no timeline: of %" PRIu64 " samples that were begun none was "
		                "completed",
		                begun);
	if (evaluation && opk_evaluation_row_count(evaluation))
		return opk_fail(chart->ctx, OPK_EUSAGE,
		                "no timeline: no sample meets the conditions");
	if (chart->lanes.untimed)
		return opk_fail(chart->ctx, OPK_EUSAGE,
		                "no timeline: no record of what ran has a time, of %" PRIu64,
		                chart->lanes.untimed);
	return opk_fail(chart->ctx, OPK_EUSAGE,
	                "no timeline: neither samples nor what ran was recorded");
}

/* Finds the time of all samples; without samples, of all that ran; at least 1 ns. */
static int find_times(struct chart *chart)
{
	for (size_t i = 0; i < chart->series.count; i++) {
		const struct opk_track *track = &chart->series.tracks[i];

		if (track->count)
			include(&chart->public, track->starts[0], track->ends[track->count - 1]);
	}
	if (!chart->series.count && chart->lanes.records)
		include(&chart->public, chart->lanes.start, chart->lanes.end);
	if (!chart->public.end_ns)
		return fail_empty(chart);
	chart->public.start_ns -= chart->public.start_ns == chart->public.end_ns;
	return OPK_OK;
}

/* ---- lanes ------------------------------------------------------------------------------ */

static const char *short_name(const struct chart *chart, const struct opk_activity *kernel)
{
	struct opk_range range = opk_activity_range(kernel);

	return opk_kernel_names_get(chart->kernels, &range);
}

static struct opk_chart_bar bar_of(struct chart *chart, const struct opk_lane_item *item)
{
	const struct opk_activity *of = chart->lanes.names.items[item->name];

	return (struct opk_chart_bar){
		.start_ns = item->start,
		.end_ns = item->end,
		.name = of->kind == OPK_ACTIVITY_KERNEL ? short_name(chart, of) : of->name,
		.full_name = of->name,
		.records = item->records,
		.colour = opk_lanes_colour(&chart->lanes, item->name),
	};
}

static void make_keys(struct chart *chart)
{
	for (size_t i = 0; i < chart->lanes.coloured; i++) {
		uint32_t name = chart->lanes.colours[i];

		chart->public.keys[i] = (struct opk_chart_key){
			short_name(chart, chart->lanes.names.items[name]),
			opk_lanes_colour(&chart->lanes, name),
		};
	}
	chart->public.key_count = chart->lanes.coloured;
	for (uint32_t i = 0; i < chart->lanes.names.count; i++)
		chart->public.others |= opk_lanes_colour(&chart->lanes, i) == OPK_LANES_OTHER;
}

static int make_lane(struct opk_chart_lane *out, struct chart *chart, const struct opk_lane *lane)
{
	struct opk_chart_bar *bars = opk_alloc_array(lane->items.count + 1, sizeof *bars);

	out->is_range = opk_lane_is_range(lane);
	out->row = lane->row;
	out->title = out->is_range ? opk_strdup("NVTX ranges")
	                           : opk_printf("stream %" PRIu64, lane->of->stream);
	out->bars = bars;
	out->bar_count = lane->items.count;
	if (!bars || !out->title)
		return nomem(chart);
	for (size_t i = 0; i < lane->items.count; i++)
		bars[i] = bar_of(chart, &lane->items.items[i]);
	return OPK_OK;
}

static int make_lanes(struct chart *chart)
{
	size_t count = chart->lanes.lanes.count;

	chart->lane_list = opk_alloc_array(count + 1, sizeof *chart->lane_list);
	if (!chart->lane_list)
		return nomem(chart);
	for (size_t i = 0; i < count; i++)
		TRY(make_lane(&chart->lane_list[i], chart, &chart->lanes.lanes.items[i]));
	return OPK_OK;
}

/* ---- places ----------------------------------------------------------------------------- */

/* `least`, `most` and `mean` share one allocation. */
static int make_line(struct opk_chart_line *line, const struct chart *chart,
                     const struct opk_track *track, size_t metric)
{
	size_t points = chart->public.points;
	double *values = opk_alloc_array(3 * points, sizeof *values);

	*line = (struct opk_chart_line){
		.name = opk_evaluation_column(chart->evaluation, metric),
		.unit = opk_evaluation_column_unit(chart->evaluation, metric),
		.least = values,
		.most = values + points,
		.mean = values + 2 * points,
		.lowest = track->lowest[metric],
		.highest = track->highest[metric],
		.missing = track->missing[metric],
	};
	if (!values)
		return nomem(chart);
	return opk_track_envelope(values, chart->ctx, points, track, metric, chart->public.start_ns,
	                          chart->public.end_ns);
}

static int make_lines(struct opk_chart_place *out, const struct chart *chart,
                      const struct opk_track *track)
{
	struct opk_chart_line *lines = opk_alloc_array(track->metrics + 1, sizeof *lines);

	out->lines = lines;
	out->samples = track->samples;
	if (!lines)
		return nomem(chart);
	for (size_t i = 0; i < track->metrics; i++) {
		out->line_count++; /* also of a line that fails, which is freed */
		TRY(make_line(&lines[i], chart, track, i));
	}
	return OPK_OK;
}

static int choose_lanes(struct opk_chart_place *out, const struct chart *chart,
                        const struct opk_series_place *place)
{
	opk_autoplacelanes struct opk_place_lanes shown = { .count = 0 };
	struct opk_chart_lane *lanes;

	TRY(opk_series_place_lanes(&shown, chart->ctx, &chart->series_places, place,
	                           &chart->lanes));
	out->title = opk_series_place_title(&chart->series_places, place, &chart->lanes, &shown);
	out->lanes = lanes = opk_alloc_array(shown.count + 1, sizeof *lanes);
	if (!lanes || !out->title)
		return nomem(chart);
	out->lane_count = shown.count;
	for (size_t i = 0; i < shown.count; i++)
		lanes[i] = chart->lane_list[shown.items[i]];
	return OPK_OK;
}

static int make_place(struct opk_chart_place *out, const struct chart *chart,
                      const struct opk_series_place *place)
{
	TRY(choose_lanes(out, chart, place));
	out->host = place->host;
	out->gpu = place->gpu;
	out->device = place->device;
	out->rank = place->rank;
	return place->track != SIZE_MAX
	               ? make_lines(out, chart, &chart->series.tracks[place->track])
	               : OPK_OK;
}

static int make_places(struct chart *chart, size_t most)
{
	size_t all = chart->series_places.count, count = all < most ? all : most;

	chart->places = opk_alloc_array(count + 1, sizeof *chart->places);
	if (!chart->places)
		return nomem(chart);
	chart->public.places = chart->places;
	chart->public.place_count = count;
	chart->public.all_places = all;
	for (size_t i = 0; i < count; i++)
		TRY(make_place(&chart->places[i], chart, &chart->series_places.items[i]));
	return OPK_OK;
}

static int make(struct chart *chart, struct opk_file *file, const struct opk_eval_options *eval,
                size_t places)
{
	TRY(read_file(chart, file, eval));
	TRY(find_times(chart));
	TRY(make_lanes(chart));
	make_keys(chart);
	return make_places(chart, places);
}

int opk_chart_new(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *eval, size_t points, size_t places)
{
	struct chart *chart = opk_alloc(sizeof *chart);
	int code;

	if (!chart)
		return opk_nomem(ctx, "a timeline");
	chart->ctx = ctx;
	chart->public.points = points;
	code = make(chart, file, eval, places);
	opk_series_clear(&chart->series);
	if (code)
		opk_chart_free(&chart->public);
	else
		*out = &chart->public;
	return code;
}
