/* SPDX-License-Identifier: BSD-2-Clause */
/* What characters are in any locale. */
#ifndef OPK_ASCII_H
#define OPK_ASCII_H

#include <stdbool.h>

static inline bool opk_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May begin a name. */
static inline bool opk_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool opk_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
