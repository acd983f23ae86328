/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract: PM sampling, and the part of it in libnvperf_host. */
#include <dlfcn.h>

#include "fake_gpu/contract.h"
#include "fake_gpu/fake_perfworks.h"

static struct {
	CUpti_PmSampling_Object *object;
	struct bytes config, prefix;
	uint8_t *image;
	size_t image_size;
} t;

static int enable(size_t device)
{
	CUpti_PmSampling_Enable_Params params = PARAMS(PmSampling_Enable, .deviceIndex = device);
	int status = api.cuptiPmSamplingEnable(&params);

	if (!status)
		t.object = params.pPmSamplingObject;
	return status;
}

static void set_up(void)
{
	load();
	make_context();
	t.config = config_of(0);
	t.prefix = prefix_of(0);
	OK(CALL(cuptiProfilerInitialize, Profiler_Initialize));
	OK(enable(0));
}

static int set_config(uint64_t interval)
{
	return CALL(cuptiPmSamplingSetConfig, PmSampling_SetConfig, .pPmSamplingObject = t.object,
	            .configSize = t.config.size, .pConfig = t.config.data,
	            .hardwareBufferSize = 64 << 20, .samplingInterval = interval,
	            .triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
}

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
	const char *metrics[] = { PM_METRIC };
	CUpti_PmSampling_GetCounterDataSize_Params params = PARAMS(PmSampling_GetCounterDataSize,
	                                                           .pPmSamplingObject = t.object,
	                                                           .pMetricNames = metrics,
	                                                           .numMetrics = 1,
	                                                           .maxSamples = samples);

	OK(api.cuptiPmSamplingGetCounterDataSize(&params));
	t.image_size = params.counterDataSize;
	t.image = calloc(1, t.image_size);
	EXPECT(t.image, "out of memory");
	OK(CALL(cuptiPmSamplingCounterDataImageInitialize, PmSampling_CounterDataImage_Initialize,
	        .pPmSamplingObject = t.object, .counterDataSize = t.image_size,
	        .pCounterData = t.image));
}

static CUpti_PmSampling_DecodeData_Params decoded;

static int decode(void)
{
	decoded = (CUpti_PmSampling_DecodeData_Params)PARAMS(PmSampling_DecodeData,
	                                                     .pPmSamplingObject = t.object,
	                                                     .pCounterDataImage = t.image,
	                                                     .counterDataImageSize = t.image_size);
	return api.cuptiPmSamplingDecodeData(&decoded);
}

static size_t completed(void)
{
	CUpti_PmSampling_GetCounterDataInfo_Params params =
		PARAMS(PmSampling_GetCounterDataInfo, .pCounterDataImage = t.image,
	               .counterDataImageSize = t.image_size);

	OK(api.cuptiPmSamplingGetCounterDataInfo(&params));
	return params.numCompletedSamples;
}

static CUpti_PmSampling_CounterData_GetSampleInfo_Params sample(size_t index)
{
	CUpti_PmSampling_CounterData_GetSampleInfo_Params params =
		PARAMS(PmSampling_CounterData_GetSampleInfo, .pPmSamplingObject = t.object,
	               .pCounterDataImage = t.image, .counterDataImageSize = t.image_size,
	               .sampleIndex = index);

	OK(api.cuptiPmSamplingCounterDataGetSampleInfo(&params));
	return params;
}

CONTRACT_TEST(states)
{
	set_up();
	EXPECT_STATUS(enable(0), CUPTI_ERROR_INVALID_OPERATION);
	EXPECT_STATUS(enable(64), CUPTI_ERROR_INVALID_PARAMETER);
	new_image(10);
	EXPECT_STATUS(start(), CUPTI_ERROR_INVALID_OPERATION);
	EXPECT_STATUS(decode(), CUPTI_ERROR_INVALID_OPERATION);
	EXPECT_STATUS(set_config(0), CUPTI_ERROR_INVALID_PARAMETER);
	OK(set_config(1000000));
	EXPECT_STATUS(stop(), CUPTI_ERROR_INVALID_OPERATION);
	OK(start());
	EXPECT_STATUS(start(), CUPTI_ERROR_INVALID_OPERATION);
	OK(stop());
	OK(CALL(cuptiPmSamplingDisable, PmSampling_Disable, .pPmSamplingObject = t.object));
	EXPECT(start(), "sampling without a sampler");
}

static int availability(void)
{
	CUpti_PmSampling_GetCounterAvailability_Params params = PARAMS(
		PmSampling_GetCounterAvailability);
	int status = api.cuptiPmSamplingGetCounterAvailability(&params);

	if (status)
		return status;
	params.pCounterAvailabilityImage = calloc(1, params.counterAvailabilityImageSize);
	EXPECT(params.pCounterAvailabilityImage, "out of memory");
	return api.cuptiPmSamplingGetCounterAvailability(&params);
}

static void sample_for(uint32_t slots, unsigned microseconds)
{
	set_up();
	new_image(slots);
	OK(set_config(1000000));
	OK(start());
	usleep(microseconds);
}

CONTRACT_TEST(samples_follow_time)
{
	size_t found;

	sample_for(1000, 40000);
	OK(decode());
	found = completed();
	EXPECT(found >= 20, "%zu samples in 40 ms", found);
	usleep(20000);
	OK(stop());
	OK(decode());
	EXPECT_NUMBER(decoded.decodeStopReason,
	              CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
	EXPECT(completed() >= found + 10, "%zu samples, then %zu", found, completed());
	found = completed();
	usleep(5000);
	OK(decode());
	EXPECT_NUMBER(completed(), found);
	for (size_t i = 1; i < found; i++)
		EXPECT_NUMBER(sample(i).startTimestamp, sample(i - 1).endTimestamp);
	/* The first sample begins at an earlier event. */
	EXPECT(sample(0).endTimestamp - sample(0).startTimestamp > 1000000, "no longer than 1 ms");
}

CONTRACT_TEST(availability_goes_before_sampling)
{
	sample_for(1000, 1000);
	EXPECT(availability(), "there is an image while a device is sampled");
}

CONTRACT_TEST(full_image_drops)
{
	sample_for(10, 60000);
	OK(stop());
	OK(decode());
	EXPECT_NUMBER(decoded.decodeStopReason,
	              CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
	EXPECT_NUMBER(completed(), 10);
	new_image(10);
	OK(decode());
	EXPECT_NUMBER(decoded.decodeStopReason,
	              CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
	EXPECT_NUMBER(completed(), 0);
}

#define FUNCTION(symbol) ((__typeof__(symbol) *)dlsym(api.perfworks, #symbol))

CONTRACT_TEST(images_without_instances)
{
	struct fake_image_options options = { .size = sizeof options, .max_samples = 100 };
	struct fake_image_size_params sized = { .size = sizeof sized, .options = &options };
	struct fake_image_init_params init = { .size = sizeof init, .options = &options };
	struct fake_trim_params trimmed = { .size = sizeof trimmed };
	size_t found;

	sample_for(10, 20000);
	EXPECT(api.perfworks, "no libnvperf_host beside libcupti");
	options.prefix = t.prefix.data;
	options.prefix_size = t.prefix.size;
	OK(FUNCTION(NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize)(&sized));
	t.image = init.image = trimmed.image = calloc(1, sized.image_size);
	t.image_size = init.image_size = trimmed.image_size = sized.image_size;
	OK(FUNCTION(NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize)(&init));
	OK(stop());
	OK(decode());
	found = completed();
	EXPECT(found >= 10, "%zu samples in 20 ms", found);
	OK(FUNCTION(NVPW_PeriodicSampler_CounterData_TrimInPlace)(&trimmed));
	EXPECT(trimmed.trimmed_size < t.image_size, "nothing is cut off");
	t.image_size = trimmed.trimmed_size;
	EXPECT_NUMBER(completed(), found);
}
