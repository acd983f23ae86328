/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets in the making: adds metrics under their names, up to the limits. */
#include "nsight/nsight.h"

#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/problems.h"
#include "set/set.h"

enum { MAX_ASKED = 50000, MAX_METRICS = 10000 };

/* ---- one set */

/* NULL stays NULL. */
static char *copy(struct opk_draft *draft, const char *text)
{
	char *out = text ? opk_strdup(text) : NULL;

	draft->failed |= text && !out;
	return out;
}

/* Escapes "${", which marks parameters of sets. */
static char *copy_prose(struct opk_draft *draft, const char *text)
{
	char *prose = copy(draft, text);

	for (char *c = prose; c && (c = strstr(c, "${"));)
		*c = ' ';
	return prose;
}

/* The added element; NULL when out of memory, now or before. */
static void *need(struct opk_draft *draft, void *added)
{
	draft->failed |= !added;
	return draft->failed ? NULL : added;
}

static void add_heading(struct opk_draft *draft, const char *title, const char *text)
{
	struct opk_draft_heading *added = need(draft, opk_list_add(&draft->headings));

	if (added)
		*added = (struct opk_draft_heading){ .title = copy_prose(draft, title),
			                             .text = copy_prose(draft, text),
			                             .first = draft->metrics.count };
}

void opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler)
{
	*draft = (struct opk_draft){ .profiler = profiler, .claimed = opk_chips_all() };
	draft->name = copy(draft, name);
	draft->description = copy(draft, description);
	add_heading(draft, "", "");
}

void opk_draft_comment(struct opk_draft *draft, char *text)
{
	draft->failed |= !opk_strlist_take(&draft->comments, text);
}

struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name)
{
	size_t i;

	return opk_index_find(&i, &draft->names, name) ? &draft->metrics.items[i] : NULL;
}

void opk_draft_add(struct opk_draft *draft, const struct opk_draft_metric *metric)
{
	struct opk_draft_metric *added = need(draft, opk_list_add(&draft->metrics));

	if (!added)
		return;
	*added = *metric;
	added->name = copy(draft, metric->name);
	added->label = copy(draft, metric->label);
	added->comment = copy(draft, metric->comment);
	draft->headings.items[draft->headings.count - 1].count++;
	draft->failed |= !added->name
	                 || !opk_index_add(&draft->names, added->name, draft->metrics.count - 1,
	                                   NULL);
}

void opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula)
{
	struct opk_draft_formula *added = need(draft, opk_list_add(&draft->formulas));

	if (added)
		*added = (struct opk_draft_formula){ copy(draft, name), copy(draft, formula) };
}

void opk_draft_note(struct opk_draft *draft, char *text)
{
	if (text && opk_strlist_contains(&draft->notes, text))
		free(text);
	else
		draft->failed |= !opk_strlist_take(&draft->notes, text);
}

void opk_draft_include(struct opk_draft *draft, const char *set)
{
	if (!opk_strlist_contains(&draft->includes, set))
		draft->failed |= !opk_strlist_add(&draft->includes, set);
}

bool opk_draft_is_empty(const struct opk_draft *draft)
{
	return !draft->metrics.count && !draft->includes.count;
}

static struct opk_draft_reason *reason_of(struct opk_draft *draft, const char *text)
{
	struct opk_draft_reason *added;

	for (size_t i = 0; i < draft->reasons.count; i++)
		if (!strcmp(draft->reasons.items[i].reason, text))
			return &draft->reasons.items[i];
	added = need(draft, opk_list_add(&draft->reasons));
	if (added)
		added->reason = copy(draft, text);
	return added;
}

void opk_draft_leave_out(struct opk_draft *draft, const char *reason, const char *name)
{
	struct opk_draft_reason *under = draft->failed ? NULL : reason_of(draft, reason);

	if (draft->failed || opk_index_find(NULL, &under->known, name))
		return;
	draft->failed |= !opk_strlist_add(&under->names, name)
	                 || !opk_index_add(&under->known,
	                                   under->names.items[under->names.count - 1], 0, NULL);
}

size_t opk_draft_left_out_count(const struct opk_draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->reasons.count; i++)
		count += draft->reasons.items[i].names.count;
	return count;
}

void opk_draft_clear(struct opk_draft *draft)
{
	for (size_t i = 0; i < draft->metrics.count; i++) {
		free(draft->metrics.items[i].name);
		free(draft->metrics.items[i].label);
		free(draft->metrics.items[i].comment);
	}
	for (size_t i = 0; i < draft->headings.count; i++) {
		free(draft->headings.items[i].title);
		free(draft->headings.items[i].text);
	}
	for (size_t i = 0; i < draft->formulas.count; i++) {
		free(draft->formulas.items[i].name);
		free(draft->formulas.items[i].formula);
	}
	for (size_t i = 0; i < draft->reasons.count; i++) {
		free(draft->reasons.items[i].reason);
		opk_strlist_clear(&draft->reasons.items[i].names);
		opk_index_clear(&draft->reasons.items[i].known);
	}
	free(draft->metrics.items);
	opk_index_clear(&draft->names);
	free(draft->headings.items);
	free(draft->formulas.items);
	free(draft->reasons.items);
	opk_strlist_clear(&draft->comments);
	opk_strlist_clear(&draft->notes);
	opk_strlist_clear(&draft->includes);
	opk_strlist_clear(&draft->chips);
	free(draft->name);
	free(draft->description);
	*draft = (struct opk_draft){ 0 };
}

/* ---- all sets of a file */

bool opk_drafts_count(struct opk_drafts *drafts, size_t fields)
{
	enum { FEW_FIELDS = 64 };

	drafts->asked += 1 + fields / FEW_FIELDS;
	if (!drafts->code && drafts->asked > MAX_ASKED)
		drafts->code = opk_fail(drafts->ctx, OPK_EINPUT,
		                        "%s: names metrics more than %d times", drafts->path,
		                        MAX_ASKED);
	return !drafts->code;
}

void opk_drafts_put(struct opk_drafts *drafts, size_t which, const char *title, const char *text,
                    const struct opk_draft_metric *metric)
{
	struct opk_draft *draft = &drafts->drafts[which];
	struct opk_draft_metric *found = opk_draft_find(draft, metric->name);

	if (drafts->code || draft->failed)
		return;
	if (found) {
		found->chips |= metric->chips;
		return;
	}
	if (draft->metrics.count >= MAX_METRICS) {
		drafts->code = opk_fail(drafts->ctx, OPK_EINPUT, "%s: more than %d metrics",
		                        drafts->path, MAX_METRICS);
		return;
	}
	if (strcmp(draft->headings.items[draft->headings.count - 1].title, title) != 0)
		add_heading(draft, title, text);
	opk_draft_add(draft, metric);
}

void opk_drafts_leave_out(struct opk_drafts *drafts, const char *reason, const char *name,
                          const char *label)
{
	opk_autofree char *text = label && *label ? opk_printf("%s (%s)", name, label)
	                                          : opk_strdup(name);

	if (text)
		opk_draft_leave_out(&drafts->left, reason, text);
	drafts->left.failed |= !text;
}

/* ---- names of Nsight Compute in the syntax of sets */

/* A base metric means its first submetrics, as for ncu. */
static char *first_submetrics(const char *name)
{
	size_t length = strlen(name);
	bool throughput = length > 10 && !strcmp(name + length - 10, "throughput");

	return opk_printf(throughput ? "/%s\\.[a-z]+\\.pct_of_peak_sustained_elapsed/"
	                             : "/%s\\.[a-z_]+/",
	                  name);
}

/* Nsight Compute's expressions match a part of a name, those of sets all of it. */
static char *whole_expression(const char *expression)
{
	size_t length = strlen(expression);
	/* "^a|b$" matches names that begin with a or end with b. */
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

/* Checks the expression before parentheses are put around it: then ")(" would be valid. */
static void check_expression(struct opk_drafts *drafts, struct opk_problems *problems,
                             const char *expression, const struct opk_place *place)
{
	opk_autofree char *text = opk_printf("/%s/", expression);
	struct opk_pattern pattern;

	if (!text)
		problems->code = OPK_ENOMEM;
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
		opk_problems_add(problems, place, "a name is needed after the prefix");
	else if (asked->pattern)
		check_expression(drafts, problems, asked->name, place);
	else if (asked->name[opk_span(asked->name, opk_in_full_name)])
		opk_problems_add(problems, place, "'%.200s' is not a metric name", text);
	if (problems->count || problems->code
	    || !opk_pattern_init(&pattern, problems, wanted, place))
		return;
	drafts->patterns += pattern.kind != OPK_PATTERN_NAME;
	if (drafts->patterns > OPK_MAX_PATTERNS)
		opk_problems_add(problems, place, "more than %d expressions and base metrics",
		                 OPK_MAX_PATTERNS);
}

char *opk_drafts_name(struct opk_drafts *drafts, const struct opk_asked *asked, const char *text,
                      const struct opk_place *place)
{
	opk_autoproblems struct opk_problems problems = { 0 };
	opk_autofree char *wanted = NULL;

	if (drafts->code)
		return NULL;
	wanted = *asked->name ? text_of(asked) : opk_strdup("");
	if (wanted)
		check(drafts, &problems, asked, text, wanted, place);
	drafts->code = wanted ? opk_problems_fail(drafts->ctx, &problems, OPK_EINPUT, "")
	                      : opk_nomem(drafts->ctx, "a metric set");
	return drafts->code ? NULL : opk_take(wanted);
}

bool opk_drafts_put_name(struct opk_drafts *drafts, const char *text, const struct opk_place *place,
                         const char *label, const char *comment)
{
	struct opk_asked asked = opk_asked_name(text);
	bool legacy = !asked.group && !strstr(asked.name, "__");
	size_t which = asked.profiler == OPK_PROFILER_PM ? OPK_DRAFT_PM
	               : asked.device                    ? OPK_DRAFT_DEVICE
	                                                 : OPK_DRAFT_RANGE;
	opk_autofree char *name = NULL;

	if (asked.reason && !legacy) {
		opk_drafts_leave_out(drafts, asked.reason, text, label);
		return false;
	}
	name = opk_drafts_name(drafts, &asked, text, place);
	if (!name)
		return false;
	opk_drafts_put(drafts, which, "", "",
	               &(struct opk_draft_metric){ .name = name,
	                                           .label = (char *)label,
	                                           .comment = (char *)comment,
	                                           .chips = drafts->chips });
	opk_drafts_put_parts(drafts, &asked, text, "");
	return !drafts->code;
}
