/* SPDX-License-Identifier: BSD-2-Clause */
/* The CUPTI and driver calls of the collector, bound with dlsym: nothing is undefined at load. */
#ifndef OPK_TARGET_H
#define OPK_TARGET_H

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "offpeak.h"

/* X(symbol): typed by the header's own declaration. */
#define TARGET_CUPTI(X)                                                                            \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiGetVersion)                                                                         \
	X(cuptiGetResultString)                                                                    \
	X(cuptiDeviceGetChipName)                                                                  \
	X(cuptiProfilerInitialize)                                                                 \
	X(cuptiProfilerDeInitialize)                                                               \
	X(cuptiProfilerGetCounterAvailability)                                                     \
	X(cuptiProfilerCounterDataImageCalculateSize)                                              \
	X(cuptiProfilerCounterDataImageInitialize)                                                 \
	X(cuptiRangeProfilerEnable)                                                                \
	X(cuptiRangeProfilerDisable)                                                               \
	X(cuptiRangeProfilerSetConfig)                                                             \
	X(cuptiRangeProfilerStart)                                                                 \
	X(cuptiRangeProfilerStop)                                                                  \
	X(cuptiRangeProfilerPushRange)                                                             \
	X(cuptiRangeProfilerPopRange)                                                              \
	X(cuptiRangeProfilerDecodeData)                                                            \
	X(cuptiRangeProfilerGetCounterDataInfo)

#define TARGET_DRIVER(X)                                                                           \
	X(cuDriverGetVersion)                                                                      \
	X(cuCtxGetDevice)                                                                          \
	X(cuCtxPushCurrent)                                                                        \
	X(cuCtxPopCurrent)                                                                         \
	X(cuDeviceGetName)                                                                         \
	X(cuCtxSynchronize)

struct target {
#define X(symbol) __typeof__(symbol) *symbol;
	TARGET_CUPTI(X)
	TARGET_DRIVER(X)
#undef X
};

/* NULL on success, else what is missing; `cupti` is a path or a name for dlopen. */
const char *target_open(struct target *target, const char *cupti);
/* CUPTI's name of a status. */
const char *target_status(const struct target *target, CUptiResult status);

#endif
