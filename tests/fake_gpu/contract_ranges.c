/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract: CUPTI's range profilers. */
#include "fake_gpu/contract.h"

/* The state that all tests of ranges use. */
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
	CUpti_Profiler_CounterDataImage_CalculateSize_Params params =
		PARAMS(Profiler_CounterDataImage_CalculateSize,
	               .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options);

	OK(api.cuptiProfilerCounterDataImageCalculateSize(&params));
	return params.counterDataImageSize;
}

static void init_image(uint8_t *image, uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(ranges);

	OK(CALL(cuptiProfilerCounterDataImageInitialize, Profiler_CounterDataImage_Initialize,
	        .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options,
	        .counterDataImageSize = image_size(ranges), .pCounterDataImage = image));
}

static void set_up(unsigned passes)
{
	load();
	t.context = make_context();
	t.kernel = make_kernel();
	t.config = config_of(passes);
	t.prefix = prefix_of(passes);
	OK(CALL(cuptiProfilerInitialize, Profiler_Initialize));
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
	CUpti_RangeProfiler_Enable_Params params = PARAMS(RangeProfiler_Enable, .ctx = t.context);

	OK(api.cuptiRangeProfilerEnable(&params));
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
	stopped = (CUpti_RangeProfiler_Stop_Params)PARAMS(RangeProfiler_Stop,
	                                                  .pRangeProfilerObject = t.object);
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
	CUpti_RangeProfiler_GetCounterDataInfo_Params params =
		PARAMS(RangeProfiler_GetCounterDataInfo, .pCounterDataImage = t.image,
	               .counterDataImageSize = t.image_size);

	OK(api.cuptiRangeProfilerGetCounterDataInfo(&params));
	return params.numTotalRanges;
}

static const char *name_of(size_t index)
{
	CUpti_RangeProfiler_CounterData_GetRangeInfo_Params params = PARAMS(
		RangeProfiler_CounterData_GetRangeInfo, .pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size, .rangeIndex = index, .rangeDelimiter = " > ");

	OK(api.cuptiRangeProfilerCounterDataGetRangeInfo(&params));
	return params.rangeName;
}

static void launch(void)
{
	OK(launch_kernel(t.kernel, NULL));
}

/* Begins one pass, into a new image with room for so many ranges. */
static void begin(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay, uint32_t ranges)
{
	set_up(1);
	new_image(ranges);
	enable();
	OK(set_config(range, replay, ranges, 1));
	OK(start());
}

static void end(size_t ranges)
{
	OK(stop());
	OK(decode());
	EXPECT_NUMBER(count(), ranges);
}

/* The two calls that initialize and deinitialize the profiler are exempt. */
CONTRACT_TEST(struct_sizes_are_exact)
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

CONTRACT_TEST(profiler_wants_the_driver_first)
{
	load();
	EXPECT(CALL(cuptiProfilerInitialize, Profiler_Initialize), "before cuInit, with success");
	t.context = make_context();
	OK(CALL(cuptiProfilerInitialize, Profiler_Initialize));
	OK(CALL(cuptiRangeProfilerEnable, RangeProfiler_Enable, .ctx = t.context));
	OK(CALL(cuptiProfilerDeInitialize, Profiler_DeInitialize));
}

CONTRACT_TEST(image_sizes)
{
	size_t one, two;

	set_up(1);
	one = image_size(1);
	two = image_size(2);
	EXPECT(two > one, "images of two ranges are not larger");
	EXPECT_NUMBER(image_size(10), one + 9 * (two - one));
}

CONTRACT_TEST(kernel_replay)
{
	set_up(2);
	new_image(4);
	enable();
	OK(set_config(CUPTI_AutoRange, CUPTI_KernelReplay, 4, 1));
	launch();
	for (size_t i = 0; i < 2; i++) {
		OK(start());
		launch();
		OK(stop());
		EXPECT(stopped.isAllPassSubmitted,
		       "all passes are submitted too early, or too late");
		launch();
	}
	OK(decode());
	EXPECT_NUMBER(count(), 2);
	EXPECT_TEXT(name_of(0), "0");
	EXPECT_TEXT(name_of(1), "1");
}

CONTRACT_TEST(kernel_replay_drops)
{
	begin(CUPTI_AutoRange, CUPTI_KernelReplay, 4);
	for (size_t i = 0; i < 6; i++)
		launch();
	end(4);
}

/* The kernel or copy that flushes the cache before a launch does not become a range. */
CONTRACT_TEST(copies_are_no_ranges)
{
	enum { BYTES = 1 << 20 };
	CUdeviceptr memory;

	set_up(1);
	new_image(4);
	enable();
	OK(api.cuMemAlloc(&memory, 2 * BYTES));
	OK(set_config(CUPTI_AutoRange, CUPTI_UserReplay, 4, 1));
	OK(start());
	for (size_t i = 0; i < 2; i++) {
		OK(api.cuMemcpyDtoDAsync(memory, memory + BYTES, BYTES, NULL));
		launch();
	}
	end(2);
}

static void push_and_pop(size_t ranges)
{
	static const char *const names[] = { "0", "1", "2", "3" };

	for (size_t i = 0; i < ranges; i++) {
		OK(push(names[i]));
		launch();
		OK(pop());
	}
}

CONTRACT_TEST(user_ranges)
{
	begin(CUPTI_UserRange, CUPTI_UserReplay, 2);
	launch();
	push_and_pop(2);
	OK(stop());
	EXPECT(stopped.isAllPassSubmitted, "there is another pass");
	OK(decode());
	EXPECT_NUMBER(count(), 2);
}

CONTRACT_TEST(one_name_is_one_range)
{
	begin(CUPTI_UserRange, CUPTI_UserReplay, 2);
	push_and_pop(1);
	push_and_pop(1);
	end(1);
}

static void nested_round(void)
{
	OK(start());
	OK(push("step"));
	launch();
	OK(push("inner"));
	launch();
	OK(pop());
	OK(pop());
	OK(push("tail"));
	OK(pop());
	OK(stop());
}

static void one_pass(size_t pass)
{
	new_image(8);
	OK(CALL(cuptiRangeProfilerSetConfig, RangeProfiler_SetConfig,
	        .pRangeProfilerObject = t.object, .configSize = t.config.size,
	        .pConfig = t.config.data, .counterDataImageSize = t.image_size,
	        .pCounterDataImage = t.image, .range = CUPTI_AutoRange,
	        .replayMode = CUPTI_UserReplay, .maxRangesPerPass = 8, .numNestingLevels = 1,
	        .minNestingLevel = 1, .passIndex = pass, .targetNestingLevel = 1));
	OK(start());
	launch();
	end(1);
}

/* A session begins with any pass of a config image and continues in order. */
CONTRACT_TEST(passes_follow)
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

CONTRACT_TEST(nested_ranges_in_passes)
{
	size_t rounds = 0;

	set_up(2);
	new_image(8);
	enable();
	OK(set_config(CUPTI_UserRange, CUPTI_UserReplay, 8, 2));
	do {
		nested_round();
		rounds++;
	} while (!stopped.isAllPassSubmitted && rounds < 10);
	EXPECT_NUMBER(rounds, 4);
	OK(decode());
	EXPECT_NUMBER(count(), 3);
	EXPECT_TEXT(name_of(0), "step");
	EXPECT_TEXT(name_of(1), "tail");
	EXPECT_TEXT(name_of(2), "step > inner");
}

/* Asks for the size, then the image. */
static int availability(void)
{
	CUpti_Profiler_GetCounterAvailability_Params params =
		PARAMS(Profiler_GetCounterAvailability, .ctx = t.context);
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
	OK(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1));
	OK(start());
	push_and_pop(2);
}

CONTRACT_TEST(availability_goes_before_sessions)
{
	set_up(1);
	OK(availability());
	begin_session();
	EXPECT(availability(), "there is an image in a session");
}

CONTRACT_TEST(profiler_calls_spoil_a_capture)
{
	CUstream stream;
	CUgraph graph;

	begin(CUPTI_UserRange, CUPTI_UserReplay, 2);
	OK(api.cuStreamCreate(&stream, 0));
	OK(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT(stop(), "a profiler call in a capture, with success");
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph),
	              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static size_t scratch_size(void)
{
	CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params params =
		PARAMS(Profiler_CounterDataImage_CalculateScratchBufferSize,
	               .counterDataImageSize = t.image_size, .pCounterDataImage = t.image);

	OK(api.cuptiProfilerCounterDataImageCalculateScratchBufferSize(&params));
	return params.counterDataScratchBufferSize;
}

static void begin_legacy(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay)
{
	size_t size = scratch_size();
	uint8_t *scratch = calloc(1, size);

	EXPECT(scratch, "out of memory");
	OK(CALL(cuptiProfilerCounterDataImageInitializeScratchBuffer,
	        Profiler_CounterDataImage_InitializeScratchBuffer,
	        .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	        .counterDataScratchBufferSize = size, .pCounterDataScratchBuffer = scratch));
	OK(CALL(cuptiProfilerBeginSession, Profiler_BeginSession,
	        .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	        .counterDataScratchBufferSize = size, .pCounterDataScratchBuffer = scratch,
	        .range = range, .replayMode = replay, .maxRangesPerPass = 4,
	        .maxLaunchesPerPass = 4));
	OK(CALL(cuptiProfilerSetConfig, Profiler_SetConfig, .pConfig = t.config.data,
	        .configSize = t.config.size, .minNestingLevel = 1, .numNestingLevels = 1,
	        .targetNestingLevel = 1));
}

static void end_legacy(void)
{
	OK(CALL(cuptiProfilerFlushCounterData, Profiler_FlushCounterData));
	OK(CALL(cuptiProfilerUnsetConfig, Profiler_UnsetConfig));
	OK(CALL(cuptiProfilerEndSession, Profiler_EndSession));
	EXPECT_STATUS(CALL(cuptiProfilerEndSession, Profiler_EndSession),
	              CUPTI_ERROR_INVALID_OPERATION);
}

static bool legacy_pass(void)
{
	CUpti_Profiler_EndPass_Params end = PARAMS(Profiler_EndPass);

	OK(CALL(cuptiProfilerBeginPass, Profiler_BeginPass));
	OK(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling));
	OK(CALL(cuptiProfilerPushRange, Profiler_PushRange, .pRangeName = "A"));
	launch();
	OK(CALL(cuptiProfilerPopRange, Profiler_PopRange));
	OK(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling));
	OK(api.cuptiProfilerEndPass(&end));
	return end.allPassesSubmitted;
}

CONTRACT_TEST(legacy_user_replay)
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

CONTRACT_TEST(legacy_kernel_replay)
{
	set_up(1);
	new_image(4);
	begin_legacy(CUPTI_AutoRange, CUPTI_KernelReplay);
	for (size_t i = 0; i < 2; i++) {
		OK(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling));
		launch();
		OK(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling));
		launch();
	}
	end_legacy();
	EXPECT_NUMBER(count(), 2);
}
