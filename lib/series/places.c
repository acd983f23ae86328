/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the GPUs, or ranks on them, of samples and of what ran. */
#include "series/series.h"

#include <inttypes.h>
#include <string.h>

/* An unknown text may be the same. */
static bool may_be_same(const char *a, const char *b)
{
	return !a || !b || !*a || !*b || !strcmp(a, b);
}

static bool is_of_rank(const struct opk_series_place *place, int32_t rank)
{
	return place->rank < 0 || place->rank == rank;
}

bool opk_lane_is_range(const struct opk_lane *lane)
{
	return lane->of->kind == OPK_ACTIVITY_RANGE;
}

/* ---- places ----------------------------------------------------------------------------- */

/* Adds a place unless it is known; one with samples is always new. */
static bool add(struct opk_series_places *places, const struct opk_series_place *wanted)
{
	size_t *last = &places->last[(uint32_t)wanted->device % OPK_SERIES_DEVICES];
	struct opk_series_place *place;

	for (size_t i = *last; wanted->track == SIZE_MAX && i; i = place->before) {
		place = &places->items[i - 1];
		if (place->device == wanted->device && is_of_rank(place, wanted->rank)
		    && may_be_same(place->host, wanted->host)
		    && may_be_same(place->gpu, wanted->gpu))
			return true;
	}
	place = opk_list_add(places);
	if (!place)
		return false;
	*place = *wanted;
	place->before = *last;
	*last = places->count;
	return true;
}

/* Lanes of a process follow each other: first those of its ranges. */
static bool add_to_process(struct opk_series_places *places, const struct opk_lanes *lanes,
                           size_t lane)
{
	const struct opk_activity *of = lanes->lanes.items[lane].of;
	const struct opk_activity *last = lane ? lanes->lanes.items[lane - 1].of : NULL;
	struct opk_series_process *process;

	if (!last || last->rank != of->rank || last->process != of->process
	    || !opk_text_equals(last->host, of->host)) {
		process = opk_list_add(&places->processes);
		if (!process)
			return false;
		process->first = process->ran = lane;
	}
	process = &places->processes.items[places->processes.count - 1];
	process->end = lane + 1;
	if (opk_lane_is_range(&lanes->lanes.items[lane]))
		process->ran = lane + 1;
	return true;
}

int opk_series_places(struct opk_series_places *places, struct opk_ctx *ctx,
                      const struct opk_series *series, const struct opk_lanes *lanes)
{
	bool good = true;

	for (size_t i = 0; good && i < series->count; i++) {
		const struct opk_range *of = &series->tracks[i].range;

		good = add(places, &(struct opk_series_place){ of->host, of->gpu, of->device,
		                                               of->rank, i, 0 });
	}
	for (size_t i = 0; good && i < lanes->lanes.count; i++) {
		const struct opk_activity *of = lanes->lanes.items[i].of;

		good = add_to_process(places, lanes, i);
		if (good && !opk_lane_is_range(&lanes->lanes.items[i]))
			good = add(places,
			           &(struct opk_series_place){ of->host, of->gpu, of->device,
			                                       of->rank, SIZE_MAX, 0 });
	}
	if (good && !places->count)
		good = add(places, &(struct opk_series_place){ "", "", -1, -1, SIZE_MAX, 0 });
	for (size_t i = 1; i < places->count; i++)
		places->several_hosts |= !opk_text_equals(places->items[i].host,
		                                          places->items[0].host);
	return good ? OPK_OK : opk_nomem(ctx, "a timeline");
}

void opk_series_places_clear(struct opk_series_places *places)
{
	free(places->items);
	free(places->processes.items);
	*places = (struct opk_series_places){ .count = 0 };
}

/* ---- lanes of a place ------------------------------------------------------------------- */

/* The first lane of what a process ran on this device or a later one. */
static size_t first_of_device(const struct opk_lanes *lanes,
                              const struct opk_series_process *process, int64_t device)
{
	size_t low = process->ran, high = process->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lanes->lanes.items[middle].of->device < device)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The process' lanes of what it ran on the place's device: [*from, *end). */
static bool may_show(size_t *from, size_t *end, const struct opk_series_place *place,
                     const struct opk_lanes *lanes, const struct opk_series_process *process)
{
	const struct opk_activity *of = lanes->lanes.items[process->first].of;

	if (!is_of_rank(place, of->rank) || !may_be_same(of->host, place->host))
		return false;
	*from = first_of_device(lanes, process, place->device);
	*end = first_of_device(lanes, process, (int64_t)place->device + 1);
	return true;
}

static void put_lane(struct opk_place_lanes *out, size_t lane)
{
	if (out->items)
		out->items[out->count] = lane;
	out->count++;
}

/* Counts the lanes, and writes their numbers if there is room for these. */
static void find_lanes(struct opk_place_lanes *out, const struct opk_series_places *places,
                       const struct opk_series_place *place, const struct opk_lanes *lanes)
{
	size_t from, end;
	bool any = false;

	out->count = 0;
	for (size_t i = 0; !any && i < places->processes.count; i++)
		any = may_show(&from, &end, place, lanes, &places->processes.items[i])
		      && from < end;
	for (size_t i = 0; i < places->processes.count; i++) {
		const struct opk_series_process *process = &places->processes.items[i];

		if (!may_show(&from, &end, place, lanes, process))
			continue;
		for (size_t j = process->first; (from < end || !any) && j < process->ran; j++)
			put_lane(out, j);
		for (size_t j = from; j < end; j++)
			if (may_be_same(lanes->lanes.items[j].of->gpu, place->gpu))
				put_lane(out, j);
	}
}

int opk_series_place_lanes(struct opk_place_lanes *out, struct opk_ctx *ctx,
                           const struct opk_series_places *places,
                           const struct opk_series_place *place, const struct opk_lanes *lanes)
{
	*out = (struct opk_place_lanes){ .count = 0 };
	find_lanes(out, places, place, lanes);
	out->items = opk_alloc_array(out->count + 1, sizeof *out->items);
	if (!out->items)
		return opk_nomem(ctx, "a timeline");
	find_lanes(out, places, place, lanes);
	return OPK_OK;
}

void opk_place_lanes_clear(struct opk_place_lanes *lanes)
{
	free(lanes->items);
}

/* ---- titles ----------------------------------------------------------------------------- */

/* The place's rank, or the rank of all that ran on it; -1: none, or several. */
static int32_t rank_of(const struct opk_series_place *place, const struct opk_lanes *lanes,
                       const struct opk_place_lanes *shown)
{
	int32_t rank = place->rank;

	for (size_t i = 0; i < shown->count; i++) {
		const struct opk_lane *lane = &lanes->lanes.items[shown->items[i]];

		if (opk_lane_is_range(lane))
			continue;
		if (rank >= 0 && lane->of->rank != rank)
			return -1;
		rank = lane->of->rank;
	}
	return rank;
}

char *opk_series_place_title(const struct opk_series_places *places,
                             const struct opk_series_place *place, const struct opk_lanes *lanes,
                             const struct opk_place_lanes *shown)
{
	int32_t rank = rank_of(place, lanes, shown);
	struct opk_buf title = { 0 };

	if (rank >= 0)
		opk_buf_add_printf(&title, "rank %" PRId32 ", ", rank);
	if (places->several_hosts && place->host && *place->host)
		opk_buf_add_printf(&title, "%s, ", place->host);
	opk_buf_add_text(&title, "GPU");
	if (place->device >= 0)
		opk_buf_add_printf(&title, " %" PRId32, place->device);
	return opk_buf_take_text(&title);
}
