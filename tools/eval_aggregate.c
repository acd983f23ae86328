/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval_aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "common/image_args.h"
#include "range_facts.h"

static const struct opk_column values[] = {
	{ "metric", OPK_CELL_STRING }, { "unit", OPK_CELL_STRING }, { "count", OPK_CELL_UINT },
	{ "sum", OPK_CELL_DOUBLE },    { "mean", OPK_CELL_DOUBLE }, { "min", OPK_CELL_DOUBLE },
	{ "max", OPK_CELL_DOUBLE },    { "p50", OPK_CELL_DOUBLE },  { "p90", OPK_CELL_DOUBLE },
	{ "p99", OPK_CELL_DOUBLE },
};
enum { VALUES = sizeof values / sizeof *values, COLUMNS = 4 + OPK_FACT_COUNT + VALUES };

struct aggregates {
	struct app *app;
	const struct eval_input *inputs;
	struct opk_aggregate **items; /* one an input */
	size_t count;
	struct range_facts facts; /* of the groups */
	bool inflated; /* any column of any input is */
	struct opk_column columns[COLUMNS];
	union opk_cell cells[COLUMNS];
	uint64_t groups; /* printed so far */
};

static int compute(struct aggregates *a, size_t index, const struct opk_aggregate_options *options)
{
	const struct eval_input *input = &a->inputs[index];
	int code = opk_aggregate_new(&a->items[index], a->app->ctx, input->evaluation, input->file,
	                             options);

	if (code)
		return app_fail_while(a->app, code, "can't aggregate %s", input->path);
	if (opk_aggregate_left_out(a->items[index]))
		app_note("%s: %ju samples begin at an earlier event and are left out (--first-sample "
		         "keep)",
		         input->path, (uintmax_t)opk_aggregate_left_out(a->items[index]));
	for (size_t i = 0; i < opk_aggregate_count(a->items[index]); i++)
		range_facts_find(&a->facts, &opk_aggregate_get(a->items[index], i)->range);
	a->inflated |= input->inflated != NULL;
	return OPK_OK;
}

static int begin(struct aggregates *a)
{
	size_t count = 0;
	int code;

	a->columns[count++] = (struct opk_column){ "group", OPK_CELL_UINT };
	a->columns[count++] = (struct opk_column){ "name", OPK_CELL_STRING };
	if (a->count > 1)
		a->columns[count++] = (struct opk_column){ "file", OPK_CELL_STRING };
	/* Each metric has a count of its own. */
	a->facts.shape.facts[OPK_FACT_SUMMED] = false;
	count += range_facts_columns(&a->facts, a->columns + count);
	for (size_t i = 0; i < VALUES; i++)
		a->columns[count++] = values[i];
	if (a->inflated)
		a->columns[count++] = (struct opk_column){ "inflated", OPK_CELL_BOOL };
	code = app_begin_output(a->app, OPK_CSV);
	return code ? code : opk_out_table(a->app->out, "groups", a->columns, count);
}

static int print_column(struct aggregates *a, union opk_cell *cell, const struct eval_input *input,
                        const struct opk_statistics *statistics, size_t column)
{
	(cell++)->string = opk_evaluation_column(input->evaluation, column);
	(cell++)->string = opk_evaluation_column_unit(input->evaluation, column);
	(cell++)->uint = statistics->count;
	(cell++)->number = statistics->sum;
	(cell++)->number = statistics->mean;
	(cell++)->number = statistics->min;
	(cell++)->number = statistics->max;
	(cell++)->number = statistics->p50;
	(cell++)->number = statistics->p90;
	(cell++)->number = statistics->p99;
	if (a->inflated)
		cell->boolean = input->inflated && input->inflated[column];
	return opk_out_row(a->app->out, a->cells);
}

static int print_group(struct aggregates *a, const struct eval_input *input,
                       const struct opk_aggregated *group)
{
	size_t columns = opk_evaluation_column_count(input->evaluation);
	union opk_cell *cell = a->cells;
	int code = OPK_OK;

	(cell++)->uint = a->groups++;
	(cell++)->string = group->name;
	if (a->count > 1)
		(cell++)->string = input->path;
	cell = range_facts_fill(&a->facts, cell, &group->range, group->many_streams);
	for (size_t i = 0; !code && i < columns; i++)
		code = print_column(a, cell, input, &group->columns[i], i);
	return code;
}

static int print(struct aggregates *a)
{
	int code = begin(a);

	for (size_t i = 0; !code && i < a->count; i++)
		for (size_t j = 0; !code && j < opk_aggregate_count(a->items[i]); j++)
			code = print_group(a, &a->inputs[i], opk_aggregate_get(a->items[i], j));
	return app_end_output(a->app, code);
}

int eval_aggregate(struct app *app, const struct eval_input *inputs, size_t count, const char *key,
                   bool keep_first_sample, unsigned timeout_s)
{
	struct aggregates a = { .app = app, .inputs = inputs, .count = count };
	struct image_args image_args = { .timeout = timeout_s };
	struct opk_image_options image = image_options(&image_args, "summing range");
	struct opk_aggregate_options options = OPK_INIT(options);
	int code = OPK_OK;

	options.key = key;
	a.facts.shape.facts[OPK_FACT_DEVICE] = strstr(key, "device") != NULL;
	options.keep_first_sample = keep_first_sample;
	options.image = &image;
	a.items = calloc(count, sizeof *a.items);
	if (!a.items)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t i = 0; !code && i < count; i++)
		code = compute(&a, i, &options);
	app_progress_end();
	if (!code)
		code = print(&a);
	for (size_t i = 0; i < count; i++)
		opk_aggregate_free(a.items[i]);
	free(a.items);
	return code;
}
