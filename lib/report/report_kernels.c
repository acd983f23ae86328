/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes kernels, ranges and devices as data for the page's tables, with all their values. */
#include <inttypes.h>
#include <math.h>

#include "report/report_inside.h"

/* Limits of rows with values and of single values, which keep pages small enough to send. */
enum { MOST_CELLS = 100000, LEAST_WITH_VALUES = 20, MOST_SPREAD = 300000 };

/* ---- columns ---------------------------------------------------------------------------- */

static void put_headings(struct opk_json_writer *json, const struct opk_summary *summary)
{
	const struct opk_meta_heading *last = NULL;

	opk_json_key(json, "headings");
	opk_json_begin_array(json);
	for (size_t i = 0; i < summary->column_count; i++) {
		const struct opk_meta_heading *heading = summary->columns[i].heading;

		if (!heading || heading == last)
			continue;
		last = heading;
		opk_json_begin_object(json);
		opk_json_key(json, "title");
		opk_json_put_string(json, heading->title);
		opk_json_key(json, "text");
		opk_json_put_string(json, heading->text);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_flag(struct opk_json_writer *json, const char *key, bool flag)
{
	if (!flag)
		return;
	opk_json_key(json, key);
	opk_json_put_bool(json, true);
}

/* Whether the metric is a share of a peak. */
static bool is_share(const char *metric)
{
	return metric && strstr(metric, ".pct_of_peak_sustained");
}

static void put_column(struct report_page *page, const struct opk_summary_column *column,
                       size_t heading)
{
	struct opk_json_writer *json = &page->json;

	opk_json_begin_object(json);
	opk_json_key(json, "name");
	opk_json_put_string(json, column->name);
	report_put_words(page, column);
	opk_json_add_string(json, "unit", report_unit(page, column->unit));
	opk_json_add_string(json, "about", column->description);
	if (column->metric && strcmp(column->metric, column->name) != 0)
		opk_json_add_string(json, "metric", column->metric);
	put_flag(json, "derived", !column->metric);
	put_flag(json, "share", is_share(column->metric));
	put_flag(json, "inflated", column->inflated);
	if (column->heading) {
		opk_json_key(json, "heading");
		opk_json_put_u64(json, heading);
	}
	opk_json_end_object(json);
}

static void put_columns(struct report_page *page, const struct opk_summary *summary)
{
	struct opk_json_writer *json = &page->json;
	const struct opk_meta_heading *last = NULL;
	size_t heading = SIZE_MAX;

	put_headings(json, summary);
	opk_json_key(json, "columns");
	opk_json_begin_array(json);
	for (size_t i = 0; i < summary->column_count; i++) {
		const struct opk_summary_column *column = &summary->columns[i];

		if (column->at == SIZE_MAX)
			continue;
		heading += column->heading && column->heading != last;
		last = column->heading ? column->heading : last;
		put_column(page, column, heading);
	}
	opk_json_end_array(json);
}

/* ---- rows ------------------------------------------------------------------------------- */

void report_put_shape(struct opk_json_writer *json, const char *key, const uint32_t shape[3])
{
	char text[40] = "varies";

	if (shape[0])
		snprintf(text, sizeof text, "%" PRIu32 " x %" PRIu32 " x %" PRIu32, shape[0],
		         shape[1], shape[2]);
	opk_json_add_string(json, key, text);
}

/* Writes facts about all launches of a row. */
static void put_facts(struct report_page *page, const struct opk_range *range, bool kernel)
{
	struct opk_json_writer *json = &page->json;

	if (kernel) {
		report_put_shape(json, "grid", range->grid);
		report_put_shape(json, "block", range->block);
	}
	opk_json_add_u64(json, "registers", range->registers);
	opk_json_add_u64(json, "shared", range->shared_bytes);
	if (range->nvtx && *range->nvtx)
		report_put_short(page, "nvtx", range->nvtx);
	if (range->device >= 0)
		opk_json_add_u64(json, "device", (uint64_t)range->device);
}

static void put_double(struct opk_json_writer *json, const char *key, double number)
{
	if (isnan(number))
		return;
	opk_json_key(json, key);
	report_number(json, number);
}

/* What the table has room for, where that is not the name. */
static void put_label(struct opk_json_writer *json, const char *label, const char *name)
{
	if (strcmp(label, name) != 0)
		opk_json_add_string(json, "label", label);
}

static void put_group(struct report_page *page, const struct opk_summary *summary,
                      const struct opk_summary_group *group, const char *label)
{
	struct opk_json_writer *json = &page->json;
	enum opk_summary_kind kind = summary->kind;
	size_t time = opk_summary_find(summary, "gpu__time_duration.sum");
	const struct opk_range *range = &group->of->range;
	opk_autofree char *device = opk_printf("device %s", group->name);

	opk_json_begin_object(json);
	report_put_name(page, kind == OPK_SUMMARY_DEVICES && device ? device : group->name,
	                kind == OPK_SUMMARY_KERNELS ? range->kernel : NULL);
	if (kind != OPK_SUMMARY_DEVICES)
		put_label(json, label, group->name);
	opk_json_key(json, "count");
	opk_json_put_u64(json, range->count ? range->count : 1);
	put_double(json, "time", group->time);
	put_double(json, "portion", group->share);
	if (time != SIZE_MAX && range->count > 1) {
		put_double(json, "least", group->of->columns[time].min);
		put_double(json, "most", group->of->columns[time].max);
	}
	put_facts(page, range, kind == OPK_SUMMARY_KERNELS);
	opk_json_end_object(json);
}

/* ---- values ----------------------------------------------------------------------------- */

/* Writes a list per statistic; for a row of one launch, only the mean matters. */
static void put_list(struct opk_json_writer *json, const char *key,
                     const struct opk_summary *summary, size_t rows, size_t column, size_t offset)
{
	bool mean = offset == offsetof(struct opk_statistics, mean), any = mean;

	for (size_t i = 0; i < rows && !any; i++)
		any = summary->groups[i].of->columns[column].count > 1;
	if (!any)
		return;
	opk_json_key(json, key);
	opk_json_begin_array(json);
	for (size_t i = 0; i < rows; i++) {
		const struct opk_statistics *of = &summary->groups[i].of->columns[column];
		double number;

		memcpy(&number, (const char *)of + offset, sizeof number);
		report_number(json, mean || of->count > 1 ? number : (double)NAN);
	}
	opk_json_end_array(json);
}

static void put_statistics(struct opk_json_writer *json, const struct opk_summary *summary,
                           size_t rows, const struct opk_summary_column *column)
{
	static const struct {
		const char *key;
		size_t offset;
	} lists[] = {
		{ "mean", offsetof(struct opk_statistics, mean) },
		{ "min", offsetof(struct opk_statistics, min) },
		{ "p50", offsetof(struct opk_statistics, p50) },
		{ "p90", offsetof(struct opk_statistics, p90) },
		{ "p99", offsetof(struct opk_statistics, p99) },
		{ "max", offsetof(struct opk_statistics, max) },
	};

	opk_json_begin_object(json);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		put_list(json, lists[i].key, summary, rows, column->at, lists[i].offset);
	if (column->peak != SIZE_MAX && column->peak != column->at)
		put_list(json, "peak", summary, rows, column->peak,
		         offsetof(struct opk_statistics, mean));
	opk_json_end_object(json);
}

/* [1, VALUE...] or [EACH, LEAST, GREATEST...]; null if there are no values, or no room. */
static void put_spread(struct opk_json_writer *json, const struct report_run *run, size_t group,
                       size_t column, size_t *left)
{
	const struct report_spread *spread = NULL;

	if (group < run->spread_count && column < run->spread_columns)
		spread = &run->spreads[group * run->spread_columns + column];
	if (!spread || !spread->count || spread->count > *left) {
		opk_json_put_string(json, NULL);
		return;
	}
	*left -= spread->count;
	opk_json_begin_array(json);
	opk_json_put_u64(json, spread->each);
	for (size_t i = 0; i < spread->count; i++)
		report_number(json, (double)spread->values[i]);
	opk_json_end_array(json);
}

/* Writes a list per row. Rows with the most time come first. */
static void put_spreads(struct opk_json_writer *json, const struct report_run *run, size_t rows)
{
	const struct opk_summary *summary = run->summary;
	size_t left = MOST_SPREAD;

	opk_json_key(json, "spread");
	opk_json_begin_array(json);
	for (size_t i = 0; i < rows; i++) {
		opk_json_begin_array(json);
		for (size_t j = 0; j < summary->column_count; j++) {
			size_t at = summary->columns[j].at;

			if (at != SIZE_MAX)
				put_spread(json, run, summary->groups[i].number, at, &left);
		}
		opk_json_end_array(json);
	}
	opk_json_end_array(json);
}

static void put_values(struct opk_json_writer *json, const struct report_run *run, size_t rows)
{
	const struct opk_summary *summary = run->summary;
	size_t columns = summary->column_count;
	size_t most = MOST_CELLS / (columns ? columns : 1);

	most = most < LEAST_WITH_VALUES ? LEAST_WITH_VALUES : most;
	rows = rows < most ? rows : most;
	opk_json_key(json, "with_values");
	opk_json_put_u64(json, rows);
	opk_json_key(json, "values");
	opk_json_begin_array(json);
	for (size_t i = 0; i < columns; i++)
		if (summary->columns[i].at != SIZE_MAX)
			put_statistics(json, summary, rows, &summary->columns[i]);
	opk_json_end_array(json);
	put_spreads(json, run, rows);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_title(struct report_page *page, const char *row, const char *time, size_t count)
{
	struct opk_json_writer *json = &page->json;

	opk_json_key(json, "row");
	opk_json_put_string(json, row);
	opk_json_key(json, "time");
	opk_json_put_string(json, report_unit(page, time));
	opk_json_key(json, "total");
	opk_json_put_u64(json, count);
}

static int make_labels(struct opk_labels *labels, struct report_page *page,
                       const struct opk_summary *summary, size_t rows, bool kernels)
{
	enum { WIDTH = 230 };
	opk_autofree const char **names = opk_alloc_array(rows + 1, sizeof *names);

	if (!names)
		return opk_nomem(page->ctx, "a page");
	for (size_t i = 0; i < rows; i++)
		names[i] = kernels ? summary->kernels[i].name : summary->groups[i].name;
	return opk_labels_make(labels, page->ctx, names, rows, WIDTH);
}

static int put_groups(struct report_page *page, const struct report_run *run)
{
	opk_autolabels struct opk_labels labels = { NULL, 0 };
	static const char *const kinds[] = { "kernel", "range", "device" };
	static const char *const times[] = { "", "nanosecond", "cycles" };
	const struct opk_summary *summary = run->summary;
	size_t count = summary->group_count;
	size_t rows = count < REPORT_MOST_ROWS ? count : REPORT_MOST_ROWS;
	struct opk_json_writer *json = &page->json;

	TRY(make_labels(&labels, page, summary, rows, false));
	opk_json_begin_object(json);
	put_title(page, kinds[summary->kind], times[summary->time], count);
	put_columns(page, summary);
	opk_json_key(json, "rows");
	opk_json_begin_array(json);
	for (size_t i = 0; i < rows; i++)
		put_group(page, summary, &summary->groups[i], labels.items[i]);
	opk_json_end_array(json);
	put_values(json, run, rows);
	opk_json_end_object(json);
	return OPK_OK;
}

/* ---- kernels of the timeline ------------------------------------------------------------ */

static void put_kernel(struct report_page *page, const struct opk_summary *summary,
                       const struct opk_summary_kernel *kernel, const char *label)
{
	struct opk_json_writer *json = &page->json;

	opk_json_begin_object(json);
	report_put_name(page, kernel->name, kernel->range->kernel);
	put_label(json, label, kernel->name);
	opk_json_key(json, "count");
	opk_json_put_u64(json, kernel->ran->launches);
	put_double(json, "time", (double)kernel->ran->time_ns);
	put_double(json, "portion", kernel->share);
	put_double(json, "least", (double)kernel->ran->least_ns);
	put_double(json, "most", (double)kernel->ran->most_ns);
	if (summary->evaluation) {
		opk_json_key(json, "samples");
		opk_json_put_u64(json, kernel->ran->samples);
		opk_json_key(json, "samples_alone");
		opk_json_put_u64(json, kernel->ran->samples_alone);
		put_flag(json, "unknown", kernel->ran->unknown);
	}
	put_facts(page, kernel->range, true);
	opk_json_end_object(json);
}

static void put_peak_values(struct opk_json_writer *json, const struct opk_summary *summary,
                            size_t rows, size_t peak)
{
	opk_json_begin_object(json);
	opk_json_key(json, "mean");
	opk_json_begin_array(json);
	for (size_t i = 0; i < rows; i++)
		report_number(json, summary->kernels[i].peaks[peak]);
	opk_json_end_array(json);
	opk_json_end_object(json);
}

/* NULL: no recorded column has the name. */
static const char *words_of(const struct opk_summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->column_count; i++)
		if (!strcmp(summary->columns[i].name, name))
			return summary->columns[i].words;
	return NULL;
}

static void put_peaks(struct report_page *page, const struct opk_summary *summary, size_t rows)
{
	struct opk_json_writer *json = &page->json;
	size_t count = opk_summary_peak_count(summary);

	opk_json_key(json, "columns");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		const char *name = opk_summary_peak(summary, i);
		struct opk_summary_column column = { .name = name,
			                             .metric = name,
			                             .words = words_of(summary, name),
			                             .unit = "percent",
			                             .description = "" };

		if (opk_summary_has_peak(summary, i))
			put_column(page, &column, 0);
	}
	opk_json_end_array(json);
	opk_json_key(json, "with_values");
	opk_json_put_u64(json, rows);
	opk_json_key(json, "values");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		if (opk_summary_has_peak(summary, i))
			put_peak_values(json, summary, rows, i);
	opk_json_end_array(json);
}

static int put_kernels(struct report_page *page, const struct report_run *run)
{
	opk_autolabels struct opk_labels labels = { NULL, 0 };
	const struct opk_summary *summary = run->summary;
	size_t count = summary->kernel_count;
	size_t rows = count < REPORT_MOST_ROWS ? count : REPORT_MOST_ROWS;
	struct opk_json_writer *json = &page->json;

	TRY(make_labels(&labels, page, summary, rows, true));
	opk_json_begin_object(json);
	put_title(page, "kernel", "nanosecond", count);
	opk_json_key(json, "headings");
	opk_json_begin_array(json);
	opk_json_end_array(json);
	opk_json_key(json, "rows");
	opk_json_begin_array(json);
	for (size_t i = 0; i < rows; i++)
		put_kernel(page, summary, &summary->kernels[i], labels.items[i]);
	opk_json_end_array(json);
	put_peaks(page, summary, rows);
	opk_json_end_object(json);
	return OPK_OK;
}

int report_write_kernels(struct report_page *page, const struct report_run *run,
                         const struct report_part *part)
{
	bool timeline = run->summary->kernel_count > 0;
	enum opk_summary_kind kind = run->summary->kind;
	int code;

	if (!timeline && (kind == OPK_SUMMARY_DEVICES || !run->summary->group_count))
		return OPK_OK;
	report_begin(page, run, part,
	             timeline || kind == OPK_SUMMARY_KERNELS ? "Kernels" : "Ranges", "");
	report_begin_data(page, run, part->id);
	code = timeline ? put_kernels(page, run) : put_groups(page, run);
	report_end_data(page);
	report_end(page);
	return code;
}

int report_write_devices(struct report_page *page, const struct report_run *run,
                         const struct report_part *part)
{
	int code;

	if (run->summary->kind != OPK_SUMMARY_DEVICES || !run->summary->group_count)
		return OPK_OK;
	report_begin(
		page, run, part, "Devices",
		"Over all samples of each GPU, without the first, which begins at an earlier event.");
	report_begin_data(page, run, part->id);
	code = put_groups(page, run);
	report_end_data(page);
	report_end(page);
	return code;
}
