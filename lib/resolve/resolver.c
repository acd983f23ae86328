/* SPDX-License-Identifier: BSD-2-Clause */
/* What all steps of a resolution share: the list in the making, and the catalog. */
#include "resolve/resolver.h"

#include <string.h>

static void merge(struct opk_entry *old, struct opk_problems *problems,
                  const struct opk_entry *entry)
{
	old->optional &= entry->optional;
	if (!entry->label || (entry->item && entry->item->wrong))
		return;
	if (old->label && strcmp(old->label->text, entry->label->text))
		opk_problems_add(problems, &entry->label->place,
		                 "%.200s has the name '%.100s' already: a metric has one",
		                 entry->name, old->label->text);
	else
		old->label = entry->label;
}

void opk_entries_add(struct opk_entries *entries, struct opk_problems *problems,
                     const struct opk_entry *entry)
{
	struct opk_entry *old = opk_entries_find(entries, entry->name), *added;

	if (old) {
		merge(old, problems, entry);
		return;
	}
	added = opk_list_add(entries);
	if (added) {
		*added = *entry;
		added->name = opk_strdup(entry->name);
	}
	if (added && !added->name)
		entries->count--;
	if (!added || !added->name
	    || !opk_index_add(&entries->names, added->name, entries->count - 1, NULL))
		problems->code = OPK_ENOMEM;
}

static void index_again(struct opk_entries *entries, struct opk_problems *problems)
{
	opk_index_clear(&entries->names);
	for (size_t i = 0; i < entries->count; i++)
		if (!opk_index_add(&entries->names, entries->items[i].name, i, NULL))
			problems->code = OPK_ENOMEM;
}

void opk_entries_drop(struct opk_entries *entries, struct opk_problems *problems,
                      const bool *marked)
{
	size_t kept = 0;

	for (size_t i = 0; i < entries->count; i++) {
		if (marked[i])
			free(entries->items[i].name);
		else
			entries->items[kept++] = entries->items[i];
	}
	entries->count = kept;
	index_again(entries, problems);
}

struct opk_entry *opk_entries_find(const struct opk_entries *entries, const char *name)
{
	size_t i;

	return opk_index_find(&i, &entries->names, name) ? &entries->items[i] : NULL;
}

void opk_entries_clear(struct opk_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->items[i].name);
	free(entries->items);
	opk_index_clear(&entries->names);
	*entries = (struct opk_entries){ 0 };
}

/* ---- what the steps share */

bool opk_resolver_need_catalog(struct opk_resolver *r)
{
	if (r->catalog)
		return true;
	return !r->problems.code
	       && opk_problems_stop(&r->problems,
	                            opk_catalog_of_set_new(&r->catalog, r->ctx, r->target.chip,
	                                                   r->target.profiler,
	                                                   r->target.single_pass))
	       && opk_problems_stop(&r->problems, opk_catalog_complete(r->catalog, r->ctx));
}

void opk_resolver_explain(struct opk_resolver *r, const char *name, const struct opk_place *place)
{
	if (opk_resolver_need_catalog(r))
		opk_catalog_report(&r->problems, r->ctx, place, r->catalog, name);
}

void opk_resolver_leave_out(struct opk_resolver *r, const char *name)
{
	if (!opk_strlist_contains(&r->out->left_out, name)
	    && !opk_strlist_add(&r->out->left_out, name))
		r->problems.code = OPK_ENOMEM;
}

void opk_resolver_add_metric(struct opk_resolver *r, const char *name, const char *label,
                             const struct opk_place *place)
{
	struct opk_resolved *out = r->out;
	size_t capacity = out->metrics.capacity;

	if (!opk_problems_need(&r->problems, opk_strlist_add(&out->metrics, name)
	                                             && opk_strlist_add(&out->labels, label)))
		return;
	if (out->metrics.capacity != capacity) {
		struct opk_place *grown = opk_realloc_array(out->marks, out->metrics.capacity,
		                                            sizeof *grown);

		if (!opk_problems_need(&r->problems, grown))
			return;
		out->marks = grown;
	}
	out->marks[out->metrics.count - 1] = *place;
}
