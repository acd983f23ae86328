/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs tracks and lanes as bytes, which a page unpacks. */
#include "series/series.h"

#include <math.h>

static void put_number(struct opk_buf *out, uint64_t number)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; number > 0x7f; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	opk_buf_add(out, bytes, count);
}

/* a - b */
static void put_difference(struct opk_buf *out, uint64_t a, uint64_t b)
{
	put_number(out, a < b ? (b - a) * 2 - 1 : (a - b) * 2);
}

/* ---- values ----------------------------------------------------------------------------- */

static bool all_whole(const struct opk_track *track, const double *values, size_t metric)
{
	for (size_t i = metric; values && i < track->count * track->metrics; i += track->metrics)
		if (!isnan(values[i]) && values[i] != trunc(values[i]))
			return false;
	return true;
}

struct opk_packing opk_track_packing(const struct opk_track *track, size_t metric)
{
	double lowest = track->lowest[metric], highest = track->highest[metric];
	struct opk_packing packing = { lowest, 0, highest };

	if (isnan(lowest))
		return packing;
	if (highest - lowest <= OPK_PACKED_HIGHEST && all_whole(track, track->least, metric)
	    && all_whole(track, track->most, metric))
		packing.step = 1;
	else
		packing.step = highest / OPK_PACKED_HIGHEST - lowest / OPK_PACKED_HIGHEST;
	return packing;
}

static uint16_t pack(const struct opk_packing *packing, double value)
{
	double steps = packing->step > 0 ? round((value - packing->lowest) / packing->step) : 0;

	if (isnan(value))
		return OPK_PACKED_NAN;
	/* Rounding: a step may be smaller than the gap between two doubles of that size. */
	return steps > OPK_PACKED_HIGHEST ? OPK_PACKED_HIGHEST : steps > 0 ? (uint16_t)steps : 0;
}

static void put_values(struct opk_buf *out, const struct opk_track *track, const double *values,
                       size_t metric)
{
	struct opk_packing packing = opk_track_packing(track, metric);

	for (size_t i = 0; values && i < track->count; i++) {
		uint16_t packed = pack(&packing, values[i * track->metrics + metric]);
		uint8_t bytes[] = { (uint8_t)packed, (uint8_t)(packed >> 8) };

		opk_buf_add(out, bytes, sizeof bytes);
	}
}

void opk_track_pack(struct opk_buf *out, const struct opk_track *track, uint64_t base)
{
	uint64_t end = base, length = 0;

	for (size_t i = 0; i < track->metrics; i++) {
		put_values(out, track, track->least, i);
		put_values(out, track, track->most, i);
		put_values(out, track, track->mean, i);
	}
	for (size_t i = 0; i < track->count; i++) {
		uint64_t last = length;

		length = track->ends[i] - track->starts[i];
		put_difference(out, track->starts[i], end);
		put_difference(out, length, last);
		end = track->ends[i];
	}
}

/* ---- lanes ------------------------------------------------------------------------------ */

void opk_lane_pack(struct opk_buf *out, const struct opk_lane *lane, uint64_t base)
{
	const struct opk_lane_item *items = lane->items.items;
	size_t count = lane->items.count;

	for (size_t i = 0; i < count; i++)
		put_number(out, items[i].start - (i ? items[i - 1].start : base));
	for (size_t i = 0; i < count; i++)
		put_number(out, items[i].end - items[i].start);
	for (size_t i = 0; i < count; i++)
		put_number(out, items[i].name);
	for (size_t i = 0; i < count; i++)
		put_number(out, items[i].shape == OPK_LANES_NO_SHAPE ? 0 : items[i].shape + 1);
	for (size_t i = 0; i < count; i++)
		put_number(out, items[i].records - 1);
}
