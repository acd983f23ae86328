/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes and noise: cases with known answers, how often a diff is wrong, and what it finds. */
#include <math.h>

#include "compare/compare.h"
#include "folder.h"
#include "random.h"

/* ---- the test --------------------------------------------------------------------------- */

static double uniform(void)
{
	return ((double)(random64() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* By counting all ways to choose those of before. */
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

START_TEST(exact_for_few)
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
END_TEST

/* As scipy 1.16 says: mannwhitneyu(a, b, method="exact" or "asymptotic"). */
START_TEST(known_answers)
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
END_TEST

/* One launch of ten that differs from a thousand equal ones is no surprise. */
START_TEST(rare_values)
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
END_TEST

/* ---- verdicts --------------------------------------------------------------------------- */

enum { MOST = 64 };

/* Launches of a value with normal noise, in percent of it; 0: none. */
static struct opk_compared_values make(double values[MOST], uint64_t weights[MOST], size_t count,
                                       double center, double noise)
{
	for (size_t i = 0; i < count; i++) {
		values[i] = center * (1 + noise / 100 * normal());
		weights[i] = 1;
	}
	return (struct opk_compared_values){ values, weights, count };
}

static const struct {
	struct here here;
	size_t before, after; /* launches */
	double change, noise;
	enum opk_verdict wanted;
} cases[] = {
	{ HERE, 30, 30, 0, 1, OPK_VERDICT_NOISE },
	{ HERE, 30, 30, 5, 1, OPK_VERDICT_CHANGED },
	{ HERE, 30, 30, -5, 1, OPK_VERDICT_CHANGED },
	{ HERE, 30, 30, 5, 10, OPK_VERDICT_NOISE },
	{ HERE, 30, 30, 0, 0, OPK_VERDICT_SAME },
	{ HERE, 1, 1, 0, 0, OPK_VERDICT_SAME },
	{ HERE, 2, 2, 1e-9, 0, OPK_VERDICT_CHANGED },
	{ HERE, 1, 1, 50, 0, OPK_VERDICT_TOO_FEW },
	{ HERE, 1, 40, 50, 1, OPK_VERDICT_TOO_FEW },
	{ HERE, 3, 3, 50, 1, OPK_VERDICT_TOO_FEW },
	{ HERE, 5, 5, 50, 1, OPK_VERDICT_TOO_FEW },
	{ HERE, 6, 6, 50, 1, OPK_VERDICT_CHANGED },
	{ HERE, 0, 30, 5, 1, OPK_VERDICT_MISSING },
	{ HERE, 30, 0, 5, 1, OPK_VERDICT_MISSING },
	{ HERE, 30, 30, (double)NAN, 1, OPK_VERDICT_NAN },
};

START_TEST(known_cases)
{
	struct opk_ctx *ctx = new_ctx();

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
		struct opk_compared_table table = { &value, &foremost, 1, 1 };

		ck_assert(opk_compare_values(&value, sides));
		ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
		ck_row(&cases[i], value.verdict == cases[i].wanted, "%s, not %s, p = %g",
		       opk_verdict_name(value.verdict), opk_verdict_name(cases[i].wanted), value.p);
		ck_row(&cases[i], summary.verdicts[cases[i].wanted] == 1, "not counted");
		ck_row(&cases[i], summary.foremost.launches_needed == 6, "%zu",
		       summary.foremost.launches_needed);
	}
	opk_ctx_free(ctx);
}
END_TEST

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

/* So many launches a side, drawn from those of each kernel; true: a change is found in any. */
static bool is_alarm(struct opk_ctx *ctx, const struct times *times, size_t launches)
{
	static struct opk_diff_value values[KERNELS];
	struct opk_diff_summary summary = { .level = 0.005 };
	const bool foremost = true;
	struct opk_compared_table table = { values, &foremost, times->count, 1 };

	for (size_t i = 0; i < times->count; i++) {
		double drawn[2][MOST];
		uint64_t weights[MOST];
		struct opk_compared_values sides[2];

		for (size_t j = 0; j < launches; j++)
			weights[j] = 1;
		for (size_t side = 0; side < 2; side++) {
			for (size_t j = 0; j < launches; j++)
				drawn[side][j] = times->of[i][random64() % times->counts[i]];
			sides[side] = (struct opk_compared_values){ drawn[side], weights,
				                                    launches };
		}
		ck_assert(opk_compare_values(&values[i], sides));
	}
	ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
	return summary.verdicts[OPK_VERDICT_CHANGED] > 0;
}

/* 52 kernels of a training run: of 1,000 pairs of diffs fewer than 1 in 100 find a change. */
START_TEST(false_alarms)
{
	static const size_t launches[] = { 30, 2, 6, 12, 60 };
	static struct times times;
	struct opk_ctx *ctx = new_ctx();
	struct opk_file *file;

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
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* In noise of 2%, of 30 launches a side; time is 3% longer in the first kernel, or all is same. */
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

/* One of five kernels is 3% slower, which other metrics don't hide. */
START_TEST(small_change)
{
	enum { ROWS = 5, COLUMNS = 10, TRIALS = 200 };
	static const bool foremost[COLUMNS] = { true };
	static struct opk_diff_value values[ROWS * COLUMNS];
	const struct opk_compared_table table = { values, foremost, ROWS, COLUMNS };
	struct opk_ctx *ctx = new_ctx();
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
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tests = tcase_create("statistics");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, exact_for_few);
	tcase_add_test(tests, known_answers);
	tcase_add_test(tests, rare_values);
	tcase_add_test(tests, known_cases);
	tcase_add_test(tests, false_alarms);
	tcase_add_test(tests, small_change);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
