/* SPDX-License-Identifier: BSD-2-Clause */
/* NVML, which is opened when it is first needed, and may be missing. */
#ifndef OPK_COLLECT_NVML_H
#define OPK_COLLECT_NVML_H

#include <stdbool.h>

/* NVML's names for its numbers; not every CUDA comes with its header. */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4 };
enum { NVML_LINK_TO_GPU = 0, NVML_LINK_TO_SWITCH = 2, NVML_MOST_LINKS = 18 };
/* Both limits of locked clocks: the base clock, which the power limit always allows. */
#define NVML_BASE_CLOCK 0xffffff01U

typedef struct nvml_device nvml_device; /* opaque */

/* NVML's struct for a process. */
struct nvml_process {
	unsigned process;
	unsigned long long memory;
	unsigned instances[2]; /* MIG's */
};

/* NVML's struct for an address. */
struct nvml_pci {
	char older[16];
	unsigned numbers[5];
	char address[32];
};

/* Older drivers, or newer ones, lack some: NULL. */
#define NVML_SYMBOLS(X)                                                                            \
	X(nvmlInit_v2, (void))                                                                     \
	X(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, nvml_device **device))           \
	X(nvmlDeviceGetClockInfo, (nvml_device * device, int which, unsigned *mhz))                \
	X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device **device))                     \
	X(nvmlDeviceGetCurrentClocksThrottleReasons,                                               \
	  (nvml_device * device, unsigned long long *reasons))                                     \
	X(nvmlDeviceGetComputeRunningProcesses_v3,                                                 \
	  (nvml_device * device, unsigned *count, struct nvml_process *processes))                 \
	X(nvmlDeviceGetPowerUsage, (nvml_device * device, unsigned *milliwatts))                   \
	X(nvmlDeviceGetEnforcedPowerLimit, (nvml_device * device, unsigned *milliwatts))           \
	X(nvmlDeviceGetTemperature, (nvml_device * device, int sensor, unsigned *celsius))         \
	X(nvmlDeviceGetPersistenceMode, (nvml_device * device, int *on))                           \
	X(nvmlDeviceGetGpuInstanceId, (nvml_device * device, unsigned *instance))                  \
	X(nvmlDeviceGetComputeInstanceId, (nvml_device * device, unsigned *instance))              \
	X(nvmlDeviceGetNvLinkState, (nvml_device * device, unsigned link, int *active))            \
	X(nvmlDeviceGetNvLinkRemoteDeviceType, (nvml_device * device, unsigned link, int *type))   \
	X(nvmlDeviceGetNvLinkRemotePciInfo_v2,                                                     \
	  (nvml_device * device, unsigned link, struct nvml_pci *remote))                          \
	X(nvmlDeviceGetMaxClockInfo, (nvml_device * device, int which, unsigned *mhz))             \
	X(nvmlDeviceSetGpuLockedClocks, (nvml_device * device, unsigned least, unsigned most))     \
	X(nvmlDeviceResetGpuLockedClocks, (nvml_device * device))

struct nvml {
#define X(symbol, arguments) int(*symbol) arguments;
	NVML_SYMBOLS(X)
#undef X
};
extern struct nvml nvml;

/* Opens it; false: it can't be used. */
bool nvml_open(void);
/* The handle of CUDA's device; NULL: NVML is missing, or does not know it. */
nvml_device *nvml_find(int device);
/* Calls a function; false if it is missing or fails. */
#define NVML_ASK(symbol, ...) (nvml.symbol && !nvml.symbol(__VA_ARGS__))

#endif
