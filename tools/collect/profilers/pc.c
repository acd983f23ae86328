/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PC sampling of one context: the hardware notes now and then where the warps are, and why they
 * wait. A thread fetches the samples before the hardware's buffer is full.
 */
#include "collect/profilers/pc_inside.h"

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

/* Sampling ends where the hardware's buffer is full, or a call fails; the first reason stays. */
enum state { SAMPLING, FULL, FAILED };

struct pc_sampler {
	const struct profiling *profiling;
	struct segments *segments;
	CUcontext context;
	int device;
	uint32_t interval; /* 2^interval cycles */
	struct pc_reasons reasons;
	CUpti_PCSamplingData data;
	CUpti_PCSamplingPCData *places;
	CUpti_PCSamplingStallReason *stalls;
	struct code_rows rows;
	struct pc_functions functions;
	struct timespec written, judged;
	uint64_t judged_samples; /* that there were then */
	uint32_t chosen;         /* the interval to change to; 0: none */
	pthread_t thread;
	bool running, ending, enabled;
	enum state state;
	bool chooses, on_trial; /* the interval; it was not chosen yet */
	struct counts counts;
};

/* ---- samples ------------------------------------------------------------------------------- */

/* What all rows of the sampler have. */
static struct opk_instruction place_of(const struct pc_sampler *sampler)
{
	return (struct opk_instruction){
		.function = "",
		.name = "",
		.device = sampler->device,
		.process = (uint32_t)getpid(),
		.rank = sampler->profiling->rank,
	};
}

static void add_place(struct pc_sampler *sampler, const CUpti_PCSamplingPCData *record)
{
	const char *symbol = record->functionName ? record->functionName : "";
	struct launched_function *function = launched_find(&sampler->functions.sampled, symbol);
	struct opk_instruction place = place_of(sampler);
	uint64_t *values, count;

	if (function) {
		place.function = function->names->symbol;
		place.name = function->names->name;
	}
	place.module = record->cubinCrc;
	place.offset = (uint32_t)record->pcOffset;
	place.interval = sampler->interval;
	values = code_rows_at(&sampler->rows, &place);
	count = values ? pc_reasons_add(values, &sampler->reasons, record) : 0;
	if (function) {
		function->several |= function->samples && function->module != place.module;
		function->module = place.module;
		function->samples += count;
	}
	sampler->counts.ranges += count;
	/* It also has samples that are not written yet. */
	__atomic_fetch_add(&tally->ranges, count, __ATOMIC_RELAXED);
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
	code_rows_hand_on(&sampler->rows, sampler->segments);
	sampler->written = clock_now();
}

static void end(struct pc_sampler *sampler, enum state state)
{
	if (sampler->state == SAMPLING)
		sampler->state = state;
}

/* False: there is nothing more now, or sampling has ended. */
static bool fetch_some(struct pc_sampler *sampler)
{
	CUpti_PCSamplingGetDataParams params = {
		.size = CUpti_PCSamplingGetDataParamsSize,
		.ctx = sampler->context,
		.pcSamplingData = &sampler->data,
	};
	CUptiResult status;

	target_begin();
	status = target.cuptiPCSamplingGetData(&params);
	if (status == CUPTI_ERROR_OUT_OF_MEMORY)
		end(sampler, FULL);
	else if (!target_check("cuptiPCSamplingGetData", status))
		end(sampler, FAILED);
	else
		take(sampler);
	if (sampler->data.hardwareBufferFull)
		end(sampler, FULL);
	return sampler->state == SAMPLING && sampler->data.remainingNumPcs;
}

/*
 * After the hardware's buffer was full, CUPTI gives nothing until sampling is disabled, and then
 * the samples that it had.
 */
static void fetch(struct pc_sampler *sampler)
{
	while (sampler->state == SAMPLING && fetch_some(sampler))
		;
}

/* ---- choosing the interval ----------------------------------------------------------------- */

/* `rate`: samples a second. */
static uint32_t choose(struct pc_sampler *sampler, double rate)
{
	double least = sampler->on_trial ? pc_functions_fewest(&sampler->functions, ENOUGH)
	                                 : ENOUGH;
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
		interval = choose(sampler, (double)samples / seconds);
		if (interval != sampler->interval)
			__atomic_store_n(&sampler->chosen, interval, __ATOMIC_RELEASE);
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

/* Takes the rest of the samples. */
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
		end(sampler, FAILED);
}

static void *run(void *data)
{
	struct pc_sampler *sampler = data;

	while (!__atomic_load_n(&sampler->ending, __ATOMIC_ACQUIRE) && sampler->state == SAMPLING) {
		usleep(POLL_US);
		fetch(sampler);
		if (sampler->counts.ranges)
			clocks_look(sampler->device);
		/* Samples until the buffer was full say little about the rate. */
		if (sampler->chooses && sampler->state == SAMPLING)
			judge(sampler);
		if (sampler->state != SAMPLING
		    || clock_seconds_since(&sampler->written) > write_interval_s)
			write_samples(sampler);
	}
	return NULL;
}

static void free_sampler(struct pc_sampler *sampler)
{
	pc_reasons_clear(&sampler->reasons);
	free(sampler->places);
	free(sampler->stalls);
	pc_functions_clear(&sampler->functions);
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
	if (pc_functions_init(&sampler->functions) && enable(sampler)
	    && pc_reasons_ask(&sampler->reasons, context) && make_buffer(sampler)
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
	sampler->ending = false;
	sampler->written = clock_now();
	sampler->running = segments && thread_start(&sampler->thread, run, sampler);
	if (segments && !sampler->running)
		say(0, "PC sampling of device %d ends: no thread for it can be started",
		    sampler->device);
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
	fetch(sampler);
	if (sampler->state != SAMPLING)
		return;
	disable(sampler);
	write_samples(sampler);
	if (sampler->state != SAMPLING)
		return;
	sampler->interval = interval;
	sampler->judged = clock_now();
	sampler->judged_samples = sampler->counts.ranges;
	if (enable(sampler) && configure(sampler) && pc_sampler_start(sampler, sampler->segments))
		return;
	disable(sampler);
	end(sampler, FAILED);
}

void pc_sampler_launch(struct pc_sampler *sampler)
{
	uint32_t chosen = __atomic_exchange_n(&sampler->chosen, 0, __ATOMIC_ACQ_REL);

	pc_functions_begin(&sampler->functions);
	if (chosen && chosen != sampler->interval)
		change_interval(sampler, chosen);
}

void pc_sampler_launched(struct pc_sampler *sampler, const struct launch *launch)
{
	pc_functions_launched(&sampler->functions, launch);
}

bool pc_sampler_is_idle(struct pc_sampler *sampler)
{
	return pc_functions_are_idle(&sampler->functions);
}

/* Launches without all their samples would make samples of a launch too few. */
static void keep_launches(struct pc_sampler *sampler)
{
	struct opk_instruction place = place_of(sampler);

	if (sampler->state == SAMPLING && !sampler->counts.drops[DROP_HARDWARE])
		pc_launches_keep(&sampler->functions, &sampler->rows, &place);
	else
		pc_launches_unknown(sampler->device);
}

void pc_sampler_close(struct pc_sampler *sampler, struct counts *counts)
{
	bool started = sampler->segments != NULL;

	stop_thread(sampler);
	target.cuCtxSynchronize();
	if (started)
		fetch(sampler);
	disable(sampler);
	if (started) {
		write_samples(sampler);
		keep_launches(sampler);
	}
	sampler->counts.drops[DROP_BUFFER_FULL] += sampler->state == FULL;
	sampler->counts.drops[DROP_ENDED] += sampler->state == FAILED;
	counts_add(counts, &sampler->counts);
	free_sampler(sampler);
}
