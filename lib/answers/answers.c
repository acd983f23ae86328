/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels of a recording by time, each with what bounds it. */
#include <math.h>
#include <string.h>

#include "answers/answers_inside.h"
#include "base/metric.h"
#include "set/set.h"

const char *opk_answers_bar(size_t bar)
{
	static const char *const names[OPK_BARS] = { "compute", "issue", "l1", "l2", "dram" };

	return names[bar];
}

void opk_answers_free(struct opk_answers *answers)
{
	if (!answers)
		return;
	free(answers->items);
	free(answers->times.items);
	opk_answer_rules_clear(&answers->rules);
	opk_strlist_clear(&answers->texts);
	opk_index_clear(&answers->columns);
	opk_aggregate_free(answers->aggregate);
	opk_evaluation_free(answers->evaluation);
	opk_kernel_names_free(answers->names);
	opk_columns_clear(&answers->set_columns);
	opk_set_meta_clear(&answers->set_meta);
	opk_strlist_clear(&answers->metrics);
	free(answers->places);
	opk_set_free(answers->set);
	free(answers);
}

bool opk_answers_are_whole(const struct opk_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].whole)
			return true;
	return false;
}

bool opk_answers_are_kernels(const struct opk_answers *answers)
{
	return answers->kernels;
}

uint64_t opk_answers_launches(const struct opk_answers *answers)
{
	return answers->launches;
}

double opk_answers_time(const struct opk_answers *answers)
{
	return answers->time_ns;
}

size_t opk_answers_count(const struct opk_answers *answers)
{
	return answers->count;
}

const struct opk_answer *opk_answers_get(const struct opk_answers *answers, size_t i)
{
	return &answers->items[i];
}

/* ---- values --------------------------------------------------------------------------------- */

static bool has_kernels(const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*ranges[i].kernel)
			return true;
	return false;
}

void opk_answers_time_values(struct opk_answers *a, size_t group, const double *values,
                             size_t count)
{
	while (a->times.count <= group && opk_list_add(&a->times))
		a->times.items[a->times.count - 1] = (struct opk_moments){ 0 };
	for (size_t i = 0; i < count && group < a->times.count; i++)
		if (!isnan(values[i]))
			opk_moments_add(&a->times.items[group], values[i]);
}

static void take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count)
{
	struct opk_answers *a = data;

	(void)rows;
	if (column == a->timed)
		opk_answers_time_values(a, group, values, count);
}

static int index_columns(struct opk_answers *a, struct opk_ctx *ctx)
{
	a->column_count = opk_evaluation_column_count(a->evaluation);
	for (size_t i = 0; i < a->column_count; i++)
		if (!opk_index_add(&a->columns, opk_evaluation_column(a->evaluation, i), i, NULL))
			return opk_nomem(ctx, "answers");
	if (!opk_index_find(&a->timed, &a->columns, "time"))
		a->timed = SIZE_MAX;
	return OPK_OK;
}

static int evaluate(struct opk_answers *a, struct opk_ctx *ctx, struct opk_file *file,
                    const char *kernel)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_aggregate_options by = OPK_INIT(by);
	opk_autofree char *condition = NULL;
	const struct opk_range *ranges;
	size_t count;

	TRY(opk_file_ranges(&ranges, &count, ctx, file));
	a->kernels = has_kernels(ranges, count);
	by.key = a->kernels ? "kernel" : "name";
	condition = kernel ? opk_printf("%s=%s", by.key, kernel) : NULL;
	if (kernel && !condition)
		return opk_nomem(ctx, "answers");
	options.set = a->set;
	options.allow_incomplete = true;
	options.where = (const char *const *)&condition;
	options.where_count = kernel != NULL;
	TRY(opk_eval_file(&a->evaluation, ctx, file, &options));
	TRY(index_columns(a, ctx));
	by.values = take_values;
	by.values_data = a;
	TRY(opk_aggregate_new(&a->aggregate, ctx, a->evaluation, file, &by));
	return opk_kernel_names_add(a->names, ctx, ranges, count);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static const struct opk_aggregated *group_of(const struct opk_answers *a, size_t group)
{
	return a->summary ? a->summary->groups[group].of : opk_aggregate_get(a->aggregate, group);
}

/* One for each column of the set; free(). NULL when out of memory. */
static double *means_of(const struct opk_answers *a, size_t group)
{
	double *means = opk_alloc_array(a->column_count + 1, sizeof *means);

	if (means && a->summary)
		opk_answers_compute(means, a, group);
	for (size_t i = 0; means && !a->summary && i < a->column_count; i++)
		means[i] = group_of(a, group)->columns[i].mean;
	return means;
}

static double value_of(const struct opk_answers *a, const double *means, const char *name)
{
	size_t at;

	return means && opk_index_find(&at, &a->columns, name) ? means[at] : (double)NAN;
}

double opk_answers_value(const struct opk_answers *answers, const struct opk_answer *answer,
                         const char *name)
{
	opk_autofree double *means = means_of(answers, answer->number);

	return value_of(answers, means, name);
}

static double time_within(const struct opk_answers *a, size_t group)
{
	size_t at = a->summary ? a->summary->groups[group].number : group;
	const struct opk_moments *times = &a->times.items[at];
	struct opk_precision precision;

	if (at >= a->times.count)
		return (double)NAN;
	opk_precision_find(&precision, times->count, times->mean, opk_moments_deviation(times),
	                   0.95, 1);
	return precision.half_width;
}

static const char *name_of(const struct opk_answers *a, size_t group)
{
	const struct opk_aggregated *of = group_of(a, group);

	if (a->summary)
		return a->summary->groups[group].name;
	return *of->range.kernel ? opk_kernel_names_get(a->names, &of->range) : of->name;
}

static int answer_one(struct opk_answer *answer, struct opk_answers *a, struct opk_ctx *ctx,
                      size_t group)
{
	const struct opk_aggregated *of = group_of(a, group);
	opk_autofree double *means = means_of(a, group);
	struct opk_answer_values values = { &a->columns, means };

	if (!means)
		return opk_nomem(ctx, "answers");
	*answer = (struct opk_answer){
		.name = name_of(a, group),
		.full = *of->range.kernel ? of->range.kernel : of->name,
		.number = group,
		.launches = of->range.count ? of->range.count : 1,
		.within = time_within(a, group),
		.occupancy = value_of(a, means, "occupancy"),
	};
	answer->time_ns = value_of(a, means, "time") * (double)answer->launches;
	return opk_answer_judge(answer, ctx, &a->rules, &values, &a->texts);
}

static int by_time(const void *x, const void *y)
{
	const struct opk_answer *a = x, *b = y;

	if (isnan(a->time_ns) || isnan(b->time_ns))
		return isnan(a->time_ns) - isnan(b->time_ns);
	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

int opk_answers_fill(struct opk_answers *a, struct opk_ctx *ctx, size_t count)
{
	a->count = count;
	a->items = opk_alloc_array(a->count + 1, sizeof *a->items);
	if (!a->items)
		return opk_nomem(ctx, "answers");
	for (size_t i = 0; i < a->count; i++) {
		TRY(answer_one(&a->items[i], a, ctx, i));
		a->time_ns += isnan(a->items[i].time_ns) ? 0 : a->items[i].time_ns;
		a->launches += a->items[i].launches;
	}
	for (size_t i = 0; i < a->count; i++)
		a->items[i].share = 100 * a->items[i].time_ns / a->time_ns;
	qsort(a->items, a->count, sizeof *a->items, by_time);
	return OPK_OK;
}

int opk_answers_prepare(struct opk_answers **out, struct opk_ctx *ctx, const char *chip)
{
	opk_auto(opk_answers) struct opk_answers *a = opk_alloc(sizeof *a);

	if (!a)
		return opk_nomem(ctx, "answers");
	TRY(opk_answer_rules_load(&a->rules, ctx));
	TRY(opk_set_find_on(&a->set, ctx, "answers", chip));
	*out = opk_take(a);
	return OPK_OK;
}

int opk_answers_new(struct opk_answers **out, struct opk_ctx *ctx, struct opk_file *file,
                    const char *kernel, enum opk_kernel_style style)
{
	opk_auto(opk_answers) struct opk_answers *a = NULL;
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	if (meta->profiler != OPK_PROFILER_RANGE)
		return opk_fail(ctx, OPK_EUSAGE, "it has no counters of kernels");
	TRY(opk_answers_prepare(&a, ctx, meta->chip));
	TRY(opk_kernel_names_new(&a->names, ctx, style));
	TRY(evaluate(a, ctx, file, kernel));
	TRY(opk_answers_fill(a, ctx, opk_aggregate_count(a->aggregate)));
	*out = opk_take(a);
	return OPK_OK;
}
