/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIXED = 16, TEXT_SIZE = 48 };

/* Text of the launch columns, as long as a row is in the making. */
struct launch_text {
	char grid[TEXT_SIZE], block[TEXT_SIZE], device[TEXT_SIZE];
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
	if (rows->launches) {
		add_column(rows, "kernel", OPK_CELL_STRING);
		add_column(rows, "grid", OPK_CELL_STRING);
		add_column(rows, "block", OPK_CELL_STRING);
		add_column(rows, "device", OPK_CELL_STRING);
	}
	rows->fixed_count = rows->column_count;
}

static int copy_metrics(struct eval_rows *rows, const struct opk_evaluation *evaluation)
{
	rows->metric_count = opk_evaluation_metric_count(evaluation);
	rows->metrics = calloc(rows->metric_count, sizeof *rows->metrics);
	rows->columns = calloc(MAX_FIXED + rows->metric_count, sizeof *rows->columns);
	rows->cells = calloc(MAX_FIXED + rows->metric_count, sizeof *rows->cells);
	rows->computed = calloc(rows->metric_count, sizeof *rows->computed);
	if (!rows->metrics || !rows->columns || !rows->cells || !rows->computed)
		return OPK_ENOMEM;
	for (size_t i = 0; i < rows->metric_count; i++) {
		rows->metrics[i] = strdup(opk_evaluation_metric(evaluation, i));
		if (!rows->metrics[i])
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

static int begin(struct eval_rows *rows, struct app *app, const struct opk_evaluation *evaluation)
{
	int code;

	rows->begun = true;
	rows->profiler = opk_evaluation_profiler(evaluation);
	if (copy_metrics(rows, evaluation))
		return app_error(app, OPK_EFAILED, "out of memory");
	add_fixed_columns(rows);
	if (rows->long_layout) {
		add_column(rows, "metric", OPK_CELL_STRING);
		add_column(rows, "unit", OPK_CELL_STRING);
		add_column(rows, "value", OPK_CELL_DOUBLE);
	} else {
		for (size_t i = 0; i < rows->metric_count; i++)
			add_column(rows, rows->metrics[i], OPK_CELL_DOUBLE);
	}
	code = app_begin_output(app, OPK_CSV);
	if (code)
		return code;
	code = opk_out_table(app->out,
	                     rows->profiler == OPK_PROFILER_PM ? "samples" : "ranges",
	                     rows->columns, rows->column_count);
	return code ? app_fail(app, code) : OPK_OK;
}

/* A wide table has one set of columns for all files; a long one only needs one kind of row. */
static int check_fit(const struct eval_rows *rows, struct app *app, const char *path,
                     const struct opk_evaluation *evaluation)
{
	bool same = opk_evaluation_metric_count(evaluation) == rows->metric_count;

	if (opk_evaluation_profiler(evaluation) != rows->profiler)
		return app_error(app, OPK_EUSAGE, "%s: ranges and PM samples don't go into one table",
		                 path);
	for (size_t i = 0; same && i < rows->metric_count; i++)
		same = !strcmp(rows->metrics[i], opk_evaluation_metric(evaluation, i));
	if (!same && !rows->long_layout)
		return app_error(app, OPK_EUSAGE,
		                 "%s: its metrics differ from those of the file before: use "
		                 "--layout long, or --metrics",
		                 path);
	return OPK_OK;
}

int eval_rows_fit(struct eval_rows *rows, struct app *app, const char *path,
                  const struct opk_evaluation *evaluation)
{
	return rows->begun ? check_fit(rows, app, path, evaluation) : begin(rows, app, evaluation);
}

static const char *shape_text(char text[TEXT_SIZE], const uint32_t shape[3])
{
	if (!shape[0])
		return NULL;
	snprintf(text, TEXT_SIZE, "%ux%ux%u", shape[0], shape[1], shape[2]);
	return text;
}

static void fill_launch(union opk_cell *cells, struct launch_text *text,
                        const struct opk_range *range)
{
	static const struct opk_range unknown = { .kernel = "", .device = -1 };

	range = range ? range : &unknown;
	snprintf(text->device, sizeof text->device, "%d", range->device);
	cells[0].string = range->kernel;
	cells[1].string = shape_text(text->grid, range->grid);
	cells[2].string = shape_text(text->block, range->block);
	cells[3].string = range->device >= 0 ? text->device : NULL;
}

static void fill_fixed(struct eval_rows *rows, struct launch_text *text, const char *path,
                       const struct opk_row *row)
{
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
	if (rows->launches)
		fill_launch(cell, text, row->range);
}

static int print_wide(struct eval_rows *rows, struct app *app, const struct opk_row *row)
{
	for (size_t i = 0; i < rows->metric_count; i++)
		rows->cells[rows->fixed_count + i].number = row->values[i];
	return opk_out_row(app->out, rows->cells);
}

static int print_long(struct eval_rows *rows, struct app *app,
                      const struct opk_evaluation *evaluation, const struct opk_row *row)
{
	union opk_cell *cells = rows->cells + rows->fixed_count;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_evaluation_metric_count(evaluation); i++) {
		cells[0].string = opk_evaluation_metric(evaluation, i);
		cells[1].string = opk_evaluation_unit(evaluation, i);
		cells[2].number = row->values[i];
		code = opk_out_row(app->out, rows->cells);
	}
	return code;
}

static void watch_values(struct eval_rows *rows, const struct opk_evaluation *evaluation,
                         const struct opk_row *row)
{
	rows->row_count++;
	for (size_t i = 0; i < rows->metric_count && i < opk_evaluation_metric_count(evaluation); i++)
		rows->computed[i] |= !isnan(row->values[i]);
}

void eval_rows_note(const struct eval_rows *rows)
{
	size_t missing = 0;
	const char *first = NULL;

	for (size_t i = 0; i < rows->metric_count; i++) {
		if (rows->computed[i])
			continue;
		missing++;
		first = first ? first : rows->metrics[i];
	}
	if (missing && rows->row_count && !rows->long_layout)
		app_note("%zu of %zu metrics are nan in every row, such as %s: what they need was not "
		         "collected",
		         missing, rows->metric_count, first);
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

int eval_rows_print(struct eval_rows *rows, struct app *app, const char *path,
                    struct opk_evaluation *evaluation)
{
	const struct opk_row *row;
	bool any = false;
	int code;

	while (!(code = opk_evaluation_next(&row, app->ctx, evaluation)) && row) {
		struct launch_text text;

		any |= row->spans_earlier;
		if (row->spans_earlier && rows->first_sample == FIRST_DROP)
			continue;
		fill_fixed(rows, &text, path, row);
		watch_values(rows, evaluation, row);
		code = rows->long_layout ? print_long(rows, app, evaluation, row)
		                         : print_wide(rows, app, row);
		if (code)
			break;
	}
	if (code)
		return app_fail(app, code);
	app_progress_end();
	note_samples(rows, path, evaluation, any);
	return OPK_OK;
}

void eval_rows_clear(struct eval_rows *rows)
{
	for (size_t i = 0; rows->metrics && i < rows->metric_count; i++)
		free(rows->metrics[i]);
	free(rows->metrics);
	free(rows->computed);
	free(rows->columns);
	free(rows->cells);
}
