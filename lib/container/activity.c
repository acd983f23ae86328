/* SPDX-License-Identifier: BSD-2-Clause */
/* The KERN sections: what ran on the GPU and when, and ranges of the program. */
#include <string.h>

#include "container/container.h"

/* docs/format.md */
#define COLUMN(id, coding, member)                                                                 \
	{                                                                                          \
		id,                                                                                \
			OPK_CODED_##coding == OPK_CODED_TEXT                                       \
				? 4                                                                \
				: sizeof(((struct opk_activity *)0)->member),                      \
			OPK_CODED_##coding, offsetof(struct opk_activity, member)                  \
	}
static const struct opk_record_column columns[] = {
	COLUMN(1, NUMBER, kind),
	COLUMN(2, TEXT, name),
	COLUMN(3, TEXT, symbol),
	COLUMN(4, DIFFERENCE, start_ns),
	COLUMN(5, LENGTH, end_ns),
	COLUMN(6, INDEX, device),
	COLUMN(7, NUMBER, context),
	COLUMN(8, NUMBER, stream),
	COLUMN(9, DIFFERENCE, correlation),
	COLUMN(10, NUMBER, graph_node),
	COLUMN(11, NUMBER, bytes),
	COLUMN(12, NUMBER, thread),
	COLUMN(13, NUMBER, grid[0]),
	COLUMN(14, NUMBER, grid[1]),
	COLUMN(15, NUMBER, grid[2]),
	COLUMN(16, NUMBER, block[0]),
	COLUMN(17, NUMBER, block[1]),
	COLUMN(18, NUMBER, block[2]),
	COLUMN(19, NUMBER, registers),
	COLUMN(20, NUMBER, static_shared_bytes),
	COLUMN(21, NUMBER, shared_bytes),
	COLUMN(22, NUMBER, process),
	COLUMN(23, INDEX, rank),
	COLUMN(24, TEXT, host),
	COLUMN(25, TEXT, gpu),
	COLUMN(26, NUMBER, cluster[0]),
	COLUMN(27, NUMBER, cluster[1]),
	COLUMN(28, NUMBER, cluster[2]),
	COLUMN(29, NUMBER, carveout_plus_1),
	COLUMN(30, NUMBER, external),
};
static const struct opk_activity none = {
	.device = -1, .rank = -1, .name = "", .symbol = "", .host = "", .gpu = ""
};
static const struct opk_record_layout layout = {
	.columns = columns,
	.count = sizeof columns / sizeof *columns,
	.most = 64,
	.size = sizeof none,
	.unknown = &none,
	.what = "what ran",
};

_Static_assert(sizeof(struct opk_activity) <= OPK_ACTIVITY_WEIGHT, "");
_Static_assert(sizeof(((struct opk_activity *)0)->kind) == 4, "");

void opk_activities_encode(struct opk_buf *out, const struct opk_activity *activities, size_t count)
{
	opk_records_encode(out, &layout, activities, count, &(struct opk_named_values){ 0 });
}

/* Records of a kind that a later version knows are left out. */
static size_t drop_unknown(struct opk_activity *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind >= OPK_ACTIVITY_KERNEL && rows[i].kind <= OPK_ACTIVITY_CALL)
			rows[kept++] = rows[i];
	return kept;
}

static uint64_t weight_of(const struct opk_activity_table *table, uint64_t more)
{
	return (table->count + more) * OPK_ACTIVITY_WEIGHT + table->texts.weight;
}

static int read_rows(struct opk_activity_table *table, struct opk_ctx *ctx,
                     struct opk_record_reader *reader, const struct opk_file *file, size_t section)
{
	struct opk_activity *grown;

	TRY(opk_table_check(ctx, file, section, reader->count, weight_of(table, reader->count)));
	TRY(opk_records_read_texts(reader, &table->texts));
	/* Its texts are known only now. */
	TRY(opk_table_check(ctx, file, section, reader->count, weight_of(table, reader->count)));
	grown = opk_realloc_array(table->rows, table->count + reader->count, sizeof *grown);
	if (!grown)
		return opk_nomem(ctx, "records");
	table->rows = grown;
	grown += table->count;
	TRY(opk_records_decode(reader, grown, NULL));
	for (uint32_t i = 0; i < reader->count; i++)
		if (grown[i].kind == OPK_ACTIVITY_KERNEL)
			grown[i].name = opk_texts_keep_kernel(&table->texts, grown[i].name);
	table->count += drop_unknown(grown, reader->count);
	return table->texts.failed ? opk_nomem(ctx, "records") : OPK_OK;
}

int opk_activity_table_read(struct opk_activity_table *table, struct opk_ctx *ctx,
                            const struct opk_file *file, size_t section)
{
	struct opk_record_reader reader;
	int code = opk_records_open(&reader, ctx, &layout, file, section);

	if (!code)
		code = read_rows(table, ctx, &reader, file, section);
	opk_records_close(&reader);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

void opk_activity_table_clear(struct opk_activity_table *table)
{
	opk_texts_clear(&table->texts);
	free(table->rows);
	*table = (struct opk_activity_table){ 0 };
}

/* ---- records as rows -------------------------------------------------------------------- */

struct opk_range opk_activity_range(const struct opk_activity *activity)
{
	struct opk_range range = {
		.name = activity->name,
		.kernel = activity->name,
		.symbol = activity->symbol,
		.nvtx = "",
		.host = activity->host,
		.gpu = activity->gpu,
		.device = activity->device,
		.rank = activity->rank,
		.start_ns = activity->start_ns,
		.end_ns = activity->end_ns,
		.duration_ns = activity->end_ns - activity->start_ns,
		.stream = activity->stream,
		.context = activity->context,
		.process = activity->process,
		.registers = activity->registers,
		.shared_bytes = activity->shared_bytes,
		.carveout_plus_1 = activity->carveout_plus_1,
	};

	/* CUPTI always says what a kernel has. */
	if (activity->kind == OPK_ACTIVITY_KERNEL && activity->static_shared_bytes < UINT32_MAX)
		range.static_shared_plus_1 = activity->static_shared_bytes + 1;
	memcpy(range.grid, activity->grid, sizeof range.grid);
	memcpy(range.block, activity->block, sizeof range.block);
	memcpy(range.cluster, activity->cluster, sizeof range.cluster);
	return range;
}

const char *opk_activity_word(const struct opk_activity *activity)
{
	static const char *const kinds[] = {
		[OPK_ACTIVITY_KERNEL] = "kernel", [OPK_ACTIVITY_COPY] = "copy",
		[OPK_ACTIVITY_SET] = "set",       [OPK_ACTIVITY_RANGE] = "nvtx",
		[OPK_ACTIVITY_CALL] = "call",
	};

	return kinds[activity->kind];
}

/* ---- all of a file ---------------------------------------------------------------------- */

int opk_file_activities(const struct opk_activity **activities, size_t *count, struct opk_ctx *ctx,
                        struct opk_file *file)
{
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	if (!file->activities) {
		opk_auto(opk_activity_table) struct opk_activity_table *table = opk_alloc(
			sizeof *table);

		if (!table)
			return opk_nomem(ctx, "records");
		for (size_t i = 0; i < file->section_count; i++)
			if (file->sections[i].type == OPK_SECTION_ACTIVITIES)
				TRY(opk_activity_table_read(table, ctx, file, i));
		opk_activities_place(table->rows, table->count, meta);
		file->activities = opk_take(table);
	}
	*activities = file->activities->rows;
	*count = file->activities->count;
	return OPK_OK;
}

void opk_activity_table_free(struct opk_activity_table *table)
{
	if (table)
		opk_activity_table_clear(table);
	free(table);
}
