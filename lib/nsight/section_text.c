/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses protobuf's text format: characters, then fields. */
#include "nsight/nsight.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/problems.h"
#include "base/utf8.h"

enum { MAX_DEPTH = 32, MAX_FIELDS = 200000 };

struct scanner {
	struct opk_ctx *ctx;
	const char *text;
	size_t size, at;
	struct opk_place place; /* of the byte `at` */
	size_t fields;          /* number of fields so far */
	int code;               /* of the first failure, which ends the text */
};

/* ---- characters */

static void end(struct scanner *s, int code)
{
	s->code = code;
	s->at = s->size;
}

#define fail(s, place, ...) end(s, opk_fail_at((s)->ctx, place, __VA_ARGS__))

static void end_without_memory(struct scanner *s)
{
	end(s, opk_nomem(s->ctx, "a section"));
}

static bool at_end(const struct scanner *s)
{
	return s->at >= s->size;
}

/* The next character; '\0' at the end. */
static char peek(const struct scanner *s)
{
	return s->at < s->size ? s->text[s->at] : '\0';
}

static void next(struct scanner *s)
{
	char c = peek(s);

	s->at++;
	s->place.line += c == '\n';
	/* Columns count characters, not bytes. */
	s->place.column = c == '\n' ? 1 : s->place.column + ((c & 0xc0) != 0x80);
}

static bool accept(struct scanner *s, char c)
{
	if (at_end(s) || peek(s) != c)
		return false;
	next(s);
	return true;
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* Skips blanks and comments. */
static void skip(struct scanner *s)
{
	while (is_one_of(peek(s), " \t\r\n\f\v#"))
		if (peek(s) == '#')
			while (!at_end(s) && peek(s) != '\n')
				next(s);
		else
			next(s);
}

/* The text since `start`; NULL when out of memory, which ends the text. */
static char *copy_from(struct scanner *s, size_t start)
{
	char *copy = opk_strndup(s->text + start, s->at - start);

	if (!copy)
		end_without_memory(s);
	return copy;
}

/* ---- names and values */

/* The name of a field, free(); NULL: the text ended. */
static char *read_name(struct scanner *s)
{
	char c = peek(s);
	size_t start = s->at;

	if (opk_is_letter(c)) {
		while (opk_in_name(peek(s)))
			next(s);
		return copy_from(s, start);
	}
	if (c == '[')
		fail(s, &s->place, "an extension's name is not understood here");
	else if (c > ' ' && c < 0x7f)
		fail(s, &s->place, "a field's name is needed here, not '%c'", c);
	else
		fail(s, &s->place, "a field's name is needed here");
	return NULL;
}

static size_t digits(const char **text)
{
	size_t count = opk_span(*text, opk_is_digit);

	*text += count;
	return count;
}

/* Whether a text is a number without a sign: 12, 0x1f, 1.5, .5, 2e-3, 1.5f. */
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

/* A number or the name of an enum's value, free(); NULL: the text ended. */
static char *read_word(struct scanner *s, const char *field)
{
	struct opk_place place = s->place;
	size_t start = s->at;
	const char *word;
	char *copy;

	accept(s, '-');
	if (!opk_in_full_name(peek(s))) {
		fail(s, &s->place, "a value is needed after %s:", field);
		return NULL;
	}
	/* The sign of an exponent is a part of the number. */
	while (opk_in_full_name(peek(s))
	       || (is_one_of(peek(s), "+-") && (s->text[s->at - 1] | 32) == 'e'))
		next(s);
	copy = copy_from(s, start);
	word = copy ? copy + (*copy == '-') : NULL;
	if (word && !is_number(word) && (!opk_is_letter(*word) || strpbrk(word, ".+-")))
		fail(s, &place, "'%s' is neither a number nor a name; text has quotes", copy);
	return copy;
}

static bool add_code_point(struct opk_buf *out, unsigned long code)
{
	char bytes[4];
	size_t count = opk_utf8_encode(bytes, code);

	opk_buf_add(out, bytes, count);
	return opk_utf8_length((unsigned char *)bytes, count) == count;
}

/* Reads up to `most` digits of a base; false if there are fewer than `least`. */
static bool read_digits(struct scanner *s, unsigned long *out, unsigned base, size_t least,
                        size_t most)
{
	size_t count = 0;

	for (*out = 0; count < most; count++) {
		int digit = opk_hex_digit(peek(s));

		if (digit < 0 || (unsigned)digit >= base)
			break;
		*out = *out * base + (unsigned)digit;
		next(s);
	}
	return count >= least;
}

/* Reads the rest of an escape after the backslash. */
static void read_escape(struct scanner *s, struct opk_buf *out)
{
	static const char from[] = "abfnrtv?\\'\"", to[] = "\a\b\f\n\r\t\v?\\'\"";
	char c = peek(s), byte;
	unsigned long code = 0;
	bool good;

	if (is_one_of(c, from)) {
		next(s);
		opk_buf_add(out, &to[strchr(from, c) - from], 1);
		return;
	}
	if (is_one_of(c, "xXuU"))
		next(s);
	good = c == 'u'             ? read_digits(s, &code, 16, 4, 4)
	       : c == 'U'           ? read_digits(s, &code, 16, 8, 8)
	       : is_one_of(c, "xX") ? read_digits(s, &code, 16, 1, 2)
	                            : read_digits(s, &code, 8, 1, 3) && code < 0x100;
	byte = (char)code;
	if (good && code && (c | 32) == 'u')
		good = code < 0x110000 && add_code_point(out, code);
	else if (good && code)
		opk_buf_add(out, &byte, 1);
	if (!good)
		fail(s, &s->place, "unknown escape in a string");
	else if (!code)
		fail(s, &s->place, "a NUL character in a string");
}

/* Bytes may be escaped one by one, so only the whole string is checked. */
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

/* Appends a quoted string, without quotes and escapes, to the buffer. */
static void read_string(struct scanner *s, struct opk_buf *out)
{
	struct opk_place place = s->place;
	char quote = peek(s), c;
	size_t start = out->size;

	next(s);
	while (!s->code && (c = peek(s)) != quote) {
		if (at_end(s) || c == '\n') {
			fail(s, &place, "a string that is not closed on its line");
		} else if (!c) {
			fail(s, &s->place, "a NUL character in a string");
		} else {
			next(s);
			if (c == '\\')
				read_escape(s, out);
			else
				opk_buf_add(out, &c, 1);
		}
	}
	if (s->code)
		return;
	next(s);
	if (!out->failed && out->size != start && !is_utf8(out->data + start, out->size - start))
		fail(s, &place, "this string is not UTF-8");
}

/* ---- fields */

/* An open message: the place of its bracket, and what closes it. */
struct bracket {
	struct opk_place place;
	char open, close;
};

static void parse_fields(struct scanner *s, struct opk_field *message,
                         const struct bracket *bracket, int depth);

static struct opk_field *add_field(struct scanner *s, struct opk_field *message, const char *name)
{
	struct opk_field *field;

	if (++s->fields > MAX_FIELDS) {
		fail(s, &s->place, "more than %d fields", MAX_FIELDS);
		return NULL;
	}
	field = opk_append(&message->fields, &message->capacity, &message->count, sizeof *field);
	if (field)
		field->name = opk_strdup(name);
	if (field && field->name)
		return field;
	end_without_memory(s);
	return NULL;
}

static bool opens_message(char c)
{
	return c == '{' || c == '<';
}

static void parse_message(struct scanner *s, struct opk_field *out, struct opk_place name,
                          int depth)
{
	struct bracket bracket = { .place = s->place, .open = peek(s) };

	bracket.close = bracket.open == '{' ? '}' : '>';
	out->kind = OPK_FIELD_MESSAGE;
	out->place = name;
	if (depth > MAX_DEPTH) {
		fail(s, &s->place, "nested deeper than %d levels", MAX_DEPTH);
		return;
	}
	next(s);
	parse_fields(s, out, &bracket, depth);
}

/* Adjacent strings "a" 'b' are one string. */
static void parse_strings(struct scanner *s, struct opk_field *out)
{
	opk_autobuf struct opk_buf buf = { 0 };

	out->kind = OPK_FIELD_STRING;
	while (is_one_of(peek(s), "\"'")) {
		read_string(s, &buf);
		skip(s);
	}
	opk_buf_add(&buf, "", 1);
	if (buf.failed && !s->code)
		end_without_memory(s);
	out->text = (char *)opk_take(buf.data);
}

static void parse_value(struct scanner *s, struct opk_field *message, const char *name,
                        struct opk_place place, int depth)
{
	struct opk_field *field = add_field(s, message, name);

	if (!field)
		return;
	if (opens_message(peek(s))) {
		parse_message(s, field, place, depth + 1);
		return;
	}
	field->place = s->place;
	if (is_one_of(peek(s), "\"'")) {
		parse_strings(s, field);
	} else {
		field->kind = OPK_FIELD_WORD;
		field->text = read_word(s, name);
	}
}

static void parse_list(struct scanner *s, struct opk_field *message, const char *name,
                       struct opk_place place, int depth)
{
	next(s);
	skip(s);
	if (accept(s, ']'))
		return;
	do {
		skip(s);
		parse_value(s, message, name, place, depth);
		skip(s);
	} while (accept(s, ','));
	if (!s->code && !accept(s, ']'))
		fail(s, &s->place, "',' or ']' is needed here, in the list of %s", name);
}

static void parse_field(struct scanner *s, struct opk_field *message, int depth)
{
	struct opk_place place = s->place;
	opk_autofree char *name = read_name(s);
	bool colon;

	if (!name)
		return;
	skip(s);
	colon = accept(s, ':');
	skip(s);
	if (peek(s) == '[')
		parse_list(s, message, name, place, depth);
	else if (colon || opens_message(peek(s)))
		parse_value(s, message, name, place, depth);
	else
		fail(s, &s->place, "':' or '{' is needed after %s", name);
	skip(s);
	if (!accept(s, ';'))
		accept(s, ',');
}

/* Parses up to the bracket that closes the message, or to the end of the file. */
static void parse_fields(struct scanner *s, struct opk_field *message,
                         const struct bracket *bracket, int depth)
{
	for (skip(s); !at_end(s); skip(s)) {
		char c = peek(s);

		if (bracket && accept(s, bracket->close))
			return;
		if (c != '}' && c != '>')
			parse_field(s, message, depth);
		else if (bracket)
			fail(s, &s->place, "'%c' does not close the '%c' of line %zu", c,
			     bracket->open, bracket->place.line);
		else
			fail(s, &s->place, "'%c' closes nothing", c);
	}
	if (!s->code && bracket)
		fail(s, &bracket->place, "'%c' is never closed", bracket->open);
}

int opk_section_parse(struct opk_field **out, struct opk_ctx *ctx, struct opk_source *source)
{
	struct scanner s = {
		.ctx = ctx, .text = source->text, .size = source->size, .place = { source, 1, 1 }
	};
	struct opk_field *root = opk_alloc(sizeof *root);

	if (!root || !(root->name = opk_strdup(""))) {
		free(root);
		return opk_nomem(ctx, "a section");
	}
	root->place = s.place;
	parse_fields(&s, root, NULL, 0);
	if (s.code)
		opk_section_free(root);
	else
		*out = root;
	return s.code;
}

static void clear(struct opk_field *field)
{
	for (size_t i = 0; i < field->count; i++)
		clear(&field->fields[i]);
	free(field->fields);
	free(field->name);
	free(field->text);
}

void opk_section_free(struct opk_field *root)
{
	if (!root)
		return;
	clear(root);
	free(root);
}

const struct opk_field *opk_field_find(const struct opk_field *message, const char *name,
                                       enum opk_field_kind kind)
{
	for (size_t i = message->count; i-- > 0;)
		if (message->fields[i].kind == kind && !strcmp(message->fields[i].name, name))
			return &message->fields[i];
	return NULL;
}

const char *opk_field_string(const struct opk_field *message, const char *name)
{
	const struct opk_field *field = opk_field_find(message, name, OPK_FIELD_STRING);

	return field ? field->text : NULL;
}
