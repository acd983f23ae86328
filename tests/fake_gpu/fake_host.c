/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's host calls that evaluate PM samples. Their header can't be compiled as C. */
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

enum { PM_SAMPLING = 1 };

struct host_object {
	bool alive;
};

typedef struct {
	size_t structSize;
	void *pPriv;
	int profilerType;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	struct host_object *pHostObject;
} CUpti_Profiler_Host_Initialize_Params;

typedef struct {
	size_t structSize;
	void *pPriv;
	struct host_object *pHostObject;
} CUpti_Profiler_Host_Deinitialize_Params;

typedef struct {
	size_t structSize;
	void *pPriv;
	struct host_object *pHostObject;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t rangeIndex;
	const char **ppMetricNames;
	size_t numMetrics;
	double *pMetricValues;
} CUpti_Profiler_Host_EvaluateToGpuValues_Params;

#define CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE                                          \
	sizeof(CUpti_Profiler_Host_Initialize_Params)
#define CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE                                        \
	sizeof(CUpti_Profiler_Host_Deinitialize_Params)
#define CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE                                 \
	sizeof(CUpti_Profiler_Host_EvaluateToGpuValues_Params)

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params);
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params);
CUptiResult cuptiProfilerHostEvaluateToGpuValues(
	CUpti_Profiler_Host_EvaluateToGpuValues_Params *params);

static int host_initialize(CUpti_Profiler_Host_Initialize_Params *params)
{
	if (profiler_ready())
		return profiler_ready();
	if (params->profilerType != PM_SAMPLING || !params->pChipName)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->pHostObject = calloc(1, sizeof *params->pHostObject);
	if (!params->pHostObject)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	params->pHostObject->alive = true;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_Host_Initialize_Params, params, host_initialize(params),
	                  "%s", params->pChipName);
}

static int host_deinitialize(struct host_object *object)
{
	if (!object || !object->alive)
		return CUPTI_ERROR_INVALID_PARAMETER;
	object->alive = false;
	free(object);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_Host_Deinitialize_Params, params,
	                  host_deinitialize(params->pHostObject), "%s", "");
}

/* FAKE_GPU_PM_VALUES=VALUE*SAMPLES,...: so many samples have it, again and again. */
static double value_of(uint64_t sample)
{
	const char *list = getenv("FAKE_GPU_PM_VALUES"), *item = list;
	uint64_t done = 0, count;
	double value;
	char *end;

	while (item && *item) {
		value = strtod(item, &end);
		count = *end == '*' ? strtoull(end + 1, &end, 10) : 1;
		if (sample < done + count)
			return value;
		done += count;
		item = *end == ',' ? end + 1 : end;
		if (!*item) {
			sample %= done;
			done = 0;
			item = list;
		}
	}
	return (double)sample;
}

static int evaluate(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_SAMPLES);
	const struct fake_sample_record *sample;

	if (!params->pHostObject || !params->pHostObject->alive || !image
	    || params->rangeIndex >= image->count || !params->numMetrics)
		return CUPTI_ERROR_INVALID_PARAMETER;
	sample = image_record(image, params->rangeIndex);
	for (size_t i = 0; i < params->numMetrics; i++)
		params->pMetricValues[i] = value_of(sample->value);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
	CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params, evaluate(params),
	                  "%zu", params->rangeIndex);
}
