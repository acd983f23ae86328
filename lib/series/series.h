/* SPDX-License-Identifier: BSD-2-Clause */
/* PM samples and what ran over time, reduced to a number that can be drawn. */
#ifndef OPK_SERIES_H
#define OPK_SERIES_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/mem.h"
#include "container/door.h"
#include "eval/door.h"

/*
 * The samples of one GPU, or of one rank on it, in the order of time. A bucket is one sample or, if
 * there are too many, the least, the most and the mean of `fold` consecutive samples; fewer before
 * a gap.
 */
struct opk_track {
	struct opk_range
		range;  /* host, gpu, device and rank of its samples; strings are borrowed */
	size_t part;    /* how many evaluations were added before that of its samples */
	size_t metrics; /* columns of the evaluation */
	size_t count, capacity;    /* of buckets */
	size_t fold;               /* the most samples of a bucket */
	size_t in_last;            /* samples of the last bucket */
	uint64_t *starts, *ends;   /* of each bucket, ns */
	double *least;             /* per bucket, one per metric; NaN: no sample has a value */
	double *most;              /* likewise; NULL if each bucket is one sample */
	double *mean;              /* likewise: over time */
	float *known;              /* likewise: ns of its samples that have a value */
	double *lowest, *highest;  /* one per metric, of all samples; NaN: none has a value */
	uint64_t *missing;         /* one per metric: samples without a value */
	uint64_t samples, time_ns; /* of all buckets */
	/* Samples left out because sampling stood still in them. */
	uint64_t pauses;
	uint64_t lengths[2]; /* of the two samples before, even if left out */
	bool unordered;
};

/* A sample this many times as long as each of the two before it spans a pause. */
enum { OPK_SERIES_PAUSE = 10 };

/*
 * Samples of evaluations as tracks. It holds at most `room` values (besides them, `known` takes a
 * sixth of their memory): to stay below, it folds the finest tracks, two buckets to one.
 */
struct opk_series {
	size_t room;  /* 0: OPK_SERIES_ROOM */
	size_t parts; /* evaluations added */
	struct opk_track *tracks;
	size_t count, capacity;
	size_t at;    /* the track of the current row */
	double *kept; /* values of that row */
};
enum { OPK_SERIES_ROOM = 8 << 20 };

/*
 * Reads all rows of an evaluation of PM samples, and keeps the given columns; NULL: all. It leaves
 * out samples that begin at an earlier event, as `eval` does. The evaluated file must outlive the
 * series. Begin with zeros. OPK_EINPUT: there are more than 4096 tracks, or `room` is less than one
 * value per track and metric. series.c
 */
int opk_series_add(struct opk_series *series, struct opk_ctx *ctx,
                   struct opk_evaluation *evaluation, const size_t *columns, size_t count);
/* Folds until the tracks have at most `room` values, or buckets do not become fewer. */
int opk_series_keep_room(struct opk_series *series, struct opk_ctx *ctx);
/* Folds the finest tracks once. */
int opk_series_fold(struct opk_series *series, struct opk_ctx *ctx);
size_t opk_series_buckets(const struct opk_series *series);
void opk_series_clear(struct opk_series *series);

/* Adds a sample, with a value per metric. If it ends before it starts, its length is 0. track.c */
int opk_track_add(struct opk_track *track, struct opk_ctx *ctx, uint64_t start, uint64_t end,
                  const double *values);
/* Doubles the samples per bucket. */
int opk_track_fold(struct opk_track *track, struct opk_ctx *ctx);
/* The number of values that it holds. */
size_t opk_track_size(const struct opk_track *track);
/* Sorts buckets by time if they are not in order. */
int opk_track_order(struct opk_track *track, struct opk_ctx *ctx);
void opk_track_clear(struct opk_track *track);

/*
 * The envelope of a metric: divides the time from `start` until before `end` into `columns` equal
 * parts. `values`: of each part the least of all buckets that touch it, then of each the most, then
 * of each the mean over its time; NaN: no value.
 */
int opk_track_envelope(double *values, struct opk_ctx *ctx, size_t columns,
                       const struct opk_track *track, size_t metric, uint64_t start, uint64_t end);

/*
 * What ran, and ranges of the program, as lanes: one per stream or thread, or several if its
 * records overlap, as nested ranges do. Items of a lane do not overlap: the last lane of a stream
 * joins those that would.
 */
struct opk_lane_item {
	uint64_t start, end;
	uint32_t name;    /* in opk_lanes.names: the first record with this name and symbol */
	uint32_t shape;   /* in opk_lanes.shapes; OPK_LANES_NO_SHAPE: none is known */
	uint32_t records; /* above 1: short ones close to each other, named for the first */
};
struct opk_lane {
	const struct opk_activity *of;        /* its first record, which has the stream or thread */
	size_t row;                           /* among the lanes of this stream or thread, from 0 */
	OPK_LIST(struct opk_lane_item) items; /* in the order of their starts */
};
enum {
	OPK_LANES_ROOM = 1 << 20,
	OPK_LANE_ROWS = 32,
	OPK_LANES_SHAPES = 10000,
	OPK_LANES_COLOURS = 5,
	OPK_LANES_OTHER = 7 /* the colour of what has no separate one */
};
#define OPK_LANES_NO_SHAPE UINT32_MAX
struct opk_lanes {
	OPK_LIST(struct opk_lane) lanes; /* by host, rank, process and GPU; ranges are first */
	OPK_LIST(const struct opk_activity *) names; /* of items, and of `colours` */
	/* Launches that differ in grid, block, registers or shared memory: the first of each. */
	OPK_LIST(const struct opk_activity *) shapes;
	uint32_t colours[OPK_LANES_COLOURS]; /* names of the kernels that took most time */
	size_t coloured;                     /* the number of these */
	uint64_t records;
	uint64_t start, end; /* of all records */
	uint64_t untimed;    /* records left out */
};

/*
 * Takes the records that have a time; they and their strings are borrowed. Beyond `room` items (0:
 * OPK_LANES_ROOM) it joins records that follow each other closely. lanes.c
 */
int opk_lanes_init(struct opk_lanes *lanes, struct opk_ctx *ctx,
                   const struct opk_activity *activities, size_t count, size_t room);
void opk_lanes_clear(struct opk_lanes *lanes);
#define opk_autolanes __attribute__((cleanup(opk_lanes_clear)))
bool opk_lane_is_range(const struct opk_lane *lane);
/*
 * The number of a name's colour among the colours of pictures. The kernels that took most time have
 * a colour each, the others share one.
 */
unsigned opk_lanes_colour(const struct opk_lanes *lanes, uint32_t name);

/* A GPU of a host, or a rank on it, which was sampled or on which something ran. */
struct opk_series_place {
	const char *host, *gpu; /* borrowed */
	int32_t device;
	int32_t rank;  /* -1: samples have no rank, and all that ran on the GPU belongs here */
	size_t track;  /* its samples; SIZE_MAX: none */
	size_t before; /* a place in opk_series_places.last that this one has replaced */
};
/* The lanes of a process, by their numbers: those of ranges until `ran`, then of what ran. */
struct opk_series_process {
	size_t first, ran, end;
};
enum { OPK_SERIES_DEVICES = 1024 };
struct opk_series_places {
	struct opk_series_place *items;
	size_t count, capacity;
	size_t last[OPK_SERIES_DEVICES]; /* by device: the number of the last place, plus 1 */
	bool several_hosts;
	OPK_LIST(struct opk_series_process) processes;
};

/*
 * Lists the place of each track, then places where things ran without samples; without both, one
 * place without facts. Begin with zeros. places.c
 */
int opk_series_places(struct opk_series_places *places, struct opk_ctx *ctx,
                      const struct opk_series *series, const struct opk_lanes *lanes);
void opk_series_places_clear(struct opk_series_places *places);
/* Numbers of lanes, ascending. */
struct opk_place_lanes {
	size_t *items;
	size_t count;
};
/*
 * Lists the lanes of a place. Launches belong to their GPU; ranges to the GPUs that their process
 * launched on, and to each GPU without recorded launches.
 */
int opk_series_place_lanes(struct opk_place_lanes *out, struct opk_ctx *ctx,
                           const struct opk_series_places *places,
                           const struct opk_series_place *place, const struct opk_lanes *lanes);
void opk_place_lanes_clear(struct opk_place_lanes *lanes);
#define opk_autoplacelanes __attribute__((cleanup(opk_place_lanes_clear)))
/*
 * "rank 3, node7, GPU 0": the rank if all that ran there had one, the host if there are several.
 * `shown` are the place's lanes. free(); NULL: out of memory.
 */
char *opk_series_place_title(const struct opk_series_places *places,
                             const struct opk_series_place *place, const struct opk_lanes *lanes,
                             const struct opk_place_lanes *shown);

/* ---- chart.c ---- */

/* A metric of a GPU's samples: its least, most and mean in each of equal parts of time. */
struct opk_chart_line {
	const char *name;                  /* a metric, a label or a derived metric */
	const char *unit;                  /* "": not known */
	const double *least, *most, *mean; /* one per part; NaN: no sample there has a value */
	double lowest, highest;            /* of all samples; NaN: none has a value */
	uint64_t missing;                  /* samples without a value */
};

/* A launch, a copy, a set or an NVTX range. */
struct opk_chart_bar {
	uint64_t start_ns, end_ns;
	const char *name;      /* of kernels: the short name */
	const char *full_name; /* as it was recorded */
	uint32_t records;      /* above 1: short ones close to each other, named for the first */
	unsigned colour;       /* of opk_lanes_colour() */
};

/* A kernel that has a colour. */
struct opk_chart_key {
	const char *name; /* short */
	unsigned colour;
};

/* Bars of a stream, or NVTX ranges of a thread, that do not overlap. */
struct opk_chart_lane {
	const char *title; /* "stream 7" */
	bool is_range;
	size_t row;                       /* among the lanes of this stream or thread, from 0 */
	const struct opk_chart_bar *bars; /* in the order of their starts */
	size_t bar_count;
};

/* A GPU of a host, or a rank on it. */
struct opk_chart_place {
	const char *title; /* of opk_series_place_title() */
	const char *host, *gpu;
	int32_t device, rank; /* -1 where unknown */
	uint64_t samples;
	const struct opk_chart_line *lines; /* empty without samples */
	size_t line_count;
	const struct opk_chart_lane *lanes;
	size_t lane_count;
};

/* A chart, with times on the clock of struct opk_time. */
struct opk_chart {
	uint64_t start_ns, end_ns;            /* of all samples; without any, of all that ran */
	size_t points;                        /* the number of equal parts of this time */
	const struct opk_chart_place *places; /* the first ones */
	size_t place_count, all_places;
	struct opk_chart_key keys[OPK_LANES_COLOURS]; /* by time */
	size_t key_count;
	bool others; /* something ran that has no separate colour */
};

/*
 * Reduces PM samples and what ran to numbers for a drawing: of at most `places` places, with
 * `points` points per line. Evaluates the file; `eval` chooses metrics and samples; NULL: all. The
 * file must outlive the result. OPK_EUSAGE: the file has neither samples nor records of what ran
 * with their times, or no samples of which metrics could be chosen.
 */
int opk_chart_new(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *eval, size_t points, size_t places);
void opk_chart_free(struct opk_chart *chart);
OPK_DEFINE_AUTO(opk_chart)

/*
 * Packs data as bytes for a page: pack.c. Numbers have seven bits per byte, the lowest first; the
 * eighth bit says that more follow. Signed numbers are doubled, and negative ones become odd.
 */

/* How 16 bits encode a value: 0 is `lowest`, OPK_PACKED_HIGHEST is `highest`. */
struct opk_packing {
	double lowest, step, highest;
};
enum { OPK_PACKED_HIGHEST = 65534, OPK_PACKED_NAN = 65535 };
/* Whole numbers stay exact if 16 bits are enough. */
struct opk_packing opk_track_packing(const struct opk_track *track, size_t metric);
/*
 * Appends the values of each metric, 2 bytes each: the least of all buckets, then, if buckets may
 * have several samples, the most and the mean. Then for each bucket its start minus the end of the
 * one before (or `base`), and its length minus the length of the one before (or 0); both signed.
 */
void opk_track_pack(struct opk_buf *out, const struct opk_track *track, uint64_t base);
/*
 * Appends the starts, each minus the one before (or `base`); the lengths; the names; the shapes,
 * plus 1, or 0; the numbers of records, minus 1.
 */
void opk_lane_pack(struct opk_buf *out, const struct opk_lane *lane, uint64_t base);

#endif
