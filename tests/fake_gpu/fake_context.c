/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts of the fake driver, and the current one of each thread. */
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <unistd.h>

#include "fake_gpu/fake_driver.h"

enum { MAX_STACK = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* A new context gets the first free place, so that handles are reused as by the real driver. */
static struct CUctx_st contexts[MAX_CONTEXTS];
static uint32_t last_id;
static __thread CUcontext stack[MAX_STACK];
static __thread size_t depth;

CUcontext context_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

bool context_alive(CUcontext context)
{
	return context >= contexts && context < contexts + MAX_CONTEXTS && context->alive;
}

static void report(CUcontext context, CUpti_CallbackIdResource what)
{
	driver_emit(CUPTI_CB_DOMAIN_RESOURCE, what, &(CUpti_ResourceData){ .context = context });
}

static CUcontext new_context(unsigned device, bool primary)
{
	CUcontext context = contexts;

	pthread_mutex_lock(&lock);
	while (context < contexts + MAX_CONTEXTS && context->alive)
		context++;
	if (context == contexts + MAX_CONTEXTS) {
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	*context = (struct CUctx_st){
		.alive = true, .primary = primary, .device = device, .id = ++last_id
	};
	pthread_mutex_unlock(&lock);
	report(context, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	return context;
}

static int push(CUcontext context)
{
	if (context && !context_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth == MAX_STACK)
		return CUDA_ERROR_INVALID_VALUE;
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

static int create(CUcontext *context, CUdevice device)
{
	if (device < 0 || (unsigned)device >= driver_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*context = new_context((unsigned)device, false);
	return *context ? push(*context) : CUDA_ERROR_OUT_OF_MEMORY;
}

/* With FAKE_GPU_CONTEXT_MS it takes so long, and the subscriber hears of its begin. */
static void take_time(void)
{
	uint64_t ms = fake_number("FAKE_GPU_CONTEXT_MS", 0);

	if (!ms)
		return;
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v2,
	            &(CUpti_CallbackData){ .callbackSite = CUPTI_API_ENTER });
	usleep((useconds_t)ms * 1000);
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
	(void)params;
	(void)flags;
	take_time();
	return DRIVER_CALL(create(context, device), "%d", device);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
	(void)flags;
	return DRIVER_CALL(create(context, device), "%d", device);
}

static int destroy(CUcontext context)
{
	if (!context_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	report(context, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	driver_destroyed(context);
	context->alive = false;
	if (context_current() == context)
		depth--;
	return CUDA_SUCCESS;
}

/* Taken before the context is destroyed, for the log. */
static uint32_t id_of(CUcontext context)
{
	return context_alive(context) ? context->id : 0;
}

CUresult cuCtxDestroy(CUcontext context)
{
	uint32_t id = id_of(context);

	return DRIVER_CALL(context_alive(context) && context->primary ? CUDA_ERROR_INVALID_CONTEXT
	                                                              : destroy(context),
	                   "%u", id);
}

static CUcontext primary_of(CUdevice device)
{
	for (CUcontext context = contexts; context < contexts + MAX_CONTEXTS; context++)
		if (context->alive && context->primary && (int)context->device == device)
			return context;
	return NULL;
}

static int retain(CUcontext *context, CUdevice device)
{
	if (device < 0 || (unsigned)device >= driver_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*context = primary_of(device);
	if (!*context)
		*context = new_context((unsigned)device, true);
	if (!*context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*context)->references++;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	return DRIVER_CALL(retain(context, device), "%d", device);
}

static int primary_state(CUdevice device, unsigned *flags, int *active)
{
	if (device < 0 || (unsigned)device >= driver_device_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = 0;
	*active = primary_of(device) != NULL;
	return CUDA_SUCCESS;
}

/* Not logged: it is called too often. */
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	return (CUresult)(driver_ready() ?: primary_state(device, flags, active));
}

static int release(CUdevice device)
{
	CUcontext context = primary_of(device);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return --context->references ? CUDA_SUCCESS : destroy(context);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	return DRIVER_CALL(release(device), "%d", device);
}

static int reset(CUdevice device)
{
	CUcontext context = primary_of(device);

	return context ? destroy(context) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
	return DRIVER_CALL(reset(device), "%d", device);
}

static int current_device(CUdevice *device)
{
	CUcontext context = context_current();

	if (!context_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = (CUdevice)context->device;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	return DRIVER_CALL(current_device(device), "%s", "");
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = context_current();
	return DRIVER_CALL(CUDA_SUCCESS, "%s", "");
}

static int set_current(CUcontext context)
{
	if (context && !context_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth)
		depth--;
	return context ? push(context) : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	return DRIVER_CALL(set_current(context), "%u", id_of(context));
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	return DRIVER_CALL(push(context), "%u", id_of(context));
}

static int pop(CUcontext *context)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (context)
		*context = stack[depth];
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
	return DRIVER_CALL(pop(context), "%s", "");
}

static int synchronize(void)
{
	if (!context_alive(context_current()))
		return CUDA_ERROR_INVALID_CONTEXT;
	return capture_spoil() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	return DRIVER_CALL(synchronize(), "%s", "");
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	CUcontext which = context ? context : context_current();

	*id = id_of(which);
	return DRIVER_CALL(*id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT, "%s", "");
}
