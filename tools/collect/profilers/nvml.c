/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens NVML, and finds CUDA's devices in it. */
#include "collect/profilers/nvml.h"

#include <dlfcn.h>

#include "collect/shared/shared.h"
#include "collect/shared/target.h"

struct nvml nvml;
static bool usable;

static void bind(void)
{
	opk_autoloading bool begun = loading_begin();
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

#define X(symbol, arguments) *(void **)&nvml.symbol = library ? dlsym(library, #symbol) : NULL;
	NVML_SYMBOLS(X)
#undef X
	/* The name since CUDA 12.2: the other one may go. */
	if (library && !nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
		*(void **)&nvml.nvmlDeviceGetCurrentClocksThrottleReasons =
			dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons");
	usable = nvml.nvmlDeviceGetClockInfo && nvml.nvmlDeviceGetHandleByPciBusId_v2
	         && NVML_ASK(nvmlInit_v2);
}

/* The thread that loads it may wait for a library that this one loads: this does not wait long. */
bool nvml_open(void)
{
	static pthread_mutex_t binding = PTHREAD_MUTEX_INITIALIZER;
	static unsigned most_s = 2;
	static bool bound;
	struct timespec until = { .tv_sec = time(NULL)
		                            + __atomic_load_n(&most_s, __ATOMIC_RELAXED) };

	if (__atomic_load_n(&bound, __ATOMIC_ACQUIRE))
		return usable;
	if (pthread_mutex_timedlock(&binding, &until)) {
		__atomic_store_n(&most_s, 0, __ATOMIC_RELAXED);
		return false;
	}
	if (!bound)
		bind();
	__atomic_store_n(&bound, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&binding);
	return usable;
}

nvml_device *nvml_find(int device)
{
	nvml_device *found = NULL;
	char address[32];

	if (!nvml_open() || target.cuDeviceGetPCIBusId(address, sizeof address, device)
	    || nvml.nvmlDeviceGetHandleByPciBusId_v2(address, &found))
		return NULL;
	return found;
}
