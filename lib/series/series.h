/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened over time, few enough to draw: PM samples and what ran. */
#ifndef OPK_SERIES_H
#define OPK_SERIES_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/mem.h"
#include "container/door.h"
#include "eval/door.h"

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
	uint64_t lengths[2]; /* of the two samples before, whatever became of them */
	bool unordered;
};

/* A sample that is so much longer than each of the two before it spans a pause. */
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
	double *columns; /* its values, and those that are kept */
	double *kept;
};
enum { OPK_SERIES_ROOM = 8 << 20 };

/*
 * Reads all rows of an evaluation of PM samples, and keeps these columns of it; NULL: all. Samples
 * that begin at an earlier event are left out, as in `eval`. The evaluated file must outlive the
 * series. Begin with zeros. series.c
 */
int opk_series_add(struct opk_series *series, struct opk_ctx *ctx,
                   struct opk_evaluation *evaluation, const size_t *columns, size_t count);
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

/*
 * What ran, and ranges of the program, as lanes: one a stream or thread, or several where records
 * of one overlap, as nested ranges do. Nothing in a lane overlaps: in the last one of a stream what
 * does is joined.
 */
struct opk_lane_item {
	uint64_t start, end;
	uint32_t name;    /* of the first record with this name and symbol: opk_lanes.names */
	uint32_t records; /* several: short ones close to each other, of which this is the first */
};
struct opk_lane {
	const struct opk_activity *of; /* its first record: which stream or thread, of what */
	size_t row;                    /* of the lanes of this stream or thread; 0: the first */
	OPK_LIST(struct opk_lane_item) items; /* in the order of their starts */
};
struct opk_lanes {
	OPK_LIST(struct opk_lane) lanes; /* by host, rank, process and GPU; ranges are first */
	OPK_LIST(const struct opk_activity *) names;
	uint64_t records;
	uint64_t start, end; /* of all of them */
	uint64_t untimed;    /* records that are left out */
};
enum { OPK_LANES_ROOM = 1 << 20, OPK_LANE_ROWS = 32 };

/*
 * Takes the records that have a time. They and their strings are borrowed. Beyond `room` items
 * (0: OPK_LANES_ROOM) records that follow each other closely are joined. lanes.c
 */
int opk_lanes_init(struct opk_lanes *lanes, struct opk_ctx *ctx,
                   const struct opk_activity *activities, size_t count, size_t room);
void opk_lanes_clear(struct opk_lanes *lanes);
#define opk_autolanes __attribute__((cleanup(opk_lanes_clear)))
bool opk_lane_is_range(const struct opk_lane *lane);
/*
 * The colour of what has this name, by its number among those of pictures: kernels take turns, in
 * the order in which they ran first.
 */
unsigned opk_lanes_colour(const struct opk_lanes *lanes, uint32_t name);

/* A GPU of a host, or a rank on it: where samples were taken and things ran. */
struct opk_series_place {
	const char *host, *gpu; /* borrowed */
	int32_t device;
	int32_t rank; /* -1: samples don't say it, and all that ran on the GPU is with them */
	size_t track; /* its samples; SIZE_MAX: there are none */
};
struct opk_series_places {
	struct opk_series_place *items;
	size_t count, capacity;
};

/*
 * The place of each track, then those where things ran without samples; one that is nowhere where
 * there are neither. Begin with zeros, free(items) at the end. places.c
 */
int opk_series_places(struct opk_series_places *places, struct opk_ctx *ctx,
                      const struct opk_series *series, const struct opk_lanes *lanes);
/*
 * Whether a lane belongs to a place: launches to the GPU that they ran on, ranges to the GPUs that
 * their process launched on, or to each GPU on which no launches were recorded.
 */
bool opk_series_place_shows(const struct opk_series_place *place, const struct opk_lanes *lanes,
                            const struct opk_lane *lane);

/* ---- chart.c ---- */

/* A metric of a GPU's samples: what lies between least and most, in each of equal parts of time. */
struct opk_chart_line {
	const char *name;           /* a metric, a label or a derived metric */
	const char *unit;           /* "" where it is not known */
	const double *least, *most; /* one a part; NaN: no sample there has a value */
	double lowest, highest;     /* of all samples; NaN: none has a value */
	uint64_t missing;           /* samples without a value */
};

/* A launch, a copy, a set or an NVTX range. */
struct opk_chart_bar {
	uint64_t start_ns, end_ns;
	const char *name;      /* of kernels as people call them */
	const char *full_name; /* as it was recorded */
	uint32_t records; /* several: short ones close to each other, of which this is the first */
	unsigned colour;  /* of opk_lanes_colour() */
};

/* Bars of a stream, or NVTX ranges of a thread, that do not overlap. */
struct opk_chart_lane {
	const char *title; /* "stream 7" */
	bool is_range;
	size_t row;                       /* of the lanes of this stream or thread, from 0 */
	const struct opk_chart_bar *bars; /* in the order of their starts */
	size_t bar_count;
};

/* A GPU of a host, or a rank on it. */
struct opk_chart_place {
	const char *title; /* "node7 GPU 0 rank 3"; "" where nothing is known */
	const char *host, *gpu;
	int32_t device, rank; /* -1 where unknown */
	uint64_t samples;
	const struct opk_chart_line *lines; /* none without samples */
	size_t line_count;
	const struct opk_chart_lane *lanes;
	size_t lane_count;
};

/* All of it, on the clock of struct opk_time. */
struct opk_chart {
	uint64_t start_ns, end_ns; /* of all samples; without any, of all that ran */
	size_t points;             /* into so many equal parts this time is divided */
	const struct opk_chart_place *places;
	size_t place_count;
};

/*
 * PM samples, and what ran, as few numbers as can be drawn: lines have so many points. Evaluates
 * the file, of which `eval` chooses metrics and samples; NULL: all. The file must outlive the
 * result.
 * OPK_EUSAGE: neither samples nor what ran was recorded.
 */
int opk_chart_new(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *eval, size_t points);
void opk_chart_free(struct opk_chart *chart);
OPK_DEFINE_AUTO(opk_chart)

/*
 * As bytes for a page: pack.c. Numbers have seven bits a byte, the lowest first, and the eighth
 * where more follow; signed ones are doubled, and less than 0 becomes odd.
 */

/* How 16 bits stand for a value: 0 is `lowest`, OPK_PACKED_HIGHEST is `highest`. */
struct opk_packing {
	double lowest, step, highest;
};
enum { OPK_PACKED_HIGHEST = 65534, OPK_PACKED_NAN = 65535 };
/* Whole numbers stay as they are where there is room. */
struct opk_packing opk_track_packing(const struct opk_track *track, size_t metric);
/*
 * The values of each metric, 2 bytes each: the least of all buckets, and then, where a bucket may
 * have several samples, the most. Then for each bucket its start, less the end of the one before or
 * `base`, and its length, less that of the one before or 0; both are signed.
 */
void opk_track_pack(struct opk_buf *out, const struct opk_track *track, uint64_t base);
/*
 * The starts, each less the one before, or `base`; the lengths; the names; how many records each
 * is, less 1.
 */
void opk_lane_pack(struct opk_buf *out, const struct opk_lane *lane, uint64_t base);

#endif
