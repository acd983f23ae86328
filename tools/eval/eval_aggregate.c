/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --aggregate: statistics of ranges that share a key, a row a key group and metric. */
#include <math.h>
#include <string.h>

#include "common/args.h"
#include "eval/eval_table.h"

/* One group of everything is not what was asked for. */
static void note_undivided(const struct eval_input *input, const char *key)
{
	const struct opk_range *range;

	if (opk_aggregate_count(input->aggregate) != 1)
		return;
	range = &opk_aggregate_get(input->aggregate, 0)->range;
	if ((!strcmp(key, "nvtx") && !*range->nvtx) || (!strcmp(key, "rank") && range->rank < 0)
	    || (!strcmp(key, "kernel") && !*range->kernel)
	    || (!strcmp(key, "device") && range->device < 0 && !(range->gpu && *range->gpu)))
		app_note("%s: no %s is recorded of its %s: they are one group", input->path, key,
		         input->meta->profiler == OPK_PROFILER_PM ? "samples" : "ranges");
}

/* Of a sum, only the total and the mean are those of its ranges. */
static void note_summed(const struct eval_input *input)
{
	size_t groups = opk_aggregate_count(input->aggregate), count = 0;

	for (size_t i = 0; i < groups; i++)
		count += opk_aggregate_get(input->aggregate, i)->summed;
	if (count)
		app_note("%s: %zu of %zu key groups have rows that are sums of ranges: min, max "
		         "and percentiles, which are over single ranges, are nan",
		         input->path, count, groups);
}

/* Where launches of different kernels have one pass each, each pass has its own mix of them. */
static void note_mixed(const struct eval_input *input)
{
	size_t groups = opk_aggregate_count(input->aggregate), count = 0;

	if (strcmp(input->meta->join, "kernel") != 0)
		return;
	for (size_t i = 0; i < groups; i++) {
		const struct opk_range *range = &opk_aggregate_get(input->aggregate, i)->range;

		count += !*range->kernel || !range->grid[0];
	}
	if (count)
		app_note(
			"%s: %zu of %zu key groups have launches of different kernels or shapes, "
			"each of one pass: ratios of counters of different passes are of different "
			"launches; --aggregate kernel,shape keeps them apart",
			input->path, count, groups);
}

/* Several GPUs in one group, and which means of theirs are not exact. */
static void note_gpus(struct eval *eval, const struct eval_input *input)
{
	size_t columns = opk_evaluation_column_count(input->evaluation), most = 0, weighted = 0;
	size_t groups = opk_aggregate_count(input->aggregate), first = 0, group = 0;

	for (size_t i = groups; i-- > 0;)
		if (opk_aggregate_get(input->aggregate, i)->gpus > most)
			most = opk_aggregate_get(input->aggregate, group = i)->gpus;
	for (size_t i = columns; most > 1 && i-- > 0;) {
		bool any = false;

		for (size_t j = 0; j < groups; j++)
			if (opk_aggregate_get(input->aggregate, j)->columns[i].weighted_by) {
				any = true;
				group = j;
				first = i;
			}
		weighted += any;
	}
	if (most > 1)
		app_note("%s: key groups have ranges of up to %zu GPUs, or of images that can't be "
		         "summed, and their values are put together; --by device keeps GPUs apart",
		         input->path, most);
	if (weighted)
		app_note("%s: %zu of %zu metrics, such as %s, can't be computed of several GPUs: "
		         "their means are weighted by %s, as the column weighted_by says",
		         input->path, weighted, columns,
		         opk_evaluation_column(input->evaluation, first),
		         opk_aggregate_get(input->aggregate, group)->columns[first].weighted_by);
	eval->weighted |= weighted > 0;
}

/* Samples are of no kernel, but there is a way to divide them among those that ran. */
static int check_key(const struct eval *eval, const struct eval_input *input)
{
	const struct opk_activity *activities;
	size_t count;
	int code = opk_file_activities(&activities, &count, eval->app->ctx, input->file);

	if (code || !count || !strstr(eval->key, "kernel")
	    || input->meta->profiler != OPK_PROFILER_PM)
		return code;
	return app_error(eval->app, OPK_EUSAGE,
	                 "--aggregate %s: samples of %s have no kernel; --per kernel divides them "
	                 "among what ran",
	                 eval->key, input->path);
}

static int compute(struct eval *eval, struct eval_input *input,
                   const struct opk_aggregate_options *options)
{
	int code = eval_columns_check_input(eval, input);

	if (!code)
		code = check_key(eval, input);
	if (code)
		return code;
	code = opk_aggregate_new(&input->aggregate, eval->app->ctx, input->evaluation, input->file,
	                         options);
	if (code)
		return opk_add(eval->app->ctx, code, "can't aggregate %s", input->path);
	eval_rows_note_samples(eval, input, opk_aggregate_left_out(input->aggregate));
	note_undivided(input, options->key);
	note_summed(input);
	note_mixed(input);
	note_gpus(eval, input);
	for (size_t i = 0; i < opk_aggregate_count(input->aggregate); i++)
		opk_facts_find(eval->facts, &opk_aggregate_get(input->aggregate, i)->range, 1,
		               eval->all_facts);
	eval->inflated |= input->inflated != NULL;
	return OPK_OK;
}

static int watch_groups(struct eval *eval, const struct eval_input *input)
{
	int code = eval_columns_pick(eval, input->evaluation);

	if (!code)
		code = eval_watch_begin(&eval->watch, eval->app, input->evaluation, eval->picked,
		                        eval->picked_count);
	for (size_t i = 0; !code && i < opk_aggregate_count(input->aggregate); i++) {
		const struct opk_aggregated *group = opk_aggregate_get(input->aggregate, i);

		eval->watch.rows++;
		for (size_t j = 0; j < eval->picked_count; j++) {
			const struct opk_statistics *of = &group->columns[eval->picked[j]];

			eval_watch_value(&eval->watch, j, !isnan(of->mean) || !isnan(of->min));
		}
	}
	return code;
}

static void print_group(struct eval *eval, const struct eval_input *input,
                        const struct opk_aggregated *group)
{
	const struct opk_row row = { .name = group->name, .range = &group->range };
	const struct opk_joined_row joined = { .many_streams = group->many_streams };

	eval_rows_fill(eval, input, &row, &joined);
	for (size_t i = 0; i < eval->picked_count; i++) {
		size_t column = eval->picked[i];

		eval_rows_fill_value(eval, input, column, &group->columns[column]);
		opk_out_row(eval->app->out, eval->cells);
	}
	eval->row_count++;
}

static int print_groups(struct eval *eval)
{
	size_t count = eval_order_sort(&eval->order), last = SIZE_MAX;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++) {
		const struct eval_place *place = eval_order_get(&eval->order, i);
		const struct eval_input *input = &eval->inputs[place->input];

		if (place->input != last)
			code = eval_columns_pick(eval, input->evaluation);
		last = place->input;
		if (!code)
			print_group(eval, input,
			            opk_aggregate_get(input->aggregate, place->number));
	}
	return code;
}

static int print(struct eval *eval)
{
	int code = eval_columns_list(eval);

	for (size_t i = 0; !code && i < eval->input_count; i++) {
		code = watch_groups(eval, &eval->inputs[i]);
		if (!code)
			code = eval_sorted_take_groups(eval, &eval->inputs[i]);
	}
	if (!code)
		code = app_begin_output(eval->app);
	if (!code)
		code = opk_out_table(eval->app->out, "groups", eval->headers, eval->column_count);
	if (!code)
		eval_rows_put_unit_column(eval);
	if (!code)
		code = print_groups(eval);
	return code ? code : app_end_output(eval->app);
}

int eval_aggregate(struct eval *eval, bool keep_first_sample, unsigned timeout_s)
{
	struct opk_image_options image = image_options(timeout_s, "summing range");
	struct opk_aggregate_options options = OPK_INIT(options);
	bool many_hosts = eval->facts[OPK_FACT_HOST];
	int code = OPK_OK;

	options.key = eval->key;
	options.level = eval->level;
	options.keep_first_sample = keep_first_sample;
	options.image = &image;
	/* Only what the ranges of some group have in common has a column. */
	memset(eval->facts, 0, sizeof eval->facts);
	eval->facts[OPK_FACT_DEVICE] = strstr(eval->key, "device") != NULL;
	eval->facts[OPK_FACT_HOST] = strstr(eval->key, "host")
	                             || (many_hosts && eval->facts[OPK_FACT_DEVICE]);
	eval->inflated = false;
	for (size_t i = 0; !code && i < eval->input_count; i++)
		code = compute(eval, &eval->inputs[i], &options);
	app_progress_end();
	if (!code)
		code = print(eval);
	if (code)
		return code;
	if (!eval->row_count)
		eval_rows_note_none(eval, "groups");
	return eval_watch_end(&eval->watch, eval->app, eval->strict, "group", false);
}
