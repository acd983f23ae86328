/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table with open addressing. */
#include "base/index.h"

#include <string.h>

#include "base/hash.h"

static size_t hash(const char *text)
{
	uint64_t value = opk_hash(OPK_HASH_BEGIN, text, strlen(text));

	return (size_t)(value ^ (value >> 32));
}

/* The key's slot, or the free slot for it. */
static struct opk_index_slot *find(const struct opk_index *index, const char *key)
{
	size_t i = hash(key) & (index->count - 1);

	while (index->slots[i].key && strcmp(index->slots[i].key, key))
		i = (i + 1) & (index->count - 1);
	return &index->slots[i];
}

static bool grow(struct opk_index *index)
{
	struct opk_index grown = { .count = index->count ? index->count * 2 : 64,
		                   .used = index->used };

	grown.slots = opk_alloc_array(grown.count, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < index->count; i++)
		if (index->slots[i].key)
			*find(&grown, index->slots[i].key) = index->slots[i];
	free(index->slots);
	*index = grown;
	return true;
}

bool opk_index_add(struct opk_index *index, const char *key, size_t value, size_t *known)
{
	struct opk_index_slot *slot;

	if (index->used * 2 >= index->count && !grow(index))
		return false;
	slot = find(index, key);
	if (!slot->key) {
		*slot = (struct opk_index_slot){ key, value };
		index->used++;
	}
	if (known)
		*known = slot->value;
	return true;
}

bool opk_index_find(size_t *out, const struct opk_index *index, const char *key)
{
	const struct opk_index_slot *slot = index->count ? find(index, key) : NULL;

	if (!slot || !slot->key)
		return false;
	if (out)
		*out = slot->value;
	return true;
}

void opk_index_clear(struct opk_index *index)
{
	free(index->slots);
	*index = (struct opk_index){ 0 };
}
