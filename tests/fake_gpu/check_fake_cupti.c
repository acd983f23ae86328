/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake CUPTI's profilers. */
#include <signal.h>
#include <stdbool.h>

#include "fake_gpu/fake_api.h"
#include "fake_gpu/fake_image.h"

static const uint8_t some_bytes[16] = { 1 };

static CUpti_Profiler_CounterDataImageOptions options_of(uint32_t ranges)
{
	return (CUpti_Profiler_CounterDataImageOptions){
		.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pCounterDataPrefix = some_bytes,
		.counterDataPrefixSize = sizeof some_bytes,
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

	ck_status(api.cuptiProfilerCounterDataImageCalculateSize(&params), CUPTI_SUCCESS);
	return params.counterDataImageSize;
}

static void init_image(uint8_t *image, uint32_t ranges)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(ranges);

	ck_status(CALL(cuptiProfilerCounterDataImageInitialize,
	               Profiler_CounterDataImage_Initialize,
	               .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options,
	               .counterDataImageSize = image_size(ranges), .pCounterDataImage = image),
	          CUPTI_SUCCESS);
}

/* All that a test of ranges has at hand. */
static struct {
	CUcontext context;
	CUfunction kernel;
	CUpti_RangeProfiler_Object *object;
	_Alignas(8) uint8_t image[65536];
	size_t image_size;
} t;

static void set_up(void)
{
	fake_load();
	t.context = fake_context();
	t.kernel = fake_kernel();
	ck_status(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_SUCCESS);
}

static void new_image(uint32_t ranges)
{
	t.image_size = image_size(ranges);
	ck_assert_uint_le(t.image_size, sizeof t.image);
	init_image(t.image, ranges);
}

static void enable(void)
{
	CUpti_RangeProfiler_Enable_Params params = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = t.context,
	};

	ck_status(api.cuptiRangeProfilerEnable(&params), CUPTI_SUCCESS);
	t.object = params.pRangeProfilerObject;
}

static int set_config(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay, size_t ranges,
                      uint16_t levels)
{
	return CALL(cuptiRangeProfilerSetConfig, RangeProfiler_SetConfig,
	            .pRangeProfilerObject = t.object, .configSize = sizeof some_bytes,
	            .pConfig = some_bytes, .counterDataImageSize = t.image_size,
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

static size_t dropped;

static int decode(void)
{
	CUpti_RangeProfiler_DecodeData_Params params = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = t.object,
	};
	int status = api.cuptiRangeProfilerDecodeData(&params);

	dropped = params.numOfRangeDropped;
	return status;
}

static size_t count(void)
{
	CUpti_RangeProfiler_GetCounterDataInfo_Params params = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
	};

	ck_status(api.cuptiRangeProfilerGetCounterDataInfo(&params), CUPTI_SUCCESS);
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

	ck_status(api.cuptiRangeProfilerCounterDataGetRangeInfo(&params), CUPTI_SUCCESS);
	return params.rangeName;
}

static const struct fake_range_record *record(size_t index)
{
	const struct fake_image *image = (const struct fake_image *)t.image;

	return (const struct fake_range_record *)((const uint8_t *)(image + 1)
	                                          + index * image->record_size);
}

static void launch(void)
{
	ck_status(fake_launch(t.kernel, NULL), CUDA_SUCCESS);
}

START_TEST(test_struct_sizes_are_exact)
{
	set_up();
#define X(symbol, type)                                                                            \
	ck_status(api.symbol(&(type){ .structSize = type##_STRUCT_SIZE + 1 }),                     \
	          CUPTI_ERROR_INVALID_PARAMETER);                                                  \
	ck_status(api.symbol(&(type){ .structSize = type##_STRUCT_SIZE - 1 }),                     \
	          CUPTI_ERROR_INVALID_PARAMETER);
	FAKE_CUPTI_CALLS(X)
#undef X
}
END_TEST

START_TEST(test_profiler_wants_the_driver_first)
{
	CUpti_Profiler_CounterDataImageOptions options = options_of(1);

	fake_load();
	ck_status(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_ERROR_NOT_INITIALIZED);
	t.context = fake_context();
	ck_status(CALL(cuptiRangeProfilerEnable, RangeProfiler_Enable, .ctx = t.context),
	          CUPTI_ERROR_NOT_INITIALIZED);
	ck_status(CALL(cuptiProfilerCounterDataImageCalculateSize,
	               Profiler_CounterDataImage_CalculateSize,
	               .sizeofCounterDataImageOptions = options.structSize, .pOptions = &options),
	          CUPTI_ERROR_NOT_INITIALIZED);
	ck_status(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_SUCCESS);
	ck_status(CALL(cuptiRangeProfilerEnable, RangeProfiler_Enable, .ctx = t.context),
	          CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerDeInitialize, Profiler_DeInitialize), CUPTI_SUCCESS);
}
END_TEST

START_TEST(test_devices)
{
	CUpti_Device_GetChipName_Params chip = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = 1,
	};
	CUpti_Profiler_DeviceSupported_Params support = {
		.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
	};

	setenv("FAKE_GPU_DEVICES", "2", 1);
	setenv("FAKE_GPU_CHIP", "GH100,GB202", 1);
	set_up();
	ck_status(api.cuptiDeviceGetChipName(&chip), CUPTI_SUCCESS);
	ck_assert_str_eq(chip.pChipName, "GB202");
	chip.deviceIndex = 2;
	ck_status(api.cuptiDeviceGetChipName(&chip), CUPTI_ERROR_INVALID_PARAMETER);
	ck_status(api.cuptiProfilerDeviceSupported(&support), CUPTI_SUCCESS);
	ck_assert_int_eq(support.isSupported, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
	setenv("FAKE_GPU_UNSUPPORTED", "vGpu", 1);
	ck_status(api.cuptiProfilerDeviceSupported(&support), CUPTI_SUCCESS);
	ck_assert_int_eq(support.isSupported, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
	ck_assert_int_eq(support.vGpu, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
	ck_assert_int_eq(support.wsl, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
}
END_TEST

START_TEST(test_image_sizes)
{
	size_t one, two;

	set_up();
	one = image_size(1);
	two = image_size(2);
	ck_assert_uint_gt(two, one);
	ck_assert_uint_eq(image_size(10), one + 9 * (two - one));
	setenv("FAKE_GPU_RECORD_BYTES", "100000", 1);
	ck_assert_uint_eq(image_size(2) - image_size(1), 100000);
}
END_TEST

START_TEST(test_kernel_replay)
{
	setenv("FAKE_GPU_PASSES", "3", 1);
	set_up();
	new_image(4);
	enable();
	ck_status(set_config(CUPTI_AutoRange, CUPTI_KernelReplay, 4, 1), CUPTI_SUCCESS);
	launch();
	for (size_t i = 0; i < 2; i++) {
		ck_status(start(), CUPTI_SUCCESS);
		ck_status(push("a"), CUPTI_ERROR_INVALID_OPERATION);
		launch();
		ck_status(decode(), CUPTI_ERROR_INVALID_OPERATION);
		ck_status(stop(), CUPTI_SUCCESS);
		ck_assert(stopped.isAllPassSubmitted);
		launch();
	}
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 2);
	ck_assert_str_eq(name_of(0), "0");
	ck_assert_str_eq(name_of(1), "1");
	ck_assert_uint_eq(record(0)->passes, 3);
}
END_TEST

START_TEST(test_kernel_replay_drops)
{
	set_up();
	new_image(4);
	enable();
	ck_status(set_config(CUPTI_AutoRange, CUPTI_KernelReplay, 3, 1), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	for (size_t i = 0; i < 5; i++)
		launch();
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 3);
	ck_assert_uint_eq(dropped, 2);
}
END_TEST

START_TEST(test_user_ranges)
{
	set_up();
	new_image(2);
	enable();
	ck_status(start(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	ck_status(push("a"), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(pop(), CUPTI_ERROR_INVALID_OPERATION);
	launch();
	ck_status(push("a"), CUPTI_SUCCESS);
	launch();
	launch();
	ck_status(pop(), CUPTI_SUCCESS);
	ck_status(push("a name of more than thirty-two characters"), CUPTI_ERROR_INVALID_PARAMETER);
	ck_status(push("b"), CUPTI_SUCCESS);
	ck_status(pop(), CUPTI_SUCCESS);
	ck_status(push("c"), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(stop(), CUPTI_SUCCESS);
	ck_assert(stopped.isAllPassSubmitted);
	ck_status(stop(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(start(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 2);
	ck_assert_uint_eq(record(0)->launches, 2);
	ck_assert_uint_eq(record(1)->launches, 0);
}
END_TEST

/* More slots in a later config are accepted, and keep no more. */
START_TEST(test_first_config_sets_the_number)
{
	static const char *const names[] = { "0", "1", "2", "3" };

	set_up();
	new_image(2);
	enable();
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	new_image(4);
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 4, 1), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	for (size_t i = 0; i < COUNT(names); i++) {
		ck_status(push(names[i]), CUPTI_SUCCESS);
		ck_status(pop(), CUPTI_SUCCESS);
	}
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 2);
	ck_assert_uint_eq(dropped, 0);
}
END_TEST

static void nested_round(void)
{
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(push("step"), CUPTI_SUCCESS);
	launch();
	ck_status(push("inner"), CUPTI_SUCCESS);
	launch();
	ck_status(pop(), CUPTI_SUCCESS);
	ck_status(pop(), CUPTI_SUCCESS);
	ck_status(push("tail"), CUPTI_SUCCESS);
	ck_status(pop(), CUPTI_SUCCESS);
	ck_status(stop(), CUPTI_SUCCESS);
}

static int set_pass(const char *config, size_t size, size_t pass)
{
	return CALL(cuptiRangeProfilerSetConfig, RangeProfiler_SetConfig,
	            .pRangeProfilerObject = t.object, .configSize = size,
	            .pConfig = (const uint8_t *)config, .counterDataImageSize = t.image_size,
	            .pCounterDataImage = t.image, .range = CUPTI_AutoRange,
	            .replayMode = CUPTI_UserReplay, .maxRangesPerPass = 8, .numNestingLevels = 1,
	            .minNestingLevel = 1, .passIndex = pass, .targetNestingLevel = 1);
}

/* A session begins with any pass of a config image, goes on in order, and takes no other image. */
START_TEST(test_passes_follow)
{
	static const struct {
		size_t asked, done;
	} rows[] = { { 1, 1 }, { 1, 2 }, { 0, 0 }, { 2, 1 } };
	struct fake_config config = { FAKE_CONFIG_MAGIC, 3 };

	set_up();
	enable();
	for (size_t i = 0; i < COUNT(rows); i++) {
		new_image(8);
		ck_status(set_pass((char *)&config, sizeof config, rows[i].asked), CUPTI_SUCCESS);
		ck_status(start(), CUPTI_SUCCESS);
		launch();
		ck_status(stop(), CUPTI_SUCCESS);
		ck_status(decode(), CUPTI_SUCCESS);
		ck_assert_uint_eq(count(), 1);
		ck_assert_uint_eq(record(0)->pass, rows[i].done);
	}
	new_image(8);
	config.passes = 2;
	ck_status(set_pass((char *)&config, sizeof config, 0), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	launch();
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

START_TEST(test_nested_ranges_in_passes)
{
	size_t rounds = 0;

	setenv("FAKE_GPU_PASSES", "3", 1);
	set_up();
	new_image(8);
	enable();
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 8, 2), CUPTI_SUCCESS);
	do {
		nested_round();
		rounds++;
	} while (!stopped.isAllPassSubmitted && rounds < 10);
	ck_assert_uint_eq(rounds, 6);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(count(), 3);
	ck_assert_str_eq(name_of(0), "step");
	ck_assert_str_eq(name_of(1), "tail");
	ck_assert_str_eq(name_of(2), "step > inner");
	ck_assert_uint_eq(record(0)->passes, 3);
	ck_assert_uint_eq(record(0)->launches, 6);
	ck_assert_uint_eq(record(2)->launches, 3);
}
END_TEST

static int availability(void)
{
	return CALL(cuptiProfilerGetCounterAvailability, Profiler_GetCounterAvailability,
	            .ctx = t.context);
}

START_TEST(test_availability_goes_before_sessions)
{
	uint8_t image[256];
	CUpti_Profiler_GetCounterAvailability_Params params = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
	};

	set_up();
	ck_status(api.cuptiProfilerGetCounterAvailability(&params), CUPTI_SUCCESS);
	ck_assert_uint_le(params.counterAvailabilityImageSize, sizeof image);
	params.pCounterAvailabilityImage = image;
	ck_status(api.cuptiProfilerGetCounterAvailability(&params), CUPTI_SUCCESS);
	ck_assert_str_eq((char *)image, "FAKEAVAIL range GH100 0");
	enable();
	ck_status(availability(), CUPTI_ERROR_INVALID_PARAMETER);
}
END_TEST

START_TEST(test_availability_after_a_session_crashes)
{
	set_up();
	enable();
	ck_status(CALL(cuptiRangeProfilerDisable, RangeProfiler_Disable,
	               .pRangeProfilerObject = t.object),
	          CUPTI_SUCCESS);
	availability();
}
END_TEST

START_TEST(test_capture_is_spoilt)
{
	CUstream stream;
	CUgraph graph;

	set_up();
	new_image(2);
	enable();
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	ck_status(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
	ck_status(push("a"), CUPTI_ERROR_UNKNOWN);
	ck_status(api.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_status(push("a"), CUPTI_SUCCESS);
}
END_TEST

START_TEST(test_session_dies_with_its_context)
{
	set_up();
	new_image(2);
	enable();
	ck_status(set_config(CUPTI_UserRange, CUPTI_UserReplay, 2, 1), CUPTI_SUCCESS);
	ck_status(CALL(cuptiRangeProfilerEnable, RangeProfiler_Enable, .ctx = t.context),
	          CUPTI_ERROR_INVALID_OPERATION);
	ck_status(api.cuCtxDestroy(t.context), CUDA_SUCCESS);
	ck_status(start(), CUPTI_ERROR_INVALID_CONTEXT);
	ck_status(CALL(cuptiRangeProfilerDisable, RangeProfiler_Disable,
	               .pRangeProfilerObject = t.object),
	          CUPTI_SUCCESS);
	ck_status(stop(), CUPTI_ERROR_INVALID_PARAMETER);
}
END_TEST

static size_t scratch_size(void)
{
	CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params params = {
		.structSize =
			CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params_STRUCT_SIZE,
		.counterDataImageSize = t.image_size,
		.pCounterDataImage = t.image,
	};

	ck_status(api.cuptiProfilerCounterDataImageCalculateScratchBufferSize(&params),
	          CUPTI_SUCCESS);
	return params.counterDataScratchBufferSize;
}

static void begin_legacy(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay)
{
	static uint8_t scratch[65536];
	size_t size = scratch_size();

	ck_assert_uint_le(size, sizeof scratch);
	ck_status(CALL(cuptiProfilerCounterDataImageInitializeScratchBuffer,
	               Profiler_CounterDataImage_InitializeScratchBuffer,
	               .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	               .counterDataScratchBufferSize = size, .pCounterDataScratchBuffer = scratch),
	          CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerBeginSession, Profiler_BeginSession,
	               .counterDataImageSize = t.image_size, .pCounterDataImage = t.image,
	               .counterDataScratchBufferSize = size, .pCounterDataScratchBuffer = scratch,
	               .range = range, .replayMode = replay, .maxRangesPerPass = 4,
	               .maxLaunchesPerPass = 4),
	          CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerSetConfig, Profiler_SetConfig, .pConfig = some_bytes,
	               .configSize = sizeof some_bytes, .minNestingLevel = 1, .numNestingLevels = 1,
	               .targetNestingLevel = 1),
	          CUPTI_SUCCESS);
}

static void end_legacy(void)
{
	ck_status(CALL(cuptiProfilerFlushCounterData, Profiler_FlushCounterData), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerUnsetConfig, Profiler_UnsetConfig), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerEndSession, Profiler_EndSession), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerEndSession, Profiler_EndSession),
	          CUPTI_ERROR_INVALID_OPERATION);
}

static bool legacy_pass(void)
{
	CUpti_Profiler_EndPass_Params end = {
		.structSize = CUpti_Profiler_EndPass_Params_STRUCT_SIZE,
	};

	ck_status(CALL(cuptiProfilerBeginPass, Profiler_BeginPass), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerPushRange, Profiler_PushRange, .pRangeName = "A"),
	          CUPTI_SUCCESS);
	launch();
	ck_status(CALL(cuptiProfilerPopRange, Profiler_PopRange), CUPTI_SUCCESS);
	ck_status(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling), CUPTI_SUCCESS);
	ck_status(api.cuptiProfilerEndPass(&end), CUPTI_SUCCESS);
	return end.allPassesSubmitted;
}

START_TEST(test_legacy_user_replay)
{
	setenv("FAKE_GPU_PASSES", "2", 1);
	set_up();
	new_image(4);
	begin_legacy(CUPTI_UserRange, CUPTI_UserReplay);
	ck_assert(!legacy_pass());
	ck_assert(legacy_pass());
	end_legacy();
	ck_assert_uint_eq(count(), 1);
	ck_assert_str_eq(name_of(0), "A");
	ck_assert_uint_eq(record(0)->passes, 2);
}
END_TEST

START_TEST(test_legacy_kernel_replay)
{
	set_up();
	new_image(4);
	begin_legacy(CUPTI_AutoRange, CUPTI_KernelReplay);
	for (size_t i = 0; i < 2; i++) {
		ck_status(CALL(cuptiProfilerEnableProfiling, Profiler_EnableProfiling),
		          CUPTI_SUCCESS);
		launch();
		ck_status(CALL(cuptiProfilerDisableProfiling, Profiler_DisableProfiling),
		          CUPTI_SUCCESS);
		launch();
	}
	end_legacy();
	ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(test_privileges_on_demand)
{
	setenv("FAKE_GPU_FAIL", "cuptiProfilerGetCounterAvailability:35", 1);
	set_up();
	ck_status(availability(), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	enable();
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("cupti");

	tcase_add_test(tests, test_struct_sizes_are_exact);
	tcase_add_test(tests, test_profiler_wants_the_driver_first);
	tcase_add_test(tests, test_devices);
	tcase_add_test(tests, test_image_sizes);
	tcase_add_test(tests, test_kernel_replay);
	tcase_add_test(tests, test_kernel_replay_drops);
	tcase_add_test(tests, test_user_ranges);
	tcase_add_test(tests, test_first_config_sets_the_number);
	tcase_add_test(tests, test_passes_follow);
	tcase_add_test(tests, test_nested_ranges_in_passes);
	tcase_add_test(tests, test_availability_goes_before_sessions);
	tcase_add_test_raise_signal(tests, test_availability_after_a_session_crashes, SIGABRT);
	tcase_add_test(tests, test_capture_is_spoilt);
	tcase_add_test(tests, test_session_dies_with_its_context);
	tcase_add_test(tests, test_legacy_user_replay);
	tcase_add_test(tests, test_legacy_kernel_replay);
	tcase_add_test(tests, test_privileges_on_demand);
	return fake_run(tests, "fake CUPTI");
}
