/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake's SASS metrics: each function has three instructions. A launch adds to the value of
 * metric M, from 1, at instruction I, from 1, its warps times M times I.
 */
#include <cupti_sass_metrics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

enum { MAX_METRICS = 64, MAX_RECORDS = 4096, MAX_DEVICES = 64, MAX_ENABLED = 256, FIRST_ID = 1000 };

/* A patched instruction. */
struct record {
	struct fake_function function;
	uint32_t offset;
	uint64_t values[MAX_METRICS];
};

static struct {
	CUcontext context; /* NULL: not enabled */
	struct record *records;
	size_t count;
	bool flushed;
} enabled[MAX_ENABLED];

static struct {
	bool configured, ever;
	size_t count;
	uint64_t metrics[MAX_METRICS];
} devices[MAX_DEVICES];

/* The place of a context, or a free one for NULL; MAX_ENABLED: there is none. */
static size_t find(CUcontext context)
{
	size_t i = 0;

	while (i < MAX_ENABLED && enabled[i].context != context)
		i++;
	return i;
}

static int properties(CUpti_SassMetrics_GetProperties_Params *params)
{
	static char *names[MAX_METRICS];
	size_t i = 0;

	if (!params->pChipName || strncmp(params->pMetricName, "smsp__sass_", 11) != 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	while (i < MAX_METRICS && names[i] && strcmp(names[i], params->pMetricName) != 0)
		i++;
	if (i == MAX_METRICS)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	if (!names[i])
		names[i] = strdup(params->pMetricName);
	params->metric.metricId = FIRST_ID + i;
	params->metric.pMetricName = names[i];
	params->metric.pMetricDescription = "";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetrics_GetProperties_Params, params, properties(params), "%s",
	                  params->pMetricName);
}

/* A device takes no other configuration, even after its first one was removed. */
static int set_config(const CUpti_SassMetricsSetConfig_Params *params)
{
	uint32_t device = params->deviceIndex;

	if (device >= cupti_driver()->device_count() || device >= MAX_DEVICES
	    || !params->numOfMetricConfig || params->numOfMetricConfig > MAX_METRICS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (devices[device].ever)
		return CUPTI_ERROR_INVALID_OPERATION;
	devices[device].configured = devices[device].ever = true;
	devices[device].count = params->numOfMetricConfig;
	for (size_t i = 0; i < params->numOfMetricConfig; i++) {
		if (params->pConfigs[i].outputGranularity)
			return CUPTI_ERROR_NOT_SUPPORTED;
		devices[device].metrics[i] = params->pConfigs[i].metricId;
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsSetConfig_Params, params, set_config(params), "%u %zu",
	                  params->deviceIndex, params->numOfMetricConfig);
}

static int unset_config(const CUpti_SassMetricsUnsetConfig_Params *params)
{
	if (params->deviceIndex >= MAX_DEVICES || !devices[params->deviceIndex].configured)
		return CUPTI_ERROR_INVALID_OPERATION;
	devices[params->deviceIndex].configured = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsUnsetConfig_Params, params, unset_config(params), "%u",
	                  params->deviceIndex);
}

static int enable(const CUpti_SassMetricsEnable_Params *params)
{
	size_t free_one = find(NULL);

	if (!params->ctx || !cupti_driver()->alive(params->ctx))
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (find(params->ctx) < MAX_ENABLED || free_one == MAX_ENABLED
	    || !devices[cupti_driver()->device_of(params->ctx)].configured)
		return CUPTI_ERROR_INVALID_OPERATION;
	enabled[free_one].records = calloc(MAX_RECORDS, sizeof *enabled->records);
	if (!enabled[free_one].records)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	enabled[free_one].context = params->ctx;
	enabled[free_one].count = 0;
	enabled[free_one].flushed = true;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsEnable_Params, params, enable(params), "lazy=%d",
	                  params->enableLazyPatching);
}

static int disable(CUpti_SassMetricsDisable_Params *params)
{
	size_t at = params->ctx ? find(params->ctx) : MAX_ENABLED;

	if (at == MAX_ENABLED)
		return CUPTI_ERROR_INVALID_OPERATION;
	params->numOfDroppedRecords = enabled[at].flushed ? 0 : enabled[at].count;
	params->numOfDroppedRecords += fake_number("FAKE_GPU_SASS_DROPPED", 0);
	free(enabled[at].records);
	enabled[at].context = NULL;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsDisable_Params, params, disable(params), "%s", "");
}

void sass_context_destroyed(CUcontext context)
{
	size_t at = find(context);

	if (at == MAX_ENABLED)
		return;
	fake_log("lost", 0, "SASS metrics of context %u", cupti_driver()->id_of(context));
	free(enabled[at].records);
	enabled[at].context = NULL;
}

static int data_properties(CUpti_SassMetricsGetDataProperties_Params *params)
{
	size_t at = params->ctx ? find(params->ctx) : MAX_ENABLED;

	if (at == MAX_ENABLED)
		return CUPTI_ERROR_INVALID_OPERATION;
	params->numOfPatchedInstructionRecords = enabled[at].count;
	params->numOfInstances = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsGetDataProperties_Params, params,
	                  data_properties(params), "%s", "");
}

/* The metrics come in another order than they were configured. */
static int flush(const CUpti_SassMetricsFlushData_Params *params)
{
	size_t at = params->ctx ? find(params->ctx) : MAX_ENABLED;

	if (at == MAX_ENABLED)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (params->numOfPatchedInstructionRecords != enabled[at].count
	    || params->numOfInstances != 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < enabled[at].count; i++) {
		struct record *record = &enabled[at].records[i];
		CUpti_SassMetrics_Data *out = &params->pMetricsData[i];
		unsigned device = cupti_driver()->device_of(params->ctx);
		size_t count = devices[device].count;

		out->cubinCrc = record->function.crc;
		out->functionName = record->function.name;
		out->pcOffset = record->offset;
		for (size_t j = 0; j < count; j++)
			out->pInstanceValues[j] = (CUpti_SassMetrics_InstanceValue){
				devices[device].metrics[count - 1 - j],
				record->values[count - 1 - j]
			};
		memset(record->values, 0, sizeof record->values);
	}
	enabled[at].flushed = true;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params *params)
{
	return CUPTI_CALL(CUpti_SassMetricsFlushData_Params, params, flush(params), "%zu",
	                  params->numOfPatchedInstructionRecords);
}

/* The records of a function, which is patched when it runs first. */
static struct record *find_records(size_t at, const struct fake_function *function)
{
	struct record *records = enabled[at].records;
	size_t i = 0;

	while (i < enabled[at].count
	       && (records[i].function.crc != function->crc
	           || strcmp(records[i].function.name, function->name) != 0))
		i += FAKE_INSTRUCTIONS;
	if (i + FAKE_INSTRUCTIONS > MAX_RECORDS)
		abort();
	if (i < enabled[at].count)
		return &records[i];
	for (uint32_t j = 0; j < FAKE_INSTRUCTIONS; j++) {
		records[i + j].function = *function;
		records[i + j].offset = j * FAKE_INSTRUCTION_BYTES;
	}
	enabled[at].count += FAKE_INSTRUCTIONS;
	return &records[i];
}

/* FAKE_GPU_SASS_COUNTED: the launches that count anything; the later ones count nothing. */
static bool is_counted(void)
{
	static size_t launches;
	const char *limit = getenv("FAKE_GPU_SASS_COUNTED");

	return ++launches <= (limit ? strtoul(limit, NULL, 10) : SIZE_MAX);
}

void sass_ran(CUcontext context, const struct fake_function *function)
{
	size_t at = find(context);
	struct record *records = at < MAX_ENABLED ? find_records(at, function) : NULL;

	if (!records)
		return;
	enabled[at].flushed = false;
	if (!is_counted())
		return;
	for (size_t i = 0; i < FAKE_INSTRUCTIONS; i++)
		for (size_t j = 0; j < MAX_METRICS; j++)
			records[i].values[j] += function->warps * (i + 1) * (j + 1);
}
