/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides records of what ran among lanes, in which nothing overlaps. */
#include "series/series.h"

#include <string.h>

#include "base/index.h"
#include "base/strlist.h"

/* ---- order ------------------------------------------------------------------------------ */

static int by_text(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

#define COMPARE(a, b)                                                                              \
	if ((a) != (b))                                                                            \
	return (a) < (b) ? -1 : 1

/* 0: the same stream or thread. */
static int by_lane(const struct opk_activity *x, const struct opk_activity *y)
{
	bool x_range = x->kind == OPK_ACTIVITY_RANGE, y_range = y->kind == OPK_ACTIVITY_RANGE;
	int order = by_text(x->host, y->host);

	if (order)
		return order;
	COMPARE(x->rank, y->rank);
	COMPARE(x->process, y->process);
	COMPARE(y_range, x_range);
	if (x_range) {
		COMPARE(x->thread, y->thread);
		return 0;
	}
	COMPARE(x->device, y->device);
	COMPARE(x->context, y->context);
	COMPARE(x->stream, y->stream);
	return by_text(x->gpu, y->gpu);
}

/* Outer ranges come before inner ones. */
static int by_lane_and_time(const void *a, const void *b)
{
	const struct opk_activity *x = *(const struct opk_activity *const *)a;
	const struct opk_activity *y = *(const struct opk_activity *const *)b;
	int order = by_lane(x, y);

	if (order)
		return order;
	COMPARE(x->start_ns, y->start_ns);
	COMPARE(y->end_ns, x->end_ns);
	COMPARE(x, y);
	return 0;
}

/* ---- names ------------------------------------------------------------------------------ */

/* Records share strings, so most names are found by their addresses. */
struct names {
	struct opk_lanes *lanes;
	struct opk_index numbers;
	struct opk_strlist keys;
	struct {
		const char *name, *symbol;
		uint32_t number;
	} seen[1024];
};

static bool look_up(uint32_t *out, struct names *names, const struct opk_activity *activity)
{
	opk_autofree char *key = opk_printf("%d %s\n%s", (int)activity->kind,
	                                    activity->name ? activity->name : "",
	                                    activity->symbol ? activity->symbol : "");
	size_t number = names->keys.count;
	const struct opk_activity **name;

	if (!key)
		return false;
	if (!opk_index_find(&number, &names->numbers, key)) {
		name = opk_list_add(&names->lanes->names);
		if (!name || !opk_strlist_take(&names->keys, opk_take(key))
		    || !opk_index_add(&names->numbers, names->keys.items[number], number, NULL))
			return false;
		*name = activity;
	}
	*out = (uint32_t)number;
	return true;
}

static bool number_of(uint32_t *out, struct names *names, const struct opk_activity *activity)
{
	size_t slot = ((uintptr_t)activity->name / 8 + (uintptr_t)activity->symbol) % 1024;
	bool known = names->seen[slot].name == activity->name
	             && names->seen[slot].symbol == activity->symbol && activity->name;

	if (!known && !look_up(&names->seen[slot].number, names, activity))
		return false;
	names->seen[slot].name = activity->name;
	names->seen[slot].symbol = activity->symbol;
	*out = names->seen[slot].number;
	return true;
}

/* ---- shapes ----------------------------------------------------------------------------- */

/* Launches of one kernel often have the same shape, and mostly one of few. */
struct shapes {
	struct opk_lanes *lanes;
	struct opk_index numbers;
	struct opk_strlist keys;
	uint32_t seen[1024]; /* plus 1 */
};

static bool same_shape(const struct opk_activity *x, const struct opk_activity *y)
{
	return !memcmp(x->grid, y->grid, sizeof x->grid)
	       && !memcmp(x->block, y->block, sizeof x->block) && x->registers == y->registers
	       && x->static_shared_bytes == y->static_shared_bytes
	       && x->shared_bytes == y->shared_bytes;
}

static char *shape_key(const struct opk_activity *of)
{
	return opk_printf("%u %u %u %u %u %u %u %u %u", of->grid[0], of->grid[1], of->grid[2],
	                  of->block[0], of->block[1], of->block[2], of->registers,
	                  of->static_shared_bytes, of->shared_bytes);
}

static bool look_up_shape(uint32_t *out, struct shapes *shapes, const struct opk_activity *activity)
{
	opk_autofree char *key = shape_key(activity);
	const struct opk_activity **shape;
	size_t number = shapes->keys.count;

	if (!key)
		return false;
	if (!opk_index_find(&number, &shapes->numbers, key)) {
		if (number == OPK_LANES_SHAPES) {
			*out = OPK_LANES_NO_SHAPE;
			return true;
		}
		shape = opk_list_add(&shapes->lanes->shapes);
		if (!shape || !opk_strlist_take(&shapes->keys, opk_take(key))
		    || !opk_index_add(&shapes->numbers, shapes->keys.items[number], number, NULL))
			return false;
		*shape = activity;
	}
	*out = (uint32_t)number;
	return true;
}

static bool shape_of(uint32_t *out, struct shapes *shapes, const struct opk_activity *activity)
{
	size_t slot = (activity->grid[0] * 31 + activity->grid[1] * 7 + activity->block[0]
	               + activity->registers * 5 + activity->shared_bytes)
	              % 1024;
	uint32_t seen = shapes->seen[slot];

	*out = OPK_LANES_NO_SHAPE;
	if (activity->kind != OPK_ACTIVITY_KERNEL || !activity->grid[0])
		return true;
	if (seen && same_shape(shapes->lanes->shapes.items[seen - 1], activity)) {
		*out = seen - 1;
		return true;
	}
	if (!look_up_shape(out, shapes, activity))
		return false;
	if (*out != OPK_LANES_NO_SHAPE)
		shapes->seen[slot] = *out + 1;
	return true;
}

/* ---- lanes ------------------------------------------------------------------------------ */

/* The lanes of the current stream or thread. */
struct rows {
	size_t lanes[OPK_LANE_ROWS]; /* their numbers */
	uint64_t ends[OPK_LANE_ROWS];
	size_t count;
};

static struct opk_lane *add_lane(struct opk_lanes *lanes, struct rows *rows,
                                 const struct opk_activity *activity)
{
	struct opk_lane *lane = opk_list_add(&lanes->lanes);

	if (!lane)
		return NULL;
	lane->of = activity;
	lane->row = rows->count;
	rows->lanes[rows->count++] = lanes->lanes.count - 1;
	return lane;
}

/* Chooses the first free lane, or else the last lane. */
static struct opk_lane *choose_lane(struct opk_lanes *lanes, struct rows *rows,
                                    const struct opk_activity *activity)
{
	size_t row = 0;

	while (row < rows->count && rows->ends[row] > activity->start_ns)
		row++;
	if (row == OPK_LANE_ROWS)
		row--;
	if (row == rows->count && !add_lane(lanes, rows, activity))
		return NULL;
	rows->ends[row] = activity->end_ns;
	return &lanes->lanes.items[rows->lanes[row]];
}

/* What lanes are made with. */
struct making {
	struct rows rows;
	struct names names;
	struct shapes shapes;
};

static int add_item(struct opk_lanes *lanes, struct opk_ctx *ctx, struct making *making,
                    const struct opk_activity *activity)
{
	struct opk_lane *lane = choose_lane(lanes, &making->rows, activity);
	size_t count = lane ? lane->items.count : 0;
	struct opk_lane_item *item = count ? &lane->items.items[count - 1] : NULL;

	if (!item || item->end <= activity->start_ns) {
		item = lane ? opk_list_add(&lane->items) : NULL;
		if (!item || !number_of(&item->name, &making->names, activity)
		    || !shape_of(&item->shape, &making->shapes, activity))
			return opk_nomem(ctx, "what ran");
		item->start = activity->start_ns;
	}
	if (activity->end_ns > item->end)
		item->end = activity->end_ns;
	item->records++;
	if (!lanes->records++ || item->start < lanes->start)
		lanes->start = item->start;
	if (item->end > lanes->end)
		lanes->end = item->end;
	return OPK_OK;
}

static int add_items(struct opk_lanes *lanes, struct opk_ctx *ctx,
                     const struct opk_activity *const *order, size_t count)
{
	opk_autofree struct making *making = opk_alloc(sizeof *making);
	int code = making ? OPK_OK : opk_nomem(ctx, "what ran");

	if (code)
		return code;
	making->names.lanes = making->shapes.lanes = lanes;
	for (size_t i = 0; !code && i < count; i++) {
		if (i && by_lane(order[i - 1], order[i]))
			making->rows = (struct rows){ .count = 0 };
		code = add_item(lanes, ctx, making, order[i]);
	}
	opk_index_clear(&making->names.numbers);
	opk_strlist_clear(&making->names.keys);
	opk_index_clear(&making->shapes.numbers);
	opk_strlist_clear(&making->shapes.keys);
	return code;
}

/* ---- kernels with a colour -------------------------------------------------------------- */

/* Keeps `colours` in the order of time. */
static void rank_kernel(struct opk_lanes *lanes, const uint64_t *busy, uint32_t name)
{
	size_t at = lanes->coloured;

	while (at && busy[lanes->colours[at - 1]] < busy[name])
		at--;
	if (at == OPK_LANES_COLOURS)
		return;
	lanes->coloured += lanes->coloured < OPK_LANES_COLOURS;
	memmove(lanes->colours + at + 1, lanes->colours + at,
	        (lanes->coloured - at - 1) * sizeof *lanes->colours);
	lanes->colours[at] = name;
}

static int choose_colours(struct opk_lanes *lanes, struct opk_ctx *ctx)
{
	opk_autofree uint64_t *busy = opk_alloc_array(lanes->names.count + 1, sizeof *busy);

	if (!busy)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < lanes->lanes.count; i++) {
		const struct opk_lane *lane = &lanes->lanes.items[i];

		for (size_t j = 0; j < lane->items.count; j++)
			busy[lane->items.items[j].name] += lane->items.items[j].end
			                                   - lane->items.items[j].start;
	}
	for (uint32_t i = 0; i < lanes->names.count; i++)
		if (lanes->names.items[i]->kind == OPK_ACTIVITY_KERNEL)
			rank_kernel(lanes, busy, i);
	return OPK_OK;
}

unsigned opk_lanes_colour(const struct opk_lanes *lanes, uint32_t name)
{
	static const unsigned kernels[OPK_LANES_COLOURS] = { 2, 1, 4, 5, 6 }, range = 3;

	if (lanes->names.items[name]->kind == OPK_ACTIVITY_RANGE)
		return range;
	for (size_t i = 0; i < lanes->coloured; i++)
		if (lanes->colours[i] == name)
			return kernels[i];
	return OPK_LANES_OTHER;
}

/* ---- bounded number --------------------------------------------------------------------- */

static size_t join_close(struct opk_lane *lane, uint64_t distance)
{
	struct opk_lane_item *items = lane->items.items;
	size_t kept = 0;

	for (size_t i = 1; i < lane->items.count; i++) {
		struct opk_lane_item *last = &items[kept];

		if (items[i].end < last->end || items[i].end - last->start > distance) {
			items[++kept] = items[i];
			continue;
		}
		last->end = items[i].end;
		last->records += items[i].records;
	}
	lane->items.count = kept + (lane->items.count > 0);
	return lane->items.count;
}

/* Joins records within a billionth of the whole time, then within twice as much, until they fit. */
static void keep_room(struct opk_lanes *lanes, size_t room)
{
	uint64_t whole = lanes->end - lanes->start, distance = whole / (1 << 30) + 1;
	size_t count = 0;

	for (size_t i = 0; i < lanes->lanes.count; i++)
		count += lanes->lanes.items[i].items.count;
	/* Each lane keeps at least one item. */
	for (bool last = false; !last && count > room && count > lanes->lanes.count;
	     distance *= 2) {
		last = distance > whole / 2;
		if (last)
			distance = whole;
		count = 0;
		for (size_t i = 0; i < lanes->lanes.count; i++)
			count += join_close(&lanes->lanes.items[i], distance);
	}
}

/* Keeps only the names of items that are left, and of kernels with a colour. */
static int forget_names(struct opk_lanes *lanes, struct opk_ctx *ctx)
{
	opk_autofree uint32_t *numbers = opk_alloc_array(lanes->names.count + 1, sizeof *numbers);
	uint32_t kept = 0;

	if (!numbers)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < lanes->coloured; i++)
		numbers[lanes->colours[i]] = 1;
	for (size_t i = 0; i < lanes->lanes.count; i++)
		for (size_t j = 0; j < lanes->lanes.items[i].items.count; j++)
			numbers[lanes->lanes.items[i].items.items[j].name] = 1;
	for (size_t i = 0; i < lanes->names.count; i++)
		if (numbers[i]) {
			lanes->names.items[kept] = lanes->names.items[i];
			numbers[i] = kept++;
		}
	lanes->names.count = kept;
	for (size_t i = 0; i < lanes->coloured; i++)
		lanes->colours[i] = numbers[lanes->colours[i]];
	for (size_t i = 0; i < lanes->lanes.count; i++)
		for (size_t j = 0; j < lanes->lanes.items[i].items.count; j++) {
			struct opk_lane_item *item = &lanes->lanes.items[i].items.items[j];

			item->name = numbers[item->name];
		}
	return OPK_OK;
}

int opk_lanes_init(struct opk_lanes *lanes, struct opk_ctx *ctx,
                   const struct opk_activity *activities, size_t count, size_t room)
{
	opk_autofree const struct opk_activity **order = opk_alloc_array(count + 1, sizeof *order);
	size_t known = 0, calls = 0;

	*lanes = (struct opk_lanes){ .records = 0 };
	if (!order)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < count; i++)
		if (activities[i].kind == OPK_ACTIVITY_CALL)
			calls++;
		else if (activities[i].start_ns && activities[i].end_ns >= activities[i].start_ns)
			order[known++] = &activities[i];
	lanes->untimed = count - calls - known;
	qsort(order, known, sizeof *order, by_lane_and_time);
	TRY(add_items(lanes, ctx, order, known));
	TRY(choose_colours(lanes, ctx));
	keep_room(lanes, room ? room : OPK_LANES_ROOM);
	return forget_names(lanes, ctx);
}

void opk_lanes_clear(struct opk_lanes *lanes)
{
	for (size_t i = 0; i < lanes->lanes.count; i++)
		free(lanes->lanes.items[i].items.items);
	free(lanes->lanes.items);
	free(lanes->names.items);
	free(lanes->shapes.items);
	*lanes = (struct opk_lanes){ .records = 0 };
}
