/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts, devices and their profilers, from the first context to the final counts. */
#include "collect/collector.h"

#include <dlfcn.h>

#include "collect/profilers/nvml.h"
#include "collect/shared/program_cupti.h"
#include "collect/subscriber.h"

static const double flush_interval_s = 1;

/* Whether ranges are profiled; else collection goes over time, or counts instructions. */
static bool has_ranges(void)
{
	return collector.settings.mode <= MODE_USER_RANGE;
}

static bool is_of_code(void)
{
	return collector.settings.mode == MODE_SASS || collector.settings.mode == MODE_PC;
}

static __typeof__(offpeak_preloaded) *preloaded;

/* Now: what looks for a library later, with the lock, waits for one that the program loads. */
static void find_preloaded(void)
{
	*(void **)&preloaded = dlsym(RTLD_DEFAULT, "offpeak_preloaded");
	*(void **)&collector.program_uses = dlsym(RTLD_DEFAULT, "offpeak_program_uses");
}

bool collector_init(void)
{
	struct settings *settings = &collector.settings;
	const char *problem = settings_read(settings);

	if (!problem)
		problem = target_open(cupti_choose(settings));
	if (problem)
		return say(false, "%s", problem);
	find_preloaded();
	target.verbose = settings->verbose;
	if (settings->mode == MODE_SASS && target.cupti_version >= CUPTI_13_0
	    && target.cupti_version < CUPTI_13_1)
		return say(false,
		           "%s is of CUDA 13.0, which counts only the first function that "
		           "is launched",
		           target.cupti_path);
	/* Sets for instructions have no images. */
	if (settings->set_path
	    && (is_of_code() ? collect_set_open : collect_set_load)(&collector.set, settings,
	                                                            settings->set_path))
		return false;
	if (settings->set_path && settings->pass > collector.set.meta->passes)
		return say(false, "the set has no such pass");
	collector.kernels = kernels_new(settings->kernel);
	collector.marked = collector_has_scope() && settings->capture_range == collector.early;
	collector.outside = collector_has_scope() && !collector.marked;
	collector.pid = getpid();
	collector.profiling = (struct profiling){
		.settings = settings,
		.set = &collector.set,
		.turns = &collector.turns,
		.rank = recording_rank(),
		.ops = has_ranges() ? profiler_choose(settings->backend == BACKEND_LEGACY) : NULL,
	};
	return collector.kernels && (collector.profiling.ops || !has_ranges());
}

/*
 * Exit handlers run in reverse order of registration. NVIDIA's libraries register theirs when they
 * are loaded and with the first calls; preparing a session after these ran crashes or hangs. So the
 * recording's end is registered again after each call that may register one.
 */
void collector_end_before_nvidia(void)
{
	enum { ENOUGH = 100 };
	static int times;
	int before = __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED);

	if (before < ENOUGH)
		atexit(collector_finish);
	if (!before && preloaded)
		preloaded(collector_finish);
}

bool collector_initialize(void)
{
	if (!collector.initialized) {
		collector.initialized = profiler_initialize();
		collector_end_before_nvidia();
	}
	return collector.initialized;
}

void collector_warm_up(void)
{
	/* It takes 15 ms. */
	nvml_open();
	collector_auto bool locked = collector_lock_to_prepare();
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);

	if (locked)
		collector_initialize();
}

const char *collector_chip(int device)
{
	TARGET_PARAMS(params, Device_GetChipName, .deviceIndex = (size_t)device);

	return target.cuptiDeviceGetChipName(&params) ? NULL : params.pChipName;
}

bool collector_is_right_chip(int device)
{
	const char *wanted = collector.set.meta->chip, *chip = collector_chip(device);

	if (!chip || !strcmp(chip, wanted))
		return true;
	return say(false, "the set was built for %s, device %d is a %s: build it with --chip %s",
	           wanted, device, chip, chip);
}

/* The first device begins the recording; the others share it. */
static bool begin_device(CUcontext context, int device)
{
	bool sampling = collector.settings.mode == MODE_SAMPLING;
	uint8_t *availability;
	size_t size;

	collector_end_before_nvidia();
	/* CUPTI crashes if it is asked for a chip before. */
	if (!collector_initialize() || !collector_is_right_chip(device))
		return false;
	if (collector.profiling.segments)
		return true;
	availability = profiler_availability(sampling ? NULL : context, device, &size);
	collector_end_before_nvidia();
	if (availability)
		collector.profiling.segments =
			recording_begin(&collector.settings, &collector.set,
		                        sampling ? "pm-sampling" : collector.profiling.ops->name,
		                        availability, size);
	if (collector.profiling.segments)
		segments_describe(collector.profiling.segments, clocks_facts);
	free(availability);
	return collector.profiling.segments != NULL;
}

static void sample_device(int device)
{
	struct patience patience;

	if (device < 0 || device >= MAX_DEVICES || collector.sampled[device])
		return;
	collector.sampled[device] = true;
	if (!collector_may_sample())
		return;
	patience_begin(&patience, collector.settings.wait_s);
	patience.signals = collector.settings.watch;
	do
		if (begin_device(NULL, device))
			collector.samplers[device] = sampler_new(&collector.profiling, device,
			                                         !collector.outside);
	while (!collector.samplers[device] && patience_left(&patience));
	collector_end_before_nvidia();
	patience_end(&patience, collector.samplers[device]);
}

/* Makes a context current. If that fails, leave() would pop the program's own context. */
static bool enter(CUcontext context)
{
	return !target.cuCtxPushCurrent(context);
}

static void leave(void)
{
	CUcontext ours;

	target.cuCtxPopCurrent(&ours);
}

static CUdevice device_of(CUcontext context)
{
	CUdevice device = -1;

	if (!enter(context))
		return -1;
	if (target.cuCtxGetDevice(&device))
		device = -1;
	leave();
	return device;
}

bool collector_wants(int device)
{
	return collector.settings.device < 0 || collector.settings.device == device;
}

/* The context is current. */
static struct session *open_session(struct collector_context *entry)
{
	struct session *session = NULL;
	struct patience patience;
	bool begun;

	if (collector.settings.mode == MODE_SAMPLING) {
		sample_device(entry->device);
		return NULL;
	}
	if (is_of_code()) {
		collector_open_code(entry);
		return NULL;
	}
	patience_begin(&patience, collector.settings.wait_s);
	do {
		begun = begin_device(entry->context, entry->device);
		if (begun)
			session = session_new(&collector.profiling, entry->context);
	} while (!session && patience_left(&patience));
	patience_end(&patience, session);
	entry->refused = begun && !session;
	return session;
}

struct session *collector_open(struct collector_context *entry)
{
	struct session *session;

	if (collector.resting || !collector_wants(entry->device) || !enter(entry->context))
		return NULL;
	session = open_session(entry);
	leave();
	collector_end_before_nvidia();
	return session;
}

static bool has_primary_context(int device)
{
	unsigned flags;
	int active = 0;

	return !target.cuDevicePrimaryCtxGetState(device, &flags, &active) && active;
}

bool collector_watch(void)
{
	collector_auto bool locked = collector_lock_to_prepare();
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);
	int count = 0, left = 0;

	if (!locked)
		return false;
	/* The driver may not have finished cuInit(). */
	if (target.cuDeviceGetCount(&count))
		return true;
	for (int i = 0; i < count && i < MAX_DEVICES; i++) {
		if (!collector_wants(i) || collector.sampled[i])
			continue;
		if (collector.settings.watch || has_primary_context(i))
			sample_device(i);
		left += !collector.sampled[i];
	}
	return left > 0;
}

/* Begins a recording without a set: its metadata have only the chip. */
static struct segments *begin_trace(int device)
{
	static struct opk_meta meta = { .profiler = OPK_PROFILER_PM, .keep_instances = true };
	static bool tried;

	if (tried)
		return NULL;
	tried = true;
	meta.chip = collector_chip(device);
	collector.set.meta = &meta;
	collector_end_before_nvidia();
	if (meta.chip)
		return recording_begin(&collector.settings, &collector.set, "activity", NULL, 0);
	say(0, "CUPTI does not know the chip of device %d", device);
	return NULL;
}

/* Whether sampling of another device may still begin. */
static bool may_be_sampled(void)
{
	int count = 0;

	target.cuDeviceGetCount(&count);
	for (int i = 0; i < count && i < MAX_DEVICES; i++)
		if (collector_wants(i) && !collector.sampled[i])
			return true;
	return false;
}

/* With PM sampling, records go into the recording of the samples. */
static struct segments *find_segments(int device, bool *never)
{
	collector_auto bool locked = collector_lock();
	bool alone = collector.settings.mode == MODE_TRACE;

	if (!locked)
		return NULL;
	if (!collector.profiling.segments && alone)
		collector.profiling.segments = begin_trace(device);
	*never = !collector.profiling.segments && (alone || !may_be_sampled());
	return collector.profiling.segments;
}

void collector_trace(void)
{
	if (collector_may_trace()
	    && trace_start(&collector.profiling, find_segments, collector_has_scope()))
		collector_end_before_nvidia();
}

struct collector_context *collector_find(CUcontext context)
{
	for (size_t i = 0; i < collector.context_count; i++)
		if (collector.contexts[i].context == context)
			return &collector.contexts[i];
	return NULL;
}

/* 0: unknown. */
static unsigned long long id_of(CUcontext context)
{
	unsigned long long id;

	return target.cuCtxGetId && !target.cuCtxGetId(context, &id) ? id : 0;
}

/* Where its end may not have been heard, another context may have the handle. */
static bool is_gone(struct collector_context *entry)
{
	unsigned long long id;

	if (entry->subscription == collector.subscriptions)
		return false;
	entry->subscription = collector.subscriptions;
	id = id_of(entry->context);
	return id && entry->id && id != entry->id;
}

struct collector_context *collector_find_or_open(CUcontext context)
{
	struct collector_context *entry = collector_find(context);
	int device;

	if (entry && is_gone(entry)) {
		collector_close(entry);
		entry->context = NULL;
		entry = NULL;
	}
	device = entry ? entry->device : device_of(context);
	if (entry && entry->rests && !collector.resting) {
		entry->rests = false;
		entry->session = collector_open(entry);
	}
	/* If its device is unknown, the context is gone; its handle may be reused. */
	if (entry || device < 0)
		return entry;
	entry = collector_find(NULL);
	if (!entry && collector.context_count == MAX_CONTEXTS) {
		collector.counts.drops[DROP_CONTEXTS]++;
		return NULL;
	}
	if (!entry)
		entry = &collector.contexts[collector.context_count++];
	*entry = (struct collector_context){
		.context = context,
		.number = ++collector.contexts_seen,
		.device = device,
		.rests = collector.resting,
		.subscription = collector.subscriptions,
		.id = id_of(context),
	};
	entry->session = collector_open(entry);
	return entry;
}

struct session *collector_session(CUcontext context)
{
	const struct collector_context *entry = collector_find_or_open(context);

	return entry ? entry->session : NULL;
}

void collector_miss(CUcontext context)
{
	const struct collector_context *entry = collector_find(context);

	collector.counts.drops[DROP_PROFILER] += entry && entry->refused;
}

struct opk_range collector_row(CUcontext context)
{
	const struct collector_context *entry = collector_find(context);

	return (struct opk_range){
		.device = entry ? entry->device : -1,
		.context = entry ? entry->number : 0,
		.process = (uint32_t)collector.pid,
		.rank = collector.profiling.rank,
		.start_ns = clock_host_ns(),
	};
}

static bool is_open(const struct collector_context *entry)
{
	return entry->session || entry->sass || entry->pc;
}

void collector_close(struct collector_context *entry)
{
	bool entered;

	if (!is_open(entry))
		return;
	entered = enter(entry->context);
	collector_close_code(entry);
	if (entry->session) {
		if (collector.range.session == entry->session)
			collector.range.session = NULL;
		if (collector.launch == entry->session)
			collector.launch = NULL;
		session_close(entry->session, &collector.counts);
		entry->session = NULL;
	}
	if (entered)
		leave();
}

void collector_forget(CUcontext context)
{
	collector_auto bool locked = collector_lock();
	struct collector_context *entry = locked ? collector_find(context) : NULL;

	if (!entry)
		return;
	/* A program that tidies up before exec() loses nothing. */
	if (is_open(entry)) {
		collector_close(entry);
		segments_settle(collector.profiling.segments);
	}
	entry->context = NULL;
}

/* Calls one of them for each context of launches, with it current. The lock is held. */
static void for_launches(void (*work)(struct session *session), void (*count)(struct sass *sass))
{
	for (size_t i = 0; i < collector.context_count; i++) {
		struct collector_context *entry = &collector.contexts[i];

		if ((!entry->session && !entry->sass) || !enter(entry->context))
			continue;
		if (entry->session)
			work(entry->session);
		else
			count(entry->sass);
		leave();
	}
}

/* Repeated runs of a program keep their images, which have the same launches. */
static void flush_if_old(struct session *session)
{
	bool keeps = collector.settings.application && collector.settings.turns == TURNS_ROTATE;

	if (!keeps && session_age(session) > flush_interval_s * 0.75)
		session_flush(session);
}

bool collector_flush(void)
{
	enum { SOON_MS = 250 };
	/* A launch may be in progress whose end is not heard: the caller finds that out. */
	collector_auto bool locked = collector_lock_for(SOON_MS);
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);

	if (locked && !collector.capture_count)
		for_launches(flush_if_old, sass_flush);
	return locked || !__atomic_load_n(&collector.ended, __ATOMIC_RELAXED);
}

void collector_begin_capture(CUstream stream)
{
	collector_auto bool locked = collector_lock();
	bool more = collector.capture_count > 0;

	if (!locked || collector.capture_count == MAX_CAPTURES)
		return;
	collector.captures[collector.capture_count++] = (struct capture){ stream, pthread_self() };
	if (more)
		return;
	collector_cut_range(DROP_CUT);
	for_launches(session_suspend, sass_rest);
}

void collector_end_captures(CUstream stream)
{
	for (size_t i = collector.capture_count; i > 0; i--) {
		struct capture *one = &collector.captures[i - 1];

		/* Only a thread itself can ask about the stream that is its own. */
		if ((!stream || stream == one->stream)
		    && (one->stream != CU_STREAM_PER_THREAD
		        || pthread_equal(one->thread, pthread_self()))
		    && !stream_is_captured(one->stream))
			*one = collector.captures[--collector.capture_count];
	}
}

void collector_close_samplers(void)
{
	for (size_t i = 0; i < MAX_DEVICES; i++) {
		if (collector.samplers[i])
			sampler_close(collector.samplers[i], &collector.counts);
		collector.samplers[i] = NULL;
	}
	collector_count_lost();
}

/* Without the lock, which a launch has whose end is not heard. */
void collector_note(enum drop what)
{
	__atomic_add_fetch(&collector.counts.drops[what], 1, __ATOMIC_RELAXED);
}

static bool can_end(void)
{
	if (collector_lock_at_end())
		return true;
	if (collector.pid == getpid() && !collector.ended && !tally->stuck) {
		tally->stuck = true;
		say(0, "the program ended while a launch, or what prepares the profiler, went on: "
		       "what was not written yet is missing");
	}
	return false;
}

/* `lost`: the program has ended our subscription. */
static void end_all(const struct counts *traced, bool lost)
{
	collector_auto bool locked = can_end();

	if (!locked)
		return;
	counts_add(&collector.counts, traced);
	collector.counts.drops[DROP_FINALIZED] += lost;
	for (size_t i = 0; i < collector.context_count; i++)
		collector_close(&collector.contexts[i]);
	collector_close_samplers();
	pc_launches_write(collector.counts.drops[DROP_FINALIZED] ? NULL
	                                                         : collector.profiling.segments);
	collector.ended = true;
	collector_end_recording();
	cupti_report_other();
}

/*
 * The trace's thread needs the lock to end, so this waits for it without the lock. If this thread
 * holds the lock when a signal ends the program, nothing can be done. Where several threads end the
 * program, none goes on to NVIDIA's handlers before the recording has ended.
 */
void collector_finish(void)
{
	static pthread_mutex_t finishing = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	struct counts traced = { 0 };
	bool lost;

	patience_stop();
	if (!can_end())
		return;
	collector_unlock();
	if (pthread_mutex_lock(&finishing))
		return;
	lost = subscriber_stay();
	trace_stop(&traced);
	end_all(&traced, lost);
	pthread_mutex_unlock(&finishing);
}
