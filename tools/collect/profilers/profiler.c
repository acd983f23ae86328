/* SPDX-License-Identifier: BSD-2-Clause */
/* Common parts of both range profilers, and partly of PM sampling. */
#include "collect/profilers/profilers.h"

const struct profiler_ops *profiler_choose(bool legacy)
{
	/*
	 * Up to 12.9 the range profiler leaves an image without ranges if the image was made from a
	 * prefix; the legacy profiler of the same libraries fills it. Seen on an H100 with 12.6,
	 * 12.8 and 12.9.
	 */
	if (target.cuptiRangeProfilerEnable && target.cupti_version >= CUPTI_13_0 && !legacy)
		return &range_profiler;
	if (target.cuptiProfilerBeginSession)
		return &legacy_profiler;
	say(0, "%s has no %s profiler", target.cupti_path, legacy ? "legacy" : "range");
	return NULL;
}

bool profiler_initialize(void)
{
	opk_autoloading bool begun = loading_begin();
	TARGET_PARAMS(params, Profiler_Initialize);

	return TARGET_CALL(cuptiProfilerInitialize, &params);
}

/* Explains after a failure why the device can't be profiled, if CUPTI knows. */
static void explain(int device)
{
	TARGET_PARAMS(params, Profiler_DeviceSupported, .cuDevice = device);
	const struct {
		const CUpti_Profiler_Support_Level *level;
		const char *what;
	} reasons[] = {
		{ &params.architecture, "its architecture is too old" },
		{ &params.sli, "SLI is on" },
		{ &params.vGpu, "this vGPU does not allow it" },
		{ &params.confidentialCompute, "confidential computing is on" },
		{ &params.cmp, "it is a mining processor" },
		{ &params.wsl, "WSL does not allow it" },
	};

	if (target.cuptiProfilerDeviceSupported(&params)
	    || params.isSupported != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)
		return;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (*reasons[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
		    || *reasons[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
			say(0, "device %d can't be profiled: %s", device, reasons[i].what);
}

/* Asks for the image, and its *size; if `image` is not NULL, the size must be known. */
static bool ask_availability(CUcontext context, int device, uint8_t *image, size_t *size)
{
	TARGET_PARAMS(ranges, Profiler_GetCounterAvailability, .ctx = context,
	              .counterAvailabilityImageSize = *size, .pCounterAvailabilityImage = image);
	TARGET_PARAMS(samples, PmSampling_GetCounterAvailability, .deviceIndex = (size_t)device,
	              .counterAvailabilityImageSize = *size, .pCounterAvailabilityImage = image);
	bool good;

	if (context)
		good = TARGET_CALL(cuptiProfilerGetCounterAvailability, &ranges);
	else
		good = target.cuptiPmSamplingGetCounterAvailability
		       && TARGET_CALL(cuptiPmSamplingGetCounterAvailability, &samples);
	*size = context ? ranges.counterAvailabilityImageSize
	                : samples.counterAvailabilityImageSize;
	return good;
}

uint8_t *profiler_availability(CUcontext context, int device, size_t *size)
{
	opk_autofree uint8_t *image = NULL;

	*size = 0;
	if (ask_availability(context, device, NULL, size))
		image = calloc(1, *size);
	if (image && ask_availability(context, device, image, size))
		return opk_take(image);
	explain(device);
	return NULL;
}

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

static size_t image_size(const struct profiler *profiler, uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(profiler->images, ranges);
	TARGET_PARAMS(params, Profiler_CounterDataImage_CalculateSize,
	              .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options);

	return TARGET_CALL(cuptiProfilerCounterDataImageCalculateSize, &params)
	               ? params.counterDataImageSize
	               : 0;
}

uint32_t image_ranges(const struct profiler *profiler, size_t bytes, uint32_t most)
{
	size_t one = image_size(profiler, 1), two = one ? image_size(profiler, 2) : 0;
	size_t ranges = two > one ? bytes / (two - one) : 1;

	return ranges < 1 ? 1 : ranges > most ? most : (uint32_t)ranges;
}

uint8_t *image_new(const struct profiler *profiler, size_t *size)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(profiler->images,
	                                                            profiler->slots);
	TARGET_PARAMS(params, Profiler_CounterDataImage_Initialize,
	              .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options,
	              .counterDataImageSize = image_size(profiler, profiler->slots));
	opk_autofree uint8_t *image = params.counterDataImageSize
	                                      ? calloc(1, params.counterDataImageSize)
	                                      : NULL;

	params.pCounterDataImage = image;
	*size = params.counterDataImageSize;
	return image && TARGET_CALL(cuptiProfilerCounterDataImageInitialize, &params)
	               ? opk_take(image)
	               : NULL;
}

size_t profiler_count(const struct profiler *profiler, size_t expected)
{
	TARGET_PARAMS(params, RangeProfiler_GetCounterDataInfo,
	              .pCounterDataImage = profiler->image,
	              .counterDataImageSize = profiler->image_size);

	if (!target.cuptiRangeProfilerGetCounterDataInfo)
		return expected;
	return TARGET_CALL(cuptiRangeProfilerGetCounterDataInfo, &params) ? params.numTotalRanges
	                                                                  : 0;
}
