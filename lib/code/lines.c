/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of instructions. */
#include <stdlib.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/hash.h"
#include "child/child.h"
#include "code/code_inside.h"

enum {
	INSTRUCTION_BYTES = 16,
	MOST_PATH = 8192,
	MOST_CALLS = OPK_MOST_FRAMES * (MOST_PATH + 16),
	/* Bytes of text that a child sends: so many, and more for each instruction. */
	MOST_SENT = 16 << 20,
	MOST_TEXT = 4096,
};

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
	struct opk_code_lines lines;  /* of the function in the file of `own` */
	struct opk_buf calls;
};
/* A read past its end ends this process alone. */
struct guarded {
	const void *cubin;
	size_t size;
	bool with_cupti;
};
/* The lines of a function in a file; places of a function follow each other. */
struct function_lines {
	size_t section;
	uint64_t offset;
	const char *folder, *file;
	struct opk_code_lines found;
};

static void clear_found(struct found *found)
{
	free(found->line.path);
	free(found->own.path);
	opk_buf_clear(&found->calls);
}

/* The own line of an instruction in the file; 0: it is of another one. */
static uint32_t line_at(const struct function_lines *of, const struct opk_line_table *table,
                        uint64_t at)
{
	struct opk_line_frame frames[OPK_MOST_FRAMES];
	size_t count = opk_line_table_find(frames, table, of->section, of->offset + at);
	const struct opk_line_frame *own = count ? &frames[count - 1] : NULL;

	return own && !strcmp(own->file, of->file) && !strcmp(own->folder, of->folder) ? own->line
	                                                                               : 0;
}

static int by_line(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Hashes distances from the first line. Never 0, which means that it is not known. */
static uint64_t hash_lines(const uint32_t *lines, size_t count, uint32_t first)
{
	uint64_t hash = OPK_HASH_BEGIN;

	for (size_t i = 0; i < count; i++) {
		uint32_t distance = lines[i] ? lines[i] - first + 1 : 0;

		hash = opk_hash(hash, &distance, sizeof distance);
	}
	return hash ? hash : 1;
}

/* Sorts the lines. */
static size_t remove_twins(uint32_t *lines, size_t count)
{
	size_t kept = 0;

	qsort(lines, count, sizeof *lines, by_line);
	for (size_t i = 0; i < count; i++)
		if (lines[i] && (!kept || lines[kept - 1] != lines[i]))
			lines[kept++] = lines[i];
	return kept;
}

/* Looks at all instructions: the first line may have no sample. */
static int find_function_lines(struct function_lines *known, struct opk_ctx *ctx,
                               const struct opk_line_table *table,
                               const struct opk_cubin_function *function,
                               const struct opk_line_frame *own)
{
	size_t count = (size_t)(function->size / INSTRUCTION_BYTES);
	opk_autofree uint32_t *lines = NULL;
	struct opk_code_lines *found = &known->found;

	if (known->file && known->section == function->section && known->offset == function->offset
	    && !strcmp(known->folder, own->folder) && !strcmp(known->file, own->file))
		return OPK_OK;
	*known = (struct function_lines){
		function->section, function->offset, own->folder, own->file, { own->line, 0, 0 }
	};
	lines = opk_alloc_array(count + 1, sizeof *lines);
	if (!lines)
		return opk_nomem(ctx, "lines of a function");
	for (size_t i = 0; i < count; i++) {
		lines[i] = line_at(known, table, i * INSTRUCTION_BYTES);
		if (lines[i] && lines[i] < found->first)
			found->first = lines[i];
	}
	found->layout = hash_lines(lines, count, found->first);
	found->set = hash_lines(lines, remove_twins(lines, count), found->first);
	return OPK_OK;
}

/* The line as CUPTI finds it, or, where CUPTI is missing, as the module's table says it. */
static int find_line(struct opk_nv_line *out, struct opk_ctx *ctx, const struct guarded *module,
                     const struct opk_line_table *table, const struct opk_cubin_function *function,
                     uint32_t offset)
{
	struct opk_line_frame frames[OPK_MOST_FRAMES];

	if (module->with_cupti)
		return opk_nv_source_line(out, ctx, module->cubin, module->size, function->name,
		                          offset);
	if (!opk_line_table_find(frames, table, function->section, function->offset + offset)
	    || !frames->line || !*frames->file)
		return OPK_OK;
	*out = (struct opk_nv_line){ .number = frames->line, .path = path_of(frames) };
	return out->path ? OPK_OK : opk_nomem(ctx, "a path");
}

/* Finds the calls that a line was inlined at; where the two tables disagree they are unknown. */
static int find_calls(struct found *found, struct opk_ctx *ctx, const struct opk_line_table *table,
                      const struct opk_cubin_function *function, uint32_t offset,
                      struct function_lines *lines)
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
		if (i + 1 < count)
			continue;
		TRY(find_function_lines(lines, ctx, table, function, &frames[i]));
		found->lines = lines->found;
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
	opk_put_number(child, found->lines.first);
	opk_put_number(child, found->lines.set);
	opk_put_number(child, found->lines.layout);
	opk_put_bytes(child, found->calls.data, found->calls.size);
	return size + found->calls.size;
}

static int find_place(struct found *found, struct opk_ctx *ctx, const struct guarded *module,
                      const struct opk_line_table *table, const struct opk_cubin_function *function,
                      uint32_t offset, struct function_lines *lines)
{
	/* Past its end CUPTI gives lines of the next function. */
	if (offset >= function->size)
		return OPK_OK;
	TRY(find_line(&found->line, ctx, module, table, function, offset));
	return found->line.path ? find_calls(found, ctx, table, function, offset, lines) : OPK_OK;
}

/* In the child: lines for each place, 0 where they are unknown, and their files. */
int opk_code_find_lines(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	__attribute__((cleanup(opk_line_table_clear))) struct opk_line_table table = { 0 };
	struct opk_cubin_function function = { .name = "" };
	const struct opk_code_search *search = data;
	struct function_lines lines = { 0 };
	size_t sent = 0;
	struct guarded module = {
		opk_child_guarded_copy(search->cubin->data, search->cubin->size),
		search->cubin->size,
		search->with_cupti,
	};

	if (!module.cubin)
		return opk_nomem(ctx, "a module");
	TRY(opk_line_table_read(&table, ctx, search->cubin));
	if (!search->with_cupti && table.is_there && !table.rows.count)
		return opk_fail(ctx, OPK_EINPUT,
		                "their table is damaged or of a version that CUPTI alone can read, "
		                "and libcupti is not here");
	for (size_t i = 0; i < search->count; i++) {
		__attribute__((cleanup(clear_found))) struct found found = { 0 };
		const struct opk_instruction *at = &opk_code_search_place(search, i)->at;

		if (strcmp(function.name, at->function) != 0)
			function = opk_cubin_function_named(search->cubin, at->function);
		/* It is damaged. */
		if (function.size > search->cubin->size)
			function.size = 0;
		TRY(find_place(&found, ctx, &module, &table, &function, at->offset, &lines));
		/* A small module could fill the disk. */
		sent += put_found(child, &found);
		if (sent > MOST_SENT + i * MOST_TEXT)
			return opk_fail(ctx, OPK_EINPUT, "paths of source files are too long");
		opk_child_progress(child, i, search->count);
	}
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
	return opk_code_add_text(source, counts, ctx, path);
}

int opk_code_take_lines(const struct opk_code_search *search, struct opk_ctx *ctx,
                        struct opk_result *result)
{
	for (size_t i = 0; i < search->count; i++) {
		struct opk_code_place *place = opk_code_search_place(search, i);
		opk_autofree char *calls = NULL;

		TRY(take_line(&place->line, &place->source, search->counts, ctx, result));
		TRY(take_line(&place->own_line, &place->own_source, search->counts, ctx, result));
		place->lines.first = (uint32_t)opk_get_number(result, UINT32_MAX);
		place->lines.set = opk_get_number(result, UINT64_MAX);
		place->lines.layout = opk_get_number(result, UINT64_MAX);
		calls = opk_get_bytes(NULL, result, MOST_CALLS);
		TRY(opk_result_check(result, ctx));
		if (calls && *calls)
			TRY(opk_code_add_text(&place->inlined_at, search->counts, ctx, calls));
	}
	return OPK_OK;
}
