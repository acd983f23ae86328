/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's PM sampling: a sample for each interval of the host's clock, or a chosen number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"
#include "fake_gpu/fake_perfworks.h"

enum { MAX_DEVICES = 64, FIRST_SAMPLE_NS = 1000000000, SYSCLK_MHZ = 1755 };

/* The GPU's clock is this far behind the host's. */
enum { CLOCK_SHIFT_NS = 794764 };

struct CUpti_PmSampling_Object {
	size_t device;
	bool configured, started;
	bool fresh;        /* started, and not decoded since */
	uint64_t interval; /* ns */
	size_t buffer;     /* samples that the hardware buffer holds */
	bool keep_latest;
	uint64_t begun;   /* host time of the first start */
	uint64_t next;    /* time at which the next sample begins, as now_of() has it */
	uint64_t stopped; /* time of the stop; nothing is sampled after it */
	uint64_t decodes;
	uint64_t total;
	uint64_t last_end; /* the last sample's end: the first one after a pause begins there */
	bool resumed;
};

static CUpti_PmSampling_Object *samplers[MAX_DEVICES];

bool pm_active(void)
{
	for (size_t i = 0; i < MAX_DEVICES; i++)
		if (samplers[i])
			return true;
	return false;
}

static bool valid(const CUpti_PmSampling_Object *object)
{
	for (size_t i = 0; object && i < MAX_DEVICES; i++)
		if (samplers[i] == object)
			return true;
	return false;
}

/* FAKE_GPU_LOST=DEVICE:DECODES: after so many decodes that device answers no more. */
static bool is_lost(const CUpti_PmSampling_Object *object)
{
	const char *lost = getenv("FAKE_GPU_LOST"), *decodes = lost ? strchr(lost, ':') : NULL;

	return decodes && strtoull(lost, NULL, 10) == object->device
	       && object->decodes >= strtoull(decodes + 1, NULL, 10);
}

#define CALL_ON_SAMPLER(type, params, work, ...)                                                   \
	CUPTI_CALL(type, params,                                                                   \
	           !valid(params->pPmSamplingObject)    ? CUPTI_ERROR_INVALID_PARAMETER            \
	           : is_lost(params->pPmSamplingObject) ? CUPTI_ERROR_UNKNOWN                      \
	                                                : (int)(work),                             \
	           __VA_ARGS__)

/* FAKE_GPU_PM_SPEED=N: time passes N times as fast on the GPU, from the first start on. */
static uint64_t now_of(const CUpti_PmSampling_Object *object)
{
	return object->begun + (fake_now() - object->begun) * fake_number("FAKE_GPU_PM_SPEED", 1);
}

static int enable(CUpti_PmSampling_Enable_Params *params)
{
	if (profiler_ready())
		return profiler_ready();
	if (params->deviceIndex >= cupti_driver()->device_count()
	    || params->deviceIndex >= MAX_DEVICES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (samplers[params->deviceIndex])
		return CUPTI_ERROR_INVALID_OPERATION;
	params->pPmSamplingObject = calloc(1, sizeof *params->pPmSamplingObject);
	if (!params->pPmSamplingObject)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	params->pPmSamplingObject->device = params->deviceIndex;
	samplers[params->deviceIndex] = params->pPmSamplingObject;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *params)
{
	return CUPTI_CALL(CUpti_PmSampling_Enable_Params, params, enable(params), "%zu",
	                  params->deviceIndex);
}

/* On the GPU, a sampler that outlives the profiler crashes when it ends. */
static int disable(CUpti_PmSampling_Object *object)
{
	if (profiler_ready()) {
		fprintf(stderr, "fake GPU: a sampler after cuptiProfilerDeInitialize\n");
		abort();
	}
	samplers[object->device] = NULL;
	free(object);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_Disable_Params, params,
	                       disable(params->pPmSamplingObject), "%s", "");
}

static bool timer_supported(size_t device)
{
	const char *chip = fake_chip((unsigned)device);

	return strncmp(chip, "TU", 2) && strcmp(chip, "GA100");
}

/* The params of 12.6 lack it. */
static int append_mode(const CUpti_PmSampling_SetConfig_Params *params)
{
	bool has = params->structSize >= CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE;

	return has ? (int)params->hwBufferAppendMode
	           : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
}

static int set_config(const CUpti_PmSampling_SetConfig_Params *params)
{
	CUpti_PmSampling_Object *object = params->pPmSamplingObject;
	bool timer = params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;

	if (object->started)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!params->pConfig || !params->configSize || !params->samplingInterval
	    || params->hardwareBufferSize < FAKE_RECORD_BYTES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (passes_of_config(params->pConfig, params->configSize) != 1
	    || (timer && !timer_supported(object->device)))
		return CUPTI_ERROR_NOT_SUPPORTED;
	object->interval = timer ? params->samplingInterval
	                         : params->samplingInterval * 1000 / SYSCLK_MHZ + 1;
	object->buffer = params->hardwareBufferSize / FAKE_RECORD_BYTES;
	object->keep_latest = append_mode(params)
	                      == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
	object->configured = true;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_SetConfig_Params, params, set_config(params),
	                       "interval=%ju trigger=%d buffer=%zu append=%d",
	                       (uintmax_t)params->samplingInterval, (int)params->triggerMode,
	                       params->hardwareBufferSize, append_mode(params));
}

static int start(CUpti_PmSampling_Object *object)
{
	if (!object->configured || object->started)
		return CUPTI_ERROR_INVALID_OPERATION;
	object->started = true;
	object->fresh = true;
	object->resumed = object->total > 0;
	if (!object->begun)
		object->begun = fake_now();
	object->next = now_of(object);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_Start_Params, params,
	                       start(params->pPmSamplingObject), "%s", "");
}

static int stop(CUpti_PmSampling_Object *object)
{
	if (!object->started)
		return CUPTI_ERROR_INVALID_OPERATION;
	object->started = false;
	object->stopped = now_of(object);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_Stop_Params, params,
	                       stop(params->pPmSamplingObject), "%s", "");
}

/* FAKE_GPU_PM_SAMPLES: so many in the first decode after a start, and none later. */
static uint64_t waiting(CUpti_PmSampling_Object *object)
{
	uint64_t now = object->started ? now_of(object) : object->stopped;
	uint64_t wanted = fake_number("FAKE_GPU_PM_SAMPLES", UINT64_MAX);

	if (wanted != UINT64_MAX) {
		wanted = object->fresh ? wanted : 0;
		object->fresh = false;
		return wanted;
	}
	return now > object->next ? (now - object->next) / object->interval : 0;
}

/* FAKE_GPU_PM_OVERFLOW: the decode with this number reports an overflow, or all do. */
static bool overflows(const CUpti_PmSampling_Object *object, uint64_t samples)
{
	const char *which = getenv("FAKE_GPU_PM_OVERFLOW");

	if (which && (!strcmp(which, "all") || strtoull(which, NULL, 10) == object->decodes))
		return true;
	return samples > object->buffer && !object->keep_latest;
}

/* FAKE_GPU_PM_STALL=N:COUNT: sample N spans COUNT intervals. */
static uint64_t intervals_of(const CUpti_PmSampling_Object *object)
{
	const char *stall = getenv("FAKE_GPU_PM_STALL"), *count = stall ? strchr(stall, ':') : NULL;

	return count && strtoull(stall, NULL, 10) == object->total ? strtoull(count + 1, NULL, 10)
	                                                           : 1;
}

/* The first sample begins at an event before the start or, after a pause, at the last sample. */
static void add_sample(CUpti_PmSampling_Object *object, struct fake_image *image)
{
	struct fake_sample_record *sample = image_record(image, image->count++);
	uint64_t length = intervals_of(object) * object->interval;

	sample->start = object->next - CLOCK_SHIFT_NS - (object->total ? 0 : FIRST_SAMPLE_NS);
	sample->end = object->next - CLOCK_SHIFT_NS + length;
	if (object->resumed)
		sample->start = object->last_end;
	object->resumed = false;
	object->last_end = sample->end;
	sample->value = object->total++;
	object->next += length;
}

static void add_samples(CUpti_PmSampling_Object *object, struct fake_image *image, uint64_t count)
{
	uint64_t done = 0;

	if (object->keep_latest && count > object->buffer) {
		object->next += (count - object->buffer) * object->interval;
		count = object->buffer;
	}
	while (done < count && image->count < image->max_records) {
		add_sample(object, image);
		done++;
	}
	/* Samples that do not fit are lost. */
	object->next += (count - done) * object->interval;
	if (!object->started)
		object->next = object->stopped;
}

static int decode(CUpti_PmSampling_DecodeData_Params *params)
{
	CUpti_PmSampling_Object *object = params->pPmSamplingObject;
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_SAMPLES);
	uint64_t samples;

	if (!object->configured)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!image)
		return CUPTI_ERROR_INVALID_PARAMETER;
	object->decodes++;
	samples = waiting(object);
	params->overflow = overflows(object, samples);
	params->decodeStopReason = samples > image->max_records - image->count
	                                   ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
	                                   : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	add_samples(object, image, samples);
	return params->overflow ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_DecodeData_Params, params, decode(params),
	                       "reason=%d overflow=%u", (int)params->decodeStopReason,
	                       params->overflow);
}

static int data_size(CUpti_PmSampling_GetCounterDataSize_Params *params)
{
	if (!params->pMetricNames || !params->numMetrics || !params->maxSamples)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->counterDataSize = sizeof(struct fake_image)
	                          + params->maxSamples * sizeof(struct fake_sample_record);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_GetCounterDataSize_Params, params,
	                       data_size(params), "%u", params->maxSamples);
}

static int initialize(const CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
	if (cupti_finalized()) {
		fprintf(stderr, "fake GPU: an image after cuptiFinalize\n");
		abort();
	}
	if (!params->pCounterData
	    || params->counterDataSize
	               < sizeof(struct fake_image) + sizeof(struct fake_sample_record))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image_init(params->pCounterData, params->counterDataSize, FAKE_IMAGE_SAMPLES,
	           sizeof(struct fake_sample_record), 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
	CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
	return CALL_ON_SAMPLER(CUpti_PmSampling_CounterDataImage_Initialize_Params, params,
	                       initialize(params), "%zu", params->counterDataSize);
}

static int data_info(CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
	const struct fake_image *image = image_open(params->pCounterDataImage,
	                                            params->counterDataImageSize,
	                                            FAKE_IMAGE_SAMPLES);

	if (!image)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->numTotalSamples = image->max_records;
	params->numPopulatedSamples = image->count;
	params->numCompletedSamples = image->count;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
	return CUPTI_CALL(CUpti_PmSampling_GetCounterDataInfo_Params, params, data_info(params),
	                  "%zu of %zu", params->numCompletedSamples, params->numTotalSamples);
}

static int sample_info(CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_SAMPLES);
	const struct fake_sample_record *sample;

	if (!image || params->sampleIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	sample = image_record(image, params->sampleIndex);
	params->startTimestamp = cupti_time(sample->start + CLOCK_SHIFT_NS);
	params->endTimestamp = cupti_time(sample->end + CLOCK_SHIFT_NS);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
	CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
	/* It reads the image alone. */
	return CUPTI_CALL(CUpti_PmSampling_CounterData_GetSampleInfo_Params, params,
	                  valid(params->pPmSamplingObject) ? sample_info(params)
	                                                   : CUPTI_ERROR_INVALID_PARAMETER,
	                  "%zu", params->sampleIndex);
}
