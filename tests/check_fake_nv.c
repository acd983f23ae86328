/* SPDX-License-Identifier: BSD-2-Clause */
/* The nv adapter and what stands on it, against a fake that fails as NVIDIA's libraries won't. */
#include <math.h>
#include <signal.h>

#include "adapters/nv/nv.h"
#include "domain/plan.h"
#include "domain/set.h"
#include "fake_nv.h"
#include "testing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The whole chain, since a wanted text may stand at any place in it. */
static bool told(const struct opk_ctx *ctx, const char *text)
{
	return strstr(errors_of(ctx), text) != NULL;
}

/* ---- one operation for each function of the adapter */

static const char *const one_name[] = { "fake__a.sum" };

static int do_chips(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_chips(&list, ctx);
}

static int do_supported(struct opk_ctx *ctx)
{
	bool yes;

	return opk_nv_host_supported(&yes, ctx, "FA100", OPK_PROFILER_RANGE);
}

/* Runs `step` on a host object. */
static int with_host(struct opk_ctx *ctx, int (*step)(struct opk_ctx *, struct opk_nv_host *))
{
	struct opk_nv_host *host;
	int code = opk_nv_host_new(&host, ctx, "FA100", OPK_PROFILER_RANGE, NULL);

	if (code)
		return code;
	code = step ? step(ctx, host) : OPK_OK;
	opk_nv_host_free(host);
	return code;
}

static int do_host(struct opk_ctx *ctx)
{
	return with_host(ctx, NULL);
}

static int base_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_base_metrics(&list, ctx, host, OPK_COUNTER);
}

static int do_base(struct opk_ctx *ctx)
{
	return with_host(ctx, base_step);
}

static int properties_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	struct opk_metric metric;

	return opk_nv_properties(&metric, ctx, host, "fake__a");
}

static int do_properties(struct opk_ctx *ctx)
{
	return with_host(ctx, properties_step);
}

static int add_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	return opk_nv_add_metrics(ctx, host, one_name, 1);
}

static int do_add(struct opk_ctx *ctx)
{
	return with_host(ctx, add_step);
}

static int config_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	opk_autofree void *image = NULL;
	size_t size;

	return opk_nv_config_image(&image, &size, ctx, host);
}

static int do_config(struct opk_ctx *ctx)
{
	return with_host(ctx, config_step);
}

static int evaluate_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	double value;

	return opk_nv_evaluate(&value, ctx, host, fake_image(), FAKE_IMAGE_SIZE, 0, one_name, 1);
}

static int do_evaluate(struct opk_ctx *ctx)
{
	return with_host(ctx, evaluate_step);
}

static int do_passes(struct opk_ctx *ctx)
{
	size_t passes;

	return opk_nv_passes(&passes, ctx, fake_image(), FAKE_CONFIG_SIZE);
}

static int do_range_name(struct opk_ctx *ctx)
{
	opk_autofree char *name = NULL;

	return opk_nv_range_name(&name, ctx, fake_image(), FAKE_IMAGE_SIZE, 0);
}

static int do_info(struct opk_ctx *ctx)
{
	struct opk_nv_image_info info;

	return opk_nv_image_info(&info, ctx, fake_image(), FAKE_IMAGE_SIZE);
}

static int do_raw_counters(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };
	struct opk_nv_evaluator *evaluator;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100", NULL);

	if (code)
		return code;
	code = opk_nv_raw_counters(&list, ctx, evaluator, "fake__a.sum");
	opk_nv_evaluator_free(evaluator);
	return code;
}

static int do_unit(struct opk_ctx *ctx)
{
	opk_autofree char *unit = NULL;
	struct opk_nv_evaluator *evaluator;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100", NULL);

	if (code)
		return code;
	code = opk_nv_unit(&unit, ctx, evaluator, "fake__a.sum");
	opk_nv_evaluator_free(evaluator);
	return code;
}

static int do_prefix(struct opk_ctx *ctx)
{
	opk_autofree void *prefix = NULL;
	size_t size;

	return opk_nv_prefix(&prefix, &size, ctx, "FA100", one_name, 1, true);
}

/* The same by the older call. */
static int do_old_prefix(struct opk_ctx *ctx)
{
	ctx->nv->call.NVPW_CounterDataBuilder_AddRawCounters = NULL;
	nv_set_features(ctx->nv);
	return do_prefix(ctx);
}

static int do_config_counters(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_config_counters(&list, ctx, fake_image(), FAKE_CONFIG_SIZE, 0);
}

static int do_image_chip(struct opk_ctx *ctx)
{
	const char *chip;

	return opk_nv_image_chip(&chip, ctx, fake_image(), FAKE_IMAGE_SIZE);
}

static int do_sample_time(struct opk_ctx *ctx)
{
	uint64_t start, end;

	return opk_nv_sample_time(&start, &end, ctx, fake_image(), 0);
}

static int do_image_profiler(struct opk_ctx *ctx)
{
	enum opk_profiler profiler;

	return opk_nv_image_profiler(&profiler, ctx, fake_image());
}

typedef int operation(struct opk_ctx *ctx);

static operation *const operations[] = {
	do_chips,      do_supported, do_host,       do_base,         do_properties, do_add,
	do_config,     do_evaluate,  do_passes,     do_range_name,   do_info,       do_raw_counters,
	do_unit,       do_prefix,    do_old_prefix, do_config_counters, do_image_chip,
	do_sample_time, do_image_profiler,
};

START_TEST(all_works)
{
	for (size_t i = 0; i < COUNT(operations); i++) {
		struct opk_ctx *ctx = fake_ctx();

		fake.image_is_pm = true;
		ck_ok(ctx, operations[i](ctx));
		ck_assert_int_eq(fake.hosts, 0);
		ck_assert_int_eq(fake.evaluators, 0);
		ck_assert_int_eq(fake.builders, 0);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* ---- each call fails */

#define CALL(symbol) FAKE_##symbol, #symbol

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
	{ HERE, do_properties, CALL(cuptiProfilerHostGetMetricProperties), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
	{ HERE, do_properties, CALL(cuptiProfilerHostGetMetricProperties), 0, 8, OPK_EFAILED,
	  "CUPTI_ERROR_OUT_OF_MEMORY (8)" },
	{ HERE, do_add, CALL(cuptiProfilerHostConfigAddMetrics), 0, 17, OPK_EUSAGE,
	  "CUPTI_ERROR_INVALID_METRIC_NAME (17)" },
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
	{ HERE, do_raw_counters,
	  CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 0, 9, OPK_EUSAGE,
	  "NVPA_STATUS_INVALID_METRIC_ID (9)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_GetMetricRawDependencies), 0, 1,
	  OPK_EFAILED, "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_raw_counters, CALL(NVPW_MetricsEvaluator_GetMetricRawDependencies), 2, 2,
	  OPK_EFAILED, "NVPA_STATUS_INTERNAL_ERROR (2)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 0, 9,
	  OPK_EUSAGE, "NVPA_STATUS_INVALID_METRIC_ID (9)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), 0, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_GetMetricDimUnits), 2, 1, OPK_EFAILED,
	  "NVPA_STATUS_ERROR (1)" },
	{ HERE, do_unit, CALL(NVPW_MetricsEvaluator_DimUnitToString), 2, 7, OPK_EFAILED,
	  "NVPA_STATUS_NOT_IMPLEMENTED (7)" },
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
	{ HERE, do_image_chip, CALL(NVPW_CounterData_GetChipName), 0, 8, OPK_EFAILED,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)" },
	{ HERE, do_sample_time, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime), 0, 24,
	  OPK_EFAILED, "NVPA_STATUS_VIRTUALIZED_DEVICE_NOT_SUPPORTED (24)" },
};

START_TEST(each_call_fails)
{
	const struct failing *row = &failing[_i];
	struct opk_ctx *ctx = fake_ctx();
	int code;

	fake.image_is_pm = true;
	fake.status[row->call] = row->status;
	fake.from[row->call] = row->from;
	code = row->run(ctx);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, told(ctx, row->symbol), "%s", errors_of(ctx));
	ck_row(row, told(ctx, row->status_text), "%s", errors_of(ctx));
	ck_row(row, !fake.hosts && !fake.evaluators && !fake.builders, "%d hosts, %d evaluators, "
	       "%d builders left", fake.hosts, fake.evaluators, fake.builders);
	opk_ctx_free(ctx);
}
END_TEST

/* Every call but those whose outcome changes nothing has its row above. */
START_TEST(no_call_is_forgotten)
{
	for (enum fake_call call = 0; call < FAKE_CALL_COUNT; call++) {
		bool found = call == FAKE_cuptiProfilerHostDeinitialize
		             || call == FAKE_NVPW_MetricsEvaluator_Destroy
		             || call == FAKE_NVPW_CounterDataBuilder_Destroy;

		for (size_t i = 0; i < COUNT(failing); i++)
			found = found || failing[i].call == call;
		ck_assert_msg(found, "call %d has no failing row", (int)call);
	}
}
END_TEST

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
	{ HERE, do_properties, 64, { 64 }, 1, OPK_OK },
	{ HERE, do_properties, 60, { 64, 60 }, 2, OPK_OK },
	{ HERE, do_properties, 0, { 64, 60 }, 2, OPK_EFAILED },
};

/* Sets the accepted size of the call in question, and lets the other one pass at once. */
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

/* Leaves only the sizes of the call in question. */
static void drop_other_sizes(const struct ladder *row)
{
	size_t kept = 0;

	for (size_t i = 0; i < fake.size_count; i++)
		if (row->run == do_host ? fake.sizes[i] < 60 : fake.sizes[i] >= 60)
			fake.sizes[kept++] = fake.sizes[i];
	fake.size_count = kept;
}

START_TEST(size_ladder)
{
	const struct ladder *row = &ladder[_i];
	struct opk_ctx *ctx = fake_ctx();
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
	/* The next call knows, unless there was nothing to learn. */
	fake.size_count = 0;
	code = row->run(ctx);
	drop_other_sizes(row);
	ck_row(row, code == row->wanted, "again: code %d", code);
	ck_row(row, fake.size_count == (row->accepted ? 1 : row->tried_count), "again: %zu sizes",
	       fake.size_count);
	ck_row(row, !row->accepted || fake.sizes[0] == row->accepted, "again: %zu", fake.sizes[0]);
	opk_ctx_free(ctx);
}
END_TEST

/* A size that draws another error than INVALID_PARAMETER is a right one. */
START_TEST(size_is_learnt_from_other_errors)
{
	struct opk_ctx *ctx = fake_ctx();
	bool supported;

	ck_ok(ctx, opk_nv_host_supported(&supported, ctx, "FC100", OPK_PROFILER_PM));
	ck_assert(!supported);
	ck_assert_uint_eq(ctx->nv->initialize_size, 48);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- missing symbols */

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
		const struct opk_feature *feature = opk_feature(ctx, i);

		ck_assert_msg(feature->available == (i != row->feature), "%s without %s",
		              feature->name, row->symbol);
		ck_assert(feature->available == !feature->missing);
		ck_assert_str_eq(feature->name, feature_titles[i]);
	}
	ck_assert_ptr_null(opk_feature(ctx, NV_FEATURE_COUNT));
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
		{ HERE, do_config_counters, CALL(NVPW_Config_GetRawCounters), "'plan-detail'" },
		{ HERE, do_image_chip, CALL(NVPW_CounterData_GetChipName), "'image-chip'" },
		{ HERE, do_sample_time, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
		  "'sample-times'" },
		{ HERE, do_image_profiler, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime),
		  "'sample-times'" },
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

/* A libnvperf_host that lacks a symbol is told from none at all, with which nothing works. */
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
	struct opk_nvidia_info info;

	fake_reset();
	ctx = fake_ctx_of(&table);
	ck_code(ctx, opk_nvidia_info(&info, ctx), OPK_ENVIDIA);
	ck_assert_ptr_null(info.cupti_path);
	ck_assert_uint_eq(info.cupti_version, 0);
	ck_assert_msg(told(ctx, "libcupti not found"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

/* ---- prefixes, units, chips */

START_TEST(prefix_by_either_call)
{
	static const struct {
		struct here here;
		bool old, instances;
	} rows[] = {
		{ HERE, false, true }, { HERE, false, false }, { HERE, true, true },
		{ HERE, true, false },
	};
	static const char *const names[] = { "raw_a", "raw_b", "raw_shared" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct nv_table table = fake_table();
		opk_autofree void *prefix = NULL;
		struct opk_ctx *ctx;
		size_t size = 0;

		fake_reset();
		if (rows[i].old)
			table.NVPW_CounterDataBuilder_AddRawCounters = NULL;
		ctx = fake_ctx_of(&table);
		ck_ok(ctx, opk_nv_prefix(&prefix, &size, ctx, "FA100", names, 3,
		                         rows[i].instances));
		ck_row(&rows[i], size == FAKE_PREFIX_SIZE && !memcmp(prefix, "pppp", 4), "%zu",
		       size);
		ck_row(&rows[i], fake.prefix_counters == 3, "%zu", fake.prefix_counters);
		ck_row(&rows[i], fake.prefix_keeps_instances == rows[i].instances, "instances");
		ck_row(&rows[i], fake.calls[FAKE_NVPW_CounterDataBuilder_AddMetrics] == rows[i].old
		       && fake.calls[FAKE_NVPW_CounterDataBuilder_AddRawCounters] == !rows[i].old,
		       "the wrong call");
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(units)
{
	static const struct {
		struct here here;
		struct nv_DimUnitFactor factors[FAKE_MAX_FACTORS];
		size_t count;
		const char *wanted;
	} rows[] = {
		{ HERE, { { 0, 0 } }, 0, "" },
		{ HERE, { { 0, 1 } }, 1, "bytes" },
		{ HERE, { { 0, 1 }, { 1, -1 } }, 2, "bytes/second" },
		{ HERE, { { 1, -1 }, { 0, 1 } }, 2, "bytes/second" },
		{ HERE, { { 1, -1 } }, 1, "1/second" },
		{ HERE, { { 0, 2 }, { 2, 1 }, { 1, -2 } }, 3, "bytes^2*cycles/second^2" },
		{ HERE, { { 0, 1 }, { 1, -1 }, { 2, -1 } }, 3, "bytes/second/cycle" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		opk_autofree char *unit = NULL;
		struct opk_nv_evaluator *evaluator;

		memcpy(fake.factors, rows[i].factors, sizeof fake.factors);
		fake.factor_count = rows[i].count;
		ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "FA100", NULL));
		ck_ok(ctx, opk_nv_unit(&unit, ctx, evaluator, "fake__a.sum"));
		ck_row(&rows[i], !strcmp(unit, rows[i].wanted), "got %s", unit);
		opk_nv_evaluator_free(evaluator);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(chips_and_profilers)
{
	static const struct {
		struct here here;
		const char *name;
		bool range, pm;
	} rows[] = {
		{ HERE, "FA100", true, true },
		{ HERE, "FB100", true, false },
		{ HERE, "FC100", false, false },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_chips *chips;

	ck_ok(ctx, opk_chips_new(&chips, ctx));
	ck_assert_uint_eq(opk_chips_count(chips), 3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		ck_row(&rows[i], !strcmp(chip->name, rows[i].name), "%s", chip->name);
		ck_row(&rows[i], chip->range == rows[i].range, "range");
		ck_row(&rows[i], chip->pm_sampling == rows[i].pm, "pm");
	}
	opk_chips_free(chips);
	ck_assert_int_eq(fake.hosts, 0);
	/* Any other failure while asking is a failure. */
	fake.status[FAKE_cuptiProfilerHostInitialize] = 8;
	fake.from[FAKE_cuptiProfilerHostInitialize] =
		fake.calls[FAKE_cuptiProfilerHostInitialize] + 3;
	ck_code(ctx, opk_chips_new(&chips, ctx), OPK_EFAILED);
	ck_assert_msg(told(ctx, "profilers of FB100"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(catalog)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_catalog *list;

	ck_ok(ctx, opk_catalog_new(&list, ctx, "fa100", OPK_PROFILER_RANGE));
	ck_assert_str_eq(opk_catalog_chip(list), "FA100");
	ck_assert_uint_eq(opk_catalog_count(list), 6);
	ck_assert_str_eq(opk_catalog_get(list, 0)->name, "fake__a");
	ck_assert_str_eq(opk_catalog_get(list, 0)->description, "a fake metric");
	ck_assert_str_eq(opk_catalog_get(list, 2)->description, "");
	opk_catalog_free(list);
	ck_code(ctx, opk_catalog_new(&list, ctx, "FB100", OPK_PROFILER_PM), OPK_EFAILED);
	ck_assert_msg(told(ctx, "CUPTI_ERROR_NOT_SUPPORTED (27)"), "%s", errors_of(ctx));
	ck_code(ctx, opk_catalog_new(&list, ctx, "FA10", OPK_PROFILER_PM), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "did you mean FA100?"), "%s", errors_of(ctx));
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = 999;
	fake.from[FAKE_cuptiProfilerHostGetMetricProperties] =
		fake.calls[FAKE_cuptiProfilerHostGetMetricProperties] + 4;
	ck_code(ctx, opk_catalog_new(&list, ctx, "FA100", OPK_PROFILER_RANGE), OPK_EFAILED);
	ck_assert_msg(told(ctx, "no metric catalog of FA100"), "%s", errors_of(ctx));
	ck_assert_int_eq(fake.hosts, 0);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- plans */

static const struct plan_row {
	struct here here;
	const char *metrics;
	enum opk_profiler profiler;
	size_t max_passes;
	int together; /* status of several at once */
	size_t passes; /* 0: refused */
	int wanted;
	const char *told[5];
	const char *not_told;
} plan_rows[] = {
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_RANGE, 0, 0, 1, OPK_OK, { NULL }, NULL },
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 0, 0, 2, OPK_OK,
	  { NULL }, NULL },
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 2, 0, 2, OPK_OK,
	  { NULL }, NULL },
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_PM, 0, 0, 1, OPK_OK, { NULL }, NULL },
	/* Unknown, with a suggestion. */
	{ HERE, "fake__b.sum,fake__aa.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "FA100 has no metric 'fake__aa.sum', did you mean fake__a?",
	    "1 of 2 metrics don't work on FA100, profiler range" }, "fake__b.sum" },
	{ HERE, "dram__bytes.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "FA100 has no metric 'dram__bytes.sum'" }, "did you mean" },
	/* A bare base name, and a rollup that there is not. */
	{ HERE, "fake__a,fake__ratio,fake__throughput", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "fake__a needs a rollup, for example fake__a.sum",
	    "fake__ratio needs a submetric, for example fake__ratio.pct",
	    "fake__throughput needs a rollup", "3 of 3 metrics" }, NULL },
	{ HERE, "fake__a.sum,fake__b.wrong", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "fake__b has no rollup or submetric 'wrong'" }, "fake__a" },
	/* Listed, yet not schedulable. */
	{ HERE, "fake__a.sum,fake__listed.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EFAILED,
	  { "fake__listed.sum is listed for FA100 but can't be scheduled", "1 of 2 metrics" },
	  "fake__a.sum" },
	/* Each of several. */
	{ HERE, "fake__listed.sum,fake__a.sum,fake__bb.sum,nothing__like_it.sum",
	  OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "fake__listed.sum is listed", "no metric 'fake__bb.sum', did you mean fake__b?",
	    "no metric 'nothing__like_it.sum'", "3 of 4 metrics" }, "fake__a.sum" },
	{ HERE, "x__1.sum,x__2.sum,x__3.sum,x__4.sum,x__5.sum,x__6.sum,x__7.sum,x__8.sum,x__9.sum,"
	  "x__10.sum,x__11.sum,x__12.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  { "'x__1.sum'", "'x__11.sum'", "'x__12.sum'", "12 of 12 metrics" }, NULL },
	/* Together only. */
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_RANGE, 0, 999, 0, OPK_EFAILED,
	  { "FA100 refuses the metrics of set custom together, not one by one" }, NULL },
	/* Too many passes. */
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_PM, 0, 0, 0, OPK_EFAILED,
	  { "2 of 3 metrics fit into 1 pass; not: fake__c.sum", "needs 2 passes on FA100",
	    "PM sampling has one" }, "fake__a.sum" },
	{ HERE, "fake__ratio.pct,fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_PM, 5, 0, 0,
	  OPK_EFAILED, { "2 of 4 metrics fit into 1 pass; not: fake__ratio.pct, fake__c.sum" },
	  NULL },
	{ HERE, "fake__a.sum,fake__ratio.pct,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 2, 0, 0,
	  OPK_EFAILED, { "2 of 4 metrics fit into 2 passes; not: fake__b.sum, fake__c.sum",
	    "needs 3 passes on FA100" }, "PM sampling" },
};

static int plan_of(struct opk_plan **plan, struct opk_ctx *ctx, const char *metrics,
                   struct opk_plan_options *options)
{
	struct opk_set *set;
	int code;

	ck_ok(ctx, opk_set_from_names(&set, ctx, metrics));
	code = opk_plan_new(plan, ctx, set, options);
	opk_set_free(set);
	return code;
}

START_TEST(plan)
{
	const struct plan_row *row = &plan_rows[_i];
	struct opk_ctx *ctx = fake_ctx();
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *made = NULL;
	int code;

	options.chip = "fa100";
	options.has_profiler = true;
	options.profiler = row->profiler;
	options.max_passes = row->max_passes;
	fake.together_status = row->together;
	code = plan_of(&made, ctx, row->metrics, &options);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !made == !row->passes, "a plan of a failure, or none of success");
	if (made)
		ck_row(row, opk_plan_passes(made) == row->passes, "%zu", opk_plan_passes(made));
	for (size_t i = 0; i < COUNT(row->told) && row->told[i]; i++)
		ck_row(row, told(ctx, row->told[i]), "no '%s' in: %s", row->told[i],
		       errors_of(ctx));
	if (row->not_told)
		ck_row(row, !told(ctx, row->not_told), "%s", errors_of(ctx));
	opk_plan_free(made);
	ck_row(row, fake.hosts == 0, "%d host objects left", fake.hosts);
	opk_ctx_free(ctx);
}
END_TEST

/* Where the plan's own calls fail, that is said. */
START_TEST(plan_calls_fail)
{
	static const struct {
		struct here here;
		enum fake_call call;
		const char *symbol;
		int status, wanted;
	} rows[] = {
		{ HERE, CALL(cuptiProfilerHostGetSupportedChips), 8, OPK_EFAILED },
		{ HERE, CALL(cuptiProfilerHostInitialize), 8, OPK_EFAILED },
		{ HERE, CALL(cuptiProfilerHostGetConfigImageSize), 8, OPK_EFAILED },
		{ HERE, CALL(cuptiProfilerHostGetConfigImage), 8, OPK_EFAILED },
		{ HERE, CALL(cuptiProfilerHostGetNumOfPasses), 8, OPK_EFAILED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_plan_options options = OPK_INIT(options);
		struct opk_plan *made = NULL;
		int code;

		options.chip = "FA100";
		fake.status[rows[i].call] = rows[i].status;
		code = plan_of(&made, ctx, "fake__a.sum", &options);
		ck_row(&rows[i], code == rows[i].wanted, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], told(ctx, rows[i].symbol), "%s not named in: %s", rows[i].symbol,
		       errors_of(ctx));
		ck_row(&rows[i], !made && !fake.hosts, "left over");
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(plan_with_availability)
{
	static const struct {
		struct here here;
		enum fake_deed deed;
		int wanted;
	} rows[] = {
		{ HERE, FAKE_RETURNS, OPK_OK },
		{ HERE, FAKE_SEGFAULTS, OPK_EINPUT },
		{ HERE, FAKE_ABORTS, OPK_EINPUT },
		{ HERE, FAKE_EXITS, OPK_EINPUT },
		{ HERE, FAKE_EXITS_HAPPY, OPK_EINPUT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_plan_options options = OPK_INIT(options);
		struct opk_plan *made = NULL;
		int code;

		options.chip = "FA100";
		options.availability = fake_image();
		options.availability_size = FAKE_IMAGE_SIZE;
		fake.availability_deed = rows[i].deed;
		code = plan_of(&made, ctx, "fake__a.sum", &options);
		ck_row(&rows[i], code == rows[i].wanted, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], !code || told(ctx, "availability image can't be used"), "%s",
		       errors_of(ctx));
		opk_plan_free(made);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(plan_detail)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan_detail *detail;
	struct opk_plan *made;

	options.chip = "FA100";
	ck_ok(ctx, plan_of(&made, ctx, "fake__a.sum,fake__b.sum,fake__c.sum", &options));
	ck_ok(ctx, opk_plan_detail_new(&detail, ctx, made));
	ck_assert_uint_eq(opk_plan_detail_lower_bound(detail), 1);
	ck_assert_uint_eq(opk_plan_detail_counters(detail, 0), 2);
	ck_assert(opk_plan_detail_serves(detail, 0, 0) && opk_plan_detail_serves(detail, 0, 1));
	ck_assert(!opk_plan_detail_serves(detail, 0, 2) && opk_plan_detail_serves(detail, 1, 2));
	ck_assert(!opk_plan_detail_serves(detail, 1, 0));
	opk_plan_detail_free(detail);
	fake.status[FAKE_NVPW_Config_GetRawCounters] = 8;
	fake.from[FAKE_NVPW_Config_GetRawCounters] =
		fake.calls[FAKE_NVPW_Config_GetRawCounters] + 3;
	ck_code(ctx, opk_plan_detail_new(&detail, ctx, made), OPK_EFAILED);
	ck_assert_msg(told(ctx, "NVPW_Config_GetRawCounters"), "%s", errors_of(ctx));
	opk_plan_free(made);
	ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- evaluation in the child */

static const char *const eval_metrics[] = { "fake__a.sum", "fake__ratio.pct" };

static int evaluate(struct opk_evaluation **out, struct opk_ctx *ctx,
                    struct opk_eval_options *options)
{
	if (!options->metrics) {
		options->metrics = eval_metrics;
		options->metric_count = 2;
	}
	if (!options->timeout_s)
		options->timeout_s = 20;
	return opk_eval_image(out, ctx, fake_image(), FAKE_IMAGE_SIZE, options);
}

static const struct deed_row {
	struct here here;
	enum fake_deed deed;
	size_t at;
	int wanted;
	const char *told;
} deed_rows[] = {
	{ HERE, FAKE_RETURNS, 1, OPK_OK, NULL },
	{ HERE, FAKE_SEGFAULTS, 0, OPK_EINPUT, "crashed on these bytes (signal 11" },
	{ HERE, FAKE_SEGFAULTS, 2, OPK_EINPUT, "crashed on these bytes (signal 11" },
	{ HERE, FAKE_ABORTS, 1, OPK_EINPUT, "crashed on these bytes (signal 6" },
	{ HERE, FAKE_EXITS, 1, OPK_EINPUT, "ended the process on these bytes (exit 3)" },
	{ HERE, FAKE_EXITS_HAPPY, 2, OPK_EINPUT, "ended the process on these bytes (exit 0)" },
	{ HERE, FAKE_LOOPS, 1, OPK_EINPUT, "no progress for 1 s" },
};

START_TEST(evaluation_survives)
{
	const struct deed_row *row = &deed_rows[_i];
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation = NULL;
	int code;

	fake.evaluate_deed = row->deed;
	fake.evaluate_at = row->at;
	options.timeout_s = row->deed == FAKE_LOOPS ? 1 : 20;
	code = evaluate(&evaluation, ctx, &options);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !evaluation == !!code, "out parameter after code %d", code);
	ck_row(row, !row->told || told(ctx, row->told), "%s", errors_of(ctx));
	opk_evaluation_free(evaluation);
	opk_ctx_free(ctx);
}
END_TEST

static const struct eval_failure {
	struct here here;
	enum fake_call call;
	const char *symbol;
	unsigned from;
	int status, wanted;
	const char *told[2];
} eval_failures[] = {
	{ HERE, CALL(cuptiProfilerHostEvaluateToGpuValues), 3, 9, OPK_EINPUT,
	  { "CUPTI_ERROR_HARDWARE (9)", "while evaluating range 2" } },
	{ HERE, CALL(cuptiProfilerHostGetRangeName), 2, 1, OPK_EINPUT,
	  { "CUPTI_ERROR_INVALID_PARAMETER (1)", "while evaluating range 1" } },
	{ HERE, CALL(cuptiPmSamplingGetCounterDataInfo), 0, 1, OPK_EFAILED,
	  { "CUPTI_ERROR_INVALID_PARAMETER (1)", NULL } },
	{ HERE, CALL(NVPW_CounterData_GetChipName), 0, 8, OPK_EFAILED,
	  { "NVPA_STATUS_INVALID_ARGUMENT (8)", "the image does not tell its chip" } },
	{ HERE, CALL(cuptiProfilerHostGetSupportedChips), 0, 8, OPK_EFAILED, { NULL } },
	{ HERE, CALL(cuptiProfilerHostInitialize), 0, 8, OPK_EFAILED, { NULL } },
};

START_TEST(evaluation_fails)
{
	const struct eval_failure *row = &eval_failures[_i];
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation = NULL;
	int code;

	fake.status[row->call] = row->status;
	fake.from[row->call] = row->from;
	code = evaluate(&evaluation, ctx, &options);
	/* What fails on the image alone may be called damage. */
	ck_row(row, code == row->wanted || (row->wanted == OPK_EFAILED && code == OPK_EINPUT),
	       "code %d: %s", code, errors_of(ctx));
	ck_row(row, !evaluation, "out parameter after a failure");
	ck_row(row, told(ctx, row->symbol), "%s", errors_of(ctx));
	for (size_t i = 0; i < 2 && row->told[i]; i++)
		ck_row(row, told(ctx, row->told[i]), "no '%s' in: %s", row->told[i],
		       errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(evaluation_of_absurd_counts)
{
	static const struct {
		struct here here;
		size_t slots, completed;
		int wanted;
	} rows[] = {
		{ HERE, 1000000000, 1000000000, OPK_EINPUT },
		{ HERE, SIZE_MAX, SIZE_MAX, OPK_EINPUT },
		{ HERE, FAKE_IMAGE_SIZE / 8 + 1, FAKE_IMAGE_SIZE / 8 + 1, OPK_EINPUT },
		{ HERE, 3, 4, OPK_EINPUT },
		{ HERE, FAKE_IMAGE_SIZE / 8, FAKE_IMAGE_SIZE / 8, OPK_OK },
		{ HERE, 1000000000, 3, OPK_OK },
		{ HERE, 0, 0, OPK_OK },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation = NULL;
		int code;

		fake.slots = rows[i].slots;
		fake.populated = fake.completed = rows[i].completed;
		code = evaluate(&evaluation, ctx, &options);
		ck_row(&rows[i], code == rows[i].wanted, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], !code || told(ctx, "the image claims"), "%s", errors_of(ctx));
		opk_evaluation_free(evaluation);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* All rows in order, with their values; returns how many. */
static size_t check_rows(struct opk_ctx *ctx, struct opk_evaluation *evaluation, size_t odd)
{
	const struct opk_row *row;
	size_t count = 0;

	for (;; count++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		ck_assert_uint_eq(row->index, count);
		if (count != odd)
			ck_assert_double_eq(row->values[0], (double)count * 100 + 0.5);
		ck_assert_double_eq(row->values[1], (double)count * 100 + 1.5);
	}
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_ptr_null(row);
	return count;
}

START_TEST(rows_in_order)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;

	fake.slots = fake.populated = fake.completed = 500;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
	ck_assert_str_eq(opk_evaluation_chip(evaluation), "FA100");
	ck_assert_int_eq(opk_evaluation_profiler(evaluation), OPK_PROFILER_RANGE);
	ck_assert_uint_eq(opk_evaluation_metric_count(evaluation), 2);
	ck_assert_str_eq(opk_evaluation_metric(evaluation, 1), "fake__ratio.pct");
	ck_assert_str_eq(opk_evaluation_unit(evaluation, 0), "bytes/second");
	ck_assert_uint_eq(check_rows(ctx, evaluation, SIZE_MAX), 500);
	ck_assert_uint_eq(opk_evaluation_incomplete_samples(evaluation), 0);
	opk_evaluation_free(evaluation);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(values_without_a_number)
{
	static const struct {
		struct here here;
		double value;
	} rows[] = { { HERE, NAN }, { HERE, INFINITY }, { HERE, -INFINITY }, { HERE, -1 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation;
		const struct opk_row *row;

		fake.nan_or_inf = rows[i].value;
		fake.evaluate_at = 0;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_row(&rows[i], isnan(rows[i].value) ? isnan(row->values[0])
		                                      : row->values[0] == rows[i].value,
		       "%g became %g", rows[i].value, row->values[0]);
		opk_evaluation_free(evaluation);
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_assert_uint_eq(check_rows(ctx, evaluation, 0), 3);
		opk_evaluation_free(evaluation);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(long_names)
{
	static const struct {
		struct here here;
		size_t length, wanted;
	} rows[] = {
		{ HERE, 0, 12 }, /* "outer/range0" */
		{ HERE, 1, 1 },
		{ HERE, 4095, 4095 },
		{ HERE, 65535, 65535 },
		{ HERE, 65536, 65536 },
		{ HERE, 100000, 65536 }, /* cut */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation;
		const struct opk_row *row;

		fake.name_length = rows[i].length;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_row(&rows[i], strlen(row->name) == rows[i].wanted, "%zu", strlen(row->name));
		ck_row(&rows[i], rows[i].length || !strcmp(row->name, "outer/range0"), "%s",
		       row->name);
		opk_evaluation_free(evaluation);
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_row(&rows[i], check_rows(ctx, evaluation, SIZE_MAX) == 3, "rows");
		opk_evaluation_free(evaluation);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(samples)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;
	const struct opk_row *row;

	fake.image_is_pm = true;
	fake.populated = 7;
	fake.completed = 3;
	options.has_gpu_time_shift = true;
	options.gpu_time_shift = -400;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
	ck_assert_int_eq(opk_evaluation_profiler(evaluation), OPK_PROFILER_PM);
	ck_assert_uint_eq(opk_evaluation_incomplete_samples(evaluation), 4);
	for (size_t i = 0; i < 3; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_str_eq(row->name, "");
		ck_assert_uint_eq(row->start_ns, i ? 600 + 10 * i : 0);
		ck_assert_uint_eq(row->end_ns, 610 + 10 * i);
		ck_assert(row->spans_earlier == (i == 0));
	}
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_ptr_null(row);
	opk_evaluation_free(evaluation);
	/* Of ranges, none may be missing. */
	fake.image_is_pm = false;
	ck_code(ctx, evaluate(&evaluation, ctx, &options), OPK_EINPUT);
	ck_assert_msg(told(ctx, "only 3 of 7 ranges are whole"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

static void count_progress(void *data, uint64_t done, uint64_t total)
{
	uint64_t *next = data;

	ck_assert_uint_eq(done, *next);
	ck_assert_uint_eq(total, 3);
	++*next;
}

START_TEST(progress)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;
	uint64_t next = 0;

	options.progress = count_progress;
	options.progress_data = &next;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
	ck_assert_uint_eq(next, 3);
	opk_evaluation_free(evaluation);
	opk_ctx_free(ctx);
}
END_TEST

/* Units are an extra: without them there are values still. */
START_TEST(evaluation_without_units)
{
	static const enum fake_call missing[] = {
		FAKE_NVPW_MetricsEvaluator_GetMetricDimUnits, FAKE_NVPW_InitializeHost,
	};

	for (size_t i = 0; i < COUNT(missing); i++) {
		struct nv_table table = fake_table();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation;
		struct opk_ctx *ctx;

		fake_reset();
		*fake_slot(&table, missing[i]) = NULL;
		ctx = fake_ctx_of(&table);
		options.chip = "FA100";
		options.has_profiler = true;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_assert_str_eq(opk_evaluation_unit(evaluation, 0), "");
		ck_assert_uint_eq(check_rows(ctx, evaluation, SIZE_MAX), 3);
		opk_evaluation_free(evaluation);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* Without the calls that read them, a bare image's chip and profiler must be given. */
START_TEST(evaluation_without_detection)
{
	static const struct {
		struct here here;
		enum fake_call call;
		const char *symbol;
	} rows[] = {
		{ HERE, CALL(NVPW_CounterData_GetChipName) },
		{ HERE, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime) },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct nv_table table = fake_table();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation = NULL;
		struct opk_ctx *ctx;
		int code;

		fake_reset();
		*fake_slot(&table, rows[i].call) = NULL;
		ctx = fake_ctx_of(&table);
		code = evaluate(&evaluation, ctx, &options);
		ck_row(&rows[i], code == OPK_ENVIDIA, "code %d", code);
		ck_row(&rows[i], told(ctx, rows[i].symbol), "%s", errors_of(ctx));
		options.chip = "fa100";
		options.has_profiler = true;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		opk_evaluation_free(evaluation);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(evaluation_arguments)
{
	static const char *const wrong[] = { "fake__a.sum", "fake__aa.sum", "fake__b" };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation = NULL;

	ck_code(ctx, opk_eval_image(&evaluation, ctx, fake_image(), FAKE_IMAGE_SIZE, &options),
	        OPK_EUSAGE);
	options.metrics = wrong;
	options.metric_count = 3;
	ck_code(ctx, evaluate(&evaluation, ctx, &options), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "no metric 'fake__aa.sum', did you mean fake__a?"), "%s",
	              errors_of(ctx));
	ck_assert_msg(told(ctx, "fake__b needs a rollup"), "%s", errors_of(ctx));
	ck_assert_msg(!told(ctx, "'fake__a.sum'"), "%s", errors_of(ctx));
	options.metric_count = 1;
	ck_code(ctx, opk_eval_image(&evaluation, ctx, fake_image(), 64, &options), OPK_EINPUT);
	ck_code(ctx, opk_eval_image(&evaluation, ctx, "LOPDATe", 8, &options), OPK_EINPUT);
	ck_code(ctx, opk_eval_image(&evaluation, ctx, (const char *)fake_image() + 8, 1000,
	                            &options), OPK_EINPUT);
	options.chip = "FX100";
	ck_code(ctx, evaluate(&evaluation, ctx, &options), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "unknown chip 'FX100'"), "%s", errors_of(ctx));
	ck_assert_ptr_null(evaluation);
	opk_ctx_free(ctx);
}
END_TEST

static TCase *adapter_case(void)
{
	TCase *tests = tcase_create("adapter");

	tcase_add_test(tests, all_works);
	tcase_add_loop_test(tests, each_call_fails, 0, COUNT(failing));
	tcase_add_test(tests, no_call_is_forgotten);
	tcase_add_loop_test(tests, size_ladder, 0, COUNT(ladder));
	tcase_add_test(tests, size_is_learnt_from_other_errors);
	tcase_add_loop_test(tests, missing_symbol, 0, FAKE_CALL_COUNT);
	tcase_add_test(tests, missing_for_operation);
	tcase_add_test(tests, missing_library_or_symbol);
	tcase_add_test(tests, no_library);
	tcase_add_test(tests, prefix_by_either_call);
	tcase_add_test(tests, units);
	tcase_set_timeout(tests, 60);
	return tests;
}

static TCase *domain_case(void)
{
	TCase *tests = tcase_create("domain");

	tcase_add_test(tests, chips_and_profilers);
	tcase_add_test(tests, catalog);
	tcase_add_loop_test(tests, plan, 0, COUNT(plan_rows));
	tcase_add_test(tests, plan_calls_fail);
	tcase_add_test(tests, plan_with_availability);
	tcase_add_test(tests, plan_detail);
	tcase_set_timeout(tests, 60);
	return tests;
}

static TCase *evaluation_case(void)
{
	TCase *tests = tcase_create("evaluation");

	tcase_add_loop_test(tests, evaluation_survives, 0, COUNT(deed_rows));
	tcase_add_loop_test(tests, evaluation_fails, 0, COUNT(eval_failures));
	tcase_add_test(tests, evaluation_of_absurd_counts);
	tcase_add_test(tests, rows_in_order);
	tcase_add_test(tests, values_without_a_number);
	tcase_add_test(tests, long_names);
	tcase_add_test(tests, samples);
	tcase_add_test(tests, progress);
	tcase_add_test(tests, evaluation_without_units);
	tcase_add_test(tests, evaluation_without_detection);
	tcase_add_test(tests, evaluation_arguments);
	tcase_set_timeout(tests, 120);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("fake_nv");

	suite_add_tcase(suite, adapter_case());
	suite_add_tcase(suite, domain_case());
	suite_add_tcase(suite, evaluation_case());
	return run_suite(suite);
}
