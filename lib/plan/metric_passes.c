/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up which passes of a plan have a metric's counters. */
#include "adapters/nv/nv.h"
#include "plan/plan.h"

static int list_metric(struct opk_metric_passes *p, struct opk_ctx *ctx,
                       struct opk_nv_evaluator *evaluator, const struct opk_strlist *counters,
                       size_t passes, const char *metric)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	int code = opk_nv_raw_counters(&raw, ctx, evaluator, metric);

	for (size_t pass = 0; !code && pass < passes; pass++) {
		bool any = false;

		for (size_t i = 0; !any && i < raw.count; i++)
			any = opk_strlist_contains_sorted(&counters[pass], raw.items[i]);
		if (!any)
			continue;
		if (!opk_grow(&p->numbers, &p->capacity, p->used, sizeof *p->numbers))
			return opk_nomem(ctx, "passes of metrics");
		p->numbers[p->used++] = (uint32_t)pass + 1;
		p->lists[p->count].count++;
	}
	p->count++;
	return code;
}

static int list_all(struct opk_metric_passes *p, struct opk_ctx *ctx, const struct opk_plan *plan,
                    struct opk_strlist *counters)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, plan->target.chip);

	for (size_t pass = 0; !code && pass < plan->schedule.passes; pass++) {
		code = opk_nv_config_counters(&counters[pass], ctx, plan->schedule.config,
		                              plan->schedule.size, pass);
		opk_strlist_sort(&counters[pass]);
	}
	for (size_t i = 0; !code && i < plan->metrics.count; i++)
		code = list_metric(p, ctx, evaluator, counters, plan->schedule.passes,
		                   plan->metrics.items[i]);
	return code;
}

int opk_metric_passes_find(struct opk_metric_passes *out, struct opk_ctx *ctx,
                           const struct opk_plan *plan)
{
	struct opk_strlist *counters = opk_alloc_array(plan->schedule.passes, sizeof *counters);
	size_t at = 0;
	int code;

	*out = (struct opk_metric_passes){
		.lists = opk_alloc_array(plan->metrics.count, sizeof *out->lists),
	};
	code = counters && out->lists ? list_all(out, ctx, plan, counters)
	                              : opk_nomem(ctx, "passes of metrics");
	for (size_t i = 0; counters && i < plan->schedule.passes; i++)
		opk_strlist_clear(&counters[i]);
	free(counters);
	if (code) {
		opk_metric_passes_clear(out);
		return code;
	}
	/* The numbers have stopped growing. */
	for (size_t i = 0; i < out->count; at += out->lists[i++].count)
		out->lists[i].passes = out->numbers + at;
	return OPK_OK;
}

void opk_metric_passes_clear(struct opk_metric_passes *p)
{
	free(p->lists);
	free(p->numbers);
	*p = (struct opk_metric_passes){ 0 };
}
