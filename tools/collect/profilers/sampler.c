/* SPDX-License-Identifier: BSD-2-Clause */
/* PM sampling: the decoding thread, and pauses in sampling. */
#include "collect/profilers/profilers.h"

/*
 * One call decodes the whole hardware buffer, and silently drops samples for which the image has no
 * slot. So the image has a slot for each sample of a full buffer.
 *
 * When the hardware's buffer overflows, its content is lost and CUPTI can't sample again. So
 * sampling pauses before the buffer can be full, until it is decoded: that gap is counted.
 */
enum {
	MIN_BUFFER = 16 << 20,
	MAX_BUFFER_MB = 4095, /* CUPTI 13.0 takes larger numbers as 4 GB */
	RECORD_BYTES = 16384, /* of a sample, if unknown */
	POLL_US = 2000,
	DRAIN_S = 10,              /* without a new sample: CUPTI does not reach the end */
	DECODE_BYTES_PER_US = 500, /* on the machine of docs/gpu-results.md */
};

struct sampler {
	const struct settings *settings;
	const struct collect_set *set;
	struct segments *segments;
	CUpti_PmSampling_Object *object;
	int device;
	bool cycles; /* the hardware counts cycles: intervals are measured */
	struct sample_image image;
	uint64_t interval_ns, buffer_bytes;
	uint64_t buffer_samples; /* samples that surely fit into the hardware's buffer */
	uint64_t decoded;        /* samples since `started`, including those known to be missing */
	uint64_t waiting;        /* decoded samples that are still in the image */
	double decode_s;         /* per sample, as far as known */
	double init_s;           /* for emptying the image */
	double start_s;          /* for starting: the exact start is within this time */
	uint64_t expected;       /* samples from `started` to the stop */
	struct timespec started, handed_on;
	struct timespec known_at; /* so many samples were made since `started` */
	uint64_t known;
	struct sample_clock clock;
	uint64_t last_end; /* end of the last sample handed on */
	bool fresh;        /* no sample since `started` yet */
	struct counts counts;
	uint64_t told[DROPS]; /* of the counts: handed on */
	struct users *users;  /* processes on the GPU, in a watch */
	struct threshold *threshold;
	pthread_t thread;
	bool ending;             /* set by the program's thread, read by the sampler's */
	pthread_mutex_t lock;    /* over the next three */
	pthread_cond_t changed;  /* `on`, or `ended` */
	bool wanted;             /* set by the program's thread: whether to sample */
	bool on, ended;          /* set by the sampler's thread: it samples; it has ended */
	bool sampling;           /* between start and stop */
	bool overflowed, broken; /* no more samples will come */
};

static bool make_image(struct sampler *sampler)
{
	struct timespec begun = clock_now();
	bool good = sample_image_make(&sampler->image);

	sampler->init_s = clock_seconds_since(&begun);
	return good;
}

static bool init_image(struct sampler *sampler)
{
	struct timespec begun = clock_now();
	bool good = sample_image_empty(&sampler->image);

	sampler->init_s = clock_seconds_since(&begun);
	return good;
}

/*
 * Room for half a second of records if decoding keeps up, else as much as the hardware allows;
 * never more than the image has slots for.
 */
static uint64_t choose_buffer(const struct sampler *sampler, size_t record)
{
	uint64_t most = (uint64_t)MAX_BUFFER_MB << 20, wanted;

	wanted = record * 1000 > DECODE_BYTES_PER_US * sampler->interval_ns
	                 ? most
	                 : record * (500000000 / sampler->interval_ns + 1);
	if (sampler->settings->buffer_bytes)
		wanted = sampler->settings->buffer_bytes;
	if (wanted > record * sampler->image.slots * 9 / 10)
		wanted = record * sampler->image.slots * 9 / 10;
	return wanted < MIN_BUFFER ? MIN_BUFFER : wanted > most ? most : wanted;
}

static bool enable(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_Enable, .deviceIndex = (size_t)sampler->device);

	if (!target.cuptiPmSamplingEnable)
		return say(false, "%s has no PM sampling", target.cupti_path);
	if (!TARGET_CALL(cuptiPmSamplingEnable, &params))
		return false;
	sampler->object = params.pPmSamplingObject;
	sampler->image = (struct sample_image){ .set = sampler->set,
		                                .object = sampler->object,
		                                .device = sampler->device };
	return true;
}

/*
 * Turing and GA100 count the interval in SYSCLK cycles, about the SM's clock: the number is for the
 * highest clock, so that samples can be longer than asked for, and not shorter.
 */
static bool set_config(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_SetConfig, .pPmSamplingObject = sampler->object,
	              .configSize = sampler->set->images.config_size,
	              .pConfig = sampler->set->images.config,
	              .hardwareBufferSize = sampler->buffer_bytes,
	              .samplingInterval = sampler->interval_ns,
	              .triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
	CUptiResult status;
	int khz = 0;

	/* CUPTI 12.6 refuses the larger struct of later releases. */
	if (target.cupti_version < CUPTI_12_8)
		params.structSize = CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params,
		                                               triggerMode);
	target_begin();
	status = target.cuptiPmSamplingSetConfig(&params);
	if (status != CUPTI_ERROR_NOT_SUPPORTED)
		return target_check("cuptiPmSamplingSetConfig", status);
	sampler->cycles = true;
	target.cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, sampler->device);
	params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
	params.samplingInterval = sampler->interval_ns * (uint64_t)khz / 1000000;
	return TARGET_CALL(cuptiPmSamplingSetConfig, &params);
}

static bool start(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_Start, .pPmSamplingObject = sampler->object);

	sampler->started = sampler->known_at = clock_now();
	sampler->decoded = sampler->waiting = sampler->known = 0;
	sampler->fresh = true;
	sampler->clock.last_end = 0;
	sampler->sampling = TARGET_CALL(cuptiPmSamplingStart, &params);
	sampler->start_s = clock_seconds_since(&sampler->started);
	return sampler->sampling;
}

/* The number of samples that the hardware must have made since its start. */
static uint64_t made(const struct sampler *sampler)
{
	return sampler->known
	       + (uint64_t)(clock_seconds_since(&sampler->known_at) * 1e9
	                    / (double)sampler->interval_ns);
}

/* The clock changes: the length of the last samples is the best guess for those that follow. */
static void measure_interval(struct sampler *sampler, const struct opk_time *times, size_t count)
{
	uint64_t now = clock_host_ns(), last = times[count - 1].end;

	if (!sampler->cycles || count < 2 || !times[0].end || last <= times[0].end || now < last)
		return;
	sampler->interval_ns = (last - times[0].end) / (count - 1);
	sampler->known = sampler->decoded + (now - last) / sampler->interval_ns;
	sampler->known_at = clock_now();
}

/*
 * Whether the hardware's buffer may overflow during so many busy seconds plus the time for decoding
 * the samples that it holds now, which are decoded first.
 */
static bool is_late(const struct sampler *sampler, double busy_s)
{
	uint64_t all = made(sampler), known = sampler->decoded + sampler->waiting;
	double behind = all > known ? (double)(all - known) : 0;

	busy_s += behind * sampler->decode_s;
	return sampler->sampling
	       && behind + busy_s * 1e9 / (double)sampler->interval_ns
	                  >= (double)sampler->buffer_samples;
}

/* No other thread may be decoding: samples not decoded yet would be lost. */
static bool stop(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_Stop, .pPmSamplingObject = sampler->object);

	if (!sampler->sampling)
		return true;
	sampler->expected = made(sampler);
	sampler->sampling = false;
	return TARGET_CALL(cuptiPmSamplingStop, &params);
}

static struct opk_time time_of(struct sampler *sampler, size_t index)
{
	TARGET_PARAMS(params, PmSampling_CounterData_GetSampleInfo,
	              .pPmSamplingObject = sampler->object,
	              .pCounterDataImage = sampler->image.bytes,
	              .counterDataImageSize = sampler->image.size, .sampleIndex = index);

	if (target.cuptiPmSamplingCounterDataGetSampleInfo(&params))
		return (struct opk_time){ .device = sampler->device };
	return sample_clock_convert(&sampler->clock,
	                            (struct opk_time){ params.startTimestamp, params.endTimestamp,
	                                               sampler->device },
	                            sampler->interval_ns);
}

/*
 * Samples are contiguous; a gap means lost samples. The first sample after a pause begins where the
 * last one before the pause ended, but holds no more than others.
 */
static void count_gap(struct sampler *sampler, const struct opk_time *time)
{
	uint64_t half = sampler->interval_ns / 2;
	uint64_t start = sampler->fresh ? time->end - sampler->interval_ns : time->start;

	if (sampler->last_end && start > sampler->last_end + half)
		sampler->counts.drops[DROP_OVERFLOW] += (start - sampler->last_end + half)
		                                        / sampler->interval_ns;
	sampler->last_end = time->end;
}

/*
 * If the program itself starts or stops CUPTI, sampling stands still, and one sample spans that
 * time. The first sample begins at an earlier event.
 */
static void count_interruption(struct sampler *sampler, const struct opk_time *time)
{
	enum { LONG_NS = 20000000, LONG_INTERVALS = 10 };
	uint64_t length = time->end - time->start;
	uint64_t missing = length / sampler->interval_ns;

	if (!sampler->fresh && length > LONG_NS && missing > LONG_INTERVALS) {
		sampler->decoded += missing - 1;
		sampler->counts.drops[DROP_INTERRUPTED] += missing - 1;
	}
}

/* time->start is 0: the time is unknown. */
static void count_missing(struct sampler *sampler, const struct opk_time *time)
{
	if (time->start) {
		count_gap(sampler, time);
		count_interruption(sampler, time);
	}
	sampler->fresh = false;
}

static struct opk_time *read_times(struct sampler *sampler, size_t count)
{
	enum { CHECK_EVERY = 1000 };
	struct opk_time *times = calloc(count, sizeof *times);

	for (size_t i = 0; times && i < count; i++) {
		times[i] = time_of(sampler, i);
		/* The first sample spans more than the others. */
		if (!sampler->fresh)
			threshold_look(sampler->threshold, sampler->image.bytes,
			               sampler->image.size, i);
		count_missing(sampler, &times[i]);
		/* Afterwards the image has to be copied, which takes about as long, and emptied. */
		if (i % CHECK_EVERY == 0 && is_late(sampler, 2 * sampler->init_s))
			sampler->broken |= !stop(sampler);
	}
	return times;
}

/* The file that gets a segment says what is missing before its end. */
static void tell_drops(struct sampler *sampler, struct segment *segment)
{
	for (size_t i = 0; i < DROPS; i++) {
		segment->drops[i] = sampler->counts.drops[i] - sampler->told[i];
		sampler->told[i] = sampler->counts.drops[i];
	}
}

/* Copies the image's samples to the writer, and empties the image. */
static void hand_on(struct sampler *sampler, size_t completed)
{
	struct segment segment = { .count = completed };

	sample_clock_read(&sampler->clock);
	segment.times = read_times(sampler, completed);
	segment.image_size = perfworks_trim(sampler->image.bytes, sampler->image.size);
	sampler->decoded += completed;
	if (segment.times && completed)
		measure_interval(sampler, segment.times, completed);
	segment.image = segment.times ? malloc(segment.image_size) : NULL;
	if (segment.image) {
		memcpy(segment.image, sampler->image.bytes, segment.image_size);
		tell_drops(sampler, &segment);
		__atomic_fetch_add(&tally->ranges, completed, __ATOMIC_RELAXED);
		segments_add(sampler->segments, &segment);
		sampler->counts.ranges += completed;
		threshold_act(sampler->threshold);
	} else {
		segment_clear(&segment);
		sampler->counts.drops[DROP_OVERFLOW] += completed;
	}
	sampler->waiting = 0;
	sampler->handed_on = clock_now();
	/* Without a fresh image the same samples would be handed on again. */
	sampler->broken |= !init_image(sampler);
}

/*
 * An incomplete sample would be cut in two: it waits, unless room is short. Returns the number of
 * samples that stay in the image.
 */
static size_t hand_on_if_due(struct sampler *sampler, bool last)
{
	TARGET_PARAMS(info, PmSampling_GetCounterDataInfo,
	              .pCounterDataImage = sampler->image.bytes,
	              .counterDataImageSize = sampler->image.size);
	enum { ENOUGH = 50 }; /* for a first measurement of the interval */
	size_t completed;
	bool whole, due;

	sampler->broken |= !TARGET_CALL(cuptiPmSamplingGetCounterDataInfo, &info);
	if (sampler->broken)
		return 0;
	completed = info.numCompletedSamples;
	sampler->waiting = completed;
	whole = completed == info.numPopulatedSamples;
	due = completed >= sampler->image.slots / 4
	      || clock_seconds_since(&sampler->handed_on) > 0.75
	      || (sampler->cycles && !sampler->known && completed >= ENOUGH);
	if (!completed || !(last || (whole && due) || completed > sampler->image.slots / 3))
		return completed;
	hand_on(sampler, completed);
	return 0;
}

/* False when there will be no more samples. */
static bool decode(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_DecodeData, .pPmSamplingObject = sampler->object,
	              .pCounterDataImage = sampler->image.bytes,
	              .counterDataImageSize = sampler->image.size);
	CUptiResult status;

	target_begin();
	status = target.cuptiPmSamplingDecodeData(&params);
	if (status == CUPTI_ERROR_OUT_OF_MEMORY || (!status && params.overflow)) {
		sampler->overflowed = true;
		return say(
			false,
			"the hardware's buffer of samples overflowed, and CUPTI gives no more of "
			"them: a longer --interval, a larger --buffer or fewer metrics help");
	}
	if (!target_check("cuptiPmSamplingDecodeData", status)) {
		/* What was decoded before is whole. */
		hand_on_if_due(sampler, true);
		sampler->broken = true;
		return false;
	}
	if (params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)
		hand_on_if_due(sampler, true);
	return params.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
}

/* Whether there are enough samples, including those waiting in the image. */
static bool enough(const struct sampler *sampler, size_t waiting)
{
	return sampler->settings->max_samples
	       && sampler->counts.ranges + waiting >= sampler->settings->max_samples;
}

/* Decodes all that the hardware wrote before it stopped. */
static void drain(struct sampler *sampler)
{
	uint64_t before = 0, now;
	struct timespec progress = clock_now();

	while (decode(sampler) && clock_seconds_since(&progress) < DRAIN_S) {
		now = hand_on_if_due(sampler, false);
		now += sampler->decoded;
		if (now != before)
			progress = clock_now();
		before = now;
	}
	hand_on_if_due(sampler, true);
}

/* Measures the time of decoding if there were enough samples. */
static void decode_timed(struct sampler *sampler)
{
	enum { ENOUGH = 1000 };
	uint64_t before = sampler->decoded + sampler->waiting, after;
	struct timespec begun = clock_now();
	double taken_s;

	decode(sampler);
	taken_s = clock_seconds_since(&begun);
	hand_on_if_due(sampler, false);
	after = sampler->decoded + sampler->waiting;
	if (after >= before + ENOUGH)
		sampler->decode_s = taken_s / (double)(after - before);
}

/* read_times() may already have stopped sampling. */
static void pause_before_overflow(struct sampler *sampler)
{
	if (sampler->sampling && !is_late(sampler, 0))
		return;
	sampler->broken |= !stop(sampler);
	if (!sampler->broken)
		drain(sampler);
	if (!sampler->broken && !sampler->overflowed)
		sampler->broken = !start(sampler);
}

static bool working(const struct sampler *sampler)
{
	return !__atomic_load_n(&sampler->ending, __ATOMIC_ACQUIRE) && !sampler->overflowed
	       && !sampler->broken && !enough(sampler, 0);
}

static void work(struct sampler *sampler)
{
	sample_clock_read(&sampler->clock);
	clocks_look(sampler->device);
	users_look(sampler->users);
	decode_timed(sampler);
	if (enough(sampler, sampler->waiting))
		hand_on_if_due(sampler, true);
	pause_before_overflow(sampler);
}

/* Counts samples lost after an overflow or a failure; the count may be off by a few. */
static void count_rest(struct sampler *sampler)
{
	uint64_t expected = sampler->overflowed || sampler->broken ? made(sampler)
	                                                           : sampler->expected;
	double doubtful_s = 0.1 + sampler->start_s;
	uint64_t doubtful = expected / 100 + (uint64_t)(doubtful_s * 1e9) / sampler->interval_ns;
	uint64_t missing = expected > sampler->decoded ? expected - sampler->decoded : 0;

	if (missing > doubtful)
		sampler->counts
			.drops[sampler->overflowed ? DROP_OVERFLOWED : DROP_ENDED] += missing;
}

/* Sets a flag for which the program's thread may wait. */
static void tell(struct sampler *sampler, bool *what, bool value)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&sampler->lock);

	*what = value;
	pthread_cond_broadcast(&sampler->changed);
}

/* Starts or stops as the program's thread wants; that thread waits only for this. */
static void follow(struct sampler *sampler)
{
	pthread_mutex_t *held = opk_lock(&sampler->lock);
	bool wanted = sampler->wanted;

	opk_unlock(&held);
	if (wanted == sampler->on)
		return;
	/* The time without sampling does not count as a gap. */
	sampler->last_end = 0;
	sampler->broken |= !(wanted ? start(sampler) : stop(sampler));
	tell(sampler, &sampler->on, wanted);
	if (wanted || sampler->broken)
		return;
	drain(sampler);
	count_rest(sampler);
}

static void *run(void *data)
{
	struct sampler *sampler = data;

	while (working(sampler)) {
		usleep(POLL_US);
		follow(sampler);
		if (sampler->on && working(sampler))
			work(sampler);
	}
	tell(sampler, &sampler->ended, true);
	return NULL;
}

void sampler_want(struct sampler *sampler, bool wanted)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&sampler->lock);

	sampler->wanted = wanted;
	while (sampler->on != wanted && !sampler->ended)
		pthread_cond_wait(&sampler->changed, &sampler->lock);
}

bool sampler_works(struct sampler *sampler, enum drop *why)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&sampler->lock);

	if (sampler->ended && (sampler->broken || sampler->overflowed))
		*why = sampler->overflowed ? DROP_OVERFLOWED : DROP_ENDED;
	return !sampler->ended;
}

static void free_sampler(struct sampler *sampler)
{
	TARGET_PARAMS(params, PmSampling_Disable, .pPmSamplingObject = sampler->object);

	if (sampler->object)
		TARGET_CALL(cuptiPmSamplingDisable, &params);
	threshold_free(sampler->threshold);
	sample_image_clear(&sampler->image);
	free(sampler);
}

struct sampler *sampler_new(const struct profiling *profiling, int device, bool at_once)
{
	struct sampler *sampler = calloc(1, sizeof *sampler);

	if (!sampler)
		return NULL;
	sampler->settings = profiling->settings;
	sampler->set = profiling->set;
	sampler->segments = profiling->segments;
	sampler->device = device;
	pthread_mutex_init(&sampler->lock, NULL);
	pthread_cond_init(&sampler->changed, NULL);
	sampler->clock.reckoned = &sampler->counts.reckoned;
	perfworks_open(target.cupti_path);
	sampler->interval_ns = profiling->settings->interval_ns;
	sampler->handed_on = clock_now();
	if (enable(sampler) && make_image(sampler)
	    && threshold_new(&sampler->threshold, profiling, device)) {
		size_t record = perfworks_record_bytes(&profiling->set->images);

		record = record ? record : RECORD_BYTES;
		if (sampler->settings->watch)
			sampler->users = users_new(device, sampler->segments, &sampler->counts);
		sampler->buffer_bytes = choose_buffer(sampler, record);
		sampler->buffer_samples = sampler->buffer_bytes / record * 19 / 20;
		sampler->wanted = sampler->on = at_once;
		if (set_config(sampler) && (!at_once || start(sampler))
		    && thread_start(&sampler->thread, run, sampler))
			return sampler;
	}
	free(sampler->users);
	free_sampler(sampler);
	return NULL;
}

void sampler_close(struct sampler *sampler, struct counts *counts)
{
	struct segment rest = { .count = 0 };

	__atomic_store_n(&sampler->ending, true, __ATOMIC_RELEASE);
	pthread_join(sampler->thread, NULL);
	stop(sampler);
	if (sampler->on && !sampler->broken && !sampler->overflowed && !enough(sampler, 0))
		drain(sampler);
	if ((sampler->on || sampler->overflowed) && !enough(sampler, 0))
		count_rest(sampler);
	users_end(sampler->users);
	tell_drops(sampler, &rest);
	if (sampler->settings->watch)
		segments_add(sampler->segments, &rest);
	counts_add(counts, &sampler->counts);
	free_sampler(sampler);
}
