/* SPDX-License-Identifier: BSD-2-Clause */
/* What sets are made of: making and freeing it. */
#include <string.h>

#include "base/ascii.h"
#include "base/index.h"
#include "set/set.h"

bool opk_set_is_name(const char *text)
{
	return opk_is_letter(*text) && !text[opk_span(text, opk_in_name)] && !strstr(text, "__")
	       && strlen(text) <= 100;
}

bool opk_words_add(struct opk_words *words, const char *text, const struct opk_place *place)
{
	struct opk_word *word = opk_append(&words->items, &words->capacity, &words->count,
	                                   sizeof *word);

	if (!word)
		return false;
	word->place = *place;
	word->text = opk_strdup(text);
	words->count -= !word->text;
	return word->text != NULL;
}

void opk_words_clear(struct opk_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i].text);
	free(words->items);
}

struct opk_set_item *opk_set_items_add(struct opk_set_items *items)
{
	return opk_append(&items->items, &items->capacity, &items->count, sizeof *items->items);
}

bool opk_set_add_name(struct opk_set *set, const char *name)
{
	struct opk_set_item *item = opk_set_items_add(&set->items);

	return item && (item->what.text = opk_strdup(name)) != NULL;
}

void opk_set_items_clear(struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		struct opk_set_item *item = &items->items[i];

		free(item->what.text);
		free(item->as.text);
		free(item->prose.text);
		opk_words_clear(&item->any);
		opk_words_clear(&item->only);
		opk_words_clear(&item->except);
		opk_set_items_clear(&item->items);
	}
	free(items->items);
}

static void clear_changes(struct opk_set *set)
{
	for (size_t i = 0; i < set->changes.count; i++) {
		opk_words_clear(&set->changes.items[i].where);
		opk_set_items_clear(&set->changes.items[i].add);
		opk_words_clear(&set->changes.items[i].remove);
	}
	free(set->changes.items);
}

static void clear_definitions(struct opk_set *set)
{
	for (size_t i = 0; i < set->constants.count; i++) {
		struct opk_constant *constant = &set->constants.items[i];

		free(constant->name.text);
		free(constant->unit.text);
		free(constant->values);
		opk_words_clear(&constant->where);
	}
	free(set->constants.items);
	for (size_t i = 0; i < set->derived.count; i++) {
		struct opk_formula_text *derived = &set->derived.items[i];

		free(derived->name.text);
		free(derived->formula.text);
		free(derived->unit.text);
		free(derived->description.text);
	}
	free(set->derived.items);
}

static void clear_parameters(struct opk_parameter *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(items[i].name.text);
		free(items[i].value);
	}
	free(items);
}

void opk_set_free(struct opk_set *set)
{
	if (!set || --set->users)
		return;
	for (size_t i = 0; i < set->include_count; i++)
		opk_set_free(set->includes[i]);
	free(set->includes);
	free(set->claiming);
	free(set->name);
	free(set->description);
	free(set->path);
	opk_words_clear(&set->chips);
	opk_set_items_clear(&set->items);
	clear_changes(set);
	clear_definitions(set);
	clear_parameters(set->parameters.items, set->parameters.count);
	clear_parameters(set->given.items, set->given.count);
	opk_strlist_clear(&set->metrics);
	opk_strlist_clear(&set->places);
	opk_problems_clear(&set->told);
	/* The places of all of these were in it. */
	opk_source_free(set->source);
	free(set);
}

/* ---- the entries as they are written */

static bool list_one(struct opk_set *set, struct opk_index *seen, const char *text, char *place)
{
	size_t at;
	bool ok = place && opk_index_add(seen, text, set->metrics.count, &at);

	if (!ok || at < set->metrics.count) {
		free(place);
		return ok;
	}
	return opk_strlist_take(&set->places, place) && opk_strlist_add(&set->metrics, text);
}

static bool list_items(struct opk_set *set, struct opk_index *seen,
                       const struct opk_set_items *items)
{
	bool ok = true;

	for (size_t i = 0; ok && i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_GROUP)
			ok = list_items(set, seen, &item->items);
		else if (item->what.text)
			ok = list_one(set, seen, item->what.text,
			              opk_place_text(&item->what.place));
	}
	return ok;
}

static bool add_claiming(struct opk_set *set, const struct opk_set *other)
{
	const struct opk_set **slot;

	for (size_t i = 0; i < set->claiming_count; i++)
		if (set->claiming[i] == other)
			return true;
	slot = opk_append(&set->claiming, &set->claiming_capacity, &set->claiming_count,
	                  sizeof *slot);
	if (slot)
		*slot = other;
	return slot != NULL;
}

static bool find_claiming(struct opk_set *set)
{
	bool ok = true;

	if (set->chips.count)
		return add_claiming(set, set);
	for (size_t i = 0; !set->joined && i < set->include_count; i++)
		for (size_t j = 0; ok && j < set->includes[i]->claiming_count; j++)
			ok = add_claiming(set, set->includes[i]->claiming[j]);
	return ok;
}

bool opk_set_complete(struct opk_set *set)
{
	opk_autoindex struct opk_index seen = { 0 };
	bool ok = find_claiming(set);

	for (size_t i = 0; i < set->include_count; i++) {
		const struct opk_set *from = set->includes[i];

		for (size_t j = 0; ok && j < from->metrics.count; j++)
			ok = list_one(set, &seen, from->metrics.items[j],
			              opk_strdup(from->places.items[j]));
	}
	return ok && list_items(set, &seen, &set->items);
}
