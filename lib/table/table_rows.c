/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a table, one after the other. */
#include <string.h>

#include "eval/eval.h"
#include "table/table_inside.h"

/* ---- what a range, sample or key group is in all its rows */

static bool is_known(const struct opk_column *header, const union opk_cell *cell)
{
	switch (header->type) {
	case OPK_CELL_STRING:
		return cell->string && *cell->string;
	case OPK_CELL_OPTIONAL:
	case OPK_CELL_OPTIONAL_BOOL:
		return cell->optional.known;
	default:
		return true;
	}
}

static void fill_cell(struct opk_table *table, const struct opk_table_input *input, size_t at,
                      const struct opk_row *row, const struct opk_joined_row *joined)
{
	const struct opk_table_column *column = &table->columns[at];
	union opk_cell *cell = &table->cells[at];

	if (column->kind == OPK_TABLE_VALUE) {
		cell->number = table->values[table->sources[at]];
		table->known[at] = table->counts[table->sources[at]] > 0;
		return;
	}
	if (column->kind == OPK_TABLE_FILE)
		cell->string = input->path;
	else if (column->kind == OPK_TABLE_GROUP)
		cell->uint = table->group_count - 1;
	else if (column->kind != OPK_TABLE_FACT)
		return;
	else if (column->fact == OPK_FACT_KERNEL && row->range)
		cell->string = opk_kernel_names_get(table->names, row->range);
	else
		*cell = opk_fact_get(&table->texts[at], column->fact, row, joined);
	table->known[at] = is_known(&column->header, cell);
}

/* Of how many ranges each value is; UINT64_MAX where it is computed of no metric. */
static void count_measured(struct opk_table *table, const struct opk_table_input *input,
                           const struct opk_row *row, const struct opk_joined_row *joined)
{
	size_t metrics = opk_evaluation_metric_count(input->evaluation);

	for (size_t i = 0; i < metrics; i++)
		table->measured[i] = joined     ? joined->counts[i]
		                     : row->ran ? row->ran->launches
		                                : row->measured[i];
	opk_evaluation_least(table->counts, input->evaluation, table->measured);
	table->ranges = joined ? joined->ranges : 1;
}

static void fill(struct opk_table *table, const struct opk_table_input *input,
                 const struct opk_row *row, const struct opk_joined_row *joined)
{
	if (table->layout != OPK_TABLE_GROUPS) {
		opk_evaluation_compute(table->values, input->evaluation, row->values);
		count_measured(table, input, row, joined);
	}
	for (size_t at = 0; at < table->column_count; at++)
		fill_cell(table, input, at, row, joined);
}

/* ---- what a row is of one value */

static double statistic(enum opk_table_kind kind, const struct opk_statistics *of)
{
	switch (kind) {
	case OPK_TABLE_SUM:
		return of->sum;
	case OPK_TABLE_MEAN:
		return of->mean;
	case OPK_TABLE_MIN:
		return of->min;
	case OPK_TABLE_MAX:
		return of->max;
	case OPK_TABLE_P50:
		return of->p50;
	case OPK_TABLE_P90:
		return of->p90;
	default:
		return of->p99;
	}
}

static void fill_statistic(struct opk_table *table, size_t at, const struct opk_statistics *of)
{
	enum opk_table_kind kind = table->columns[at].kind;
	union opk_cell *cell = &table->cells[at];

	table->known[at] = true;
	if (kind == OPK_TABLE_COUNT) {
		cell->uint = of->count;
	} else if (kind == OPK_TABLE_WEIGHTED) {
		cell->string = of->weighted_by;
		table->known[at] = of->weighted_by != NULL;
	} else {
		cell->number = statistic(kind, of);
		table->known[at] = of->count > 0;
	}
}

static void fill_value_cell(struct opk_table *table, const struct opk_table_input *input, size_t at,
                            size_t value)
{
	enum opk_table_kind kind = table->columns[at].kind;
	union opk_cell *cell = &table->cells[at];

	if (kind >= OPK_TABLE_COUNT && kind <= OPK_TABLE_WEIGHTED) {
		fill_statistic(table, at, &table->statistics[value]);
		return;
	}
	switch (kind) {
	case OPK_TABLE_METRIC:
		cell->string = opk_evaluation_column(input->evaluation, value);
		break;
	case OPK_TABLE_UNIT:
		cell->string = opk_evaluation_column_unit(input->evaluation, value);
		break;
	case OPK_TABLE_NUMBER:
		cell->number = table->values[value];
		table->known[at] = table->counts[value] > 0;
		return;
	case OPK_TABLE_LAUNCHES:
		cell->uint = table->counts[value] == UINT64_MAX ? table->ranges
		                                                : table->counts[value];
		break;
	case OPK_TABLE_INFLATED:
		cell->boolean = input->inflated && input->inflated[value];
		break;
	default:
		return;
	}
	table->known[at] = is_known(&table->columns[at].header, cell);
}

/* ---- the next range, sample or key group */

static bool next_joined(struct opk_table *table, const struct opk_table_input *input)
{
	const struct opk_joined_row *joined;
	struct opk_row row;

	if (table->number == opk_join_count(input->join))
		return false;
	joined = opk_join_get(input->join, table->number);
	row = (struct opk_row){ .index = table->number++,
		                .name = joined->name,
		                .values = joined->values,
		                .range = &joined->range };
	fill(table, input, &row, joined);
	return true;
}

static bool next_group(struct opk_table *table, const struct opk_table_input *input)
{
	const struct opk_aggregated *group;
	struct opk_joined_row joined;
	struct opk_row row;

	if (table->number == opk_aggregate_count(input->aggregate))
		return false;
	group = opk_aggregate_get(input->aggregate, table->number++);
	row = (struct opk_row){ .name = group->name, .range = &group->range };
	joined = (struct opk_joined_row){ .many_streams = group->many_streams };
	table->group_count++;
	table->statistics = group->columns;
	fill(table, input, &row, &joined);
	return true;
}

static int next_single(bool *found, struct opk_table *table, const struct opk_table_input *input)
{
	const struct opk_row *row;
	int code;

	do {
		code = opk_evaluation_next(&row, table->ctx, input->evaluation);
	} while (!code && row && row->spans_earlier && !table->options.keep_first_sample);
	*found = !code && row;
	if (*found)
		fill(table, input, row, NULL);
	return code ? opk_add(table->ctx, code, "can't read the rows of %s", input->path) : OPK_OK;
}

static int next_of(bool *found, struct opk_table *table, const struct opk_table_input *input)
{
	if (input->aggregate)
		*found = next_group(table, input);
	else if (input->join)
		*found = next_joined(table, input);
	else
		return next_single(found, table, input);
	return OPK_OK;
}

static int next(bool *found, struct opk_table *table)
{
	int code = OPK_OK;

	*found = false;
	while (!code && !*found && table->input < table->input_count) {
		code = next_of(found, table, &table->inputs[table->input]);
		if (!code && !*found) {
			table->input++;
			table->number = 0;
		}
	}
	return code;
}

/* ---- a row a value */

/* The chosen ones of the input's values in their order, or else all. */
static void pick(struct opk_table *table, const struct opk_table_input *input)
{
	size_t all = opk_evaluation_column_count(input->evaluation), count = 0;

	for (size_t i = 0; i < table->chosen.count; i++) {
		table->picked[count] = opk_table_find_value(input->evaluation,
		                                            table->chosen.items[i]);
		count += table->picked[count] != SIZE_MAX;
	}
	for (size_t i = 0; !count && i < all; i++)
		table->picked[i] = i;
	table->picked_count = count ? count : all;
	table->picked_for = input;
}

static int next_value(bool *found, struct opk_table *table)
{
	const struct opk_table_input *input;
	int code;

	*found = true;
	while (!table->picked_for || table->value == table->picked_count) {
		code = next(found, table);
		if (code || !*found)
			return code;
		if (table->picked_for != &table->inputs[table->input])
			pick(table, &table->inputs[table->input]);
		table->value = 0;
	}
	input = table->picked_for;
	for (size_t at = 0; at < table->column_count; at++)
		fill_value_cell(table, input, at, table->picked[table->value]);
	table->value++;
	return OPK_OK;
}

int opk_table_next(const struct opk_table_row **row, struct opk_table *table)
{
	bool found;
	int code = table->layout == OPK_TABLE_WIDE ? next(&found, table)
	                                           : next_value(&found, table);

	if (!code)
		*row = found ? &table->row : NULL;
	return code;
}

void opk_table_rewind(struct opk_table *table)
{
	for (size_t i = 0; i < table->input_count; i++)
		if (!table->inputs[i].join && !table->inputs[i].aggregate)
			opk_evaluation_rewind(table->inputs[i].evaluation);
	table->input = table->number = table->value = 0;
	table->group_count = 0;
	table->picked_for = NULL;
}
