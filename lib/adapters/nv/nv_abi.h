/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's parameter structs, declared here because their sizes and offsets are the ABI and
 * NVIDIA's own header needs C++. tests/nv_abi.c compares each of them with the installed
 * headers. The size that a call wants is the offset of the last field plus its size, compared
 * exactly; where releases differ, the fields that came later are last.
 */
#ifndef OPK_NV_ABI_H
#define OPK_NV_ABI_H

#include <stddef.h>
#include <stdint.h>

#define NV_END(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))
/* Each struct begins with these fields. */
#define NV_HEAD                                                                                    \
	size_t structSize;                                                                         \
	void *pPriv

/* The values of 13.1. */
enum nv_metric_scope { NV_SCOPE_CONTEXT = 0, NV_SCOPE_DEVICE = 1 };
enum nv_profiler_type { NV_PROFILER_RANGE = 0, NV_PROFILER_PM_SAMPLING = 1 };
/* PerfWorks' name for the range profiler's kind of work. */
enum nv_activity_kind { NV_ACTIVITY_KIND_PROFILER = 1 };
/* PerfWorks' unit without a name. */
#define NV_DIM_UNIT_INVALID 3518299157u

/* ---- libcupti: cupti_profiler_host.h, cupti_pmsampling.h */

struct nv_HostInitialize {
	NV_HEAD;
	int profilerType;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	void *pHostObject;
	const char *pSinglePassMetricSetName; /* 13.2 */
};

struct nv_HostDeinitialize {
	NV_HEAD;
	void *pHostObject;
};

struct nv_HostGetSupportedChips {
	NV_HEAD;
	size_t numChips;
	const char *const *ppChipNames;
};

struct nv_HostGetBaseMetrics {
	NV_HEAD;
	void *pHostObject;
	int metricType;
	const char **ppMetricNames;
	size_t numMetrics;
};

struct nv_HostGetSubMetrics {
	NV_HEAD;
	void *pHostObject;
	int metricType;
	const char *pMetricName;
	size_t numOfSubmetrics;
	const char **ppSubMetrics;
};

struct nv_HostGetMetricProperties {
	NV_HEAD;
	void *pHostObject;
	const char *pMetricName;
	const char *pDescription;
	const char *pHwUnit;
	const char *pDimUnit;
	int metricType;
	int metricCollectionScope; /* 13.1 */
};

struct nv_HostGetRangeName {
	NV_HEAD;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t rangeIndex;
	const char *delimiter;
	const char *pRangeName; /* from malloc, ours to free */
};

struct nv_HostEvaluateToGpuValues {
	NV_HEAD;
	void *pHostObject;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t rangeIndex;
	const char **ppMetricNames;
	size_t numMetrics;
	double *pMetricValues;
};

struct nv_HostConfigAddMetrics {
	NV_HEAD;
	void *pHostObject;
	const char **ppMetricNames;
	size_t numMetrics;
};

struct nv_HostGetConfigImageSize {
	NV_HEAD;
	void *pHostObject;
	size_t configImageSize;
};

struct nv_HostGetConfigImage {
	NV_HEAD;
	void *pHostObject;
	size_t configImageSize;
	uint8_t *pConfigImage;
};

struct nv_HostGetNumOfPasses {
	NV_HEAD;
	size_t configImageSize;
	uint8_t *pConfigImage;
	size_t numOfPasses;
};

struct nv_HostGetMaxPerPass {
	NV_HEAD;
	int profilerType;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	size_t maxMetricsPerPass;
};

struct nv_HostSinglePassSets {
	NV_HEAD;
	const char *pChipName;
	size_t numOfSinglePassSets;
	const char **ppSinglePassSets;
};

/* Names one after the other, each with its NUL; where each begins. */
struct nv_HostMetricsInSet {
	NV_HEAD;
	const char *pChipName;
	const char *pSinglePassSetName;
	size_t numOfMetricsInSinglePassSet;
	size_t metricsBufferSize;
	size_t *pMetricsIndicesBuffer;
	uint8_t *pMetricsBuffer;
};

struct nv_PmGetCounterDataInfo {
	NV_HEAD;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t numTotalSamples;
	size_t numPopulatedSamples;
	size_t numCompletedSamples;
};

/* cupti_pcsampling.h; its structs begin with their size alone. */
struct nv_SourceLine {
	size_t size;
	const void *cubin;
	const char *functionName;
	size_t cubinSize;
	uint32_t lineNumber;
	uint64_t pcOffset;
	char *fileName;
	char *dirName;
};

struct nv_CubinCrc {
	size_t size;
	size_t cubinSize;
	const void *cubin;
	uint64_t cubinCrc;
};

/* ---- libnvperf_host: nvperf_host.h, nvperf_cuda_host.h, nvperf_target.h */

struct nv_InitializeHost {
	NV_HEAD;
};

/* Asks for the version of PerfWorks as a whole. */
#define NV_SDK_VERSION 0x1e128b6f001423fcULL

struct nv_QueryVersion {
	NV_HEAD;
	uint64_t apiSet;
	uint32_t major;
	uint32_t minor;
	uint32_t patch;
	uint32_t relMajor;
	uint32_t relMinor;
	uint32_t relPatch;
};

struct nv_MetricEvalRequest {
	size_t metricIndex;
	uint8_t metricType;
	uint8_t rollupOp;
	uint16_t submetric;
};

struct nv_DimUnitFactor {
	uint32_t dimUnit;
	int8_t exponent;
};

/* The newer and the older form; with domain 0 the scheduler chooses. */
struct nv_RawCounterRequest {
	void *pPriv;
	const char *pRawCounterName;
	uint32_t domain;
	uint8_t keepInstances;
};

struct nv_RawMetricRequest {
	NV_HEAD;
	const char *pMetricName;
	uint8_t isolated;
	uint8_t keepInstances;
};

struct nv_EvaluatorScratchSize {
	NV_HEAD;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	size_t scratchBufferSize;
};

struct nv_EvaluatorInitialize {
	NV_HEAD;
	uint8_t *pScratchBuffer;
	size_t scratchBufferSize;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	void *pMetricsEvaluator;
};

/* For PM sampling; declared by the headers of NVIDIA's Nsight Perf SDK, not by CUDA's. */
struct nv_DeviceScratchSize {
	NV_HEAD;
	const char *pChipName;
	size_t scratchBufferSize;
};

struct nv_DeviceInitialize {
	NV_HEAD;
	uint8_t *pScratchBuffer;
	size_t scratchBufferSize;
	const char *pChipName;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	void *pMetricsEvaluator;
};

struct nv_EvaluatorDestroy {
	NV_HEAD;
	void *pMetricsEvaluator;
};

struct nv_EvaluatorConvertName {
	NV_HEAD;
	void *pMetricsEvaluator;
	const char *pMetricName;
	struct nv_MetricEvalRequest *pMetricEvalRequest;
	size_t metricEvalRequestStructSize;
};

struct nv_EvaluatorRawDependencies {
	NV_HEAD;
	void *pMetricsEvaluator;
	const struct nv_MetricEvalRequest *pMetricEvalRequests;
	size_t numMetricEvalRequests;
	size_t metricEvalRequestStructSize;
	size_t metricEvalRequestStrideSize;
	const char **ppRawDependencies;
	size_t numRawDependencies;
	const char **ppOptionalRawDependencies;
	size_t numOptionalRawDependencies;
};

struct nv_EvaluatorDimUnits {
	NV_HEAD;
	void *pMetricsEvaluator;
	const struct nv_MetricEvalRequest *pMetricEvalRequest;
	size_t metricEvalRequestStructSize;
	struct nv_DimUnitFactor *pDimUnits;
	size_t numDimUnits;
	size_t dimUnitFactorStructSize;
};

struct nv_EvaluatorDimUnitToString {
	NV_HEAD;
	void *pMetricsEvaluator;
	uint32_t dimUnit;
	const char *pSingularName;
	const char *pPluralName;
};

/* Names one after the other, each with its NUL; where each begins. */
struct nv_EvaluatorMetricNames {
	NV_HEAD;
	void *pMetricsEvaluator;
	uint8_t metricType;
	const char *pMetricNames;
	const size_t *pMetricNameBeginIndices;
	size_t numMetrics;
};

struct nv_EvaluatorThroughput {
	NV_HEAD;
	void *pMetricsEvaluator;
	size_t throughputMetricIndex;
	const char *pDescription;
	uint32_t hwUnit;
	size_t numCounters;
	const size_t *pCounterIndices;
	size_t numSubThroughputs;
	const size_t *pSubThroughputIndices;
};

struct nv_EvaluatorSetDevice {
	NV_HEAD;
	void *pMetricsEvaluator;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
};

struct nv_EvaluatorValues {
	NV_HEAD;
	void *pMetricsEvaluator;
	const struct nv_MetricEvalRequest *pMetricEvalRequests;
	size_t numMetricEvalRequests;
	size_t metricEvalRequestStructSize;
	size_t metricEvalRequestStrideSize;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t rangeIndex;
	uint8_t isolated;
	double *pMetricValues;
};

struct nv_BuilderCreate {
	NV_HEAD;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	void *pCounterDataBuilder;
};

struct nv_BuilderDestroy {
	NV_HEAD;
	void *pCounterDataBuilder;
};

struct nv_BuilderAddMetrics {
	NV_HEAD;
	void *pCounterDataBuilder;
	const struct nv_RawMetricRequest *pRawMetricRequests;
	size_t numMetricRequests;
};

struct nv_BuilderAddRawCounters {
	NV_HEAD;
	void *pCounterDataBuilder;
	size_t rawCounterRequestStructSize;
	size_t numRawCounterRequests;
	const struct nv_RawCounterRequest *pRawCounterRequests;
};

struct nv_BuilderGetPrefix {
	NV_HEAD;
	void *pCounterDataBuilder;
	size_t bytesAllocated;
	uint8_t *pBuffer;
	size_t bytesCopied;
};

struct nv_SchedulerCreate {
	NV_HEAD;
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage;
	uint32_t activityKind;
	void *pRawCounterConfig;
};

struct nv_SchedulerDestroy {
	NV_HEAD;
	void *pRawCounterConfig;
};

struct nv_SchedulerGetDomains {
	NV_HEAD;
	const void *pRawCounterConfig;
	size_t numAvailableDomains;
	uint32_t *pAvailableDomains;
};

struct nv_SchedulerBeginPassGroup {
	NV_HEAD;
	void *pRawCounterConfig;
	size_t numDomains;
	const uint32_t *pDomains;
};

struct nv_SchedulerAreSchedulable {
	NV_HEAD;
	const void *pRawCounterConfig;
	size_t rawCounterRequestStructSize;
	size_t numRawCounterRequests;
	const struct nv_RawCounterRequest *pRawCounterRequests;
	uint8_t disallowAddingExtraPasses;
	uint8_t schedulable;
};

/* Cdg: cooperative domain groups, pairs of domains that count together. */
struct nv_SchedulerGetProperties {
	NV_HEAD;
	const void *pRawCounterConfig;
	const char *pRawCounterName;
	size_t numSupportedDomains;
	uint32_t *pSupportedDomains;
	size_t numSupportedCdgDomains;
	uint32_t *pSupportedCdgDomains;
};

struct nv_SchedulerDomainToString {
	NV_HEAD;
	uint32_t domain;
	const char *pDomainName;
};

struct nv_SchedulerGetMembers {
	NV_HEAD;
	const void *pRawCounterConfig;
	uint32_t domain;
	size_t numMemberDomains;
	uint32_t *pMemberDomains;
};

struct nv_SchedulerAddRawCounters {
	NV_HEAD;
	void *pRawCounterConfig;
	size_t rawCounterRequestStructSize;
	size_t numRawCounterRequests;
	const struct nv_RawCounterRequest *pRawCounterRequests;
};

struct nv_SchedulerEndPassGroup {
	NV_HEAD;
	void *pRawCounterConfig;
	size_t numDomains;
	const uint32_t *pDomains;
};

struct nv_SchedulerGetNumPasses {
	NV_HEAD;
	const void *pRawCounterConfig;
	size_t numPasses;
};

struct nv_SchedulerGenerate {
	NV_HEAD;
	void *pRawCounterConfig;
};

struct nv_SchedulerGetImage {
	NV_HEAD;
	const void *pRawCounterConfig;
	size_t bytesAllocated;
	uint8_t *pBuffer;
	size_t bytesCopied;
};

struct nv_ConfigGetRawCounters {
	NV_HEAD;
	const uint8_t *pConfig;
	size_t configSize;
	size_t passIndex;
	const char **ppRawCounterNames;
	size_t numRawCounters;
};

struct nv_DataGetNumRanges {
	NV_HEAD;
	const uint8_t *pCounterDataImage;
	size_t numRanges;
};

struct nv_DataGetChipName {
	NV_HEAD;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	const char *pChipName;
};

struct nv_DataExtractPrefix {
	NV_HEAD;
	const uint8_t *pCounterDataSrc;
	size_t counterDataSrcSize;
	uint8_t *pCounterDataPrefix;
	size_t counterDataPrefixSize;
};

struct nv_DataCopySize {
	NV_HEAD;
	const uint8_t *pCounterDataPrefix;
	size_t counterDataPrefixSize;
	uint32_t maxNumRanges;
	uint32_t maxNumRangeTreeNodes;
	uint32_t maxRangeNameLength;
	const uint8_t *pCounterDataSrc;
	size_t copyDataImageCounterSize;
};

struct nv_DataCopyInitialize {
	NV_HEAD;
	const uint8_t *pCounterDataPrefix;
	size_t counterDataPrefixSize;
	uint32_t maxNumRanges;
	uint32_t maxNumRangeTreeNodes;
	uint32_t maxRangeNameLength;
	const uint8_t *pCounterDataSrc;
	uint8_t *pCounterDataDst;
};

struct nv_CombinerCreate {
	NV_HEAD;
	uint8_t *pCounterDataDst;
	void *pCounterDataCombiner;
};

struct nv_CombinerDestroy {
	NV_HEAD;
	void *pCounterDataCombiner;
};

struct nv_CombinerCreateRange {
	NV_HEAD;
	void *pCounterDataCombiner;
	size_t numDescriptions;
	const char *const *ppDescriptions;
	size_t rangeIndexDst;
};

struct nv_CombinerSumIntoRange {
	NV_HEAD;
	void *pCounterDataCombiner;
	size_t rangeIndexDst;
	const uint8_t *pCounterDataSrc;
	size_t rangeIndexSrc;
};

struct nv_CombinerAccumulate {
	NV_HEAD;
	void *pCounterDataCombiner;
	size_t rangeIndexDst;
	uint32_t dstMultiplier;
	const uint8_t *pCounterDataSrc;
	size_t rangeIndexSrc;
	uint32_t srcMultiplier;
};

struct nv_SamplerTrim {
	NV_HEAD;
	uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t counterDataImageTrimmedSize;
};

struct nv_SamplerGetSampleTime {
	NV_HEAD;
	const uint8_t *pCounterDataImage;
	size_t rangeIndex;
	uint64_t timestampStart;
	uint64_t timestampEnd;
};

struct nv_SamplerEstimatedSize {
	NV_HEAD;
	const uint8_t *pConfig;
	size_t configSize;
	size_t sampleSize;
};

#endif
