/* SPDX-License-Identifier: BSD-2-Clause */
/* The nv adapter when NVIDIA's libraries lack a symbol, or are missing. */
#include "adapters/nv/nv.h"
#include "fake_nv.h"
#include "operations.h"
#include "testing.h"

static const struct symbol_row {
	const char *symbol;
	enum nv_feature feature;
} symbol_rows[] = {
#define X(symbol, params, last, feature) { #symbol, NV_FEATURE_##feature },
	NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
};

static const char *const feature_titles[] = {
#define X(id, title, text) title,
	NV_FEATURES(X)
#undef X
};

/* Without one symbol: its feature is off, the others on, and the error names both. */
TEST_TIMES(missing_symbol, call, FAKE_CALL_COUNT)
{
	const struct symbol_row *row = &symbol_rows[call];
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;
	struct opk_nv *nv;

	fake_reset();
	*fake_slot(&table, (enum fake_call)call) = NULL;
	ctx = fake_ctx_of(&table);
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++) {
		const struct nv_feature_state *feature = &ctx->nv->features[i];

		ck_assert_msg(feature->available == (i != row->feature), "%s without %s",
		              feature->name, row->symbol);
		ck_assert(feature->available == !feature->missing);
		ck_assert_str_eq(feature->name, feature_titles[i]);
	}
	/* Without cuptiProfilerHostInitialize libcupti counts as missing. */
	ck_code(ctx, nv_need(&nv, ctx, row->feature), OPK_ENVIDIA);
	if (call != FAKE_cuptiProfilerHostInitialize) {
		ck_assert_msg(told(ctx, row->symbol), "%s: %s", row->symbol, errors_of(ctx));
		ck_assert_msg(told(ctx, feature_titles[row->feature]), "%s", errors_of(ctx));
	}
	/* A required symbol is required for every feature. */
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++)
		if (row->feature == NV_FEATURE_HOST)
			ck_code(ctx, nv_need(&nv, ctx, (enum nv_feature)i), OPK_ENVIDIA);
		else if (i != row->feature)
			ck_ok(ctx, nv_need(&nv, ctx, (enum nv_feature)i));
}

static const struct {
	struct here here;
	operation *run;
	enum fake_call call;
	const char *symbol;
	const char *feature;
} missing_for_operation_rows[] = {
	{ HERE, do_chips, CALL(cuptiProfilerHostGetRangeName), "'host'" },
	{ HERE, do_raw_counters, CALL(NVPW_InitializeHost), "'prefix'" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_Destroy), "'prefix'" },
	{ HERE, do_prefix, CALL(NVPW_CUDA_CounterDataBuilder_Create), "'prefix'" },
	{ HERE, do_old_prefix, CALL(NVPW_CounterDataBuilder_AddMetrics), "'prefix-raw-metrics'" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), "'units'" },
	{ HERE, do_pm_unit, CALL(NVPW_Device_MetricsEvaluator_Initialize), "'pm-units'" },
	{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_GetMetricNames), "'constituents'" },
	{ HERE, do_config_counters, CALL(NVPW_Config_GetRawCounters), "'plan-detail'" },
	{ HERE, do_image_chip, CALL(NVPW_CounterData_GetChipName), "'image-chip'" },
	{ HERE, do_sample_time, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
	  "'sample-times'" },
	{ HERE, do_sample_size, CALL(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize),
	  "'sample-size'" },
	{ HERE, do_image_profiler, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
	  "'sample-times'" },
	{ HERE, do_image_like, CALL(NVPW_CounterData_ExtractCounterDataPrefix), "'combine'" },
	{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_SumIntoRange), "'combine'" },
	{ HERE, do_trim_samples, CALL(NVPW_PeriodicSampler_CounterData_TrimInPlace),
	  "'trim-samples'" },
};

TEST_EACH(missing_for_operation, missing_for_operation_rows)
{
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;

	fake_reset();
	*fake_slot(&table, row->call) = NULL;
	ctx = fake_ctx_of(&table);
	ck_row_ends(row, ctx, row->run(ctx), OPK_ENVIDIA, row->symbol);
	ck_row(row, told(ctx, row->feature), "%s", errors_of(ctx));
	ck_row(row, !fake.hosts && !fake.evaluators && !fake.builders, "left over");
}

/* A libnvperf_host without a symbol gives another error than a missing one. */
TEST(missing_library_or_symbol)
{
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;

	fake_reset();
	table.NVPW_Config_GetRawCounters = NULL;
	ctx = fake_ctx_of(&table);
	ctx->nv->cupti = &fake;
	ctx->nv->cupti_path = strdup("/somewhere/libcupti.so");
	ck_fails(ctx, do_chips(ctx), OPK_ENVIDIA,
	         "libnvperf_host.so not found beside /somewhere/libcupti.so");
	ctx->nv->nvperf = &fake;
	ctx->nv->nvperf_path = strdup("/somewhere/libnvperf_host.so");
	ck_ok(ctx, do_chips(ctx));
	ck_fails(ctx, do_config_counters(ctx), OPK_ENVIDIA,
	         "/somewhere/libnvperf_host.so lacks the symbol "
	         "NVPW_Config_GetRawCounters");
}

TEST(no_library)
{
	struct nv_table table = { 0 };
	freed(opk_ctx) *ctx = NULL;
	struct opk_nvidia_info info = OPK_INIT(info);

	fake_reset();
	ctx = fake_ctx_of(&table);
	ck_code(ctx, opk_nvidia_get_info(&info, ctx), OPK_ENVIDIA);
	ck_assert_ptr_null(info.cupti_path);
	ck_assert_uint_eq(info.cupti_version, 0);
	ck_assert_msg(told(ctx, "libcupti not found"), "%s", errors_of(ctx));
}

static int say_version(uint32_t *version)
{
	*version = 130001;
	return 0;
}

static uint32_t perfworks[2];

static int say_perfworks(struct nv_QueryVersion *params)
{
	params->relMajor = perfworks[0];
	params->relMinor = perfworks[1];
	params->relPatch = 7;
	return params->apiSet != NV_SDK_VERSION;
}

static char noted[1024];

static void remember(void *data, const char *message)
{
	(void)data;
	ck_assert_msg(!*noted, "twice: %s", message);
	snprintf(noted, sizeof noted, "%s", message);
}

static const struct {
	struct here here;
	uint32_t year, number;
	const char *wanted;
} mixed_pair_rows[] = {
	{ HERE, 2025, 4, NULL },
	{ HERE, 2024, 1, "libcupti is of CUPTI 13.0, and libnvperf_host of CUPTI 12.6" },
	{ HERE, 2026, 4, "libnvperf_host of CUPTI 13.5: they come as a pair" },
	{ HERE, 2027, 1, "libnvperf_host of PerfWorks 2027.1: " },
	{ HERE, 2025, 3, "libnvperf_host of PerfWorks 2025.3: " },
};

/* The two libraries are of different releases: one note says so, and doctor reports it. */
TEST_EACH(mixed_pair, mixed_pair_rows)
{
	struct opk_nvidia_info info = OPK_INIT(info);
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;

	*noted = '\0';
	perfworks[0] = row->year;
	perfworks[1] = row->number;
	table.cuptiGetVersion = say_version;
	table.NVPW_QueryVersionNumber = say_perfworks;
	fake_reset();
	ctx = fake_ctx_of(&table);
	ctx->log = remember;
	ck_ok(ctx, do_chips(ctx));
	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	ck_row(row, !info.mixed == !row->wanted, "%s", noted);
	ck_row(row, row->wanted ? !strcmp(info.mixed, noted) : !*noted, "%s", noted);
	ck_row(row, !row->wanted || strstr(noted, row->wanted), "%s", noted);
	ck_row(row, strstr(info.nvperf_host_version, ".7"), "%s", info.nvperf_host_version);
}

/* Versions of the two libraries in known releases. */
TEST(pairs)
{
	static const struct {
		struct here here;
		struct opk_nv_versions versions;
		bool mixed;
	} rows[] = {
		{ HERE, { 24, 2024, 1 }, false },     { HERE, { 28, 2025, 2 }, false },
		{ HERE, { 27, 2025, 4 }, true },      { HERE, { 130501, 2026, 4 }, false },
		{ HERE, { 130501, 2026, 5 }, false }, { HERE, { 130600, 2026, 5 }, false },
		{ HERE, { 130600, 2026, 4 }, true },  { HERE, { 130000, 2026, 5 }, true },
		{ HERE, { 0, 2026, 4 }, false },      { HERE, { 130000, 0, 0 }, false },
	};
	char of[36];

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_row(&rows[i], nv_is_mixed(of, &rows[i].versions) == rows[i].mixed, "%s", of);
}
