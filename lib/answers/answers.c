/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels of a recording by time, each with what bounds it. */
#include <math.h>
#include <string.h>

#include "answers/answers_inside.h"
#include "base/buf.h"
#include "container/container.h"
#include "eval/eval.h"
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
	free(answers->key);
	free(answers->times.items);
	opk_answer_rules_clear(&answers->rules);
	opk_strlist_clear(&answers->texts);
	opk_index_clear(&answers->columns);
	opk_aggregate_free(answers->aggregate);
	opk_evaluation_free(answers->evaluation);
	opk_evaluation_free(answers->own);
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

bool opk_answers_by_nvtx(const struct opk_answers *answers)
{
	return answers->keys & OPK_KEY_NVTX;
}

bool opk_answers_have_nvtx(const struct opk_answers *answers)
{
	return answers->has_nvtx;
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

void opk_answers_take(struct opk_answers *a, size_t group, size_t column, const double *values,
                      size_t count)
{
	if (column != a->timed)
		return;
	while (a->times.count <= group && opk_list_add(&a->times))
		a->times.items[a->times.count - 1] = (struct opk_moments){ 0 };
	for (size_t i = 0; i < count && group < a->times.count; i++)
		if (!isnan(values[i]))
			opk_moments_add(&a->times.items[group], values[i]);
}

static void take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count)
{
	(void)rows;
	opk_answers_take(data, group, column, values, count);
}

int opk_answers_index(struct opk_answers *a, struct opk_ctx *ctx, const struct opk_strlist *names)
{
	a->column_count = names->count;
	for (size_t i = 0; i < a->column_count; i++)
		if (!opk_index_add(&a->columns, names->items[i], i, NULL))
			return opk_nomem(ctx, "answers");
	return OPK_OK;
}

/* The entry of a list with this short name; NULL: none. */
static const struct opk_set_item *find_item(const struct opk_set_items *items, const char *name)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i], *inside;

		if (item->as.text && !strcmp(item->as.text, name))
			return item;
		inside = find_item(&item->items, name);
		if (inside)
			return inside;
	}
	return NULL;
}

static bool has_any(const struct opk_meta *meta, const struct opk_set_item *item)
{
	for (size_t i = 0; i < item->any.count; i++)
		if (opk_meta_has_metric(meta, item->any.items[i].text))
			return true;
	return opk_meta_has_metric(meta, item->what.text);
}

bool opk_answers_have_needs(const struct opk_answers *a, const struct opk_meta *meta)
{
	for (size_t i = 0; i < a->rules.needs.count; i++) {
		const struct opk_set_item *item = find_item(&a->set->items,
		                                            a->rules.needs.items[i]);

		if (item && !has_any(meta, item))
			return false;
	}
	return true;
}

/* What is kept apart: kernels or, of recordings without these, ranges. */
static int find_key(struct opk_answers *a, struct opk_ctx *ctx,
                    const struct opk_answers_options *options)
{
	const char *by = options->by;

	a->key = opk_printf("%s%s%s", a->kernels ? "kernel" : "name", by ? "," : "", by ? by : "");
	return a->key ? opk_key_parse(&a->keys, ctx, a->key) : opk_nomem(ctx, "answers");
}

/* Launches by themselves have their times alone, since all else is only needed of their sums. */
static int evaluate(struct opk_answers *a, struct opk_ctx *ctx, struct opk_file *file,
                    const char *kernel)
{
	static const char *const time = opk_summary_time_metric;
	struct opk_eval_inside columns = { .without_rows = true };
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_aggregate_options by = OPK_INIT(by);
	opk_autofree char *condition = NULL;

	condition = kernel ? opk_printf("%s=%s", a->kernels ? "kernel" : "name", kernel) : NULL;
	if (kernel && !condition)
		return opk_nomem(ctx, "answers");
	options.allow_incomplete = true;
	options.where = (const char *const *)&condition;
	options.where_count = kernel != NULL;
	options.metrics = &time;
	options.metric_count = 1;
	TRY(opk_eval_file(&a->own, ctx, file, &options));
	options.metrics = NULL;
	options.set = a->set;
	options.inside = &columns;
	TRY(opk_eval_file(&a->evaluation, ctx, file, &options));
	TRY(opk_answers_index(a, ctx, &opk_evaluation_columns(a->evaluation)->names));
	by.key = a->key;
	by.own = a->own;
	by.values = take_values;
	by.values_data = a;
	return opk_aggregate_new(&a->aggregate, ctx, a->evaluation, file, &by);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static const struct opk_aggregated *group_of(const struct opk_answers *a, size_t group)
{
	return a->summary ? a->summary->groups[group].of : opk_aggregate_get(a->aggregate, group);
}

static double value_of(const struct opk_answers *a, const double *values, const char *name)
{
	size_t at;

	return values && opk_index_find(&at, &a->columns, name) ? values[at] : (double)NAN;
}

/* Makes NaN of values that say nothing about these launches together, and of impossible ones. */
static void forget(double *means, const struct opk_answers *a, const struct opk_aggregated *of)
{
	static const struct {
		const char *name;
		bool mixed, several; /* of launches of different shapes; of several launches */
	} columns[] = {
		{ "blocks", true, false },
		{ "threads_per_block", true, false },
		{ "imbalance", false, true }, /* the busiest SM of all launches together */
	};
	bool mixed = a->kernels && (!of->range.grid[0] || !of->range.block[0]);
	size_t at;

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		if (opk_index_find(&at, &a->columns, columns[i].name)
		    && ((mixed && columns[i].mixed) || (of->range.count > 1 && columns[i].several)))
			means[at] = (double)NAN;
	/* More warps than can be: warps were counted in a pass that took longer than the other. */
	if (opk_index_find(&at, &a->columns, "occupancy")
	    && means[at] > fmin(value_of(a, means, "possible"), 100) + 1)
		means[at] = (double)NAN;
}

/* One for each column of the set; free(). NULL when out of memory. */
static double *means_of(const struct opk_answers *a, size_t group)
{
	double *means = opk_alloc_array(a->column_count + 1, sizeof *means);

	if (means && a->summary)
		opk_answers_compute(means, a, group);
	for (size_t i = 0; means && !a->summary && i < a->column_count; i++)
		means[i] = group_of(a, group)->columns[i].mean;
	if (means)
		forget(means, a, group_of(a, group));
	return means;
}

double opk_answers_value(const struct opk_answers *answers, const struct opk_answer *answer,
                         const char *name)
{
	opk_autofree double *means = means_of(answers, answer->number);

	return value_of(answers, means, name);
}

/* The times of its launches, as far as they have one. */
static struct opk_moments times_of(const struct opk_answers *a, size_t group)
{
	size_t at = a->summary ? a->summary->groups[group].number : group;

	return at < a->times.count ? a->times.items[at] : (struct opk_moments){ 0 };
}

static double time_within(const struct opk_moments *times)
{
	struct opk_precision precision;

	opk_precision_find(&precision, times->count, times->mean, opk_moments_deviation(times),
	                   0.95, 1);
	return precision.half_width;
}

/* "gemm step/forward"; NULL: out of memory. */
static const char *name_of(struct opk_answers *a, size_t group)
{
	const struct opk_aggregated *of = group_of(a, group);
	const char *kernel;
	char *name;

	if (a->summary)
		return a->summary->groups[group].name;
	kernel = *of->range.kernel ? opk_kernel_names_get(a->names, &of->range) : "";
	name = opk_key_name(a->keys, kernel, of->name, &of->range);
	return opk_strlist_take(&a->texts, name) ? a->texts.items[a->texts.count - 1] : NULL;
}

/* What is said of launches as short, or as different, as these; NULL: out of memory. */
static const char *remark_of(struct opk_answers *a, double launch_ns, double within)
{
	static const double shortest = 5000, widest = 100;
	bool is_short = a->kernels && launch_ns < shortest;
	bool is_wide = within > widest;
	struct opk_buf out = { 0 };

	if (!is_short && !is_wide)
		return "";
	if (is_short)
		opk_buf_add_printf(&out,
		                   "A launch takes %.2g us here, of which about 1 to 1.5 us are "
		                   "the profiler's.",
		                   launch_ns / 1000);
	if (is_wide)
		opk_buf_add_printf(&out,
		                   "%sTimes differ so much that their mean says little: "
		                   "record without the warm-up, if there is one.",
		                   is_short ? " " : "");
	return opk_strlist_take(&a->texts, opk_buf_take_text(&out))
	               ? a->texts.items[a->texts.count - 1]
	               : NULL;
}

static int answer_one(struct opk_answer *answer, struct opk_answers *a, struct opk_ctx *ctx,
                      size_t group)
{
	const struct opk_aggregated *of = group_of(a, group);
	opk_autofree double *means = means_of(a, group);
	const char *full = *of->range.kernel ? of->range.kernel : of->name;
	struct opk_answer_values values = { &a->columns, means, full, !a->kernels };
	struct opk_moments times = times_of(a, group);
	double within = time_within(&times);

	if (!means)
		return opk_nomem(ctx, "answers");
	*answer = (struct opk_answer){
		.name = name_of(a, group),
		.full = full,
		.nvtx = of->range.nvtx,
		.number = group,
		.launches = of->range.count ? of->range.count : 1,
		.timed = times.count,
		.within = within,
		.occupancy = value_of(a, means, "occupancy"),
		.possible = value_of(a, means, "possible"),
		.remark = remark_of(a, value_of(a, means, "time"), within),
	};
	if (!answer->name || !answer->remark)
		return opk_nomem(ctx, "answers");
	answer->time_ns = value_of(a, means, "time") * (double)answer->launches;
	/* Launches of a sum have a time together alone. */
	if (!answer->timed && !isnan(answer->time_ns))
		answer->timed = answer->launches;
	return opk_answer_judge(answer, ctx, &a->rules, &values, &a->texts);
}

static int by_time(const void *x, const void *y)
{
	const struct opk_answer *a = x, *b = y;

	if (isnan(a->time_ns) || isnan(b->time_ns))
		return isnan(a->time_ns) - isnan(b->time_ns);
	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

/* Adds up times, but not those of ranges inside others, whose times have theirs. */
static int add_times(struct opk_answers *a, struct opk_ctx *ctx)
{
	opk_autoindex struct opk_index timed = { 0 };

	for (size_t i = 0; !a->kernels && i < a->count; i++)
		if (!isnan(a->items[i].time_ns)
		    && !opk_index_add(&timed, a->items[i].name, i, NULL))
			return opk_nomem(ctx, "answers");
	for (size_t i = 0; i < a->count; i++) {
		bool inside;

		TRY(opk_path_is_inside(&inside, ctx, &timed, a->items[i].name));
		if (!inside && !isnan(a->items[i].time_ns))
			a->time_ns += a->items[i].time_ns;
		a->launches += a->items[i].launches;
	}
	return OPK_OK;
}

int opk_answers_fill(struct opk_answers *a, struct opk_ctx *ctx, size_t count, bool some)
{
	a->count = count;
	a->items = opk_alloc_array(a->count + 1, sizeof *a->items);
	if (!a->items)
		return opk_nomem(ctx, "answers");
	for (size_t i = 0; i < a->count; i++)
		TRY(answer_one(&a->items[i], a, ctx, i));
	TRY(add_times(a, ctx));
	/* Without the other kernels it is not known what share of the time these have. */
	for (size_t i = 0; i < a->count; i++)
		a->items[i].share = some ? (double)NAN : 100 * a->items[i].time_ns / a->time_ns;
	qsort(a->items, a->count, sizeof *a->items, by_time);
	return OPK_OK;
}

int opk_answers_prepare(struct opk_answers **out, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_auto(opk_answers) struct opk_answers *a = opk_alloc(sizeof *a);

	if (!a)
		return opk_nomem(ctx, "answers");
	if (meta->profiler != OPK_PROFILER_RANGE)
		return opk_fail(ctx, OPK_EUSAGE, "the recording has no counters of kernels");
	TRY(opk_answer_rules_load(&a->rules, ctx));
	TRY(opk_set_find_on(&a->set, ctx, "answers", meta->chip));
	*out = opk_take(a);
	return OPK_OK;
}

int opk_answers_new(struct opk_answers **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_answers_options *options)
{
	opk_auto(opk_answers) struct opk_answers *a = NULL;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t count;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_ranges(&ranges, &count, ctx, file));
	TRY(opk_answers_prepare(&a, ctx, meta));
	TRY(opk_kernel_names_new(&a->names, ctx, options->kernel_names));
	a->kernels = opk_ranges_have_kernels(ranges, count);
	for (size_t i = 0; i < count; i++)
		a->has_nvtx |= *ranges[i].nvtx != '\0';
	TRY(find_key(a, ctx, options));
	TRY(opk_kernel_names_add(a->names, ctx, ranges, count));
	if (opk_answers_have_needs(a, meta)) {
		TRY(evaluate(a, ctx, file, options->kernel));
		TRY(opk_answers_fill(a, ctx, opk_aggregate_count(a->aggregate),
		                     options->kernel != NULL));
	}
	*out = opk_take(a);
	return OPK_OK;
}
