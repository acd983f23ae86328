/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks, writes and repairs UTF-8. */
#include "base/utf8.h"

#include <string.h>

#include "base/buf.h"

size_t opk_utf8_length(const unsigned char *text, size_t size)
{
	unsigned char c = text[0];
	size_t length = c < 0xe0 ? 2 : 3 + (c >= 0xf0);

	if (c < 0x80)
		return size > 0;
	if (c < 0xc2 || c > 0xf4 || length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and codes after U+10FFFF. */
	if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f)
	    || (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

size_t opk_utf8_step(const char *text, size_t size)
{
	size_t length = opk_utf8_length((const unsigned char *)text, size);

	return length ? length : 1;
}

size_t opk_utf8_encode(char out[4], unsigned long code)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t count = 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);

	for (size_t i = count; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(lead[count] | code);
	return count;
}

bool opk_utf8_valid(const char *text)
{
	size_t left = strlen(text), length = 1;

	for (; left && length; text += length, left -= length)
		length = opk_utf8_length((const unsigned char *)text, left);
	return !left;
}

char *opk_utf8_repair(const char *text)
{
	opk_autobuf struct opk_buf repaired = { 0 };
	size_t left = strlen(text), length;

	for (; left; text += length, left -= length) {
		length = opk_utf8_length((const unsigned char *)text, left);
		if (length)
			opk_buf_add(&repaired, text, length);
		else
			opk_buf_add_text(&repaired, "\xef\xbf\xbd");
		length += !length;
	}
	return opk_buf_take_text(&repaired);
}

static bool is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

char *opk_utf8_fit(const char *text, size_t most)
{
	static const char gap[] = "\xe2\x80\xa6";
	size_t size = strlen(text), room = most - (sizeof gap - 1);
	size_t head = room * 2 / 3, tail = size - (room - head);

	if (size <= most)
		return opk_strdup(text);
	while (head && is_inside(text[head]))
		head--;
	while (is_inside(text[tail]))
		tail++;
	return opk_printf("%.*s%s%s", (int)head, text, gap, text + tail);
}
