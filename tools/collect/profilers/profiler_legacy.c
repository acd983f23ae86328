/* SPDX-License-Identifier: BSD-2-Clause */
/* cuptiProfiler*: for drivers and libraries from before the range profiler (CUPTI 12.6). */
#include <stdlib.h>

#include "collect/profilers/profiler.h"

#define PARAMS(call, profiler)                                                                     \
	{                                                                                          \
		.structSize = CUpti_Profiler_##call##_Params_STRUCT_SIZE,                          \
		.ctx = (profiler)->context,                                                        \
	}

static bool enable(struct profiler *profiler)
{
	(void)profiler;
	return true;
}

/* The scratch buffer that the interface wants beside an image. */
static size_t new_scratch(struct profiler *profiler)
{
	CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params size = {
		.structSize =
			CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params_STRUCT_SIZE,
		.counterDataImageSize = profiler->config.image_size,
		.pCounterDataImage = profiler->config.image,
	};
	CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params params = {
		.structSize =
			CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params_STRUCT_SIZE,
		.counterDataImageSize = profiler->config.image_size,
		.pCounterDataImage = profiler->config.image,
	};

	if (!TARGET_CALL(profiler->target, cuptiProfilerCounterDataImageCalculateScratchBufferSize,
	                 &size))
		return 0;
	free(profiler->scratch);
	profiler->scratch = calloc(1, size.counterDataScratchBufferSize);
	params.counterDataScratchBufferSize = size.counterDataScratchBufferSize;
	params.pCounterDataScratchBuffer = profiler->scratch;
	if (!profiler->scratch
	    || !TARGET_CALL(profiler->target, cuptiProfilerCounterDataImageInitializeScratchBuffer,
	                    &params))
		return 0;
	return params.counterDataScratchBufferSize;
}

static bool begin_session(struct profiler *profiler)
{
	const struct profiler_config *config = &profiler->config;
	CUpti_Profiler_BeginSession_Params params = PARAMS(BeginSession, profiler);

	params.counterDataScratchBufferSize = new_scratch(profiler);
	params.pCounterDataScratchBuffer = profiler->scratch;
	params.counterDataImageSize = config->image_size;
	params.pCounterDataImage = config->image;
	params.range = config->push ? CUPTI_UserRange : CUPTI_AutoRange;
	params.replayMode = config->kernel_replay ? CUPTI_KernelReplay : CUPTI_UserReplay;
	params.maxRangesPerPass = config->slots;
	params.maxLaunchesPerPass = config->slots;
	profiler->in_session = params.counterDataScratchBufferSize
	                       && TARGET_CALL(profiler->target, cuptiProfilerBeginSession, &params);
	return profiler->in_session;
}

static bool configure(struct profiler *profiler)
{
	CUpti_Profiler_SetConfig_Params params = PARAMS(SetConfig, profiler);
	CUpti_Profiler_BeginPass_Params pass = PARAMS(BeginPass, profiler);

	params.pConfig = profiler->config.config;
	params.configSize = profiler->config.config_size;
	params.minNestingLevel = 1;
	params.numNestingLevels = 1;
	params.targetNestingLevel = 1;
	return begin_session(profiler)
	       && TARGET_CALL(profiler->target, cuptiProfilerSetConfig, &params)
	       && (profiler->config.kernel_replay
	           || TARGET_CALL(profiler->target, cuptiProfilerBeginPass, &pass));
}

static bool start(struct profiler *profiler)
{
	CUpti_Profiler_EnableProfiling_Params params = PARAMS(EnableProfiling, profiler);

	return TARGET_CALL(profiler->target, cuptiProfilerEnableProfiling, &params);
}

static bool push(struct profiler *profiler, const char *name)
{
	CUpti_Profiler_PushRange_Params params = PARAMS(PushRange, profiler);

	params.pRangeName = name;
	return TARGET_CALL(profiler->target, cuptiProfilerPushRange, &params);
}

static bool pop(struct profiler *profiler)
{
	CUpti_Profiler_PopRange_Params params = PARAMS(PopRange, profiler);

	return TARGET_CALL(profiler->target, cuptiProfilerPopRange, &params);
}

static bool stop(struct profiler *profiler)
{
	CUpti_Profiler_DisableProfiling_Params params = PARAMS(DisableProfiling, profiler);

	return TARGET_CALL(profiler->target, cuptiProfilerDisableProfiling, &params);
}

static bool decode(struct profiler *profiler)
{
	CUpti_Profiler_EndPass_Params pass = PARAMS(EndPass, profiler);
	CUpti_Profiler_FlushCounterData_Params flush = PARAMS(FlushCounterData, profiler);
	CUpti_Profiler_UnsetConfig_Params unset = PARAMS(UnsetConfig, profiler);
	CUpti_Profiler_EndSession_Params end = PARAMS(EndSession, profiler);
	bool good = profiler->config.kernel_replay
	            || TARGET_CALL(profiler->target, cuptiProfilerEndPass, &pass);

	good = good && TARGET_CALL(profiler->target, cuptiProfilerFlushCounterData, &flush);
	profiler->in_session = false;
	good = TARGET_CALL(profiler->target, cuptiProfilerUnsetConfig, &unset) && good;
	return TARGET_CALL(profiler->target, cuptiProfilerEndSession, &end) && good;
}

/* A session that broke still has our buffers, and must be ended before they go. */
static void disable(struct profiler *profiler)
{
	CUpti_Profiler_UnsetConfig_Params unset = PARAMS(UnsetConfig, profiler);
	CUpti_Profiler_EndSession_Params end = PARAMS(EndSession, profiler);

	if (profiler->in_session) {
		profiler->target->cuptiProfilerUnsetConfig(&unset);
		profiler->target->cuptiProfilerEndSession(&end);
	}
	profiler->in_session = false;
	free(profiler->scratch);
	profiler->scratch = NULL;
}

const struct profiler_ops legacy_profiler = {
	.name = "legacy",
	.enable = enable,
	.configure = configure,
	.start = start,
	.push = push,
	.pop = pop,
	.stop = stop,
	.decode = decode,
	.disable = disable,
};
