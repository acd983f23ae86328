/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake driver, and the callbacks that it gives through the fake CUPTI. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_gpu/fake_api.h"

START_TEST(test_nothing_works_before_init)
{
	CUdevice device;
	int count;

	fake_load();
	ck_status(api.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	ck_status(api.cuCtxGetDevice(&device), CUDA_ERROR_NOT_INITIALIZED);
	ck_status(api.cuInit(1), CUDA_ERROR_INVALID_VALUE);
	ck_status(api.cuInit(0), CUDA_SUCCESS);
	ck_status(api.cuInit(0), CUDA_SUCCESS);
	ck_status(api.cuDeviceGetCount(&count), CUDA_SUCCESS);
	ck_assert_int_eq(count, 1);
}
END_TEST

START_TEST(test_devices)
{
	char name[64], id[32];
	CUuuid first, second;
	size_t bytes;
	int value;

	setenv("FAKE_GPU_DEVICES", "2", 1);
	setenv("FAKE_GPU_CHIP", "GB202,AD102", 1);
	fake_load();
	ck_status(api.cuInit(0), CUDA_SUCCESS);
	ck_status(api.cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
	ck_assert_str_eq(name, "NVIDIA Fake AD102");
	ck_status(api.cuDeviceGetName(name, sizeof name, 2), CUDA_ERROR_INVALID_DEVICE);
	ck_status(api.cuDeviceGetPCIBusId(id, sizeof id, 1), CUDA_SUCCESS);
	ck_assert_str_eq(id, "0000:02:00.0");
	ck_status(api.cuDeviceGetUuid(&first, 0), CUDA_SUCCESS);
	ck_status(api.cuDeviceGetUuid(&second, 1), CUDA_SUCCESS);
	ck_assert(memcmp(&first, &second, sizeof first));
	ck_status(api.cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
	ck_assert_uint_gt(bytes, 0);
	ck_status(api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
	          CUDA_SUCCESS);
	ck_assert_int_eq(value, 12);
}
END_TEST

START_TEST(test_contexts)
{
	CUcontext first, second, popped, current;
	CUdevice device = -1;

	setenv("FAKE_GPU_DEVICES", "2", 1);
	fake_load();
	first = fake_context();
	ck_status(api.cuCtxCreate(&second, NULL, 0, 1), CUDA_SUCCESS);
	ck_status(api.cuCtxGetDevice(&device), CUDA_SUCCESS);
	ck_assert_int_eq(device, 1);
	ck_status(api.cuCtxPopCurrent(&popped), CUDA_SUCCESS);
	ck_assert_ptr_eq(popped, second);
	ck_status(api.cuCtxGetCurrent(&current), CUDA_SUCCESS);
	ck_assert_ptr_eq(current, first);
	ck_status(api.cuCtxPushCurrent(second), CUDA_SUCCESS);
	ck_status(api.cuCtxDestroy(second), CUDA_SUCCESS);
	ck_status(api.cuCtxDestroy(second), CUDA_ERROR_INVALID_CONTEXT);
	ck_status(api.cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
	ck_status(api.cuCtxCreate(&current, NULL, 0, 0), CUDA_SUCCESS);
	ck_assert_ptr_eq(current, second);
	ck_status(api.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
	ck_status(api.cuCtxSynchronize(), CUDA_SUCCESS);
}
END_TEST

START_TEST(test_primary_context)
{
	CUcontext first, second;

	fake_load();
	ck_status(api.cuInit(0), CUDA_SUCCESS);
	ck_status(api.cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
	ck_status(api.cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
	ck_assert_ptr_eq(first, second);
	ck_status(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
	ck_status(api.cuCtxSetCurrent(first), CUDA_SUCCESS);
	ck_status(api.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
	ck_status(api.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	ck_status(api.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(test_functions_and_kernels)
{
	CUfunction function = NULL;
	const char *name;
	CUlibrary library;
	CUkernel kernel;
	int registers = 0;

	fake_load();
	fake_context();
	ck_status(api.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, fake_kernel()),
	          CUDA_SUCCESS);
	ck_assert_int_gt(registers, 0);
	ck_status(api.cuLibraryLoadData(&library, ".entry other()", NULL, NULL, 0, NULL, NULL, 0),
	          CUDA_SUCCESS);
	ck_status(api.cuLibraryGetKernel(&kernel, library, "none"), CUDA_ERROR_NOT_FOUND);
	ck_status(api.cuLibraryGetKernel(&kernel, library, "other"), CUDA_SUCCESS);
	ck_status(api.cuFuncGetName(&name, (CUfunction)kernel), CUDA_ERROR_INVALID_HANDLE);
	ck_status(api.cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
	ck_status(api.cuFuncGetName(&name, function), CUDA_SUCCESS);
	ck_assert_str_eq(name, "other");
	ck_status(api.cuKernelGetFunction(&function, (CUkernel)function),
	          CUDA_ERROR_INVALID_HANDLE);
	ck_status(fake_launch((CUfunction)kernel, NULL), CUDA_SUCCESS);
	ck_status(fake_launch(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(test_events_measure_kernels)
{
	CUevent before, after;
	CUfunction kernel;
	float ms = 0;

	setenv("FAKE_GPU_KERNEL_NS", "1500000", 1);
	fake_load();
	fake_context();
	kernel = fake_kernel();
	ck_status(api.cuEventCreate(&before, 0), CUDA_SUCCESS);
	ck_status(api.cuEventCreate(&after, 0), CUDA_SUCCESS);
	ck_status(api.cuEventRecord(before, NULL), CUDA_SUCCESS);
	ck_status(api.cuEventElapsedTime(&ms, before, after), CUDA_ERROR_INVALID_HANDLE);
	ck_status(fake_launch(kernel, NULL), CUDA_SUCCESS);
	ck_status(fake_launch(kernel, NULL), CUDA_SUCCESS);
	ck_status(api.cuEventRecord(after, NULL), CUDA_SUCCESS);
	ck_status(api.cuEventSynchronize(after), CUDA_SUCCESS);
	ck_status(api.cuEventElapsedTime(&ms, before, after), CUDA_SUCCESS);
	ck_assert_float_eq(ms, 3);
	ck_status(api.cuEventDestroy(before), CUDA_SUCCESS);
	ck_status(api.cuEventDestroy(after), CUDA_SUCCESS);
}
END_TEST

START_TEST(test_capture)
{
	CUstreamCaptureStatus status;
	CUfunction kernel;
	CUgraphExec exec;
	CUstream stream;
	CUgraph graph;

	fake_load();
	fake_context();
	kernel = fake_kernel();
	ck_status(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	ck_status(api.cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
	          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ck_status(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
	ck_status(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
	ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	ck_status(api.cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	ck_status(fake_launch(kernel, stream), CUDA_SUCCESS);
	ck_status(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
	ck_status(api.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
	ck_status(api.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);

	ck_status(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
	ck_status(api.cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ck_status(api.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
	ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	ck_status(api.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(test_child_of_a_user_has_no_cuda)
{
	CUcontext context;
	int status;

	fake_load();
	fake_context();
	if (!fork())
		_exit(api.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
		                      && api.cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED
		              ? 0
		              : 1);
	wait(&status);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_symbols_by_name)
{
	CUdriverProcAddressQueryResult result;
	void *function;

	fake_load();
	ck_status(api.cuGetProcAddress("cuCtxDestroy", &function, 12000, 0, &result), 0);
	ck_assert_ptr_eq(function, (void *)(uintptr_t)api.cuCtxDestroy);
	ck_status(api.cuGetProcAddress("cuNothing", &function, 12000, 0, &result),
	          CUDA_ERROR_NOT_FOUND);
	ck_assert_int_eq(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}
END_TEST

/* What the subscriber was told, one line a callback. */
static char told[4096];

static void CUPTIAPI tell(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *details)
{
	const CUpti_CallbackData *call = details;
	size_t used = strlen(told);

	ck_assert_str_eq(data, "data");
	if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		snprintf(told + used, sizeof told - used, "resource %u\n", id);
	else if (call->callbackSite == CUPTI_API_ENTER)
		snprintf(told + used, sizeof told - used, "%s(%s\n", call->functionName,
		         call->symbolName ? call->symbolName : "");
	else
		snprintf(told + used, sizeof told - used, "%d)\n",
		         *(CUresult *)call->functionReturnValue);
}

static CUpti_SubscriberHandle subscribe(void)
{
	static char data[] = "data";
	CUpti_SubscriberHandle subscriber;

	ck_status(api.cuptiSubscribe(&subscriber, tell, data), CUPTI_SUCCESS);
	told[0] = '\0';
	return subscriber;
}

START_TEST(test_one_subscriber)
{
	CUpti_SubscriberHandle first, second;

	fake_load();
	first = subscribe();
	ck_status(api.cuptiSubscribe(&second, tell, NULL),
	          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	ck_status(api.cuptiUnsubscribe(first), CUPTI_SUCCESS);
	ck_status(api.cuptiUnsubscribe(first), CUPTI_ERROR_INVALID_PARAMETER);
	setenv("FAKE_GPU_OTHER_PROFILER", "1", 1);
	ck_status(api.cuptiSubscribe(&second, tell, NULL),
	          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}
END_TEST

START_TEST(test_resource_callbacks)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	fake_load();
	subscriber = subscribe();
	ck_status(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE), CUPTI_SUCCESS);
	context = fake_context();
	ck_status(api.cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
	                                  CUPTI_CBID_RESOURCE_CONTEXT_CREATED),
	          CUPTI_SUCCESS);
	fake_context();
	ck_status(api.cuCtxDestroy(context), CUDA_SUCCESS);
	ck_assert_str_eq(told, "resource 5\nresource 1\nresource 2\n");
}
END_TEST

/* The graph is made in front, so that its capture is told, too. */
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

	ck_status(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	ck_status(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
	ck_status(fake_launch(kernel, stream), CUDA_SUCCESS);
	ck_status(api.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
	ck_status(api.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
	ck_status(api.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
	ck_status(api.cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_SUCCESS);
	ck_status(api.cuLaunchCooperativeKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL),
	          CUDA_SUCCESS);
	config.blockDimX = 2048;
	ck_status(api.cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

START_TEST(test_launch_callbacks)
{
	CUpti_SubscriberHandle subscriber;
	CUfunction kernel;

	fake_load();
	subscriber = subscribe();
	fake_context();
	kernel = fake_kernel();
	launch_each_way(kernel);
	ck_assert_str_eq(told, "");
	ck_status(api.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), CUPTI_SUCCESS);
	launch_each_way(kernel);
	ck_assert_str_eq(told, "cuStreamBeginCapture_v2(\n0)\n"
	                       "cuLaunchKernel(kernel\n0)\n"
	                       "cuStreamEndCapture(\n0)\n"
	                       "cuGraphLaunch(\n0)\n"
	                       "cuLaunchKernelEx(kernel\n0)\n"
	                       "cuLaunchCooperativeKernel(kernel\n0)\n"
	                       "cuLaunchKernelEx(kernel\n1)\n");
	ck_status(api.cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
	launch_each_way(kernel);
	ck_assert_ptr_null(strstr(told, "1)\ncu"));
}
END_TEST

static void CUPTIAPI look(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *details)
{
	const CUpti_CallbackData *call = details;
	const cuLaunchKernel_params *params = call->functionParams;

	ck_assert_int_eq(domain, CUPTI_CB_DOMAIN_DRIVER_API);
	ck_assert_uint_eq(id, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	ck_assert_uint_eq(params->gridDimZ, 4);
	ck_assert_uint_eq(params->blockDimY, 2);
	ck_assert_uint_eq(params->sharedMemBytes, 100);
	ck_assert_ptr_eq(call->context, *(CUcontext *)data);
	ck_assert_uint_eq(call->contextUid, 1);
	if (call->callbackSite == CUPTI_API_ENTER)
		*call->correlationData = call->correlationId + 7;
	else
		ck_assert_uint_eq(*call->correlationData, call->correlationId + 7);
}

START_TEST(test_what_a_launch_tells)
{
	CUpti_SubscriberHandle subscriber;
	CUcontext context;

	fake_load();
	context = fake_context();
	ck_status(api.cuptiSubscribe(&subscriber, look, &context), CUPTI_SUCCESS);
	ck_status(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
	                                  CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
	          CUPTI_SUCCESS);
	ck_status(fake_launch(fake_kernel(), NULL), CUDA_SUCCESS);
	ck_status(fake_launch(fake_kernel(), NULL), CUDA_SUCCESS);
}
END_TEST

START_TEST(test_ids)
{
	uint32_t version, first, second, id;
	CUcontext context;
	CUstream stream;
	uint64_t time = 0;
	const char *text;

	fake_load();
	context = fake_context();
	ck_status(api.cuptiGetVersion(&version), CUPTI_SUCCESS);
	ck_assert_uint_eq(version, CUPTI_API_VERSION);
	ck_status(api.cuptiGetContextId(context, &id), CUPTI_SUCCESS);
	ck_assert_uint_eq(id, 1);
	ck_status(api.cuptiGetDeviceId(context, &id), CUPTI_SUCCESS);
	ck_assert_uint_eq(id, 0);
	ck_status(api.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
	ck_status(api.cuptiGetStreamIdEx(context, NULL, 0, &first), CUPTI_SUCCESS);
	ck_status(api.cuptiGetStreamIdEx(context, NULL, 1, &second), CUPTI_SUCCESS);
	ck_assert_uint_ne(first, second);
	ck_status(api.cuptiGetStreamIdEx(context, stream, 0, &second), CUPTI_SUCCESS);
	ck_assert_uint_ne(first, second);
	ck_status(api.cuptiGetStreamIdEx(context, (CUstream)&id, 0, &second),
	          CUPTI_ERROR_INVALID_STREAM);
	ck_status(api.cuptiGetTimestamp(&time), CUPTI_SUCCESS);
	ck_assert_uint_gt(time, 0);
	ck_status(api.cuptiGetResultString(CUPTI_ERROR_INVALID_DEVICE, &text), CUPTI_SUCCESS);
	ck_assert_str_eq(text, "CUPTI_ERROR_INVALID_DEVICE");
	ck_status(api.cuptiGetResultString(12345, &text), CUPTI_ERROR_INVALID_PARAMETER);
}
END_TEST

START_TEST(test_failures_on_demand)
{
	static const int nth[] = { 0, 999, 0 }, from[] = { 0, 2, 2 };
	CUfunction kernel;
	int count;

	setenv("FAKE_GPU_FAIL", "cuLaunchKernel:999:2,cuDeviceGetCount:2:2+,cuCtxSynchronize:77",
	       1);
	fake_load();
	fake_context();
	kernel = fake_kernel();
	for (size_t i = 0; i < COUNT(nth); i++) {
		ck_status(fake_launch(kernel, NULL), nth[i]);
		ck_status(api.cuDeviceGetCount(&count), from[i]);
		ck_status(api.cuCtxSynchronize(), 77);
	}
}
END_TEST

START_TEST(test_crash_on_demand)
{
	setenv("FAKE_GPU_FAIL", "cuInit:crash", 1);
	fake_load();
	api.cuInit(0);
}
END_TEST

START_TEST(test_log)
{
	char name[] = "/tmp/fake-gpu-XXXXXX", text[512] = "";
	int file = mkstemp(name);

	setenv("FAKE_GPU_LOG", name, 1);
	fake_load();
	fake_context();
	ck_status(fake_launch(fake_kernel(), NULL), CUDA_SUCCESS);
	ck_status(api.cuCtxDestroy(NULL), CUDA_ERROR_INVALID_CONTEXT);
	ck_assert_int_gt(read(file, text, sizeof text - 1), 0);
	unlink(name);
	ck_assert_str_eq(text, "cuInit\ncuCtxCreate_v4 0\ncuModuleLoadData\n"
	                       "cuModuleGetFunction kernel\ncuLaunchKernel kernel\n"
	                       "cuCtxDestroy_v2 0 -> 201\n");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("driver");

	tcase_add_test(tests, test_nothing_works_before_init);
	tcase_add_test(tests, test_devices);
	tcase_add_test(tests, test_contexts);
	tcase_add_test(tests, test_primary_context);
	tcase_add_test(tests, test_functions_and_kernels);
	tcase_add_test(tests, test_events_measure_kernels);
	tcase_add_test(tests, test_capture);
	tcase_add_test(tests, test_child_of_a_user_has_no_cuda);
	tcase_add_test(tests, test_symbols_by_name);
	tcase_add_test(tests, test_one_subscriber);
	tcase_add_test(tests, test_resource_callbacks);
	tcase_add_test(tests, test_launch_callbacks);
	tcase_add_test(tests, test_what_a_launch_tells);
	tcase_add_test(tests, test_ids);
	tcase_add_test(tests, test_failures_on_demand);
	tcase_add_test_raise_signal(tests, test_crash_on_demand, SIGABRT);
	tcase_add_test(tests, test_log);
	return fake_run(tests, "fake driver");
}
