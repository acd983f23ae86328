/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the GPUs, or ranks on them, of samples and of what ran. */
#include "series/series.h"

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

/* Adds a place unless it is known; one with samples is always new. */
static bool add(struct opk_series_places *places, const struct opk_series_place *wanted)
{
	struct opk_series_place *place;

	for (size_t i = 0; wanted->track == SIZE_MAX && i < places->count; i++) {
		place = &places->items[i];
		if (place->device == wanted->device && is_of_rank(place, wanted->rank)
		    && may_be_same(place->host, wanted->host)
		    && may_be_same(place->gpu, wanted->gpu))
			return true;
	}
	place = opk_list_add(places);
	if (place)
		*place = *wanted;
	return place != NULL;
}

bool opk_lane_is_range(const struct opk_lane *lane)
{
	return lane->of->kind == OPK_ACTIVITY_RANGE;
}

int opk_series_places(struct opk_series_places *places, struct opk_ctx *ctx,
                      const struct opk_series *series, const struct opk_lanes *lanes)
{
	bool good = true;

	for (size_t i = 0; good && i < series->count; i++) {
		const struct opk_range *of = &series->tracks[i].range;

		good = add(places, &(struct opk_series_place){ of->host, of->gpu, of->device,
		                                               of->rank, i });
	}
	for (size_t i = 0; good && i < lanes->lanes.count; i++) {
		const struct opk_activity *of = lanes->lanes.items[i].of;

		if (!opk_lane_is_range(&lanes->lanes.items[i]))
			good = add(places,
			           &(struct opk_series_place){ of->host, of->gpu, of->device,
			                                       of->rank, SIZE_MAX });
	}
	if (good && !places->count)
		good = add(places, &(struct opk_series_place){ "", "", -1, -1, SIZE_MAX });
	return good ? OPK_OK : opk_nomem(ctx, "a timeline");
}

/* Whether a process launched something at a place, or no launch at the place was recorded. */
static bool uses(const struct opk_series_place *place, const struct opk_lanes *lanes,
                 uint32_t process)
{
	bool any = false;

	for (size_t i = 0; i < lanes->lanes.count; i++) {
		const struct opk_activity *of = lanes->lanes.items[i].of;

		if (!opk_activity_ran(of) || of->device != place->device
		    || !is_of_rank(place, of->rank) || !may_be_same(of->host, place->host))
			continue;
		if (of->process == process)
			return true;
		any = true;
	}
	return !any;
}

bool opk_series_place_shows(const struct opk_series_place *place, const struct opk_lanes *lanes,
                            const struct opk_lane *lane)
{
	const struct opk_activity *of = lane->of;

	if (!is_of_rank(place, of->rank) || !may_be_same(of->host, place->host))
		return false;
	if (opk_lane_is_range(lane))
		return uses(place, lanes, of->process);
	return of->device == place->device && may_be_same(of->gpu, place->gpu);
}
