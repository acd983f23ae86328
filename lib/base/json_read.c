/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JSON into a tree. */
#include "base/json_read.h"

#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/utf8.h"

enum { MAX_DEPTH = 32, MAX_NODES = 4000000 };

struct parser {
	const char *text;
	size_t size;
	size_t at;
	size_t nodes;
	const char *problem; /* the first that was found */
	bool nomem;
};

static bool parse_value(struct parser *p, struct opk_json *out, int depth);

static bool problem(struct parser *p, const char *what)
{
	if (!p->problem)
		p->problem = what;
	return false;
}

static bool nomem(struct parser *p)
{
	p->nomem = true;
	return problem(p, "out of memory");
}

/* The next byte, or '\0' at the end; a NUL in the text is refused anywhere. */
static char peek(const struct parser *p)
{
	return p->at < p->size ? p->text[p->at] : '\0';
}

static void skip_space(struct parser *p)
{
	while (p->at < p->size && strchr(" \t\r\n", p->text[p->at]) && p->text[p->at])
		p->at++;
}

static bool accept(struct parser *p, char c)
{
	skip_space(p);
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static bool accept_word(struct parser *p, const char *word)
{
	size_t length = strlen(word);

	if (p->size - p->at < length || memcmp(p->text + p->at, word, length))
		return problem(p, "unknown word");
	p->at += length;
	return true;
}

static bool parse_hex4(struct parser *p, unsigned *out)
{
	unsigned value = 0;

	if (p->size - p->at < 4)
		return problem(p, "\\u needs four hexadecimal digits");
	for (int i = 0; i < 4; i++) {
		int digit = opk_hex_digit(p->text[p->at++]);

		if (digit < 0)
			return problem(p, "\\u needs four hexadecimal digits");
		value = value * 16 + (unsigned)digit;
	}
	*out = value;
	return true;
}

/* \uXXXX, or two of them: a surrogate pair for one character. */
static bool parse_unicode(struct parser *p, struct opk_buf *buf)
{
	unsigned code, low;
	char bytes[4];

	if (!parse_hex4(p, &code))
		return false;
	if (code == 0)
		return problem(p, "a NUL character in a string");
	if (code >= 0xdc00 && code < 0xe000)
		return problem(p, "half a surrogate pair");
	if (code >= 0xd800 && code < 0xdc00) {
		if (p->size - p->at < 2 || memcmp(p->text + p->at, "\\u", 2))
			return problem(p, "half a surrogate pair");
		p->at += 2;
		if (!parse_hex4(p, &low))
			return false;
		if (low < 0xdc00 || low >= 0xe000)
			return problem(p, "half a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	opk_buf_add(buf, bytes, opk_utf8_encode(bytes, code));
	return true;
}

static bool parse_escape(struct parser *p, struct opk_buf *buf)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = peek(p);
	const char *found = c ? strchr(from, c) : NULL;

	p->at++;
	if (c == 'u')
		return parse_unicode(p, buf);
	if (!found)
		return problem(p, "unknown escape in a string");
	opk_buf_add(buf, &to[found - from], 1);
	return true;
}

/* How many characters from here on have one byte each and need no escape. */
static size_t plain_length(const char *text, size_t size)
{
	size_t length = 0;

	while (length < size && text[length] >= 0x20 && (unsigned char)text[length] < 0x80
	       && text[length] != '"' && text[length] != '\\')
		length++;
	return length;
}

static bool copy_characters(struct parser *p, struct opk_buf *buf)
{
	const char *text = p->text + p->at;
	size_t length = plain_length(text, p->size - p->at);

	if (!length)
		length = opk_utf8_length((const unsigned char *)text, p->size - p->at);
	if (!length)
		return problem(p, "a string is not UTF-8");
	opk_buf_add(buf, text, length);
	p->at += length;
	return true;
}

static bool parse_string(struct parser *p, char **out)
{
	opk_autobuf struct opk_buf buf = { 0 };

	if (!accept(p, '"'))
		return problem(p, "a string is needed here");
	for (;;) {
		char c = peek(p);

		if (p->at >= p->size)
			return problem(p, "the text ends inside a string");
		if ((unsigned char)c < 0x20)
			return problem(p, "a control character in a string");
		if (c != '"' && c != '\\') {
			if (!copy_characters(p, &buf))
				return false;
			continue;
		}
		p->at++;
		if (c == '"')
			break;
		if (!parse_escape(p, &buf))
			return false;
	}
	*out = opk_buf_take_text(&buf);
	return *out ? true : nomem(p);
}

static bool skip_digits(struct parser *p)
{
	size_t start = p->at;

	while (opk_is_digit(peek(p)))
		p->at++;
	return p->at > start;
}

static bool parse_number(struct parser *p, struct opk_json *out)
{
	size_t start = p->at;

	if (peek(p) == '-')
		p->at++;
	if (peek(p) == '0')
		p->at++;
	else if (!skip_digits(p))
		return problem(p, "a value is needed here");
	if (peek(p) == '.') {
		p->at++;
		if (!skip_digits(p))
			return problem(p, "a number ends with its point");
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		p->at++;
		if (peek(p) == '+' || peek(p) == '-')
			p->at++;
		if (!skip_digits(p))
			return problem(p, "a number lacks its exponent");
	}
	out->type = OPK_JSON_NUMBER;
	out->text = opk_strndup(p->text + start, p->at - start);
	return out->text ? true : nomem(p);
}

static struct opk_json *add_child(struct parser *p, struct opk_json *parent)
{
	struct opk_json *child;

	if (++p->nodes > MAX_NODES) {
		problem(p, "too many values");
		return NULL;
	}
	child = opk_append(&parent->children, &parent->capacity, &parent->count, sizeof *child);
	if (!child)
		nomem(p);
	return child;
}

static bool parse_array(struct parser *p, struct opk_json *out, int depth)
{
	out->type = OPK_JSON_ARRAY;
	if (accept(p, ']'))
		return true;
	do {
		struct opk_json *child = add_child(p, out);

		if (!child || !parse_value(p, child, depth + 1))
			return false;
	} while (accept(p, ','));
	return accept(p, ']') ? true : problem(p, "an array needs ',' or ']' here");
}

static bool parse_object(struct parser *p, struct opk_json *out, int depth)
{
	out->type = OPK_JSON_OBJECT;
	if (accept(p, '}'))
		return true;
	do {
		struct opk_json *child = add_child(p, out);

		if (!child || !parse_string(p, &child->key))
			return false;
		if (!accept(p, ':'))
			return problem(p, "':' is needed after a key");
		if (!parse_value(p, child, depth + 1))
			return false;
	} while (accept(p, ','));
	return accept(p, '}') ? true : problem(p, "an object needs ',' or '}' here");
}

static bool parse_value(struct parser *p, struct opk_json *out, int depth)
{
	if (depth > MAX_DEPTH)
		return problem(p, "nested too deeply");
	skip_space(p);
	switch (peek(p)) {
	case '{':
		p->at++;
		return parse_object(p, out, depth);
	case '[':
		p->at++;
		return parse_array(p, out, depth);
	case '"':
		out->type = OPK_JSON_STRING;
		return parse_string(p, &out->text);
	case 't':
		out->type = OPK_JSON_BOOL;
		out->boolean = true;
		return accept_word(p, "true");
	case 'f':
		out->type = OPK_JSON_BOOL;
		return accept_word(p, "false");
	case 'n':
		return accept_word(p, "null");
	default:
		return parse_number(p, out);
	}
}

int opk_json_parse(struct opk_json **out, struct opk_ctx *ctx, const char *text, size_t size)
{
	struct parser p = { .text = text, .size = size };
	struct opk_json *root = opk_alloc(sizeof *root);

	if (!root)
		return opk_nomem(ctx, "JSON");
	if (parse_value(&p, root, 0)) {
		skip_space(&p);
		if (p.at == size) {
			*out = root;
			return OPK_OK;
		}
		problem(&p, "more text after the value");
	}
	opk_json_free(root);
	if (p.nomem)
		return opk_nomem(ctx, "JSON");
	return opk_fail(ctx, OPK_EINPUT, "JSON, byte %zu: %s", p.at, p.problem);
}

static void clear(struct opk_json *node)
{
	for (size_t i = 0; i < node->count; i++)
		clear(&node->children[i]);
	free(node->children);
	free(node->key);
	free(node->text);
}

void opk_json_free(struct opk_json *root)
{
	if (!root)
		return;
	clear(root);
	free(root);
}

const struct opk_json *opk_json_member(const struct opk_json *object, const char *key)
{
	for (size_t i = 0; object->type == OPK_JSON_OBJECT && i < object->count; i++)
		if (!strcmp(object->children[i].key, key))
			return &object->children[i];
	return NULL;
}

const struct opk_json *opk_json_get(const struct opk_json *object, const char *key,
                                    enum opk_json_type type)
{
	const struct opk_json *found = opk_json_member(object, key);

	return found && found->type == type ? found : NULL;
}

const char *opk_json_string(const struct opk_json *object, const char *key)
{
	const struct opk_json *found = opk_json_get(object, key, OPK_JSON_STRING);

	return found ? found->text : "";
}

bool opk_json_to_u64(uint64_t *out, const struct opk_json *number)
{
	uint64_t value;
	char *end;

	if (number->type != OPK_JSON_NUMBER || number->text[0] == '-')
		return false;
	errno = 0;
	value = strtoull(number->text, &end, 10);
	if (*end || errno)
		return false;
	*out = value;
	return true;
}

bool opk_json_u64(uint64_t *out, const struct opk_json *object, const char *key)
{
	const struct opk_json *found = opk_json_get(object, key, OPK_JSON_NUMBER);

	return found && opk_json_to_u64(out, found);
}

bool opk_json_to_i64(int64_t *out, const struct opk_json *number)
{
	int64_t value;
	char *end;

	errno = 0;
	value = number->type == OPK_JSON_NUMBER ? strtoll(number->text, &end, 10) : 0;
	if (number->type != OPK_JSON_NUMBER || *end || errno)
		return false;
	*out = value;
	return true;
}
