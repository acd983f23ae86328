/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes text, lists and comments as YAML. */
#include "nsight/nsight.h"

#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/utf8.h"

enum { WIDTH = 100, NO_CHARACTER = 0x110000 };

/* One character and its length in bytes; NO_CHARACTER, with length 1, if it is not UTF-8. */
static unsigned long character(const char *text, size_t *length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned long code;

	*length = opk_utf8_length(bytes, strnlen(text, 4));
	if (!*length) {
		*length = 1;
		return NO_CHARACTER;
	}
	if (*length == 1)
		return *bytes;
	code = bytes[0] & (0x7fu >> *length);
	for (size_t i = 1; i < *length; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	return code;
}

/* What libyaml regards as printable, except line breaks and byte order marks. */
static bool is_printable(unsigned long code)
{
	return (code >= 0x20 && code < 0x7f)
	       || (code >= 0xa0 && code < 0xd800 && code != 0x2028 && code != 0x2029)
	       || (code >= 0xe000 && code < 0xfffe && code != 0xfeff)
	       || (code >= 0x10000 && code < 0x110000);
}

static bool all_printable(const char *text)
{
	size_t length;

	for (; *text; text += length)
		if (!is_printable(character(text, &length)))
			return false;
	return true;
}

/* Words that other readers of YAML don't read as text. */
static bool is_reserved(const char *text)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no",
		                             "on",   "off",  "y",     "n" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(words[i], text))
			return true;
	return opk_is_digit(*text) && !text[strspn(text, "0123456789abcdefABCDEFxXo._+-")];
}

static bool in_plain(char c)
{
	return opk_in_name(c) || (c && strchr(".+-*/() ", c));
}

static bool is_plain(const char *text)
{
	size_t length = strlen(text);

	return length && opk_in_name(text[0]) && !text[opk_span(text, in_plain)]
	       && text[length - 1] != ' ' && !is_reserved(text);
}

static void put_single(struct opk_buf *out, const char *text)
{
	opk_buf_add_text(out, "'");
	for (; *text; text++)
		opk_buf_add(out, *text == '\'' ? "''" : text, 1 + (*text == '\''));
	opk_buf_add_text(out, "'");
}

static void put_double(struct opk_buf *out, const char *text)
{
	size_t length;

	opk_buf_add_text(out, "\"");
	for (; *text; text += length) {
		unsigned long code = character(text, &length);

		if (code == '"' || code == '\\')
			opk_buf_add_printf(out, "\\%c", (int)code);
		else if (is_printable(code))
			opk_buf_add(out, text, length);
		else if (code == '\n')
			opk_buf_add_text(out, "\\n");
		else if (code == NO_CHARACTER)
			opk_buf_add_text(out, "\\ufffd");
		else
			opk_buf_add_printf(out, code > 0xffff ? "\\U%08lx" : "\\u%04lx", code);
	}
	opk_buf_add_text(out, "\"");
}

void opk_yaml_put_text(struct opk_buf *out, const char *text)
{
	if (is_plain(text))
		opk_buf_add_text(out, text);
	else if (all_printable(text))
		put_single(out, text);
	else
		put_double(out, text);
}

void opk_yaml_put_list(struct opk_buf *out, const struct opk_strlist *items)
{
	opk_buf_add_text(out, "[");
	for (size_t i = 0; i < items->count; i++) {
		opk_buf_add_text(out, i ? ", " : "");
		opk_yaml_put_text(out, items->items[i]);
	}
	opk_buf_add_text(out, "]");
}

void opk_yaml_put_indent(struct opk_buf *out, size_t indent)
{
	opk_buf_add_printf(out, "%*s", (int)indent, "");
}

/* A folded block is read back as words with single blanks between them. */
static bool can_fold(const char *text)
{
	return *text && *text != ' ' && text[strlen(text) - 1] != ' ' && !strstr(text, "  ")
	       && all_printable(text);
}

static void put_folded(struct opk_buf *out, size_t indent, const char *text)
{
	size_t used = 0;

	opk_buf_add_text(out, ">-");
	while (*text) {
		size_t word = strcspn(text, " ");

		if (!used || indent + used + 1 + word > WIDTH) {
			opk_buf_add_text(out, "\n");
			opk_yaml_put_indent(out, indent);
			used = 0;
		}
		opk_buf_add_text(out, used ? " " : "");
		opk_buf_add(out, text, word);
		used += word + (used > 0);
		text += word + (text[word] == ' ');
	}
}

void opk_yaml_put_prose(struct opk_buf *out, size_t indent, const char *key, const char *text)
{
	opk_yaml_put_indent(out, indent);
	opk_buf_add_printf(out, "%s: ", key);
	if (indent + strlen(key) + 2 + strlen(text) > WIDTH && can_fold(text))
		put_folded(out, indent + 2, text);
	else
		opk_yaml_put_text(out, text);
	opk_buf_add_text(out, "\n");
}

void opk_yaml_put_comment(struct opk_buf *out, const char *text)
{
	size_t length;

	opk_buf_add_text(out, "# ");
	for (; *text; text += length)
		if (is_printable(character(text, &length)))
			opk_buf_add(out, text, length);
		else
			opk_buf_add_text(out, " ");
}
