/* SPDX-License-Identifier: BSD-2-Clause */
/* The legacy profiler, cuptiProfiler*: for drivers and libraries older than CUPTI 12.6. */
#include "collect/profilers/profilers.h"

/* A call whose struct has the context and these members. */
#define CALL(profiler, call, ...)                                                                  \
	TARGET_CALL(cuptiProfiler##call,                                                           \
	            &(CUpti_Profiler_##call##_Params)TARGET_STRUCT(Profiler_##call,                \
	                                                           .ctx = (profiler)->context,     \
	                                                           ##__VA_ARGS__))

static bool enable(struct profiler *profiler)
{
	profiler->next_pass = ANY_PASS;
	return true;
}

/* The scratch buffer that the interface needs besides an image; 0: none. */
static size_t new_scratch(struct profiler *profiler)
{
	TARGET_PARAMS(size, Profiler_CounterDataImage_CalculateScratchBufferSize,
	              .counterDataImageSize = profiler->image_size,
	              .pCounterDataImage = profiler->image);
	TARGET_PARAMS(params, Profiler_CounterDataImage_InitializeScratchBuffer,
	              .counterDataImageSize = profiler->image_size,
	              .pCounterDataImage = profiler->image);

	if (!TARGET_CALL(cuptiProfilerCounterDataImageCalculateScratchBufferSize, &size))
		return 0;
	free(profiler->scratch);
	profiler->scratch = calloc(1, size.counterDataScratchBufferSize);
	params.counterDataScratchBufferSize = size.counterDataScratchBufferSize;
	params.pCounterDataScratchBuffer = profiler->scratch;
	return profiler->scratch
	                       && TARGET_CALL(cuptiProfilerCounterDataImageInitializeScratchBuffer,
	                                      &params)
	               ? params.counterDataScratchBufferSize
	               : 0;
}

static bool begin_session(struct profiler *profiler)
{
	size_t scratch = new_scratch(profiler);
	/* User replay always starts at the first pass. */
	CUpti_ProfilerReplayMode mode = profiler->kernel_replay ? CUPTI_KernelReplay
	                                : profiler->pass        ? CUPTI_ApplicationReplay
	                                                        : CUPTI_UserReplay;

	profiler->in_session = scratch
	                       && CALL(profiler, BeginSession,
	                               .counterDataScratchBufferSize = scratch,
	                               .pCounterDataScratchBuffer = profiler->scratch,
	                               .counterDataImageSize = profiler->image_size,
	                               .pCounterDataImage = profiler->image,
	                               .range = profiler->push ? CUPTI_UserRange : CUPTI_AutoRange,
	                               .replayMode = mode, .maxRangesPerPass = profiler->slots,
	                               .maxLaunchesPerPass = profiler->slots);
	return profiler->in_session;
}

static bool configure(struct profiler *profiler)
{
	return begin_session(profiler)
	       && CALL(profiler, SetConfig, .pConfig = profiler->images->config,
	               .configSize = profiler->images->config_size, .minNestingLevel = 1,
	               .numNestingLevels = 1, .passIndex = profiler->pass, .targetNestingLevel = 1)
	       && (profiler->kernel_replay || CALL(profiler, BeginPass));
}

static bool start(struct profiler *profiler)
{
	return CALL(profiler, EnableProfiling);
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
	return CALL(profiler, DisableProfiling);
}

static bool end_session(struct profiler *profiler)
{
	bool good = CALL(profiler, UnsetConfig);

	profiler->in_session = false;
	return CALL(profiler, EndSession) && good;
}

static bool decode(struct profiler *profiler)
{
	bool good = (profiler->kernel_replay || CALL(profiler, EndPass))
	            && CALL(profiler, FlushCounterData);

	return end_session(profiler) && good;
}

/* A broken session still uses the buffers: it must end before they are freed. */
static void disable(struct profiler *profiler)
{
	if (profiler->in_session)
		end_session(profiler);
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
