/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics over ranges: totals from their summed counters, and the order of their own values. */
#include <math.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "base/number_text.h"
#include "base/option_struct.h"
#include "eval/door.h"
#include "images/door.h"
#include "images/images.h"
#include "eval/eval.h"

struct opk_aggregate {
	struct opk_evaluation *evaluation;
	struct opk_evaluation *own; /* has the ranges' own values */
	size_t metric_count, column_count, own_count;
	size_t row_count;
	bool *left_out;           /* one per row: by the filter, or for spanning an earlier event */
	uint64_t left_out_count;  /* for spanning an earlier event */
	struct opk_strlist names; /* one per row */
	struct opk_column_file values; /* of the rows that are not left out */
	struct opk_survey survey;
	struct opk_sums sums;
	struct opk_totals totals;
	bool explained; /* it was logged which levels are left out */
	bool is_of_rows;
	int *metric_degrees;
	struct opk_traits *column_traits;
	struct opk_aggregated *rows;
	struct opk_statistics *statistics;
};

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "statistics");
}

/* ---- the ranges' own values ------------------------------------------------------------- */

/* Rows up to `end` that have no name yet get "": they are left out. */
static int name_rows(struct opk_aggregate *a, struct opk_ctx *ctx, size_t end)
{
	while (a->names.count < end)
		if (!opk_strlist_add(&a->names, ""))
			return fail_nomem(ctx);
	return OPK_OK;
}

static int read_row(struct opk_aggregate *a, struct opk_ctx *ctx, const struct opk_row *row,
                    bool *present)
{
	const uint64_t *counts;

	if (row->index >= a->row_count)
		return opk_fail(ctx, OPK_EFAILED, "more rows than were announced");
	counts = opk_evaluation_counts(a->own);
	for (size_t i = 0; i < a->own_count; i++)
		present[i] = counts[i] > 0;
	a->left_out[row->index] = false;
	TRY(name_rows(a, ctx, row->index));
	if (!opk_strlist_add(&a->names, row->name))
		return fail_nomem(ctx);
	return opk_column_file_add(&a->values, ctx, opk_evaluation_values(a->own), present);
}

static int read_rows(struct opk_aggregate *a, struct opk_ctx *ctx, bool keep_first)
{
	opk_autofree bool *present = opk_alloc_array(a->own_count + 1, sizeof *present);
	const struct opk_row *row;
	int code = OPK_OK;

	a->left_out = opk_alloc_array(a->row_count + 1, sizeof *a->left_out);
	if (!present || !a->left_out)
		return fail_nomem(ctx);
	/* Rows that the filter refuses are not read, and stay left out. */
	memset(a->left_out, true, a->row_count);
	code = opk_column_file_init(&a->values, ctx, a->own_count);
	while (!code && !(code = opk_evaluation_next(&row, ctx, a->own)) && row) {
		if (row->spans_earlier && !keep_first)
			a->left_out_count++;
		else
			code = read_row(a, ctx, row, present);
	}
	return code ? code : name_rows(a, ctx, a->row_count);
}

/* ---- columns ---------------------------------------------------------------------------- */

/* Room for one group's columns, computed in several ways. */
struct columns {
	double *means_of_metrics, *of_totals, *of_added, *of_means;
	uint64_t *numbers, *least, *least_rest, *weights, *even;
};

static void fill_totals(struct opk_aggregate *a, struct columns *c, size_t group)
{
	size_t first = group * a->metric_count;
	const double *totals = a->totals.values + first, *added = a->totals.added + first;
	const uint64_t *counts = a->totals.counts + first;
	const struct opk_columns *columns = opk_evaluation_columns(a->evaluation);

	for (size_t i = 0; i < a->metric_count; i++) {
		c->means_of_metrics[i] = a->metric_degrees[i] == 1 ? added[i] / (double)counts[i]
		                                                   : totals[i];
		if (a->metric_degrees[i] == OPK_NO_DEGREE)
			c->means_of_metrics[i] = (double)NAN;
	}
	opk_columns_compute(c->of_totals, columns, totals);
	opk_columns_compute(c->of_added, columns, added);
	opk_columns_compute(c->of_means, columns, c->means_of_metrics);
	opk_columns_least(c->least, columns, counts);
	for (size_t i = 0; i < a->metric_count; i++)
		c->numbers[i] = UINT64_MAX - 1 - counts[i];
	opk_columns_least(c->least_rest, columns, c->numbers);
	for (size_t i = 0; i < a->metric_count; i++)
		c->numbers[i] = !a->totals.uneven[first + i];
	opk_columns_least(c->even, columns, c->numbers);
	for (size_t i = 0; i < a->metric_count; i++)
		c->numbers[i] = a->totals.weights[first + i];
	opk_columns_least(c->weights, columns, c->numbers);
}

/* Whether a column is a ratio, percentage or rate of counters. Attributes have a plain mean. */
static bool is_ratio(const struct opk_aggregate *a, size_t column)
{
	const struct opk_columns *columns = opk_evaluation_columns(a->evaluation);
	size_t source = columns->sources[column];

	return a->column_traits[column].degree == 0
	       && (source < columns->derived_count
	           || !opk_attribute_is_name(columns->metrics[source - columns->derived_count]));
}

/* The name of the weights of a mean; NULL: each range weighs the same. */
static const char *name_weight(const struct opk_aggregate *a, const struct columns *c,
                               size_t column)
{
	static const char *const names[] = {
		[OPK_BY_COUNT] = "count",
		[OPK_BY_CYCLES] = "sm__cycles_elapsed.max",
		[OPK_BY_TIME] = "gpu__time_duration.sum",
	};

	if (c->least[column] < 2 || c->least[column] == UINT64_MAX)
		return NULL;
	if (c->weights[column] < OPK_EXACT)
		return names[c->weights[column]];
	return is_ratio(a, column) ? opk_by_denominator : NULL;
}

static void fill_column(const struct opk_aggregate *a, const struct columns *c, size_t group,
                        size_t column)
{
	struct opk_statistics *out = &a->statistics[group * a->column_count + column];
	bool constant = c->least[column] == UINT64_MAX;
	/* A formula can't mix totals over different numbers of ranges, but it can mix means. */
	bool equal = constant
	             || (c->even[column]
	                 && c->least[column] == UINT64_MAX - 1 - c->least_rest[column]);
	int degree = a->column_traits[column].degree;

	out->min = out->max = out->p50 = out->p90 = out->p99 = (double)NAN;
	out->std = out->mean_low = out->mean_high = (double)NAN;
	out->count = constant ? a->rows[group].range.count : c->least[column];
	out->sum = degree == 1 && equal ? c->of_totals[column] : (double)NAN;
	out->weighted_by = name_weight(a, c, column);
	if (degree == 1 && equal)
		out->mean = c->of_added[column] / (double)out->count;
	else
		out->mean = degree == 0 && equal ? c->of_totals[column] : c->of_means[column];
}

static int compute_totals(struct opk_aggregate *a, struct opk_ctx *ctx)
{
	size_t metrics = a->metric_count + 1, columns = a->column_count + 1;
	opk_autofree double *values = opk_alloc_array(metrics + 3 * columns, sizeof *values);
	opk_autofree uint64_t *numbers = opk_alloc_array(metrics + 4 * columns, sizeof *numbers);
	struct columns c;

	if (!values || !numbers)
		return fail_nomem(ctx);
	c = (struct columns){
		.means_of_metrics = values,
		.of_totals = values + metrics,
		.of_added = values + metrics + columns,
		.of_means = values + metrics + 2 * columns,
		.numbers = numbers,
		.least = numbers + metrics,
		.least_rest = numbers + metrics + columns,
		.weights = numbers + metrics + 2 * columns,
		.even = numbers + metrics + 3 * columns,
	};
	for (size_t i = 0; i < a->sums.groups.count; i++) {
		fill_totals(a, &c, i);
		for (size_t j = 0; j < a->column_count; j++)
			fill_column(a, &c, i, j);
	}
	return OPK_OK;
}

/*
 * Sorts rows by group; the rows of group i begin at starts[i]. Numbers of rows skip those that were
 * left out when read.
 */
static void sort_rows(const struct opk_aggregate *a, size_t *sorted, size_t *starts)
{
	size_t groups = a->sums.groups.count, at = 0, number = 0;

	for (size_t i = 0; i < groups; i++) {
		starts[i] = at;
		at += a->sums.groups.groups[i].rows;
	}
	for (size_t i = 0; i < a->row_count; i++) {
		if (a->sums.group_of[i] != SIZE_MAX)
			sorted[starts[a->sums.group_of[i]]++] = number;
		number += !a->left_out[i];
	}
	for (size_t i = 0; i < groups; i++)
		starts[i] -= a->sums.groups.groups[i].rows;
}

/* Works on one column at a time: all together may not fit into memory. */
struct order {
	size_t *sorted, *starts;
	size_t *rows, *rows_of_group; /* the index of each row; of a group's rows with a value */
	double *values, *of_group;
	bool *present;
	const bool *summed; /* the row is a sum of ranges, whose own values are not known */
	const struct opk_aggregate_options *options;
};

/* Whether the evaluation of sums has the same column as that of rows. */
static bool is_own(const struct opk_aggregate *a, size_t column)
{
	return a->own == a->evaluation
	       || (column < a->column_count
	           && !strcmp(opk_evaluation_column(a->own, column),
	                      opk_evaluation_column(a->evaluation, column)));
}

static int order_column(struct opk_aggregate *a, struct opk_ctx *ctx, struct order *o,
                        size_t column)
{
	struct opk_statistics *of;

	TRY(opk_column_file_read(o->values, o->present, &a->values, ctx, column));
	for (size_t i = 0; i < a->sums.groups.count; i++) {
		const size_t *rows = o->sorted + o->starts[i];
		size_t count = 0;

		for (size_t j = 0; j < a->sums.groups.groups[i].rows; j++) {
			if (!o->present[rows[j]])
				continue;
			o->rows_of_group[count] = o->rows[rows[j]];
			o->of_group[count++] = o->summed[rows[j]] ? (double)NAN
			                                          : o->values[rows[j]];
		}
		if (o->options->values)
			o->options->values(o->options->values_data, i, column, o->of_group,
			                   o->rows_of_group, count);
		if (!is_own(a, column))
			continue;
		of = &a->statistics[i * a->column_count + column];
		opk_statistics_order(of, o->of_group, count);
		/* Equal values have the same mean with any weights. */
		if (of->min == of->max)
			of->weighted_by = NULL;
		opk_statistics_spread(of, o->of_group, count);
	}
	return OPK_OK;
}

/* Fills in one item per row that was not left out when read. */
static void find_rows(size_t *rows, bool *summed, const struct opk_aggregate *a)
{
	for (size_t i = 0, number = 0; i < a->row_count; i++) {
		const struct opk_range *range = opk_survey_range(&a->survey, i);

		if (a->left_out[i])
			continue;
		rows[number] = i;
		summed[number++] = range && range->count > 1;
	}
}

static int compute_order(struct opk_aggregate *a, struct opk_ctx *ctx,
                         const struct opk_aggregate_options *options)
{
	size_t rows = a->values.row_count + 1;
	opk_autofree size_t *sorted = opk_alloc_array(rows, 3 * sizeof *sorted);
	opk_autofree size_t *starts = opk_alloc_array(a->sums.groups.count + 1, sizeof *starts);
	opk_autofree double *values = opk_alloc_array(rows, sizeof *values);
	opk_autofree double *of_group = opk_alloc_array(rows, sizeof *of_group);
	opk_autofree bool *present = opk_alloc_array(rows, sizeof *present);
	opk_autofree bool *summed = opk_alloc_array(rows, sizeof *summed);
	struct order order = { sorted,  starts, sorted + rows, sorted + 2 * rows, values, of_group,
		               present, summed, options };

	if (!(sorted && starts && values && of_group && present && summed))
		return fail_nomem(ctx);
	sort_rows(a, sorted, starts);
	find_rows(order.rows, summed, a);
	for (size_t i = 0; i < a->own_count; i++)
		TRY(order_column(a, ctx, &order, i));
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static int make_rows(struct opk_aggregate *a, struct opk_ctx *ctx)
{
	size_t groups = a->sums.groups.count;

	a->rows = opk_alloc_array(groups + 1, sizeof *a->rows);
	a->statistics = opk_alloc_array(groups * a->column_count + 1, sizeof *a->statistics);
	if (!a->rows || !a->statistics)
		return fail_nomem(ctx);
	for (size_t i = 0; i < groups; i++) {
		const struct opk_grouped *group = &a->sums.groups.groups[i];

		a->rows[i] = (struct opk_aggregated){
			.name = group->many_names ? "" : group->name,
			.range = group->range,
			.many_streams = group->many_streams,
			.summed = group->ranges > group->rows,
			.gpus = a->totals.sources[i],
			.columns = a->statistics + i * a->column_count,
		};
		a->rows[i].range.count = group->ranges;
		a->rows[i].range.duration_ns = group->duration_count == group->rows
		                                       ? group->durations
		                                       : 0;
	}
	return OPK_OK;
}

static int find_traits(struct opk_aggregate *a, struct opk_ctx *ctx)
{
	const struct opk_columns *columns = opk_evaluation_columns(a->evaluation);

	a->metric_degrees = opk_alloc_array(a->metric_count + 1, sizeof *a->metric_degrees);
	a->column_traits = opk_alloc_array(a->column_count + columns->also_count + 1,
	                                   sizeof *a->column_traits);
	if (!a->metric_degrees || !a->column_traits)
		return fail_nomem(ctx);
	for (size_t i = 0; i < a->metric_count; i++)
		a->metric_degrees[i] = opk_metric_degree(columns->metrics[i]);
	return opk_columns_traits(a->column_traits, ctx, columns);
}

/* Samples can only share where they were taken. */
static int find_key(unsigned *key, struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                    const char *text)
{
	TRY(text ? opk_key_parse(key, ctx, text)
	         : opk_fail(ctx, OPK_EUSAGE, "statistics of which ranges? A key is needed"));
	if (opk_evaluation_profiler(evaluation) == OPK_PROFILER_PM
	    && *key & ~(OPK_KEY_GPU | OPK_KEY_HOST | OPK_KEY_RANK | OPK_KEY_ALL))
		return opk_fail(ctx, OPK_EUSAGE, "samples have no %s: device, host, rank or all",
		                text);
	return OPK_OK;
}

/* A range with one pass lacks metrics of other passes, so values can't choose ranges. */
static int check_conditions(struct opk_ctx *ctx, const struct opk_evaluation *evaluation)
{
	const struct opk_meta *meta = opk_evaluation_passes(evaluation)->meta;

	if (!meta || !*meta->join || !opk_evaluation_chooses_values(evaluation))
		return OPK_OK;
	return opk_fail(
		ctx, OPK_EUSAGE,
		"the recording's ranges have one pass each, and so some of the metrics: values "
		"can't choose ranges for statistics, only what is known of them can");
}

static int init_sums(struct opk_aggregate *a, struct opk_ctx *ctx,
                     const struct opk_sums_options *wanted)
{
	struct opk_sums_options options = *wanted;

	if (a->survey.row_count != a->row_count)
		return opk_fail(ctx, OPK_EINPUT, "there are %zu ranges, and %zu were evaluated",
		                a->survey.row_count, a->row_count);
	options.explained = a->explained;
	TRY(opk_sums_init(&a->sums, ctx, &a->survey, &options));
	a->explained = true;
	return OPK_OK;
}

/* Sums the rows of each group, and evaluates the sums. */
static int sum_rows(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_sums_options *wanted, bool assume, struct opk_value_sink *bake)
{
	const struct opk_totals_options options = { .bake = bake };

	TRY(assume ? opk_survey_assume(&a->survey, ctx, file, &a->names)
	           : opk_survey_make_some(&a->survey, ctx, file, a->left_out, a->row_count));
	TRY(init_sums(a, ctx, wanted));
	return opk_totals_init(&a->totals, ctx, a->evaluation, file, &a->sums, &options);
}

static void forget_sums(struct opk_aggregate *a)
{
	opk_totals_clear(&a->totals);
	opk_sums_clear(&a->sums);
	opk_survey_clear(&a->survey);
}

/* Most of what a group's ranges have in common needs their counters, which are missing. */
static int combine_rows(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                        const char *why)
{
	size_t many = 0;

	a->is_of_rows = true;
	opk_totals_clear(&a->totals);
	for (size_t i = 0; i < a->sums.groups.count; i++)
		many += a->sums.groups.groups[i].rows > 1;
	if (many)
		opk_log(ctx,
		        "%s: the counters of these groups of ranges can't be added up (%s): where a "
		        "group has several (%zu group%s), totals are of the ranges' own values, and "
		        "means of ratios are weighted: the column weighted_by says by what",
		        file->path, why, many, opk_plural(many));
	return opk_totals_of_rows(&a->totals, ctx, a->evaluation, file, &a->sums);
}

/* Plans the sums by what the file says without its images. */
static int plan_baked(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_sums_options *wanted)
{
	TRY(opk_survey_of_baked(&a->survey, ctx, file, &a->names));
	return init_sums(a, ctx, wanted);
}

/* Takes the sums' values from the file; *found is false if it lacks some. */
static int read_sums(bool *found, struct opk_aggregate *a, struct opk_ctx *ctx,
                     struct opk_file *file, const struct opk_sums_options *wanted)
{
	const struct opk_totals_options options = { .baked = true };
	int code;

	TRY(plan_baked(a, ctx, file, wanted));
	code = opk_totals_init(&a->totals, ctx, a->evaluation, file, &a->sums, &options);
	*found = code != OPK_EUSAGE;
	if (*found)
		return code;
	opk_clear_errors(ctx);
	if (opk_file_find(file, OPK_SECTION_LEFT_OUT) >= 0) {
		const char *why;

		*found = true;
		TRY(opk_baked_why_no_images(&why, ctx, file));
		return combine_rows(a, ctx, file, why);
	}
	a->names = a->survey.names;
	a->survey.names = (struct opk_strlist){ 0 };
	forget_sums(a);
	return OPK_OK;
}

static int sum_images(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_sums_options *wanted, struct opk_value_sink *bake)
{
	bool assume;
	int code;

	TRY(opk_survey_can_assume(&assume, ctx, file));
	code = sum_rows(a, ctx, file, wanted, assume, bake);
	if (code == OPK_EINPUT && assume) {
		opk_clear_errors(ctx);
		forget_sums(a);
		code = sum_rows(a, ctx, file, wanted, false, bake);
	}
	return code;
}

/* Without NVIDIA's libraries values of rows are better than nothing. */
static int sum_or_combine(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                          const struct opk_sums_options *wanted, struct opk_value_sink *bake)
{
	int code = sum_images(a, ctx, file, wanted, bake);
	opk_autofree char *why = NULL;

	if (code != OPK_ENVIDIA || bake || !opk_file_is_baked(file))
		return code;
	/* Where ranges have their names in the images, these had to be read for a plan. */
	if (!a->sums.count && a->names.count != a->row_count)
		return code;
	why = opk_strdup(opk_innermost(ctx));
	opk_clear_errors(ctx);
	if (!why)
		return opk_nomem(ctx, "a note");
	if (!a->sums.count) {
		forget_sums(a);
		TRY(plan_baked(a, ctx, file, wanted));
	}
	return combine_rows(a, ctx, file, why);
}

static int aggregate(struct opk_aggregate *a, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_aggregate_options *options)
{
	struct opk_sums_options wanted = { 0 };
	const struct opk_meta *meta;
	bool found = false;

	TRY(check_conditions(ctx, a->own));
	TRY(find_key(&wanted.key, ctx, a->evaluation, options->key));
	TRY(opk_level_parse(&wanted.level, ctx, options->level));
	TRY(read_rows(a, ctx, options->keep_first_sample));
	wanted.left_out = a->left_out;
	TRY(find_traits(a, ctx));
	if (opk_file_is_baked(file) && !options->bake)
		TRY(read_sums(&found, a, ctx, file, &wanted));
	if (!found)
		TRY(sum_or_combine(a, ctx, file, &wanted, options->bake));
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_totals_add_attributes(&a->totals, ctx, a->evaluation, meta, &a->sums));
	TRY(make_rows(a, ctx));
	TRY(compute_totals(a, ctx));
	TRY(compute_order(a, ctx, options));
	/* Keeps only the statistics, since there may be many files. */
	opk_column_file_clear(&a->values);
	return OPK_OK;
}

int opk_aggregate_new(struct opk_aggregate **out, struct opk_ctx *ctx,
                      struct opk_evaluation *evaluation, struct opk_file *file,
                      const struct opk_aggregate_options *given)
{
	OPK_OPTIONS(opk_aggregate_options, options, given);
	opk_auto(opk_aggregate) struct opk_aggregate *a = opk_alloc(sizeof *a);

	if (!a)
		return fail_nomem(ctx);
	a->evaluation = evaluation;
	a->metric_count = opk_evaluation_metric_count(evaluation);
	a->column_count = opk_evaluation_column_count(evaluation);
	a->own = options.own ? options.own : evaluation;
	a->own_count = opk_evaluation_column_count(a->own);
	a->row_count = opk_evaluation_row_count(a->own);
	TRY(aggregate(a, ctx, file, &options));
	*out = opk_take(a);
	return OPK_OK;
}

void opk_aggregate_free(struct opk_aggregate *a)
{
	if (!a)
		return;
	forget_sums(a);
	opk_strlist_clear(&a->names);
	opk_column_file_clear(&a->values);
	free(a->left_out);
	free(a->metric_degrees);
	free(a->column_traits);
	free(a->rows);
	free(a->statistics);
	free(a);
}

size_t opk_aggregate_count(const struct opk_aggregate *a)
{
	return a->sums.groups.count;
}

const struct opk_aggregated *opk_aggregate_get(const struct opk_aggregate *a, size_t i)
{
	return &a->rows[i];
}

bool opk_aggregate_is_of_rows(const struct opk_aggregate *aggregate)
{
	return aggregate->is_of_rows;
}

uint64_t opk_aggregate_left_out(const struct opk_aggregate *a)
{
	return a->left_out_count;
}
