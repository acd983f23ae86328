/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and units as ncu prints them, in any locale and scaled for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/decimal.h"
#include "ncu/report.h"

/* ---- numbers */

/* A number has fewer characters, also with marks between its thousands. */
enum { MAX_NUMBER = 100 };

/* A number in parts: "-1.234.567,89e3". */
struct parts {
	char plain[MAX_NUMBER + 1]; /* its sign and digits, with marks ',' and '.' alone */
	size_t commas, points;
	const char *last;  /* the last mark; NULL: there is none */
	size_t before;     /* digits before the first mark */
	size_t after;      /* digits after the last mark */
	bool leading_zero; /* the first digit is 0, and a mark follows */
	long exponent;
};

/* The length of a mark between thousands that is never a decimal mark; 0: it is not one. */
static size_t spacing(const char *text)
{
	static const char *const marks[] = { "'", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf", " " };

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (!strncmp(text, marks[i], strlen(marks[i])))
			return strlen(marks[i]);
	return 0;
}

static size_t exponent_length(const char *text)
{
	size_t sign = text[0] && (text[1] == '+' || text[1] == '-') ? 2 : 1;
	size_t digits = *text == 'e' || *text == 'E' ? opk_span(text + sign, opk_is_digit) : 0;

	return digits ? sign + digits : 0;
}

/* False: the text does not begin with a number. *rest is what follows it. */
static bool divide(struct parts *out, const char **rest, const char *text)
{
	size_t size = 0, exponent;

	*out = (struct parts){ 0 };
	if (*text == '-' || *text == '+')
		out->plain[size++] = *text++;
	if (!opk_is_digit(*text))
		return false;
	while (size < MAX_NUMBER - 10) {
		size_t space = spacing(text);

		if (opk_is_digit(*text)) {
			out->before += !out->last;
			out->after++;
		} else if ((*text == ',' || *text == '.') && opk_is_digit(text[1])) {
			out->leading_zero |= !out->last && out->before == 1 && text[-1] == '0';
			out->last = &out->plain[size];
			out->commas += *text == ',';
			out->points += *text == '.';
			out->after = 0;
		} else if (space && opk_is_digit(text[space]) && size && out->before) {
			text += space;
			continue;
		} else {
			break;
		}
		out->plain[size++] = *text++;
	}
	exponent = exponent_length(text);
	if (exponent > 6)
		return false;
	out->exponent = exponent ? strtol(text + 1, NULL, 10) : 0;
	*rest = text + exponent;
	return true;
}

/* Whether a single mark can only be the decimal one: thousands have 3 digits after theirs. */
static bool is_decimal(const struct parts *parts)
{
	return parts->after != 3 || parts->before > 3 || parts->leading_zero || parts->exponent;
}

/* The text after ncu's mark of a value that may be wrong, "(!) ". */
static const char *after_mark(const char *text)
{
	return text + (strncmp(text, "(!) ", 4) ? 0 : 4);
}

void opk_printed_learn(struct opk_printed *printed, const char *text, size_t line)
{
	struct parts parts;
	const char *rest;
	bool comma, point;

	if (!divide(&parts, &rest, after_mark(text)) || !parts.last)
		return;
	if (parts.commas && parts.points) {
		comma = *parts.last == ',';
		point = !comma;
	} else {
		bool several = parts.commas + parts.points > 1;

		if (parts.points && !several && !is_decimal(&parts) && !printed->open_line)
			printed->open_line = line;
		comma = parts.commas ? !several && is_decimal(&parts) : several;
		point = parts.points ? !several && is_decimal(&parts) : several;
	}
	if (comma && !printed->comma_line)
		printed->comma_line = line;
	if (point && !printed->point_line)
		printed->point_line = line;
}

/* Removes the marks between thousands, which have 3 digits after them, or 2 in India. */
static bool plain_number(char out[MAX_NUMBER + 20], const struct parts *parts, char decimal,
                         int power)
{
	size_t size = 0, digits = 0;
	bool grouped = false, fraction = false;

	for (const char *c = parts->plain; *c; c++) {
		bool mark = *c == ',' || *c == '.';

		if (mark && *c != decimal) {
			if (fraction || (grouped && (digits < 2 || digits > 3)))
				return false;
			grouped = true;
			digits = 0;
			continue;
		}
		if (mark) {
			if (fraction || (grouped && digits != 3))
				return false;
			fraction = true;
		} else if (!fraction && opk_is_digit(*c)) {
			digits++;
		}
		out[size++] = mark ? '.' : *c;
	}
	snprintf(out + size, 20, "e%ld", parts->exponent + power);
	return fraction || !grouped || digits == 3;
}

bool opk_printed_is_none(const char *text)
{
	static const char *const none[] = { "", "n/a", "nan", "-nan", "-nan(ind)" };

	text = after_mark(text);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (!strcasecmp(text, none[i]))
			return true;
	return false;
}

/* "inf", "-inf", "Infinity"; 0: it is not one. */
static double infinity_of(const char *word)
{
	double sign = *word == '-' ? -1 : 1;

	word += *word == '-' || *word == '+';
	return strcasecmp(word, "inf") && strcasecmp(word, "infinity") ? 0
	                                                               : sign * (double)INFINITY;
}

enum opk_printed_kind opk_printed_read(double *out, const struct opk_printed *printed,
                                       const char *text, int power)
{
	char plain[MAX_NUMBER + 20];
	struct parts parts;
	const char *rest;
	size_t length;

	*out = (double)NAN;
	text = after_mark(text);
	if (opk_printed_is_none(text))
		return OPK_PRINTED_NONE;
	if (infinity_of(text) != 0) {
		*out = infinity_of(text);
		return OPK_PRINTED_NUMBER;
	}
	if (!divide(&parts, &rest, text) || (*rest && strncmp(rest, " (", 2) != 0)
	    || !plain_number(plain, &parts, printed->comma_line ? ',' : '.', power)
	    || opk_decimal_read(out, &length, plain) != OPK_DECIMAL_GOOD || plain[length]) {
		*out = (double)NAN;
		return OPK_PRINTED_TEXT;
	}
	return OPK_PRINTED_NUMBER;
}

/* ---- units */

struct word {
	const char *theirs, *ours, *plural;
	int power;       /* of ten: values with this word before the '/' are multiplied with it */
	bool has_prefix; /* K, M, G, T and P may be before it */
};

static const struct word words[] = {
	{ "%", "percent", "percent", 0, false },
	{ "byte", "byte", "bytes", 0, true },
	{ "inst", "instruction", "instructions", 0, true },
	{ "block", "cta", "ctas", 0, true },
	{ "thread", "thread", "threads", 0, true },
	{ "warp", "warp", "warps", 0, true },
	{ "register", "register", "registers", 0, true },
	{ "sector", "sector", "sectors", 0, true },
	{ "request", "request", "requests", 0, true },
	{ "cycle", "cycle", "cycles", 0, true },
	{ "hz", "cycle/second", "cycles/second", 0, true },
	{ "ns", "nanosecond", "nanoseconds", 0, false },
	{ "us", "nanosecond", "nanoseconds", 3, false },
	{ "ms", "nanosecond", "nanoseconds", 6, false },
	{ "s", "nanosecond", "nanoseconds", 9, false },
	{ "nsecond", "nanosecond", "nanoseconds", 0, false },
	{ "usecond", "nanosecond", "nanoseconds", 3, false },
	{ "msecond", "nanosecond", "nanoseconds", 6, false },
	{ "second", "nanosecond", "nanoseconds", 9, false },
};

/* 3 for K, and so on; for bytes, too: ncu prints 64 KiB as 65.54 Kbyte. 0: it is not a prefix. */
static int prefix_power(char c)
{
	static const char prefixes[] = "KMGTP";
	const char *found = c ? strchr(prefixes, c == 'k' ? 'K' : c) : NULL;

	return found ? 3 * ((int)(found - prefixes) + 1) : 0;
}

static const struct word *find_word(int *power, const char *text, size_t size)
{
	for (size_t skip = 0; skip < 2 && size > skip; skip++) {
		int prefix = skip ? prefix_power(*text) : 0;

		for (size_t i = 0; (!skip || prefix) && i < sizeof words / sizeof *words; i++) {
			if ((skip && !words[i].has_prefix) || strlen(words[i].theirs) != size - skip
			    || strncmp(words[i].theirs, text + skip, size - skip) != 0)
				continue;
			*power = words[i].power + prefix;
			return &words[i];
		}
	}
	return NULL;
}

/* Adds a word; rates are a second's, and times are in nanoseconds. False: it is not known. */
static bool put_word(struct opk_buf *out, int *power, const char *text, size_t size, bool divisor)
{
	int own = 0;
	const struct word *word = find_word(&own, text, size);

	if (!word && size == 1 && *text == '1' && !divisor) {
		opk_buf_add_text(out, "1");
		return true;
	}
	if (!word)
		return false;
	if (divisor && !strcmp(word->ours, "nanosecond")) {
		opk_buf_add_text(out, "/second");
		*power += 9 - own;
	} else {
		opk_buf_add_printf(out, "%s%s", divisor ? "/" : "",
		                   divisor ? word->ours : word->plural);
		*power += divisor ? -own : own;
	}
	return true;
}

char *opk_printed_unit(int *power, const char *text)
{
	opk_autobuf struct opk_buf out = { 0 };

	*power = 0;
	for (const char *at = text; *at;) {
		size_t size = strcspn(at, "/");

		if (!put_word(&out, power, at, size, at > text)) {
			*power = 0;
			return opk_strdup(text);
		}
		at += size + (at[size] == '/');
	}
	return opk_buf_take_text(&out);
}
