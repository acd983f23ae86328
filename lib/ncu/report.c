/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads reports in CSV. A table of the raw page has a row for each launch, after one with the units
 * of its metrics; other tables have a row for each metric of each launch.
 */
#include "ncu/report.h"

#include <string.h>

#include "base/ascii.h"
#include "base/file.h"

enum {
	MAX_FILE = 512 << 20,
	MAX_LAUNCHES = 1 << 20,
	MAX_METRICS = 10000,
	MAX_VALUES = 1 << 23,
	MAX_DEVICES = 1000,
	MAX_LABELS = 1000,
	NOWHERE = -1,
};

struct reader {
	struct opk_ncu_report *report;
	struct opk_csv csv;
	struct opk_csv_record record;
	char **titles; /* of the table; cells of the text */
	size_t width;
	int at[OPK_NCU_COLUMNS];   /* where each column is; NOWHERE: the table does not have it */
	uint32_t *metric_of;       /* of each column; UINT32_MAX: it is not a metric */
	struct opk_index launches; /* TABLE/PROCESS/ID/KERNEL/GRID/BLOCK -> launch */
	struct opk_strlist keys;
	struct opk_index noted;     /* labels, sampled metrics */
	struct opk_index processes; /* their names */
	size_t tables;
	bool begun; /* the table's titles were the last row */
	struct opk_ncu_said said;
	size_t *last; /* for each metric its last value, from 1, in tables with a row for each */
};

static int fail_nomem(const struct reader *r)
{
	return opk_nomem(r->csv.ctx, "a report");
}

/* Keeps one of several equal names, and not more than can be said. */
static int note_once(struct reader *r, struct opk_index *known, struct opk_strlist *list,
                     const char *name)
{
	if (list->count == MAX_LABELS || opk_index_find(NULL, known, name))
		return OPK_OK;
	return opk_strlist_add(list, name)
	                       && opk_index_add(known, list->items[list->count - 1], 0, NULL)
	               ? OPK_OK
	               : fail_nomem(r);
}

#define FAIL(r, ...) opk_csv_fail(&(r)->csv, (r)->record.line, __VA_ARGS__)

/* The cell of a column; "" if the table or the row does not have it. */
static const char *cell(const struct reader *r, enum opk_ncu_column column)
{
	int at = r->at[column];

	return at == NOWHERE || (size_t)at >= r->record.count ? "" : r->record.cells[at];
}

/* The cell of a fact about launches; "": not said, as for ranges of several launches. */
static const char *fact(const struct reader *r, enum opk_ncu_column column)
{
	const char *text = cell(r, column);

	return opk_printed_is_none(text) ? "" : text;
}

/* ---- metrics */

/* The metric's number. */
static int find_metric(size_t *out, struct reader *r, const char *name)
{
	struct opk_ncu_report *report = r->report;
	struct opk_ncu_metric *added;

	if (opk_index_find(out, &report->metric_names, name))
		return OPK_OK;
	if (report->metrics.count == MAX_METRICS)
		return FAIL(r, "more than %d metrics", MAX_METRICS);
	added = opk_list_add(&report->metrics);
	if (!added)
		return fail_nomem(r);
	added->name = name;
	*out = report->metrics.count - 1;
	return opk_index_add(&report->metric_names, name, *out, NULL) ? OPK_OK : fail_nomem(r);
}

/* A metric has one unit, in any scale; rows without a value may lack it. */
static int take_unit(int *power, struct reader *r, struct opk_ncu_metric *metric, const char *text)
{
	opk_autofree char *unit = opk_printed_unit(power, text);

	if (!unit)
		return fail_nomem(r);
	if (!*unit)
		return OPK_OK;
	if (metric->unit && strcmp(metric->unit, unit) != 0)
		return FAIL(r, "%s has the unit %s here, and in line %zu %s", metric->name, unit,
		            metric->unit_line, metric->unit);
	if (!metric->unit) {
		metric->unit = opk_take(unit);
		metric->unit_line = r->record.line;
	}
	return OPK_OK;
}

static int note_label(struct reader *r, const char *name)
{
	return note_once(r, &r->noted,
	                 opk_ncu_is_sampled(name) ? &r->report->sampled : &r->report->labels, name);
}

/* Lists of processors, "0,1", and versions, "4.0.1", look like numbers. */
static bool is_of_machine(const char *name)
{
	return !strncmp(name, "device__", 8) || !strncmp(name, "numa__", 6);
}

static int add_value(struct reader *r, size_t launch, size_t metric, const char *text, int power)
{
	struct opk_ncu_report *report = r->report;
	struct opk_ncu_value *added;

	if (report->values.count == MAX_VALUES)
		return FAIL(r, "more than %d values", MAX_VALUES);
	added = opk_list_add(&report->values);
	if (!added)
		return fail_nomem(r);
	*added = (struct opk_ncu_value){
		(uint32_t)launch, (uint32_t)metric, text, (uint32_t)r->record.line, power,
	};
	if (!is_of_machine(report->metrics.items[metric].name))
		opk_printed_learn(&report->printed, text, r->record.line);
	return OPK_OK;
}

/* ---- launches */

static int take_whole(uint64_t *out, const struct reader *r, enum opk_ncu_column column,
                      uint64_t most)
{
	const char *text = fact(r, column);

	*out = 0;
	if (!*text || opk_ncu_read_whole(out, text, most))
		return OPK_OK;
	return FAIL(r, "'%.50s' is not a number, in the column %s", text, r->titles[r->at[column]]);
}

static int take_shape(uint32_t out[3], const struct reader *r, enum opk_ncu_column column)
{
	const char *text = fact(r, column);

	if (!*text || opk_ncu_read_shape(out, text))
		return OPK_OK;
	return FAIL(r, "'%.50s' is not of the form (256, 1, 1), in the column %s", text,
	            r->titles[r->at[column]]);
}

/* A device has one compute capability. */
static int take_capability(struct reader *r, uint64_t device)
{
	struct opk_ncu_report *report = r->report;
	const char *text = fact(r, OPK_NCU_CC), **known;

	while (report->capabilities.count <= device)
		if (!opk_list_add(&report->capabilities))
			return fail_nomem(r);
	known = &report->capabilities.items[device];
	if (!*text)
		return OPK_OK;
	if (*known && strcmp(*known, text) != 0)
		return FAIL(
			r,
			"device %ju has the compute capability %.20s here, and %.20s in a line above",
			(uintmax_t)device, text, *known);
	*known = text;
	return OPK_OK;
}

/* Nsight Compute has this address for the machine on which it runs. */
static bool is_host(const char *name)
{
	return *name && strcmp(name, "127.0.0.1") != 0 && strcmp(name, "localhost") != 0;
}

static int take_program(struct reader *r, struct opk_range *launch)
{
	struct opk_ncu_report *report = r->report;
	const char *process = cell(r, OPK_NCU_PROCESS_NAME), *host = cell(r, OPK_NCU_HOST);

	if (*process)
		TRY(note_once(r, &r->processes, &report->processes, process));
	launch->host = opk_texts_keep(&report->launches.texts, is_host(host) ? host : "");
	return launch->host ? OPK_OK : fail_nomem(r);
}

static int take_ranges(const struct reader *r, struct opk_range *launch)
{
	const char *pushed = cell(r, OPK_NCU_PUSHED), *started = cell(r, OPK_NCU_STARTED);
	opk_autofree char *ranges = *pushed || *started ? opk_printed_ranges(pushed, started)
	                                                : opk_strdup("");

	launch->nvtx = ranges ? opk_texts_keep(&r->report->launches.texts, ranges) : NULL;
	return launch->nvtx ? OPK_OK : fail_nomem(r);
}

static int fill_launch(struct reader *r, struct opk_range *launch)
{
	struct opk_texts *texts = &r->report->launches.texts;
	uint64_t device, context, process;

	*launch = (struct opk_range){ .symbol = "", .gpu = "", .rank = -1 };
	launch->name = cell(r, OPK_NCU_ID);
	launch->kernel = opk_texts_keep_kernel(texts, cell(r, OPK_NCU_KERNEL_NAME));
	if (!launch->kernel)
		return fail_nomem(r);
	TRY(take_whole(&device, r, OPK_NCU_DEVICE, MAX_DEVICES));
	TRY(take_whole(&context, r, OPK_NCU_CONTEXT, UINT32_MAX));
	TRY(take_whole(&process, r, OPK_NCU_PROCESS, UINT32_MAX));
	TRY(take_whole(&launch->stream, r, OPK_NCU_STREAM, INT64_MAX));
	TRY(take_shape(launch->grid, r, OPK_NCU_GRID));
	TRY(take_shape(launch->block, r, OPK_NCU_BLOCK));
	launch->device = *fact(r, OPK_NCU_DEVICE) ? (int32_t)device : -1;
	launch->context = (uint32_t)context;
	launch->process = (uint32_t)process;
	TRY(take_capability(r, device));
	TRY(take_program(r, launch));
	return take_ranges(r, launch);
}

/* Each table counts its own launches: several reports may have been written to one file. */
static int add_launch(size_t *out, struct reader *r, char *key)
{
	struct opk_range_table *launches = &r->report->launches;
	struct opk_range *added;

	if (!opk_strlist_take(&r->keys, key))
		return fail_nomem(r);
	if (launches->rows.count == MAX_LAUNCHES)
		return FAIL(r, "more than %d launches", MAX_LAUNCHES);
	added = opk_list_add(&launches->rows);
	*out = launches->rows.count - 1;
	if (!added || !opk_index_add(&r->launches, key, *out, NULL))
		return fail_nomem(r);
	return fill_launch(r, added);
}

/*
 * The launch of a row, which is a new one in a table with a row for each; in others the rows of a
 * launch follow each other. Runs that were written one after the other may have the same numbers.
 */
static int find_launch(size_t *out, struct reader *r)
{
	bool rows_of_metrics = r->at[OPK_NCU_METRIC_NAME] != NOWHERE;
	opk_autofree char *key = opk_printf("%zu/%s/%s/%s/%s/%s", r->tables,
	                                    cell(r, OPK_NCU_PROCESS), cell(r, OPK_NCU_ID),
	                                    cell(r, OPK_NCU_KERNEL_NAME), cell(r, OPK_NCU_GRID),
	                                    cell(r, OPK_NCU_BLOCK));
	uint64_t id;

	if (!key)
		return fail_nomem(r);
	TRY(take_whole(&id, r, OPK_NCU_ID, UINT32_MAX));
	if (!opk_index_find(out, &r->launches, key))
		return add_launch(out, r, opk_take(key));
	return rows_of_metrics && *out + 1 == r->report->launches.rows.count
	               ? OPK_OK
	               : FAIL(r, "the launch %s is there twice", cell(r, OPK_NCU_ID));
}

/* ---- rows */

/* A row of the raw page. Cells without a value are not kept: most may be. */
static int read_launch(struct reader *r)
{
	size_t launch;

	TRY(find_launch(&launch, r));
	for (size_t i = 0; i < r->record.count; i++)
		if (r->metric_of[i] != UINT32_MAX && !opk_printed_is_none(r->record.cells[i]))
			TRY(add_value(r, launch, r->metric_of[i], r->record.cells[i],
			              r->report->metrics.items[r->metric_of[i]].power));
	return OPK_OK;
}

static int read_units(struct reader *r)
{
	for (size_t i = 0; i < r->record.count; i++) {
		struct opk_ncu_metric *metric;

		if (r->metric_of[i] == UINT32_MAX)
			continue;
		metric = &r->report->metrics.items[r->metric_of[i]];
		TRY(take_unit(&metric->power, r, metric, r->record.cells[i]));
	}
	return OPK_OK;
}

/* Whether a section repeats a metric that another one has had. */
static int find_repeated(bool *out, struct reader *r, size_t launch, size_t metric,
                         const char *text)
{
	const struct opk_ncu_report *report = r->report;
	const struct opk_ncu_value *last = r->last[metric]
	                                           ? &report->values.items[r->last[metric] - 1]
	                                           : NULL;

	*out = last && last->launch == launch;
	if (*out && strcmp(last->text, text) != 0)
		return FAIL(r,
		            "the launch has two values of %s: '%.50s' here, and '%.50s' in line %u",
		            report->metrics.items[metric].name, text, last->text, last->line);
	r->last[metric] = *out ? r->last[metric] : report->values.count + 1;
	return OPK_OK;
}

/* A row of one metric; a row of a rule has no metric. */
static int read_metric(struct reader *r)
{
	char *title = r->record.cells[r->at[OPK_NCU_METRIC_NAME]];
	const char *text = cell(r, OPK_NCU_METRIC_VALUE), *name;
	size_t launch, metric;
	bool repeated;
	int power = 0;

	if (!*title)
		return OPK_OK;
	TRY(find_launch(&launch, r));
	name = opk_ncu_metric_in(title);
	if (!name)
		return note_label(r, title);
	TRY(find_metric(&metric, r, name));
	TRY(take_unit(&power, r, &r->report->metrics.items[metric], cell(r, OPK_NCU_METRIC_UNIT)));
	TRY(find_repeated(&repeated, r, launch, metric, text));
	return repeated ? OPK_OK : add_value(r, launch, metric, text, power);
}

static int read_row(struct reader *r)
{
	int name = r->at[OPK_NCU_METRIC_NAME], value = r->at[OPK_NCU_METRIC_VALUE];
	bool rows_of_metrics = name != NOWHERE;
	/* ncu leaves out cells of rules at the end of a metric's row. */
	size_t least = rows_of_metrics ? (size_t)(name > value ? name : value) + 1 : r->width;

	if (r->record.count == 1 && !*r->record.cells[0])
		return OPK_OK;
	if (r->record.count < least || r->record.count > r->width)
		return FAIL(r, "this row has %zu cells, but the table has %zu columns",
		            r->record.count, r->width);
	if (rows_of_metrics)
		return read_metric(r);
	if (*cell(r, OPK_NCU_ID))
		return read_launch(r);
	return r->begun ? read_units(r) : FAIL(r, "this row has no ID");
}

/* ---- tables */

static bool is_heading(const struct opk_csv *csv)
{
	return opk_csv_begins(csv, "\"ID\",") || opk_csv_begins(csv, "ID,");
}

static int place_column(struct reader *r, size_t i)
{
	enum opk_ncu_column column = opk_ncu_column_of(r->titles[i]);
	bool rows_of_metrics = r->at[OPK_NCU_METRIC_NAME] != NOWHERE;
	const char *name;
	size_t metric;

	r->metric_of[i] = UINT32_MAX;
	if (column == OPK_NCU_IGNORED || (column == OPK_NCU_METRIC && rows_of_metrics))
		return OPK_OK;
	if (column != OPK_NCU_METRIC) {
		if (r->at[column] != NOWHERE && r->at[column] != (int)i)
			return FAIL(r, "the column %.50s is there twice", r->titles[i]);
		r->at[column] = (int)i;
		return OPK_OK;
	}
	name = opk_ncu_metric_in(r->titles[i]);
	if (!name)
		return note_label(r, r->titles[i]);
	TRY(find_metric(&metric, r, name));
	if (r->report->metrics.items[metric].table == r->tables)
		return FAIL(r, "the column %.100s is there twice", name);
	r->report->metrics.items[metric].table = r->tables;
	r->report->metrics.items[metric].power = 0;
	r->metric_of[i] = (uint32_t)metric;
	return OPK_OK;
}

/* Tables of the user interface have units in the titles, and no row with them. */
static bool is_of_interface(const struct reader *r)
{
	return opk_texts_contain((const char *const *)r->titles, r->width, "Function Name");
}

static int check_columns(const struct reader *r)
{
	static const struct {
		enum opk_ncu_column column;
		const char *title;
	} needed[] = {
		{ OPK_NCU_KERNEL_NAME, "Kernel Name" },
		{ OPK_NCU_METRIC_UNIT, "Metric Unit" },
		{ OPK_NCU_METRIC_VALUE, "Metric Value" },
	};
	bool rows_of_metrics = r->at[OPK_NCU_METRIC_NAME] != NOWHERE;

	if (r->at[OPK_NCU_KERNEL_NAME] == NOWHERE && is_of_interface(r))
		return FAIL(r, "the user interface of Nsight Compute exported this table; "
		               "ncu prints the raw page of a report in CSV, which can be read");
	for (size_t i = 0; i < (rows_of_metrics ? 3 : 1); i++)
		if (r->at[needed[i].column] == NOWHERE)
			return FAIL(r, "the table lacks the column %s", needed[i].title);
	return OPK_OK;
}

/* Reads the titles of a table, which are its first row. */
static int begin_table(struct reader *r)
{
	TRY(opk_csv_next(&r->record, &r->csv));
	free(r->titles);
	free(r->metric_of);
	r->width = r->record.count;
	r->titles = opk_alloc_array(r->width, sizeof *r->titles);
	r->metric_of = opk_alloc_array(r->width, sizeof *r->metric_of);
	if (!r->titles || !r->metric_of)
		return fail_nomem(r);
	memcpy(r->titles, r->record.cells, r->width * sizeof *r->titles);
	r->tables++;
	r->begun = true;
	for (size_t i = 0; i < OPK_NCU_COLUMNS; i++)
		r->at[i] = NOWHERE;
	for (size_t i = 0; i < r->width; i++)
		if (opk_ncu_column_of(r->titles[i]) == OPK_NCU_METRIC_NAME)
			r->at[OPK_NCU_METRIC_NAME] = (int)i;
	for (size_t i = 0; i < r->width; i++)
		TRY(place_column(r, i));
	return check_columns(r);
}

/* Lines of ncu itself may come between rows: "==WARNING== ..." */
static bool is_message(const struct opk_csv *csv)
{
	return opk_csv_begins(csv, "==") || opk_csv_begins(csv, "\n")
	       || opk_csv_begins(csv, "\r\n");
}

static int read_tables(struct reader *r)
{
	struct opk_csv *csv = &r->csv;

	while (csv->at < csv->size && !is_heading(csv))
		TRY(opk_ncu_skip_line(&r->said, csv));
	if (csv->at >= csv->size) {
		csv->at = 0;
		return opk_ncu_fail_without_table(csv, &r->said);
	}
	while (csv->at < csv->size) {
		if (is_heading(csv)) {
			TRY(begin_table(r));
		} else if (is_message(csv)) {
			TRY(opk_ncu_skip_line(&r->said, csv));
		} else {
			TRY(opk_csv_next(&r->record, csv));
			TRY(read_row(r));
			r->begun = false;
		}
	}
	return OPK_OK;
}

static int check_report(const struct reader *r)
{
	const struct opk_ncu_report *report = r->report;
	const struct opk_printed *printed = &report->printed;

	if (report->launches.texts.failed)
		return fail_nomem(r);
	if (printed->comma_line && printed->point_line)
		return opk_csv_fail(&r->csv, printed->comma_line,
		                    "the decimal mark is a comma here, but a point in line %zu",
		                    printed->point_line);
	if (!report->launches.rows.count)
		return opk_ncu_fail_empty(&r->csv, &r->said, "the table has no launches");
	return OPK_OK;
}

static int read_file(struct reader *r, const char *path)
{
	void *text = NULL;
	size_t size;

	TRY(opk_read_small_file(&text, &size, r->csv.ctx, path, MAX_FILE));
	r->report->text = text;
	r->report->size = size;
	r->report->path = path;
	r->csv.text = text;
	r->csv.size = size;
	r->csv.line = 1;
	if (opk_csv_begins(&r->csv, "\xef\xbb\xbf"))
		r->csv.at = 3;
	TRY(read_tables(r));
	return check_report(r);
}

int opk_ncu_report_read(struct opk_ncu_report **out, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_ncu_report) struct opk_ncu_report *report = opk_alloc(sizeof *report);
	struct reader r = { .report = report, .csv = { .ctx = ctx, .name = path } };
	int code;

	if (!report)
		return opk_nomem(ctx, "a report");
	r.last = opk_alloc_array(MAX_METRICS, sizeof *r.last);
	code = r.last ? read_file(&r, path) : fail_nomem(&r);
	free(r.last);
	free(r.record.cells);
	free(r.titles);
	free(r.metric_of);
	opk_index_clear(&r.launches);
	opk_index_clear(&r.noted);
	opk_index_clear(&r.processes);
	opk_strlist_clear(&r.keys);
	report->error = r.said.error;
	free(r.said.warning.text);
	if (!code)
		*out = opk_take(report);
	return code;
}

void opk_ncu_report_free(struct opk_ncu_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->metrics.count; i++)
		free(report->metrics.items[i].unit);
	free(report->metrics.items);
	opk_index_clear(&report->metric_names);
	free(report->values.items);
	opk_range_table_clear(&report->launches);
	opk_strlist_clear(&report->labels);
	opk_strlist_clear(&report->sampled);
	opk_strlist_clear(&report->processes);
	free(report->capabilities.items);
	free(report->error.text);
	free(report->text);
	free(report);
}
