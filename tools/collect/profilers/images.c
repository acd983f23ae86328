/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/profilers/images.h"

#include <stdlib.h>

/* Range names are numbers. */
enum { MAX_RANGE_NAME = 16 };

static CUpti_Profiler_CounterDataImageOptions options_of(const struct image_set *set,
                                                         uint32_t ranges)
{
	return (CUpti_Profiler_CounterDataImageOptions){
		.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pCounterDataPrefix = set->prefix,
		.counterDataPrefixSize = set->prefix_size,
		.maxNumRanges = ranges,
		.maxNumRangeTreeNodes = ranges,
		.maxRangeNameLength = MAX_RANGE_NAME,
	};
}

size_t image_size(const struct target *target, const struct image_set *set, uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(set, ranges);
	CUpti_Profiler_CounterDataImage_CalculateSize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_CalculateSize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pOptions = &options,
	};

	return TARGET_CALL(target, cuptiProfilerCounterDataImageCalculateSize, &params)
	               ? params.counterDataImageSize
	               : 0;
}

uint32_t image_ranges(const struct target *target, const struct image_set *set, size_t bytes,
                      uint32_t most)
{
	size_t one = image_size(target, set, 1), two = one ? image_size(target, set, 2) : 0;
	size_t ranges = two > one ? bytes / (two - one) : 1;

	return ranges < 1 ? 1 : ranges > most ? most : (uint32_t)ranges;
}

uint8_t *image_new(const struct target *target, const struct image_set *set, uint32_t ranges,
                   size_t *size)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(set, ranges);
	CUpti_Profiler_CounterDataImage_Initialize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pOptions = &options,
		.counterDataImageSize = image_size(target, set, ranges),
	};
	uint8_t *image = params.counterDataImageSize ? calloc(1, params.counterDataImageSize)
	                                             : NULL;

	params.pCounterDataImage = image;
	*size = params.counterDataImageSize;
	if (image && TARGET_CALL(target, cuptiProfilerCounterDataImageInitialize, &params))
		return image;
	free(image);
	return NULL;
}
