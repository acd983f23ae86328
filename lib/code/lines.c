/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of instructions, which a child process finds in the modules. */
#include <inttypes.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "child/child.h"
#include "code/code_inside.h"

enum { MOST_PATH = 8192 };

struct search {
	struct opk_code_counts *counts;
	const struct opk_cubin *cubin;
	size_t first, count; /* the module's places in the order */
};

static struct opk_code_place *place_of(const struct search *search, size_t i)
{
	return &search->counts->places.items[search->counts->order[search->first + i]];
}

/* The size of a function of the module; 0: it has no such function. */
static uint64_t size_of(const struct opk_cubin *cubin, const char *name)
{
	struct opk_cubin_function function;
	size_t at = 0;

	while (opk_cubin_next_function(&function, cubin, &at))
		if (!strcmp(function.name, name))
			return function.size;
	return 0;
}

/* In the child: a line for each place, 0 where it is unknown, and its file. */
static int find(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct search *search = data;
	const char *function = "";
	uint64_t size = 0;

	for (size_t i = 0; i < search->count; i++) {
		const struct opk_instruction *at = &place_of(search, i)->at;
		struct opk_nv_line line = { 0 };

		if (strcmp(function, at->function) != 0)
			size = size_of(search->cubin, function = at->function);
		/* Past its end CUPTI gives lines of the next function. */
		if (at->offset < size)
			TRY(opk_nv_source_line(&line, ctx, search->cubin->data, search->cubin->size,
			                       at->function, at->offset));
		opk_put_number(child, line.number);
		opk_put_bytes(child, line.path ? line.path : "", line.path ? strlen(line.path) : 0);
		free(line.path);
		opk_child_progress(child, i, search->count);
	}
	return OPK_OK;
}

static int take_source(uint32_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                       const char *path)
{
	size_t number = counts->sources.count;

	if (!opk_index_find(&number, &counts->source_numbers, path)
	    && (!opk_strlist_add(&counts->sources, path)
	        || !opk_index_add(&counts->source_numbers, counts->sources.items[number], number,
	                          NULL)))
		return opk_nomem(ctx, "source files");
	*out = (uint32_t)number + 1;
	return OPK_OK;
}

static int take_lines(const struct search *search, struct opk_ctx *ctx, struct opk_result *result)
{
	for (size_t i = 0; i < search->count; i++) {
		struct opk_code_place *place = place_of(search, i);
		uint32_t line = (uint32_t)opk_get_number(result, UINT32_MAX);
		opk_autofree char *path = opk_get_bytes(NULL, result, MOST_PATH);

		TRY(opk_result_check(result, ctx));
		if (!line || !path || !*path)
			continue;
		place->line = line;
		TRY(take_source(&place->source, search->counts, ctx, path));
	}
	return OPK_OK;
}

/* The lines of one module. A damaged one leaves them unknown, with a note. */
static int find_in_module(const struct search *search, struct opk_ctx *ctx, uint64_t crc)
{
	const struct opk_contain_options options = {
		.limits = { .memory = (uint64_t)2 << 30, .seconds = 60 },
	};
	opk_autosent struct opk_result result = { 0 };
	int code = opk_contain(&result, ctx, find, (void *)search, &options);

	if (!code)
		code = take_lines(search, ctx, &result);
	if (code != OPK_EINPUT && code != OPK_EFAILED && code != OPK_ENVIDIA)
		return code;
	opk_log(ctx, "lines of module %08" PRIx64 " are unknown: %s", crc,
	        opk_error_message(ctx, 0));
	opk_clear_errors(ctx);
	return OPK_OK;
}

static uint64_t module_at(const struct opk_code_counts *counts, size_t i)
{
	return counts->places.items[counts->order[i]].at.module;
}

static int find_lines(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file,
                      size_t section)
{
	struct search search = { .counts = counts };
	struct opk_module module;
	opk_autofree void *data = NULL;
	struct opk_cubin cubin;

	TRY(opk_module_read(&module, &data, ctx, file, section));
	while (search.first < counts->places.count && module_at(counts, search.first) != module.crc)
		search.first++;
	while (search.first + search.count < counts->places.count
	       && module_at(counts, search.first + search.count) == module.crc)
		search.count++;
	if (!search.count)
		return OPK_OK;
	if (opk_cubin_init(&cubin, ctx, module.data, module.size)) {
		opk_log(ctx, "lines of module %08" PRIx64 " are unknown: %s", module.crc,
		        opk_error_message(ctx, 0));
		opk_clear_errors(ctx);
		return OPK_OK;
	}
	search.cubin = &cubin;
	return find_in_module(&search, ctx, module.crc);
}

int opk_code_find_lines(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file)
{
	int code = opk_nv_has_source_lines(ctx);

	if (code) {
		opk_log(ctx, "source lines are unknown: %s", opk_error_message(ctx, 0));
		opk_clear_errors(ctx);
		return code == OPK_ENOMEM ? code : OPK_OK;
	}
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_CODE)
			TRY(find_lines(counts, ctx, file, i));
	return OPK_OK;
}
