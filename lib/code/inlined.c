/* SPDX-License-Identifier: BSD-2-Clause */
/* Where code was inlined: the line table (.debug_line) of a cubin, with NVIDIA's extension. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "code/code_inside.h"

/* Of DWARF 2, 3 and 4. */
enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	/* NVIDIA's: the next row is inlined at this row of its sequence, from 1; 0: it is not. */
	LNE_INLINED_CALL = 0x90,
	MOST_OPCODES = 256,
};

struct parser {
	struct opk_line_table *table;
	struct opk_ctx *ctx;
	const struct opk_cubin *cubin;
	struct opk_cubin_section lines, relocations;
	size_t relocation; /* where the last one was found: they are in order */
	struct opk_reader in;
	/* The unit, from here on. */
	size_t first_file, file_count;
	uint8_t min_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[MOST_OPCODES];
	/* The sequence, from here on. */
	struct opk_line_row row;
	size_t first_row;
};

/* ---- what it is made of */

static uint8_t read_u8(struct opk_reader *in)
{
	const uint8_t *byte = opk_read_bytes(in, 1);

	return byte ? *byte : 0;
}

static uint16_t read_u16(struct opk_reader *in)
{
	uint8_t low = read_u8(in);

	return (uint16_t)(low | read_u8(in) << 8);
}

/* A LEB128; bits above the 64th are lost. */
static uint64_t read_leb(struct opk_reader *in, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = read_u8(in);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->failed);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static const char *read_text(struct opk_reader *in)
{
	const void *end = in->failed ? NULL : memchr(in->data, 0, in->left);

	return opk_read_bytes(in, end ? (size_t)((const uint8_t *)end - in->data) + 1 : SIZE_MAX);
}

/* Takes `size` bytes off as a reader of their own. */
static struct opk_reader take(struct opk_reader *in, size_t size)
{
	const void *bytes = opk_read_bytes(in, size);

	return (struct opk_reader){ .data = bytes, .left = bytes ? size : 0, .failed = !bytes };
}

/* ---- addresses */

/* The function's section of the address at this place, which a relocation says. */
static bool relocate(struct opk_line_row *row, struct parser *parser, uint64_t place)
{
	size_t count = parser->relocations.size / sizeof(Elf64_Rela);
	const struct opk_cubin_section *symbols = &parser->cubin->symbols;

	for (size_t i = 0; i < count; i++) {
		size_t at = (parser->relocation + i) % count;
		Elf64_Rela relocation;
		Elf64_Sym symbol;

		memcpy(&relocation, parser->relocations.data + at * sizeof relocation,
		       sizeof relocation);
		if (relocation.r_offset != place)
			continue;
		parser->relocation = at;
		if (ELF64_R_SYM(relocation.r_info) >= symbols->size / sizeof symbol)
			return false;
		memcpy(&symbol, symbols->data + ELF64_R_SYM(relocation.r_info) * sizeof symbol,
		       sizeof symbol);
		row->section = symbol.st_shndx;
		row->address = symbol.st_value + (uint64_t)relocation.r_addend;
		return true;
	}
	return false;
}

static void set_address(struct parser *parser, struct opk_reader *in)
{
	uint64_t place = (uint64_t)(in->data - parser->lines.data);

	parser->row.section = 0;
	if (in->left == sizeof(uint64_t))
		relocate(&parser->row, parser, place);
}

/* ---- rows */

static int add_row(struct parser *parser)
{
	struct opk_line_row *row = opk_list_add(&parser->table->rows);

	if (!row)
		return opk_nomem(parser->ctx, "lines of code");
	*row = parser->row;
	row->first = parser->first_row;
	row->number = parser->table->rows.count - 1;
	return OPK_OK;
}

static void begin_sequence(struct parser *parser)
{
	parser->first_row = parser->table->rows.count;
	parser->row = (struct opk_line_row){ .file = 1, .line = 1 };
}

static void advance(struct parser *parser, uint64_t instructions)
{
	parser->row.address += instructions * parser->min_length;
}

static int run_extended(struct parser *parser)
{
	uint64_t size = read_leb(&parser->in, false);
	struct opk_reader in = take(&parser->in, size < SIZE_MAX ? size : SIZE_MAX);

	switch (read_u8(&in)) {
	case LNE_END_SEQUENCE:
		parser->row.is_end = true;
		TRY(add_row(parser));
		begin_sequence(parser);
		return OPK_OK;
	case LNE_SET_ADDRESS:
		set_address(parser, &in);
		return OPK_OK;
	case LNE_INLINED_CALL:
		parser->row.call = read_leb(&in, false);
		return OPK_OK;
	default:
		return OPK_OK;
	}
}

static int run_special(struct parser *parser, uint8_t opcode)
{
	unsigned adjusted = (unsigned)opcode - parser->opcode_base;

	advance(parser, adjusted / parser->line_range);
	parser->row.line += (uint32_t)(parser->line_base + (int)(adjusted % parser->line_range));
	return add_row(parser);
}

static int run_opcode(struct parser *parser, uint8_t opcode)
{
	struct opk_reader *in = &parser->in;

	if (opcode >= parser->opcode_base)
		return run_special(parser, opcode);
	switch (opcode) {
	case 0:
		return run_extended(parser);
	case LNS_COPY:
		return add_row(parser);
	case LNS_ADVANCE_PC:
		advance(parser, read_leb(in, false));
		return OPK_OK;
	case LNS_ADVANCE_LINE:
		parser->row.line += (uint32_t)read_leb(in, true);
		return OPK_OK;
	case LNS_SET_FILE:
		parser->row.file = read_leb(in, false);
		return OPK_OK;
	case LNS_CONST_ADD_PC:
		advance(parser, (255u - parser->opcode_base) / parser->line_range);
		return OPK_OK;
	case LNS_FIXED_ADVANCE_PC:
		parser->row.address += read_u16(in);
		return OPK_OK;
	default:
		for (size_t i = 0; i < parser->lengths[opcode]; i++)
			read_leb(in, false);
		return OPK_OK;
	}
}

/* The row's file becomes one of the table's; a row of an unknown one gets SIZE_MAX. */
static void number_files(const struct parser *parser, size_t first)
{
	for (size_t i = first; i < parser->table->rows.count; i++) {
		struct opk_line_row *row = &parser->table->rows.items[i];

		row->file = row->file && row->file <= parser->file_count
		                    ? parser->first_file + row->file - 1
		                    : SIZE_MAX;
	}
}

static int run_program(struct parser *parser)
{
	size_t first = parser->table->rows.count;
	int code = OPK_OK;

	begin_sequence(parser);
	while (!code && parser->in.left && !parser->in.failed)
		code = run_opcode(parser, read_u8(&parser->in));
	number_files(parser, first);
	return code;
}

/* ---- units */

static int read_files(struct parser *parser, struct opk_reader *in)
{
	OPK_LIST(const char *) folders = { 0 };
	struct opk_line_file *file;
	const char *text, **folder;
	int code = OPK_OK;

	parser->first_file = parser->table->files.count;
	while (!code && (text = read_text(in)) && *text)
		if ((folder = opk_list_add(&folders)))
			*folder = text;
		else
			code = opk_nomem(parser->ctx, "source files");
	while (!code && (text = read_text(in)) && *text) {
		uint64_t number = read_leb(in, false);

		read_leb(in, false); /* its time, and its size */
		read_leb(in, false);
		file = opk_list_add(&parser->table->files);
		if (!file)
			code = opk_nomem(parser->ctx, "source files");
		else
			*file = (struct opk_line_file){ number && number <= folders.count
				                                ? folders.items[number - 1]
				                                : "",
				                        text };
	}
	parser->file_count = parser->table->files.count - parser->first_file;
	free(folders.items);
	return code;
}

/* One unit. Of a version with another header, or a damaged one, nothing is known. */
static int read_unit(struct parser *parser, struct opk_reader in)
{
	uint16_t version = read_u16(&in);
	struct opk_reader header = take(&in, opk_read_u32(&in));

	if (version < 2 || version > 4)
		return OPK_OK;
	parser->min_length = read_u8(&header);
	if (version == 4)
		read_u8(&header); /* operations per instruction */
	read_u8(&header);         /* is_stmt at first */
	parser->line_base = (int8_t)read_u8(&header);
	parser->line_range = read_u8(&header);
	parser->opcode_base = read_u8(&header);
	for (size_t i = 1; i < parser->opcode_base; i++)
		parser->lengths[i] = read_u8(&header);
	TRY(read_files(parser, &header));
	if (header.failed || in.failed || !parser->line_range || !parser->opcode_base)
		return OPK_OK;
	parser->in = in;
	return run_program(parser);
}

/* By place, and rows of one place as they are in the table. */
static int by_place(const void *a, const void *b, void *rows)
{
	const struct opk_line_row *x = (const struct opk_line_row *)rows + *(const size_t *)a;
	const struct opk_line_row *y = (const struct opk_line_row *)rows + *(const size_t *)b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* A sequence may end where the next one begins. */
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int sort(struct opk_line_table *table, struct opk_ctx *ctx)
{
	size_t count = table->rows.count;

	table->order = opk_alloc_array(count + 1, sizeof *table->order);
	if (!table->order)
		return opk_nomem(ctx, "lines of code");
	for (size_t i = 0; i < count; i++)
		table->order[i] = i;
	if (count)
		qsort_r(table->order, count, sizeof *table->order, by_place, table->rows.items);
	return OPK_OK;
}

int opk_line_table_read(struct opk_line_table *table, struct opk_ctx *ctx,
                        const struct opk_cubin *cubin)
{
	struct parser parser = { .table = table, .ctx = ctx, .cubin = cubin };
	struct opk_reader in;

	if (!opk_cubin_find(&parser.lines, cubin, ".debug_line") || !parser.lines.data
	    || !opk_cubin_find(&parser.relocations, cubin, ".rela.debug_line")
	    || !parser.relocations.data || !cubin->symbols.data)
		return OPK_OK;
	in = (struct opk_reader){ .data = parser.lines.data, .left = parser.lines.size };
	while (in.left && !in.failed)
		TRY(read_unit(&parser, take(&in, opk_read_u32(&in))));
	return sort(table, ctx);
}

void opk_line_table_clear(struct opk_line_table *table)
{
	free(table->rows.items);
	free(table->files.items);
	free(table->order);
}

/* ---- finding */

/* The row that has this address: the last one at or before it. */
static const struct opk_line_row *find_row(const struct opk_line_table *table, size_t section,
                                           uint64_t address)
{
	size_t low = 0, high = table->order ? table->rows.count : 0;
	const struct opk_line_row *row;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		row = &table->rows.items[table->order[middle]];
		if (row->section < section || (row->section == section && row->address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	row = low ? &table->rows.items[table->order[low - 1]] : NULL;
	return row && row->section == section && !row->is_end ? row : NULL;
}

size_t opk_line_table_find(struct opk_line_frame frames[OPK_MOST_FRAMES],
                           const struct opk_line_table *table, size_t section, uint64_t address)
{
	const struct opk_line_row *row = section ? find_row(table, section, address) : NULL;
	size_t count = 0;

	while (row && row->file < table->files.count && !row->is_end && count < OPK_MOST_FRAMES) {
		const struct opk_line_file *file = &table->files.items[row->file];

		frames[count++] = (struct opk_line_frame){ file->folder, file->name, row->line };
		if (!row->call)
			return count;
		/* It is called from an earlier row of the sequence, so this ends. */
		row = row->call <= row->number - row->first
		              ? &table->rows.items[row->first + row->call - 1]
		              : NULL;
	}
	return 0;
}
