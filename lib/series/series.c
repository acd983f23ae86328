/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns evaluations into tracks, one per GPU and rank, in bounded memory. */
#include "series/series.h"

#include <math.h>
#include <string.h>

#include "container/container.h"
#include "eval/eval.h"

static bool is_of(const struct opk_track *track, const struct opk_range *range)
{
	return track->range.device == range->device && track->range.rank == range->rank
	       && opk_text_equals(track->range.gpu, range->gpu)
	       && opk_text_equals(track->range.host, range->host);
}

/* Finds a row's track, mostly the same as for the row before. */
static struct opk_track *find_track(struct opk_series *series, const struct opk_range *range)
{
	if (series->at < series->count && series->tracks[series->at].part == series->parts
	    && is_of(&series->tracks[series->at], range))
		return &series->tracks[series->at];
	for (series->at = 0; series->at < series->count; series->at++) {
		struct opk_track *track = &series->tracks[series->at];

		if (track->part == series->parts && is_of(track, range))
			return track;
	}
	return NULL;
}

static size_t room_of(const struct opk_series *series)
{
	return series->room ? series->room : OPK_SERIES_ROOM;
}

static int add_track(struct opk_track **out, struct opk_series *series, struct opk_ctx *ctx,
                     const struct opk_range *range, size_t metrics)
{
	enum { MOST_TRACKS = 4096 };
	struct opk_track *track;

	/* A track keeps at least one value per metric. */
	if (series->count >= MOST_TRACKS || (series->count + 1) * metrics > room_of(series))
		return opk_fail(ctx, OPK_EINPUT,
		                "the samples are of more than %zu GPUs or ranks, which are too "
		                "many to draw with %zu metrics",
		                series->count, metrics);
	track = opk_append(&series->tracks, &series->capacity, &series->count, sizeof *track);
	if (!track)
		return opk_nomem(ctx, "samples to draw");
	track->part = series->parts;
	track->metrics = metrics;
	track->range = (struct opk_range){ OPK_UNKNOWN_RANGE };
	track->range.host = range->host;
	track->range.gpu = range->gpu;
	track->range.device = range->device;
	track->range.rank = range->rank;
	*out = track;
	return OPK_OK;
}

/* ---- bounded memory --------------------------------------------------------------------- */

int opk_series_fold(struct opk_series *series, struct opk_ctx *ctx)
{
	size_t finest = SIZE_MAX;

	/* One bucket can't become fewer. */
	for (size_t i = 0; i < series->count; i++)
		if (series->tracks[i].count > 1 && series->tracks[i].fold < finest)
			finest = series->tracks[i].fold;
	for (size_t i = 0; i < series->count; i++) {
		if (series->tracks[i].count > 1 && series->tracks[i].fold == finest)
			TRY(opk_track_fold(&series->tracks[i], ctx));
	}
	return OPK_OK;
}

size_t opk_series_buckets(const struct opk_series *series)
{
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		count += series->tracks[i].count;
	return count;
}

static size_t size_of(const struct opk_series *series)
{
	size_t size = 0;

	for (size_t i = 0; i < series->count; i++)
		size += opk_track_size(&series->tracks[i]);
	return size;
}

/* The fold of single samples to pairs takes more memory; later folds take less. */
int opk_series_keep_room(struct opk_series *series, struct opk_ctx *ctx)
{
	size_t before = SIZE_MAX, count = opk_series_buckets(series);

	while (size_of(series) > room_of(series) && count < before) {
		TRY(opk_series_fold(series, ctx));
		before = count;
		count = opk_series_buckets(series);
	}
	return OPK_OK;
}

/* ---- reading ---------------------------------------------------------------------------- */

/* The kept columns of an evaluation. */
struct choice {
	struct opk_evaluation *evaluation;
	const size_t *columns; /* NULL: all */
	size_t count;
};

/* Keeps infinities as NaN, since an axis can't show them. */
static void choose(struct opk_series *series, const struct choice *choice)
{
	const double *values = opk_evaluation_values(choice->evaluation);

	for (size_t i = 0; i < choice->count; i++) {
		double value = values[choice->columns ? choice->columns[i] : i];

		series->kept[i] = isinf(value) ? (double)NAN : value;
	}
}

static int add_row(struct opk_series *series, struct opk_ctx *ctx, const struct choice *choice,
                   const struct opk_row *row)
{
	static const struct opk_range unknown = { OPK_UNKNOWN_RANGE };
	const struct opk_range *range = row->range ? row->range : &unknown;
	struct opk_track *track = find_track(series, range);

	if (!track)
		TRY(add_track(&track, series, ctx, range, choice->count));
	choose(series, choice);
	return opk_track_add(track, ctx, row->start_ns, row->end_ns, series->kept);
}

int opk_series_add(struct opk_series *series, struct opk_ctx *ctx,
                   struct opk_evaluation *evaluation, const size_t *columns, size_t count)
{
	enum { OFTEN = 4096 };
	size_t all = opk_evaluation_column_count(evaluation);
	struct choice choice = { evaluation, columns, columns ? count : all };
	const struct opk_row *row;
	uint64_t rows = 0;
	int code;

	free(series->kept);
	series->kept = opk_alloc_array(choice.count + 1, sizeof *series->kept);
	code = series->kept ? OPK_OK : opk_nomem(ctx, "samples to draw");
	opk_evaluation_rewind(evaluation);
	while (!code && !(code = opk_evaluation_next(&row, ctx, evaluation)) && row) {
		if (!row->spans_earlier)
			code = add_row(series, ctx, &choice, row);
		if (!code && ++rows % OFTEN == 0)
			code = opk_series_keep_room(series, ctx);
	}
	series->parts++;
	for (size_t i = 0; !code && i < series->count; i++)
		code = opk_track_order(&series->tracks[i], ctx);
	return code ? code : opk_series_keep_room(series, ctx);
}

void opk_series_clear(struct opk_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		opk_track_clear(&series->tracks[i]);
	free(series->tracks);
	free(series->kept);
	*series = (struct opk_series){ 0 };
}
