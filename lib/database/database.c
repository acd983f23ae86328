/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluations as a SQLite database: the file, its runs, their metrics and rows. */
#include "database/database.h"

#include <string.h>
#include <sys/stat.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "base/buf.h"
#include "base/option_struct.h"
#include "chip/door.h"
#include "database/door.h"
#include "eval/door.h"
#include "eval/eval.h"

/* ---- the file --------------------------------------------------------------------------- */

/* Refuses files that SQLite left of an older database: they would become parts of the new one. */
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

	TRY(opk_check_output(ctx, path, OPK_OUTPUT_DATABASE));
	TRY(check_beside(ctx, path));
	for (size_t i = 0; i < options->column_count; i++) {
		if (!opk_strlist_add(&database->shown, options->columns[i]))
			return opk_nomem(ctx, "a database");
	}
	TRY(opk_newfile_create(&database->file, ctx, path, opk_check_output, OPK_OUTPUT_DATABASE));
	if (!database->file.temporary)
		return opk_fail(ctx, OPK_EUSAGE, "%s: a database can't go into a pipe", path);
	TRY(opk_sqlite_new(&database->sqlite, ctx, database->file.temporary));
	TRY(opk_sqlite_run(database->sqlite, opk_database_schema));
	for (size_t i = 0; i < OPK_TABLES; i++)
		TRY(opk_statement_new(&database->into[i], database->sqlite,
		                      opk_database_inserts[i]));
	return OPK_OK;
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
	TRY(opk_sqlite_run(database->sqlite, opk_database_indexes));
	TRY(opk_database_add_views(database));
	TRY(opk_sqlite_finish(database->sqlite));
	TRY(check_beside(database->ctx, database->file.path));
	return opk_newfile_commit(&database->file);
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
	free(database->uses);
	free(database->columns);
	free(database->metrics);
	free(database);
}

/* ---- metrics, each stored once for all runs that have it -------------------------------- */

/* The table's columns after the number; NULL: not known, or this kind of metric lacks it. */
enum { NAME, METRIC, TYPE, HW_UNIT, UNIT, DESCRIPTION, FORMULA, METRIC_FIELDS };
struct metric {
	const char *fields[METRIC_FIELDS];
};

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

/* What says what metrics are; NULL: it is not there. */
struct sources {
	struct opk_catalog *catalog; /* the recording's */
	struct opk_nv_host *host;
};

/* A metric without CUPTI properties is stored without a description. */
static void describe_full(struct metric *metric, struct opk_ctx *ctx, const struct sources *sources)
{
	const struct opk_metric *known_one = sources->catalog
	                                             ? opk_catalog_find(sources->catalog,
	                                                                metric->fields[METRIC])
	                                             : NULL;
	struct opk_nv_host *host = sources->host;
	struct opk_errors_mark mark;
	struct opk_metric properties;

	if (known_one) {
		metric->fields[TYPE] = opk_metric_type_name(known_one->type);
		metric->fields[HW_UNIT] = known(known_one->hw_unit);
		metric->fields[DESCRIPTION] = known(known_one->description);
		return;
	}
	opk_errors_mark(&mark, ctx);
	if (host && !opk_nv_properties(&properties, ctx, host, metric->fields[METRIC])) {
		metric->fields[TYPE] = opk_metric_type_name(properties.type);
		metric->fields[HW_UNIT] = known(properties.hw_unit);
		metric->fields[DESCRIPTION] = known(properties.description);
	}
	opk_errors_rewind(ctx, &mark);
}

static struct metric describe(const struct opk_evaluation *evaluation, size_t column,
                              struct opk_ctx *ctx, const struct sources *sources)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);
	size_t source = columns->sources[column];
	struct metric metric = { {
		[NAME] = columns->names.items[column],
		[UNIT] = known(opk_evaluation_column_unit(evaluation, column)),
	} };

	if (source < columns->derived_count) {
		metric.fields[TYPE] = "derived";
		metric.fields[DESCRIPTION] = known(columns->meta->derived[source].description);
		metric.fields[FORMULA] = columns->meta->derived[source].formula;
		return metric;
	}
	metric.fields[METRIC] = opk_evaluation_metric(evaluation, source - columns->derived_count);
	describe_full(&metric, ctx, sources);
	return metric;
}

static int insert(struct opk_database *database, const struct metric *metric)
{
	struct opk_statement *into = database->into[OPK_INTO_METRICS];
	size_t count = database->names.count;

	if (!opk_append(&database->uses, &database->use_capacity, &count, sizeof *database->uses)
	    || !opk_strlist_add(&database->names, metric->fields[NAME]))
		return opk_nomem(database->ctx, "a database");
	opk_statement_u64(into, database->names.count);
	for (size_t i = 0; i < METRIC_FIELDS; i++)
		opk_statement_text(into, metric->fields[i]);
	return opk_statement_run(into);
}

/* The metric's number, from 1; inserts a metric that no earlier run had. */
static int find_or_insert(size_t *out, struct opk_database *database, const struct metric *metric)
{
	opk_autobuf struct opk_buf key = { 0 };
	size_t count = database->names.count;

	for (size_t i = 0; i < METRIC_FIELDS; i++) {
		opk_buf_add_text(&key, metric->fields[i] ? metric->fields[i] : "");
		opk_buf_add_text(&key, "\x1f");
	}
	opk_buf_add(&key, "", 1);
	if (!key.failed && opk_index_find(out, &database->by_key, (const char *)key.data))
		return OPK_OK;
	if (key.failed || !opk_strlist_add(&database->keys, (const char *)key.data)
	    || !opk_index_add(&database->by_key, database->keys.items[database->keys.count - 1],
	                      count + 1, out))
		return opk_nomem(database->ctx, "a database");
	return insert(database, metric);
}

static int add_run_metric(struct opk_database *database, size_t metric, bool inflated)
{
	struct opk_statement *into = database->into[OPK_INTO_RUN_METRICS];

	opk_statement_u64(into, database->run);
	opk_statement_u64(into, metric);
	opk_statement_u64(into, database->column_count);
	opk_statement_u64(into, inflated);
	return opk_statement_run(into);
}

/* Skips a column that shows the same metric as an earlier one. */
static int add_column(struct opk_database *database, const struct opk_database_run *run,
                      size_t column, const struct sources *sources)
{
	struct metric metric = describe(run->evaluation, column, database->ctx, sources);
	size_t number;
	int code = find_or_insert(&number, database, &metric);

	if (code || database->uses[number - 1].last_run == database->run)
		return code;
	database->uses[number - 1].last_run = database->run;
	database->uses[number - 1].by[database->profiler] = true;
	database->columns[database->column_count] = column;
	database->metrics[database->column_count++] = number;
	return add_run_metric(database, number, run->inflated && run->inflated[column]);
}

static int reserve(struct opk_database *database, size_t count)
{
	free(database->columns);
	free(database->metrics);
	database->column_count = 0;
	database->columns = opk_alloc_array(count + 1, sizeof *database->columns);
	database->metrics = opk_alloc_array(count + 1, sizeof *database->metrics);
	return database->columns && database->metrics ? OPK_OK
	                                              : opk_nomem(database->ctx, "a database");
}

/* Without a host object, for example without libcupti, descriptions are missing. */
static int open_sources(struct sources *sources, struct opk_ctx *ctx,
                        const struct opk_database_run *run)
{
	const char *chip = opk_evaluation_chip(run->evaluation);
	enum opk_profiler profiler = opk_evaluation_profiler(run->evaluation);

	if (run->recording && !opk_profiler_is_code(profiler))
		TRY(opk_catalog_of_file(&sources->catalog, ctx, run->recording, chip, profiler));
	if (!sources->catalog && opk_nv_host_new(&sources->host, ctx, chip, profiler, NULL))
		opk_clear_errors(ctx);
	return OPK_OK;
}

static int add_metrics(struct opk_database *database, const struct opk_database_run *run)
{
	size_t all = opk_evaluation_column_count(run->evaluation);
	size_t count = run->columns ? run->column_count : all;
	struct sources sources = { 0 };
	int code = reserve(database, count);

	if (!code)
		code = open_sources(&sources, database->ctx, run);
	for (size_t i = 0; !code && i < count; i++)
		code = add_column(database, run, run->columns ? run->columns[i] : i, &sources);
	opk_nv_host_free(sources.host);
	opk_catalog_free(sources.catalog);
	return code;
}

/* ---- runs ------------------------------------------------------------------------------- */

static void put_known(struct opk_statement *into, const char *text)
{
	opk_statement_text(into, known(text));
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
	put_known(into, run->set_name ? run->set_name : meta->set_name);
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

	for (size_t i = 0; i < meta->run_count; i++) {
		opk_statement_u64(into, database->run);
		opk_statement_text(into, meta->run[i].name);
		opk_statement_text(into, meta->run[i].value);
		TRY(opk_statement_run(into));
	}
	return OPK_OK;
}

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

/* The table has the columns of the list, after the run's number. */
static int add_nvtx(struct opk_database *database, struct opk_file *file)
{
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	struct opk_statement *into = database->into[OPK_INTO_NVTX];
	const struct opk_column *columns;
	size_t count;

	TRY(opk_file_list(&rows, database->ctx, file, OPK_FILE_NVTX));
	columns = opk_listing_columns(rows, &count);
	for (size_t i = 0; i < opk_listing_count(rows); i++) {
		opk_statement_u64(into, database->run);
		for (size_t column = 0; column < count; column++)
			put_cell(into, columns[column].type, &opk_listing_get(rows, i)[column]);
		TRY(opk_statement_run(into));
	}
	return OPK_OK;
}

int opk_database_add_run(struct opk_database *database, const struct opk_database_run *given)
{
	OPK_OPTIONS(opk_database_run, run, given);
	int code;

	database->profiler = opk_evaluation_profiler(run.evaluation);
	database->has[database->profiler] = true;
	code = add_run(database, &run);
	if (!code && run.meta)
		code = add_facts(database, run.meta);
	if (!code && run.recording)
		code = add_nvtx(database, run.recording);
	return code ? code : add_metrics(database, &run);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The columns of tables of rows are facts, in the order of enum opk_fact. */
static int add_facts_of_row(struct opk_database *database, const struct opk_row *row)
{
	struct opk_statement *into = database->into[opk_database_kind(database->profiler)->into];
	struct opk_fact_text texts[OPK_FACT_COUNT];

	database->has_ran |= row->ran != NULL;
	opk_statement_u64(into, ++database->row);
	opk_statement_u64(into, database->run);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_database_fact(fact, database->profiler);
		union opk_cell cell;

		if (!column)
			continue;
		cell = opk_fact_get(&texts[fact], fact, row);
		put_cell(into, column->type, &cell);
	}
	return opk_statement_run(into);
}

static int add_value(struct opk_database *database, size_t metric, double value,
                     const uint64_t *launches)
{
	enum opk_database_table table = opk_database_kind(database->profiler)->into_values;
	struct opk_statement *into = database->into[table];

	opk_statement_u64(into, database->row);
	opk_statement_u64(into, metric);
	opk_statement_double(into, value);
	if (launches)
		opk_statement_u64(into, *launches);
	else if (table == OPK_INTO_RANGE_VALUES)
		opk_statement_null(into);
	return opk_statement_run(into);
}

int opk_database_add_row(struct opk_database *database, const struct opk_row *row,
                         const double *values, const uint64_t *launches)
{
	TRY(add_facts_of_row(database, row));
	for (size_t i = 0; i < database->column_count; i++) {
		size_t column = database->columns[i];

		TRY(add_value(database, database->metrics[i], values[column],
		              launches ? &launches[column] : NULL));
	}
	return OPK_OK;
}
