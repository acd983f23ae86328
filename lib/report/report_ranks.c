/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares kernels by rank, or by GPU if ranks are unknown: shows which rank is slow. */
#include <math.h>

#include "base/index.h"
#include "report/report_inside.h"

/* Limits for the page: kernels, and numbers of all metrics. */
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

/* Prefers ranks: several can share a GPU. */
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

	lanes->by_rank = has_ranks(ranges, count);
	lanes->of_row = opk_alloc_array(count + 1, sizeof *lanes->of_row);
	if (!lanes->of_row)
		return opk_nomem(ctx, "ranks");
	lanes->row_count = count;
	for (size_t i = 0; i < count; i++) {
		/* Most ranges have the same rank as the one before. */
		if (i && is_same(&ranges[i], &ranges[i - 1]))
			lanes->of_row[i] = lanes->of_row[i - 1];
		else if (!add_lane(&lanes->of_row[i], lanes, &index,
		                   name_of(&ranges[i], lanes->by_rank)))
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
	size_t group = run->summary->groups[kernel].number;

	return group < run->spread_count && at < run->spread_columns
	               ? &run->spreads[group * run->spread_columns + at]
	               : NULL;
}

static size_t count_kernels(const struct report_run *run)
{
	size_t count = run->summary->group_count;

	return count < MOST_KERNELS ? count : MOST_KERNELS;
}

/* A column that is nan in all lanes was not recorded. */
static bool has_lanes(const struct report_run *run, size_t at)
{
	for (size_t i = 0; i < count_kernels(run); i++) {
		const struct report_spread *spread = find_spread(run, i, at);

		for (size_t j = 0; spread && spread->lanes && j < run->lanes.count; j++)
			if (spread->lanes[j].count && !isnan(spread->lanes[j].sum))
				return true;
	}
	return false;
}

/* Writes one number per lane: the mean of launches, "nan", or null if there are none. */
static void put_lanes(struct opk_json_writer *json, const struct report_sum *sums, size_t count)
{
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		double mean = sums && sums[i].count ? sums[i].sum / (double)sums[i].count
		                                    : (double)INFINITY;

		if (isnan(mean))
			opk_json_put_string(json, "nan");
		else
			report_number(json, mean);
	}
	opk_json_end_array(json);
}

static void put_means(struct opk_json_writer *json, const struct report_run *run, size_t at)
{
	for (size_t i = 0; i < count_kernels(run); i++) {
		const struct report_spread *spread = find_spread(run, i, at);

		put_lanes(json, spread ? spread->lanes : NULL, run->lanes.count);
	}
}

/* Counts all kernels, including those that the map leaves out. */
static void put_total(struct opk_json_writer *json, size_t total)
{
	opk_json_key(json, "total");
	opk_json_put_u64(json, total);
}

/* In these a rank waits for the others: the one that takes least time came last. */
static bool is_communication(const char *kernel)
{
	return strcasestr(kernel, "nccl") || strcasestr(kernel, "nvshmem")
	       || strcasestr(kernel, "rccl");
}

/* Ranks that take longer than others are stragglers only in these. */
static bool is_time(const char *name)
{
	return strstr(name, "time_duration") || !strcmp(name, "duration");
}

static void begin_metric(struct report_page *page, const char *name, const char *unit)
{
	struct opk_json_writer *json = &page->json;

	opk_json_begin_object(json);
	opk_json_key(json, "name");
	opk_json_put_string(json, name);
	opk_json_key(json, "unit");
	opk_json_put_string(json, report_unit(page, unit));
	opk_json_key(json, "time");
	opk_json_put_bool(json, is_time(name));
	opk_json_key(json, "means");
	opk_json_begin_array(json);
}

static void end_metric(struct opk_json_writer *json)
{
	opk_json_end_array(json);
	opk_json_end_object(json);
}

/* A metric without room is counted as left out. */
static void put_metric(struct report_page *page, const struct report_run *run, size_t at,
                       size_t *left, uint64_t *left_out)
{
	size_t numbers = count_kernels(run) * run->lanes.count;
	const struct opk_evaluation *evaluation = run->summary->evaluation;

	if (at == SIZE_MAX || !has_lanes(run, at))
		return;
	if (numbers > *left) {
		++*left_out;
		return;
	}
	*left -= numbers;
	begin_metric(page, opk_evaluation_column(evaluation, at),
	             opk_evaluation_column_unit(evaluation, at));
	put_means(&page->json, run, at);
	end_metric(&page->json);
}

/* Time comes first, if it was measured. */
static void put_metrics(struct report_page *page, const struct report_run *run)
{
	struct opk_json_writer *json = &page->json;
	size_t time = opk_summary_find(run->summary, time_metric), left = MOST_NUMBERS;
	uint64_t left_out = 0;

	opk_json_key(json, "metrics");
	opk_json_begin_array(json);
	put_metric(page, run, time, &left, &left_out);
	for (size_t i = 0; i < run->summary->column_count; i++) {
		const struct opk_summary_column *column = &run->summary->columns[i];

		if (column->at != time)
			put_metric(page, run, column->at, &left, &left_out);
	}
	opk_json_end_array(json);
	opk_json_add_u64(json, "metrics_left_out", left_out);
}

/* Adds a kernel of the map: its row in the table of kernels. */
static void put_kernel(struct opk_json_writer *json, size_t row, const char *name)
{
	opk_json_begin_object(json);
	opk_json_key(json, "row");
	opk_json_put_u64(json, row);
	opk_json_key(json, "communicates");
	opk_json_put_bool(json, is_communication(name));
	opk_json_end_object(json);
}

static void put_groups(struct report_page *page, const struct report_run *run)
{
	struct opk_json_writer *json = &page->json;

	opk_json_key(json, "kernels");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count_kernels(run); i++)
		put_kernel(json, i, run->summary->groups[i].name);
	opk_json_end_array(json);
	put_total(json, run->summary->group_count);
	put_metrics(page, run);
}

/* ---- launches on a timeline ------------------------------------------------------------- */

/* Times of launches by kernel and lane; a kernel is the first row with its name. */
struct times {
	struct report_lanes lanes;
	struct opk_index rows; /* name -> index in `kernels` */
	size_t kernels[MOST_KERNELS], count;
	size_t total; /* includes kernels without a row on the map */
	struct report_sum *sums;
};

static void clear_times(struct times *times)
{
	report_clear_lanes(&times->lanes);
	opk_index_clear(&times->rows);
	free(times->sums);
}

static int find_kernels(struct times *times, const struct report_page *page,
                        const struct report_run *run)
{
	for (size_t i = 0; i < run->summary->kernel_count; i++) {
		const char *name = run->summary->kernels[i].range->kernel;

		if (opk_index_find(NULL, &times->rows, name))
			continue;
		if (!opk_index_add(&times->rows, name, times->total++, NULL))
			return opk_nomem(page->ctx, "ranks");
		if (times->count < MOST_KERNELS)
			times->kernels[times->count++] = i;
	}
	return OPK_OK;
}

/* Launches as ranges, so that both have the same lanes; other records have the last one's. */
static int find_launch_lanes(struct times *times, const struct report_page *page,
                             const struct opk_activity *activities, size_t count)
{
	opk_autofree struct opk_range *ranges = opk_alloc_array(count + 1, sizeof *ranges);
	const struct opk_activity *launch = NULL;

	if (!ranges)
		return opk_nomem(page->ctx, "ranks");
	for (size_t i = 0; i < count && !launch; i++)
		if (activities[i].kind == OPK_ACTIVITY_KERNEL)
			launch = &activities[i];
	for (size_t i = 0; launch && i < count; i++) {
		if (activities[i].kind == OPK_ACTIVITY_KERNEL)
			launch = &activities[i];
		ranges[i] = (struct opk_range){ .rank = launch->rank,
			                        .device = launch->device,
			                        .host = launch->host };
	}
	return launch ? find_lanes(&times->lanes, page->ctx, ranges, count) : OPK_OK;
}

static int add_times(struct times *times, const struct report_page *page,
                     const struct opk_activity *activities, size_t count)
{
	size_t lanes = times->lanes.count, row;

	times->sums = opk_alloc_array(times->count * lanes + 1, sizeof *times->sums);
	if (!times->sums)
		return opk_nomem(page->ctx, "ranks");
	for (size_t i = 0; i < count; i++) {
		const struct opk_activity *launch = &activities[i];
		struct report_sum *sum;

		if (launch->kind != OPK_ACTIVITY_KERNEL
		    || !opk_index_find(&row, &times->rows, launch->name) || row >= times->count)
			continue;
		sum = &times->sums[row * lanes + times->lanes.of_row[i]];
		sum->sum += (double)(launch->end_ns - launch->start_ns);
		sum->count++;
	}
	return OPK_OK;
}

static void put_times(struct report_page *page, const struct report_run *run,
                      const struct times *times)
{
	struct opk_json_writer *json = &page->json;

	opk_json_key(json, "kernels");
	opk_json_begin_array(json);
	for (size_t i = 0; i < times->count; i++)
		put_kernel(json, times->kernels[i], run->summary->kernels[times->kernels[i]].name);
	opk_json_end_array(json);
	put_total(json, times->total);
	opk_json_key(json, "metrics");
	opk_json_begin_array(json);
	begin_metric(page, "duration", "nanosecond");
	for (size_t i = 0; i < times->count; i++)
		put_lanes(json, times->sums + i * times->lanes.count, times->lanes.count);
	end_metric(json);
	opk_json_end_array(json);
}

/* ---- the part --------------------------------------------------------------------------- */

static void begin(struct report_page *page, const struct report_run *run,
                  const struct report_part *part, const struct report_lanes *lanes)
{
	report_begin(
		page, run, part, lanes->by_rank ? part->title : "GPUs",
		lanes->by_rank
			? "The mean of a launch by rank, against the median or, of two ranks, the other one."
			: "The mean of a launch by GPU, against the median or, of two GPUs, the other one.");
	report_begin_data(page, run, part->id);
	opk_json_begin_object(&page->json);
	opk_json_key(&page->json, "lanes");
	opk_json_put_strings(&page->json, (const char *const *)lanes->names, lanes->count);
}

static void end(struct report_page *page)
{
	opk_json_end_object(&page->json);
	report_end_data(page);
	report_end(page);
}

static int write_launches(struct report_page *page, const struct report_run *run,
                          const struct report_part *part)
{
	__attribute__((cleanup(clear_times))) struct times times = { 0 };
	const struct opk_activity *activities;
	size_t count;
	int code = opk_file_activities(&activities, &count, page->ctx, run->file);

	if (!code)
		code = find_launch_lanes(&times, page, activities, count);
	if (code || times.lanes.count < 2)
		return code;
	code = find_kernels(&times, page, run);
	if (!code)
		code = add_times(&times, page, activities, count);
	if (code)
		return code;
	begin(page, run, part, &times.lanes);
	put_times(page, run, &times);
	end(page);
	return OPK_OK;
}

int report_write_ranks(struct report_page *page, const struct report_run *run,
                       const struct report_part *part)
{
	if (run->summary->kernel_count)
		return write_launches(page, run, part);
	if (run->lanes.count < 2 || !run->summary->group_count)
		return OPK_OK;
	begin(page, run, part, &run->lanes);
	put_groups(page, run);
	end(page);
	return OPK_OK;
}
