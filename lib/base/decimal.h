/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in files: with a decimal point in every locale. */
#ifndef OPK_DECIMAL_H
#define OPK_DECIMAL_H

#include <stddef.h>

enum opk_decimal {
	OPK_DECIMAL_GOOD,
	OPK_DECIMAL_NONE,  /* the text does not begin with a number */
	OPK_DECIMAL_LARGE, /* too large for a double */
	OPK_DECIMAL_SMALL, /* too small for a double: it would become 0 */
	OPK_DECIMAL_NOMEM,
};

/* Reads the number at the beginning of the text, and its length; both are 0 on failure. */
enum opk_decimal opk_decimal_read(double *out, size_t *length, const char *text);

#endif
