/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a set is refused: metrics that the chip lacks or can't count, and passes that are too many. */
#include "base/buf.h"
#include "base/problems.h"
#include "domain/catalog.h"
#include "domain/plan.h"
#include "domain/set.h"

/* Whether a metric is refused by itself, and why; OPK_OK where it is not. */
static int explain_metric(struct opk_ctx *ctx, const struct opk_plan *plan,
                          const struct opk_catalog *catalog, size_t metric)
{
	/* A context of its own: trying must not disturb the chain that is being built. */
	struct opk_ctx quiet = { .nv = ctx->nv };
	const char *name = plan->resolved.metrics.items[metric];
	const char *place = plan->resolved.places.items[metric];
	size_t passes;
	int code = opk_plan_try(&passes, NULL, NULL, &quiet, plan, &name, 1);

	if (code)
		opk_add_excerpt(ctx, code, &plan->resolved.marks[metric]);
	if (code && !opk_catalog_has_full(catalog, ctx, name))
		code = opk_catalog_explain(ctx, *place ? OPK_EINPUT : OPK_EUSAGE, catalog, name,
		                           place);
	else if (code)
		opk_add(ctx, code,
		        "%s%s%s is listed for %s but can't be scheduled on it, profiler %s (%s)",
		        place, *place ? ": " : "", name, plan->chip,
		        opk_profiler_name(plan->profiler),
		        quiet.error_count ? quiet.errors[0] : "out of memory");
	opk_clear_errors(&quiet);
	return code;
}

/*
 * Takes the metrics in order, keeps those that fit into so many passes, and names the others, free(). Without a
 * limit, those that are refused beside the kept ones.
 */
static int take_in_order(char **others, size_t *left_out, struct opk_ctx *ctx,
                         const struct opk_plan *plan, size_t limit)
{
	opk_autofree const char **kept = opk_alloc_array(plan->metrics.count, sizeof *kept);
	opk_autobuf struct opk_buf names = { 0 };
	size_t count = 0, passes = 0;

	*left_out = 0;
	if (!kept)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < plan->metrics.count; i++) {
		const char *metric = kept[count] = plan->metrics.items[i];
		int code = opk_plan_try(&passes, NULL, NULL, ctx, plan, kept, count + 1);

		if (code && (limit || code == OPK_ENOMEM))
			return code;
		if (!code && (!limit || passes <= limit))
			count++;
		else
			opk_buf_add_printf(&names, "%s%s", (*left_out)++ ? ", " : "", metric);
	}
	opk_buf_add(&names, "", 1);
	if (names.failed)
		return opk_nomem(ctx, "a plan");
	*others = (char *)opk_take(names.data);
	return OPK_OK;
}

/* None is refused by itself. */
static int explain_together(struct opk_ctx *ctx, const struct opk_plan *plan, int code,
                            const char *cause)
{
	opk_autofree char *others = NULL;
	size_t refused;
	int failed = take_in_order(&others, &refused, ctx, plan, 0);

	if (failed)
		return failed;
	opk_fail(ctx, code, "%s", cause);
	opk_add(ctx, code, "taken in order, %zu of %zu metrics are refused beside those before: %s",
	        refused, plan->metrics.count, others);
	return opk_add(ctx, code, "%s refuses the metrics of set %s together, not one by one: make "
	               "them two sets", plan->chip, plan->set_name);
}

/* Each metric is tried alone. */
int opk_plan_explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                             const struct opk_set *set, int code)
{
	/* What NVIDIA said of the whole set is the innermost cause. */
	opk_autofree char *cause =
		opk_strdup(ctx->error_count ? ctx->errors[0] : "no reason was given");
	size_t count = plan->resolved.metrics.count;
	struct opk_catalog *catalog = NULL;
	size_t refused = 0;
	int worst = code;

	if (!cause || opk_catalog_new(&catalog, ctx, plan->chip, plan->profiler))
		return code;
	opk_fail(ctx, code, "%s", cause);
	/* Backwards, since the chain is read from its outer end. */
	for (size_t i = count; i-- > 0;) {
		int one = explain_metric(ctx, plan, catalog, i);

		refused += one != OPK_OK;
		/* A wrong name is worse than a metric that can't be scheduled. */
		worst = one > worst || (one && refused == 1) ? one : worst;
	}
	opk_catalog_free(catalog);
	/* The set is right and the chip is not. */
	if (refused && !opk_set_claims(set, plan->chip))
		worst = OPK_EUSAGE;
	if (!refused)
		return explain_together(ctx, plan, code, cause);
	return opk_add(ctx, worst, "set %s: %zu of %zu metrics don't work on %s, profiler %s%s%s",
	               plan->set_name, refused, count, plan->chip,
	               opk_profiler_name(plan->profiler),
	               opk_set_claims(set, plan->chip) ? "" : "; it is made for other chips, such as ",
	               opk_set_claims(set, plan->chip) ? "" : opk_set_example(set));
}

int opk_plan_explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_autofree char *others = NULL;
	size_t limit = plan->limit, left_out;
	int code = take_in_order(&others, &left_out, ctx, plan, limit);

	if (code)
		return code;
	opk_fail(ctx, OPK_EFAILED, "taken in order, %zu of %zu metrics fit into %zu pass%s; not: %s",
	         plan->metrics.count - left_out, plan->metrics.count, limit,
	         limit == 1 ? "" : "es", others);
	return opk_add(ctx, OPK_EFAILED, "set %s needs %zu passes on %s; %s", plan->set_name,
	               plan->passes, plan->chip,
	               plan->profiler == OPK_PROFILER_PM
	                       ? "PM sampling has one: take fewer metrics"
	                       : "allow more, or take fewer metrics");
}
