/* SPDX-License-Identifier: BSD-2-Clause */
/* An injection library that prints on stderr what it finds and which callbacks it gets. */
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int InitializeInjection(void);

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *details)
{
	const CUpti_CallbackData *call = details;
	const char *symbol = domain == CUPTI_CB_DOMAIN_DRIVER_API ? call->symbolName : NULL;

	(void)data;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		fprintf(stderr, "probe: resource %u\n", id);
	else
		fprintf(stderr, "probe: %s %s %s\n", call->callbackSite ? "exit" : "enter",
		        call->functionName, symbol ? symbol : "-");
}

/* Prints the statuses of the driver and the profiler in the middle of cuInit. */
static void tell_state(void *driver, void *cupti)
{
	__typeof__(cuDeviceGetCount) *get_count = (__typeof__(get_count))dlsym(driver,
	                                                                       "cuDeviceGetCount");
	__typeof__(cuptiProfilerInitialize) *initialize = (__typeof__(initialize))
		dlsym(cupti, "cuptiProfilerInitialize");
	CUpti_Profiler_Initialize_Params params = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
	};
	int count;

	fprintf(stderr, "probe: devices %d, profiler %d\n", (int)get_count(&count),
	        (int)initialize(&params));
}

int InitializeInjection(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *cupti = dlopen(getenv("PROBE_CUPTI"), RTLD_NOW | RTLD_LOCAL);
	__typeof__(cuptiSubscribe) *subscribe;
	__typeof__(cuptiEnableDomain) *enable;
	CUpti_SubscriberHandle subscriber;

	if (!driver || !cupti) {
		fprintf(stderr, "probe: %s\n", dlerror());
		return 1;
	}
	tell_state(driver, cupti);
	subscribe = (__typeof__(subscribe))dlsym(cupti, "cuptiSubscribe");
	enable = (__typeof__(enable))dlsym(cupti, "cuptiEnableDomain");
	fprintf(stderr, "probe: subscribe %d\n", (int)subscribe(&subscriber, callback, NULL));
	enable(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
	enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	return 1;
}
