/* SPDX-License-Identifier: BSD-2-Clause */
/* Where code was inlined: the line table (.debug_line) of a cubin, with NVIDIA's extension. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "code/code_inside.h"

/* The opcodes of line tables in DWARF 2, 3 and 4. */
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
	/*
	 * A module has at most one row for so many of its bytes. An instruction takes 16, and what
	 * nvcc -lineinfo writes has a row for 100 or more.
	 */
	BYTES_OF_ROW = 8,
};

/* The address that is at a place in the line table: in the section of a function. */
struct relocation {
	uint64_t place, address;
	uint32_t section;
};

struct parser {
	struct opk_line_table *table;
	struct opk_ctx *ctx;
	const struct opk_cubin *cubin;
	struct opk_cubin_section lines;
	OPK_LIST(struct relocation) relocations; /* by place */
	uint32_t only_section; /* that has functions, where there are no relocations; else 0 */
	size_t most_rows;
	struct opk_reader in;
	/* The unit, from here on. */
	size_t first_file, file_count;
	uint8_t min_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[MOST_OPCODES];
	/* The sequence, from here on. */
	struct opk_line_row row;
	uint32_t first_row;
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

/* A number of a row or a file: larger ones become UINT32_MAX, which none has. */
static uint32_t read_number(struct opk_reader *in)
{
	uint64_t number = read_leb(in, false);

	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
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

static uint64_t in_place(const struct parser *parser, uint64_t place)
{
	uint64_t value = 0;

	if (parser->lines.size >= sizeof value && place <= parser->lines.size - sizeof value)
		memcpy(&value, parser->lines.data + place, sizeof value);
	return value;
}

/* Relocations that code was removed from are zeros, which name no symbol. */
static int add_relocation(struct parser *parser, uint64_t place, uint64_t number, uint64_t addend)
{
	const struct opk_cubin_section *symbols = &parser->cubin->symbols;
	struct relocation *relocation;
	Elf64_Sym symbol;

	if (!number || number >= symbols->size / sizeof symbol)
		return OPK_OK;
	memcpy(&symbol, symbols->data + number * sizeof symbol, sizeof symbol);
	relocation = opk_list_add(&parser->relocations);
	if (!relocation)
		return opk_nomem(parser->ctx, "lines of code");
	*relocation = (struct relocation){ place, symbol.st_value + addend, symbol.st_shndx };
	return OPK_OK;
}

static int compare_places(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* For compute capability 9.0 and later there are addends; before, they are at their places. */
static int read_relocations(struct parser *parser)
{
	struct opk_cubin_section section;
	Elf64_Rela rela;
	Elf64_Rel rel;

	if (opk_cubin_find(&section, parser->cubin, ".rela.debug_line"))
		for (size_t i = 0; i < section.size / sizeof rela; i++) {
			memcpy(&rela, section.data + i * sizeof rela, sizeof rela);
			TRY(add_relocation(parser, rela.r_offset, ELF64_R_SYM(rela.r_info),
			                   (uint64_t)rela.r_addend));
		}
	if (opk_cubin_find(&section, parser->cubin, ".rel.debug_line"))
		for (size_t i = 0; i < section.size / sizeof rel; i++) {
			memcpy(&rel, section.data + i * sizeof rel, sizeof rel);
			TRY(add_relocation(parser, rel.r_offset, ELF64_R_SYM(rel.r_info),
			                   in_place(parser, rel.r_offset)));
		}
	if (parser->relocations.count)
		qsort(parser->relocations.items, parser->relocations.count,
		      sizeof *parser->relocations.items, compare_places);
	return OPK_OK;
}

/* The section of all functions; 0: they are in several, or there are none. */
static uint32_t find_only_section(const struct opk_cubin *cubin)
{
	struct opk_cubin_function function;
	size_t at = 0, only = 0;

	while (opk_cubin_next_function(&function, cubin, &at)) {
		if (only && only != function.section)
			return 0;
		only = function.section;
	}
	return (uint32_t)only;
}

static void set_address(struct parser *parser, struct opk_reader *in)
{
	const struct relocation *found, wanted = {
		.place = (uint64_t)(in->data - parser->lines.data),
	};

	parser->row.section = 0;
	if (in->left != sizeof(uint64_t))
		return;
	parser->row.section = parser->only_section;
	parser->row.address = in_place(parser, wanted.place);
	found = parser->relocations.count
	                ? bsearch(&wanted, parser->relocations.items, parser->relocations.count,
	                          sizeof wanted, compare_places)
	                : NULL;
	if (!found)
		return;
	parser->row.section = found->section;
	parser->row.address = found->address;
}

/* ---- rows */

static int add_row(struct parser *parser)
{
	struct opk_line_row *row;

	if (parser->table->rows.count >= parser->most_rows)
		return opk_fail(parser->ctx, OPK_EINPUT,
		                "their table has more than %zu rows, which are too many for a "
		                "module of %zu bytes",
		                parser->most_rows, parser->cubin->size);
	row = opk_list_add(&parser->table->rows);
	if (!row)
		return opk_nomem(parser->ctx, "lines of code");
	*row = parser->row;
	row->first = parser->first_row;
	return OPK_OK;
}

static void begin_sequence(struct parser *parser)
{
	parser->first_row = (uint32_t)parser->table->rows.count;
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
		parser->row.call = read_number(&in);
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
		parser->row.file = read_number(in);
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

/* The row's file becomes one of the table's; a row of an unknown one gets UINT32_MAX. */
static void number_files(const struct parser *parser, size_t first)
{
	for (size_t i = first; i < parser->table->rows.count; i++) {
		struct opk_line_row *row = &parser->table->rows.items[i];

		row->file = row->file && row->file <= parser->file_count
		                    ? (uint32_t)(parser->first_file + row->file - 1)
		                    : UINT32_MAX;
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
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct opk_line_row *x = (const struct opk_line_row *)rows + first;
	const struct opk_line_row *y = (const struct opk_line_row *)rows + second;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* A sequence may end where the next one begins. */
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return first < second ? -1 : first > second;
}

static int sort(struct opk_line_table *table, struct opk_ctx *ctx)
{
	size_t count = table->rows.count;

	table->order = opk_alloc_array(count + 1, sizeof *table->order);
	if (!table->order)
		return opk_nomem(ctx, "lines of code");
	for (size_t i = 0; i < count; i++)
		table->order[i] = (uint32_t)i;
	if (count)
		qsort_r(table->order, count, sizeof *table->order, by_place, table->rows.items);
	return OPK_OK;
}

static int read_units(struct parser *parser)
{
	struct opk_reader in = { .data = parser->lines.data, .left = parser->lines.size };

	TRY(read_relocations(parser));
	if (!parser->relocations.count) {
		parser->only_section = find_only_section(parser->cubin);
		if (!parser->only_section)
			return opk_fail(parser->ctx, OPK_EINPUT,
			                "which function has which lines is not in the module: it "
			                "is damaged, or of an early version of offpeak, which "
			                "removed that with the code; record again");
	}
	while (in.left && !in.failed)
		TRY(read_unit(parser, take(&in, opk_read_u32(&in))));
	return sort(parser->table, parser->ctx);
}

int opk_line_table_read(struct opk_line_table *table, struct opk_ctx *ctx,
                        const struct opk_cubin *cubin)
{
	struct parser parser = { .table = table, .ctx = ctx, .cubin = cubin };
	int code;

	if (!opk_cubin_find(&parser.lines, cubin, ".debug_line") || !parser.lines.size)
		return OPK_OK;
	table->is_there = true;
	parser.most_rows = cubin->size / BYTES_OF_ROW;
	code = read_units(&parser);
	free(parser.relocations.items);
	return code;
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
		row = row->call <= (size_t)(row - table->rows.items) - row->first
		              ? &table->rows.items[row->first + row->call - 1]
		              : NULL;
	}
	return 0;
}
