/* SPDX-License-Identifier: BSD-2-Clause */
/* The nv adapter where NVIDIA's libraries lack a symbol, or are not there. */
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

/* Without one symbol: that feature is off, the others on, and the error names both. */
START_TEST(missing_symbol)
{
	const struct symbol_row *row = &symbol_rows[_i];
	struct nv_table table = fake_table();
	struct opk_ctx *ctx;
	struct opk_nv *nv;

	fake_reset();
	*fake_slot(&table, (enum fake_call)_i) = NULL;
	ctx = fake_ctx_of(&table);
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++) {
		const struct nv_feature_state *feature = &ctx->nv->features[i];

		ck_assert_msg(feature->available == (i != row->feature), "%s without %s",
		              feature->name, row->symbol);
		ck_assert(feature->available == !feature->missing);
		ck_assert_str_eq(feature->name, feature_titles[i]);
	}
	/* Without cuptiProfilerHostInitialize there is no libcupti at all. */
	ck_code(ctx, nv_need(&nv, ctx, row->feature), OPK_ENVIDIA);
	if (_i != FAKE_cuptiProfilerHostInitialize) {
		ck_assert_msg(told(ctx, row->symbol), "%s: %s", row->symbol, errors_of(ctx));
		ck_assert_msg(told(ctx, feature_titles[row->feature]), "%s", errors_of(ctx));
	}
	/* What is required is required for everything. */
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++)
		if (row->feature == NV_FEATURE_HOST)
			ck_code(ctx, nv_need(&nv, ctx, (enum nv_feature)i), OPK_ENVIDIA);
		else if (i != row->feature)
			ck_ok(ctx, nv_need(&nv, ctx, (enum nv_feature)i));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(missing_for_operation)
{
	static const struct {
		struct here here;
		operation *run;
		enum fake_call call;
		const char *symbol;
		const char *feature;
	} rows[] = {
		{ HERE, do_chips, CALL(cuptiProfilerHostGetRangeName), "'host'" },
		{ HERE, do_raw_counters, CALL(NVPW_InitializeHost), "'prefix'" },
		{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_Destroy), "'prefix'" },
		{ HERE, do_prefix, CALL(NVPW_CUDA_CounterDataBuilder_Create), "'prefix'" },
		{ HERE, do_old_prefix, CALL(NVPW_CounterDataBuilder_AddMetrics),
		  "'prefix-raw-metrics'" },
		{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), "'units'" },
		{ HERE, do_pm_unit, CALL(NVPW_Device_MetricsEvaluator_Initialize), "'pm-units'" },
		{ HERE, do_constituents, CALL(NVPW_MetricsEvaluator_GetMetricNames),
		  "'constituents'" },
		{ HERE, do_config_counters, CALL(NVPW_Config_GetRawCounters), "'plan-detail'" },
		{ HERE, do_image_chip, CALL(NVPW_CounterData_GetChipName), "'image-chip'" },
		{ HERE, do_sample_time, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
		  "'sample-times'" },
		{ HERE, do_sample_size, CALL(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize),
		  "'sample-size'" },
		{ HERE, do_image_profiler, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
		  "'sample-times'" },
		{ HERE, do_image_like, CALL(NVPW_CounterData_ExtractCounterDataPrefix),
		  "'combine'" },
		{ HERE, do_combine, CALL(NVPW_CounterDataCombiner_SumIntoRange), "'combine'" },
		{ HERE, do_trim_samples, CALL(NVPW_PeriodicSampler_CounterData_TrimInPlace),
		  "'trim-samples'" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct nv_table table = fake_table();
		struct opk_ctx *ctx;
		int code;

		fake_reset();
		*fake_slot(&table, rows[i].call) = NULL;
		ctx = fake_ctx_of(&table);
		code = rows[i].run(ctx);
		ck_row(&rows[i], code == OPK_ENVIDIA, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], told(ctx, rows[i].symbol), "%s", errors_of(ctx));
		ck_row(&rows[i], told(ctx, rows[i].feature), "%s", errors_of(ctx));
		ck_row(&rows[i], !fake.hosts && !fake.evaluators && !fake.builders, "left over");
		opk_ctx_free(ctx);
	}
}
END_TEST

/* A libnvperf_host that lacks a symbol is another thing than a missing one. */
START_TEST(missing_library_or_symbol)
{
	struct nv_table table = fake_table();
	struct opk_ctx *ctx;

	fake_reset();
	table.NVPW_Config_GetRawCounters = NULL;
	ctx = fake_ctx_of(&table);
	ctx->nv->cupti = &fake;
	ctx->nv->cupti_path = strdup("/somewhere/libcupti.so");
	ck_code(ctx, do_chips(ctx), OPK_ENVIDIA);
	ck_assert_msg(told(ctx, "libnvperf_host.so not found beside /somewhere/libcupti.so"), "%s",
	              errors_of(ctx));
	ctx->nv->nvperf = &fake;
	ctx->nv->nvperf_path = strdup("/somewhere/libnvperf_host.so");
	ck_ok(ctx, do_chips(ctx));
	ck_code(ctx, do_config_counters(ctx), OPK_ENVIDIA);
	ck_assert_msg(told(ctx, "/somewhere/libnvperf_host.so lacks the symbol "
	                        "NVPW_Config_GetRawCounters"),
	              "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(no_library)
{
	struct nv_table table = { 0 };
	struct opk_ctx *ctx;
	struct opk_nvidia_info info = OPK_INIT(info);

	fake_reset();
	ctx = fake_ctx_of(&table);
	ck_code(ctx, opk_nvidia_get_info(&info, ctx), OPK_ENVIDIA);
	ck_assert_ptr_null(info.cupti_path);
	ck_assert_uint_eq(info.cupti_version, 0);
	ck_assert_msg(told(ctx, "libcupti not found"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

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

/* Both are there, of different releases: a note says it once, and doctor is told. */
START_TEST(mixed_pair)
{
	static const struct {
		struct here here;
		uint32_t year, number;
		const char *wanted;
	} rows[] = {
		{ HERE, 2025, 4, NULL },
		{ HERE, 2024, 1, "libcupti is of CUPTI 13.0, and libnvperf_host of CUPTI 12.6" },
		{ HERE, 2026, 4, "libnvperf_host of CUPTI 13.5: they come as a pair" },
		{ HERE, 2027, 1, "libnvperf_host of PerfWorks 2027.1: " },
		{ HERE, 2025, 3, "libnvperf_host of PerfWorks 2025.3: " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_nvidia_info info = OPK_INIT(info);
		struct nv_table table = fake_table();
		struct opk_ctx *ctx;

		*noted = '\0';
		perfworks[0] = rows[i].year;
		perfworks[1] = rows[i].number;
		table.cuptiGetVersion = say_version;
		table.NVPW_QueryVersionNumber = say_perfworks;
		fake_reset();
		ctx = fake_ctx_of(&table);
		ctx->log = remember;
		ck_ok(ctx, do_chips(ctx));
		ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
		ck_row(&rows[i], !info.mixed == !rows[i].wanted, "%s", noted);
		ck_row(&rows[i], rows[i].wanted ? !strcmp(info.mixed, noted) : !*noted, "%s",
		       noted);
		ck_row(&rows[i], !rows[i].wanted || strstr(noted, rows[i].wanted), "%s", noted);
		ck_row(&rows[i], strstr(info.nvperf_host_version, ".7"), "%s",
		       info.nvperf_host_version);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* As far as it is known what releases have. */
START_TEST(pairs)
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
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tests = tcase_create("symbols");

	tcase_add_loop_test(tests, missing_symbol, 0, FAKE_CALL_COUNT);
	tcase_add_test(tests, missing_for_operation);
	tcase_add_test(tests, missing_library_or_symbol);
	tcase_add_test(tests, no_library);
	tcase_add_test(tests, mixed_pair);
	tcase_add_test(tests, pairs);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
