/* SPDX-License-Identifier: BSD-2-Clause */
/* The RNGS sections: what was launched in each range. */
#include <stdint.h>
#include <string.h>

#include "base/json_write.h"
#include "container/container.h"

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

/* Counted from 0, so that unknown is -1, and left out. */
static void put_index(struct opk_json_writer *json, const char *key, int32_t index)
{
	if (index < 0)
		return;
	opk_json_key(json, key);
	opk_json_put_u64(json, (uint64_t)index);
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
	put_index(json, "device", range->device);
	opk_json_add_u64(json, "start_ns", range->start_ns);
	opk_json_add_u64(json, "end_ns", range->end_ns);
	opk_json_add_string(json, "nvtx", range->nvtx);
	opk_json_add_u64(json, "stream", range->stream);
	opk_json_add_u64(json, "duration_ns", range->duration_ns);
	opk_json_add_u64(json, "registers", range->registers);
	opk_json_add_u64(json, "context", range->context);
	opk_json_add_u64(json, "process", range->process);
	opk_json_add_u64(json, "pass", range->pass);
	put_index(json, "rank", range->rank);
	opk_json_add_u64(json, "sm_mhz", range->sm_mhz);
	opk_json_add_u64(json, "memory_mhz", range->memory_mhz);
	opk_json_add_u64(json, "count", range->count);
	opk_json_add_string(json, "host", range->host);
	opk_json_add_string(json, "gpu", range->gpu);
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

/*
 * A row in the making. Members that are missing, or of another type, are unknown. Numbers out of
 * range are refused.
 */
struct reader {
	const struct opk_json *row;
	const char *bad; /* the member that can't be */
};

static uint64_t read_number(struct reader *reader, const struct opk_json *number, const char *key,
                            uint64_t most)
{
	uint64_t value;

	if (!number || number->type != OPK_JSON_NUMBER)
		return 0;
	if (opk_json_to_u64(&value, number) && value <= most)
		return value;
	reader->bad = key;
	return 0;
}

static uint64_t read_u64(struct reader *reader, const char *key)
{
	return read_number(reader, opk_json_member(reader->row, key), key, UINT64_MAX);
}

static uint32_t read_u32(struct reader *reader, const char *key)
{
	return (uint32_t)read_number(reader, opk_json_member(reader->row, key), key, UINT32_MAX);
}

/* Counted from 0. */
static int32_t read_index(struct reader *reader, const char *key)
{
	const struct opk_json *number = opk_json_get(reader->row, key, OPK_JSON_NUMBER);

	return number ? (int32_t)read_number(reader, number, key, INT32_MAX) : -1;
}

/* "grid":[x,y,z] */
static void read_shape(uint32_t out[3], struct reader *reader, const char *key)
{
	const struct opk_json *shape = opk_json_get(reader->row, key, OPK_JSON_ARRAY);

	if (!shape || shape->count != 3)
		return;
	for (int i = 0; i < 3; i++)
		if (shape->children[i].type != OPK_JSON_NUMBER)
			return;
	for (int i = 0; i < 3; i++)
		out[i] = (uint32_t)read_number(reader, &shape->children[i], key, UINT32_MAX);
}

static const char *keep(struct opk_range_table *table, const char *text)
{
	struct opk_strlist *texts = &table->texts;
	size_t known = texts->count;

	if (!*text)
		return "";
	if (opk_index_find(&known, &table->numbers, text))
		return texts->items[known];
	if (opk_strlist_add(texts, text)
	    && opk_index_add(&table->numbers, texts->items[known], known, NULL)) {
		table->text_weight += strlen(text) + OPK_TEXT_WEIGHT;
		return texts->items[known];
	}
	table->failed = true;
	return "";
}

/* In the one spelling, so that ranges of all files go together. */
static const char *keep_kernel(struct opk_range_table *table, const char *text)
{
	opk_autofree char *spelled = NULL;
	size_t known;
	const char *kept, *key;

	if (!*text || opk_index_find(&known, &table->kernels, text))
		return *text ? table->texts.items[known] : "";
	spelled = opk_kernel_spell(text);
	kept = keep(table, spelled ? spelled : "");
	key = keep(table, text);
	if (!spelled || table->failed || !opk_index_find(&known, &table->numbers, kept)
	    || !opk_index_add(&table->kernels, key, known, NULL))
		table->failed = true;
	return kept;
}

/* The member that can't be, or NULL. */
static const char *read_row(struct opk_range *range, struct opk_range_table *table,
                            const struct opk_json *row)
{
	struct reader reader = { .row = row };

	range->name = keep(table, opk_json_string(row, "name"));
	range->kernel = keep_kernel(table, opk_json_string(row, "kernel"));
	range->symbol = keep(table, opk_json_string(row, "symbol"));
	read_shape(range->grid, &reader, "grid");
	read_shape(range->block, &reader, "block");
	range->device = read_index(&reader, "device");
	range->shared_bytes = read_u32(&reader, "shared_bytes");
	range->launch = read_u64(&reader, "launch");
	range->start_ns = read_u64(&reader, "start_ns");
	range->end_ns = read_u64(&reader, "end_ns");
	range->nvtx = keep(table, opk_json_string(row, "nvtx"));
	range->stream = read_u64(&reader, "stream");
	range->duration_ns = read_u64(&reader, "duration_ns");
	range->registers = read_u32(&reader, "registers");
	range->context = read_u32(&reader, "context");
	range->process = read_u32(&reader, "process");
	range->pass = read_u32(&reader, "pass");
	range->rank = read_index(&reader, "rank");
	range->sm_mhz = read_u32(&reader, "sm_mhz");
	range->memory_mhz = read_u32(&reader, "memory_mhz");
	range->count = read_u64(&reader, "count");
	range->host = keep(table, opk_json_string(row, "host"));
	range->gpu = keep(table, opk_json_string(row, "gpu"));
	return reader.bad;
}

_Static_assert(sizeof(struct opk_range) <= OPK_RANGE_WEIGHT, "");

static uint64_t weight_of(const struct opk_range_table *table, uint64_t more)
{
	return (table->count + more) * OPK_RANGE_WEIGHT + table->text_weight;
}

static int add_rows(struct opk_range_table *table, struct opk_ctx *ctx, const struct opk_json *root)
{
	for (size_t i = 0; i < root->count; i++) {
		struct opk_range *range;
		const char *bad;

		if (opk_json_member(&root->children[i], "group"))
			return opk_fail(ctx, OPK_EINPUT,
			                "row %zu of the range table is of a pass group, by an "
			                "earlier offpeak: build the set again, and record again",
			                i + 1);
		if (!opk_grow(&table->rows, &table->capacity, table->count, sizeof *range))
			return opk_nomem(ctx, "a range table");
		range = &table->rows[table->count++];
		*range = (struct opk_range){ 0 };
		bad = read_row(range, table, &root->children[i]);
		if (bad)
			return opk_fail(ctx, OPK_EINPUT,
			                "row %zu of the range table: member %s is out of range",
			                i + 1, bad);
	}
	return table->failed ? opk_nomem(ctx, "a range table") : OPK_OK;
}

int opk_range_table_read(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_file *file, size_t section)
{
	struct opk_json *root;
	size_t rows;
	int code = opk_file_read_json(&root, ctx, file, section);

	if (code)
		return code;
	rows = root->count;
	code = root->type == OPK_JSON_ARRAY
	               ? opk_table_check(ctx, file, section, rows, weight_of(table, rows))
	               : opk_fail(ctx, OPK_EINPUT, "the range table is no array");
	if (!code)
		code = add_rows(table, ctx, root);
	opk_json_free(root);
	/* Its texts are known only now. */
	if (!code)
		code = opk_table_check(ctx, file, section, rows, weight_of(table, 0));
	return code == OPK_EINPUT ? opk_file_add_place(ctx, code, file, section) : code;
}

void opk_range_table_clear(struct opk_range_table *table)
{
	opk_strlist_clear(&table->texts);
	opk_index_clear(&table->numbers);
	opk_index_clear(&table->kernels);
	free(table->rows);
	*table = (struct opk_range_table){ 0 };
}
