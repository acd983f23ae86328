/* SPDX-License-Identifier: BSD-2-Clause */
/* The nv adapter against a fake that fails where NVIDIA's libraries do not. */
#include "adapters/nv/nv.h"
#include "child/child.h"
#include "fake_nv.h"
#include "operations.h"
#include "testing.h"

static int do_per_pass(struct opk_ctx *ctx)
{
	size_t count;

	return opk_nv_metrics_per_pass(&count, ctx, "FA100", OPK_PROFILER_RANGE);
}

static int do_sets(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_single_pass_sets(&list, ctx, "FA100");
}

static int do_set_metrics(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_single_pass_metrics(&list, ctx, "FA100", "Triage");
}

static operation *const operations[] = {
	do_per_pass,   do_sets,         do_set_metrics,    do_chips,        do_supported,
	do_host,       do_base,         do_properties,     do_add,          do_config,
	do_evaluate,   do_passes,       do_range_name,     do_info,         do_raw_counters,
	do_unit,       do_pm_unit,      do_prefix,         do_old_prefix,   do_config_counters,
	do_image_chip, do_sample_time,  do_image_profiler, do_constituents, do_image_like,
	do_combine,    do_trim_samples,
};

TEST(all_works)
{
	for (size_t i = 0; i < COUNT(operations); i++) {
		freed(opk_ctx) *ctx = fake_ctx();

		fake.image_is_pm = true;
		ck_ok(ctx, operations[i](ctx));
		ck_assert_int_eq(fake.hosts, 0);
		ck_assert_int_eq(fake.evaluators, 0);
		ck_assert_int_eq(fake.builders, 0);
		ck_assert_int_eq(fake.combiners, 0);
	}
}

/* ---- each call fails */

static const struct failing {
	struct here here;
	operation *run;
	enum fake_call call;
	const char *symbol;
	unsigned from;
	int status, wanted;
	const char *status_text;
} failing[] = {
	{ HERE, do_chips, CALL(cuptiProfilerHostGetSupportedChips), 0, 8, OPK_EFAILED,
	  "CUPTI_ERROR_OUT_OF_MEMORY (8)" },
	{ HERE, do_supported, CALL(cuptiProfilerHostInitialize), 0, 999, OPK_EFAILED,
	  "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_host, CALL(cuptiProfilerHostInitialize), 0, 999, OPK_EFAILED,
	  "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_host, CALL(cuptiProfilerHostInitialize), 0, 27, OPK_EFAILED,
	  "CUPTI_ERROR_NOT_SUPPORTED (27)" },
	{ HERE, do_host, CALL(cuptiProfilerHostInitialize), 0, 46, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_CHIP_NAME (46)" },
	{ HERE, do_base, CALL(cuptiProfilerHostGetBaseMetrics), 0, 7, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_OPERATION (7)" },
	{ HERE, do_submetrics, CALL(cuptiProfilerHostGetSubMetrics), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
	{ HERE, do_submetrics, CALL(cuptiProfilerHostGetSubMetrics), 0, 8, OPK_EFAILED,
	  "CUPTI_ERROR_OUT_OF_MEMORY (8)" },
	{ HERE, do_properties, CALL(cuptiProfilerHostGetMetricProperties), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
	{ HERE, do_properties, CALL(cuptiProfilerHostGetMetricProperties), 0, 8, OPK_EFAILED,
	  "CUPTI_ERROR_OUT_OF_MEMORY (8)" },
	{ HERE, do_add, CALL(cuptiProfilerHostConfigAddMetrics), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
	{ HERE, do_add, CALL(cuptiProfilerHostConfigAddMetrics), 0, 8, OPK_ENOMEM,
	  "CUPTI_ERROR_OUT_OF_MEMORY (8)" },
	{ HERE, do_add, CALL(cuptiProfilerHostConfigAddMetrics), 0, 999, OPK_EFAILED,
	  "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_add, CALL(cuptiProfilerHostConfigAddMetrics), 0, 12345, OPK_EFAILED,
	  "unknown status (12345)" },
	{ HERE, do_config, CALL(cuptiProfilerHostGetConfigImageSize), 0, 7, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_OPERATION (7)" },
	{ HERE, do_config, CALL(cuptiProfilerHostGetConfigImage), 0, 10, OPK_EFAILED,
	  "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT (10)" },
	{ HERE, do_passes, CALL(cuptiProfilerHostGetNumOfPasses), 0, 1, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, do_per_pass, CALL(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass), 0, 999,
	  OPK_EFAILED, "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_sets, CALL(cuptiProfilerHostGetSinglePassSets), 0, 999, OPK_EFAILED,
	  "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_sets, CALL(cuptiProfilerHostGetSinglePassSets), 2, 1, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, do_set_metrics, CALL(cuptiProfilerHostGetMetricsInSinglePassSet), 0, 999,
	  OPK_EFAILED, "CUPTI_ERROR_UNKNOWN (999)" },
	{ HERE, do_set_metrics, CALL(cuptiProfilerHostGetMetricsInSinglePassSet), 2, 1, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, do_evaluate, CALL(cuptiProfilerHostEvaluateToGpuValues), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
	{ HERE, do_evaluate, CALL(cuptiProfilerHostEvaluateToGpuValues), 0, 9, OPK_EFAILED,
	  "CUPTI_ERROR_HARDWARE (9)" },
	{ HERE, do_range_name, CALL(cuptiProfilerHostGetRangeName), 0, 1, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, do_info, CALL(cuptiPmSamplingGetCounterDataInfo), 0, 1, OPK_EFAILED,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, do_raw_counters, CALL(NVPW_InitializeHost), 0, 10, OPK_ENVIDIA,
	  "NVPA_STATUS_DRIVER_NOT_LOADED (10)" },
	{ HERE, do_raw_counters, CALL(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize), 0, 8,
	  OPK_EFAILED, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_raw_counters, CALL(NVPW_CUDA_MetricsEvaluator_Initialize), 0, 14, OPK_EFAILED,
	  "NVPA_STATUS_UNSUPPORTED_GPU (14)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest),
	  0, 8, OPK_EUSAGE, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest),
	  0, 2, OPK_EFAILED, "NVPA_STATUS_INTERNAL_ERROR (2)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_GetMetricRawDependencies), 0, 1,
	  OPK_EFAILED, "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_GetMetricRawDependencies), 2, 2,
	  OPK_EFAILED, "NVPA_STATUS_INTERNAL_ERROR (2)" },
	{ HERE, do_pm_unit, CALL(NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize), 0, 8,
	  OPK_EFAILED, "NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize" },
	{ HERE, do_pm_unit, CALL(NVPW_Device_MetricsEvaluator_Initialize), 0, 14, OPK_EFAILED,
	  "NVPW_Device_MetricsEvaluator_Initialize" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 0, 8,
	  OPK_EUSAGE, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), 0, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), 2, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_DimUnitToString), 2, 7, OPK_EFAILED,
	  "NVPA_STATUS_NOT_IMPLEMENTED (7)" },
	{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest),
	  0, 8, OPK_EUSAGE, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_GetThroughputMetricProperties), 0, 1,
	  OPK_EFAILED, "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_GetMetricNames), 0, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_GetMetricNames), 2, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_prefix, CALL(NVPW_CUDA_CounterDataBuilder_Create), 0, 11, OPK_EFAILED,
	  "NVPA_STATUS_OUT_OF_MEMORY (11)" },
	{ HERE, do_prefix, CALL(NVPW_CounterDataBuilder_AddRawCounters), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_old_prefix, CALL(NVPW_CounterDataBuilder_AddMetrics), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_prefix, CALL(NVPW_CounterDataBuilder_GetCounterDataPrefix), 0, 19, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_OBJECT_STATE (19)" },
	{ HERE, do_prefix, CALL(NVPW_CounterDataBuilder_GetCounterDataPrefix), 2, 22, OPK_EFAILED,
	  "NVPA_STATUS_INSUFFICIENT_SPACE (22)" },
	{ HERE, do_config_counters, CALL(NVPW_Config_GetRawCounters), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_config_counters, CALL(NVPW_Config_GetRawCounters), 2, 6, OPK_EFAILED,
	  "NVPA_STATUS_NOT_SUPPORTED (6)" },
	{ HERE, do_values, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 0, 8,
	  OPK_EUSAGE, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_values, CALL(NVPW_MetricsEvaluator_SetDeviceAttributes), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_values, CALL(NVPW_MetricsEvaluator_EvaluateToGpuValues), 0, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_info, CALL(NVPW_CounterData_GetNumRanges), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_image_chip, CALL(NVPW_CounterData_GetChipName), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_sample_time, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime), 0, 24,
	  OPK_EFAILED, "NVPA_STATUS_VIRTUALIZED_DEVICE_NOT_SUPPORTED (24)" },
	{ HERE, do_image_like, CALL(NVPW_CounterData_ExtractCounterDataPrefix), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_image_like, CALL(NVPW_CounterData_ExtractCounterDataPrefix), 2, 22, OPK_EFAILED,
	  "NVPA_STATUS_INSUFFICIENT_SPACE (22)" },
	{ HERE, do_image_like, CALL(NVPW_CounterData_CalculateCounterDataImageCopySize), 0, 2,
	  OPK_EFAILED, "NVPA_STATUS_INTERNAL_ERROR (2)" },
	{ HERE, do_image_like, CALL(NVPW_CounterData_InitializeCounterDataImageCopy), 0, 1,
	  OPK_EFAILED, "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_Create), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_CreateRange), 2, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_SumIntoRange), 3, 7, OPK_EFAILED,
	  "NVPA_STATUS_NOT_IMPLEMENTED (7)" },
	{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_AccumulateIntoRange), 1, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_trim_samples, CALL(NVPW_PeriodicSampler_CounterData_TrimInPlace), 0, 8,
	  OPK_EFAILED, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_sample_size, CALL(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize), 0, 8,
	  OPK_EFAILED, "NVPA_STATUS_INVALID_ARGUMENT (8)" },
};

FAKE_TEST_EACH(each_call_fails, failing)
{
	fake.image_is_pm = row->run != do_values;
	fake.status[row->call] = row->status;
	fake.from[row->call] = row->from;
	ck_row_ends(row, ctx, row->run(ctx), row->wanted, row->symbol);
	ck_row(row, told(ctx, row->status_text), "%s", errors_of(ctx));
	ck_row(row, !fake.hosts && !fake.evaluators && !fake.builders && !fake.combiners,
	       "%d hosts, %d evaluators, %d builders, %d combiners left", fake.hosts,
	       fake.evaluators, fake.builders, fake.combiners);
}

/* Each call has a row above, except calls whose failure changes nothing. */
TEST(no_call_is_forgotten)
{
	for (enum fake_call call = 0; call < FAKE_CALL_COUNT; call++) {
		bool found = call == FAKE_cuptiProfilerHostDeinitialize
		             || call == FAKE_NVPW_MetricsEvaluator_Destroy
		             || call == FAKE_NVPW_CounterDataBuilder_Destroy
		             || call == FAKE_NVPW_CounterDataCombiner_Destroy
		             || call == FAKE_cuptiGetSassToSourceCorrelation
		             || call == FAKE_cuptiGetCubinCrc;

		for (size_t i = 0; i < COUNT(failing); i++)
			found = found || failing[i].call == call;
		ck_assert_msg(found, "call %d has no failing row", (int)call);
	}
}

/* ---- struct sizes */

static const struct ladder {
	struct here here;
	operation *run;
	size_t accepted; /* 0: none */
	size_t tried[3];
	size_t tried_count;
	int wanted;
} ladder[] = {
	{ HERE, do_host, 56, { 56 }, 1, OPK_OK },
	{ HERE, do_host, 48, { 56, 48 }, 2, OPK_OK },
	{ HERE, do_host, 0, { 56, 48 }, 2, OPK_EFAILED },
	{ HERE, do_properties, 64, { 60, 64 }, 2, OPK_OK },
	{ HERE, do_properties, 60, { 60 }, 1, OPK_OK },
	{ HERE, do_properties, 0, { 60, 64 }, 2, OPK_EFAILED },
	{ HERE, do_scope, 64, { 64 }, 1, OPK_OK },
	{ HERE, do_scope, 60, { 64, 60 }, 2, OPK_OK },
	{ HERE, do_scope, 0, { 64, 60 }, 2, OPK_EFAILED },
};

/* Sets the accepted size of the tested call; the other call accepts its first size. */
static void accept_sizes(struct opk_ctx *ctx, const struct ladder *row)
{
	if (row->run == do_host) {
		fake.initialize_size = row->accepted;
		return;
	}
	fake.properties_size = row->accepted;
	do_host(ctx);
	fake.size_count = 0;
}

/* Keeps only the sizes of the tested call. */
static void drop_other_sizes(const struct ladder *row)
{
	size_t kept = 0;

	for (size_t i = 0; i < fake.size_count; i++)
		if (row->run == do_host ? fake.sizes[i] < 60 : fake.sizes[i] >= 60)
			fake.sizes[kept++] = fake.sizes[i];
	fake.size_count = kept;
}

FAKE_TEST_EACH(size_ladder, ladder)
{
	int code;

	accept_sizes(ctx, row);
	code = row->run(ctx);
	drop_other_sizes(row);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, fake.size_count == row->tried_count, "%zu sizes tried", fake.size_count);
	for (size_t i = 0; i < row->tried_count; i++)
		ck_row(row, fake.sizes[i] == row->tried[i], "size %zu is %zu", i, fake.sizes[i]);
	if (code)
		ck_row(row, told(ctx, "CUPTI_ERROR_INVALID_PARAMETER (1)"), "%s", errors_of(ctx));
	/* The next call uses the known size, unless there was none to learn. */
	fake.size_count = 0;
	code = row->run(ctx);
	drop_other_sizes(row);
	ck_row(row, code == row->wanted, "again: code %d", code);
	ck_row(row, fake.size_count == (row->accepted ? 1 : row->tried_count), "again: %zu sizes",
	       fake.size_count);
	ck_row(row, !row->accepted || fake.sizes[0] == row->accepted, "again: %zu", fake.sizes[0]);
}

/* If an error other than INVALID_PARAMETER is returned, the size is right. */
FAKE_TEST(size_is_learnt_from_other_errors)
{
	bool supported;

	ck_ok(ctx, opk_nv_host_supported(&supported, ctx, "FC100", OPK_PROFILER_PM));
	ck_assert(!supported);
	ck_assert_uint_eq(ctx->nv->initialize_size, 48);
}

/* ---- what only later releases tell */

TEST(scopes)
{
	static const struct {
		struct here here;
		size_t accepted;
		const char *name;
		enum opk_scope wanted;
	} rows[] = {
		{ HERE, 60, "fake__a", OPK_SCOPE_UNKNOWN },
		{ HERE, 60, "fake__b", OPK_SCOPE_UNKNOWN },
		{ HERE, 64, "fake__a", OPK_SCOPE_CONTEXT },
		{ HERE, 64, "fake__b", OPK_SCOPE_DEVICE },
		{ HERE, 64, "fake__b.sum", OPK_SCOPE_DEVICE },
		{ HERE, 64, "fake__c", OPK_SCOPE_UNKNOWN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_nv_host) *host = NULL;
		struct opk_metric metric;
		enum opk_scope scope;

		fake.properties_size = rows[i].accepted;
		ck_ok(ctx, opk_nv_host_new(&host, ctx, "FA100", OPK_PROFILER_RANGE, NULL));
		/* The first call tries the sizes, the second one knows the right one. */
		for (int round = 0; round < 2; round++) {
			ck_ok(ctx, opk_nv_scope(&scope, ctx, host, rows[i].name));
			ck_row(&rows[i], scope == rows[i].wanted, "%d", scope);
			ck_ok(ctx, opk_nv_properties(&metric, ctx, host, rows[i].name));
			ck_row(&rows[i], !metric.scope, "%d", metric.scope);
		}
	}
	ck_assert_ptr_null(opk_scope_name(OPK_SCOPE_UNKNOWN));
	ck_assert_str_eq(opk_scope_name(OPK_SCOPE_CONTEXT), "context");
	ck_assert_str_eq(opk_scope_name(OPK_SCOPE_DEVICE), "device");
}

/* ---- the combiner */

FAKE_TEST(ranges_are_summed)
{
	opk_autofree void *copy = NULL;
	struct opk_nv_image_info info;
	struct opk_nv_combiner *combiner;
	size_t size, slot;

	ck_ok(ctx, opk_nv_image_like(&copy, &size, ctx, fake_image(), FAKE_IMAGE_SIZE,
	                             &(struct opk_nv_room){ 3, 8 }));
	ck_ok(ctx, opk_nv_combiner_new(&combiner, ctx, copy));
	for (size_t i = 0; i < 4; i++) {
		ck_ok(ctx, opk_nv_combiner_range(&slot, ctx, combiner, i % 2 ? "odd" : "even"));
		ck_assert_uint_eq(slot, i % 2);
		ck_ok(ctx, opk_nv_combiner_sum(ctx, combiner, slot, fake_image(), i));
	}
	opk_nv_combiner_free(combiner);
	ck_ok(ctx, opk_nv_image_info(&info, ctx, copy, size));
	ck_assert_uint_eq(info.slots, 3);
	ck_assert_uint_eq(info.completed, 2);
}

static int say_13_1(uint32_t *version)
{
	*version = 130101;
	return 0;
}

/*
 * From 13.1 on CUPTI miscounts, and reads past the image. Without PerfWorks' count its own is the
 * only one.
 */
TEST(begun_ranges_are_counted)
{
	void *image = opk_child_guarded_copy(fake_image(), FAKE_IMAGE_SIZE);

	for (int known = 0; known < 2; known++) {
		struct nv_table table = fake_table();
		struct opk_nv_image_info info;
		freed(opk_ctx) *ctx = NULL;

		fake_reset();
		fake.miscounts = true;
		table.cuptiGetVersion = say_13_1;
		if (!known)
			table.NVPW_CounterData_GetNumRanges = NULL;
		ctx = fake_ctx_of(&table);
		ck_ok(ctx, opk_nv_image_info(&info, ctx, image, FAKE_IMAGE_SIZE));
		ck_assert_uint_eq(info.populated, known ? fake.populated : 0);
	}
}

FAKE_TEST(samples_are_trimmed)
{
	size_t size = FAKE_IMAGE_SIZE;

	ck_ok(ctx, opk_nv_trim_samples(&size, ctx, (void *)fake_image()));
	ck_assert_uint_eq(size, FAKE_IMAGE_SIZE / 2);
}

/* ---- prefixes and units */

static const struct {
	struct here here;
	bool old, instances;
} prefix_by_either_call_rows[] = {
	{ HERE, false, true },
	{ HERE, false, false },
	{ HERE, true, true },
	{ HERE, true, false },
};

TEST_EACH(prefix_by_either_call, prefix_by_either_call_rows)
{
	static const char *const names[] = { "raw_a", "raw_b", "raw_shared" };
	static const bool some[] = { true, false, true }, none[] = { false, false, false };
	struct nv_table table = fake_table();
	opk_autofree void *prefix = NULL;
	freed(opk_ctx) *ctx = NULL;
	size_t size = 0;

	fake_reset();
	if (row->old)
		table.NVPW_CounterDataBuilder_AddRawCounters = NULL;
	ctx = fake_ctx_of(&table);
	ck_ok(ctx, opk_nv_prefix(&prefix, &size, ctx, "FA100",
	                         &(struct opk_strlist){ .items = (char **)names, .count = 3 },
	                         row->instances ? some : none));
	ck_row(row, size == FAKE_PREFIX_SIZE && !memcmp(prefix, "pppp", 4), "%zu", size);
	ck_row(row, fake.prefix_counters == 3, "%zu", fake.prefix_counters);
	ck_row(row, fake.prefix_instances == (row->instances ? 2 : 0), "%zu",
	       fake.prefix_instances);
	ck_row(row,
	       fake.calls[FAKE_NVPW_CounterDataBuilder_AddMetrics] == row->old
	               && fake.calls[FAKE_NVPW_CounterDataBuilder_AddRawCounters] == !row->old,
	       "the wrong call");
}

static const struct {
	struct here here;
	struct nv_DimUnitFactor factors[FAKE_MAX_FACTORS];
	size_t count;
	const char *wanted, *cupti, *metric;
} units_rows[] = {
	{ HERE, { { 0, 0 } }, 0, "unitless", "", NULL },
	{ HERE, { { 0, 1 } }, 1, "bytes", "byte", NULL },
	{ HERE, { { 0, 1 }, { 1, -1 } }, 2, "bytes/second", "byte/second", NULL },
	{ HERE, { { 1, -1 }, { 0, 1 } }, 2, "bytes/second", "byte/second", NULL },
	{ HERE, { { 1, -1 } }, 1, "1/second", "/second", NULL },
	{ HERE,
	  { { 0, 2 }, { 2, 1 }, { 1, -2 } },
	  3,
	  "bytes^2*cycles/second^2",
	  "bytebytecycle/secondsecond",
	  NULL },
	{ HERE,
	  { { 0, 1 }, { 1, -1 }, { 2, -1 } },
	  3,
	  "bytes/second/cycle",
	  "byte/secondcycle",
	  NULL },
	{ HERE, { { 3, 1 } }, 1, "unitless", "", NULL },
	/* PerfWorks 12.x has no name for some units; the metric's dimension may imply it. */
	{ HERE,
	  { { NV_DIM_UNIT_INVALID, 1 }, { 1, -1 } },
	  2,
	  "math_ops/second",
	  "math_op/second",
	  "sm__ops_path_tensor_src_fp16.sum.per_second" },
	{ HERE,
	  { { 0, 1 }, { NV_DIM_UNIT_INVALID, -1 } },
	  2,
	  "bytes/gcc_request",
	  "byte/gcc_request",
	  "gcc__xbar2gcc_sectors.sum" },
	{ HERE, { { NV_DIM_UNIT_INVALID, 1 }, { 1, -1 } }, 2, "", "", NULL },
	{ HERE,
	  { { NV_DIM_UNIT_INVALID, 1 }, { NV_DIM_UNIT_INVALID, -1 } },
	  2,
	  "",
	  "",
	  "pvavpu__vpu_cycles_active.sum.per_cycle_elapsed" },
};

FAKE_TEST_EACH(units, units_rows)
{
	opk_autofree char *unit = NULL, *short_unit = NULL;
	const char *metric = row->metric ? row->metric : "fake__a.sum";
	freed(opk_nv_evaluator) *evaluator = NULL;

	memcpy(fake.factors, row->factors, sizeof fake.factors);
	fake.factor_count = row->count;
	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "FA100"));
	ck_ok(ctx, opk_nv_unit(&unit, ctx, evaluator, metric));
	ck_row(row, !strcmp(unit, row->wanted), "got %s", unit);
	ck_ok(ctx, opk_nv_cupti_unit(&short_unit, ctx, evaluator, metric));
	ck_row(row, !strcmp(short_unit, row->cupti), "got %s", short_unit);
}
