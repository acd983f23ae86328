/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells launches of the same kernel apart that are unlike: those of different sizes that have one
 * grid, or that a kernel before them delays by what it left to be written.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/fit.h"

enum { LEAST_APART = OPK_FIT_LEAST, MOST_SPLITS = 3 };
/*
 * Lengths are of two kinds if this share of their variance is between the two, which is 0.64 for
 * normally distributed ones and 0.75 for uniformly distributed ones, and if they differ by so much.
 */
static const double MOST_WITHIN_ONE = 0.8, LEAST_DIFFERENCE = 1.04;

struct launch {
	uint32_t unit, number;
	double length;
};

static int by_unit_and_length(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Where launches, shortest first, are best divided into two kinds; 0: they are of one kind. */
static size_t find_split(const struct launch *launches, size_t count)
{
	double sum = 0, squares = 0, lower = 0, most = 0, variance;
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		sum += launches[i].length;
		squares += launches[i].length * launches[i].length;
	}
	variance = squares - sum * sum / (double)count;
	for (size_t i = 1; i < count; i++) {
		double low, high, between;

		lower += launches[i - 1].length;
		low = lower / (double)i;
		high = (sum - lower) / (double)(count - i);
		between = (high - low) * (high - low) * (double)i * (double)(count - i)
		          / (double)count;
		if (between > most && high > low * LEAST_DIFFERENCE) {
			most = between;
			best = i;
		}
	}
	return most > MOST_WITHIN_ONE * variance && best >= LEAST_APART
	                       && count - best >= LEAST_APART
	               ? best
	               : 0;
}

static void split(uint32_t *unit_of, size_t *units, const struct launch *launches, size_t count,
                  int splits)
{
	size_t at = splits && count >= 2 * (size_t)LEAST_APART ? find_split(launches, count) : 0;

	if (!at)
		return;
	for (size_t i = at; i < count; i++)
		unit_of[launches[i].number] = (uint32_t)*units;
	++*units;
	split(unit_of, units, launches, at, splits - 1);
	split(unit_of, units, launches + at, count - at, splits - 1);
}

int opk_units_split(uint32_t *unit_of, size_t *unit_count, struct opk_ctx *ctx,
                    const struct opk_stretch *stretches, size_t count)
{
	opk_autofree struct launch *launches = opk_alloc_array(count + 1, sizeof *launches);

	if (!launches)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++)
		launches[i] = (struct launch){ unit_of[i], (uint32_t)i,
			                       (double)(stretches[i].end - stretches[i].start) };
	qsort(launches, count, sizeof *launches, by_unit_and_length);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && launches[end].unit == launches[i].unit;)
			end++;
		split(unit_of, unit_count, launches + i, end - i, MOST_SPLITS);
	}
	return OPK_OK;
}
