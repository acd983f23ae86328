/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the raw counters that need their instances kept in counter data, not only their sum. */
#include <string.h>

#include "base/extreme.h"
#include "plan/plan.h"

/*
 * Besides minima and maxima, CUPTI computes these instance by instance: without instances they are
 * nan, and so is what contains them. Found by tests/check_instances.c, on all chips of CUPTI 12.6
 * to 13.5 and for both profilers. Other metrics with the same raw counters need instances, too.
 */
static const struct {
	const char *chips, *metric; /* all chips whose names begin so */
} by_instance[] = {
	{ "GH100", "sm__mio2rf_writeback_active.sum" },
	{ "GH100", "smsp__mio2rf_writeback_active_pipe_lsu_op_gmma.sum" },
};

int opk_by_instance(struct opk_counters *out, struct opk_ctx *ctx, const char *chip)
{
	opk_autostrlist struct opk_strlist metrics = { 0 };

	*out = (struct opk_counters){ 0 };
	for (size_t i = 0; i < sizeof by_instance / sizeof *by_instance; i++)
		if (!strncmp(chip, by_instance[i].chips, strlen(by_instance[i].chips))
		    && !opk_strlist_add(&metrics, by_instance[i].metric))
			return opk_nomem(ctx, "metrics");
	return metrics.count ? opk_counters_of(out, ctx, chip, &metrics) : OPK_OK;
}

/* Replaces numbers among the known counters by numbers among the plan's counters. */
static void find_places(struct opk_counters *known, const struct opk_counters *counters)
{
	size_t count = known->metric_count ? known->first[known->metric_count] : 0;

	for (size_t i = 0; i < count; i++)
		known->needs[i] = opk_counters_find(counters, known->names.items[known->needs[i]]);
}

/* Marks the counters of a known metric, if all of them are in `among`; else marks none. */
static bool mark_if_all(bool *keep, const struct opk_counters *known, size_t metric,
                        const struct opk_counters *counters, const bool *among)
{
	const size_t *places = known->needs + known->first[metric];
	size_t count = known->first[metric + 1] - known->first[metric];

	for (size_t i = 0; i < count; i++)
		if (places[i] == counters->names.count || !among[places[i]])
			return false;
	for (size_t i = 0; i < count; i++)
		keep[places[i]] = true;
	return true;
}

/* Marks the counters whose instances the metric needs; `among` are its counters. */
static bool mark(bool *keep, const struct opk_counters *counters, const bool *among,
                 const struct opk_counters *known)
{
	bool any = false;

	for (size_t i = 0; i < known->metric_count; i++)
		any |= mark_if_all(keep, known, i, counters, among);
	return any;
}

static void mark_metrics(bool *keep, bool *among, const struct opk_plan *plan,
                         const struct opk_counters *counters, const struct opk_counters *known)
{
	for (size_t i = 0; i < counters->metric_count; i++) {
		bool extreme = opk_metric_is_extreme(plan->metrics.items[i]);

		memset(among, 0, counters->names.count * sizeof *among);
		for (size_t j = counters->first[i]; j < counters->first[i + 1]; j++) {
			among[counters->needs[j]] = true;
			keep[counters->needs[j]] |= extreme;
		}
		mark(keep, counters, among, known);
	}
}

/* A sampled metric may need any counter: all keep their instances, or none do. */
static void mark_samples(bool *keep, bool *among, const struct opk_plan *plan,
                         const struct opk_counters *counters, const struct opk_counters *known)
{
	size_t count = counters->names.count;
	bool any = false;

	for (size_t i = 0; i < plan->metrics.count; i++)
		any |= opk_metric_is_extreme(plan->metrics.items[i]);
	memset(among, true, count * sizeof *among);
	if (mark(keep, counters, among, known) || any)
		memset(keep, true, count * sizeof *keep);
}

int opk_instances_find(bool **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_counters *counters, enum opk_instances instances)
{
	size_t count = counters->names.count;
	opk_autofree bool *keep = opk_alloc_array(count + 1, sizeof *keep);
	opk_autofree bool *among = opk_alloc_array(count + 1, sizeof *among);
	opk_autocounters struct opk_counters known = { 0 };

	if (!keep || !among)
		return opk_nomem(ctx, "a counter-data prefix");
	if (instances == OPK_INSTANCES_ALL)
		memset(keep, true, count * sizeof *keep);
	if (instances == OPK_INSTANCES_NEEDED) {
		TRY(opk_by_instance(&known, ctx, plan->target.chip));
		find_places(&known, counters);
		(plan->target.profiler == OPK_PROFILER_PM
		         ? mark_samples
		         : mark_metrics)(keep, among, plan, counters, &known);
	}
	*out = opk_take(keep);
	return OPK_OK;
}
