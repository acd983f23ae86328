/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan cut to what fits one pass: the longest prefix of its metrics. */
#include "plan/plan.h"

int opk_plan_keep(struct opk_plan *plan, struct opk_ctx *ctx, size_t count)
{
	for (size_t i = count; i < plan->metrics.count; i++)
		if (!opk_strlist_add(&plan->left_out, plan->metrics.items[i]))
			return opk_nomem(ctx, "a plan");
	while (plan->metrics.count > count)
		free(plan->metrics.items[--plan->metrics.count]);
	return OPK_OK;
}

int opk_plan_shorten(struct opk_plan *plan, struct opk_ctx *ctx)
{
	const char *const *metrics = opk_strlist_items(&plan->metrics);
	size_t fits = 0, too_many = plan->metrics.count, passes = plan->passes;
	int code = OPK_OK;

	while (!code && too_many - fits > 1) {
		size_t middle = fits + (too_many - fits) / 2, needed;

		code = opk_plan_try(&needed, NULL, NULL, ctx, plan, metrics, middle);
		if (!code && needed == 1)
			fits = middle;
		else if (!code) {
			too_many = middle;
			passes = needed;
		}
	}
	if (!code && !fits)
		return opk_fail(ctx, OPK_EFAILED,
		                "%s needs %zu passes by itself and is the first: take it out",
		                metrics[0], passes);
	if (!code)
		code = opk_plan_keep(plan, ctx, fits);
	if (code)
		return code;
	free(opk_take(plan->config));
	return opk_plan_make(plan, ctx);
}
