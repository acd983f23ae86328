/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's range profiler: the API of CUPTI 12.6 and later. */
#include <string.h>

#include "fake_gpu/fake_session.h"

/* The object that callers get is the session. */
#define CALL_ON_SESSION(type, params, work, ...)                                                   \
	CUPTI_CALL(type, params,                                                                   \
	           valid(params->pRangeProfilerObject) ? (int)(work)                               \
	                                               : CUPTI_ERROR_INVALID_PARAMETER,            \
	           __VA_ARGS__)

static struct session *of(CUpti_RangeProfiler_Object *object)
{
	return (struct session *)object;
}

static bool valid(CUpti_RangeProfiler_Object *object)
{
	return session_valid(of(object)) && !of(object)->legacy;
}

static uint32_t context_id(CUcontext context)
{
	CUcontext which = context ? context : cupti_driver()->current();

	return which && cupti_driver()->alive(which) ? cupti_driver()->id_of(which) : 0;
}

static int enable(CUpti_RangeProfiler_Enable_Params *params)
{
	struct session *session = NULL;
	int status = session_new(&session, params->ctx, false);

	params->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)session;
	return status;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
	return CUPTI_CALL(CUpti_RangeProfiler_Enable_Params, params, enable(params), "%u",
	                  context_id(params->ctx));
}

static int disable(struct session *session)
{
	session_free(session);
	return cupti_finalized() ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_Disable_Params, params,
	                       disable(of(params->pRangeProfilerObject)), "%s", "");
}

static int set_config(const CUpti_RangeProfiler_SetConfig_Params *params)
{
	struct session_config config = {
		.range = params->range,
		.replay = params->replayMode,
		.max_ranges = params->maxRangesPerPass,
		.levels = params->numNestingLevels,
		.min_level = params->minNestingLevel,
		.pass = params->passIndex,
		.level = params->targetNestingLevel,
	};

	if (!params->pConfig || !params->configSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	session_read_config(&config, params->pConfig, params->configSize);
	return session_configure(of(params->pRangeProfilerObject), &config,
	                         image_open(params->pCounterDataImage, params->counterDataImageSize,
	                                    FAKE_IMAGE_RANGES));
}

static const char *range_name(CUpti_ProfilerRange range)
{
	return range == CUPTI_AutoRange ? "auto" : "user";
}

static const char *replay_name(CUpti_ProfilerReplayMode replay)
{
	return replay == CUPTI_KernelReplay ? "kernel"
	       : replay == CUPTI_UserReplay ? "user"
	                                    : "application";
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_SetConfig_Params, params, set_config(params),
	                       "%s %s config=%zu ranges=%zu levels=%u+%u pass=%zu level=%u",
	                       range_name(params->range), replay_name(params->replayMode),
	                       params->configSize, params->maxRangesPerPass,
	                       params->minNestingLevel, params->numNestingLevels, params->passIndex,
	                       params->targetNestingLevel);
}

static int start(struct session *session)
{
	int status = session_begin_pass(session);

	if (!status)
		session->enabled = true;
	return status;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_Start_Params, params,
	                       start(of(params->pRangeProfilerObject)), "%s", "");
}

static int stop(CUpti_RangeProfiler_Stop_Params *params)
{
	struct session *session = of(params->pRangeProfilerObject);
	int status = session_end_pass(session);

	params->passIndex = session->config.pass;
	params->targetNestingLevel = session->config.level;
	params->isAllPassSubmitted = session->submitted;
	return status;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_Stop_Params, params, stop(params),
	                       "pass=%zu level=%zu all=%u", params->passIndex,
	                       params->targetNestingLevel, params->isAllPassSubmitted);
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_PushRange_Params, params,
	                       session_push(of(params->pRangeProfilerObject), params->pRangeName),
	                       "%s", params->pRangeName ? params->pRangeName : "NULL");
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_PopRange_Params, params,
	                       session_pop(of(params->pRangeProfilerObject)), "%s", "");
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
	return CALL_ON_SESSION(CUpti_RangeProfiler_DecodeData_Params, params,
	                       session_decode(of(params->pRangeProfilerObject),
	                                      &params->numOfRangeDropped),
	                       "dropped=%zu", params->numOfRangeDropped);
}

static int counter_data_info(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_RANGES);

	params->numTotalRanges = image ? image->count : 0;
	return image ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
	CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
	return CUPTI_CALL(CUpti_RangeProfiler_GetCounterDataInfo_Params, params,
	                  counter_data_info(params), "%zu", params->numTotalRanges);
}

/* The names of a path, joined by the caller's delimiter. */
static const char *join(const char *path, const char *delimiter)
{
	static __thread char text[2 * MAX_PATH_LENGTH];
	size_t length = 0, more = strlen(delimiter);

	for (; *path && length + more + 1 < sizeof text; path++) {
		if (*path != FAKE_RANGE_SEPARATOR) {
			text[length++] = *path;
			continue;
		}
		memcpy(text + length, delimiter, more);
		length += more;
	}
	text[length] = '\0';
	return text;
}

static int range_info(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *params)
{
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_RANGES);
	const struct fake_range_record *record;

	if (!image || params->rangeIndex >= image->count || !params->rangeDelimiter)
		return CUPTI_ERROR_INVALID_PARAMETER;
	record = image_record(image, params->rangeIndex);
	params->rangeName = join(record->path, params->rangeDelimiter);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(
	CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *params)
{
	return CUPTI_CALL(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, params,
	                  range_info(params), "%zu", params->rangeIndex);
}
