/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks PerfWorks for the raw counters of metrics. */
#include "schedule/schedule.h"

#include <string.h>

#include "adapters/nv/nv.h"

bool opk_is_trace(const char *counter)
{
	return !strcmp(counter, "0x0000000000000000");
}

size_t opk_counters_find(const struct opk_counters *counters, const char *name)
{
	size_t i = 0;

	while (i < counters->names.count && strcmp(counters->names.items[i], name) != 0)
		i++;
	return i;
}

static int add_metric(struct opk_counters *c, struct opk_ctx *ctx, size_t *capacity,
                      const struct opk_strlist *raw)
{
	for (size_t i = 0; i < raw->count; i++) {
		size_t at = opk_counters_find(c, raw->items[i]);
		size_t used = c->first[c->metric_count];

		if ((at == c->names.count && !opk_strlist_add(&c->names, raw->items[i]))
		    || !opk_grow(&c->needs, capacity, used, sizeof *c->needs))
			return opk_nomem(ctx, "raw counters");
		c->needs[used] = at;
		c->first[c->metric_count]++;
	}
	return OPK_OK;
}

int opk_counters_of(struct opk_counters *out, struct opk_ctx *ctx, const char *chip,
                    const struct opk_strlist *metrics)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	opk_autocounters struct opk_counters all = { 0 };
	size_t capacity = 0;

	*out = all;
	TRY(opk_nv_evaluator_new(&evaluator, ctx, chip));
	all.first = opk_alloc_array(metrics->count + 1, sizeof *all.first);
	if (!all.first)
		return opk_nomem(ctx, "raw counters");
	while (all.metric_count < metrics->count) {
		opk_autostrlist struct opk_strlist raw = { 0 };

		TRY(opk_nv_raw_counters(&raw, ctx, evaluator, metrics->items[all.metric_count]));
		/* The end of one metric's needs is the beginning of the next one's. */
		all.metric_count++;
		all.first[all.metric_count] = all.first[all.metric_count - 1];
		TRY(add_metric(&all, ctx, &capacity, &raw));
	}
	*out = all;
	all = (struct opk_counters){ 0 };
	return OPK_OK;
}

int opk_counters_needed(size_t **out, size_t *out_count, struct opk_ctx *ctx,
                        const struct opk_counters *counters, const size_t *metrics, size_t count)
{
	size_t all = counters->names.count, used = 0;
	opk_autofree size_t *asked = opk_alloc_array(all + 1, sizeof *asked);
	opk_autofree bool *seen = opk_alloc_array(all + 1, sizeof *seen);

	if (!asked || !seen)
		return opk_nomem(ctx, "raw counters");
	/* Start with the counters added last: there a clash is found soonest. */
	for (size_t i = count; i-- > 0;)
		for (size_t j = counters->first[metrics[i]]; j < counters->first[metrics[i] + 1];
		     j++) {
			size_t counter = counters->needs[j];

			if (!seen[counter])
				asked[used++] = counter;
			seen[counter] = true;
		}
	*out = opk_take(asked);
	*out_count = used;
	return OPK_OK;
}

void opk_counters_clear(struct opk_counters *counters)
{
	opk_strlist_clear(&counters->names);
	free(opk_take(counters->first));
	free(opk_take(counters->needs));
	counters->metric_count = 0;
}
