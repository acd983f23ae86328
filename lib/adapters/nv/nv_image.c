/* SPDX-License-Identifier: BSD-2-Clause */
/* What counter data images say about themselves. */

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

int opk_nv_image_chip(const char **out, struct opk_ctx *ctx, const void *image, size_t size)
{
	NV_PARAMS(params, DataGetChipName, .pCounterDataImage = image,
	          .counterDataImageSize = size);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_IMAGE_CHIP);

	if (!code)
		code = NV_NVPW(nv, ctx, NVPW_CounterData_GetChipName, &params);
	if (!code)
		*out = params.pChipName;
	return code;
}

int opk_nv_image_info(struct opk_nv_image_info *out, struct opk_ctx *ctx, const void *image,
                      size_t size)
{
	NV_PARAMS(params, PmGetCounterDataInfo, .pCounterDataImage = image,
	          .counterDataImageSize = size);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_HOST);

	if (!code)
		code = NV_CUPTI(nv, ctx, cuptiPmSamplingGetCounterDataInfo, &params);
	if (!code)
		*out = (struct opk_nv_image_info){ params.numTotalSamples,
			                           params.numPopulatedSamples,
			                           params.numCompletedSamples };
	return code;
}

int opk_nv_image_profiler(enum opk_profiler *out, struct opk_ctx *ctx, const void *image)
{
	NV_PARAMS(params, SamplerGetSampleTime, .pCounterDataImage = image);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES);

	if (!code)
		*out = nv->call.NVPW_PeriodicSampler_CounterData_GetSampleTime(&params)
		               ? OPK_PROFILER_RANGE
		               : OPK_PROFILER_PM;
	return code;
}

int opk_nv_sample_time(uint64_t *start, uint64_t *end, struct opk_ctx *ctx, const void *image,
                       size_t index)
{
	NV_PARAMS(params, SamplerGetSampleTime, .pCounterDataImage = image, .rangeIndex = index);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES);

	if (!code)
		code = NV_NVPW(nv, ctx, NVPW_PeriodicSampler_CounterData_GetSampleTime, &params);
	if (code)
		return code;
	*start = params.timestampStart;
	*end = params.timestampEnd;
	return OPK_OK;
}

int opk_nv_range_name(char **out, struct opk_ctx *ctx, const void *image, size_t size, size_t index)
{
	NV_PARAMS(params, HostGetRangeName, .pCounterDataImage = image,
	          .counterDataImageSize = size, .rangeIndex = index, .delimiter = "/");
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_HOST);

	if (!code)
		code = NV_CUPTI(nv, ctx, cuptiProfilerHostGetRangeName, &params);
	if (code)
		return code;
	*out = params.pRangeName ? (char *)params.pRangeName : opk_strdup("");
	return *out ? OPK_OK : opk_nomem(ctx, "a range name");
}
