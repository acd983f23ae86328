/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text, faster than printf() and the same to the last digit. */
#ifndef OPK_NUMBER_TEXT_H
#define OPK_NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Room for any number, and a NUL. */
enum { OPK_NUMBER_SIZE = 32 };

/* As "%" PRIu64; returns the length. */
size_t opk_format_u64(char out[OPK_NUMBER_SIZE], uint64_t number);
/* As "%.17g", which reads back as the same double; returns the length. */
size_t opk_format_double(char out[OPK_NUMBER_SIZE], double number);

/* What makes a regular noun plural after this number: "" or "s". */
static inline const char *opk_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
