/* SPDX-License-Identifier: BSD-2-Clause */
/* What the columns of a run are, each metric once for all runs that have the same. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "eval/columns.h"
#include "database/database.h"
#include "eval/eval.h"

/* All that is told of a metric; NULL: not known, or not of its kind. */
struct metric {
	const char *name, *metric, *type, *hw_unit, *unit, *description, *formula;
};

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static void describe_derived(struct metric *metric, const struct opk_meta_derived *derived)
{
	metric->type = "derived";
	metric->description = known(derived->description);
	metric->formula = derived->formula;
}

/* What CUPTI has no properties for stays undescribed: its values are none the worse. */
static void describe_full(struct metric *metric, struct opk_ctx *ctx, struct opk_nv_host *host)
{
	struct opk_errors_mark mark;
	struct opk_metric properties;

	opk_errors_mark(&mark, ctx);
	if (host && !opk_nv_properties(&properties, ctx, host, metric->metric)) {
		metric->type = opk_metric_type_name(properties.type);
		metric->hw_unit = known(properties.hw_unit);
		metric->description = known(properties.description);
	}
	opk_errors_rewind(ctx, &mark);
}

static struct metric describe(const struct opk_evaluation *evaluation, size_t column,
                              struct opk_ctx *ctx, struct opk_nv_host *host)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);
	size_t source = columns->sources[column];
	struct metric metric = {
		.name = columns->names.items[column],
		.unit = known(opk_evaluation_column_unit(evaluation, column)),
	};

	if (source < columns->derived_count) {
		describe_derived(&metric, &columns->meta->derived[source]);
		return metric;
	}
	metric.metric = opk_evaluation_metric(evaluation, source - columns->derived_count);
	describe_full(&metric, ctx, host);
	return metric;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int insert(struct opk_database *database, const struct metric *metric)
{
	struct opk_statement *into = database->into[OPK_INTO_METRICS];
	size_t count = database->names.count;

	if (!opk_append(&database->last_run, &database->last_run_capacity, &count,
	                sizeof *database->last_run)
	    || !opk_strlist_add(&database->names, metric->name))
		return opk_nomem(database->ctx, "a database");
	opk_statement_u64(into, database->names.count);
	opk_statement_text(into, metric->name);
	opk_statement_text(into, metric->metric);
	opk_statement_text(into, metric->type);
	opk_statement_text(into, metric->hw_unit);
	opk_statement_text(into, metric->unit);
	opk_statement_text(into, metric->description);
	opk_statement_text(into, metric->formula);
	return opk_statement_run(into);
}

/* Its number, from 1, known from an earlier run or new. */
static int find_or_insert(size_t *out, struct opk_database *database, const struct metric *metric)
{
	char *key = opk_printf("%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s", metric->name,
	                       or_empty(metric->metric), or_empty(metric->type),
	                       or_empty(metric->hw_unit), or_empty(metric->unit),
	                       or_empty(metric->description), or_empty(metric->formula));
	size_t count = database->names.count;

	if (!opk_strlist_take(&database->keys, key)
	    || !opk_index_add(&database->by_key, key, count + 1, out))
		return opk_nomem(database->ctx, "a database");
	return *out > count ? insert(database, metric) : OPK_OK;
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

/* A column that shows what another one does has nothing to add. */
static int add_column(struct opk_database *database, const struct opk_database_run *run,
                      size_t column, struct opk_nv_host *host)
{
	struct metric metric = describe(run->evaluation, column, database->ctx, host);
	size_t number;
	int code = find_or_insert(&number, database, &metric);

	if (code || database->last_run[number - 1] == database->run)
		return code;
	database->last_run[number - 1] = database->run;
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

int opk_database_add_metrics(struct opk_database *database, const struct opk_database_run *run)
{
	size_t all = opk_evaluation_column_count(run->evaluation);
	size_t count = run->columns ? run->column_count : all;
	struct opk_nv_host *host = NULL;
	int code = reserve(database, count);

	/* Without it, as where the library is gone, descriptions are missing. */
	if (!code
	    && opk_nv_host_new(&host, database->ctx, opk_evaluation_chip(run->evaluation),
	                       opk_evaluation_profiler(run->evaluation), NULL))
		opk_clear_errors(database->ctx);
	for (size_t i = 0; !code && i < count; i++)
		code = add_column(database, run, run->columns ? run->columns[i] : i, host);
	opk_nv_host_free(host);
	return code;
}
