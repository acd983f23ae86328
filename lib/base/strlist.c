/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of strings. */
#include "base/strlist.h"

#include <string.h>

bool opk_strlist_take(struct opk_strlist *list, char *text)
{
	if (!text)
		return false;
	if (!opk_grow(&list->items, &list->capacity, list->count, sizeof *list->items)) {
		free(text);
		return false;
	}
	list->items[list->count++] = text;
	return true;
}

bool opk_strlist_add(struct opk_strlist *list, const char *text)
{
	return opk_strlist_take(list, opk_strdup(text));
}

size_t opk_texts_find(const char *const *texts, size_t count, const char *text)
{
	size_t i = 0;

	while (i < count && strcmp(texts[i], text) != 0)
		i++;
	return i;
}

bool opk_text_equals(const char *a, const char *b)
{
	return a == b || !strcmp(a ? a : "", b ? b : "");
}

bool opk_texts_contain(const char *const *texts, size_t count, const char *text)
{
	return opk_texts_find(texts, count, text) < count;
}

bool opk_strlist_contains(const struct opk_strlist *list, const char *text)
{
	return opk_texts_contain(opk_strlist_items(list), list->count, text);
}

void opk_strlist_remove(struct opk_strlist *list, size_t i)
{
	free(list->items[i]);
	list->count--;
	memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
}

void opk_strlist_clear(struct opk_strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct opk_strlist){ 0 };
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void opk_strlist_sort(struct opk_strlist *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof *list->items, compare);
}

static int compare_key(const void *key, const void *item)
{
	return strcmp(key, *(char *const *)item);
}

bool opk_strlist_contains_sorted(const struct opk_strlist *list, const char *text)
{
	return list->count
	       && bsearch(text, list->items, list->count, sizeof *list->items, compare_key);
}

void opk_strlist_sort_unique(struct opk_strlist *list)
{
	size_t kept = 0;

	opk_strlist_sort(list);
	for (size_t i = 0; i < list->count; i++)
		if (kept && !strcmp(list->items[i], list->items[kept - 1]))
			free(list->items[i]);
		else
			list->items[kept++] = list->items[i];
	list->count = kept;
}
