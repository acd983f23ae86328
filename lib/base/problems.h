/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors in text files: one run gathers all of them, and shows each with its line and a caret. */
#ifndef OPK_PROBLEMS_H
#define OPK_PROBLEMS_H

#include "base/ctx.h"
#include "base/source.h"
#include "base/strlist.h"

/* More are not kept: people would not read them. */
enum { OPK_MAX_PROBLEMS = 100 };

struct opk_problem {
	struct opk_place place; /* whose source is kept, too */
	char *text;
};

/* Stands for the chip in a text, so that errors of several chips can be compared. */
#define OPK_THE_CHIP "\1"

struct opk_problems {
	struct opk_problem *items;
	size_t count, capacity;
	size_t unlisted;  /* further ones, which are only counted */
	const char *chip; /* borrowed: what OPK_THE_CHIP stands for; NULL: nothing */
	int code;         /* of a failure that is not an error in a text: it ends the search */
};

/* The same text at the same place is kept once. */
void opk_problems_add(struct opk_problems *problems, const struct opk_place *place,
                      const char *format, ...) OPK_PRINTF(3, 4);
/* Keeps the first code that is not of an error in a text, or OPK_ENOMEM; returns !code. */
bool opk_problems_stop(struct opk_problems *problems, int code);
/* Returns `got`; false: memory ran out. */
static inline bool opk_problems_need(struct opk_problems *problems, bool got)
{
	return opk_problems_stop(problems, got ? OPK_OK : OPK_ENOMEM);
}
/* Whether one more would only be counted: then its text need not be made. */
bool opk_problems_full(const struct opk_problems *problems);
/* For the end of a message: ", did you mean NAME?", or "" if `near` is NULL. */
#define OPK_DID_YOU_MEAN "%s%s%s"
#define OPK_NEAR(near) (near) ? ", did you mean " : "", (near) ? (near) : "", (near) ? "?" : ""
/*
 * Makes them the cause chain, outermost first in the order of files and places, and returns `code`,
 * OPK_ENOMEM, or OPK_OK if there are none. If there are several, the outermost message is "TITLE: N
 * errors".
 */
int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code,
                      const char *title);
/* Adds them to the cause chain, without a title. */
void opk_problems_push(struct opk_ctx *ctx, struct opk_problems *problems, int code);
/* OPK_EINPUT, with one error that ends the reading of a file. */
int opk_fail_at(struct opk_ctx *ctx, const struct opk_place *place, const char *format, ...)
	OPK_PRINTF(3, 4);
/*
 * Keeps one problem of each hidden source. Its text could quote the source: instead it says how to
 * see all problems.
 */
void opk_problems_hide(struct opk_problems *problems);
/* Drops the problems that `known` has, too. */
void opk_problems_drop(struct opk_problems *problems, const struct opk_problems *known);
void opk_problems_clear(struct opk_problems *problems);
#define opk_autoproblems __attribute__((cleanup(opk_problems_clear)))

#endif
