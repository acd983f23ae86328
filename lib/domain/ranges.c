/* SPDX-License-Identifier: BSD-2-Clause */
/* The RNGS section: what was launched in each range. */
#include <stdint.h>

#include "domain/container.h"
#include "domain/meta.h"

struct opk_range_storage {
	struct opk_range *ranges;
	size_t count;
	struct opk_json *root;
};

/* "grid":[x,y,z]; anything else leaves zeros, which mean unknown. */
static void read_shape(uint32_t out[3], const struct opk_json *row, const char *key)
{
	const struct opk_json *shape = opk_json_get(row, key, OPK_JSON_ARRAY);
	uint64_t values[3];

	if (!shape || shape->count != 3)
		return;
	for (int i = 0; i < 3; i++)
		if (!opk_json_to_u64(&values[i], &shape->children[i]) || values[i] > UINT32_MAX)
			return;
	for (int i = 0; i < 3; i++)
		out[i] = (uint32_t)values[i];
}

static void read_row(struct opk_range *range, const struct opk_json *row)
{
	uint64_t device;

	range->name = opk_json_string(row, "name");
	range->kernel = opk_json_string(row, "kernel");
	read_shape(range->grid, row, "grid");
	read_shape(range->block, row, "block");
	range->device = opk_json_u64(&device, row, "device") && device <= INT32_MAX
	                        ? (int32_t)device
	                        : -1;
	opk_json_u64(&range->start_ns, row, "start_ns");
	opk_json_u64(&range->end_ns, row, "end_ns");
}

static int load(struct opk_range_storage *storage, struct opk_ctx *ctx, struct opk_file *file,
                size_t section)
{
	int code = opk_file_read_json(&storage->root, ctx, file, section);

	if (code)
		return code;
	if (storage->root->type != OPK_JSON_ARRAY) {
		opk_fail(ctx, OPK_EINPUT, "the range table is no array");
		return opk_file_add_place(ctx, OPK_EINPUT, file, section);
	}
	storage->count = storage->root->count;
	storage->ranges = opk_alloc_array(storage->count, sizeof *storage->ranges);
	if (!storage->ranges)
		return opk_nomem(ctx, "a range table");
	for (size_t i = 0; i < storage->count; i++)
		read_row(&storage->ranges[i], &storage->root->children[i]);
	return OPK_OK;
}

int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file)
{
	long section = opk_file_find(file, OPK_SECTION_RANGES);
	struct opk_range_storage *storage;
	int code;

	*ranges = NULL;
	*count = 0;
	if (section < 0)
		return OPK_OK;
	if (!file->ranges) {
		storage = opk_alloc(sizeof *storage);
		code = storage ? load(storage, ctx, file, (size_t)section)
		               : opk_nomem(ctx, "a range table");
		if (code) {
			opk_range_storage_free(storage);
			return code;
		}
		file->ranges = storage;
	}
	*ranges = file->ranges->ranges;
	*count = file->ranges->count;
	return OPK_OK;
}

void opk_range_storage_free(struct opk_range_storage *storage)
{
	if (!storage)
		return;
	opk_json_free(storage->root);
	free(storage->ranges);
	free(storage);
}
