/* SPDX-License-Identifier: BSD-2-Clause */
/* A growing list of owned strings. */
#ifndef OPK_STRLIST_H
#define OPK_STRLIST_H

#include "base/mem.h"

struct opk_strlist {
	char **items;
	size_t count;
	size_t capacity;
};

/* False when out of memory. */
bool opk_strlist_add(struct opk_strlist *list, const char *text);
/* Takes `text` over, even on failure; a NULL text is a failure. */
bool opk_strlist_take(struct opk_strlist *list, char *text);
bool opk_strlist_contains(const struct opk_strlist *list, const char *text);
/* NULL is the empty text. */
bool opk_text_equals(const char *a, const char *b);
/* Where an array has the text; `count`: nowhere. */
size_t opk_texts_find(const char *const *texts, size_t count, const char *text);
bool opk_texts_contain(const char *const *texts, size_t count, const char *text);
/* A faster search in a sorted list. */
bool opk_strlist_contains_sorted(const struct opk_strlist *list, const char *text);
void opk_strlist_remove(struct opk_strlist *list, size_t i);
void opk_strlist_clear(struct opk_strlist *list);
void opk_strlist_sort(struct opk_strlist *list);
/* Sorts, and keeps one of several equal texts. */
void opk_strlist_sort_unique(struct opk_strlist *list);

#define opk_autostrlist __attribute__((cleanup(opk_strlist_clear)))

static inline const char *const *opk_strlist_items(const struct opk_strlist *list)
{
	return (const char *const *)list->items;
}

#endif
