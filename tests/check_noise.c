/* SPDX-License-Identifier: BSD-2-Clause */
/* How far means can be trusted: Student's distribution, known answers, and how often it is true. */
#include <math.h>

#include "allocation.h"
#include "base/student.h"
#include "container/door.h"
#include "images/door.h"
#include "random.h"
#include "summary/door.h"
#include "testing.h"

/* ---- Student's distribution ------------------------------------------------------------- */

/* With freedom 1 and 2 the tails have closed forms: an arc tangent, and a root. */
TEST(tails)
{
	for (double far = 0; far < 1000; far = 2 * far + 0.1) {
		double one = 1 - 2 / 3.14159265358979323846 * atan(far);
		double two = 1 - far / sqrt(2 + far * far);

		ck_assert_double_eq_tol(opk_student_tails(far, 1), one, 1e-12);
		ck_assert_double_eq_tol(opk_student_tails(far, 2), two, 1e-12);
		ck_assert_double_eq_tol(opk_student_tails(-far, 2), two, 1e-12);
		ck_assert_double_eq_tol(opk_student_tails(far, (double)INFINITY),
		                        erfc(far / sqrt(2)), 1e-15);
	}
	/* Both sides of the freedom from which it counts as normal. */
	ck_assert_double_eq_tol(opk_student_tails(2, 1e6), opk_student_tails(2, 1e6 + 1), 1e-6);
}

/*
 * Three digits are from the printed tables of textbooks; nine were computed in Python by Simpson's
 * rule over the density and by bisection, without the beta function.
 */
TEST(quantiles)
{
	static const struct {
		double level, freedom, far, precise;
	} cases[] = {
		{ 0.95, 1, 12.706, 5e-4 },        { 0.95, 2, 4.303, 5e-4 },
		{ 0.95, 100, 1.984, 5e-4 },       { 0.95, (double)INFINITY, 1.960, 5e-4 },
		{ 0.99, 1, 63.657, 5e-4 },        { 0.99, 2, 9.925, 5e-4 },
		{ 0.999, 1, 636.619, 5e-4 },      { 0.99, (double)INFINITY, 2.576, 5e-4 },
		{ 0.95, 3, 3.182446305, 1e-8 },   { 0.95, 9, 2.262157163, 1e-8 },
		{ 0.95, 29, 2.045229642, 1e-8 },  { 0.99, 4, 4.604094871, 1e-8 },
		{ 0.99, 9, 3.249835542, 1e-8 },   { 0.9, 6, 1.943180281, 1e-8 },
		{ 0.9, 99, 1.660391156, 1e-8 },   { 0.5, 1, 1, 1e-12 },
		{ 0.999999, 1, 636619.77, 1e-2 }, { 0.02, 2, 0.02828993, 1e-8 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		double far = opk_student_quantile(cases[i].level, cases[i].freedom);

		ck_assert_msg(fabs(far - cases[i].far) <= cases[i].precise, "case %zu: %.12g", i,
		              far);
	}
}

/* ---- mean and deviation ----------------------------------------------------------------- */

static struct opk_moments moments_of(const double *values, size_t count)
{
	struct opk_moments moments = { 0 };

	for (size_t i = 0; i < count; i++)
		opk_moments_add(&moments, values[i]);
	return moments;
}

TEST(moments)
{
	/* By hand: the mean is 5, the squared distances add up to 32. */
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	static const double equal[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	struct opk_moments all = moments_of(values, COUNT(values)), none = { 0 };
	struct opk_moments constant = moments_of(equal, COUNT(equal));

	ck_assert_double_eq(all.mean, 5);
	ck_assert_double_eq_tol(opk_moments_deviation(&all), sqrt(32.0 / 7), 1e-15);
	for (size_t i = 0; i <= COUNT(values); i++) {
		struct opk_moments first = moments_of(values, i);
		struct opk_moments rest = moments_of(values + i, COUNT(values) - i);

		opk_moments_merge(&first, &rest);
		ck_assert_uint_eq(first.count, COUNT(values));
		ck_assert_double_eq_tol(first.mean, 5, 1e-14);
		ck_assert_double_eq_tol(first.squares, 32, 1e-13);
	}
	opk_moments_merge(&constant, &constant);
	ck_assert_double_eq(opk_moments_deviation(&constant), 0);
	ck_assert(isnan(opk_moments_deviation(&none)));
	all = moments_of(equal, 1);
	ck_assert(isnan(opk_moments_deviation(&all)));
}

/* ---- what can be trusted ---------------------------------------------------------------- */

/*
 * Half-widths are the spread times a quantile from above over the root of the count. What is needed
 * was counted up in Python from 2, with quantiles by Simpson's rule.
 */
TEST(known_precision)
{
	static const struct {
		uint64_t count;
		double mean, deviation, level, within, spread, half_width;
		uint64_t needed;
	} cases[] = {
		{ 10, 200, 5, 0.95, 1, 2.5, 2.5 * 2.262157163 / 3.16227766, 27 },
		{ 30, -50, 5, 0.95, 5, 10, 10 * 2.045229642 / 5.477225575, 18 },
		{ 5, 1e9, 3e7, 0.99, 1, 3, 3 * 4.604094871 / 2.236067977, 64 },
		{ 100, 1e-9, 5e-11, 0.9, 2, 5, 5 * 1.660391156 / 10, 19 },
		{ 4, 100, 1, 0.95, 1, 1, 3.182446305 / 2, 7 },
		{ 4, 100, 0.05, 0.95, 1, 0.05, 0.05 * 3.182446305 / 2, 2 },
		/* By the normal distribution: (1.959963985 * 1e6)^2 = 3.841458821e12. */
		{ 4, 1, 1e4, 0.95, 1, 1e6, 1e6 * 3.182446305 / 2, 3841458820695 },
		/* Equal values: two are too few, unless they are 0. */
		{ 2, 7, 0, 0.95, 1, 0, (double)NAN, 3 },
		{ 3, 7, 0, 0.95, 1, 0, 0, 3 },
		{ 2, 0, 0, 0.95, 1, 0, 0, 2 },
		/* Nothing is known. */
		{ 0, 0, (double)NAN, 0.95, 1, (double)NAN, (double)NAN, 0 },
		{ 1, 7, (double)NAN, 0.95, 1, (double)NAN, (double)NAN, 0 },
		{ 1, 0, 0, 0.95, 1, (double)NAN, (double)NAN, 0 },
		{ 9, 0, 1, 0.95, 1, (double)NAN, (double)NAN, 0 },
		{ 9, (double)NAN, (double)NAN, 0.95, 1, (double)NAN, (double)NAN, 0 },
		{ 9, (double)INFINITY, 1, 0.95, 1, (double)NAN, (double)NAN, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct opk_precision out;
		double width = cases[i].half_width, spread = cases[i].spread;

		opk_precision_find(&out, cases[i].count, cases[i].mean, cases[i].deviation,
		                   cases[i].level, cases[i].within);
		ck_assert_msg(isnan(spread) ? isnan(out.spread)
		                            : fabs(out.spread - spread) <= 1e-12 * spread,
		              "case %zu: spread %g", i, out.spread);
		ck_assert_msg(isnan(width) ? isnan(out.half_width)
		                           : fabs(out.half_width - width) <= 1e-8 * width,
		              "case %zu: half-width %.12g", i, out.half_width);
		ck_assert_msg(out.needed == cases[i].needed
		                      || (cases[i].needed > 1000000000
		                          && fabs((double)out.needed - (double)cases[i].needed)
		                                     < 1e4),
		              "case %zu: %llu needed", i, (unsigned long long)out.needed);
	}
}

/* So many launches are enough, and one less is not. */
TEST(least_needed)
{
	static const double levels[] = { 0.5, 0.9, 0.95, 0.999 };

	for (size_t i = 0; i < COUNT(levels); i++)
		for (double spread = 0.1; spread < 400; spread *= 1.7) {
			struct opk_precision out, enough, less;

			opk_precision_find(&out, 5, 100, spread, levels[i], 1);
			opk_precision_find(&enough, out.needed, 100, spread, levels[i], 1);
			opk_precision_find(&less, out.needed - 1, 100, spread, levels[i], 1);
			ck_assert_msg(enough.half_width <= 1
			                      && (out.needed == 2 || less.half_width > 1),
			              "%g at %g: %llu", spread, levels[i],
			              (unsigned long long)out.needed);
		}
}

/* ---- how often it is true --------------------------------------------------------------- */

static bool holds(const double *values, size_t count, double level, double truth)
{
	struct opk_moments of = moments_of(values, count);
	struct opk_precision out;

	opk_precision_find(&out, count, of.mean, opk_moments_deviation(&of), level, 1);
	return fabs(of.mean - truth) <= out.half_width / 100 * fabs(of.mean);
}

/* Launches by the normal distribution: the share of intervals with the mean is the level. */
TEST(normal_launches)
{
	enum { TRIALS = 20000 };
	static const size_t counts[] = { 2, 3, 10, 30 };
	static const double levels[] = { 0.95, 0.8 };

	random_restart();
	for (size_t i = 0; i < COUNT(counts) * COUNT(levels); i++) {
		size_t count = counts[i / 2], held = 0;
		double level = levels[i % 2], values[30], share;

		for (size_t j = 0; j < TRIALS; j++) {
			for (size_t k = 0; k < count; k++)
				values[k] = 1000 + 20 * random_normal();
			held += holds(values, count, level, 1000);
		}
		share = (double)held / TRIALS;
		ck_assert_msg(fabs(share - level) < 4 * sqrt(level * (1 - level) / TRIALS),
		              "%zu launches: %g of %g", count, share, level);
	}
}

enum { KERNELS = 64, LAUNCHES = 6000, DRAWN = 30, SUBSETS = 200 };

struct times {
	const char *names[KERNELS];
	double of[KERNELS][LAUNCHES];
	size_t counts[KERNELS], count;
};

static void read_times(struct times *times, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *activities;
	size_t count;

	ck_ok(ctx, opk_file_activities(&activities, &count, ctx, file));
	for (size_t i = 0; i < count; i++) {
		size_t kernel = 0;

		if (activities[i].kind != OPK_ACTIVITY_KERNEL)
			continue;
		while (kernel < times->count && strcmp(times->names[kernel], activities[i].name))
			kernel++;
		ck_assert_uint_lt(kernel, KERNELS);
		ck_assert_uint_lt(times->counts[kernel], LAUNCHES);
		times->names[kernel] = activities[i].name;
		times->count += kernel == times->count;
		times->of[kernel][times->counts[kernel]++] = (double)(activities[i].end_ns
		                                                      - activities[i].start_ns);
	}
}

/* In how many of the subsets, of different launches, the interval has the mean of all launches. */
static size_t count_held(double *times, size_t all, size_t drawn)
{
	double truth = moments_of(times, all).mean;
	size_t held = 0;

	for (size_t i = 0; i < SUBSETS; i++) {
		for (size_t j = 0; j < drawn; j++) {
			size_t other = j + random64() % (all - j);
			double time = times[j];

			times[j] = times[other];
			times[other] = time;
		}
		held += holds(times, drawn, 0.95, truth);
	}
	return held;
}

/*
 * 39 kernels of a training run, of 200 launches and more: their times are not normal, many are
 * multiples of 32 ns, and some kernels have several shapes. docs/guide.md has the shares.
 */
CTX_TEST(recorded_launches)
{
	static const struct {
		size_t drawn;
		double least, most;
	} cases[] = { { 5, 0.88, 0.95 }, { 10, 0.91, 0.96 }, { DRAWN, 0.94, 0.97 } };
	static struct times times;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-training-trace.opk"));
	read_times(&times, ctx, file);
	random_restart();
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t held = 0, kernels = 0;
		double share;

		for (size_t j = 0; j < times.count; j++) {
			if (times.counts[j] < 200)
				continue;
			kernels++;
			held += count_held(times.of[j], times.counts[j], cases[i].drawn);
		}
		ck_assert_uint_eq(kernels, 39);
		share = (double)held / (double)(kernels * SUBSETS);
		ck_assert_msg(share > cases[i].least && share < cases[i].most, "%zu launches: %.4f",
		              cases[i].drawn, share);
	}
}

/* ---- without memory --------------------------------------------------------------------- */

static int find_noise(struct opk_ctx *ctx, struct opk_file *file)
{
	static const char *const columns[] = { "duration_ns" };
	const struct opk_noise_options options = {
		.kernel = "*gemm*",
		.by = "shape",
		.columns = columns,
		.column_count = 1,
		.kernel_names = OPK_KERNEL_SHORT,
		.level = 0.95,
		.within = 1,
	};
	opk_auto(opk_noise) struct opk_noise *noise = NULL;

	return opk_noise_new(&noise, ctx, &file, 1, &options);
}

/* With many allocations, which mostly are alike, one of ten fails. */
CTX_TEST(without_memory)
{
	freed(opk_file) *file = NULL;

	ck_ok(ctx,
	      opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-training-kernels.opk"));
	ck_ok(ctx, find_noise(ctx, file));
	for (long n = 0; is_short(ctx, n, find_noise(ctx, file)); n += 1 + n / 10)
		opk_clear_errors(ctx);
}

SUITE();
