/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of tables by name, and what could have been meant. */
#include <string.h>

#include "base/ascii.h"
#include "base/nearest.h"
#include "chip/door.h"
#include "table/table_inside.h"

/* ---- columns other than values */

enum { WIDE = 1 << OPK_TABLE_WIDE, LONG = 1 << OPK_TABLE_LONG, GROUPS = 1 << OPK_TABLE_GROUPS };
static const struct {
	struct opk_column header;
	unsigned layouts; /* layouts with this column */
} kinds[OPK_TABLE_KINDS] = {
	[OPK_TABLE_FILE] = { { "file", OPK_CELL_STRING }, WIDE | LONG | GROUPS },
	[OPK_TABLE_LEVEL] = { { "level", OPK_CELL_OPTIONAL }, WIDE | LONG },
	[OPK_TABLE_PARENT] = { { "parent", OPK_CELL_STRING }, WIDE | LONG },
	[OPK_TABLE_GROUP] = { { "group", OPK_CELL_UINT }, GROUPS },
	[OPK_TABLE_METRIC] = { { "metric", OPK_CELL_STRING }, LONG | GROUPS },
	[OPK_TABLE_UNIT] = { { "unit", OPK_CELL_STRING }, LONG | GROUPS },
	[OPK_TABLE_NUMBER] = { { "value", OPK_CELL_DOUBLE }, LONG },
	[OPK_TABLE_LAUNCHES] = { { "launches", OPK_CELL_UINT }, LONG },
	[OPK_TABLE_COUNT] = { { "count", OPK_CELL_UINT }, GROUPS },
	[OPK_TABLE_SUM] = { { "sum", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_MEAN] = { { "mean", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_MIN] = { { "min", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_MAX] = { { "max", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_P50] = { { "p50", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_P90] = { { "p90", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_P99] = { { "p99", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_STD] = { { "std", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_MEAN_LOW] = { { "mean_low", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_MEAN_HIGH] = { { "mean_high", OPK_CELL_DOUBLE }, GROUPS },
	[OPK_TABLE_WEIGHTED] = { { "weighted_by", OPK_CELL_STRING }, GROUPS },
	[OPK_TABLE_INFLATED] = { { "inflated", OPK_CELL_BOOL }, LONG | GROUPS },
};

const struct opk_column *opk_table_fact_header(const struct opk_table *table, enum opk_fact fact)
{
	if (table->layout != OPK_TABLE_GROUPS)
		return opk_fact_column(fact, table->profiler);
	/* Groups have the facts that their ranges share; each value has its own count. */
	if (fact < OPK_FACT_NAME || fact > OPK_FACT_DURATION || fact == OPK_FACT_SUMMED)
		return NULL;
	return opk_fact_column(fact, OPK_PROFILER_RANGE);
}

bool opk_table_has_levels(const struct opk_table *table)
{
	return table->layout != OPK_TABLE_GROUPS && table->profiler == OPK_PROFILER_RANGE
	       && !opk_table_is_timeline(table->inputs)
	       && !(table->inputs->meta && opk_table_is_trace(table->inputs));
}

bool opk_table_kind_column(struct opk_table_column *out, const struct opk_table *table,
                           enum opk_table_kind kind)
{
	if (!(kinds[kind].layouts & 1u << table->layout))
		return false;
	/* Samples, and rows of what ran, are not inside each other. */
	if ((kind == OPK_TABLE_LEVEL || kind == OPK_TABLE_PARENT) && !opk_table_has_levels(table))
		return false;
	*out = (struct opk_table_column){ .header = kinds[kind].header, .kind = kind };
	return true;
}

bool opk_table_find(struct opk_table_column *out, const struct opk_table *table, const char *name)
{
	enum opk_fact fact;

	/* In a long table `launches` is the value's. */
	for (enum opk_table_kind kind = 0; kind < OPK_TABLE_KINDS; kind++)
		if (kinds[kind].layouts && !strcmp(name, kinds[kind].header.name)
		    && opk_table_kind_column(out, table, kind))
			return true;
	if (!opk_fact_find(&fact, name, table->profiler) || !opk_table_fact_header(table, fact))
		return false;
	*out = (struct opk_table_column){
		.header = *opk_table_fact_header(table, fact),
		.kind = OPK_TABLE_FACT,
		.fact = fact,
	};
	if (!strcmp(name, "index"))
		out->header.name = "index";
	return true;
}

size_t opk_table_find_value(const struct opk_evaluation *evaluation, const char *name)
{
	size_t count = opk_evaluation_column_count(evaluation);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(opk_evaluation_column(evaluation, i), name))
			return i;
	return SIZE_MAX;
}

/* ---- what could have been meant */

typedef bool name_fn(void *data, const char *name);

/* Calls `fn` for all names of a recording until it returns true. */
static bool each_recorded(const struct opk_meta *meta, name_fn *fn, void *data)
{
	for (size_t i = 0; meta && i < meta->metric_count; i++)
		if (fn(data, meta->metrics[i]))
			return true;
	for (size_t i = 0; meta && i < meta->label_count; i++)
		if (fn(data, meta->labels[i].name))
			return true;
	for (size_t i = 0; meta && i < meta->derived_count; i++)
		if (fn(data, meta->derived[i].name))
			return true;
	return false;
}

static bool is_same(void *name, const char *other)
{
	return !strcmp(name, other);
}

static bool add_name(void *names, const char *name)
{
	return !opk_strlist_add(names, name);
}

/* The names of a file's columns of values, and of the time that its rows have. */
static bool list_values(struct opk_strlist *names, const struct opk_table *table,
                        const struct opk_table_file *input)
{
	size_t values = input->evaluation ? opk_evaluation_column_count(input->evaluation) : 0;
	const struct opk_column *time = opk_table_fact_header(table, OPK_FACT_DURATION);

	for (size_t i = 0; i < values; i++)
		if (add_name(names, opk_evaluation_column(input->evaluation, i)))
			return false;
	if (!values && each_recorded(input->meta, add_name, names))
		return false;
	return !time || !add_name(names, time->name);
}

static int fail_unknown(const struct opk_table *table, struct opk_ctx *ctx,
                        const struct opk_table_file *input, const char *name)
{
	opk_autostrlist struct opk_strlist values = { 0 };
	struct opk_nearest nearest = { .name = name };
	struct opk_table_column column;

	if (each_recorded(input->meta, is_same, (void *)name))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has '%s', but it is not among the chosen metrics", input->path,
		                name);
	for (enum opk_table_kind kind = 0; kind < OPK_TABLE_KINDS; kind++)
		if (opk_table_kind_column(&column, table, kind))
			opk_nearest_try(&nearest, column.header.name);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		if (opk_table_fact_header(table, fact))
			opk_nearest_try(&nearest, opk_table_fact_header(table, fact)->name);
	if (!list_values(&values, table, input))
		return opk_nomem(ctx, "names of columns");
	for (size_t i = 0; i < values.count; i++)
		opk_nearest_try(&nearest, values.items[i]);
	TRY(opk_nearest_by_words(&nearest, ctx, (const char *const *)values.items, values.count));
	return opk_fail(ctx, OPK_EUSAGE, "%s has no column '%s'%s%s%s", input->path, name,
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?" : "");
}

static int check(const struct opk_table *table, struct opk_ctx *ctx,
                 const struct opk_table_file *input, const char *name, bool value, bool maybe)
{
	struct opk_table_column column;
	bool fixed = opk_table_find(&column, table, name);

	if (fixed && value)
		return opk_fail(ctx, OPK_EUSAGE,
		                "in %s %s is a value and a column of every table: without "
		                "chosen columns both can be had%s",
		                input->path, name,
		                table->layout == OPK_TABLE_GROUPS ? "" : " in the long layout");
	return fixed || value || maybe ? OPK_OK : fail_unknown(table, ctx, input, name);
}

int opk_table_check_recorded(const struct opk_table *table, struct opk_ctx *ctx,
                             const struct opk_table_file *input)
{
	for (size_t i = 0; i < table->chosen.count; i++) {
		char *name = table->chosen.items[i];

		TRY(check(table, ctx, input, name, each_recorded(input->meta, is_same, name),
		          strstr(name, "__") || opk_ends(name, OPK_WITHIN)));
	}
	return OPK_OK;
}

int opk_table_check_evaluated(const struct opk_table *table, struct opk_ctx *ctx,
                              const struct opk_table_file *input)
{
	for (size_t i = 0; i < table->chosen.count; i++) {
		const char *name = table->chosen.items[i];

		TRY(check(table, ctx, input, name,
		          opk_table_find_value(input->evaluation, name) != SIZE_MAX, false));
	}
	return OPK_OK;
}
