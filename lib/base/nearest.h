/* SPDX-License-Identifier: BSD-2-Clause */
/* The name that was meant by a misspelt one. */
#ifndef OPK_NEAREST_H
#define OPK_NEAREST_H

#include "offpeak.h"

/* Levenshtein distance without regard to case; more than `limit` is reported as limit + 1. */
size_t opk_edit_distance(const char *a, const char *b, size_t limit);

/* Keeps the best candidate seen; begin with { .name = misspelt }. */
struct opk_nearest {
	const char *name;
	const char *except; /* never suggested; may be NULL */
	const char *best;   /* NULL: no candidate is near enough */
	size_t distance;
};
void opk_nearest_try(struct opk_nearest *nearest, const char *candidate);

#endif
