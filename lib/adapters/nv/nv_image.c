/* SPDX-License-Identifier: BSD-2-Clause */
/* Counter data images: their properties, and new images of combined ranges. */
#include "adapters/nv/nv.h"

#include <stdio.h>
#include <string.h>

#include "adapters/nv/nv_table.h"

int opk_nv_image_chip(const char **out, struct opk_ctx *ctx, const void *image, size_t size)
{
	NV_PARAMS(params, DataGetChipName, .pCounterDataImage = image,
	          .counterDataImageSize = size);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_IMAGE_CHIP));
	TRY(NV_NVPW(nv, ctx, NVPW_CounterData_GetChipName, &params));
	*out = params.pChipName;
	return OPK_OK;
}

/* The number of begun ranges: CUPTI leaves some of them out. */
static int count_begun(size_t *populated, struct opk_ctx *ctx, const void *image)
{
	NV_PARAMS(params, DataGetNumRanges, .pCounterDataImage = image);
	struct opk_nv *nv;

	if (!ctx->nv->features[NV_FEATURE_RANGE_COUNT].available)
		return OPK_OK;
	TRY(nv_need(&nv, ctx, NV_FEATURE_RANGE_COUNT));
	TRY(NV_NVPW(nv, ctx, NVPW_CounterData_GetNumRanges, &params));
	if (*populated < params.numRanges)
		*populated = params.numRanges;
	return OPK_OK;
}

/*
 * From 13.1 on, CUPTI reads one slot past the end of an image of ranges. Makes a copy with zeros
 * after it, free(); NULL if none is needed. In a large copy most zeros are never touched, and take
 * no memory.
 */
static int copy_with_room(void **out, struct opk_nv *nv, struct opk_ctx *ctx, const void *image,
                          size_t size)
{
	enum { CUPTI_13_1 = 130100 };
	enum opk_profiler profiler = OPK_PROFILER_RANGE;
	int code = OPK_OK;

	*out = NULL;
	if (nv->version < CUPTI_13_1)
		return OPK_OK;
	if (nv->features[NV_FEATURE_SAMPLE_TIMES].available)
		code = opk_nv_image_profiler(&profiler, ctx, image);
	if (code || profiler == OPK_PROFILER_PM)
		return code;
	*out = size <= SIZE_MAX / 2 ? opk_alloc(2 * size) : NULL;
	if (!*out)
		return opk_nomem(ctx, "a counter data image");
	memcpy(*out, image, size);
	return OPK_OK;
}

int opk_nv_image_info(struct opk_nv_image_info *out, struct opk_ctx *ctx, const void *image,
                      size_t size)
{
	NV_PARAMS(params, PmGetCounterDataInfo, .counterDataImageSize = size);
	opk_autofree void *copy = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	TRY(copy_with_room(&copy, nv, ctx, image, size));
	params.pCounterDataImage = copy ? copy : image;
	TRY(NV_CUPTI(nv, ctx, cuptiPmSamplingGetCounterDataInfo, &params));
	*out = (struct opk_nv_image_info){ params.numTotalSamples, params.numPopulatedSamples,
		                           params.numCompletedSamples };
	return count_begun(&out->populated, ctx, image);
}

int opk_nv_image_profiler(enum opk_profiler *out, struct opk_ctx *ctx, const void *image)
{
	NV_PARAMS(params, SamplerGetSampleTime, .pCounterDataImage = image);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES));
	*out = NV_CALL(nv, NVPW_PeriodicSampler_CounterData_GetSampleTime, &params)
	               ? OPK_PROFILER_RANGE
	               : OPK_PROFILER_PM;
	return OPK_OK;
}

int opk_nv_sample_time(uint64_t *start, uint64_t *end, struct opk_ctx *ctx, const void *image,
                       size_t index)
{
	NV_PARAMS(params, SamplerGetSampleTime, .pCounterDataImage = image, .rangeIndex = index);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SAMPLE_TIMES));
	TRY(NV_NVPW(nv, ctx, NVPW_PeriodicSampler_CounterData_GetSampleTime, &params));
	*start = params.timestampStart;
	*end = params.timestampEnd;
	return OPK_OK;
}

int opk_nv_range_name(char **out, struct opk_ctx *ctx, const void *image, size_t size, size_t index)
{
	NV_PARAMS(params, HostGetRangeName, .pCounterDataImage = image,
	          .counterDataImageSize = size, .rangeIndex = index, .delimiter = "/");
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	TRY(NV_CUPTI(nv, ctx, cuptiProfilerHostGetRangeName, &params));
	*out = params.pRangeName ? (char *)params.pRangeName : opk_strdup("");
	return *out ? OPK_OK : opk_nomem(ctx, "a range name");
}

/* ---- PerfWorks' combiner */

struct opk_nv_combiner {
	struct opk_nv *nv;
	void *object;
	bool *begun; /* for each slot, whether it has content */
	size_t slots;
};

static int extract_prefix(void **out, size_t *size, struct opk_nv *nv, struct opk_ctx *ctx,
                          const void *image, size_t image_size)
{
	NV_PARAMS(params, DataExtractPrefix, .pCounterDataSrc = image,
	          .counterDataSrcSize = image_size);
	opk_autofree void *prefix = NULL;

	/* The first call returns the size, the second the prefix. */
	for (int round = 0; round < 2; round++) {
		TRY(NV_NVPW(nv, ctx, NVPW_CounterData_ExtractCounterDataPrefix, &params));
		/* The prefix is a part of the image. */
		if (params.counterDataPrefixSize > image_size)
			return opk_fail(ctx, OPK_EFAILED,
			                "the image's prefix is larger than the image");
		if (!prefix && !(prefix = opk_alloc(params.counterDataPrefixSize)))
			return opk_nomem(ctx, "a counter-data prefix");
		params.pCounterDataPrefix = prefix;
	}
	*size = params.counterDataPrefixSize;
	*out = opk_take(prefix);
	return OPK_OK;
}

static int copy_size(size_t *out, struct opk_nv *nv, struct opk_ctx *ctx,
                     const struct nv_DataCopyInitialize *copy)
{
	NV_PARAMS(params, DataCopySize, .pCounterDataPrefix = copy->pCounterDataPrefix,
	          .counterDataPrefixSize = copy->counterDataPrefixSize,
	          .maxNumRanges = copy->maxNumRanges,
	          .maxNumRangeTreeNodes = copy->maxNumRangeTreeNodes,
	          .maxRangeNameLength = copy->maxRangeNameLength,
	          .pCounterDataSrc = copy->pCounterDataSrc);

	TRY(NV_NVPW(nv, ctx, NVPW_CounterData_CalculateCounterDataImageCopySize, &params));
	*out = params.copyDataImageCounterSize;
	return OPK_OK;
}

int opk_nv_image_of(void **out, size_t *out_size, struct opk_ctx *ctx,
                    const struct opk_nv_image_plan *plan)
{
	/* Names have one level here, so each range is one node. */
	NV_PARAMS(params, DataCopyInitialize, .pCounterDataPrefix = plan->prefix,
	          .counterDataPrefixSize = plan->prefix_size, .maxNumRanges = (uint32_t)plan->slots,
	          .maxNumRangeTreeNodes = (uint32_t)plan->slots,
	          .maxRangeNameLength = (uint32_t)plan->name_size, .pCounterDataSrc = plan->gpu);
	opk_autofree void *copy = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_COMBINE));
	TRY(copy_size(out_size, nv, ctx, &params));
	/* A damaged image may claim any size. */
	if (plan->most && *out_size / (plan->slots + 1) > plan->most)
		return opk_fail(ctx, OPK_EFAILED, "the image's head is larger than the image");
	copy = opk_alloc(*out_size);
	if (!copy)
		return opk_nomem(ctx, "a counter data image");
	params.pCounterDataDst = copy;
	TRY(NV_NVPW(nv, ctx, NVPW_CounterData_InitializeCounterDataImageCopy, &params));
	*out = opk_take(copy);
	return OPK_OK;
}

int opk_nv_image_like(void **out, size_t *out_size, struct opk_ctx *ctx, const void *image,
                      size_t size, const struct opk_nv_room *room)
{
	/* From 13.3 on, heads are larger than in older images. */
	enum { MOST_MORE_HEAD = 1 << 16 };
	struct opk_nv_image_plan plan = { .gpu = image,
		                          .slots = room->slots,
		                          .name_size = room->name_size,
		                          .most = size + room->name_size + MOST_MORE_HEAD };
	opk_autofree void *prefix = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_COMBINE));
	TRY(extract_prefix(&prefix, &plan.prefix_size, nv, ctx, image, size));
	plan.prefix = prefix;
	return opk_nv_image_of(out, out_size, ctx, &plan);
}

int opk_nv_combiner_new(struct opk_nv_combiner **out, struct opk_ctx *ctx, void *image)
{
	NV_PARAMS(params, CombinerCreate, .pCounterDataDst = image);
	opk_autofree struct opk_nv_combiner *combiner = opk_alloc(sizeof *combiner);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_COMBINE));
	if (!combiner)
		return opk_nomem(ctx, "a combiner");
	TRY(NV_NVPW(nv, ctx, NVPW_CounterDataCombiner_Create, &params));
	combiner->nv = nv;
	combiner->object = params.pCounterDataCombiner;
	*out = opk_take(combiner);
	return OPK_OK;
}

void opk_nv_combiner_free(struct opk_nv_combiner *combiner)
{
	NV_PARAMS(params, CombinerDestroy);

	if (!combiner)
		return;
	params.pCounterDataCombiner = combiner->object;
	NV_CALL(combiner->nv, NVPW_CounterDataCombiner_Destroy, &params);
	free(combiner->begun);
	free(combiner);
}

int opk_nv_combiner_range(size_t *slot, struct opk_ctx *ctx, struct opk_nv_combiner *combiner,
                          const char *name)
{
	NV_PARAMS(params, CombinerCreateRange, .pCounterDataCombiner = combiner->object,
	          .numDescriptions = 1, .ppDescriptions = &name);

	TRY(NV_NVPW(combiner->nv, ctx, NVPW_CounterDataCombiner_CreateRange, &params));
	*slot = params.rangeIndexDst;
	return OPK_OK;
}

int opk_nv_combiner_ranges(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t count,
                           const char *const *names)
{
	for (size_t i = 0; i < count; i++) {
		char number[24];
		const char *name = names ? names[i] : number;
		size_t slot = i;

		snprintf(number, sizeof number, "%zu", i);
		TRY(opk_nv_combiner_range(&slot, ctx, combiner, name));
		if (slot != i)
			return opk_fail(ctx, OPK_EINPUT, "two ranges of one image are called '%s'",
			                name);
	}
	return OPK_OK;
}

bool opk_nv_combiner_begun(const struct opk_nv_combiner *combiner, size_t slot)
{
	return slot < combiner->slots && combiner->begun[slot];
}

static int begin_slot(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot)
{
	size_t room = 2 * slot + 8;
	bool *begun = combiner->begun;

	if (slot >= combiner->slots) {
		begun = opk_realloc_array(begun, room, sizeof *begun);
		if (!begun)
			return opk_nomem(ctx, "a combiner's slots");
		memset(begun + combiner->slots, 0, (room - combiner->slots) * sizeof *begun);
		combiner->begun = begun;
		combiner->slots = room;
	}
	begun[slot] = true;
	return OPK_OK;
}

int opk_nv_combiner_sum(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                        const void *image, size_t index)
{
	NV_PARAMS(params, CombinerSumIntoRange, .pCounterDataCombiner = combiner->object,
	          .rangeIndexDst = slot, .pCounterDataSrc = image, .rangeIndexSrc = index);
	int code = NV_NVPW(combiner->nv, ctx, NVPW_CounterDataCombiner_SumIntoRange, &params);

	return code ? code : begin_slot(ctx, combiner, slot);
}

/* 13.5 takes the content of a new slot for a range. */
int opk_nv_combiner_average(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                            const void *image, size_t index)
{
	NV_PARAMS(params, CombinerAccumulate, .pCounterDataCombiner = combiner->object,
	          .rangeIndexDst = slot, .dstMultiplier = opk_nv_combiner_begun(combiner, slot),
	          .pCounterDataSrc = image, .rangeIndexSrc = index, .srcMultiplier = 1);
	int code = NV_NVPW(combiner->nv, ctx, NVPW_CounterDataCombiner_AccumulateIntoRange,
	                   &params);

	return code ? code : begin_slot(ctx, combiner, slot);
}

int opk_nv_trim_samples(size_t *size, struct opk_ctx *ctx, void *image)
{
	NV_PARAMS(params, SamplerTrim, .pCounterDataImage = image, .counterDataImageSize = *size);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_TRIM_SAMPLES));
	TRY(NV_NVPW(nv, ctx, NVPW_PeriodicSampler_CounterData_TrimInPlace, &params));
	*size = params.counterDataImageTrimmedSize;
	return OPK_OK;
}
