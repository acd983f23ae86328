/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads RNGS sections: what was launched in each range. */
#include "container/container.h"

#define RANGE(member, ...)                                                                         \
	OPK_MEMBER(opk_range, member, #member, .rules = OPK_MEMBER_BOUNDED, ##__VA_ARGS__)
#define NUMBER(member) RANGE(member, .form = OPK_MEMBER_NUMBER)

#define PLUS_1(member, key)                                                                        \
	OPK_MEMBER(opk_range, member, key, .rules = OPK_MEMBER_BOUNDED, .form = OPK_MEMBER_PLUS_1)

/* In the order in which they are written. A value of another type counts as missing. */
static const struct opk_member members[] = {
	RANGE(name),
	RANGE(kernel),
	RANGE(symbol),
	RANGE(grid, .form = OPK_MEMBER_SHAPE),
	RANGE(block, .form = OPK_MEMBER_SHAPE),
	NUMBER(shared_bytes),
	NUMBER(launch),
	RANGE(device, .form = OPK_MEMBER_INDEX),
	NUMBER(start_ns),
	NUMBER(end_ns),
	RANGE(nvtx),
	NUMBER(stream),
	NUMBER(duration_ns),
	NUMBER(registers),
	NUMBER(context),
	NUMBER(process),
	NUMBER(pass),
	RANGE(rank, .form = OPK_MEMBER_INDEX),
	NUMBER(sm_mhz),
	NUMBER(memory_mhz),
	NUMBER(count),
	RANGE(host),
	RANGE(gpu),
	PLUS_1(static_shared_plus_1, "static_shared_bytes"),
	RANGE(cluster, .form = OPK_MEMBER_SHAPE),
	PLUS_1(carveout_plus_1, "carveout"),
};
static const struct opk_members range_table = OPK_MEMBERS(members, opk_range);

void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_array(&json);
	for (size_t i = 0; i < count; i++) {
		opk_json_begin_object(&json);
		opk_members_write(&json, &range_table, &ranges[i]);
		opk_json_end_object(&json);
	}
	opk_json_end_array(&json);
}

/* Copies the range's texts: the table outlives the JSON from which they are borrowed. */
static void keep_texts(struct opk_texts *texts, struct opk_range *range)
{
	range->kernel = opk_texts_keep_kernel(texts, range->kernel);
	range->name = opk_texts_keep(texts, range->name);
	range->symbol = opk_texts_keep(texts, range->symbol);
	range->nvtx = opk_texts_keep(texts, range->nvtx);
	range->host = opk_texts_keep(texts, range->host);
	range->gpu = opk_texts_keep(texts, range->gpu);
}

bool opk_ranges_have_kernels(const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*ranges[i].kernel)
			return true;
	return false;
}

_Static_assert(sizeof(struct opk_range) <= OPK_RANGE_WEIGHT, "");

static uint64_t weight_of(const struct opk_range_table *table, uint64_t more)
{
	return (table->rows.count + more) * OPK_RANGE_WEIGHT + table->texts.weight;
}

int opk_ranges_from_json(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_json *root)
{
	if (root->type != OPK_JSON_ARRAY)
		return opk_fail(ctx, OPK_EINPUT, "the range table is not an array");
	for (size_t i = 0; i < root->count; i++) {
		const struct opk_members_reader reader = { ctx, NULL, "range table: row", i + 1 };
		struct opk_range *range = opk_list_add(&table->rows);

		if (opk_json_member(&root->children[i], "group"))
			return opk_fail(ctx, OPK_EINPUT,
			                "row %zu of the range table is of a pass group, by an "
			                "earlier offpeak: build the set again, and record again",
			                i + 1);
		if (!range)
			return opk_nomem(ctx, "a range table");
		TRY(opk_members_read(range, &range_table, &reader, &root->children[i]));
		keep_texts(&table->texts, range);
	}
	return table->texts.failed ? opk_nomem(ctx, "a range table") : OPK_OK;
}

static int read_rows(struct opk_range_table *table, struct opk_ctx *ctx,
                     const struct opk_file *file, size_t section)
{
	opk_auto(opk_json) struct opk_json *root = NULL;

	TRY(opk_file_read_json(&root, ctx, file, section));
	TRY(opk_table_check(ctx, file, section, root->count, weight_of(table, root->count)));
	TRY(opk_ranges_from_json(table, ctx, root));
	/* Checks the size again: only now the size of the texts is known. */
	return opk_table_check(ctx, file, section, root->count, weight_of(table, 0));
}

int opk_range_table_read(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_file *file, size_t section)
{
	int code = read_rows(table, ctx, file, section);

	return code == OPK_EINPUT ? opk_file_add_place(ctx, code, file, section) : code;
}

void opk_range_table_clear(struct opk_range_table *table)
{
	opk_texts_clear(&table->texts);
	free(table->rows.items);
	*table = (struct opk_range_table){ 0 };
}
