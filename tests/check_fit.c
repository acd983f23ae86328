/* SPDX-License-Identifier: BSD-2-Clause */
/* What launches count that are shorter than samples, compared with what a simulated GPU did. */
#include <math.h>

#include "allocation.h"
#include "random.h"
#include "recordings.h"
#include "timeline/fit.h"

enum { INTERVAL = 10000, MOST_KINDS = 100, MOST_LAUNCHES = 20000 };

/*
 * A kernel, in ns. The first wave of its blocks counts a share of the amount in the first
 * microsecond. Blocks of a tail end one after the other.
 */
struct kind {
	double length, amount, wave;
	bool tail;
};

static const struct kind five[] = {
	{ 9000, 4096, 0.5, false }, { 3000, 1500, 0.9, false },  { 25000, 16384, 0.15, false },
	{ 5000, 1320, 0, true },    { 60000, 5000, 0.05, true },
};

/* A program: its launches, and when samples begin and end. */
struct run {
	const struct kind *kinds;
	size_t kind_count;
	struct opk_stretch launches[MOST_LAUNCHES];
	uint32_t units[MOST_LAUNCHES];
	double amounts[MOST_LAUNCHES];
	size_t count;
	struct opk_sample_time *samples;
	double *values; /* per ns */
	size_t sample_count;
};

/* The share of its amount that a launch has counted after so long. */
static double counted(const struct kind *kind, double time, double length)
{
	double wave = fmin(fmax(time / 1000, 0), 1);
	double rest = fmin(fmax((time - 1000) / (length - 1500), 0), 1);

	return kind->wave * wave
	       + (1 - kind->wave) * (kind->tail ? 1 - (1 - rest) * (1 - rest) : rest);
}

static void add_launch(struct run *run, uint64_t start, uint64_t length, uint32_t kind,
                       double amount)
{
	ck_assert(run->count < MOST_LAUNCHES);
	run->launches[run->count] = (struct opk_stretch){ start, start + length, kind };
	run->units[run->count] = kind;
	run->amounts[run->count++] = amount;
}

/* `delay`: how much later samples count. */
static void take_samples(struct run *run, double delay)
{
	uint64_t end = run->launches[run->count - 1].end + 3 * (uint64_t)INTERVAL, first = 1000000;

	run->sample_count = (size_t)((end - first) / INTERVAL);
	run->samples = calloc(run->sample_count, sizeof *run->samples);
	run->values = calloc(run->sample_count, sizeof *run->values);
	ck_assert(run->samples && run->values);
	for (size_t i = 0; i < run->sample_count; i++)
		run->samples[i] = (struct opk_sample_time){ first + i * INTERVAL,
			                                    first + (i + 1) * INTERVAL };
	for (size_t i = 0; i < run->count; i++) {
		const struct opk_stretch *l = &run->launches[i];
		const struct kind *kind = &run->kinds[run->units[i]];
		double start = (double)(l->start - first) + delay,
		       length = (double)(l->end - l->start);

		for (size_t at = (size_t)(start / INTERVAL); at < run->sample_count; at++) {
			double from = (double)(at * INTERVAL) - start, to = from + INTERVAL;

			if (from > length)
				break;
			run->values[at] += run->amounts[i] / INTERVAL
			                   * (counted(kind, to, length)
			                      - counted(kind, from, length));
		}
	}
}

/* Rounds of all kinds in an order that changes, or not, with lengths that vary by 3%. */
static struct run *make_run(const struct kind *kinds, size_t kind_count, size_t rounds,
                            bool shuffle)
{
	struct run *run = calloc(1, sizeof *run);
	uint32_t order[MOST_KINDS];
	uint64_t now = 1000003;

	ck_assert_ptr_nonnull(run);
	run->kinds = kinds;
	run->kind_count = kind_count;
	for (uint32_t i = 0; i < kind_count; i++)
		order[i] = i;
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = kind_count; shuffle && --i > 0;) {
			size_t j = random64() % (i + 1);
			uint32_t kept = order[i];

			order[i] = order[j];
			order[j] = kept;
		}
		for (size_t i = 0; i < kind_count; i++) {
			const struct kind *kind = &kinds[order[i]];
			double length = kind->length * (1 + 0.03 * random_normal());

			add_launch(run, now, (uint64_t)length, order[i], kind->amount);
			now += (uint64_t)length + 800 + random64() % 700;
		}
	}
	return run;
}

static void free_run(struct run *run)
{
	free(run->samples);
	free(run->values);
	free(run);
}

struct estimate {
	double value, within;
};

static int try(struct estimate *out, struct opk_ctx *ctx, const struct run *run)
{
	__attribute__((cleanup(opk_fit_clear))) struct opk_fit fit = { 0 };
	__attribute__((cleanup(opk_fitted_clear))) struct opk_fitted fitted = { 0 };

	TRY(opk_fit_init(&fit, ctx, run->samples, run->sample_count, run->launches, run->count,
	                 run->units, run->kind_count));
	TRY(opk_fitted_init(&fitted, ctx, run->kind_count));
	opk_fitted_begin(&fitted);
	TRY(opk_fitted_add(&fitted, ctx, &fit, run->values, false));
	for (size_t i = 0; i < run->kind_count; i++)
		out[i].value = opk_fitted_value(&out[i].within, &fitted, i, OPK_ADDS,
		                                run->kinds[i].length);
	return OPK_OK;
}

static void estimate(struct estimate *out, const struct run *run)
{
	freed(opk_ctx) *ctx = new_ctx();

	ck_ok(ctx, try(out, ctx, run));
}

/* Programs of five kernels, each launched 1,000 times. The intervals hold their true counts. */
TEST(first_waves_and_tails)
{
	enum { PROGRAMS = 8 };
	size_t inside = 0, count = 0;

	random_restart();
	for (size_t i = 0; i < PROGRAMS; i++) {
		struct run *run = make_run(five, COUNT(five), 1000, true);
		struct estimate estimates[COUNT(five)];

		take_samples(run, 250 * (double)i);
		estimate(estimates, run);
		for (size_t j = 0; j < COUNT(five); j++, count++) {
			double off = estimates[j].value - five[j].amount;

			ck_assert_msg(fabs(off) <= 0.03 * five[j].amount,
			              "program %zu, kernel %zu: %g", i, j, estimates[j].value);
			inside += fabs(off) <= estimates[j].within;
		}
		free_run(run);
	}
	ck_assert_msg(inside >= 0.95 * (double)count, "%zu of %zu", inside, count);
}

/* Two kernels that always run at the same time can't be told apart. */
TEST(at_once)
{
	static const struct kind kinds[] = { { 4000, 1000, 0.2, false },
		                             { 4000, 5000, 0.1, false } };
	struct run *run = calloc(1, sizeof *run);
	struct estimate estimates[COUNT(kinds)];

	ck_assert_ptr_nonnull(run);
	random_restart();
	run->kinds = kinds;
	run->kind_count = COUNT(kinds);
	for (uint64_t i = 0, now = 1000003; i < 2000; i++, now += 9000 + random64() % 3000)
		for (uint32_t kind = 0; kind < COUNT(kinds); kind++)
			add_launch(run, now, 4000, kind, kinds[kind].amount);
	take_samples(run, 0);
	estimate(estimates, run);
	ck_assert_msg(isnan(estimates[0].value) && isnan(estimates[1].value), "%g %g",
	              estimates[0].value, estimates[1].value);
	ck_assert(isnan(estimates[0].within));
	free_run(run);
}

/* Every sample has the same launches at the same times: one equation for all of them. */
TEST(in_step)
{
	static const struct kind kinds[] = { { 4000, 1000, 0.2, false },
		                             { 4000, 5000, 0.1, false } };
	struct run *run = calloc(1, sizeof *run);
	struct estimate estimates[COUNT(kinds)];

	ck_assert_ptr_nonnull(run);
	run->kinds = kinds;
	run->kind_count = COUNT(kinds);
	for (uint64_t i = 0, now = 1000500; i < 2000; i++, now += INTERVAL) {
		add_launch(run, now, 4000, 0, kinds[0].amount);
		add_launch(run, now + 4500, 4000, 1, kinds[1].amount);
	}
	take_samples(run, 0);
	estimate(estimates, run);
	ck_assert_msg(isnan(estimates[0].value) && isnan(estimates[1].value), "%g %g",
	              estimates[0].value, estimates[1].value);
	free_run(run);
}

/* Launches of a kernel that take three times as long count three times as much: the mean. */
TEST(short_and_long_launches)
{
	static const struct kind kinds[] = { { 8000, 1000, 0, false }, { 5000, 3000, 0.3, false } };
	struct run *run = calloc(1, sizeof *run);
	struct estimate estimates[COUNT(kinds)];
	uint64_t now = 1000003;

	ck_assert_ptr_nonnull(run);
	random_restart();
	run->kinds = kinds;
	run->kind_count = COUNT(kinds);
	for (size_t i = 0; i < 3000; i++) {
		uint32_t kind = random64() % 2;
		uint64_t longer = kind || random64() % 2 ? 1 : 3;
		uint64_t length = (uint64_t)kinds[kind].length * longer;

		add_launch(run, now, length, kind, kinds[kind].amount * (double)longer);
		now += length + 800 + random64() % 700;
	}
	take_samples(run, 0);
	estimate(estimates, run);
	ck_assert_msg(fabs(estimates[0].value - 2000) < 80, "%g", estimates[0].value);
	ck_assert_msg(fabs(estimates[1].value - 3000) < 60, "%g", estimates[1].value);
	free_run(run);
}

/* Few launches, and samples without values, determine nothing. */
TEST(too_little)
{
	struct run *run = make_run(five, COUNT(five), 40, true);
	struct estimate estimates[COUNT(five)];

	take_samples(run, 0);
	estimate(estimates, run);
	for (size_t i = 0; i < COUNT(five); i++)
		ck_assert(isnan(estimates[i].value));
	free_run(run);
	run = make_run(five, COUNT(five), 1000, true);
	take_samples(run, 0);
	run->values[77] = (double)NAN;
	estimate(estimates, run);
	for (size_t i = 0; i < COUNT(five); i++)
		ck_assert(isnan(estimates[i].value) && isnan(estimates[i].within));
	free_run(run);
}

/* Launches that no sample covers say nothing: not by themselves, and not for others of a row. */
TEST(not_sampled)
{
	static const struct kind kinds[] = { { 8000, 1000, 0.2, false },
		                             { 5000, 3000, 0.3, false } };
	struct estimate estimates[COUNT(kinds)];
	struct run *run;
	uint64_t now;

	random_restart();
	run = make_run(kinds, 1, 1000, true);
	take_samples(run, 0);
	run->kind_count = COUNT(kinds);
	now = run->samples[run->sample_count - 1].end + INTERVAL;
	for (size_t i = 0; i < 1000; i++, now += 6000)
		add_launch(run, now, 5000, 1, kinds[1].amount);
	estimate(estimates, run);
	ck_assert_msg(fabs(estimates[0].value - 1000) < 20, "%g", estimates[0].value);
	ck_assert_msg(isnan(estimates[1].value) && isnan(estimates[1].within), "%g within %g",
	              estimates[1].value, estimates[1].within);
	for (size_t i = 0; i < run->count; i++)
		run->launches[i].row = 0;
	estimate(estimates, run);
	ck_assert_msg(fabs(estimates[0].value - 1000) < 20, "%g", estimates[0].value);
	free_run(run);
}

/* There are unknowns for the kernels with most launches; samples of the others are left out. */
TEST(many_kernels)
{
	static struct kind kinds[MOST_KINDS];
	static struct estimate estimates[MOST_KINDS];
	size_t known = 0;
	struct run *run;

	random_restart();
	for (size_t i = 0; i < MOST_KINDS; i++)
		kinds[i] = (struct kind){ 3000 + 100 * (double)i, 1000 + 10 * (double)i, 0.2,
			                  false };
	run = make_run(kinds, MOST_KINDS, 150, true);
	take_samples(run, 500);
	estimate(estimates, run);
	for (size_t i = 0; i < MOST_KINDS; i++) {
		known += !isnan(estimates[i].value);
		ck_assert_msg(isnan(estimates[i].value)
		                      || fabs(estimates[i].value - kinds[i].amount)
		                                 < 2 * estimates[i].within,
		              "%zu: %g, not %g", i, estimates[i].value, kinds[i].amount);
	}
	ck_assert_msg(known > 10 && known < MOST_KINDS, "%zu", known);
	free_run(run);
}

CTX_TEST(out_of_memory)
{
	struct estimate estimates[COUNT(five)];
	struct run *run;
	long n = 0;

	random_restart();
	run = make_run(five, COUNT(five), 100, true);
	take_samples(run, 0);
	while (is_short(ctx, n, try(estimates, ctx, run)))
		n++;
	ck_assert(n > 10);
	free_run(run);
}

SUITE();
