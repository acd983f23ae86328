/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline: samples and what ran, as data that the page's script draws. */
#include <inttypes.h>
#include <math.h>

#include "adapters/deflate/deflate.h"
#include "base/strlist.h"
#include "container/container.h"
#include "eval/door.h"
#include "output/output.h"
#include "picture/picture.h"
#include "report/report_inside.h"
#include "series/series.h"

/*
 * The limits for samples and records in all timelines of a page, deflated, and for names: seven
 * metrics and the times of a million samples take 7 MB. Base64 adds a third, and the page stays
 * below 15 MB.
 */
enum { MOST_BYTES = 8 << 20, MOST_NAMES = 3 << 20 };

/* What all tracks share of a metric. */
struct metric {
	struct opk_axis axis;
	struct opk_scale scale;
};

struct timeline {
	struct report_page *page;
	const struct report_run *run;
	struct opk_series series;
	struct opk_lanes lanes;
	struct opk_series_places places;
	struct metric *metrics; /* of all tracks */
	bool *named;            /* by name: whether the page has it */
	size_t nameless;        /* names that the page leaves out */
	uint64_t base, end;
	struct opk_buf *packed; /* of each track, deflated */
	size_t packed_count;
	struct opk_buf packed_lanes; /* of all lanes */
	struct opk_strlist keys;
	struct opk_index rows; /* by keys of the kernels that can be chosen */
};

static void clear(struct timeline *t)
{
	for (size_t i = 0; i < t->packed_count; i++)
		opk_buf_clear(&t->packed[i]);
	free(t->packed);
	opk_buf_clear(&t->packed_lanes);
	opk_strlist_clear(&t->keys);
	opk_index_clear(&t->rows);
	free(t->metrics);
	free(t->named);
	opk_series_places_clear(&t->places);
	opk_series_clear(&t->series);
	opk_lanes_clear(&t->lanes);
}

/* ---- available data --------------------------------------------------------------------- */

/* Whether the column is drawn: one of the evaluation that the summary shows, not a peak's. */
static bool is_shown(const struct opk_summary_column *column)
{
	return column->at != SIZE_MAX;
}

/* Reads the samples of the evaluated file once more. */
static int read_samples(struct timeline *t)
{
	const struct opk_summary *summary = t->run->summary;
	struct opk_evaluation *evaluation = summary->evaluation;
	size_t all = summary->column_count, count = 0;
	opk_autofree size_t *columns = NULL;

	if (!evaluation || opk_evaluation_profiler(evaluation) != OPK_PROFILER_PM)
		return OPK_OK;
	columns = opk_alloc_array(all + 1, sizeof *columns);
	if (!columns)
		return opk_nomem(t->page->ctx, "a timeline");
	for (size_t i = 0; i < all; i++)
		if (is_shown(&summary->columns[i]))
			columns[count++] = summary->columns[i].at;
	return opk_series_add(&t->series, t->page->ctx, evaluation, columns, count);
}

static int read_activities(struct timeline *t)
{
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, t->page->ctx, t->run->file));
	return opk_lanes_init(&t->lanes, t->page->ctx, activities, count, 0);
}

static void find_span(struct timeline *t)
{
	t->base = t->lanes.records ? t->lanes.start : UINT64_MAX;
	t->end = t->lanes.records ? t->lanes.end : 0;
	for (size_t i = 0; i < t->series.count; i++) {
		const struct opk_track *track = &t->series.tracks[i];

		if (!track->count)
			continue;
		if (track->starts[0] < t->base)
			t->base = track->starts[0];
		if (track->ends[track->count - 1] > t->end)
			t->end = track->ends[track->count - 1];
	}
}

/* ---- bytes ------------------------------------------------------------------------------ */

static int deflate_into(struct opk_buf *out, struct opk_ctx *ctx, struct opk_buf *plain)
{
	opk_autofree void *packed = NULL;
	size_t size;
	int code = plain->failed ? opk_nomem(ctx, "a timeline")
	                         : opk_deflate(&packed, &size, ctx, plain->data, plain->size, true);

	opk_buf_clear(out);
	if (!code)
		opk_buf_add(out, packed, size);
	return code || !out->failed ? code : opk_nomem(ctx, "a timeline");
}

static int pack_tracks(size_t *bytes, struct timeline *t)
{
	int code = OPK_OK;

	*bytes = 0;
	for (size_t i = 0; !code && i < t->series.count; i++) {
		opk_autobuf struct opk_buf plain = { 0 };

		opk_track_pack(&plain, &t->series.tracks[i], t->base);
		code = deflate_into(&t->packed[i], t->page->ctx, &plain);
		*bytes += t->packed[i].size;
	}
	return code;
}

static int pack_lanes(struct timeline *t)
{
	opk_autobuf struct opk_buf plain = { 0 };

	for (size_t i = 0; i < t->lanes.lanes.count; i++)
		opk_lane_pack(&plain, &t->lanes.lanes.items[i], t->base);
	return plain.size ? deflate_into(&t->packed_lanes, t->page->ctx, &plain) : OPK_OK;
}

/* Folds the samples until they are small enough, or can't become fewer. */
static int pack_samples(struct timeline *t)
{
	size_t most = MOST_BYTES / t->page->run_count, bytes, before;
	int code;

	t->packed = opk_alloc_array(t->series.count + 1, sizeof *t->packed);
	if (!t->packed)
		return opk_nomem(t->page->ctx, "a timeline");
	t->packed_count = t->series.count;
	while (!(code = pack_tracks(&bytes, t)) && bytes + t->packed_lanes.size > most) {
		if (bytes < most / 4)
			break;
		before = opk_series_buckets(&t->series);
		code = opk_series_fold(&t->series, t->page->ctx);
		if (code || opk_series_buckets(&t->series) == before)
			break;
	}
	return code;
}

static void put_bytes(struct timeline *t)
{
	char name[48];

	for (size_t i = 0; i < t->packed_count; i++) {
		snprintf(name, sizeof name, "timeline-track-%zu", i);
		report_bytes(t->page, t->run, name, t->packed[i].data, t->packed[i].size);
	}
	if (t->packed_lanes.size)
		report_bytes(t->page, t->run, "timeline-lanes", t->packed_lanes.data,
		             t->packed_lanes.size);
}

/* ---- what the bytes mean ---------------------------------------------------------------- */

static void put_size(struct opk_json_writer *json, const char *key, uint64_t number)
{
	opk_json_key(json, key);
	opk_json_put_u64(json, number);
}

static void put_columns(struct timeline *t)
{
	struct opk_json_writer *json = &t->page->json;
	const struct opk_summary *summary = t->run->summary;

	opk_json_key(json, "columns");
	opk_json_begin_array(json);
	for (size_t i = 0; t->series.count && i < summary->column_count; i++) {
		const struct opk_summary_column *column = &summary->columns[i];

		if (!is_shown(column))
			continue;
		opk_json_begin_object(json);
		opk_json_key(json, "name");
		opk_json_put_string(json, column->name);
		report_put_words(t->page, column);
		opk_json_add_string(json, "about", column->description);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_double(struct opk_json_writer *json, const char *key, double number)
{
	opk_json_key(json, key);
	opk_json_put_double(json, number);
}

/* GPUs and ranks share the axis of a metric, so that they can be compared. */
static void find_axis(struct metric *metric, const struct timeline *t, size_t number,
                      const char *unit)
{
	double lowest = NAN, highest = NAN;

	for (size_t i = 0; i < t->series.count; i++) {
		lowest = fmin(lowest, t->series.tracks[i].lowest[number]);
		highest = fmax(highest, t->series.tracks[i].highest[number]);
	}
	metric->axis = opk_timeline_axis(lowest, highest, unit);
	opk_scale_find(&metric->scale, unit, fmax(fabs(metric->axis.from), fabs(metric->axis.to)));
}

/* Its metrics are the shown columns. */
static int find_axes(struct timeline *t)
{
	const struct opk_summary *summary = t->run->summary;
	size_t count = 0;

	t->metrics = opk_alloc_array(summary->column_count + 1, sizeof *t->metrics);
	if (!t->metrics)
		return opk_nomem(t->page->ctx, "a timeline");
	for (size_t i = 0; t->series.count && i < summary->column_count; i++)
		if (is_shown(&summary->columns[i])) {
			find_axis(&t->metrics[count], t, count, summary->columns[i].unit);
			count++;
		}
	return OPK_OK;
}

static void put_track(struct timeline *t, size_t number)
{
	struct opk_json_writer *json = &t->page->json;
	const struct opk_track *track = &t->series.tracks[number];

	opk_json_key(json, "track");
	opk_json_begin_object(json);
	put_size(json, "number", number);
	put_size(json, "count", track->count);
	put_size(json, "fold", track->fold);
	put_size(json, "samples", track->samples);
	opk_json_key(json, "metrics");
	opk_json_begin_array(json);
	for (size_t i = 0; i < track->metrics; i++) {
		const struct metric *metric = &t->metrics[i];
		struct opk_packing packing = opk_track_packing(track, i);

		opk_json_begin_object(json);
		put_double(json, "from", metric->axis.from);
		put_double(json, "to", metric->axis.to);
		put_double(json, "scale", metric->scale.divisor);
		opk_json_key(json, "unit");
		opk_json_put_string(json, metric->scale.unit);
		put_double(json, "lowest", packing.lowest);
		put_double(json, "highest", packing.highest);
		put_double(json, "step", packing.step);
		put_size(json, "missing", track->missing[i]);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
	opk_json_end_object(json);
}

static int put_device(struct timeline *t, const struct opk_series_place *place)
{
	struct opk_json_writer *json = &t->page->json;
	opk_autoplacelanes struct opk_place_lanes shown = { .count = 0 };
	opk_autofree char *title = NULL;

	TRY(opk_series_place_lanes(&shown, t->page->ctx, &t->places, place, &t->lanes));
	title = opk_series_place_title(&t->places, place, &t->lanes, &shown);
	if (!title)
		return opk_nomem(t->page->ctx, "a timeline");
	opk_json_begin_object(json);
	opk_json_key(json, "title");
	opk_json_put_string(json, title);
	if (place->track != SIZE_MAX)
		put_track(t, place->track);
	opk_json_key(json, "lanes");
	opk_json_begin_array(json);
	for (size_t i = 0; i < shown.count; i++)
		opk_json_put_u64(json, shown.items[i]);
	opk_json_end_array(json);
	opk_json_end_object(json);
	return OPK_OK;
}

/* ---- lanes and names -------------------------------------------------------------------- */

static char *lane_title(const struct opk_lane *lane)
{
	const struct opk_activity *of = lane->of;

	if (lane->row)
		return opk_printf(opk_lane_is_range(lane) ? "level %zu" : "beside it (%zu)",
		                  lane->row + 1);
	if (!opk_lane_is_range(lane))
		return opk_printf("stream %" PRIu64, of->stream);
	if (of->thread)
		return opk_printf("NVTX, thread %" PRIu64, of->thread);
	return opk_strdup("NVTX, process");
}

static void put_lanes(struct timeline *t)
{
	struct opk_json_writer *json = &t->page->json;
	size_t at = 0;

	opk_json_key(json, "lanes");
	opk_json_begin_array(json);
	for (size_t i = 0; i < t->lanes.lanes.count; i++) {
		const struct opk_lane *lane = &t->lanes.lanes.items[i];
		opk_autobuf struct opk_buf bytes = { 0 };
		opk_autofree char *title = lane_title(lane);

		opk_lane_pack(&bytes, lane, t->base);
		opk_json_begin_object(json);
		opk_json_key(json, "title");
		opk_json_put_string(json, title);
		put_size(json, "at", at);
		put_size(json, "count", lane->items.count);
		if (opk_lane_is_range(lane)) {
			opk_json_key(json, "ranges");
			opk_json_put_bool(json, true);
		}
		opk_json_end_object(json);
		at += bytes.size;
	}
	opk_json_end_array(json);
}

static char *kernel_key(const char *name, const char *symbol)
{
	return opk_printf("%s\n%s", name ? name : "", symbol ? symbol : "");
}

/* Maps names and symbols to the rows of the table of kernels. */
static int index_rows(struct timeline *t)
{
	size_t count = t->run->summary->kernel_count;

	for (size_t i = 0; i < count && i < REPORT_MOST_ROWS; i++) {
		const struct opk_range *range = t->run->summary->kernels[i].range;
		char *key = kernel_key(range->kernel, range->symbol);

		if (!opk_strlist_take(&t->keys, key) || !opk_index_add(&t->rows, key, i, NULL))
			return opk_nomem(t->page->ctx, "a timeline");
	}
	return OPK_OK;
}

static void put_kernel(struct timeline *t, const struct opk_activity *activity)
{
	struct opk_range range = { OPK_UNKNOWN_RANGE };
	opk_autofree char *key = kernel_key(activity->name, activity->symbol);
	const char *name;
	size_t row;

	range.kernel = activity->name ? activity->name : "";
	range.symbol = activity->symbol ? activity->symbol : "";
	name = opk_kernel_names_get(t->run->summary->kernel_names, &range);
	report_put_short(t->page, "name", name);
	if (strcmp(name, range.kernel) != 0)
		report_put_short(t->page, "full", range.kernel);
	if (key && opk_index_find(&row, &t->rows, key))
		put_size(&t->page->json, "kernel", row);
}

/* At most so many bytes in JSON; characters of markup have six. */
static size_t name_size(const struct opk_activity *activity)
{
	enum { LONGEST = 300, OTHERS = 64 };
	const char *name = activity->name ? activity->name : "";
	size_t size = 0;

	for (size_t i = 0; name[i] && i < LONGEST; i++)
		size += name[i] > 0 && (name[i] < ' ' || strchr("<>&\"\\", name[i])) ? 6 : 1;
	return OTHERS + (activity->kind == OPK_ACTIVITY_KERNEL ? 2 * size : size);
}

/* Takes names of what ran, then of ranges, while the page has room. */
static int choose_names(struct timeline *t)
{
	size_t count = t->lanes.names.count, left = MOST_NAMES / t->page->run_count;

	t->named = opk_alloc_array(count + 1, sizeof *t->named);
	if (!t->named)
		return opk_nomem(t->page->ctx, "a timeline");
	/* A name that is left out takes two bytes. */
	left -= 2 * count < left ? 2 * count : left;
	t->nameless = count;
	for (int ranges = 0; ranges < 2; ranges++)
		for (size_t i = 0; i < count; i++) {
			const struct opk_activity *of = t->lanes.names.items[i];
			size_t size = name_size(of);

			if (opk_activity_ran(of) == ranges || size > left)
				continue;
			left -= size;
			t->named[i] = true;
			t->nameless--;
		}
	return OPK_OK;
}

/* A name that is left out is only the number of its colour. */
static void put_name(struct timeline *t, size_t number)
{
	const struct opk_activity *activity = t->lanes.names.items[number];
	unsigned colour = opk_lanes_colour(&t->lanes, (uint32_t)number);

	if (!t->named[number]) {
		opk_json_put_u64(&t->page->json, colour);
		return;
	}
	opk_json_begin_object(&t->page->json);
	put_size(&t->page->json, "colour", colour);
	if (activity->kind == OPK_ACTIVITY_KERNEL)
		put_kernel(t, activity);
	else
		report_put_short(t->page, "name", activity->name ? activity->name : "");
	opk_json_end_object(&t->page->json);
}

static void put_shapes(struct timeline *t)
{
	struct opk_json_writer *json = &t->page->json;

	opk_json_key(json, "shapes");
	opk_json_begin_array(json);
	for (size_t i = 0; i < t->lanes.shapes.count; i++) {
		const struct opk_activity *of = t->lanes.shapes.items[i];

		opk_json_begin_object(json);
		report_put_shape(json, "grid", of->grid);
		report_put_shape(json, "block", of->block);
		put_size(json, "registers", of->registers);
		put_size(json, "shared", (uint64_t)of->static_shared_bytes + of->shared_bytes);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static int put_data(struct timeline *t)
{
	struct opk_json_writer *json = &t->page->json;
	char base[24];
	int code = OPK_OK;

	/* JavaScript's numbers can't represent it exactly. */
	snprintf(base, sizeof base, "%" PRIu64, t->base);
	report_begin_data(t->page, t->run, "timeline");
	opk_json_begin_object(json);
	opk_json_key(json, "base");
	opk_json_put_string(json, base);
	put_size(json, "length", t->end - t->base ? t->end - t->base : 1);
	/* A host's clock began in 1970, a GPU's clock when it was switched on. */
	opk_json_key(json, "host");
	opk_json_put_bool(json, t->base > (uint64_t)1 << 60);
	put_columns(t);
	put_lanes(t);
	opk_json_key(json, "names");
	opk_json_begin_array(json);
	for (size_t i = 0; i < t->lanes.names.count; i++)
		put_name(t, i);
	opk_json_end_array(json);
	put_shapes(t);
	opk_json_key(json, "devices");
	opk_json_begin_array(json);
	for (size_t i = 0; !code && i < t->places.count; i++)
		code = put_device(t, &t->places.items[i]);
	opk_json_end_array(json);
	opk_json_end_object(json);
	report_end_data(t->page);
	return code;
}

/* ---- text ------------------------------------------------------------------------------- */

/* Says what part of the recording the page shows. */
static void describe(struct opk_buf *out, const struct timeline *t)
{
	uint64_t samples = 0, pauses = 0, items = 0;
	size_t fold = 1;

	for (size_t i = 0; i < t->series.count; i++) {
		const struct opk_track *track = &t->series.tracks[i];

		samples += track->samples;
		pauses += track->pauses;
		fold = track->fold > fold ? track->fold : fold;
	}
	for (size_t i = 0; i < t->lanes.lanes.count; i++)
		items += t->lanes.lanes.items[i].items.count;
	if (fold > 1)
		opk_buf_add_printf(
			out,
			"These are too many samples for a page: it has the least, the most "
			"and the mean of every %zu in a row. ",
			fold);
	else if (samples)
		opk_buf_add_text(out, "Every sample is here, in 16 bits. ");
	if (samples)
		opk_buf_add_text(out, "The line is the mean of the samples at a pixel, the band "
		                      "goes from their least to their most. ");
	if (pauses)
		opk_buf_add_printf(
			out,
			"%" PRIu64 " sample%s over %d times as long as those before: "
			"sampling stood still, and what was counted meanwhile is left out. ",
			pauses, pauses == 1 ? " is" : "s are", OPK_SERIES_PAUSE);
	if (t->lanes.untimed)
		opk_buf_add_printf(out, "%" PRIu64 " record%s of what ran %s no times. ",
		                   t->lanes.untimed, t->lanes.untimed == 1 ? "" : "s",
		                   t->lanes.untimed == 1 ? "has" : "have");
	if (items < t->lanes.records)
		opk_buf_add_printf(out,
		                   "Of %" PRIu64
		                   " records of what ran those that are close to each "
		                   "other are joined, to %" PRIu64 ". ",
		                   t->lanes.records, items);
	if (t->nameless)
		opk_buf_add_printf(out, "The page has no room for %zu of %zu names of what ran. ",
		                   t->nameless, t->lanes.names.count);
}

static int write_section(struct timeline *t, const struct report_part *part)
{
	opk_autobuf struct opk_buf words = { 0 };
	opk_autofree char *intro = NULL;
	int code;

	describe(&words, t);
	intro = opk_buf_take_text(&words);
	if (!intro)
		return opk_nomem(t->page->ctx, "a timeline");
	report_begin(t->page, t->run, part, part->title, intro);
	code = put_data(t);
	put_bytes(t);
	report_end(t->page);
	t->page->needs_dygraphs = true;
	return code;
}

int report_write_timeline(struct report_page *page, const struct report_run *run,
                          const struct report_part *part)
{
	__attribute__((cleanup(clear))) struct timeline t = { .page = page, .run = run };
	int code = read_samples(&t);

	if (!code)
		code = read_activities(&t);
	if (code || !(t.series.count || t.lanes.records))
		return code;
	find_span(&t);
	code = opk_series_places(&t.places, page->ctx, &t.series, &t.lanes);
	if (!code)
		code = index_rows(&t);
	if (!code)
		code = find_axes(&t);
	if (!code)
		code = choose_names(&t);
	if (!code)
		code = pack_lanes(&t);
	if (!code)
		code = pack_samples(&t);
	return code ? code : write_section(&t, part);
}
