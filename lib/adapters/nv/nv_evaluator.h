/* SPDX-License-Identifier: BSD-2-Clause */
/* PerfWorks' metrics evaluator, as nv_evaluator.c and nv_values.c share it. */
#ifndef NV_EVALUATOR_H
#define NV_EVALUATOR_H

#include "adapters/nv/nv_table.h"

struct opk_nv_evaluator {
	struct opk_nv *nv;
	uint8_t *scratch;
	void *object;
};

/* NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest; OPK_EUSAGE: there is no such metric. */
int nv_convert_metric(struct nv_MetricEvalRequest *out, struct opk_ctx *ctx,
                      struct opk_nv_evaluator *evaluator, const char *metric);

#endif
