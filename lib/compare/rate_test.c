/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares two rates of counted samples, which vary at least as Poisson's distribution says. */
#include <float.h>
#include <math.h>

#include "base/student.h"
#include "compare/compare.h"

/* Two-sided, by doubling the smaller tail: of all samples, which part is of the side before? */
static double test_binomial(double before, double all, double part)
{
	double lower = before < all ? opk_incomplete_beta(1 - part, all - before, before + 1) : 1;
	double upper = before > 0 ? opk_incomplete_beta(part, before, all - before + 1) : 1;

	return fmin(1, 2 * fmin(lower, upper));
}

/* ---- recordings that differ by more than that ------------------------------------------- */

struct sums {
	double samples, exposure;
	double distance; /* sum of squares of the distances from the samples expected */
	double relative; /* the same, each in units of what is expected */
	double squares;  /* of the samples expected */
};

/* Expects in each recording of a side what its exposure gives it of all samples. */
static struct sums sum_up(const struct opk_counted *side)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < side->count; i++) {
		sums.samples += side->samples[i];
		sums.exposure += side->exposures[i];
	}
	for (size_t i = 0; i < side->count && sums.samples > 0; i++) {
		double expected = sums.samples * side->exposures[i] / sums.exposure;
		double distance = side->samples[i] - expected;

		sums.distance += distance * distance;
		sums.relative += expected > 0 ? distance * distance / expected : 0;
		sums.squares += expected * expected;
	}
	return sums;
}

void opk_dispersion_add(struct opk_dispersion *dispersion, const struct opk_counted *side)
{
	struct sums sums = sum_up(side);
	double freedom = (double)side->count - 1, weight = sums.squares + sums.samples;

	if (side->count < 2 || !(sums.samples > 0))
		return;
	dispersion->excess += sums.distance * (freedom + 1) / freedom - sums.samples;
	dispersion->squares += sums.squares;
	dispersion->weight += weight;
	dispersion->weight_squares += weight * weight / freedom;
}

/* The number of independent distances that the estimate is made of, where few rows have most. */
static double freedom_of(const struct opk_dispersion *dispersion)
{
	return dispersion->weight * dispersion->weight / dispersion->weight_squares;
}

/* How many times Poisson's the variance of the difference is. */
static double factor_of(const struct sums sides[OPK_SIDES], const struct opk_counted *of,
                        const struct opk_dispersion *dispersion, double part)
{
	double all = sides[OPK_BEFORE].samples + sides[OPK_AFTER].samples;
	double relative = fmax(0, dispersion->excess / dispersion->squares), variance = 0;
	double freedom = (double)of[OPK_BEFORE].count + (double)of[OPK_AFTER].count - 2;
	double own = (sides[OPK_BEFORE].relative + sides[OPK_AFTER].relative) / freedom;

	for (int i = 0; i < OPK_SIDES; i++) {
		double mine = i == OPK_BEFORE ? part : 1 - part, squares = 0;

		for (size_t j = 0; j < of[i].count; j++)
			squares += pow(of[i].exposures[j] / sides[i].exposure, 2);
		variance += pow((1 - mine) * mine * all, 2) * squares;
	}
	return fmax(fmax(1, own), 1 + relative * variance / (all * part * (1 - part)));
}

/* ---- both ------------------------------------------------------------------------------- */

void opk_rate_test(struct opk_rate_result *out, const struct opk_counted sides[OPK_SIDES],
                   const struct opk_dispersion *dispersion)
{
	struct sums sums[OPK_SIDES] = { sum_up(&sides[OPK_BEFORE]), sum_up(&sides[OPK_AFTER]) };
	double all = sums[OPK_BEFORE].samples + sums[OPK_AFTER].samples, far, freedom, student;
	double part = sums[OPK_BEFORE].exposure
	              / (sums[OPK_BEFORE].exposure + sums[OPK_AFTER].exposure);

	/* 0 would mean that launches were tested. */
	*out = (struct opk_rate_result){
		.p = 1,
		.least = fmin(1, fmax(DBL_MIN, 2 * pow(fmin(part, 1 - part), all))),
	};
	if (!(all > 0))
		return;
	out->p = test_binomial(sums[OPK_BEFORE].samples, all, part);
	if (!(dispersion->weight > 0) || sides[OPK_BEFORE].count + sides[OPK_AFTER].count < 3)
		return;
	far = pow(sums[OPK_BEFORE].samples - part * all, 2)
	      / (factor_of(sums, sides, dispersion, part) * all * part * (1 - part));
	freedom = freedom_of(dispersion);
	student = opk_student_tails(sqrt(far), freedom);
	out->by_student = student > out->p;
	out->p = fmax(out->p, student);
}
