/* SPDX-License-Identifier: BSD-2-Clause */
/* PM samples over time: folded, with their gaps, and nothing averaged away. */
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

/* Samples of 10 ns with one metric, one after the other from 0 on; '.' is a gap, '?' is nan. */
static void add(struct opk_track *track, const char *values)
{
	for (size_t i = 0; values[i]; i++) {
		double value = values[i] == '?' ? NAN : values[i] - '0';

		if (values[i] != '.')
			ck_assert_int_eq(opk_track_add(track, ctx, i * 20, i * 20 + 20, &value),
			                 OPK_OK);
	}
}

/* "1-9 3-4 | ?": the buckets, and where gaps are. */
static void show(char *out, const struct opk_track *track)
{
	*out = '\0';
	for (size_t i = 0; i < track->count; i++) {
		double least = track->least[i], most = track->most ? track->most[i] : least;

		out += sprintf(out, "%s%s", i ? " " : "", opk_track_gap(track, i) ? "| " : "");
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
	/* A gap ends a bucket, however short that is; one sample that is missing is no gap. */
	{ HERE, "12...345", 1, "1-2 | 3-4 5" },
	{ HERE, "1...2345", 1, "1 | 2-3 4-5" },
	{ HERE, "1...2345", 2, "1 | 2-5" },
	{ HERE, "1.2345", 1, "1-2 3-4 5" },
	/* Where all stand apart, buckets become fewer nevertheless. */
	{ HERE, "1..2..3..4", 0, "1 | 2 | 3 | 4" },
	{ HERE, "1..2..3..4", 1, "1-2 | 3-4" },
};

START_TEST(folding)
{
	const __typeof__(*folds) *row = &folds[_i];
	struct opk_track track = { .metrics = 1 };
	char found[256];

	add(&track, row->samples);
	for (int i = 0; i < row->folds; i++)
		ck_assert_int_eq(opk_track_fold(&track, ctx), OPK_OK);
	show(found, &track);
	ck_row(row, !strcmp(found, row->buckets), "%s: %s", row->samples, found);
	opk_track_clear(&track);
}
END_TEST

/* Samples that come after a fold go into buckets of the same length. */
START_TEST(later_samples_fill_folded_buckets)
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
END_TEST

/* A sample that spans a pause tells nothing, and the time that it took is a gap. */
START_TEST(pauses_are_gaps)
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
END_TEST

START_TEST(missing_values_are_counted)
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
END_TEST

/* Parts of recordings need not be in the order of time. */
START_TEST(buckets_are_ordered)
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
END_TEST

static const struct {
	struct here here;
	uint64_t start, end;
	double least[4], most[4];
} envelopes[] = {
	{ HERE, 0, 160, { 1, 3, 5, 7 }, { 2, 4, 6, 8 } },
	{ HERE, 0, 80, { 1, 2, 3, 4 }, { 1, 2, 3, 4 } },
	/* A part has all that it touches. */
	{ HERE, 10, 90, { 1, 2, 3, 4 }, { 2, 3, 4, 5 } },
	{ HERE, 0, 20, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } },
	{ HERE, 120, 200, { 7, 8, NAN, NAN }, { 7, 8, NAN, NAN } },
	{ HERE, 500, 600, { NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN } },
};

START_TEST(envelope)
{
	const __typeof__(*envelopes) *row = &envelopes[_i];
	struct opk_track track = { .metrics = 1 };
	double least[4], most[4];

	add(&track, "12345678");
	opk_track_envelope(least, most, 4, &track, 0, row->start, row->end);
	for (int i = 0; i < 4; i++)
		ck_row(row, same(least[i], row->least[i]) && same(most[i], row->most[i]),
		       "%d: %g-%g", i, least[i], most[i]);
	opk_track_clear(&track);
}
END_TEST

/* However many samples there are, there is room for them, and each spike stays. */
START_TEST(room_is_bounded_and_spikes_stay)
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
END_TEST

int main(void)
{
	Suite *suite = suite_create("series");
	TCase *tests = tcase_create("series");

	suite_add_tcase(suite, tests);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, folding, 0, COUNT(folds));
	tcase_add_test(tests, later_samples_fill_folded_buckets);
	tcase_add_test(tests, pauses_are_gaps);
	tcase_add_test(tests, missing_values_are_counted);
	tcase_add_test(tests, buckets_are_ordered);
	tcase_add_loop_test(tests, envelope, 0, COUNT(envelopes));
	tcase_add_test(tests, room_is_bounded_and_spikes_stay);
	return run_suite(suite);
}
