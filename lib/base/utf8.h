/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8, as RFC 3629 has it. */
#ifndef OPK_UTF8_H
#define OPK_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 character at the start of `size` bytes; 0 for what is none (RFC 3629). */
size_t opk_utf8_length(const unsigned char *text, size_t size);
/* The character of that code, up to 0x10ffff; returns its length. */
size_t opk_utf8_encode(char out[4], unsigned long code);
bool opk_utf8_valid(const char *text);
/* A copy with U+FFFD for each byte that is none of a character; NULL when out of memory. */
char *opk_utf8_repair(const char *text);

#endif
