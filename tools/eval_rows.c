/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns besides those of values. */
enum { MAX_FIXED = 16 + MAX_LAUNCH_COLUMNS };

/* A row of the table, be it one range or several joined. */
struct shown_row {
	struct opk_row row;
	bool many_streams;
	uint64_t ranges, ranges_min;
	const uint64_t *counts; /* of joined ranges */
};

static void add_column(struct eval_rows *rows, const char *name, enum opk_cell_type type)
{
	rows->columns[rows->column_count++] = (struct opk_column){ name, type };
}

static void add_fixed_columns(struct eval_rows *rows)
{
	bool pm = rows->profiler == OPK_PROFILER_PM;

	add_column(rows, pm ? "sample" : "range", OPK_CELL_UINT);
	if (pm) {
		add_column(rows, "start_ns", OPK_CELL_UINT);
		add_column(rows, "end_ns", OPK_CELL_UINT);
	} else {
		add_column(rows, "name", OPK_CELL_STRING);
	}
	if (rows->file_count > 1)
		add_column(rows, "file", OPK_CELL_STRING);
	if (pm && rows->first_sample == FIRST_MARK)
		add_column(rows, "spans_earlier", OPK_CELL_BOOL);
	rows->launch_at = rows->column_count;
	rows->column_count +=
		launch_columns_add(&rows->launches, rows->columns + rows->column_count);
	if (rows->joined && !rows->long_layout) {
		add_column(rows, "launches", OPK_CELL_UINT);
		add_column(rows, "launches_min", OPK_CELL_UINT);
	}
	rows->fixed_count = rows->column_count;
}

static void add_value_columns(struct eval_rows *rows)
{
	for (size_t i = 0; !rows->long_layout && i < rows->value_count; i++)
		add_column(rows, rows->names[i], OPK_CELL_DOUBLE);
	if (!rows->long_layout)
		return;
	add_column(rows, "metric", OPK_CELL_STRING);
	add_column(rows, "unit", OPK_CELL_STRING);
	add_column(rows, "value", OPK_CELL_DOUBLE);
	if (rows->joined)
		add_column(rows, "launches", OPK_CELL_UINT);
	if (rows->inflated)
		add_column(rows, "inflated", OPK_CELL_BOOL);
}

static int copy_names(struct eval_rows *rows, const struct opk_evaluation *evaluation)
{
	rows->value_count = opk_evaluation_column_count(evaluation);
	rows->names = calloc(rows->value_count, sizeof *rows->names);
	rows->columns = calloc(MAX_FIXED + rows->value_count, sizeof *rows->columns);
	rows->cells = calloc(MAX_FIXED + rows->value_count, sizeof *rows->cells);
	rows->computed = calloc(rows->value_count, sizeof *rows->computed);
	if (!rows->names || !rows->columns || !rows->cells || !rows->computed)
		return OPK_ENOMEM;
	for (size_t i = 0; i < rows->value_count; i++) {
		rows->names[i] = strdup(opk_evaluation_column(evaluation, i));
		if (!rows->names[i])
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

/* Labels and derived metrics may be called anything, and readers of JSON take one of two. */
static int check_names(const struct eval_rows *rows, struct app *app)
{
	for (size_t i = rows->fixed_count; !rows->long_layout && i < rows->column_count; i++)
		for (size_t j = 0; j < rows->fixed_count; j++)
			if (!strcmp(rows->columns[i].name, rows->columns[j].name))
				return app_error(app, OPK_EUSAGE,
				                 "column %s: the table has one of that name already: "
				                 "use --layout long, or --metrics",
				                 rows->columns[i].name);
	return OPK_OK;
}

/* Headings of the set over its columns, as far as these are side by side. */
static int put_spans(const struct eval_rows *rows, struct app *app, const struct opk_evaluation *evaluation)
{
	int code = OPK_OK;

	for (size_t i = 0, next; !code && !rows->long_layout && i < rows->value_count; i = next) {
		const struct opk_meta_heading *heading = opk_evaluation_column_heading(evaluation, i);

		for (next = i + 1; next < rows->value_count; next++)
			if (opk_evaluation_column_heading(evaluation, next) != heading)
				break;
		if (heading)
			code = opk_out_span(app->out, heading->title, rows->fixed_count + i, next - i);
	}
	return code;
}

static int begin(struct eval_rows *rows, struct app *app, const struct opk_evaluation *evaluation)
{
	int code;

	rows->begun = true;
	rows->profiler = opk_evaluation_profiler(evaluation);
	if (copy_names(rows, evaluation))
		return app_error(app, OPK_EFAILED, "out of memory");
	add_fixed_columns(rows);
	add_value_columns(rows);
	code = check_names(rows, app);
	if (!code)
		code = app_begin_output(app, OPK_CSV);
	if (code)
		return code;
	code = opk_out_table(app->out,
	                     rows->profiler == OPK_PROFILER_PM ? "samples" : "ranges",
	                     rows->columns, rows->column_count);
	if (!code)
		code = put_spans(rows, app, evaluation);
	return code ? app_fail(app, code) : OPK_OK;
}

/* A wide table has one set of columns for all files; a long one only needs one kind of row. */
static int check_fit(const struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	const struct opk_evaluation *evaluation = input->evaluation;
	bool same = opk_evaluation_column_count(evaluation) == rows->value_count;

	if (opk_evaluation_profiler(evaluation) != rows->profiler)
		return app_error(app, OPK_EUSAGE, "%s: ranges and PM samples don't go into one table",
		                 input->path);
	for (size_t i = 0; same && i < rows->value_count; i++)
		same = !strcmp(rows->names[i], opk_evaluation_column(evaluation, i));
	if (!same && !rows->long_layout)
		return app_error(app, OPK_EUSAGE,
		                 "%s: its metrics differ from those of the file before: use "
		                 "--layout long, or --metrics",
		                 input->path);
	return OPK_OK;
}

int eval_rows_fit(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	return rows->begun ? check_fit(rows, app, input) : begin(rows, app, input->evaluation);
}

static void fill_fixed(struct eval_rows *rows, struct launch_text *text, const char *path,
                       const struct shown_row *shown)
{
	const struct opk_row *row = &shown->row;
	union opk_cell *cell = rows->cells;

	(cell++)->uint = row->index;
	if (rows->profiler == OPK_PROFILER_PM) {
		(cell++)->uint = row->start_ns;
		(cell++)->uint = row->end_ns;
	} else {
		(cell++)->string = row->name;
	}
	if (rows->file_count > 1)
		(cell++)->string = path;
	if (rows->profiler == OPK_PROFILER_PM && rows->first_sample == FIRST_MARK)
		(cell++)->boolean = row->spans_earlier;
	launch_columns_fill(&rows->launches, cell, text, row->range, shown->many_streams);
	if (!rows->joined || rows->long_layout)
		return;
	rows->cells[rows->fixed_count - 2].uint = shown->ranges;
	rows->cells[rows->fixed_count - 1].uint = shown->ranges_min;
}

static int print_wide(struct eval_rows *rows, struct app *app)
{
	for (size_t i = 0; i < rows->value_count; i++)
		rows->cells[rows->fixed_count + i].number = rows->values[i];
	return opk_out_row(app->out, rows->cells);
}

/* Of how many ranges each value is; without metrics behind it, of all. */
static void count_launches(struct eval_rows *rows, const struct eval_input *input,
                           const struct shown_row *shown)
{
	size_t metrics = opk_evaluation_metric_count(input->evaluation);
	size_t columns = opk_evaluation_column_count(input->evaluation);

	for (size_t i = 0; i < metrics; i++)
		rows->launches_of_metrics[i] =
			shown->counts ? shown->counts[i] : shown->row.measured[i];
	opk_evaluation_least(rows->launches_of, input->evaluation, rows->launches_of_metrics);
	for (size_t i = 0; i < columns; i++)
		if (rows->launches_of[i] == UINT64_MAX)
			rows->launches_of[i] = shown->ranges;
}

/* A heading between the rows, where the group changes; its prose once. */
static int put_heading(struct eval_rows *rows, struct app *app, const struct opk_meta_heading *heading)
{
	bool same = heading == rows->heading;

	rows->heading = heading;
	if (same)
		return OPK_OK;
	return opk_out_heading(app->out, heading ? heading->title : "",
	                       heading && rows->row_count == 1 ? heading->text : "");
}

static int print_long(struct eval_rows *rows, struct app *app, const struct eval_input *input,
                      const struct shown_row *shown)
{
	int code = OPK_OK;

	if (rows->joined)
		count_launches(rows, input, shown);
	for (size_t i = 0; !code && i < opk_evaluation_column_count(input->evaluation); i++) {
		union opk_cell *cell = rows->cells + rows->fixed_count;

		code = put_heading(rows, app, opk_evaluation_column_heading(input->evaluation, i));
		if (code)
			break;
		(cell++)->string = opk_evaluation_column(input->evaluation, i);
		(cell++)->string = opk_evaluation_column_unit(input->evaluation, i);
		(cell++)->number = rows->values[i];
		if (rows->joined)
			(cell++)->uint = rows->launches_of[i];
		if (rows->inflated)
			cell->boolean = input->inflated && input->inflated[i];
		code = opk_out_row(app->out, rows->cells);
	}
	return code;
}

static void watch_values(struct eval_rows *rows, const struct opk_evaluation *evaluation)
{
	rows->row_count++;
	for (size_t i = 0; i < rows->value_count && i < opk_evaluation_column_count(evaluation); i++)
		rows->computed[i] |= !isnan(rows->values[i]);
}

void eval_rows_note(const struct eval_rows *rows)
{
	size_t missing = 0;
	const char *first = NULL;

	for (size_t i = 0; i < rows->value_count; i++) {
		if (rows->computed[i])
			continue;
		missing++;
		first = first ? first : rows->names[i];
	}
	if (missing && rows->row_count && !rows->long_layout)
		app_note("%zu of %zu metrics are nan in every row, such as %s: what they need was not "
		         "collected",
		         missing, rows->value_count, first);
}

static void note_samples(const struct eval_rows *rows, const char *path,
                         const struct opk_evaluation *evaluation, bool any)
{
	uint64_t left_out = opk_evaluation_incomplete_samples(evaluation);

	if (left_out)
		app_note("%s: %ju samples were begun but not completed; they are left out", path,
		         (uintmax_t)left_out);
	if (any && rows->first_sample == FIRST_KEEP)
		app_note("%s: sample 0 begins at an earlier event: its times and values span more "
		         "than an interval (--first-sample mark or drop)",
		         path);
}

static int print_row(struct eval_rows *rows, struct app *app, const struct eval_input *input,
                     const struct shown_row *shown)
{
	struct launch_text text;

	fill_fixed(rows, &text, input->path, shown);
	opk_evaluation_compute(rows->values, input->evaluation, shown->row.values);
	watch_values(rows, input->evaluation);
	return rows->long_layout ? print_long(rows, app, input, shown) : print_wide(rows, app);
}

static int print_joined(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_join_count(input->join); i++) {
		const struct opk_joined_row *joined = opk_join_get(input->join, i);

		code = print_row(rows, app, input, &(struct shown_row){
			.row = { .index = i, .name = joined->name, .values = joined->values,
			         .range = &joined->range },
			.many_streams = joined->many_streams,
			.ranges = joined->ranges,
			.ranges_min = joined->ranges_min,
			.counts = joined->counts,
		});
	}
	if (opk_join_left_out(input->join))
		app_note("%s: cut off: %ju ranges are left out, for nothing tells of what they are",
		         input->path, (uintmax_t)opk_join_left_out(input->join));
	return code;
}

static int print_single(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	const struct opk_row *row;
	bool any = false;
	int code;

	while (!(code = opk_evaluation_next(&row, app->ctx, input->evaluation)) && row) {
		any |= row->spans_earlier;
		if (row->spans_earlier && rows->first_sample == FIRST_DROP)
			continue;
		code = print_row(rows, app, input,
		                 &(struct shown_row){ .row = *row, .ranges = 1, .ranges_min = 1 });
		if (code)
			break;
	}
	if (!code)
		note_samples(rows, input->path, input->evaluation, any);
	return code;
}

/* Which metrics to distrust; a long table says it in a column. */
static void note_inflated(const struct eval_rows *rows, const struct eval_input *input)
{
	size_t total = opk_evaluation_column_count(input->evaluation), count = 0, named = 0;
	const char *names[3] = { "", "", "" };

	for (size_t i = 0; input->inflated && i < total; i++) {
		if (!input->inflated[i])
			continue;
		if (named < 3)
			names[named++] = opk_evaluation_column(input->evaluation, i);
		count++;
	}
	if (count && !rows->long_layout)
		app_note("%s: %zu of %zu metrics count idle time around short kernels as it was "
		         "collected: %s%s%s%s%s%s; --replay kernel does not",
		         input->path, count, total, names[0], named > 1 ? ", " : "", names[1],
		         named > 2 ? ", " : "", names[2], count > 3 ? "..." : "");
}

/* Room for one row of the input; files may differ in what they have. */
static int make_room(struct eval_rows *rows, const struct opk_evaluation *evaluation)
{
	size_t columns = opk_evaluation_column_count(evaluation);
	size_t metrics = opk_evaluation_metric_count(evaluation);

	free(rows->values);
	free(rows->launches_of);
	free(rows->launches_of_metrics);
	rows->values = calloc(columns + 1, sizeof *rows->values);
	rows->launches_of = calloc(columns + 1, sizeof *rows->launches_of);
	rows->launches_of_metrics = calloc(metrics + 1, sizeof *rows->launches_of_metrics);
	return rows->values && rows->launches_of && rows->launches_of_metrics ? OPK_OK : OPK_ENOMEM;
}

int eval_rows_print(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	int code;

	if (make_room(rows, input->evaluation))
		return app_error(app, OPK_EFAILED, "out of memory");
	code = input->join ? print_joined(rows, app, input) : print_single(rows, app, input);
	if (code)
		return app_fail(app, code);
	app_progress_end();
	note_inflated(rows, input);
	return OPK_OK;
}

void eval_rows_clear(struct eval_rows *rows)
{
	for (size_t i = 0; rows->names && i < rows->value_count; i++)
		free(rows->names[i]);
	free(rows->names);
	free(rows->computed);
	free(rows->columns);
	free(rows->cells);
	free(rows->values);
	free(rows->launches_of);
	free(rows->launches_of_metrics);
}
