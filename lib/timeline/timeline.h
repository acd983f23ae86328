/* SPDX-License-Identifier: BSD-2-Clause */
/* When kernels ran: samples attributed to them, and how busy a GPU was. */
#ifndef OPK_TIMELINE_H
#define OPK_TIMELINE_H

#include "base/ctx.h"
#include "base/mem.h"

/* What ran on one device from `start` until before `end`, ns, for a row of the result. */
struct opk_stretch {
	uint64_t start, end;
	uint32_t row;
};

/* How long a row's stretches ran in a sample, and its share of the sample's time, both in ns. */
struct opk_overlap {
	uint32_t row;
	float time;  /* of all its stretches: more than the sample's where several ran at once */
	float share; /* time during which n stretches ran counts 1/n for each */
};

/* The samples of one device and what ran in them. overlap.c */
struct opk_overlaps {
	size_t sample_count;
	size_t *first; /* of each sample's items; one more than there are samples */
	struct opk_overlap *items;
	float *lengths, *idle; /* of each sample, ns */
	/* Time during which something ran, and during which several did; ns. */
	double busy, shared;
	double *shared_of; /* one a stretch: time during which others ran, too */
};

struct opk_sample_time {
	uint64_t start, end;
};

/*
 * Both are in the order of their starts; samples don't overlap. OPK_EINPUT where more stretches run
 * at once than any GPU runs.
 */
int opk_overlaps_init(struct opk_overlaps *out, struct opk_ctx *ctx,
                      const struct opk_stretch *stretches, size_t count,
                      const struct opk_sample_time *samples, size_t sample_count);
void opk_overlaps_clear(struct opk_overlaps *overlaps);

/*
 * How fast each kernel counts, from samples in which several ran: a weighted regression over how
 * long each ran in each sample. Where samples can't tell kernels apart, because they always run in
 * the same proportion, each has its share. estimate.c
 */
struct opk_estimator {
	const struct opk_overlaps *overlaps;
	const uint32_t *kernel_of; /* of each row, borrowed */
	size_t row_count;
	size_t kernel_count; /* idle time is one more */
	double *factor;      /* of the normal equations: lower, row by row */
	double *evidence;    /* of each kernel: as much as so many samples of it alone */
	double *rates, *residuals, *weights;
	size_t *inside; /* room for the kernels of a sample */
};

enum { OPK_MAX_ESTIMATED = 768 };

/* `kernel_of` has one a row, each less than `kernel_count`: OPK_MAX_ESTIMATED at most. */
int opk_estimator_init(struct opk_estimator *estimator, struct opk_ctx *ctx,
                       const struct opk_overlaps *overlaps, const uint32_t *kernel_of,
                       size_t row_count, size_t kernel_count);
void opk_estimator_clear(struct opk_estimator *estimator);

/* What came to a row: the sum of its parts of the samples, and how long it ran in these. */
struct opk_part {
	double amount, time;
};
/*
 * Divides `values`, one a sample and per ns, among what ran: adds to one part a row, and the last
 * for idle time. All of them together have what all samples have. NaN: the sample has none.
 */
void opk_estimator_divide(struct opk_part *parts, struct opk_estimator *estimator,
                          const double *values);
/*
 * For what neither adds up nor lasts, such as ratios of unknown counters: adds to `amount` the
 * values, weighted by how much of a sample's busy time the row had, squared, to `time` the weights.
 */
void opk_overlaps_mean(struct opk_part *parts, const struct opk_overlaps *overlaps,
                       size_t row_count, const double *values);
/* For what goes on whoever runs, as time does: each row has all of it while it runs. */
void opk_overlaps_whole(struct opk_part *parts, const struct opk_overlaps *overlaps,
                        size_t row_count, const double *values);

#endif
