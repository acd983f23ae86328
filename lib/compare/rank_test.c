/* SPDX-License-Identifier: BSD-2-Clause */
/* Mann and Whitney's U test: whether one side's values tend to be greater. */
#include <math.h>
#include <string.h>

#include "compare/compare.h"

/* With more launches the exact distribution takes long, and the normal one is conservative. */
enum { MOST_EXACT = 500 };

struct ranked {
	double value;
	bool after;
};

struct ranks {
	size_t *doubled; /* one per value, in order: mean ranks of equal values, times two */
	size_t count, before, after;
	size_t sum;       /* of the lesser side */
	double ties;      /* sum of t^3 - t over values that t launches share */
	size_t mode;      /* launches with the most common value */
	size_t mode_less; /* launches with it on the lesser side */
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static size_t lesser(const struct ranks *ranks)
{
	return ranks->before < ranks->after ? ranks->before : ranks->after;
}

/* Gives equal values, from `first` to before `end`, their mean rank. */
static void rank_equals(struct ranks *ranks, const struct ranked *values, size_t first, size_t end)
{
	bool lesser_is_after = ranks->after < ranks->before;
	size_t equal = end - first, less = 0;

	for (size_t i = first; i < end; i++) {
		ranks->doubled[i] = first + end + 1;
		less += values[i].after == lesser_is_after;
	}
	ranks->sum += less * (first + end + 1);
	ranks->ties += (double)equal * (double)equal * (double)equal - (double)equal;
	if (equal > ranks->mode) {
		ranks->mode = equal;
		ranks->mode_less = less;
	}
}

static void rank(struct ranks *ranks, struct ranked *values)
{
	size_t end;

	qsort(values, ranks->count, sizeof *values, by_value);
	for (size_t first = 0; first < ranks->count; first = end) {
		for (end = first + 1;
		     end < ranks->count && values[end].value == values[first].value;)
			end++;
		rank_equals(ranks, values, first, end);
	}
}

/*
 * Among all ways to choose the lesser side's launches from all launches, the share whose sum of
 * ranks is at least as far from the mean. ways[k][s] counts the ways with k launches and the sum s.
 */
static double find_exact(const struct ranks *ranks, double *ways, size_t most)
{
	size_t chosen = lesser(ranks), width = most + 1;
	double mean = (double)chosen * (double)(ranks->count + 1), all = 0, far = 0;

	ways[0] = 1;
	for (size_t i = 0; i < ranks->count; i++) {
		size_t rank = ranks->doubled[i];

		for (size_t k = i + 1 < chosen ? i + 1 : chosen; k > 0; k--)
			for (size_t s = rank; s <= most; s++)
				ways[k * width + s] += ways[(k - 1) * width + s - rank];
	}
	for (size_t s = 0; s <= most; s++) {
		all += ways[chosen * width + s];
		if (fabs((double)s - mean) >= fabs((double)ranks->sum - mean))
			far += ways[chosen * width + s];
	}
	return far / all;
}

static bool test_exactly(double *out, const struct ranks *ranks)
{
	size_t chosen = lesser(ranks), most = 0;
	opk_autofree double *ways = NULL;

	for (size_t i = ranks->count - chosen; i < ranks->count; i++)
		most += ranks->doubled[i];
	ways = opk_alloc_array((chosen + 1) * (most + 1), sizeof *ways);
	if (!ways)
		return false;
	*out = find_exact(ranks, ways, most);
	return true;
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/*
 * Fisher's test of how many launches of each side have the most common value. If most have it, the
 * sum of ranks is far from normal: one different launch of ten against a thousand is likely.
 */
static double test_mode(const struct ranks *ranks)
{
	double count = (double)ranks->count, mode = (double)ranks->mode, k = (double)lesser(ranks);
	double all = log_choose(count, k), p = 0;
	double seen = log_choose(mode, (double)ranks->mode_less)
	              + log_choose(count - mode, k - (double)ranks->mode_less);

	for (double i = k > count - mode ? k - count + mode : 0; i <= k && i <= mode; i++) {
		double ways = log_choose(mode, i) + log_choose(count - mode, k - i);

		if (ways <= seen + 1e-9)
			p += exp(ways - all);
	}
	return p < 1 ? p : 1;
}

/* The normal approximation of the sum of ranks, corrected for ties and for whole steps. */
static double test_normally(const struct ranks *ranks)
{
	double n = (double)ranks->before, m = (double)ranks->after, count = (double)ranks->count;
	double variance = n * m / 12 * (count + 1 - ranks->ties / (count * (count - 1)));
	double mean = (double)lesser(ranks) * (count + 1) / 2;
	double far = fabs((double)ranks->sum / 2 - mean) - 0.5;

	return far > 0 && variance > 0 ? erfc(far / sqrt(2 * variance)) : 1;
}

static bool is_exact(size_t before, size_t after)
{
	return (before < after ? before : after) <= MOST_EXACT / (before + after);
}

static bool test(double *out, struct ranks *ranks, struct ranked *values)
{
	double mode;

	rank(ranks, values);
	if (is_exact(ranks->before, ranks->after))
		return test_exactly(out, ranks);
	*out = test_normally(ranks);
	mode = 2 * ranks->mode >= ranks->count ? test_mode(ranks) : 0;
	*out = *out > mode ? *out : mode;
	return true;
}

bool opk_rank_test(double *out, const double *before, size_t before_count, const double *after,
                   size_t after_count)
{
	size_t count = before_count + after_count;
	opk_autofree struct ranked *values = opk_alloc_array(count + 1, sizeof *values);
	opk_autofree size_t *doubled = opk_alloc_array(count + 1, sizeof *doubled);
	struct ranks ranks = {
		.doubled = doubled, .count = count, .before = before_count, .after = after_count
	};

	if (!values || !doubled)
		return false;
	for (size_t i = 0; i < count; i++) {
		values[i].after = i >= before_count;
		values[i].value = values[i].after ? after[i - before_count] : before[i];
	}
	return test(out, &ranks, values);
}

double opk_rank_test_least(size_t before, size_t after)
{
	double n = (double)before, m = (double)after;

	if (!before || !after)
		return 1;
	if (is_exact(before, after))
		return fmin(1, 2 * exp(-log_choose(n + m, n)));
	return erfc((n * m / 2 - 0.5) / sqrt(n * m * (n + m + 1) / 6));
}
