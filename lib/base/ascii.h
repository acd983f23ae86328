/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of ASCII characters and endings of names, independent of the locale. */
#ifndef OPK_ASCII_H
#define OPK_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static inline bool opk_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a name may begin with it. */
static inline bool opk_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a name may contain it. */
static inline bool opk_in_name(char c)
{
	return opk_is_letter(c) || opk_is_digit(c);
}

/* Whether a metric's full name may contain it. */
static inline bool opk_in_full_name(char c)
{
	return opk_in_name(c) || c == '.';
}

static inline bool opk_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The digit's value; -1: not a hexadecimal digit. */
static inline int opk_hex_digit(char c)
{
	if (opk_is_digit(c))
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Whether `text` ends with `with`; upper and lower case are the same. */
static inline bool opk_ends(const char *text, const char *with)
{
	size_t length = strlen(text), end = strlen(with);

	return length >= end && !strcasecmp(text + length - end, with);
}

/* A path's last part. */
static inline const char *opk_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A file name's ending, such as ".csv"; "" if it has none. */
static inline const char *opk_ending(const char *path)
{
	const char *name = opk_base_name(path), *dot = strrchr(name, '.');

	return dot && dot > name ? dot : "";
}

/* The number of such characters at the beginning of the text. */
static inline size_t opk_span(const char *text, bool is(char c))
{
	size_t length = 0;

	while (is(text[length]))
		length++;
	return length;
}

#endif
