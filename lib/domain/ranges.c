/* SPDX-License-Identifier: BSD-2-Clause */
/* The RNGS sections: what was launched in each range. */
#include <stdint.h>

#include "base/json_write.h"
#include "domain/container.h"
#include "domain/meta.h"

/* Ranges of all range tables of a file, and the JSON that their strings are borrowed from. */
struct opk_range_storage {
	struct opk_range *ranges;
	size_t count;
	struct opk_json **roots;
	size_t root_count;
};

static void put_shape(struct opk_json_writer *json, const char *key, const uint32_t shape[3])
{
	if (!shape[0])
		return;
	opk_json_key(json, key);
	opk_json_begin_array(json);
	for (int i = 0; i < 3; i++)
		opk_json_put_u64(json, shape[i]);
	opk_json_end_array(json);
}

static void put_row(struct opk_json_writer *json, const struct opk_range *range)
{
	opk_json_begin_object(json);
	opk_json_add_string(json, "name", range->name);
	opk_json_add_string(json, "kernel", range->kernel);
	opk_json_add_string(json, "symbol", range->symbol);
	put_shape(json, "grid", range->grid);
	put_shape(json, "block", range->block);
	opk_json_add_u64(json, "shared_bytes", range->shared_bytes);
	opk_json_add_u64(json, "launch", range->launch);
	if (range->device >= 0) {
		opk_json_key(json, "device");
		opk_json_put_u64(json, (uint64_t)range->device);
	}
	opk_json_add_u64(json, "start_ns", range->start_ns);
	opk_json_add_u64(json, "end_ns", range->end_ns);
	opk_json_end_object(json);
}

void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_array(&json);
	for (size_t i = 0; i < count; i++)
		put_row(&json, &ranges[i]);
	opk_json_end_array(&json);
}

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
	uint64_t device, shared_bytes = 0;

	range->name = opk_json_string(row, "name");
	range->kernel = opk_json_string(row, "kernel");
	range->symbol = opk_json_string(row, "symbol");
	read_shape(range->grid, row, "grid");
	read_shape(range->block, row, "block");
	range->device = opk_json_u64(&device, row, "device") && device <= INT32_MAX
	                        ? (int32_t)device
	                        : -1;
	opk_json_u64(&shared_bytes, row, "shared_bytes");
	range->shared_bytes = shared_bytes <= UINT32_MAX ? (uint32_t)shared_bytes : 0;
	opk_json_u64(&range->launch, row, "launch");
	opk_json_u64(&range->start_ns, row, "start_ns");
	opk_json_u64(&range->end_ns, row, "end_ns");
}

static int add_rows(struct opk_range_storage *storage, struct opk_ctx *ctx,
                    const struct opk_json *root)
{
	size_t count = storage->count + root->count;
	struct opk_range *grown = opk_realloc(storage->ranges, count * sizeof *grown);

	if (!grown)
		return opk_nomem(ctx, "a range table");
	storage->ranges = grown;
	for (size_t i = 0; i < root->count; i++) {
		struct opk_range *range = &grown[storage->count++];

		*range = (struct opk_range){ .device = -1 };
		read_row(range, &root->children[i]);
	}
	return OPK_OK;
}

static int load_section(struct opk_range_storage *storage, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t section)
{
	struct opk_json *root;
	int code = opk_file_read_json(&root, ctx, file, section);

	if (code)
		return code;
	storage->roots[storage->root_count++] = root;
	if (root->type == OPK_JSON_ARRAY)
		return add_rows(storage, ctx, root);
	opk_fail(ctx, OPK_EINPUT, "the range table is no array");
	return opk_file_add_place(ctx, OPK_EINPUT, file, section);
}

static int load(struct opk_range_storage *storage, struct opk_ctx *ctx, const struct opk_file *file)
{
	int code = OPK_OK;

	storage->roots = opk_alloc_array(file->section_count, sizeof *storage->roots);
	if (!storage->roots)
		return opk_nomem(ctx, "a range table");
	for (size_t i = 0; !code && i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_RANGES)
			code = load_section(storage, ctx, file, i);
	return code;
}

int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file)
{
	if (!file->ranges) {
		struct opk_range_storage *storage = opk_alloc(sizeof *storage);
		int code = storage ? load(storage, ctx, file) : opk_nomem(ctx, "a range table");

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
	for (size_t i = 0; i < storage->root_count; i++)
		opk_json_free(storage->roots[i]);
	free(storage->roots);
	free(storage->ranges);
	free(storage);
}
