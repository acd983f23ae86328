/* SPDX-License-Identifier: BSD-2-Clause */
/* What counter data images say about themselves. */

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

int opk_nv_image_chip(const char **out, struct opk_ctx *ctx, const void *image, size_t size)
{
	struct nv_DataGetChipName params = NV_PARAMS(DataGetChipName, pChipName);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_IMAGE_CHIP);
	int status;

	if (code)
		return code;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	status = nv->call.NVPW_CounterData_GetChipName(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CounterData_GetChipName", status);
	*out = params.pChipName;
	return OPK_OK;
}

int opk_nv_image_info(struct opk_nv_image_info *out, struct opk_ctx *ctx, const void *image,
                      size_t size)
{
	struct nv_PmGetCounterDataInfo params = NV_PARAMS(PmGetCounterDataInfo,
	                                                  numCompletedSamples);
	struct opk_nv *nv;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	status = nv->call.cuptiPmSamplingGetCounterDataInfo(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiPmSamplingGetCounterDataInfo", status);
	*out = (struct opk_nv_image_info){ params.numTotalSamples, params.numPopulatedSamples,
		                           params.numCompletedSamples };
	return OPK_OK;
}

static int get_sample_time(struct opk_nv *nv, struct nv_SamplerGetSampleTime *params,
                           const void *image, size_t index)
{
	params->structSize = NV_END(struct nv_SamplerGetSampleTime, timestampEnd);
	params->pCounterDataImage = image;
	params->rangeIndex = index;
	return nv->call.NVPW_PeriodicSampler_CounterData_GetSampleTime(params);
}

int opk_nv_image_profiler(enum opk_profiler *out, struct opk_ctx *ctx, const void *image)
{
	struct nv_SamplerGetSampleTime params = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES);

	if (code)
		return code;
	*out = get_sample_time(nv, &params, image, 0) ? OPK_PROFILER_RANGE : OPK_PROFILER_PM;
	return OPK_OK;
}

int opk_nv_sample_time(uint64_t *start, uint64_t *end, struct opk_ctx *ctx, const void *image,
                       size_t index)
{
	struct nv_SamplerGetSampleTime params = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES);
	int status;

	if (code)
		return code;
	status = get_sample_time(nv, &params, image, index);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_PeriodicSampler_CounterData_GetSampleTime", status);
	*start = params.timestampStart;
	*end = params.timestampEnd;
	return OPK_OK;
}

int opk_nv_range_name(char **out, struct opk_ctx *ctx, const void *image, size_t size, size_t index)
{
	struct nv_HostGetRangeName params = NV_PARAMS(HostGetRangeName, pRangeName);
	struct opk_nv *nv;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	params.rangeIndex = index;
	params.delimiter = "/";
	status = nv->call.cuptiProfilerHostGetRangeName(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetRangeName", status);
	*out = params.pRangeName ? (char *)params.pRangeName : opk_strdup("");
	return *out ? OPK_OK : opk_nomem(ctx, "a range name");
}
