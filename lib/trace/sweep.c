/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives records of what ran by process and time. A section mostly has some milliseconds of one
 * process: it is read when the sweep reaches its first record, and freed after its last one.
 */
#include "trace/trace_inside.h"

#include <string.h>

static int read_block(struct opk_trace_block *block, struct opk_ctx *ctx,
                      const struct opk_trace_sweep *sweep)
{
	TRY(opk_activity_table_read(&block->table, ctx, sweep->file, block->section));
	opk_activities_place(block->table.rows, block->table.count, sweep->meta);
	return OPK_OK;
}

static void close_block(struct opk_trace_block *block)
{
	opk_activity_table_clear(&block->table);
	free(opk_take(block->order));
	block->next = 0;
}

static int look_at(struct opk_trace_sweep *sweep, struct opk_ctx *ctx, size_t section,
                   opk_trace_record_fn *each, void *data)
{
	struct opk_trace_block *block = &sweep->blocks[sweep->count];
	int code;

	*block = (struct opk_trace_block){ .section = section, .first = UINT64_MAX };
	code = read_block(block, ctx, sweep);
	for (size_t i = 0; !code && i < block->table.count; i++) {
		const struct opk_activity *activity = &block->table.rows[i];
		uint32_t process = 0;

		if (activity->start_ns < block->first)
			block->first = activity->start_ns;
		code = each(data, ctx, activity, &process);
		sweep->mixed |= i && process != block->process;
		block->process = process;
	}
	if (block->table.count)
		sweep->count++;
	close_block(block);
	return code;
}

static int by_first(const void *a, const void *b)
{
	const struct opk_trace_block *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->section > y->section) - (x->section < y->section);
}

int opk_trace_sweep_init(struct opk_trace_sweep *sweep, struct opk_ctx *ctx, struct opk_file *file,
                         opk_trace_record_fn *each, void *data)
{
	sweep->file = file;
	TRY(opk_file_meta(&sweep->meta, ctx, file));
	sweep->blocks = opk_alloc_array(file->section_count + 1, sizeof *sweep->blocks);
	sweep->open = opk_alloc_array(file->section_count + 1, sizeof *sweep->open);
	if (!sweep->blocks || !sweep->open)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type == OPK_SECTION_ACTIVITIES)
			TRY(look_at(sweep, ctx, i, each, data));
	}
	for (size_t i = 0; i < sweep->count && sweep->mixed; i++)
		sweep->blocks[i].process = 0;
	qsort(sweep->blocks, sweep->count, sizeof *sweep->blocks, by_first);
	return OPK_OK;
}

/* ---- in their order --------------------------------------------------------------------- */

/* Outer records come before inner ones. */
static int compare(const struct opk_activity *x, const struct opk_activity *y)
{
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static int by_start(const void *a, const void *b, void *rows)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = compare((const struct opk_activity *)rows + i,
	                    (const struct opk_activity *)rows + j);

	return order ? order : (i > j) - (i < j);
}

static int open_block(struct opk_trace_block *block, struct opk_ctx *ctx,
                      const struct opk_trace_sweep *sweep)
{
	int code = read_block(block, ctx, sweep);
	size_t count = block->table.count;

	if (code)
		return code;
	block->order = opk_alloc_array(count + 1, sizeof *block->order);
	if (!block->order)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < count; i++)
		block->order[i] = i;
	qsort_r(block->order, count, sizeof *block->order, by_start, block->table.rows);
	return OPK_OK;
}

static const struct opk_activity *next_of(const struct opk_trace_block *block)
{
	if (!block->order || block->next == block->table.count)
		return NULL;
	return &block->table.rows[block->order[block->next]];
}

/* The open block with the next record, or NULL. Closes blocks without further records. */
static struct opk_trace_block *find_next(struct opk_trace_sweep *sweep)
{
	struct opk_trace_block *found = NULL;

	for (size_t i = 0; i < sweep->open_count;) {
		struct opk_trace_block *block = sweep->open[i];

		if (!next_of(block)) {
			close_block(block);
			sweep->open[i] = sweep->open[--sweep->open_count];
			continue;
		}
		if (!found || compare(next_of(block), next_of(found)) < 0)
			found = block;
		i++;
	}
	return found;
}

/* Whether a block that is not open yet may have a record before those in open blocks. */
static bool is_due(const struct opk_trace_block *block, const struct opk_trace_block *open)
{
	return !open
	       || (block->process == open->process && block->first <= next_of(open)->start_ns);
}

int opk_trace_sweep_next(const struct opk_activity **activity, struct opk_ctx *ctx,
                         struct opk_trace_sweep *sweep)
{
	/* The caller no longer uses the last record, so its block may be closed. */
	struct opk_trace_block *block = find_next(sweep);

	while (sweep->begun < sweep->count && is_due(&sweep->blocks[sweep->begun], block)) {
		int code = open_block(&sweep->blocks[sweep->begun], ctx, sweep);

		sweep->open[sweep->open_count++] = &sweep->blocks[sweep->begun++];
		if (code)
			return code;
		block = find_next(sweep);
	}
	*activity = block ? next_of(block) : NULL;
	if (block)
		block->next++;
	return OPK_OK;
}

void opk_trace_sweep_clear(struct opk_trace_sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		close_block(&sweep->blocks[i]);
	free(sweep->blocks);
	free(sweep->open);
}
