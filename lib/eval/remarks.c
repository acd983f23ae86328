/* SPDX-License-Identifier: BSD-2-Clause */
/* What is remarkable of values: throughputs that lack a part, and shares above the whole. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chip/chip.h"
#include "eval/eval_inside.h"

/* Percent; within a pass, cycles that are counted apart from what they divide may differ a bit. */
static const double WHOLE = 101;

bool opk_is_share(const char *metric)
{
	const char *suffix = metric + opk_base_length(metric);

	/* Not averages, as of stalled warps per issued instruction, nor more cycles than active. */
	if (!strcmp(suffix, ".pct"))
		return !strstr(metric, "__average_");
	if (strstr(metric, "__cycles_elapsed."))
		return false;
	return strstr(suffix, ".pct_of_peak_") != NULL;
}

void opk_values_remark(struct opk_values *values, const double *of_range)
{
	for (size_t i = 0; i < values->metric_count; i++) {
		struct opk_remark one = { .metric = i, .rows = 1, .least = of_range[i] };

		one.most = one.least;
		if (of_range[i] > WHOLE && opk_is_share(values->metrics[i]))
			opk_remark_add(&values->above[i], &one);
	}
}

void opk_remark_add(struct opk_remark *all, const struct opk_remark *one)
{
	if (!all->rows)
		*all = *one;
	else
		all->rows += one->rows;
	all->least = fmin(all->least, one->least);
	all->most = fmax(all->most, one->most);
}

/* What the parts that are there amount to, in percent. */
static void print_rest(char *out, size_t size, const struct opk_remark *lacking)
{
	if (lacking->least < lacking->most)
		snprintf(out, size, "at least %.4g%% to %.4g%%, row by row", lacking->least,
		         lacking->most);
	else
		snprintf(out, size, "at least %.4g%%", lacking->most);
}

static void note_lacking(struct opk_ctx *ctx, const char *of, const char *metric,
                         const struct opk_remark *lacking)
{
	char rest[96];

	print_rest(rest, sizeof rest, lacking);
	opk_log(ctx,
	        "%s: %s is nan in %" PRIu64 " row%s, because its part %s was not collected, "
	        "or not with the instances that it needs; its other parts amount to %s",
	        of, metric, lacking->rows, lacking->rows == 1 ? "" : "s", lacking->part, rest);
}

/* Whether the counters of a metric were, or may have been, counted in different passes. */
static bool is_of_passes(const struct opk_evaluation *evaluation, size_t metric)
{
	const struct opk_pass_list *passes = opk_measured_passes(&evaluation->passes, metric);

	return passes->count ? passes->count > 1 : evaluation->meta && evaluation->meta->passes > 1;
}

static void note_above(struct opk_ctx *ctx, const char *of, const char *metric,
                       const struct opk_remark *above)
{
	opk_log(ctx,
	        "%s: %s is above 100%% in %" PRIu64
	        " row%s, up to %.4g%%: its counters were counted "
	        "in different passes, in which the kernel did not run alike",
	        of, metric, above->rows, above->rows == 1 ? "" : "s", above->most);
}

void opk_evaluation_note_remarks(const struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                                 const char *of)
{
	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		const char *metric = evaluation->metrics.items[i];

		if (evaluation->spools.lacking[i].rows)
			note_lacking(ctx, of, metric, &evaluation->spools.lacking[i]);
		if (evaluation->spools.above[i].rows && is_of_passes(evaluation, i))
			note_above(ctx, of, metric, &evaluation->spools.above[i]);
	}
}
