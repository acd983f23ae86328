/* SPDX-License-Identifier: BSD-2-Clause */
/* What a set names metrics with: a name, a glob, or a regular expression between slashes. */
#ifndef OPK_PATTERN_H
#define OPK_PATTERN_H

#include <regex.h>

#include "base/problems.h"
#include "domain/set.h"

enum opk_pattern_kind { OPK_PATTERN_NAME, OPK_PATTERN_GLOB, OPK_PATTERN_REGEX };

enum opk_pattern_kind opk_pattern_kind(const char *text);

struct opk_pattern {
	enum opk_pattern_kind kind;
	const char *text; /* borrowed */
	size_t literal;   /* so many characters each match begins with; a regular expression's stand behind the slash */
	regex_t regex;
};

/* False, and a problem, where the text at that place is none. */
bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place);
void opk_pattern_clear(struct opk_pattern *pattern);
#define opk_autopattern __attribute__((cleanup(opk_pattern_clear)))
/* Of the whole name. */
bool opk_pattern_match(const struct opk_pattern *pattern, const char *name);
/* Whether a name that begins so may match. */
bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning);

#endif
