/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PC sampling of one context: the hardware notes now and then where the warps are, and why they
 * wait. A thread fetches the samples before the hardware's buffer is full.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/profilers/profilers.h"
#include "collect/ranges/ranges.h"

enum {
	POLL_US = 20000,
	WORKER_MS = 10, /* CUPTI's own threads wake up so often */
	PLACES = 20000, /* fetched at once */
	/*
	 * The interval of the first second with samples. Then it is chosen so that each kernel
	 * has ENOUGH samples a second, if few are enough for that: a step of 192 short kernels
	 * takes 5 ms without samples, 8 to 10 with a million a second, 15 to 26 with two millions
	 * (H100, 580.159.04, CUPTI 13.0). If later seconds have more, it gets longer.
	 */
	USUAL = 15,
	SHORTEST = 10,
	LONGEST = 20,
	ENOUGH = 1000,
	WANTED_A_SECOND = 200000,
	/* CUPTI decodes 14 millions. */
	MOST_A_SECOND = 10000000,
};
static const double write_interval_s = 2, judge_s = 1;

/* CUPTI's reasons of stalls, and two more numbers of samples, which are our metrics. */
struct reasons {
	size_t count;
	uint32_t *numbers;
	char **names;  /* of CUPTI_STALL_REASON_STRING_SIZE bytes */
	bool *counted; /* those of which each sample has one */
	size_t all;    /* the one that CUPTI leaves empty, for the number of all samples */
};

struct pc_sampler {
	const struct profiling *profiling;
	struct segments *segments;
	CUcontext context;
	int device;
	uint32_t interval; /* 2^interval cycles */
	struct reasons reasons;
	CUpti_PCSamplingData data;
	CUpti_PCSamplingPCData *places;
	CUpti_PCSamplingStallReason *stalls;
	struct code_rows rows;
	/* All kernels so far; launches, counted by the threads that launch, need the lock. */
	struct launched launched;
	pthread_mutex_t lock;
	bool graphs; /* were launched, whose kernels are not known */
	struct timespec written, judged;
	uint64_t judged_samples; /* that there were then */
	uint32_t chosen;         /* the interval to change to; 0: none */
	pthread_t thread;
	bool running, ending, enabled, failed, full;
	bool chooses, on_trial; /* the interval; it was not chosen yet */
	struct counts counts;
};

/* ---- reasons ------------------------------------------------------------------------------- */

static bool make_room(struct reasons *reasons)
{
	reasons->numbers = opk_alloc_array(reasons->count, sizeof *reasons->numbers);
	reasons->names = opk_alloc_array(reasons->count, sizeof *reasons->names);
	reasons->counted = opk_alloc_array(reasons->count, sizeof *reasons->counted);
	for (size_t i = 0; reasons->names && i < reasons->count; i++)
		if (!(reasons->names[i] = calloc(1, CUPTI_STALL_REASON_STRING_SIZE)))
			return false;
	return reasons->numbers && reasons->names && reasons->counted;
}

static bool ask_reasons(struct pc_sampler *sampler)
{
	struct reasons *reasons = &sampler->reasons;
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = sampler->context,
		.numStallReasons = &reasons->count,
	};
	CUpti_PCSamplingGetStallReasonsParams params = {
		.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = sampler->context,
	};

	if (!TARGET_CALL(cuptiPCSamplingGetNumStallReasons, &number) || !make_room(reasons))
		return false;
	params.numStallReasons = reasons->count;
	params.stallReasonIndex = reasons->numbers;
	params.stallReasons = reasons->names;
	if (!TARGET_CALL(cuptiPCSamplingGetStallReasons, &params))
		return false;
	for (size_t i = 0; i < reasons->count; i++)
		reasons->counted[i] = opk_is_stall(reasons->names[i]);
	while (reasons->all < reasons->count
	       && strcmp(reasons->names[reasons->all], "smsp__pcsamp_sample_count") != 0)
		reasons->all++;
	return true;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* The number of a reason among ours, or the count of reasons. */
static size_t find_reason(const struct reasons *reasons, uint32_t number)
{
	size_t i = 0;

	while (i < reasons->count && reasons->numbers[i] != number)
		i++;
	return i;
}

/* The tally also has samples that are not written yet. */
static void add_samples(struct pc_sampler *sampler, uint64_t count)
{
	sampler->counts.ranges += count;
	__atomic_fetch_add(&tally->ranges, count, __ATOMIC_RELAXED);
}

static void add_place(struct pc_sampler *sampler, const CUpti_PCSamplingPCData *record)
{
	const struct reasons *reasons = &sampler->reasons;
	const char *symbol = record->functionName ? record->functionName : "";
	struct launched_function *function = launched_find(&sampler->launched, symbol);
	struct opk_instruction place = {
		.module = record->cubinCrc,
		.function = function ? function->names->symbol : "",
		.name = function ? function->names->name : "",
		.offset = (uint32_t)record->pcOffset,
		.device = sampler->device,
		.process = (uint32_t)getpid(),
		.rank = sampler->profiling->rank,
		.interval = sampler->interval,
	};
	uint64_t *values = code_rows_at(&sampler->rows, &place), count = 0;

	for (size_t i = 0; values && i < record->stallReasonCount; i++) {
		const CUpti_PCSamplingStallReason *stall = &record->stallReason[i];
		size_t at = find_reason(reasons, stall->pcSamplingStallReasonIndex);

		if (at == reasons->count || at == reasons->all)
			continue;
		values[at] += stall->samples;
		if (reasons->counted[at])
			count += stall->samples;
	}
	if (values && reasons->all < reasons->count)
		values[reasons->all] += count;
	if (function) {
		function->samples += count;
		function->place = place;
	}
	add_samples(sampler, count);
}

/* Takes what the last call of CUPTI left in the buffer. */
static void take(struct pc_sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	for (size_t i = 0; i < sampler->data.totalNumPcs; i++)
		add_place(sampler, &sampler->places[i]);
	pthread_mutex_unlock(&sampler->lock);
	sampler->counts.drops[DROP_HARDWARE] += sampler->data.droppedSamples;
	sampler->data.totalNumPcs = 0;
	sampler->data.droppedSamples = 0;
}

static void write_samples(struct pc_sampler *sampler)
{
	code_rows_hand_on(&sampler->rows, sampler->segments);
	sampler->written = clock_now();
}

/*
 * False if the hardware's buffer is full: CUPTI then gives nothing until sampling begins again, and
 * cuptiPCSamplingDisable() of another thread waits forever for one that launches kernels (H100,
 * 580.159.04, CUPTI 13.0).
 */
static bool fetch(struct pc_sampler *sampler)
{
	CUpti_PCSamplingGetDataParams params = {
		.size = CUpti_PCSamplingGetDataParamsSize,
		.ctx = sampler->context,
		.pcSamplingData = &sampler->data,
	};

	do {
		CUptiResult status;

		target_begin();
		status = target.cuptiPCSamplingGetData(&params);

		if (status == CUPTI_ERROR_OUT_OF_MEMORY || sampler->data.hardwareBufferFull)
			return false;
		if (!target_check("cuptiPCSamplingGetData", status)) {
			sampler->failed = true;
			return true;
		}
		take(sampler);
	} while (sampler->data.remainingNumPcs);
	return true;
}

/* ---- choosing the interval ----------------------------------------------------------------- */

/* The fewest samples of a kernel that was launched; one without any counts as half a sample. */
static double fewest(const struct pc_sampler *sampler)
{
	double least = ENOUGH;

	for (size_t i = 0; i < sampler->launched.functions.count; i++) {
		const struct launched_function *function = &sampler->launched.functions.items[i];
		double samples = function->samples ? (double)function->samples : 0.5;

		if (function->launches && samples < least)
			least = samples;
	}
	return least;
}

/* `rate`: samples a second. */
static uint32_t choose(const struct pc_sampler *sampler, double rate)
{
	double least = sampler->on_trial ? fewest(sampler) : ENOUGH;
	uint32_t interval = sampler->interval;

	for (; interval < LONGEST
	       && rate > (interval < USUAL ? 1.5 * WANTED_A_SECOND : MOST_A_SECOND);
	     rate /= 2)
		interval++;
	for (; least < ENOUGH && 2 * rate <= WANTED_A_SECOND && interval > SHORTEST; rate *= 2) {
		interval--;
		least *= 2;
	}
	return interval;
}

/* Once a second, from the first sample on. The next launch changes the interval. */
static void judge(struct pc_sampler *sampler)
{
	uint64_t samples = sampler->counts.ranges - sampler->judged_samples;
	double seconds = clock_seconds_since(&sampler->judged);
	uint32_t interval;

	/* A choice waits for a launch. */
	if (!sampler->counts.ranges || __atomic_load_n(&sampler->chosen, __ATOMIC_ACQUIRE))
		sampler->judged = clock_now();
	else if (seconds >= judge_s) {
		pthread_mutex_lock(&sampler->lock);
		interval = choose(sampler, (double)samples / seconds);
		if (interval != sampler->interval)
			__atomic_store_n(&sampler->chosen, interval, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&sampler->lock);
		sampler->on_trial = false;
		sampler->judged = clock_now();
		sampler->judged_samples = sampler->counts.ranges;
	}
}

/* ---- on and off ---------------------------------------------------------------------------- */

static bool make_buffer(struct pc_sampler *sampler)
{
	size_t reasons = sampler->reasons.count;

	sampler->places = opk_alloc_array(PLACES, sizeof *sampler->places);
	sampler->stalls = opk_alloc_array(PLACES * reasons, sizeof *sampler->stalls);
	if (!sampler->places || !sampler->stalls)
		return false;
	for (size_t i = 0; i < PLACES; i++) {
		sampler->places[i].size = sizeof *sampler->places;
		sampler->places[i].stallReason = sampler->stalls + i * reasons;
	}
	sampler->data = (CUpti_PCSamplingData){ .size = sizeof sampler->data,
		                                .collectNumPcs = PLACES,
		                                .pPcData = sampler->places };
	return true;
}

#define ATTRIBUTE(type, ...)                                                                       \
	{                                                                                          \
		.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_##type,                 \
		.attributeData = {                                                                 \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static bool configure(struct pc_sampler *sampler)
{
	CUpti_PCSamplingConfigurationInfo attributes[] = {
		ATTRIBUTE(STALL_REASON,
		          .stallReasonData = { sampler->reasons.count, sampler->reasons.numbers }),
		ATTRIBUTE(SAMPLING_PERIOD, .samplingPeriodData = { sampler->interval }),
		ATTRIBUTE(SAMPLING_DATA_BUFFER, .samplingDataBufferData = { &sampler->data }),
		ATTRIBUTE(COLLECTION_MODE,
		          .collectionModeData = { CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS }),
		ATTRIBUTE(WORKER_THREAD_PERIODIC_SLEEP_SPAN,
		          .workerThreadPeriodicSleepSpanData = { WORKER_MS }),
	};
	CUpti_PCSamplingConfigurationInfoParams params = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = sampler->context,
		.numAttributes = sizeof attributes / sizeof *attributes,
		.pPCSamplingConfigurationInfo = attributes,
	};

	return TARGET_CALL(cuptiPCSamplingSetConfigurationAttribute, &params);
}

static bool enable(struct pc_sampler *sampler)
{
	CUpti_PCSamplingEnableParams params = { .size = CUpti_PCSamplingEnableParamsSize,
		                                .ctx = sampler->context };

	if (!target.cuptiPCSamplingEnable)
		return say(false, "%s has no PC sampling", target.cupti_path);
	sampler->enabled = TARGET_CALL(cuptiPCSamplingEnable, &params);
	return sampler->enabled;
}

/* Afterwards the buffer has the rest of the samples. */
static void disable(struct pc_sampler *sampler)
{
	CUpti_PCSamplingDisableParams params = { .size = CUpti_PCSamplingDisableParamsSize,
		                                 .ctx = sampler->context };

	if (!sampler->enabled)
		return;
	sampler->enabled = false;
	if (TARGET_CALL(cuptiPCSamplingDisable, &params))
		take(sampler);
	else
		sampler->failed = true;
}

static void *run(void *data)
{
	struct pc_sampler *sampler = data;

	while (!__atomic_load_n(&sampler->ending, __ATOMIC_ACQUIRE) && !sampler->failed
	       && !sampler->full) {
		usleep(POLL_US);
		sampler->full = !fetch(sampler);
		if (sampler->chooses)
			judge(sampler);
		if (clock_seconds_since(&sampler->written) > write_interval_s)
			write_samples(sampler);
	}
	return NULL;
}

static void free_sampler(struct pc_sampler *sampler)
{
	/* Rows that wait to be written have the names of reasons as metrics. */
	free(sampler->reasons.numbers);
	free(sampler->reasons.counted);
	free(sampler->places);
	free(sampler->stalls);
	launched_clear(&sampler->launched);
	pthread_mutex_destroy(&sampler->lock);
	free(sampler);
}

struct pc_sampler *pc_sampler_new(const struct profiling *profiling, CUcontext context, int device)
{
	struct pc_sampler *sampler = calloc(1, sizeof *sampler);
	uint64_t wanted = profiling->settings->interval_ns & ~INTERVAL_CYCLES;

	if (!sampler)
		return NULL;
	sampler->profiling = profiling;
	sampler->context = context;
	sampler->device = device;
	sampler->chooses = sampler->on_trial = !profiling->settings->given[SETTING_INTERVAL];
	sampler->interval = sampler->chooses ? USUAL : (uint32_t)wanted;
	sampler->judged = clock_now();
	pthread_mutex_init(&sampler->lock, NULL);
	/* Never freed: rows that wait to be written have its names. */
	sampler->launched.kernels = kernels_new(NULL);
	if (sampler->launched.kernels && enable(sampler) && ask_reasons(sampler)
	    && make_buffer(sampler) && configure(sampler)) {
		sampler->rows.metrics = (const char *const *)sampler->reasons.names;
		sampler->rows.metric_count = sampler->reasons.count;
		return sampler;
	}
	disable(sampler);
	free_sampler(sampler);
	return NULL;
}

const char *const *pc_sampler_metrics(size_t *count, const struct pc_sampler *sampler)
{
	*count = sampler->rows.metric_count;
	return sampler->rows.metrics;
}

bool pc_sampler_start(struct pc_sampler *sampler, struct segments *segments)
{
	sampler->segments = segments;
	sampler->ending = false;
	sampler->written = clock_now();
	sampler->running = segments && thread_start(&sampler->thread, run, sampler);
	return sampler->running;
}

static void stop_thread(struct pc_sampler *sampler)
{
	if (!sampler->running)
		return;
	__atomic_store_n(&sampler->ending, true, __ATOMIC_RELEASE);
	pthread_join(sampler->thread, NULL);
	sampler->running = false;
}

/*
 * In a thread that launches: from another one cuptiPCSamplingDisable() waits forever while kernels
 * are launched (H100, 580.159.04, CUPTI 13.0). An interval can't be changed while sampling is on.
 */
static void change_interval(struct pc_sampler *sampler, uint32_t interval)
{
	stop_thread(sampler);
	if (!sampler->failed && !sampler->full)
		sampler->full = !fetch(sampler);
	disable(sampler);
	write_samples(sampler);
	sampler->interval = interval;
	sampler->judged = clock_now();
	sampler->judged_samples = sampler->counts.ranges;
	if (!sampler->failed && !sampler->full && enable(sampler) && configure(sampler))
		pc_sampler_start(sampler, sampler->segments);
	else
		sampler->failed = true;
}

void pc_sampler_launch(struct pc_sampler *sampler, const char *symbol)
{
	uint32_t chosen = __atomic_exchange_n(&sampler->chosen, 0, __ATOMIC_ACQ_REL);
	struct launched_function *function;

	pthread_mutex_lock(&sampler->lock);
	function = symbol ? launched_find(&sampler->launched, symbol) : NULL;
	if (function)
		function->launches++;
	sampler->graphs |= !symbol;
	pthread_mutex_unlock(&sampler->lock);
	if (chosen && chosen != sampler->interval)
		change_interval(sampler, chosen);
}

bool pc_sampler_is_idle(struct pc_sampler *sampler)
{
	bool idle;

	pthread_mutex_lock(&sampler->lock);
	idle = !sampler->launched.functions.count && !sampler->graphs;
	pthread_mutex_unlock(&sampler->lock);
	return idle;
}

/* Rows without samples that say how often each kernel was launched. */
static void add_launches(struct pc_sampler *sampler)
{
	for (size_t i = 0; i < sampler->launched.functions.count; i++) {
		struct launched_function *function = &sampler->launched.functions.items[i];

		/* At one place, so that launches of several processes add up. */
		function->place.offset = 0;
		function->place.launches = function->launches;
		if (function->place.function && function->launches)
			code_rows_at(&sampler->rows, &function->place);
	}
}

void pc_sampler_close(struct pc_sampler *sampler, struct counts *counts)
{
	bool started = sampler->segments != NULL;

	stop_thread(sampler);
	target.cuCtxSynchronize();
	if (started && !sampler->failed && !sampler->full)
		sampler->full = !fetch(sampler);
	sampler->counts.drops[DROP_BUFFER_FULL] += sampler->full;
	disable(sampler);
	if (started)
		write_samples(sampler);
	/* Launches without their samples would make samples of a launch too few. */
	if (started && !sampler->graphs && !sampler->failed && !sampler->full) {
		add_launches(sampler);
		write_samples(sampler);
	}
	sampler->counts.drops[DROP_ENDED] += sampler->failed;
	counts_add(counts, &sampler->counts);
	free_sampler(sampler);
}
