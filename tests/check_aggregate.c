/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics over the fake's recordings, and which metrics and formulas add up. */
#include <math.h>

#include "allocation.h"
#include "images/images.h"
#include "eval/eval.h"
#include "recordings.h"

/* ---- statistics ------------------------------------------------------------------------- */

/* Fails only where the aggregation does. */
static int aggregate(struct opk_aggregate **out, struct opk_evaluation **evaluation,
                     struct opk_file **file, struct opk_ctx *ctx, const char *key)
{
	struct opk_aggregate_options options = OPK_INIT(options);

	options.key = key;
	*file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_eval_file(evaluation, ctx, *file, NULL));
	return opk_aggregate_new(out, ctx, *evaluation, *file, &options);
}

static void check_statistics(const struct opk_aggregated *row, const struct opk_statistics *wanted)
{
	for (size_t i = 0; i < METRICS; i++) {
		const struct opk_statistics *got = &row->columns[i];
		const double values[] = { got->sum, got->mean, got->min, got->max,
			                  got->p50, got->p90,  got->p99 };
		const double wants[] = { wanted[i].sum, wanted[i].mean, wanted[i].min,
			                 wanted[i].max, wanted[i].p50,  wanted[i].p90,
			                 wanted[i].p99 };

		ck_assert_uint_eq(got->count, wanted[i].count);
		for (size_t j = 0; j < COUNT(values); j++)
			ck_assert_msg(isnan(wants[j]) ? isnan(values[j])
			                              : fabs(values[j] - wants[j]) < 1e-9,
			              "metric %zu, value %zu: %.17g", i, j, values[j]);
	}
}

START_TEST(statistics_of_kernels)
{
	static const struct recording recording = { .ranges = plain };
	/* The ratio of x is what the sum of its four ranges evaluates to. */
	static const struct opk_statistics wanted[2][METRICS] = {
		{ { 4, 402, 100.5, 0.5, 200.5, 100.5, 200.5, 200.5 },
		  { 4, NAN, 406, 1.5, 201.5, 101.5, 201.5, 201.5 },
		  { 4, 410, 102.5, 2.5, 202.5, 102.5, 202.5, 202.5 } },
		{ { 2, 201, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5 },
		  { 2, NAN, 203, 101.5, 101.5, 101.5, 101.5, 101.5 },
		  { 2, 205, 102.5, 102.5, 102.5, 102.5, 102.5, 102.5 } },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_evaluation *evaluation;
	struct opk_aggregate *statistics;
	struct opk_file *file;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	ck_assert_uint_eq(opk_aggregate_count(statistics), 2);
	ck_assert_uint_eq(opk_aggregate_left_out(statistics), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct opk_aggregated *row = opk_aggregate_get(statistics, i);

		ck_assert_str_eq(row->name, "");
		ck_assert_str_eq(row->range.kernel, i ? "y" : "x");
		ck_assert_uint_eq(row->range.count, i ? 2 : 4);
		check_statistics(row, wanted[i]);
	}
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* Each metric over the ranges that have it, whatever their number. */
START_TEST(statistics_of_groups)
{
	static const struct recording recording = { .ranges = uneven, .join = "kernel" };
	static const struct opk_statistics wanted[METRICS] = {
		{ 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 },
		{ 2, NAN, 301, 100.5, 200.5, 150.5, 190.5, 199.5 },
		{ 2, 303, 151.5, 101.5, 201.5, 151.5, 191.5, 200.5 },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_evaluation *evaluation;
	struct opk_aggregate *statistics;
	struct opk_file *file;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	check_statistics(opk_aggregate_get(statistics, 0), wanted);
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* The first sample of each image begins at an earlier event. */
START_TEST(statistics_of_samples)
{
	static const struct recording recording = { .samples = true };
	static const struct opk_statistics wanted[METRICS] = {
		{ 2, 301, 150.5, 100.5, 200.5, 150.5, 190.5, 199.5 },
		{ 2, NAN, 303, 101.5, 201.5, 151.5, 191.5, 200.5 },
		{ 2, 305, 152.5, 102.5, 202.5, 152.5, 192.5, 201.5 },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_aggregate *statistics;
	struct opk_evaluation *evaluation;
	struct opk_file *file;

	fake.image_is_pm = true;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "device"));
	ck_assert_uint_eq(opk_aggregate_count(statistics), 2);
	ck_assert_uint_eq(opk_aggregate_left_out(statistics), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(opk_aggregate_get(statistics, i)->range.device, (int)i);
		check_statistics(opk_aggregate_get(statistics, i), wanted);
	}
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	ck_code(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "samples have no kernel"), "%s", errors_of(ctx));
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* A value that could not be computed spoils what is computed of it, and nothing else. */
START_TEST(statistics_with_nan)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_aggregate *statistics;
	struct opk_evaluation *evaluation;
	const struct opk_statistics *columns;
	struct opk_file *file;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 1;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	columns = opk_aggregate_get(statistics, 1)->columns;
	ck_assert(isnan(columns[0].sum) && isnan(columns[0].min) && isnan(columns[0].p99));
	ck_assert(columns[1].min == 101.5 && columns[2].sum == 205);
	ck_assert(opk_aggregate_get(statistics, 0)->columns[0].sum == 402);
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- rows to columns -------------------------------------------------------------------- */

static double value_at(size_t row, size_t column)
{
	return (double)(row * 10 + column);
}

static void add_rows(struct opk_column_file *file, struct opk_ctx *ctx, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		const double values[] = { value_at(i, 0), value_at(i, 1), value_at(i, 2) };
		const bool present[] = { true, i % 3 == 0, false };

		ck_ok(ctx, opk_column_file_add(file, ctx, values, present));
	}
}

static void check_columns(struct opk_column_file *file, struct opk_ctx *ctx, size_t rows)
{
	double *values = calloc(rows + 1, sizeof *values);
	bool *present = calloc(rows + 1, sizeof *present);

	for (size_t i = 3; i-- > 0;) {
		ck_ok(ctx, opk_column_file_read(values, present, file, ctx, i));
		for (size_t j = 0; j < rows; j++) {
			ck_assert(values[j] == value_at(j, i));
			ck_assert(present[j] == (i == 0 || (i == 1 && j % 3 == 0)));
		}
	}
	free(values);
	free(present);
}

/* In one block and in several, the last one full or not. */
START_TEST(columns_of_many_rows)
{
	static const size_t rows[] = { 0, 1, 8191, 8192, 8193, 16384, 30000 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = new_ctx();
		struct opk_column_file file;

		ck_ok(ctx, opk_column_file_init(&file, ctx, 3));
		add_rows(&file, ctx, rows[i]);
		ck_assert_uint_eq(file.row_count, rows[i]);
		ck_assert_int_eq(file.fd >= 0, rows[i] > 8192);
		check_columns(&file, ctx, rows[i]);
		opk_column_file_clear(&file);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(columns_without_memory)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_column_file file;
	double value;
	bool present;

	fail_allocation(0);
	ck_code(ctx, opk_column_file_init(&file, ctx, 3), OPK_ENOMEM);
	ck_assert(allocation_failed());
	opk_column_file_clear(&file);
	ck_ok(ctx, opk_column_file_init(&file, ctx, 3));
	add_rows(&file, ctx, 1);
	fail_allocation(0);
	ck_code(ctx, opk_column_file_read(&value, &present, &file, ctx, 0), OPK_ENOMEM);
	ck_assert(allocation_failed());
	opk_column_file_clear(&file);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- pieces ----------------------------------------------------------------------------- */

START_TEST(degrees_of_metrics)
{
	static const struct {
		struct here here;
		const char *metric;
		int wanted;
	} rows[] = {
		{ HERE, "smsp__inst_executed.sum", 1 },
		{ HERE, "smsp__inst_executed.avg", 1 },
		{ HERE, "sm__cycles_elapsed.max", 1 },
		{ HERE, "sm__cycles_elapsed.min", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_active", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_elapsed", 1 },
		{ HERE, "U.Triage.sm__inst_executed.sum", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained", 0 },
		{ HERE, "smsp__inst_executed.sum.per_second", 0 },
		{ HERE, "smsp__inst_executed.sum.per_cycle_active", 0 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_active.per_second", 0 },
		{ HERE, "sm__warps_active.avg.pct_of_peak_sustained_active", 0 },
		{ HERE, "lts__t_sector_hit_rate.pct", 0 },
		{ HERE, "smsp__average_inst.ratio", 0 },
		{ HERE, "smsp__average_inst.max_rate", 0 },
		{ HERE, "gpu__time_duration.sum", 1 },
		{ HERE, "gpu__time_start.sum", OPK_NO_DEGREE },
		{ HERE, "gpu__time_end.max", OPK_NO_DEGREE },
		{ HERE, "odd", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int degree = opk_metric_degree(rows[i].metric);

		ck_row(&rows[i], degree == rows[i].wanted, "%s: %d", rows[i].metric, degree);
	}
}
END_TEST

/* Columns of a and b, which add up, and r, which does not. */
START_TEST(degrees_of_formulas)
{
	static const struct {
		struct here here;
		const char *formula;
		int wanted;
	} rows[] = {
		{ HERE, "a", 1 },
		{ HERE, "r", 0 },
		{ HERE, "7", 0 },
		{ HERE, "0", 0 },
		{ HERE, "32 * a", 1 },
		{ HERE, "a + b", 1 },
		{ HERE, "-abs(a - b)", 1 },
		{ HERE, "a / b", 0 },
		{ HERE, "100 * a / (a + b)", 0 },
		{ HERE, "a * r", 1 },
		{ HERE, "a * b", 2 },
		{ HERE, "sqrt(a * b)", 1 },
		{ HERE, "sqrt(a)", OPK_NO_DEGREE },
		{ HERE, "1 / a", -1 },
		{ HERE, "a + 1", OPK_NO_DEGREE },
		{ HERE, "a + r", OPK_NO_DEGREE },
		{ HERE, "a + 0", 1 },
		{ HERE, "max(a, 0)", 1 },
		{ HERE, "min(a, b, a)", 1 },
		{ HERE, "max(a, 1)", OPK_NO_DEGREE },
		{ HERE, "a < b", 0 },
		{ HERE, "a < 1", OPK_NO_DEGREE },
		{ HERE, "if(a > b, a, b)", 1 },
		{ HERE, "if(a > 0, b / a, 0)", 0 },
		{ HERE, "if(a > 1, a, b)", OPK_NO_DEGREE },
		{ HERE, "if(a > b, a, r)", OPK_NO_DEGREE },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_auto(opk_formula) struct opk_formula *formula = NULL;
		int degrees[3], degree;

		ck_ok(ctx, opk_formula_parse(&formula, ctx, rows[i].formula, NULL));
		for (size_t j = 0; j < opk_formula_name_count(formula); j++)
			degrees[j] = strcmp(opk_formula_name(formula, j), "r") != 0;
		ck_ok(ctx, opk_formula_degree(&degree, ctx, formula, degrees));
		ck_row(&rows[i], degree == rows[i].wanted, "%s: %d", rows[i].formula, degree);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(percentiles)
{
	static const struct {
		struct here here;
		double values[5];
		size_t count;
		double min, max, p50, p90, p99;
	} rows[] = {
		{ HERE, { 0 }, 0, NAN, NAN, NAN, NAN, NAN },
		{ HERE, { 7 }, 1, 7, 7, 7, 7, 7 },
		{ HERE, { 3, 1 }, 2, 1, 3, 2, 2.8, 2.98 },
		{ HERE, { 5, 1, 3, 2, 4 }, 5, 1, 5, 3, 4.6, 4.96 },
		{ HERE, { 1, NAN, 2 }, 3, NAN, NAN, NAN, NAN, NAN },
		{ HERE,
		  { INFINITY, INFINITY, INFINITY },
		  3,
		  INFINITY,
		  INFINITY,
		  INFINITY,
		  INFINITY,
		  INFINITY },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		double values[5];
		struct opk_statistics got;

		memcpy(values, rows[i].values, sizeof values);
		opk_statistics_order(&got, values, rows[i].count);
		if (isnan(rows[i].min)) {
			ck_row(&rows[i],
			       isnan(got.min) && isnan(got.max) && isnan(got.p50) && isnan(got.p90)
			               && isnan(got.p99),
			       "not nan");
			continue;
		}
		ck_row(&rows[i], got.min == rows[i].min && got.max == rows[i].max, "%g to %g",
		       got.min, got.max);
		ck_row(&rows[i], got.p50 == rows[i].p50, "p50 %.17g", got.p50);
		ck_row(&rows[i], got.p90 == rows[i].p90 || fabs(got.p90 - rows[i].p90) < 1e-12,
		       "p90 %.17g", got.p90);
		ck_row(&rows[i], got.p99 == rows[i].p99 || fabs(got.p99 - rows[i].p99) < 1e-12,
		       "p99 %.17g", got.p99);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tests = tcase_create("aggregate");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, statistics_of_kernels);
	tcase_add_test(tests, statistics_of_groups);
	tcase_add_test(tests, statistics_of_samples);
	tcase_add_test(tests, statistics_with_nan);
	tcase_add_test(tests, columns_of_many_rows);
	tcase_add_test(tests, columns_without_memory);
	tcase_add_test(tests, degrees_of_metrics);
	tcase_add_test(tests, degrees_of_formulas);
	tcase_add_test(tests, percentiles);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
