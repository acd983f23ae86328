/* SPDX-License-Identifier: BSD-2-Clause */
/* For the fake's own tests: its libraries loaded as programs load them, and a test table's rows. */
#ifndef FAKE_API_H
#define FAKE_API_H

#include <check.h>
#include <cuda.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define FAKE_DRIVER_SYMBOLS(X)                                                                     \
	X(cuInit)                                                                                  \
	X(cuDeviceGetCount)                                                                        \
	X(cuDeviceGetName)                                                                         \
	X(cuDeviceGetUuid)                                                                         \
	X(cuDeviceGetAttribute)                                                                    \
	X(cuDeviceGetPCIBusId)                                                                     \
	X(cuDeviceTotalMem)                                                                        \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuDevicePrimaryCtxRelease)                                                               \
	X(cuCtxCreate)                                                                             \
	X(cuCtxDestroy)                                                                            \
	X(cuCtxGetCurrent)                                                                         \
	X(cuCtxGetDevice)                                                                          \
	X(cuCtxSetCurrent)                                                                         \
	X(cuCtxPushCurrent)                                                                        \
	X(cuCtxPopCurrent)                                                                         \
	X(cuCtxSynchronize)                                                                        \
	X(cuStreamCreate)                                                                          \
	X(cuStreamIsCapturing)                                                                     \
	X(cuStreamBeginCapture)                                                                    \
	X(cuStreamEndCapture)                                                                      \
	X(cuStreamGetCtx)                                                                          \
	X(cuGraphInstantiate)                                                                      \
	X(cuModuleLoadData)                                                                        \
	X(cuModuleGetFunction)                                                                     \
	X(cuLibraryLoadData)                                                                       \
	X(cuLibraryGetKernel)                                                                      \
	X(cuKernelGetFunction)                                                                     \
	X(cuFuncGetName)                                                                           \
	X(cuFuncGetAttribute)                                                                      \
	X(cuEventCreate)                                                                           \
	X(cuEventRecord)                                                                           \
	X(cuEventSynchronize)                                                                      \
	X(cuEventElapsedTime)                                                                      \
	X(cuEventDestroy)                                                                          \
	X(cuGetProcAddress)                                                                        \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuGraphLaunch)

#define FAKE_CUPTI_SYMBOLS(X)                                                                      \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiEnableDomain)                                                                       \
	X(cuptiGetVersion)                                                                         \
	X(cuptiGetResultString)                                                                    \
	X(cuptiGetStreamIdEx)                                                                      \
	X(cuptiGetContextId)                                                                       \
	X(cuptiGetDeviceId)                                                                        \
	X(cuptiGetTimestamp)

/* Those with a parameter struct, and its name. */
#define FAKE_CUPTI_CALLS(X)                                                                        \
	X(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params)                                 \
	X(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)                               \
	X(cuptiProfilerDeInitialize, CUpti_Profiler_DeInitialize_Params)                           \
	X(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params)                     \
	X(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params)       \
	X(cuptiProfilerCounterDataImageCalculateSize,                                              \
	  CUpti_Profiler_CounterDataImage_CalculateSize_Params)                                    \
	X(cuptiProfilerCounterDataImageInitialize,                                                 \
	  CUpti_Profiler_CounterDataImage_Initialize_Params)                                       \
	X(cuptiProfilerCounterDataImageCalculateScratchBufferSize,                                 \
	  CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params)                       \
	X(cuptiProfilerCounterDataImageInitializeScratchBuffer,                                    \
	  CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params)                          \
	X(cuptiProfilerBeginSession, CUpti_Profiler_BeginSession_Params)                           \
	X(cuptiProfilerSetConfig, CUpti_Profiler_SetConfig_Params)                                 \
	X(cuptiProfilerBeginPass, CUpti_Profiler_BeginPass_Params)                                 \
	X(cuptiProfilerEnableProfiling, CUpti_Profiler_EnableProfiling_Params)                     \
	X(cuptiProfilerPushRange, CUpti_Profiler_PushRange_Params)                                 \
	X(cuptiProfilerPopRange, CUpti_Profiler_PopRange_Params)                                   \
	X(cuptiProfilerDisableProfiling, CUpti_Profiler_DisableProfiling_Params)                   \
	X(cuptiProfilerEndPass, CUpti_Profiler_EndPass_Params)                                     \
	X(cuptiProfilerFlushCounterData, CUpti_Profiler_FlushCounterData_Params)                   \
	X(cuptiProfilerUnsetConfig, CUpti_Profiler_UnsetConfig_Params)                             \
	X(cuptiProfilerEndSession, CUpti_Profiler_EndSession_Params)                               \
	X(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params)                             \
	X(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params)                           \
	X(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)                       \
	X(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params)                               \
	X(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params)                                 \
	X(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params)                       \
	X(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params)                         \
	X(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)                     \
	X(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params)     \
	X(cuptiRangeProfilerCounterDataGetRangeInfo,                                               \
	  CUpti_RangeProfiler_CounterData_GetRangeInfo_Params)                                     \
	X(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params)                                   \
	X(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params)                                 \
	X(cuptiPmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params)                             \
	X(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params)                                     \
	X(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params)                                       \
	X(cuptiPmSamplingDecodeData, CUpti_PmSampling_DecodeData_Params)                           \
	X(cuptiPmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params)   \
	X(cuptiPmSamplingGetCounterDataSize, CUpti_PmSampling_GetCounterDataSize_Params)           \
	X(cuptiPmSamplingCounterDataImageInitialize,                                               \
	  CUpti_PmSampling_CounterDataImage_Initialize_Params)                                     \
	X(cuptiPmSamplingGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params)           \
	X(cuptiPmSamplingCounterDataGetSampleInfo,                                                 \
	  CUpti_PmSampling_CounterData_GetSampleInfo_Params)

/* Each test runs in a process of its own, so each loads the libraries anew. */
static struct {
#define X(symbol) __typeof__(symbol) *symbol;
	FAKE_DRIVER_SYMBOLS(X)
	FAKE_CUPTI_SYMBOLS(X)
#undef X
#define X(symbol, params) __typeof__(symbol) *symbol;
	FAKE_CUPTI_CALLS(X)
#undef X
} api;

static inline void *fake_symbol(void *library, const char *symbol)
{
	void *function = dlsym(library, symbol);

	ck_assert_msg(function != NULL, "no %s", symbol);
	return function;
}

#define FAKE_TEXT(symbol) FAKE_TEXT_(symbol)
#define FAKE_TEXT_(symbol) #symbol

static inline void fake_load(void)
{
	void *driver = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
	void *cupti = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(driver && cupti, "%s", dlerror());
#define X(symbol) api.symbol = (__typeof__(api.symbol))fake_symbol(driver, FAKE_TEXT(symbol));
	FAKE_DRIVER_SYMBOLS(X)
#undef X
#define X(symbol) api.symbol = (__typeof__(api.symbol))fake_symbol(cupti, #symbol);
	FAKE_CUPTI_SYMBOLS(X)
#undef X
#define X(symbol, params) api.symbol = (__typeof__(api.symbol))fake_symbol(cupti, #symbol);
	FAKE_CUPTI_CALLS(X)
#undef X
}

#define ck_status(call, wanted)                                                                    \
	do {                                                                                       \
		int ck_status_ = (int)(call);                                                      \
		ck_assert_msg(ck_status_ == (int)(wanted), "%s: %d, not %d", #call, ck_status_,    \
		              (int)(wanted));                                                      \
	} while (0)

/* A call with the struct of that type; members follow. */
#define CALL(symbol, type, ...)                                                                    \
	api.symbol(&(CUpti_##type##_Params){ .structSize = CUpti_##type##_Params_STRUCT_SIZE,      \
	                                     ##__VA_ARGS__ })

/* The driver is up, a context is current, and a kernel is at hand. */
static inline CUcontext fake_context(void)
{
	CUcontext context = NULL;

	ck_status(api.cuInit(0), 0);
	ck_status(api.cuCtxCreate(&context, NULL, 0, 0), 0);
	return context;
}

static inline CUfunction fake_kernel(void)
{
	CUfunction function = NULL;
	CUmodule module;

	ck_status(api.cuModuleLoadData(&module, ".visible .entry kernel() { ret; }"), 0);
	ck_status(api.cuModuleGetFunction(&function, module, "kernel"), 0);
	return function;
}

static inline CUresult fake_launch(CUfunction function, CUstream stream)
{
	return api.cuLaunchKernel(function, 2, 3, 4, 32, 2, 1, 100, stream, NULL, NULL);
}

/* What the command line of a libcheck program does. */
static inline int fake_run(TCase *tests, const char *name)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
