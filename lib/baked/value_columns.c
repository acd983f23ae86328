/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of 64-bit entries as few bytes: hardware counts whole numbers, and averages over the
 * units of a chip are whole numbers over how many units there are.
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
static const double most_exact = 9007199254740992; /* 2^53 */

/* ---- bytes in planes ------------------------------------------------------------------------- */

void opk_planes_put(struct opk_buf *out, const uint64_t *numbers, size_t count, unsigned width)
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

static void put_together(struct opk_buf *out, const uint64_t *numbers, size_t count, unsigned width)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned byte = 0; byte < width; byte++) {
			uint8_t one = (uint8_t)(numbers[i] >> (8 * byte));

			opk_buf_add(out, &one, 1);
		}
}

static void get_together(uint64_t *numbers, size_t count, unsigned width, const uint8_t *data)
{
	memset(numbers, 0, count * sizeof *numbers);
	for (size_t i = 0; i < count; i++)
		for (unsigned byte = 0; byte < width; byte++)
			numbers[i] |= (uint64_t)*data++ << (8 * byte);
}

static void get_planes(uint64_t *numbers, size_t count, unsigned width, const uint8_t *data)
{
	memset(numbers, 0, count * sizeof *numbers);
	for (unsigned byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			numbers[i] |= (uint64_t)*data++ << (8 * byte);
}

unsigned opk_planes_width(const uint64_t *numbers, size_t count)
{
	uint64_t all = 0;
	unsigned width = 0;

	for (size_t i = 0; i < count; i++)
		all |= numbers[i];
	for (; all; all >>= 8)
		width++;
	return width;
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

int opk_numbers_put(uint32_t *form, struct opk_buf *out, struct opk_ctx *ctx,
                    const uint64_t *numbers, size_t count)
{
	opk_autobuf struct opk_buf planes = { 0 }, together = { 0 }, best = { 0 };
	unsigned width = opk_planes_width(numbers, count);
	size_t size = SIZE_MAX;

	opk_planes_put(&planes, numbers, count, width);
	TRY(keep_smaller(&best, form, &size, &planes, width, ctx));
	put_together(&together, numbers, count, width);
	TRY(keep_smaller(&best, form, &size, &together, width | OPK_BYTES_TOGETHER, ctx));
	opk_buf_add(out, best.data, best.size);
	return out->failed ? opk_nomem(ctx, "values") : OPK_OK;
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
		one = fabs(value) < most_exact ? denominator_of(fabs(value)) : 0;
		common = one ? common / opk_greatest_divisor(common, one) * one : 0;
		if (!common || common > MOST_DENOMINATOR)
			return 0;
	}
	return (uint32_t)common;
}

uint64_t opk_whole_entry(int64_t n, uint32_t denominator)
{
	return n == OPK_NO_NUMBER ? OPK_NOT_A_NUMBER : opk_bits_of((double)n / denominator);
}

void opk_whole_clear(struct opk_whole *whole)
{
	free(whole->n);
	*whole = (struct opk_whole){ 0 };
}

/* Fills in the numbers; false unless they give back every bit. */
static bool fill_whole(struct opk_whole *whole, const uint64_t *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double value = opk_double_of(entries[i]), product = value * whole->denominator;

		whole->n[i] = OPK_NO_NUMBER;
		if (!isnan(value) && !(fabs(product) < most_exact))
			return false;
		if (!isnan(value))
			whole->n[i] = llround(product);
		if (opk_whole_entry(whole->n[i], whole->denominator) != entries[i])
			return false;
	}
	return true;
}

int opk_whole_find(struct opk_whole *whole, struct opk_ctx *ctx, const uint64_t *entries,
                   size_t count)
{
	*whole = (struct opk_whole){ .denominator = find_denominator(entries, count) };
	if (!whole->denominator)
		return OPK_OK;
	whole->n = opk_alloc_array(count + 1, sizeof *whole->n);
	if (!whole->n)
		return opk_nomem(ctx, "values");
	if (!fill_whole(whole, entries, count))
		opk_whole_clear(whole);
	return OPK_OK;
}

/* N is 0 for NaN, or else from 1 on. */
int opk_whole_numbers(uint64_t **out, int64_t *least, struct opk_ctx *ctx, const int64_t *n,
                      size_t count)
{
	uint64_t *numbers = *out = opk_alloc_array(count + 1, sizeof *numbers);
	bool any = false;

	if (!numbers)
		return opk_nomem(ctx, "values");
	*least = 0;
	for (size_t i = 0; i < count; i++) {
		if (n[i] == OPK_NO_NUMBER)
			continue;
		*least = !any || n[i] < *least ? n[i] : *least;
		any = true;
	}
	for (size_t i = 0; i < count; i++)
		numbers[i] = n[i] == OPK_NO_NUMBER ? 0 : (uint64_t)n[i] - (uint64_t)*least + 1;
	return OPK_OK;
}

int opk_whole_put(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_whole *whole,
                  size_t count)
{
	opk_autofree uint64_t *numbers = NULL;
	opk_autobuf struct opk_buf bytes = { 0 };
	uint32_t form = 0;
	int64_t least;

	TRY(opk_whole_numbers(&numbers, &least, ctx, whole->n, count));
	TRY(opk_numbers_put(&form, &bytes, ctx, numbers, count));
	opk_buf_add_u64(out, (uint64_t)least);
	opk_buf_add_u32(out, whole->denominator);
	opk_buf_add_u32(out, form);
	opk_buf_add(out, bytes.data, bytes.size);
	return OPK_OK;
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
	width = opk_planes_width(room, count);
	opk_buf_add_u64(out, width);
	opk_planes_put(out, room, count, width);
}

int opk_value_put_doubles(uint32_t *encoding, struct opk_buf *out, struct opk_ctx *ctx,
                          const uint64_t *entries, size_t count)
{
	opk_autobuf struct opk_buf plain = { 0 }, planes = { 0 }, best = { 0 };
	size_t size = SIZE_MAX;

	put_plain(&plain, entries, count);
	TRY(keep_smaller(&best, encoding, &size, &plain, OPK_ENCODED_PLAIN, ctx));
	opk_planes_put(&planes, entries, count, sizeof *entries);
	TRY(keep_smaller(&best, encoding, &size, &planes, OPK_ENCODED_PLANES, ctx));
	opk_buf_add(out, best.data, best.size);
	return OPK_OK;
}

int opk_value_put_differences(struct opk_buf *out, struct opk_ctx *ctx, const uint64_t *entries,
                              size_t count)
{
	opk_autofree uint64_t *room = opk_alloc_array(count + 1, sizeof *room);

	if (!room)
		return opk_nomem(ctx, "values");
	put_differences(out, room, entries, count);
	return OPK_OK;
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

/* `get` is get_planes() or get_together(). */
static const char *decode_bytes(uint64_t *entries, size_t count, uint64_t width,
                                const struct opk_reader *reader,
                                void get(uint64_t *, size_t, unsigned, const uint8_t *))
{
	if (width > sizeof *entries || reader->left != count * (size_t)width)
		return wrong_length;
	get(entries, count, (unsigned)width, reader->data);
	return NULL;
}

const char *opk_numbers_decode(int64_t *n, size_t count, int64_t least, uint32_t form,
                               const struct opk_reader *reader)
{
	uint64_t *numbers = (uint64_t *)n;
	const char *wrong = wrong_length;

	if (!reader->failed)
		wrong = decode_bytes(numbers, count, form & ~OPK_BYTES_TOGETHER, reader,
		                     form & OPK_BYTES_TOGETHER ? get_together : get_planes);

	for (size_t i = 0; !wrong && i < count; i++)
		n[i] = numbers[i] ? (int64_t)((uint64_t)least + numbers[i] - 1) : OPK_NO_NUMBER;
	return wrong;
}

const char *opk_whole_decode(int64_t *n, uint32_t *denominator, size_t count, const uint8_t *data,
                             size_t size)
{
	struct opk_reader reader = { .data = data, .left = size };
	int64_t least = (int64_t)opk_read_u64(&reader);
	uint32_t form;

	*denominator = opk_read_u32(&reader);
	form = opk_read_u32(&reader);
	if (!reader.failed && !*denominator)
		return "a column has the denominator 0";
	return opk_numbers_decode(n, count, least, form, &reader);
}

static const char *decode_numbers(uint64_t *entries, size_t count, const uint8_t *data, size_t size)
{
	int64_t *n = (int64_t *)entries;
	uint32_t denominator;
	const char *wrong = opk_whole_decode(n, &denominator, count, data, size);

	for (size_t i = 0; !wrong && i < count; i++)
		entries[i] = opk_whole_entry(n[i], denominator);
	return wrong;
}

static const char *decode_differences(uint64_t *entries, size_t count, struct opk_reader *reader)
{
	uint64_t width = opk_read_u64(reader);
	const char *wrong = reader->failed
	                            ? wrong_length
	                            : decode_bytes(entries, count, width, reader, get_planes);

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
		return decode_bytes(entries, count, sizeof *entries, &reader, get_planes);
	case OPK_ENCODED_NUMBERS:
		return decode_numbers(entries, count, data, size);
	case OPK_ENCODED_DIFFERENCES:
		return decode_differences(entries, count, &reader);
	default:
		return "a column is stored in a way that a later offpeak knows";
	}
}
