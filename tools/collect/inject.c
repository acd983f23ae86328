/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that CUDA loads into the program: CUDA_INJECTION64_PATH names it, the driver calls
 * InitializeInjection() when the program first uses CUDA.
 */
#include <unistd.h>

#include "collect/collector.h"
#include "collect/threads.h"

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
		collector_end_launch(&launch);
	}
}

/*
 * Preparing takes a quarter of a second: it is done beside the program, which only waits for it when it
 * launches its first kernel.
 */
static void *prepare(void *context)
{
	target_relax(&collector.target);
	if (collector_lock()) {
		collector_session(context);
		collector_unlock();
	}
	return NULL;
}

static void context_created(CUcontext context)
{
	pthread_t thread;

	if (thread_start(&thread, prepare, context))
		pthread_detach(thread);
}

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *details)
{
	(void)data;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		launch_called(id, details);
	else if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		context_created(((const CUpti_ResourceData *)details)->context);
	else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		collector_forget(((const CUpti_ResourceData *)details)->context);
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

	for (size_t i = 0; good && collector.settings.mode != MODE_USER_RANGE && launch_calls[i]; i++)
		good = enable(CUPTI_CB_DOMAIN_DRIVER_API, launch_calls[i]);
	return good && enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
	       && enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

/* Should no launch come by, what was recorded is handed on all the same. */
static void *tick(void *data)
{
	target_relax(&collector.target);
	while (collector_active()) {
		usleep(TICK_US);
		collector_flush();
	}
	return data;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	pthread_t ticker;

	if (!collector_init() || !subscribe())
		return 1;
	if (collector.settings.mode == MODE_USER_RANGE)
		collector_listen_to_ranges();
	if (collector.settings.mode != MODE_SAMPLING && thread_start(&ticker, tick, NULL))
		pthread_detach(ticker);
	return 1;
}
