/* SPDX-License-Identifier: BSD-2-Clause */
/* CUPTI's and the driver's entry points, found by dlsym(): this library loads without them. */
#ifndef OPK_TARGET_H
#define OPK_TARGET_H

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <time.h>

#include "container/door.h"

/*
 * Structs that have grown since 13.0. A library accepts its own and earlier sizes, and refuses
 * larger ones. Here they have the size of 12.6 with all headers, so that one collector works with
 * all libraries. Later members would be 0.
 */
#undef CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE
#define CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE                                          \
	CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_DeviceSupported_Params, api)
#undef CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE
#define CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE                                   \
	CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_GetCounterAvailability_Params,                   \
	                           pCounterAvailabilityImage)
#undef CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE
#define CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE                                              \
	CUPTI_PROFILER_STRUCT_SIZE(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject)

/* X(symbol): the header's declaration gives the type. */
#define TARGET_CUPTI(X)                                                                            \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiGetCallbackState)                                                                   \
	X(cuptiGetVersion)                                                                         \
	X(cuptiGetResultString)                                                                    \
	X(cuptiGetStreamIdEx)                                                                      \
	X(cuptiDeviceGetChipName)                                                                  \
	X(cuptiProfilerInitialize)                                                                 \
	X(cuptiProfilerDeviceSupported)                                                            \
	X(cuptiProfilerGetCounterAvailability)                                                     \
	X(cuptiProfilerCounterDataImageCalculateSize)                                              \
	X(cuptiProfilerCounterDataImageInitialize)

/* NULL if the library lacks them. CUPTI 13.4 dropped the legacy profiler on newer chips. */
#define TARGET_CUPTI_OPTIONAL(X)                                                                   \
	X(cuptiRangeProfilerEnable)                                                                \
	X(cuptiRangeProfilerDisable)                                                               \
	X(cuptiRangeProfilerSetConfig)                                                             \
	X(cuptiRangeProfilerStart)                                                                 \
	X(cuptiRangeProfilerStop)                                                                  \
	X(cuptiRangeProfilerPushRange)                                                             \
	X(cuptiRangeProfilerPopRange)                                                              \
	X(cuptiRangeProfilerDecodeData)                                                            \
	X(cuptiRangeProfilerGetCounterDataInfo)                                                    \
	X(cuptiProfilerCounterDataImageCalculateScratchBufferSize)                                 \
	X(cuptiProfilerCounterDataImageInitializeScratchBuffer)                                    \
	X(cuptiProfilerBeginSession)                                                               \
	X(cuptiProfilerSetConfig)                                                                  \
	X(cuptiProfilerBeginPass)                                                                  \
	X(cuptiProfilerEnableProfiling)                                                            \
	X(cuptiProfilerPushRange)                                                                  \
	X(cuptiProfilerPopRange)                                                                   \
	X(cuptiProfilerDisableProfiling)                                                           \
	X(cuptiProfilerEndPass)                                                                    \
	X(cuptiProfilerFlushCounterData)                                                           \
	X(cuptiProfilerUnsetConfig)                                                                \
	X(cuptiProfilerEndSession)                                                                 \
	X(cuptiPmSamplingEnable)                                                                   \
	X(cuptiPmSamplingDisable)                                                                  \
	X(cuptiPmSamplingSetConfig)                                                                \
	X(cuptiPmSamplingStart)                                                                    \
	X(cuptiPmSamplingStop)                                                                     \
	X(cuptiPmSamplingDecodeData)                                                               \
	X(cuptiGetTimestamp)                                                                       \
	X(cuptiPmSamplingGetCounterAvailability)                                                   \
	X(cuptiPmSamplingGetCounterDataSize)                                                       \
	X(cuptiPmSamplingCounterDataImageInitialize)                                               \
	X(cuptiPmSamplingGetCounterDataInfo)                                                       \
	X(cuptiPmSamplingCounterDataGetSampleInfo)                                                 \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiActivityGetNumDroppedRecords)                                                       \
	X(cuptiGetCallbackName)                                                                    \
	X(cuptiGetThreadIdType)                                                                    \
	X(cuptiSetThreadIdType)                                                                    \
	X(cuptiGetCubinCrc)                                                                        \
	X(cuptiSassMetricsGetProperties)                                                           \
	X(cuptiSassMetricsSetConfig)                                                               \
	X(cuptiSassMetricsEnable)                                                                  \
	X(cuptiSassMetricsDisable)                                                                 \
	X(cuptiSassMetricsGetDataProperties)                                                       \
	X(cuptiSassMetricsFlushData)                                                               \
	X(cuptiPCSamplingEnable)                                                                   \
	X(cuptiPCSamplingDisable)                                                                  \
	X(cuptiPCSamplingGetNumStallReasons)                                                       \
	X(cuptiPCSamplingGetStallReasons)                                                          \
	X(cuptiPCSamplingSetConfigurationAttribute)                                                \
	X(cuptiPCSamplingGetData)

#define TARGET_DRIVER(X)                                                                           \
	X(cuInit)                                                                                  \
	X(cuGetErrorName)                                                                          \
	X(cuDriverGetVersion)                                                                      \
	X(cuCtxGetDevice)                                                                          \
	X(cuCtxGetCurrent)                                                                         \
	X(cuCtxPushCurrent)                                                                        \
	X(cuCtxPopCurrent)                                                                         \
	X(cuDevicePrimaryCtxGetState)                                                              \
	X(cuDeviceGetCount)                                                                        \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuDevicePrimaryCtxRelease)                                                               \
	X(cuDeviceGetName)                                                                         \
	X(cuDeviceGetAttribute)                                                                    \
	X(cuDeviceTotalMem)                                                                        \
	X(cuDeviceGetPCIBusId)                                                                     \
	X(cuFuncGetAttribute)                                                                      \
	X(cuMemAlloc)                                                                              \
	X(cuMemcpyDtoDAsync)                                                                       \
	X(cuCtxSynchronize)                                                                        \
	X(cuStreamIsCapturing)                                                                     \
	X(cuStreamSynchronize)

/* Newer than the oldest supported driver; named as in these headers. */
#define TARGET_DRIVER_OPTIONAL(X)                                                                  \
	X(cuCtxGetId)                                                                              \
	X(cuDeviceGetUuid_v2)                                                                      \
	X(cuKernelGetFunction)

/* CUpti_SubscriberParams of 13.2, for cuptiSubscribe_v2, which came with 13.0. */
struct subscriber_params {
	size_t size;
	const char *name;
	char *other; /* receives the owner of callbacks that can't be shared */
	size_t other_size;
	uint8_t share; /* from 13.2 on */
};

/*
 * CUPTI's host calls, whose header C can't compile: a part of those, which evaluate samples here.
 * Members that later releases have added are 0.
 */
struct host_object;
enum { HOST_PM_SAMPLING = 1 };

struct host_initialize {
	size_t size;
	void *reserved;
	int profiler;
	const char *chip;
	const uint8_t *availability;
	struct host_object *host; /* out */
};

struct host_deinitialize {
	size_t size;
	void *reserved;
	struct host_object *host;
};

struct host_evaluate {
	size_t size;
	void *reserved;
	struct host_object *host;
	const uint8_t *image;
	size_t image_size, range;
	const char **metrics;
	size_t metric_count;
	double *values; /* out */
};

#define HOST_PARAMS(name, type, ...)                                                               \
	struct type name = { .size = sizeof(struct type), ##__VA_ARGS__ }

/* Releases that differ in behaviour, in the numbers of cuptiGetVersion(). */
enum cupti_release {
	CUPTI_12_8 = 26,
	CUPTI_13_0 = 130000,
	CUPTI_13_1 = 130100,
	CUPTI_13_2 = 130200
};

struct target {
#define X(symbol) __typeof__(symbol) *symbol;
	TARGET_CUPTI(X)
	TARGET_CUPTI_OPTIONAL(X)
	TARGET_DRIVER(X)
	TARGET_DRIVER_OPTIONAL(X)
#undef X
	/* NULL before 13.0. */
	CUptiResult (*cuptiSubscribe_v2)(CUpti_SubscriberHandle *subscriber,
	                                 CUpti_CallbackFunc callback, void *data,
	                                 struct subscriber_params *params);
	/* NULL before 12.6. */
	CUptiResult (*cuptiProfilerHostInitialize)(struct host_initialize *params);
	CUptiResult (*cuptiProfilerHostDeinitialize)(struct host_deinitialize *params);
	CUptiResult (*cuptiProfilerHostEvaluateToGpuValues)(struct host_evaluate *params);
	const char *cupti_path; /* the path of libcupti */
	uint32_t cupti_version; /* an enum cupti_release, or a number between */
	bool verbose;           /* report calls that take long */
};

/* One per process. */
extern struct target target;

/* NULL, or what is missing; `cupti` is a path or a name for dlopen(). */
const char *target_open(const char *cupti);
/* True for success; else reports on stderr which call failed, how, and what to do. */
bool target_check(const char *call, CUptiResult status);

/* Lists the processes that may use the GPU's counters, as far as /proc shows them. */
void busy_describe(char *out, size_t size);

/*
 * Waits for counters that another process has: this thread's failures for that reason are not
 * reported between begin and end, except in the last attempt.
 *
 *     patience_begin(&patience, seconds);
 *     do
 *             good = attempt();
 *     while (!good && patience_left(&patience));
 *     patience_end(&patience, good);
 */
struct patience {
	double seconds;
	struct timespec begun;
	bool told;
	bool signals; /* one that is blocked and pending ends the wait */
};
void patience_begin(struct patience *patience, uint64_t seconds);
bool patience_left(struct patience *patience);
/* The program ends: no wait goes on. */
void patience_stop(void);
/* Whether the last attempt failed for that reason. */
bool patience_met(void);
void patience_end(const struct patience *patience, bool good);
/* Whether not to report this status now. */
bool busy_tolerate(CUptiResult status);

/* This thread's failures are not reported from now on, or are. */
void target_be_quiet(bool quiet);
/* Call it before a call, so that target_check() can measure the call. */
void target_begin(void);
/* target_check() of a call, with the call's name. */
#define TARGET_CALL(call, ...) (target_begin(), target_check(#call, target.call(__VA_ARGS__)))

/* Declares `name`: a CUPTI parameter struct, with its size and these members. */
#define TARGET_STRUCT(type, ...)                                                                   \
	{                                                                                          \
		.structSize = CUpti_##type##_Params_STRUCT_SIZE, ##__VA_ARGS__                     \
	}
#define TARGET_PARAMS(name, type, ...)                                                             \
	CUpti_##type##_Params name = TARGET_STRUCT(type, ##__VA_ARGS__)

#endif
