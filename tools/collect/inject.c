/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that CUDA loads into the program: CUDA_INJECTION64_PATH names it, and the driver
 * calls InitializeInjection() when the program first uses CUDA.
 */
#include "collect/collector.h"
#include "collect/profilers/nvml.h"
#include "collect/shared/program_cupti.h"
#include "collect/subscriber.h"

enum { TICK_US = 250000, WATCH_US = 10000 };

int InitializeInjection(void);

static void launch_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	static __thread bool inside; /* a launch of this thread that is recorded */
	static __thread struct launch launch;
	static __thread unsigned subscription; /* the launch's */
	unsigned current = __atomic_load_n(&collector.subscriptions, __ATOMIC_RELAXED);

	if (call->callbackSite == CUPTI_API_ENTER) {
		/* Else it is inside another call, unless the end of that was not heard. */
		if ((!inside || subscription != current) && launch_read(&launch, id, call)) {
			inside = collector_begin_launch(&launch, current);
			subscription = current;
		}
	} else if (inside) {
		inside = false;
		collector_end_launch(&launch, !*(const CUresult *)call->functionReturnValue);
	}
}

static void *warm_up(void *data)
{
	collector_warm_up();
	return data;
}

/* Prepares CUPTI's profiler while the driver creates the context. */
static void context_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	static bool begun;

	(void)id;
	if (call->callbackSite == CUPTI_API_ENTER
	    && !__atomic_exchange_n(&begun, true, __ATOMIC_RELAXED))
		thread_detach(warm_up, NULL);
}

/* The first parameter of all these calls. The legacy default stream can't be captured. */
static CUstream stream_of(const CUpti_CallbackData *call)
{
	CUstream stream = *(const CUstream *)call->functionParams;

	return stream ? stream : CU_STREAM_PER_THREAD;
}

/* It may have failed, or not been allowed to end. */
static void end_capture_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	collector_auto bool locked = call->callbackSite == CUPTI_API_EXIT && collector_lock();

	(void)id;
	if (locked)
		collector_end_captures(stream_of(call));
}

static void capture_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	if (call->callbackSite == CUPTI_API_ENTER)
		collector_begin_capture(stream_of(call));
	else if (*(const CUresult *)call->functionReturnValue)
		end_capture_called(id, call);
}

static void start_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	(void)id;
	if (call->callbackSite == CUPTI_API_EXIT && !*(const CUresult *)call->functionReturnValue)
		collector_begin_scope(CAPTURE_PROFILER_API);
}

static void stop_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	(void)id;
	if (call->callbackSite == CUPTI_API_ENTER)
		collector_end_scope(CAPTURE_PROFILER_API);
}

#define CALL(name, function, modes)                                                                \
	{                                                                                          \
		CUPTI_DRIVER_TRACE_CBID_##name, function, modes                                    \
	}

/* One bit per mode. */
enum {
	CODE = 1 << MODE_SASS | 1 << MODE_PC,
	LAUNCHES = 1 << MODE_KERNEL_REPLAY | 1 << MODE_LAUNCH_RANGE | 1 << MODE_SASS,
	RANGES = LAUNCHES | 1 << MODE_USER_RANGE,
	KERNELS = LAUNCHES | 1 << MODE_SAMPLING | CODE,
	ALL_MODES = RANGES | KERNELS,
	EVERY_MODE = ALL_MODES | 1 << MODE_TRACE,
};

/* The relevant driver calls, each with its modes in the last column. */
static const struct {
	CUpti_CallbackId id;
	void (*called)(CUpti_CallbackId id, const CUpti_CallbackData *call);
	unsigned modes;
} driver_calls[] = {
	CALL(cuLaunchKernel, launch_called, KERNELS),
	CALL(cuLaunchKernel_ptsz, launch_called, KERNELS),
	CALL(cuLaunchKernelEx, launch_called, KERNELS),
	CALL(cuLaunchKernelEx_ptsz, launch_called, KERNELS),
	CALL(cuLaunchCooperativeKernel, launch_called, KERNELS),
	CALL(cuLaunchCooperativeKernel_ptsz, launch_called, KERNELS),
	CALL(cuGraphLaunch, launch_called, KERNELS),
	CALL(cuGraphLaunch_ptsz, launch_called, KERNELS),
	CALL(cuStreamBeginCapture, capture_called, RANGES),
	CALL(cuStreamBeginCapture_ptsz, capture_called, RANGES),
	CALL(cuStreamBeginCapture_v2, capture_called, RANGES),
	CALL(cuStreamBeginCapture_v2_ptsz, capture_called, RANGES),
	CALL(cuStreamBeginCaptureToGraph, capture_called, RANGES),
	CALL(cuStreamBeginCaptureToGraph_ptsz, capture_called, RANGES),
	CALL(cuStreamEndCapture, end_capture_called, RANGES),
	CALL(cuStreamEndCapture_ptsz, end_capture_called, RANGES),
	CALL(cuProfilerStart, start_called, EVERY_MODE),
	CALL(cuProfilerStop, stop_called, EVERY_MODE),
	CALL(cuDevicePrimaryCtxRetain, context_called, ALL_MODES),
	CALL(cuCtxCreate, context_called, ALL_MODES),
	CALL(cuCtxCreate_v2, context_called, ALL_MODES),
	CALL(cuCtxCreate_v3, context_called, ALL_MODES),
	CALL(cuCtxCreate_v4, context_called, ALL_MODES),
};

enum { DRIVER_CALLS = sizeof driver_calls / sizeof *driver_calls };

/* For resource_called(). */
static const struct {
	CUpti_CallbackId id;
	unsigned modes;
} resources[] = {
	{ CUPTI_CBID_RESOURCE_MODULE_LOADED, CODE },
	{ CUPTI_CBID_RESOURCE_CONTEXT_CREATED, ALL_MODES },
	{ CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, ALL_MODES },
};

static void driver_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	for (size_t i = 0; i < DRIVER_CALLS; i++)
		if (driver_calls[i].id == id) {
			driver_calls[i].called(id, call);
			return;
		}
}

static void *watch(void *data)
{
	while (collector_watch())
		usleep(WATCH_US);
	return data;
}

/* Sampling is per device: callbacks show earlier than polling that a device is in use. */
static bool needs_callbacks(void)
{
	return collector.settings.mode != MODE_SAMPLING || collector_has_scope();
}

/* Leaves the callbacks to the program, which may trace itself, as torch.profiler does. */
static void watch_without_callbacks(void)
{
	static bool watching;

	/* The program may end before the thread starts. */
	collector_end_before_nvidia();
	subscriber_leave();
	if (!__atomic_exchange_n(&watching, true, __ATOMIC_RELAXED))
		thread_detach(watch, NULL);
}

static bool away; /* the program has the callbacks, which marks need */

void inject_leave_callbacks(void)
{
	if (!needs_callbacks()) {
		watch_without_callbacks();
		return;
	}
	subscriber_leave();
	if (!__atomic_exchange_n(&away, true, __ATOMIC_RELAXED))
		collector_note(DROP_UNMARKED);
}

/* Contexts that wait for their preparation; a destroyed one is removed. */
static struct {
	pthread_mutex_t lock;
	CUcontext contexts[MAX_CONTEXTS];
	size_t count;
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool add_waiting(CUcontext context)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&waiting.lock);

	if (waiting.count == MAX_CONTEXTS)
		return false;
	waiting.contexts[waiting.count++] = context;
	return true;
}

/* False if the context does not wait. */
static bool take_waiting(CUcontext context)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&waiting.lock);

	for (size_t i = 0; i < waiting.count; i++)
		if (waiting.contexts[i] == context) {
			waiting.contexts[i] = waiting.contexts[--waiting.count];
			return true;
		}
	return false;
}

static size_t count_waiting(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&waiting.lock);

	return waiting.count;
}

/*
 * CUPTI crashes if it is ended in the midst of a call that prepares a profiler. No wait is without
 * an end: a context for which no thread could be made waits for ever.
 */
EXPORT void offpeak_end_cupti(bool ends, bool ended)
{
	enum { LOOK_US = 1000, LOOKS = 1000 };
	static __thread bool held; /* by this thread */

	if (ended && collector.pid == getpid())
		subscriber_forget();
	if (held)
		pthread_mutex_unlock(&collector.cupti);
	held = false;
	/* A fork has none of these threads. */
	if (!ends || collector.pid != getpid())
		return;
	for (int i = 0; i < LOOKS && count_waiting(); i++)
		usleep(LOOK_US);
	held = state_lock_within(&collector.cupti);
}

/*
 * Preparation takes a quarter of a second in a separate thread: the program waits for it only at
 * its first kernel launch, or where it ends CUPTI.
 */
static void *prepare(void *context)
{
	/* Before the lock, as it may load a library. */
	nvml_open();
	if (collector_lock_to_prepare()) {
		pthread_mutex_t *kept = opk_lock(&collector.cupti);

		/* The next launch after a capture prepares it. */
		if (take_waiting(context) && !collector.capture_count)
			collector_session(context);
		opk_unlock(&kept);
		collector_unlock();
	}
	if (!needs_callbacks())
		watch_without_callbacks();
	return NULL;
}

/* What becomes of contexts and modules. */
static void resource_called(CUpti_CallbackId id, const CUpti_ResourceData *resource)
{
	const CUpti_ModuleResourceData *module = resource->resourceDescriptor;

	if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && collector.settings.code != CODE_NONE) {
		modules_loaded(module->pCubin, module->cubinSize,
		               collector.settings.code == CODE_WHOLE);
	} else if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
		collector_end_before_nvidia();
		if (add_waiting(resource->context))
			thread_detach(prepare, resource->context);
	} else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
		take_waiting(resource->context);
		collector_forget(resource->context);
	}
}

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *details)
{
	(void)data;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		driver_called(id, details);
	else
		resource_called(id, details);
}

static bool enable_all(void)
{
	unsigned mode = 1U << collector.settings.mode;

	for (size_t i = 0; i < DRIVER_CALLS; i++)
		if (driver_calls[i].modes & mode
		    && !subscriber_enable(CUPTI_CB_DOMAIN_DRIVER_API, driver_calls[i].id))
			return false;
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		if (resources[i].modes & mode
		    && !subscriber_enable(CUPTI_CB_DOMAIN_RESOURCE, resources[i].id))
			return false;
	return true;
}

static const char *name_other(const char *other)
{
	return *other ? other : "the program itself, a profiler or a debugger";
}

/* Handles that another library of the program subscribed first. */
static bool go_without_callbacks(const char *other)
{
	other = name_other(other);
	if (needs_callbacks())
		return say(false,
		           "CUPTI's callbacks, which one library of a process has, belong to %s: "
		           "record without it, or with a set for PM sampling, which needs no "
		           "callbacks",
		           other);
	if (collector.settings.verbose)
		say(0, "CUPTI's callbacks belong to %s: sampled without them", other);
	collector.unheard = true;
	watch_without_callbacks();
	return true;
}

/* If callbacks are shared, the other subscriber's calls record activities. */
static CUptiResult take(char other[SUBSCRIBER_NAME])
{
	__atomic_add_fetch(&collector.subscriptions, 1, __ATOMIC_RELAXED);
	return subscriber_take(callback, other, !collector.settings.trace);
}

static bool subscribe(void)
{
	char other[SUBSCRIBER_NAME];
	CUptiResult status = take(other);

	if (status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		return collector_begins_resting(USE_CALLBACKS) || go_without_callbacks(other);
	return target_check(target.cuptiSubscribe_v2 ? "cuptiSubscribe_v2" : "cuptiSubscribe",
	                    status)
	       && enable_all();
}

static bool lost; /* by a cuptiFinalize() of the program, and not subscribed since */

/* Whether the callbacks were free. The lock is held. */
static bool subscribe_again(char other[SUBSCRIBER_NAME])
{
	bool subscribed = take(other) == CUPTI_SUCCESS && enable_all();

	if (subscribed)
		collector_end_captures(NULL);
	lost = lost && !subscribed;
	return subscribed;
}

/*
 * The lock is held while it subscribes, so that the program does not come between. No launch is
 * waited for, as its end may not be heard until this thread subscribes.
 */
void inject_end_rest(void)
{
	collector_auto bool locked = collector_lock_over();
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);
	char other[SUBSCRIBER_NAME];

	if (locked && collector.resting && !(collector_program_uses() & ~USE_BUFFERS))
		collector.resting = !subscribe_again(other);
	else if (locked && away && !(collector_program_uses() & USE_CALLBACKS))
		away = !subscribe_again(other);
}

/* Without the lock: a thread that unsubscribes may wait for a callback, and that for the lock. */
static bool is_lost(void)
{
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);

	return lost || subscriber_lost();
}

/*
 * If a program calls cuptiFinalize(), that ends our subscription, too. If the program or another
 * library has subscribed since, wait until the callbacks are free. The end of a launch that is in
 * progress is not heard.
 */
static void renew_subscription(void)
{
	static bool told;
	unsigned subscription = __atomic_load_n(&collector.subscriptions, __ATOMIC_RELAXED);
	collector_auto bool locked = is_lost() && collector_lock_over();
	opk_autounlock pthread_mutex_t *kept = opk_lock(&collector.cupti);
	char other[SUBSCRIBER_NAME];

	if (!locked || collector.resting || collector.subscriptions != subscription)
		return;
	if (!lost) {
		collector_note(DROP_FINALIZED);
		collector_lose_launch();
	}
	lost = true;
	if (subscribe_again(other) || told)
		return;
	told = true;
	collector_note(DROP_UNHEARD);
	say(0,
	    "since a cuptiFinalize() of the program CUPTI's callbacks belong to %s: what it launches "
	    "is missing until they are free",
	    name_other(other));
}

/* Writes recorded data even when no more launches come. */
static void *tick(void *data)
{
	do {
		usleep(TICK_US);
		if (collector.resting || away)
			inject_end_rest();
		else
			renew_subscription();
	} while (collector_flush());
	return data;
}

EXPORT int InitializeInjection(void)
{
	if (!collector_init())
		return 1;
	if (collector.settings.trace)
		collector_trace();
	/* CUPTI's records already contain what the driver's other calls would show. */
	if (collector.settings.mode == MODE_TRACE && !collector_has_scope())
		return 1;
	if (collector.settings.watch
	    || (!collector_begins_resting(USE_ACTIVITIES | USE_COUNTERS) && !subscribe()))
		return 1;
	if (collector.settings.mode == MODE_USER_RANGE)
		collector_listen_to_ranges();
	if (needs_callbacks())
		thread_detach(tick, NULL);
	return 1;
}
