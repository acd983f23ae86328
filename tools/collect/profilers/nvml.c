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

bool nvml_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, bind);
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
