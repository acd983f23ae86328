/* SPDX-License-Identifier: BSD-2-Clause */
#include "nsight/section_scan.h"

#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "nsight/section_fail.h"

bool opk_scan_at_end(const struct opk_scan *s)
{
	return s->at >= s->size;
}

char opk_scan_peek(const struct opk_scan *s)
{
	return s->at < s->size ? s->text[s->at] : '\0';
}

void opk_scan_next(struct opk_scan *s)
{
	char c = opk_scan_peek(s);

	s->at++;
	s->place.line += c == '\n';
	/* A character, not a byte, is a column. */
	s->place.column = c == '\n' ? 1 : s->place.column + ((c & 0xc0) != 0x80);
}

bool opk_scan_accept(struct opk_scan *s, char c)
{
	if (opk_scan_at_end(s) || opk_scan_peek(s) != c)
		return false;
	opk_scan_next(s);
	return true;
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

void opk_scan_skip(struct opk_scan *s)
{
	while (is_one_of(opk_scan_peek(s), " \t\r\n\f\v#"))
		if (opk_scan_peek(s) == '#')
			while (!opk_scan_at_end(s) && opk_scan_peek(s) != '\n')
				opk_scan_next(s);
		else
			opk_scan_next(s);
}

static int copy_from(struct opk_scan *s, char **out, size_t start)
{
	*out = opk_strndup(s->text + start, s->at - start);
	return *out ? OPK_OK : opk_nomem(s->ctx, "a section");
}

int opk_scan_name(struct opk_scan *s, char **out)
{
	char c = opk_scan_peek(s);
	size_t start = s->at;

	if (c == '[')
		return opk_fail_at(s->ctx, &s->place, "an extension's name is not understood here");
	if (!opk_is_letter(c))
		return c > ' ' && c < 0x7f
		               ? opk_fail_at(s->ctx, &s->place,
		                             "a field's name is needed here, not '%c'", c)
		               : opk_fail_at(s->ctx, &s->place, "a field's name is needed here");
	while (opk_in_name(opk_scan_peek(s)))
		opk_scan_next(s);
	return copy_from(s, out, start);
}

static size_t digits(const char **text)
{
	size_t count = opk_span(*text, opk_is_digit);

	*text += count;
	return count;
}

/* Without its sign: 12, 0x1f, 1.5, .5, 2e-3, 1.5f. */
static bool is_number(const char *text)
{
	size_t count;

	if (text[0] == '0' && (text[1] | 32) == 'x') {
		for (text += 2, count = 0; opk_hex_digit(*text) >= 0; text++)
			count++;
		return count && !*text;
	}
	count = digits(&text);
	if (*text == '.') {
		text++;
		count += digits(&text);
	}
	if (count && (*text | 32) == 'e') {
		text += 1 + is_one_of(text[1], "+-");
		count = digits(&text);
	}
	return count && (!*text || !strcmp(text, "f") || !strcmp(text, "F"));
}

int opk_scan_word(struct opk_scan *s, char **out, const char *name)
{
	struct opk_place place = s->place;
	size_t start = s->at;
	const char *word;
	int code;

	if (opk_scan_peek(s) == '-')
		opk_scan_next(s);
	if (!opk_in_full_name(opk_scan_peek(s)))
		return opk_fail_at(s->ctx, &s->place, "a value is needed after %s:", name);
	/* The sign of an exponent belongs to a number. */
	while (opk_in_full_name(opk_scan_peek(s))
	       || (is_one_of(opk_scan_peek(s), "+-") && (s->text[s->at - 1] | 32) == 'e'))
		opk_scan_next(s);
	code = copy_from(s, out, start);
	if (code)
		return code;
	word = *out + (**out == '-');
	if (is_number(word) || (opk_is_letter(*word) && !strpbrk(word, ".+-")))
		return OPK_OK;
	return opk_fail_at(s->ctx, &place, "'%s' is neither a number nor a name; text has quotes",
	                   *out);
}

static bool add_code_point(struct opk_buf *out, unsigned long code)
{
	char bytes[4];
	size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = count; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(lead[count] | code);
	opk_buf_add(out, bytes, count);
	return opk_utf8_length((unsigned char *)bytes, count) == count;
}

/* Up to `most` digits of a base; false where there are fewer than `least`. */
static bool read_digits(struct opk_scan *s, unsigned long *out, unsigned base, size_t least,
                        size_t most)
{
	size_t count = 0;

	for (*out = 0; count < most; count++) {
		int digit = opk_hex_digit(opk_scan_peek(s));

		if (digit < 0 || (unsigned)digit >= base)
			break;
		*out = *out * base + (unsigned)digit;
		opk_scan_next(s);
	}
	return count >= least;
}

/* Behind the backslash. */
static int scan_escape(struct opk_scan *s, struct opk_buf *out)
{
	static const char from[] = "abfnrtv?\\'\"", to[] = "\a\b\f\n\r\t\v?\\'\"";
	char c = opk_scan_peek(s), byte;
	unsigned long code = 0;
	bool good;

	if (is_one_of(c, from)) {
		opk_scan_next(s);
		opk_buf_add(out, &to[strchr(from, c) - from], 1);
		return OPK_OK;
	}
	if (is_one_of(c, "xXuU"))
		opk_scan_next(s);
	good = c == 'u'             ? read_digits(s, &code, 16, 4, 4)
	       : c == 'U'           ? read_digits(s, &code, 16, 8, 8)
	       : is_one_of(c, "xX") ? read_digits(s, &code, 16, 1, 2)
	                            : read_digits(s, &code, 8, 1, 3) && code < 0x100;
	byte = (char)code;
	if (good && code && (c | 32) == 'u')
		good = code < 0x110000 && add_code_point(out, code);
	else if (good && code)
		opk_buf_add(out, &byte, 1);
	return good && code ? OPK_OK
	                    : opk_fail_at(s->ctx, &s->place,
	                                  good ? "a NUL character in a string"
	                                       : "unknown escape in a string");
}

/* Bytes may be escaped one by one, so the string is looked at when it is whole. */
static bool is_utf8(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = opk_utf8_length(text + i, size - i);

		if (!length)
			return false;
		i += length;
	}
	return true;
}

int opk_scan_string(struct opk_scan *s, struct opk_buf *out)
{
	struct opk_place place = s->place;
	char quote = opk_scan_peek(s);
	size_t start = out->size;
	int code = OPK_OK;

	opk_scan_next(s);
	while (!code && opk_scan_peek(s) != quote) {
		char c = opk_scan_peek(s);

		if (opk_scan_at_end(s) || c == '\n') {
			return opk_fail_at(s->ctx, &place,
			                   "a string that is not closed on its line");
		}
		if (!c)
			return opk_fail_at(s->ctx, &s->place, "a NUL character in a string");
		opk_scan_next(s);
		if (c == '\\')
			code = scan_escape(s, out);
		else
			opk_buf_add(out, &c, 1);
	}
	if (code)
		return code;
	opk_scan_next(s);
	if (out->failed)
		return opk_nomem(s->ctx, "a section");
	if (out->size == start || is_utf8(out->data + start, out->size - start))
		return OPK_OK;
	return opk_fail_at(s->ctx, &place, "this string is not UTF-8");
}
