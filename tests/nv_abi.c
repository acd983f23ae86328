/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's headers and nv_abi.h, seen by one compiler: each size, offset, call and status number.
 * nv_abi.sh reads the fields out of nv_abi.h and the statuses out of NVIDIA's headers, and writes
 * them as rows into abi_rows.h and abi_statuses.h; by hand there is only which struct is whose.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_version.h>
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>
#include <nvperf_target.h>

#include "adapters/nv/nv_table.h"

/*
 * PAIR(our struct, NVIDIA's struct[, NVIDIA's macro of its size, unless it is *_STRUCT_SIZE])
 * nv_abi.sh reads these lines; one for each struct of nv_abi.h.
 */
#ifdef ABI_PAIRS
PAIR(HostInitialize, CUpti_Profiler_Host_Initialize_Params)
PAIR(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)
PAIR(HostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params)
PAIR(HostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params)
PAIR(HostGetSubMetrics, CUpti_Profiler_Host_GetSubMetrics_Params)
PAIR(HostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params)
PAIR(HostGetRangeName, CUpti_Profiler_Host_GetRangeName_Params)
PAIR(HostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
PAIR(HostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
PAIR(HostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
PAIR(HostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
PAIR(HostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params)
PAIR(HostGetMaxPerPass, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params)
PAIR(HostSinglePassSets, CUpti_Profiler_Host_GetSinglePassSets_Params)
PAIR(HostMetricsInSet, CUpti_Profiler_Host_GetMetricsInSinglePassSet_Params)
PAIR(PmGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params)
PAIR(SourceLine, CUpti_GetSassToSourceCorrelationParams, CUpti_GetSassToSourceCorrelationParamsSize)
PAIR(CubinCrc, CUpti_GetCubinCrcParams, CUpti_GetCubinCrcParamsSize)
PAIR(InitializeHost, NVPW_InitializeHost_Params)
PAIR(QueryVersion, NVPW_QueryVersionNumber_Params)
PAIR(MetricEvalRequest, NVPW_MetricEvalRequest)
PAIR(DimUnitFactor, NVPW_DimUnitFactor)
PAIR(RawCounterRequest, NVPW_RawCounterRequest, NVPW_RAW_COUNTER_REQUEST_STRUCT_SIZE)
PAIR(RawMetricRequest, NVPA_RawMetricRequest, NVPA_RAW_METRIC_REQUEST_STRUCT_SIZE)
PAIR(EvaluatorScratchSize, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params)
PAIR(EvaluatorInitialize, NVPW_CUDA_MetricsEvaluator_Initialize_Params)
PAIR(DeviceScratchSize, NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize_Params)
PAIR(DeviceInitialize, NVPW_Device_MetricsEvaluator_Initialize_Params)
PAIR(EvaluatorDestroy, NVPW_MetricsEvaluator_Destroy_Params)
PAIR(EvaluatorConvertName, NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params)
PAIR(EvaluatorRawDependencies, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params)
PAIR(EvaluatorDimUnits, NVPW_MetricsEvaluator_GetMetricDimUnits_Params)
PAIR(EvaluatorDimUnitToString, NVPW_MetricsEvaluator_DimUnitToString_Params)
PAIR(EvaluatorMetricNames, NVPW_MetricsEvaluator_GetMetricNames_Params)
PAIR(EvaluatorThroughput, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params)
PAIR(EvaluatorSetDevice, NVPW_MetricsEvaluator_SetDeviceAttributes_Params)
PAIR(EvaluatorValues, NVPW_MetricsEvaluator_EvaluateToGpuValues_Params)
PAIR(BuilderCreate, NVPW_CUDA_CounterDataBuilder_Create_Params)
PAIR(BuilderDestroy, NVPW_CounterDataBuilder_Destroy_Params)
PAIR(BuilderAddMetrics, NVPW_CounterDataBuilder_AddMetrics_Params)
PAIR(BuilderAddRawCounters, NVPW_CounterDataBuilder_AddRawCounters_Params)
PAIR(BuilderGetPrefix, NVPW_CounterDataBuilder_GetCounterDataPrefix_Params)
PAIR(SchedulerCreate, NVPW_CUDA_RawCounterConfig_Create_Params)
PAIR(SchedulerDestroy, NVPW_RawCounterConfig_Destroy_Params)
PAIR(SchedulerGetDomains, NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains_Params)
PAIR(SchedulerBeginPassGroup, NVPW_RawCounterConfig_BeginPassGroup_Params)
PAIR(SchedulerAreSchedulable, NVPW_RawCounterConfig_AreRawCountersSchedulable_Params)
PAIR(SchedulerGetProperties, NVPW_RawCounterConfig_GetRawCounterProperties_Params)
PAIR(SchedulerDomainToString, NVPW_RawCounterConfig_RawCounterDomainToString_Params)
PAIR(SchedulerGetMembers, NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains_Params)
PAIR(SchedulerAddRawCounters, NVPW_RawCounterConfig_AddRawCounters_Params)
PAIR(SchedulerEndPassGroup, NVPW_RawCounterConfig_EndPassGroup_Params)
PAIR(SchedulerGetNumPasses, NVPW_RawCounterConfig_GetNumPasses_Params)
PAIR(SchedulerGenerate, NVPW_RawCounterConfig_GenerateConfigImage_Params)
PAIR(SchedulerGetImage, NVPW_RawCounterConfig_GetConfigImage_Params)
PAIR(ConfigGetRawCounters, NVPW_Config_GetRawCounters_Params)
PAIR(DataGetNumRanges, NVPW_CounterData_GetNumRanges_Params)
PAIR(DataGetChipName, NVPW_CounterData_GetChipName_Params)
PAIR(DataExtractPrefix, NVPW_CounterData_ExtractCounterDataPrefix_Params)
PAIR(DataCopySize, NVPW_CounterData_CalculateCounterDataImageCopySize_Params)
PAIR(DataCopyInitialize, NVPW_CounterData_InitializeCounterDataImageCopy_Params)
PAIR(CombinerCreate, NVPW_CounterDataCombiner_Create_Params)
PAIR(CombinerDestroy, NVPW_CounterDataCombiner_Destroy_Params)
PAIR(CombinerCreateRange, NVPW_CounterDataCombiner_CreateRange_Params)
PAIR(CombinerSumIntoRange, NVPW_CounterDataCombiner_SumIntoRange_Params)
PAIR(CombinerAccumulate, NVPW_CounterDataCombiner_AccumulateIntoRange_Params)
PAIR(SamplerTrim, NVPW_PeriodicSampler_CounterData_TrimInPlace_Params)
PAIR(SamplerGetSampleTime, NVPW_PeriodicSampler_CounterData_GetSampleTime_Params)
PAIR(SamplerEstimatedSize, NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize_Params)
#endif

/* Statuses of releases up to this one must all be known; a later one may have more. */
#define NEWEST_KNOWN 130400

static int failures, checks;

static void expect(int good, const char *format, ...)
{
	va_list args;

	checks++;
	if (good)
		return;
	failures++;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Rows of abi_rows.h. */
#define FIELD(ours, theirs, field)                                                                 \
	do {                                                                                       \
		expect(offsetof(struct nv_##ours, field) == offsetof(theirs, field),               \
		       #ours "." #field ": offset %zu, NVIDIA has %zu",                            \
		       offsetof(struct nv_##ours, field), offsetof(theirs, field));                \
		expect(sizeof(((struct nv_##ours *)0)->field) == sizeof(((theirs *)0)->field),     \
		       #ours "." #field ": size %zu, NVIDIA has %zu",                              \
		       sizeof(((struct nv_##ours *)0)->field), sizeof(((theirs *)0)->field));      \
	} while (0);
/* `last` is the last field that this release knows. */
#define STRUCT(ours, theirs, size, last)                                                           \
	expect(NV_END(struct nv_##ours, last) == (size),                                           \
	       "size of " #ours " up to " #last ": %zu, " #size " is %zu",                         \
	       NV_END(struct nv_##ours, last), (size_t)(size));
/* The distance between two structs that are passed in arrays. */
#define STRIDE(ours, theirs)                                                                       \
	expect(sizeof(struct nv_##ours) == sizeof(theirs),                                         \
	       "sizeof " #ours ": %zu, NVIDIA has %zu", sizeof(struct nv_##ours), sizeof(theirs));
#define CALL(result, symbol, theirs)                                                               \
	expect(__builtin_types_compatible_p(__typeof__(&symbol), result (*)(theirs *)),            \
	       #symbol " does not take a " #theirs);
/* The size that NV_PARAMS gives: up to `last` of nv_symbols.h, which the first release has. */
#define FIRST(ours, first, last)                                                                   \
	expect(NV_END(struct nv_##ours, first) == NV_END(struct nv_##ours, last),                  \
	       "nv_symbols.h ends " #ours " at " #last ", the first release at " #first);

static void check_structs(void)
{
#include "abi_rows.h"
}

struct named {
	const char *name;
	int number;
};

#define STATUS(name) { #name, name },
static const struct named cupti_statuses[] = {
#define CUPTI_STATUS STATUS
#define NVPA_STATUS(name)
#include "abi_statuses.h"
#undef CUPTI_STATUS
#undef NVPA_STATUS
};
static const struct named nvpa_statuses[] = {
#define CUPTI_STATUS(name)
#define NVPA_STATUS STATUS
#include "abi_statuses.h"
};

static void check_statuses(const struct named *theirs, size_t count, const struct nv_status *ours)
{
	expect(count > 20, "only %zu statuses found in NVIDIA's headers", count);
	for (size_t i = 0; i < count; i++) {
		const struct nv_status *row = ours;

		while (row->name && row->number != theirs[i].number)
			row++;
		if (row->name)
			expect(!strcmp(row->name, theirs[i].name), "status %d is %s, not %s",
			       theirs[i].number, theirs[i].name, row->name);
		else
			expect(CUPTI_API_VERSION > NEWEST_KNOWN, "status %d, %s, is unknown",
			       theirs[i].number, theirs[i].name);
	}
}

static void check_enums(void)
{
	static const struct {
		const char *name;
		int ours, theirs;
	} rows[] = {
		{ "NV_PROFILER_RANGE", NV_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER },
		{ "NV_PROFILER_PM_SAMPLING", NV_PROFILER_PM_SAMPLING,
		  CUPTI_PROFILER_TYPE_PM_SAMPLING },
		{ "NV_ACTIVITY_KIND_PROFILER", NV_ACTIVITY_KIND_PROFILER,
		  NVPA_ACTIVITY_KIND_PROFILER },
		{ "OPK_COUNTER", OPK_COUNTER, CUPTI_METRIC_TYPE_COUNTER },
		{ "OPK_RATIO", OPK_RATIO, CUPTI_METRIC_TYPE_RATIO },
		{ "OPK_THROUGHPUT", OPK_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT },
		{ "NV_SUCCESS", NV_SUCCESS, CUPTI_SUCCESS },
		{ "NV_SUCCESS", NV_SUCCESS, NVPA_STATUS_SUCCESS },
		{ "NV_CUPTI_INVALID_PARAMETER", NV_CUPTI_INVALID_PARAMETER,
		  CUPTI_ERROR_INVALID_PARAMETER },
		{ "NV_CUPTI_OUT_OF_MEMORY", NV_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY },
		{ "NV_CUPTI_INVALID_METRIC_NAME", NV_CUPTI_INVALID_METRIC_NAME,
		  CUPTI_ERROR_INVALID_METRIC_NAME },
		{ "NV_CUPTI_NOT_SUPPORTED", NV_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED },
#if CUPTI_API_VERSION >= 130000
		{ "NV_CUPTI_INVALID_CHIP_NAME", NV_CUPTI_INVALID_CHIP_NAME,
		  CUPTI_ERROR_INVALID_CHIP_NAME },
#endif
		{ "NV_CUPTI_UNKNOWN", NV_CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN },
		{ "NV_NVPA_INVALID_ARGUMENT", NV_NVPA_INVALID_ARGUMENT,
		  NVPA_STATUS_INVALID_ARGUMENT },
		{ "NV_DIM_UNIT_INVALID", (int)NV_DIM_UNIT_INVALID, (int)NVPW_DIM_UNIT_INVALID },
		{ "NV_NVPA_INVALID_CONTEXT_STATE", NV_NVPA_INVALID_CONTEXT_STATE,
		  NVPA_STATUS_INVALID_CONTEXT_STATE },
#if CUPTI_API_VERSION >= 130100
		{ "NV_SCOPE_CONTEXT", NV_SCOPE_CONTEXT, CUPTI_METRIC_COLLECTION_SCOPE_CONTEXT },
		{ "NV_SCOPE_DEVICE", NV_SCOPE_DEVICE, CUPTI_METRIC_COLLECTION_SCOPE_DEVICE },
#endif
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect(rows[i].ours == rows[i].theirs, "%s is %d, NVIDIA has %d", rows[i].name,
		       rows[i].ours, rows[i].theirs);
}

/* nv_status.c is linked for its tables; nothing here fails through it. */
int opk_check_interrupt(struct opk_ctx *ctx)
{
	(void)ctx;
	return 0;
}

bool opk_interrupted(const struct opk_ctx *ctx)
{
	(void)ctx;
	return false;
}

int opk_fail(struct opk_ctx *ctx, int code, const char *format, ...)
{
	(void)ctx;
	(void)format;
	return code;
}

int main(void)
{
	check_structs();
	check_enums();
	check_statuses(cupti_statuses, sizeof cupti_statuses / sizeof *cupti_statuses,
	               nv_cupti_statuses);
	check_statuses(nvpa_statuses, sizeof nvpa_statuses / sizeof *nvpa_statuses,
	               nv_nvpa_statuses);
	printf("CUPTI_API_VERSION %d: %d checks, %d failed\n", CUPTI_API_VERSION, checks, failures);
	return failures ? 1 : 0;
}
