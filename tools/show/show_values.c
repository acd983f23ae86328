/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording's kernels, ranges or devices come to, in the order in which they are shown. */
#include <math.h>
#include <string.h>

#include "base/index.h"
#include "base/nearest.h"
#include "show/show.h"

size_t show_find(const struct show *show, const char *column)
{
	for (size_t i = 0; i < opk_evaluation_column_count(show->evaluation); i++)
		if (!strcmp(opk_evaluation_column(show->evaluation, i), column))
			return i;
	return SIZE_MAX;
}

/* ---- evaluation */

/* Of samples, those of kernels are chosen that ran beside them. */
int show_make_filter(struct show *show)
{
	opk_autofree char *condition = NULL;
	const struct opk_activity *activities;
	const char *conditions[1];
	size_t count;
	int code;

	if (!show->kernel)
		return OPK_OK;
	code = opk_file_activities(&activities, &count, show->app->ctx, show->file);
	if (code)
		return code;
	if (show_is_sampled(show) && !count)
		return app_error(show->app, OPK_EUSAGE, "show: samples are of no kernel");
	condition = opk_printf("%s=%s", show->has_kernels || count ? "kernel" : "name",
	                       show->kernel);
	if (!condition)
		return app_nomem(show->app);
	conditions[0] = condition;
	return opk_filter_new(&show->filter, show->app->ctx, conditions, 1);
}

static int evaluate(struct show *show)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_image_options image = image_options(0, "summing range");
	struct opk_aggregate_options by = OPK_INIT(by);
	struct opk_ctx *ctx = show->app->ctx;
	int code;

	options.metrics = opk_strlist_items(&show->names);
	options.metric_count = show->names.count;
	options.allow_incomplete = true;
	options.filter = show_is_sampled(show) ? NULL : show->filter;
	options.progress = app_progress;
	options.progress_data = (void *)"evaluating range";
	by.key = show_is_sampled(show) ? "device" : show->has_kernels ? "kernel" : "name";
	by.image = &image;
	code = opk_eval_file(&show->evaluation, ctx, show->file, &options);
	if (!code)
		code = opk_aggregate_new(&show->aggregate, ctx, show->evaluation, show->file, &by);
	app_progress_end();
	return code ? opk_add(ctx, code, "can't show %s", show->path) : OPK_OK;
}

/* ---- times */

static double cycles_of(const struct show *show, const struct opk_aggregated *of)
{
	for (size_t i = 0; i < show->shown; i++) {
		const char *metric = show_metric_of(show, show->names.items[i]);
		size_t column = show_find(show, show->names.items[i]);

		if (metric && strstr(metric, "__cycles_elapsed.") && column != SIZE_MAX
		    && !strstr(metric, "per_second"))
			return of->columns[column].mean * (double)of->range.count;
	}
	return (double)NAN;
}

static double time_of(const struct show *show, const struct opk_aggregated *of,
                      enum show_time which)
{
	size_t column = show_find(show, "gpu__time_duration.sum");
	double time = (double)NAN;

	if (which == TIME_CYCLES)
		return cycles_of(show, of);
	/* Where launches have one pass each, not all of them were timed. */
	if (column != SIZE_MAX && of->columns[column].count < of->range.count)
		time = of->columns[column].mean * (double)of->range.count;
	else if (column != SIZE_MAX)
		time = of->columns[column].sum;
	return isnan(time) && of->range.duration_ns ? (double)of->range.duration_ns : time;
}

/* Nanoseconds where any group has them, else cycles. */
static void find_times(struct show *show)
{
	for (int which = TIME_NS; which <= TIME_CYCLES && !show->time; which++)
		for (size_t i = 0; i < show->group_count; i++) {
			struct show_group *group = &show->groups[i];

			group->time = time_of(show, group->of, (enum show_time)which);
			if (!isnan(group->time))
				show->time = (enum show_time)which;
		}
}

/* Whether another group's range holds it: "step" holds "step/forward". */
static int find_inside(bool *out, const struct show *show, const struct opk_index *names,
                       const char *name)
{
	opk_autofree char *path = opk_strdup(name);
	char *slash;

	if (!path)
		return app_nomem(show->app);
	for (*out = false; !*out && (slash = strrchr(path, '/'));) {
		*slash = '\0';
		*out = opk_index_find(NULL, names, path);
	}
	return OPK_OK;
}

/* Of the time that the groups took which are in no other one. */
static int find_shares(struct show *show)
{
	opk_autoindex struct opk_index names = { 0 };
	double total = 0;
	int code = OPK_OK;

	for (size_t i = 0; !code && !show->has_kernels && i < show->group_count; i++)
		if (!opk_index_add(&names, show->groups[i].name, i, NULL))
			code = app_nomem(show->app);
	for (size_t i = 0; !code && i < show->group_count; i++) {
		bool inside = false;

		if (!show->has_kernels)
			code = find_inside(&inside, show, &names, show->groups[i].name);
		total += inside || isnan(show->groups[i].time) ? 0 : show->groups[i].time;
	}
	for (size_t i = 0; i < show->group_count; i++)
		show->groups[i].share = 100 * show->groups[i].time / total;
	return code;
}

/* ---- order */

static int compare(const void *a, const void *b)
{
	const struct show_group *x = a, *y = b;

	if (x->key != y->key && !(isnan(x->key) && isnan(y->key)))
		return isnan(y->key) || x->key > y->key ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct show_group *)a)->name, ((const struct show_group *)b)->name);
}

static int find_sort_column(size_t *out, struct show *show)
{
	struct opk_nearest nearest = { .name = show->sort };

	*out = show_find(show, show->sort);
	if (*out != SIZE_MAX)
		return OPK_OK;
	for (size_t i = 0; i < show->shown; i++)
		opk_nearest_try(&nearest, show->names.items[i]);
	return app_error(show->app, OPK_EUSAGE,
	                 "--sort %s: use time, launches, name, or a column of the recording%s%s%s",
	                 show->sort, nearest.best ? ", such as " : "",
	                 nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

static int sort(struct show *show)
{
	const char *by = show->sort ? show->sort : "time";
	bool by_time = !strcmp(by, "time"), by_count = !strcmp(by, "launches");
	bool by_name = !strcmp(by, "name");
	size_t column = SIZE_MAX;
	int code = by_time || by_count || by_name ? OPK_OK : find_sort_column(&column, show);

	for (size_t i = 0; !code && i < show->group_count; i++) {
		struct show_group *group = &show->groups[i];

		group->key = column != SIZE_MAX ? group->of->columns[column].mean
		             : by_count         ? (double)group->of->range.count
		                                : group->time;
	}
	if (!code && show->group_count)
		qsort(show->groups, show->group_count, sizeof *show->groups,
		      by_name ? compare_names : compare);
	return code;
}

static const char *name_of(struct show *show, const struct opk_aggregated *of)
{
	return show->has_kernels && *of->range.kernel
	               ? opk_kernel_names_get(show->kernel_names, &of->range)
	               : of->name;
}

static bool is_weighted(const struct show *show, const char *name)
{
	size_t column = show_find(show, name);

	for (size_t i = 0; column != SIZE_MAX && i < show->group_count; i++)
		if (show->groups[i].of->columns[column].weighted_by)
			return true;
	return false;
}

static void note_gpus(const struct show *show)
{
	size_t most = 0, weighted = 0;

	for (size_t i = 0; i < show->group_count; i++)
		most = show->groups[i].of->gpus > most ? show->groups[i].of->gpus : most;
	if (most < 2)
		return;
	for (size_t i = 0; i < show->shown; i++)
		weighted += is_weighted(show, show->names.items[i]);
	app_note("values are of up to %zu GPUs together, %zu of %zu metrics as weighted means; "
	         "'eval --aggregate %s --by device' keeps GPUs apart",
	         most, weighted, show->shown, show->has_kernels ? "kernel" : "name");
}

/* Of a sum, only the total and the mean are those of its ranges. */
static void note_summed(const struct show *show)
{
	const char *what = show->has_kernels ? "kernel" : "range";
	size_t count = 0;

	for (size_t i = 0; i < show->group_count; i++)
		count += show->groups[i].of->summed;
	if (count)
		app_note("%zu of %zu %s%s %s recorded as sums: min and max, which are over single "
		         "%s, are nan",
		         count, show->group_count, what, show->group_count == 1 ? "" : "s",
		         count == 1 ? "is" : "are", show->has_kernels ? "launches" : "ranges");
}

static bool lacks_extremes(const struct show *show, size_t column)
{
	for (size_t i = 0; i < show->group_count; i++) {
		const struct opk_statistics *of = &show->groups[i].of->columns[column];

		if (!show->groups[i].of->summed && !isnan(of->mean) && isnan(of->min))
			return true;
	}
	return false;
}

/* What is computed of counters of several passes has no value of a launch that has one pass. */
static void note_passes(const struct show *show)
{
	size_t count = 0;

	for (size_t i = 0; *show->meta->join && i < show->shown; i++) {
		size_t column = show_find(show, show->names.items[i]);

		count += column != SIZE_MAX && lacks_extremes(show, column);
	}
	if (count)
		app_note(
			"each %s has one pass: %zu of %zu metrics take several, and have a mean but no "
			"min and max",
			show->has_kernels ? "launch" : "range", count, show->shown);
}

int show_evaluate(struct show *show)
{
	int code = evaluate(show);

	if (code)
		return code;
	show->group_count = opk_aggregate_count(show->aggregate);
	show->groups = opk_alloc_array(show->group_count + 1, sizeof *show->groups);
	if (!show->groups)
		return app_nomem(show->app);
	for (size_t i = 0; i < show->group_count; i++) {
		show->groups[i].of = opk_aggregate_get(show->aggregate, i);
		show->groups[i].name = name_of(show, show->groups[i].of);
	}
	find_times(show);
	code = find_shares(show);
	note_gpus(show);
	note_summed(show);
	note_passes(show);
	return code ? code : sort(show);
}
