/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that CUDA loads into the program: CUDA_INJECTION64_PATH names it, the driver calls
 * InitializeInjection() when the program first uses CUDA.
 */
#include <stdlib.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/shared/shared.h"

enum { TICK_US = 250000 };

static CUpti_SubscriberHandle subscriber;

int InitializeInjection(void);

static void launch_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	static __thread bool inside; /* this thread holds the lock for a launch */
	static __thread struct launch launch;

	if (call->callbackSite == CUPTI_API_ENTER) {
		if (!inside && launch_read(&launch, id, call))
			inside = collector_begin_launch(&launch);
	} else if (inside) {
		inside = false;
		collector_end_launch(!*(const CUresult *)call->functionReturnValue);
	}
}

static void *warm_up(void *data)
{
	collector_warm_up();
	return data;
}

/* CUPTI's profiler is readied while the driver makes the context. */
static void context_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	static bool begun;

	(void)id;
	if (call->callbackSite == CUPTI_API_ENTER
	    && !__atomic_exchange_n(&begun, true, __ATOMIC_RELAXED))
		thread_detach(warm_up, NULL);
}

static void capture_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	(void)id;
	if (call->callbackSite == CUPTI_API_ENTER)
		collector_begin_capture();
	else if (*(const CUresult *)call->functionReturnValue)
		collector_end_capture();
}

/* A spoiled capture ends, too; one that this call may not end goes on. */
static void end_capture_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	CUresult result = call->callbackSite == CUPTI_API_EXIT
	                          ? *(const CUresult *)call->functionReturnValue
	                          : CUDA_ERROR_ILLEGAL_STATE;

	(void)id;
	if (result != CUDA_ERROR_ILLEGAL_STATE && result != CUDA_ERROR_INVALID_VALUE
	    && result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
	    && result != CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
		collector_end_capture();
}

#define CALL(name, function, unless)                                                               \
	{                                                                                          \
		CUPTI_DRIVER_TRACE_CBID_##name, function, unless                                   \
	}

/* The driver's calls that matter, each unless the mode is the one in the last column. */
static const struct {
	CUpti_CallbackId id;
	void (*called)(CUpti_CallbackId id, const CUpti_CallbackData *call);
	int unless;
} driver_calls[] = {
	CALL(cuLaunchKernel, launch_called, MODE_USER_RANGE),
	CALL(cuLaunchKernel_ptsz, launch_called, MODE_USER_RANGE),
	CALL(cuLaunchKernelEx, launch_called, MODE_USER_RANGE),
	CALL(cuLaunchKernelEx_ptsz, launch_called, MODE_USER_RANGE),
	CALL(cuLaunchCooperativeKernel, launch_called, MODE_USER_RANGE),
	CALL(cuLaunchCooperativeKernel_ptsz, launch_called, MODE_USER_RANGE),
	CALL(cuGraphLaunch, launch_called, MODE_USER_RANGE),
	CALL(cuGraphLaunch_ptsz, launch_called, MODE_USER_RANGE),
	CALL(cuStreamBeginCapture, capture_called, MODE_SAMPLING),
	CALL(cuStreamBeginCapture_ptsz, capture_called, MODE_SAMPLING),
	CALL(cuStreamBeginCapture_v2, capture_called, MODE_SAMPLING),
	CALL(cuStreamBeginCapture_v2_ptsz, capture_called, MODE_SAMPLING),
	CALL(cuStreamBeginCaptureToGraph, capture_called, MODE_SAMPLING),
	CALL(cuStreamBeginCaptureToGraph_ptsz, capture_called, MODE_SAMPLING),
	CALL(cuStreamEndCapture, end_capture_called, MODE_SAMPLING),
	CALL(cuStreamEndCapture_ptsz, end_capture_called, MODE_SAMPLING),
	CALL(cuDevicePrimaryCtxRetain, context_called, -1),
	CALL(cuCtxCreate, context_called, -1),
	CALL(cuCtxCreate_v2, context_called, -1),
	CALL(cuCtxCreate_v3, context_called, -1),
	CALL(cuCtxCreate_v4, context_called, -1),
};

enum { DRIVER_CALLS = sizeof driver_calls / sizeof *driver_calls };

static void driver_called(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
	for (size_t i = 0; i < DRIVER_CALLS; i++)
		if (driver_calls[i].id == id) {
			driver_calls[i].called(id, call);
			return;
		}
}

/* Contexts that wait for their preparation, until they are destroyed. */
static struct {
	pthread_mutex_t lock;
	CUcontext contexts[MAX_CONTEXTS];
	size_t count;
} waiting = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool add_waiting(CUcontext context)
{
	bool room;

	pthread_mutex_lock(&waiting.lock);
	room = waiting.count < MAX_CONTEXTS;
	if (room)
		waiting.contexts[waiting.count++] = context;
	pthread_mutex_unlock(&waiting.lock);
	return room;
}

/* False where it does not wait. */
static bool take_waiting(CUcontext context)
{
	size_t i = 0;
	bool found;

	pthread_mutex_lock(&waiting.lock);
	while (i < waiting.count && waiting.contexts[i] != context)
		i++;
	found = i < waiting.count;
	if (found)
		waiting.contexts[i] = waiting.contexts[--waiting.count];
	pthread_mutex_unlock(&waiting.lock);
	return found;
}

/*
 * Preparing takes a quarter of a second, in a thread of its own: the program waits for it only
 * when it launches its first kernel.
 */
static void *prepare(void *context)
{
	collector_auto bool locked = collector_lock();

	if (locked && take_waiting(context))
		collector_session(context);
	return NULL;
}

static void context_created(CUcontext context)
{
	static bool registered;

	/* A program that ends at once waits for the preparation, amid NVIDIA's calls. */
	if (!__atomic_exchange_n(&registered, true, __ATOMIC_RELAXED))
		atexit(collector_finish);
	if (add_waiting(context))
		thread_detach(prepare, context);
}

static void context_destroyed(CUcontext context)
{
	take_waiting(context);
	collector_forget(context);
}

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *details)
{
	(void)data;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		driver_called(id, details);
	else if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		context_created(((const CUpti_ResourceData *)details)->context);
	else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		context_destroyed(((const CUpti_ResourceData *)details)->context);
}

static bool enable(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return target_check(&collector.target, "cuptiEnableCallback",
	                    collector.target.cuptiEnableCallback(1, subscriber, domain, id));
}

static bool subscribe(void)
{
	CUptiResult status = collector.target.cuptiSubscribe(&subscriber, callback, NULL);
	bool good = target_check(&collector.target, "cuptiSubscribe", status);

	for (size_t i = 0; good && i < DRIVER_CALLS; i++)
		if (driver_calls[i].unless != (int)collector.settings.mode)
			good = enable(CUPTI_CB_DOMAIN_DRIVER_API, driver_calls[i].id);
	return good && enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
	       && enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

/* Hands on what was recorded, even when no more launches come. */
static void *tick(void *data)
{
	do
		usleep(TICK_US);
	while (collector_flush());
	return data;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	if (!collector_init() || !subscribe())
		return 1;
	if (collector.settings.mode == MODE_USER_RANGE)
		collector_listen_to_ranges();
	if (collector.settings.mode != MODE_SAMPLING)
		thread_detach(tick, NULL);
	return 1;
}
