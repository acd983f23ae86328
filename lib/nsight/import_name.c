/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that are asked for in Nsight Compute's sense, as the language of sets has them. */
#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "set/pattern.h"
#include "nsight/section_fail.h"
#include "nsight/set_import.h"

/* A base metric: each of its first submetrics, as ncu takes it. */
static char *first_submetrics(const char *name)
{
	size_t length = strlen(name);
	bool throughput = length > 10 && !strcmp(name + length - 10, "throughput");

	return opk_printf(throughput ? "/%s\\.[a-z]+\\.pct_of_peak_sustained_elapsed/"
	                             : "/%s\\.[a-z_]+/",
	                  name);
}

/* Nsight Compute's match a part of the name, ours the whole. */
static char *whole_expression(const char *expression)
{
	size_t length = strlen(expression);
	/* "^a|b$" begins with a or ends with b. */
	bool anchored = *expression == '^' && expression[length - 1] == '$'
	                && !opk_regex_is_choice(expression);

	return opk_printf(anchored ? "/%s/" : "/.*(%s).*/", expression);
}

static char *text_of(const struct opk_asked *asked)
{
	if (asked->pattern)
		return whole_expression(asked->name);
	return !strstr(asked->name, "__") || opk_asked_has_rollup(asked->name)
	               ? opk_strdup(asked->name)
	               : first_submetrics(asked->name);
}

/* By itself: ")(" would be sound between parentheses. */
static void check_expression(struct opk_drafts *drafts, struct opk_problems *problems,
                             const char *expression, const struct opk_place *place)
{
	opk_autofree char *text = opk_printf("/%s/", expression);
	struct opk_pattern pattern;

	if (!text)
		problems->no_memory = true;
	else if (strstr(expression, "${"))
		opk_problems_add(problems, place, "'${' stands for a parameter in sets");
	else if (opk_pattern_init(&pattern, problems, text, place))
		opk_pattern_check(drafts->ctx, problems, &pattern, place, &drafts->seconds);
}

static void check(struct opk_drafts *drafts, struct opk_problems *problems,
                  const struct opk_asked *asked, const char *text, const char *wanted,
                  const struct opk_place *place)
{
	struct opk_pattern pattern;

	if (!*asked->name)
		opk_problems_add(problems, place, "a name is needed behind the prefix");
	else if (asked->pattern)
		check_expression(drafts, problems, asked->name, place);
	else if (asked->name[opk_span(asked->name, opk_in_full_name)])
		opk_problems_add(problems, place, "'%.200s' is no metric name", text);
	if (problems->count || problems->no_memory
	    || !opk_pattern_init(&pattern, problems, wanted, place))
		return;
	drafts->patterns += pattern.kind != OPK_PATTERN_NAME;
	if (drafts->patterns > OPK_MAX_PATTERNS)
		opk_problems_add(problems, place, "more than %d expressions and base metrics",
		                 OPK_MAX_PATTERNS);
}

int opk_drafts_name(char **out, struct opk_drafts *drafts, const struct opk_asked *asked,
                    const char *text, const struct opk_place *place)
{
	opk_autoproblems struct opk_problems problems = { 0 };
	opk_autofree char *wanted = *asked->name ? text_of(asked) : opk_strdup("");
	int code;

	if (!wanted)
		return opk_nomem(drafts->ctx, "a metric set");
	check(drafts, &problems, asked, text, wanted, place);
	code = opk_problems_fail(drafts->ctx, &problems, OPK_EINPUT, "");
	if (!code)
		*out = opk_take(wanted);
	return code;
}

int opk_drafts_leave_out_parts(struct opk_drafts *drafts, const struct opk_asked *asked,
                               const char *text)
{
	if (!asked->breakdown)
		return OPK_OK;
	return opk_drafts_leave_out(
		drafts,
		"the parts of a throughput, which is in the set itself; offpeak "
		"describe lists them",
		text, NULL);
}
