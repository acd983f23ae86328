/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text, compared with printf(). */
#include <inttypes.h>
#include <math.h>

#include "base/number_text.h"
#include "testing.h"

enum { RANDOM = 1000000, FACTOR = 3 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Without check's assertions, each of which takes longer than the comparison. */
static void compare(double number)
{
	char got[OPK_NUMBER_SIZE], wanted[OPK_NUMBER_SIZE];
	size_t length = opk_format_double(got, number);

	snprintf(wanted, sizeof wanted, "%.17g", number);
	if (strcmp(got, wanted) || length != strlen(wanted))
		ck_abort_msg("%s, %zu bytes, instead of %s", got, length, wanted);
}

/* Compares the number, its negative, and its neighbours. */
static void compare_around(double number)
{
	compare(number);
	compare(-number);
	compare(nextafter(number, (double)INFINITY));
	compare(nextafter(number, -(double)INFINITY));
}

TEST(special_numbers)
{
	static const double numbers[] = {
		0,
		1,
		0.1,
		0.5,
		1.0 / 3,
		2.0 / 3,
		1e-4,
		1e-5,
		9.9999e-5,
		1e15,
		1e16,
		1e17,
		1e18,
		1e22,
		1e23,
		5e-324,
		2.2250738585072014e-308,
		1.7976931348623157e308,
		0x1p52,
		0x1p53,
		0x1p54,
		0x1p63,
		0x1p64,
		4503599627370495.5,
		9007199254740993.0,
		99999999999999999.0,
		0.99999999999999989,
		9.9999999999999982,
		123456.75,
		0.000123,
		1000000000000000.125,
		0.3,
		2.5,
		100,
	};

	for (size_t i = 0; i < COUNT(numbers); i++)
		compare_around(numbers[i]);
	compare((double)INFINITY);
	compare(-(double)INFINITY);
	compare((double)NAN);
	compare(-(double)NAN);
}

/* Numbers at which the digits, the form or the exponent change. */
TEST(powers)
{
	for (int i = -1074; i < 1024; i++)
		compare_around(ldexp(1, i));
	for (int i = -323; i < 309; i++) {
		char text[16];

		snprintf(text, sizeof text, "1e%d", i);
		compare_around(strtod(text, NULL));
		snprintf(text, sizeof text, "5e%d", i);
		compare_around(strtod(text, NULL));
	}
}

/* Halves of the last digit: of two equally near numbers the even one is chosen. */
TEST(ties)
{
	for (int shift = 1; shift < 60; shift++)
		for (int i = 0; i < (int)enough(20000); i++)
			compare(ldexp((double)((next() >> (11 + i % 50)) | 1), -shift));
}

TEST(any_bits)
{
	for (int i = 0; i < (int)enough(RANDOM) * FACTOR; i++) {
		uint64_t bits = next();
		double number;

		memcpy(&number, &bits, sizeof number);
		compare(number);
	}
}

/* Typical of metrics: counts, rates, percentages. */
TEST(usual_numbers)
{
	for (int i = 0; i < (int)enough(RANDOM); i++) {
		uint64_t a = next() >> (next() % 64), b = (next() >> (next() % 64)) | 1;

		compare((double)a);
		compare((double)a / (double)b);
		compare(100.0 * (double)(a % b) / (double)b);
		compare((double)(int64_t)next());
	}
}

/* Few digits: many zeros at the end. */
TEST(short_numbers)
{
	for (int i = 0; i < (int)enough(RANDOM); i++)
		compare((double)(next() % 100000) / 1000.0);
	for (int i = 0; i < (int)enough(RANDOM); i++)
		compare((double)(next() % 100000) / 1e8);
}

TEST(whole_numbers)
{
	char got[OPK_NUMBER_SIZE], wanted[OPK_NUMBER_SIZE];

	for (int i = 0; i < (int)enough(RANDOM); i++) {
		uint64_t number = i < 1000    ? (uint64_t)i
		                  : i == 1000 ? UINT64_MAX
		                              : next() >> (i % 64);
		size_t length = opk_format_u64(got, number);

		snprintf(wanted, sizeof wanted, "%" PRIu64, number);
		if (strcmp(got, wanted) || length != strlen(wanted))
			ck_abort_msg("%s, %zu bytes, instead of %s", got, length, wanted);
	}
}

SUITE(.seconds = 300);
