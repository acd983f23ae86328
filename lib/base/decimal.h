/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as files have them: with a point, whatever the locale. */
#ifndef OPK_DECIMAL_H
#define OPK_DECIMAL_H

#include <stddef.h>

enum opk_decimal {
	OPK_DECIMAL_GOOD,
	OPK_DECIMAL_NONE,  /* the text begins with none */
	OPK_DECIMAL_LARGE, /* no double is that large */
	OPK_DECIMAL_SMALL, /* nor that small: it would be 0, which it is not */
	OPK_DECIMAL_NOMEM,
};

/* The number with which the text begins, and its length; 0 and 0 where it is not good. */
enum opk_decimal opk_decimal_read(double *out, size_t *length, const char *text);

#endif
