/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table from strings to numbers. The strings are borrowed. */
#ifndef OPK_INDEX_H
#define OPK_INDEX_H

#include "base/mem.h"

struct opk_index {
	struct opk_index_slot {
		const char *key; /* NULL: the slot is free */
		size_t value;
	} * slots;
	size_t count, used;
};

/*
 * Adds the number, unless the key is known; *known, which may be NULL, becomes the key's number.
 * False when out of memory.
 */
bool opk_index_add(struct opk_index *index, const char *key, size_t value, size_t *known);
/* False if the key is not known; out may be NULL. */
bool opk_index_find(size_t *out, const struct opk_index *index, const char *key);
void opk_index_clear(struct opk_index *index);
#define opk_autoindex __attribute__((cleanup(opk_index_clear)))

#endif
