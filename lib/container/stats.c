/* SPDX-License-Identifier: BSD-2-Clause */
/* The STAT sections: what the collector counted, and what it had to leave out. */
#include <string.h>

#include "base/json_write.h"
#include "base/sum.h"
#include "container/container.h"

struct opk_stats_storage {
	struct opk_stats stats;
	bool found;
	struct opk_drop *drops;
	size_t capacity;
};

static void put_drops(struct opk_json_writer *json, const struct opk_stats *stats)
{
	opk_json_key(json, "drops");
	opk_json_begin_array(json);
	for (size_t i = 0; i < stats->drop_count; i++) {
		opk_json_begin_object(json);
		opk_json_add_string(json, "reason", stats->drops[i].reason);
		opk_json_add_u64(json, "count", stats->drops[i].count);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

void opk_stats_to_json(struct opk_buf *out, const struct opk_stats *stats)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_json_add_u64(&json, "launches", stats->launches);
	opk_json_add_u64(&json, "ranges", stats->ranges);
	opk_json_add_u64(&json, "depth", stats->depth);
	opk_json_add_u64(&json, "activities", stats->activities);
	if (stats->drop_count)
		put_drops(&json, stats);
	opk_json_end_object(&json);
}

static int add_drop(struct opk_stats_storage *storage, struct opk_ctx *ctx, const char *reason,
                    uint64_t count)
{
	struct opk_stats *stats = &storage->stats;
	char *copy;

	if (strlen(reason) > OPK_MAX_REASON)
		return opk_fail(ctx, OPK_EINPUT, "a reason of more than %d bytes", OPK_MAX_REASON);
	for (size_t i = 0; i < stats->drop_count; i++)
		if (!strcmp(storage->drops[i].reason, reason)) {
			opk_sum_add(&storage->drops[i].count, count);
			return OPK_OK;
		}
	if (stats->drop_count == OPK_MAX_DROPS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d reasons", OPK_MAX_DROPS);
	copy = opk_strdup(reason);
	if (!copy
	    || !opk_grow(&storage->drops, &storage->capacity, stats->drop_count,
	                 sizeof *storage->drops)) {
		free(copy);
		return opk_nomem(ctx, "counts");
	}
	storage->drops[stats->drop_count++] = (struct opk_drop){ copy, count };
	stats->drops = storage->drops;
	return OPK_OK;
}

static int add_counts(struct opk_stats_storage *storage, struct opk_ctx *ctx,
                      const struct opk_json *root)
{
	const struct opk_json *drops = opk_json_get(root, "drops", OPK_JSON_ARRAY);
	uint64_t launches = 0, ranges = 0, depth = 0, activities = 0;

	if (root->type != OPK_JSON_OBJECT)
		return opk_fail(ctx, OPK_EINPUT, "the counts are no object");
	if (drops && drops->count > OPK_MAX_DROPS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d reasons", OPK_MAX_DROPS);
	opk_json_u64(&launches, root, "launches");
	opk_json_u64(&ranges, root, "ranges");
	opk_json_u64(&depth, root, "depth");
	opk_json_u64(&activities, root, "activities");
	opk_sum_add(&storage->stats.activities, activities);
	opk_sum_add(&storage->stats.launches, launches);
	opk_sum_add(&storage->stats.ranges, ranges);
	if (depth <= UINT32_MAX && depth > storage->stats.depth)
		storage->stats.depth = (uint32_t)depth;
	storage->found = true;
	for (size_t i = 0; drops && i < drops->count; i++) {
		const struct opk_json *drop = &drops->children[i];
		uint64_t count = 0;

		opk_json_u64(&count, drop, "count");
		TRY(add_drop(storage, ctx, opk_json_string(drop, "reason"), count));
	}
	return OPK_OK;
}

static int add_section(struct opk_stats_storage *storage, struct opk_ctx *ctx,
                       const struct opk_file *file, size_t section)
{
	struct opk_json *root;
	int code = opk_file_read_json(&root, ctx, file, section);

	if (code)
		return code;
	code = add_counts(storage, ctx, root);
	opk_json_free(root);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section)
{
	struct opk_stats_storage *storage = opk_alloc(sizeof *storage);
	int code = storage ? add_section(storage, ctx, file, section) : opk_nomem(ctx, "counts");

	opk_stats_storage_free(storage);
	return code;
}

int opk_file_stats(const struct opk_stats **stats, struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_stats_storage *storage = file->stats;
	int code;

	if (!storage) {
		storage = opk_alloc(sizeof *storage);
		code = storage ? OPK_OK : opk_nomem(ctx, "counts");
		for (size_t i = 0; !code && i < file->section_count; i++)
			if (file->sections[i].type == OPK_SECTION_STATS)
				code = add_section(storage, ctx, file, i);
		if (code) {
			opk_stats_storage_free(storage);
			return code;
		}
		file->stats = storage;
	}
	*stats = storage->found ? &storage->stats : NULL;
	return OPK_OK;
}

void opk_stats_storage_free(struct opk_stats_storage *storage)
{
	if (!storage)
		return;
	for (size_t i = 0; i < storage->stats.drop_count; i++)
		free((char *)storage->drops[i].reason);
	free(storage->drops);
	free(storage);
}
