/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches as rows that are made when they are asked for. A recording may have millions: what they
 * share is kept once, and mostly that is everything except their times.
 */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/timeline_inside.h"

/* What launches share: a record without times, except for the upper half of its length. */
struct shape {
	struct opk_activity activity;
	uint32_t number, gpu;
};

struct launch {
	uint64_t start;
	uint64_t shared; /* ns in which others ran on the GPU, too */
	uint32_t length; /* the lower half, ns */
	uint32_t shape;
};

struct launches {
	OPK_LIST(struct launch) list;
	uint32_t *order; /* their numbers by start */
	OPK_LIST(struct shape *) shapes;
	void *tree; /* of the shapes: tsearch() */
	struct opk_grouping gpus;
	struct opk_activity_table table; /* of one section; its texts are of all */
};

static void free_nothing(void *node)
{
	(void)node;
}

static void launches_free(void *data)
{
	struct launches *all = data;

	if (!all)
		return;
	tdestroy(all->tree, free_nothing);
	for (size_t i = 0; i < all->shapes.count; i++)
		free(all->shapes.items[i]);
	free(all->shapes.items);
	free(all->list.items);
	free(all->order);
	opk_grouping_clear(&all->gpus);
	opk_activity_table_clear(&all->table);
	free(all);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* Texts of a table are kept once, so that equal ones have equal addresses. */
static int by_bytes(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return memcmp(&x->activity, &y->activity, sizeof x->activity);
}

static int add_shape(struct shape **out, struct launches *all, struct opk_ctx *ctx,
                     const struct shape *like)
{
	opk_autofree struct shape *shape = opk_alloc(sizeof *shape);
	struct opk_range range = opk_activity_range(&like->activity);
	struct shape **place = opk_list_add(&all->shapes);
	size_t gpu;

	if (place)
		all->shapes.count--;
	if (!shape || !place)
		return opk_nomem(ctx, "what ran");
	TRY(opk_grouping_add(&gpu, &all->gpus, ctx, "", &range));
	memcpy(&shape->activity, &like->activity, sizeof shape->activity);
	shape->number = (uint32_t)all->shapes.count;
	shape->gpu = (uint32_t)gpu;
	if (!tsearch(shape, &all->tree, by_bytes))
		return opk_nomem(ctx, "what ran");
	all->shapes.count++;
	*place = *out = opk_take(shape);
	return OPK_OK;
}

static int add_launch(struct launches *all, struct opk_ctx *ctx,
                      const struct opk_activity *activity)
{
	uint64_t length = activity->end_ns - activity->start_ns;
	struct launch *launch;
	struct shape like, **found, *shape = NULL;

	memcpy(&like.activity, activity, sizeof like.activity);
	like.activity.start_ns = 0;
	like.activity.end_ns = length & ~(uint64_t)UINT32_MAX;
	like.activity.correlation = 0;
	found = tfind(&like, &all->tree, by_bytes);
	if (found)
		shape = *found;
	else
		TRY(add_shape(&shape, all, ctx, &like));
	if (all->list.count == UINT32_MAX)
		return opk_fail(ctx, OPK_EINPUT, "more than %" PRIu32 " launches", UINT32_MAX);
	launch = opk_list_add(&all->list);
	if (!launch)
		return opk_nomem(ctx, "what ran");
	*launch = (struct launch){
		.start = activity->start_ns,
		.length = (uint32_t)length,
		.shape = shape->number,
	};
	return OPK_OK;
}

/* *calls: the section also has calls of the program, and was not read to its end. */
static int read_section(bool *calls, struct launches *all, struct opk_ctx *ctx,
                        struct opk_file *file, size_t section)
{
	const struct opk_meta *meta;

	all->table.count = 0;
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_activity_table_read(&all->table, ctx, file, section));
	opk_activities_place(all->table.rows, all->table.count, meta);
	for (size_t i = 0; !*calls && i < all->table.count; i++) {
		*calls = all->table.rows[i].kind == OPK_ACTIVITY_CALL;
		if (opk_activity_ran(&all->table.rows[i]))
			TRY(add_launch(all, ctx, &all->table.rows[i]));
	}
	return OPK_OK;
}

static int by_start(const void *a, const void *b, void *launches)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct launch *x = (const struct launch *)launches + i;
	const struct launch *y = (const struct launch *)launches + j;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (i > j) - (i < j);
}

static int order_launches(struct launches *all, struct opk_ctx *ctx)
{
	all->order = opk_alloc_array(all->list.count + 1, sizeof *all->order);
	if (!all->order)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < all->list.count; i++)
		all->order[i] = (uint32_t)i;
	qsort_r(all->order, all->list.count, sizeof *all->order, by_start, all->list.items);
	return OPK_OK;
}

/* ---- time in which several ran ---------------------------------------------------------- */

struct running {
	uint64_t end, before; /* what `shared` of the GPU was at its start */
	uint32_t launch;
};

/* One GPU, at one time. Those that run are by their ends, the next one last. */
struct sweep {
	uint64_t now, shared; /* ns until now in which several ran */
	OPK_LIST(struct running) running;
};

static void go_to(struct sweep *gpu, uint64_t time)
{
	if (gpu->running.count > 1)
		gpu->shared += time - gpu->now;
	gpu->now = time;
}

static void end_until(struct launches *all, struct sweep *gpu, uint64_t time)
{
	while (gpu->running.count) {
		const struct running *next = &gpu->running.items[gpu->running.count - 1];

		if (next->end > time)
			return;
		go_to(gpu, next->end);
		all->list.items[next->launch].shared = gpu->shared - next->before;
		gpu->running.count--;
	}
}

static int begin_launch(struct launches *all, struct sweep *gpu, struct opk_ctx *ctx,
                        uint32_t number)
{
	const struct launch *launch = &all->list.items[number];
	uint64_t high = all->shapes.items[launch->shape]->activity.end_ns;
	uint64_t end = launch->start + high + launch->length;
	struct running *items;
	size_t at = gpu->running.count;

	end_until(all, gpu, launch->start);
	go_to(gpu, launch->start);
	if (!opk_list_add(&gpu->running))
		return opk_nomem(ctx, "what ran");
	items = gpu->running.items;
	for (at = gpu->running.count - 1; at && items[at - 1].end < end; at--)
		items[at] = items[at - 1];
	items[at] = (struct running){ end, gpu->shared, number };
	return gpu->running.count > OPK_MOST_AT_ONCE ? opk_fail_at_once(ctx) : OPK_OK;
}

static int find_shared(struct launches *all, struct opk_ctx *ctx)
{
	struct sweep *gpus = opk_alloc_array(all->gpus.count + 1, sizeof *gpus);
	int code = gpus ? OPK_OK : opk_nomem(ctx, "what ran");

	for (size_t i = 0; !code && i < all->list.count; i++) {
		uint32_t number = all->order[i];
		uint32_t gpu = all->shapes.items[all->list.items[number].shape]->gpu;

		code = begin_launch(all, &gpus[gpu], ctx, number);
	}
	for (size_t i = 0; gpus && i < all->gpus.count; i++) {
		end_until(all, &gpus[i], UINT64_MAX);
		free(gpus[i].running.items);
	}
	free(gpus);
	return code;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void make(struct opk_range *range, struct opk_ran *ran, const void *maker, size_t number)
{
	const struct launches *all = maker;
	const struct launch *launch = &all->list.items[all->order[number]];
	struct opk_activity activity = all->shapes.items[launch->shape]->activity;
	uint64_t time = activity.end_ns + launch->length;

	activity.start_ns = launch->start;
	activity.end_ns = launch->start + time;
	*range = opk_activity_range(&activity);
	*ran = (struct opk_ran){
		.kind = opk_activity_word(&activity),
		.launches = 1,
		.time_ns = time,
		.least_ns = time,
		.most_ns = time,
		.shared_ns = launch->shared,
		.graph_node = activity.graph_node,
		.bytes = activity.bytes,
	};
}

/* Rows by which to see what launches have: the last one of each shape. */
static int add_examples(struct opk_made_rows *made, struct opk_ctx *ctx, const struct launches *all)
{
	made->ranges = opk_alloc_array(all->shapes.count + 1, sizeof *made->ranges);
	made->ran = opk_alloc_array(all->shapes.count + 1, sizeof *made->ran);
	if (!made->ranges || !made->ran)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < all->list.count; i++) {
		uint32_t shape = all->list.items[all->order[i]].shape;

		make(&made->ranges[shape], &made->ran[shape], all, i);
	}
	made->examples = all->shapes.count;
	return OPK_OK;
}

static int read_all(bool *calls, struct launches *all, struct opk_ctx *ctx, struct opk_file *file)
{
	for (size_t i = 0; !*calls && i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_ACTIVITIES)
			TRY(read_section(calls, all, ctx, file, i));
	if (*calls)
		return OPK_OK;
	free(opk_take(all->table.rows));
	TRY(all->list.count ? OPK_OK : opk_fail_no_launches(ctx, file));
	TRY(order_launches(all, ctx));
	return find_shared(all, ctx);
}

int opk_launches_make(struct opk_made_rows *made, struct opk_ctx *ctx, struct opk_file *file)
{
	struct launches *all = made->maker = opk_alloc(sizeof *all);
	bool calls = false;

	made->free_maker = launches_free;
	if (!all)
		return opk_nomem(ctx, "what ran");
	all->gpus.key = OPK_KEY_GPU;
	TRY(read_all(&calls, all, ctx, file));
	if (calls) {
		opk_made_rows_clear(made);
		return OPK_OK;
	}
	TRY(add_examples(made, ctx, all));
	made->make = make;
	made->count = all->list.count;
	return OPK_OK;
}
