/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a table, one after the other. */
#include <math.h>
#include <string.h>

#include "base/listing.h"
#include "table/table_inside.h"

/* ---- cells that all rows of a range, sample or key group share */

/* A NaN is unknown only if the metric was not collected. */
static void fill_number(struct opk_table *table, const struct opk_table_file *input, size_t at,
                        size_t value)
{
	double number = opk_table_compute(table)[value];

	table->cells[at].number = number;
	table->known[at] = !isnan(number) || opk_evaluation_counts(input->evaluation)[value] > 0;
}

static void fill_level(struct opk_table *table, union opk_cell *cell, enum opk_table_kind kind)
{
	opk_table_find_level(table);
	if (kind == OPK_TABLE_PARENT)
		cell->string = table->parent;
	else
		*cell = (union opk_cell){ .optional = { table->level, table->level > 0 } };
}

static void fill_cell(struct opk_table *table, const struct opk_table_file *input, size_t at)
{
	const struct opk_table_column *column = &table->columns[at];
	const struct opk_row *row = &table->source.row;
	union opk_cell *cell = &table->cells[at];

	if (column->kind == OPK_TABLE_VALUE) {
		fill_number(table, input, at, table->sources[at]);
		return;
	}
	if (column->kind == OPK_TABLE_FILE)
		cell->string = input->name;
	else if (column->kind == OPK_TABLE_GROUP)
		cell->uint = input->first_group + table->source.place.mark.number;
	else if (column->kind == OPK_TABLE_LEVEL || column->kind == OPK_TABLE_PARENT)
		fill_level(table, cell, column->kind);
	else if (column->kind != OPK_TABLE_FACT)
		return;
	else if ((column->fact == OPK_FACT_KERNEL && row->range)
	         || (column->fact == OPK_FACT_FUNCTION && row->code))
		cell->string = opk_kernel_names_get(table->names, row->range);
	else
		*cell = opk_fact_get(&table->texts[at], column->fact, row);
	table->known[at] = cell_is_known(column->header.type, cell);
}

static void fill(struct opk_table *table)
{
	const struct opk_table_file *input = &table->inputs[table->source.place.file];

	table->filled = true;
	opk_table_see(table);
	for (size_t at = 0; at < table->column_count; at++)
		fill_cell(table, input, at);
}

/* ---- cells of a row for one value */

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
	case OPK_TABLE_P99:
		return of->p99;
	case OPK_TABLE_STD:
		return of->std;
	case OPK_TABLE_MEAN_LOW:
		return of->mean_low;
	default:
		return of->mean_high;
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

static void fill_value_cell(struct opk_table *table, const struct opk_table_file *input, size_t at,
                            size_t value)
{
	enum opk_table_kind kind = table->columns[at].kind;
	union opk_cell *cell = &table->cells[at];

	if (kind >= OPK_TABLE_COUNT && kind <= OPK_TABLE_WEIGHTED) {
		fill_statistic(table, at, &table->source.group->columns[value]);
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
		fill_number(table, input, at, value);
		return;
	case OPK_TABLE_LAUNCHES:
		cell->uint = opk_evaluation_counts(input->evaluation)[value];
		break;
	case OPK_TABLE_INFLATED:
		cell->boolean = input->inflated && input->inflated[value];
		break;
	default:
		return;
	}
	table->known[at] = cell_is_known(table->columns[at].header.type, cell);
}

/* ---- rows */

/* False: all rows of the current source were read. */
static bool fill_next(struct opk_table *table)
{
	size_t file = table->source.place.file, count = 1;
	const size_t *values;

	if (table->layout != OPK_TABLE_WIDE)
		count = opk_table_get_values(&values, table, file);
	if (table->row_count == count)
		return false;
	if (!table->filled)
		fill(table);
	if (table->layout != OPK_TABLE_WIDE)
		for (size_t at = 0; at < table->column_count; at++)
			fill_value_cell(table, &table->inputs[file], at, values[table->row_count]);
	table->row_count++;
	return true;
}

int opk_table_next(const union opk_cell **cells, const bool **known, struct opk_table *table)
{
	const struct opk_table_source *source = NULL;

	while (!table->has_source || !fill_next(table)) {
		TRY(opk_table_next_source(&source, table));
		if (!source) {
			opk_table_note_rows(table);
			*cells = NULL;
			return OPK_OK;
		}
	}
	*cells = table->cells;
	*known = table->known;
	return OPK_OK;
}
