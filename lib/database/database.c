/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluations as a SQLite database: the file, its runs and their rows. */
#include "database/database.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/option_struct.h"

/* ---- the file --------------------------------------------------------------------------- */

/* What SQLite left beside a database of this name would be taken for a part of the new one. */
static int check_beside(struct opk_ctx *ctx, const char *path)
{
	static const char *const endings[] = { "-journal", "-wal" };
	struct stat info;

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		opk_autofree char *beside = opk_printf("%s%s", path, endings[i]);

		if (!beside)
			return opk_nomem(ctx, "a database");
		if (!stat(beside, &info) && info.st_size)
			return opk_fail(
				ctx, OPK_EFAILED,
				"%s: there is %s beside it: a program is writing the database, or "
				"was cut off; end it, or remove both",
				path, beside);
	}
	return OPK_OK;
}

static int begin(struct opk_database *database, const char *path,
                 const struct opk_database_options *options)
{
	struct opk_ctx *ctx = database->ctx;
	int code = check_beside(ctx, path);

	for (size_t i = 0; !code && i < options->column_count; i++)
		if (!opk_strlist_add(&database->shown, options->columns[i]))
			code = opk_nomem(ctx, "a database");
	if (!code)
		code = opk_newfile_create(&database->file, ctx, path);
	if (!code)
		code = opk_sqlite_new(&database->sqlite, ctx, database->file.temporary);
	if (!code)
		code = opk_sqlite_run(database->sqlite, opk_database_schema);
	for (size_t i = 0; !code && i < OPK_TABLES; i++)
		code = opk_statement_new(&database->into[i], database->sqlite,
		                         opk_database_inserts[i]);
	return code;
}

int opk_database_new(struct opk_database **out, struct opk_ctx *ctx, const char *path,
                     const struct opk_database_options *given)
{
	OPK_OPTIONS(opk_database_options, options, given);
	struct opk_database *database = opk_alloc(sizeof *database);
	int code;

	if (!database)
		return opk_nomem(ctx, "a database");
	database->ctx = ctx;
	code = begin(database, path, &options);
	if (code) {
		opk_database_free(database);
		return code;
	}
	*out = database;
	return OPK_OK;
}

int opk_database_finish(struct opk_database *database)
{
	int code = opk_sqlite_run(database->sqlite, opk_database_indexes);

	if (!code)
		code = opk_database_add_views(database);
	if (!code)
		code = opk_sqlite_finish(database->sqlite);
	if (!code)
		code = check_beside(database->ctx, database->file.path);
	return code ? code : opk_newfile_commit(&database->file);
}

void opk_database_free(struct opk_database *database)
{
	if (!database)
		return;
	opk_sqlite_free(database->sqlite);
	opk_newfile_discard(&database->file);
	opk_strlist_clear(&database->shown);
	opk_strlist_clear(&database->names);
	opk_strlist_clear(&database->keys);
	opk_index_clear(&database->by_key);
	free(database->last_run);
	free(database->columns);
	free(database->metrics);
	free(database);
}

/* ---- runs ------------------------------------------------------------------------------- */

static void put_known(struct opk_statement *into, const char *text)
{
	opk_statement_text(into, text && *text ? text : NULL);
}

static void put_number(struct opk_statement *into, uint64_t number)
{
	if (number)
		opk_statement_u64(into, number);
	else
		opk_statement_null(into);
}

static int add_run(struct opk_database *database, const struct opk_database_run *run)
{
	static const struct opk_meta nothing;
	const struct opk_meta *meta = run->meta ? run->meta : &nothing;
	struct opk_statement *into = database->into[OPK_INTO_RUNS];

	opk_statement_u64(into, ++database->run);
	opk_statement_text(into, run->file);
	opk_statement_text(into, opk_evaluation_chip(run->evaluation));
	opk_statement_text(into, opk_profiler_name(opk_evaluation_profiler(run->evaluation)));
	put_known(into, meta->set_name);
	put_number(into, meta->set_version);
	put_known(into, meta->set_hash);
	put_known(into, meta->config_hash);
	put_number(into, meta->passes);
	put_known(into, meta->mode);
	put_known(into, meta->backend);
	put_known(into, run->joined ? meta->join : NULL);
	put_number(into, meta->cupti_version);
	put_known(into, meta->generator);
	put_known(into, meta->source);
	if (run->meta)
		opk_statement_u64(into, !run->cut_off);
	else
		opk_statement_null(into);
	return opk_statement_run(into);
}

static int add_facts(struct opk_database *database, const struct opk_meta *meta)
{
	struct opk_statement *into = database->into[OPK_INTO_RUN_FACTS];
	int code = OPK_OK;

	for (size_t i = 0; !code && i < meta->run_count; i++) {
		opk_statement_u64(into, database->run);
		opk_statement_text(into, meta->run[i].name);
		opk_statement_text(into, meta->run[i].value);
		code = opk_statement_run(into);
	}
	return code;
}

int opk_database_add_run(struct opk_database *database, const struct opk_database_run *given)
{
	OPK_OPTIONS(opk_database_run, run, given);
	enum opk_profiler profiler = opk_evaluation_profiler(run.evaluation);
	int code;

	if (database->run && profiler != database->profiler)
		return opk_fail(database->ctx, OPK_EUSAGE,
		                "%s: ranges and PM samples don't go into one database", run.file);
	database->profiler = profiler;
	code = add_run(database, &run);
	if (!code && run.meta)
		code = add_facts(database, run.meta);
	return code ? code : opk_database_add_metrics(database, &run);
}

/* ---- rows ------------------------------------------------------------------------------- */

static void put_cell(struct opk_statement *into, enum opk_cell_type type,
                     const union opk_cell *cell)
{
	if (type == OPK_CELL_STRING)
		put_known(into, cell->string);
	else if (type == OPK_CELL_BOOL)
		opk_statement_u64(into, cell->boolean);
	else if (type == OPK_CELL_UINT)
		opk_statement_u64(into, cell->uint);
	else if (cell->optional.known)
		opk_statement_u64(into, cell->optional.uint);
	else
		opk_statement_null(into);
}

/* The columns of both tables are facts, in their order. */
static int add_facts_of_row(struct opk_database *database, const struct opk_row *row,
                            const struct opk_joined_row *joined)
{
	bool pm = database->profiler == OPK_PROFILER_PM;
	struct opk_statement *into = database->into[pm ? OPK_INTO_SAMPLES : OPK_INTO_RANGES];
	struct opk_fact_text texts[OPK_FACT_COUNT];

	opk_statement_u64(into, ++database->row);
	opk_statement_u64(into, database->run);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, database->profiler);
		union opk_cell cell;

		if (!column)
			continue;
		cell = opk_fact_get(&texts[fact], fact, row, joined);
		put_cell(into, column->type, &cell);
	}
	return opk_statement_run(into);
}

static int add_value(struct opk_database *database, size_t metric, double value,
                     const uint64_t *launches)
{
	bool pm = database->profiler == OPK_PROFILER_PM;
	struct opk_statement
		*into = database->into[pm ? OPK_INTO_SAMPLE_VALUES : OPK_INTO_RANGE_VALUES];

	opk_statement_u64(into, database->row);
	opk_statement_u64(into, metric);
	opk_statement_double(into, value);
	if (launches)
		opk_statement_u64(into, *launches);
	else if (!pm)
		opk_statement_null(into);
	return opk_statement_run(into);
}

int opk_database_add_row(struct opk_database *database, const struct opk_row *row,
                         const struct opk_joined_row *joined, const double *values,
                         const uint64_t *launches)
{
	int code = add_facts_of_row(database, row, joined);

	for (size_t i = 0; !code && i < database->column_count; i++) {
		size_t column = database->columns[i];

		code = add_value(database, database->metrics[i], values[column],
		                 launches ? &launches[column] : NULL);
	}
	return code;
}
