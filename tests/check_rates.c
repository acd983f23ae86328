/* SPDX-License-Identifier: BSD-2-Clause */
/* The test of two rates of samples: known answers, false alarms, and changes that are found. */
#include <math.h>

#include "compare/compare.h"
#include "random.h"
#include "testing.h"

enum { MOST_RECORDINGS = 4, ROWS = 40 };
static const double level = 0.005;

/* A count by Poisson's distribution; of many, rounded from the normal one. */
static double poisson(double mean)
{
	double limit = exp(-mean), product = random_uniform(), count = 0;

	if (mean > 100)
		return fmax(0, round(mean + sqrt(mean) * random_normal()));
	for (; product > limit; product *= random_uniform())
		count++;
	return count;
}

/* p of single recordings with these samples, of a and b launches. */
static struct opk_rate_result test_single(double before, double a, double after, double b)
{
	struct opk_counted sides[OPK_SIDES] = { { &before, &a, 1 }, { &after, &b, 1 } };
	struct opk_dispersion none = { 0 };
	struct opk_rate_result result;

	opk_rate_test(&result, sides, &none);
	return result;
}

/* Sums of the binomial distribution: twice the smaller tail. */
TEST(known_rates)
{
	static const struct {
		double before, a, after, b, p;
	} cases[] = {
		{ 0, 1, 0, 1, 1 },
		{ 5, 1, 5, 1, 1 },
		{ 0, 1, 10, 1, 2 * 0.0009765625 },
		{ 10, 1, 0, 1, 2 * 0.0009765625 },
		{ 1, 1, 9, 1, 2 * 11 * 0.0009765625 },
		{ 2, 1, 8, 1, 2 * 56 * 0.0009765625 },
		/* A third of the launches are of the side before. */
		{ 4, 1, 0, 2, 2 * 1 / 81.0 },
		{ 0, 1, 3, 2, 2 * 8 / 27.0 },
		{ 100, 1, 200, 2, 1 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		double p = test_single(cases[i].before, cases[i].a, cases[i].after, cases[i].b).p;

		ck_assert_msg(fabs(p - cases[i].p) < 1e-9, "case %zu: %.17g", i, p);
	}
	/* The normal distribution's, for many: 500 more of 100,000 are 1.118 deviations. */
	ck_assert_double_eq_tol(test_single(50000, 1, 50500, 1).p, erfc(1.5770 / sqrt(2)), 2e-3);
	ck_assert_double_eq_tol(test_single(1e9, 1, 1e9 + 1e5, 1).p, erfc(2.23607 / sqrt(2)), 1e-4);
	ck_assert_double_eq_tol(test_single(3, 1, 7, 1).least, 2 * 0.0009765625, 1e-12);
}

/* Line i has a rate of its own: from 1 to 10,000 samples in a launch. */
static double rate_of(size_t row)
{
	return pow(10, 4.0 * (double)row / (ROWS - 1));
}

/* Samples of a side, whose recordings differ by the share `spread` besides. */
static void fill(struct opk_counted *side, size_t recordings, double rate, double spread)
{
	side->count = recordings;
	for (size_t i = 0; i < recordings; i++) {
		side->exposures[i] = 1;
		side->samples[i] = poisson(rate * exp(spread * random_normal()));
	}
}

/* Rows that are found to have changed; the last one has, by the factor. */
static size_t find_changes(struct opk_ctx *ctx, size_t recordings, double spread, double factor)
{
	static double samples[ROWS][OPK_SIDES][MOST_RECORDINGS];
	static double exposures[ROWS][OPK_SIDES][MOST_RECORDINGS];
	static const bool foremost[1] = { true };
	struct opk_diff_summary summary = { .level = level };
	struct opk_diff_value values[ROWS];
	struct opk_counted sides[ROWS][OPK_SIDES];
	struct opk_dispersion dispersion = { 0 };
	const struct opk_compared_table table = {
		.values = values, .foremost = foremost, .rows = ROWS, .columns = 1, .sampled = true
	};

	for (size_t i = 0; i < ROWS; i++)
		for (int side = 0; side < OPK_SIDES; side++) {
			bool changes = i + 1 == ROWS && side == OPK_AFTER;

			sides[i][side] = (struct opk_counted){ samples[i][side], exposures[i][side],
				                               0 };
			fill(&sides[i][side], recordings, rate_of(i) * (changes ? factor : 1),
			     spread);
			opk_dispersion_add(&dispersion, &sides[i][side]);
		}
	for (size_t i = 0; i < ROWS; i++)
		opk_compare_counts(&values[i], sides[i], &dispersion);
	ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
	return summary.verdicts[OPK_VERDICT_CHANGED];
}

/* Diffs of which nothing changed report a change as often as the level says, at most. */
CTX_TEST(false_alarms)
{
	static const struct {
		size_t recordings;
		double spread;
	} cases[] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 2, 0.05 }, { 3, 0.05 }, { 4, 0.2 } };
	enum { TRIALS = 2000 };

	random_restart();
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t alarms = 0;

		for (size_t j = 0; j < TRIALS; j++)
			alarms += find_changes(ctx, cases[i].recordings, cases[i].spread, 1) > 0;
		ck_assert_msg((double)alarms <= 2 * level * TRIALS, "case %zu: %zu alarms of %d", i,
		              alarms, TRIALS);
	}
}

/* 10% more than 10,000 samples are found, unless recordings of a side differ by as much. */
CTX_TEST(real_changes)
{
	enum { TRIALS = 200 };
	size_t found[4] = { 0 };

	random_restart();
	for (size_t j = 0; j < TRIALS; j++) {
		found[0] += find_changes(ctx, 1, 0, 1.1) > 0;
		found[1] += find_changes(ctx, 2, 0, 1.1) > 0;
		found[2] += find_changes(ctx, 3, 0.01, 1.1) > 0;
		found[3] += find_changes(ctx, 3, 0.1, 1.1) > 0;
	}
	ck_assert_uint_eq(found[0], TRIALS);
	/* What two recordings say of their noise is little. */
	ck_assert_uint_gt(found[1], TRIALS * 8 / 10);
	ck_assert_uint_gt(found[2], TRIALS * 9 / 10);
	ck_assert_uint_lt(found[3], TRIALS / 10);
}

/* The verdict on one row with a recording a side. */
static enum opk_verdict judge_single(struct opk_ctx *ctx, double before, double a, double after,
                                     double b)
{
	static const bool foremost[1] = { true };
	struct opk_counted sides[OPK_SIDES] = { { &before, &a, 1 }, { &after, &b, 1 } };
	struct opk_dispersion none = { 0 };
	struct opk_diff_summary summary = { .level = level };
	struct opk_diff_value value;
	const struct opk_compared_table table = {
		.values = &value, .foremost = foremost, .rows = 1, .columns = 1, .sampled = true
	};

	opk_compare_counts(&value, sides, &none);
	ck_ok(ctx, opk_find_verdicts(&summary, ctx, &table));
	return value.verdict;
}

/* The least probability of so many samples is 0 in a double; that does not make them too few. */
CTX_TEST(many_samples)
{
	static const struct {
		double before, a, after, b;
		enum opk_verdict verdict;
	} cases[] = {
		{ 1e3, 1, 2e3, 1, OPK_VERDICT_CHANGED },
		{ 1e6, 1, 2e6, 1, OPK_VERDICT_CHANGED },
		{ 0, 1, 1e6, 1, OPK_VERDICT_CHANGED },
		{ 1e6, 1, 0, 1, OPK_VERDICT_CHANGED },
		{ 1e9, 1, 3e9, 1, OPK_VERDICT_CHANGED },
		{ 1e6, 1, 4e6, 3, OPK_VERDICT_CHANGED },
		{ 1e6, 1, 1e6 + 1, 1, OPK_VERDICT_NOISE },
		{ 1e9, 1, 1e9 + 1e4, 1, OPK_VERDICT_NOISE },
		{ 3, 1, 0, 1, OPK_VERDICT_TOO_FEW },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum opk_verdict verdict = judge_single(ctx, cases[i].before, cases[i].a,
		                                        cases[i].after, cases[i].b);

		ck_assert_msg(verdict == cases[i].verdict, "case %zu: %s", i,
		              opk_verdict_name(verdict));
	}
}

/* Exact counts: what differs has changed, unless recordings of a side differ as well. */
TEST(exact_counts)
{
	static const struct {
		double before[2], after[2];
		enum opk_verdict verdict;
	} cases[] = {
		{ { 10, 20 }, { 30, 40 }, OPK_VERDICT_CHANGED },
		{ { 10, 10 }, { 10, 10 }, OPK_VERDICT_SAME },
		{ { 10, 20 }, { 15, 40 }, OPK_VERDICT_NOISE },
		{ { 10, 10 }, { 10, 11 }, OPK_VERDICT_NOISE },
		{ { 10, 10 }, { 9, 8 }, OPK_VERDICT_CHANGED },
		{ { 0, 0 }, { 0, 0 }, OPK_VERDICT_SAME },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		double before[2] = { 3 * cases[i].before[0], 7 * cases[i].before[1] };
		double after[2] = { 5 * cases[i].after[0], cases[i].after[1] };
		double launches[2] = { 3, 7 }, others[2] = { 5, 1 };
		struct opk_counted sides[OPK_SIDES] = { { before, launches, 2 },
			                                { after, others, 2 } };
		struct opk_diff_value value;

		opk_compare_counts(&value, sides, NULL);
		ck_assert_msg(value.verdict == cases[i].verdict, "case %zu: %s", i,
		              opk_verdict_name(value.verdict));
	}
}

SUITE();
