/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which conditions apply. Samples have few facts: beside samples, records of what ran have to meet
 * only conditions on facts that both have; without samples, all conditions.
 */
#include "trace/trace_inside.h"

#include <string.h>

#include "eval/door.h"
#include "eval/eval.h"

static bool is_of_both(enum opk_fact fact)
{
	return fact == OPK_FACT_START || fact == OPK_FACT_END || fact == OPK_FACT_DEVICE
	       || fact == OPK_FACT_HOST || fact == OPK_FACT_GPU;
}

static bool is_of_nvtx(enum opk_fact fact)
{
	return fact == OPK_FACT_START || fact == OPK_FACT_END || fact == OPK_FACT_HOST
	       || fact == OPK_FACT_RANK || fact == OPK_FACT_PROCESS;
}

int opk_trace_where_init(struct opk_trace_where *where, struct opk_ctx *ctx,
                         const char *const *conditions, size_t count, bool rows, bool samples)
{
	opk_autofree const char **ran = opk_alloc_array(count + 1, sizeof *ran);
	opk_autofree const char **nvtx = opk_alloc_array(count + 1, sizeof *nvtx);
	opk_auto(opk_filter) struct opk_filter *all = NULL;
	size_t ran_count = 0, nvtx_count = 0;

	if (!ran || !nvtx)
		return opk_nomem(ctx, "conditions");
	if (count)
		TRY(opk_filter_new(&all, ctx, conditions, count));
	for (size_t i = 0; i < count; i++) {
		opk_autofree char *name = opk_strndup(conditions[i],
		                                      strcspn(conditions[i], "=!<>"));
		enum opk_fact fact = OPK_FACT_COUNT;
		bool known;

		if (!name)
			return opk_nomem(ctx, "conditions");
		known = opk_fact_find(&fact, name, OPK_PROFILER_RANGE);
		if (!known && !rows)
			return opk_fail(
				ctx, OPK_EUSAGE,
				"can't filter by '%s': what ran has no such fact, and there "
				"are no samples",
				conditions[i]);
		if (known && (!samples || is_of_both(fact)))
			ran[ran_count++] = conditions[i];
		if (known && is_of_nvtx(fact))
			nvtx[nvtx_count++] = conditions[i];
	}
	if (ran_count)
		TRY(opk_filter_new(&where->ran, ctx, ran, ran_count));
	return nvtx_count ? opk_filter_new(&where->nvtx, ctx, nvtx, nvtx_count) : OPK_OK;
}

int opk_trace_where_accepts(bool *out, struct opk_ctx *ctx, const struct opk_trace_where *where,
                            const struct opk_activity *activity)
{
	bool nvtx = !opk_activity_ran(activity);
	const struct opk_filter *filter = nvtx ? where->nvtx : where->ran;
	struct opk_range range = opk_activity_range(activity);
	struct opk_ran ran = {
		.kind = opk_activity_word(activity),
		.launches = 1,
		.time_ns = range.duration_ns,
		.least_ns = range.duration_ns,
		.most_ns = range.duration_ns,
		.bytes = activity->bytes,
	};
	struct opk_row row = { .name = range.name,
		               .start_ns = range.start_ns,
		               .end_ns = range.end_ns,
		               .range = &range,
		               .ran = &ran };

	if (nvtx)
		range.kernel = "";
	return opk_filter_accepts(out, ctx, filter, OPK_PROFILER_RANGE, &row, 0);
}

void opk_trace_where_clear(struct opk_trace_where *where)
{
	opk_filter_free(where->ran);
	opk_filter_free(where->nvtx);
}
