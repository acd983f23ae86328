/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's counter data images, of both kinds. */
#include <string.h>

#include "fake_gpu/fake_cupti.h"

struct fake_image *image_open(const uint8_t *bytes, size_t size, enum fake_image_kind kind)
{
	struct fake_image *image = (struct fake_image *)(uintptr_t)bytes;

	if (!image || size < sizeof *image || memcmp(image->magic, FAKE_IMAGE_MAGIC, 8)
	    || image->kind != kind || image->count > image->max_records
	    || size - sizeof *image < (size_t)image->max_records * image->record_size)
		return NULL;
	return image;
}

void *image_record(struct fake_image *image, size_t i)
{
	return (uint8_t *)(image + 1) + i * image->record_size;
}

void image_init(uint8_t *bytes, size_t size, enum fake_image_kind kind, size_t record_size,
                size_t prefix_size)
{
	struct fake_image *image = (struct fake_image *)bytes;

	memset(bytes, 0, size);
	memcpy(image->magic, FAKE_IMAGE_MAGIC, 8);
	image->kind = kind;
	image->record_size = (uint32_t)record_size;
	image->max_records = (uint32_t)((size - sizeof *image) / record_size);
	image->prefix_size = prefix_size;
}

/* Room for a path and its final 0. */
size_t image_path_room(const struct fake_image *image)
{
	return image->record_size - sizeof(struct fake_range_record);
}

typedef CUpti_Profiler_CounterDataImageOptions options;

/* FAKE_GPU_RECORD_BYTES makes images as large as images with all instances of a unit. */
static size_t record_size(const options *of)
{
	size_t path = (of->maxRangeNameLength + (size_t)8) & ~(size_t)7;
	size_t least = sizeof(struct fake_range_record) + path;
	size_t wanted = fake_number("FAKE_GPU_RECORD_BYTES", 0) & ~(uint64_t)7;

	return wanted > least ? wanted : least;
}

static size_t image_size(const options *of)
{
	return sizeof(struct fake_image) + of->maxNumRanges * record_size(of);
}

static int check(const options *of, size_t size_of_options)
{
	if (profiler_ready())
		return profiler_ready();
	if (!of || size_of_options != CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE
	    || of->structSize != CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE
	    || !of->pCounterDataPrefix || !of->counterDataPrefixSize || !of->maxNumRanges
	    || of->maxNumRangeTreeNodes < of->maxNumRanges || !of->maxRangeNameLength)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

static int calculate_size(CUpti_Profiler_CounterDataImage_CalculateSize_Params *params)
{
	int status = check(params->pOptions, params->sizeofCounterDataImageOptions);

	if (!status)
		params->counterDataImageSize = image_size(params->pOptions);
	return status;
}

CUptiResult cuptiProfilerCounterDataImageCalculateSize(
	CUpti_Profiler_CounterDataImage_CalculateSize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_CounterDataImage_CalculateSize_Params, params,
	                  calculate_size(params), "%zu", params->counterDataImageSize);
}

static int initialize(const CUpti_Profiler_CounterDataImage_Initialize_Params *params)
{
	int status = check(params->pOptions, params->sizeofCounterDataImageOptions);
	size_t size = status ? 0 : image_size(params->pOptions);

	if (status)
		return status;
	if (!params->pCounterDataImage || params->counterDataImageSize < size)
		return CUPTI_ERROR_INVALID_PARAMETER;
	image_init(params->pCounterDataImage, size, FAKE_IMAGE_RANGES,
	           record_size(params->pOptions), params->pOptions->counterDataPrefixSize);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageInitialize(
	CUpti_Profiler_CounterDataImage_Initialize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_CounterDataImage_Initialize_Params, params,
	                  initialize(params), "%u",
	                  params->pOptions ? params->pOptions->maxNumRanges : 0);
}

enum { SCRATCH_SIZE = 4096 };

static int scratch_size(CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params *params)
{
	if (!image_open(params->pCounterDataImage, params->counterDataImageSize, FAKE_IMAGE_RANGES))
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->counterDataScratchBufferSize = SCRATCH_SIZE;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageCalculateScratchBufferSize(
	CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params, params,
	                  scratch_size(params), "%s", "");
}

static int initialize_scratch(
	const CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params *params)
{
	if (!image_open(params->pCounterDataImage, params->counterDataImageSize, FAKE_IMAGE_RANGES)
	    || !params->pCounterDataScratchBuffer
	    || params->counterDataScratchBufferSize < SCRATCH_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(params->pCounterDataScratchBuffer, 0, SCRATCH_SIZE);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageInitializeScratchBuffer(
	CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params, params,
	                  initialize_scratch(params), "%s", "");
}
