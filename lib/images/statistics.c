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

/* In proportion between the two values next to the place; exact if they are equal, or infinite. */
static double percentile(const double *sorted, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t below = (size_t)place;
	double rest = place - (double)below;

	if (rest == 0 || sorted[below] == sorted[below + 1])
		return sorted[below];
	return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

void opk_statistics_order(struct opk_statistics *out, double *values, size_t count)
{
	bool known = count > 0;

	for (size_t i = 0; i < count; i++)
		known = known && !isnan(values[i]);
	out->min = out->max = out->p50 = out->p90 = out->p99 = (double)NAN;
	if (!known)
		return;
	qsort(values, count, sizeof *values, by_value);
	out->min = values[0];
	out->max = values[count - 1];
	out->p50 = percentile(values, count, 0.5);
	out->p90 = percentile(values, count, 0.9);
	out->p99 = percentile(values, count, 0.99);
}
