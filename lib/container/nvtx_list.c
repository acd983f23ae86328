/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX ranges among the records of what ran: which is inside which, and what a thread was in. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/listing.h"
#include "container/container.h"

enum { MOST_LEVELS = 100 };

/* ---- order and nesting ------------------------------------------------------------------ */

static int by_thread(const struct opk_activity *x, const struct opk_activity *y)
{
	int order = strcmp(x->host, y->host);

	if (order)
		return order;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Outer ranges come before inner ones. */
static int by_thread_and_time(const void *a, const void *b)
{
	const struct opk_activity *x = ((const struct opk_nvtx_range *)a)->activity;
	const struct opk_activity *y = ((const struct opk_nvtx_range *)b)->activity;
	int order = by_thread(x, y);

	if (order)
		return order;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static void find_parent(struct opk_nvtx_ranges *ranges, size_t number)
{
	struct opk_nvtx_range *range = &ranges->items[number];
	size_t parent = number ? number - 1 : SIZE_MAX;

	range->parent = SIZE_MAX;
	range->level = 1;
	if (!number || by_thread(ranges->items[parent].activity, range->activity))
		return;
	while (parent != SIZE_MAX
	       && ranges->items[parent].activity->end_ns < range->activity->end_ns)
		parent = ranges->items[parent].parent;
	/* A deeper range is put at the last level, so that paths have an end. */
	if (parent != SIZE_MAX && ranges->items[parent].level == MOST_LEVELS)
		parent = ranges->items[parent].parent;
	if (parent == SIZE_MAX)
		return;
	range->parent = parent;
	range->level = ranges->items[parent].level + 1;
}

int opk_nvtx_find(struct opk_nvtx_ranges *ranges, struct opk_ctx *ctx,
                  const struct opk_activity *activities, size_t count)
{
	size_t capacity = 0;

	for (size_t i = 0; i < count; i++) {
		struct opk_nvtx_range *range;

		if (activities[i].kind != OPK_ACTIVITY_RANGE)
			continue;
		range = opk_append(&ranges->items, &capacity, &ranges->count, sizeof *range);
		if (!range)
			return opk_nomem(ctx, "NVTX ranges");
		range->activity = &activities[i];
	}
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof *ranges->items, by_thread_and_time);
	for (size_t i = 0; i < ranges->count; i++)
		find_parent(ranges, i);
	return OPK_OK;
}

void opk_nvtx_clear(struct opk_nvtx_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->items[i].path);
	free(ranges->items);
	*ranges = (struct opk_nvtx_ranges){ 0 };
}

/* ---- paths ------------------------------------------------------------------------------ */

static size_t domain_length(const char *name)
{
	const char *at = strchr(name, '@');

	return at ? (size_t)(at - name) : 0;
}

/* Adds the parts of one domain, the outermost first. */
static void add_domain(struct opk_buf *path, const struct opk_nvtx_ranges *ranges, size_t number,
                       const char *domain, size_t length)
{
	const struct opk_nvtx_range *range = &ranges->items[number];
	const char *name = range->activity->name;

	if (range->parent != SIZE_MAX)
		add_domain(path, ranges, range->parent, domain, length);
	if (domain_length(name) != length || strncmp(name, domain, length))
		return;
	opk_buf_add_text(path, path->size ? "/" : "");
	for (; *name; name++) {
		opk_buf_add_text(path, *name == '/' || *name == '\\' ? "\\" : "");
		opk_buf_add(path, name, 1);
	}
}

/* Whether a range around this one has its domain. */
static bool is_added(const struct opk_nvtx_ranges *ranges, size_t number)
{
	const char *name = ranges->items[number].activity->name;
	size_t length = domain_length(name);

	for (size_t i = ranges->items[number].parent; i != SIZE_MAX; i = ranges->items[i].parent) {
		const char *other = ranges->items[i].activity->name;

		if (domain_length(other) == length && !strncmp(other, name, length))
			return true;
	}
	return false;
}

static void add_others(struct opk_buf *path, const struct opk_nvtx_ranges *ranges, size_t number,
                       size_t innermost)
{
	const char *name = ranges->items[number].activity->name;
	size_t length = domain_length(name);

	if (ranges->items[number].parent != SIZE_MAX)
		add_others(path, ranges, ranges->items[number].parent, innermost);
	if (length && !is_added(ranges, number))
		add_domain(path, ranges, innermost, name, length);
}

/* A text counts once in a file, but is in the paths of all ranges inside it. */
static int check_weight(struct opk_nvtx_ranges *ranges, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t number)
{
	for (size_t i = number; i != SIZE_MAX; i = ranges->items[i].parent) {
		ranges->weight += strlen(ranges->items[i].activity->name) + 1;
		if (ranges->weight > opk_table_limit(file))
			return opk_fail(ctx, OPK_EINPUT,
			                "%s: the paths of its NVTX ranges are too long for a file "
			                "of this size",
			                file->path);
	}
	return OPK_OK;
}

int opk_nvtx_path(const char **out, struct opk_nvtx_ranges *ranges, struct opk_ctx *ctx,
                  const struct opk_file *file, size_t number)
{
	struct opk_nvtx_range *range = &ranges->items[number];
	struct opk_buf path = { 0 };

	if (!range->path) {
		TRY(check_weight(ranges, ctx, file, number));
		add_domain(&path, ranges, number, "", 0);
		add_others(&path, ranges, number, number);
		range->path = opk_buf_take_text(&path);
	}
	*out = range->path;
	return range->path ? OPK_OK : opk_nomem(ctx, "NVTX ranges");
}

size_t opk_nvtx_at(const struct opk_nvtx_ranges *ranges, const struct opk_activity *call)
{
	size_t first = 0, end = ranges->count;

	/* The last range of the thread, or of threads before it, that begins until then. */
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct opk_activity *range = ranges->items[middle].activity;
		int order = by_thread(range, call);

		if (order < 0 || (!order && range->start_ns <= call->start_ns))
			first = middle + 1;
		else
			end = middle;
	}
	if (!first || by_thread(ranges->items[first - 1].activity, call))
		return SIZE_MAX;
	first--;
	while (first != SIZE_MAX && ranges->items[first].activity->end_ns < call->start_ns)
		first = ranges->items[first].parent;
	return first;
}

/* ---- as a list -------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b, void *ranges)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct opk_nvtx_range *items = ((const struct opk_nvtx_ranges *)ranges)->items;
	const struct opk_activity *x = items[i].activity, *y = items[j].activity;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (i > j) - (i < j);
}

static void add_row(struct opk_listing *rows, const struct opk_nvtx_range *range, const char *path,
                    size_t number, size_t parent)
{
	const struct opk_activity *activity = range->activity;

	opk_listing_row(rows, cell_number(number), cell_text(activity->name), cell_text(path),
	                cell_number(range->level), cell_known(parent, parent != SIZE_MAX),
	                cell_number(activity->start_ns), cell_number(activity->end_ns),
	                cell_number(activity->end_ns - activity->start_ns),
	                cell_number(activity->process),
	                cell_known(activity->thread, activity->thread > 0),
	                cell_known((uint64_t)activity->rank, activity->rank >= 0),
	                cell_text(activity->host));
}

static int add_rows(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_file *file,
                    struct opk_nvtx_ranges *ranges)
{
	opk_autofree size_t *order = opk_alloc_array(ranges->count + 1, sizeof *order);
	opk_autofree size_t *numbers = opk_alloc_array(ranges->count + 1, sizeof *numbers);

	if (!order || !numbers)
		return opk_nomem(ctx, "NVTX ranges");
	for (size_t i = 0; i < ranges->count; i++)
		order[i] = i;
	qsort_r(order, ranges->count, sizeof *order, by_start, ranges);
	for (size_t i = 0; i < ranges->count; i++)
		numbers[order[i]] = i;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct opk_nvtx_range *range = &ranges->items[order[i]];
		const char *path;

		TRY(opk_nvtx_path(&path, ranges, ctx, file, order[i]));
		add_row(rows, range, path, i,
		        range->parent == SIZE_MAX ? SIZE_MAX : numbers[range->parent]);
	}
	return OPK_OK;
}

int opk_nvtx_list_add(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	__attribute__((cleanup(opk_nvtx_clear))) struct opk_nvtx_ranges ranges = { 0 };
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, ctx, file));
	TRY(opk_nvtx_find(&ranges, ctx, activities, count));
	return add_rows(rows, ctx, file, &ranges);
}
