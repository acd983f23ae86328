/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_nv.h"

#include <math.h>
#include <signal.h>

#include "testing.h"

struct fake_nv fake;

const char *const fake_chips[3] = { "FA100", "FB100", "FC100" };

static const char *const counters[] = { "fake__c", "fake__a", "fake__b", "fake__listed" };
static const char *const named_counters[] = { "U.Triage.fake__x", "Triage.fake__y", "fake__a",
	                                      "U.Other.fake__z" };
static const char *const ratios[] = { "fake__ratio" };
static const char *const throughputs[] = { "fake__throughput" };

/* A pass holds a cost of 4. */
static const struct full_metric {
	const char *name;
	int status; /* returned when it is added */
	unsigned cost;
	const char *raw;
} full_metrics[] = {
	{ "fake__a.sum", 0, 2, "raw_a" },
	{ "fake__b.sum", 0, 2, "raw_b" },
	{ "fake__c.sum", 0, 2, "raw_c" },
	{ "fake__ratio.pct", 0, 6, "raw_r" },
	{ "fake__ratio.ratio", 0, 6, "raw_r" },
	{ "fake__throughput.avg.pct_of_peak_sustained_elapsed", 0, 1, "raw_t" },
	{ "fake__listed.sum", NV_CUPTI_UNKNOWN, 1, "raw_l" },
	/* Listed only on request. */
	{ "U.Triage.fake__x.sum", 0, 3, "raw_1" },
	{ "Triage.fake__y.sum", 0, 2, "raw_2" },
	{ "U.Other.fake__z.sum", NV_CUPTI_UNKNOWN, 1, "raw_3" },
	/* Not listed, like metrics for which PerfWorks 12.x has no unit. */
	{ "sm__ops_path_tensor_src_fp16.sum.per_second", 0, 1, "raw_4" },
	{ "gcc__xbar2gcc_sectors.sum", 0, 1, "raw_4" },
	{ "pvavpu__vpu_cycles_active.sum.per_cycle_elapsed", 0, 1, "raw_4" },
};

enum {
	FULL_COUNT = sizeof full_metrics / sizeof *full_metrics,
	NVPA_INVALID_ARGUMENT = 8,
};

#define SHARE ".avg.pct_of_peak_sustained_elapsed"
#define PEAK ".avg.peak_sustained_elapsed"

/* Not listed: constituents of throughputs, and another throughput. */
static const char *const unlisted[] = {
	"fake__a" SHARE,
	"fake__b" SHARE,
	"fake__c" SHARE,
	"fake__a" PEAK,
	"fake__b" PEAK,
	"fake__c" PEAK,
	"fake__other_throughput" SHARE,
};

enum { UNLISTED_COUNT = sizeof unlisted / sizeof *unlisted };

struct fake_host {
	bool poisoned;
	bool has_link, has_other;
	unsigned cost;
};

static void do_deed(enum fake_deed deed)
{
	switch (deed) {
	case FAKE_RETURNS:
		return;
	case FAKE_SEGFAULTS:
		/* Restores the signal's default: a sanitizer would report it and exit. */
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		return;
	case FAKE_ABORTS:
		signal(SIGABRT, SIG_DFL);
		abort();
	case FAKE_EXITS:
		exit(3);
	case FAKE_EXITS_HAPPY:
		exit(0);
	case FAKE_LOOPS:
		for (;;)
			pause();
	}
}

static const struct full_metric *find_full(const char *name)
{
	for (size_t i = 0; i < FULL_COUNT; i++)
		if (!strcmp(full_metrics[i].name, name))
			return &full_metrics[i];
	return NULL;
}

/* The metric's index among all names that are evaluated; SIZE_MAX if it is unknown. */
static size_t find_evaluated(const char *name)
{
	const struct full_metric *metric = find_full(name);

	if (fake.refused && !strcmp(name, fake.refused))
		return SIZE_MAX;
	for (size_t i = 0; !metric && i < UNLISTED_COUNT; i++)
		if (!strcmp(unlisted[i], name))
			return FULL_COUNT + i;
	return metric ? (size_t)(metric - full_metrics) : SIZE_MAX;
}

static const char *name_of(size_t evaluated)
{
	return evaluated < FULL_COUNT ? full_metrics[evaluated].name
	                              : unlisted[evaluated - FULL_COUNT];
}

static bool is_base(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < FULL_COUNT; i++) {
		const char *full = full_metrics[i].name;

		if (!strncmp(full, name, length) && full[length] == '.')
			return true;
	}
	return false;
}

static void note_size(size_t size)
{
	if (fake.size_count < FAKE_MAX_SIZES)
		fake.sizes[fake.size_count++] = size;
}

/* ---- libcupti */

static int chip_status(const char *chip, int profiler)
{
	if (!strcmp(chip, "FA100"))
		return 0;
	if (!strcmp(chip, "FB100"))
		return profiler == NV_PROFILER_PM_SAMPLING ? NV_CUPTI_NOT_SUPPORTED : 0;
	return strcmp(chip, "FC100") ? NV_CUPTI_INVALID_CHIP_NAME : NV_CUPTI_NOT_SUPPORTED;
}

static int do_cuptiProfilerHostInitialize(struct nv_HostInitialize *params)
{
	bool of_set;
	int status;

	note_size(params->structSize);
	if (params->structSize != fake.initialize_size)
		return NV_CUPTI_INVALID_PARAMETER;
	status = chip_status(params->pChipName, params->profilerType);
	if (status)
		return status;
	if (params->pCounterAvailabilityImage)
		do_deed(fake.availability_deed);
	of_set = params->structSize > offsetof(struct nv_HostInitialize, pSinglePassMetricSetName)
	         && params->pSinglePassMetricSetName;
	if (of_set && fake.sets_fail)
		return NV_CUPTI_UNKNOWN;
	params->pHostObject = calloc(1, sizeof(struct fake_host));
	fake.hosts_of_sets += of_set;
	fake.hosts++;
	return 0;
}

static int do_cuptiProfilerHostDeinitialize(struct nv_HostDeinitialize *params)
{
	free(params->pHostObject);
	fake.hosts--;
	return 0;
}

static int do_cuptiProfilerHostGetSupportedChips(struct nv_HostGetSupportedChips *params)
{
	params->numChips = 3;
	params->ppChipNames = fake_chips;
	return 0;
}

static int do_cuptiProfilerHostGetBaseMetrics(struct nv_HostGetBaseMetrics *params)
{
	static const struct {
		const char *const *names;
		size_t count;
	} types[] = { { counters, 4 }, { ratios, 1 }, { throughputs, 1 }, { named_counters, 4 } };
	int type = params->metricType == OPK_COUNTER && fake.named_sets ? 3 : params->metricType;

	if (params->metricType < 0 || params->metricType > 2)
		return NV_CUPTI_INVALID_PARAMETER;
	params->ppMetricNames = (const char **)types[type].names;
	params->numMetrics = types[type].count;
	return 0;
}

static int do_cuptiProfilerHostGetSubMetrics(struct nv_HostGetSubMetrics *params)
{
	static const char *found[FULL_COUNT];
	size_t length = strlen(params->pMetricName);

	params->numOfSubmetrics = 0;
	for (size_t i = 0; i < FULL_COUNT; i++) {
		const char *full = full_metrics[i].name;

		if (!strncmp(full, params->pMetricName, length) && full[length] == '.')
			found[params->numOfSubmetrics++] = full + length;
	}
	params->ppSubMetrics = found;
	return params->numOfSubmetrics && !fake.lists_no_submetrics ? 0
	                                                            : NV_CUPTI_INVALID_METRIC_NAME;
}

static int scope_of(const char *name)
{
	/* 13.1 returns invalid parameter. */
	if (strstr(name, "__c"))
		return 2;
	return strstr(name, fake.device_metric) ? NV_SCOPE_DEVICE : NV_SCOPE_CONTEXT;
}

static int do_cuptiProfilerHostGetMetricProperties(struct nv_HostGetMetricProperties *params)
{
	note_size(params->structSize);
	if (params->structSize != fake.properties_size)
		return NV_CUPTI_INVALID_PARAMETER;
	if (!find_full(params->pMetricName)
	    && (fake.lists_no_submetrics || !is_base(params->pMetricName)))
		return NV_CUPTI_INVALID_METRIC_NAME;
	/* NULL: the real one never returns it. */
	params->pDescription = strstr(params->pMetricName, "__c") ? NULL : "a fake metric";
	params->pHwUnit = "fake";
	params->pDimUnit = "bytes";
	if (params->structSize >= NV_END(struct nv_HostGetMetricProperties, metricCollectionScope))
		params->metricCollectionScope = scope_of(params->pMetricName);
	params->metricType = strstr(params->pMetricName, "ratio")        ? OPK_RATIO
	                     : strstr(params->pMetricName, "throughput") ? OPK_THROUGHPUT
	                                                                 : OPK_COUNTER;
	return 0;
}

static bool is_link(const char *raw)
{
	return fake.link && !strcmp(raw, fake.link);
}

static int add_one(struct fake_host *host, const char *name)
{
	const struct full_metric *metric = find_full(name);

	if (!metric || metric->status) {
		host->poisoned = true;
		return metric ? metric->status : NV_CUPTI_INVALID_METRIC_NAME;
	}
	host->has_link |= is_link(metric->raw);
	host->has_other |= !is_link(metric->raw);
	host->poisoned = host->has_link && host->has_other;
	host->cost += metric->cost;
	return host->poisoned ? NV_CUPTI_NOT_SUPPORTED : 0;
}

static int do_cuptiProfilerHostConfigAddMetrics(struct nv_HostConfigAddMetrics *params)
{
	struct fake_host *host = params->pHostObject;
	int status = 0;

	if (host->poisoned)
		return NV_CUPTI_UNKNOWN;
	if (params->numMetrics > 1 && fake.together_status)
		return fake.together_status;
	/* Metrics of different calls share no pass. */
	if (fake.calls_share_passes && host->cost)
		return 0;
	host->cost = (host->cost + 3) / 4 * 4;
	for (size_t i = 0; !status && i < params->numMetrics; i++)
		status = add_one(host, params->ppMetricNames[i]);
	return status;
}

static int do_cuptiProfilerHostGetConfigImageSize(struct nv_HostGetConfigImageSize *params)
{
	params->configImageSize = FAKE_CONFIG_SIZE;
	return 0;
}

static void write_config(uint8_t *image, uint32_t passes)
{
	memset(image, 'c', FAKE_CONFIG_SIZE);
	memcpy(image, &passes, sizeof passes);
	/* Real images name their chip, too. */
	memcpy(image + sizeof passes, "FA100", 5);
}

static int do_cuptiProfilerHostGetConfigImage(struct nv_HostGetConfigImage *params)
{
	const struct fake_host *host = params->pHostObject;

	if (params->configImageSize != FAKE_CONFIG_SIZE)
		return NV_CUPTI_INVALID_PARAMETER;
	/* CUPTI's plan may take more passes than needed. */
	write_config(params->pConfigImage, (host->cost + 3) / 4 + fake.needless_passes);
	return 0;
}

static int do_cuptiProfilerHostGetNumOfPasses(struct nv_HostGetNumOfPasses *params)
{
	uint32_t passes;

	memcpy(&passes, params->pConfigImage, sizeof passes);
	params->numOfPasses = passes;
	return 0;
}

static int do_cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct nv_HostGetMaxPerPass *params)
{
	params->maxMetricsPerPass = params->profilerType == NV_PROFILER_PM_SAMPLING ? 12 : 4;
	return chip_status(params->pChipName, params->profilerType);
}

static int do_cuptiProfilerHostGetSinglePassSets(struct nv_HostSinglePassSets *params)
{
	static const char *const sets[] = { "Triage", "Empty" };

	if (params->ppSinglePassSets)
		memcpy(params->ppSinglePassSets, sets, sizeof sets);
	params->numOfSinglePassSets = fake.no_sets ? 0 : 2;
	return 0;
}

static int do_cuptiProfilerHostGetMetricsInSinglePassSet(struct nv_HostMetricsInSet *params)
{
	static const char names[] = "fake__a\0fake__listed\0fake__c\0fake__b\0fake__gone";
	static const size_t places[] = { 0, 8, 21, 29, 37 };

	if (!params->pMetricsBuffer != !params->pMetricsIndicesBuffer)
		return NV_CUPTI_INVALID_PARAMETER;
	if (strcmp(params->pSinglePassSetName, "Triage"))
		return 0;
	if (params->pMetricsBuffer) {
		memcpy(params->pMetricsBuffer, names, sizeof names);
		memcpy(params->pMetricsIndicesBuffer, places, sizeof places);
		params->pMetricsIndicesBuffer[4] += fake.name_beyond;
	}
	params->numOfMetricsInSinglePassSet = COUNT(places);
	params->metricsBufferSize = sizeof names;
	return 0;
}

static int do_cuptiProfilerHostGetRangeName(struct nv_HostGetRangeName *params)
{
	size_t size = fake.name_length ? fake.name_length : 32;
	char *name = malloc(size + 1);

	memset(name, 'x', size);
	name[size] = '\0';
	if (!fake.name_length)
		snprintf(name, size, "outer%srange%zu", params->delimiter, params->rangeIndex);
	params->pRangeName = name;
	return 0;
}

enum { FAKE_PASSES = 4 };

/* An image that the combiner makes: each metric is a sum or mean over the ranges in a slot. */
struct fake_copy {
	char magic[8];
	uint64_t is_copy;
	uint64_t gpu; /* of its source; at the same offset */
	uint64_t slots, used;
	struct fake_slot {
		struct fake_part {
			uint64_t ranges, indices, times; /* times: the divisor of sums */
		} passes[FAKE_PASSES];
		char name[64];
	} sums[];
};

enum { FAKE_PASS_AT = 24, FAKE_PASS_MARK = 0xa5 };

static unsigned pass_of(const void *image)
{
	const unsigned char *mark = (const unsigned char *)image + FAKE_PASS_AT;

	return mark[1] == FAKE_PASS_MARK ? mark[0] % FAKE_PASSES : 0;
}

void fake_mark_pass(void *image, unsigned pass)
{
	unsigned char *mark = (unsigned char *)image + FAKE_PASS_AT;

	mark[0] = (unsigned char)pass;
	mark[1] = FAKE_PASS_MARK;
}

static const struct fake_copy *as_copy(const void *image)
{
	const struct fake_copy *copy = image;

	return copy->is_copy == 1 ? copy : NULL;
}

static void add_part(struct fake_part *to, const struct fake_part *from)
{
	to->ranges += from->ranges;
	to->indices += from->indices;
	to->times += from->times;
}

static double value_of_part(const struct fake_part *part, size_t metric)
{
	double sum = (double)(part->indices * 100 + part->ranges * metric)
	             + 0.5 * (double)part->ranges;

	return sum / (double)part->times;
}

/* The value over all passes, or the mean of the passes that have the metric. */
static double value_of_slot(const struct fake_slot *slot, size_t metric)
{
	unsigned needed = metric < FAKE_MAX_NEEDED ? fake.needed[metric] : 0;
	double sum = 0;
	size_t passes = 0;
	struct fake_part all = { 0 };

	for (size_t i = 0; !needed && i < FAKE_PASSES; i++)
		add_part(&all, &slot->passes[i]);
	if (!needed)
		return value_of_part(&all, metric);
	for (size_t i = 1; i < FAKE_PASSES; i++) {
		struct fake_part part = slot->passes[i];

		add_part(&part, &slot->passes[0]);
		if (needed >> i & 1) {
			sum += value_of_part(&part, metric);
			passes++;
		}
	}
	return sum / (double)passes;
}

static void make_values(double *values, size_t count, const void *image, size_t range)
{
	const struct fake_copy *copy = as_copy(image);
	const struct fake_part one = { 1, range, 1 };

	for (size_t i = 0; i < count; i++)
		values[i] = copy ? value_of_slot(&copy->sums[range], i) : value_of_part(&one, i);
	if (range != fake.evaluate_at)
		return;
	do_deed(fake.evaluate_deed);
	if (fake.nan_or_inf != 0)
		values[0] = fake.nan_or_inf;
}

/* Values that depend on the name: those of parts of throughputs. 1: the value is not available. */
static int change_value(double *value, const char *name)
{
	size_t length = fake.nan_part ? strcspn(fake.nan_part, ".") : 0;

	if (fake.failing && !strcmp(name, fake.failing))
		return 1;
	if (find_full(name))
		return 0;
	*value = 1;
	if (length && !strncmp(name, fake.nan_part, length) && !strcmp(name + length, SHARE))
		*value = NAN;
	if (length && !strncmp(name, fake.nan_part, length) && !strcmp(name + length, PEAK))
		*value = !fake.part_is_idle;
	return 0;
}

static int do_cuptiProfilerHostEvaluateToGpuValues(struct nv_HostEvaluateToGpuValues *params)
{
	int failed = 0;

	for (size_t i = 0; i < params->numMetrics; i++)
		if (find_evaluated(params->ppMetricNames[i]) == SIZE_MAX)
			return NV_CUPTI_INVALID_METRIC_NAME;
	make_values(params->pMetricValues, params->numMetrics, params->pCounterDataImage,
	            params->rangeIndex);
	for (size_t i = 0; i < params->numMetrics; i++)
		failed |= change_value(&params->pMetricValues[i], params->ppMetricNames[i]);
	return failed;
}

static int do_cuptiPmSamplingGetCounterDataInfo(struct nv_PmGetCounterDataInfo *params)
{
	const struct fake_copy *copy = as_copy(params->pCounterDataImage);

	if (copy) {
		params->numTotalSamples = copy->slots;
		params->numPopulatedSamples = copy->used;
		params->numCompletedSamples = copy->used;
		return 0;
	}
	/* Reports one slot too many. */
	if (fake.miscounts)
		ck_assert_uint_eq(params->pCounterDataImage[params->counterDataImageSize], 0);
	params->numTotalSamples = fake.slots;
	params->numPopulatedSamples = fake.miscounts ? 0 : fake.populated;
	params->numCompletedSamples = pass_of(params->pCounterDataImage) ? 0 : fake.completed;
	return 0;
}

/* ---- libnvperf_host */

static int do_NVPW_InitializeHost(struct nv_InitializeHost *params)
{
	(void)params;
	return 0;
}

static int do_NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(
	struct nv_EvaluatorScratchSize *params)
{
	params->scratchBufferSize = 64;
	return 0;
}

static int do_NVPW_CUDA_MetricsEvaluator_Initialize(struct nv_EvaluatorInitialize *params)
{
	if (!params->pScratchBuffer || params->scratchBufferSize != 64)
		return NVPA_INVALID_ARGUMENT;
	params->pMetricsEvaluator = params->pScratchBuffer;
	fake.evaluators++;
	return 0;
}

static int do_NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize(
	struct nv_DeviceScratchSize *params)
{
	params->scratchBufferSize = 32;
	return 0;
}

static int do_NVPW_Device_MetricsEvaluator_Initialize(struct nv_DeviceInitialize *params)
{
	if (!params->pScratchBuffer || params->scratchBufferSize != 32)
		return NVPA_INVALID_ARGUMENT;
	params->pMetricsEvaluator = params->pScratchBuffer;
	fake.evaluators++;
	return 0;
}

static int do_NVPW_MetricsEvaluator_Destroy(struct nv_EvaluatorDestroy *params)
{
	(void)params;
	fake.evaluators--;
	return 0;
}

static int do_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(
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
static int do_NVPW_MetricsEvaluator_SetDeviceAttributes(struct nv_EvaluatorSetDevice *params)
{
	return fake.image_is_pm || !params->counterDataImageSize ? NVPA_INVALID_ARGUMENT : 0;
}

static int do_NVPW_MetricsEvaluator_EvaluateToGpuValues(struct nv_EvaluatorValues *params)
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
static int do_NVPW_MetricsEvaluator_GetMetricRawDependencies(
	struct nv_EvaluatorRawDependencies *params)
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

static int do_NVPW_CUDA_CounterDataBuilder_Create(struct nv_BuilderCreate *params)
{
	params->pCounterDataBuilder = &fake;
	fake.builders++;
	fake.prefix_counters = 0;
	return 0;
}

static int do_NVPW_CounterDataBuilder_Destroy(struct nv_BuilderDestroy *params)
{
	if (params->pCounterDataBuilder != &fake)
		return NVPA_INVALID_ARGUMENT;
	fake.builders--;
	return 0;
}

static int do_NVPW_CounterDataBuilder_GetCounterDataPrefix(struct nv_BuilderGetPrefix *params)
{
	if (params->pBuffer) {
		if (params->bytesAllocated < FAKE_PREFIX_SIZE)
			return NVPA_INVALID_ARGUMENT;
		memset(params->pBuffer, 'p', FAKE_PREFIX_SIZE);
	}
	params->bytesCopied = FAKE_PREFIX_SIZE;
	return 0;
}

static int do_NVPW_CounterDataBuilder_AddRawCounters(struct nv_BuilderAddRawCounters *params)
{
	fake.prefix_counters = params->numRawCounterRequests;
	fake.prefix_instances = 0;
	for (size_t i = 0; i < params->numRawCounterRequests; i++)
		fake.prefix_instances += params->pRawCounterRequests[i].keepInstances;
	return 0;
}

static int do_NVPW_CounterDataBuilder_AddMetrics(struct nv_BuilderAddMetrics *params)
{
	fake.prefix_counters = params->numMetricRequests;
	fake.prefix_instances = 0;
	for (size_t i = 0; i < params->numMetricRequests; i++)
		fake.prefix_instances += params->pRawMetricRequests[i].keepInstances;
	return 0;
}

static int do_NVPW_MetricsEvaluator_GetMetricDimUnits(struct nv_EvaluatorDimUnits *params)
{
	if (params->pDimUnits && !fake.factor_count)
		return NVPA_INVALID_ARGUMENT;
	if (params->pDimUnits)
		memcpy(params->pDimUnits, fake.factors, fake.factor_count * sizeof *fake.factors);
	params->numDimUnits = fake.factor_count;
	return 0;
}

static int do_NVPW_MetricsEvaluator_DimUnitToString(struct nv_EvaluatorDimUnitToString *params)
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
static int do_NVPW_MetricsEvaluator_GetMetricNames(struct nv_EvaluatorMetricNames *params)
{
	static const size_t begins[] = { 0, 8, 16 };

	params->pMetricNames = params->metricType == 2 ? "fake__throughput"
	                                               : "fake__c\0fake__a\0fake__b";
	params->pMetricNameBeginIndices = begins;
	params->numMetrics = params->metricType == 2 ? 1 : 3;
	return 0;
}

/* The maximum of a and b and, unlike NVIDIA's, of itself; the other throughput: of c. */
static int do_NVPW_MetricsEvaluator_GetThroughputMetricProperties(
	struct nv_EvaluatorThroughput *params)
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
static int do_NVPW_Config_GetRawCounters(struct nv_ConfigGetRawCounters *params)
{
	static const char *const passes[2][2] = { { "raw_b", "raw_a" }, { "raw_c", "raw_x" } };

	if (params->ppRawCounterNames)
		memcpy(params->ppRawCounterNames, passes[params->passIndex != 0], sizeof *passes);
	params->numRawCounters = 2;
	return 0;
}

static int do_NVPW_CounterData_GetNumRanges(struct nv_DataGetNumRanges *params)
{
	const struct fake_copy *copy = as_copy(params->pCounterDataImage);

	params->numRanges = copy ? copy->used : fake.populated;
	return 0;
}

static int do_NVPW_CounterData_GetChipName(struct nv_DataGetChipName *params)
{
	params->pChipName = fake.image_chip;
	return 0;
}

static int do_NVPW_PeriodicSampler_CounterData_GetSampleTime(struct nv_SamplerGetSampleTime *params)
{
	if (!fake.image_is_pm)
		return NVPA_INVALID_ARGUMENT;
	/* The first sample of a session has no start time. */
	params->timestampStart = params->rangeIndex ? 1000 + 10 * params->rangeIndex : 0;
	params->timestampEnd = 1010 + 10 * params->rangeIndex;
	return 0;
}

/* ---- the combiner */

static int do_NVPW_CounterData_ExtractCounterDataPrefix(struct nv_DataExtractPrefix *params)
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

static int do_NVPW_CounterData_CalculateCounterDataImageCopySize(struct nv_DataCopySize *params)
{
	if (params->counterDataPrefixSize != FAKE_PREFIX_SIZE
	    || params->maxNumRangeTreeNodes < params->maxNumRanges || !params->maxRangeNameLength)
		return NVPA_INVALID_ARGUMENT;
	params->copyDataImageCounterSize = size_of_copy(params->maxNumRanges);
	return 0;
}

static int do_NVPW_CounterData_InitializeCounterDataImageCopy(struct nv_DataCopyInitialize *params)
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

static int do_NVPW_CounterDataCombiner_Create(struct nv_CombinerCreate *params)
{
	if (!as_copy(params->pCounterDataDst))
		return NVPA_INVALID_ARGUMENT;
	params->pCounterDataCombiner = params->pCounterDataDst;
	fake.combiners++;
	return 0;
}

static int do_NVPW_CounterDataCombiner_Destroy(struct nv_CombinerDestroy *params)
{
	(void)params;
	fake.combiners--;
	return 0;
}

static int do_NVPW_CounterDataCombiner_CreateRange(struct nv_CombinerCreateRange *params)
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

static int do_NVPW_CounterDataCombiner_SumIntoRange(struct nv_CombinerSumIntoRange *params)
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

static int do_NVPW_CounterDataCombiner_AccumulateIntoRange(struct nv_CombinerAccumulate *params)
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

static int do_NVPW_PeriodicSampler_CounterData_TrimInPlace(struct nv_SamplerTrim *params)
{
	params->counterDataImageTrimmedSize = params->counterDataImageSize / 2;
	return 0;
}

static int do_NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize(
	struct nv_SamplerEstimatedSize *params)
{
	if (params->configSize != FAKE_CONFIG_SIZE)
		return NVPA_INVALID_ARGUMENT;
	params->sampleSize = 9280;
	return 0;
}

/* ---- the scheduler: raw counters cost what their metrics do, and the shared one nothing */

enum { GPU_SASS = 2, GPU_SM_C = 4, GPU_PCI = 29, GPU_SM_A = 32, GPU_SM_C_SM_A = 1048580 };

static const uint32_t domains[] = { GPU_SASS, GPU_SM_C, GPU_PCI, GPU_SM_A };

struct fake_scheduler {
	bool open[COUNT(domains)]; /* in the open pass group */
	unsigned cost, passes;     /* cost of the open pass group; passes of ended ones */
};

static size_t find_fake_domain(uint32_t domain)
{
	size_t i = 0;

	while (i < COUNT(domains) && domains[i] != domain)
		i++;
	return i;
}

/* Whether it accepts requests now. */
static bool is_open(const struct fake_scheduler *scheduler)
{
	for (size_t i = 0; i < COUNT(domains); i++)
		if (scheduler->open[i])
			return true;
	return false;
}

static const struct full_metric *find_raw(const char *raw)
{
	for (size_t i = 0; i < FULL_COUNT; i++)
		if (!strcmp(full_metrics[i].raw, raw))
			return &full_metrics[i];
	return NULL;
}

static int do_NVPW_CUDA_RawCounterConfig_Create(struct nv_SchedulerCreate *params)
{
	if (chip_status(params->pChipName, NV_PROFILER_RANGE)
	    || params->activityKind != NV_ACTIVITY_KIND_PROFILER)
		return NVPA_INVALID_ARGUMENT;
	params->pRawCounterConfig = calloc(1, sizeof(struct fake_scheduler));
	fake.schedulers++;
	return 0;
}

static int do_NVPW_RawCounterConfig_Destroy(struct nv_SchedulerDestroy *params)
{
	free(params->pRawCounterConfig);
	fake.schedulers--;
	return 0;
}

static int do_NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains(
	struct nv_SchedulerGetDomains *params)
{
	if (params->pAvailableDomains) {
		if (params->numAvailableDomains < COUNT(domains))
			return NVPA_INVALID_ARGUMENT;
		memcpy(params->pAvailableDomains, domains, sizeof domains);
	}
	params->numAvailableDomains = COUNT(domains);
	return 0;
}

static int do_NVPW_RawCounterConfig_BeginPassGroup(struct nv_SchedulerBeginPassGroup *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	for (size_t i = 0; i < params->numDomains; i++) {
		size_t domain = find_fake_domain(params->pDomains[i]);

		if (domain == COUNT(domains) || scheduler->open[domain])
			return NVPA_INVALID_ARGUMENT;
		scheduler->open[domain] = true;
	}
	return 0;
}

static int do_NVPW_RawCounterConfig_AreRawCountersSchedulable(
	struct nv_SchedulerAreSchedulable *params)
{
	const struct fake_scheduler *scheduler = params->pRawCounterConfig;
	unsigned cost = scheduler->cost;

	/* Without an open pass group the real one does not know any counter. */
	params->schedulable = is_open(scheduler);
	if (!params->numRawCounterRequests || !params->disallowAddingExtraPasses
	    || params->rawCounterRequestStructSize
	               != NV_END(struct nv_RawCounterRequest, keepInstances))
		return NVPA_INVALID_ARGUMENT;
	for (size_t i = 0; i < params->numRawCounterRequests; i++) {
		const char *name = params->pRawCounterRequests[i].pRawCounterName;
		const struct full_metric *metric = find_raw(name);

		if (params->pRawCounterRequests[i].domain)
			return NVPA_INVALID_ARGUMENT;
		if (!metric && strcmp(name, "raw_shared"))
			params->schedulable = false;
		cost += metric ? metric->cost : 0;
	}
	params->schedulable = params->schedulable && cost <= 4;
	return 0;
}

/* raw_t is a software counter, raw_c needs one of two domains or both, others have one domain. */
static int do_NVPW_RawCounterConfig_GetRawCounterProperties(
	struct nv_SchedulerGetProperties *params)
{
	const char *name = params->pRawCounterName;
	bool many = !strcmp(name, "raw_c");

	if (!is_open(params->pRawCounterConfig)
	    || (!find_raw(name) && strcmp(name, "raw_shared") && strcmp(name, "raw_x"))
	    || params->numSupportedDomains < 2 || params->numSupportedCdgDomains < 1)
		return NVPA_INVALID_ARGUMENT;
	params->pSupportedDomains[0] = !strcmp(name, "raw_t")   ? GPU_SASS
	                               : !strcmp(name, "raw_l") ? GPU_SM_C
	                               : is_link(name)          ? GPU_PCI
	                                                        : GPU_SM_A;
	params->pSupportedDomains[1] = GPU_SM_C;
	params->numSupportedDomains = many ? 2 : 1;
	params->pSupportedCdgDomains[0] = GPU_SM_C_SM_A;
	params->numSupportedCdgDomains = many;
	return 0;
}

static int do_NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains(
	struct nv_SchedulerGetMembers *params)
{
	if (params->domain != GPU_SM_C_SM_A || params->numMemberDomains < 2)
		return NVPA_INVALID_ARGUMENT;
	params->pMemberDomains[0] = GPU_SM_C;
	params->pMemberDomains[1] = GPU_SM_A;
	params->numMemberDomains = 2;
	return 0;
}

/* Only its cost decides into which pass a counter goes. */
static int do_NVPW_RawCounterConfig_AddRawCounters(struct nv_SchedulerAddRawCounters *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	if (!is_open(scheduler)
	    || params->rawCounterRequestStructSize
	               != NV_END(struct nv_RawCounterRequest, keepInstances))
		return NVPA_INVALID_ARGUMENT;
	for (size_t i = 0; i < params->numRawCounterRequests; i++) {
		const struct nv_RawCounterRequest *request = &params->pRawCounterRequests[i];
		const struct full_metric *metric = find_raw(request->pRawCounterName);

		/* Accepts only requests like CUPTI's. */
		if (request->domain || !request->keepInstances)
			return NVPA_INVALID_ARGUMENT;
		scheduler->cost += metric ? metric->cost : 0;
	}
	return 0;
}

static int do_NVPW_RawCounterConfig_EndPassGroup(struct nv_SchedulerEndPassGroup *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	for (size_t i = 0; i < params->numDomains; i++) {
		size_t domain = find_fake_domain(params->pDomains[i]);

		if (domain == COUNT(domains) || !scheduler->open[domain])
			return NVPA_INVALID_ARGUMENT;
		scheduler->open[domain] = false;
	}
	scheduler->passes += (scheduler->cost + 3) / 4;
	scheduler->cost = 0;
	return 0;
}

static int do_NVPW_RawCounterConfig_GetNumPasses(struct nv_SchedulerGetNumPasses *params)
{
	params->numPasses = ((const struct fake_scheduler *)params->pRawCounterConfig)->passes;
	return 0;
}

static int do_NVPW_RawCounterConfig_GenerateConfigImage(struct nv_SchedulerGenerate *params)
{
	/* Fails while a pass group is open. */
	return is_open(params->pRawCounterConfig) ? NVPA_INVALID_ARGUMENT : 0;
}

static int do_NVPW_RawCounterConfig_GetConfigImage(struct nv_SchedulerGetImage *params)
{
	const struct fake_scheduler *scheduler = params->pRawCounterConfig;

	if (params->pBuffer && params->bytesAllocated < FAKE_CONFIG_SIZE)
		return NVPA_INVALID_ARGUMENT;
	if (params->pBuffer)
		write_config(params->pBuffer, scheduler->passes);
	params->bytesCopied = FAKE_CONFIG_SIZE;
	return 0;
}

static int do_NVPW_RawCounterConfig_RawCounterDomainToString(
	struct nv_SchedulerDomainToString *params)
{
	switch (params->domain) {
	case GPU_SASS:
		params->pDomainName = "gpu_sass";
		return 0;
	case GPU_SM_A:
		params->pDomainName = "gpu_sm_a";
		return 0;
	case GPU_SM_C:
		params->pDomainName = "gpu_sm_c";
		return 0;
	case GPU_PCI:
		params->pDomainName = "gpu_pci";
		return 0;
	case GPU_SM_C_SM_A:
		params->pDomainName = "gpu_sm_c_sm_a";
		return 0;
	}
	return NVPA_INVALID_ARGUMENT;
}

/* ---- each call counts, fails where a test says so, and is as strict about sizes as NVIDIA is */

static int enter(enum fake_call call)
{
	unsigned number = ++fake.calls[call];

	return number >= fake.from[call] ? fake.status[call] : 0;
}

static bool has_ladder(enum fake_call call)
{
	return call == FAKE_cuptiProfilerHostInitialize
	       || call == FAKE_cuptiProfilerHostGetMetricProperties;
}

#define X(symbol, params, last, feature)                                                           \
	static int fake_##symbol(struct nv_##params *p)                                            \
	{                                                                                          \
		int status = enter(FAKE_##symbol);                                                 \
                                                                                                   \
		if (status)                                                                        \
			return status;                                                             \
		if (p->structSize != NV_END(struct nv_##params, last)                              \
		    && !has_ladder(FAKE_##symbol))                                                 \
			return *#symbol == 'c' ? NV_CUPTI_INVALID_PARAMETER                        \
			                       : NVPA_INVALID_ARGUMENT;                            \
		return do_##symbol(p);                                                             \
	}
NV_CUPTI_SYMBOLS(X)
NV_NVPERF_SYMBOLS(X)
#undef X

static int fake_cuptiGetVersion(uint32_t *version)
{
	*version = 990000;
	return 0;
}

void fake_reset(void)
{
	fake = (struct fake_nv){
		.initialize_size = NV_END(struct nv_HostInitialize, pHostObject),
		.properties_size = NV_END(struct nv_HostGetMetricProperties, metricType),
		.factors = { { 0, 1 }, { 1, -1 } },
		.factor_count = 2,
		.device_metric = "fake__b",
		.image_chip = "FA100",
		.slots = 8,
		.populated = 3,
		.completed = 3,
	};
}

struct nv_table fake_table(void)
{
	struct nv_table table = { .cuptiGetVersion = fake_cuptiGetVersion };

#define X(symbol, params, last, feature) table.symbol = fake_##symbol;
	NV_CUPTI_SYMBOLS(X)
	NV_NVPERF_SYMBOLS(X)
#undef X
	return table;
}

void **fake_slot(struct nv_table *table, enum fake_call call)
{
	static const size_t offsets[] = {
#define X(symbol, params, last, feature) offsetof(struct nv_table, symbol),
		NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
	};

	return (void **)((char *)table + offsets[call]);
}

struct opk_ctx *fake_ctx_of(const struct nv_table *table)
{
	struct opk_ctx *ctx = new_ctx();

	ctx->nv = nv_from_table(table);
	ctx->nv_free = nv_free;
	ck_assert_ptr_nonnull(ctx->nv);
	return ctx;
}

struct opk_ctx *fake_ctx(void)
{
	struct nv_table table = fake_table();

	fake_reset();
	return fake_ctx_of(&table);
}

const void *fake_image(void)
{
	static _Alignas(8) char image[FAKE_IMAGE_SIZE] = "LOPDATA";

	return image;
}
