/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract: the driver, and its callbacks through CUPTI. */
#include <sys/wait.h>

#include "fake_gpu/contract.h"

CONTRACT_TEST(nothing_works_before_init)
{
	CUdevice device;
	int count;

	load();
	EXPECT_STATUS(api.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_STATUS(api.cuCtxGetDevice(&device), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_STATUS(api.cuInit(1), CUDA_ERROR_INVALID_VALUE);
	OK(api.cuInit(0));
	OK(api.cuInit(0));
	OK(api.cuDeviceGetCount(&count));
	EXPECT(count >= 1, "%d devices", count);
}

CONTRACT_TEST(devices)
{
	char name[64], id[32];
	CUuuid uuid;
	size_t bytes = 0;
	int value, count;

	load();
	OK(api.cuInit(0));
	OK(api.cuDeviceGetCount(&count));
	OK(api.cuDeviceGetName(name, sizeof name, 0));
	EXPECT_STATUS(api.cuDeviceGetName(name, sizeof name, count), CUDA_ERROR_INVALID_DEVICE);
	OK(api.cuDeviceGetPCIBusId(id, sizeof id, 0));
	EXPECT_NUMBER(strlen(id), strlen("0000:02:00.0"));
	OK(api.cuDeviceGetUuid(&uuid, 0));
	OK(api.cuDeviceTotalMem(&bytes, 0));
	EXPECT(bytes > 0, "no memory");
	OK(api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
}

CONTRACT_TEST(contexts)
{
	CUcontext first, second, popped, current;
	CUdevice device = -1;

	load();
	first = make_context();
	OK(api.cuCtxCreate(&second, NULL, 0, 0));
	OK(api.cuCtxGetDevice(&device));
	EXPECT_NUMBER(device, 0);
	OK(api.cuCtxPopCurrent(&popped));
	EXPECT(popped == second, "another context was popped");
	OK(api.cuCtxGetCurrent(&current));
	EXPECT(current == first, "another context is current");
	OK(api.cuCtxPushCurrent(second));
	OK(api.cuCtxSynchronize());
	OK(api.cuCtxDestroy(second));
	OK(api.cuCtxSynchronize());
	OK(api.cuCtxSetCurrent(NULL));
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

CONTRACT_TEST(primary_context)
{
	CUcontext first, second;

	load();
	OK(api.cuInit(0));
	OK(api.cuDevicePrimaryCtxRetain(&first, 0));
	OK(api.cuDevicePrimaryCtxRetain(&second, 0));
	EXPECT(first == second, "two primary contexts");
	OK(api.cuDevicePrimaryCtxRelease(0));
	OK(api.cuCtxSetCurrent(first));
	OK(api.cuDevicePrimaryCtxRelease(0));
	EXPECT(api.cuCtxSynchronize(), "a released context works");
	EXPECT_STATUS(api.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

CONTRACT_TEST(functions_and_kernels)
{
	static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				   ".visible .entry other()\n{\nret;\n}\n";
	CUfunction function = NULL;
	const char *name;
	CUlibrary library;
	CUkernel kernel;
	CUfunction again = NULL;
	CUmodule module;
	int registers = 0, number = 0;

	load();
	make_context();
	OK(api.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, make_kernel()));
	EXPECT(registers > 0, "no registers");
	OK(api.cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	                          make_kernel()));
	EXPECT(number == -1, "a carveout of %d%% is preferred", number);
	OK(api.cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
	                          make_kernel()));
	EXPECT(number == 0, "a cluster of %d is required", number);
	OK(api.cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	EXPECT_STATUS(api.cuLibraryGetKernel(&kernel, library, "none"), CUDA_ERROR_NOT_FOUND);
	OK(api.cuLibraryGetKernel(&kernel, library, "other"));
	OK(api.cuKernelGetFunction(&function, kernel));
	OK(api.cuFuncGetName(&name, function));
	EXPECT_TEXT(name, "other");
	OK(api.cuModuleLoadData(&module, code));
	OK(api.cuModuleGetFunction(&function, module, "other"));
	OK(api.cuModuleGetFunction(&again, module, "other"));
	EXPECT(function == again, "a function has two handles");
	OK(launch_kernel((CUfunction)kernel, NULL));
	EXPECT(launch_kernel(NULL, NULL), "no kernel was launched, with success");
}

CONTRACT_TEST(events)
{
	CUevent before, after;
	CUfunction kernel;
	float ms = 0;

	load();
	make_context();
	kernel = make_kernel();
	OK(api.cuEventCreate(&before, 0));
	OK(api.cuEventCreate(&after, 0));
	OK(api.cuEventRecord(before, NULL));
	EXPECT_STATUS(api.cuEventElapsedTime(&ms, before, after), CUDA_ERROR_INVALID_HANDLE);
	OK(launch_kernel(kernel, NULL));
	OK(api.cuEventRecord(after, NULL));
	OK(api.cuEventSynchronize(after));
	OK(api.cuEventElapsedTime(&ms, before, after));
	EXPECT(ms > 0, "%g ms", (double)ms);
	OK(api.cuEventDestroy(before));
	OK(api.cuEventDestroy(after));
}

CONTRACT_TEST(capture)
{
	CUstreamCaptureStatus status;
	CUfunction kernel;
	CUgraphExec exec;
	CUstream stream;
	CUgraph graph;

	load();
	make_context();
	kernel = make_kernel();
	OK(api.cuStreamCreate(&stream, 0));
	EXPECT_STATUS(api.cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
	              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(api.cuStreamIsCapturing(stream, &status));
	EXPECT_NUMBER(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(launch_kernel(kernel, stream));
	OK(api.cuStreamEndCapture(stream, &graph));
	OK(api.cuGraphInstantiate(&exec, graph, 0));
	OK(api.cuGraphLaunch(exec, NULL));
}

CONTRACT_TEST(capture_is_spoilt)
{
	CUstreamCaptureStatus status;
	CUstream stream;
	CUgraph graph;

	load();
	make_context();
	OK(api.cuStreamCreate(&stream, 0));
	OK(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_STATUS(api.cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	EXPECT_STATUS(api.cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(api.cuStreamIsCapturing(stream, &status));
	EXPECT_NUMBER(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EXPECT_STATUS(api.cuStreamEndCapture(stream, &graph),
	              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CONTRACT_TEST(child_of_a_user_has_no_cuda)
{
	int status;

	load();
	make_context();
	if (!fork())
		_exit(api.cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
	wait(&status);
	EXPECT_NUMBER(status, 0);
}

CONTRACT_TEST(symbols_by_name)
{
	CUdriverProcAddressQueryResult result;
	void *function = NULL;

	load();
	OK(api.cuInit(0));
	OK(api.cuGetProcAddress("cuCtxDestroy", &function, 12000, 0, &result));
	EXPECT(function, "no cuCtxDestroy");
	api.cuGetProcAddress("cuNothing", &function, 12000, 0, &result);
	EXPECT_NUMBER(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* The callbacks that the subscriber received, one a line. */
static char heard[4096];

/* A real driver makes more callbacks than the fake. */
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

	OK(api.cuptiSubscribe(&subscriber, hear, data));
	heard[0] = '\0';
	return subscriber;
}

CONTRACT_TEST(one_subscriber)
{
	CUpti_SubscriberHandle first, second;

	load();
	first = subscribe();
	EXPECT_STATUS(api.cuptiSubscribe(&second, hear, NULL),
	              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	OK(api.cuptiUnsubscribe(first));
	OK(api.cuptiSubscribe(&second, hear, NULL));
}

CONTRACT_TEST(resource_callbacks)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	load();
	subscriber = subscribe();
	OK(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE));
	context = make_context();
	OK(api.cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
	                           CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
	make_context();
	OK(api.cuCtxDestroy(context));
	EXPECT_TEXT(heard, "resource 5\nresource 1\nresource 2\n");
}

/* The graph is made first, so that the subscriber receives its capture's callbacks, too. */
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

	OK(api.cuStreamCreate(&stream, 0));
	OK(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(launch_kernel(kernel, stream));
	OK(api.cuStreamEndCapture(stream, &graph));
	OK(api.cuGraphInstantiate(&exec, graph, 0));
	OK(api.cuGraphLaunch(exec, NULL));
	OK(api.cuLaunchKernelEx(&config, kernel, NULL, NULL));
	OK(api.cuLaunchCooperativeKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
	config.blockDimX = 2048;
	EXPECT_STATUS(api.cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

CONTRACT_TEST(launch_callbacks)
{
	CUpti_SubscriberHandle subscriber;
	CUfunction kernel;

	load();
	subscriber = subscribe();
	make_context();
	kernel = make_kernel();
	launch_each_way(kernel);
	EXPECT_TEXT(heard, "");
	OK(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	launch_each_way(kernel);
	EXPECT_TEXT(heard, "cuStreamBeginCapture_v2(\n0)\n"
	                   "cuLaunchKernel(kernel\n0)\n"
	                   "cuStreamEndCapture(\n0)\n"
	                   "cuGraphLaunch(\n0)\n"
	                   "cuLaunchKernelEx(kernel\n0)\n"
	                   "cuLaunchCooperativeKernel(kernel\n0)\n"
	                   "cuLaunchKernelEx(kernel\n1)\n");
	OK(api.cuptiUnsubscribe(subscriber));
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

CONTRACT_TEST(what_a_launch_says)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	load();
	context = make_context();
	OK(api.cuptiSubscribe(&subscriber, look, &context));
	OK(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
	                           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	OK(launch_kernel(make_kernel(), NULL));
	OK(launch_kernel(make_kernel(), NULL));
}

CONTRACT_TEST(ids)
{
	uint32_t version, first, second, id;
	CUcontext context;
	CUstream stream;
	uint64_t time = 0;
	const char *text;

	load();
	context = make_context();
	OK(api.cuptiGetVersion(&version));
	EXPECT(version > 0, "no version");
	OK(api.cuptiGetDeviceId(context, &id));
	EXPECT_NUMBER(id, 0);
	OK(api.cuStreamCreate(&stream, 0));
	OK(api.cuptiGetStreamIdEx(context, NULL, 0, &first));
	OK(api.cuptiGetStreamIdEx(context, NULL, 1, &second));
	EXPECT(first != second, "default streams have one id");
	OK(api.cuptiGetStreamIdEx(context, stream, 0, &second));
	EXPECT(first != second, "two streams have one id");
	OK(api.cuptiGetTimestamp(&time));
	EXPECT(time > 0, "no time");
	OK(api.cuptiGetResultString(CUPTI_ERROR_INVALID_DEVICE, &text));
	EXPECT_TEXT(text, "CUPTI_ERROR_INVALID_DEVICE");
	EXPECT_STATUS(api.cuptiGetResultString(12345, &text), CUPTI_ERROR_INVALID_PARAMETER);
}
