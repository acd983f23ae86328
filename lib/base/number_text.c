/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes numbers in decimal, exactly. */
#include "base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The parts of a double: 1 is MANTISSA_ONE with this exponent. */
enum { DIGITS = 17, MANTISSA_BITS = 52, EXPONENT_OF_ONE = 1023 };
#define MANTISSA_ONE (UINT64_C(1) << MANTISSA_BITS)

typedef unsigned __int128 wide;

/* Writes digits backwards from `end`, two at a time; returns their beginning. */
static char *put_backwards(char *end, uint64_t number)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";

	for (; number >= 100; number /= 100)
		end = memcpy(end - 2, pairs + number % 100 * 2, 2);
	if (number >= 10)
		return memcpy(end - 2, pairs + number * 2, 2);
	*--end = (char)('0' + number);
	return end;
}

size_t opk_format_u64(char out[OPK_NUMBER_SIZE], uint64_t number)
{
	char text[OPK_NUMBER_SIZE], *end = text + sizeof text;
	char *begin = put_backwards(end, number);
	size_t length = (size_t)(end - begin);

	memcpy(out, begin, length);
	out[length] = '\0';
	return length;
}

/* 10^0 to 10^38, of which uint64_t holds the first 20. */
static wide power_of_ten(int n)
{
	static const uint64_t powers[] = { 1u,
		                           10u,
		                           100u,
		                           1000u,
		                           10000u,
		                           100000u,
		                           1000000u,
		                           10000000u,
		                           100000000u,
		                           1000000000u,
		                           10000000000u,
		                           100000000000u,
		                           1000000000000u,
		                           10000000000000u,
		                           100000000000000u,
		                           1000000000000000u,
		                           10000000000000000u,
		                           100000000000000000u,
		                           1000000000000000000u,
		                           10000000000000000000u };

	return n < 20 ? powers[n] : (wide)powers[19] * powers[n - 19];
}

/* mantissa * 10^decimals / 2^shift, rounded to the nearest integer, half to even. */
static uint64_t scale(uint64_t mantissa, int shift, int decimals)
{
	wide product = mantissa * power_of_ten(decimals);
	wide whole = product >> shift, half = (wide)1 << (shift - 1);
	wide rest = product - (whole << shift);

	return (uint64_t)(whole + (rest > half || (rest == half && (whole & 1))));
}

/* Writes DIGITS digits, `decimals` of them after the point, without trailing zeros. */
static size_t put_decimals(char *out, uint64_t digits, int decimals)
{
	char text[OPK_NUMBER_SIZE], *end = text + sizeof text, *begin;
	int before;

	while (digits % 10 == 0) {
		digits /= 10;
		decimals--;
	}
	begin = put_backwards(end, digits);
	/* 0.00012 has more decimals than digits. */
	while (end - begin <= decimals)
		*--begin = '0';
	before = (int)(end - begin) - decimals;
	memcpy(out, begin, (size_t)before);
	out[before] = '.';
	memcpy(out + before + 1, end - decimals, (size_t)decimals);
	out[before + 1 + decimals] = '\0';
	return (size_t)(before + 1 + decimals);
}

/*
 * Writes fractions that have no exponent in "%.17g", from 0.0001 to 10^17; returns 0 for others.
 * Such a number is a 53-bit mantissa over a power of two, multiplied by at most 10^21 < 2^70: the
 * product fits 128 bits, so all of this is exact.
 */
static size_t put_fraction(char *out, double number)
{
	uint64_t bits, mantissa, digits;
	int shift, decimals;

	if (!(number >= 1e-4 && number < 1e17))
		return 0;
	memcpy(&bits, &number, sizeof bits);
	mantissa = (bits & (MANTISSA_ONE - 1)) | MANTISSA_ONE;
	shift = EXPONENT_OF_ONE + MANTISSA_BITS - (int)(bits >> MANTISSA_BITS);
	/* log10(2) is about 78913 / 2^18: the exponent is right, or one too low. */
	decimals = DIGITS - (((MANTISSA_BITS - shift) * 78913) >> 18);
	do {
		digits = scale(mantissa, shift, --decimals);
	} while (digits >= (uint64_t)power_of_ten(DIGITS));
	return put_decimals(out, digits, decimals);
}

size_t opk_format_double(char out[OPK_NUMBER_SIZE], double number)
{
	double magnitude = fabs(number);
	size_t negative = signbit(number) && !isnan(number), length;

	*out = '-';
	/* Most numbers are counts. */
	if (magnitude < 1e17 && magnitude == (double)(uint64_t)magnitude)
		return negative + opk_format_u64(out + negative, (uint64_t)magnitude);
	length = put_fraction(out + negative, magnitude);
	if (length)
		return negative + length;
	return (size_t)snprintf(out, OPK_NUMBER_SIZE, "%.17g", number);
}
