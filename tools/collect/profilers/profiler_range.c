/* SPDX-License-Identifier: BSD-2-Clause */
/* The range profiler: cuptiRangeProfiler*. */
#include "collect/profilers/profilers.h"

/* A call whose struct has the object and these members. */
#define CALL(profiler, call, ...)                                                                  \
	TARGET_CALL(cuptiRangeProfiler##call,                                                      \
	            &(CUpti_RangeProfiler_##call##_Params)                                         \
	                    TARGET_STRUCT(RangeProfiler_##call,                                    \
	                                  .pRangeProfilerObject = (profiler)->object,              \
	                                  ##__VA_ARGS__))

static bool enable(struct profiler *profiler)
{
	TARGET_PARAMS(params, RangeProfiler_Enable, .ctx = profiler->context);

	if (!TARGET_CALL(cuptiRangeProfilerEnable, &params))
		return false;
	profiler->object = params.pRangeProfilerObject;
	profiler->next_pass = ANY_PASS;
	return true;
}

static bool configure(struct profiler *profiler)
{
	return CALL(profiler, SetConfig, .pConfig = profiler->images->config,
	            .configSize = profiler->images->config_size,
	            .pCounterDataImage = profiler->image,
	            .counterDataImageSize = profiler->image_size,
	            .range = profiler->push ? CUPTI_UserRange : CUPTI_AutoRange,
	            .replayMode = profiler->kernel_replay ? CUPTI_KernelReplay : CUPTI_UserReplay,
	            .maxRangesPerPass = profiler->slots, .passIndex = profiler->pass,
	            .numNestingLevels = 1, .minNestingLevel = 1, .targetNestingLevel = 1);
}

static bool start(struct profiler *profiler)
{
	return CALL(profiler, Start);
}

static bool push(struct profiler *profiler, const char *name)
{
	return CALL(profiler, PushRange, .pRangeName = name);
}

static bool pop(struct profiler *profiler)
{
	return CALL(profiler, PopRange);
}

static bool stop(struct profiler *profiler)
{
	TARGET_PARAMS(params, RangeProfiler_Stop, .pRangeProfilerObject = profiler->object);

	if (!TARGET_CALL(cuptiRangeProfilerStop, &params))
		return false;
	profiler->next_pass = params.passIndex;
	return true;
}

static bool decode(struct profiler *profiler)
{
	return CALL(profiler, DecodeData);
}

static void disable(struct profiler *profiler)
{
	if (profiler->object)
		CALL(profiler, Disable);
	profiler->object = NULL;
}

const struct profiler_ops range_profiler = {
	.name = "range-profiler",
	.enable = enable,
	.configure = configure,
	.start = start,
	.push = push,
	.pop = pop,
	.stop = stop,
	.decode = decode,
	.disable = disable,
};
