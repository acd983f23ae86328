/* SPDX-License-Identifier: BSD-2-Clause */
/* A libnvidia-ml with the clocks that a test chooses. CUDA does not include NVML's header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_common.h"

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, CLOCK_SM = 1, CLOCK_MEM = 2, POWER_CAP = 4 };

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
	unsigned room = *count;

	(void)device;
	for (*count = 0;
	     file && *count < room && fscanf(file, "%u", &processes[*count].process) == 1;)
		++*count;
	if (file)
		fclose(file);
	return SUCCESS;
}
