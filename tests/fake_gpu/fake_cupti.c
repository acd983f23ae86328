/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake CUPTI: its driver, the profiler's state, which devices it supports. */
#include "fake_gpu/fake_cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_session.h"

pthread_mutex_t cupti_lock = PTHREAD_MUTEX_INITIALIZER;

static bool initialized, finalized;

static void ran(CUcontext context, size_t kernels)
{
	pthread_mutex_lock(&cupti_lock);
	session_ran(context, kernels);
	pthread_mutex_unlock(&cupti_lock);
}

static void destroyed(CUcontext context)
{
	pthread_mutex_lock(&cupti_lock);
	session_context_destroyed(context);
	sass_context_destroyed(context);
	pc_context_destroyed(context);
	pthread_mutex_unlock(&cupti_lock);
}

static uint32_t cupti_version(void)
{
	return (uint32_t)fake_number("FAKE_GPU_CUPTI_VERSION", CUPTI_API_VERSION);
}

/* Up to 12.6 the profiler counts a memset as a kernel. */
static void worked(const struct fake_work *work)
{
	enum { CUPTI_12_8 = 26 };

	activity_worked(work);
	code_worked(work);
	if (work->kind == FAKE_SET && cupti_version() < CUPTI_12_8)
		ran(cupti_driver()->current(), 1);
}

static const struct fake_driver *driver;

static const struct fake_hooks hooks = {
	.emit = callbacks_emit,
	.ran = ran,
	.destroyed = destroyed,
	.worked = worked,
	.called = activity_called,
};

static void load_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	__typeof__(fake_cuda_exchange) *exchange = NULL;

	if (library)
		exchange = (__typeof__(exchange))dlsym(library, "fake_cuda_exchange");
	if (!exchange) {
		fprintf(stderr, "fake GPU: the fake CUPTI needs the fake driver: %s\n", dlerror());
		abort();
	}
	driver = exchange(&hooks);
}

const struct fake_driver *cupti_driver(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_driver);
	return driver;
}

bool cupti_is_first(void)
{
	return cupti_driver()->serves(&hooks);
}

bool cupti_finalized(void)
{
	return finalized;
}

int profiler_ready(void)
{
	return initialized ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

size_t passes_of_config(const void *config, size_t size)
{
	struct fake_config head = { .passes = 0 };

	memcpy(&head, config, size < sizeof head ? size : sizeof head);
	return memcmp(head.magic, FAKE_CONFIG_MAGIC, sizeof head.magic)
	               ? fake_number("FAKE_GPU_PASSES", 1)
	               : head.passes;
}

static int initialize(void)
{
	if (!cupti_driver()->ready())
		return CUPTI_ERROR_NOT_INITIALIZED;
	initialized = true;
	fake_clean_up_at_exit();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_Initialize_Params, params, initialize(), "%s", "");
}

static int deinitialize(void)
{
	initialized = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_DeInitialize_Params, params, deinitialize(), "%s", "");
}

/* Ends subscriptions; samplers and sessions stay until they are disabled. */
static int finalize(void)
{
	if (fake_in_cupti()) {
		fprintf(stderr, "fake GPU: cuptiFinalize in the midst of another call\n");
		abort();
	}
	callbacks_end();
	pthread_mutex_lock(&cupti_lock);
	finalized = true;
	pthread_mutex_unlock(&cupti_lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	return FAKE_CALL(CUptiResult, finalize(), "%s", "");
}

enum { AVAILABILITY_SIZE = 64 };

/* Images for both profilers: sixteen bytes of text, then the device. */
static int availability(uint8_t *image, size_t *size, const char *kind, unsigned device)
{
	char text[AVAILABILITY_SIZE] = "";

	if (!image) {
		*size = AVAILABILITY_SIZE;
		return CUPTI_SUCCESS;
	}
	if (*size < AVAILABILITY_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	snprintf(text, sizeof text, "FAKEAVAIL %s %s %u", kind, fake_chip(device), device);
	memcpy(image, text, sizeof text);
	*size = AVAILABILITY_SIZE;
	return CUPTI_SUCCESS;
}

/* Fails while a session exists; after a session the real call has crashed. */
static int range_availability(CUpti_Profiler_GetCounterAvailability_Params *params)
{
	CUcontext context = params->ctx ? params->ctx : cupti_driver()->current();

	if (profiler_ready())
		return profiler_ready();
	if (!context || !cupti_driver()->alive(context))
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (session_any() || pm_active())
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (session_ever()) {
		fprintf(stderr, "fake GPU: counter availability after a session\n");
		abort();
	}
	return availability(params->pCounterAvailabilityImage,
	                    &params->counterAvailabilityImageSize, "range",
	                    cupti_driver()->device_of(context));
}

CUptiResult cuptiProfilerGetCounterAvailability(
	CUpti_Profiler_GetCounterAvailability_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_GetCounterAvailability_Params, params,
	                  range_availability(params), "%s",
	                  params->pCounterAvailabilityImage ? "image" : "size");
}

static int pm_availability(CUpti_PmSampling_GetCounterAvailability_Params *params)
{
	if (profiler_ready())
		return profiler_ready();
	if (params->deviceIndex >= cupti_driver()->device_count() || session_any() || pm_active())
		return CUPTI_ERROR_INVALID_PARAMETER;
	return availability(params->pCounterAvailabilityImage,
	                    &params->counterAvailabilityImageSize, "pm",
	                    (unsigned)params->deviceIndex);
}

CUptiResult cuptiPmSamplingGetCounterAvailability(
	CUpti_PmSampling_GetCounterAvailability_Params *params)
{
	return CUPTI_CALL(CUpti_PmSampling_GetCounterAvailability_Params, params,
	                  pm_availability(params), "%s",
	                  params->pCounterAvailabilityImage ? "image" : "size");
}

/* FAKE_GPU_UNSUPPORTED names the member of the struct that prevents support. */
static CUpti_Profiler_Support_Level support(const char *what)
{
	const char *reason = getenv("FAKE_GPU_UNSUPPORTED");

	return reason && !strcmp(reason, what) ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
	                                       : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
}

static int device_supported(CUpti_Profiler_DeviceSupported_Params *params)
{
	const char *reason = getenv("FAKE_GPU_UNSUPPORTED");

	if (profiler_ready())
		return profiler_ready();
	if (params->cuDevice < 0 || (unsigned)params->cuDevice >= cupti_driver()->device_count())
		return CUPTI_ERROR_INVALID_DEVICE;
	params->architecture = support("architecture");
	params->sli = support("sli");
	params->vGpu = support("vGpu");
	params->confidentialCompute = support("confidentialCompute");
	params->cmp = support("cmp");
	params->wsl = support("wsl");
	params->isSupported = reason && *reason ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
	                                        : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *params)
{
	return CUPTI_CALL(CUpti_Profiler_DeviceSupported_Params, params, device_supported(params),
	                  "%d", params->cuDevice);
}

static int chip_name(CUpti_Device_GetChipName_Params *params)
{
	if (params->deviceIndex >= cupti_driver()->device_count())
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->pChipName = fake_chip((unsigned)params->deviceIndex);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
	return CUPTI_CALL(CUpti_Device_GetChipName_Params, params, chip_name(params), "%zu",
	                  params->deviceIndex);
}

bool cupti_takes_size(const char *type, size_t size, size_t known)
{
#define GROWN(type, last, since)                                                                   \
	{                                                                                          \
		"CUpti_" #type "_Params", CUPTI_PROFILER_STRUCT_SIZE(CUpti_##type##_Params, last), \
			since                                                                      \
	}
	static const struct {
		const char *type;
		size_t before; /* the struct's size up to that member */
		uint32_t since;
	} grown[] = {
		GROWN(PmSampling_SetConfig, triggerMode, 26),
		GROWN(Profiler_DeviceSupported, api, 130100),
		GROWN(Profiler_GetCounterAvailability, pCounterAvailabilityImage, 130100),
		GROWN(RangeProfiler_Enable, pRangeProfilerObject, 130400),
	};
#undef GROWN

	for (size_t i = 0; i < sizeof grown / sizeof *grown; i++)
		if (!strcmp(grown[i].type, type))
			return size == grown[i].before
			       || (size == known && cupti_version() >= grown[i].since);
	return size == known;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	*version = cupti_version();
	return FAKE_CALL(CUptiResult, CUPTI_SUCCESS, "%s", "");
}

/* FAKE_GPU_CLOCK: after so many ms the program's own 2 GHz clock replaces CUPTI's. */
static uint64_t on_other_clock(uint64_t host, uint64_t without_ns)
{
	static uint64_t begin;
	uint64_t after = fake_number("FAKE_GPU_CLOCK", 0) * 1000000;

	begin = begin ? begin : fake_now();
	if (!after || host < begin + after)
		return host;
	return host < begin + after + without_ns ? 0 : 2 * (host - begin) + 12345;
}

uint64_t cupti_time(uint64_t host)
{
	enum { WITHOUT_NS = 50000000 };

	return on_other_clock(host, WITHOUT_NS);
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	*timestamp = on_other_clock(fake_now(), 0);
	return FAKE_CALL(CUptiResult, CUPTI_SUCCESS, "%s", "");
}

static int check_context(CUcontext context)
{
	return context && cupti_driver()->alive(context) ? CUPTI_SUCCESS
	                                                 : CUPTI_ERROR_INVALID_CONTEXT;
}

static int context_id(CUcontext context, uint32_t *id)
{
	if (!check_context(context))
		*id = cupti_driver()->id_of(context);
	return check_context(context);
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	return FAKE_CALL(CUptiResult, context_id(context, id), "%s", "");
}

static int device_id(CUcontext context, uint32_t *id)
{
	if (!check_context(context))
		*id = cupti_driver()->device_of(context);
	return check_context(context);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	return FAKE_CALL(CUptiResult, device_id(context, id), "%s", "");
}

static int stream_id(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	if (context && check_context(context))
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!stream && per_thread)
		stream = CU_STREAM_PER_THREAD;
	*id = cupti_driver()->stream_id_of(stream);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	return FAKE_CALL(CUptiResult, stream_id(context, stream, per_thread, id), "%s", "");
}
