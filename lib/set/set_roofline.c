/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what a set's roofline is drawn from, and checks that its names mean something. */
#include <string.h>

#include "base/nearest.h"
#include "set/set_read.h"

void opk_set_roofline_clear(struct opk_set_roofline *roofline)
{
	free(roofline->title.text);
	free(roofline->time.text);
	opk_words_clear(&roofline->work);
	for (size_t i = 0; i < roofline->roofs.count; i++) {
		free(roofline->roofs.items[i].name.text);
		free(roofline->roofs.items[i].bytes.text);
		free(roofline->roofs.items[i].peak.text);
		free(roofline->roofs.items[i].work.text);
		free(roofline->roofs.items[i].throughput.text);
	}
	free(roofline->roofs.items);
}

/* ---- the form */

static void read_work(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_roofline *roofline = object;

	opk_set_read_words(r, &roofline->work, value, "metric", "metrics");
}

static struct opk_set_roof *add_roof(struct opk_set_reader *r, struct opk_set_roofline *roofline,
                                     const struct opk_yaml *name)
{
	struct opk_set_roof *roof = opk_list_add(&roofline->roofs);

	if (!opk_problems_need(r->problems, roof))
		return NULL;
	opk_set_read_word(r, &roof->name, name);
	return roof;
}

/* Calls `read` with each key and value of a map from names to values. */
static void each(struct opk_set_reader *r, struct opk_set_roofline *roofline,
                 const struct opk_yaml *map, const char *what,
                 void (*read)(struct opk_set_reader *r, struct opk_set_roof *roof,
                              const struct opk_yaml *value))
{
	if (map->kind != OPK_YAML_MAP) {
		if (map->kind != OPK_YAML_BAD)
			opk_problems_add(r->problems, &map->place,
			                 "a map is needed here, from the name of each %s", what);
		return;
	}
	for (size_t i = 0; i + 1 < map->count; i += 2) {
		struct opk_set_roof *roof = NULL;

		if (map->items[i].kind == OPK_YAML_SCALAR)
			roof = add_roof(r, roofline, &map->items[i]);
		if (roof)
			read(r, roof, &map->items[i + 1]);
	}
}

static const struct opk_set_field level_fields[] = {
	{ "bytes", .word = offsetof(struct opk_set_roof, bytes) },
	{ "peak", .word = offsetof(struct opk_set_roof, peak) },
	{ "throughput", .word = offsetof(struct opk_set_roof, throughput) },
};

static void read_level(struct opk_set_reader *r, struct opk_set_roof *roof,
                       const struct opk_yaml *value)
{
	static const char what[] = "a map with bytes and peak is needed here";

	if ((opk_set_read_map(r, roof, value, level_fields, 3, what) & 3) != 3)
		opk_problems_add(r->problems, &value->place, what);
}

static const struct opk_set_field peak_fields[] = {
	{ "work", .word = offsetof(struct opk_set_roof, work) },
	{ "peak", .word = offsetof(struct opk_set_roof, peak) },
};

/* A peak alone is only a line in the picture: no kernel is judged by it. */
static void read_peak(struct opk_set_reader *r, struct opk_set_roof *roof,
                      const struct opk_yaml *value)
{
	static const char what[] = "a peak, or a map with work and peak, is needed here";

	if (value->kind == OPK_YAML_SCALAR)
		opk_set_read_word(r, &roof->peak, value);
	else if ((opk_set_read_map(r, roof, value, peak_fields, 2, what) & 3) != 3)
		opk_problems_add(r->problems, &value->place, what);
}

static void read_levels(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	each(r, object, value, "level of memory", read_level);
}

static void read_roofs(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	each(r, object, value, "roof", read_peak);
}

enum { WORK, TIME, LEVELS, NEEDED };

static const struct opk_set_field fields[] = {
	[WORK] = { "work", .read = read_work },
	[TIME] = { "time", .word = offsetof(struct opk_set_roofline, time) },
	[LEVELS] = { "levels", .read = read_levels },
	{ "roofs", .read = read_roofs },
	{ "title", .word = offsetof(struct opk_set_roofline, title) },
};

void opk_set_read_roofline(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	unsigned seen = opk_set_read_map(r, &r->set->roofline, value, fields, 5,
	                                 "a map with work, time and levels is needed here");

	(void)object;
	for (unsigned i = 0; i < NEEDED; i++)
		if (!(seen & 1U << i))
			opk_problems_add(r->problems, &value->place, "the key '%s' is missing",
			                 fields[i].name);
}

/* ---- the names */

static bool is_listed(const struct opk_set_items *items, const char *name)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_HEADING
		            ? is_listed(&item->items, name)
		            : item->what.text && !strcmp(item->what.text, name))
			return true;
	}
	return false;
}

/* Compares with the lists of metrics word for word; what changes add counts, too. */
static bool is_listed_anywhere(const struct opk_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set *set = symbols->sets.items[i];

		if (is_listed(&set->items, name))
			return true;
		for (size_t j = 0; j < set->changes.count; j++)
			if (is_listed(&set->changes.items[j].add, name))
				return true;
	}
	return false;
}

static void try_listed(struct opk_nearest *nearest, const struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		if (items->items[i].kind == OPK_SET_ITEM_HEADING)
			try_listed(nearest, &items->items[i].items);
		else if (items->items[i].what.text)
			opk_nearest_try(nearest, items->items[i].what.text);
	}
}

static void check_word(const struct opk_symbols *symbols, const struct opk_word *word)
{
	struct opk_nearest nearest = { .name = word->text };

	if (!word->text || symbols->broken || opk_index_find(NULL, &symbols->names, word->text)
	    || opk_index_find(NULL, &symbols->labels, word->text)
	    || is_listed_anywhere(symbols, word->text))
		return;
	opk_symbols_try_all(&nearest, &symbols->names);
	opk_symbols_try_all(&nearest, &symbols->labels);
	for (size_t i = 0; i < symbols->sets.count; i++)
		try_listed(&nearest, &symbols->sets.items[i]->items);
	opk_problems_add(
		symbols->problems, &word->place,
		"'%.200s' is not a column of this set: list the metric, or derive it" OPK_DID_YOU_MEAN,
		word->text, OPK_NEAR(nearest.best));
}

void opk_set_check_rooflines(const struct opk_symbols *symbols)
{
	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set_roofline *roofline = &symbols->sets.items[i]->roofline;

		check_word(symbols, &roofline->time);
		for (size_t j = 0; j < roofline->work.count; j++)
			check_word(symbols, &roofline->work.items[j]);
		for (size_t j = 0; j < roofline->roofs.count; j++) {
			check_word(symbols, &roofline->roofs.items[j].bytes);
			check_word(symbols, &roofline->roofs.items[j].peak);
			check_word(symbols, &roofline->roofs.items[j].work);
			check_word(symbols, &roofline->roofs.items[j].throughput);
		}
	}
}
