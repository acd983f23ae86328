/* SPDX-License-Identifier: BSD-2-Clause */
/* Tails and quantiles of Student's distribution. */
#include "base/student.h"

#include <math.h>

/* With more freedom the normal distribution differs by less than a millionth. */
static const double most_freedom = 1e6;

/* A step of Lentz's method for continued fractions: the factor that it adds. */
static double take_step(double *c, double *d, double term)
{
	static const double tiny = 1e-300;

	*d = 1 + term * *d;
	*d = 1 / (fabs(*d) < tiny ? tiny : *d);
	*c = 1 + term / *c;
	*c = fabs(*c) < tiny ? tiny : *c;
	return *c * *d;
}

/* The continued fraction of the incomplete beta function. */
static double fraction(double x, double a, double b)
{
	enum { MOST_STEPS = 100000 };
	static const double precise = 1e-14;
	double c = 1, d = 0, h = 1 / (1 - (a + b) * x / (a + 1)), step = 0;

	d = h;
	for (int i = 1; i < MOST_STEPS && fabs(step - 1) > precise; i++) {
		double m = i, twice = a + 2 * m;

		h *= take_step(&c, &d, m * (b - m) * x / ((twice - 1) * twice));
		step = take_step(&c, &d, -(a + m) * (a + b + m) * x / (twice * (twice + 1)));
		h *= step;
	}
	return h;
}

double opk_incomplete_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * fraction(x, a, b) / a
	                                 : 1 - front * fraction(1 - x, b, a) / b;
}

double opk_student_tails(double far, double freedom)
{
	if (freedom > most_freedom)
		return erfc(fabs(far) / sqrt(2));
	return opk_incomplete_beta(freedom / (freedom + far * far), freedom / 2, 0.5);
}

static double density(double at, double freedom)
{
	static const double pi = 3.14159265358979323846;

	if (freedom > most_freedom)
		return exp(-at * at / 2) / sqrt(2 * pi);
	return exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)
	           - (freedom + 1) / 2 * log1p(at * at / freedom))
	       / sqrt(freedom * pi);
}

/* Newton's method, from 0: the tails are convex, so that no step goes too far. */
double opk_student_quantile(double level, double freedom)
{
	enum { MOST_STEPS = 200 };
	static const double precise = 1e-13;
	double at = 0, step = 1;

	for (int i = 0; i < MOST_STEPS && step > precise * at; i++) {
		step = (opk_student_tails(at, freedom) - (1 - level)) / (2 * density(at, freedom));
		at += step;
	}
	return at;
}
