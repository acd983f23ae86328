/* SPDX-License-Identifier: BSD-2-Clause */
/* Values by PerfWorks' metrics evaluator, and what tells one device's images from another's. */
#include <string.h>

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

static int extract_prefix(uint8_t **out, size_t *size, struct opk_ctx *ctx, struct opk_nv *nv,
                          const void *image, size_t image_size)
{
	struct nv_DataExtractPrefix params = NV_PARAMS(DataExtractPrefix, counterDataPrefixSize);
	opk_autofree uint8_t *prefix = NULL;
	int status;

	params.pCounterDataSrc = image;
	params.counterDataSrcSize = image_size;
	/* First for the size, then for the bytes. */
	for (int round = 0; round < 2; round++) {
		params.pCounterDataPrefix = prefix;
		status = nv->call.NVPW_CounterData_ExtractCounterDataPrefix(&params);
		if (status)
			return nv_fail_nvpa(ctx, "NVPW_CounterData_ExtractCounterDataPrefix", status);
		/* It is a part of the image. */
		if (params.counterDataPrefixSize > image_size)
			return opk_fail(ctx, OPK_EFAILED, "the image's prefix is larger than the image");
		if (!prefix && !(prefix = opk_alloc(params.counterDataPrefixSize)))
			return opk_nomem(ctx, "a counter-data prefix");
	}
	*size = params.counterDataPrefixSize;
	*out = opk_take(prefix);
	return OPK_OK;
}

/* A copy with room for no range has nothing but what all ranges share. */
int opk_nv_image_head(void **out, size_t *size, struct opk_ctx *ctx, const void *image,
                      size_t image_size)
{
	struct nv_DataCopySize ask = NV_PARAMS(DataCopySize, copyDataImageCounterSize);
	struct nv_DataInitializeCopy make = NV_PARAMS(DataInitializeCopy, pCounterDataDst);
	opk_autofree uint8_t *prefix = NULL, *head = NULL;
	size_t prefix_size = 0;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_IMAGE_HEAD);
	int status;

	if (!code)
		code = extract_prefix(&prefix, &prefix_size, ctx, nv, image, image_size);
	if (code)
		return code;
	ask.pCounterDataPrefix = make.pCounterDataPrefix = prefix;
	ask.counterDataPrefixSize = make.counterDataPrefixSize = prefix_size;
	ask.maxRangeNameLength = make.maxRangeNameLength = 1;
	ask.pCounterDataSrc = make.pCounterDataSrc = image;
	status = nv->call.NVPW_CounterData_CalculateCounterDataImageCopySize(&ask);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CounterData_CalculateCounterDataImageCopySize",
		                    status);
	if (ask.copyDataImageCounterSize > image_size)
		return opk_fail(ctx, OPK_EFAILED, "the image's head is larger than the image");
	make.pCounterDataDst = head = opk_alloc(ask.copyDataImageCounterSize);
	if (!head)
		return opk_nomem(ctx, "an image's head");
	status = nv->call.NVPW_CounterData_InitializeCounterDataImageCopy(&make);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CounterData_InitializeCounterDataImageCopy", status);
	*size = ask.copyDataImageCounterSize;
	*out = opk_take(head);
	return OPK_OK;
}
