/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The first Start takes about 1 ms a slot, each Stop, Decode and Start after it about 9 ms
 * whatever the number of slots: few slots first, so that short programs start soon, then more.
 */
enum {
	FIRST_SLOTS = 32,
	MAX_SLOTS = 256,
	MAX_IMAGE = 8 << 20, /* bytes an image aims at */
	MAX_NAME = 16,
};

struct session {
	const struct target *target;
	const struct settings *settings;
	const struct collect_set *set;
	struct segments *segments;
	CUcontext context;
	int device;
	CUpti_RangeProfiler_Object *profiler;
	uint8_t *blank; /* an initialised image, copied for each segment */
	uint8_t *image;
	size_t image_size;
	uint32_t slots;
	uint32_t most_slots; /* as many as make an image of MAX_IMAGE */
	uint32_t used;
	bool open; /* a range is pushed */
	bool broken;
	struct opk_range *rows; /* one a used slot */
	struct timespec first; /* when the first range of this image began */
	uint64_t ranges, dropped;
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

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Slots by memory. */
static bool limit_slots(struct session *session)
{
	size_t one = image_size(session, 1), two = image_size(session, 2);
	size_t slots = two > one ? MAX_IMAGE / (two - one) : 1;

	session->most_slots = slots < 1 ? 1 : slots > MAX_SLOTS ? MAX_SLOTS : (uint32_t)slots;
	return one > 0;
}

/* An initialised image of so many slots, for start() to copy. */
static bool make_blank(struct session *session, uint32_t slots)
{
	CUpti_Profiler_CounterDataImageOptions options = image_options(session, slots);
	CUpti_Profiler_CounterDataImage_Initialize_Params params = {
		.structSize = CUpti_Profiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE,
		.pOptions = &options,
	};

	free(session->blank);
	session->slots = slots;
	session->image_size = image_size(session, slots);
	session->blank = calloc(1, session->image_size + 1);
	params.counterDataImageSize = session->image_size;
	params.pCounterDataImage = session->blank;
	return session->image_size && session->blank
	       && CHECK(session, cuptiProfilerCounterDataImageInitialize, &params);
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

/* More slots once the program has shown that it launches many kernels. */
static bool grow(struct session *session)
{
	return session->slots == session->most_slots
	       || make_blank(session, least(4 * session->slots, session->most_slots));
}

static bool start(struct session *session)
{
	CUpti_RangeProfiler_Start_Params params = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->image = malloc(session->image_size);
	session->rows = calloc(session->slots, sizeof *session->rows);
	if (!session->image || !session->rows) {
		session->broken = true;
		return false;
	}
	memcpy(session->image, session->blank, session->image_size);
	session->used = 0;
	return set_config(session) && CHECK(session, cuptiRangeProfilerStart, &params);
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
	session->context = context;
	session->device = device;
	if (!CHECK(session, cuptiRangeProfilerEnable, &params)) {
		free(session);
		return NULL;
	}
	session->profiler = params.pRangeProfilerObject;
	if (limit_slots(session)
	    && make_blank(session, least(FIRST_SLOTS, session->most_slots)))
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
	if (!session->used)
		clock_gettime(CLOCK_MONOTONIC, &session->first);
	put_row(session, launch, index);
	session->used++;
	session->ranges++;
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
}

static void decode(struct session *session)
{
	CUpti_RangeProfiler_Stop_Params stop = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};
	CUpti_RangeProfiler_DecodeData_Params params = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	if (CHECK(session, cuptiRangeProfilerStop, &stop)
	    && CHECK(session, cuptiRangeProfilerDecodeData, &params))
		session->dropped += params.numOfRangeDropped;
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
	bool full = session->used == session->slots;

	if (session->broken || session->open || (!session->used && !last))
		return;
	decode(session);
	hand_on(session);
	session->used = 0;
	if (!last && !session->broken && (!full || grow(session)))
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

uint64_t session_ranges(const struct session *session)
{
	return session->ranges;
}

uint64_t session_dropped(const struct session *session)
{
	return session->dropped;
}
