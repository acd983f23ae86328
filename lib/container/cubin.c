/* SPDX-License-Identifier: BSD-2-Clause */
/* Cubins are ELF files: finds their sections, and removes code. Every offset is checked. */
#include <elf.h>
#include <string.h>

#include "container/container.h"

/* A longer name of a section or function counts as none: hostile ones would take long. */
enum { MOST_NAME = 1 << 16 };

static bool is_within(uint64_t offset, uint64_t size, uint64_t whole)
{
	return offset <= whole && size <= whole - offset;
}

int opk_cubin_init(struct opk_cubin *cubin, struct opk_ctx *ctx, const void *data, size_t size)
{
	Elf64_Ehdr header;

	*cubin = (struct opk_cubin){ .data = data, .size = size };
	if (size < sizeof header)
		return opk_fail(ctx, OPK_EINPUT, "a cubin of %zu bytes", size);
	memcpy(&header, data, sizeof header);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64
	    || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr))
		return opk_fail(ctx, OPK_EINPUT, "it is not a 64-bit ELF file");
	if (!is_within(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), size))
		return opk_fail(ctx, OPK_EINPUT, "its sections are outside the file");
	cubin->table = header.e_shoff;
	cubin->count = header.e_shnum;
	if (!opk_cubin_section(&cubin->names, cubin, header.e_shstrndx))
		return opk_fail(ctx, OPK_EINPUT, "it has no names of sections");
	if (!opk_cubin_find(&cubin->symbols, cubin, ".symtab")
	    || !opk_cubin_section(&cubin->strings, cubin, cubin->symbols.link))
		cubin->symbols = cubin->strings = (struct opk_cubin_section){ 0 };
	return OPK_OK;
}

/* The text at this place of a table of names; NULL: it has no end. */
static const char *name_of(const struct opk_cubin_section *names, uint64_t at)
{
	const char *name;
	size_t most;

	if (!names->data || at >= names->size)
		return NULL;
	name = (const char *)names->data + at;
	most = names->size - at < MOST_NAME ? names->size - at : MOST_NAME;
	return memchr(name, 0, most) ? name : NULL;
}

bool opk_cubin_section(struct opk_cubin_section *out, const struct opk_cubin *cubin, size_t i)
{
	Elf64_Shdr header;
	const char *name;
	bool has_data;

	if (i >= cubin->count)
		return false;
	memcpy(&header, (const char *)cubin->data + cubin->table + i * sizeof header,
	       sizeof header);
	has_data = header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL;
	if (has_data && !is_within(header.sh_offset, header.sh_size, cubin->size))
		return false;
	name = name_of(&cubin->names, header.sh_name);
	*out = (struct opk_cubin_section){
		.name = name ? name : "",
		.type = header.sh_type,
		.link = header.sh_link,
		.offset = header.sh_offset,
		.size = has_data ? header.sh_size : 0,
		.data = has_data ? (const uint8_t *)cubin->data + header.sh_offset : NULL,
	};
	return true;
}

bool opk_cubin_find(struct opk_cubin_section *out, const struct opk_cubin *cubin, const char *name)
{
	for (size_t i = 0; i < cubin->count; i++)
		if (opk_cubin_section(out, cubin, i) && !strcmp(out->name, name))
			return true;
	return false;
}

/* What cuptiGetSassToSourceCorrelation() needs, and names of functions with their sizes. */
static bool is_kept(const struct opk_cubin_section *section)
{
	static const char *const kept[] = {
		".shstrtab",
		".strtab",
		".symtab",
		".debug_line",
		".debug_str",
		".nv_debug_line_sass",
		/* The GPU decides whether relocations are .rel or .rela. */
		".rel.debug_line",
		".rel.nv_debug_line_sass",
		".rela.debug_line",
		".rela.nv_debug_line_sass",
	};

	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (!strcmp(section->name, kept[i]))
			return true;
	return false;
}

int opk_cubin_remove_code(struct opk_ctx *ctx, void *data, size_t size)
{
	opk_autofree void *whole = NULL;
	struct opk_cubin_section section;
	struct opk_cubin cubin;

	TRY(opk_cubin_init(&cubin, ctx, data, size));
	whole = opk_alloc(size);
	if (!whole)
		return opk_nomem(ctx, "a cubin");
	memcpy(whole, data, size);
	TRY(opk_cubin_init(&cubin, ctx, whole, size));
	memset(data, 0, size);
	memcpy(data, whole, sizeof(Elf64_Ehdr));
	memcpy((char *)data + cubin.table, (char *)whole + cubin.table,
	       cubin.count * sizeof(Elf64_Shdr));
	for (size_t i = 0; i < cubin.count; i++)
		if (opk_cubin_section(&section, &cubin, i) && section.data && is_kept(&section))
			memcpy((char *)data + section.offset, section.data, section.size);
	return OPK_OK;
}

/* ---- functions ----------------------------------------------------------------------------- */

bool opk_cubin_next_function(struct opk_cubin_function *out, const struct opk_cubin *cubin,
                             size_t *at)
{
	Elf64_Sym symbol;

	while (*at < cubin->symbols.size / sizeof symbol) {
		memcpy(&symbol, cubin->symbols.data + (*at)++ * sizeof symbol, sizeof symbol);
		*out = (struct opk_cubin_function){
			.name = name_of(&cubin->strings, symbol.st_name),
			.symbol = *at - 1,
			.section = symbol.st_shndx,
			.offset = symbol.st_value,
			.size = symbol.st_size,
		};
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx && out->name)
			return true;
	}
	return false;
}

struct opk_cubin_function opk_cubin_function_named(const struct opk_cubin *cubin, const char *name)
{
	struct opk_cubin_function function;
	size_t at = 0;

	while (opk_cubin_next_function(&function, cubin, &at))
		if (!strcmp(function.name, name))
			return function;
	return (struct opk_cubin_function){ .name = name };
}
