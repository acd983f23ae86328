/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of the table, be it one range or several joined. */
struct shown_row {
	struct opk_row row;
	const struct opk_joined_row *joined; /* NULL: one range */
};

static int copy_names(struct eval_rows *rows, const struct opk_evaluation *evaluation)
{
	struct eval_shape *shape = &rows->shape;

	shape->value_count = opk_evaluation_column_count(evaluation);
	shape->names = calloc(shape->value_count + 1, sizeof *shape->names);
	rows->computed = calloc(shape->value_count + 1, sizeof *rows->computed);
	rows->measured = calloc(shape->value_count + 1, sizeof *rows->measured);
	if (!shape->names || !rows->computed || !rows->measured)
		return OPK_ENOMEM;
	for (size_t i = 0; i < shape->value_count; i++) {
		shape->names[i] = strdup(opk_evaluation_column(evaluation, i));
		if (!shape->names[i])
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

static int list_columns(struct eval_rows *rows)
{
	size_t most = eval_columns_most(&rows->shape);

	rows->columns = calloc(most, sizeof *rows->columns);
	rows->headers = calloc(most, sizeof *rows->headers);
	rows->cells = calloc(most, sizeof *rows->cells);
	rows->texts = calloc(most, sizeof *rows->texts);
	if (!rows->columns || !rows->headers || !rows->cells || !rows->texts)
		return OPK_ENOMEM;
	rows->column_count = eval_columns_list(rows->columns, rows->headers, &rows->shape);
	return OPK_OK;
}

/* Labels and derived metrics may be called anything, and readers of JSON take one of two. */
static int check_names(const struct eval_rows *rows, struct app *app)
{
	for (size_t i = 0; i < rows->column_count; i++)
		for (size_t j = 0; rows->columns[i].kind == COLUMN_VALUE && j < i; j++)
			if (rows->columns[j].kind != COLUMN_VALUE
			    && !strcmp(rows->headers[i].name, rows->headers[j].name))
				return app_error(
					app, OPK_EUSAGE,
					"column %s: the table has one of that name already: "
					"use --layout long, or --metrics",
					rows->headers[i].name);
	return OPK_OK;
}

static const struct opk_meta_heading *heading_of(const struct eval_rows *rows,
                                                 const struct opk_evaluation *evaluation, size_t at)
{
	const struct eval_column *column = &rows->columns[at];

	return column->kind == COLUMN_VALUE
	               ? opk_evaluation_column_heading(evaluation, column->index)
	               : NULL;
}

/* Headings of the set over its columns, as far as these are side by side. */
static int put_spans(const struct eval_rows *rows, struct app *app,
                     const struct opk_evaluation *evaluation)
{
	int code = OPK_OK;

	for (size_t i = 0, next; !code && i < rows->column_count; i = next) {
		const struct opk_meta_heading *heading = heading_of(rows, evaluation, i);

		for (next = i + 1; next < rows->column_count; next++)
			if (heading_of(rows, evaluation, next) != heading)
				break;
		if (heading)
			code = opk_out_span(app->out, heading->title, i, next - i);
	}
	return code;
}

static int begin_table(struct eval_rows *rows, struct app *app,
                       const struct opk_evaluation *evaluation)
{
	bool pm = rows->shape.profiler == OPK_PROFILER_PM;
	int code = check_names(rows, app);

	if (!code)
		code = app_begin_output(app, OPK_CSV);
	if (code)
		return code;
	code = opk_out_table(app->out, pm ? "samples" : "ranges", rows->headers,
	                     rows->column_count);
	if (!code)
		code = put_spans(rows, app, evaluation);
	return code ? app_fail(app, code) : OPK_OK;
}

static int begin_database(struct eval_rows *rows, struct app *app)
{
	struct opk_database_options options = OPK_INIT(options);
	int code;

	options.columns = rows->shape.choice.names;
	options.column_count = rows->shape.choice.count;
	code = opk_database_new(&rows->database, app->ctx, app->output, &options);

	return code ? app_fail(app, code) : OPK_OK;
}

static int begin(struct eval_rows *rows, struct app *app, const struct opk_evaluation *evaluation)
{
	rows->begun = true;
	rows->shape.profiler = opk_evaluation_profiler(evaluation);
	if (copy_names(rows, evaluation) || list_columns(rows))
		return app_error(app, OPK_EFAILED, "out of memory");
	return rows->to_database ? begin_database(rows, app) : begin_table(rows, app, evaluation);
}

/* Where each value has a row of its own, rows only need be of one kind. */
static bool is_wide(const struct eval_rows *rows)
{
	return !rows->shape.long_layout && !rows->database;
}

/* A wide table has one set of columns for all files. */
static int check_fit(const struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	const struct opk_evaluation *evaluation = input->evaluation;
	const struct eval_shape *shape = &rows->shape;
	bool same = opk_evaluation_column_count(evaluation) == shape->value_count;

	if (opk_evaluation_profiler(evaluation) != shape->profiler)
		return app_error(app, OPK_EUSAGE,
		                 "%s: ranges and PM samples don't go into one table", input->path);
	for (size_t i = 0; same && i < shape->value_count; i++)
		same = !strcmp(shape->names[i], opk_evaluation_column(evaluation, i));
	if (!same && is_wide(rows))
		return app_error(app, OPK_EUSAGE,
		                 "%s: its metrics differ from those of the file before: use "
		                 "--layout long, or --metrics",
		                 input->path);
	return OPK_OK;
}

int eval_rows_fit(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	int code = eval_choice_check_all(app, &rows->shape, input->evaluation, input->path);

	if (code)
		return code;
	return rows->begun ? check_fit(rows, app, input) : begin(rows, app, input->evaluation);
}

/* What cells of a long table's row besides facts show: of the i-th value. */
static void fill_long(struct eval_rows *rows, const struct eval_input *input, size_t i)
{
	for (size_t at = 0; at < rows->column_count; at++) {
		union opk_cell *cell = &rows->cells[at];

		switch (rows->columns[at].kind) {
		case COLUMN_METRIC:
			cell->string = opk_evaluation_column(input->evaluation, i);
			break;
		case COLUMN_UNIT:
			cell->string = opk_evaluation_column_unit(input->evaluation, i);
			break;
		case COLUMN_NUMBER:
			cell->number = rows->values[i];
			break;
		case COLUMN_LAUNCHES:
			cell->uint = rows->launches_of[i];
			break;
		case COLUMN_INFLATED:
			cell->boolean = input->inflated && input->inflated[i];
			break;
		default:
			break;
		}
	}
}

/* All other cells. */
static void fill(struct eval_rows *rows, const struct eval_input *input,
                 const struct shown_row *shown)
{
	for (size_t at = 0; at < rows->column_count; at++) {
		const struct eval_column *column = &rows->columns[at];
		union opk_cell *cell = &rows->cells[at];

		if (column->kind == COLUMN_FACT)
			*cell = opk_fact_get(&rows->texts[at], (enum opk_fact)column->index,
			                     &shown->row, shown->joined);
		else if (column->kind == COLUMN_FILE)
			cell->string = input->path;
		else if (column->kind == COLUMN_VALUE)
			cell->number = rows->values[column->index];
	}
}

/* Of how many ranges each value is; without metrics behind it, of all. */
static void count_launches(struct eval_rows *rows, const struct eval_input *input,
                           const struct shown_row *shown)
{
	size_t metrics = opk_evaluation_metric_count(input->evaluation);
	size_t columns = opk_evaluation_column_count(input->evaluation);

	for (size_t i = 0; i < metrics; i++)
		rows->launches_of_metrics[i] = shown->joined ? shown->joined->counts[i]
		                                             : shown->row.measured[i];
	opk_evaluation_least(rows->launches_of, input->evaluation, rows->launches_of_metrics);
	for (size_t i = 0; i < columns; i++)
		if (rows->launches_of[i] == UINT64_MAX)
			rows->launches_of[i] = shown->joined ? shown->joined->ranges : 1;
}

/* A heading between the rows, where the group changes; its prose once. */
static int put_heading(struct eval_rows *rows, struct app *app,
                       const struct opk_meta_heading *heading)
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

	if (rows->shape.joined)
		count_launches(rows, input, shown);
	for (size_t i = 0; !code && i < rows->picked_count; i++) {
		code = put_heading(rows, app,
		                   opk_evaluation_column_heading(input->evaluation,
		                                                 rows->picked[i]));
		if (code)
			break;
		fill_long(rows, input, rows->picked[i]);
		code = opk_out_row(app->out, rows->cells);
	}
	return code;
}

static int add_to_database(struct eval_rows *rows, const struct eval_input *input,
                           const struct shown_row *shown)
{
	if (input->join)
		count_launches(rows, input, shown);
	return opk_database_add_row(rows->database, &shown->row, shown->joined, rows->values,
	                            input->join ? rows->launches_of : NULL);
}

/* Of what is nan: whether the row has all metrics behind it. */
static void watch_metrics(struct eval_rows *rows, const struct opk_evaluation *evaluation,
                          const double *metrics)
{
	for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++)
		rows->launches_of_metrics[i] = !isnan(metrics[i]);
	opk_evaluation_least(rows->launches_of, evaluation, rows->launches_of_metrics);
	for (size_t i = 0;
	     i < rows->shape.value_count && i < opk_evaluation_column_count(evaluation); i++)
		rows->measured[i] |= rows->launches_of[i] > 0;
}

static void watch_values(struct eval_rows *rows, const struct opk_evaluation *evaluation,
                         const double *metrics)
{
	bool in_doubt = false;

	rows->row_count++;
	for (size_t i = 0;
	     i < rows->shape.value_count && i < opk_evaluation_column_count(evaluation); i++) {
		rows->computed[i] |= !isnan(rows->values[i]);
		in_doubt |= !rows->computed[i] && !rows->measured[i];
	}
	if (in_doubt)
		watch_metrics(rows, evaluation, metrics);
}

static void note_nan(const struct eval_rows *rows, bool measured, const char *why)
{
	size_t count = 0;
	const char *first = NULL;

	for (size_t i = 0; i < rows->shape.value_count; i++) {
		if (rows->computed[i] || rows->measured[i] != measured)
			continue;
		count++;
		first = first ? first : rows->shape.names[i];
	}
	if (count && rows->row_count && !rows->shape.long_layout)
		app_note("%zu of %zu metrics are nan in every row, such as %s: %s", count,
		         rows->shape.value_count, first, why);
}

static void note_missing(const struct eval_rows *rows)
{
	note_nan(rows, false, "what they need was not collected");
	note_nan(rows, true,
	         "what they need is there, and their formulas have no value, as 0 / 0 has none");
}

static void note_samples(const struct eval_rows *rows, const char *path,
                         const struct opk_evaluation *evaluation, bool any)
{
	uint64_t left_out = opk_evaluation_incomplete_samples(evaluation);

	if (left_out)
		app_note("%s: %ju samples were begun but not completed; they are left out", path,
		         (uintmax_t)left_out);
	if (any && rows->shape.first_sample == FIRST_KEEP)
		app_note("%s: sample 0 begins at an earlier event: its times and values span more "
		         "than an interval (--first-sample mark or drop)",
		         path);
}

static int print_row(struct eval_rows *rows, struct app *app, const struct eval_input *input,
                     const struct shown_row *shown)
{
	opk_evaluation_compute(rows->values, input->evaluation, shown->row.values);
	watch_values(rows, input->evaluation, shown->row.values);
	if (rows->database)
		return add_to_database(rows, input, shown);
	fill(rows, input, shown);
	return rows->shape.long_layout ? print_long(rows, app, input, shown)
	                               : opk_out_row(app->out, rows->cells);
}

static int print_joined(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_join_count(input->join); i++) {
		const struct opk_joined_row *joined = opk_join_get(input->join, i);

		code = print_row(rows, app, input,
		                 &(struct shown_row){
					 .row = { .index = i,
		                                  .name = joined->name,
		                                  .values = joined->values,
		                                  .range = &joined->range },
					 .joined = joined,
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
		if (row->spans_earlier && rows->shape.first_sample == FIRST_DROP)
			continue;
		code = print_row(rows, app, input, &(struct shown_row){ .row = *row });
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
	if (count && is_wide(rows))
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
	free(rows->picked);
	rows->values = calloc(columns + 1, sizeof *rows->values);
	rows->launches_of = calloc(columns + 1, sizeof *rows->launches_of);
	rows->launches_of_metrics = calloc(metrics + 1, sizeof *rows->launches_of_metrics);
	rows->picked = calloc(columns + rows->shape.choice.count + 1, sizeof *rows->picked);
	if (!rows->values || !rows->launches_of || !rows->launches_of_metrics || !rows->picked)
		return OPK_ENOMEM;
	rows->picked_count = eval_choice_pick(rows->picked, &rows->shape, evaluation);
	return OPK_OK;
}

static int add_run(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	struct opk_database_run run = OPK_INIT(run);
	int code = OPK_OK;

	run.file = input->path;
	run.evaluation = input->evaluation;
	run.columns = rows->picked;
	run.column_count = rows->picked_count;
	run.joined = input->join != NULL;
	run.inflated = input->inflated;
	if (input->file) {
		run.cut_off = !opk_file_complete(input->file);
		code = opk_file_meta(&run.meta, app->ctx, input->file);
	}
	return code ? code : opk_database_add_run(rows->database, &run);
}

int eval_rows_print(struct eval_rows *rows, struct app *app, const struct eval_input *input)
{
	int code = OPK_OK;

	if (make_room(rows, input->evaluation))
		return app_error(app, OPK_EFAILED, "out of memory");
	if (rows->database)
		code = add_run(rows, app, input);
	if (!code)
		code = input->join ? print_joined(rows, app, input)
		                   : print_single(rows, app, input);
	if (code)
		return app_fail(app, code);
	app_progress_end();
	note_inflated(rows, input);
	return OPK_OK;
}

int eval_rows_finish(const struct eval_rows *rows, struct app *app)
{
	int code;

	if (rows->database) {
		code = opk_database_finish(rows->database);
		if (code)
			return app_fail(app, code);
	} else {
		code = app_end_output(app, OPK_OK);
		if (code)
			return code;
	}
	note_missing(rows);
	if (rows->filtered && !rows->row_count)
		app_note("no %s meets --where: there are no rows",
		         rows->shape.profiler == OPK_PROFILER_PM ? "sample" : "range");
	return OPK_OK;
}

void eval_rows_clear(struct eval_rows *rows)
{
	opk_database_free(rows->database);
	for (size_t i = 0; rows->shape.names && i < rows->shape.value_count; i++)
		free(rows->shape.names[i]);
	free(rows->shape.names);
	free(rows->computed);
	free(rows->measured);
	free(rows->columns);
	free(rows->headers);
	free(rows->cells);
	free(rows->texts);
	free(rows->values);
	free(rows->launches_of);
	free(rows->launches_of_metrics);
	free(rows->picked);
	eval_choice_clear(&rows->shape.choice);
}
