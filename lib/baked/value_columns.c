/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of 64-bit entries as few bytes: what hardware counts are whole numbers, and averages over
 * the units of a chip are whole numbers over their number.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "baked/baked.h"
#include "baked/baked_inside.h"

enum {
	LOOKED_AT = 16, /* entries from which a denominator is found */
	MOST_DENOMINATOR = 1 << 20,
};
static const uint64_t not_a_number = 0x7ff8000000000000;
static const double most_exact = 9007199254740992; /* 2^53 */

/* ---- bytes in planes ------------------------------------------------------------------------- */

/* The lowest byte of all numbers, then the next one, up to `width` bytes of each. */
static void put_planes(struct opk_buf *out, const uint64_t *numbers, size_t count, unsigned width)
{
	opk_autofree uint8_t *plane = opk_realloc(NULL, count + 1);

	if (!plane) {
		out->failed = true;
		return;
	}
	for (unsigned byte = 0; byte < width; byte++) {
		for (size_t i = 0; i < count; i++)
			plane[i] = (uint8_t)(numbers[i] >> (8 * byte));
		opk_buf_add(out, plane, count);
	}
}

static void get_planes(uint64_t *numbers, size_t count, unsigned width, const uint8_t *data)
{
	memset(numbers, 0, count * sizeof *numbers);
	for (unsigned byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			numbers[i] |= (uint64_t)*data++ << (8 * byte);
}

static unsigned width_of(const uint64_t *numbers, size_t count)
{
	uint64_t all = 0;
	unsigned width = 0;

	for (size_t i = 0; i < count; i++)
		all |= numbers[i];
	for (; all; all >>= 8)
		width++;
	return width;
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

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
	uint64_t x = a, y = b;

	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return a / x * b;
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
		one = fabs(value) < most_exact ? denominator_of(fabs(value)) : 0;
		common = one ? common_multiple(common, one) : 0;
		if (!common || common > MOST_DENOMINATOR)
			return 0;
	}
	return (uint32_t)common;
}

static uint64_t entry_of(uint64_t number, int64_t least, uint32_t denominator)
{
	if (!number)
		return not_a_number;
	return opk_bits_of((double)(int64_t)((uint64_t)least + number - 1) / denominator);
}

/* Finds the numbers; false unless they give back every bit. */
static bool find_numbers(uint64_t *numbers, int64_t *least, uint32_t *denominator,
                         const uint64_t *entries, size_t count)
{
	bool any = false;

	*denominator = find_denominator(entries, count);
	*least = 0;
	if (!*denominator)
		return false;
	for (size_t i = 0; i < count; i++) {
		double value = opk_double_of(entries[i]) * *denominator;
		int64_t number;

		if (isnan(value))
			continue;
		if (!(fabs(value) < most_exact))
			return false;
		number = llround(value);
		*least = !any || number < *least ? number : *least;
		any = true;
		numbers[i] = (uint64_t)number;
	}
	for (size_t i = 0; i < count; i++) {
		numbers[i] = isnan(opk_double_of(entries[i])) ? 0
		                                              : numbers[i] - (uint64_t)*least + 1;
		if (entry_of(numbers[i], *least, *denominator) != entries[i])
			return false;
	}
	return true;
}

static void put_numbers(struct opk_buf *out, const uint64_t *numbers, size_t count, int64_t least,
                        uint32_t denominator)
{
	unsigned width = width_of(numbers, count);

	opk_buf_add_u64(out, (uint64_t)least);
	opk_buf_add_u32(out, denominator);
	opk_buf_add_u32(out, width);
	put_planes(out, numbers, count, width);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static void put_plain(struct opk_buf *out, const uint64_t *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		opk_buf_add_u64(out, entries[i]);
}

static void put_differences(struct opk_buf *out, uint64_t *room, const uint64_t *entries,
                            size_t count)
{
	unsigned width;

	for (size_t i = 0; i < count; i++)
		room[i] = entries[i] - (i ? entries[i - 1] : 0);
	width = width_of(room, count);
	opk_buf_add_u64(out, width);
	put_planes(out, room, count, width);
}

/* Keeps the other encoding if it deflates to fewer bytes. */
static int keep_smaller(struct opk_buf *best, uint32_t *encoding, size_t *size,
                        struct opk_buf *other, uint32_t its, struct opk_ctx *ctx)
{
	opk_autofree void *packed = NULL;
	size_t packed_size;

	if (other->failed)
		return opk_nomem(ctx, "values");
	TRY(opk_deflate(&packed, &packed_size, ctx, other->data, other->size, true));
	if (packed_size >= *size)
		return OPK_OK;
	opk_buf_clear(best);
	*best = *other;
	*other = (struct opk_buf){ 0 };
	*encoding = its;
	*size = packed_size;
	return OPK_OK;
}

static int encode_doubles(struct opk_buf *best, uint32_t *encoding, struct opk_ctx *ctx,
                          uint64_t *room, const uint64_t *entries, size_t count)
{
	opk_autobuf struct opk_buf numbers = { 0 }, plain = { 0 }, planes = { 0 };
	size_t size = SIZE_MAX;
	uint32_t denominator;
	int64_t least;

	if (find_numbers(room, &least, &denominator, entries, count)) {
		put_numbers(&numbers, room, count, least, denominator);
		TRY(keep_smaller(best, encoding, &size, &numbers, OPK_ENCODED_NUMBERS, ctx));
		return OPK_OK;
	}
	put_plain(&plain, entries, count);
	TRY(keep_smaller(best, encoding, &size, &plain, OPK_ENCODED_PLAIN, ctx));
	put_planes(&planes, entries, count, sizeof *entries);
	return keep_smaller(best, encoding, &size, &planes, OPK_ENCODED_PLANES, ctx);
}

int opk_value_encode(uint32_t *encoding, struct opk_buf *out, struct opk_ctx *ctx,
                     const uint64_t *entries, size_t count, bool doubles)
{
	opk_autofree uint64_t *room = opk_alloc_array(count + 1, sizeof *room);
	opk_autobuf struct opk_buf best = { 0 };

	if (!room)
		return opk_nomem(ctx, "values");
	*encoding = OPK_ENCODED_DIFFERENCES;
	if (doubles)
		TRY(encode_doubles(&best, encoding, ctx, room, entries, count));
	else
		put_differences(&best, room, entries, count);
	opk_buf_add(out, best.data, best.size);
	return best.failed || out->failed ? opk_nomem(ctx, "values") : OPK_OK;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static const char wrong_length[] = "a column's bytes are not as many as its entries need";

static const char *decode_plain(uint64_t *entries, size_t count, struct opk_reader *reader)
{
	if (reader->left != count * sizeof *entries)
		return wrong_length;
	for (size_t i = 0; i < count; i++)
		entries[i] = opk_read_u64(reader);
	return NULL;
}

static const char *decode_planes(uint64_t *entries, size_t count, uint64_t width,
                                 const struct opk_reader *reader)
{
	if (width > sizeof *entries || reader->left != count * (size_t)width)
		return wrong_length;
	get_planes(entries, count, (unsigned)width, reader->data);
	return NULL;
}

static const char *decode_numbers(uint64_t *entries, size_t count, struct opk_reader *reader)
{
	int64_t least = (int64_t)opk_read_u64(reader);
	uint32_t denominator = opk_read_u32(reader), width = opk_read_u32(reader);
	const char *wrong = reader->failed ? wrong_length
	                                   : decode_planes(entries, count, width, reader);

	if (wrong)
		return wrong;
	if (!denominator)
		return "a column has the denominator 0";
	for (size_t i = 0; i < count; i++)
		entries[i] = entry_of(entries[i], least, denominator);
	return NULL;
}

static const char *decode_differences(uint64_t *entries, size_t count, struct opk_reader *reader)
{
	uint64_t width = opk_read_u64(reader);
	const char *wrong = reader->failed ? wrong_length
	                                   : decode_planes(entries, count, width, reader);

	for (size_t i = 1; !wrong && i < count; i++)
		entries[i] += entries[i - 1];
	return wrong;
}

const char *opk_value_decode(uint64_t *entries, size_t count, uint32_t encoding,
                             const uint8_t *data, size_t size)
{
	struct opk_reader reader = { .data = data, .left = size };

	switch (encoding) {
	case OPK_ENCODED_PLAIN:
		return decode_plain(entries, count, &reader);
	case OPK_ENCODED_PLANES:
		return decode_planes(entries, count, sizeof *entries, &reader);
	case OPK_ENCODED_NUMBERS:
		return decode_numbers(entries, count, &reader);
	case OPK_ENCODED_DIFFERENCES:
		return decode_differences(entries, count, &reader);
	default:
		return "a column is stored in a way that a later offpeak knows";
	}
}
