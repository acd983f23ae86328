/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors in text files: one run collects all of them and shows each with its line and a caret. */
#ifndef OPK_PROBLEMS_H
#define OPK_PROBLEMS_H

#include "base/ctx.h"
#include "base/nearest.h"
#include "base/source.h"
#include "base/strlist.h"

/* No more are kept: people would not read them. */
enum { OPK_MAX_PROBLEMS = 100 };

struct opk_problem {
	struct opk_place place; /* the problem holds its source */
	char *text;
	enum opk_remedy remedy;
};

/* A placeholder for the chip in texts, so that errors for several chips can be compared. */
#define OPK_THE_CHIP "\1"

struct opk_problems {
	struct opk_problem *items;
	size_t count, capacity;
	size_t unlisted;  /* further problems, which are only counted */
	const char *chip; /* borrowed: replaces OPK_THE_CHIP; NULL: no chip */
	int code;         /* a failure that is not an error in a text; it ends the search */
};

/* Keeps the same text at the same place once. NULL: this one was not kept. */
struct opk_problem *opk_problems_add(struct opk_problems *problems, const struct opk_place *place,
                                     const char *format, ...) OPK_PRINTF(3, 4);
/* Sets what would help; `problem` may be NULL. */
static inline void opk_problems_advise(struct opk_problem *problem, enum opk_remedy remedy)
{
	if (problem)
		problem->remedy = remedy;
}
/* Keeps the first code that is not an error in a text, or OPK_ENOMEM; returns !code. */
bool opk_problems_stop(struct opk_problems *problems, int code);
/* Returns `got`; false: memory ran out. */
static inline bool opk_problems_need(struct opk_problems *problems, bool got)
{
	return opk_problems_stop(problems, got ? OPK_OK : OPK_ENOMEM);
}
/* Whether a further problem would only be counted: then callers can skip making its text. */
bool opk_problems_full(const struct opk_problems *problems);
/*
 * Makes the problems the cause chain, outermost first in the order of files and places. Returns
 * `code`, OPK_ENOMEM, or OPK_OK if there are no problems. If there are several, the outermost
 * message is "TITLE: N errors".
 */
int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code,
                      const char *title);
/* Adds the problems to the cause chain, without a title. */
void opk_problems_push(struct opk_ctx *ctx, struct opk_problems *problems, int code);
/* Reports one error that ends the reading of a file; returns OPK_EINPUT. */
int opk_fail_at(struct opk_ctx *ctx, const struct opk_place *place, const char *format, ...)
	OPK_PRINTF(3, 4);
/*
 * Keeps one problem of each hidden source. Its text could quote the source, so it is replaced by
 * how to see all problems.
 */
void opk_problems_hide(struct opk_problems *problems);
/* Drops the problems that are also in `known`. */
void opk_problems_drop(struct opk_problems *problems, const struct opk_problems *known);
void opk_problems_clear(struct opk_problems *problems);
#define opk_autoproblems __attribute__((cleanup(opk_problems_clear)))

#endif
