/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of instructions, which a child process finds in the modules. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "child/child.h"
#include "code/code_inside.h"

enum {
	MOST_PATH = 8192,
	MOST_CALLS = OPK_MOST_FRAMES * (MOST_PATH + 16),
	/* Bytes of text that a child sends: so many, and more for each instruction. */
	MOST_SENT = 16 << 20,
	MOST_TEXT = 4096,
};

struct search {
	struct opk_code_counts *counts;
	const struct opk_cubin *cubin;
	size_t first, count; /* the module's places in the order */
};

static struct opk_code_place *place_of(const struct search *search, size_t i)
{
	return &search->counts->places.items[search->counts->order[search->first + i]];
}

/* The function of the module; its size is 0 if it has no such function. */
static struct opk_cubin_function function_of(const struct opk_cubin *cubin, const char *name)
{
	struct opk_cubin_function function;
	size_t at = 0;

	while (opk_cubin_next_function(&function, cubin, &at))
		if (!strcmp(function.name, name))
			return function;
	return (struct opk_cubin_function){ 0 };
}

/* Removes "/." and "/NAME/..", as CUPTI does. */
static void clean_path(char *path)
{
	char *to = path;

	for (const char *from = path, *end; *from; from = end) {
		size_t size;

		end = from + 1 + strcspn(from + 1, "/");
		size = (size_t)(end - from);
		if (size == 2 && !memcmp(from, "/.", 2))
			continue;
		if (size == 3 && !memcmp(from, "/..", 3)) {
			while (to > path && *--to != '/')
				;
			continue;
		}
		memmove(to, from, size);
		to += size;
	}
	*to = 0;
}

static char *path_of(const struct opk_line_frame *frame)
{
	char *path = *frame->file == '/' || !*frame->folder
	                     ? opk_strdup(frame->file)
	                     : opk_printf("%s/%s", frame->folder, frame->file);

	if (path && *path == '/')
		clean_path(path);
	return path;
}

/* What the child sends of a place, all unknown at first. */
struct found {
	struct opk_nv_line line, own; /* innermost and outermost */
	struct opk_buf calls;
};

static void clear_found(struct found *found)
{
	free(found->line.path);
	free(found->own.path);
	opk_buf_clear(&found->calls);
}

/* Finds the calls that a line was inlined at; where the two tables disagree they are unknown. */
static int find_calls(struct found *found, struct opk_ctx *ctx, const struct opk_line_table *table,
                      const struct opk_cubin_function *function, uint32_t offset)
{
	struct opk_line_frame frames[OPK_MOST_FRAMES];
	size_t count = opk_line_table_find(frames, table, function->section,
	                                   function->offset + offset);

	for (size_t i = 0; i < count; i++) {
		opk_autofree char *path = path_of(&frames[i]);

		if (!path)
			return opk_nomem(ctx, "a path");
		if (!i && (frames->line != found->line.number || strcmp(path, found->line.path)))
			return OPK_OK;
		if (i)
			opk_buf_add_printf(&found->calls, "%s%s:%u", i > 1 ? " < " : "", path,
			                   frames[i].line);
		if (i + 1 == count)
			found->own = (struct opk_nv_line){ .number = frames[i].line,
				                           .path = opk_take(path) };
	}
	return found->calls.failed ? opk_nomem(ctx, "a path") : OPK_OK;
}

static size_t put_line(struct opk_child *child, const struct opk_nv_line *line)
{
	size_t size = line->path ? strlen(line->path) : 0;

	opk_put_number(child, line->number);
	opk_put_bytes(child, line->path ? line->path : "", size);
	return size;
}

/* Returns how many bytes of text it sent. */
static size_t put_found(struct opk_child *child, const struct found *found)
{
	size_t size = put_line(child, &found->line);

	size += put_line(child, found->own.path ? &found->own : &found->line);
	opk_put_bytes(child, found->calls.data, found->calls.size);
	return size + found->calls.size;
}

/* In the child: lines for each place, 0 where they are unknown, and their files. */
static int find(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	__attribute__((cleanup(opk_line_table_clear))) struct opk_line_table table = { 0 };
	struct opk_cubin_function function = { .name = "" };
	const struct search *search = data;
	size_t sent = 0;
	/* A read past its end ends this process alone. */
	const void *cubin = opk_child_guarded_copy(search->cubin->data, search->cubin->size);

	if (!cubin)
		return opk_nomem(ctx, "a module");
	TRY(opk_line_table_read(&table, ctx, search->cubin));
	for (size_t i = 0; i < search->count; i++) {
		__attribute__((cleanup(clear_found))) struct found found = { 0 };
		const struct opk_instruction *at = &place_of(search, i)->at;

		if (strcmp(function.name, at->function) != 0) {
			function = function_of(search->cubin, at->function);
			function.name = at->function;
		}
		/* Past its end CUPTI gives lines of the next function. */
		if (at->offset < function.size)
			TRY(opk_nv_source_line(&found.line, ctx, cubin, search->cubin->size,
			                       at->function, at->offset));
		if (found.line.path)
			TRY(find_calls(&found, ctx, &table, &function, at->offset));
		/* A small module could fill the disk. */
		sent += put_found(child, &found);
		if (sent > MOST_SENT + i * MOST_TEXT)
			return opk_fail(ctx, OPK_EINPUT, "paths of source files are too long");
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

static int take_line(uint32_t *line, uint32_t *source, struct opk_code_counts *counts,
                     struct opk_ctx *ctx, struct opk_result *result)
{
	uint32_t number = (uint32_t)opk_get_number(result, UINT32_MAX);
	opk_autofree char *path = opk_get_bytes(NULL, result, MOST_PATH);

	TRY(opk_result_check(result, ctx));
	if (!number || !path || !*path)
		return OPK_OK;
	*line = number;
	return take_source(source, counts, ctx, path);
}

static int take_lines(const struct search *search, struct opk_ctx *ctx, struct opk_result *result)
{
	for (size_t i = 0; i < search->count; i++) {
		struct opk_code_place *place = place_of(search, i);
		opk_autofree char *calls = NULL;

		TRY(take_line(&place->line, &place->source, search->counts, ctx, result));
		TRY(take_line(&place->own_line, &place->own_source, search->counts, ctx, result));
		calls = opk_get_bytes(NULL, result, MOST_CALLS);
		TRY(opk_result_check(result, ctx));
		if (calls && *calls)
			TRY(take_source(&place->inlined_at, search->counts, ctx, calls));
	}
	return OPK_OK;
}

static void note_unknown(struct opk_ctx *ctx, uint64_t crc)
{
	opk_log(ctx, "lines of module %08" PRIx64 " are unknown: %s", crc,
	        opk_error_message(ctx, 0));
	opk_clear_errors(ctx);
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
	note_unknown(ctx, crc);
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
		note_unknown(ctx, module.crc);
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
