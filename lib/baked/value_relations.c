/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns that follow from others: counters, averages over units and shares of a peak have whole
 * numbers in common. NVIDIA's libraries divide (k / I) by (q / I), for the I instances of a unit.
 */
#include <math.h>
#include <string.h>

#include "baked/baked_inside.h"

enum {
	FEW = 4,              /* with fewer entries a column's own bytes are as few */
	MOST_PER_CYCLE = 128, /* what a peak may count in a cycle, a power of two */
	LOOKED_AT = 8,        /* entries that are tried before all */
	MOST_INSTANCES = 1023 /* of a unit, without factors of two, which change no bit */
};
static const double factors[] = { 100, 1, 1e9 };

static int64_t multiple_of(int64_t n, const struct opk_multiple *multiple)
{
	if (n == OPK_NO_NUMBER)
		return n;
	return (int64_t)((uint64_t)n * multiple->m) / (int64_t)multiple->d;
}

static uint64_t quotient_of(int64_t k, int64_t q, const struct opk_quotient *as)
{
	double value;

	if (k == OPK_NO_NUMBER || q == OPK_NO_NUMBER)
		return OPK_NOT_A_NUMBER;
	/* CUPTI gives 0 of samples in which nothing was counted. */
	if (!k && !q)
		return 0;
	value = as->factor * (((double)k / as->instances) / ((double)q / as->under_instances));
	return isnan(value) ? OPK_NOT_A_NUMBER : opk_bits_of(value);
}

/* ---- multiples ------------------------------------------------------------------------------- */

/* The first number that is neither 0 nor NaN gives the ratio. */
static bool find_ratio(struct opk_multiple *out, const int64_t *n, const int64_t *base,
                       size_t count)
{
	size_t i = 0;
	uint64_t divisor;

	while (i < count && (n[i] == 0 || n[i] == OPK_NO_NUMBER))
		i++;
	if (i == count || base[i] <= 0 || n[i] < 0)
		return false;
	divisor = opk_greatest_divisor((uint64_t)n[i], (uint64_t)base[i]);
	if ((uint64_t)n[i] / divisor > UINT32_MAX || (uint64_t)base[i] / divisor > UINT32_MAX)
		return false;
	out->m = (uint32_t)((uint64_t)n[i] / divisor);
	out->d = (uint32_t)((uint64_t)base[i] / divisor);
	return true;
}

static bool is_multiple(struct opk_multiple *out, const int64_t *n, const int64_t *base,
                        size_t count)
{
	if (!find_ratio(out, n, base, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (multiple_of(base[i], out) != n[i])
			return false;
	return true;
}

/* Looks among the columns before `end` that have numbers of their own. */
static bool find_multiple(struct opk_multiple *out, const struct opk_relation *all, size_t end,
                          const int64_t *n, size_t count)
{
	for (size_t i = 0; i < end; i++) {
		struct opk_multiple one = { .base = (uint32_t)i };

		if (all[i].encoding == OPK_ENCODED_FRACTIONS
		    && is_multiple(&one, n, all[i].own.n, count)) {
			*out = one;
			return true;
		}
	}
	return false;
}

static bool is_constant(const int64_t *n, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (n[i] != n[0])
			return false;
	return true;
}

/* ---- quotients ------------------------------------------------------------------------------- */

/* k, as far as rounding allows; OPK_NO_NUMBER: there is none. */
static int64_t numerator_of(double value, int64_t q, double factor)
{
	double product = value * (double)q / factor;

	if (!(fabs(product) < OPK_MOST_EXACT)
	    || fabs(product - round(product)) > 1e-6 + 1e-12 * fabs(product))
		return OPK_NO_NUMBER;
	return llround(product);
}

struct sample {
	uint64_t entry;
	int64_t k, q;
};

/* Some entries that tell; none if one of them is not a quotient by these q. */
static size_t take_samples(struct sample samples[LOOKED_AT], const uint64_t *entries,
                           const int64_t *q, size_t count, const struct opk_quotient *as)
{
	size_t taken = 0;

	for (size_t i = 0; i < count && taken < LOOKED_AT; i++) {
		double value = opk_double_of(entries[i]);

		if (isnan(value) || value == 0)
			continue;
		if (q[i] <= 0)
			return 0;
		samples[taken].entry = entries[i];
		samples[taken].q = multiple_of(q[i], &as->under);
		samples[taken].k = numerator_of(value, samples[taken].q, as->factor);
		if (samples[taken++].k == OPK_NO_NUMBER)
			return 0;
	}
	return taken;
}

static bool fits_samples(const struct sample *samples, size_t count, const struct opk_quotient *as)
{
	for (size_t i = 0; i < count; i++)
		if (quotient_of(samples[i].k, samples[i].q, as) != samples[i].entry)
			return false;
	return true;
}

static bool fill_quotient(struct opk_quotient *out, const uint64_t *entries, const int64_t *n,
                          size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t q = multiple_of(n[i], &out->under);
		double value = opk_double_of(entries[i]);

		out->k[i] = isnan(value) || q == OPK_NO_NUMBER
		                    ? OPK_NO_NUMBER
		                    : numerator_of(value, q, out->factor);
		if (quotient_of(out->k[i], q, out) != entries[i])
			return false;
	}
	return true;
}

static bool is_quotient_of(struct opk_quotient *out, const uint64_t *entries, const int64_t *n,
                           size_t count)
{
	struct sample samples[LOOKED_AT];
	size_t taken = take_samples(samples, entries, n, count, out);

	for (out->instances = 1; taken && out->instances <= MOST_INSTANCES; out->instances += 2) {
		out->under_instances = out->instances;
		if (fits_samples(samples, taken, out) && fill_quotient(out, entries, n, count))
			return true;
		/* A mean over instances in a time. */
		out->under_instances = 1;
		if (fits_samples(samples, taken, out) && fill_quotient(out, entries, n, count))
			return true;
	}
	return false;
}

/* By the numbers of this column. The samples rule out most columns and numbers of instances. */
static bool is_quotient(struct opk_quotient *out, const uint64_t *entries,
                        const struct opk_relation *by, size_t number, size_t count)
{
	if (by->encoding != OPK_ENCODED_FRACTIONS)
		return false;
	out->under = (struct opk_multiple){ .base = (uint32_t)number, .d = 1 };
	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		out->factor = factors[i];
		for (unsigned per_cycle = 1; per_cycle <= MOST_PER_CYCLE; per_cycle *= 2) {
			out->under.m = by->common * per_cycle;
			if (is_quotient_of(out, entries, by->own.n, count))
				return true;
		}
	}
	return false;
}

static int find_quotient(struct opk_relation *all, size_t column, struct opk_ctx *ctx,
                         const struct opk_value_table *table)
{
	opk_autofree int64_t *k = opk_alloc_array(table->count + 1, sizeof *k);
	const uint64_t *entries = table->columns[column].entries;
	struct opk_relation *one = &all[column];
	size_t i = 0;

	if (!k)
		return opk_nomem(ctx, "values");
	one->quotient.k = k;
	while (i < table->column_count
	       && !is_quotient(&one->quotient, entries, &all[i], i, table->count))
		i++;
	one->quotient.k = NULL;
	if (i == table->column_count)
		return OPK_OK;
	one->encoding = OPK_ENCODED_QUOTIENT;
	all[i].used = true;
	if (find_multiple(&one->quotient.over, all, table->column_count, k, table->count))
		all[one->quotient.over.base].used = true;
	else
		one->quotient.k = opk_take(k);
	return OPK_OK;
}

/* ---- all columns ----------------------------------------------------------------------------- */

/* Nothing reads the numbers themselves: their common factor goes into the quotients. */
static void divide(struct opk_relation *relation, size_t count)
{
	const uint64_t most = UINT32_MAX / MOST_PER_CYCLE;
	int64_t *n = relation->own.n;
	uint64_t common = 0;

	for (size_t i = 0; i < count; i++)
		if (n[i] != OPK_NO_NUMBER)
			common = opk_greatest_divisor((uint64_t)llabs(n[i]), common);
	if (common < 2 || common > most)
		return;
	for (size_t i = 0; i < count; i++)
		if (n[i] != OPK_NO_NUMBER)
			n[i] /= (int64_t)common;
	relation->common = (uint32_t)common;
}

static int find_numbers(struct opk_relation *all, size_t column, struct opk_ctx *ctx,
                        const struct opk_value_table *table)
{
	struct opk_relation *one = &all[column];

	TRY(opk_fractions_find(&one->own, ctx, table->columns[column].entries, table->count));
	if (!one->own.n)
		return OPK_OK;
	one->encoding = OPK_ENCODED_FRACTIONS;
	one->common = 1;
	if (table->columns[column].role == OPK_VALUE_HELP)
		divide(one, table->count);
	if (table->count < FEW || is_constant(one->own.n, table->count)
	    || !find_multiple(&one->multiple, all, column, one->own.n, table->count))
		return OPK_OK;
	one->encoding = OPK_ENCODED_MULTIPLE;
	all[one->multiple.base].used = true;
	return OPK_OK;
}

int opk_relations_find(struct opk_relation **out, struct opk_ctx *ctx,
                       const struct opk_value_table *table)
{
	struct opk_relation *all = *out = opk_alloc_array(table->column_count + 1, sizeof *all);

	if (!all)
		return opk_nomem(ctx, "values");
	for (size_t i = 0; i < table->column_count; i++)
		if (opk_is_of_doubles(table->columns[i].role))
			TRY(find_numbers(all, i, ctx, table));
	for (size_t i = 0; i < table->column_count && table->count >= FEW; i++)
		if (table->columns[i].role == OPK_VALUE_METRIC && !all[i].own.n)
			TRY(find_quotient(all, i, ctx, table));
	return OPK_OK;
}

void opk_relations_free(struct opk_relation *relations, size_t count)
{
	for (size_t i = 0; relations && i < count; i++) {
		free(relations[i].own.n);
		free(relations[i].quotient.k);
	}
	free(relations);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_multiple(struct opk_buf *out, const struct opk_multiple *multiple, uint32_t number)
{
	opk_buf_add_u32(out, number);
	opk_buf_add_u32(out, multiple->m);
	opk_buf_add_u32(out, multiple->d);
}

static int put_quotient(struct opk_buf *out, struct opk_ctx *ctx,
                        const struct opk_quotient *quotient, const uint32_t *numbers, size_t count)
{
	bool own = quotient->k != NULL;

	put_multiple(out, &quotient->under, numbers[quotient->under.base]);
	put_multiple(out, &quotient->over, own ? 0 : numbers[quotient->over.base] + 1);
	opk_buf_add_u32(out, quotient->instances);
	opk_buf_add_u32(out, quotient->under_instances);
	opk_buf_add_u64(out, opk_bits_of(quotient->factor));
	return own ? opk_whole_put(out, ctx, quotient->k, count) : OPK_OK;
}

int opk_relation_put(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_relation *relation,
                     const uint32_t *numbers, size_t count)
{
	switch (relation->encoding) {
	case OPK_ENCODED_MULTIPLE:
		put_multiple(out, &relation->multiple, numbers[relation->multiple.base]);
		opk_buf_add_u32(out, relation->own.denominator);
		return OPK_OK;
	case OPK_ENCODED_QUOTIENT:
		return put_quotient(out, ctx, &relation->quotient, numbers, count);
	default:
		return opk_fractions_put(out, ctx, &relation->own, count);
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char bad_divisor[] = "a column is divided by 0",
		  bad_length[] = "a column's bytes are not as many as it needs";

/* Fills in the numbers of a multiple of another column. */
static const char *read_multiple(int64_t *n, const struct opk_multiple *multiple, size_t count,
                                 const struct opk_stored_column *columns, size_t column_count)
{
	uint32_t denominator;
	const char *wrong;

	if (multiple->base >= column_count
	    || columns[multiple->base].encoding != OPK_ENCODED_FRACTIONS)
		return "a column is computed from one that has no whole numbers";
	if (!multiple->d)
		return bad_divisor;
	wrong = opk_fractions_get(n, &denominator, count, &columns[multiple->base]);
	for (size_t i = 0; !wrong && i < count; i++)
		n[i] = multiple_of(n[i], multiple);
	return wrong;
}

static struct opk_multiple get_multiple(struct opk_reader *reader)
{
	struct opk_multiple multiple = { .base = opk_read_u32(reader) };

	multiple.m = opk_read_u32(reader);
	multiple.d = opk_read_u32(reader);
	return multiple;
}

const char *opk_multiple_decode(uint64_t *entries, size_t count, struct opk_reader *reader,
                                const struct opk_stored_column *columns, size_t column_count)
{
	struct opk_multiple multiple = get_multiple(reader);
	uint32_t denominator = opk_read_u32(reader);
	int64_t *n = (int64_t *)entries;
	const char *wrong;

	if (reader->failed || reader->left)
		return bad_length;
	if (!denominator)
		return bad_divisor;
	wrong = read_multiple(n, &multiple, count, columns, column_count);
	for (size_t i = 0; !wrong && i < count; i++)
		entries[i] = opk_fraction_entry(n[i], denominator);
	return wrong;
}

static const char *read_over(int64_t *k, struct opk_multiple *over, size_t count,
                             struct opk_reader *reader, const struct opk_stored_column *columns,
                             size_t column_count)
{
	if (!over->base)
		return opk_whole_get(k, count, reader);
	if (reader->left)
		return bad_length;
	over->base--;
	return read_multiple(k, over, count, columns, column_count);
}

const char *opk_quotient_decode(uint64_t *entries, int64_t *scratch, size_t count,
                                struct opk_reader *reader, const struct opk_stored_column *columns,
                                size_t column_count)
{
	int64_t *k = (int64_t *)entries, *q = scratch;
	struct opk_quotient quotient;
	const char *wrong;

	quotient.under = get_multiple(reader);
	quotient.over = get_multiple(reader);
	quotient.instances = opk_read_u32(reader);
	quotient.under_instances = opk_read_u32(reader);
	quotient.factor = opk_double_of(opk_read_u64(reader));
	if (reader->failed)
		return bad_length;
	if (!quotient.instances || !quotient.under_instances)
		return bad_divisor;
	wrong = read_multiple(q, &quotient.under, count, columns, column_count);
	if (!wrong)
		wrong = read_over(k, &quotient.over, count, reader, columns, column_count);
	for (size_t i = 0; !wrong && i < count; i++)
		entries[i] = quotient_of(k[i], q[i], &quotient);
	return wrong;
}
