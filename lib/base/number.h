/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as files have them: with a point, whatever the locale. */
#ifndef OPK_NUMBER_H
#define OPK_NUMBER_H

#include <stddef.h>

enum opk_number {
	OPK_NUMBER_GOOD,
	OPK_NUMBER_NONE,  /* the text begins with none */
	OPK_NUMBER_LARGE, /* no double is that large */
	OPK_NUMBER_SMALL, /* nor that small: it would be 0, which it is not */
	OPK_NUMBER_NOMEM,
};

/* The number with which the text begins, and its length; 0 and 0 where it is not good. */
enum opk_number opk_number_read(double *out, size_t *length, const char *text);

#endif
