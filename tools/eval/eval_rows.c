/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a table, wide or long, as output or in a database. */
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

/* A tree's first column is always the row's name; others follow. */
size_t eval_rows_column(const struct eval *eval, size_t i)
{
	return !i ? eval->name_at : i <= eval->name_at ? i - 1 : i;
}

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
	run.recording = eval->file->file;
	return opk_database_add_run(eval->database, &run);
}

int eval_rows_begin_file(struct eval *eval, size_t file)
{
	const size_t *columns;
	size_t count = opk_table_get_values(&columns, eval->table, file);

	eval->file = opk_table_get_file(eval->table, file);
	/* The database includes files without rows. */
	return eval->database ? add_run(eval, columns, count) : OPK_OK;
}

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
