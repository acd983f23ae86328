/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes and noise: cases with known answers, the rate of false alarms, and detected changes. */
#include <math.h>

#include "base/file.h"
#include "compare/compare.h"
#include "eval/door.h"
#include "folder.h"
#include "random.h"

/* ---- the test --------------------------------------------------------------------------- */

/* p by counting all ways to choose which of the values are those before. */
static double count_all(const double *before, size_t n, const double *after, size_t m)
{
	double all[16], far = 0, count = 0, mean = 0, seen = 0;

	for (size_t i = 0; i < n + m; i++)
		all[i] = i < n ? before[i] : after[i - n];
	for (int pass = 0; pass < 3; pass++)
		for (unsigned chosen = 0; chosen < 1U << (n + m); chosen++) {
			double u = 0;

			if ((size_t)__builtin_popcount(chosen) != n)
				continue;
			for (size_t i = 0; i < n + m; i++)
				for (size_t j = 0; j < n + m; j++)
					if (chosen >> i & 1 && !(chosen >> j & 1))
						u += all[i] > all[j]    ? 1
						     : all[i] == all[j] ? 0.5
						                        : 0;
			if (pass == 0) {
				mean += u;
				count++;
			} else if (pass == 1 && chosen == (1U << n) - 1) {
				seen = u;
			} else if (pass == 2) {
				far += fabs(u - mean / count) >= fabs(seen - mean / count) - 1e-9;
			}
		}
	return far / count;
}

TEST(exact_for_few)
{
	random_restart();
	for (size_t i = 0; i < 60; i++) {
		size_t n = 1 + random64() % 5, m = 1 + random64() % 5, values = 2 + random64() % 8;
		double before[5], after[5], p;

		for (size_t j = 0; j < 5; j++) {
			before[j] = (double)(random64() % values);
			after[j] = (double)(random64() % values + i % 3);
		}
		ck_assert(opk_rank_test(&p, before, n, after, m));
		ck_assert_double_eq_tol(p, count_all(before, n, after, m), 1e-9);
	}
}

/* Values of scipy 1.16: mannwhitneyu(a, b, method="exact" or "asymptotic"). */
TEST(known_answers)
{
	static const double a[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static const double b[] = { 4.5, 7.5, 8.5, 9.5, 11, 12, 13, 14, 15, 16 };
	double p, many[2][60];

	ck_assert(opk_rank_test(&p, a, 5, b + 5, 5));
	ck_assert_double_eq_tol(p, 2 / 252.0, 1e-12);
	ck_assert_double_eq_tol(p, opk_rank_test_least(5, 5), 1e-12);
	ck_assert(opk_rank_test(&p, a, 10, b, 10));
	ck_assert_double_eq_tol(p, 0.002879473467708762, 1e-12);
	for (size_t i = 0; i < 40; i++) {
		many[0][i] = (double)i;
		many[1][i] = (double)i + 20.5;
	}
	ck_assert(opk_rank_test(&p, many[0], 40, many[1], 40));
	ck_assert_double_eq_tol(p, 4.493588149677291e-09, 1e-15);
	ck_assert(p > opk_rank_test_least(40, 40));
	for (size_t i = 0; i < 60; i++) {
		many[0][i] = (double)(i % 7);
		many[1][i] = (double)(i % 9);
	}
	ck_assert(opk_rank_test(&p, many[0], 60, many[1], 40));
	ck_assert_double_eq_tol(p, 0.12634439891770757, 1e-12);
}

/* One of ten launches that differs from a thousand equal ones is not significant. */
TEST(rare_values)
{
	double before[1000] = { 0 }, after[10] = { 0 }, p;

	after[3] = 1;
	ck_assert(opk_rank_test(&p, before, 1000, after, 10));
	ck_assert_double_eq_tol(p, 10 / 1010.0, 1e-6);
	for (size_t i = 0; i < 10; i++)
		after[i] = 1;
	ck_assert(opk_rank_test(&p, before, 1000, after, 10));
	ck_assert(p < 1e-9);
}

/* ---- verdicts --------------------------------------------------------------------------- */

enum { MOST = 64 };

/* Launches of a value with normal noise, in percent of the value; 0: no noise. */
static struct opk_compared_values make(double values[MOST], uint64_t weights[MOST], size_t count,
                                       double center, double noise)
{
	for (size_t i = 0; i < count; i++) {
		values[i] = center * (1 + noise / 100 * random_normal());
		weights[i] = 1;
	}
	return (struct opk_compared_values){ values, weights, count, false };
}

static const struct {
	struct here here;
	size_t before, after; /* launches */
	double change, noise;
	enum opk_verdict wanted;
	double clock, beyond; /* change that the clock explains, and p without it */
} cases[] = {
	{ HERE, 30, 30, 0, 1, OPK_VERDICT_NOISE, 0, 0 },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CHANGED, 0, 0 },
	{ HERE, 30, 30, -5, 1, OPK_VERDICT_CHANGED, 0, 0 },
	{ HERE, 30, 30, 5, 10, OPK_VERDICT_NOISE, 0, 0 },
	{ HERE, 30, 30, 0, 0, OPK_VERDICT_SAME, 0, 0 },
	{ HERE, 1, 1, 0, 0, OPK_VERDICT_SAME, 0, 0 },
	{ HERE, 3, 3, 1e-9, 0, OPK_VERDICT_CHANGED, 0, 0 },
	{ HERE, 2, 2, 1e-9, 0, OPK_VERDICT_TOO_FEW, 0, 0 },
	{ HERE, 1, 1, 50, 0, OPK_VERDICT_TOO_FEW, 0, 0 },
	{ HERE, 1, 40, 50, 1, OPK_VERDICT_TOO_FEW, 0, 0 },
	{ HERE, 3, 3, 50, 1, OPK_VERDICT_TOO_FEW, 0, 0 },
	{ HERE, 5, 5, 50, 1, OPK_VERDICT_TOO_FEW, 0, 0 },
	{ HERE, 6, 6, 50, 1, OPK_VERDICT_CHANGED, 0, 0 },
	{ HERE, 0, 30, 5, 1, OPK_VERDICT_MISSING, 0, 0 },
	{ HERE, 30, 0, 5, 1, OPK_VERDICT_MISSING, 0, 0 },
	{ HERE, 30, 30, (double)NAN, 1, OPK_VERDICT_NAN, 0, 0 },
	/* The clock explains as much, all except noise, or more; less; or the opposite. */
	{ HERE, 3, 3, 5, 0, OPK_VERDICT_CLOCK, 5, 0 },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CLOCK, 4.5, 0.3 },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CLOCK, 12, 1e-9 },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CHANGED, 2, 1e-9 },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CHANGED, -5, 1e-9 },
	{ HERE, 30, 30, 0, 1, OPK_VERDICT_NOISE, 5, 1e-9 },
};

CTX_TEST(known_cases)
{
	random_restart();
	for (size_t i = 0; i < COUNT(cases); i++) {
		double before[MOST], after[MOST];
		uint64_t weights[2][MOST];
		struct opk_compared_values sides[] = {
			make(before, weights[0], cases[i].before, 1000, cases[i].noise),
			make(after, weights[1], cases[i].after, 1000 + 10 * cases[i].change,
			     cases[i].noise),
		};
		struct opk_diff_summary summary = { .level = 0.005 };
		const bool foremost = true;
		struct opk_diff_value value;
		struct opk_compared_table table = { &value, &foremost,        NULL, 1,
			                            1,      &cases[i].beyond, false };

		ck_assert(opk_compare_values(&value, sides));
		value.clock = cases[i].clock;
		ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
		ck_row(&cases[i], value.verdict == cases[i].wanted, "%s, not %s, p = %g",
		       opk_verdict_name(value.verdict), opk_verdict_name(cases[i].wanted), value.p);
		ck_row(&cases[i], summary.verdicts[cases[i].wanted] == 1, "not counted");
		ck_row(&cases[i], summary.foremost.launches_needed == 6, "%zu",
		       summary.foremost.launches_needed);
	}
}

static const struct {
	struct here here;
	double before, after, change;
} infinite_values_rows[] = {
	{ HERE, INFINITY, INFINITY, NAN },  { HERE, INFINITY, 5, NAN }, { HERE, 5, INFINITY, NAN },
	{ HERE, INFINITY, -INFINITY, NAN }, { HERE, 0, INFINITY, NAN }, { HERE, 0, 5, INFINITY },
	{ HERE, 0, -5, -INFINITY },         { HERE, 0, 0, 0 },
};

/* No percentage describes a change from or to infinity. */
TEST_EACH(infinite_values, infinite_values_rows)
{
	double values[] = { row->before, row->after };
	uint64_t weights[] = { 1, 1 };
	struct opk_compared_values sides[] = { { &values[0], &weights[0], 1, false },
		                               { &values[1], &weights[1], 1, false } };
	struct opk_diff_value value;

	ck_assert(opk_compare_values(&value, sides));
	ck_row(row, value.change == row->change || (isnan(value.change) && isnan(row->change)),
	       "%g", value.change);
}

/* ---- how often it is wrong, and what it finds ------------------------------------------- */

enum { KERNELS = 60, LAUNCHES = 1000, PAIRS = 1000 };

/* Times of the launches of a recording, kernel by kernel. */
struct times {
	const char *names[KERNELS];
	uint32_t grids[KERNELS];
	double of[KERNELS][LAUNCHES];
	size_t counts[KERNELS], count;
};

static size_t find_kernel(struct times *times, const struct opk_activity *activity)
{
	size_t i = 0;

	while (i < times->count
	       && (strcmp(times->names[i], activity->name) || times->grids[i] != activity->grid[0]))
		i++;
	if (i < times->count || i == KERNELS)
		return i;
	times->names[i] = activity->name;
	times->grids[i] = activity->grid[0];
	times->count++;
	return i;
}

static void read_times(struct times *times, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *activities;
	size_t count;

	ck_ok(ctx, opk_file_activities(&activities, &count, ctx, file));
	for (size_t i = 0; i < count; i++) {
		size_t kernel = activities[i].kind == OPK_ACTIVITY_KERNEL
		                        ? find_kernel(times, &activities[i])
		                        : KERNELS;

		if (kernel < KERNELS && times->counts[kernel] < LAUNCHES)
			times->of[kernel][times->counts[kernel]++] =
				(double)(activities[i].end_ns - activities[i].start_ns);
	}
}

/* So many launches a side, drawn from each kernel's; true: a change is found in any kernel. */
static bool is_alarm(struct opk_ctx *ctx, const struct times *times, size_t launches)
{
	static struct opk_diff_value values[KERNELS];
	struct opk_diff_summary summary = { .level = 0.005 };
	const bool foremost = true;
	struct opk_compared_table table = { values, &foremost, NULL, times->count, 1, NULL, false };

	for (size_t i = 0; i < times->count; i++) {
		double drawn[2][MOST];
		uint64_t weights[MOST];
		struct opk_compared_values sides[2];

		for (size_t j = 0; j < launches; j++)
			weights[j] = 1;
		for (size_t side = 0; side < 2; side++) {
			for (size_t j = 0; j < launches; j++)
				drawn[side][j] = times->of[i][random64() % times->counts[i]];
			sides[side] = (struct opk_compared_values){ drawn[side], weights, launches,
				                                    false };
		}
		ck_assert(opk_compare_values(&values[i], sides));
	}
	ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
	return summary.verdicts[OPK_VERDICT_CHANGED] > 0;
}

/* 52 kernels of a training run: of 1,000 pairs of samples fewer than 1 in 100 show a change. */
CTX_TEST(false_alarms)
{
	static const size_t launches[] = { 30, 2, 6, 12, 60 };
	static struct times times;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-training-trace.opk"));
	read_times(&times, ctx, file);
	ck_assert_uint_gt(times.count, 40);
	random_restart();
	for (size_t i = 0; i < (is_long() ? COUNT(launches) : 2); i++) {
		size_t alarms = 0;

		for (size_t j = 0; j < PAIRS; j++)
			alarms += is_alarm(ctx, &times, launches[i]);
		ck_assert_msg(alarms < PAIRS / 100, "%zu launches: %zu alarms of %d pairs",
		              launches[i], alarms, PAIRS);
	}
}

/* Values of all metrics of the launches of a recording. */
enum { MOST_METRICS = 60, SOLVER_KERNELS = 5, SOLVER_LAUNCHES = 30 };

struct metrics {
	char *names[SOLVER_KERNELS];
	double of[SOLVER_KERNELS][MOST_METRICS][SOLVER_LAUNCHES];
	size_t counts[SOLVER_KERNELS], columns;
};

static void read_metrics(struct metrics *metrics, struct opk_ctx *ctx, struct opk_file *file)
{
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;
	const double *values;

	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, NULL));
	metrics->columns = opk_evaluation_column_count(evaluation);
	ck_assert_uint_lt(metrics->columns, MOST_METRICS);
	for (;;) {
		size_t kernel = 0;

		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		while (metrics->names[kernel] && strcmp(metrics->names[kernel], row->range->kernel))
			kernel++;
		if (!metrics->names[kernel])
			metrics->names[kernel] = strdup(row->range->kernel);
		values = opk_evaluation_values(evaluation);
		for (size_t i = 0; i < metrics->columns; i++)
			metrics->of[kernel][i][metrics->counts[kernel]] = values[i];
		metrics->counts[kernel]++;
	}
}

/* Launches are drawn as a whole: their metrics depend on each other. */
static bool is_alarm_of_metrics(struct opk_ctx *ctx, const struct metrics *metrics, size_t launches)
{
	static struct opk_diff_value values[SOLVER_KERNELS * MOST_METRICS];
	static const bool foremost[MOST_METRICS] = { true };
	struct opk_diff_summary summary = { .level = 0.005 };
	const struct opk_compared_table table = { values,           foremost, NULL, SOLVER_KERNELS,
		                                  metrics->columns, NULL,     false };
	uint64_t weights[MOST];

	for (size_t i = 0; i < MOST; i++)
		weights[i] = 1;
	for (size_t i = 0; i < SOLVER_KERNELS; i++) {
		size_t picks[2][MOST];

		for (size_t j = 0; j < 2 * launches; j++)
			picks[j % 2][j / 2] = random64() % SOLVER_LAUNCHES;
		for (size_t j = 0; j < metrics->columns; j++) {
			double drawn[2][MOST];
			struct opk_compared_values sides[] = {
				{ drawn[0], weights, launches, false },
				{ drawn[1], weights, launches, false },
			};

			for (size_t k = 0; k < 2 * launches; k++)
				drawn[k % 2][k / 2] = metrics->of[i][j][picks[k % 2][k / 2]];
			ck_assert(opk_compare_values(&values[i * metrics->columns + j], sides));
		}
	}
	ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
	return summary.verdicts[OPK_VERDICT_CHANGED] > 0;
}

/* Five kernels with 44 metrics each, which depend on each other. */
TEST(false_alarms_of_metrics)
{
	static const size_t launches[] = { 30, 2, 3, 60 };
	static struct metrics metrics;
	struct opk_ctx *ctx = new_ctx();
	struct opk_file *file;

	if (!is_long() || !have_cupti()) {
		opk_ctx_free(ctx);
		return;
	}
	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-before.opk"));
	read_metrics(&metrics, ctx, file);
	random_restart();
	for (size_t i = 0; i < COUNT(launches); i++) {
		size_t alarms = 0;

		for (size_t j = 0; j < PAIRS; j++)
			alarms += is_alarm_of_metrics(ctx, &metrics, launches[i]);
		ck_assert_msg(alarms < PAIRS / 100, "%zu launches: %zu alarms of %d pairs",
		              launches[i], alarms, PAIRS);
	}
	for (size_t i = 0; i < SOLVER_KERNELS; i++)
		free(metrics.names[i]);
	opk_file_free(file);
	opk_ctx_free(ctx);
}

/* 30 launches a side with noise of 2%; the first kernel is 3% slower, or nothing changes. */
static void fill_trial(struct opk_diff_value *values, size_t rows, size_t columns, double change)
{
	for (size_t i = 0; i < rows * columns; i++) {
		double before[MOST], after[MOST];
		uint64_t weights[MOST];
		struct opk_compared_values sides[] = {
			make(before, weights, 30, 1000, 2),
			make(after, weights, 30, i ? 1000 : 1000 + 10 * change, 2),
		};

		ck_assert(opk_compare_values(&values[i], sides));
	}
}

/* One of five kernels is 3% slower; other metrics do not hide it. */
CTX_TEST(small_change)
{
	enum { ROWS = 5, COLUMNS = 10, TRIALS = 200 };
	static const bool foremost[COLUMNS] = { true };
	static struct opk_diff_value values[ROWS * COLUMNS];
	const struct opk_compared_table table = {
		values, foremost, NULL, ROWS, COLUMNS, NULL, false
	};
	size_t found = 0, wrong = 0;

	random_restart();
	for (size_t trial = 0; trial < (is_long() ? 10 : 1) * TRIALS; trial++) {
		struct opk_diff_summary summary = { .level = 0.005 };
		bool seen;

		fill_trial(values, ROWS, COLUMNS, 3);
		ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
		seen = values[0].verdict == OPK_VERDICT_CHANGED;
		found += seen;
		wrong += summary.verdicts[OPK_VERDICT_CHANGED] > seen;
	}
	ck_assert_msg(found >= (is_long() ? 10 : 1) * TRIALS * 95 / 100, "found %zu", found);
	ck_assert_msg(wrong < (is_long() ? 10 : 1) * TRIALS / 50, "%zu others", wrong);
}

/* ---- recordings ------------------------------------------------------------------------- */

/* Launches of a kernel, or copies: `time` ns each, and 1 ns more for each further launch. */
struct kernel {
	const char *name, *symbol;
	uint32_t grid;
	size_t launches;
	uint64_t time;
};

static void put_trace(const char *name, uint64_t now, const struct kernel *kernels, size_t count)
{
	struct opk_meta meta = {
		.kind = "recording", .chip = "GH100", .mode = "trace", .profiler = OPK_PROFILER_PM
	};
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < kernels[i].launches; j++) {
			struct opk_activity activity = {
				.kind = OPK_ACTIVITY_KERNEL,
				.name = kernels[i].name,
				.symbol = kernels[i].symbol,
				.start_ns = now,
				.end_ns = now + kernels[i].time + j,
				.grid = { kernels[i].grid, 1, 1 },
				.block = { 32, 1, 1 },
				.rank = -1,
			};

			ck_ok(ctx, opk_writer_add_activities(writer, &activity, 1));
			now = activity.end_ns + 10;
		}
	ck_ok(ctx, opk_writer_finish(writer));
}

static const struct kernel before[] = {
	{ "same(int)", "_Z4samei", 8, 20, 5000 },
	{ "slower(int)", "_Z6sloweri", 8, 20, 1000 },
	{ "gone(int)", "_Z4gonei", 8, 20, 1000 },
	{ "faster(int)", "_Z6fasteri", 8, 20, 9000 },
	{ "reshaped(int)", "_Z8reshapedi", 8, 20, 2000 },
};
/* Symbols in an unnamed namespace change when their file is compiled again. */
static const struct kernel after[] = {
	{ "faster(int)", "_Z6fasteri_2", 8, 20, 4000 },
	{ "slower(int)", "_Z6sloweri_2", 8, 20, 2000 },
	{ "same(int)", "_Z4samei_2", 8, 20, 5000 },
	{ "reshaped(int)", "_Z8reshapedi", 16, 20, 4000 },
	{ "new(int)", "_Z3newi", 8, 20, 1000 },
};

/* What a test opens, and closes. */
struct compared {
	struct opk_ctx *ctx;
	struct opk_file *files[4];
	struct opk_diff *diff;
};

static void compare(struct compared *c, size_t befores, size_t afters,
                    const struct opk_diff_options *options)
{
	c->ctx = new_ctx();
	for (size_t i = 0; i < befores + afters; i++)
		ck_ok(c->ctx, opk_file_open(&c->files[i], c->ctx,
		                            in_folder(i >= befores ? "after.opk"
		                                      : i          ? "again.opk"
		                                                   : "before.opk")));
	ck_ok(c->ctx, opk_diff_new(&c->diff, c->ctx, c->files, befores, afters, options));
}

static void clear(struct compared *c)
{
	opk_diff_free(c->diff);
	for (size_t i = 0; i < COUNT(c->files); i++)
		opk_file_free(c->files[i]);
	opk_ctx_free(c->ctx);
}

static void make_pair(void)
{
	make_folder();
	put_trace("before.opk", 1000, before, COUNT(before));
	put_trace("again.opk", 2000, before, COUNT(before));
	put_trace("after.opk", 1000, after, COUNT(after));
}

TEST(matched_rows)
{
	static const char *const names[] = { "faster(int)", "slower(int)", "same(int)" };
	static const enum opk_verdict verdicts[] = { OPK_VERDICT_CHANGED, OPK_VERDICT_CHANGED,
		                                     OPK_VERDICT_NOISE };
	struct compared c = { 0 };

	compare(&c, 1, 1, NULL);
	ck_assert_uint_eq(opk_diff_found(c.diff)->row_count, COUNT(names));
	/* Metrics that depend on it have the clock. */
	ck_assert_uint_eq(opk_diff_found(c.diff)->column_count, 2);
	ck_assert(!opk_diff_found(c.diff)->columns[1].shown);
	ck_assert_uint_eq(opk_diff_found(c.diff)->summary.peak_count, 0);
	ck_assert_str_eq(opk_diff_found(c.diff)->columns[0].name, "duration_ns");
	ck_assert(opk_diff_found(c.diff)->columns[0].shown
	          && opk_diff_found(c.diff)->columns[0].is_time);
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct opk_diff_row *row = &opk_diff_found(c.diff)->rows[i];

		ck_assert_str_eq(row->range.kernel, names[i]);
		ck_assert_int_eq((int)row->values->verdict, (int)verdicts[i]);
		ck_assert_uint_eq(row->before_launches, 20);
	}
	ck_assert_double_eq(opk_diff_found(c.diff)->rows[0].values->before.value, 9009.5);
	ck_assert_double_eq(opk_diff_found(c.diff)->rows[0].time_change, 20.0 * -5000);
	ck_assert_double_eq_tol(opk_diff_found(c.diff)->rows[1].values->change, 99.06, 0.01);
	ck_assert_uint_eq(opk_diff_found(c.diff)->unmatched_count, 4);
	ck_assert_str_eq(opk_diff_found(c.diff)->unmatched[0].range.kernel, "gone(int)");
	ck_assert_uint_eq(opk_diff_found(c.diff)->unmatched[0].after_launches, 0);
	ck_assert_uint_eq(opk_diff_found(c.diff)->difference_count, 0);
	clear(&c);
}

static void check_headline(struct compared *c, const char *wanted)
{
	opk_autofree char *got = opk_diff_headline(c->diff, NULL);

	ck_assert_str_eq(got, wanted);
	clear(c);
}

TEST(headlines)
{
	struct opk_diff_options all = OPTIONS(all, .by = "all");
	static const struct kernel few[] = { { "same(int)", "_Z4samei", 8, 1, 5000 } };
	struct compared c = { 0 };

	compare(&c, 1, 1, NULL);
	check_headline(&c, "2 of 3 kernels changed in time by more than noise: faster(int) "
	                   "(-55.5%), slower(int) (+99.1%). At most 0.5% of such changes are "
	                   "false.");
	c = (struct compared){ 0 };
	compare(&c, 2, 1, &all);
	check_headline(&c, "There are too few launches to tell changes in time from noise.");
	put_trace("after.opk", 2000, before, COUNT(before));
	c = (struct compared){ 0 };
	compare(&c, 1, 1, NULL);
	check_headline(&c, "In time nothing changed by more than noise.");
	put_trace("after.opk", 2000, few, COUNT(few));
	c = (struct compared){ 0 };
	compare(&c, 1, 1, NULL);
	check_headline(&c, "There are too few launches to tell changes in time from noise.");
	put_trace("after.opk", 1000, &after[4], 1);
	c = (struct compared){ 0 };
	compare(&c, 1, 1, NULL);
	check_headline(&c, "No row of one side matches one of the other.");
}

TEST(without_shape)
{
	struct opk_diff_options options = OPTIONS(options, .ignore_shape = true);
	struct compared c = { 0 };

	compare(&c, 1, 1, &options);
	ck_assert_uint_eq(opk_diff_found(c.diff)->row_count, 4);
	ck_assert_uint_eq(opk_diff_found(c.diff)->unmatched_count, 2);
	clear(&c);
	options.by = "shape";
	c = (struct compared){ .ctx = new_ctx() };
	ck_ok(c.ctx, opk_file_open(&c.files[0], c.ctx, in_folder("before.opk")));
	ck_code(c.ctx,
	        opk_diff_new(&c.diff, c.ctx, (struct opk_file *[]){ c.files[0], c.files[0] }, 1, 1,
	                     &options),
	        OPK_EUSAGE);
	clear(&c);
}

/* Launches of all files of a side belong to that side; values of several kernels are means. */
TEST(several_files)
{
	struct opk_diff_options options = OPTIONS(options, .by = "all");
	struct compared c = { 0 };

	compare(&c, 2, 1, &options);
	ck_assert_uint_eq(opk_diff_found(c.diff)->row_count, 1);
	ck_assert_uint_eq(opk_diff_found(c.diff)->rows[0].before_launches, 200);
	ck_assert_uint_eq(opk_diff_found(c.diff)->rows[0].after_launches, 100);
	ck_assert_double_eq(opk_diff_found(c.diff)->rows[0].values->before.value, 3609.5);
	ck_assert_uint_eq(opk_diff_found(c.diff)->rows[0].values->before.count, 2);
	ck_assert_int_eq((int)opk_diff_found(c.diff)->rows[0].values->verdict,
	                 (int)OPK_VERDICT_TOO_FEW);
	clear(&c);
	options.by = "nvtx";
	c = (struct compared){ .ctx = new_ctx() };
	ck_ok(c.ctx, opk_file_open(&c.files[0], c.ctx, in_folder("before.opk")));
	ck_code(c.ctx,
	        opk_diff_new(&c.diff, c.ctx, (struct opk_file *[]){ c.files[0], c.files[0] }, 1, 1,
	                     &options),
	        OPK_EUSAGE);
	clear(&c);
}

/* ---- rules ------------------------------------------------------------------------------ */

static const struct {
	struct here here;
	const char *text;
	size_t broken, of;
	const char *row, *found; /* of the first broken rule */
} rules[] = {
	{ HERE, "duration_ns>5%", 1, 3, "slower(int) 8x1x1 32x1x1",
	  "+99.06%, from 1009.5 to 2009.5 ns" },
	{ HERE, "duration_ns < -3%", 1, 3, "faster(int) 8x1x1 32x1x1", "-55.5" },
	{ HERE, "duration_ns>=150%", 0, 3, NULL, NULL },
	{ HERE, "duration_ns>4500", 1, 5, "same(int) 8x1x1 32x1x1", "5009.5 ns" },
	/* The limit holds for a new kernel, too. */
	{ HERE, "duration_ns<1.5e3", 1, 5, "new(int) 8x1x1 32x1x1", "1009.5 ns" },
	{ HERE, "unmatched", 4, 4, "gone(int) 8x1x1 32x1x1", "it is there only before" },
};

TEST(known_rules)
{
	for (size_t i = 0; i < COUNT(rules); i++) {
		struct opk_diff_options options = OPTIONS(options, .rules = &rules[i].text,
		                                          .rule_count = 1);
		struct compared c = { 0 };
		size_t first = 0;

		compare(&c, 1, 1, &options);
		ck_row(&rules[i], opk_diff_found(c.diff)->broken == rules[i].broken, "%zu",
		       opk_diff_found(c.diff)->broken);
		ck_row(&rules[i], opk_diff_found(c.diff)->judged.count == rules[i].of, "%zu",
		       opk_diff_found(c.diff)->judged.count);
		while (rules[i].row && !opk_diff_found(c.diff)->judged.items[first].broken)
			first++;
		if (rules[i].row) {
			const struct opk_diff_judged *of = &opk_diff_found(c.diff)
			                                            ->judged.items[first];

			ck_row(&rules[i], !strcmp(of->row_name, rules[i].row), "%s", of->row_name);
			ck_row(&rules[i], strstr(of->text, rules[i].found), "%s", of->text);
		}
		clear(&c);
	}
}

static const struct {
	struct here here;
	const char *text, *wrong;
} bad_rules[] = {
	{ HERE, "", "a rule is METRIC>5%" },
	{ HERE, "duration_ns", "a rule is METRIC>5%" },
	{ HERE, ">5%", "a metric is needed" },
	{ HERE, "duration_ns>", "a number is needed" },
	{ HERE, "duration_ns>x", "a number is needed" },
	{ HERE, "duration_ns>5%%", "nothing may follow" },
	{ HERE, "duration_ns>5 times", "nothing may follow" },
	{ HERE, "duration_ns>0x10%", "nothing may follow" },
	{ HERE, "duration_ns>-0X1p3", "nothing may follow" },
	{ HERE, "duration_ns>inf", "a number is needed" },
	{ HERE, "duration_ns=5", "a rule is METRIC>5%" },
};

CTX_TEST(no_rules)
{
	struct opk_diff_rules made = { 0 };

	for (size_t i = 0; i < COUNT(bad_rules); i++) {
		int code = opk_diff_rules_add(&made, ctx, bad_rules[i].text);

		ck_row(&bad_rules[i], code == OPK_EUSAGE && told(ctx, bad_rules[i].wrong), "%d: %s",
		       code, errors_of(ctx));
	}
	ck_assert_uint_eq(made.rules.count, 0);
	opk_diff_rules_clear(&made);
}

static const struct {
	struct here here;
	const char *yaml, *wrong; /* NULL: valid */
} rule_files[] = {
	{ HERE, "rules: [a > 5%, {fail: b < 3, where: kernel=*x*, reason: because}, unmatched]",
	  NULL },
	{ HERE,
	  "name: n\ndescription: d\nrules:\n  - fail: a>1\n    where: [kernel=x, grid=1x1x1]\n",
	  NULL },
	{ HERE, "rules: []", ":1:8: a list of rules is needed" },
	{ HERE, "rules: a > 5%", ":1:8: a list of rules is needed" },
	{ HERE, "{}", ":1:1: the key 'rules' is missing" },
	{ HERE, "- a > 5%", ":1:1: a file of rules is a map" },
	{ HERE, "rules: [a > 5]\nnmae: x", ":2:1: unknown key 'nmae', did you mean name?" },
	{ HERE, "rules: [{where: kernel=x}]", ":1:9: the key 'fail' is missing" },
	{ HERE, "rules: [{fail: a > b}]", ":1:16: a number is needed" },
	{ HERE, "rules: [{fail: [a > 1]}]", ":1:16: text is needed" },
	{ HERE, "rules: [{fail: a > 1, where: krnel=x}]", ":1:30: rows have no 'krnel'" },
	{ HERE, "rules: [{fail: a > 1, where: a__b.sum>3}]", ":1:30: 'a__b.sum' is not a fact" },
	{ HERE, "rules: [[a > 5%]]", ":1:9: text is needed" },
	{ HERE, "rules: [a > 5%", "rules.yaml:" },
	{ HERE, "", "rules.yaml:" },
};

CTX_TEST(files_of_rules)
{
	for (size_t i = 0; i < COUNT(rule_files); i++) {
		struct opk_diff_rules made = { 0 };
		int code;

		put_file("rules.yaml", rule_files[i].yaml, strlen(rule_files[i].yaml));
		code = opk_diff_rules_load(&made, ctx, in_folder("rules.yaml"), false);
		ck_row(&rule_files[i],
		       rule_files[i].wrong ? code == OPK_EINPUT && told(ctx, rule_files[i].wrong)
		                           : code == OPK_OK,
		       "%d: %s", code, errors_of(ctx));
		opk_diff_rules_clear(&made);
	}
}

/* The XML is well-formed for any bytes in a kernel's name. */
CTX_TEST(names_in_xml)
{
	static const struct kernel odd[] = { { "<a&\"'>\x01\x1b]]>\xff\xef\xbf\xbe\xc3\xa9\n", "s",
		                               8, 6, 1000 } };
	static const char wanted[] = "name=\"&#60;a&#38;&#34;&#39;&#62;";
	static const char rest[] = "]]&#62;\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9";
	struct opk_diff_options options = OPK_INIT(options);
	const char *rule = "duration_ns>5";
	opk_autofree void *xml = NULL;
	struct compared c = { 0 };
	size_t size;

	put_trace("before.opk", 1000, odd, 1);
	put_trace("after.opk", 1000, odd, 1);
	options.rules = &rule;
	options.rule_count = 1;
	compare(&c, 1, 1, &options);
	ck_ok(ctx, opk_diff_write_junit(c.diff, ctx, in_folder("x.xml")));
	ck_ok(ctx, opk_read_file(&xml, &size, ctx, in_folder("x.xml")));
	ck_assert_msg(strstr(xml, wanted) && strstr(xml, rest), "%s", (char *)xml);
	ck_assert_ptr_null(strchr(xml, '\x01'));
	ck_assert_ptr_null(strchr(xml, '\x1b'));
	clear(&c);
}

SUITE(.set_up = make_pair, .tear_down = remove_folder);
