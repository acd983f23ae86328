/* SPDX-License-Identifier: BSD-2-Clause */
/* CODE sections: modules with functions that ran; INSN sections: counts of instructions. */
#include <inttypes.h>
#include <string.h>

#include "container/container.h"

/* ---- modules ------------------------------------------------------------------------------- */

enum { HAS_CODE = 1, MODULE_HEADER = 24 };

void opk_module_name(char out[OPK_MODULE_NAME], uint64_t crc)
{
	snprintf(out, OPK_MODULE_NAME, "%08" PRIx64, crc);
}

void opk_module_encode(struct opk_buf *out, const struct opk_module *module)
{
	opk_buf_add_u64(out, module->crc);
	opk_buf_add_u64(out, module->size);
	opk_buf_add_u32(out, module->has_code ? HAS_CODE : 0);
	opk_buf_add_u32(out, 0);
	opk_buf_add(out, module->data, module->size);
}

int opk_writer_add_module(struct opk_writer *writer, const struct opk_module *module)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_module_encode(&payload, module);
	return opk_writer_add_buf(writer, OPK_SECTION_CODE, &payload, "a module");
}

static int read_header(struct opk_module *out, struct opk_ctx *ctx, const void *data, size_t size)
{
	struct opk_reader reader = { .data = data, .left = size };

	out->crc = opk_read_u64(&reader);
	out->size = opk_read_u64(&reader);
	out->has_code = opk_read_u32(&reader) & HAS_CODE;
	opk_read_u32(&reader);
	out->data = reader.data;
	return reader.failed || reader.left != out->size
	               ? opk_fail(ctx, OPK_EINPUT, "the module's lengths disagree")
	               : OPK_OK;
}

int opk_module_read(struct opk_module *out, void **data, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t section)
{
	opk_autofree void *read = NULL;
	size_t size;
	int code;

	TRY(opk_file_read(&read, &size, ctx, file, section));
	code = read_header(out, ctx, read, size);
	if (code)
		return opk_file_add_place(ctx, code, file, section);
	*data = opk_take(read);
	return OPK_OK;
}

/* ---- what was counted at instructions ------------------------------------------------------ */

#define COLUMN(id, coding, member)                                                                 \
	{                                                                                          \
		id,                                                                                \
			OPK_CODED_##coding == OPK_CODED_TEXT                                       \
				? 4                                                                \
				: sizeof(((struct opk_instruction *)0)->member),                   \
			OPK_CODED_##coding, offsetof(struct opk_instruction, member)               \
	}
static const struct opk_record_column columns[] = {
	COLUMN(1, NUMBER, module),  COLUMN(2, TEXT, function),   COLUMN(3, NUMBER, offset),
	COLUMN(4, NUMBER, launch),  COLUMN(5, NUMBER, launches), COLUMN(6, INDEX, device),
	COLUMN(7, NUMBER, process), COLUMN(8, INDEX, rank),      COLUMN(9, TEXT, host),
	COLUMN(10, TEXT, gpu),      COLUMN(11, TEXT, name),      COLUMN(12, NUMBER, interval),
};
static const struct opk_instruction unknown = {
	.function = "", .name = "", .device = -1, .rank = -1, .host = "", .gpu = ""
};
static const struct opk_record_layout layout = {
	.columns = columns,
	.count = sizeof columns / sizeof *columns,
	.most = 4096,
	.is_named = true,
	.size = sizeof unknown,
	.unknown = &unknown,
	.what = "an instruction",
};

/* The format bounds files by this weight; a row in memory may be a little larger. */
_Static_assert(sizeof(struct opk_instruction) <= OPK_INSTRUCTION_WEIGHT + 8, "");

void opk_instructions_encode(struct opk_buf *out, const struct opk_instruction_table *table)
{
	struct opk_named_values named = { table->metrics, table->metric_count, table->values };

	opk_records_encode(out, &layout, table->rows, table->count, &named);
}

int opk_writer_add_instructions(struct opk_writer *writer,
                                const struct opk_instruction_table *table)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_instructions_encode(&payload, table);
	return opk_writer_add_buf(writer, OPK_SECTION_INSTRUCTIONS, &payload,
	                          "counts of instructions");
}

void opk_instruction_block_clear(struct opk_instruction_block *block)
{
	opk_texts_clear(&block->texts);
	free(block->names);
	free(block->rows);
	free(block->values);
	*block = (struct opk_instruction_block){ 0 };
}

/* The names of the section's values: no two are the same. */
static int take_names(struct opk_instruction_block *block, struct opk_record_reader *reader)
{
	size_t count = 0;

	block->names = opk_alloc_array(reader->name_count + 1, sizeof *block->names);
	if (!block->names)
		return opk_nomem(reader->ctx, "records");
	for (uint32_t i = 0; i < reader->column_count; i++)
		if (reader->columns[i].name)
			block->names[count++] = reader->texts[reader->columns[i].name];
	/* Texts are kept once, so equal names are the same pointer. */
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (block->names[i] == block->names[j])
				return opk_fail(reader->ctx, OPK_EINPUT,
				                "the values of %s are there twice",
				                block->names[i]);
	return OPK_OK;
}

static int read_rows(struct opk_instruction_block *block, struct opk_ctx *ctx,
                     struct opk_record_reader *reader, const struct opk_file *file, size_t section)
{
	size_t row = OPK_INSTRUCTION_WEIGHT + reader->name_count * sizeof *block->values;

	TRY(opk_table_check(ctx, file, section, reader->count, reader->count * row));
	TRY(opk_records_read_texts(reader, &block->texts));
	TRY(opk_table_check(ctx, file, section, reader->count,
	                    reader->count * row + block->texts.weight));
	TRY(take_names(block, reader));
	block->rows = opk_alloc_array((size_t)reader->count + 1, sizeof *block->rows);
	block->values = opk_alloc_array((size_t)reader->count * reader->name_count + 1,
	                                sizeof *block->values);
	if (!block->rows || !block->values)
		return opk_nomem(ctx, "records");
	TRY(opk_records_decode(reader, block->rows, block->values));
	for (size_t i = 0; i < reader->count; i++)
		if (block->rows[i].interval > OPK_MOST_INTERVAL)
			return opk_fail(ctx, OPK_EINPUT, "samples every 2^%u cycles",
			                block->rows[i].interval);
	block->table = (struct opk_instruction_table){
		.metrics = block->names,
		.metric_count = reader->name_count,
		.rows = block->rows,
		.count = reader->count,
		.values = block->values,
	};
	return OPK_OK;
}

int opk_instruction_block_read(struct opk_instruction_block *block, struct opk_ctx *ctx,
                               const struct opk_file *file, size_t section)
{
	struct opk_record_reader reader;
	int code = opk_records_open(&reader, ctx, &layout, file, section);

	if (!code)
		code = read_rows(block, ctx, &reader, file, section);
	opk_records_close(&reader);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}
