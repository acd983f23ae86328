/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a table as a whole: how it begins, its rows in the chosen order, and its end. */
#include <string.h>

#include "base/buf.h"
#include "database/door.h"
#include "eval/eval_table.h"

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

/* Facts that are values; other numbers say what a row is about. */
static bool is_value(enum opk_fact fact)
{
	switch (fact) {
	case OPK_FACT_SAMPLE_START:
	case OPK_FACT_SAMPLE_END:
	case OPK_FACT_BINNED:
	case OPK_FACT_COVERED:
	case OPK_FACT_SM_MHZ:
	case OPK_FACT_MEMORY_MHZ:
	case OPK_FACT_START:
	case OPK_FACT_ADDRESSES:
		return true;
	default:
		return fact >= OPK_FACT_SUMMED && fact <= OPK_FACT_SAMPLES_ALONE
		       && fact != OPK_FACT_KIND;
	}
}

/* The number of a row is a label only if it was asked for: it would be new in each file. */
static enum opk_out_role role_of(const struct eval *eval, const struct opk_table_column *column)
{
	bool asked = eval->chosen.count > 0;

	switch (column->kind) {
	case OPK_TABLE_FACT:
		if (is_value(column->fact))
			return OPK_ROLE_VALUE;
		return column->fact == OPK_FACT_SAMPLE || column->fact == OPK_FACT_RANGE
		               ? (asked ? OPK_ROLE_LABEL : OPK_ROLE_NONE)
		               : OPK_ROLE_LABEL;
	case OPK_TABLE_FILE:
		return OPK_ROLE_LABEL;
	case OPK_TABLE_METRIC:
		return OPK_ROLE_NAME;
	case OPK_TABLE_GROUP:
	case OPK_TABLE_LEVEL:
	case OPK_TABLE_PARENT:
	case OPK_TABLE_UNIT:
	case OPK_TABLE_WEIGHTED:
	case OPK_TABLE_INFLATED:
		return OPK_ROLE_NONE;
	default:
		return OPK_ROLE_VALUE;
	}
}

static void put_roles(const struct eval *eval)
{
	struct opk_out *out = eval->app->out;

	opk_out_constant(out, "chip", opk_table_about(eval->table, "chip"));
	for (size_t i = 0; i < eval->column_count; i++) {
		const struct opk_table_column *column = column_at(eval, i);
		const char *name = column->header.name;
		size_t length = strlen(name);

		opk_out_role(out, i, role_of(eval, column));
		if (column->kind == OPK_TABLE_FACT && length > 3
		    && !strcmp(name + length - 3, "_ns"))
			opk_out_unit(out, i, "ns");
	}
}

/* Whether this column is METRIC:within, and METRIC is before it: then both share a scale. */
static bool is_within(const struct eval *eval, size_t i)
{
	const char *name = column_at(eval, i)->header.name, *before;
	size_t length;

	if (!i || eval_is_metrics(eval))
		return false;
	before = column_at(eval, i - 1)->header.name;
	length = strlen(before);
	return !strncmp(name, before, length) && !strcmp(name + length, OPK_WITHIN);
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
	if (eval_is_metrics(eval))
		put_roles(eval);
	for (size_t i = 0; i < eval->column_count; i++) {
		const struct opk_table_column *column = column_at(eval, i);

		if (column->kind == OPK_TABLE_VALUE)
			opk_out_unit(out, i, is_within(eval, i) ? NULL : column->unit);
		else if (column->kind == OPK_TABLE_UNIT)
			opk_out_unit_in(out, i);
	}
	return OPK_OK;
}

/* Rows of a database do not say how deep they are inside others, for example. */
static int check_database(const struct eval *eval)
{
	struct opk_table_column column;

	for (size_t i = 0; i < eval->chosen.count; i++)
		if (opk_table_find(&column, eval->table, eval->chosen.items[i])
		    && column.kind > OPK_TABLE_FILE)
			return app_error(eval->app, OPK_EUSAGE,
			                 "%s: databases have no column '%s'; CSV and JSON have it",
			                 eval->app->output, eval->chosen.items[i]);
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
	TRY(check_database(eval));
	options.columns = opk_strlist_items(&eval->chosen);
	options.column_count = eval->chosen.count;
	return opk_database_new(&eval->database, eval->app->ctx, eval->app->output, &options);
}

static int begin_files(struct eval *eval, size_t end)
{
	while (eval->begun < end && opk_table_get_file(eval->table, eval->begun))
		TRY(eval_rows_begin_file(eval, eval->begun++));
	return OPK_OK;
}

/* ---- rows */

static int print_in_order(struct eval *eval, const struct opk_table_source *source)
{
	TRY(begin_files(eval, source->place.file + 1));
	return eval_rows_print_source(eval, source);
}

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

int eval_print(struct eval *eval)
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
