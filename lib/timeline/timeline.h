/* SPDX-License-Identifier: BSD-2-Clause */
/* When kernels ran: attributes samples to them, and finds how busy a GPU was. */
#ifndef OPK_TIMELINE_H
#define OPK_TIMELINE_H

#include "base/ctx.h"
#include "base/mem.h"

/* A time, from `start` until before `end`, ns, in which a row of the result ran on a device. */
struct opk_stretch {
	uint64_t start, end;
	uint32_t row;
};

/* How long a row's stretches ran in a sample, and its share of the sample's time, both in ns. */
struct opk_overlap {
	uint32_t row;
	float time;  /* of all its stretches: longer than the sample if several ran at once */
	float share; /* of time in which n stretches ran, each gets 1/n */
};

/* The most kernels that a GPU runs at once: 128 by NVIDIA's documentation, with some reserve. */
enum { OPK_MOST_AT_ONCE = 1024 };
/* OPK_EINPUT. */
int opk_fail_at_once(struct opk_ctx *ctx);

/* The samples of one device and what ran in them. overlap.c */
struct opk_overlaps {
	size_t sample_count;
	size_t *first; /* the first item of each sample, then the end of the items */
	struct opk_overlap *items;
	float *lengths, *idle; /* per sample, ns */
	/* Time in which something ran, and in which several things ran; ns. */
	double busy, shared;
	double *shared_of; /* one per stretch: time in which others ran, too */
};

struct opk_sample_time {
	uint64_t start, end;
};

/*
 * Stretches and samples are in the order of their starts; samples don't overlap. OPK_EINPUT: more
 * stretches run at once than a GPU can run.
 */
int opk_overlaps_init(struct opk_overlaps *out, struct opk_ctx *ctx,
                      const struct opk_stretch *stretches, size_t count,
                      const struct opk_sample_time *samples, size_t sample_count);
void opk_overlaps_clear(struct opk_overlaps *overlaps);

/*
 * Estimates how fast each kernel counts from samples in which several ran, by a weighted regression
 * over how long each ran in each sample. If kernels always run in the same proportion, samples
 * can't tell them apart, and each gets its share. estimate.c
 */
struct opk_estimator {
	const struct opk_overlaps *overlaps;
	const uint32_t *kernel_of; /* one per row, borrowed */
	size_t row_count;
	size_t kernel_count; /* without idle time */
	double *factor;      /* of the normal equations: lower, row by row */
	double *evidence;    /* per kernel: equals this many samples of it alone */
	double *rates, *weights;
	double *scratch; /* room for one number per kernel */
	size_t *inside;  /* room for the kernels of a sample */
};

enum { OPK_MAX_ESTIMATED = 768 };

/* `kernel_of`: one per row, each below `kernel_count`, which is at most OPK_MAX_ESTIMATED. */
int opk_estimator_init(struct opk_estimator *estimator, struct opk_ctx *ctx,
                       const struct opk_overlaps *overlaps, const uint32_t *kernel_of,
                       size_t row_count, size_t kernel_count);
void opk_estimator_clear(struct opk_estimator *estimator);

/*
 * Factorises a symmetric matrix, of which the lower part is given (Cholesky), and solves a linear
 * system by the factor. `least` > 0: smaller pivots, which rounding may leave, count as this.
 */
void opk_factorise(double *a, size_t n, double least);
void opk_solve(double *x, const double *factor, size_t n);

/* A row's part: the sum of its parts of the samples, and how long it ran in these. */
struct opk_part {
	double amount, time;
};
/*
 * Divides `values`, one per sample and per ns, among one part per row and a last one for idle time.
 * The parts add up to the total of all samples. NaN: the sample has no value.
 */
void opk_estimator_divide(struct opk_part *parts, struct opk_estimator *estimator,
                          const double *values);
/*
 * For metrics that neither add up nor last, such as ratios of unknown counters: adds weighted
 * values to `amount`, weights to `time`. A weight is the squared share of a sample's busy time.
 */
void opk_overlaps_mean(struct opk_part *parts, const struct opk_overlaps *overlaps,
                       size_t row_count, const double *values);
/* For metrics that don't depend on what runs, such as time: a row gets all while it runs. */
void opk_overlaps_whole(struct opk_part *parts, const struct opk_overlaps *overlaps,
                        size_t row_count, const double *values);

#endif
