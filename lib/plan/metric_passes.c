/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from a plan's config image what each pass counts, and so which metrics it serves. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/index.h"
#include "plan/plan.h"

/* Marks the metrics that need any marked counter. */
static void mark_metrics(bool *serves, const struct opk_counters *counters, const bool *here)
{
	for (size_t i = 0; i < counters->metric_count; i++)
		for (size_t j = counters->first[i]; j < counters->first[i + 1]; j++)
			serves[i] |= here[counters->needs[j]];
}

static int find_served(struct opk_pass_use *use, struct opk_ctx *ctx,
                       const struct opk_counters *counters)
{
	opk_autoindex struct opk_index numbers = { 0 };
	opk_autofree bool *here = opk_alloc_array(counters->names.count + 1, sizeof *here);

	if (!here)
		return opk_nomem(ctx, "passes of metrics");
	for (size_t i = 0; i < counters->names.count; i++)
		if (!opk_index_add(&numbers, counters->names.items[i], i, NULL))
			return opk_nomem(ctx, "passes of metrics");
	for (size_t pass = 0; pass < use->passes; pass++) {
		size_t number;

		memset(here, false, counters->names.count);
		for (size_t i = 0; i < use->counters[pass].count; i++)
			if (opk_index_find(&number, &numbers, use->counters[pass].items[i]))
				here[number] = true;
		mark_metrics(use->serves + pass * use->metrics, counters, here);
	}
	return OPK_OK;
}

int opk_pass_use_find(struct opk_pass_use *use, struct opk_ctx *ctx, const struct opk_plan *plan,
                      const struct opk_counters *counters)
{
	const struct opk_schedule_result *schedule = &plan->schedule;
	size_t metrics = plan->metrics.count;

	*use = (struct opk_pass_use){
		.passes = schedule->passes,
		.metrics = metrics,
		.counters = opk_alloc_array(schedule->passes + 1, sizeof *use->counters),
		.serves = opk_alloc_array(schedule->passes * metrics + 1, sizeof *use->serves),
	};
	if (!use->counters || !use->serves)
		return opk_nomem(ctx, "passes of metrics");
	for (size_t pass = 0; schedule->config && pass < use->passes; pass++)
		TRY(opk_nv_config_counters(&use->counters[pass], ctx, schedule->config,
		                           schedule->size, pass));
	if (use->passes > 1)
		return find_served(use, ctx, counters);
	memset(use->serves, true, use->passes * metrics);
	return OPK_OK;
}

void opk_pass_use_clear(struct opk_pass_use *use)
{
	for (size_t i = 0; use->counters && i < use->passes; i++)
		opk_strlist_clear(&use->counters[i]);
	free(use->counters);
	free(use->serves);
	*use = (struct opk_pass_use){ 0 };
}
