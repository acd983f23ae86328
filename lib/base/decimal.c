/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads numbers without regard to the locale. */
#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the 0 of "0x10" ends: only C reads this as hexadecimal. NULL: not hexadecimal. */
static const char *find_hexadecimal(const char *text)
{
	text += strspn(text, " \t\n\v\f\r");
	text += *text == '+' || *text == '-';
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 1 : NULL;
}

/* Whether any digit before the exponent is more than 0. */
static bool is_nonzero(const char *text, size_t length)
{
	size_t mantissa = strcspn(text, "eE"), zeros = strcspn(text, "123456789");

	return zeros < mantissa && zeros < length;
}

enum opk_decimal opk_decimal_read(double *out, size_t *length, const char *text)
{
	const char *hexadecimal = find_hexadecimal(text);
	locale_t c_locale;
	char *end;
	double value;

	*out = 0;
	*length = hexadecimal ? (size_t)(hexadecimal - text) : 0;
	if (hexadecimal)
		return OPK_DECIMAL_GOOD;
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return OPK_DECIMAL_NOMEM;
	value = strtod_l(text, &end, c_locale);
	freelocale(c_locale);
	if (end == text || isnan(value))
		return OPK_DECIMAL_NONE;
	if (isinf(value))
		return OPK_DECIMAL_LARGE;
	if (value == 0 && is_nonzero(text, (size_t)(end - text)))
		return OPK_DECIMAL_SMALL;
	*out = value;
	*length = (size_t)(end - text);
	return OPK_DECIMAL_GOOD;
}
