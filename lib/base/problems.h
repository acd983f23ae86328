/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors in text files: gathered, so that one run tells them all, each with its line and a caret. */
#ifndef OPK_PROBLEMS_H
#define OPK_PROBLEMS_H

#include "base/ctx.h"
#include "base/source.h"
#include "base/strlist.h"

/* So many are kept: who has more does not read them. */
enum { OPK_MAX_PROBLEMS = 100 };

struct opk_problem {
	struct opk_place place;
	char *message;
};

/* The sources must outlive it. */
struct opk_problems {
	struct opk_problem *items;
	size_t count, capacity;
	size_t untold; /* beyond those that are kept */
	bool no_memory;
};

/* What was told of a place is not told again. */
void opk_problems_add(struct opk_problems *problems, const struct opk_place *place,
                      const char *format, ...) OPK_PRINTF(3, 4);
/* Whether one more is counted and not kept: its words need not be looked for. */
bool opk_problems_full(const struct opk_problems *problems);
/* ", did you mean NAME?", or "" where `near` is NULL: for the end of a message. */
#define OPK_DID_YOU_MEAN "%s%s%s"
#define OPK_NEAR(near) (near) ? ", did you mean " : "", (near) ? (near) : "", (near) ? "?" : ""
/*
 * Makes them the cause chain, from its outer end in the order of file and place, and returns
 * `code`, OPK_ENOMEM or, where there are none, OPK_OK. Of several the outermost message is "TITLE:
 * N errors".
 */
int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code,
                      const char *title);
/* Adds them to the cause chain, without a title. */
void opk_problems_push(struct opk_ctx *ctx, struct opk_problems *problems, int code);
/* Each as "PLACE: MESSAGE", in no order; false when out of memory. */
bool opk_problems_list(struct opk_strlist *out, const struct opk_problems *problems);
/* Drops those that such a list has. */
void opk_problems_drop(struct opk_problems *problems, const struct opk_strlist *told);
/* Adds the line of a place and its caret to the cause chain, for the message that is added next. */
void opk_add_excerpt(struct opk_ctx *ctx, int code, const struct opk_place *place);
void opk_problems_clear(struct opk_problems *problems);
#define opk_autoproblems __attribute__((cleanup(opk_problems_clear)))

#endif
