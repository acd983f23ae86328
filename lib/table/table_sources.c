/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of a table's rows: ranges, samples and key groups. */
#include "eval/eval.h"
#include "images/door.h"
#include "table/table_inside.h"

/* ---- the current source */

const double *opk_table_compute(struct opk_table *table)
{
	const double *values = opk_evaluation_values(
		table->inputs[table->source.place.file].evaluation);

	if (table->computed)
		return values;
	opk_table_see(table);
	table->computed = true;
	opk_table_watch_row(table, values);
	return values;
}

void opk_table_see(struct opk_table *table)
{
	const struct opk_ran *ran = table->source.row.ran;

	if (table->seen)
		return;
	table->seen = true;
	if (!ran || strcmp(ran->kind, "kernel") != 0)
		return;
	table->seen_count++;
	table->unknown_count += ran->unknown;
	table->fitted_count += ran->fitted;
	table->divided_count += ran->divided;
	table->called_count += ran->called > 0;
}

static void take(struct opk_table *table, const struct opk_table_place *place,
                 const struct opk_row *row)
{
	table->source = (struct opk_table_source){ .place = *place, .row = *row };
	table->computed = table->filled = table->seen = table->placed = false;
	table->row_count = 0;
	table->has_source = true;
}

static void take_group(struct opk_table *table, const struct opk_table_place *place)
{
	const struct opk_aggregated *group = opk_aggregate_get(table->inputs[place->file].aggregate,
	                                                       place->mark.number);

	table->of_group = (struct opk_joined){ .many_streams = group->many_streams };
	take(table, place,
	     &(struct opk_row){
		     .name = group->name, .range = &group->range, .joined = &table->of_group });
	table->source.group = group;
}

static int fail(struct opk_table *table, int code, const struct opk_table_file *input)
{
	return opk_add(table->ctx, code, "can't read the rows of %s", input->path);
}

static int take_next_single(struct opk_table *table, struct opk_table_file *input)
{
	bool drops = !table->options.keep_first_sample && !table->inside.mark_first_sample;
	const struct opk_row *row;
	int code;

	do {
		code = opk_evaluation_next(&row, table->ctx, input->evaluation);
		if (code)
			return fail(table, code, input);
		table->inputs[table->input].spans_earlier += row && row->spans_earlier;
	} while (row && row->spans_earlier && drops);
	if (row)
		take(table,
		     &(struct opk_table_place){ table->input,
		                                opk_evaluation_mark(input->evaluation) },
		     row);
	return OPK_OK;
}

static int take_next(struct opk_table *table)
{
	struct opk_table_file *input = &table->inputs[table->input];
	struct opk_table_place place = { .file = table->input, .mark.number = table->number };

	if (!input->aggregate)
		return take_next_single(table, input);
	if (table->number < opk_aggregate_count(input->aggregate)) {
		table->number++;
		take_group(table, &place);
	}
	return OPK_OK;
}

int opk_table_next_source(const struct opk_table_source **source, struct opk_table *table)
{
	int code = OPK_OK;

	table->has_source = false;
	while (!code && table->input < table->input_count) {
		code = take_next(table);
		if (table->has_source)
			break;
		table->input++;
		table->number = 0;
	}
	if (code)
		return code;
	if (table->has_source)
		table->inputs[table->source.place.file].has_rows = table->found = true;
	*source = table->has_source ? &table->source : NULL;
	return OPK_OK;
}

int opk_table_go_to(const struct opk_table_source **source, struct opk_table *table,
                    const struct opk_table_place *place)
{
	struct opk_table_file *input = &table->inputs[place->file];
	const struct opk_row *row;
	int code;

	if (input->aggregate) {
		take_group(table, place);
	} else {
		code = opk_evaluation_reread(&row, table->ctx, input->evaluation, &place->mark);
		if (code)
			return fail(table, code, input);
		take(table, place, row);
	}
	*source = &table->source;
	return OPK_OK;
}

void opk_table_rewind(struct opk_table *table)
{
	for (size_t i = 0; i < table->input_count; i++) {
		table->inputs[i].spans_earlier = 0;
		if (!table->inputs[i].aggregate)
			opk_evaluation_rewind(table->inputs[i].evaluation);
	}
	table->input = table->number = 0;
	table->seen_count = table->unknown_count = 0;
	table->fitted_count = table->divided_count = table->called_count = 0;
	table->has_source = false;
}
