/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake libnvperf_host: the evaluator, builders of prefixes, and the combiner. */
#include "fake_nv_inside.h"

int do_NVPW_InitializeHost(struct nv_InitializeHost *params)
{
	(void)params;
	return 0;
}

int do_NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(struct nv_EvaluatorScratchSize *params)
{
	params->scratchBufferSize = 64;
	return 0;
}

int do_NVPW_CUDA_MetricsEvaluator_Initialize(struct nv_EvaluatorInitialize *params)
{
	if (!params->pScratchBuffer || params->scratchBufferSize != 64)
		return NVPA_INVALID_ARGUMENT;
	params->pMetricsEvaluator = params->pScratchBuffer;
	fake.evaluators++;
	return 0;
}

int do_NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize(struct nv_DeviceScratchSize *params)
{
	params->scratchBufferSize = 32;
	return 0;
}

int do_NVPW_Device_MetricsEvaluator_Initialize(struct nv_DeviceInitialize *params)
{
	if (!params->pScratchBuffer || params->scratchBufferSize != 32)
		return NVPA_INVALID_ARGUMENT;
	params->pMetricsEvaluator = params->pScratchBuffer;
	fake.evaluators++;
	return 0;
}

int do_NVPW_MetricsEvaluator_Destroy(struct nv_EvaluatorDestroy *params)
{
	(void)params;
	fake.evaluators--;
	return 0;
}

int do_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(
	struct nv_EvaluatorConvertName *params)
{
	size_t metric = find_evaluated(params->pMetricName);

	if (metric == SIZE_MAX)
		return NVPA_INVALID_ARGUMENT;
	params->pMetricEvalRequest->metricIndex = metric;
	params->pMetricEvalRequest->metricType = strstr(params->pMetricName, "throughput") ? 2 : 0;
	return 0;
}

/* PerfWorks does not know PM sampling. */
int do_NVPW_MetricsEvaluator_SetDeviceAttributes(struct nv_EvaluatorSetDevice *params)
{
	return fake.image_is_pm || !params->counterDataImageSize ? NVPA_INVALID_ARGUMENT : 0;
}

int do_NVPW_MetricsEvaluator_EvaluateToGpuValues(struct nv_EvaluatorValues *params)
{
	int failed = 0;

	make_values(params->pMetricValues, params->numMetricEvalRequests, params->pCounterDataImage,
	            params->rangeIndex);
	for (size_t i = 0; i < params->numMetricEvalRequests; i++)
		failed |= change_value(&params->pMetricValues[i],
		                       name_of(params->pMetricEvalRequests[i].metricIndex));
	return failed;
}

/* Parts have the raw counters of their throughputs. */
static const char *raw_of(size_t evaluated)
{
	const char *name = name_of(evaluated);

	if (evaluated < FULL_COUNT)
		return full_metrics[evaluated].raw;
	if (!strncmp(name, "fake__c", 7) || strstr(name, "throughput"))
		return "raw_o";
	return fake.hides_parts ? "raw_a" : "raw_t";
}

/* Each metric has two raw counters; one of them is common to all. */
int do_NVPW_MetricsEvaluator_GetMetricRawDependencies(struct nv_EvaluatorRawDependencies *params)
{
	if (params->numMetricEvalRequests != 1)
		return NVPA_INVALID_ARGUMENT;
	if (params->ppRawDependencies) {
		if (params->numRawDependencies != 2)
			return NVPA_INVALID_ARGUMENT;
		params->ppRawDependencies[0] = raw_of(params->pMetricEvalRequests->metricIndex);
		params->ppRawDependencies[1] = "raw_shared";
	}
	params->numRawDependencies = 2;
	params->numOptionalRawDependencies = 0;
	return 0;
}

int do_NVPW_CUDA_CounterDataBuilder_Create(struct nv_BuilderCreate *params)
{
	params->pCounterDataBuilder = &fake;
	fake.builders++;
	fake.prefix_counters = 0;
	return 0;
}

int do_NVPW_CounterDataBuilder_Destroy(struct nv_BuilderDestroy *params)
{
	if (params->pCounterDataBuilder != &fake)
		return NVPA_INVALID_ARGUMENT;
	fake.builders--;
	return 0;
}

int do_NVPW_CounterDataBuilder_GetCounterDataPrefix(struct nv_BuilderGetPrefix *params)
{
	if (params->pBuffer) {
		if (params->bytesAllocated < FAKE_PREFIX_SIZE)
			return NVPA_INVALID_ARGUMENT;
		memset(params->pBuffer, 'p', FAKE_PREFIX_SIZE);
	}
	params->bytesCopied = FAKE_PREFIX_SIZE;
	return 0;
}

int do_NVPW_CounterDataBuilder_AddRawCounters(struct nv_BuilderAddRawCounters *params)
{
	fake.prefix_counters = params->numRawCounterRequests;
	fake.prefix_instances = 0;
	for (size_t i = 0; i < params->numRawCounterRequests; i++)
		fake.prefix_instances += params->pRawCounterRequests[i].keepInstances;
	return 0;
}

int do_NVPW_CounterDataBuilder_AddMetrics(struct nv_BuilderAddMetrics *params)
{
	fake.prefix_counters = params->numMetricRequests;
	fake.prefix_instances = 0;
	for (size_t i = 0; i < params->numMetricRequests; i++)
		fake.prefix_instances += params->pRawMetricRequests[i].keepInstances;
	return 0;
}

int do_NVPW_MetricsEvaluator_GetMetricDimUnits(struct nv_EvaluatorDimUnits *params)
{
	if (params->pDimUnits && !fake.factor_count)
		return NVPA_INVALID_ARGUMENT;
	if (params->pDimUnits)
		memcpy(params->pDimUnits, fake.factors, fake.factor_count * sizeof *fake.factors);
	params->numDimUnits = fake.factor_count;
	return 0;
}

int do_NVPW_MetricsEvaluator_DimUnitToString(struct nv_EvaluatorDimUnitToString *params)
{
	static const char *const names[][2] = {
		{ "byte", "bytes" },
		{ "second", "seconds" },
		{ "cycle", "cycles" },
		{ "unitless", "unitless" },
	};

	if (params->dimUnit == NV_DIM_UNIT_INVALID) {
		params->pSingularName = params->pPluralName = "invalid";
		return 0;
	}
	if (params->dimUnit >= 4)
		return NVPA_INVALID_ARGUMENT;
	params->pSingularName = names[params->dimUnit][0];
	params->pPluralName = names[params->dimUnit][1];
	return 0;
}

/* PerfWorks' own order, here the same as CUPTI's. */
int do_NVPW_MetricsEvaluator_GetMetricNames(struct nv_EvaluatorMetricNames *params)
{
	static const size_t begins[] = { 0, 8, 16 };

	params->pMetricNames = params->metricType == 2 ? "fake__throughput"
	                                               : "fake__c\0fake__a\0fake__b";
	params->pMetricNameBeginIndices = begins;
	params->numMetrics = params->metricType == 2 ? 1 : 3;
	return 0;
}

/* The maximum of a and b and, unlike NVIDIA's, of itself; the other throughput: of c. */
int do_NVPW_MetricsEvaluator_GetThroughputMetricProperties(struct nv_EvaluatorThroughput *params)
{
	static const size_t counted[] = { 1, 2 }, beneath[] = { 0, 99 }, other[] = { 0 };

	if (params->throughputMetricIndex >= FULL_COUNT) {
		params->pCounterIndices = other;
		params->numCounters = !fake.undivided;
		params->numSubThroughputs = 0;
		return 0;
	}
	params->pCounterIndices = counted;
	params->numCounters = 2;
	params->pSubThroughputIndices = beneath;
	params->numSubThroughputs = fake.odd_constituents ? 2 : 1;
	return 0;
}

/* Pass 0 holds the counters of a and b; later passes hold those of c. */
int do_NVPW_Config_GetRawCounters(struct nv_ConfigGetRawCounters *params)
{
	static const char *const passes[2][2] = { { "raw_b", "raw_a" }, { "raw_c", "raw_x" } };

	if (params->ppRawCounterNames)
		memcpy(params->ppRawCounterNames, passes[params->passIndex != 0], sizeof *passes);
	params->numRawCounters = 2;
	return 0;
}

int do_NVPW_CounterData_GetNumRanges(struct nv_DataGetNumRanges *params)
{
	const struct fake_copy *copy = as_copy(params->pCounterDataImage);

	params->numRanges = copy ? copy->used : fake.populated;
	return 0;
}

int do_NVPW_CounterData_GetChipName(struct nv_DataGetChipName *params)
{
	params->pChipName = fake.image_chip;
	return 0;
}

int do_NVPW_PeriodicSampler_CounterData_GetSampleTime(struct nv_SamplerGetSampleTime *params)
{
	if (!fake.image_is_pm)
		return NVPA_INVALID_ARGUMENT;
	/* The first sample of a session has no start time. */
	params->timestampStart = params->rangeIndex ? 1000 + 10 * params->rangeIndex : 0;
	params->timestampEnd = 1010 + 10 * params->rangeIndex;
	return 0;
}

/* ---- the combiner */

int do_NVPW_CounterData_ExtractCounterDataPrefix(struct nv_DataExtractPrefix *params)
{
	if ((params->counterDataSrcSize != FAKE_IMAGE_SIZE && !as_copy(params->pCounterDataSrc))
	    || (params->pCounterDataPrefix && params->counterDataPrefixSize < FAKE_PREFIX_SIZE))
		return NVPA_INVALID_ARGUMENT;
	if (params->pCounterDataPrefix)
		memset(params->pCounterDataPrefix, 'p', FAKE_PREFIX_SIZE);
	params->counterDataPrefixSize = FAKE_PREFIX_SIZE;
	return 0;
}

static size_t size_of_copy(uint32_t slots)
{
	return sizeof(struct fake_copy) + slots * sizeof(((struct fake_copy *)0)->sums[0]);
}

int do_NVPW_CounterData_CalculateCounterDataImageCopySize(struct nv_DataCopySize *params)
{
	if (params->counterDataPrefixSize != FAKE_PREFIX_SIZE
	    || params->maxNumRangeTreeNodes < params->maxNumRanges || !params->maxRangeNameLength)
		return NVPA_INVALID_ARGUMENT;
	params->copyDataImageCounterSize = size_of_copy(params->maxNumRanges);
	return 0;
}

int do_NVPW_CounterData_InitializeCounterDataImageCopy(struct nv_DataCopyInitialize *params)
{
	struct fake_copy *copy = (struct fake_copy *)params->pCounterDataDst;
	uint64_t gpu = ((const struct fake_copy *)params->pCounterDataSrc)->gpu;

	memset(copy, 0, size_of_copy(params->maxNumRanges));
	memcpy(copy->magic, params->pCounterDataSrc, sizeof copy->magic);
	copy->is_copy = 1;
	copy->gpu = gpu;
	copy->slots = params->maxNumRanges;
	return 0;
}

int do_NVPW_CounterDataCombiner_Create(struct nv_CombinerCreate *params)
{
	if (!as_copy(params->pCounterDataDst))
		return NVPA_INVALID_ARGUMENT;
	params->pCounterDataCombiner = params->pCounterDataDst;
	fake.combiners++;
	return 0;
}

int do_NVPW_CounterDataCombiner_Destroy(struct nv_CombinerDestroy *params)
{
	(void)params;
	fake.combiners--;
	return 0;
}

int do_NVPW_CounterDataCombiner_CreateRange(struct nv_CombinerCreateRange *params)
{
	struct fake_copy *copy = params->pCounterDataCombiner;
	size_t slot = 0;

	if (params->numDescriptions != 1)
		return NVPA_INVALID_ARGUMENT;
	while (slot < copy->used && strcmp(copy->sums[slot].name, params->ppDescriptions[0]))
		slot++;
	if (slot == copy->slots)
		return 1;
	snprintf(copy->sums[slot].name, sizeof copy->sums[slot].name, "%s",
	         params->ppDescriptions[0]);
	copy->used += slot == copy->used;
	params->rangeIndexDst = slot;
	return 0;
}

int do_NVPW_CounterDataCombiner_SumIntoRange(struct nv_CombinerSumIntoRange *params)
{
	struct fake_copy *copy = params->pCounterDataCombiner;
	struct fake_part *part;

	if (params->rangeIndexDst >= copy->slots || as_copy(params->pCounterDataSrc))
		return NVPA_INVALID_ARGUMENT;
	do_deed(fake.sum_deed);
	part = &copy->sums[params->rangeIndexDst].passes[pass_of(params->pCounterDataSrc)];
	add_part(part, &(struct fake_part){ 1, params->rangeIndexSrc, 0 });
	part->times = 1;
	return 0;
}

/* Whether the slot has a range: on 13.5 an empty one with multiplier 1 would count as a range. */
static bool is_begun(const struct fake_slot *slot)
{
	for (size_t i = 0; i < FAKE_PASSES; i++)
		if (slot->passes[i].times)
			return true;
	return false;
}

int do_NVPW_CounterDataCombiner_AccumulateIntoRange(struct nv_CombinerAccumulate *params)
{
	const struct fake_copy *source = as_copy(params->pCounterDataSrc);
	struct fake_copy *copy = params->pCounterDataCombiner;
	struct fake_slot *slot = &copy->sums[params->rangeIndexDst];

	if (params->rangeIndexDst >= copy->slots || params->dstMultiplier != is_begun(slot)
	    || params->srcMultiplier != 1 || (source && params->rangeIndexSrc >= source->slots))
		return NVPA_INVALID_ARGUMENT;
	if (source && !is_begun(&source->sums[params->rangeIndexSrc]))
		return NVPA_INVALID_ARGUMENT;
	do_deed(fake.sum_deed);
	for (size_t i = 0; source && i < FAKE_PASSES; i++)
		add_part(&slot->passes[i], &source->sums[params->rangeIndexSrc].passes[i]);
	if (!source)
		add_part(&slot->passes[pass_of(params->pCounterDataSrc)],
		         &(struct fake_part){ 1, params->rangeIndexSrc, 1 });
	return 0;
}

int do_NVPW_PeriodicSampler_CounterData_TrimInPlace(struct nv_SamplerTrim *params)
{
	params->counterDataImageTrimmedSize = params->counterDataImageSize / 2;
	return 0;
}

int do_NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize(struct nv_SamplerEstimatedSize *params)
{
	if (params->configSize != FAKE_CONFIG_SIZE)
		return NVPA_INVALID_ARGUMENT;
	params->sampleSize = 9280;
	return 0;
}
