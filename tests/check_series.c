/* SPDX-License-Identifier: BSD-2-Clause */
/* PM samples and activities over time: buckets with gaps, without averaging; and as bytes. */
#include <math.h>

#include "series/series.h"
#include "testing.h"

static struct opk_ctx *ctx;

static void setup(void)
{
	ck_assert_int_eq(opk_ctx_new(&ctx, NULL), OPK_OK);
}

static void teardown(void)
{
	opk_ctx_free(ctx);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Adds samples of 10 ns with one metric, without pause from 0 on; '.' is a gap, '?' is nan. */
static void add(struct opk_track *track, const char *values)
{
	for (size_t i = 0; values[i]; i++) {
		double value = values[i] == '?' ? NAN : values[i] - '0';

		if (values[i] != '.')
			ck_assert_int_eq(opk_track_add(track, ctx, i * 20, i * 20 + 20, &value),
			                 OPK_OK);
	}
}

/* Whether a bucket begins later after the one before than a sample's mean length. */
static bool is_after_gap(const struct opk_track *track, size_t bucket)
{
	return bucket
	       && track->starts[bucket] > track->ends[bucket - 1] + track->time_ns / track->samples;
}

/* "1-9 3-4 | ?": the buckets, and where gaps are. */
static void show(char *out, const struct opk_track *track)
{
	*out = '\0';
	for (size_t i = 0; i < track->count; i++) {
		double least = track->least[i], most = track->most ? track->most[i] : least;

		out += sprintf(out, "%s%s", i ? " " : "", is_after_gap(track, i) ? "| " : "");
		if (isnan(least) || isnan(most))
			out += sprintf(out, "?");
		else
			out += sprintf(out, least < most ? "%g-%g" : "%g", least, most);
	}
}

static const struct {
	struct here here;
	const char *samples;
	int folds;
	const char *buckets;
} folds[] = {
	{ HERE, "12345", 0, "1 2 3 4 5" },
	{ HERE, "12345", 1, "1-2 3-4 5" },
	{ HERE, "12345", 2, "1-4 5" },
	{ HERE, "12345", 3, "1-5" },
	{ HERE, "1?2??", 0, "1 ? 2 ? ?" },
	{ HERE, "1?2??", 1, "1 2 ?" },
	{ HERE, "??1??", 2, "1 ?" },
	/* Any gap ends a bucket; one missing sample is not a gap. */
	{ HERE, "12...345", 1, "1-2 | 3-4 5" },
	{ HERE, "1...2345", 1, "1 | 2-3 4-5" },
	{ HERE, "1...2345", 2, "1 | 2-5" },
	{ HERE, "1.2345", 1, "1-2 3-4 5" },
	/* If all samples are separate, buckets are still merged. */
	{ HERE, "1..2..3..4", 0, "1 | 2 | 3 | 4" },
	{ HERE, "1..2..3..4", 1, "1-2 | 3-4" },
};

TEST_EACH(folding, folds)
{
	struct opk_track track = { .metrics = 1 };
	char found[256];

	add(&track, row->samples);
	for (int i = 0; i < row->folds; i++)
		ck_assert_int_eq(opk_track_fold(&track, ctx), OPK_OK);
	show(found, &track);
	ck_row(row, !strcmp(found, row->buckets), "%s: %s", row->samples, found);
	opk_track_clear(&track);
}

/* Samples that come after a fold go into buckets of the same length. */
TEST(later_samples_fill_folded_buckets)
{
	struct opk_track track = { .metrics = 1 };
	char found[256];
	double value = 9;

	add(&track, "12345");
	ck_assert_int_eq(opk_track_fold(&track, ctx), OPK_OK);
	for (uint64_t i = 5; i < 8; i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, i * 20, i * 20 + 20, &value), OPK_OK);
	show(found, &track);
	ck_assert_str_eq(found, "1-2 3-4 5-9 9");
	ck_assert_uint_eq(track.samples, 8);
	ck_assert_double_eq(track.lowest[0], 1);
	ck_assert_double_eq(track.highest[0], 9);
	opk_track_clear(&track);
}

/* A sample that spans a pause is left out, and its time is a gap. */
TEST(pauses_are_gaps)
{
	struct opk_track track = { .metrics = 1 };
	char found[256];
	double value = 7;

	add(&track, "12");
	ck_assert_int_eq(opk_track_add(&track, ctx, 40, 1000, &value), OPK_OK);
	ck_assert_int_eq(opk_track_add(&track, ctx, 1000, 1020, &value), OPK_OK);
	show(found, &track);
	ck_assert_str_eq(found, "1 2 | 7");
	ck_assert_uint_eq(track.pauses, 1);
	opk_track_clear(&track);
}

/* A sample that ends before it starts has no length, and hides no others. */
TEST(samples_that_end_before_they_start)
{
	static const uint64_t times[][2] = {
		{ 10000, 11000 }, { 11000, 12000 }, { 15000, 7000 },
		{ 16000, 17000 }, { 17000, 18000 },
	};
	struct opk_track track = { .metrics = 1 };
	double values[3 * 8];

	for (size_t i = 0; i < COUNT(times); i++) {
		double value = (double)i + 1;

		ck_ok(ctx, opk_track_add(&track, ctx, times[i][0], times[i][1], &value));
	}
	ck_assert_uint_eq(track.ends[2], 15000);
	ck_ok(ctx, opk_track_envelope(values, ctx, 8, &track, 0, 10000, 18000));
	ck_assert_double_eq(values[0], 1);
	ck_assert_double_eq(values[1], 2);
	ck_assert_double_eq(values[6], 4);
	ck_assert_double_eq(values[7], 5);
	opk_track_clear(&track);
}

/* A track whose interval grows loses one sample, or none if its first one is empty. */
TEST(intervals_may_change)
{
	struct opk_track track = { .metrics = 1 };
	double value = 1;

	ck_assert_int_eq(opk_track_add(&track, ctx, 5, 5, &value), OPK_OK);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, 10 + i, 11 + i, &value), OPK_OK);
	ck_assert_uint_eq(track.pauses, 0);
	for (uint64_t i = 10; i < 100; i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, i * 20, i * 20 + 20, &value), OPK_OK);
	ck_assert_uint_eq(track.pauses, 1);
	ck_assert_uint_eq(track.samples, 190);
	opk_track_clear(&track);
}

TEST(missing_values_are_counted)
{
	struct opk_track track = { .metrics = 1 };

	add(&track, "??");
	ck_assert_uint_eq(track.missing[0], 2);
	ck_assert(isnan(track.lowest[0]) && isnan(track.highest[0]));
	add(&track, "3");
	ck_assert_uint_eq(track.missing[0], 2);
	ck_assert_double_eq(track.highest[0], 3);
	opk_track_clear(&track);
}

/* Parts of recordings may come in any order of time. */
TEST(buckets_are_ordered)
{
	struct opk_track track = { .metrics = 1 };
	char found[256];

	for (int i = 5; i > 0; i--) {
		double value = i;
		uint64_t start = (uint64_t)i * 20;

		ck_assert_int_eq(opk_track_add(&track, ctx, start, start + 20, &value), OPK_OK);
	}
	ck_assert_int_eq(opk_track_order(&track, ctx), OPK_OK);
	show(found, &track);
	ck_assert_str_eq(found, "1 2 3 4 5");
	opk_track_clear(&track);
}

static const struct {
	struct here here;
	uint64_t start, end;
	double least[4], most[4], mean[4];
} envelopes[] = {
	{ HERE, 0, 160, { 1, 3, 5, 7 }, { 2, 4, 6, 8 }, { 1.5, 3.5, 5.5, 7.5 } },
	{ HERE, 0, 80, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4 } },
	/* A part has all buckets that it touches, and of its mean as much as is inside. */
	{ HERE, 10, 90, { 1, 2, 3, 4 }, { 2, 3, 4, 5 }, { 1.5, 2.5, 3.5, 4.5 } },
	{ HERE, 5, 85, { 1, 2, 3, 4 }, { 2, 3, 4, 5 }, { 1.25, 2.25, 3.25, 4.25 } },
	{ HERE, 0, 20, { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } },
	{ HERE, 120, 200, { 7, 8, NAN, NAN }, { 7, 8, NAN, NAN }, { 7, 8, NAN, NAN } },
	{ HERE, 500, 600, { NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN } },
};

TEST_EACH(envelope, envelopes)
{
	struct opk_track track = { .metrics = 1 };
	double values[12];

	add(&track, "12345678");
	ck_ok(ctx, opk_track_envelope(values, ctx, 4, &track, 0, row->start, row->end));
	for (int i = 0; i < 4; i++)
		ck_row(row,
		       same(values[i], row->least[i]) && same(values[4 + i], row->most[i])
		               && same(values[8 + i], row->mean[i]),
		       "%d: %g-%g, %g", i, values[i], values[4 + i], values[8 + i]);
	opk_track_clear(&track);
}

static const struct {
	struct here here;
	const char *samples;
	int folds;
	double mean; /* of the first bucket */
} means[] = {
	{ HERE, "1249", 1, 1.5 },   { HERE, "1249", 2, 4 },   { HERE, "1?49", 1, 1 },
	{ HERE, "??49", 1, NAN },   { HERE, "??49", 2, 6.5 }, { HERE, "124", 2, 7 / 3.0 },
	{ HERE, "12?9??", 1, 1.5 },
};

/* Folded buckets keep the mean of their samples over time, and so does what is added later. */
TEST_EACH(means_of_folded_buckets, means)
{
	struct opk_track track = { .metrics = 1 };
	double value = 7, last;

	add(&track, row->samples);
	for (int i = 0; i < row->folds; i++)
		ck_assert_int_eq(opk_track_fold(&track, ctx), OPK_OK);
	ck_row(row, same(track.mean[0], row->mean) || fabs(track.mean[0] - row->mean) < 1e-12,
	       "%s: %g", row->samples, track.mean[0]);
	for (uint64_t i = 50; i < 52; i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, i * 20, i * 20 + 20, &value), OPK_OK);
	value = 1;
	ck_assert_int_eq(opk_track_add(&track, ctx, 1040, 1080, &value), OPK_OK);
	ck_assert_int_eq(opk_track_add(&track, ctx, 1080, 1100, &value), OPK_OK);
	last = track.mean[track.count - 1];
	ck_row(row, row->folds == 1 ? last == 1 : fabs(last - 3.4) < 1e-12, "last: %g", last);
	opk_track_clear(&track);
}

static const struct {
	struct here here;
	const char *samples;
	double mean;
} unknown_parts[] = {
	{ HERE, "1???2", 1.5 },
	{ HERE, "?1?23?", 2 },
	{ HERE, "1?2????3", 2 },
	{ HERE, "????", NAN },
	/* Joined over gaps, which are longer than what was sampled. */
	{ HERE, "1..2..3..8", 3.5 },
	{ HERE, "1.....2?3..?..8", 3.5 },
};

/* Neither samples without a value nor gaps weigh a mean, however often buckets are folded. */
TEST_EACH(folding_keeps_means, unknown_parts)
{
	struct opk_track track = { .metrics = 1 };
	double values[3];

	add(&track, row->samples);
	for (int times = 0; times < 5; times++) {
		ck_ok(ctx, opk_track_envelope(values, ctx, 1, &track, 0, 0, 1000));
		ck_row(row, same(values[2], row->mean) || fabs(values[2] - row->mean) < 1e-6,
		       "%d: %g", times, values[2]);
		ck_ok(ctx, opk_track_fold(&track, ctx));
	}
	opk_track_clear(&track);
}

/* Any number of samples fits, and each spike stays. */
TEST(room_is_bounded_and_spikes_stay)
{
	enum { SAMPLES = 10000, ROOM = 1000 };
	struct opk_series series = { .room = ROOM };
	struct opk_track *track = calloc(1, sizeof *track);

	series.tracks = track;
	series.count = 1;
	track->metrics = 2;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		double values[] = { i == 4321 ? 100 : 1, i == 7654 ? -100 : 1 };

		ck_assert_int_eq(opk_track_add(track, ctx, i * 10, i * 10 + 10, values), OPK_OK);
		ck_assert_int_eq(opk_series_keep_room(&series, ctx), OPK_OK);
		ck_assert_uint_le(opk_track_size(track), ROOM);
	}
	ck_assert_uint_ge(opk_track_size(track), ROOM / 4);
	ck_assert_uint_eq(track->fold, 64);
	ck_assert_double_eq(track->most[4321 / 64 * 2], 100);
	ck_assert_double_eq(track->least[7654 / 64 * 2 + 1], -100);
	ck_assert_double_eq(track->least[4321 / 64 * 2], 1);
	opk_series_clear(&series);
}

/* Buckets that can't become fewer stay, though there is no room. */
TEST(single_buckets_stay)
{
	enum { TRACKS = 5 };
	struct opk_series series = { .room = 4 };
	const double value = 7;

	series.tracks = calloc(TRACKS, sizeof *series.tracks);
	series.count = TRACKS;
	for (uint64_t i = 0; i < TRACKS; i++)
		series.tracks[i].metrics = 1;
	for (uint64_t i = 0; i < TRACKS; i++)
		ck_ok(ctx, opk_track_add(&series.tracks[i], ctx, 990 + i, 991 + i, &value));
	/* Back in time: one bucket each, until they are in order. */
	for (uint64_t i = 0; i < 6; i++)
		ck_ok(ctx, opk_track_add(&series.tracks[0], ctx, 90 - i, 91 - i, &value));
	for (int i = 0; i < 100; i++)
		ck_ok(ctx, opk_series_keep_room(&series, ctx));
	ck_assert_uint_gt(series.tracks[0].count, 1);
	ck_assert_uint_gt(series.tracks[0].fold, 1);
	ck_ok(ctx, opk_track_order(&series.tracks[0], ctx));
	ck_ok(ctx, opk_series_keep_room(&series, ctx));
	for (uint64_t i = 0; i < TRACKS; i++)
		ck_assert_uint_eq(series.tracks[i].count, 1);
	ck_ok(ctx, opk_series_fold(&series, ctx));
	ck_assert_uint_eq(opk_series_buckets(&series), TRACKS);
	opk_series_clear(&series);
}

/* ---- bytes ------------------------------------------------------------------------------ */

static uint64_t get_number(const uint8_t **at)
{
	uint64_t number = 0;
	int shift = 0;

	do
		number |= (uint64_t)(**at & 0x7f) << shift;
	while ((shift += 7) && *(*at)++ & 0x80);
	return number;
}

static int64_t get_signed(const uint8_t **at)
{
	uint64_t number = get_number(at);

	return number & 1 ? -(int64_t)(number / 2) - 1 : (int64_t)(number / 2);
}

static double unpack(const struct opk_packing *packing, const uint8_t *bytes)
{
	unsigned packed = bytes[0] | bytes[1] << 8;

	return packed == OPK_PACKED_NAN       ? NAN
	       : packed == OPK_PACKED_HIGHEST ? packing->highest
	                                      : packing->lowest + packed * packing->step;
}

static const struct {
	struct here here;
	double values[4];
	bool exact; /* every value stays exact; else only the lowest and the highest */
} packings[] = {
	{ HERE, { 0, 1, 2, 3 }, true },
	{ HERE, { -5, NAN, 65000, 7 }, true },
	{ HERE, { NAN, NAN, NAN, NAN }, true },
	{ HERE, { 1e300, 1e300, 1e300, 1e300 }, true },
	{ HERE, { 0.1, 0.2, 0.30000000000000004, NAN }, false },
	{ HERE, { -1.7e308, 1.7e308, 0, 1 }, false },
	{ HERE, { 1e18, 1e18 + 65536, 1e18 + 256, 1e18 }, false },
	{ HERE, { 0, 1e12, 123456789, 5e11 }, false },
};

TEST_EACH(packed_values, packings)
{
	struct opk_track track = { .metrics = 1 };
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_packing packing;
	double extent;

	for (uint64_t i = 0; i < 4; i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, i, i + 1, &row->values[i]), OPK_OK);
	packing = opk_track_packing(&track, 0);
	extent = packing.highest / 65534 - packing.lowest / 65534;
	opk_track_pack(&bytes, &track, 0);
	for (int i = 0; i < 4; i++) {
		double value = row->values[i], found = unpack(&packing, bytes.data + 2 * i);
		bool end = value == packing.highest || value == packing.lowest;

		if (row->exact || end || isnan(value))
			ck_row(row, same(found, value), "%.17g: %.17g", value, found);
		else
			ck_row(row, fabs(found - value) <= extent, "%.17g: %.17g", value, found);
	}
	opk_track_clear(&track);
}

/* Times are restored exactly, also if they overlap a little, or are days apart. */
TEST(packed_times)
{
	static const uint64_t times[][2] = {
		{ 1795360921498251214, 1795360921498271182 },
		{ 1795360921498271182, 1795360921498291182 },
		{ 1795360921498291000, 1795360921498310000 },
		{ 1795460921498291182, 1795460921498300000 },
	};
	const uint64_t base = 1795360921498250000;
	struct opk_track track = { .metrics = 1 };
	opk_autobuf struct opk_buf bytes = { 0 };
	const uint8_t *at;
	uint64_t end = base, length = 0;
	double value = 1;

	for (size_t i = 0; i < COUNT(times); i++)
		ck_assert_int_eq(opk_track_add(&track, ctx, times[i][0], times[i][1], &value), 0);
	opk_track_pack(&bytes, &track, base);
	at = bytes.data + 2 * COUNT(times);
	for (size_t i = 0; i < COUNT(times); i++) {
		uint64_t start = end + (uint64_t)get_signed(&at);

		length += (uint64_t)get_signed(&at);
		ck_assert_uint_eq(start, times[i][0]);
		ck_assert_uint_eq(end = start + length, times[i][1]);
	}
	ck_assert_ptr_eq(at, bytes.data + bytes.size);
	opk_track_clear(&track);
}

/* ---- what ran --------------------------------------------------------------------------- */

#define RAN(on, from, to, called)                                                                  \
	{                                                                                          \
		.kind = OPK_ACTIVITY_KERNEL, .stream = on, .start_ns = from, .end_ns = to,         \
		.name = called                                                                     \
	}
#define SHAPED(on, from, to, called, blocks)                                                       \
	{                                                                                          \
		.kind = OPK_ACTIVITY_KERNEL, .stream = on, .start_ns = from, .end_ns = to,         \
		.name = called, .grid = {                                                          \
			blocks,                                                                    \
			1,                                                                         \
			1                                                                          \
		}                                                                                  \
	}
#define RANGE(from, to, called)                                                                    \
	{                                                                                          \
		.kind = OPK_ACTIVITY_RANGE, .start_ns = from, .end_ns = to, .name = called         \
	}

/* "s7: a b | s8: a": lanes with the names of their items; '+' for several records. */
static void show_lanes(char *out, const struct opk_lanes *lanes)
{
	*out = '\0';
	for (size_t i = 0; i < lanes->lanes.count; i++) {
		const struct opk_lane *lane = &lanes->lanes.items[i];

		out += sprintf(out, "%s%s%zu:", i ? " | " : "",
		               lane->of->kind == OPK_ACTIVITY_RANGE ? "r" : "s",
		               (size_t)lane->of->stream);
		for (size_t j = 0; j < lane->items.count; j++) {
			const struct opk_lane_item *item = &lane->items.items[j];

			out += sprintf(out, " %s", lanes->names.items[item->name]->name);
			if (item->records > 1)
				out += sprintf(out, "+%u", item->records - 1);
		}
	}
}

static const struct {
	struct here here;
	struct opk_activity records[6];
	size_t room;
	const char *lanes;
} laned[] = {
	{ HERE,
	  { RAN(7, 10, 20, "a"), RAN(8, 12, 15, "b"), RAN(7, 20, 30, "a") },
	  0,
	  "s7: a a | s8: b" },
	/* Records in any order; ranges come first, the outer one above the inner. */
	{ HERE,
	  { RAN(7, 10, 20, "a"), RANGE(6, 9, "in"), RANGE(5, 9, "out"), RAN(7, 1, 2, "b") },
	  0,
	  "r0: out | r0: in | s7: b a" },
	{ HERE,
	  { RANGE(1, 9, "o"), RANGE(2, 3, "i"), RANGE(4, 9, "j"), RANGE(9, 10, "p") },
	  0,
	  "r0: o p | r0: i j" },
	/* Nodes of a graph run concurrently in a stream. */
	{ HERE,
	  { RAN(1, 10, 20, "a"), RAN(1, 15, 25, "b"), RAN(1, 21, 30, "c") },
	  0,
	  "s1: a c | s1: b" },
	/* A record without times is left out. */
	{ HERE, { RAN(1, 0, 20, "a"), RAN(1, 15, 14, "b"), RAN(1, 15, 15, "c") }, 0, "s1: c" },
	{ HERE,
	  { RAN(1, 10, 11, "a"), RAN(1, 12, 13, "b"), RAN(1, 14, 15, "c"), RAN(1, 100, 110, "d") },
	  2,
	  "s1: a+2 d" },
	{ HERE,
	  { RAN(1, 10, 11, "a"), RAN(1, 1000, 1003, "b"), RAN(2, 14, 15, "c") },
	  1,
	  "s1: a+1 | s2: c" },
};

TEST_EACH(lanes_of_records, laned)
{
	struct opk_lanes lanes;
	char found[256];

	ck_assert_int_eq(opk_lanes_init(&lanes, ctx, row->records, COUNT(row->records), row->room),
	                 OPK_OK);
	show_lanes(found, &lanes);
	ck_row(row, !strcmp(found, row->lanes), "%s", found);
	opk_lanes_clear(&lanes);
}

/* The number of lanes has a limit, however many records run at once in a stream. */
TEST(lanes_are_bounded)
{
	enum { MANY = 3 * OPK_LANE_ROWS };
	struct opk_activity records[MANY];
	struct opk_lanes lanes;

	for (uint64_t i = 0; i < MANY; i++)
		records[i] = (struct opk_activity)RAN(1, 10 + i, 1000, "a");
	ck_assert_int_eq(opk_lanes_init(&lanes, ctx, records, MANY, 0), OPK_OK);
	ck_assert_uint_eq(lanes.lanes.count, OPK_LANE_ROWS);
	ck_assert_uint_eq(lanes.records, MANY);
	/* The last lane joins items, so that nothing overlaps. */
	ck_assert_uint_eq(lanes.lanes.items[OPK_LANE_ROWS - 1].items.count, 1);
	ck_assert_uint_eq(lanes.lanes.items[OPK_LANE_ROWS - 1].items.items[0].records,
	                  MANY - OPK_LANE_ROWS + 1);
	ck_assert_uint_eq(lanes.names.count, 1);
	opk_lanes_clear(&lanes);
}

/* Just above the room records are joined in pairs, and no more. */
TEST(room_is_used)
{
	enum { MANY = 50000 };
	opk_autofree struct opk_activity *records = calloc(MANY, sizeof *records);
	opk_autolanes struct opk_lanes lanes;

	for (uint64_t i = 0; i < MANY; i++)
		records[i] = (struct opk_activity)RAN(1, 1000 + i * 1000, 1500 + i * 1000, "a");
	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, MANY, MANY - 1));
	ck_assert_uint_lt(lanes.lanes.items[0].items.count, MANY);
	ck_assert_uint_ge(lanes.lanes.items[0].items.count, MANY / 3);
	ck_assert_uint_eq(lanes.records, MANY);
}

/* Times may be any: distances between them do not overflow. */
TEST(any_times_are_joined)
{
	const struct opk_activity records[] = {
		RAN(1, 1, 2, "a"),
		RAN(1, UINT64_MAX - 10, UINT64_MAX, "b"),
		RAN(2, 1, 2, "c"),
		RAN(2, UINT64_MAX - 10, UINT64_MAX, "d"),
	};
	opk_autolanes struct opk_lanes lanes;
	char found[256];

	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, COUNT(records), 1));
	show_lanes(found, &lanes);
	ck_assert_str_eq(found, "s1: a+1 | s2: c+1");
	/* Names that an item has, or that have a colour, are kept; others are forgotten. */
	ck_assert_uint_eq(lanes.names.count, 4);
}

TEST(names_without_items)
{
	enum { MANY = 100 };
	struct opk_activity records[MANY];
	char names[MANY][8];
	opk_autolanes struct opk_lanes lanes;

	for (uint64_t i = 0; i < MANY; i++) {
		sprintf(names[i], "n%d", (int)i);
		records[i] = (struct opk_activity)RANGE(10 * i + 1, 10 * i + 5, names[i]);
	}
	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, MANY, MANY / 2));
	ck_assert_uint_le(lanes.names.count, MANY / 2);
	ck_assert_uint_eq(lanes.names.count, lanes.lanes.items[0].items.count);
	for (size_t i = 0; i < lanes.names.count; i++) {
		const struct opk_lane_item *item = &lanes.lanes.items[0].items.items[i];

		ck_assert_str_eq(lanes.names.items[item->name]->name, names[item->start / 10]);
	}
}

/* Ranges are shown on the GPUs of their process, and on each GPU whose process is unknown. */
TEST(ranges_are_with_their_process)
{
	const struct opk_activity records[] = {
		{ .kind = OPK_ACTIVITY_RANGE,
		  .process = 10,
		  .device = -1,
		  .rank = -1,
		  .start_ns = 1,
		  .end_ns = 9 },
		{ .kind = OPK_ACTIVITY_KERNEL,
		  .process = 10,
		  .device = 0,
		  .rank = -1,
		  .start_ns = 1,
		  .end_ns = 9 },
		{ .kind = OPK_ACTIVITY_RANGE,
		  .process = 20,
		  .device = -1,
		  .rank = -1,
		  .start_ns = 1,
		  .end_ns = 9 },
		{ .kind = OPK_ACTIVITY_KERNEL,
		  .process = 20,
		  .device = 1,
		  .rank = -1,
		  .start_ns = 1,
		  .end_ns = 9 },
	};
	static const char *const wanted[] = { "1100", "0011", "1010" };
	struct opk_track tracks[] = {
		{ .range = { .device = 0, .rank = -1 } },
		{ .range = { .device = 2, .rank = -1 } },
	};
	const struct opk_series series = { .tracks = tracks, .count = COUNT(tracks) };
	struct opk_series_places places = { .count = 0 };
	opk_autolanes struct opk_lanes lanes;

	ck_assert_int_eq(opk_lanes_init(&lanes, ctx, records, COUNT(records), 0), OPK_OK);
	ck_assert_int_eq(opk_series_places(&places, ctx, &series, &lanes), OPK_OK);
	ck_assert_uint_eq(places.count, 3);
	for (size_t i = 0; i < places.count; i++) {
		const struct opk_series_place *place = &places.items[i];
		opk_autoplacelanes struct opk_place_lanes of = { .count = 0 };
		char shown[8] = "0000";

		ck_ok(ctx, opk_series_place_lanes(&of, ctx, &places, place, &lanes));
		for (size_t j = 0; j < of.count; j++)
			shown[of.items[j]] = '1';
		ck_assert_str_eq(shown, place->device == 2 ? wanted[2] : wanted[place->device]);
	}
	opk_series_places_clear(&places);
}

/* Many threads with ranges, and many GPUs: the time is not of each range and GPU and launch. */
TEST(many_places_and_lanes)
{
	enum { MANY = 10000 };
	opk_autofree struct opk_activity *records = calloc(2 * MANY, sizeof *records);
	const struct opk_series series = { .count = 0 };
	struct opk_series_places places = { .count = 0 };
	opk_autolanes struct opk_lanes lanes;

	for (int i = 0; i < MANY; i++) {
		records[i] = (struct opk_activity)RAN(1, 10, 20, "a");
		records[i].device = i;
		records[i].process = 1;
		records[MANY + i] = (struct opk_activity)RANGE(10, 20, "r");
		records[MANY + i].thread = (uint64_t)i;
		records[MANY + i].process = 2;
	}
	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, 2 * MANY, 0));
	ck_ok(ctx, opk_series_places(&places, ctx, &series, &lanes));
	ck_assert_uint_eq(places.count, MANY);
	for (size_t i = 0; i < places.count; i++) {
		opk_autoplacelanes struct opk_place_lanes of = { .count = 0 };

		ck_ok(ctx, opk_series_place_lanes(&of, ctx, &places, &places.items[i], &lanes));
		ck_assert_uint_eq(of.count, 1);
		ck_assert_int_eq(lanes.lanes.items[of.items[0]].of->device, (int)i);
	}
	opk_series_places_clear(&places);
}

static const struct {
	struct here here;
	const char *host; /* of the second launch; the first one ran on "a", GPU 0, as rank 3 */
	int32_t device, rank;
	const char *first, *second;
} titles[] = {
	{ HERE, "a", 0, 3, "rank 3, GPU 0", NULL },
	{ HERE, "a", 1, 3, "rank 3, GPU 0", "rank 3, GPU 1" },
	{ HERE, "b", 0, -1, "rank 3, a, GPU 0", "b, GPU 0" },
	{ HERE, "a", -1, -1, "rank 3, GPU 0", "GPU" },
};

TEST_EACH(titles_of_places, titles)
{
	struct opk_activity records[] = { RAN(1, 10, 20, "a"), RAN(1, 30, 40, "a") };
	const char *const wanted[] = { row->first, row->second };
	const struct opk_series series = { .count = 0 };
	struct opk_series_places places = { .count = 0 };
	opk_autolanes struct opk_lanes lanes;

	records[0].host = "a";
	records[0].rank = 3;
	records[1].host = row->host;
	records[1].device = row->device;
	records[1].rank = row->rank;
	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, COUNT(records), 0));
	ck_ok(ctx, opk_series_places(&places, ctx, &series, &lanes));
	ck_row(row, places.count == 1 + (row->second != NULL), "%zu places", places.count);
	for (size_t i = 0; i < places.count; i++) {
		size_t at = strcmp(places.items[i].host, "a") != 0 || places.items[i].rank != 3
		            || places.items[i].device != 0;
		opk_autoplacelanes struct opk_place_lanes of = { .count = 0 };
		opk_autofree char *title = NULL;

		ck_ok(ctx, opk_series_place_lanes(&of, ctx, &places, &places.items[i], &lanes));
		title = opk_series_place_title(&places, &places.items[i], &lanes, &of);
		ck_row(row, !strcmp(title, wanted[at]), "%s", title);
	}
	opk_series_places_clear(&places);
}

/* Launches that are equal have one shape; records without a grid, and ranges, have none. */
TEST(shapes_of_launches)
{
	static const struct opk_activity records[] = {
		SHAPED(1, 1, 2, "a", 4), SHAPED(1, 2, 3, "b", 4), SHAPED(1, 3, 4, "a", 6),
		SHAPED(1, 4, 5, "a", 4), RAN(1, 5, 6, "a"),       RANGE(6, 7, "r"),
	};
	static const uint32_t wanted[] = { 0, 0, 1, 0, OPK_LANES_NO_SHAPE };
	struct opk_lanes lanes;

	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, COUNT(records), 0));
	ck_assert_uint_eq(lanes.shapes.count, 2);
	ck_assert_uint_eq(lanes.shapes.items[1]->grid[0], 6);
	ck_assert_uint_eq(lanes.lanes.items[0].items.items[0].shape, OPK_LANES_NO_SHAPE);
	for (size_t i = 0; i < COUNT(wanted); i++)
		ck_assert_uint_eq(lanes.lanes.items[1].items.items[i].shape, wanted[i]);
	opk_lanes_clear(&lanes);
}

/* The kernels that take most time have a colour each, in any order of their first launches. */
TEST(colours_of_kernels)
{
	static const struct opk_activity records[] = {
		RAN(1, 10, 11, "g"), RAN(1, 20, 22, "f"), RAN(1, 30, 34, "e"),
		RAN(1, 40, 45, "d"), RAN(1, 50, 56, "c"), RAN(1, 60, 67, "b"),
		RAN(2, 70, 78, "a"), RAN(1, 80, 81, "a"), RANGE(1, 90, "r"),
	};
	static const struct {
		const char *name;
		unsigned colour;
	} wanted[] = { { "a", 2 }, { "b", 1 }, { "c", 4 }, { "d", 5 },
		       { "e", 6 }, { "f", 7 }, { "g", 7 }, { "r", 3 } };
	struct opk_lanes lanes;

	ck_ok(ctx, opk_lanes_init(&lanes, ctx, records, COUNT(records), 0));
	ck_assert_uint_eq(lanes.names.count, COUNT(wanted));
	for (uint32_t i = 0; i < lanes.names.count; i++)
		for (size_t j = 0; j < COUNT(wanted); j++)
			if (!strcmp(lanes.names.items[i]->name, wanted[j].name))
				ck_assert_uint_eq(opk_lanes_colour(&lanes, i), wanted[j].colour);
	opk_lanes_clear(&lanes);
}

TEST(packed_lanes)
{
	static const struct opk_activity records[] = { SHAPED(1, 300, 500, "a", 4),
		                                       RAN(1, 700, 710, "b"),
		                                       SHAPED(1, 1000, 1000, "a", 8) };
	static const uint64_t wanted[] = { 200, 400, 300, 200, 10, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0 };
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_lanes lanes;
	const uint8_t *at;

	ck_assert_int_eq(opk_lanes_init(&lanes, ctx, records, COUNT(records), 0), OPK_OK);
	opk_lane_pack(&bytes, &lanes.lanes.items[0], 100);
	at = bytes.data;
	for (size_t i = 0; i < COUNT(wanted); i++)
		ck_assert_uint_eq(get_number(&at), wanted[i]);
	ck_assert_ptr_eq(at, bytes.data + bytes.size);
	opk_lanes_clear(&lanes);
}

SUITE(.set_up = setup, .tear_down = teardown);
