/* SPDX-License-Identifier: BSD-2-Clause */
/* Remarks on values: throughputs that lack a part, and shares above the whole. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number_text.h"
#include "chip/chip.h"
#include "eval/eval_inside.h"

/* Percent. Within a pass, cycles are counted apart from what they divide, and differ slightly. */
static const double WHOLE = 101;

bool opk_is_share(const char *metric)
{
	const char *suffix = metric + opk_base_length(metric);

	/* Excludes averages, such as stalled warps per issued instruction, and elapsed cycles. */
	if (!strcmp(suffix, ".pct"))
		return !strstr(metric, "__average_");
	if (strstr(metric, "__cycles_elapsed."))
		return false;
	return strstr(suffix, ".pct_of_peak_") != NULL;
}

void opk_remark_above(struct opk_remark *above, const char *const *metrics, const double *values,
                      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double value = values[i];

		if (value > WHOLE && opk_is_share(metrics[i]))
			opk_remark_add(&above[i], &(struct opk_remark){ .metric = i,
			                                                .rows = 1,
			                                                .kind = OPK_ABOVE_WHOLE,
			                                                .least = value,
			                                                .most = value });
	}
}

/* Prints what the known parts amount to, in percent. */
static void print_rest(char *out, size_t size, const struct opk_remark *lacking)
{
	if (lacking->least < lacking->most)
		snprintf(out, size, "at least %.4g%% to %.4g%%, row by row", lacking->least,
		         lacking->most);
	else
		snprintf(out, size, "at least %.4g%%", lacking->most);
}

/* If a part is not divided, nothing tells whether its unit was idle. */
static const char *explain(const char *part)
{
	return opk_may_be_throughput(part)
	               ? ", which the library does not divide, has no value"
	               : " was not collected, or not with the instances that it needs";
}

static char *tell_lacking(const char *metric, const struct opk_remark *lacking)
{
	char rest[96];

	print_rest(rest, sizeof rest, lacking);
	return opk_printf("%s is nan in %" PRIu64 " row%s, because its part %s%s; its other parts "
	                  "amount to %s",
	                  metric, lacking->rows, opk_plural(lacking->rows), lacking->part,
	                  explain(lacking->part), rest);
}

static char *tell_more(const char *metric, const struct opk_remark *doubt)
{
	bool fails = doubt->kind == OPK_PART_FAILS;

	return opk_printf("%s may be more than it shows in %" PRIu64 " row%s: %s%s%s", metric,
	                  doubt->rows, opk_plural(doubt->rows),
	                  fails ? "its part " : "the library does not name all parts of ",
	                  doubt->part, fails ? " can't be evaluated" : "");
}

/* Only counters of different passes are from different runs; the passes may not be known. */
static bool is_of_passes(const struct opk_evaluation *evaluation, size_t metric)
{
	size_t passes = opk_measured_passes(&evaluation->passes, metric)->count;

	return passes ? passes > 1 : evaluation->meta && evaluation->meta->passes > 1;
}

static char *tell_above(const struct opk_evaluation *evaluation, size_t metric,
                        const struct opk_remark *above)
{
	bool known = opk_measured_passes(&evaluation->passes, metric)->count != 0;

	return opk_printf("%s is above %g%% in %" PRIu64 " row%s, up to %.4g%%: its counters %s "
	                  "counted in different passes, which took different times; it is exact "
	                  "where both fit one pass, as in a set of this metric alone they often do",
	                  evaluation->metrics.items[metric], WHOLE, above->rows,
	                  opk_plural(above->rows), above->most, known ? "were" : "may have been");
}

/* NULL: out of memory. */
static char *tell(const struct opk_evaluation *evaluation, size_t metric,
                  const struct opk_remark *remark)
{
	const char *name = evaluation->metrics.items[metric];

	switch (remark->kind) {
	case OPK_PART_LACKS:
		return tell_lacking(name, remark);
	case OPK_ABOVE_WHOLE:
		return tell_above(evaluation, metric, remark);
	default:
		return tell_more(name, remark);
	}
}

static int note_metric(struct opk_evaluation *evaluation, struct opk_ctx *ctx, const char *of,
                       size_t metric)
{
	const struct opk_remark *all = &evaluation->spools.remarks[OPK_REMARK_KINDS * metric];

	for (size_t i = 0; i < OPK_REMARK_KINDS; i++) {
		char *text;

		if (!all[i].rows || i == OPK_UNDIVIDED
		    || (i == OPK_ABOVE_WHOLE && !is_of_passes(evaluation, metric)))
			continue;
		text = tell(evaluation, metric, &all[i]);
		/* A metric under a label may be evaluated under its own name, too. */
		if (text && opk_strlist_contains(&evaluation->doubts, text)) {
			free(text);
			continue;
		}
		if (!opk_strlist_take(&evaluation->doubts, text))
			return opk_nomem(ctx, "a remark");
		if (of)
			opk_log(ctx, "%s: %s", of, text);
	}
	return OPK_OK;
}

static uint64_t stored_rows(const struct opk_spools *spools)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < spools->count; i++)
		rows += spools->trailers[i].stored;
	return rows;
}

int opk_evaluation_note_remarks(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                                const char *of)
{
	uint64_t rows = stored_rows(&evaluation->spools);

	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		const struct opk_remark *all = &evaluation->spools.remarks[OPK_REMARK_KINDS * i];

		TRY(note_metric(evaluation, ctx, of, i));
		evaluation->explained[i] = rows && all[OPK_PART_LACKS].rows == rows;
		evaluation->bound[i] = all[OPK_PART_FAILS].rows || all[OPK_PARTS_UNKNOWN].rows
		                       || all[OPK_UNDIVIDED].rows;
	}
	return OPK_OK;
}

const struct opk_strlist *opk_evaluation_doubts(const struct opk_evaluation *evaluation)
{
	return &evaluation->doubts;
}

/* The metric that a column shows; SIZE_MAX: the column is derived. */
static size_t metric_of(const struct opk_evaluation *evaluation, size_t column)
{
	const struct opk_columns *columns = &evaluation->columns;
	size_t source = columns->sources[column];

	return source >= columns->derived_count ? source - columns->derived_count : SIZE_MAX;
}

bool opk_evaluation_is_explained(const struct opk_evaluation *evaluation, size_t column)
{
	size_t metric = metric_of(evaluation, column);

	return metric != SIZE_MAX && evaluation->explained[metric];
}

bool opk_evaluation_is_bound(const struct opk_evaluation *evaluation, size_t column)
{
	size_t metric = metric_of(evaluation, column);

	return metric != SIZE_MAX && evaluation->bound[metric];
}
