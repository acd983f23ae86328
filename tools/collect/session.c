/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The first Start takes about 1 ms a slot; each Stop, Decode and Start after it takes about 9 ms
 * whatever the number of slots. More slots in a later SetConfig are accepted and then lose ranges
 * without a word, so the number stays.
 */
enum {
	MAX_SLOTS = 64,
	MAX_IMAGE = 8 << 20, /* bytes an image aims at */
	MAX_NAME = 16,
};

struct session {
	const struct target *target;
	const struct settings *settings;
	const struct collect_set *set;
	struct segments *segments;
	int device;
	CUpti_RangeProfiler_Object *profiler;
	uint8_t *blank; /* an initialised image, copied for each segment */
	uint8_t *image;
	size_t image_size;
	uint32_t slots;
	uint32_t used;
	bool open; /* a launch is under way */
	bool running; /* between Start and Stop */
	bool selective;
	bool broken;
	struct opk_range *rows; /* one a used slot */
	struct timespec first; /* when the first range of this image began */
	uint64_t dropped;
};

static bool check(struct session *session, const char *call, CUptiResult status)
{
	if (!status)
		return true;
	fprintf(stderr, "offpeak-collect: %s: %s (%d)\n", call,
	        target_status(session->target, status), status);
	session->broken = true;
	return false;
}
#define CHECK(session, call, params) check(session, #call, (session)->target->call(params))

static CUpti_Profiler_CounterDataImageOptions image_options(const struct session *session,
                                                            uint32_t slots)
{
	return (CUpti_Profiler_CounterDataImageOptions){
		.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pCounterDataPrefix = session->set->prefix,
		.counterDataPrefixSize = session->set->prefix_size,
		.maxNumRanges = slots,
		.maxNumRangeTreeNodes = slots,
		.maxRangeNameLength = MAX_NAME,
	};
}

static size_t image_size(struct session *session, uint32_t slots)
{
	CUpti_Profiler_CounterDataImageOptions options = image_options(session, slots);
	CUpti_Profiler_CounterDataImage_CalculateSize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_CalculateSize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pOptions = &options,
	};

	return CHECK(session, cuptiProfilerCounterDataImageCalculateSize, &params)
	               ? params.counterDataImageSize
	               : 0;
}

/* Slots by memory. */
static bool choose_slots(struct session *session)
{
	size_t one = image_size(session, 1), two = image_size(session, 2);
	size_t slots = two > one ? MAX_IMAGE / (two - one) : 1;

	session->slots = slots < 1 ? 1 : slots > MAX_SLOTS ? MAX_SLOTS : (uint32_t)slots;
	session->image_size = image_size(session, session->slots);
	return one > 0 && session->image_size > 0;
}

/* An initialised image, for start() to copy. */
static bool make_blank(struct session *session)
{
	CUpti_Profiler_CounterDataImageOptions options = image_options(session, session->slots);
	CUpti_Profiler_CounterDataImage_Initialize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pOptions = &options,
		.counterDataImageSize = session->image_size,
	};

	session->blank = calloc(1, session->image_size);
	params.pCounterDataImage = session->blank;
	return session->blank && CHECK(session, cuptiProfilerCounterDataImageInitialize, &params);
}

static bool set_config(struct session *session)
{
	bool kernel_replay = session->settings->mode == MODE_KERNEL_REPLAY;
	CUpti_RangeProfiler_SetConfig_Params params = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
		.configSize = session->set->config_size,
		.pConfig = session->set->config,
		.counterDataImageSize = session->image_size,
		.pCounterDataImage = session->image,
		.range = kernel_replay ? CUPTI_AutoRange : CUPTI_UserRange,
		.replayMode = kernel_replay ? CUPTI_KernelReplay : CUPTI_UserReplay,
		.maxRangesPerPass = session->slots,
		.numNestingLevels = 1,
		.minNestingLevel = 1,
		.passIndex = 0,
		.targetNestingLevel = 1,
	};

	return CHECK(session, cuptiRangeProfilerSetConfig, &params);
}

static bool resume(struct session *session)
{
	CUpti_RangeProfiler_Start_Params params = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->running = CHECK(session, cuptiRangeProfilerStart, &params);
	return session->running;
}

static bool pause(struct session *session)
{
	CUpti_RangeProfiler_Stop_Params params = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->running = false;
	return CHECK(session, cuptiRangeProfilerStop, &params);
}

static bool start(struct session *session)
{
	session->image = malloc(session->image_size);
	session->rows = calloc(session->slots, sizeof *session->rows);
	if (!session->image || !session->rows) {
		session->broken = true;
		return false;
	}
	memcpy(session->image, session->blank, session->image_size);
	session->used = 0;
	return set_config(session) && (session->selective || resume(session));
}

struct session *session_new(const struct target *target, const struct settings *settings,
                            const struct collect_set *set, struct segments *segments,
                            CUcontext context, int device)
{
	struct session *session = calloc(1, sizeof *session);
	CUpti_RangeProfiler_Enable_Params params = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = context,
	};

	if (!session)
		return NULL;
	session->target = target;
	session->settings = settings;
	session->set = set;
	session->segments = segments;
	session->device = device;
	if (!CHECK(session, cuptiRangeProfilerEnable, &params)) {
		free(session);
		return NULL;
	}
	session->profiler = params.pRangeProfilerObject;
	/* Kernel replay records whatever is launched: with a filter it only runs for what is wanted. */
	session->selective =
		settings->mode == MODE_KERNEL_REPLAY && settings_filter(settings);
	if (choose_slots(session) && make_blank(session))
		start(session);
	return session;
}

static void put_row(struct session *session, const struct launch *launch, uint64_t index)
{
	struct opk_range *row = &session->rows[session->used];

	row->symbol = strdup(launch->symbol ? launch->symbol : "");
	memcpy(row->grid, launch->grid, sizeof row->grid);
	memcpy(row->block, launch->block, sizeof row->block);
	row->shared_bytes = launch->shared_bytes;
	row->launch = index + 1;
	row->device = session->device;
}

static bool push(struct session *session, uint64_t index)
{
	char name[MAX_NAME];
	CUpti_RangeProfiler_PushRange_Params params = {
		.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
		.pRangeName = name,
	};

	snprintf(name, sizeof name, "%ju", (uintmax_t)index);
	return CHECK(session, cuptiRangeProfilerPushRange, &params);
}

bool session_begin_launch(struct session *session, const struct launch *launch, uint64_t index)
{
	if (session->broken)
		return false;
	if (session->used == session->slots) {
		session_flush(session, false);
		if (session->broken)
			return false;
	}
	if (session->settings->mode == MODE_LAUNCH_RANGE && !push(session, index))
		return false;
	if (session->selective && !resume(session))
		return false;
	if (!session->used)
		clock_gettime(CLOCK_MONOTONIC, &session->first);
	put_row(session, launch, index);
	session->used++;
	session->open = true;
	return true;
}

void session_end_launch(struct session *session)
{
	CUpti_RangeProfiler_PopRange_Params params = {
		.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->open = false;
	if (session->settings->mode == MODE_LAUNCH_RANGE)
		CHECK(session, cuptiRangeProfilerPopRange, &params);
	if (session->selective)
		pause(session);
}

/* How many ranges really are in the image. */
static size_t count_ranges(struct session *session)
{
	CUpti_RangeProfiler_GetCounterDataInfo_Params params = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = session->image,
		.counterDataImageSize = session->image_size,
	};

	return CHECK(session, cuptiRangeProfilerGetCounterDataInfo, &params) ? params.numTotalRanges
	                                                                     : 0;
}

/*
 * Rows must stand for ranges one by one. Fewer ranges than launches: the later ones were dropped.
 * More of them, as a graph of several kernels gives: nobody knows which is which.
 */
static void match_rows(struct session *session)
{
	size_t found = count_ranges(session);

	if (found < session->used) {
		session->dropped += session->used - found;
		for (size_t i = found; i < session->used; i++)
			free((char *)session->rows[i].symbol);
	} else if (found > session->used) {
		segments_free_ranges(session->rows, session->used);
		session->rows = calloc(found, sizeof *session->rows);
		session->broken |= !session->rows;
		for (size_t i = 0; session->rows && i < found; i++)
			session->rows[i].device = session->device;
	}
	session->used = (uint32_t)found;
}

static void decode(struct session *session)
{
	CUpti_RangeProfiler_DecodeData_Params params = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	if (session->running && !pause(session))
		return;
	if (session->used && CHECK(session, cuptiRangeProfilerDecodeData, &params)) {
		session->dropped += params.numOfRangeDropped;
		match_rows(session);
	}
}

/* Gives the image and its rows to the writer, or up. */
static void hand_on(struct session *session)
{
	if (!session->broken && session->used) {
		segments_add(session->segments, session->image, session->image_size, session->rows,
		             session->used);
	} else {
		free(session->image);
		segments_free_ranges(session->rows, session->used);
	}
	session->image = NULL;
	session->rows = NULL;
}

void session_flush(struct session *session, bool last)
{
	if (session->broken || session->open || (!session->used && !last))
		return;
	decode(session);
	hand_on(session);
	session->used = 0;
	if (!last && !session->broken)
		start(session);
	session->broken |= last;
}

void session_close(struct session *session)
{
	CUpti_RangeProfiler_Disable_Params params = {
		.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session_flush(session, true);
	session->target->cuptiRangeProfilerDisable(&params);
}

double session_age(const struct session *session)
{
	struct timespec now;

	if (!session->used)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - session->first.tv_sec)
	       + (double)(now.tv_nsec - session->first.tv_nsec) * 1e-9;
}

uint64_t session_dropped(const struct session *session)
{
	return session->dropped;
}
