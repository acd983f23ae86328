/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups ranges by key, in an index of keys as text. */
#include "eval/eval.h"

#include <string.h>

#include "base/buf.h"
#include "base/sum.h"
#include "container/container.h"

/* ---- keys ------------------------------------------------------------------------------- */

/* The parts of keys by the words that users write. */
static const struct {
	const char *word;
	unsigned parts;
} words[] = {
	{ "name", OPK_KEY_NAME },
	{ "kernel", OPK_KEY_KERNEL },
	{ "shape", OPK_KEY_SHAPE | OPK_KEY_SHARED },
	{ "nvtx", OPK_KEY_NVTX },
	{ "device", OPK_KEY_GPU },
	{ "host", OPK_KEY_HOST },
	{ "rank", OPK_KEY_RANK },
	{ "all", OPK_KEY_ALL },
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
			return opk_fail(
				ctx, OPK_EUSAGE,
				"ranges are not grouped by '%.*s': use name, "
				"kernel, shape, nvtx, device, host or rank, or several with ',' "
				"between, or all",
				(int)length, word);
		parts |= part;
		word += length;
		if (!*word)
			break;
	}
	*out = parts;
	return OPK_OK;
}

/* A UUID names a GPU without its host: containers on one host have different host names. */
static bool has_uuid(const struct opk_range *range)
{
	return range->gpu && (!strncmp(range->gpu, "GPU-", 4) || !strncmp(range->gpu, "MIG-", 4));
}

static void put_text(struct opk_buf *out, const char *text)
{
	opk_buf_add_number(out, strlen(text));
	opk_buf_add_text(out, ":");
	opk_buf_add_text(out, text);
}

static void put_number(struct opk_buf *out, uint64_t number)
{
	opk_buf_add_number(out, number);
	opk_buf_add_text(out, ",");
}

/*
 * Writes the same text only for ranges of the same key, since each string follows its length.
 * Kernels of one name may have several symbols.
 */
static void write_key(struct opk_buf *out, unsigned key, const char *name,
                      const struct opk_range *range, const char *symbol)
{
	for (int i = 0; i < 3 && key & OPK_KEY_SHAPE; i++) {
		put_number(out, range->grid[i]);
		put_number(out, range->block[i]);
	}
	if (key & OPK_KEY_SHARED)
		put_number(out, range->shared_bytes);
	if (key & OPK_KEY_LAUNCH)
		put_number(out, range->launch);
	if (key & OPK_KEY_DEVICE)
		put_number(out, (uint32_t)range->device);
	if (key & OPK_KEY_RANK)
		put_number(out, (uint32_t)range->rank);
	if (key & OPK_KEY_PASS)
		put_number(out, range->pass);
	if (key & OPK_KEY_HOST || (key & OPK_KEY_GPU && !has_uuid(range)))
		put_text(out, range->host ? range->host : "");
	if (key & OPK_KEY_GPU && range->gpu && *range->gpu)
		put_text(out, range->gpu);
	else if (key & OPK_KEY_GPU)
		put_number(out, (uint32_t)range->device);
	if (key & OPK_KEY_NAME)
		put_text(out, name);
	if (key & OPK_KEY_KERNEL) {
		put_text(out, range->kernel);
		put_text(out, symbol);
	}
	if (key & OPK_KEY_NVTX)
		put_text(out, range->nvtx);
}

/* ---- keys for people -------------------------------------------------------------------- */

static void put(struct opk_buf *out, const char *text)
{
	if (*text)
		opk_buf_add_printf(out, "%s%s", out->size ? " " : "", text);
}

static void put_shape(struct opk_buf *out, const uint32_t shape[3])
{
	if (shape[0])
		opk_buf_add_printf(out, "%s%ux%ux%u", out->size ? " " : "", shape[0], shape[1],
		                   shape[2]);
}

static void put_place(struct opk_buf *out, unsigned key, const struct opk_range *range)
{
	if (key & OPK_KEY_HOST && range->host)
		put(out, range->host);
	if (key & OPK_KEY_RANK && range->rank >= 0)
		opk_buf_add_printf(out, " rank %d", range->rank);
	if (key & OPK_KEY_GPU && range->device >= 0)
		opk_buf_add_printf(out, " device %d", range->device);
}

char *opk_key_name(unsigned key, const char *kernel, const char *name,
                   const struct opk_range *range)
{
	struct opk_buf out = { 0 };

	if (key & OPK_KEY_NVTX)
		put(&out, range->nvtx);
	if (key & OPK_KEY_NAME)
		put(&out, name);
	if (key & OPK_KEY_KERNEL)
		put(&out, *kernel ? kernel : key & OPK_KEY_NAME ? "" : name);
	if (key & OPK_KEY_SHAPE) {
		put_shape(&out, range->grid);
		put_shape(&out, range->block);
	}
	if (key & OPK_KEY_SHARED && range->shared_bytes)
		opk_buf_add_printf(&out, " %uB", range->shared_bytes);
	put_place(&out, key, range);
	return opk_buf_take_text(&out);
}

/* ---- groups ----------------------------------------------------------------------------- */

/* Takes the key over. */
static int add_group(struct opk_grouping *grouping, struct opk_ctx *ctx, const char *name,
                     const struct opk_range *range, char *key)
{
	struct opk_grouped *group = opk_append(&grouping->groups, &grouping->capacity,
	                                       &grouping->count, sizeof *group);

	if (!group) {
		free(key);
		return opk_nomem(ctx, "groups of ranges");
	}
	*group = (struct opk_grouped){ .range = *range, .name = opk_strdup(name), .key = key };
	return group->name && opk_index_add(&grouping->numbers, key, grouping->count - 1, NULL)
	               ? OPK_OK
	               : opk_nomem(ctx, "groups of ranges");
}

static void keep_common_text(const char **text, const char *other)
{
	if (strcmp(*text ? *text : "", other ? other : ""))
		*text = "";
}

static void keep_common(struct opk_grouped *group, unsigned key, const struct opk_range *other)
{
	struct opk_range *range = &group->range;

	keep_common_text(&range->name, other->name);
	keep_common_text(&range->kernel, other->kernel);
	if (key & OPK_KEY_KERNEL)
		range->symbol = *range->symbol ? range->symbol : other->symbol;
	else
		keep_common_text(&range->symbol, other->symbol);
	keep_common_text(&range->nvtx, other->nvtx);
	keep_common_text(&range->host, other->host);
	keep_common_text(&range->gpu, other->gpu);
	if (memcmp(range->grid, other->grid, sizeof range->grid))
		memset(range->grid, 0, sizeof range->grid);
	if (memcmp(range->block, other->block, sizeof range->block))
		memset(range->block, 0, sizeof range->block);
	if (memcmp(range->cluster, other->cluster, sizeof range->cluster))
		memset(range->cluster, 0, sizeof range->cluster);
	group->many_streams |= range->stream != other->stream;
	range->stream = group->many_streams ? 0 : range->stream;
	/* These become 0, as if known: without the static size, nothing is computed with them. */
	if (range->shared_bytes != other->shared_bytes
	    || range->carveout_plus_1 != other->carveout_plus_1)
		range->static_shared_plus_1 = 0;
#define KEEP_COMMON(member, unknown)                                                               \
	range->member = range->member == other->member ? range->member : (unknown)
	KEEP_COMMON(start_ns, 0);
	KEEP_COMMON(end_ns, 0);
	KEEP_COMMON(shared_bytes, 0);
	KEEP_COMMON(launch, 0);
	KEEP_COMMON(registers, 0);
	KEEP_COMMON(static_shared_plus_1, 0);
	KEEP_COMMON(carveout_plus_1, 0);
	KEEP_COMMON(sm_mhz, 0);
	KEEP_COMMON(memory_mhz, 0);
	KEEP_COMMON(context, 0);
	KEEP_COMMON(process, 0);
	KEEP_COMMON(pass, 0);
	KEEP_COMMON(device, -1);
	KEEP_COMMON(rank, -1);
#undef KEEP_COMMON
}

static void take(struct opk_grouped *group, unsigned key, const char *name,
                 const struct opk_range *range)
{
	keep_common(group, key, range);
	group->many_names |= strcmp(group->name, name) != 0;
	group->rows++;
	opk_sum_add(&group->ranges, range->count ? range->count : 1);
	opk_sum_add(&group->durations, range->duration_ns);
	group->duration_count += range->duration_ns > 0;
}

static const struct opk_range unknown = { OPK_UNKNOWN_RANGE };

static char *key_of(const struct opk_grouping *grouping, const char *name,
                    const struct opk_range *range, const char *symbol)
{
	struct opk_buf text = { 0 };

	if (grouping->besides) {
		opk_buf_add_number(&text, grouping->besides);
		opk_buf_add_text(&text, "/");
	}
	write_key(&text, grouping->key, name, range, symbol);
	return opk_buf_take_text(&text);
}

/*
 * Finds the range's group, or the key of a new one; false when out of memory. Not all recordings
 * have symbols: a range without one joins the first kernel of its name.
 */
static bool find_group(size_t *out, char **new_key, const struct opk_grouping *grouping,
                       const char *name, const struct opk_range *range)
{
	opk_autofree char *key = key_of(grouping, name, range, "");
	const char *first;

	if (!key)
		return false;
	if (!opk_index_find(out, &grouping->numbers, key)) {
		*new_key = opk_take(key);
		return true;
	}
	first = grouping->groups[*out].range.symbol;
	if (!(grouping->key & OPK_KEY_KERNEL) || !*range->symbol || !*first
	    || !strcmp(first, range->symbol))
		return true;
	free(key);
	key = key_of(grouping, name, range, range->symbol);
	if (key && !opk_index_find(out, &grouping->numbers, key))
		*new_key = opk_take(key);
	return key || *new_key;
}

/* Whether the range surely belongs to this group: all parts of the key agree. */
static bool is_of(const struct opk_grouped *group, unsigned key, const char *name,
                  const struct opk_range *range)
{
	const struct opk_range *common = &group->range;

	return (!(key & OPK_KEY_NAME) || opk_text_equals(group->name, name))
	       && (!(key & OPK_KEY_KERNEL)
	           || (opk_text_equals(common->kernel, range->kernel)
	               && opk_text_equals(common->symbol, range->symbol)))
	       && (!(key & OPK_KEY_SHAPE)
	           || (!memcmp(common->grid, range->grid, sizeof common->grid)
	               && !memcmp(common->block, range->block, sizeof common->block)))
	       && (!(key & OPK_KEY_NVTX) || opk_text_equals(common->nvtx, range->nvtx))
	       && (!(key & (OPK_KEY_GPU | OPK_KEY_HOST))
	           || (opk_text_equals(common->host, range->host)
	               && opk_text_equals(common->gpu, range->gpu)))
	       && (!(key & (OPK_KEY_GPU | OPK_KEY_DEVICE)) || common->device == range->device)
	       && (!(key & OPK_KEY_SHARED) || common->shared_bytes == range->shared_bytes)
	       && (!(key & OPK_KEY_LAUNCH) || common->launch == range->launch)
	       && (!(key & OPK_KEY_RANK) || common->rank == range->rank)
	       && (!(key & OPK_KEY_PASS) || common->pass == range->pass);
}

static bool is_of_last(const struct opk_grouping *grouping, const char *name,
                       const struct opk_range *range)
{
	return grouping->last < grouping->count && grouping->last_besides == grouping->besides
	       && is_of(&grouping->groups[grouping->last], grouping->key, name, range);
}

int opk_grouping_find(size_t *group, const struct opk_grouping *grouping, struct opk_ctx *ctx,
                      const char *name, const struct opk_range *range)
{
	opk_autofree char *key = NULL;

	range = range ? range : &unknown;
	if (is_of_last(grouping, name, range))
		*group = grouping->last;
	else if (!find_group(group, &key, grouping, name, range))
		return opk_nomem(ctx, "groups of ranges");
	if (key)
		*group = SIZE_MAX;
	return OPK_OK;
}

int opk_grouping_add(size_t *out, struct opk_grouping *grouping, struct opk_ctx *ctx,
                     const char *name, const struct opk_range *given)
{
	const struct opk_range *range = given ? given : &unknown;
	opk_autofree char *key = NULL;

	if (is_of_last(grouping, name, range))
		*out = grouping->last;
	else if (!find_group(out, &key, grouping, name, range))
		return opk_nomem(ctx, "groups of ranges");
	if (key) {
		*out = grouping->count;
		TRY(add_group(grouping, ctx, name, range, opk_take(key)));
	}
	take(&grouping->groups[*out], grouping->key, name, range);
	grouping->last = *out;
	grouping->last_besides = grouping->besides;
	return OPK_OK;
}

void opk_grouping_clear(struct opk_grouping *grouping)
{
	for (size_t i = 0; i < grouping->count; i++) {
		free(grouping->groups[i].name);
		free(grouping->groups[i].key);
	}
	free(grouping->groups);
	opk_index_clear(&grouping->numbers);
	*grouping = (struct opk_grouping){ .key = grouping->key };
}
