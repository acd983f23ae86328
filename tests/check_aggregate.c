/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics over the fake's recordings, and which metrics and formulas add up. */
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "allocation.h"
#include "images/door.h"
#include "images/images.h"
#include "eval/eval.h"
#include "recordings.h"

/* ---- counts children of this process ---------------------------------------------------- */

static long forks;

pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	forks++;
	return real();
}

/* ---- statistics ------------------------------------------------------------------------- */

/* Fails only if the aggregation fails. */
static int aggregate(struct opk_aggregate **out, struct opk_evaluation **evaluation,
                     struct opk_file **file, struct opk_ctx *ctx, const char *key)
{
	struct opk_aggregate_options options = OPTIONS(options, .key = key);

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

/* The deviation and the interval of the mean, which tests/python/test_habits.py compares. */
#define ANY 0, 0, 0

FAKE_TEST(statistics_of_kernels)
{
	static const struct recording recording = { .ranges = plain };
	/* The ratio of x is evaluated from the sum of its four ranges. */
	static const struct opk_statistics wanted[2][METRICS] = {
		{ { 4, 402, 100.5, 0.5, 200.5, 100.5, 200.5, 200.5, NULL, ANY },
		  { 4, NAN, 406, 1.5, 201.5, 101.5, 201.5, 201.5, NULL, ANY },
		  { 4, 410, 102.5, 2.5, 202.5, 102.5, 202.5, 202.5, NULL, ANY } },
		{ { 2, 201, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5, NULL, ANY },
		  { 2, NAN, 203, 101.5, 101.5, 101.5, 101.5, 101.5, NULL, ANY },
		  { 2, 205, 102.5, 102.5, 102.5, 102.5, 102.5, 102.5, NULL, ANY } },
	};
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

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
}

/* The values of the first column that a caller received. */
struct given {
	size_t calls;
	double values[2][4];
	size_t rows[2][4], counts[2];
};

static void take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count)
{
	struct given *given = data;

	given->calls++;
	ck_assert_uint_lt(group, 2);
	ck_assert_uint_le(count, 4);
	if (column)
		return;
	given->counts[group] = count;
	memcpy(given->values[group], values, count * sizeof *values);
	memcpy(given->rows[group], rows, count * sizeof *rows);
}

/* Values are in the order of the ranges, though percentiles sort them. */
FAKE_TEST(values_of_kernels)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_aggregate_options options = OPK_INIT(options);
	struct given given = { 0 };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL, *again = NULL;
	const struct opk_row *row;
	freed(opk_aggregate) *statistics = NULL;
	size_t of[2] = { 0 };

	put("in.opk", &recording);
	file = open_file(ctx, "in.opk");
	options.key = "kernel";
	options.values = take_values;
	options.values_data = &given;
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, NULL));
	ck_ok(ctx, opk_aggregate_new(&statistics, ctx, evaluation, file, &options));
	ck_assert_uint_eq(given.calls, 2 * METRICS);
	ck_assert_uint_eq(given.counts[0], 4);
	ck_assert_uint_eq(given.counts[1], 2);
	ck_ok(ctx, opk_eval_file(&again, ctx, file, NULL));
	while (!opk_evaluation_next(&row, ctx, again) && row) {
		size_t group = strcmp(row->range->kernel, "y") == 0, at = of[group]++;

		ck_assert_uint_eq(given.rows[group][at], row->index);
		ck_assert_double_eq(given.values[group][at], row->values[0]);
	}
	ck_assert_uint_eq(of[0] + of[1], 6);
}

/* Statistics of each metric cover the ranges that have it, any number of them. */
FAKE_TEST(statistics_of_groups)
{
	static const struct recording recording = { .ranges = uneven, .join = "kernel" };
	static const struct opk_statistics wanted[METRICS] = {
		{ 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, NULL, ANY },
		{ 2, NAN, 303, 100.5, 200.5, 150.5, 190.5, 199.5, NULL, ANY },
		{ 2, 305, 152.5, 101.5, 201.5, 151.5, 191.5, 200.5, NULL, ANY },
	};
	static const unsigned needed[METRICS] = { 1 << 1, 1 << 2, 1 << 2 };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

	memcpy(fake.needed, needed, sizeof needed);
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	check_statistics(opk_aggregate_get(statistics, 0), wanted);
}

static const struct {
	struct here here;
	struct recording recording;
	struct opk_statistics wanted[METRICS];
} statistics_over_passes_rows[] = {
	{ HERE,
	  { .ranges = rotated, .join = "kernel", .shared = true },
	  { { 2, 201, 100.5, 0.5, 200.5, 100.5, 180.5, 198.5, NULL, ANY },
	    { 2, NAN, 253, NAN, NAN, NAN, NAN, NAN, NULL, ANY },
	    { 2, 255, 127.5, NAN, NAN, NAN, NAN, NAN, NULL, ANY } } },
	{ HERE,
	  { .ranges = uneven, .join = "kernel", .shared = true },
	  { { 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, NULL, ANY },
	    { 1, NAN, 76.5, NAN, NAN, NAN, NAN, NAN, NULL, ANY },
	    { 1, NAN, 77.5, NAN, NAN, NAN, NAN, NAN, NULL, ANY } } },
};

/*
 * Metrics with counters in both passes have the mean of their passes here. With unequal numbers of
 * ranges it is the mean of a mean range, there is no sum, and no single range has it.
 */
FAKE_TEST_EACH(statistics_over_passes, statistics_over_passes_rows)
{
	static const unsigned needed[METRICS] = { 1 << 1, 1 << 1 | 1 << 2, 1 << 1 | 1 << 2 };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

	memcpy(fake.needed, needed, sizeof needed);
	put("in.opk", &row->recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	check_statistics(opk_aggregate_get(statistics, 0), row->wanted);
}

/* The first sample of each image begins at an earlier event. */
FAKE_TEST(statistics_of_samples)
{
	static const struct recording recording = { .samples = true };
	static const struct opk_statistics wanted[METRICS] = {
		{ 2, 301, 150.5, 100.5, 200.5, 150.5, 190.5, 199.5, NULL, ANY },
		{ 2, NAN, 303, 101.5, 201.5, 151.5, 191.5, 200.5, NULL, ANY },
		{ 2, 305, 152.5, 102.5, 202.5, 152.5, 192.5, 201.5, NULL, ANY },
	};
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
	ck_fails(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"), OPK_EUSAGE,
	         "samples have no kernel");
	opk_evaluation_free(evaluation);
	opk_file_free(file);
}

static char logged[1000];

static void remember(void *data, const char *message)
{
	(void)data;
	if (!is_about_shares(message))
		snprintf(logged, sizeof logged, "%s", message);
}

static const struct {
	struct here here;
	const char *level, *key;
	uint64_t count;
	double sum, max;
	const char *log;
} statistics_of_levels_rows[] = {
	{ HERE, NULL, "device", 3, 101.5, 100.5,
	  "'s/a' in 's': only the outermost are added, 3 are" },
	{ HERE, "outermost", "rank", 3, 101.5, 100.5, "only the outermost are added, 3 are" },
	{ HERE, "innermost", "device", 3, 401.5, 200.5,
	  "'s/a' in 's': only the innermost are added, 3 are" },
	{ HERE, "all", "device", 6, 603, 200.5, "" },
	{ HERE, NULL, "name", 1, 0.5, 0.5, "" },
};

/* The values of the first metric are 0.5, 100.5, 200.5 twice. */
FAKE_TEST_EACH(statistics_of_levels, statistics_of_levels_rows)
{
	static const struct opk_range nested[] = {
		RANGE("s", "", 0),  RANGE("s/a", "", 0), RANGE("s/a/b", "", 0),
		RANGE("s2", "", 0), RANGE("x", "", 0),   RANGE("x/y", "", 0),
	};
	static const struct recording recording = { .ranges = nested };
	struct opk_aggregate_options options = OPK_INIT(options);
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;
	const struct opk_statistics *got;

	*logged = '\0';
	ctx->log = remember;
	put("in.opk", &recording);
	file = open_file(ctx, "in.opk");
	options.key = row->key;
	options.level = row->level;
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, NULL));
	ck_ok(ctx, opk_aggregate_new(&statistics, ctx, evaluation, file, &options));
	got = opk_aggregate_get(statistics, 0)->columns;
	ck_row(row, got->count == row->count && got->sum == row->sum && got->max == row->max,
	       "%ju of %g, max %g", (uintmax_t)got->count, got->sum, got->max);
	ck_row(row, *row->log ? strstr(logged, row->log) != NULL : !*logged, "%s", logged);
}

/* Kernels are in the NVTX ranges that they ran in, if those are recorded, too. */
FAKE_TEST(statistics_of_kernels_in_ranges)
{
	static const struct opk_range nested[] = {
		RANGE("s", "", 0),
		RANGE("s/a", "", 0),
		{ .name = "0", .kernel = "k", .symbol = "", .nvtx = "s/a", .rank = -1 },
		{ .name = "1", .kernel = "k", .symbol = "", .nvtx = "t", .rank = -1 },
		{ .name = "2", .kernel = "k", .symbol = "", .nvtx = "", .rank = -1 },
		{ .name = "s", .kernel = "", .symbol = "", .nvtx = "", .rank = 1 },
	};
	static const struct recording recording = { .ranges = nested };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

	ctx->log = remember;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "device"));
	ck_assert_uint_eq(opk_aggregate_get(statistics, 0)->columns->count, 4);
	ck_assert_msg(strstr(logged, "only the outermost are added, 2 are"), "%s", logged);
}

/* Images of two GPUs are not summed: additive values are added; a ratio is a mean over ranges. */
FAKE_TEST(statistics_of_gpus)
{
	static const struct opk_range ranges[] = {
		RANGE("r0", "x", 0), RANGE("r1", "y", 0), RANGE("r2", "y", 0),
		RANGE("r3", "y", 0), RANGE("r4", "x", 0), RANGE("r5", "x", 0),
	};
	static const struct recording recording = { .ranges = ranges, .gpus = { 1, 2 } };
	static const struct opk_statistics wanted[METRICS] = {
		{ 3, 301.5, 100.5, 0.5, 200.5, 100.5, 180.5, 198.5, NULL, ANY },
		{ 3, NAN, 202.5, 1.5, 201.5, 101.5, 181.5, 199.5, "count", ANY },
		{ 3, 307.5, 102.5, 2.5, 202.5, 102.5, 182.5, 200.5, NULL, ANY },
	};
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_aggregated *row;
	freed(opk_aggregate) *statistics = NULL;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	row = opk_aggregate_get(statistics, 0);
	ck_assert_uint_eq(row->gpus, 2);
	check_statistics(row, wanted);
	for (size_t i = 0; i < METRICS; i++)
		ck_assert_pstr_eq(row->columns[i].weighted_by, wanted[i].weighted_by);
}

/* 8,001 ranges of kernel x. */
static void put_many(void)
{
	static const struct opk_range ranges[RANGES] = { RANGE("0", "x", 0), RANGE("1", "x", 0),
		                                         RANGE("2", "x", 0) };
	static const struct opk_stats stats = { .launches = 8001, .ranges = 8001 };
	static const struct opk_meta meta = { .kind = "recording",
		                              .chip = "FA100",
		                              .metrics = names,
		                              .metric_count = METRICS,
		                              .passes = 1,
		                              .join = "",
		                              .profiler = OPK_PROFILER_RANGE };
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("in.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < 8001 / RANGES; i++) {
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
		ck_ok(ctx, opk_writer_add_ranges(writer, ranges, RANGES, sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
}

/*
 * Sums of so many ranges are shared by children, unless one worker is wanted. The fake can't join
 * their images, after which one child makes the sums alone.
 */
static const struct {
	struct here here;
	size_t workers;
	bool shared;
} sharing[] = { { HERE, 1, false }, { HERE, 2, true } };

FAKE_TEST_EACH(statistics_by_workers, sharing)
{
	struct opk_eval_options options = OPTIONS(options, .workers = row->workers);
	struct opk_aggregate_options by = OPTIONS(by, .key = "kernel");
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;
	const struct opk_statistics *got;

	put_many();
	file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, &options));
	forks = 0;
	ck_ok(ctx, opk_aggregate_new(&statistics, ctx, evaluation, file, &by));
	ck_row(row, (forks > 1) == row->shared, "%ld children", forks);
	got = opk_aggregate_get(statistics, 0)->columns;
	ck_row(row, got->count == 8001 && got->sum == 2667 * 301.5, "%ju: %g",
	       (uintmax_t)got->count, got->sum);
}

/* A sum of four ranges does not have their values: least, greatest, percentiles are unknown. */
FAKE_TEST(statistics_of_sums)
{
	static const struct opk_range sums[] = {
		RANGE("", "x", 0),
		RANGE("", "y", 0),
		RANGE("", "z", 0),
		{ .name = "", .kernel = "x", .symbol = "", .nvtx = "", .rank = -1, .count = 4 },
		{ .name = "", .kernel = "y", .symbol = "", .nvtx = "", .rank = -1, .count = 1 },
		RANGE("", "z", 0),
	};
	static const struct recording recording = { .ranges = sums };
	static const struct {
		uint64_t count;
		double sum, min, p50;
	} wanted[] = { { 5, 1, NAN, NAN }, { 2, 201, 100.5, 100.5 }, { 2, 401, 200.5, 200.5 } };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct opk_aggregated *row = opk_aggregate_get(statistics, i);
		const struct opk_statistics *got = row->columns;

		ck_assert_int_eq(row->summed, i == 0);
		ck_assert(got->count == wanted[i].count && got->sum == wanted[i].sum);
		ck_assert(got->mean == wanted[i].sum / (double)wanted[i].count);
		ck_assert(isnan(wanted[i].min)
		                  ? isnan(got->min) && isnan(got->max) && isnan(got->p50)
		                  : got->min == wanted[i].min && got->p50 == wanted[i].p50);
	}
}

/* NaN spreads only to statistics that are computed from it. */
FAKE_TEST(statistics_with_nan)
{
	static const struct recording recording = { .ranges = plain };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_statistics *columns;
	freed(opk_aggregate) *statistics = NULL;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 1;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	columns = opk_aggregate_get(statistics, 1)->columns;
	ck_assert(isnan(columns[0].sum) && isnan(columns[0].min) && isnan(columns[0].p99));
	ck_assert(columns[1].min == 101.5 && columns[2].sum == 205);
	ck_assert(opk_aggregate_get(statistics, 0)->columns[0].sum == 402);
}

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

/* In one block and in several; the last one is full or not. */
TEST(columns_of_many_rows)
{
	static const size_t rows[] = { 0, 1, 8191, 8192, 8193, 16384, 30000 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = new_ctx();
		struct opk_column_file file;

		ck_ok(ctx, opk_column_file_init(&file, ctx, 3));
		add_rows(&file, ctx, rows[i]);
		ck_assert_uint_eq(file.row_count, rows[i]);
		ck_assert_int_eq(file.fd >= 0, rows[i] > 8192);
		check_columns(&file, ctx, rows[i]);
		opk_column_file_clear(&file);
	}
}

CTX_TEST(columns_without_memory)
{
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
}

/* ---- pieces ----------------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *metric;
	struct opk_traits wanted; /* degree, degree in the clock, whether it is the GPU's */
} traits_of_metrics_rows[] = {
	{ HERE, "smsp__inst_executed.sum", { 1, 0, false } },
	{ HERE, "smsp__inst_executed.avg", { 1, 0, false } },
	{ HERE, "sm__cycles_elapsed.max", { 1, 0, false } },
	{ HERE, "sm__cycles_elapsed.min", { 1, 0, false } },
	{ HERE, "smsp__inst_executed.sum.peak_sustained_active", { 1, 0, false } },
	{ HERE, "smsp__inst_executed.sum.peak_sustained_elapsed", { 1, 0, false } },
	{ HERE, "U.Triage.sm__inst_executed.sum", { 1, 0, false } },
	{ HERE, "smsp__inst_executed.sum.peak_sustained", { 0, 0, true } },
	{ HERE, "smsp__inst_executed.sum.per_second", { 0, 1, false } },
	{ HERE, "smsp__inst_executed.sum.per_cycle_active", { 0, 0, false } },
	/* The program decides how long it was active. */
	{ HERE, "smsp__inst_executed.sum.peak_sustained_active.per_second", { 0, 1, false } },
	{ HERE, "smsp__inst_executed.sum.peak_sustained_elapsed.per_second", { 0, 1, true } },
	{ HERE, "sm__warps_active.avg.pct_of_peak_sustained_active", { 0, 0, false } },
	{ HERE, "lts__t_sector_hit_rate.pct", { 0, 0, false } },
	{ HERE, "smsp__average_inst.ratio", { 0, 0, false } },
	{ HERE, "smsp__average_inst.max_rate", { 0, 0, true } },
	{ HERE, "sm__cycles_elapsed.avg.per_second", { 0, 1, true } },
	{ HERE, "fbpa__dram_cycles_elapsed.sum.per_second", { 0, 1, true } },
	{ HERE, "FBSP.TriageCompute.dramc__cycles_elapsed.avg.per_second", { 0, 1, true } },
	{ HERE, "sm__cycles_active.avg.per_second", { 0, 1, false } },
	{ HERE, "sm__cycles_elapsed.avg.per_cycle_elapsed", { 0, 0, false } },
	{ HERE, "gpu__time_duration.sum", { 1, -1, false } },
	{ HERE, "gpu__time_duration_measured_user.avg", { 1, -1, false } },
	{ HERE, "gpu__time_duration.sum.per_second", { 0, 0, false } },
	{ HERE, "gpu__time_start.sum", { OPK_NO_DEGREE, OPK_NO_DEGREE, false } },
	{ HERE, "gpu__time_end.max", { OPK_NO_DEGREE, OPK_NO_DEGREE, false } },
	{ HERE, "device__attribute_clock_rate", { 0, 0, true } },
	{ HERE, "launch__grid_size", { 1, 0, false } },
	{ HERE, "odd", { 0, 0, false } },
};

TEST_EACH(traits_of_metrics, traits_of_metrics_rows)
{
	struct opk_traits got = opk_metric_traits(row->metric);

	ck_row(row,
	       got.degree == row->wanted.degree && got.clock == row->wanted.clock
	               && got.of_gpu == row->wanted.of_gpu,
	       "%s: %d, %d, %d", row->metric, got.degree, got.clock, got.of_gpu);
}

static const struct {
	struct here here;
	const char *formula;
	int clock;
	bool of_gpu;
} traits_of_columns_rows[] = {
	{ HERE, "2 * peak * clock", 1, true },
	{ HERE, "bytes / time", 1, false },
	{ HERE, "bytes / time / (peak * clock)", 0, false },
	{ HERE, "time * clock", 0, false },
	{ HERE, "1e-9 * time", -1, false },
	{ HERE, "max(bytes, time)", OPK_NO_DEGREE, false },
	{ HERE, "7", 0, false },
};

/* A derived metric is a peak or a clock if all its inputs are. */
CTX_TEST_EACH(traits_of_columns, traits_of_columns_rows)
{
	static const char *const metrics[] = { "gpu__time_duration.sum", "dram__bytes.sum",
		                               "dram__bytes.sum.peak_sustained",
		                               "sm__cycles_elapsed.avg.per_second" };
	static const struct opk_meta_label labels[] = {
		{ "gpu__time_duration.sum", "time" },
		{ "dram__bytes.sum", "bytes" },
		{ "dram__bytes.sum.peak_sustained", "peak" },
		{ "sm__cycles_elapsed.avg.per_second", "clock" }
	};
	const struct opk_meta_derived derived = { "d", row->formula, "", "" };
	const struct opk_meta meta = { .metrics = metrics,
		                       .metric_count = COUNT(metrics),
		                       .labels = labels,
		                       .label_count = COUNT(labels),
		                       .derived = &derived,
		                       .derived_count = 1 };
	struct opk_columns columns;
	struct opk_traits got[COUNT(metrics) + 1];

	ck_ok(ctx, opk_columns_init(&columns, ctx, &meta, &(struct opk_wanted){ 0 }));
	ck_ok(ctx, opk_columns_traits(got, ctx, &columns));
	ck_row(row, got[4].clock == row->clock && got[4].of_gpu == row->of_gpu, "%s: %d, %d",
	       row->formula, got[4].clock, got[4].of_gpu);
	opk_columns_clear(&columns);
}

static const struct {
	struct here here;
	const char *formula;
	int wanted;
} degrees_of_formulas_rows[] = {
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

/* Columns of a and b, which add up, and r, which does not. */
CTX_TEST_EACH(degrees_of_formulas, degrees_of_formulas_rows)
{
	int degrees[3], degree;

	opk_auto(opk_formula) struct opk_formula *formula = NULL;
	ck_ok(ctx, opk_formula_parse(&formula, ctx, row->formula, NULL));
	for (size_t j = 0; j < opk_formula_name_count(formula); j++)
		degrees[j] = strcmp(opk_formula_name(formula, j), "r") != 0;
	ck_ok(ctx, opk_formula_degree(&degree, ctx, formula, degrees));
	ck_row(row, degree == row->wanted, "%s: %d", row->formula, degree);
}

static const struct {
	struct here here;
	double values[5];
	size_t count;
	double min, max, p50, p90, p99;
} percentiles_rows[] = {
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

TEST_EACH(percentiles, percentiles_rows)
{
	double values[5];
	struct opk_statistics got;

	memcpy(values, row->values, sizeof values);
	opk_statistics_order(&got, values, row->count);
	if (isnan(row->min)) {
		ck_row(row,
		       isnan(got.min) && isnan(got.max) && isnan(got.p50) && isnan(got.p90)
		               && isnan(got.p99),
		       "not nan");
		return;
	}
	ck_row(row, got.min == row->min && got.max == row->max, "%g to %g", got.min, got.max);
	ck_row(row, got.p50 == row->p50, "p50 %.17g", got.p50);
	ck_row(row, got.p90 == row->p90 || fabs(got.p90 - row->p90) < 1e-12, "p90 %.17g", got.p90);
	ck_row(row, got.p99 == row->p99 || fabs(got.p99 - row->p99) < 1e-12, "p99 %.17g", got.p99);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
