/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of 64-bit entries as few bytes: hardware counts whole numbers, and averages over the
 * units of a chip are whole numbers over how many units there are.
 */
#include <math.h>
#include <string.h>

#include "baked/baked_inside.h"

enum {
	LOOKED_AT = 16, /* entries from which a denominator is found */
	MOST_DENOMINATOR = 1 << 20,
};

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t width_of(const uint64_t *numbers, size_t count)
{
	uint64_t all = 0;
	uint32_t width = 0;

	for (size_t i = 0; i < count; i++)
		all |= numbers[i];
	for (; all; all >>= 8)
		width++;
	return width;
}

void opk_numbers_put(struct opk_buf *out, const uint64_t *numbers, size_t count)
{
	opk_autofree uint8_t *plane = opk_realloc(NULL, count + 1);
	uint32_t width = width_of(numbers, count);

	out->failed |= !plane;
	opk_buf_add_u32(out, width);
	for (unsigned byte = 0; plane && byte < width; byte++) {
		for (size_t i = 0; i < count; i++)
			plane[i] = (uint8_t)(numbers[i] >> (8 * byte));
		opk_buf_add(out, plane, count);
	}
}

static const char wrong_length[] = "a column's bytes are not as many as its entries need";

static const char *get_numbers(uint64_t *numbers, size_t count, struct opk_reader *reader)
{
	uint32_t width = opk_read_u32(reader);
	const uint8_t *data = reader->data;

	if (reader->failed || width > sizeof *numbers || reader->left != count * width)
		return wrong_length;
	memset(numbers, 0, count * sizeof *numbers);
	for (unsigned byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			numbers[i] |= (uint64_t)*data++ << (8 * byte);
	return NULL;
}

int opk_differences_put(struct opk_buf *out, struct opk_ctx *ctx, const uint64_t *entries,
                        size_t count)
{
	opk_autofree uint64_t *numbers = opk_alloc_array(count + 1, sizeof *numbers);

	if (!numbers)
		return opk_nomem(ctx, "values");
	for (size_t i = 0; i < count; i++)
		numbers[i] = entries[i] - (i ? entries[i - 1] : 0);
	opk_numbers_put(out, numbers, count);
	return OPK_OK;
}

static const char *get_differences(uint64_t *entries, size_t count, struct opk_reader *reader)
{
	const char *wrong = get_numbers(entries, count, reader);

	for (size_t i = 1; !wrong && i < count; i++)
		entries[i] += entries[i - 1];
	return wrong;
}

/* ---- whole numbers, or NaN ------------------------------------------------------------------- */

static int64_t least_of(const int64_t *n, size_t count)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (n[i] != OPK_NO_NUMBER && n[i] < least)
			least = n[i];
	return least == INT64_MAX ? 0 : least;
}

int opk_whole_put(struct opk_buf *out, struct opk_ctx *ctx, const int64_t *n, size_t count)
{
	opk_autofree uint64_t *numbers = opk_alloc_array(count + 1, sizeof *numbers);
	uint64_t least = (uint64_t)least_of(n, count);

	if (!numbers)
		return opk_nomem(ctx, "values");
	for (size_t i = 0; i < count; i++)
		numbers[i] = n[i] == OPK_NO_NUMBER ? 0 : (uint64_t)n[i] - least + 1;
	opk_buf_add_u64(out, least);
	opk_numbers_put(out, numbers, count);
	return OPK_OK;
}

const char *opk_whole_get(int64_t *n, size_t count, struct opk_reader *reader)
{
	uint64_t least = opk_read_u64(reader), *numbers = (uint64_t *)n;
	const char *wrong = get_numbers(numbers, count, reader);

	for (size_t i = 0; !wrong && i < count; i++)
		n[i] = numbers[i] ? (int64_t)(least + numbers[i] - 1) : OPK_NO_NUMBER;
	return wrong;
}

/* ---- whole numbers over a denominator -------------------------------------------------------- */

/*
 * The least denominator with which a whole number gives the value again, by continued fractions; 0:
 * there is none.
 */
static uint32_t denominator_of(double value)
{
	double rest = value, before = 1, now = 0;

	for (int step = 0; step < 32; step++) {
		double whole = floor(rest), next = whole * now + before;

		before = now;
		now = next;
		if (now > MOST_DENOMINATOR)
			return 0;
		if (round(value * now) / now == value)
			return (uint32_t)now;
		if (rest == whole)
			return 0;
		rest = 1 / (rest - whole);
	}
	return 0;
}

uint64_t opk_greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* 0: some of the first values have none in common. */
static uint32_t find_denominator(const uint64_t *entries, size_t count)
{
	uint64_t common = 1;
	size_t looked = 0;

	for (size_t i = 0; i < count && looked < LOOKED_AT; i++) {
		double value = opk_double_of(entries[i]);
		uint32_t one;

		if (!isfinite(value) || value == round(value))
			continue;
		looked++;
		one = fabs(value) < OPK_MOST_EXACT ? denominator_of(fabs(value)) : 0;
		common = one ? common / opk_greatest_divisor(common, one) * one : 0;
		if (!common || common > MOST_DENOMINATOR)
			return 0;
	}
	return (uint32_t)common;
}

uint64_t opk_fraction_entry(int64_t n, uint32_t denominator)
{
	return n == OPK_NO_NUMBER ? OPK_NOT_A_NUMBER : opk_bits_of((double)n / denominator);
}

/* Fills in the numbers; false unless they give back every bit. */
static bool fill_fractions(struct opk_fractions *out, const uint64_t *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double value = opk_double_of(entries[i]), product = value * out->denominator;

		out->n[i] = OPK_NO_NUMBER;
		if (!isnan(value) && !(fabs(product) < OPK_MOST_EXACT))
			return false;
		if (!isnan(value))
			out->n[i] = llround(product);
		if (opk_fraction_entry(out->n[i], out->denominator) != entries[i])
			return false;
	}
	return true;
}

int opk_fractions_find(struct opk_fractions *out, struct opk_ctx *ctx, const uint64_t *entries,
                       size_t count)
{
	*out = (struct opk_fractions){ .denominator = find_denominator(entries, count) };
	if (!out->denominator)
		return OPK_OK;
	out->n = opk_alloc_array(count + 1, sizeof *out->n);
	if (!out->n)
		return opk_nomem(ctx, "values");
	if (!fill_fractions(out, entries, count))
		free(opk_take(out->n));
	return OPK_OK;
}

int opk_fractions_put(struct opk_buf *out, struct opk_ctx *ctx,
                      const struct opk_fractions *fractions, size_t count)
{
	opk_buf_add_u32(out, fractions->denominator);
	return opk_whole_put(out, ctx, fractions->n, count);
}

const char *opk_fractions_get(int64_t *n, uint32_t *denominator, size_t count,
                              const struct opk_stored_column *column)
{
	struct opk_reader reader = { .data = column->data, .left = column->size };

	*denominator = opk_read_u32(&reader);
	if (!reader.failed && !*denominator)
		return "a column has the denominator 0";
	return opk_whole_get(n, count, &reader);
}

static const char *decode_fractions(uint64_t *entries, size_t count,
                                    const struct opk_stored_column *column)
{
	int64_t *n = (int64_t *)entries;
	uint32_t denominator;
	const char *wrong = opk_fractions_get(n, &denominator, count, column);

	for (size_t i = 0; !wrong && i < count; i++)
		entries[i] = opk_fraction_entry(n[i], denominator);
	return wrong;
}

/* ---- all of them ----------------------------------------------------------------------------- */

const char *opk_column_decode(uint64_t *entries, int64_t *scratch, size_t count,
                              const struct opk_stored_column *columns, size_t column_count,
                              size_t at)
{
	const struct opk_stored_column *column = &columns[at];
	struct opk_reader reader = { .data = column->data, .left = column->size };

	switch (column->encoding) {
	case OPK_ENCODED_BITS:
		return get_numbers(entries, count, &reader);
	case OPK_ENCODED_FRACTIONS:
		return decode_fractions(entries, count, column);
	case OPK_ENCODED_DIFFERENCES:
		return get_differences(entries, count, &reader);
	case OPK_ENCODED_MULTIPLE:
		return opk_multiple_decode(entries, count, &reader, columns, column_count);
	case OPK_ENCODED_QUOTIENT:
		return opk_quotient_decode(entries, scratch, count, &reader, columns, column_count);
	default:
		return "a column is stored in a way that a later offpeak knows";
	}
}
