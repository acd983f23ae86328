/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake CUPTI's PM sampling, and the fake libnvperf_host beside it. */
#include <unistd.h>

#include "fake_gpu/fake_api.h"
#include "fake_gpu/fake_image.h"
#include "fake_gpu/fake_perfworks.h"

static const uint8_t some_bytes[16] = { 1 };

static struct {
	CUpti_PmSampling_Object *object;
	_Alignas(8) uint8_t image[65536];
	size_t image_size;
} t;

static int enable(size_t device)
{
	CUpti_PmSampling_Enable_Params params = {
		.structSize = CUpti_PmSampling_Enable_Params_STRUCT_SIZE,
		.deviceIndex = device,
	};
	int status = api.cuptiPmSamplingEnable(&params);

	if (!status)
		t.object = params.pPmSamplingObject;
	return status;
}

static void set_up(void)
{
	fake_load();
	fake_context();
	ck_status(CALL(cuptiProfilerInitialize, Profiler_Initialize), CUPTI_SUCCESS);
	ck_status(enable(0), CUPTI_SUCCESS);
}

static int set_config(uint64_t interval, CUpti_PmSampling_TriggerMode trigger, size_t samples)
{
	return CALL(cuptiPmSamplingSetConfig, PmSampling_SetConfig, .pPmSamplingObject = t.object,
	            .configSize = sizeof some_bytes, .pConfig = some_bytes,
	            .hardwareBufferSize = samples * FAKE_RECORD_BYTES, .samplingInterval = interval,
	            .triggerMode = trigger);
}

#define TIMER CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL

static int start(void)
{
	return CALL(cuptiPmSamplingStart, PmSampling_Start, .pPmSamplingObject = t.object);
}

static int stop(void)
{
	return CALL(cuptiPmSamplingStop, PmSampling_Stop, .pPmSamplingObject = t.object);
}

static void new_image(uint32_t samples)
{
	const char *metrics[] = { "a" };
	CUpti_PmSampling_GetCounterDataSize_Params params = {
		.structSize = CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
		.pPmSamplingObject = t.object,
		.pMetricNames = metrics,
		.numMetrics = 1,
		.maxSamples = samples,
	};

	ck_status(api.cuptiPmSamplingGetCounterDataSize(&params), CUPTI_SUCCESS);
	t.image_size = params.counterDataSize;
	ck_assert_uint_le(t.image_size, sizeof t.image);
	ck_status(CALL(cuptiPmSamplingCounterDataImageInitialize,
	               PmSampling_CounterDataImage_Initialize, .pPmSamplingObject = t.object,
	               .counterDataSize = t.image_size, .pCounterData = t.image),
	          CUPTI_SUCCESS);
}

static CUpti_PmSampling_DecodeData_Params decoded;

static int decode(void)
{
	decoded = (CUpti_PmSampling_DecodeData_Params){
		.structSize = CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE,
		.pPmSamplingObject = t.object,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
	};
	return api.cuptiPmSamplingDecodeData(&decoded);
}

static size_t completed(void)
{
	CUpti_PmSampling_GetCounterDataInfo_Params params = {
		.structSize = CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
	};

	ck_status(api.cuptiPmSamplingGetCounterDataInfo(&params), CUPTI_SUCCESS);
	return params.numCompletedSamples;
}

static CUpti_PmSampling_CounterData_GetSampleInfo_Params sample(size_t index)
{
	CUpti_PmSampling_CounterData_GetSampleInfo_Params params = {
		.structSize = CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE,
		.pPmSamplingObject = t.object,
		.pCounterDataImage = t.image,
		.counterDataImageSize = t.image_size,
		.sampleIndex = index,
	};

	ck_status(api.cuptiPmSamplingCounterDataGetSampleInfo(&params), CUPTI_SUCCESS);
	return params;
}

START_TEST(test_states)
{
	setenv("FAKE_GPU_DEVICES", "2", 1);
	set_up();
	ck_status(enable(0), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(enable(2), CUPTI_ERROR_INVALID_PARAMETER);
	ck_status(enable(1), CUPTI_SUCCESS);
	ck_status(CALL(cuptiPmSamplingGetCounterAvailability, PmSampling_GetCounterAvailability),
	          CUPTI_ERROR_INVALID_PARAMETER);
	new_image(10);
	ck_status(start(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(decode(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(set_config(0, TIMER, 100), CUPTI_ERROR_INVALID_PARAMETER);
	ck_status(set_config(1000000, TIMER, 100), CUPTI_SUCCESS);
	ck_status(stop(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(set_config(1000000, TIMER, 100), CUPTI_ERROR_INVALID_OPERATION);
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(CALL(cuptiPmSamplingDisable, PmSampling_Disable, .pPmSamplingObject = t.object),
	          CUPTI_SUCCESS);
	ck_status(start(), CUPTI_ERROR_INVALID_PARAMETER);
}
END_TEST

START_TEST(test_unsupported)
{
	setenv("FAKE_GPU_CHIP", "GA100", 1);
	set_up();
	ck_status(set_config(1000, TIMER, 100), CUPTI_ERROR_NOT_SUPPORTED);
	ck_status(set_config(1000, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL, 100),
	          CUPTI_SUCCESS);
	setenv("FAKE_GPU_PASSES", "2", 1);
	ck_status(set_config(1000, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL, 100),
	          CUPTI_ERROR_NOT_SUPPORTED);
}
END_TEST

START_TEST(test_samples_follow_time)
{
	CUpti_PmSampling_CounterData_GetSampleInfo_Params before, after;
	size_t found;

	set_up();
	new_image(1000);
	ck_status(set_config(1000000, TIMER, 1000), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	usleep(20000);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_int_eq(decoded.decodeStopReason,
	                 CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
	found = completed();
	ck_assert_uint_ge(found, 20);
	usleep(5000);
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_ge(completed(), found + 4);
	found = completed();
	usleep(5000);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_uint_eq(completed(), found);
	for (size_t i = 1; i < found; i++) {
		before = sample(i - 1);
		after = sample(i);
		ck_assert_uint_eq(after.startTimestamp, before.endTimestamp);
		ck_assert_uint_eq(after.endTimestamp - after.startTimestamp, 1000000);
	}
	before = sample(0);
	ck_assert_uint_gt(before.endTimestamp - before.startTimestamp, 1000000);
}
END_TEST

START_TEST(test_full_image_drops)
{
	setenv("FAKE_GPU_PM_SAMPLES", "15", 1);
	set_up();
	new_image(10);
	ck_status(set_config(1000, TIMER, 1000), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_int_eq(decoded.decodeStopReason,
	                 CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
	ck_assert_uint_eq(completed(), 10);
	new_image(10);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_assert_int_eq(decoded.decodeStopReason,
	                 CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
	ck_assert_uint_eq(completed(), 0);
}
END_TEST

START_TEST(test_overflow)
{
	setenv("FAKE_GPU_PM_SAMPLES", "5", 1);
	setenv("FAKE_GPU_PM_OVERFLOW", "2", 1);
	set_up();
	new_image(100);
	ck_status(set_config(1000, TIMER, 10), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_ERROR_OUT_OF_MEMORY);
	ck_assert(decoded.overflow);
	ck_status(decode(), CUPTI_SUCCESS);
	/* More than the hardware's buffer holds. */
	setenv("FAKE_GPU_PM_SAMPLES", "11", 1);
	ck_status(stop(), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(test_perfworks_images)
{
	void *library = dlopen(FAKE_PERFWORKS, RTLD_NOW | RTLD_LOCAL);
	__typeof__(NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize) *size;
	__typeof__(NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize) *initialize;
	__typeof__(NVPW_PeriodicSampler_CounterData_TrimInPlace) *trim;
	struct fake_image_options options = { sizeof options, some_bytes, sizeof some_bytes, 20,
		                              0 };
	struct fake_image_size_params sized = { .size = sizeof sized, .options = &options };
	struct fake_image_init_params init = { .size = sizeof init, .options = &options };
	struct fake_trim_params trimmed = { .size = sizeof trimmed };

	ck_assert_msg(library != NULL, "%s", dlerror());
	size = (__typeof__(size))
		fake_symbol(library, "NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize");
	initialize = (__typeof__(initialize))
		fake_symbol(library, "NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize");
	trim = (__typeof__(trim))fake_symbol(library,
	                                     "NVPW_PeriodicSampler_CounterData_TrimInPlace");
	setenv("FAKE_GPU_PM_SAMPLES", "5", 1);
	set_up();
	ck_status(size(&sized), 0);
	init.image = trimmed.image = t.image;
	init.image_size = trimmed.image_size = t.image_size = sized.image_size;
	ck_status(initialize(&init), 0);
	ck_status(set_config(1000, TIMER, 10), CUPTI_SUCCESS);
	ck_status(start(), CUPTI_SUCCESS);
	ck_status(decode(), CUPTI_SUCCESS);
	ck_status(trim(&trimmed), 0);
	ck_assert_uint_lt(trimmed.trimmed_size, t.image_size);
	t.image_size = trimmed.trimmed_size;
	ck_assert_uint_eq(completed(), 5);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("pm");

	tcase_add_test(tests, test_states);
	tcase_add_test(tests, test_unsupported);
	tcase_add_test(tests, test_samples_follow_time);
	tcase_add_test(tests, test_full_image_drops);
	tcase_add_test(tests, test_overflow);
	tcase_add_test(tests, test_perfworks_images);
	return fake_run(tests, "fake PM sampling");
}
