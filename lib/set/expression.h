/* SPDX-License-Identifier: BSD-2-Clause */
/* Regular expressions from other people's files: compiling or matching them may take for ever. */
#ifndef OPK_EXPRESSION_H
#define OPK_EXPRESSION_H

#include "base/ctx.h"

/*
 * What all expressions of a set may take together on a chip, on a processor, and each in memory.
 * One that is nothing special takes 0.2 s and 2 MB over all names of GH100.
 */
enum { OPK_EXPRESSION_SECONDS = 5, OPK_EXPRESSION_MEGABYTES = 256 };

/* Names to match, one by one. */
struct opk_names {
	const char *(*next)(void *data); /* NULL: that was the last */
	void *data;
	double *seconds; /* that expressions may still take; from OPK_EXPRESSION_SECONDS down */
};

/*
 * The names that the POSIX extended expression matches as a whole: their numbers from 0 on,
 * ascending; free(). A child process finds them (child/contain.h), for nothing bounds what glibc
 * takes to compile or to match. Its time on a processor goes off the seconds. OPK_EUSAGE: what is
 * wrong with the expression; OPK_EINPUT: no time or memory is left.
 */
int opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx, const char *expression,
                         const struct opk_names *names);

/* Whether it is one: as above without names, and without a child where compiling is quick. */
int opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds);

#endif
