/* SPDX-License-Identifier: BSD-2-Clause */
/* A set's list of metrics in the making: each metric once, in order. */
#ifndef OPK_ENTRIES_H
#define OPK_ENTRIES_H

#include "base/index.h"
#include "base/problems.h"
#include "set/pattern.h"
#include "set/set.h"

enum { OPK_NOT_DERIVED = -1 };

struct opk_entry {
	char *name;
	const struct opk_word *label; /* NULL: none */
	struct opk_place place;
	const struct opk_set_item *item;
	const struct opk_set_item *group; /* NULL: in none */
	long derived;                     /* which one of the scope's, or OPK_NOT_DERIVED */
	bool optional;
};

struct opk_entries {
	struct opk_entry *items;
	size_t count, capacity;
	struct opk_index names; /* to the items */
};

/*
 * Adds a copy, unless the name is there: then it takes the label, if it has none. A second label is
 * a problem, and an entry is optional only if all are that name it.
 */
void opk_entries_add(struct opk_entries *entries, struct opk_problems *problems,
                     const struct opk_entry *entry);
/* Removes those that are marked, one flag an entry. */
void opk_entries_drop(struct opk_entries *entries, struct opk_problems *problems,
                      const bool *marked);
/* NULL where there is none. */
struct opk_entry *opk_entries_find(const struct opk_entries *entries, const char *name);
void opk_entries_clear(struct opk_entries *entries);

#endif
