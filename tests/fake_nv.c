/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake of NVIDIA's libraries: its metrics and images, libcupti, and the table of all calls. */
#include "fake_nv_inside.h"

#include <math.h>
#include <signal.h>

struct fake_nv fake;

const char *const fake_chips[3] = { "FA100", "FB100", "FC100" };

static const char *const counters[] = { "fake__c", "fake__a", "fake__b", "fake__listed" };
static const char *const named_counters[] = { "U.Triage.fake__x", "Triage.fake__y", "fake__a",
	                                      "U.Other.fake__z" };
static const char *const ratios[] = { "fake__ratio" };
static const char *const throughputs[] = { "fake__throughput" };

const struct full_metric full_metrics[FULL_COUNT] = {
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

void do_deed(enum fake_deed deed)
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

const struct full_metric *find_full(const char *name)
{
	for (size_t i = 0; i < FULL_COUNT; i++)
		if (!strcmp(full_metrics[i].name, name))
			return &full_metrics[i];
	return NULL;
}

size_t find_evaluated(const char *name)
{
	const struct full_metric *metric = find_full(name);

	if (fake.refused && !strcmp(name, fake.refused))
		return SIZE_MAX;
	for (size_t i = 0; !metric && i < UNLISTED_COUNT; i++)
		if (!strcmp(unlisted[i], name))
			return FULL_COUNT + i;
	return metric ? (size_t)(metric - full_metrics) : SIZE_MAX;
}

const char *name_of(size_t evaluated)
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

int chip_status(const char *chip, int profiler)
{
	if (!strcmp(chip, "FA100"))
		return 0;
	if (!strcmp(chip, "FB100"))
		return profiler == NV_PROFILER_PM_SAMPLING ? NV_CUPTI_NOT_SUPPORTED : 0;
	return strcmp(chip, "FC100") ? NV_CUPTI_INVALID_CHIP_NAME : NV_CUPTI_NOT_SUPPORTED;
}

int do_cuptiProfilerHostInitialize(struct nv_HostInitialize *params)
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

int do_cuptiProfilerHostDeinitialize(struct nv_HostDeinitialize *params)
{
	free(params->pHostObject);
	fake.hosts--;
	return 0;
}

int do_cuptiProfilerHostGetSupportedChips(struct nv_HostGetSupportedChips *params)
{
	params->numChips = 3;
	params->ppChipNames = fake_chips;
	return 0;
}

int do_cuptiProfilerHostGetBaseMetrics(struct nv_HostGetBaseMetrics *params)
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

int do_cuptiProfilerHostGetSubMetrics(struct nv_HostGetSubMetrics *params)
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

int do_cuptiProfilerHostGetMetricProperties(struct nv_HostGetMetricProperties *params)
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

bool is_link(const char *raw)
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

int do_cuptiProfilerHostConfigAddMetrics(struct nv_HostConfigAddMetrics *params)
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

int do_cuptiProfilerHostGetConfigImageSize(struct nv_HostGetConfigImageSize *params)
{
	params->configImageSize = FAKE_CONFIG_SIZE;
	return 0;
}

void write_config(uint8_t *image, uint32_t passes)
{
	memset(image, 'c', FAKE_CONFIG_SIZE);
	memcpy(image, &passes, sizeof passes);
	/* Real images name their chip, too. */
	memcpy(image + sizeof passes, "FA100", 5);
}

int do_cuptiProfilerHostGetConfigImage(struct nv_HostGetConfigImage *params)
{
	const struct fake_host *host = params->pHostObject;

	if (params->configImageSize != FAKE_CONFIG_SIZE)
		return NV_CUPTI_INVALID_PARAMETER;
	/* CUPTI's plan may take more passes than needed. */
	write_config(params->pConfigImage, (host->cost + 3) / 4 + fake.needless_passes);
	return 0;
}

int do_cuptiProfilerHostGetNumOfPasses(struct nv_HostGetNumOfPasses *params)
{
	uint32_t passes;

	memcpy(&passes, params->pConfigImage, sizeof passes);
	params->numOfPasses = passes;
	return 0;
}

int do_cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct nv_HostGetMaxPerPass *params)
{
	params->maxMetricsPerPass = params->profilerType == NV_PROFILER_PM_SAMPLING ? 12 : 4;
	return chip_status(params->pChipName, params->profilerType);
}

int do_cuptiProfilerHostGetSinglePassSets(struct nv_HostSinglePassSets *params)
{
	static const char *const sets[] = { "Triage", "Empty" };

	if (params->ppSinglePassSets)
		memcpy(params->ppSinglePassSets, sets, sizeof sets);
	params->numOfSinglePassSets = fake.no_sets ? 0 : 2;
	return 0;
}

int do_cuptiProfilerHostGetMetricsInSinglePassSet(struct nv_HostMetricsInSet *params)
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

int do_cuptiProfilerHostGetRangeName(struct nv_HostGetRangeName *params)
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

enum { FAKE_PASS_AT = 24, FAKE_PASS_MARK = 0xa5 };

unsigned pass_of(const void *image)
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

const struct fake_copy *as_copy(const void *image)
{
	const struct fake_copy *copy = image;

	return copy->is_copy == 1 ? copy : NULL;
}

void add_part(struct fake_part *to, const struct fake_part *from)
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

void make_values(double *values, size_t count, const void *image, size_t range)
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

int change_value(double *value, const char *name)
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

int do_cuptiProfilerHostEvaluateToGpuValues(struct nv_HostEvaluateToGpuValues *params)
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

int do_cuptiGetSassToSourceCorrelation(struct nv_SourceLine *params)
{
	params->lineNumber = (uint32_t)params->pcOffset / 16 + 1;
	params->fileName = strdup("fake.cu");
	params->dirName = strdup("/src");
	if (fake.path_length) {
		free(params->dirName);
		params->dirName = calloc(fake.path_length + 1, 1);
		memset(params->dirName, '/', fake.path_length);
	}
	return 0;
}

int do_cuptiGetCubinCrc(struct nv_CubinCrc *params)
{
	params->cubinCrc = params->cubinSize;
	return 0;
}

int do_cuptiPmSamplingGetCounterDataInfo(struct nv_PmGetCounterDataInfo *params)
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
		if (*(const size_t *)(const void *)p != NV_END(struct nv_##params, last)           \
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
