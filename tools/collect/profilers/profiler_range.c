/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/profilers/profiler.h"

/* A parameter struct of this interface, filled as far as all of them are alike. */
#define PARAMS(call, profiler)                                                                     \
	{                                                                                          \
		.structSize = CUpti_RangeProfiler_##call##_Params_STRUCT_SIZE,                     \
		.pRangeProfilerObject = (profiler)->object,                                        \
	}

static bool enable(struct profiler *profiler)
{
	CUpti_RangeProfiler_Enable_Params params = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = profiler->context,
	};

	if (!TARGET_CALL(profiler->target, cuptiRangeProfilerEnable, &params))
		return false;
	profiler->object = params.pRangeProfilerObject;
	profiler->next_pass = ANY_PASS;
	return true;
}

static bool configure(struct profiler *profiler)
{
	const struct profiler_config *config = &profiler->config;
	CUpti_RangeProfiler_SetConfig_Params params = PARAMS(SetConfig, profiler);

	params.configSize = config->config_size;
	params.pConfig = config->config;
	params.counterDataImageSize = config->image_size;
	params.pCounterDataImage = config->image;
	params.range = config->push ? CUPTI_UserRange : CUPTI_AutoRange;
	params.replayMode = config->kernel_replay ? CUPTI_KernelReplay : CUPTI_UserReplay;
	params.maxRangesPerPass = config->slots;
	params.numNestingLevels = 1;
	params.minNestingLevel = 1;
	params.passIndex = config->pass;
	params.targetNestingLevel = 1;
	return TARGET_CALL(profiler->target, cuptiRangeProfilerSetConfig, &params);
}

static bool start(struct profiler *profiler)
{
	CUpti_RangeProfiler_Start_Params params = PARAMS(Start, profiler);

	return TARGET_CALL(profiler->target, cuptiRangeProfilerStart, &params);
}

static bool push(struct profiler *profiler, const char *name)
{
	CUpti_RangeProfiler_PushRange_Params params = PARAMS(PushRange, profiler);

	params.pRangeName = name;
	return TARGET_CALL(profiler->target, cuptiRangeProfilerPushRange, &params);
}

static bool pop(struct profiler *profiler)
{
	CUpti_RangeProfiler_PopRange_Params params = PARAMS(PopRange, profiler);

	return TARGET_CALL(profiler->target, cuptiRangeProfilerPopRange, &params);
}

static bool stop(struct profiler *profiler)
{
	CUpti_RangeProfiler_Stop_Params params = PARAMS(Stop, profiler);

	if (!TARGET_CALL(profiler->target, cuptiRangeProfilerStop, &params))
		return false;
	profiler->next_pass = params.passIndex;
	return true;
}

static bool decode(struct profiler *profiler)
{
	CUpti_RangeProfiler_DecodeData_Params params = PARAMS(DecodeData, profiler);

	return TARGET_CALL(profiler->target, cuptiRangeProfilerDecodeData, &params);
}

static void disable(struct profiler *profiler)
{
	CUpti_RangeProfiler_Disable_Params params = PARAMS(Disable, profiler);

	if (!profiler->object)
		return;
	profiler->object = NULL;
	TARGET_CALL(profiler->target, cuptiRangeProfilerDisable, &params);
}

const struct profiler_ops range_profiler = {
	.name = "range-profiler",
	.takes_turns = true,
	.enable = enable,
	.configure = configure,
	.start = start,
	.push = push,
	.pop = pop,
	.stop = stop,
	.decode = decode,
	.disable = disable,
};
