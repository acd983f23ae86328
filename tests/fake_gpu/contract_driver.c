/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract: the driver, and the callbacks that it gives through CUPTI. */
#include <sys/wait.h>

#include "fake_gpu/contract.h"

static void test_nothing_works_before_init(void)
{
	CUdevice device;
	int count;

	load();
	EXPECT_STATUS(api.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_STATUS(api.cuCtxGetDevice(&device), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_STATUS(api.cuInit(1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_STATUS(api.cuInit(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuInit(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDeviceGetCount(&count), CUDA_SUCCESS);
	EXPECT(count >= 1, "%d devices", count);
}

static void test_devices(void)
{
	char name[64], id[32];
	CUuuid uuid;
	size_t bytes = 0;
	int value, count;

	load();
	EXPECT_STATUS(api.cuInit(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDeviceGetCount(&count), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDeviceGetName(name, sizeof name, count), CUDA_ERROR_INVALID_DEVICE);
	EXPECT_STATUS(api.cuDeviceGetPCIBusId(id, sizeof id, 0), CUDA_SUCCESS);
	EXPECT_NUMBER(strlen(id), strlen("0000:02:00.0"));
	EXPECT_STATUS(api.cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
	EXPECT(bytes > 0, "no memory");
	EXPECT_STATUS(api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
	                                       0),
	              CUDA_SUCCESS);
}

static void test_contexts(void)
{
	CUcontext first, second, popped, current;
	CUdevice device = -1;

	load();
	first = make_context();
	EXPECT_STATUS(api.cuCtxCreate(&second, NULL, 0, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxGetDevice(&device), CUDA_SUCCESS);
	EXPECT_NUMBER(device, 0);
	EXPECT_STATUS(api.cuCtxPopCurrent(&popped), CUDA_SUCCESS);
	EXPECT(popped == second, "another context was popped");
	EXPECT_STATUS(api.cuCtxGetCurrent(&current), CUDA_SUCCESS);
	EXPECT(current == first, "another context is current");
	EXPECT_STATUS(api.cuCtxPushCurrent(second), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxDestroy(second), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

static void test_primary_context(void)
{
	CUcontext first, second;

	load();
	EXPECT_STATUS(api.cuInit(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
	EXPECT(first == second, "two primary contexts");
	EXPECT_STATUS(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuCtxSetCurrent(first), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
	EXPECT(api.cuCtxSynchronize(), "a released context works");
	EXPECT_STATUS(api.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

static void test_functions_and_kernels(void)
{
	static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				   ".visible .entry other()\n{\nret;\n}\n";
	CUfunction function = NULL;
	const char *name;
	CUlibrary library;
	CUkernel kernel;
	int registers = 0;

	load();
	make_context();
	EXPECT_STATUS(api.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, make_kernel()),
	              CUDA_SUCCESS);
	EXPECT(registers > 0, "no registers");
	EXPECT_STATUS(api.cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0),
	              CUDA_SUCCESS);
	EXPECT_STATUS(api.cuLibraryGetKernel(&kernel, library, "none"), CUDA_ERROR_NOT_FOUND);
	EXPECT_STATUS(api.cuLibraryGetKernel(&kernel, library, "other"), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuFuncGetName(&name, function), CUDA_SUCCESS);
	EXPECT_TEXT(name, "other");
	EXPECT_STATUS(launch_kernel((CUfunction)kernel, NULL), CUDA_SUCCESS);
	EXPECT(launch_kernel(NULL, NULL), "no kernel was launched, with success");
}

static void test_events(void)
{
	CUevent before, after;
	CUfunction kernel;
	float ms = 0;

	load();
	make_context();
	kernel = make_kernel();
	EXPECT_STATUS(api.cuEventCreate(&before, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventCreate(&after, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventRecord(before, NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventElapsedTime(&ms, before, after), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_STATUS(launch_kernel(kernel, NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventRecord(after, NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventSynchronize(after), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventElapsedTime(&ms, before, after), CUDA_SUCCESS);
	EXPECT(ms > 0, "%g ms", (double)ms);
	EXPECT_STATUS(api.cuEventDestroy(before), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuEventDestroy(after), CUDA_SUCCESS);
}

static void test_capture(void)
{
	CUstreamCaptureStatus status;
	CUfunction kernel;
	CUgraphExec exec;
	CUstream stream;
	CUgraph graph;

	load();
	make_context();
	kernel = make_kernel();
	EXPECT_STATUS(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_STATUS(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
	EXPECT_NUMBER(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EXPECT_STATUS(launch_kernel(kernel, stream), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
}

static void test_capture_is_spoilt(void)
{
	CUstreamCaptureStatus status;
	CUstream stream;
	CUgraph graph;

	load();
	make_context();
	EXPECT_STATUS(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_STATUS(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
	EXPECT_NUMBER(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph),
	              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void test_child_of_a_user_has_no_cuda(void)
{
	int status;

	load();
	make_context();
	if (!fork())
		_exit(api.cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
	wait(&status);
	EXPECT_NUMBER(status, 0);
}

static void test_symbols_by_name(void)
{
	CUdriverProcAddressQueryResult result;
	void *function = NULL;

	load();
	EXPECT_STATUS(api.cuInit(0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuGetProcAddress("cuCtxDestroy", &function, 12000, 0, &result), 0);
	EXPECT(function, "no cuCtxDestroy");
	api.cuGetProcAddress("cuNothing", &function, 12000, 0, &result);
	EXPECT_NUMBER(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* What the subscriber hears, one line a callback. */
static char heard[4096];

/* A real driver calls back for more than the fake does. */
static bool in_contract(const CUpti_CallbackData *call)
{
	static const char *const names[] = {
		"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuLaunchKernel",
		"cuLaunchKernelEx",        "cuGraphLaunch",      "cuLaunchCooperativeKernel"
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(call->functionName, names[i]))
			return true;
	return false;
}

static void CUPTIAPI hear(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *details)
{
	const CUpti_CallbackData *call = details;
	size_t used = strlen(heard);

	EXPECT_TEXT(data, "data");
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		if (id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED
		    || id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED
		    || id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
			snprintf(heard + used, sizeof heard - used, "resource %u\n", id);
	} else if (!in_contract(call)) {
		return;
	} else if (call->callbackSite == CUPTI_API_ENTER) {
		snprintf(heard + used, sizeof heard - used, "%s(%s\n", call->functionName,
		         call->symbolName ? call->symbolName : "");
	} else {
		snprintf(heard + used, sizeof heard - used, "%d)\n",
		         *(CUresult *)call->functionReturnValue);
	}
}

static CUpti_SubscriberHandle subscribe(void)
{
	static char data[] = "data";
	CUpti_SubscriberHandle subscriber;

	EXPECT_STATUS(api.cuptiSubscribe(&subscriber, hear, data), CUPTI_SUCCESS);
	heard[0] = '\0';
	return subscriber;
}

static void test_one_subscriber(void)
{
	CUpti_SubscriberHandle first, second;

	load();
	first = subscribe();
	EXPECT_STATUS(api.cuptiSubscribe(&second, hear, NULL),
	              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	EXPECT_STATUS(api.cuptiUnsubscribe(first), CUPTI_SUCCESS);
	EXPECT_STATUS(api.cuptiSubscribe(&second, hear, NULL), CUPTI_SUCCESS);
}

static void test_resource_callbacks(void)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	load();
	subscriber = subscribe();
	EXPECT_STATUS(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE),
	              CUPTI_SUCCESS);
	context = make_context();
	EXPECT_STATUS(api.cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
	                                      CUPTI_CBID_RESOURCE_CONTEXT_CREATED),
	              CUPTI_SUCCESS);
	make_context();
	EXPECT_STATUS(api.cuCtxDestroy(context), CUDA_SUCCESS);
	EXPECT_TEXT(heard, "resource 5\nresource 1\nresource 2\n");
}

/* The graph is made first, so that its capture is heard, too. */
static void launch_each_way(CUfunction kernel)
{
	CUlaunchConfig config = {
		.gridDimX = 2,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 64,
		.blockDimY = 1,
		.blockDimZ = 1,
	};
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;

	EXPECT_STATUS(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_SUCCESS);
	EXPECT_STATUS(launch_kernel(kernel, stream), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuLaunchCooperativeKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL),
	              CUDA_SUCCESS);
	config.blockDimX = 2048;
	EXPECT_STATUS(api.cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void test_launch_callbacks(void)
{
	CUpti_SubscriberHandle subscriber;
	CUfunction kernel;

	load();
	subscriber = subscribe();
	make_context();
	kernel = make_kernel();
	launch_each_way(kernel);
	EXPECT_TEXT(heard, "");
	EXPECT_STATUS(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API),
	              CUPTI_SUCCESS);
	launch_each_way(kernel);
	EXPECT_TEXT(heard, "cuStreamBeginCapture_v2(\n0)\n"
	                   "cuLaunchKernel(kernel\n0)\n"
	                   "cuStreamEndCapture(\n0)\n"
	                   "cuGraphLaunch(\n0)\n"
	                   "cuLaunchKernelEx(kernel\n0)\n"
	                   "cuLaunchCooperativeKernel(kernel\n0)\n"
	                   "cuLaunchKernelEx(kernel\n1)\n");
	EXPECT_STATUS(api.cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
	launch_each_way(kernel);
	EXPECT(!strstr(heard, "1)\ncu"), "calls back after cuptiUnsubscribe");
}

static void CUPTIAPI look(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *details)
{
	const CUpti_CallbackData *call = details;
	const cuLaunchKernel_params *params = call->functionParams;

	EXPECT_NUMBER(domain, CUPTI_CB_DOMAIN_DRIVER_API);
	EXPECT_NUMBER(id, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	EXPECT_NUMBER(params->gridDimZ, 4);
	EXPECT_NUMBER(params->blockDimY, 2);
	EXPECT_NUMBER(params->sharedMemBytes, 100);
	EXPECT(call->context == *(CUcontext *)data, "another context");
	if (call->callbackSite == CUPTI_API_ENTER)
		*call->correlationData = call->correlationId + 7;
	else
		EXPECT_NUMBER(*call->correlationData, call->correlationId + 7);
}

static void test_what_a_launch_says(void)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	load();
	context = make_context();
	EXPECT_STATUS(api.cuptiSubscribe(&subscriber, look, &context), CUPTI_SUCCESS);
	EXPECT_STATUS(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
	                                      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
	              CUPTI_SUCCESS);
	EXPECT_STATUS(launch_kernel(make_kernel(), NULL), CUDA_SUCCESS);
	EXPECT_STATUS(launch_kernel(make_kernel(), NULL), CUDA_SUCCESS);
}

static void test_ids(void)
{
	uint32_t version, first, second, id;
	CUcontext context;
	CUstream stream;
	uint64_t time = 0;
	const char *text;

	load();
	context = make_context();
	EXPECT_STATUS(api.cuptiGetVersion(&version), CUPTI_SUCCESS);
	EXPECT(version > 0, "no version");
	EXPECT_STATUS(api.cuptiGetDeviceId(context, &id), CUPTI_SUCCESS);
	EXPECT_NUMBER(id, 0);
	EXPECT_STATUS(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	EXPECT_STATUS(api.cuptiGetStreamIdEx(context, NULL, 0, &first), CUPTI_SUCCESS);
	EXPECT_STATUS(api.cuptiGetStreamIdEx(context, NULL, 1, &second), CUPTI_SUCCESS);
	EXPECT(first != second, "default streams have one id");
	EXPECT_STATUS(api.cuptiGetStreamIdEx(context, stream, 0, &second), CUPTI_SUCCESS);
	EXPECT(first != second, "two streams have one id");
	EXPECT_STATUS(api.cuptiGetTimestamp(&time), CUPTI_SUCCESS);
	EXPECT(time > 0, "no time");
	EXPECT_STATUS(api.cuptiGetResultString(CUPTI_ERROR_INVALID_DEVICE, &text), CUPTI_SUCCESS);
	EXPECT_TEXT(text, "CUPTI_ERROR_INVALID_DEVICE");
	EXPECT_STATUS(api.cuptiGetResultString(12345, &text), CUPTI_ERROR_INVALID_PARAMETER);
}

#define ROW(test)                                                                                  \
	{                                                                                          \
#test, test_##test                                                                 \
	}

const struct contract_test driver_tests[] = {
	ROW(nothing_works_before_init),
	ROW(devices),
	ROW(contexts),
	ROW(primary_context),
	ROW(functions_and_kernels),
	ROW(events),
	ROW(capture),
	ROW(capture_is_spoilt),
	ROW(child_of_a_user_has_no_cuda),
	ROW(symbols_by_name),
	ROW(one_subscriber),
	ROW(resource_callbacks),
	ROW(launch_callbacks),
	ROW(what_a_launch_says),
	ROW(ids),
	{ NULL, NULL },
};
