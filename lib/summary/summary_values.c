/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of a recording's kernels, ranges or devices, in the order in which they are shown. */
#include <math.h>

#include "base/index.h"
#include "base/nearest.h"
#include "images/door.h"
#include "images/images.h"
#include "summary/door.h"
#include "summary/summary_inside.h"

size_t opk_summary_find(const struct opk_summary *s, const char *column)
{
	size_t count = s->evaluation ? opk_evaluation_column_count(s->evaluation) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(opk_evaluation_column(s->evaluation, i), column))
			return i;
	return SIZE_MAX;
}

size_t opk_summary_find_metric(const struct opk_summary *s, const char *metric)
{
	for (size_t i = 0; i < s->column_count; i++)
		if (s->columns[i].metric && !strcmp(s->columns[i].metric, metric))
			return s->columns[i].at;
	return opk_summary_find(s, metric);
}

/* ---- evaluation */

/* For samples, the pattern chooses among the kernels recorded with them. */
int opk_summary_make_condition(struct opk_summary *s)
{
	const struct opk_activity *activities;
	size_t count;

	if (!s->options.kernel)
		return OPK_OK;
	TRY(opk_file_activities(&activities, &count, s->ctx, s->file));
	if (summary_is_sampled(s) && !count)
		return opk_fail(s->ctx, OPK_EUSAGE, "samples are of no kernel");
	s->condition = opk_printf("%s=%s",
	                          s->kind == OPK_SUMMARY_KERNELS || count ? "kernel" : "name",
	                          s->options.kernel);
	return s->condition ? OPK_OK : summary_nomem(s);
}

/* free(); NULL: out of memory. */
static char *find_key(const struct opk_summary *s)
{
	const char *key = summary_is_sampled(s)            ? "device"
	                  : s->kind == OPK_SUMMARY_KERNELS ? "kernel"
	                                                   : "name";

	return s->take.by && !summary_is_sampled(s) ? opk_printf("%s,%s", key, s->take.by)
	                                            : opk_strdup(key);
}

static int evaluate(struct opk_summary *s)
{
	struct opk_eval_options options = OPK_INIT(options);
	const struct opk_eval_inside inside = { .from_images = s->bake != NULL,
		                                .silent = s->bake != NULL };
	struct opk_aggregate_options by = OPK_INIT(by);
	opk_autofree char *key = find_key(s);

	options.metrics = opk_strlist_items(&s->names);
	options.metric_count = s->names.count;
	options.allow_incomplete = true;
	options.where = &s->condition;
	options.where_count = s->condition && !summary_is_sampled(s);
	by.key = key;
	if (!key)
		return summary_nomem(s);
	by.values = s->take.take;
	by.values_data = s->take.data;
	options.inside = &inside;
	by.bake = s->bake;
	TRY(opk_eval_file(&s->evaluation, s->ctx, s->file, &options));
	if (s->take.begin)
		s->take.begin(s->take.data, opk_summary_find(s, opk_summary_time_metric));
	return opk_aggregate_new(&s->aggregate, s->ctx, s->evaluation, s->file, &by);
}

/* ---- times */

static double cycles_of(const struct opk_summary *s, const struct opk_aggregated *of)
{
	for (size_t i = 0; i < s->column_count; i++) {
		const char *metric = s->columns[i].metric;
		size_t column = s->columns[i].at;

		if (metric && opk_metric_is_cycles(metric) && column != SIZE_MAX)
			return of->columns[column].mean * (double)of->range.count;
	}
	return (double)NAN;
}

static double time_of(const struct opk_summary *s, const struct opk_aggregated *of,
                      enum opk_summary_time which)
{
	size_t column = opk_summary_find(s, opk_summary_time_metric);
	double time = (double)NAN;

	if (which == OPK_SUMMARY_CYCLES)
		return cycles_of(s, of);
	/* If launches have one pass each, only some of them were timed. */
	if (column != SIZE_MAX && of->columns[column].count < of->range.count)
		time = of->columns[column].mean * (double)of->range.count;
	else if (column != SIZE_MAX)
		time = of->columns[column].sum;
	return isnan(time) && of->range.duration_ns ? (double)of->range.duration_ns : time;
}

/* Uses nanoseconds if any group has them, else cycles. */
static void find_times(struct opk_summary *s)
{
	for (int which = OPK_SUMMARY_NS; which <= OPK_SUMMARY_CYCLES && !s->time; which++)
		for (size_t i = 0; i < s->group_count; i++) {
			struct opk_summary_group *group = &s->groups[i];

			group->time = time_of(s, group->of, (enum opk_summary_time)which);
			if (!isnan(group->time))
				s->time = (enum opk_summary_time)which;
		}
}

/*
 * Shares are of the total time of all groups but those inside another one, whose time has theirs.
 */
static int find_shares(struct opk_summary *s)
{
	opk_autoindex struct opk_index timed = { 0 };
	double total = 0;

	for (size_t i = 0; s->kind != OPK_SUMMARY_KERNELS && i < s->group_count; i++)
		if (!isnan(s->groups[i].time) && !opk_index_add(&timed, s->groups[i].name, i, NULL))
			return summary_nomem(s);
	for (size_t i = 0; i < s->group_count; i++) {
		bool inside;

		TRY(opk_path_is_inside(&inside, s->ctx, &timed, s->groups[i].name));
		total += inside || isnan(s->groups[i].time) ? 0 : s->groups[i].time;
	}
	for (size_t i = 0; i < s->group_count; i++)
		s->groups[i].share = 100 * s->groups[i].time / total;
	return OPK_OK;
}

/* ---- order */

static int compare(const void *a, const void *b, void *keys)
{
	const struct opk_summary_group *x = a, *y = b;
	double x_key = ((double *)keys)[x->number], y_key = ((double *)keys)[y->number];

	if (x_key != y_key && !(isnan(x_key) && isnan(y_key)))
		return isnan(y_key) || x_key > y_key ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct opk_summary_group *)a)->name,
	              ((const struct opk_summary_group *)b)->name);
}

static int find_sort_column(size_t *out, struct opk_summary *s)
{
	struct opk_nearest nearest = { .name = s->options.sort };

	*out = opk_summary_find(s, s->options.sort);
	if (*out != SIZE_MAX)
		return OPK_OK;
	for (size_t i = 0; i < s->column_count; i++)
		opk_nearest_try(&nearest, s->columns[i].name);
	return opk_fail(s->ctx, OPK_EUSAGE,
	                "can't sort by %s: use time, launches, name, or a column of the "
	                "recording%s%s%s",
	                s->options.sort, nearest.best ? ", such as " : "",
	                nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

static int sort(struct opk_summary *s)
{
	const char *by = s->options.sort ? s->options.sort : "time";
	bool by_time = !strcmp(by, "time"), by_count = !strcmp(by, "launches");
	bool by_name = !strcmp(by, "name");
	opk_autofree double *keys = opk_alloc_array(s->group_count + 1, sizeof *keys);
	size_t column = SIZE_MAX;
	int code = by_time || by_count || by_name ? OPK_OK : find_sort_column(&column, s);

	if (!keys)
		return summary_nomem(s);
	for (size_t i = 0; !code && i < s->group_count; i++) {
		const struct opk_summary_group *group = &s->groups[i];

		keys[group->number] = column != SIZE_MAX ? group->of->columns[column].mean
		                      : by_count         ? (double)group->of->range.count
		                                         : group->time;
	}
	if (!code && by_name)
		qsort(s->groups, s->group_count, sizeof *s->groups, compare_names);
	else if (!code)
		qsort_r(s->groups, s->group_count, sizeof *s->groups, compare, keys);
	return code;
}

/* Whether GPUs are of several hosts. */
static bool has_hosts(const struct opk_summary *s)
{
	bool unlike = false;

	for (size_t i = 1; !unlike && i < s->group_count; i++)
		unlike = strcmp(opk_aggregate_get(s->aggregate, i)->range.host,
		                opk_aggregate_get(s->aggregate, 0)->range.host)
		         != 0;
	return unlike;
}

/* A GPU's number, which GPUs of several hosts may share: then after the host's name. */
static const char *device_name(struct opk_summary *s, const struct opk_range *range, bool hosts)
{
	int device = range->device < 0 ? 0 : range->device;
	char *name = hosts && *range->host ? opk_printf("%s %d", range->host, device)
	                                   : opk_printf("%d", device);

	return opk_strlist_take(&s->group_texts, name)
	               ? s->group_texts.items[s->group_texts.count - 1]
	               : NULL;
}

/* NULL: out of memory. */
static const char *name_of(struct opk_summary *s, const struct opk_aggregated *of, bool hosts)
{
	if (s->kind == OPK_SUMMARY_DEVICES)
		return device_name(s, &of->range, hosts);
	return s->kind == OPK_SUMMARY_KERNELS && *of->range.kernel
	               ? opk_kernel_names_get(s->kernel_names, &of->range)
	               : of->name;
}

/* ---- remarks */

int opk_summary_add_remark(struct opk_summary *s, char *text)
{
	return opk_strlist_take(&s->remarks, text) ? OPK_OK : summary_nomem(s);
}

static size_t count_columns(const struct opk_summary *s,
                            bool (*is)(const struct opk_statistics *of))
{
	size_t count = 0;

	for (size_t i = 0; i < s->column_count; i++) {
		size_t at = s->columns[i].at, group = 0;

		while (at != SIZE_MAX && group < s->group_count
		       && !is(&s->groups[group].of->columns[at]))
			group++;
		count += at != SIZE_MAX && group < s->group_count;
	}
	return count;
}

/* Explains means that are ratios of sums, which may differ from the mean of the values. */
static int remark_ratios(struct opk_summary *s)
{
	size_t count = count_columns(s, opk_is_ratio_of_sums);

	if (!count)
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("the mean of %zu of %zu metrics is the ratio of all %s together, in "
	                      "which each weighs as much as its denominator",
	                      count, s->column_count,
	                      s->kind == OPK_SUMMARY_DEVICES   ? "samples"
	                      : s->kind == OPK_SUMMARY_KERNELS ? "launches"
	                                                       : "ranges"));
}

static int remark_gpus(struct opk_summary *s)
{
	size_t most = 0, weighted;
	char means[128] = "";

	for (size_t i = 0; i < s->group_count; i++)
		most = s->groups[i].of->gpus > most ? s->groups[i].of->gpus : most;
	if (most < 2)
		return OPK_OK;
	weighted = count_columns(s, opk_is_approximate);
	if (weighted)
		snprintf(means, sizeof means,
		         ", %zu of %zu metrics as means weighted by time, cycles or count",
		         weighted, s->column_count);
	return opk_summary_add_remark(
		s, opk_printf("values are of up to %zu GPUs together%s; statistics by %s and "
	                      "device keep GPUs apart",
	                      most, means, s->kind == OPK_SUMMARY_KERNELS ? "kernel" : "name"));
}

/* Says that shares are of the known time if some times are unknown. */
static int remark_times(struct opk_summary *s)
{
	const char *word = s->kind == OPK_SUMMARY_KERNELS ? "kernel" : "range";
	size_t count = 0;

	for (size_t i = 0; s->time && i < s->group_count; i++)
		count += isnan(s->groups[i].time);
	if (!count || s->kind == OPK_SUMMARY_DEVICES)
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("%zu of %zu %ss %s no time (nan): shares of time are of what the "
	                      "others took",
	                      count, s->group_count, word, count == 1 ? "has" : "have"));
}

/* The other ones were not evaluated. */
static int remark_chosen(struct opk_summary *s)
{
	if (!s->condition || !s->time || s->group_count < 2 || s->kind == OPK_SUMMARY_DEVICES)
		return OPK_OK;
	return opk_summary_add_remark(s,
	                              opk_printf("shares of time are of the %zu %ss like %s alone",
	                                         s->group_count,
	                                         s->kind == OPK_SUMMARY_KERNELS ? "kernel"
	                                                                        : "range",
	                                         s->options.kernel));
}

static int remark_samples(struct opk_summary *s)
{
	if (s->kind != OPK_SUMMARY_DEVICES || s->group_count)
		return OPK_OK;
	return opk_summary_add_remark(s, opk_strdup("no sample was completed: there are no "
	                                            "values of metrics"));
}

static int remark_order(struct opk_summary *s)
{
	const char *by = s->options.sort ? s->options.sort : "time";

	if (s->time || s->group_count < 2 || strcmp(by, "time") != 0)
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("no time was measured, nor elapsed cycles: %ss are in the order in "
	                      "which they appeared",
	                      s->kind == OPK_SUMMARY_DEVICES   ? "device"
	                      : s->kind == OPK_SUMMARY_KERNELS ? "kernel"
	                                                       : "range"));
}

/* A row that is a sum keeps only the total and mean of its ranges. */
static int remark_summed(struct opk_summary *s)
{
	bool kernels = s->kind == OPK_SUMMARY_KERNELS;
	size_t count = 0;

	for (size_t i = 0; i < s->group_count; i++)
		count += s->groups[i].of->summed;
	if (!count)
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("%zu of %zu %s%s %s recorded as sums: min and max, which are over "
	                      "single %s, are nan",
	                      count, s->group_count, kernels ? "kernel" : "range",
	                      s->group_count == 1 ? "" : "s", count == 1 ? "is" : "are",
	                      kernels ? "launches" : "ranges"));
}

static bool lacks_extremes(const struct opk_summary *s, size_t column)
{
	for (size_t i = 0; column != SIZE_MAX && i < s->group_count; i++) {
		const struct opk_statistics *of = &s->groups[i].of->columns[column];

		if (!s->groups[i].of->summed && !isnan(of->mean) && isnan(of->min))
			return true;
	}
	return false;
}

/* A launch with one pass has no value of what needs counters of several passes. */
static int remark_passes(struct opk_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; *s->meta->join && i < s->column_count; i++)
		count += lacks_extremes(s, s->columns[i].at);
	if (!count)
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("each %s has one pass: %zu of %zu metrics take several, and have "
	                      "a mean but no min and max",
	                      s->kind == OPK_SUMMARY_KERNELS ? "launch" : "range", count,
	                      s->column_count));
}

/* Sets for spreadsheets have the values of a roofline, but don't describe the drawing. */
static int remark_roofline(struct opk_summary *s)
{
	const char *name = s->meta->set_name;

	if (s->meta->roofline.roof_count
	    || (strncmp(name, "roofline", 8) != 0 && !strstr(name, "+roofline")))
		return OPK_OK;
	return opk_summary_add_remark(
		s, opk_printf("there is no roofline: the set %s does not say what it is drawn of; "
	                      "roofline-hierarchical does",
	                      name));
}

/* ---- all of it */

static int make_groups(struct opk_summary *s)
{
	bool hosts;

	s->group_count = opk_aggregate_count(s->aggregate);
	s->groups = opk_alloc_array(s->group_count + 1, sizeof *s->groups);
	if (!s->groups)
		return summary_nomem(s);
	hosts = has_hosts(s);
	for (size_t i = 0; i < s->group_count; i++) {
		s->groups[i].of = opk_aggregate_get(s->aggregate, i);
		s->groups[i].number = i;
		s->groups[i].name = name_of(s, s->groups[i].of, hosts);
		if (!s->groups[i].name)
			return summary_nomem(s);
	}
	return OPK_OK;
}

int opk_summary_evaluate(struct opk_summary *s)
{
	TRY(evaluate(s));
	TRY(make_groups(s));
	TRY(opk_summary_place_columns(s));
	find_times(s);
	TRY(find_shares(s));
	TRY(remark_times(s));
	TRY(remark_chosen(s));
	TRY(remark_order(s));
	TRY(remark_samples(s));
	TRY(remark_gpus(s));
	TRY(remark_ratios(s));
	TRY(remark_summed(s));
	TRY(remark_passes(s));
	TRY(remark_roofline(s));
	return sort(s);
}
