/* SPDX-License-Identifier: BSD-2-Clause */
/* What a set names metrics with: a name, a glob, or a regular expression between slashes. */
#ifndef OPK_PATTERN_H
#define OPK_PATTERN_H

#include "base/problems.h"
#include "set/expression.h"
#include "set/set.h"

/* In a set, since each is tried on every name of a chip. */
enum { OPK_MAX_PATTERNS = 500 };

enum opk_pattern_kind { OPK_PATTERN_NAME, OPK_PATTERN_GLOB, OPK_PATTERN_REGEX };

/* Whether the expression is one of several by '|', outside parentheses. */
bool opk_regex_is_choice(const char *regex);
enum opk_pattern_kind opk_pattern_kind(const char *text);

struct opk_pattern {
	enum opk_pattern_kind kind;
	const char *text; /* borrowed */
	/* How many characters each match begins with; after the slash of a regular expression. */
	size_t literal;
};

/* False, and a problem, where the text at that place has not the form of one. */
bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place);

/* Some of the names that were asked for, by their numbers from 0 on, ascending. */
struct opk_selection {
	size_t *numbers;
	size_t count;
};

/*
 * Those that match as a whole. A code means that a problem is reported: OPK_EUSAGE, this is no
 * expression; OPK_EINPUT, expressions have no time or memory left.
 */
int opk_pattern_select(struct opk_selection *out, struct opk_ctx *ctx,
                       struct opk_problems *problems, const struct opk_pattern *pattern,
                       const struct opk_place *place, const struct opk_names *names);
void opk_selection_clear(struct opk_selection *selection);
#define opk_autoselection __attribute__((cleanup(opk_selection_clear)))
/* The same without names: whether it can match at all. */
int opk_pattern_check(struct opk_ctx *ctx, struct opk_problems *problems,
                      const struct opk_pattern *pattern, const struct opk_place *place,
                      double *seconds);
/* Whether a name that begins so may match. */
bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning);

#endif
