/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/set_draft.h"

#include <string.h>

bool opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler)
{
	*draft = (struct opk_draft){ .profiler = profiler, .claimed = opk_chips_all() };
	draft->name = opk_strdup(name);
	draft->description = opk_strdup(description);
	return draft->name && draft->description && opk_draft_group(draft, "", "");
}

/* "${" is where a set's own parameters are put in. */
static char *copy_prose(const char *text)
{
	char *prose = opk_strdup(text);

	for (char *c = prose; c && (c = strstr(c, "${"));)
		*c = ' ';
	return prose;
}

struct opk_draft_group *opk_draft_group(struct opk_draft *draft, const char *title, const char *text)
{
	struct opk_draft_group *group;

	if (draft->group_count && !strcmp(draft->groups[draft->group_count - 1].title, title))
		return &draft->groups[draft->group_count - 1];
	if (!opk_grow(&draft->groups, &draft->group_capacity, draft->group_count, sizeof *group))
		return NULL;
	group = &draft->groups[draft->group_count++];
	*group = (struct opk_draft_group){ .title = copy_prose(title), .text = copy_prose(text) };
	if (group->title && group->text)
		return group;
	free(group->title);
	free(group->text);
	draft->group_count--;
	return NULL;
}

struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->group_count; i++)
		for (size_t k = 0; k < draft->groups[i].count; k++)
			if (!strcmp(draft->groups[i].metrics[k].name, name))
				return &draft->groups[i].metrics[k];
	return NULL;
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

bool opk_draft_add(struct opk_draft_group *group, const struct opk_draft_metric *metric)
{
	struct opk_draft_metric *added;

	if (!opk_grow(&group->metrics, &group->capacity, group->count, sizeof *added))
		return false;
	added = &group->metrics[group->count];
	*added = (struct opk_draft_metric){ .chips = metric->chips, .optional = metric->optional };
	if (copy(&added->name, metric->name) && copy(&added->label, metric->label)
	    && copy(&added->comment, metric->comment)) {
		group->count++;
		return true;
	}
	clear_metric(added);
	return false;
}

bool opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula)
{
	struct opk_draft_formula *added;

	if (!opk_grow(&draft->formulas, &draft->formula_capacity, draft->formula_count, sizeof *added))
		return false;
	added = &draft->formulas[draft->formula_count];
	*added = (struct opk_draft_formula){ .name = opk_strdup(name), .formula = opk_strdup(formula) };
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
	if (!opk_grow(&draft->reasons, &draft->reason_capacity, draft->reason_count, sizeof *reason))
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

	return under
	       && (opk_strlist_contains(&under->names, name) || opk_strlist_add(&under->names, name));
}

size_t opk_draft_metric_count(const struct opk_draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->group_count; i++)
		count += draft->groups[i].count;
	return count;
}

size_t opk_draft_left_out_count(const struct opk_draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->reason_count; i++)
		count += draft->reasons[i].names.count;
	return count;
}

static void clear_group(struct opk_draft_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		clear_metric(&group->metrics[i]);
	free(group->metrics);
	free(group->title);
	free(group->text);
}

void opk_draft_clear(struct opk_draft *draft)
{
	for (size_t i = 0; i < draft->group_count; i++)
		clear_group(&draft->groups[i]);
	for (size_t i = 0; i < draft->formula_count; i++) {
		free(draft->formulas[i].name);
		free(draft->formulas[i].formula);
	}
	for (size_t i = 0; i < draft->reason_count; i++) {
		free(draft->reasons[i].reason);
		opk_strlist_clear(&draft->reasons[i].names);
	}
	free(draft->groups);
	free(draft->formulas);
	free(draft->reasons);
	opk_strlist_clear(&draft->comments);
	opk_strlist_clear(&draft->chips);
	free(draft->name);
	free(draft->description);
	*draft = (struct opk_draft){ 0 };
}
