/* SPDX-License-Identifier: BSD-2-Clause */
/* What each pass of a plan is for: raw counters per pass against raw counters per metric. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "domain/plan.h"

struct opk_plan_detail {
	size_t passes, metrics;
	size_t lower_bound;
	struct opk_strlist *counters; /* one list a pass */
	bool *serves;                 /* [pass * metrics + metric] */
};

static int load_passes(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                       const struct opk_plan *plan)
{
	int code = OPK_OK;

	for (size_t pass = 0; !code && pass < detail->passes; pass++) {
		code = opk_nv_config_counters(&detail->counters[pass], ctx, plan->config,
		                              plan->config_size, pass);
		opk_strlist_sort(&detail->counters[pass]);
	}
	return code;
}

/* Marks the passes that hold any raw counter of one metric. */
static int match_metric(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *name, size_t metric)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	int code = opk_nv_raw_counters(&raw, ctx, evaluator, name);

	if (code)
		return code;
	for (size_t pass = 0; pass < detail->passes; pass++)
		for (size_t i = 0; i < raw.count; i++)
			if (opk_strlist_contains_sorted(&detail->counters[pass], raw.items[i]))
				detail->serves[pass * detail->metrics + metric] = true;
	return OPK_OK;
}

static int fill(struct opk_plan_detail *detail, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	struct opk_nv_evaluator *evaluator = NULL;
	int code = load_passes(detail, ctx, plan);

	/* One pass serves all. PerfWorks' evaluator does not know PM-sampling metrics anyway. */
	if (!code && detail->passes == 1) {
		memset(detail->serves, true, detail->metrics * sizeof *detail->serves);
		detail->lower_bound = 1;
		return OPK_OK;
	}
	if (!code)
		code = opk_nv_evaluator_new(&evaluator, ctx, plan->chip);
	for (size_t i = 0; !code && i < detail->metrics; i++) {
		const char *name = plan->metrics.items[i];
		size_t alone = 0;

		code = match_metric(detail, ctx, evaluator, name, i);
		if (!code)
			code = opk_plan_try(&alone, NULL, NULL, ctx, plan, &name, 1);
		if (alone > detail->lower_bound)
			detail->lower_bound = alone;
	}
	opk_nv_evaluator_free(evaluator);
	return code;
}

int opk_plan_detail_new(struct opk_plan_detail **out, struct opk_ctx *ctx,
                        const struct opk_plan *plan)
{
	struct opk_plan_detail *detail = opk_alloc(sizeof *detail);
	int code;

	if (!detail)
		return opk_nomem(ctx, "a plan");
	detail->passes = plan->passes;
	detail->metrics = plan->metrics.count;
	detail->counters = opk_alloc_array(plan->passes, sizeof *detail->counters);
	detail->serves = opk_alloc_array(plan->passes * plan->metrics.count, sizeof *detail->serves);
	code = detail->counters && detail->serves ? fill(detail, ctx, plan)
	                                          : opk_nomem(ctx, "a plan");
	if (code) {
		opk_plan_detail_free(detail);
		return code;
	}
	*out = detail;
	return OPK_OK;
}

void opk_plan_detail_free(struct opk_plan_detail *detail)
{
	if (!detail)
		return;
	for (size_t pass = 0; detail->counters && pass < detail->passes; pass++)
		opk_strlist_clear(&detail->counters[pass]);
	free(detail->counters);
	free(detail->serves);
	free(detail);
}

size_t opk_plan_detail_lower_bound(const struct opk_plan_detail *detail)
{
	return detail->lower_bound;
}

size_t opk_plan_detail_counters(const struct opk_plan_detail *detail, size_t pass)
{
	return detail->counters[pass].count;
}

bool opk_plan_detail_serves(const struct opk_plan_detail *detail, size_t pass, size_t metric)
{
	return detail->serves[pass * detail->metrics + metric];
}

int opk_plan_sample_bytes(size_t *out, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	if (plan->profiler != OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE, "only PM sampling takes samples");
	return opk_nv_sample_size(out, ctx, plan->config, plan->config_size);
}
