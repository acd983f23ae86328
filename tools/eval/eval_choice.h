/* SPDX-License-Identifier: BSD-2-Clause */
/* --columns: which columns, in which order. */
#ifndef OPK_EVAL_CHOICE_H
#define OPK_EVAL_CHOICE_H

#include "eval/eval_columns.h"

/* Takes a list with commas between; reports failures. */
int eval_choice_parse(struct eval_choice *choice, struct app *app, const char *list);
void eval_choice_clear(struct eval_choice *choice);

/* The names of values that an input has or may have. */
struct eval_known {
	const char **names;
	size_t count;
	bool more; /* any full metric name may be evaluated, too */
};
/* What a recording names, before it is evaluated; reports failures. */
int eval_known_of_meta(struct eval_known *known, struct app *app, const struct opk_meta *meta);
int eval_known_of_evaluation(struct eval_known *known, struct app *app,
                             const struct opk_evaluation *evaluation);
void eval_known_clear(struct eval_known *known);

/* Whether each name is one column's; reports those that are none's, or two. */
int eval_choice_check(struct app *app, const struct eval_shape *shape, enum opk_profiler profiler,
                      const struct eval_known *known, const char *path);
/* The same over what an evaluation has. */
int eval_choice_check_all(struct app *app, const struct eval_shape *shape,
                          const struct opk_evaluation *evaluation, const char *path);
/* The names that are values, borrowed; `out` has room for all. */
size_t eval_choice_values(const char **out, const struct eval_shape *shape,
                          enum opk_profiler profiler);
/*
 * Which of the evaluation's columns they are, in the order chosen; all of them where none is named.
 * `out` has room for those and for these.
 */
size_t eval_choice_pick(size_t *out, const struct eval_shape *shape,
                        const struct opk_evaluation *evaluation);

#endif
