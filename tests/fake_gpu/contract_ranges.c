/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract: CUPTI's range profilers. */
#include "fake_gpu/contract.h"

/* All that a test of ranges has at hand. */
static struct {
	CUcontext context;
	CUfunction kernel;
	CUpti_RangeProfiler_Object *object;
	struct bytes config, prefix;
	uint8_t *image;
	size_t image_size;
} t;

static CUpti_Profiler_CounterDataImageOptions options_of(uint32_t ranges)
{
	return (CUpti_Profiler_CounterDataImageOptions){
		.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pCounterDataPrefix = t.prefix.data,
		.counterDataPrefixSize = t.prefix.size,
		.maxNumRanges = ranges,
		.maxNumRangeTreeNodes = ranges,
		.maxRangeNameLength = 32,
	};
}

static size_t image_size(uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(ranges);
	CUpti_Profiler_CounterDataImage_CalculateSize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_CalculateSize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = options.structSize,
		.pOptions = &options,
	};

	EXPECT_STATUS(api.cuptiProfilerCounterDataImageCalculateSize(&params), CUPTI_SUCCESS);
	return params.counterDataImageSize;
}

static void init_image(uint8_t *image, uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(ranges);

	EXPECT_STATUS(CALL(cuptiProfilerCounterDataImageInitialize,
	                   Profiler_CounterDataImage_Initialize,
	                   .sizeofCounterDataImageOptions = options.structSize,
	                   .pOptions = &options, .counterDataImageSize = image_size(ranges),
	                   .pCounterDataImage = image),
	              CUPTI_SUCCESS);
}

static void set_up(unsigned passes)
{
	load();
	t.context = make_context();
	t.kernel = make_kernel();
	t.config = config_of(passes);
	t.prefix = prefix_of(passes);
	EXPECT_STATUS(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_SUCCESS);
}

static void new_image(uint32_t ranges)
{
	t.image_size = image_size(ranges);
	t.image = calloc(1, t.image_size);
	EXPECT(t.image, "out of memory");
	init_image(t.image, ranges);
}

static void enable(void)
{
	CUpti_RangeProfiler_Enable_Params params = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = t.context,
	};

	EXPECT_STATUS(api.cuptiRangeProfilerEnable(&params), CUPTI_SUCCESS);
	t.object = params.pRangeProfilerObject;
}

static int set_config(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay, size_t ranges,
                      uint16_t levels)
{
	return CALL(cuptiRangeProfilerSetConfig, RangeProfiler_SetConfig,
	            .pRangeProfilerObject = t.object, .configSize = t.config.size,
	            .pConfig = t.config.data, .counterDataImageSize = t.image_size,
	            .pCounterDataImage = t.image, .range = range, .replayMode = replay,
	            .maxRangesPerPass = ranges, .numNestingLevels = levels, .minNestingLevel = 1,
	            .targetNestingLevel = 1);
}

static int start(void)
{
	return CALL(cuptiRangeProfilerStart, RangeProfiler_Start, .pRangeProfilerObject = t.object);
}

static CUpti_RangeProfiler_Stop_Params stopped;

static int stop(void)
{
	stopped = (CUpti_RangeProfiler_Stop_Params){
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = t.object,
	};
	return api.cuptiRangeProfilerStop(&stopped);
}

static int push(const char *name)
{
	return CALL(cuptiRangeProfilerPushRange, RangeProfiler_PushRange,
	            .pRangeProfilerObject = t.object, .pRangeName = name);
}

static int pop(void)
{
	return CALL(cuptiRangeProfilerPopRange, RangeProfiler_PopRange,
	            .pRangeProfilerObject = t.object);
}

static int decode(void)
{
	return CALL(cuptiRangeProfilerDecodeData, RangeProfiler_DecodeData,
	            .pRangeProfilerObject = t.object);
}

static size_t count(void)
{
	CUpti_RangeProfiler_GetCounterDataInfo_Params params = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
	};

	EXPECT_STATUS(api.cuptiRangeProfilerGetCounterDataInfo(&params), CUPTI_SUCCESS);
	return params.numTotalRanges;
}

static const char *name_of(size_t index)
{
	CUpti_RangeProfiler_CounterData_GetRangeInfo_Params params = {
		.structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
		.rangeIndex = index,
		.rangeDelimiter = " > ",
	};

	EXPECT_STATUS(api.cuptiRangeProfilerCounterDataGetRangeInfo(&params), CUPTI_SUCCESS);
	return params.rangeName;
}

static void launch(void)
{
	EXPECT_STATUS(launch_kernel(t.kernel, NULL), CUDA_SUCCESS);
}

/* But for the two that only say that it begins and ends. */
static void test_struct_sizes_are_exact(void)
{
	set_up(1);
#define X(symbol, type)                                                                            \
	if (!strstr(#symbol, "Initialize") || strstr(#symbol, "Image")) {                          \
		EXPECT_STATUS(api.symbol(&(type){ .structSize = type##_STRUCT_SIZE + 1 }),         \
		              CUPTI_ERROR_INVALID_PARAMETER);                                      \
		EXPECT_STATUS(api.symbol(&(type){ .structSize = type##_STRUCT_SIZE - 1 }),         \
		              CUPTI_ERROR_INVALID_PARAMETER);                                      \
	}
	CUPTI_CALLS(X)
#undef X
}

static void test_profiler_wants_the_driver_first(void)
{
	load();
	EXPECT(CALL(cuptiProfilerInitialize, Profiler_Initialize), "before cuInit, with success");
	t.context = make_context();
	EXPECT_STATUS(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiRangeProfilerEnable, RangeProfiler_Enable, .ctx = t.context),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerDeInitialize, Profiler_DeInitialize), CUPTI_SUCCESS);
}

static void test_image_sizes(void)
{
	size_t one, two;

	set_up(1);
	one = image_size(1);
	two = image_size(2);
	EXPECT(two > one, "images of two ranges are not larger");
	EXPECT_NUMBER(image_size(10), one + 9 * (two - one));
}

static void test_kernel_replay(void)
{
	set_up(2);
	new_image(4);
	enable();
	EXPECT_STATUS(set_config(CUPTI_AutoRange, CUPTI_KernelReplay, 4, 1), CUPTI_SUCCESS);
	launch();
	for (size_t i = 0; i < 2; i++) {
		EXPECT_STATUS(start(), CUPTI_SUCCESS);
		launch();
		EXPECT_STATUS(stop(), CUPTI_SUCCESS);
		EXPECT(stopped.isAllPassSubmitted,
		       "all passes are submitted too early, or too late");
		launch();
	}
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 2);
	EXPECT_TEXT(name_of(0), "0");
	EXPECT_TEXT(name_of(1), "1");
}

static void test_kernel_replay_drops(void)
{
	set_up(1);
	new_image(4);
	enable();
	EXPECT_STATUS(set_config(CUPTI_AutoRange, CUPTI_KernelReplay, 4, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	for (size_t i = 0; i < 6; i++)
		launch();
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 4);
}

/* What flushes the cache before a launch is no range of its own. */
static void test_copies_are_no_ranges(void)
{
	enum { BYTES = 1 << 20 };
	CUdeviceptr memory;

	set_up(1);
	new_image(4);
	enable();
	EXPECT_STATUS(api.cuMemAlloc(&memory, 2 * BYTES), CUDA_SUCCESS);
	EXPECT_STATUS(set_config(CUPTI_AutoRange, CUPTI_UserReplay, 4, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	for (size_t i = 0; i < 2; i++) {
		EXPECT_STATUS(api.cuMemcpyDtoDAsync(memory, memory + BYTES, BYTES, NULL),
		              CUDA_SUCCESS);
		launch();
	}
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 2);
}

static void push_and_pop(size_t ranges)
{
	static const char *const names[] = { "0", "1", "2", "3" };

	for (size_t i = 0; i < ranges; i++) {
		EXPECT_STATUS(push(names[i]), CUPTI_SUCCESS);
		launch();
		EXPECT_STATUS(pop(), CUPTI_SUCCESS);
	}
}

static void test_user_ranges(void)
{
	set_up(1);
	new_image(2);
	enable();
	EXPECT_STATUS(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	launch();
	push_and_pop(2);
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
	EXPECT(stopped.isAllPassSubmitted, "there is another pass");
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 2);
}

static void test_one_name_is_one_range(void)
{
	set_up(1);
	new_image(2);
	enable();
	EXPECT_STATUS(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	push_and_pop(1);
	push_and_pop(1);
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 1);
}

static void nested_round(void)
{
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	EXPECT_STATUS(push("step"), CUPTI_SUCCESS);
	launch();
	EXPECT_STATUS(push("inner"), CUPTI_SUCCESS);
	launch();
	EXPECT_STATUS(pop(), CUPTI_SUCCESS);
	EXPECT_STATUS(pop(), CUPTI_SUCCESS);
	EXPECT_STATUS(push("tail"), CUPTI_SUCCESS);
	EXPECT_STATUS(pop(), CUPTI_SUCCESS);
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
}

static void one_pass(size_t pass)
{
	new_image(8);
	EXPECT_STATUS(CALL(cuptiRangeProfilerSetConfig, RangeProfiler_SetConfig,
	                   .pRangeProfilerObject = t.object, .configSize = t.config.size,
	                   .pConfig = t.config.data, .counterDataImageSize = t.image_size,
	                   .pCounterDataImage = t.image, .range = CUPTI_AutoRange,
	                   .replayMode = CUPTI_UserReplay, .maxRangesPerPass = 8,
	                   .numNestingLevels = 1, .minNestingLevel = 1, .passIndex = pass,
	                   .targetNestingLevel = 1),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	launch();
	EXPECT_STATUS(stop(), CUPTI_SUCCESS);
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 1);
}

/* A session begins with any pass of a config image and goes on in order. */
static void test_passes_follow(void)
{
	static const struct {
		size_t asked, next;
	} rows[] = { { 1, 0 }, { 1, 1 }, { 1, 0 }, { 0, 1 } };

	set_up(2);
	enable();
	for (size_t i = 0; i < COUNT(rows); i++) {
		one_pass(rows[i].asked);
		EXPECT_NUMBER(stopped.passIndex, rows[i].next);
	}
}

static void test_nested_ranges_in_passes(void)
{
	size_t rounds = 0;

	set_up(2);
	new_image(8);
	enable();
	EXPECT_STATUS(set_config(CUPTI_UserRange, CUPTI_UserReplay, 8, 2), CUPTI_SUCCESS);
	do {
		nested_round();
		rounds++;
	} while (!stopped.isAllPassSubmitted && rounds < 10);
	EXPECT_NUMBER(rounds, 4);
	EXPECT_STATUS(decode(), CUPTI_SUCCESS);
	EXPECT_NUMBER(count(), 3);
	EXPECT_TEXT(name_of(0), "step");
	EXPECT_TEXT(name_of(1), "tail");
	EXPECT_TEXT(name_of(2), "step > inner");
}

/* Size, then image. */
static int availability(void)
{
	CUpti_Profiler_GetCounterAvailability_Params params = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = t.context,
	};
	int status = api.cuptiProfilerGetCounterAvailability(&params);

	if (status)
		return status;
	params.pCounterAvailabilityImage = calloc(1, params.counterAvailabilityImageSize);
	EXPECT(params.pCounterAvailabilityImage, "out of memory");
	return api.cuptiProfilerGetCounterAvailability(&params);
}

static void begin_session(void)
{
	new_image(2);
	enable();
	EXPECT_STATUS(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	push_and_pop(2);
}

static void test_availability_goes_before_sessions(void)
{
	set_up(1);
	EXPECT_STATUS(availability(), CUPTI_SUCCESS);
	begin_session();
	EXPECT(availability(), "there is an image in a session");
}

static void test_profiler_calls_spoil_a_capture(void)
{
	CUstream stream;
	CUgraph graph;

	set_up(1);
	new_image(2);
	enable();
	EXPECT_STATUS(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	EXPECT_STATUS(start(), CUPTI_SUCCESS);
	EXPECT_STATUS(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_SUCCESS);
	EXPECT(stop(), "a profiler call in a capture, with success");
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph),
	              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static size_t scratch_size(void)
{
	CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params params = {
		.structSize =
			CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params_STRUCT_SIZE,
		.counterDataImageSize = t.image_size,
		.pCounterDataImage = t.image,
	};

	EXPECT_STATUS(api.cuptiProfilerCounterDataImageCalculateScratchBufferSize(&params),
	              CUPTI_SUCCESS);
	return params.counterDataScratchBufferSize;
}

static void begin_legacy(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay)
{
	size_t size = scratch_size();
	uint8_t *scratch = calloc(1, size);

	EXPECT(scratch, "out of memory");
	EXPECT_STATUS(CALL(cuptiProfilerCounterDataImageInitializeScratchBuffer,
	                   Profiler_CounterDataImage_InitializeScratchBuffer,
	                   .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	                   .counterDataScratchBufferSize = size,
	                   .pCounterDataScratchBuffer = scratch),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerBeginSession, Profiler_BeginSession,
	                   .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	                   .counterDataScratchBufferSize = size,
	                   .pCounterDataScratchBuffer = scratch, .range = range,
	                   .replayMode = replay, .maxRangesPerPass = 4, .maxLaunchesPerPass = 4),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerSetConfig, Profiler_SetConfig, .pConfig = t.config.data,
	                   .configSize = t.config.size, .minNestingLevel = 1, .numNestingLevels = 1,
	                   .targetNestingLevel = 1),
	              CUPTI_SUCCESS);
}

static void end_legacy(void)
{
	EXPECT_STATUS(CALL(cuptiProfilerFlushCounterData, Profiler_FlushCounterData),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerUnsetConfig, Profiler_UnsetConfig), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerEndSession, Profiler_EndSession), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerEndSession, Profiler_EndSession),
	              CUPTI_ERROR_INVALID_OPERATION);
}

static bool legacy_pass(void)
{
	CUpti_Profiler_EndPass_Params end = {
		.structSize = CUpti_Profiler_EndPass_Params_STRUCT_SIZE,
	};

	EXPECT_STATUS(CALL(cuptiProfilerBeginPass, Profiler_BeginPass), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerPushRange, Profiler_PushRange, .pRangeName = "A"),
	              CUPTI_SUCCESS);
	launch();
	EXPECT_STATUS(CALL(cuptiProfilerPopRange, Profiler_PopRange), CUPTI_SUCCESS);
	EXPECT_STATUS(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(api.cuptiProfilerEndPass(&end), CUPTI_SUCCESS);
	return end.allPassesSubmitted;
}

static void test_legacy_user_replay(void)
{
	set_up(2);
	new_image(4);
	begin_legacy(CUPTI_UserRange, CUPTI_UserReplay);
	EXPECT(!legacy_pass(), "all passes are submitted too early, or too late");
	EXPECT(legacy_pass(), "all passes are submitted too early, or too late");
	end_legacy();
	EXPECT_NUMBER(count(), 1);
	EXPECT_TEXT(name_of(0), "A");
}

static void test_legacy_kernel_replay(void)
{
	set_up(1);
	new_image(4);
	begin_legacy(CUPTI_AutoRange, CUPTI_KernelReplay);
	for (size_t i = 0; i < 2; i++) {
		EXPECT_STATUS(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling),
		              CUPTI_SUCCESS);
		launch();
		EXPECT_STATUS(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling),
		              CUPTI_SUCCESS);
		launch();
	}
	end_legacy();
	EXPECT_NUMBER(count(), 2);
}

#define ROW(test)                                                                                  \
	{                                                                                          \
#test, test_##test                                                                 \
	}

const struct contract_test range_tests[] = {
	ROW(struct_sizes_are_exact),
	ROW(profiler_wants_the_driver_first),
	ROW(image_sizes),
	ROW(kernel_replay),
	ROW(kernel_replay_drops),
	ROW(copies_are_no_ranges),
	ROW(user_ranges),
	ROW(one_name_is_one_range),
	ROW(passes_follow),
	ROW(nested_ranges_in_passes),
	ROW(availability_goes_before_sessions),
	ROW(profiler_calls_spoil_a_capture),
	ROW(legacy_user_replay),
	ROW(legacy_kernel_replay),
	{ NULL, NULL },
};
