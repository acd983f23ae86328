/* SPDX-License-Identifier: BSD-2-Clause */
#include "nsight/set_draft.h"

#include <string.h>

bool opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler)
{
	*draft = (struct opk_draft){ .profiler = profiler, .claimed = opk_chips_all() };
	draft->name = opk_strdup(name);
	draft->description = opk_strdup(description);
	return draft->name && draft->description && opk_draft_enter(draft, "", "");
}

/* "${" is where a set's own parameters are put in. */
static char *copy_prose(const char *text)
{
	char *prose = opk_strdup(text);

	for (char *c = prose; c && (c = strstr(c, "${"));)
		*c = ' ';
	return prose;
}

bool opk_draft_enter(struct opk_draft *draft, const char *title, const char *text)
{
	struct opk_draft_group *group;

	if (draft->group_count && !strcmp(draft->groups[draft->group_count - 1].title, title))
		return true;
	if (!opk_grow(&draft->groups, &draft->group_capacity, draft->group_count, sizeof *group))
		return false;
	group = &draft->groups[draft->group_count++];
	*group = (struct opk_draft_group){ .title = copy_prose(title),
		                           .text = copy_prose(text),
		                           .first = draft->metric_count };
	if (group->title && group->text)
		return true;
	free(group->title);
	free(group->text);
	draft->group_count--;
	return false;
}

struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name)
{
	size_t i;

	return opk_index_find(&i, &draft->names, name) ? &draft->metrics[i] : NULL;
}

/* NULL stays NULL. */
static bool copy(char **out, const char *text)
{
	*out = text ? opk_strdup(text) : NULL;
	return !text || *out;
}

static void clear_metric(struct opk_draft_metric *metric)
{
	free(metric->name);
	free(metric->label);
	free(metric->comment);
}

bool opk_draft_add(struct opk_draft *draft, const struct opk_draft_metric *metric)
{
	struct opk_draft_metric *added;

	if (!opk_grow(&draft->metrics, &draft->metric_capacity, draft->metric_count, sizeof *added))
		return false;
	added = &draft->metrics[draft->metric_count];
	*added = (struct opk_draft_metric){ .chips = metric->chips, .optional = metric->optional };
	if (copy(&added->name, metric->name) && copy(&added->label, metric->label)
	    && copy(&added->comment, metric->comment)
	    && opk_index_add(&draft->names, added->name, draft->metric_count, NULL)) {
		draft->metric_count++;
		draft->groups[draft->group_count - 1].count++;
		return true;
	}
	clear_metric(added);
	return false;
}

bool opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula)
{
	struct opk_draft_formula *added;

	if (!opk_grow(&draft->formulas, &draft->formula_capacity, draft->formula_count,
	              sizeof *added))
		return false;
	added = &draft->formulas[draft->formula_count];
	*added = (struct opk_draft_formula){ .name = opk_strdup(name),
		                             .formula = opk_strdup(formula) };
	if (added->name && added->formula) {
		draft->formula_count++;
		return true;
	}
	free(added->name);
	free(added->formula);
	return false;
}

static struct opk_draft_reason *reason_of(struct opk_draft *draft, const char *text)
{
	struct opk_draft_reason *reason;

	for (size_t i = 0; i < draft->reason_count; i++)
		if (!strcmp(draft->reasons[i].reason, text))
			return &draft->reasons[i];
	if (!opk_grow(&draft->reasons, &draft->reason_capacity, draft->reason_count,
	              sizeof *reason))
		return NULL;
	reason = &draft->reasons[draft->reason_count];
	*reason = (struct opk_draft_reason){ .reason = opk_strdup(text) };
	if (!reason->reason)
		return NULL;
	draft->reason_count++;
	return reason;
}

bool opk_draft_leave_out(struct opk_draft *draft, const char *reason, const char *name)
{
	struct opk_draft_reason *under = reason_of(draft, reason);

	if (!under || opk_index_find(NULL, &under->known, name))
		return under;
	return opk_strlist_add(&under->names, name)
	       && opk_index_add(&under->known, under->names.items[under->names.count - 1], 0, NULL);
}

size_t opk_draft_left_out_count(const struct opk_draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->reason_count; i++)
		count += draft->reasons[i].names.count;
	return count;
}

void opk_draft_clear(struct opk_draft *draft)
{
	for (size_t i = 0; i < draft->metric_count; i++)
		clear_metric(&draft->metrics[i]);
	for (size_t i = 0; i < draft->group_count; i++) {
		free(draft->groups[i].title);
		free(draft->groups[i].text);
	}
	for (size_t i = 0; i < draft->formula_count; i++) {
		free(draft->formulas[i].name);
		free(draft->formulas[i].formula);
	}
	for (size_t i = 0; i < draft->reason_count; i++) {
		free(draft->reasons[i].reason);
		opk_strlist_clear(&draft->reasons[i].names);
		opk_index_clear(&draft->reasons[i].known);
	}
	free(draft->metrics);
	opk_index_clear(&draft->names);
	free(draft->groups);
	free(draft->formulas);
	free(draft->reasons);
	opk_strlist_clear(&draft->comments);
	opk_strlist_clear(&draft->chips);
	free(draft->name);
	free(draft->description);
	*draft = (struct opk_draft){ 0 };
}
