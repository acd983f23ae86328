/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between the fake GPU and a real one: tests that hold on both. They need no library,
 * so that they can be built wherever gcc and CUDA's headers are.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <cuda.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define DRIVER_SYMBOLS(X)                                                                          \
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
	X(cuMemAlloc)                                                                              \
	X(cuMemcpyDtoDAsync)                                                                       \
	X(cuGetProcAddress)                                                                        \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuGraphLaunch)

#define CUPTI_SYMBOLS(X)                                                                           \
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

/* Functions that take a parameter struct, and the struct's name. */
#define CUPTI_CALLS(X)                                                                             \
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

/* Each test runs in a process of its own, and loads the libraries with load(). */
extern struct contract_api {
#define X(symbol) __typeof__(symbol) *symbol;
	DRIVER_SYMBOLS(X)
	CUPTI_SYMBOLS(X)
#undef X
#define X(symbol, params) __typeof__(symbol) *symbol;
	CUPTI_CALLS(X)
#undef X
	void *perfworks; /* NULL: no library */
} api;

struct contract_test {
	const char *name;
	void (*run)(void);
	struct contract_test *next;
};

/* Called before main(). */
void know_contract_test(struct contract_test *test);

#define CONTRACT_TEST(name_)                                                                       \
	static void test_##name_(void);                                                            \
	static void __attribute__((constructor)) know_##name_(void)                                \
	{                                                                                          \
		static struct contract_test test = { #name_, test_##name_, NULL };                 \
                                                                                                   \
		know_contract_test(&test);                                                         \
	}                                                                                          \
	static void test_##name_(void)

#define EXPECT(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                            \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define EXPECT_NUMBER(value, wanted)                                                               \
	do {                                                                                       \
		long long value_ = (long long)(value), wanted_ = (long long)(wanted);              \
		EXPECT(value_ == wanted_, "%s is %lld, not %lld", #value, value_, wanted_);        \
	} while (0)
#define EXPECT_TEXT(value, wanted)                                                                 \
	do {                                                                                       \
		const char *value_ = (value), *wanted_ = (wanted);                                 \
		EXPECT(!strcmp(value_, wanted_), "'%s', not '%s'", value_, wanted_);               \
	} while (0)
/* Checks the status that a call returns. */
#define EXPECT_STATUS(call, wanted)                                                                \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		EXPECT(status_ == (int)(wanted), "%s: %d, not %d", #call, status_, (int)(wanted)); \
	} while (0)

#define OK(call) EXPECT_STATUS(call, 0)

/* A parameter struct of that type; members follow. */
#define PARAMS(type, ...)                                                                          \
	{                                                                                          \
		.structSize = CUpti_##type##_Params_STRUCT_SIZE, ##__VA_ARGS__                     \
	}
/* Calls a function with such a struct. */
#define CALL(symbol, type, ...) api.symbol(&(CUpti_##type##_Params)PARAMS(type, ##__VA_ARGS__))

void load(void);
/* Starts the driver and makes a context current. */
CUcontext make_context(void);
CUfunction make_kernel(void);
CUresult launch_kernel(CUfunction function, CUstream stream);

/* A file's bytes; the fake accepts any. */
struct bytes {
	uint8_t *data;
	size_t size;
};

/* Config image and prefix of a set that needs 1 or 2 passes; 0: of the set for PM sampling. */
struct bytes config_of(unsigned passes);
struct bytes prefix_of(unsigned passes);
/* The one metric of the PM set. */
#define PM_METRIC "sm__cycles_active.avg"

#endif
