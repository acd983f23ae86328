/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges with the same key: a hash table over them. */
#include "eval/grouping.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/* ---- keys ------------------------------------------------------------------------------- */

/* The words that users have for them. */
static const struct {
	const char *word;
	unsigned parts;
} words[] = {
	{ "name", OPK_KEY_NAME },
	{ "kernel", OPK_KEY_KERNEL },
	{ "shape", OPK_KEY_SHAPE | OPK_KEY_SHARED },
	{ "nvtx", OPK_KEY_NVTX },
	{ "device", OPK_KEY_DEVICE },
	{ "rank", OPK_KEY_RANK },
};
enum { WORDS = sizeof words / sizeof *words };

static unsigned find_word(const char *text, size_t length)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strlen(words[i].word) == length && !memcmp(words[i].word, text, length))
			return words[i].parts;
	return 0;
}

int opk_key_parse(unsigned *out, struct opk_ctx *ctx, const char *text)
{
	unsigned parts = 0;

	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ",");
		unsigned part = find_word(word, length);

		if (!part)
			return opk_fail(ctx, OPK_EUSAGE,
			                "'%.*s' is nothing that ranges share: use name, "
			                "kernel, shape, nvtx, device or rank, or several with ',' "
			                "between",
			                (int)length, word);
		parts |= part;
		word += length;
		if (!*word)
			break;
	}
	*out = parts;
	return OPK_OK;
}

/* With the NUL, so that "ab","c" differs from "a","bc". */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	return opk_hash(hash, text, strlen(text) + 1);
}

#define HASH(part, member)                                                                         \
	(key & (part) ? opk_hash(hash, &range->member, sizeof range->member) : hash)
static uint64_t hash_range(unsigned key, const char *name, const struct opk_range *range)
{
	uint64_t hash = OPK_HASH_BEGIN;

	if (key & OPK_KEY_NAME)
		hash = hash_text(hash, name);
	if (key & OPK_KEY_KERNEL)
		hash = hash_text(hash_text(hash, range->kernel), range->symbol);
	if (key & OPK_KEY_NVTX)
		hash = hash_text(hash, range->nvtx);
	hash = HASH(OPK_KEY_SHAPE, grid);
	hash = HASH(OPK_KEY_SHAPE, block);
	hash = HASH(OPK_KEY_SHARED, shared_bytes);
	hash = HASH(OPK_KEY_LAUNCH, launch);
	hash = HASH(OPK_KEY_DEVICE, device);
	hash = HASH(OPK_KEY_RANK, rank);
	return HASH(OPK_KEY_GROUP, group);
}
#undef HASH

#define DIFFERS(part, member) (key & (part) && a->member != b->member)
#define TEXT_DIFFERS(part, member) (key & (part) && strcmp(a->member, b->member))
static bool same_key(unsigned key, const struct opk_grouped *group, const char *name,
                     const struct opk_range *b)
{
	const struct opk_range *a = &group->range;

	if (key & OPK_KEY_NAME && strcmp(group->name, name))
		return false;
	if (key & OPK_KEY_SHAPE
	    && (memcmp(a->grid, b->grid, sizeof a->grid)
	        || memcmp(a->block, b->block, sizeof a->block)))
		return false;
	return !(TEXT_DIFFERS(OPK_KEY_KERNEL, kernel) || TEXT_DIFFERS(OPK_KEY_KERNEL, symbol)
	         || TEXT_DIFFERS(OPK_KEY_NVTX, nvtx) || DIFFERS(OPK_KEY_SHARED, shared_bytes)
	         || DIFFERS(OPK_KEY_LAUNCH, launch) || DIFFERS(OPK_KEY_DEVICE, device)
	         || DIFFERS(OPK_KEY_RANK, rank) || DIFFERS(OPK_KEY_GROUP, group));
}
#undef DIFFERS
#undef TEXT_DIFFERS

/* ---- groups ----------------------------------------------------------------------------- */

static void put_slot(struct opk_grouping *grouping, size_t index)
{
	size_t at = grouping->groups[index].hash & (grouping->slot_count - 1);

	while (grouping->slots[at])
		at = (at + 1) & (grouping->slot_count - 1);
	grouping->slots[at] = index + 1;
}

/* Never more than half full. */
static int grow_slots(struct opk_grouping *grouping, struct opk_ctx *ctx)
{
	size_t wanted = grouping->slot_count ? grouping->slot_count * 2 : 64;
	size_t *slots;

	if (grouping->count * 2 < grouping->slot_count)
		return OPK_OK;
	slots = opk_alloc_array(wanted, sizeof *slots);
	if (!slots)
		return opk_nomem(ctx, "groups of ranges");
	free(grouping->slots);
	grouping->slots = slots;
	grouping->slot_count = wanted;
	for (size_t i = 0; i < grouping->count; i++)
		put_slot(grouping, i);
	return OPK_OK;
}

/* The index of the group, or the number of groups. */
static size_t find(const struct opk_grouping *grouping, const char *name,
                   const struct opk_range *range, uint64_t hash)
{
	size_t at = hash & (grouping->slot_count - 1);

	for (; grouping->slots[at]; at = (at + 1) & (grouping->slot_count - 1)) {
		const struct opk_grouped *group = &grouping->groups[grouping->slots[at] - 1];

		if (group->hash == hash && same_key(grouping->key, group, name, range))
			return grouping->slots[at] - 1;
	}
	return grouping->count;
}

static int add_group(struct opk_grouping *grouping, struct opk_ctx *ctx, const char *name,
                     const struct opk_range *range, uint64_t hash)
{
	char *copy = opk_strdup(name);

	if (!copy
	    || !opk_grow(&grouping->groups, &grouping->capacity, grouping->count,
	                 sizeof *grouping->groups)) {
		free(copy);
		return opk_nomem(ctx, "groups of ranges");
	}
	grouping->groups[grouping->count] = (struct opk_grouped){
		.range = *range,
		.name = copy,
		.hash = hash,
	};
	put_slot(grouping, grouping->count++);
	return OPK_OK;
}

static void keep_common_text(const char **text, const char *other)
{
	if (strcmp(*text, other))
		*text = "";
}

static void keep_common(struct opk_grouped *group, const struct opk_range *other)
{
	struct opk_range *range = &group->range;

	keep_common_text(&range->name, other->name);
	keep_common_text(&range->kernel, other->kernel);
	keep_common_text(&range->symbol, other->symbol);
	keep_common_text(&range->nvtx, other->nvtx);
	if (memcmp(range->grid, other->grid, sizeof range->grid))
		memset(range->grid, 0, sizeof range->grid);
	if (memcmp(range->block, other->block, sizeof range->block))
		memset(range->block, 0, sizeof range->block);
	group->many_streams |= range->stream != other->stream;
	range->stream = group->many_streams ? 0 : range->stream;
#define KEEP_COMMON(member, unknown)                                                               \
	range->member = range->member == other->member ? range->member : (unknown)
	KEEP_COMMON(start_ns, 0);
	KEEP_COMMON(end_ns, 0);
	KEEP_COMMON(shared_bytes, 0);
	KEEP_COMMON(launch, 0);
	KEEP_COMMON(registers, 0);
	KEEP_COMMON(context, 0);
	KEEP_COMMON(process, 0);
	KEEP_COMMON(group, 0);
	KEEP_COMMON(device, -1);
	KEEP_COMMON(rank, -1);
#undef KEEP_COMMON
}

/* A file may claim anything, but no sum shall become small for being too large. */
static void add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static void take(struct opk_grouped *group, const char *name, const struct opk_range *range)
{
	keep_common(group, range);
	group->many_names |= strcmp(group->name, name) != 0;
	group->rows++;
	add(&group->ranges, range->count ? range->count : 1);
	add(&group->durations, range->duration_ns);
	group->duration_count += range->duration_ns > 0;
}

int opk_grouping_add(size_t *out, struct opk_grouping *grouping, struct opk_ctx *ctx,
                     const char *name, const struct opk_range *given)
{
	static const struct opk_range unknown = {
		.name = "",
		.kernel = "",
		.symbol = "",
		.nvtx = "",
		.device = -1,
		.rank = -1,
	};
	const struct opk_range *range = given ? given : &unknown;
	uint64_t hash = hash_range(grouping->key, name, range);
	int code = grow_slots(grouping, ctx);
	size_t index;

	if (code)
		return code;
	index = find(grouping, name, range, hash);
	if (index == grouping->count)
		code = add_group(grouping, ctx, name, range, hash);
	if (code)
		return code;
	take(&grouping->groups[index], name, range);
	*out = index;
	return OPK_OK;
}

void opk_grouping_clear(struct opk_grouping *grouping)
{
	for (size_t i = 0; i < grouping->count; i++)
		free(grouping->groups[i].name);
	free(grouping->groups);
	free(grouping->slots);
	*grouping = (struct opk_grouping){ .key = grouping->key };
}
