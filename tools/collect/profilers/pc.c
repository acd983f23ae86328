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
	/* At 2^15 cycles the SMs of an H100 make 28 million samples/s if they are never idle. */
	USUAL = 15,
	SHORTEST = 10,
	ENOUGH = 1000, /* samples of each function of the first second */
};
static const double write_interval_s = 2, trial_s = 1;

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
	struct kernels *functions;      /* one text for each function */
	uint64_t weight;                /* of a sample, where an interval had to become longer */
	bool adapted;                   /* the interval stays, unless samples get lost */
	struct timespec written, trial; /* trial: since the first samples */
	pthread_t thread;
	bool running, ending, enabled, failed;
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
		reasons->counted[i] = strstr(reasons->names[i], "_stalled_")
		                      && !strstr(reasons->names[i], "_not_issued");
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

static void add_place(struct pc_sampler *sampler, const CUpti_PCSamplingPCData *record)
{
	const struct reasons *reasons = &sampler->reasons;
	const struct kernel *function = kernels_find(sampler->functions, record->functionName);
	struct opk_instruction place = {
		.module = record->cubinCrc,
		.function = function ? function->symbol : "",
		.name = function ? function->name : "",
		.offset = (uint32_t)record->pcOffset,
		.device = sampler->device,
		.process = (uint32_t)getpid(),
		.rank = sampler->profiling->rank,
	};
	uint64_t *values = code_rows_at(&sampler->rows, &place), count = 0;

	for (size_t i = 0; values && i < record->stallReasonCount; i++) {
		const CUpti_PCSamplingStallReason *stall = &record->stallReason[i];
		size_t at = find_reason(reasons, stall->pcSamplingStallReasonIndex);

		if (at == reasons->count || at == reasons->all)
			continue;
		values[at] += stall->samples * sampler->weight;
		if (reasons->counted[at])
			count += stall->samples * sampler->weight;
	}
	if (values && reasons->all < reasons->count)
		values[reasons->all] += count;
	sampler->counts.ranges += count;
}

/* Takes what the last call of CUPTI left in the buffer. */
static void take(struct pc_sampler *sampler)
{
	for (size_t i = 0; i < sampler->data.totalNumPcs; i++)
		add_place(sampler, &sampler->places[i]);
	sampler->counts.drops[DROP_HARDWARE] += sampler->data.droppedSamples;
	sampler->data.totalNumPcs = 0;
	sampler->data.droppedSamples = 0;
}

static void write_samples(struct pc_sampler *sampler)
{
	__atomic_store_n(&tally->ranges, sampler->counts.ranges, __ATOMIC_RELAXED);
	code_rows_hand_on(&sampler->rows, sampler->segments);
	sampler->written = clock_now();
}

/* False if the hardware's buffer is full: CUPTI then gives nothing until sampling begins again. */
static bool fetch(struct pc_sampler *sampler)
{
	CUpti_PCSamplingGetDataParams params = {
		.size = CUpti_PCSamplingGetDataParamsSize,
		.ctx = sampler->context,
		.pcSamplingData = &sampler->data,
	};

	do {
		CUptiResult status = target.cuptiPCSamplingGetData(&params);

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

	if (sampler->enabled && TARGET_CALL(cuptiPCSamplingDisable, &params))
		take(sampler);
	sampler->enabled = false;
}

/* Begins again with another interval; what CUPTI has not handed over yet goes to `take()`. */
static void restart(struct pc_sampler *sampler, uint32_t interval)
{
	disable(sampler);
	sampler->interval = interval;
	sampler->data.hardwareBufferFull = 0;
	sampler->failed = !enable(sampler) || !configure(sampler);
}

/* A longer interval, unless one was asked for; the new samples count as several. */
static void recover(struct pc_sampler *sampler)
{
	bool given = sampler->profiling->settings->given[SETTING_INTERVAL];

	sampler->counts.drops[DROP_BUFFER_FULL]++;
	restart(sampler, sampler->interval + !given);
	sampler->weight <<= !given;
}

/* The number of samples of the function with the fewest. */
static uint64_t fewest_samples(const struct pc_sampler *sampler)
{
	const struct code_rows *rows = &sampler->rows;
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < rows->count; i++) {
		const struct opk_instruction *row = &rows->rows[i];
		uint64_t sum = 0;

		/* Places of a function are not always together. */
		for (size_t j = 0; j < rows->count && sum < ENOUGH; j++)
			if (rows->rows[j].function == row->function)
				sum += rows->values[j * rows->metric_count + sampler->reasons.all];
		if (sum < fewest)
			fewest = sum;
	}
	return fewest;
}

/* How much longer (or shorter, below 0) intervals need to be, as an exponent of 2. */
static int find_change(const struct pc_sampler *sampler)
{
	const uint64_t most = 10000000; /* samples/s with which CUPTI keeps up */
	uint64_t fewest = fewest_samples(sampler), all = sampler->counts.ranges;
	int change = 0;

	while (all >> change > most)
		change++;
	while (fewest << -change < ENOUGH && all << (1 - change) < most && change <= 0
	       && (int)sampler->interval + change > SHORTEST)
		change--;
	return change;
}

/*
 * After the first second: as short an interval as the function with the fewest samples needs, if
 * CUPTI can keep up. A sample after the longer interval counts as several.
 */
static void adapt(struct pc_sampler *sampler)
{
	int change = sampler->counts.ranges && sampler->weight == 1 ? find_change(sampler) : 0;

	sampler->adapted = true;
	if (!change)
		return;
	restart(sampler, sampler->interval + (uint32_t)change);
	if (change > 0)
		sampler->weight <<= change;
	for (size_t i = 0; change < 0 && i < sampler->rows.count * sampler->rows.metric_count; i++)
		sampler->rows.values[i] <<= -change;
	if (change < 0)
		sampler->counts.ranges <<= -change;
	if (sampler->profiling->settings->verbose)
		say(0, "PC samples each 2^%u cycles from now on", sampler->interval);
}

/* Whether a second has passed since the first samples. */
static bool is_tried(struct pc_sampler *sampler)
{
	if (sampler->counts.ranges && !sampler->trial.tv_sec)
		sampler->trial = clock_now();
	return sampler->trial.tv_sec && clock_seconds_since(&sampler->trial) > trial_s;
}

static void *run(void *data)
{
	struct pc_sampler *sampler = data;

	sampler->adapted = sampler->profiling->settings->given[SETTING_INTERVAL];
	while (!__atomic_load_n(&sampler->ending, __ATOMIC_ACQUIRE) && !sampler->failed) {
		usleep(POLL_US);
		if (!fetch(sampler))
			recover(sampler);
		if (!sampler->adapted && is_tried(sampler))
			adapt(sampler);
		if (sampler->adapted && clock_seconds_since(&sampler->written) > write_interval_s)
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
	sampler->interval = profiling->settings->given[SETTING_INTERVAL] ? (uint32_t)wanted : USUAL;
	sampler->weight = 1;
	sampler->functions = kernels_new(NULL);
	if (sampler->functions && enable(sampler) && ask_reasons(sampler) && make_buffer(sampler)
	    && configure(sampler)) {
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
	sampler->written = clock_now();
	sampler->running = segments && thread_start(&sampler->thread, run, sampler);
	return sampler->running;
}

void pc_sampler_close(struct pc_sampler *sampler, struct counts *counts)
{
	__atomic_store_n(&sampler->ending, true, __ATOMIC_RELEASE);
	if (sampler->running)
		pthread_join(sampler->thread, NULL);
	target.cuCtxSynchronize();
	if (sampler->running && !sampler->failed && !fetch(sampler))
		sampler->counts.drops[DROP_BUFFER_FULL]++;
	disable(sampler);
	if (sampler->running)
		write_samples(sampler);
	counts_add(counts, &sampler->counts);
	free_sampler(sampler);
}
