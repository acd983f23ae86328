/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/aggregate_columns.h"
#include "common/image_args.h"

struct aggregates {
	struct app *app;
	const struct eval_input *inputs;
	struct opk_aggregate **items; /* one an input */
	size_t count;
	struct eval_shape shape; /* its choice is borrowed */
	struct aggregate_column columns[AGGREGATE_COLUMNS];
	struct opk_column headers[AGGREGATE_COLUMNS];
	union opk_cell cells[AGGREGATE_COLUMNS];
	struct opk_fact_text texts[AGGREGATE_COLUMNS]; /* what cells point to */
	size_t column_count;
	uint64_t groups; /* printed so far */
};

/* `earlier`: samples that begin before sampling did. */
static void note_left_out(const struct eval_input *input, uint64_t earlier)
{
	uint64_t incomplete = opk_evaluation_incomplete_samples(input->evaluation);

	if (incomplete)
		app_note("%s: %ju sample%s begun but not completed; left out", input->path,
		         (uintmax_t)incomplete, incomplete == 1 ? " was" : "s were");
	if (earlier)
		app_note("%s: %ju sample%s at an earlier event; left out (--first-sample keep)",
		         input->path, (uintmax_t)earlier, earlier == 1 ? " begins" : "s begin");
}

/* One group of everything is not what was asked for. */
static void note_undivided(const struct eval_input *input, const struct opk_aggregate *groups,
                           const char *key)
{
	const struct opk_range *range = &opk_aggregate_get(groups, 0)->range;

	if (opk_aggregate_count(groups) != 1)
		return;
	if ((!strcmp(key, "nvtx") && !*range->nvtx) || (!strcmp(key, "rank") && range->rank < 0)
	    || (!strcmp(key, "kernel") && !*range->kernel))
		app_note("%s: no %s is recorded of its ranges: they are one group", input->path,
		         key);
}

static void note_nan(const struct eval_input *input, const struct opk_aggregate *groups)
{
	size_t columns = opk_evaluation_column_count(input->evaluation), count = 0, first = 0;

	for (size_t i = columns; i-- > 0;) {
		bool any = false;

		for (size_t j = 0; j < opk_aggregate_count(groups); j++)
			any = any || !isnan(opk_aggregate_get(groups, j)->columns[i].mean)
			      || !isnan(opk_aggregate_get(groups, j)->columns[i].min);
		count += !any;
		first = any ? first : i;
	}
	if (count && opk_aggregate_count(groups))
		app_note("%s: %zu of %zu metrics are nan in every group, such as %s", input->path,
		         count, columns, opk_evaluation_column(input->evaluation, first));
}

static int compute(struct aggregates *a, size_t index, const struct opk_aggregate_options *options)
{
	const struct eval_input *input = &a->inputs[index];
	int code = eval_choice_check_all(a->app, &a->shape, input->evaluation, input->path);

	if (code)
		return code;
	code = opk_aggregate_new(&a->items[index], a->app->ctx, input->evaluation, input->file,
	                         options);
	if (code)
		return app_fail_while(a->app, code, "can't aggregate %s", input->path);
	note_left_out(input, opk_aggregate_left_out(a->items[index]));
	if (opk_aggregate_count(a->items[index]))
		note_undivided(input, a->items[index], options->key);
	note_nan(input, a->items[index]);
	for (size_t i = 0; i < opk_aggregate_count(a->items[index]); i++)
		eval_shape_find(&a->shape, &opk_aggregate_get(a->items[index], i)->range, 1);
	a->shape.inflated |= input->inflated != NULL;
	return OPK_OK;
}

static int begin(struct aggregates *a)
{
	int code;

	a->column_count = aggregate_columns_list(a->columns, a->headers, &a->shape);
	code = app_begin_output(a->app, OPK_CSV);
	return code ? code : opk_out_table(a->app->out, "groups", a->headers, a->column_count);
}

static union opk_cell cell_of_fact(struct opk_fact_text *text, enum opk_fact fact,
                                   const struct opk_aggregated *group)
{
	const struct opk_row row = { .name = "", .range = &group->range };
	const struct opk_joined_row joined = { .many_streams = group->many_streams };

	return opk_fact_get(text, fact, &row, &joined);
}

/* Of one metric. */
static union opk_cell cell_of_value(enum aggregate_kind kind, const struct eval_input *input,
                                    size_t column, const struct opk_statistics *statistics)
{
	const double numbers[GROUP_KINDS] = {
		[GROUP_SUM] = statistics->sum, [GROUP_MEAN] = statistics->mean,
		[GROUP_MIN] = statistics->min, [GROUP_MAX] = statistics->max,
		[GROUP_P50] = statistics->p50, [GROUP_P90] = statistics->p90,
		[GROUP_P99] = statistics->p99,
	};

	switch (kind) {
	case GROUP_METRIC:
		return (union opk_cell){ .string = opk_evaluation_column(input->evaluation,
			                                                 column) };
	case GROUP_UNIT:
		return (union opk_cell){ .string = opk_evaluation_column_unit(input->evaluation,
			                                                      column) };
	case GROUP_COUNT:
		return (union opk_cell){ .uint = statistics->count };
	case GROUP_INFLATED:
		return (union opk_cell){ .boolean = input->inflated && input->inflated[column] };
	default:
		return (union opk_cell){ .number = numbers[kind] };
	}
}

static void fill(struct aggregates *a, const struct eval_input *input,
                 const struct opk_aggregated *group, size_t column)
{
	for (size_t i = 0; i < a->column_count; i++) {
		const struct aggregate_column *of = &a->columns[i];
		union opk_cell *cell = &a->cells[i];

		if (of->kind == GROUP_NUMBER)
			cell->uint = a->groups;
		else if (of->kind == GROUP_NAME)
			cell->string = group->name;
		else if (of->kind == GROUP_FILE)
			cell->string = input->path;
		else if (of->kind == GROUP_FACT)
			*cell = cell_of_fact(&a->texts[i], of->fact, group);
		else
			*cell = cell_of_value(of->kind, input, column, &group->columns[column]);
	}
}

static int print_input(struct aggregates *a, size_t index)
{
	const struct eval_input *input = &a->inputs[index];
	size_t room = opk_evaluation_column_count(input->evaluation) + a->shape.choice.count + 1;
	size_t *picked = calloc(room, sizeof *picked), count;
	int code = picked ? OPK_OK : app_error(a->app, OPK_EFAILED, "out of memory");

	if (code)
		return code;
	count = eval_choice_pick(picked, &a->shape, input->evaluation);
	for (size_t i = 0; !code && i < opk_aggregate_count(a->items[index]); i++, a->groups++)
		for (size_t j = 0; !code && j < count; j++) {
			fill(a, input, opk_aggregate_get(a->items[index], i), picked[j]);
			code = opk_out_row(a->app->out, a->cells);
		}
	free(picked);
	return code;
}

static int print(struct aggregates *a)
{
	int code = begin(a);

	for (size_t i = 0; !code && i < a->count; i++)
		code = print_input(a, i);
	return app_end_output(a->app, code);
}

int eval_aggregate(struct app *app, const struct eval_input *inputs, size_t count,
                   const struct eval_rows *rows, const char *key, bool keep_first_sample,
                   unsigned timeout_s)
{
	struct aggregates a = { .app = app,
		                .inputs = inputs,
		                .count = count,
		                .shape = { .aggregated = true,
		                           .choice = rows->shape.choice,
		                           .all_facts = rows->shape.all_facts,
		                           .file_count = count } };
	struct image_args image_args = { .timeout = timeout_s };
	struct opk_image_options image = image_options(&image_args, "summing range");
	struct opk_aggregate_options options = OPK_INIT(options);
	int code = OPK_OK;

	options.key = key;
	a.shape.facts[OPK_FACT_DEVICE] = strstr(key, "device") != NULL;
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
	if (!code && !a.groups)
		app_note(rows->filtered ? "no row meets --where: there are no groups"
		                        : "there are no groups");
	for (size_t i = 0; i < count; i++)
		opk_aggregate_free(a.items[i]);
	free(a.items);
	return code;
}
