/* SPDX-License-Identifier: BSD-2-Clause */
/* A libnvidia-ml with the clocks that a test chooses. CUDA does not include NVML's header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_gpu/fake_common.h"

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, CLOCK_SM = 1, CLOCK_MEM = 2, POWER_CAP = 4 };
enum { INSUFFICIENT_SIZE = 7 };
enum { TO_GPU = 0, TO_SWITCH = 2 };

struct pci {
	char older[16];
	unsigned numbers[5];
	char address[32];
};

struct process {
	unsigned process;
	unsigned long long memory;
	unsigned instances[2];
};

int nvmlInit_v2(void);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct process *processes);
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device);
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPersistenceMode(void *device, int *on);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *remote);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetGpuInstanceId(void *device, unsigned *instance);
int nvmlDeviceGetComputeInstanceId(void *device, unsigned *instance);
int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *mhz);
int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least, unsigned most);
int nvmlDeviceResetGpuLockedClocks(void *device);

/* Loading the library takes FAKE_GPU_NVML_MS. */
static __attribute__((constructor)) void load(void)
{
	uint64_t ms = fake_number("FAKE_GPU_NVML_MS", 0);

	if (ms)
		fake_log("load_nvml", 0, "%s", "");
	usleep((useconds_t)ms * 1000);
}

static unsigned devices[16];
static bool initialized;

int nvmlInit_v2(void)
{
	initialized = true;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

/* Addresses are as cuDeviceGetPCIBusId() returns them: 0000:01:00.0 is device 0. */
static int find(void **device, const char *address)
{
	unsigned bus = 0;

	if (!initialized || sscanf(address, "0000:%x:00.0", &bus) != 1 || !bus || bus > 16)
		return INVALID_ARGUMENT;
	*device = &devices[bus - 1];
	return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
	return FAKE_CALL(int, find(device, address), "%s", address);
}

/* The next clock in the list FAKE_GPU_SM_MHZ. */
static unsigned next_clock(void)
{
	static const char *rest;
	const char *comma;
	unsigned mhz;

	if (!rest)
		rest = getenv("FAKE_GPU_SM_MHZ") ?: "1980";
	mhz = (unsigned)strtoul(rest, NULL, 10);
	comma = strchr(rest, ',');
	rest = comma ? comma + 1 : rest;
	return mhz;
}

static int get_clock(unsigned *mhz, int which)
{
	if (which != CLOCK_SM && which != CLOCK_MEM)
		return INVALID_ARGUMENT;
	*mhz = which == CLOCK_SM ? next_clock() : 2619;
	return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
	return FAKE_CALL(int, device ? get_clock(mhz, which) : INVALID_ARGUMENT, "%d", which);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = getenv("FAKE_GPU_SM_MHZ") ? POWER_CAP : 0;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

/* The numbers in the file FAKE_GPU_USERS. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct process *processes)
{
	const char *path = getenv("FAKE_GPU_USERS");
	FILE *file = path ? fopen(path, "r") : NULL;
	unsigned room = *count, number;

	(void)device;
	for (*count = 0; file && fscanf(file, "%u", &number) == 1; ++*count)
		if (*count < room)
			processes[*count].process = number;
	if (file)
		fclose(file);
	return *count > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* 300 W at first, and then 50 W more each time. */
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	static unsigned readings;

	(void)device;
	*milliwatts = 300000 + 50000 * __atomic_fetch_add(&readings, 1, __ATOMIC_RELAXED);
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 700000;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	(void)device;
	*celsius = 41;
	return FAKE_CALL(int, sensor ? INVALID_ARGUMENT : SUCCESS, "%d", sensor);
}

int nvmlDeviceGetPersistenceMode(void *device, int *on)
{
	(void)device;
	*on = 1;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

/* Where a link leads, by FAKE_GPU_NVLINKS: "switch", "-" or an address; NULL: no such link. */
static const char *link_target(char target[32], unsigned link)
{
	const char *at = getenv("FAKE_GPU_NVLINKS");

	for (; at && link; link--) {
		at = strchr(at, ',');
		at += at != NULL;
	}
	if (at)
		snprintf(target, 32, "%.*s", (int)strcspn(at, ","), at);
	return at ? target : NULL;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active)
{
	char target[32] = "";
	bool known = link_target(target, link);

	(void)device;
	*active = strcmp(target, "-") != 0;
	return known ? FAKE_CALL(int, SUCCESS, "%u", link) : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
	char target[32] = "";

	(void)device;
	link_target(target, link);
	*type = strcmp(target, "switch") ? TO_GPU : TO_SWITCH;
	return FAKE_CALL(int, SUCCESS, "%u", link);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *remote)
{
	(void)device;
	link_target(remote->address, link);
	return FAKE_CALL(int, SUCCESS, "%u", link);
}

/* Parts of GPUs have a handle of their own. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	*device = devices;
	return FAKE_CALL(int, SUCCESS, "%s", uuid);
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *instance)
{
	(void)device;
	*instance = 9;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *instance)
{
	(void)device;
	*instance = 0;
	return FAKE_CALL(int, SUCCESS, "%s", "");
}

static unsigned number_of(const void *device)
{
	return (unsigned)((const unsigned *)device - devices);
}

int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *mhz)
{
	(void)device;
	*mhz = which == CLOCK_SM ? 1980 : 2619;
	return FAKE_CALL(int, SUCCESS, "%d", which);
}

/* The log says what is locked. */
int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least, unsigned most)
{
	return FAKE_CALL(int, SUCCESS, "%u %u %u", number_of(device), least, most);
}

int nvmlDeviceResetGpuLockedClocks(void *device)
{
	return FAKE_CALL(int, SUCCESS, "%u", number_of(device));
}
