/* SPDX-License-Identifier: BSD-2-Clause */
/* Expands entries of a set to full names of a chip. */
#include <string.h>

#include "base/nearest.h"
#include "chip/door.h"
#include "resolve/resolver.h"
#include "set/set.h"

enum { MAX_NAMES = 10000, MAX_LENGTH = 1024 };

/* What is being expanded, and the result. */
struct expansion {
	struct opk_entries *list;
	const struct opk_set_item *heading;
};

/* Adds the entry, if there is room; reports a lack of room once. */
static void add_entry(struct opk_resolver *r, struct opk_entries *list,
                      const struct opk_entry *entry)
{
	if (list->count < MAX_NAMES || opk_entries_find(list, entry->name)) {
		opk_entries_add(list, &r->problems, entry);
		return;
	}
	if (!r->full)
		opk_problems_add(&r->problems, &entry->place,
		                 "with this there are more than %d metrics", MAX_NAMES);
	r->full = true;
}

static void add(struct opk_resolver *r, const struct expansion *e, const struct opk_set_item *item,
                const char *name, long derived)
{
	const struct opk_entry entry = {
		.name = (char *)(uintptr_t)name,
		.label = item->as.text && derived == OPK_NOT_DERIVED ? &item->as : NULL,
		.place = item->what.place,
		.item = item,
		.heading = e->heading,
		.derived = derived,
		.optional = item->optional || item->wrong,
	};

	add_entry(r, e->list, &entry);
}

/* The entry's error is reported: don't report the entry as missing, too. */
static void lose(struct opk_resolver *r, const struct opk_set_item *item)
{
	r->lost = true;
	if (item->as.text && !opk_strlist_add(&r->lost_labels, item->as.text))
		r->problems.code = OPK_ENOMEM;
}

/* ---- patterns */

/* Finds the matching names; false, with a problem reported, if it can't. */
static bool select_names(struct opk_resolver *r, struct opk_selection *out,
                         const struct opk_pattern *pattern, const struct opk_place *place,
                         const char *next(void *data), void *data)
{
	const struct opk_names names = { next, data, &r->seconds };

	if (pattern->kind == OPK_PATTERN_REGEX && r->seconds <= 0)
		return false;
	return !opk_pattern_select(out, r->ctx, &r->problems, pattern, place, &names);
}

/* A chip's full names that may match. */
struct full_names {
	const struct opk_catalog *catalog;
	const struct opk_pattern *pattern;
	size_t metric, submetric;
	char text[MAX_LENGTH];
};

static const char *next_full_name(void *data)
{
	struct full_names *names = data;

	for (; names->metric < opk_catalog_count(names->catalog);
	     names->metric++, names->submetric = 0) {
		const struct opk_metric *metric = opk_catalog_get(names->catalog, names->metric);

		if (!opk_pattern_may_match(names->pattern, metric->name))
			continue;
		while (names->submetric < opk_catalog_submetric_count(names->catalog, metric)) {
			struct opk_submetric submetric = opk_catalog_submetric(names->catalog,
			                                                       metric,
			                                                       names->submetric++);

			if (snprintf(names->text, MAX_LENGTH, "%s%s", metric->name,
			             submetric.suffix)
			    < MAX_LENGTH)
				return names->text;
		}
	}
	return NULL;
}

static void add_matches(struct opk_resolver *r, const struct expansion *e,
                        const struct opk_set_item *item, const struct opk_pattern *pattern,
                        const struct opk_selection *selection)
{
	struct full_names names = { .catalog = r->catalog, .pattern = pattern };
	const char *name;

	for (size_t i = 0, found = 0;
	     found < selection->count && !r->full && (name = next_full_name(&names)); i++)
		if (i == selection->numbers[found]) {
			add(r, e, item, name, OPK_NOT_DERIVED);
			found++;
		}
}

static void expand_pattern(struct opk_resolver *r, const struct expansion *e,
                           const struct opk_set_item *item, const struct opk_pattern *pattern)
{
	opk_autoselection struct opk_selection selection = { 0 };
	struct full_names names = { .pattern = pattern };

	if (!opk_resolver_need_catalog(r))
		return;
	names.catalog = r->catalog;
	if (!select_names(r, &selection, pattern, &item->what.place, next_full_name, &names)) {
		lose(r, item);
	} else if (selection.count) {
		add_matches(r, e, item, pattern, &selection);
	} else if (item->optional || item->wrong) {
		opk_resolver_leave_out(r, pattern->text);
	} else {
		lose(r, item);
		opk_problems_add(&r->problems, &item->what.place,
		                 OPK_THE_CHIP " has no metric that matches %.200s%s", pattern->text,
		                 opk_profiler_phrase(r->target.profiler));
	}
}

/* ---- names */

static bool chip_has(struct opk_resolver *r, const char *name)
{
	return opk_catalog_has_full(r->catalog, r->ctx, name);
}

static void expand_name(struct opk_resolver *r, const struct expansion *e,
                        const struct opk_set_item *item, const char *name)
{
	size_t derived;

	if (opk_index_find(&derived, &r->symbols.names, item->as.text ? item->as.text : name)
	    || opk_index_find(&derived, &r->symbols.names, name)) {
		add(r, e, item, r->symbols.derived.items[derived].name.text, (long)derived);
		return;
	}
	if ((item->optional || item->wrong) && opk_resolver_need_catalog(r) && !chip_has(r, name))
		opk_resolver_leave_out(r, name);
	else
		add(r, e, item, name, OPK_NOT_DERIVED);
}

/* The first candidate that the chip has and CUPTI plans; NULL: none, or a failure. free(). */
static char *find_candidate(struct opk_resolver *r, const struct opk_set_item *item)
{
	for (size_t i = 0; i < item->any.count && !r->problems.code; i++) {
		opk_autofree char *name = opk_symbols_substitute(&r->symbols, &item->any.items[i]);

		if (name && chip_has(r, name) && opk_resolver_plans(r, name))
			return opk_take(name);
	}
	return NULL;
}

/* Text that can't be a full name is already reported; the chip may have the metric it meant. */
static bool may_all_be_metrics(struct opk_resolver *r, const struct opk_set_item *item)
{
	for (size_t i = 0; i < item->any.count; i++) {
		opk_autofree char *name = opk_symbols_substitute(&r->symbols, &item->any.items[i]);

		if (!name || !strstr(name, "__") || opk_pattern_kind(name) != OPK_PATTERN_NAME)
			return false;
	}
	return item->any.count;
}

static void expand_any(struct opk_resolver *r, const struct expansion *e,
                       const struct opk_set_item *item)
{
	opk_autofree char *name = opk_resolver_need_catalog(r) ? find_candidate(r, item) : NULL;

	if (name) {
		add(r, e, item, name, OPK_NOT_DERIVED);
		return;
	}
	if (item->optional) {
		opk_resolver_leave_out(r, item->as.text ? item->as.text : item->what.text);
		return;
	}
	lose(r, item);
	if (!r->problems.code && !item->wrong && may_all_be_metrics(r, item))
		opk_problems_add(&r->problems, &item->what.place,
		                 OPK_THE_CHIP " has none of these %zu metrics%s", item->any.count,
		                 opk_profiler_phrase(r->target.profiler));
}

/* ---- entries */

static bool applies(const struct opk_resolver *r, const struct opk_set_item *item)
{
	return (!item->only.count || opk_where_any(&item->only, r->target.chip, r->target.profiler))
	       && !opk_where_any(&item->except, r->target.chip, r->target.profiler);
}

/* A derived metric that is listed for other chips is not shown on this one. */
static void pass_over(struct opk_resolver *r, const char *name)
{
	size_t derived;

	if (name && opk_index_find(&derived, &r->symbols.names, name))
		r->suppressed[derived] = true;
}

static void expand_metric(struct opk_resolver *r, const struct expansion *e,
                          const struct opk_set_item *item)
{
	opk_autofree char *text = opk_symbols_substitute(&r->symbols, &item->what);
	struct opk_pattern pattern;

	if (!applies(r, item))
		pass_over(r, text);
	else if (!text || !opk_pattern_init(&pattern, &r->problems, text, &item->what.place))
		lose(r, item);
	else if (pattern.kind == OPK_PATTERN_NAME)
		expand_name(r, e, item, text);
	else
		expand_pattern(r, e, item, &pattern);
}

static void expand(struct opk_resolver *r, const struct expansion *e,
                   const struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count && !r->problems.code; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_HEADING)
			expand(r, &(struct expansion){ e->list, item }, &item->items);
		else if (!item->what.text)
			lose(r, item);
		else if (item->kind == OPK_SET_ITEM_METRIC)
			expand_metric(r, e, item);
		else if (applies(r, item))
			expand_any(r, e, item);
	}
}

/* ---- changes */

/* Names by number: the list's entries, then all derived metrics, then what was left out. */
struct listed_names {
	const struct opk_resolver *r;
	const struct opk_entries *list;
	size_t at;
};

static const char *next_listed_name(void *data)
{
	struct listed_names *names = data;
	const struct opk_strlist *left_out = &names->r->out->left_out;
	size_t count = names->list->count, derived = names->r->symbols.derived.count;
	size_t i = names->at++;

	if (i < count)
		return names->list->items[i].name;
	if (i - count < derived)
		return names->r->symbols.derived.items[i - count].name.text;
	i -= count + derived;
	return i < left_out->count ? left_out->items[i] : NULL;
}

/* An entry's short name is also one of its names. */
static size_t mark_label(const struct opk_entries *list, const char *text, bool *marked)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!marked[i] && list->items[i].label
		    && !strcmp(list->items[i].label->text, text)) {
			marked[i] = true;
			count++;
		}
	return count;
}

/*
 * Drops what is selected. Derived metrics that no list has so far will not be shown, and optional
 * metrics that the chip lacks are no longer reported as left out.
 */
static size_t drop(struct opk_resolver *r, struct opk_entries *list,
                   const struct opk_pattern *pattern, const struct opk_selection *selection)
{
	opk_autofree bool *marked = opk_alloc_array(list->count + 1, sizeof *marked);
	size_t count = selection->count;

	if (!opk_problems_need(&r->problems, marked))
		return 0;
	for (size_t i = selection->count; i-- > 0;) {
		size_t number = selection->numbers[i], derived = number - list->count;

		if (number < list->count)
			marked[number] = true;
		else if (derived < r->symbols.derived.count)
			r->suppressed[derived] = true;
		else
			opk_strlist_remove(&r->out->left_out, derived - r->symbols.derived.count);
	}
	if (pattern->kind == OPK_PATTERN_NAME)
		count += mark_label(list, pattern->text, marked);
	if (count)
		opk_entries_drop(list, &r->problems, marked);
	return count;
}

static void report_nothing(struct opk_resolver *r, const struct opk_entries *list,
                           const struct opk_word *word, const char *text)
{
	struct opk_nearest nearest = { .name = text };

	/* The name may be an optional or a wrong entry. */
	if (r->lost || opk_strlist_contains(&r->out->left_out, text))
		return;
	for (size_t i = 0; i < list->count && !opk_problems_full(&r->problems); i++)
		opk_nearest_try(&nearest, list->items[i].name);
	opk_problems_add(&r->problems, &word->place,
	                 "on " OPK_THE_CHIP
	                 " the set has no %.200s that could be removed" OPK_DID_YOU_MEAN,
	                 text, OPK_NEAR(nearest.best));
}

static void remove_one(struct opk_resolver *r, struct opk_entries *list,
                       const struct opk_word *word)
{
	opk_autofree char *text = opk_symbols_substitute(&r->symbols, word);
	opk_autoselection struct opk_selection selection = { 0 };
	struct listed_names names = { r, list, 0 };
	struct opk_pattern pattern;

	if (!text || !opk_pattern_init(&pattern, &r->problems, text, &word->place)
	    || !select_names(r, &selection, &pattern, &word->place, next_listed_name, &names))
		return;
	if (!drop(r, list, &pattern, &selection))
		report_nothing(r, list, word, text);
}

static void change(struct opk_resolver *r, struct opk_entries *list,
                   const struct opk_change *change)
{
	if (!opk_where_any(&change->where, r->target.chip, r->target.profiler))
		return;
	for (size_t i = 0; i < change->remove.count && !r->problems.code; i++)
		remove_one(r, list, &change->remove.items[i]);
	expand(r, &(struct expansion){ list, NULL }, &change->add);
}

/* ---- the list of a set */

static const struct opk_entries *list_of(const struct opk_resolver *r, const struct opk_set *set)
{
	size_t i = 0;

	while (r->symbols.sets.items[i] != set
	       && !(set->inode && r->symbols.sets.items[i]->inode == set->inode
	            && r->symbols.sets.items[i]->device == set->device))
		i++;
	return &r->lists[i];
}

void opk_resolve_list(struct opk_resolver *r, size_t n)
{
	const struct opk_set *set = r->symbols.sets.items[n];
	struct opk_entries *list = &r->lists[n];

	for (size_t i = 0; i < set->includes.count; i++) {
		const struct opk_entries *from = list_of(r, set->includes.items[i]);

		for (size_t j = 0; j < from->count && !r->full; j++)
			add_entry(r, list, &from->items[j]);
	}
	expand(r, &(struct expansion){ list, NULL }, &set->items);
	for (size_t i = 0; i < set->changes.count && !r->problems.code; i++)
		change(r, list, &set->changes.items[i]);
}
