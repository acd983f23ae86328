/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the changes that exceed the differences between launches. */
#include <math.h>
#include <string.h>

#include "compare/compare.h"

const char *opk_verdict_name(enum opk_verdict verdict)
{
	static const char *const names[] = {
		[OPK_VERDICT_SAME] = "same",       [OPK_VERDICT_NOISE] = "noise",
		[OPK_VERDICT_CHANGED] = "changed", [OPK_VERDICT_TOO_FEW] = "too few",
		[OPK_VERDICT_NAN] = "nan",         [OPK_VERDICT_MISSING] = "missing",
		[OPK_VERDICT_CLOCK] = "clock",
	};

	return names[verdict];
}

/* ---- one side --------------------------------------------------------------------------- */

static double mean(const struct opk_compared_values *side)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < side->count; i++) {
		sum += side->values[i] * (double)side->weights[i];
		weight += (double)side->weights[i];
	}
	return sum / weight;
}

/* For values of several launches each, or of different kernels, a median means little. */
static bool is_weighted(const struct opk_compared_values *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (side->weights[i] > 1)
			return true;
	return side->mixed;
}

static void describe(struct opk_diff_side *out, struct opk_compared_values *side, bool weighted)
{
	bool known = side->count > 0;

	*out = (struct opk_diff_side){ side->count, (double)NAN, (double)NAN, (double)NAN };
	for (size_t i = 0; i < side->count; i++)
		known &= !isnan(side->values[i]);
	if (!known)
		return;
	out->value = weighted ? mean(side) : 0;
	opk_sort_values(side->values, side->count);
	if (!weighted)
		out->value = opk_quantile(side->values, side->count, 0.5);
	if (side->count < 2)
		return;
	out->low = opk_quantile(side->values, side->count, 0.25);
	out->high = opk_quantile(side->values, side->count, 0.75);
}

/* ---- both ------------------------------------------------------------------------------- */

/* NaN if either is infinite: a percentage would mean nothing. */
static double change_of(double before, double after)
{
	if (!isfinite(before) || !isfinite(after))
		return (double)NAN;
	if (before == after)
		return 0;
	if (before == 0)
		return after > 0 ? (double)INFINITY : (double)-INFINITY;
	return 100 * (after - before) / fabs(before);
}

static bool has_spread(const struct opk_compared_values *side)
{
	return side->values[0] != side->values[side->count - 1];
}

/* Without spread on both sides no test is needed: TOO_FEW, and p is NaN. */
bool opk_compare_values(struct opk_diff_value *out, struct opk_compared_values sides[OPK_SIDES])
{
	struct opk_compared_values *before = &sides[OPK_BEFORE], *after = &sides[OPK_AFTER];
	/* A median can't be compared with the mean of several launches. */
	bool weighted = is_weighted(before) || is_weighted(after);

	*out = (struct opk_diff_value){ .p = (double)NAN, .clock = (double)NAN };
	describe(&out->before, before, weighted);
	describe(&out->after, after, weighted);
	out->change = change_of(out->before.value, out->after.value);
	if (!before->count || !after->count) {
		out->verdict = OPK_VERDICT_MISSING;
		return true;
	}
	if (isnan(out->before.value) || isnan(out->after.value)) {
		out->verdict = OPK_VERDICT_NAN;
		return true;
	}
	out->has_spread = has_spread(before) || has_spread(after);
	out->verdict = OPK_VERDICT_TOO_FEW;
	if (!out->has_spread && before->values[0] == after->values[0])
		out->verdict = OPK_VERDICT_SAME;
	else if (before->count > 1 && after->count > 1)
		return opk_rank_test(&out->p, before->values, before->count, after->values,
		                     after->count);
	return true;
}

/* ---- code ------------------------------------------------------------------------------- */

/* Overwrites the samples by rates; samples of a side without any exposure are missing. */
static void describe_counts(struct opk_diff_side *out, struct opk_counted *side, bool sampled)
{
	double samples = 0, exposure = 0;

	for (size_t i = 0; i < side->count; i++) {
		samples += side->samples[i];
		exposure += side->exposures[i];
		side->samples[i] /= side->exposures[i];
	}
	*out = (struct opk_diff_side){ .count = (uint64_t)(sampled ? samples : exposure),
		                       .value = side->count ? samples / exposure : (double)NAN,
		                       .low = (double)NAN,
		                       .high = (double)NAN };
	if (side->count < 2)
		return;
	opk_sort_values(side->samples, side->count);
	out->low = opk_quantile(side->samples, side->count, 0.25);
	out->high = opk_quantile(side->samples, side->count, 0.75);
}

/* Exact counts need no test: noise is what recordings of one side differ by as well. */
static enum opk_verdict judge_exact(const struct opk_counted *a, const struct opk_counted *b)
{
	double least = fmin(a->samples[0], b->samples[0]);
	double most = fmax(a->samples[a->count - 1], b->samples[b->count - 1]);
	bool apart = a->samples[a->count - 1] < b->samples[0]
	             || b->samples[b->count - 1] < a->samples[0];

	return least == most ? OPK_VERDICT_SAME : apart ? OPK_VERDICT_CHANGED : OPK_VERDICT_NOISE;
}

void opk_compare_counts(struct opk_diff_value *out, struct opk_counted sides[OPK_SIDES],
                        const struct opk_dispersion *dispersion)
{
	struct opk_counted *before = &sides[OPK_BEFORE], *after = &sides[OPK_AFTER];
	struct opk_rate_result result = { .p = (double)NAN };
	bool missing = !before->count || !after->count;

	if (dispersion && !missing)
		opk_rate_test(&result, sides, dispersion);
	*out = (struct opk_diff_value){ .p = result.p,
		                        .least = result.least,
		                        .by_student = result.by_student,
		                        .clock = (double)NAN,
		                        .has_spread = dispersion && !missing };
	describe_counts(&out->before, before, dispersion != NULL);
	describe_counts(&out->after, after, dispersion != NULL);
	out->change = change_of(out->before.value, out->after.value);
	out->verdict = missing ? OPK_VERDICT_MISSING : OPK_VERDICT_TOO_FEW;
	if (!missing && (!dispersion || (out->before.value == 0 && out->after.value == 0)))
		out->verdict = judge_exact(before, after);
}

/* ---- all of them ------------------------------------------------------------------------ */

struct tested {
	struct opk_diff_value *value;
	double least;        /* the least possible p */
	double beyond_clock; /* p without the clock's part; NaN: unknown */
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct tested *)a)->value->p, y = ((const struct tested *)b)->value->p;

	return (x > y) - (x < y);
}

/* Times of two launches may be equal by chance: they are multiples of 32 ns. */
enum { CONSTANT = 3 };

static bool is_constant(const struct opk_diff_value *value)
{
	return value->before.count >= CONSTANT && value->after.count >= CONSTANT
	       && !value->has_spread;
}

/*
 * The verdict for more than noise: the clock if it can cause a change as large, or if the rest is
 * noise, so that p without the clock's part is above the limit.
 */
static enum opk_verdict changed(const struct opk_diff_value *value, double beyond_clock,
                                double limit)
{
	double part = value->clock / value->change;

	return part >= 1 || beyond_clock > limit ? OPK_VERDICT_CLOCK : OPK_VERDICT_CHANGED;
}

/*
 * A counter with the same value in each launch of a row, and without spread in all other rows, does
 * not vary: a difference is a change.
 */
static void judge_constant(const struct opk_compared_table *table, size_t column)
{
	struct opk_diff_value *values = table->values + column;
	bool spread = false;

	for (size_t i = 0; i < table->rows; i++)
		spread |= values[i * table->columns].has_spread;
	for (size_t i = 0; !spread && i < table->rows; i++) {
		struct opk_diff_value *value = &values[i * table->columns];

		if (value->verdict == OPK_VERDICT_TOO_FEW && is_constant(value))
			value->verdict = changed(value, (double)NAN, 0);
	}
}

/* Whether the value needs a test that is not made yet. */
static bool is_tested(const struct opk_compared_table *table, size_t i)
{
	return table->values[i].verdict == OPK_VERDICT_TOO_FEW
	       && !(table->hidden && table->hidden[i % table->columns]);
}

static void count(struct opk_diff_summary *summary, const struct opk_diff_value *value,
                  bool foremost)
{
	uint64_t before = value->before.count, after = value->after.count;
	uint64_t least = before < after ? before : after, most = before + after - least;

	if (!summary->launches_most || least < summary->launches_least)
		summary->launches_least = least;
	if (most > summary->launches_most)
		summary->launches_most = most;
	if (foremost)
		summary->foremost.compared++;
	else
		summary->others.compared++;
}

/* The foremost family is smaller, and matters more. */
static void divide_level(struct opk_diff_summary *summary)
{
	bool both = summary->foremost.compared && summary->others.compared;

	summary->foremost.level = summary->level * (both ? 0.8 : 1);
	summary->others.level = summary->level * (both ? 0.2 : 1);
}

static void count_all(struct opk_diff_summary *summary, const struct opk_compared_table *table)
{
	for (size_t i = 0; i < table->rows * table->columns; i++)
		if (is_tested(table, i))
			count(summary, &table->values[i], table->foremost[i % table->columns]);
	divide_level(summary);
}

/* Lists a family's values for which a test of their launches could find a change. */
static size_t list_tested(struct tested *out, const struct opk_compared_table *table, bool foremost,
                          double level)
{
	size_t found = 0;

	for (size_t i = 0; i < table->rows * table->columns; i++) {
		struct opk_diff_value *value = &table->values[i];
		double least = value->least > 0 ? value->least
		                                : opk_rank_test_least(value->before.count,
		                                                      value->after.count);

		if (table->foremost[i % table->columns] == foremost && least <= level
		    && is_tested(table, i) && !isnan(value->p))
			out[found++] = (struct tested){ value, least,
				                        table->beyond_clock ? table->beyond_clock[i]
				                                            : (double)NAN };
	}
	return found;
}

/*
 * Benjamini and Hochberg: at most the share `level` of the changes found is false. If nothing has
 * changed, that is the probability of finding any change.
 */
static void judge_tested(struct tested *tested, size_t count, double level)
{
	size_t found = 0;
	double limit;

	qsort(tested, count, sizeof *tested, by_p);
	for (size_t i = 0; i < count; i++)
		if (tested[i].value->p <= level * (double)(i + 1) / (double)count)
			found = i + 1;
	limit = level * (double)found / (double)count;
	for (size_t i = 0; i < count; i++)
		if (i < found)
			tested[i].value->verdict = changed(tested[i].value, tested[i].beyond_clock,
			                                   limit);
		else if (tested[i].least <= level / (double)count)
			tested[i].value->verdict = OPK_VERDICT_NOISE;
}

/* How many launches per side are needed to detect a single change among so many comparisons. */
static size_t find_needed(const struct opk_diff_family *family, bool sampled)
{
	double level = family->level / (double)(family->compared ? family->compared : 1);
	size_t count = 2;

	/* All samples may be of one side. */
	if (sampled)
		return (size_t)ceil(log2(2 / level));
	while (opk_rank_test_least(count, count) > level)
		count++;
	return count;
}

static void judge_family(struct opk_diff_family *family, struct tested *room,
                         const struct opk_compared_table *table, bool foremost)
{
	size_t count = list_tested(room, table, foremost, family->level);

	family->launches_needed = find_needed(family, table->sampled);
	judge_tested(room, count, family->level);
}

int opk_find_verdicts(struct opk_diff_summary *summary, struct opk_ctx *ctx,
                      const struct opk_compared_table *table)
{
	size_t all = table->rows * table->columns;
	opk_autofree struct tested *room = opk_alloc_array(all + 1, sizeof *room);

	if (!room)
		return opk_nomem(ctx, "a comparison");
	for (size_t i = 0; i < table->columns; i++)
		judge_constant(table, i);
	count_all(summary, table);
	judge_family(&summary->foremost, room, table, true);
	judge_family(&summary->others, room, table, false);
	/* If both sides lack a value, it is not compared. */
	for (size_t i = 0; i < all; i++)
		if ((table->values[i].before.count || table->values[i].after.count)
		    && !(table->hidden && table->hidden[i % table->columns]))
			summary->verdicts[table->values[i].verdict]++;
	return OPK_OK;
}
