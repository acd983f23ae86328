/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's older range API: each call configures one part of a session. */
#include <string.h>

#include "fake_gpu/fake_session.h"

#define CALL_ON_SESSION(type, params, work, ...)                                                   \
	CUPTI_CALL(type, params,                                                                   \
	           session_of(params->ctx, true) ? (int)(work) : CUPTI_ERROR_INVALID_OPERATION,    \
	           __VA_ARGS__)

static int begin_session(const CUpti_Profiler_BeginSession_Params *params)
{
	struct fake_image *image = image_open(params->pCounterDataImage,
	                                      params->counterDataImageSize, FAKE_IMAGE_RANGES);
	struct session *session;
	int status;

	if (!image || !params->pCounterDataScratchBuffer || !params->maxRangesPerPass
	    || params->maxLaunchesPerPass < params->maxRangesPerPass)
		return CUPTI_ERROR_INVALID_PARAMETER;
	status = session_new(&session, params->ctx, true);
	if (status)
		return status;
	session->image = image;
	session->config.range = params->range;
	session->config.replay = params->replayMode;
	session->config.max_ranges = params->maxRangesPerPass;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerBeginSession(CUpti_Profiler_BeginSession_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_BeginSession_Params, params, begin_session(params),
	                  "ranges=%zu", params->maxRangesPerPass);
}

static int end_session(struct session *session)
{
	session_free(session);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerEndSession(CUpti_Profiler_EndSession_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_EndSession_Params, params,
	                       end_session(session_of(params->ctx, true)), "%s", "");
}

static int set_config(const CUpti_Profiler_SetConfig_Params *params)
{
	struct session *session = session_of(params->ctx, true);
	struct session_config config = session->config;

	if (!params->pConfig || !params->configSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	config.levels = params->numNestingLevels;
	config.min_level = params->minNestingLevel;
	config.pass = params->passIndex;
	config.level = params->targetNestingLevel;
	session_read_config(&config, params->pConfig, params->configSize);
	return session_configure(session, &config, session->image);
}

CUptiResult cuptiProfilerSetConfig(CUpti_Profiler_SetConfig_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_SetConfig_Params, params, set_config(params),
	                       "config=%zu pass=%zu level=%u", params->configSize,
	                       params->passIndex, params->targetNestingLevel);
}

static int unset_config(struct session *session)
{
	if (!session->configured || session->in_pass)
		return CUPTI_ERROR_INVALID_OPERATION;
	session->configured = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerUnsetConfig(CUpti_Profiler_UnsetConfig_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_UnsetConfig_Params, params,
	                       unset_config(session_of(params->ctx, true)), "%s", "");
}

CUptiResult cuptiProfilerBeginPass(CUpti_Profiler_BeginPass_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_BeginPass_Params, params,
	                       session_begin_pass(session_of(params->ctx, true)), "%s", "");
}

static int end_pass(CUpti_Profiler_EndPass_Params *params)
{
	struct session *session = session_of(params->ctx, true);
	int status = session_end_pass(session);

	params->passIndex = session->config.pass;
	params->targetNestingLevel = (uint16_t)session->config.level;
	params->allPassesSubmitted = session->submitted;
	return status;
}

CUptiResult cuptiProfilerEndPass(CUpti_Profiler_EndPass_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_EndPass_Params, params, end_pass(params),
	                       "pass=%zu level=%u all=%u", params->passIndex,
	                       params->targetNestingLevel, params->allPassesSubmitted);
}

/* In kernel replay passes are not begun: profiling is on or off. */
static int enable(struct session *session)
{
	int status = CUPTI_SUCCESS;

	if (!session->configured || session->enabled)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (session->config.replay == CUPTI_KernelReplay && !session->in_pass)
		status = session_begin_pass(session);
	session->enabled = !status;
	return status;
}

CUptiResult cuptiProfilerEnableProfiling(CUpti_Profiler_EnableProfiling_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_EnableProfiling_Params, params,
	                       enable(session_of(params->ctx, true)), "%s", "");
}

static int disable(struct session *session)
{
	if (!session->enabled)
		return CUPTI_ERROR_INVALID_OPERATION;
	session->enabled = false;
	return session->config.replay == CUPTI_KernelReplay ? session_end_pass(session)
	                                                    : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDisableProfiling(CUpti_Profiler_DisableProfiling_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_DisableProfiling_Params, params,
	                       disable(session_of(params->ctx, true)), "%s", "");
}

CUptiResult cuptiProfilerPushRange(CUpti_Profiler_PushRange_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_PushRange_Params, params,
	                       session_push(session_of(params->ctx, true), params->pRangeName),
	                       "%s", params->pRangeName ? params->pRangeName : "NULL");
}

CUptiResult cuptiProfilerPopRange(CUpti_Profiler_PopRange_Params *params)
{
	return CALL_ON_SESSION(CUpti_Profiler_PopRange_Params, params,
	                       session_pop(session_of(params->ctx, true)), "%s", "");
}

CUptiResult cuptiProfilerFlushCounterData(CUpti_Profiler_FlushCounterData_Params *params)
{
	params->numTraceBytesDropped = 0;
	return CALL_ON_SESSION(CUpti_Profiler_FlushCounterData_Params, params,
	                       session_decode(session_of(params->ctx, true),
	                                      &params->numRangesDropped),
	                       "dropped=%zu", params->numRangesDropped);
}
