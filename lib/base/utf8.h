/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8, as RFC 3629 defines it. */
#ifndef OPK_UTF8_H
#define OPK_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the character at the start of `size` bytes; 0: not a character. */
size_t opk_utf8_length(const unsigned char *text, size_t size);
/* The same, except that a byte that is not part of a character counts as a character. */
size_t opk_utf8_step(const char *text, size_t size);
/* Writes the character of this code point, up to 0x10ffff; returns its length. */
size_t opk_utf8_encode(char out[4], unsigned long code);
bool opk_utf8_valid(const char *text);
/* A copy with U+FFFD for each byte that is not part of a character; NULL when out of memory. */
char *opk_utf8_repair(const char *text);

/*
 * A copy of at most `most` bytes: the text, or its beginning and end with U+2026 between them. No
 * character is cut. NULL when out of memory.
 */
char *opk_utf8_fit(const char *text, size_t most);

#endif
