/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes untrusted text safe for a terminal, which obeys control characters. */
#include "base/terminal.h"

#include <string.h>

#include "base/utf8.h"

/* Characters beyond ASCII that a terminal obeys. */
static const struct {
	unsigned first, last;
} obeyed[] = {
	{ 0x80, 0x9f },     /* C1 */
	{ 0x61c, 0x61c },   /* Arabic letter mark */
	{ 0x200e, 0x200f }, /* direction marks */
	{ 0x2028, 0x202e }, /* line and paragraph separators; direction embeddings and overrides */
	{ 0x2066, 0x2069 }, /* direction isolates */
};

static unsigned decode(const char *text, size_t length)
{
	unsigned code = (unsigned char)*text & (0xff >> (length + 1));

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* *code is the character, or the byte itself if no character begins there. */
static size_t find_obeyed(unsigned *code, const char *text, size_t size)
{
	unsigned char c = (unsigned char)*text;
	size_t length;

	*code = c;
	if (c < 0x80)
		return c < ' ' || c == 0x7f;
	length = opk_utf8_length((const unsigned char *)text, size);
	if (!length)
		return 1;
	*code = decode(text, length);
	for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++)
		if (*code >= obeyed[i].first && *code <= obeyed[i].last)
			return length;
	return 0;
}

size_t opk_terminal_obeys(const char *text, size_t size)
{
	unsigned code;

	return find_obeyed(&code, text, size);
}

/* The length of a bold sequence, which tables write; 0: there is none. */
static size_t bold_length(const char *text, size_t size)
{
	static const char *const sequences[] = { "\033[1m", "\033[0m" };

	for (size_t i = 0; i < 2; i++)
		if (size >= 4 && !memcmp(text, sequences[i], 4))
			return 4;
	return 0;
}

void opk_terminal_escape(struct opk_buf *out, const char *text, size_t size, bool bold)
{
	size_t at = 0, done = 0;

	while (at < size) {
		size_t kept = text[at] == '\n' || text[at] == '\t';
		unsigned code;
		size_t length;

		if (bold && text[at] == '\033')
			kept = bold_length(text + at, size - at);
		length = kept ? 0 : find_obeyed(&code, text + at, size - at);
		if (!length) {
			at += kept ? kept : opk_utf8_step(text + at, size - at);
			continue;
		}
		opk_buf_add(out, text + done, at - done);
		opk_buf_add_printf(out, "\\u%04x", code);
		done = at += length;
	}
	opk_buf_add(out, text + done, size - done);
}

void opk_terminal_defuse(char *text)
{
	size_t left = strlen(text);
	char *to = text;

	while (left) {
		size_t obeyed_length = opk_terminal_obeys(text, left);
		size_t length = obeyed_length ? obeyed_length : opk_utf8_step(text, left);

		if (obeyed_length)
			*to++ = '?';
		else
			to = (char *)memmove(to, text, length) + length;
		text += length;
		left -= length;
	}
	*to = '\0';
}

void opk_terminal_say(FILE *to, const char *prefix, const char *message)
{
	opk_autofree char *defused = opk_printf("%s%s", prefix, message);

	if (defused)
		opk_terminal_defuse(defused);
	fprintf(to, "%s\n", defused ? defused : "out of memory");
}
