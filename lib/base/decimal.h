/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as files have them: with a point, whatever the locale. */
#ifndef OPK_DECIMAL_H
#define OPK_DECIMAL_H

#include <stddef.h>

enum opk_decimal {
	OPK_DECIMAL_GOOD,
	OPK_DECIMAL_NONE,  /* the text does not begin with a number */
	OPK_DECIMAL_LARGE, /* no double is that large */
	OPK_DECIMAL_SMALL, /* no double is that small: it would become 0 */
	OPK_DECIMAL_NOMEM,
};

/* The number at the beginning of the text, and its length; both are 0 unless it is good. */
enum opk_decimal opk_decimal_read(double *out, size_t *length, const char *text);

#endif
