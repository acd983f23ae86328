/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a table, by default or as chosen, and the values that they show. */
#include <string.h>

#include "table/table_inside.h"

static void add(struct opk_table *table, const struct opk_table_column *column)
{
	table->columns[table->column_count++] = *column;
}

static void add_value(struct opk_table *table, size_t i)
{
	const struct opk_evaluation *evaluation = table->inputs->evaluation;

	table->sources[table->column_count] = i;
	add(table, &(struct opk_table_column){
			   .header = { opk_evaluation_column(evaluation, i), OPK_CELL_DOUBLE },
			   .kind = OPK_TABLE_VALUE,
			   .unit = opk_evaluation_column_unit(evaluation, i),
			   .heading = opk_evaluation_column_heading(evaluation, i),
		   });
}

static void add_kinds(struct opk_table *table, enum opk_table_kind first, enum opk_table_kind last)
{
	struct opk_table_column column;

	for (enum opk_table_kind kind = first; kind <= last; kind++)
		if (opk_table_kind_column(&column, table, kind))
			add(table, &column);
}

static bool is_listed(const struct opk_table *table, enum opk_table_kind first,
                      enum opk_table_kind last)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].kind >= first && table->columns[i].kind <= last)
			return true;
	return false;
}

/* ---- chosen ones */

/*
 * Outside of wide tables, names of values choose rows, and the columns that describe a value follow
 * unless they are chosen; so do all statistics of key groups, unless some are chosen.
 */
static void add_chosen(struct opk_table *table)
{
	for (size_t i = 0; i < table->chosen.count; i++) {
		const char *name = table->chosen.items[i];
		struct opk_table_column column;

		if (opk_table_find(&column, table, name))
			add(table, &column);
		else if (table->layout == OPK_TABLE_WIDE)
			add_value(table, opk_table_find_value(table->inputs->evaluation, name));
	}
	for (enum opk_table_kind kind = OPK_TABLE_METRIC; kind <= OPK_TABLE_NUMBER; kind++)
		if (!is_listed(table, kind, kind))
			add_kinds(table, kind, kind);
	if (is_listed(table, OPK_TABLE_COUNT, OPK_TABLE_MEAN_HIGH))
		return;
	add_kinds(table, OPK_TABLE_COUNT, OPK_TABLE_MEAN_HIGH);
	if (!is_listed(table, OPK_TABLE_WEIGHTED, OPK_TABLE_WEIGHTED))
		add_kinds(table, OPK_TABLE_WEIGHTED, OPK_TABLE_WEIGHTED);
}

/* ---- all */

static int find_facts(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx,
                      const struct opk_table *table, const struct opk_table_file *input)
{
	bool all = table->options.all_facts;
	const struct opk_range *ranges;
	size_t count;

	if (!input->file)
		return OPK_OK;
	found[OPK_FACT_BINNED] = found[OPK_FACT_COVERED] = opk_table_is_resampled(table);
	if (!opk_table_is_timeline(input) && !opk_table_is_code(input)
	    && !opk_table_is_resampled(table))
		return opk_facts_find_recorded(found, ctx, input->file, all);
	count = opk_evaluation_ranges(&ranges, input->evaluation);
	opk_facts_find_ran(found, ranges, count, all);
	opk_evaluation_find_ran(&found[OPK_FACT_LATENCY], &found[OPK_FACT_GRAPH_NODE],
	                        input->evaluation);
	found[OPK_FACT_GAP] = found[OPK_FACT_HOST_GAP] = found[OPK_FACT_LATENCY];
	return OPK_OK;
}

/* The columns that the table has because some of its inputs need them. */
struct having {
	bool joined, sampled, inflated;
};

/* Statistics have the column if a recording names any inflated metric. */
static bool is_inflated(const struct opk_table *table, const struct opk_table_file *input)
{
	size_t values = opk_evaluation_column_count(input->evaluation);

	for (size_t i = 0; input->inflated && i < values; i++)
		if (input->inflated[i] || table->layout == OPK_TABLE_GROUPS)
			return true;
	return false;
}

static struct having look_at(const struct opk_table *table)
{
	struct having having = { 0 };

	for (size_t i = 0; i < table->input_count; i++) {
		const struct opk_table_file *input = &table->inputs[i];

		having.joined |= opk_evaluation_is_joined(input->evaluation);
		having.sampled |= opk_evaluation_metric_count(input->evaluation) > 0;
		having.inflated |= is_inflated(table, input);
	}
	return having;
}

static int list_facts(enum opk_fact facts[OPK_FACT_COUNT], size_t *count, struct opk_ctx *ctx,
                      const struct opk_table *table, const struct having *having)
{
	bool found[OPK_FACT_COUNT] = { false };
	const struct opk_facts_options options = {
		.found = found,
		.profiler = table->profiler,
		.rows = table->inputs->rows,
		.joined = having->joined && table->layout == OPK_TABLE_WIDE,
		.sampled = having->sampled,
		.spans_earlier = table->inside.mark_first_sample,
	};
	int code = OPK_OK;

	if (table->layout == OPK_TABLE_GROUPS)
		code = opk_table_find_group_facts(found, ctx, table);
	for (size_t i = 0; table->layout != OPK_TABLE_GROUPS && !code && i < table->input_count;
	     i++)
		code = find_facts(found, ctx, table, &table->inputs[i]);
	if (table->inside.with_origin)
		found[OPK_FACT_DEVICE] = found[OPK_FACT_HOST] = found[OPK_FACT_GPU] = true;
	*count = code ? 0 : opk_facts_list(facts, &options);
	return code;
}

/* Whether columns may need levels: the chosen ones, or all. */
static bool wants_levels(const struct opk_table *table)
{
	struct opk_table_column column;

	for (size_t i = 0; i < table->chosen.count; i++)
		if (opk_table_find(&column, table, table->chosen.items[i])
		    && (column.kind == OPK_TABLE_LEVEL || column.kind == OPK_TABLE_PARENT))
			return true;
	return !table->chosen.count && !table->inside.is_tree && opk_table_has_levels(table);
}

static void add_facts(struct opk_table *table, const enum opk_fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct opk_column *header = opk_table_fact_header(table, facts[i]);

		if (!header)
			continue;
		add(table, &(struct opk_table_column){
				   .header = *header,
				   .kind = OPK_TABLE_FACT,
				   .fact = facts[i],
			   });
		if (table->input_count > 1 && opk_fact_precedes_file(facts[i]))
			add_kinds(table, OPK_TABLE_FILE, OPK_TABLE_FILE);
	}
}

static int add_all(struct opk_table *table, struct opk_ctx *ctx)
{
	struct having having = look_at(table);
	enum opk_fact facts[OPK_FACT_COUNT];
	size_t count;

	TRY(list_facts(facts, &count, ctx, table, &having));
	add_kinds(table, OPK_TABLE_GROUP, OPK_TABLE_GROUP);
	add_facts(table, facts, count);
	if (table->levels.any)
		add_kinds(table, OPK_TABLE_LEVEL, OPK_TABLE_PARENT);
	if (table->layout == OPK_TABLE_WIDE)
		for (size_t i = 0; i < opk_evaluation_column_count(table->inputs->evaluation); i++)
			add_value(table, i);
	add_kinds(table, OPK_TABLE_METRIC, OPK_TABLE_NUMBER);
	if (having.joined)
		add_kinds(table, OPK_TABLE_LAUNCHES, OPK_TABLE_LAUNCHES);
	add_kinds(table, OPK_TABLE_COUNT, OPK_TABLE_WEIGHTED);
	if (having.inflated)
		add_kinds(table, OPK_TABLE_INFLATED, OPK_TABLE_INFLATED);
	return OPK_OK;
}

/* ---- values of an input that have rows or columns */

/* Picks the chosen values of the input in their order, or else all. */
static void pick(struct opk_table *table, const struct opk_table_file *input)
{
	size_t all = opk_evaluation_column_count(input->evaluation), count = 0;
	bool none = table->chosen.count && opk_table_is_wide(table);

	for (size_t i = 0; i < table->chosen.count; i++) {
		table->picked[count] = opk_table_find_value(input->evaluation,
		                                            table->chosen.items[i]);
		count += table->picked[count] != SIZE_MAX;
	}
	for (size_t i = 0; !count && !none && i < all; i++)
		table->picked[i] = i;
	table->picked_count = count || none ? count : all;
	table->picked_for = input;
}

size_t opk_table_get_values(const size_t **columns, struct opk_table *table, size_t file)
{
	if (table->picked_for != &table->inputs[file])
		pick(table, &table->inputs[file]);
	*columns = table->picked;
	return table->picked_count;
}

/* ---- checks */

/* Labels and derived metrics may have the names of other columns. */
static int check_names(const struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < table->column_count; i++)
		for (size_t j = 0; table->columns[i].kind == OPK_TABLE_VALUE && j < i; j++)
			if (table->columns[j].kind != OPK_TABLE_VALUE
			    && !strcmp(table->columns[i].header.name,
			               table->columns[j].header.name))
				return opk_fail(ctx, OPK_EUSAGE,
				                "column %s: the table has one of that name "
				                "already: choose the long layout, or metrics",
				                table->columns[i].header.name);
	return OPK_OK;
}

int opk_table_list_columns(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t most = OPK_FACT_COUNT + OPK_TABLE_KINDS + table->chosen.count
	              + opk_evaluation_column_count(table->inputs->evaluation);
	int code = OPK_OK;

	table->columns = opk_alloc_array(most, sizeof *table->columns);
	table->sources = opk_alloc_array(most, sizeof *table->sources);
	table->headers = opk_alloc_array(most, sizeof *table->headers);
	if (!table->columns || !table->sources || !table->headers)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; !code && i < table->input_count; i++)
		code = opk_table_check_evaluated(table, ctx, &table->inputs[i]);
	if (!code)
		code = opk_table_check_evaluated_fit(table, ctx);
	if (code || table->inside.only_sources)
		return code;
	if (wants_levels(table))
		code = opk_table_find_levels(table, ctx);
	if (code)
		return code;
	if (table->chosen.count)
		add_chosen(table);
	else
		code = add_all(table, ctx);
	for (size_t i = 0; i < table->column_count; i++)
		table->headers[i] = table->columns[i].header;
	return code ? code : check_names(table, ctx);
}
