/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake's PC sampling: each function that runs has so many samples, at an interval of 2^15
 * cycles, at its three instructions: a half waits for memory, a quarter for the last instruction,
 * and the rest is selected.
 */
#include <cupti_pcsampling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

enum { MAX_SAMPLERS = 256, MAX_PLACES = 4096, FIRST_REASON = 10, USUAL_INTERVAL = 15 };

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
static const char *const reasons[] = {
	STALLED "long_scoreboard",
	STALLED "long_scoreboard_not_issued",
	STALLED "wait",
	STALLED "wait_not_issued",
	STALLED "selected",
	STALLED "selected_not_issued",
	"smsp__pcsamp_sample_count",
};
enum { REASONS = sizeof reasons / sizeof *reasons };

struct place {
	uint32_t crc, offset;
	const char *function;
	uint32_t samples[REASONS];
};

static struct sampler {
	CUcontext context; /* NULL: not enabled */
	uint32_t interval;
	CUpti_PCSamplingData *buffer; /* NULL: not configured */
	struct place places[MAX_PLACES];
	size_t count;
	uint64_t waiting, dropped; /* samples */
	bool full;
} * samplers[MAX_SAMPLERS];

static struct sampler *find(CUcontext context)
{
	for (size_t i = 0; context && i < MAX_SAMPLERS; i++)
		if (samplers[i] && samplers[i]->context == context)
			return samplers[i];
	return NULL;
}

#define PC_CALL(type, params, work, ...)                                                           \
	FAKE_CALL(CUptiResult, __extension__({                                                     \
			  int result_ = CUPTI_ERROR_INVALID_PARAMETER;                             \
			  pthread_mutex_lock(&cupti_lock);                                         \
			  if ((params)->size == type##Size)                                        \
				  result_ = (int)(work);                                           \
			  pthread_mutex_unlock(&cupti_lock);                                       \
			  result_;                                                                 \
		  }),                                                                              \
	          __VA_ARGS__)

static int enable(CUcontext context)
{
	struct sampler **free_one = samplers;

	if (!context || !cupti_driver()->alive(context))
		return CUPTI_ERROR_INVALID_CONTEXT;
	while (free_one < samplers + MAX_SAMPLERS && *free_one && (*free_one)->context)
		free_one++;
	if (find(context) || free_one == samplers + MAX_SAMPLERS)
		return CUPTI_ERROR_INVALID_OPERATION;
	free(*free_one);
	*free_one = calloc(1, sizeof **free_one);
	if (!*free_one)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	(*free_one)->context = context;
	(*free_one)->interval = USUAL_INTERVAL;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *params)
{
	return PC_CALL(CUpti_PCSamplingEnableParams, params, enable(params->ctx), "%s", "");
}

static size_t reason_count(void)
{
	return REASONS - (fake_number("FAKE_GPU_PC_UNCOUNTED", 0) != 0);
}

CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *params)
{
	return PC_CALL(CUpti_PCSamplingGetNumStallReasonsParams, params,
	               (*params->numStallReasons = reason_count(), CUPTI_SUCCESS), "%s", "");
}

static int stall_reasons(const CUpti_PCSamplingGetStallReasonsParams *params)
{
	if (params->numStallReasons != reason_count())
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < params->numStallReasons; i++) {
		params->stallReasonIndex[i] = (uint32_t)(FIRST_REASON + i);
		snprintf(params->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[i]);
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *params)
{
	return PC_CALL(CUpti_PCSamplingGetStallReasonsParams, params, stall_reasons(params), "%s",
	               "");
}

static int take_attribute(struct sampler *sampler, const CUpti_PCSamplingConfigurationInfo *info)
{
	switch (info->attributeType) {
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
		sampler->interval = info->attributeData.samplingPeriodData.samplingPeriod;
		return sampler->interval < 5 || sampler->interval > 31
		               ? CUPTI_ERROR_INVALID_PARAMETER
		               : CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
		sampler->buffer = info->attributeData.samplingDataBufferData.samplingDataBuffer;
		return sampler->buffer ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
	default:
		return CUPTI_SUCCESS;
	}
}

static int set_attributes(const CUpti_PCSamplingConfigurationInfoParams *params)
{
	struct sampler *sampler = find(params->ctx);
	int status = sampler ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;

	for (size_t i = 0; !status && i < params->numAttributes; i++)
		status = take_attribute(sampler, &params->pPCSamplingConfigurationInfo[i]);
	return status;
}

static unsigned interval_of(CUcontext context)
{
	const struct sampler *sampler = find(context);

	return sampler ? sampler->interval : 0;
}

CUptiResult cuptiPCSamplingSetConfigurationAttribute(
	CUpti_PCSamplingConfigurationInfoParams *params)
{
	return PC_CALL(CUpti_PCSamplingConfigurationInfoParams, params, set_attributes(params),
	               "interval=%u", interval_of(params->ctx));
}

static void give_place(CUpti_PCSamplingPCData *out, const struct place *place)
{
	out->cubinCrc = place->crc;
	out->pcOffset = place->offset;
	out->functionName = (char *)place->function;
	out->stallReasonCount = 0;
	for (size_t i = 0; i < REASONS; i++)
		if (place->samples[i])
			out->stallReason[out->stallReasonCount++] = (CUpti_PCSamplingStallReason){
				(uint32_t)(FIRST_REASON + i), place->samples[i]
			};
}

/* FAKE_GPU_PC_PLACES: at most so many places at once. */
static void give(CUpti_PCSamplingData *data, struct sampler *sampler)
{
	size_t most = fake_number("FAKE_GPU_PC_PLACES", MAX_PLACES), count = sampler->count;

	if (count > most)
		count = most;
	if (count > data->collectNumPcs)
		count = data->collectNumPcs;
	for (size_t i = 0; i < count; i++)
		give_place(&data->pPcData[i], &sampler->places[i]);
	sampler->count -= count;
	memmove(sampler->places, sampler->places + count, sampler->count * sizeof *sampler->places);
	data->totalNumPcs = count;
	data->remainingNumPcs = sampler->count;
	data->droppedSamples = sampler->dropped;
	data->totalSamples = sampler->waiting;
	sampler->dropped = sampler->waiting = 0;
}

static int get_data(CUcontext context, CUpti_PCSamplingData *data)
{
	struct sampler *sampler = find(context);

	if (!sampler || !sampler->buffer)
		return CUPTI_ERROR_INVALID_OPERATION;
	data->totalNumPcs = data->remainingNumPcs = 0;
	data->hardwareBufferFull = sampler->full;
	if (sampler->full)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	give(data, sampler);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *params)
{
	return PC_CALL(CUpti_PCSamplingGetDataParams, params,
	               get_data(params->ctx, params->pcSamplingData), "%s", "");
}

static int disable(CUcontext context)
{
	struct sampler *sampler = find(context);

	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (sampler->buffer)
		give(sampler->buffer, sampler);
	sampler->context = NULL;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *params)
{
	return PC_CALL(CUpti_PCSamplingDisableParams, params, disable(params->ctx), "%s", "");
}

void pc_context_destroyed(CUcontext context)
{
	struct sampler *sampler = find(context);

	if (!sampler)
		return;
	fake_log("lost", 0, "PC sampling of context %u", cupti_driver()->id_of(context));
	sampler->context = NULL;
}

static struct place *find_place(struct sampler *sampler, const struct fake_function *function,
                                uint32_t offset)
{
	struct place *place = sampler->places;

	while (place < sampler->places + sampler->count
	       && (place->crc != function->crc || place->offset != offset
	           || strcmp(place->function, function->name) != 0))
		place++;
	if (place == sampler->places + MAX_PLACES)
		abort();
	if (place == sampler->places + sampler->count) {
		*place = (struct place){ function->crc, offset, function->name, { 0 } };
		sampler->count++;
	}
	return place;
}

/* Each reason has an instruction; half of the samples in cycles without one that was issued. */
static void sample(struct sampler *sampler, const struct fake_function *function, uint64_t samples)
{
	uint64_t parts[FAKE_INSTRUCTIONS] = { samples / 2, samples / 4 };

	parts[2] = samples - parts[0] - parts[1];
	for (uint32_t i = 0; i < FAKE_INSTRUCTIONS; i++) {
		struct place *place = find_place(sampler, function, i * FAKE_INSTRUCTION_BYTES);

		place->samples[2 * i] += (uint32_t)parts[i];
		place->samples[2 * i + 1] += (uint32_t)parts[i] / 2;
	}
	sampler->waiting += samples;
}

/*
 * FAKE_GPU_PC_BUFFER: the hardware holds so many samples until they are fetched.
 * FAKE_GPU_PC_UNSAMPLED: functions that run first have none.
 */
void pc_ran(CUcontext context, const struct fake_function *function)
{
	static uint64_t ran;
	struct sampler *sampler = find(context);
	uint64_t samples = fake_number("FAKE_GPU_PC_SAMPLES", 32) << USUAL_INTERVAL;

	if (!sampler || !sampler->buffer || sampler->full
	    || ran++ < fake_number("FAKE_GPU_PC_UNSAMPLED", 0))
		return;
	samples >>= sampler->interval;
	if (sampler->waiting + samples > fake_number("FAKE_GPU_PC_BUFFER", UINT64_MAX)) {
		sampler->full = true;
		return;
	}
	sampler->dropped += fake_number("FAKE_GPU_PC_DROPPED", 0);
	sample(sampler, function, samples);
}
