/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a table, by default or as chosen with --columns. */
#include <string.h>

#include "base/nearest.h"
#include "eval/eval_table.h"

/* Columns that are no facts, and the layouts that have them. */
enum { WIDE = 1 << EVAL_WIDE, LONG = 1 << EVAL_LONG, GROUPS = 1 << EVAL_GROUPS };
static const struct {
	struct opk_column header;
	unsigned layouts;
} kinds[COLUMN_KINDS] = {
	[COLUMN_GROUP] = { { "group", OPK_CELL_UINT }, GROUPS },
	[COLUMN_NAME] = { { "name", OPK_CELL_STRING }, GROUPS },
	[COLUMN_FILE] = { { "file", OPK_CELL_STRING }, WIDE | LONG | GROUPS },
	[COLUMN_METRIC] = { { "metric", OPK_CELL_STRING }, LONG | GROUPS },
	[COLUMN_UNIT] = { { "unit", OPK_CELL_STRING }, LONG | GROUPS },
	[COLUMN_NUMBER] = { { "value", OPK_CELL_DOUBLE }, LONG },
	[COLUMN_LAUNCHES] = { { "launches", OPK_CELL_UINT }, LONG },
	[COLUMN_COUNT] = { { "count", OPK_CELL_UINT }, GROUPS },
	[COLUMN_SUM] = { { "sum", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_MEAN] = { { "mean", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_MIN] = { { "min", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_MAX] = { { "max", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_P50] = { { "p50", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_P90] = { { "p90", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_P99] = { { "p99", OPK_CELL_DOUBLE }, GROUPS },
	[COLUMN_WEIGHTED] = { { "weighted_by", OPK_CELL_STRING }, GROUPS },
	[COLUMN_INFLATED] = { { "inflated", OPK_CELL_BOOL }, LONG | GROUPS },
};

static bool has_kind(const struct eval *eval, enum eval_column_kind kind)
{
	return kinds[kind].layouts & 1u << eval->layout;
}

/* The header of a fact; NULL where this layout has no such column. */
static const struct opk_column *fact_header(const struct eval *eval, enum opk_fact fact,
                                            enum opk_profiler profiler)
{
	if (eval->layout != EVAL_GROUPS)
		return opk_fact_column(fact, profiler);
	/* What ranges have in common; each metric has a count of its own. */
	if (fact < OPK_FACT_KERNEL || fact > OPK_FACT_DURATION || fact == OPK_FACT_SUMMED)
		return NULL;
	return opk_fact_column(fact, OPK_PROFILER_RANGE);
}

/* A column that the layout may have whatever is evaluated, by name. */
static bool find(struct eval_column *out, struct opk_column *header, const struct eval *eval,
                 enum opk_profiler profiler, const char *name)
{
	enum opk_fact fact;

	/* In a long table launches are those of a value. */
	for (enum eval_column_kind kind = 0; kind < COLUMN_KINDS; kind++)
		if (has_kind(eval, kind) && !strcmp(name, kinds[kind].header.name)) {
			*out = (struct eval_column){ kind, 0 };
			*header = kinds[kind].header;
			return true;
		}
	if (!opk_fact_find(&fact, name, eval->layout == EVAL_GROUPS ? OPK_PROFILER_RANGE : profiler)
	    || !fact_header(eval, fact, profiler))
		return false;
	*out = (struct eval_column){ COLUMN_FACT, fact };
	*header = *fact_header(eval, fact, profiler);
	if (!strcmp(name, "index"))
		header->name = "index";
	return true;
}

/* ---- the choice */

int eval_columns_parse(struct eval *eval, const char *list)
{
	const char *rest = list;

	while (rest) {
		size_t length = strcspn(rest, ",");
		opk_autofree char *name = opk_strndup(rest, length);

		rest = rest[length] ? rest + length + 1 : NULL;
		if (!length)
			return app_error(eval->app, OPK_EUSAGE, "--columns '%s': a name is missing",
			                 list);
		if (name && opk_strlist_contains(&eval->chosen, name))
			return app_error(eval->app, OPK_EUSAGE, "--columns: %s is there twice",
			                 name);
		if (!opk_strlist_take(&eval->chosen, opk_take(name)))
			return app_nomem(eval->app);
	}
	eval->chosen_values = opk_alloc_array(eval->chosen.count, sizeof *eval->chosen_values);
	return eval->chosen_values ? OPK_OK : app_nomem(eval->app);
}

/* Whether the recording has it, be it shown or not. */
static bool is_recorded(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; meta && i < meta->metric_count; i++)
		if (!strcmp(meta->metrics[i], name))
			return true;
	for (size_t i = 0; meta && i < meta->label_count; i++)
		if (!strcmp(meta->labels[i].name, name))
			return true;
	for (size_t i = 0; meta && i < meta->derived_count; i++)
		if (!strcmp(meta->derived[i].name, name))
			return true;
	return false;
}

/* With all that could have been meant. */
static int fail_unknown(struct eval *eval, const struct opk_meta *meta, enum opk_profiler profiler,
                        const struct opk_strlist *values, const char *name, const char *path)
{
	struct opk_nearest nearest = { .name = name };

	if (is_recorded(meta, name))
		return app_error(eval->app, OPK_EUSAGE,
		                 "--columns: %s has '%s', but it is not among --metrics", path,
		                 name);
	for (enum eval_column_kind kind = 0; kind < COLUMN_KINDS; kind++)
		if (has_kind(eval, kind))
			opk_nearest_try(&nearest, kinds[kind].header.name);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		if (fact_header(eval, fact, profiler))
			opk_nearest_try(&nearest, fact_header(eval, fact, profiler)->name);
	for (size_t i = 0; i < values->count; i++)
		opk_nearest_try(&nearest, values->items[i]);
	return app_error(eval->app, OPK_EUSAGE, "--columns: %s has no column '%s'%s%s%s", path,
	                 name, nearest.best ? ", did you mean " : "",
	                 nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

int eval_columns_check(struct eval *eval, const struct opk_meta *meta, enum opk_profiler profiler,
                       const struct opk_strlist *values, bool any_metric, const char *path)
{
	for (size_t i = 0; i < eval->chosen.count; i++) {
		const char *name = eval->chosen.items[i];
		struct eval_column column;
		struct opk_column header;
		bool fixed = find(&column, &header, eval, profiler, name);
		bool value = opk_strlist_contains(values, name);

		if (fixed && value)
			return app_error(
				eval->app, OPK_EUSAGE,
				"--columns: in %s %s is a value and a column of every table: "
				"without --columns both can be had%s",
				path, name,
				eval->layout == EVAL_GROUPS ? "" : " with --layout long");
		if (!fixed && !value && !(any_metric && strstr(name, "__")))
			return fail_unknown(eval, meta, profiler, values, name, path);
	}
	return OPK_OK;
}

int eval_columns_check_input(struct eval *eval, const struct eval_input *input)
{
	const struct opk_evaluation *evaluation = input->evaluation;
	opk_autostrlist struct opk_strlist values = { 0 };

	for (size_t i = 0; i < opk_evaluation_column_count(evaluation); i++)
		if (!opk_strlist_add(&values, opk_evaluation_column(evaluation, i)))
			return app_nomem(eval->app);
	return eval_columns_check(eval, input->meta, opk_evaluation_profiler(evaluation), &values,
	                          false, input->path);
}

size_t eval_columns_values(struct eval *eval, enum opk_profiler profiler)
{
	struct eval_column column;
	struct opk_column header;
	size_t count = 0;

	for (size_t i = 0; i < eval->chosen.count; i++)
		if (!find(&column, &header, eval, profiler, eval->chosen.items[i]))
			eval->chosen_values[count++] = eval->chosen.items[i];
	return count;
}

int eval_columns_pick(struct eval *eval, const struct opk_evaluation *evaluation)
{
	size_t all = opk_evaluation_column_count(evaluation), count = 0;

	free(eval->picked);
	eval->picked = opk_alloc_array(all + eval->chosen.count + 1, sizeof *eval->picked);
	if (!eval->picked)
		return app_nomem(eval->app);
	for (size_t i = 0; i < eval->chosen.count; i++)
		for (size_t j = 0; j < all; j++)
			if (!strcmp(opk_evaluation_column(evaluation, j), eval->chosen.items[i])) {
				eval->picked[count++] = j;
				break;
			}
	for (size_t i = 0; !count && i < all; i++)
		eval->picked[i] = i;
	eval->picked_count = count ? count : all;
	return OPK_OK;
}

/* ---- the table's */

static void add(struct eval *eval, enum eval_column_kind kind, size_t index,
                struct opk_column header)
{
	eval->columns[eval->column_count] = (struct eval_column){ kind, index };
	eval->headers[eval->column_count++] = header;
}

static void add_kinds(struct eval *eval, enum eval_column_kind first, enum eval_column_kind last)
{
	for (enum eval_column_kind kind = first; kind <= last; kind++)
		if (has_kind(eval, kind))
			add(eval, kind, 0, kinds[kind].header);
}

static bool is_listed(const struct eval *eval, enum eval_column_kind first,
                      enum eval_column_kind last)
{
	for (size_t i = 0; i < eval->column_count; i++)
		if (eval->columns[i].kind >= first && eval->columns[i].kind <= last)
			return true;
	return false;
}

static void add_value(struct eval *eval, size_t i)
{
	add(eval, COLUMN_VALUE, i, (struct opk_column){ eval->names.items[i], OPK_CELL_DOUBLE });
}

static void add_value_named(struct eval *eval, const char *name)
{
	for (size_t i = 0; i < eval->names.count; i++)
		if (!strcmp(eval->names.items[i], name)) {
			add_value(eval, i);
			return;
		}
}

/*
 * Except in a wide table, names of values are rows, and what makes a row of them follows where it
 * is not named: of key groups all statistics, unless some are.
 */
static void add_chosen(struct eval *eval)
{
	for (size_t i = 0; i < eval->chosen.count; i++) {
		struct eval_column column;
		struct opk_column header;

		if (find(&column, &header, eval, eval->profiler, eval->chosen.items[i]))
			add(eval, column.kind, column.index, header);
		else if (eval->layout == EVAL_WIDE)
			add_value_named(eval, eval->chosen.items[i]);
	}
	for (enum eval_column_kind kind = COLUMN_METRIC; kind <= COLUMN_NUMBER; kind++)
		if (!is_listed(eval, kind, kind))
			add_kinds(eval, kind, kind);
	if (!is_listed(eval, COLUMN_COUNT, COLUMN_P99))
		add_kinds(eval, COLUMN_COUNT, COLUMN_P99);
}

static bool has_samples(const struct eval *eval)
{
	for (size_t i = 0; i < eval->input_count; i++)
		if (opk_evaluation_metric_count(eval->inputs[i].evaluation))
			return true;
	return false;
}

/* Facts, and the file after what identifies a row in it. */
static void add_facts(struct eval *eval)
{
	struct opk_facts_options options = OPK_INIT(options);
	enum opk_fact facts[OPK_FACT_COUNT];
	size_t count;

	options.found = eval->facts;
	options.profiler = eval->layout == EVAL_GROUPS ? OPK_PROFILER_RANGE : eval->profiler;
	if (eval->of_kernels)
		options.rows = eval->per == PER_KERNEL ? OPK_ROWS_KERNELS : OPK_ROWS_LAUNCHES;
	options.sampled = has_samples(eval);
	options.joined = eval->joined && eval->layout == EVAL_WIDE;
	options.spans_earlier = eval->first_sample == FIRST_MARK;
	count = opk_facts_list(facts, &options);
	for (size_t i = 0; i < count; i++) {
		const struct opk_column *column = fact_header(eval, facts[i], options.profiler);

		if (!column)
			continue;
		add(eval, COLUMN_FACT, facts[i], *column);
		if (eval->input_count > 1 && opk_fact_precedes_file(facts[i]))
			add_kinds(eval, COLUMN_FILE, COLUMN_FILE);
	}
}

static void add_all(struct eval *eval)
{
	add_kinds(eval, COLUMN_GROUP, COLUMN_NAME);
	if (eval->layout == EVAL_GROUPS && eval->input_count > 1)
		add_kinds(eval, COLUMN_FILE, COLUMN_FILE);
	add_facts(eval);
	for (size_t i = 0; eval->layout == EVAL_WIDE && i < eval->names.count; i++)
		add_value(eval, i);
	add_kinds(eval, COLUMN_METRIC, COLUMN_NUMBER);
	if (eval->joined)
		add_kinds(eval, COLUMN_LAUNCHES, COLUMN_LAUNCHES);
	add_kinds(eval, COLUMN_COUNT, COLUMN_P99);
	if (eval->weighted)
		add_kinds(eval, COLUMN_WEIGHTED, COLUMN_WEIGHTED);
	if (eval->inflated)
		add_kinds(eval, COLUMN_INFLATED, COLUMN_INFLATED);
}

/* A tree begins with the name of each row, asked for or not. */
static void put_name_first(struct eval *eval)
{
	const struct eval_column name = { COLUMN_FACT, OPK_FACT_NAME };
	const struct opk_column header = *opk_fact_column(OPK_FACT_NAME, OPK_PROFILER_RANGE);
	size_t at = 0;

	while (at < eval->column_count
	       && (eval->columns[at].kind != name.kind || eval->columns[at].index != name.index))
		at++;
	memmove(eval->columns + 1, eval->columns, at * sizeof *eval->columns);
	memmove(eval->headers + 1, eval->headers, at * sizeof *eval->headers);
	eval->column_count += at == eval->column_count;
	eval->columns[0] = name;
	eval->headers[0] = header;
}

int eval_columns_list(struct eval *eval)
{
	size_t most = COLUMN_KINDS + OPK_FACT_COUNT + eval->names.count + eval->chosen.count + 1;

	eval->columns = opk_alloc_array(most, sizeof *eval->columns);
	eval->headers = opk_alloc_array(most, sizeof *eval->headers);
	eval->cells = opk_alloc_array(most, sizeof *eval->cells);
	eval->texts = opk_alloc_array(most, sizeof *eval->texts);
	if (!eval->columns || !eval->headers || !eval->cells || !eval->texts)
		return app_nomem(eval->app);
	if (eval->chosen.count)
		add_chosen(eval);
	else
		add_all(eval);
	if (eval->is_tree)
		put_name_first(eval);
	return OPK_OK;
}
