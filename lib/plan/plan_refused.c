/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains why a set is refused: the chip lacks metrics or can't count them, or too many passes. */
#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "base/problems.h"
#include "chip/chip.h"
#include "plan/plan.h"
#include "set/set.h"

/*
 * Takes the metrics in order, keeps those that fit the limit of passes, and names the first of the
 * others, free(). Without a limit, names those that CUPTI refuses beside the kept ones.
 */
static int take_in_order(char **others, size_t *left_out, struct opk_ctx *ctx,
                         const struct opk_plan *plan, size_t limit)
{
	enum { NAMED = 3 };
	opk_autofree const char **kept = opk_alloc_array(plan->metrics.count, sizeof *kept);
	opk_autobuf struct opk_buf names = { 0 };
	size_t count = 0;

	*left_out = 0;
	if (!kept)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < plan->metrics.count; i++) {
		const char *metric = kept[count] = plan->metrics.items[i];
		opk_autoresult struct opk_schedule_result result = { 0 };
		int code = opk_schedule_try(&result, ctx, &plan->target, kept, count + 1);

		if (code && (limit || code == OPK_ENOMEM))
			return code;
		if (!code && (!limit || result.passes <= limit))
			count++;
		else if ((*left_out)++ < NAMED)
			opk_buf_add_printf(&names, "%s%s", names.size ? ", " : "", metric);
	}
	if (*left_out > NAMED)
		opk_buf_add_printf(&names, " and %zu more", *left_out - NAMED);
	*others = opk_buf_take_text(&names);
	return *others ? OPK_OK : opk_nomem(ctx, "a plan");
}

/* For sets in which no metric is refused by itself. */
static int explain_together(struct opk_ctx *ctx, const struct opk_plan *plan, int code,
                            const char *cause)
{
	opk_autofree char *others = NULL;
	size_t refused;
	int failed = take_in_order(&others, &refused, ctx, plan, 0);

	if (failed)
		return failed;
	opk_fail(ctx, code, "%s", cause);
	opk_add(ctx, code, "taken in order, %zu of %zu metrics are refused with those before: %s",
	        refused, plan->metrics.count, others);
	return opk_add(ctx, code,
	               "%s refuses the metrics of set %s together, not one by one: make "
	               "them two sets",
	               plan->target.chip, plan->set_name);
}

/* The reasons for a refusal, metric by metric. */
struct refusal {
	const struct opk_plan *plan;
	struct opk_catalog *catalog;
	struct opk_problems problems;
	const char **listed; /* names that the catalog has, and the numbers of their metrics */
	size_t *metrics, count;
	int worst; /* OPK_OK: all names are right */
	bool ended;
};

static void report_wrong_names(struct refusal *refusal, struct opk_ctx *ctx)
{
	const struct opk_resolved *resolved = &refusal->plan->resolved;

	for (size_t i = 0; i < resolved->metrics.count; i++) {
		const char *name = resolved->metrics.items[i];

		if (opk_catalog_has_full(refusal->catalog, ctx, name)) {
			refusal->metrics[refusal->count] = i;
			refusal->listed[refusal->count++] = name;
		} else {
			opk_catalog_report(&refusal->problems, ctx, &resolved->marks[i],
			                   refusal->catalog, name);
			if (refusal->worst != OPK_EINPUT)
				refusal->worst = resolved->marks[i].source ? OPK_EINPUT
				                                           : OPK_EUSAGE;
		}
	}
}

static bool report_refused(void *data, size_t i, const char *reason)
{
	struct refusal *refusal = data;

	opk_refused_problem(&refusal->problems, &refusal->plan->resolved.marks[refusal->metrics[i]],
	                    &refusal->plan->target, refusal->listed[i], reason);
	refusal->ended = opk_problems_full(&refusal->problems);
	return !refusal->ended;
}

/* Adds the title above the errors of the metrics. */
static int sum_up(struct opk_ctx *ctx, const struct opk_set *set, struct refusal *refusal, int code)
{
	const struct opk_plan *plan = refusal->plan;
	bool claimed = opk_set_claims(set, plan->target.chip);
	const struct opk_nv_release release = opk_nv_release(ctx);

	/* A wrong name is worse than a metric that can't be scheduled. */
	code = refusal->worst ? refusal->worst : code;
	opk_problems_push(ctx, &refusal->problems, code);
	/* The set is right, but not for this chip. */
	return opk_add(ctx, claimed ? code : OPK_EUSAGE,
	               "set %s: %s%zu of %zu metrics don't work on %s, profiler %s, with %s%s%s",
	               plan->set_name, refusal->ended ? "at least " : "",
	               refusal->problems.count + refusal->problems.unlisted,
	               plan->resolved.metrics.count, plan->target.chip,
	               opk_profiler_name(plan->target.profiler), release.name,
	               claimed ? release.old ? " (13.0 has more metrics)" : ""
	                       : "; it is made for other chips, such as ",
	               claimed ? "" : opk_set_example(set));
}

static int explain_each(struct opk_ctx *ctx, const struct opk_set *set, struct refusal *refusal,
                        int code)
{
	/* NVIDIA's message about the whole set is the innermost cause. */
	opk_autofree char *cause = opk_strdup(opk_error_count(ctx) ? opk_innermost(ctx)
	                                                           : "no reason was given");
	struct opk_refused refused = { .target = &refusal->plan->target,
		                       .names = refusal->listed,
		                       .report = report_refused,
		                       .data = refusal };
	int found = OPK_OK;

	report_wrong_names(refusal, ctx);
	refusal->ended = refusal->count && opk_problems_full(&refusal->problems);
	refused.count = refusal->count;
	if (!refusal->ended)
		found = opk_find_refused(ctx, &refused);
	if (!found && (!cause || refusal->problems.code))
		found = opk_nomem(ctx, "a plan");
	if (found)
		return found;
	if (!refusal->problems.count)
		return explain_together(ctx, refusal->plan, code, cause);
	/* Each metric has its reason; the message about all of them adds nothing. */
	opk_clear_errors(ctx);
	return sum_up(ctx, set, refusal, code);
}

int opk_plan_explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                             const struct opk_set *set, int code)
{
	size_t count = plan->resolved.metrics.count;
	opk_autofree const char **listed = opk_alloc_array(count, sizeof *listed);
	opk_autofree size_t *metrics = opk_alloc_array(count, sizeof *metrics);
	struct refusal refusal = { .plan = plan,
		                   .problems = { .chip = plan->target.chip },
		                   .listed = listed,
		                   .metrics = metrics };

	if (!listed || !metrics)
		return opk_nomem(ctx, "a plan");
	if (opk_catalog_of_set_new(&refusal.catalog, ctx, plan->target.chip, plan->target.profiler,
	                           plan->target.single_pass))
		return code;
	code = explain_each(ctx, set, &refusal, code);
	opk_catalog_free(refusal.catalog);
	opk_problems_clear(&refusal.problems);
	return code;
}

int opk_plan_explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_autofree char *others = NULL;
	size_t limit = plan->limit, left_out;

	TRY(take_in_order(&others, &left_out, ctx, plan, limit));
	opk_fail(ctx, OPK_EFAILED, "%s",
	         plan->target.profiler == OPK_PROFILER_PM
	                 ? "PM sampling has one: keep what fits a single pass, or divide the set "
	                   "among several files"
	                 : "allow more, take fewer metrics, or divide the set among several files");
	opk_advise(ctx, OPK_EFAILED, OPK_REMEDY_SPLIT);
	opk_add(ctx, OPK_EFAILED, "taken in order, %zu of %zu metrics fit into %zu pass%s; not: %s",
	        plan->metrics.count - left_out, plan->metrics.count, limit, limit == 1 ? "" : "es",
	        others);
	return opk_add(ctx, OPK_EFAILED, "set %s needs %zu passes on %s", plan->set_name,
	               plan->schedule.passes, plan->target.chip);
}
