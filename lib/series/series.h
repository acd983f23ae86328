/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of PM samples over time: few enough to be drawn, and nothing averaged away. */
#ifndef OPK_SERIES_H
#define OPK_SERIES_H

#include "base/ctx.h"
#include "base/mem.h"

/*
 * The samples of one GPU, or of one rank on it, in the order of time. A bucket is one sample or,
 * where there are too many, the least and the most of `fold` samples in a row; fewer before a gap.
 */
struct opk_track {
	struct opk_range
		range;  /* host, gpu, device and rank of its samples; strings are borrowed */
	size_t part;    /* so many evaluations were added before that of its samples */
	size_t metrics; /* columns of the evaluation */
	size_t count, capacity;    /* of buckets */
	size_t fold;               /* samples of a bucket at most */
	size_t in_last;            /* samples of the last bucket */
	uint64_t *starts, *ends;   /* of each bucket, ns */
	double *least;             /* one a metric for each bucket; NaN: no sample has a value */
	double *most;              /* in the same way; NULL where each bucket is one sample */
	double *lowest, *highest;  /* one a metric, of all samples; NaN: none has a value */
	uint64_t *missing;         /* one a metric: samples without a value */
	uint64_t samples, time_ns; /* of all buckets */
	/* Left out: each spans a time in which sampling stood still. */
	uint64_t pauses;
	bool unordered;
};

/* A sample that is so much longer than others spans a pause. */
enum { OPK_SERIES_PAUSE = 10 };

/*
 * Samples of some evaluations as tracks. It holds `room` values at most, however many are added:
 * beyond that the finest tracks are folded, two buckets to one.
 */
struct opk_series {
	size_t room;  /* 0: OPK_SERIES_ROOM */
	size_t parts; /* evaluations that were added */
	struct opk_track *tracks;
	size_t count, capacity;
	size_t at;       /* the track of the row at hand */
	double *columns; /* its values */
};
enum { OPK_SERIES_ROOM = 8 << 20 };

/*
 * Reads all rows of an evaluation of PM samples, of which none was read before, and keeps what it
 * shows. Samples that begin at an earlier event are left out, as in `eval`. The evaluated file must
 * outlive the series. Begin with zeros. series.c
 */
int opk_series_add(struct opk_series *series, struct opk_ctx *ctx,
                   struct opk_evaluation *evaluation);
/* Folds until its tracks have no more than `room` values. */
int opk_series_keep_room(struct opk_series *series, struct opk_ctx *ctx);
/* Folds the finest tracks once. */
int opk_series_fold(struct opk_series *series, struct opk_ctx *ctx);
void opk_series_clear(struct opk_series *series);
#define opk_autoseries __attribute__((cleanup(opk_series_clear)))

/* One sample more, with a value a metric. track.c */
int opk_track_add(struct opk_track *track, struct opk_ctx *ctx, uint64_t start, uint64_t end,
                  const double *values);
/* Twice as many samples a bucket. */
int opk_track_fold(struct opk_track *track, struct opk_ctx *ctx);
/* The values that it holds. */
size_t opk_track_size(const struct opk_track *track);
/* Puts buckets in the order of time, where they are not. */
int opk_track_order(struct opk_track *track, struct opk_ctx *ctx);
/* Whether for longer than a sample takes nothing was measured between a bucket and the last. */
bool opk_track_gap(const struct opk_track *track, size_t bucket);
void opk_track_clear(struct opk_track *track);

/*
 * The envelope of a metric: for `columns` equal parts of the time from `start` until before `end`
 * the least and the most of all buckets that touch each; NaN where there is no value.
 */
void opk_track_envelope(double *least, double *most, size_t columns, const struct opk_track *track,
                        size_t metric, uint64_t start, uint64_t end);

#endif
