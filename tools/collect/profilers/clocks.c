/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads clocks of the devices from NVML, and finds how far they drifted. */
#include "collect/profilers/profilers.h"

#include <dlfcn.h>

/* NVML's names for its numbers; not every CUDA comes with its header. */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

typedef struct nvml_device nvml_device;

#define SYMBOLS(X)                                                                                 \
	X(nvmlInit_v2, (void))                                                                     \
	X(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, nvml_device **device))           \
	X(nvmlDeviceGetClockInfo, (nvml_device * device, int which, unsigned *mhz))                \
	X(nvmlDeviceGetCurrentClocksThrottleReasons,                                               \
	  (nvml_device * device, unsigned long long *reasons))

struct span {
	uint32_t least, most;
};

/* NVML's struct for a process. */
struct nvml_process {
	unsigned process;
	unsigned long long memory;
	unsigned instances[2]; /* MIG's */
};

/* Each sampler has its own thread. */
static struct {
	pthread_mutex_t lock;
	bool opened, usable;
	/* Older drivers lack this. */
	int (*processes)(nvml_device *device, unsigned *count, struct nvml_process *processes);
#define X(symbol, arguments) int(*symbol) arguments;
	SYMBOLS(X)
#undef X
	struct watched {
		bool asked;
		nvml_device *handle; /* NULL: unknown to NVML */
		struct span sm, memory;
		unsigned long long reasons; /* all reasons seen */
	} devices[MAX_DEVICES];
} nvml = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool bind(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	bool found = library != NULL;

#define X(symbol, arguments)                                                                       \
	*(void **)&nvml.symbol = found ? dlsym(library, #symbol) : NULL;                           \
	found = nvml.symbol != NULL;
	SYMBOLS(X)
#undef X
	*(void **)&nvml.processes = library ? dlsym(library,
	                                            "nvmlDeviceGetComputeRunningProcesses_v3")
	                                    : NULL;
	return found && !nvml.nvmlInit_v2();
}

static struct watched *find(int device)
{
	struct watched *watched = &nvml.devices[device];
	char address[32];

	if (!nvml.opened) {
		nvml.opened = true;
		nvml.usable = bind();
	}
	if (!watched->asked && nvml.usable
	    && (target.cuDeviceGetPCIBusId(address, sizeof address, device)
	        || nvml.nvmlDeviceGetHandleByPciBusId_v2(address, &watched->handle)))
		watched->handle = NULL;
	watched->asked = true;
	return watched->handle ? watched : NULL;
}

static uint32_t read_clock(nvml_device *handle, int which, struct span *span)
{
	unsigned mhz = 0;

	if (nvml.nvmlDeviceGetClockInfo(handle, which, &mhz) || !mhz)
		return 0;
	span->least = span->least && span->least < mhz ? span->least : mhz;
	span->most = span->most > mhz ? span->most : mhz;
	return mhz;
}

static struct clocks read_clocks(struct watched *watched)
{
	unsigned long long reasons = 0;

	if (!nvml.nvmlDeviceGetCurrentClocksThrottleReasons(watched->handle, &reasons))
		watched->reasons |= reasons;
	return (struct clocks){
		.sm_mhz = read_clock(watched->handle, NVML_CLOCK_SM, &watched->sm),
		.memory_mhz = read_clock(watched->handle, NVML_CLOCK_MEM, &watched->memory),
	};
}

struct clocks clocks_read(int device)
{
	struct clocks clocks = { 0 };
	struct watched *watched;

	if (device < 0 || device >= MAX_DEVICES)
		return clocks;
	pthread_mutex_lock(&nvml.lock);
	watched = find(device);
	if (watched)
		clocks = read_clocks(watched);
	pthread_mutex_unlock(&nvml.lock);
	return clocks;
}

size_t clocks_processes(unsigned *processes, size_t room, int device)
{
	struct nvml_process found[MOST_USERS];
	unsigned count = MOST_USERS;
	struct watched *watched;
	bool good;

	pthread_mutex_lock(&nvml.lock);
	watched = device >= 0 && device < MAX_DEVICES ? find(device) : NULL;
	good = watched && nvml.processes && !nvml.processes(watched->handle, &count, found);
	pthread_mutex_unlock(&nvml.lock);
	count = good && count < room ? count : good ? (unsigned)room : 0;
	for (size_t i = 0; i < count; i++)
		processes[i] = found[i].process;
	return count;
}

/* Why a clock is lower than possible: NVML's bits that say more than "idle" or "as set". */
static const char *reason(unsigned long long reasons)
{
	static const struct {
		unsigned long long bits;
		const char *text;
	} known[] = {
		{ 0x60, ": the GPU was too hot" },
		{ 0x84, ": it reached its power limit" },
		{ 0x08, ": the hardware slowed it down" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (reasons & known[i].bits)
			return known[i].text;
	return "";
}

static void report(int device, const char *clock, const struct span *span,
                   unsigned long long reasons)
{
	if (span->least >= span->most * (1 - OPK_CLOCK_DRIFT))
		return;
	say(0,
	    "note: device %d: the %s clock was between %u and %u MHz%s; times and rates differ for "
	    "that alone",
	    device, clock, span->least, span->most, reason(reasons));
}

void clocks_report(void)
{
	for (int device = 0; device < MAX_DEVICES; device++) {
		const struct watched *watched = &nvml.devices[device];

		report(device, "SM", &watched->sm, watched->reasons);
		report(device, "memory", &watched->memory, watched->reasons);
	}
}
