/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks PerfWorks about throughputs directly, by index; lib/eval/throughput.c asks the adapter, by
 * name.
 */
#ifndef OPK_PERFWORKS_H
#define OPK_PERFWORKS_H

#include "adapters/nv/nv_table.h"
#include "testing.h"

struct perfworks {
	struct opk_nv *nv;
	void *evaluator;
	uint8_t *scratch;
	struct nv_EvaluatorMetricNames counters, throughputs;
};

#define PERFWORKS(p, symbol, params)                                                               \
	do {                                                                                       \
		int status_ = NV_CALL((p)->nv, symbol, params);                                    \
		ck_assert_msg(!status_, "%s: %d", #symbol, status_);                               \
	} while (0)

static inline void perfworks_ask_names(struct nv_EvaluatorMetricNames *out, struct perfworks *p,
                                       enum opk_metric_type type)
{
	NV_PARAMS(params, EvaluatorMetricNames, .pMetricsEvaluator = p->evaluator,
	          .metricType = (uint8_t)type);

	PERFWORKS(p, NVPW_MetricsEvaluator_GetMetricNames, &params);
	*out = params;
}

static inline void perfworks_create(struct perfworks *p, const char *chip)
{
	NV_PARAMS(ask, EvaluatorScratchSize, .pChipName = chip);
	NV_PARAMS(make, EvaluatorInitialize, .pChipName = chip);

	PERFWORKS(p, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, &ask);
	make.scratchBufferSize = ask.scratchBufferSize;
	make.pScratchBuffer = p->scratch = malloc(ask.scratchBufferSize);
	PERFWORKS(p, NVPW_CUDA_MetricsEvaluator_Initialize, &make);
	p->evaluator = make.pMetricsEvaluator;
}

static inline void perfworks_create_pm(struct perfworks *p, const char *chip)
{
	NV_PARAMS(ask, DeviceScratchSize, .pChipName = chip);
	NV_PARAMS(make, DeviceInitialize, .pChipName = chip);

	PERFWORKS(p, NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize, &ask);
	make.scratchBufferSize = ask.scratchBufferSize;
	make.pScratchBuffer = p->scratch = malloc(ask.scratchBufferSize);
	PERFWORKS(p, NVPW_Device_MetricsEvaluator_Initialize, &make);
	p->evaluator = make.pMetricsEvaluator;
}

static inline void perfworks_open(struct perfworks *p, struct opk_ctx *ctx, const char *chip,
                                  enum opk_profiler profiler)
{
	*p = (struct perfworks){ 0 };
	ck_ok(ctx, nv_need(&p->nv, ctx, NV_FEATURE_CONSTITUENTS));
	(profiler == OPK_PROFILER_PM ? perfworks_create_pm : perfworks_create)(p, chip);
	perfworks_ask_names(&p->counters, p, OPK_COUNTER);
	perfworks_ask_names(&p->throughputs, p, OPK_THROUGHPUT);
}

static inline void perfworks_close(struct perfworks *p)
{
	NV_PARAMS(params, EvaluatorDestroy, .pMetricsEvaluator = p->evaluator);

	PERFWORKS(p, NVPW_MetricsEvaluator_Destroy, &params);
	free(p->scratch);
}

static inline const char *perfworks_name(const struct nv_EvaluatorMetricNames *names, size_t index)
{
	ck_assert_uint_lt(index, names->numMetrics);
	return names->pMetricNames + names->pMetricNameBeginIndices[index];
}

/* Base names of counters, and of throughputs without parts; each may be there twice. */
static inline void perfworks_add_parts(struct opk_strlist *out, struct perfworks *p, size_t index)
{
	NV_PARAMS(params, EvaluatorThroughput, .pMetricsEvaluator = p->evaluator,
	          .throughputMetricIndex = index);

	PERFWORKS(p, NVPW_MetricsEvaluator_GetThroughputMetricProperties, &params);
	if (!params.numCounters && !params.numSubThroughputs)
		ck_assert(opk_strlist_add(out, perfworks_name(&p->throughputs, index)));
	for (size_t i = 0; i < params.numCounters; i++)
		ck_assert(opk_strlist_add(out,
		                          perfworks_name(&p->counters, params.pCounterIndices[i])));
	for (size_t i = 0; i < params.numSubThroughputs; i++)
		perfworks_add_parts(out, p, params.pSubThroughputIndices[i]);
}

/* Each name once, sorted; the throughput itself if it has no parts. */
static inline void perfworks_parts(struct opk_strlist *out, struct perfworks *p, const char *base)
{
	size_t i = 0;

	while (i < p->throughputs.numMetrics && strcmp(perfworks_name(&p->throughputs, i), base))
		i++;
	ck_assert_msg(i < p->throughputs.numMetrics, "PerfWorks has no throughput %s", base);
	perfworks_add_parts(out, p, i);
	opk_strlist_sort_unique(out);
}

#endif
