/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluation in the child: NVIDIA's libraries fail, crash, hang and return nonsense. */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "eval/door.h"
#include "fake_nv.h"
#include "testing.h"

static const char *const eval_metrics[] = { "fake__a.sum", "fake__ratio.pct" };

static int evaluate(struct opk_evaluation **out, struct opk_ctx *ctx,
                    struct opk_eval_options *options)
{
	if (!options->metrics) {
		options->metrics = eval_metrics;
		options->metric_count = 2;
	}
	if (!ctx->timeout_s)
		ctx->timeout_s = 20;
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

FAKE_TEST_EACH(evaluation_survives, deed_rows)
{
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_evaluation) *evaluation = NULL;
	int code;

	fake.evaluate_deed = row->deed;
	fake.evaluate_at = row->at;
	ctx->timeout_s = row->deed == FAKE_LOOPS ? 1 : 20;
	code = evaluate(&evaluation, ctx, &options);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !evaluation == !!code, "out parameter after code %d", code);
	ck_row(row, !row->told || told(ctx, row->told), "%s", errors_of(ctx));
	ck_row(row,
	       !code
	               || (opk_error_cause(ctx, 0)->os_error == ETIMEDOUT)
	                          == (row->deed == FAKE_LOOPS),
	       "errno %d", opk_error_cause(ctx, 0)->os_error);
}

static const struct eval_failure {
	struct here here;
	enum fake_call call;
	const char *symbol;
	unsigned from;
	int status, wanted;
	bool cupti_only;
	const char *told; /* texts with | between */
} eval_failures[] = {
	{ HERE, CALL(cuptiProfilerHostEvaluateToGpuValues), 3, 9, OPK_EINPUT, true,
	  "CUPTI_ERROR_HARDWARE (9)|while evaluating range 2" },
	{ HERE, CALL(NVPW_MetricsEvaluator_EvaluateToGpuValues), 3, 1, OPK_EINPUT, false,
	  "NVPA_STATUS_ERROR (1)|while evaluating range 2" },
	{ HERE, CALL(cuptiProfilerHostGetRangeName), 2, 1, OPK_EINPUT, false,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)|while evaluating range 1" },
	{ HERE, CALL(cuptiPmSamplingGetCounterDataInfo), 0, 1, OPK_EFAILED, false,
	  "CUPTI_ERROR_INVALID_PARAMETER (1)" },
	{ HERE, CALL(NVPW_CounterData_GetChipName), 0, 8, OPK_EFAILED, false,
	  "NVPA_STATUS_INVALID_ARGUMENT (8)|the image does not say its chip" },
	{ HERE, CALL(cuptiProfilerHostGetSupportedChips), 0, 8, OPK_EFAILED, false, NULL },
	{ HERE, CALL(cuptiProfilerHostInitialize), 0, 8, OPK_EFAILED, true, NULL },
};

FAKE_TEST_EACH(evaluation_fails, eval_failures)
{
	struct opk_eval_options options = OPTIONS(options, .inside = &(struct opk_eval_inside){
								   .cupti_only = row->cupti_only });
	struct opk_evaluation *evaluation = NULL;
	int code;

	fake.status[row->call] = row->status;
	fake.from[row->call] = row->from;
	code = evaluate(&evaluation, ctx, &options);
	/* A call that fails because of the image may be reported as damage. */
	ck_row(row, code == row->wanted || (row->wanted == OPK_EFAILED && code == OPK_EINPUT),
	       "code %d: %s", code, errors_of(ctx));
	ck_row(row, !evaluation, "out parameter after a failure");
	ck_row(row, told(ctx, row->symbol), "%s", errors_of(ctx));
	ck_row(row, !untold(ctx, row->told), "no '%s' in: %s", untold(ctx, row->told),
	       errors_of(ctx));
}

/* CUPTI's call is used if PerfWorks' evaluator fails, or images do not name their device. */
TEST(evaluation_by_cupti_instead)
{
	static const enum fake_call failing[] = {
		FAKE_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest,
		FAKE_NVPW_MetricsEvaluator_SetDeviceAttributes,
		FAKE_NVPW_CounterData_ExtractCounterDataPrefix,
		FAKE_NVPW_CounterData_InitializeCounterDataImageCopy,
		FAKE_NVPW_CUDA_MetricsEvaluator_Initialize,
	};

	for (size_t i = 0; i < COUNT(failing); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		struct opk_eval_options options = OPK_INIT(options);
		freed(opk_evaluation) *evaluation = NULL;
		const struct opk_row *row;

		fake.status[failing[i]] = 8;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert(row->values[0] == 100.5 && row->values[1] == 101.5);
	}
}

static unsigned children;

static void count_child(void)
{
	children++;
}

/* A set needs the image's chip and profiler: a child reads them only if they are not given. */
FAKE_TEST(given_origins_need_no_child)
{
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;
	freed(opk_evaluation) *asked = NULL, *given = NULL;
	unsigned when_asked;

	ck_assert_int_eq(pthread_atfork(count_child, NULL, NULL), 0);
	ck_ok(ctx, opk_set_from_names(&set, ctx, "fake__a.sum"));
	options.set = set;
	ctx->timeout_s = 20;
	ck_ok(ctx, opk_eval_image(&asked, ctx, fake_image(), FAKE_IMAGE_SIZE, &options));
	when_asked = children;
	options.chip = "FA100";
	options.has_profiler = true;
	ck_ok(ctx, opk_eval_image(&given, ctx, fake_image(), FAKE_IMAGE_SIZE, &options));
	ck_assert_uint_eq(children - when_asked + 1, when_asked);
}

static const struct {
	struct here here;
	size_t slots, completed;
	int wanted;
} evaluation_of_absurd_counts_rows[] = {
	{ HERE, 1000000000, 1000000000, OPK_EINPUT },
	{ HERE, SIZE_MAX, SIZE_MAX, OPK_EINPUT },
	{ HERE, FAKE_IMAGE_SIZE / 8 + 1, FAKE_IMAGE_SIZE / 8 + 1, OPK_EINPUT },
	{ HERE, 3, 4, OPK_EINPUT },
	{ HERE, FAKE_IMAGE_SIZE / 8, FAKE_IMAGE_SIZE / 8, OPK_OK },
	{ HERE, 1000000000, 3, OPK_OK },
	{ HERE, 0, 0, OPK_OK },
};

FAKE_TEST_EACH(evaluation_of_absurd_counts, evaluation_of_absurd_counts_rows)
{
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_evaluation) *evaluation = NULL;

	fake.slots = row->slots;
	fake.populated = fake.completed = row->completed;
	ck_row_ends(row, ctx, evaluate(&evaluation, ctx, &options), row->wanted,
	            "the image claims");
}

/* Checks all rows in order, with their values; returns their number. */
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

FAKE_TEST(rows_in_order)
{
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_evaluation) *evaluation = NULL;

	fake.slots = fake.populated = fake.completed = 500;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
	ck_assert_str_eq(opk_evaluation_chip(evaluation), "FA100");
	ck_assert_int_eq(opk_evaluation_profiler(evaluation), OPK_PROFILER_RANGE);
	ck_assert_uint_eq(opk_evaluation_metric_count(evaluation), 2);
	ck_assert_str_eq(opk_evaluation_metric(evaluation, 1), "fake__ratio.pct");
	ck_assert_str_eq(opk_evaluation_unit(evaluation, 0), "bytes/second");
	ck_assert_uint_eq(check_rows(ctx, evaluation, SIZE_MAX), 500);
	ck_assert_uint_eq(opk_evaluation_incomplete_samples(evaluation), 0);
}

TEST(values_without_a_number)
{
	static const struct {
		struct here here;
		double value;
	} rows[] = { { HERE, NAN }, { HERE, INFINITY }, { HERE, -INFINITY }, { HERE, -1 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		struct opk_eval_options options = OPK_INIT(options);
		struct opk_evaluation *evaluation;
		const struct opk_row *row;

		fake.nan_or_inf = rows[i].value;
		fake.evaluate_at = 0;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_row(&rows[i],
		       isnan(rows[i].value) ? isnan(row->values[0])
		                            : row->values[0] == rows[i].value,
		       "%g became %g", rows[i].value, row->values[0]);
		opk_evaluation_free(evaluation);
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_assert_uint_eq(check_rows(ctx, evaluation, 0), 3);
		opk_evaluation_free(evaluation);
	}
}

TEST(long_names)
{
	static const struct {
		struct here here;
		size_t length, wanted;
	} rows[] = {
		{ HERE, 0, 12 }, /* "outer/range0" */
		{ HERE, 1, 1 },         { HERE, 4095, 4095 },    { HERE, 65535, 65535 },
		{ HERE, 65536, 65536 }, { HERE, 100000, 65536 }, /* cut */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
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
	}
}

FAKE_TEST(samples)
{
	struct opk_eval_options options = OPTIONS(options, .has_gpu_time_shift = true,
	                                          .gpu_time_shift = -400);
	struct opk_evaluation *evaluation;
	const struct opk_row *row;

	fake.image_is_pm = true;
	fake.populated = 7;
	fake.completed = 3;
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
	/* No range may be missing. */
	fake.image_is_pm = false;
	ck_fails(ctx, evaluate(&evaluation, ctx, &options), OPK_EINPUT,
	         "only 3 of 7 ranges are whole");
}

static void count_progress(void *data, enum opk_phase phase, uint64_t done, uint64_t total)
{
	uint64_t *calls = data;

	ck_assert_int_eq(phase, OPK_PHASE_EVALUATION);
	ck_assert_uint_le(done, total);
	ck_assert_uint_eq(total, FAKE_IMAGE_SIZE);
	++*calls;
}

FAKE_TEST(progress)
{
	freed(opk_evaluation) *evaluation = NULL;
	uint64_t calls = 0;
	struct opk_eval_options options = OPK_INIT(options);

	ctx->progress = count_progress;
	ctx->progress_data = &calls;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
	ck_assert_uint_ge(calls, 1);
}

/* Units are optional: without them values are still evaluated. */
TEST(evaluation_without_units)
{
	static const enum fake_call missing[] = {
		FAKE_NVPW_MetricsEvaluator_GetMetricDimUnits,
		FAKE_NVPW_InitializeHost,
	};

	for (size_t i = 0; i < COUNT(missing); i++) {
		struct nv_table table = fake_table();
		struct opk_eval_options options = OPK_INIT(options);
		freed(opk_ctx) *ctx = NULL;
		freed(opk_evaluation) *evaluation = NULL;

		fake_reset();
		*fake_slot(&table, missing[i]) = NULL;
		ctx = fake_ctx_of(&table);
		options.chip = "FA100";
		options.has_profiler = true;
		ck_ok(ctx, evaluate(&evaluation, ctx, &options));
		ck_assert_str_eq(opk_evaluation_unit(evaluation, 0), "");
		ck_assert_uint_eq(check_rows(ctx, evaluation, SIZE_MAX), 3);
	}
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *symbol;
} evaluation_without_detection_rows[] = {
	{ HERE, CALL(NVPW_CounterData_GetChipName) },
	{ HERE, CALL(NVPW_PeriodicSampler_CounterData_GetSampleTime) },
};

/* Without calls that read them, a bare image's chip and profiler must be given. */
TEST_EACH(evaluation_without_detection, evaluation_without_detection_rows)
{
	struct nv_table table = fake_table();
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_ctx) *ctx = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	fake_reset();
	*fake_slot(&table, row->call) = NULL;
	ctx = fake_ctx_of(&table);
	ck_row_ends(row, ctx, evaluate(&evaluation, ctx, &options), OPK_ENVIDIA, row->symbol);
	options.chip = "fa100";
	options.has_profiler = true;
	ck_ok(ctx, evaluate(&evaluation, ctx, &options));
}

FAKE_TEST(evaluation_arguments)
{
	static const char *const wrong[] = { "fake__a.sum", "fake__aa.sum", "fake__b" };
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation = NULL;

	ck_code(ctx, opk_eval_image(&evaluation, ctx, fake_image(), FAKE_IMAGE_SIZE, &options),
	        OPK_EUSAGE);
	options.metrics = wrong;
	options.metric_count = 3;
	ck_fails(ctx, evaluate(&evaluation, ctx, &options), OPK_EUSAGE,
	         "no metric 'fake__aa.sum', did you mean fake__a.sum?");
	ck_assert_msg(told(ctx, "fake__b needs a rollup"), "%s", errors_of(ctx));
	ck_assert_msg(!told(ctx, "'fake__a.sum'"), "%s", errors_of(ctx));
	options.metric_count = 1;
	options.inside = &(struct opk_eval_inside){ .join = "kernel" };
	ck_fails(ctx, evaluate(&evaluation, ctx, &options), OPK_EUSAGE,
	         "a bare image has no range table");
	options.inside = &(struct opk_eval_inside){ .join = "" };
	ck_code(ctx, opk_eval_image(&evaluation, ctx, fake_image(), 64, &options), OPK_EINPUT);
	ck_code(ctx, opk_eval_image(&evaluation, ctx, "LOPDATe", 8, &options), OPK_EINPUT);
	ck_code(ctx,
	        opk_eval_image(&evaluation, ctx, (const char *)fake_image() + 8, 1000, &options),
	        OPK_EINPUT);
	options.chip = "FX100";
	ck_fails(ctx, evaluate(&evaluation, ctx, &options), OPK_EUSAGE, "unknown chip 'FX100'");
	ck_assert_ptr_null(evaluation);
}
