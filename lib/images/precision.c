/* SPDX-License-Identifier: BSD-2-Clause */
/* How well the launches that were recorded tell the mean of a metric. */
#include <math.h>

#include "base/student.h"
#include "images/door.h"

/* ---- mean and deviation ----------------------------------------------------------------- */

/* Welford's method: equal values have no deviation at all. */
void opk_moments_add(struct opk_moments *moments, double value)
{
	double distance = value - moments->mean;

	moments->count++;
	moments->mean += distance / (double)moments->count;
	moments->squares += distance * (value - moments->mean);
}

void opk_moments_merge(struct opk_moments *moments, const struct opk_moments *other)
{
	double count = (double)(moments->count + other->count);
	double distance = other->mean - moments->mean;

	if (!other->count)
		return;
	moments->mean += distance * (double)other->count / count;
	moments->squares += other->squares
	                    + distance * distance * (double)moments->count * (double)other->count
	                              / count;
	moments->count += other->count;
}

double opk_moments_deviation(const struct opk_moments *moments)
{
	return moments->count > 1 ? sqrt(moments->squares / ((double)moments->count - 1))
	                          : (double)NAN;
}

/* ---- the mean's interval ---------------------------------------------------------------- */

static double half_width(double spread, double count, double level)
{
	return spread * opk_student_quantile(level, count - 1) / sqrt(count);
}

/* Counts up from what a known deviation needs: a few less, or the same if it is large. */
static uint64_t find_needed(double spread, double level, double within)
{
	static const double large = 1e7, most = 1e18;
	double normal = opk_student_quantile(level, (double)INFINITY) * spread / within;
	double count = fmax(2, floor(normal * normal));

	if (count > large)
		return (uint64_t)fmin(count + 1, most);
	while (half_width(spread, count, level) > within)
		count++;
	return (uint64_t)count;
}

/*
 * Two launches may have equal times by chance, because clocks have steps. A counter that two
 * launches left at 0 was not touched.
 */
static uint64_t launches_of_constant(double mean)
{
	return mean == 0 ? 2 : 3;
}

double opk_mean_within(const struct opk_moments *moments, double level)
{
	double deviation = opk_moments_deviation(moments);

	if (deviation == 0)
		return moments->count < launches_of_constant(moments->mean) ? (double)NAN : 0;
	return isnan(deviation) ? (double)NAN
	                        : half_width(deviation, (double)moments->count, level);
}

void opk_precision_find(struct opk_precision *out, uint64_t count, double mean, double deviation,
                        double level, double within)
{
	*out = (struct opk_precision){ (double)NAN, (double)NAN, 0 };
	if (count < 2 || !isfinite(mean) || !isfinite(deviation) || (mean == 0 && deviation > 0))
		return;
	if (deviation == 0) {
		out->needed = launches_of_constant(mean);
		out->spread = 0;
		out->half_width = count < out->needed ? (double)NAN : 0;
		return;
	}
	out->spread = 100 * deviation / fabs(mean);
	out->half_width = half_width(out->spread, (double)count, level);
	out->needed = find_needed(out->spread, level, within);
}
