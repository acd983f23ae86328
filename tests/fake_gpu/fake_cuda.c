/* SPDX-License-Identifier: BSD-2-Clause */
/* Initialization of the fake driver, and its devices. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti_callbacks.h>

#include "fake_gpu/fake_driver.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t initialized_by; /* 0: not initialized */
static __thread bool initializing;
static const struct fake_hooks *hooks;

int driver_ready(void)
{
	return initialized_by && initialized_by == getpid() ? CUDA_SUCCESS
	                                                    : CUDA_ERROR_NOT_INITIALIZED;
}

void driver_emit(int domain, uint32_t id, const void *data)
{
	if (hooks)
		hooks->emit(domain, id, data);
}

void driver_ran(CUcontext context, size_t kernels)
{
	gpu_clock_advance(kernels);
	if (hooks)
		hooks->ran(context, kernels);
}

/* The call of this thread has it as soon as it gives the GPU work. */
static __thread uint32_t correlation;

uint32_t driver_correlation(void)
{
	static uint32_t last;

	if (!correlation)
		correlation = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return correlation;
}

struct driver_call driver_enter(void)
{
	struct driver_call call = { .start = fake_now(), .outer = correlation };

	correlation = 0;
	return call;
}

/* Other calls have numbers, too. */
void driver_leave(const char *name, const struct driver_call *call)
{
	static uint32_t last = 1 << 20;
	struct fake_called called = { .name = name, .start = call->start, .end = fake_now() };

	called.correlation = correlation ? correlation
	                                 : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	correlation = call->outer;
	if (hooks)
		hooks->called(&called);
}

void driver_worked(struct fake_work work)
{
	CUcontext context = context_current();

	work.device = context->device;
	work.context = context->id;
	if (hooks)
		hooks->worked(&work);
}

void driver_destroyed(CUcontext context)
{
	if (hooks)
		hooks->destroyed(context);
}

/* Loads CUDA_INJECTION64_PATH as the real driver does, but handles errors differently. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (path && *path && !library)
		fprintf(stderr, "fake GPU: %s\n", dlerror());
	if (library)
		initialize = (int (*)(void))dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
}

static int init(unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (initializing)
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&init_lock);
	if (!initialized_by) {
		initializing = true;
		inject();
		initializing = false;
		initialized_by = getpid();
		driver_emit(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
		            &(CUpti_ResourceData){ 0 });
	}
	pthread_mutex_unlock(&init_lock);
	return driver_ready();
}

CUresult cuInit(unsigned flags)
{
	return FAKE_CALL(CUresult, init(flags), "%s", "");
}

CUresult cuDriverGetVersion(int *version)
{
	*version = (int)fake_number("FAKE_GPU_DRIVER_VERSION", CUDA_VERSION);
	return FAKE_CALL(CUresult, CUDA_SUCCESS, "%s", "");
}

unsigned driver_device_count(void)
{
	return (unsigned)fake_number("FAKE_GPU_DEVICES", 1);
}

static int valid(CUdevice device)
{
	return device >= 0 && (unsigned)device < driver_device_count() ? CUDA_SUCCESS
	                                                               : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = (int)driver_device_count();
	return DRIVER_CALL(CUDA_SUCCESS, "%d", *count);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return DRIVER_CALL(valid(ordinal), "%d", ordinal);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
	const char *part = getenv("FAKE_GPU_PART");

	snprintf(name, (size_t)size, "NVIDIA Fake %s%s%s", fake_chip((unsigned)device),
	         part ? " MIG " : "", part ? part : "");
	return DRIVER_CALL(valid(device), "%d", device);
}

/* GPU-fa4e0000-0000-0000-0000-0000000000NN */
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	memset(uuid, 0, sizeof *uuid);
	uuid->bytes[0] = (char)0xfa;
	uuid->bytes[1] = 0x4e;
	uuid->bytes[15] = (char)device;
	return DRIVER_CALL(valid(device), "%d", device);
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
	snprintf(id, (size_t)size, "0000:%02X:00.0", device + 1);
	return DRIVER_CALL(valid(device), "%d", device);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	*bytes = (size_t)80 << 30;
	return DRIVER_CALL(valid(device), "%d", device);
}

/* Ten times the compute capability, for the chips that tests use. */
static int capability(CUdevice device)
{
	static const struct {
		const char *chip;
		int capability;
	} chips[] = {
		{ "TU102", 75 }, { "GA100", 80 },  { "GA102", 86 },  { "AD102", 89 },
		{ "GH100", 90 }, { "GB100", 100 }, { "GB202", 120 },
	};

	for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
		if (!strcmp(chips[i].chip, fake_chip((unsigned)device)))
			return chips[i].capability;
	return 90;
}

static int attribute(int *value, CUdevice_attribute which, CUdevice device)
{
	switch (which) {
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = 132;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*value = capability(device) / 10;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*value = capability(device) % 10;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		*value = 32;
		break;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		*value = 1980000;
		break;
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
		*value = 2619000;
		break;
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		*value = 50 << 20;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*value = device + 1;
		break;
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
		*value = 1;
		break;
	default:
		*value = 0;
	}
	return valid(device);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	return DRIVER_CALL(attribute(value, which, device), "%d %d", (int)which, device);
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	static __thread char text[32];

	snprintf(text, sizeof text, "CUDA error %d", (int)error);
	*name = text;
	return CUDA_SUCCESS;
}

/* Finds a symbol's newest version, which is the one that cuda.h's macros name. */
static int find_symbol(void **function, const char *symbol)
{
	static const char *const endings[] = { "_v4", "_v3", "_v2", "" };
	char name[128];
	Dl_info self;
	void *library;

	*function = NULL;
	library = dladdr((void *)(uintptr_t)cuInit, &self) ? dlopen(self.dli_fname, RTLD_LAZY)
	                                                   : NULL;
	for (size_t i = 0; library && !*function && i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", symbol, endings[i]);
		*function = dlsym(library, name);
	}
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status)
{
	CUresult result = FAKE_CALL(CUresult, find_symbol(function, symbol), "%s", symbol);

	(void)version;
	(void)flags;
	if (status)
		*status = result ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
		                 : CU_GET_PROC_ADDRESS_SUCCESS;
	return result;
}

static bool ready(void)
{
	return !driver_ready();
}

static unsigned device_of(CUcontext context)
{
	return context->device;
}

static bool serves(const struct fake_hooks *theirs)
{
	return hooks == theirs;
}

static uint32_t id_of(CUcontext context)
{
	return context->id;
}

const struct fake_driver *fake_cuda_exchange(const struct fake_hooks *theirs)
{
	static const struct fake_driver driver = {
		.ready = ready,
		.device_count = driver_device_count,
		.current = context_current,
		.alive = context_alive,
		.device_of = device_of,
		.id_of = id_of,
		.stream_id_of = stream_id,
		.spoil_capture = capture_spoil,
		.serves = serves,
	};

	if (!hooks)
		hooks = theirs;
	return &driver;
}
