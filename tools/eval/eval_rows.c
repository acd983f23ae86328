/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the rows of a table, wide or long, or writes them to a database. */
#include "base/buf.h"
#include "database/door.h"
#include "eval/eval_table.h"

int eval_table_result(struct eval *eval, int code)
{
	const struct opk_ctx *from = opk_table_error(eval->table);

	for (size_t i = 0; code && i < opk_error_count(from); i++)
		opk_add(eval->app->ctx, code, "%s", opk_error_message(from, i));
	return code;
}

/* ---- the table or database begins */

/* A tree's first column is always the row's name; others follow. */
size_t eval_rows_column(const struct eval *eval, size_t i)
{
	return !i ? eval->name_at : i <= eval->name_at ? i - 1 : i;
}

static const struct opk_table_column *column_at(const struct eval *eval, size_t i)
{
	static const struct opk_table_column name = { .header = { "name", OPK_CELL_STRING } };

	return eval->is_tree && !i ? &name
	                           : opk_table_get_column(eval->table, eval_rows_column(eval, i));
}

static int list_columns(struct eval *eval)
{
	size_t count;

	opk_table_columns(eval->table, &count);
	eval->headers = opk_alloc_array(count + 1, sizeof *eval->headers);
	eval->cells = opk_alloc_array(count + 1, sizeof *eval->cells);
	if (!eval->headers || !eval->cells)
		return app_nomem(eval->app);
	while (eval->is_tree && eval->name_at < count
	       && opk_table_get_column(eval->table, eval->name_at)->fact != OPK_FACT_NAME)
		eval->name_at++;
	eval->column_count = count + (eval->is_tree && eval->name_at == count);
	for (size_t i = 0; i < eval->column_count; i++)
		eval->headers[i] = column_at(eval, i)->header;
	return OPK_OK;
}

/* Puts headings of the set above adjacent columns. */
static void put_spans(const struct eval *eval)
{
	for (size_t i = 0, next; i < eval->column_count; i = next) {
		const struct opk_meta_heading *heading = column_at(eval, i)->heading;

		for (next = i + 1; next < eval->column_count; next++)
			if (column_at(eval, next)->heading != heading)
				break;
		if (heading)
			opk_out_span(eval->app->out, heading->title, i, next - i);
	}
}

static int begin_table(struct eval *eval)
{
	const char *name = eval->key                           ? "groups"
	                   : eval->profiler == OPK_PROFILER_PM ? "samples"
	                                                       : "ranges";
	int code = app_begin_output(eval->app);
	struct opk_out *out = eval->app->out;

	if (code)
		return code;
	opk_out_table(out, name, eval->headers, eval->column_count);
	put_spans(eval);
	for (size_t i = 0; i < eval->column_count; i++) {
		const struct opk_table_column *column = column_at(eval, i);

		if (column->kind == OPK_TABLE_VALUE)
			opk_out_unit(out, i, column->unit);
		else if (column->kind == OPK_TABLE_UNIT)
			opk_out_unit_in(out, i);
	}
	return OPK_OK;
}

static int begin(struct eval *eval)
{
	struct opk_database_options options = OPK_INIT(options);

	eval->profiler = opk_evaluation_profiler(opk_table_get_file(eval->table, 0)->evaluation);
	if (eval->is_tree && eval->profiler == OPK_PROFILER_PM)
		return app_error(eval->app, OPK_EUSAGE,
		                 "--layout tree: PM samples are not inside each other");
	if (!eval->key)
		TRY(eval_sorted_check(eval));
	TRY(list_columns(eval));
	if (!eval->to_database)
		return begin_table(eval);
	options.columns = opk_strlist_items(&eval->chosen);
	options.column_count = eval->chosen.count;
	return opk_database_new(&eval->database, eval->app->ctx, eval->app->output, &options);
}

/* ---- files */

/* Whether the end is missing, or rows that the collector or `recover` lost. */
static bool is_cut_off(struct eval *eval, struct opk_file *file)
{
	const struct opk_stats *stats = NULL;

	if (!file)
		return false;
	opk_file_stats(&stats, eval->app->ctx, file);
	return !opk_file_complete(file) || (stats && stats->drop_count);
}

static int add_run(struct eval *eval, const size_t *columns, size_t count)
{
	struct opk_database_run run = OPK_INIT(run);

	run.file = eval->file->path;
	run.meta = eval->file->meta;
	run.cut_off = is_cut_off(eval, eval->file->file);
	run.joined = opk_evaluation_is_joined(eval->file->evaluation);
	run.evaluation = eval->file->evaluation;
	run.columns = columns;
	run.column_count = count;
	run.inflated = eval->file->inflated;
	run.set_name = eval->file->set_name;
	return opk_database_add_run(eval->database, &run);
}

int eval_rows_begin_file(struct eval *eval, size_t file)
{
	const size_t *columns;
	size_t count = opk_table_get_values(&columns, eval->table, file);

	eval->file = opk_table_get_file(eval->table, file);
	return eval->database ? add_run(eval, columns, count) : OPK_OK;
}

/* The database includes files without rows. */
static int begin_files(struct eval *eval, size_t end)
{
	while (eval->begun < end && opk_table_get_file(eval->table, eval->begun))
		TRY(eval_rows_begin_file(eval, eval->begun++));
	return OPK_OK;
}

/* ---- rows */

/* Prints a heading when the group changes; its prose only once. */
static void put_heading(struct eval *eval, const struct opk_meta_heading *heading)
{
	if (heading != eval->heading)
		opk_out_heading(eval->app->out, heading ? heading->title : "",
		                heading && eval->row_count == 1 ? heading->text : "");
	eval->heading = heading;
}

/* Numbers key groups in the order of printing. */
static int put_row(struct eval *eval, const union opk_cell *cells)
{
	for (size_t i = 0; eval->key && i < eval->column_count; i++) {
		eval->cells[i] = cells[i];
		if (opk_table_get_column(eval->table, i)->kind == OPK_TABLE_GROUP)
			eval->cells[i].uint = eval->row_count - 1;
	}
	return opk_out_row(eval->app->out, eval->key ? eval->cells : cells);
}

static int print_rows(struct eval *eval, size_t file)
{
	bool headings = eval->is_long && !eval->key;
	const union opk_cell *cells;
	const bool *known;
	const size_t *columns;
	size_t count = 1;

	if (!eval_is_wide(eval))
		count = opk_table_get_values(&columns, eval->table, file);
	for (size_t i = 0; i < count; i++) {
		if (headings)
			put_heading(eval, opk_evaluation_column_heading(eval->file->evaluation,
			                                                columns[i]));
		TRY(eval_table_result(eval, opk_table_next(&cells, &known, eval->table)));
		TRY(put_row(eval, cells));
	}
	return OPK_OK;
}

int eval_rows_print_source(struct eval *eval, const struct opk_table_source *source)
{
	eval->row_count++;
	if (!eval->database)
		return print_rows(eval, source->place.file);
	return opk_database_add_row(eval->database, &source->row, opk_table_compute(eval->table),
	                            source->row.joined
	                                    ? opk_evaluation_counts(eval->file->evaluation)
	                                    : NULL);
}

static int print_in_order(struct eval *eval, const struct opk_table_source *source)
{
	TRY(begin_files(eval, source->place.file + 1));
	return eval_rows_print_source(eval, source);
}

/* ---- all of them */

static int each_source(struct eval *eval, eval_source_fn *fn)
{
	const struct opk_table_source *source;

	while (!(eval->order.top && eval->row_count >= eval->order.top)) {
		TRY(eval_table_result(eval, opk_table_next_source(&source, eval->table)));
		if (!source)
			break;
		TRY(fn(eval, source));
	}
	return OPK_OK;
}

static int print_all(struct eval *eval)
{
	if (eval->is_tree) {
		TRY(each_source(eval, eval_tree_take));
		return eval_tree_print(eval);
	}
	if (eval->order.key_count) {
		TRY(each_source(eval, eval_sorted_take));
		return eval_sorted_print(eval);
	}
	TRY(each_source(eval, print_in_order));
	return begin_files(eval, SIZE_MAX);
}

static int check_strict(struct eval *eval)
{
	enum { NAMED = 5 };
	opk_autobuf struct opk_buf names = { 0 };
	size_t count = 0;

	if (!eval->row_count)
		return app_error(eval->app, OPK_EFAILED, "--strict: there are no %s",
		                 eval->key ? "groups" : "rows");
	for (const char *name; (name = opk_table_missing(eval->table, count)); count++)
		if (count < NAMED)
			opk_buf_add_printf(&names, "%s%s", count ? ", " : "", name);
	if (!count)
		return OPK_OK;
	if (count > NAMED)
		opk_buf_add_printf(&names, " and %zu others", count - NAMED);
	opk_buf_add(&names, "", 1);
	return app_error(eval->app, OPK_EFAILED, "--strict: nan in every %s: %s",
	                 eval->key ? "group" : "row", names.failed ? "" : (const char *)names.data);
}

int eval_rows_print(struct eval *eval)
{
	int code = begin(eval);

	if (!code)
		code = print_all(eval);
	if (code)
		return code;
	opk_table_note_rows(eval->table);
	code = eval->database ? opk_database_finish(eval->database) : app_end_output(eval->app);
	return !code && eval->strict ? check_strict(eval) : code;
}
