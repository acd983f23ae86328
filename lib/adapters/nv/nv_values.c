/* SPDX-License-Identifier: BSD-2-Clause */
/* Values by PerfWorks' metrics evaluator. */

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_evaluator.h"
#include "adapters/nv/nv_table.h"

struct opk_nv_requests {
	size_t count;
	struct nv_MetricEvalRequest requests[];
};

int opk_nv_requests_new(struct opk_nv_requests **out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *const *metrics,
                        size_t count)
{
	opk_autofree struct opk_nv_requests *requests = NULL;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_VALUES);

	if (code)
		return code;
	requests = opk_alloc(sizeof *requests + count * sizeof *requests->requests);
	if (!requests)
		return opk_nomem(ctx, "metrics");
	requests->count = count;
	for (size_t i = 0; !code && i < count; i++)
		code = nv_convert_metric(&requests->requests[i], ctx, evaluator, metrics[i]);
	if (!code)
		*out = opk_take(requests);
	return code;
}

int opk_nv_set_device(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator, const void *image,
                      size_t size)
{
	struct nv_EvaluatorSetDevice params = NV_PARAMS(EvaluatorSetDevice, counterDataImageSize);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_VALUES);
	int status;

	if (code)
		return code;
	params.pMetricsEvaluator = evaluator->object;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	status = nv->call.NVPW_MetricsEvaluator_SetDeviceAttributes(&params);
	return status ? nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_SetDeviceAttributes", status)
	              : OPK_OK;
}

int opk_nv_request_values(double *values, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                          const struct opk_nv_requests *requests, const void *image, size_t size,
                          size_t index)
{
	struct nv_EvaluatorValues params = NV_PARAMS(EvaluatorValues, pMetricValues);
	int status;

	params.pMetricsEvaluator = evaluator->object;
	params.pMetricEvalRequests = requests->requests;
	params.numMetricEvalRequests = requests->count;
	params.metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric);
	params.metricEvalRequestStrideSize = sizeof *requests->requests;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	params.rangeIndex = index;
	params.isolated = 1;
	params.pMetricValues = values;
	status = evaluator->nv->call.NVPW_MetricsEvaluator_EvaluateToGpuValues(&params);
	return status ? nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_EvaluateToGpuValues", status)
	              : OPK_OK;
}
