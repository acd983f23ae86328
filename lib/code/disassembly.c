/* SPDX-License-Identifier: BSD-2-Clause */
/* Opcodes and SASS texts of instructions, which nvdisasm prints as JSON. */
#include <string.h>

#include "base/json_read.h"
#include "code/code_inside.h"

enum { MOST_OUTPUT = 512 << 20, MOST_ARGUMENT = 100000, MOST_TEXT = 1 << 12 };

/* ---- running it ---------------------------------------------------------------------------- */

/* The functions with places, by the numbers of their symbols. */
static char *list_functions(const struct opk_code_search *search)
{
	struct opk_buf list = { 0 };
	const char *last = "";

	for (size_t i = 0; i < search->count; i++) {
		const char *name = opk_code_search_place(search, i)->at.function;
		struct opk_cubin_function function;

		if (!strcmp(name, last))
			continue;
		last = name;
		function = opk_cubin_function_named(search->cubin, name);
		if (function.size)
			opk_buf_add_printf(&list, "%s%zu", list.size ? "," : "", function.symbol);
	}
	return opk_buf_take_text(&list);
}

static int disassemble(struct opk_buf *out, struct opk_ctx *ctx,
                       const struct opk_code_search *search)
{
	const struct opk_buf cubin = { .data = (uint8_t *)search->cubin->data,
		                       .size = search->cubin->size };
	opk_autofree char *functions = list_functions(search);
	char *arguments[] = { (char *)search->disassembler,
		              (char *)"-json",
		              (char *)OPK_CHILD_INPUT,
		              (char *)"-fun",
		              functions,
		              NULL };

	if (!functions)
		return opk_nomem(ctx, "functions to disassemble");
	if (!*functions) {
		opk_buf_add_text(out, "[]");
		return out->failed ? opk_nomem(ctx, "functions to disassemble") : OPK_OK;
	}
	/* Without a list it prints all functions. */
	if (strlen(functions) > MOST_ARGUMENT)
		arguments[3] = NULL;
	return opk_child_run(out, ctx, arguments, &cubin, MOST_OUTPUT);
}

/* ---- reading what it prints ---------------------------------------------------------------- */

/* The code of a section, which nvdisasm calls a function. */
static const struct opk_json *find_code(const struct opk_json *root, const char *section)
{
	static const char text[] = ".text.";
	const struct opk_json *functions;

	if (root->type != OPK_JSON_ARRAY || root->count < 2
	    || strncmp(section, text, sizeof text - 1) != 0)
		return NULL;
	functions = &root->children[1];
	for (size_t i = 0; functions->type == OPK_JSON_ARRAY && i < functions->count; i++)
		if (!strcmp(opk_json_string(&functions->children[i], "function-name"),
		            section + sizeof text - 1))
			return &functions->children[i];
	return NULL;
}

/* The instruction at this address of the section; all instructions of a chip have one size. */
static const struct opk_json *find_instruction(const struct opk_json *code, uint64_t address)
{
	const struct opk_json *list = opk_json_get(code, "sass-instructions", OPK_JSON_ARRAY);
	uint64_t start, length, size;

	if (!list || !list->count || !opk_json_u64(&start, code, "start")
	    || !opk_json_u64(&length, code, "length"))
		return NULL;
	size = length / list->count;
	if (!size || address < start || (address - start) % size
	    || (address - start) / size >= list->count)
		return NULL;
	return &list->children[(address - start) / size];
}

/* "R3,desc[UR4][R2.64]" becomes "R3, desc[UR4][R2.64]". */
static void add_operands(struct opk_buf *out, const char *operands)
{
	for (; *operands; operands++) {
		opk_buf_add(out, operands, 1);
		if (*operands == ',' && operands[1] != ' ')
			opk_buf_add_text(out, " ");
	}
}

static void put_instruction(struct opk_child *child, const struct opk_json *instruction)
{
	opk_autobuf struct opk_buf text = { 0 };
	const char *opcode = opk_json_string(instruction, "opcode");
	const char *predicate = opk_json_string(instruction, "predicate");
	const char *operands = opk_json_string(instruction, "operands");
	bool fits;

	opk_buf_add_printf(&text, "%s%s%s%s", predicate, *predicate ? " " : "", opcode,
	                   *operands ? " " : "");
	add_operands(&text, operands);
	fits = !text.failed && text.size <= MOST_TEXT;
	opk_put_bytes(child, opcode, fits ? strlen(opcode) : 0);
	opk_put_bytes(child, text.data, fits ? text.size : 0);
}

/* Sends two texts for each place, empty where nothing is known. */
static void put_all(struct opk_child *child, const struct opk_code_search *search,
                    const struct opk_json *root)
{
	static const struct opk_json none = { .type = OPK_JSON_NULL };
	struct opk_cubin_function function = { .name = "" };
	const struct opk_json *code = NULL, *found;

	for (size_t i = 0; i < search->count; i++) {
		const struct opk_instruction *at = &opk_code_search_place(search, i)->at;
		struct opk_cubin_section section;

		if (strcmp(function.name, at->function) != 0) {
			function = opk_cubin_function_named(search->cubin, at->function);
			code = opk_cubin_section(&section, search->cubin, function.section)
			               ? find_code(root, section.name)
			               : NULL;
		}
		found = code && at->offset < function.size
		                ? find_instruction(code, function.offset + at->offset)
		                : NULL;
		put_instruction(child, found ? found : &none);
	}
}

int opk_code_find_sass(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct opk_code_search *search = data;
	opk_autobuf struct opk_buf printed = { 0 };
	opk_auto(opk_json) struct opk_json *root = NULL;

	TRY(disassemble(&printed, ctx, search));
	TRY(opk_json_parse(&root, ctx, (const char *)printed.data, printed.size));
	put_all(child, search, root);
	return OPK_OK;
}

static int take_text(uint32_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                     struct opk_result *result)
{
	opk_autofree char *text = opk_get_bytes(NULL, result, MOST_TEXT);

	TRY(opk_result_check(result, ctx));
	return text && *text ? opk_code_add_text(out, counts, ctx, text) : OPK_OK;
}

int opk_code_take_sass(const struct opk_code_search *search, struct opk_ctx *ctx,
                       struct opk_result *result)
{
	for (size_t i = 0; i < search->count; i++) {
		struct opk_code_place *place = opk_code_search_place(search, i);

		TRY(take_text(&place->opcode, search->counts, ctx, result));
		TRY(take_text(&place->sass, search->counts, ctx, result));
	}
	return OPK_OK;
}
