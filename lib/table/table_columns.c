/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a table, by default or as chosen. */
#include <string.h>

#include "base/nearest.h"
#include "table/table_inside.h"

static const struct opk_table_column file_column = {
	.header = { "file", OPK_CELL_STRING },
	.kind = OPK_TABLE_FILE,
};

static bool find_fact(struct opk_table_column *out, enum opk_profiler profiler, const char *name)
{
	enum opk_fact fact;

	if (!opk_fact_find(&fact, name, profiler))
		return false;
	*out = (struct opk_table_column){
		.header = *opk_fact_column(fact, profiler),
		.kind = OPK_TABLE_FACT,
		.fact = fact,
	};
	if (!strcmp(name, "index"))
		out->header.name = "index";
	return true;
}

bool opk_table_find(struct opk_table_column *out, enum opk_profiler profiler, const char *name)
{
	if (!strcmp(name, file_column.header.name)) {
		*out = file_column;
		return true;
	}
	return find_fact(out, profiler, name);
}

static size_t find_value(const struct opk_evaluation *evaluation, const char *name)
{
	size_t count = opk_evaluation_column_count(evaluation);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(opk_evaluation_column(evaluation, i), name))
			return i;
	return SIZE_MAX;
}

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
		   });
}

/* ---- chosen ones */

typedef bool name_fn(void *data, const char *name);

/* Calls it for all that a recording names, until it is true. */
static bool each_recorded(const struct opk_meta *meta, name_fn *fn, void *data)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (fn(data, meta->metrics[i]))
			return true;
	for (size_t i = 0; i < meta->label_count; i++)
		if (fn(data, meta->labels[i].name))
			return true;
	for (size_t i = 0; i < meta->derived_count; i++)
		if (fn(data, meta->derived[i].name))
			return true;
	return false;
}

static bool is_same(void *name, const char *other)
{
	return !strcmp(name, other);
}

static bool try_name(void *nearest, const char *name)
{
	opk_nearest_try(nearest, name);
	return false;
}

/* With what could have been meant. */
static int fail_unknown(const struct opk_table *table, struct opk_ctx *ctx,
                        const struct opk_table_input *input, const char *name)
{
	struct opk_nearest nearest = { .name = name };

	if (each_recorded(input->meta, is_same, (void *)name))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has '%s', but it is not among the chosen metrics", input->path,
		                name);
	opk_nearest_try(&nearest, file_column.header.name);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		if (opk_fact_column(fact, table->profiler))
			opk_nearest_try(&nearest, opk_fact_column(fact, table->profiler)->name);
	each_recorded(input->meta, try_name, &nearest);
	return opk_fail(ctx, OPK_EUSAGE, "%s has no column '%s'%s%s%s", input->path, name,
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?" : "");
}

int opk_table_check_chosen(const struct opk_table *table, struct opk_ctx *ctx,
                           const struct opk_table_input *input)
{
	for (size_t i = 0; i < table->chosen.count; i++) {
		char *name = table->chosen.items[i];
		struct opk_table_column column;

		if (!opk_table_find(&column, table->profiler, name) && !strstr(name, "__")
		    && !each_recorded(input->meta, is_same, name))
			return fail_unknown(table, ctx, input, name);
	}
	return OPK_OK;
}

static int add_chosen(struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < table->chosen.count; i++) {
		const char *name = table->chosen.items[i];
		size_t value = find_value(table->inputs->evaluation, name);
		struct opk_table_column column;
		bool fixed = opk_table_find(&column, table->profiler, name);

		if (fixed && value != SIZE_MAX)
			return opk_fail(ctx, OPK_EUSAGE,
			                "in %s %s is a value and a column of every table: choose "
			                "metrics instead of columns",
			                table->inputs->path, name);
		if (!fixed && value == SIZE_MAX)
			return fail_unknown(table, ctx, table->inputs, name);
		if (fixed)
			add(table, &column);
		else
			add_value(table, value);
	}
	return OPK_OK;
}

/* ---- all */

static int find_facts(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx,
                      const struct opk_table *table, const struct opk_table_input *input)
{
	bool all = table->options.all_facts;
	const struct opk_range *ranges;
	size_t count;

	if (input->rows != OPK_ROWS_KERNELS && input->rows != OPK_ROWS_LAUNCHES)
		return opk_facts_find_recorded(found, ctx, input->file, all);
	count = opk_evaluation_ranges(&ranges, input->evaluation);
	opk_facts_find_ran(found, ranges, count, all);
	return OPK_OK;
}

static int list_facts(enum opk_fact facts[OPK_FACT_COUNT], size_t *count, struct opk_ctx *ctx,
                      const struct opk_table *table)
{
	struct opk_facts_options options = OPK_INIT(options);
	bool found[OPK_FACT_COUNT] = { false };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < table->input_count; i++) {
		const struct opk_table_input *input = &table->inputs[i];

		code = find_facts(found, ctx, table, input);
		options.joined |= input->join != NULL;
		options.sampled |= opk_evaluation_metric_count(input->evaluation) > 0;
	}
	options.found = found;
	options.profiler = table->profiler;
	options.rows = table->inputs->rows;
	*count = code ? 0 : opk_facts_list(facts, &options);
	return code;
}

static int add_all(struct opk_table *table, struct opk_ctx *ctx)
{
	enum opk_fact facts[OPK_FACT_COUNT];
	size_t count;
	int code = list_facts(facts, &count, ctx, table);

	for (size_t i = 0; i < count; i++) {
		add(table, &(struct opk_table_column){
				   .header = *opk_fact_column(facts[i], table->profiler),
				   .kind = OPK_TABLE_FACT,
				   .fact = facts[i],
			   });
		if (table->input_count > 1 && opk_fact_precedes_file(facts[i]))
			add(table, &file_column);
	}
	for (size_t i = 0; i < opk_evaluation_column_count(table->inputs->evaluation); i++)
		add_value(table, i);
	return code;
}

/* ---- checks */

/* Labels and derived metrics may be called anything. */
static int check_names(const struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < table->column_count; i++)
		for (size_t j = 0; table->columns[i].kind == OPK_TABLE_VALUE && j < i; j++)
			if (table->columns[j].kind != OPK_TABLE_VALUE
			    && !strcmp(table->columns[i].header.name,
			               table->columns[j].header.name))
				return opk_fail(ctx, OPK_EUSAGE,
				                "column %s: the table has one of that name "
				                "already: choose metrics or columns",
				                table->columns[i].header.name);
	return OPK_OK;
}

/* All files have the same values. */
static int check_fit(const struct opk_table *table, struct opk_ctx *ctx,
                     const struct opk_table_input *input)
{
	const struct opk_evaluation *first = table->inputs->evaluation;
	size_t count = opk_evaluation_column_count(first);
	bool same = opk_evaluation_column_count(input->evaluation) == count;

	for (size_t i = 0; same && i < count; i++)
		same = !strcmp(opk_evaluation_column(first, i),
		               opk_evaluation_column(input->evaluation, i));
	return same ? OPK_OK
	            : opk_fail(ctx, OPK_EUSAGE,
	                       "%s: its metrics differ from those of the file before: choose "
	                       "metrics or columns",
	                       input->path);
}

int opk_table_list_columns(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t most = OPK_FACT_COUNT + 1 + table->chosen.count
	              + opk_evaluation_column_count(table->inputs->evaluation);
	int code = OPK_OK;

	table->columns = opk_alloc_array(most, sizeof *table->columns);
	table->sources = opk_alloc_array(most, sizeof *table->sources);
	if (!table->columns || !table->sources)
		return opk_nomem(ctx, "a table");
	for (size_t i = 1; !code && i < table->input_count; i++)
		code = check_fit(table, ctx, &table->inputs[i]);
	if (code)
		return code;
	code = table->chosen.count ? add_chosen(table, ctx) : add_all(table, ctx);
	return code ? code : check_names(table, ctx);
}
