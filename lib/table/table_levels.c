/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges inside others: the level of each row among the rows of its file, and its parent. */
#include <string.h>

#include "eval/eval.h"
#include "table/table_inside.h"

static bool is_kernel(const struct opk_row *row)
{
	return row->range && row->range->kernel && *row->range->kernel;
}

/* NULL: out of memory. */
static char *key_of(size_t file, const struct opk_row *row)
{
	static const struct opk_range unknown = { .device = -1, .rank = -1 };
	const struct opk_range *range = row->range ? row->range : &unknown;
	const char *host = range->host ? range->host : "", *gpu = range->gpu ? range->gpu : "";
	const char *path = is_kernel(row) ? range->nvtx : row->name;
	opk_autofree char *scope = opk_printf("%zu\t%d\t%d\t%s\t%s", file, range->rank,
	                                      *gpu ? -1 : range->device, host, gpu);

	return scope ? opk_nesting_key(scope, path ? path : "", is_kernel(row)) : NULL;
}

/* Counts the ranges that hold this one. *parent: the innermost. */
static size_t find_holders(const char **parent, const struct opk_table_levels *levels, char *key)
{
	size_t found = 0, end = 0, holder;

	for (; opk_nesting_next(&holder, &end, &levels->holders, key); found++)
		*parent = opk_nesting_path(levels->holders.keys.items[holder]);
	return found;
}

void opk_table_find_level(struct opk_table *table)
{
	const struct opk_table_source *source = &table->source;
	opk_autofree char *key = NULL;

	if (table->placed)
		return;
	table->placed = true;
	table->parent = NULL;
	key = key_of(source->place.file, &source->row);
	table->level = key && *opk_nesting_path(key)
	                       ? 1 + find_holders(&table->parent, &table->levels, key)
	                       : 0;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Adds a row to those that may be inside others, and to those that may hold others. */
static int add_row(struct opk_table_levels *levels, struct opk_ctx *ctx, size_t file,
                   const struct opk_row *row)
{
	opk_autofree char *key = key_of(file, row);
	const char *path = key ? opk_nesting_path(key) : NULL;
	bool good = key != NULL;
	size_t number;

	if (good && strchr(path, '/'))
		good = opk_nesting_add(&number, &levels->inner, opk_strdup(key));
	if (good && *path && !is_kernel(row))
		good = opk_nesting_add(&number, &levels->holders, opk_take(key));
	return good ? OPK_OK : opk_nomem(ctx, "levels of ranges");
}

static int read_rows(struct opk_table *table, struct opk_ctx *ctx, size_t file)
{
	struct opk_evaluation *evaluation = table->inputs[file].evaluation;
	const struct opk_row *row;
	int code;

	while (!(code = opk_evaluation_next(&row, ctx, evaluation)) && row) {
		code = add_row(&table->levels, ctx, file, row);
		if (code)
			break;
	}
	opk_evaluation_rewind(evaluation);
	return code;
}

/* If tables name all rows, they may show that no row is inside another one. */
static int may_nest(bool *out, struct opk_ctx *ctx, const struct opk_table_file *input)
{
	const struct opk_segment *segments;
	bool ranges = false, paths = false;
	size_t count = 0;
	int code = input->file ? opk_file_segments(&segments, &count, ctx, input->file) : OPK_OK;

	*out = !input->file;
	for (size_t i = 0; !code && i < count; i++) {
		*out |= !segments[i].has_ranges;
		for (size_t j = 0; segments[i].ranges && j < segments[i].row_count; j++) {
			const struct opk_range *range = &segments[i].ranges[j];

			ranges |= !*range->kernel;
			paths |= *range->kernel ? *range->nvtx != 0
			                        : !*range->name || strchr(range->name, '/');
		}
	}
	*out |= ranges && paths;
	return code;
}

int opk_table_find_levels(struct opk_table *table, struct opk_ctx *ctx)
{
	struct opk_table_levels *levels = &table->levels;
	const char *parent;

	for (size_t i = 0; i < table->input_count; i++) {
		bool may;

		TRY(may_nest(&may, ctx, &table->inputs[i]));
		if (may)
			TRY(read_rows(table, ctx, i));
	}
	for (size_t i = 0; i < levels->inner.keys.count && !levels->any; i++)
		levels->any = find_holders(&parent, levels, levels->inner.keys.items[i]) > 0;
	opk_nesting_clear(&levels->inner);
	return OPK_OK;
}

void opk_table_clear_levels(struct opk_table_levels *levels)
{
	opk_nesting_clear(&levels->inner);
	opk_nesting_clear(&levels->holders);
}
