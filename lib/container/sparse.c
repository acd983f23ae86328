/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs bytes that are mostly zeros: docs/format.md. */
#include "container/container_inside.h"

#include <string.h>

enum {
	WORDS = 8,
	GROUP = 8 * WORDS,
	/* A byte for the words of a group, one for the bytes of each word, and the bytes. */
	MAX_PACKED = 1 + WORDS + GROUP,
	MAX_COUNT_BYTES = 9,
};

struct group {
	uint64_t words[WORDS]; /* in the order of memory */
};

static bool is_zero(const struct group *group)
{
	uint64_t all = 0;

	for (int i = 0; i < WORDS; i++)
		all |= group->words[i];
	return !all;
}

/* Loads a group; bytes after the end are zeros. */
static struct group load(const uint8_t *data, const uint8_t *before, size_t left)
{
	struct group group = { 0 }, other = { 0 };
	size_t size = left < GROUP ? left : GROUP;

	memcpy(&group, data, size);
	if (before) {
		memcpy(&other, before, size);
		for (int i = 0; i < WORDS; i++)
			group.words[i] ^= other.words[i];
	}
	return group;
}

static struct group load_at(const uint8_t *data, const uint8_t *before, size_t size, size_t at)
{
	return load(data + at, before ? before + at : NULL, size - at);
}

/* How many groups from `at` on are zero, or not zero. */
static size_t count_groups(const uint8_t *data, const uint8_t *before, size_t size, size_t at,
                           bool zero)
{
	size_t count = 0;

	for (; at < size; at += GROUP, count++) {
		struct group group = load_at(data, before, size, at);

		if (is_zero(&group) != zero)
			break;
	}
	return count;
}

static void put_count(struct opk_buf *out, size_t count)
{
	do {
		uint8_t byte = (uint8_t)((count & 0x7f) | (count > 0x7f ? 0x80 : 0));

		opk_buf_add(out, &byte, 1);
		count >>= 7;
	} while (count);
}

static uint8_t *put_word(uint8_t *to, const uint8_t *word)
{
	uint8_t *mask = to++;

	*mask = 0;
	for (int i = 0; i < 8; i++)
		if (word[i]) {
			*mask |= (uint8_t)(1 << i);
			*to++ = word[i];
		}
	return to;
}

static void put_group(struct opk_buf *out, const struct group *group)
{
	uint8_t packed[MAX_PACKED] = { 0 }, *to = packed + 1;

	for (int i = 0; i < WORDS; i++)
		if (group->words[i]) {
			packed[0] |= (uint8_t)(1 << i);
			to = put_word(to, (const uint8_t *)&group->words[i]);
		}
	opk_buf_add(out, packed, (size_t)(to - packed));
}

void opk_sparse_pack(struct opk_buf *out, const void *data, const void *before, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t zeros = count_groups(data, before, size, at, true);
		size_t others = count_groups(data, before, size, at + zeros * GROUP, false);

		put_count(out, zeros);
		put_count(out, others);
		at += zeros * GROUP;
		for (size_t i = 0; i < others; i++, at += GROUP) {
			struct group group = load_at(data, before, size, at);

			put_group(out, &group);
		}
	}
}

static bool get_count(size_t *count, struct opk_reader *packed)
{
	*count = 0;
	for (int i = 0; i < MAX_COUNT_BYTES; i++) {
		const uint8_t *byte = opk_read_bytes(packed, 1);

		if (!byte)
			return false;
		*count |= (size_t)(*byte & 0x7f) << (7 * i);
		if (!(*byte & 0x80))
			return true;
	}
	return false;
}

/* Reads at most MAX_PACKED bytes, and changes GROUP bytes; returns the end of the bytes read. */
static const uint8_t *apply(uint8_t *to, const uint8_t *from)
{
	for (unsigned words = *from++; words; words &= words - 1) {
		uint8_t *word = to + 8 * __builtin_ctz(words);

		for (unsigned bytes = *from++; bytes; bytes &= bytes - 1)
			word[__builtin_ctz(bytes)] ^= *from++;
	}
	return from;
}

/* Like apply(), near the end of the packed or the plain bytes, where a group may not be whole. */
static bool apply_at_end(struct opk_reader *packed, uint8_t *to, size_t room)
{
	uint8_t from[MAX_PACKED] = { 0 }, group[GROUP] = { 0 };
	size_t used;

	memcpy(from, packed->data, packed->left < MAX_PACKED ? packed->left : MAX_PACKED);
	used = (size_t)(apply(group, from) - from);
	for (size_t i = 0; i < GROUP; i++) {
		if (i < room)
			to[i] ^= group[i];
		else if (group[i])
			return false;
	}
	return opk_read_bytes(packed, used);
}

static bool apply_groups(struct opk_reader *packed, uint8_t *to, size_t room, size_t count)
{
	for (; count; count--, to += GROUP, room -= room < GROUP ? room : GROUP) {
		const uint8_t *end;

		if (packed->left < MAX_PACKED || room < GROUP) {
			if (!apply_at_end(packed, to, room))
				return false;
			continue;
		}
		end = apply(to, packed->data);
		packed->left -= (size_t)(end - packed->data);
		packed->data = end;
	}
	return true;
}

bool opk_sparse_unpack(struct opk_reader *packed, void *to, size_t size)
{
	size_t groups = size / GROUP + (size % GROUP != 0);
	size_t at = 0;

	while (at < groups) {
		size_t zeros, others;

		if (!get_count(&zeros, packed) || !get_count(&others, packed) || zeros > groups - at
		    || others > groups - at - zeros || !(zeros + others))
			return false;
		at += zeros;
		if (others
		    && !apply_groups(packed, (uint8_t *)to + at * GROUP, size - at * GROUP, others))
			return false;
		at += others;
	}
	return true;
}
