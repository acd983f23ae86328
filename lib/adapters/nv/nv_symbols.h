/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every NVIDIA entry point that offpeak calls, one line each:
 *   X(symbol, params struct, last field that all releases know, feature that needs it)
 * The table in nv_table.h, the binding in nv_load.c, doctor's feature list and the ABI test are
 * all made of these two lists. Feature HOST is required, the others are optional.
 */
#ifndef OPK_NV_SYMBOLS_H
#define OPK_NV_SYMBOLS_H

#define NV_CUPTI_SYMBOLS(X)                                                                        \
	X(cuptiProfilerHostInitialize, HostInitialize, pHostObject, HOST)                          \
	X(cuptiProfilerHostDeinitialize, HostDeinitialize, pHostObject, HOST)                      \
	X(cuptiProfilerHostGetSupportedChips, HostGetSupportedChips, ppChipNames, HOST)            \
	X(cuptiProfilerHostGetBaseMetrics, HostGetBaseMetrics, numMetrics, HOST)                   \
	X(cuptiProfilerHostGetSubMetrics, HostGetSubMetrics, ppSubMetrics, HOST)                   \
	X(cuptiProfilerHostGetMetricProperties, HostGetMetricProperties, metricType, HOST)         \
	X(cuptiProfilerHostGetRangeName, HostGetRangeName, pRangeName, HOST)                       \
	X(cuptiProfilerHostEvaluateToGpuValues, HostEvaluateToGpuValues, pMetricValues, HOST)      \
	X(cuptiProfilerHostConfigAddMetrics, HostConfigAddMetrics, numMetrics, HOST)               \
	X(cuptiProfilerHostGetConfigImageSize, HostGetConfigImageSize, configImageSize, HOST)      \
	X(cuptiProfilerHostGetConfigImage, HostGetConfigImage, pConfigImage, HOST)                 \
	X(cuptiProfilerHostGetNumOfPasses, HostGetNumOfPasses, numOfPasses, HOST)                  \
	X(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, HostGetMaxPerPass, maxMetricsPerPass,  \
	  METRICS_PER_PASS)                                                                        \
	X(cuptiProfilerHostGetSinglePassSets, HostSinglePassSets, ppSinglePassSets,                \
	  SINGLE_PASS_SETS)                                                                        \
	X(cuptiProfilerHostGetMetricsInSinglePassSet, HostMetricsInSet, pMetricsBuffer,            \
	  SINGLE_PASS_SETS)                                                                        \
	X(cuptiPmSamplingGetCounterDataInfo, PmGetCounterDataInfo, numCompletedSamples, HOST)      \
	X(cuptiGetSassToSourceCorrelation, SourceLine, dirName, SOURCE_LINES)                      \
	X(cuptiGetCubinCrc, CubinCrc, cubinCrc, SOURCE_LINES)

#define NV_NVPERF_SYMBOLS(X)                                                                       \
	X(NVPW_InitializeHost, InitializeHost, pPriv, PREFIX)                                      \
	X(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, EvaluatorScratchSize,             \
	  scratchBufferSize, PREFIX)                                                               \
	X(NVPW_CUDA_MetricsEvaluator_Initialize, EvaluatorInitialize, pMetricsEvaluator, PREFIX)   \
	X(NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize, DeviceScratchSize,              \
	  scratchBufferSize, PM_UNITS)                                                             \
	X(NVPW_Device_MetricsEvaluator_Initialize, DeviceInitialize, pMetricsEvaluator, PM_UNITS)  \
	X(NVPW_MetricsEvaluator_Destroy, EvaluatorDestroy, pMetricsEvaluator, PREFIX)              \
	X(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, EvaluatorConvertName,        \
	  metricEvalRequestStructSize, PREFIX)                                                     \
	X(NVPW_MetricsEvaluator_GetMetricRawDependencies, EvaluatorRawDependencies,                \
	  numOptionalRawDependencies, PREFIX)                                                      \
	X(NVPW_CUDA_CounterDataBuilder_Create, BuilderCreate, pCounterDataBuilder, PREFIX)         \
	X(NVPW_CounterDataBuilder_Destroy, BuilderDestroy, pCounterDataBuilder, PREFIX)            \
	X(NVPW_CounterDataBuilder_GetCounterDataPrefix, BuilderGetPrefix, bytesCopied, PREFIX)     \
	X(NVPW_CounterDataBuilder_AddRawCounters, BuilderAddRawCounters, pRawCounterRequests,      \
	  RAW_COUNTERS)                                                                            \
	X(NVPW_CounterDataBuilder_AddMetrics, BuilderAddMetrics, numMetricRequests, RAW_METRICS)   \
	X(NVPW_MetricsEvaluator_GetMetricDimUnits, EvaluatorDimUnits, dimUnitFactorStructSize,     \
	  UNITS)                                                                                   \
	X(NVPW_MetricsEvaluator_DimUnitToString, EvaluatorDimUnitToString, pPluralName, UNITS)     \
	X(NVPW_MetricsEvaluator_GetMetricNames, EvaluatorMetricNames, numMetrics, CONSTITUENTS)    \
	X(NVPW_MetricsEvaluator_GetThroughputMetricProperties, EvaluatorThroughput,                \
	  pSubThroughputIndices, CONSTITUENTS)                                                     \
	X(NVPW_MetricsEvaluator_SetDeviceAttributes, EvaluatorSetDevice, counterDataImageSize,     \
	  VALUES)                                                                                  \
	X(NVPW_MetricsEvaluator_EvaluateToGpuValues, EvaluatorValues, pMetricValues, VALUES)       \
	X(NVPW_Config_GetRawCounters, ConfigGetRawCounters, numRawCounters, PLAN_DETAIL)           \
	X(NVPW_CounterData_GetChipName, DataGetChipName, pChipName, IMAGE_CHIP)                    \
	X(NVPW_CounterData_GetNumRanges, DataGetNumRanges, numRanges, RANGE_COUNT)                 \
	X(NVPW_PeriodicSampler_CounterData_GetSampleTime, SamplerGetSampleTime, timestampEnd,      \
	  SAMPLE_TIMES)                                                                            \
	X(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize, SamplerEstimatedSize, sampleSize, \
	  SAMPLE_SIZE)                                                                             \
	X(NVPW_CounterData_ExtractCounterDataPrefix, DataExtractPrefix, counterDataPrefixSize,     \
	  COMBINE)                                                                                 \
	X(NVPW_CounterData_CalculateCounterDataImageCopySize, DataCopySize,                        \
	  copyDataImageCounterSize, COMBINE)                                                       \
	X(NVPW_CounterData_InitializeCounterDataImageCopy, DataCopyInitialize, pCounterDataDst,    \
	  COMBINE)                                                                                 \
	X(NVPW_CounterDataCombiner_Create, CombinerCreate, pCounterDataCombiner, COMBINE)          \
	X(NVPW_CounterDataCombiner_Destroy, CombinerDestroy, pCounterDataCombiner, COMBINE)        \
	X(NVPW_CounterDataCombiner_CreateRange, CombinerCreateRange, rangeIndexDst, COMBINE)       \
	X(NVPW_CounterDataCombiner_SumIntoRange, CombinerSumIntoRange, rangeIndexSrc, COMBINE)     \
	X(NVPW_CounterDataCombiner_AccumulateIntoRange, CombinerAccumulate, srcMultiplier,         \
	  COMBINE)                                                                                 \
	X(NVPW_PeriodicSampler_CounterData_TrimInPlace, SamplerTrim, counterDataImageTrimmedSize,  \
	  TRIM_SAMPLES)                                                                            \
	X(NVPW_CUDA_RawCounterConfig_Create, SchedulerCreate, pRawCounterConfig, SCHEDULER)        \
	X(NVPW_RawCounterConfig_Destroy, SchedulerDestroy, pRawCounterConfig, SCHEDULER)           \
	X(NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains, SchedulerGetDomains,             \
	  pAvailableDomains, SCHEDULER)                                                            \
	X(NVPW_RawCounterConfig_BeginPassGroup, SchedulerBeginPassGroup, pDomains, SCHEDULER)      \
	X(NVPW_RawCounterConfig_AreRawCountersSchedulable, SchedulerAreSchedulable, schedulable,   \
	  SCHEDULER)                                                                               \
	X(NVPW_RawCounterConfig_GetRawCounterProperties, SchedulerGetProperties,                   \
	  pSupportedCdgDomains, SCHEDULER)                                                         \
	X(NVPW_RawCounterConfig_RawCounterDomainToString, SchedulerDomainToString, pDomainName,    \
	  SCHEDULER)                                                                               \
	X(NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains, SchedulerGetMembers,      \
	  pMemberDomains, PLANNER)                                                                 \
	X(NVPW_RawCounterConfig_AddRawCounters, SchedulerAddRawCounters, pRawCounterRequests,      \
	  PLANNER)                                                                                 \
	X(NVPW_RawCounterConfig_EndPassGroup, SchedulerEndPassGroup, pDomains, PLANNER)            \
	X(NVPW_RawCounterConfig_GetNumPasses, SchedulerGetNumPasses, numPasses, PLANNER)           \
	X(NVPW_RawCounterConfig_GenerateConfigImage, SchedulerGenerate, pRawCounterConfig,         \
	  PLANNER)                                                                                 \
	X(NVPW_RawCounterConfig_GetConfigImage, SchedulerGetImage, bytesCopied, PLANNER)

/* Features: what `offpeak doctor` lists and errors name. */
#define NV_FEATURES(X)                                                                             \
	X(HOST, "host", "chips, metrics, config images, evaluation")                               \
	X(PREFIX, "prefix", "counter-data prefixes, with or without instances")                    \
	X(RAW_COUNTERS, "prefix-raw-counters", "prefixes through raw counters (12.9 and later)")   \
	X(RAW_METRICS, "prefix-raw-metrics", "prefixes through raw metrics (deprecated by 13.0)")  \
	X(UNITS, "units", "the unit of each full metric name")                                     \
	X(PM_UNITS, "pm-units", "the unit of each full metric name for PM sampling")               \
	X(CONSTITUENTS, "constituents", "what a throughput metric is made of")                     \
	X(PLAN_DETAIL, "plan-detail", "which pass serves which metric")                            \
	X(VALUES, "values", "faster evaluation of ranges")                                         \
	X(IMAGE_CHIP, "image-chip", "the chip of a bare counter data image")                       \
	X(RANGE_COUNT, "range-count",                                                              \
	  "how many ranges were begun (CUPTI 13.1 and later miscount)")                            \
	X(SAMPLE_TIMES, "sample-times",                                                            \
	  "start and end of PM samples; telling PM from range images")                             \
	X(SAMPLE_SIZE, "sample-size", "hardware record bytes per PM sample")                       \
	X(COMBINE, "combine", "new counter data images out of ranges of others, and their sums")   \
	X(TRIM_SAMPLES, "trim-samples", "images of PM samples without their free slots")           \
	X(SCHEDULER, "scheduler", "pass counts of many metrics at once")                           \
	X(PLANNER, "planner", "fewer passes than CUPTI's own order of metrics takes")              \
	X(METRICS_PER_PASS, "metrics-per-pass", "how many metrics fit one pass")                   \
	X(SINGLE_PASS_SETS, "single-pass-sets",                                                    \
	  "single-pass sets as CUPTI lists them (13.2 and later)")                                 \
	X(SOURCE_LINES, "source-lines", "source lines of instructions")

#endif
