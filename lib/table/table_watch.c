/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches for values of a table that are NaN in all rows. */
#include <math.h>

#include "base/extreme.h"
#include "eval/eval.h"
#include "images/door.h"
#include "table/table_inside.h"

struct opk_table_watched {
	const char *name;
	bool has_rows; /* some row that could have it was read */
	bool in_doubt; /* for some input no note has said why it is NaN */
	bool too_few;  /* some row can't have it: too little data in samples */
	bool computed; /* in some row it is not NaN */
	bool measured; /* some row has all that it is computed from */
	bool apart;    /* a group has all of it, and its counters can't be added up */
};

/* ---- values of several inputs are matched by name */

static bool add(struct opk_table_watch *watch, const char *name, size_t *number)
{
	size_t capacity = watch->capacity;

	if (!opk_grow(&watch->values, &capacity, watch->count, sizeof *watch->values))
		return false;
	watch->capacity = capacity;
	if (!opk_index_add(&watch->numbers, name, watch->count, number))
		return false;
	if (*number == watch->count)
		watch->values[watch->count++] = (struct opk_table_watched){ .name = name };
	return true;
}

static void see_groups(struct opk_table_watch *watch, const struct opk_table_file *input,
                       const size_t *columns, size_t count)
{
	bool of_rows = opk_aggregate_is_of_rows(input->aggregate);

	for (size_t i = 0; i < opk_aggregate_count(input->aggregate); i++) {
		const struct opk_statistics *of = opk_aggregate_get(input->aggregate, i)->columns;

		for (size_t j = 0; j < count; j++) {
			struct opk_table_watched *value = &watch->values[input->watched[j]];

			value->has_rows = true;
			value->computed |= !isnan(of[columns[j]].mean)
			                   || !isnan(of[columns[j]].min);
			value->apart |= of_rows && of[columns[j]].count;
		}
	}
}

static bool begin_input(struct opk_table *table, size_t file)
{
	struct opk_table_file *input = &table->inputs[file];
	const size_t *columns;
	size_t count = opk_table_get_values(&columns, table, file);

	input->watched = opk_alloc_array(count + 1, sizeof *input->watched);
	for (size_t i = 0; i < count; i++) {
		if (!input->watched
		    || !add(&table->watch, opk_evaluation_column(input->evaluation, columns[i]),
		            &input->watched[i]))
			return false;
		table->watch.values[input->watched[i]]
			.in_doubt |= !opk_evaluation_is_explained(input->evaluation, columns[i]);
	}
	if (input->watched && input->aggregate)
		see_groups(&table->watch, input, columns, count);
	return input->watched != NULL;
}

int opk_table_watch_begin(struct opk_table *table, struct opk_ctx *ctx)
{
	bool ok = true;

	for (size_t i = 0; ok && i < table->input_count; i++)
		ok = begin_input(table, i);
	return ok ? OPK_OK : opk_nomem(ctx, "a table");
}

void opk_table_watch_clear(struct opk_table *table)
{
	for (size_t i = 0; i < table->input_count; i++)
		free(table->inputs[i].watched);
	free(table->watch.values);
	opk_index_clear(&table->watch.numbers);
}

/* ---- rows */

/* Finds whether this row has all metrics that its NaN values are computed from. */
static void see_measured(struct opk_table *table, const struct opk_table_file *input,
                         const size_t *columns, size_t count)
{
	const double *metrics = table->source.row.values;

	for (size_t i = 0; i < opk_evaluation_metric_count(input->evaluation); i++)
		table->has_metrics[i] = !isnan(metrics[i]);
	opk_columns_least(table->has_values, opk_evaluation_columns(input->evaluation),
	                  table->has_metrics);
	for (size_t i = 0; i < count; i++)
		table->watch.values[input->watched[i]].measured |= table->has_values[columns[i]]
		                                                   > 0;
}

void opk_table_watch_row(struct opk_table *table, const double *values)
{
	bool too_few = table->source.row.ran && table->source.row.ran->few;
	size_t file = table->source.place.file, count;
	const struct opk_table_file *input = &table->inputs[file];
	bool in_doubt = false;
	const size_t *columns;

	if (table->watch.computed == table->watch.count)
		return;
	count = opk_table_get_values(&columns, table, file);
	for (size_t i = 0; i < count; i++) {
		struct opk_table_watched *value = &table->watch.values[input->watched[i]];
		bool computed = !isnan(values[columns[i]]);

		table->watch.computed += computed && !value->computed;
		value->computed |= computed;
		value->has_rows |= !too_few;
		value->too_few |= too_few;
		in_doubt |= !value->computed && !value->measured;
	}
	/* Only notes need this distinction. */
	if (in_doubt && table->ctx->log)
		see_measured(table, input, columns, count);
}

/* ---- notes */

enum cause { NOT_COLLECTED, NO_VALUE, APART, TOO_FEW, NO_ROWS, EXPLAINED };

static enum cause find_cause(const struct opk_table_watched *value)
{
	if (!value->in_doubt)
		return EXPLAINED;
	if (value->has_rows)
		return value->measured ? NO_VALUE : value->apart ? APART : NOT_COLLECTED;
	return value->too_few ? TOO_FEW : NO_ROWS;
}

/* *extremes: some are minima or maxima, which need data of each instance. */
static size_t count_nan(const struct opk_table_watch *watch, enum cause cause, const char **first,
                        bool *extremes)
{
	size_t count = 0;

	for (size_t i = 0; i < watch->count; i++) {
		const struct opk_table_watched *value = &watch->values[i];

		if (value->computed || find_cause(value) != cause)
			continue;
		*first = count++ ? *first : value->name;
		*extremes |= opk_metric_is_extreme(value->name);
	}
	return count;
}

static void note(const struct opk_table *table, enum cause cause, const char *why)
{
	const char *first = NULL;
	bool extremes = false;
	size_t count = count_nan(&table->watch, cause, &first, &extremes);

	if (count)
		opk_log(table->ctx, "%zu of %zu metrics, %s%s, %s nan in every %s: %s%s", count,
		        table->watch.count, count > 1 ? "such as " : "", first,
		        count > 1 ? "are" : "is",
		        table->layout == OPK_TABLE_GROUPS ? "group" : "row", why,
		        cause == NOT_COLLECTED && extremes
		                ? "; minima and maxima need a set that names them, or one that was "
		                  "built with instances"
		                : "");
}

/* Whether ranges of one pass each have rows of their own. */
static bool has_passes_apart(const struct opk_table *table)
{
	for (size_t i = 0; i < table->input_count; i++)
		if (table->inputs[i].meta && *table->inputs[i].meta->join)
			return table->options.rows == OPK_ROWS_SINGLE;
	return false;
}

void opk_table_note_nan(const struct opk_table *table)
{
	const char *why = "what is needed was not collected";

	if (table->layout == OPK_TABLE_GROUPS)
		why = "what is needed was not collected, or is nan in a row";
	if (has_passes_apart(table))
		why = "no range has all passes that are needed, but the rows of joined ranges may";
	note(table, NOT_COLLECTED, why);
	note(table, NO_VALUE,
	     "all that is needed is there, and the formula has no value, as 0 / 0 has none");
	note(table, APART,
	     "not all ranges have a value of their own, and their counters can't be added up");
	/* note_unknown() already noted this for kernels. */
	if (!table->unknown_count)
		note(table, TOO_FEW,
		     "it ran for less than a sample, or too few samples tell it apart");
}

const char *opk_table_missing(const struct opk_table *table, size_t i)
{
	for (size_t at = 0; at < table->watch.count; at++)
		if (!table->watch.values[at].computed && !i--)
			return table->watch.values[at].name;
	return NULL;
}
