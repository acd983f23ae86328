/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel by rank, or by GPU where ranks are not known: who is slower than the others. */
#include <math.h>

#include "base/index.h"
#include "report/report_inside.h"

/* On the page: kernels, and numbers of all metrics. */
enum { MOST_KERNELS = 60, MOST_NUMBERS = 150000 };

static const char time_metric[] = "gpu__time_duration.sum";

/* ---- lanes ------------------------------------------------------------------------------ */

/* NULL: memory is out. */
static char *name_of(const struct opk_range *range, bool by_rank)
{
	if (by_rank)
		return range->rank < 0 ? opk_strdup("no rank") : opk_printf("rank %d", range->rank);
	return opk_printf("%s%sdevice %d", range->host, *range->host ? ", " : "",
	                  range->device < 0 ? 0 : range->device);
}

/* Ranks tell more than GPUs, which they may share. */
static bool has_ranks(const struct opk_range *ranges, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (ranges[i].rank != ranges[0].rank)
			return true;
	return false;
}

static bool is_same(const struct opk_range *a, const struct opk_range *b)
{
	return a->rank == b->rank && a->device == b->device && !strcmp(a->host, b->host);
}

static bool add_lane(uint32_t *out, struct report_lanes *lanes, struct opk_index *index, char *name)
{
	size_t known = lanes->count;
	char **names;

	if (!name || !opk_index_add(index, name, lanes->count, &known)) {
		free(name);
		return false;
	}
	*out = (uint32_t)known;
	if (known != lanes->count) {
		free(name);
		return true;
	}
	names = opk_realloc_array(lanes->names, lanes->count + 1, sizeof *names);
	if (!names) {
		free(name);
		return false;
	}
	lanes->names = names;
	names[lanes->count++] = name;
	return true;
}

static int find_lanes(struct report_lanes *lanes, struct opk_ctx *ctx,
                      const struct opk_range *ranges, size_t count)
{
	opk_autoindex struct opk_index index = { 0 };
	bool by_rank = has_ranks(ranges, count);

	lanes->of_row = opk_alloc_array(count + 1, sizeof *lanes->of_row);
	if (!lanes->of_row)
		return opk_nomem(ctx, "ranks");
	lanes->row_count = count;
	for (size_t i = 0; i < count; i++) {
		/* Mostly a range is of the same rank as the one before it. */
		if (i && is_same(&ranges[i], &ranges[i - 1]))
			lanes->of_row[i] = lanes->of_row[i - 1];
		else if (!add_lane(&lanes->of_row[i], lanes, &index, name_of(&ranges[i], by_rank)))
			return opk_nomem(ctx, "ranks");
	}
	return OPK_OK;
}

int report_find_lanes(struct report_run *run, struct opk_ctx *ctx)
{
	const struct opk_range *ranges;
	size_t count;
	int code = opk_file_ranges(&ranges, &count, ctx, run->file);

	if (code || run->meta->profiler == OPK_PROFILER_PM || !count)
		return code;
	return find_lanes(&run->lanes, ctx, ranges, count);
}

void report_clear_lanes(struct report_lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++)
		free(lanes->names[i]);
	free(lanes->names);
	free(lanes->of_row);
}

/* ---- the map ---------------------------------------------------------------------------- */

static const struct report_spread *find_spread(const struct report_run *run, size_t kernel,
                                               size_t at)
{
	size_t group = opk_summary_group(run->summary, kernel)->number;

	return group < run->spread_count && at < run->spread_columns
	               ? &run->spreads[group * run->spread_columns + at]
	               : NULL;
}

static size_t count_kernels(const struct report_run *run)
{
	size_t count = opk_summary_group_count(run->summary);

	return count < MOST_KERNELS ? count : MOST_KERNELS;
}

static bool has_lanes(const struct report_run *run, size_t at)
{
	for (size_t i = 0; i < count_kernels(run); i++) {
		const struct report_spread *spread = find_spread(run, i, at);

		if (spread && spread->lanes)
			return true;
	}
	return false;
}

/* A list a kernel, with a number a lane: the mean of its launches, null where it has none. */
static void put_means(struct opk_json_writer *json, const struct report_run *run, size_t at)
{
	for (size_t i = 0; i < count_kernels(run); i++) {
		const struct report_spread *spread = find_spread(run, i, at);

		opk_json_begin_array(json);
		for (size_t j = 0; j < run->lanes.count; j++) {
			struct report_sum sum = { 0 };

			if (spread && spread->lanes)
				sum = spread->lanes[j];
			report_number(json, sum.count ? (double)(sum.sum / (float)sum.count)
			                              : (double)NAN);
		}
		opk_json_end_array(json);
	}
}

static void put_metric(struct opk_json_writer *json, const struct report_run *run, size_t at,
                       size_t *left)
{
	size_t numbers = count_kernels(run) * run->lanes.count;
	const struct opk_evaluation *evaluation = opk_summary_evaluation(run->summary);

	if (at == SIZE_MAX || numbers > *left || !has_lanes(run, at))
		return;
	*left -= numbers;
	opk_json_begin_object(json);
	opk_json_key(json, "name");
	opk_json_put_string(json, opk_evaluation_column(evaluation, at));
	opk_json_key(json, "unit");
	opk_json_put_string(json, opk_evaluation_column_unit(evaluation, at));
	opk_json_key(json, "means");
	opk_json_begin_array(json);
	put_means(json, run, at);
	opk_json_end_array(json);
	opk_json_end_object(json);
}

/* Time comes first, if it was measured. */
static void put_metrics(struct opk_json_writer *json, const struct report_run *run)
{
	size_t time = opk_summary_find(run->summary, time_metric), left = MOST_NUMBERS;

	opk_json_key(json, "metrics");
	opk_json_begin_array(json);
	put_metric(json, run, time, &left);
	for (size_t i = 0; i < opk_summary_column_count(run->summary); i++) {
		const struct opk_summary_column *column = opk_summary_column(run->summary, i);

		if (column->at != time)
			put_metric(json, run, column->at, &left);
	}
	opk_json_end_array(json);
}

int report_write_ranks(struct report_page *page, const struct report_run *run,
                       const struct report_part *part)
{
	const struct report_lanes *lanes = &run->lanes;
	struct opk_json_writer *json = &page->json;
	bool ranks = lanes->count > 1 && !strncmp(lanes->names[0], "rank", 4);

	if (lanes->count < 2 || !opk_summary_group_count(run->summary))
		return OPK_OK;
	report_begin(page, run, part, ranks ? part->title : "GPUs",
	             ranks ? "The mean of a launch by rank, against the median of all ranks."
	                   : "The mean of a launch by GPU, against the median of all GPUs.");
	report_begin_data(page, run, part->id);
	opk_json_begin_object(json);
	opk_json_key(json, "lanes");
	opk_json_put_strings(json, (const char *const *)lanes->names, lanes->count);
	put_metrics(json, run);
	opk_json_end_object(json);
	report_end_data(page);
	report_end(page);
	return OPK_OK;
}
