/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluated rows as rows of a table, wide or long, or of a database. */
#include <math.h>
#include <string.h>

#include "common/facts.h"
#include "eval/eval_table.h"

/* ---- the table or database begins */

static int copy_names(struct eval *eval, const struct opk_evaluation *evaluation)
{
	size_t count = opk_evaluation_column_count(evaluation);

	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(&eval->names, opk_evaluation_column(evaluation, i)))
			return app_nomem(eval->app);
	return OPK_OK;
}

/* Labels and derived metrics may be called anything, and readers of JSON take one of two. */
static int check_names(const struct eval *eval)
{
	for (size_t i = 0; i < eval->column_count; i++)
		for (size_t j = 0; eval->columns[i].kind == COLUMN_VALUE && j < i; j++)
			if (eval->columns[j].kind != COLUMN_VALUE
			    && !strcmp(eval->headers[i].name, eval->headers[j].name))
				return app_error(
					eval->app, OPK_EUSAGE,
					"column %s: the table has one of that name already: "
					"use --layout long, or --metrics",
					eval->headers[i].name);
	return OPK_OK;
}

static const struct opk_meta_heading *heading_of(const struct eval *eval,
                                                 const struct opk_evaluation *evaluation, size_t at)
{
	const struct eval_column *column = &eval->columns[at];

	return column->kind == COLUMN_VALUE
	               ? opk_evaluation_column_heading(evaluation, column->index)
	               : NULL;
}

/* Headings of the set over its columns, as far as these are side by side. */
static void put_spans(const struct eval *eval, const struct opk_evaluation *evaluation)
{
	for (size_t i = 0, next; i < eval->column_count; i = next) {
		const struct opk_meta_heading *heading = heading_of(eval, evaluation, i);

		for (next = i + 1; next < eval->column_count; next++)
			if (heading_of(eval, evaluation, next) != heading)
				break;
		if (heading)
			opk_out_span(eval->app->out, heading->title, i, next - i);
	}
}

void eval_rows_put_unit_column(const struct eval *eval)
{
	for (size_t i = 0; i < eval->column_count; i++)
		if (eval->columns[i].kind == COLUMN_UNIT)
			opk_out_unit_in(eval->app->out, i);
}

static int begin_table(struct eval *eval, const struct opk_evaluation *evaluation)
{
	int code = check_names(eval);

	if (!code)
		code = app_begin_output(eval->app);
	if (code)
		return code;
	opk_out_table(eval->app->out, eval->profiler == OPK_PROFILER_PM ? "samples" : "ranges",
	              eval->headers, eval->column_count);
	put_spans(eval, evaluation);
	for (size_t i = 0; i < eval->column_count; i++)
		if (eval->columns[i].kind == COLUMN_VALUE)
			opk_out_unit(eval->app->out, i,
			             opk_evaluation_column_unit(evaluation,
			                                        eval->columns[i].index));
	eval_rows_put_unit_column(eval);
	return OPK_OK;
}

static int begin(struct eval *eval, const struct opk_evaluation *evaluation)
{
	struct opk_database_options options = OPK_INIT(options);
	int code = copy_names(eval, evaluation);

	eval->profiler = opk_evaluation_profiler(evaluation);
	if (!code && eval->is_tree && eval->profiler == OPK_PROFILER_PM)
		code = app_error(eval->app, OPK_EUSAGE,
		                 "--layout tree: PM samples are not inside each other");
	if (!code)
		code = eval_sorted_check(eval);
	if (!code)
		code = eval_columns_list(eval);
	if (code)
		return code;
	if (!eval->to_database)
		return begin_table(eval, evaluation);
	options.columns = opk_strlist_items(&eval->chosen);
	options.column_count = eval->chosen.count;
	return opk_database_new(&eval->database, eval->app->ctx, eval->app->output, &options);
}

/* A wide table has one set of columns for all files. */
static int check_fit(const struct eval *eval, const struct eval_input *input)
{
	const struct opk_evaluation *evaluation = input->evaluation;
	bool same = opk_evaluation_column_count(evaluation) == eval->names.count;

	if (opk_evaluation_profiler(evaluation) != eval->profiler)
		return app_error(eval->app, OPK_EUSAGE,
		                 "%s: ranges and PM samples don't go into one table", input->path);
	for (size_t i = 0; same && i < eval->names.count; i++)
		same = !strcmp(eval->names.items[i], opk_evaluation_column(evaluation, i));
	if (!same && eval_is_wide(eval))
		return app_error(eval->app, OPK_EUSAGE,
		                 "%s: its metrics differ from those of the file before: use "
		                 "--layout long, or --metrics",
		                 input->path);
	return OPK_OK;
}

/* ---- cells */

void eval_rows_fill(struct eval *eval, const struct eval_input *input, const struct opk_row *row,
                    const struct opk_joined_row *joined)
{
	for (size_t at = 0; at < eval->column_count; at++) {
		const struct eval_column *column = &eval->columns[at];
		union opk_cell *cell = &eval->cells[at];

		if (column->kind == COLUMN_FACT)
			*cell = opk_fact_get(&eval->texts[at], (enum opk_fact)column->index, row,
			                     joined);
		if (column->kind == COLUMN_FACT && column->index == OPK_FACT_KERNEL && row->range)
			cell->string = opk_kernel_names_get(eval->kernel_names, row->range);
		if (column->kind == COLUMN_FILE)
			cell->string = input->path;
		else if (column->kind == COLUMN_VALUE)
			cell->number = eval->values[column->index];
		else if (column->kind == COLUMN_GROUP)
			cell->uint = eval->row_count;
		else if (column->kind == COLUMN_NAME)
			cell->string = row->name;
	}
}

static union opk_cell statistic(enum eval_column_kind kind, const struct opk_statistics *of)
{
	const double numbers[COLUMN_KINDS] = {
		[COLUMN_SUM] = of->sum, [COLUMN_MEAN] = of->mean, [COLUMN_MIN] = of->min,
		[COLUMN_MAX] = of->max, [COLUMN_P50] = of->p50,   [COLUMN_P90] = of->p90,
		[COLUMN_P99] = of->p99,
	};

	return kind == COLUMN_COUNT ? cell_number(of->count)
	                            : (union opk_cell){ .number = numbers[kind] };
}

void eval_rows_fill_value(struct eval *eval, const struct eval_input *input, size_t column,
                          const struct opk_statistics *statistics)
{
	for (size_t at = 0; at < eval->column_count; at++) {
		union opk_cell *cell = &eval->cells[at];

		switch (eval->columns[at].kind) {
		case COLUMN_METRIC:
			cell->string = opk_evaluation_column(input->evaluation, column);
			break;
		case COLUMN_UNIT:
			cell->string = opk_evaluation_column_unit(input->evaluation, column);
			break;
		case COLUMN_NUMBER:
			cell->number = eval->values[column];
			break;
		case COLUMN_LAUNCHES:
			cell->uint = eval->launches_of[column];
			break;
		case COLUMN_WEIGHTED:
			cell->string = statistics ? statistics->weighted_by : NULL;
			break;
		case COLUMN_INFLATED:
			cell->boolean = input->inflated && input->inflated[column];
			break;
		default:
			if (statistics && eval->columns[at].kind >= COLUMN_COUNT)
				*cell = statistic(eval->columns[at].kind, statistics);
			break;
		}
	}
}

/* How many ranges each value is of: all of them where it is computed from no metric. */
static void count_launches(struct eval *eval, const struct eval_input *input,
                           const struct opk_row *row, const struct opk_joined_row *joined)
{
	size_t metrics = opk_evaluation_metric_count(input->evaluation);
	size_t columns = opk_evaluation_column_count(input->evaluation);

	for (size_t i = 0; i < metrics; i++)
		eval->launches_of_metrics[i] = joined     ? joined->counts[i]
		                               : row->ran ? row->ran->launches
		                                          : row->measured[i];
	opk_evaluation_least(eval->launches_of, input->evaluation, eval->launches_of_metrics);
	for (size_t i = 0; i < columns; i++)
		if (eval->launches_of[i] == UINT64_MAX)
			eval->launches_of[i] = joined ? joined->ranges : 1;
}

/* ---- remarks */

/* `earlier`: samples that begin before sampling did. */
void eval_rows_note_samples(const struct eval *eval, const struct eval_input *input,
                            uint64_t earlier)
{
	uint64_t incomplete = opk_evaluation_incomplete_samples(input->evaluation);

	if (incomplete)
		app_note("%s: %ju sample%s begun but not completed; left out", input->path,
		         (uintmax_t)incomplete, incomplete == 1 ? " was" : "s were");
	if (!earlier || eval->first_sample == FIRST_MARK || eval->drops_as_told)
		return;
	app_note("%s: %ju sample%s at an earlier event, so that times and values span more than "
	         "an interval; %s",
	         input->path, (uintmax_t)earlier, earlier == 1 ? " begins" : "s begin",
	         eval->first_sample == FIRST_DROP ? "left out (--first-sample keep)"
	                                          : "kept (--first-sample mark or drop)");
}

/* Names metrics to distrust; a long table has a column for it. */
static void note_inflated(const struct eval *eval, const struct eval_input *input)
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
	if (count && eval_is_wide(eval))
		app_note("%s: %zu of %zu metrics count idle time around short kernels as it was "
		         "collected: %s%s%s%s%s%s; --replay kernel does not",
		         input->path, count, total, names[0], named > 1 ? ", " : "", names[1],
		         named > 2 ? ", " : "", names[2], count > 3 ? "..." : "");
}

/* Kernels of which samples say too little. */
static void note_unknown(const struct eval *eval)
{
	if (eval->unknown_count)
		app_note("%zu of %ju %s ran for less than a sample, or too few samples tell "
		         "%s apart (samples_alone): nan; a shorter --interval shows more",
		         eval->unknown_count, (uintmax_t)eval->row_count,
		         eval->per == PER_KERNEL ? "kernels" : "launches",
		         eval->unknown_count == 1 ? "it" : "them");
}

/* ---- rows */

/* A heading between the rows, where the group changes; its prose once. */
static void put_heading(struct eval *eval, const struct opk_meta_heading *heading)
{
	if (heading != eval->heading)
		opk_out_heading(eval->app->out, heading ? heading->title : "",
		                heading && eval->row_count == 1 ? heading->text : "");
	eval->heading = heading;
}

static int print_long(struct eval *eval, const struct eval_input *input)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < eval->picked_count; i++) {
		put_heading(eval,
		            opk_evaluation_column_heading(input->evaluation, eval->picked[i]));
		eval_rows_fill_value(eval, input, eval->picked[i], NULL);
		code = opk_out_row(eval->app->out, eval->cells);
	}
	return code;
}

static int print_row(struct eval *eval, const struct eval_input *input, const struct opk_row *row,
                     const struct opk_joined_row *joined)
{
	opk_evaluation_compute(eval->values, input->evaluation, row->values);
	eval_watch_row(&eval->watch, eval->values, row->values);
	eval->row_count++;
	eval->unknown_count += row->ran && row->ran->unknown;
	if (eval->database ? input->join != NULL
	                   : (eval->joined || eval->of_kernels) && eval->layout == EVAL_LONG)
		count_launches(eval, input, row, joined);
	if (eval->database)
		return opk_database_add_row(eval->database, row, joined, eval->values,
		                            input->join ? eval->launches_of : NULL);
	eval_rows_fill(eval, input, row, joined);
	return eval->layout == EVAL_LONG ? print_long(eval, input)
	                                 : opk_out_row(eval->app->out, eval->cells);
}

/* ---- all rows of an input */

static bool is_full(const struct eval *eval)
{
	return eval->order.top && eval->row_count >= eval->order.top;
}

struct opk_row eval_rows_of_joined(const struct opk_joined_row *joined, size_t number)
{
	return (struct opk_row){
		.index = number,
		.name = joined->name,
		.values = joined->values,
		.range = &joined->range,
	};
}

static int each_joined(struct eval *eval, const struct eval_input *input, eval_row_fn *fn)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_join_count(input->join) && !is_full(eval); i++) {
		const struct opk_joined_row *joined = opk_join_get(input->join, i);
		const struct opk_row row = eval_rows_of_joined(joined, i);

		code = fn(eval, input, &row, joined);
	}
	if (opk_join_left_out(input->join))
		app_note("%s: cut off: %ju of its images are left out, for nothing says what their "
		         "ranges are",
		         input->path, (uintmax_t)opk_join_left_out(input->join));
	return code;
}

static int each_single(struct eval *eval, const struct eval_input *input, eval_row_fn *fn)
{
	const struct opk_row *row;
	uint64_t earlier = 0;
	int code = OPK_OK;

	while (!is_full(eval)
	       && !(code = opk_evaluation_next(&row, eval->app->ctx, input->evaluation)) && row) {
		earlier += row->spans_earlier;
		if (row->spans_earlier && eval->first_sample == FIRST_DROP)
			continue;
		code = fn(eval, input, row, NULL);
		if (code)
			break;
	}
	if (!code)
		eval_rows_note_samples(eval, input, earlier);
	return code;
}

static int each_row(struct eval *eval, const struct eval_input *input, eval_row_fn *fn)
{
	return input->join ? each_joined(eval, input, fn) : each_single(eval, input, fn);
}

/* ---- inputs */

/* Room for one row of the input; files may differ in what they have. */
static int make_room(struct eval *eval, const struct opk_evaluation *evaluation)
{
	size_t columns = opk_evaluation_column_count(evaluation);
	size_t metrics = opk_evaluation_metric_count(evaluation);

	free(eval->values);
	free(eval->launches_of);
	free(eval->launches_of_metrics);
	eval->values = opk_alloc_array(columns + 1, sizeof *eval->values);
	eval->launches_of = opk_alloc_array(columns + 1, sizeof *eval->launches_of);
	eval->launches_of_metrics = opk_alloc_array(metrics + 1, sizeof *eval->launches_of_metrics);
	if (!eval->values || !eval->launches_of || !eval->launches_of_metrics)
		return app_nomem(eval->app);
	return eval_columns_pick(eval, evaluation);
}

/* Only what the table shows is worth a note; a wide one may have no value at all. */
static int watch(struct eval *eval, const struct eval_input *input)
{
	opk_autofree size_t *shown = opk_alloc_array(eval->column_count + 1, sizeof *shown);
	size_t count = 0;

	if (!eval_is_wide(eval))
		return eval_watch_begin(&eval->watch, eval->app, input->evaluation, eval->picked,
		                        eval->picked_count);
	for (size_t i = 0; shown && i < eval->column_count; i++)
		if (eval->columns[i].kind == COLUMN_VALUE)
			shown[count++] = eval->columns[i].index;
	return shown ? eval_watch_begin(&eval->watch, eval->app, input->evaluation, shown, count)
	             : app_nomem(eval->app);
}

int eval_rows_begin_input(struct eval *eval, const struct eval_input *input)
{
	int code = make_room(eval, input->evaluation);

	return code ? code : watch(eval, input);
}

static int add_run(struct eval *eval, const struct eval_input *input)
{
	struct opk_database_run run = OPK_INIT(run);

	run.file = input->path;
	run.meta = input->meta;
	run.cut_off = input->file && !opk_file_complete(input->file);
	run.joined = input->join != NULL;
	run.evaluation = input->evaluation;
	run.columns = eval->picked;
	run.column_count = eval->picked_count;
	run.inflated = input->inflated;
	return opk_database_add_run(eval->database, &run);
}

static int print_input(struct eval *eval, const struct eval_input *input)
{
	int code = eval_rows_begin_input(eval, input);

	if (!code && eval->database)
		code = add_run(eval, input);
	return code ? code : each_row(eval, input, print_row);
}

static int print_all(struct eval *eval)
{
	bool sorts = eval->order.key_count > 0;
	eval_row_fn *take = eval->is_tree ? eval_tree_take : sorts ? eval_sorted_take : NULL;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < eval->input_count; i++)
		code = take ? each_row(eval, &eval->inputs[i], take)
		            : print_input(eval, &eval->inputs[i]);
	if (!code && take)
		code = eval->is_tree ? eval_tree_print(eval) : eval_sorted_print(eval, print_row);
	app_progress_end();
	for (size_t i = 0; !code && i < eval->input_count; i++)
		note_inflated(eval, &eval->inputs[i]);
	if (!code)
		note_unknown(eval);
	return code;
}

/* range= is taken for the number. */
static const char *name_hint(const struct option_list *where)
{
	static const char start[] = "range=";

	for (size_t i = 0; i < where->count; i++)
		if (!strncmp(where->items[i], start, sizeof start - 1)
		    && where->items[i][sizeof start - 1]
		    && !where->items[i][strspn(where->items[i], "range=0123456789")])
			return where->items[i] + sizeof start - 1;
	return NULL;
}

/*
 * False: some input's ranges have it, or it can't be said. Of images come numbers and names alone,
 * all else from tables of ranges.
 */
static bool is_recorded_nowhere(const struct eval *eval, enum opk_fact fact)
{
	const struct opk_range *ranges;
	size_t count;

	if (eval->profiler != OPK_PROFILER_RANGE || fact == OPK_FACT_RANGE || fact == OPK_FACT_NAME)
		return false;
	for (size_t i = 0; i < eval->input_count; i++) {
		struct opk_file *file = eval->inputs[i].file;

		if (!file)
			continue;
		if (opk_file_ranges(&ranges, &count, eval->app->ctx, file)) {
			opk_clear_errors(eval->app->ctx);
			return false;
		}
		if (facts_known(fact, ranges, count))
			return false;
	}
	return true;
}

/* The fact of a condition that no range has; NULL. */
static const char *find_unrecorded(const struct eval *eval)
{
	for (size_t i = 0; i < eval->where->count; i++) {
		const char *condition = eval->where->items[i];
		opk_autofree char *name = opk_strndup(condition, strcspn(condition, " \t=<>!"));
		enum opk_fact fact;

		if (name && opk_fact_find(&fact, name, OPK_PROFILER_RANGE)
		    && is_recorded_nowhere(eval, fact))
			return opk_fact_column(fact, OPK_PROFILER_RANGE)->name;
	}
	return NULL;
}

void eval_rows_note_none(const struct eval *eval, const char *rows)
{
	const char *number = name_hint(eval->where), *unrecorded = find_unrecorded(eval);

	if (!eval->where->count) {
		app_note("there are no %s", rows);
		return;
	}
	if (unrecorded) {
		app_note("no range here has %s recorded, which --where asks for: there are no %s",
		         unrecorded, rows);
		return;
	}
	app_note("no %s meets --where: there are no %s%s%s",
	         eval->profiler == OPK_PROFILER_PM ? "sample" : "range", rows,
	         number ? "; range is the name there, and the range of that number index=" : "",
	         number ? number : "");
}

int eval_rows_print(struct eval *eval)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < eval->input_count; i++) {
		const struct eval_input *input = &eval->inputs[i];

		code = eval_columns_check_input(eval, input);
		if (!code)
			code = i ? check_fit(eval, input) : begin(eval, input->evaluation);
	}
	if (!code)
		code = print_all(eval);
	if (!code)
		code = eval->database ? opk_database_finish(eval->database)
		                      : app_end_output(eval->app);
	if (code)
		return code;
	if (!eval->row_count)
		eval_rows_note_none(eval, "rows");
	return eval_watch_end(&eval->watch, eval->app, eval->strict, "row",
	                      eval->layout != EVAL_WIDE);
}
