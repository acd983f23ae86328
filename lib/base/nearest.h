/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the name that is most like a misspelt one. */
#ifndef OPK_NEAREST_H
#define OPK_NEAREST_H

#include "offpeak.h"

/* Levenshtein distance, ignoring case; returns limit + 1 if it is more than `limit`. */
size_t opk_edit_distance(const char *a, const char *b, size_t limit);

/* Keeps the best candidate so far; begin with { .name = misspelt }. */
struct opk_nearest {
	const char *name;
	const char *except; /* never suggested; may be NULL */
	const char *best;   /* NULL: no candidate is near enough */
	size_t distance;
};
void opk_nearest_try(struct opk_nearest *nearest, const char *candidate);
/* For the end of a message: ", did you mean NAME?", or "" if `near` is NULL. */
#define OPK_DID_YOU_MEAN "%s%s%s"
#define OPK_NEAR(near) (near) ? ", did you mean " : "", (near) ? (near) : "", (near) ? "?" : ""

/* Whether a text is a name with letters left out: "params" of "parameters"; not for one or two. */
bool opk_is_abbreviation(const char *text, const char *name);

#endif
