/* SPDX-License-Identifier: BSD-2-Clause */
/* Least, greatest and percentiles. */
#include "images/images.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void opk_sort_values(double *values, size_t count)
{
	qsort(values, count, sizeof *values, by_value);
}

double opk_quantile(const double *sorted, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t below = (size_t)place;
	double rest = place - (double)below;

	if (rest == 0 || sorted[below] == sorted[below + 1])
		return sorted[below];
	return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

void opk_statistics_spread(struct opk_statistics *out, const double *values, size_t count)
{
	struct opk_moments moments = { 0 };
	double within;

	for (size_t i = 0; i < count; i++)
		opk_moments_add(&moments, values[i]);
	out->std = opk_moments_deviation(&moments);
	within = out->weighted_by ? (double)NAN : opk_mean_within(&moments, 0.95);
	out->mean_low = out->mean - within;
	out->mean_high = out->mean + within;
}

void opk_statistics_order(struct opk_statistics *out, double *values, size_t count)
{
	bool known = count > 0;

	for (size_t i = 0; i < count; i++)
		known = known && !isnan(values[i]);
	out->min = out->max = out->p50 = out->p90 = out->p99 = (double)NAN;
	if (!known)
		return;
	opk_sort_values(values, count);
	out->min = values[0];
	out->max = values[count - 1];
	out->p50 = opk_quantile(values, count, 0.5);
	out->p90 = opk_quantile(values, count, 0.9);
	out->p99 = opk_quantile(values, count, 0.99);
}
