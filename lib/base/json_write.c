/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON piece by piece. */
#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_read.h"
#include "base/utf8.h"

static void separate(struct opk_json_writer *json)
{
	if (json->comma)
		opk_buf_add(json->buf, ",", 1);
	json->comma = true;
}

static void open(struct opk_json_writer *json, const char *bracket)
{
	separate(json);
	opk_buf_add(json->buf, bracket, 1);
	json->comma = false;
}

static void close_bracket(struct opk_json_writer *json, const char *bracket)
{
	opk_buf_add(json->buf, bracket, 1);
	json->comma = true;
}

void opk_json_begin_object(struct opk_json_writer *json)
{
	open(json, "{");
}

void opk_json_end_object(struct opk_json_writer *json)
{
	close_bracket(json, "}");
}

void opk_json_begin_array(struct opk_json_writer *json)
{
	open(json, "[");
}

void opk_json_end_array(struct opk_json_writer *json)
{
	close_bracket(json, "]");
}

/* The length of the beginning that is ASCII and needs no escape: mostly all of the text. */
static size_t plain_length(const char *text)
{
	const char *end = text;

	while (*end >= ' ' && *end < 0x7f && *end != '"' && *end != '\\')
		end++;
	return (size_t)(end - text);
}

static void put_escaped(struct opk_buf *buf, const char *text)
{
	size_t left = strlen(text), length;

	opk_buf_add(buf, "\"", 1);
	for (; left; text += length, left -= length) {
		unsigned char c = (unsigned char)*text;

		length = plain_length(text);
		if (length) {
			opk_buf_add(buf, text, length);
			continue;
		}
		length = opk_utf8_length((const unsigned char *)text, left);
		if (c == '"' || c == '\\')
			opk_buf_add_printf(buf, "\\%c", c);
		else if (c == '\n')
			opk_buf_add_text(buf, "\\n");
		else if (c < 0x20)
			opk_buf_add_printf(buf, "\\u%04x", c);
		else if (length)
			opk_buf_add(buf, text, length);
		else
			opk_buf_add_text(buf, "\xef\xbf\xbd"); /* U+FFFD: JSON is UTF-8 */
		length += !length;
	}
	opk_buf_add(buf, "\"", 1);
}

void opk_json_key(struct opk_json_writer *json, const char *key)
{
	separate(json);
	put_escaped(json->buf, key);
	opk_buf_add(json->buf, ":", 1);
	json->comma = false;
}

void opk_json_put_string(struct opk_json_writer *json, const char *text)
{
	separate(json);
	if (text)
		put_escaped(json->buf, text);
	else
		opk_buf_add_text(json->buf, "null");
}

void opk_json_put_u64(struct opk_json_writer *json, uint64_t value)
{
	separate(json);
	opk_buf_add_number(json->buf, value);
}

void opk_json_put_i64(struct opk_json_writer *json, int64_t value)
{
	separate(json);
	opk_buf_add_printf(json->buf, "%" PRId64, value);
}

static void put_plain(struct opk_json_writer *json, const char *text)
{
	separate(json);
	opk_buf_add_text(json->buf, text);
}

void opk_json_put_bool(struct opk_json_writer *json, bool value)
{
	put_plain(json, value ? "true" : "false");
}

void opk_json_put_double(struct opk_json_writer *json, double value)
{
	separate(json);
	if (isfinite(value))
		opk_buf_add_double(json->buf, value);
	else
		opk_buf_add_text(json->buf, "null");
}

static void put_children(struct opk_json_writer *json, const struct opk_json *value,
                         const char *brackets)
{
	open(json, brackets);
	for (size_t i = 0; i < value->count; i++)
		opk_json_put(json, &value->children[i]);
	close_bracket(json, brackets + 2);
}

void opk_json_put(struct opk_json_writer *json, const struct opk_json *value)
{
	if (value->key)
		opk_json_key(json, value->key);
	if (value->type == OPK_JSON_OBJECT)
		put_children(json, value, "{ }");
	else if (value->type == OPK_JSON_ARRAY)
		put_children(json, value, "[ ]");
	else if (value->type == OPK_JSON_BOOL)
		opk_json_put_bool(json, value->boolean);
	else if (value->type == OPK_JSON_NUMBER)
		put_plain(json, value->text);
	else
		opk_json_put_string(json, value->text);
}

void opk_json_put_strings(struct opk_json_writer *json, const char *const *items, size_t count)
{
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		opk_json_put_string(json, items[i]);
	opk_json_end_array(json);
}

void opk_json_add_string(struct opk_json_writer *json, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	opk_json_key(json, key);
	opk_json_put_string(json, text);
}

void opk_json_add_u64(struct opk_json_writer *json, const char *key, uint64_t value)
{
	if (!value)
		return;
	opk_json_key(json, key);
	opk_json_put_u64(json, value);
}
