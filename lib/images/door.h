/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_IMAGES_DOOR_H
#define OPK_IMAGES_DOOR_H

#include "base/ctx.h"
#include "base/mem.h"
#include "container/door.h"
#include "eval/door.h"

/* A column's values over some ranges; NaN where there is no such number, or one of them is NaN. */
struct opk_statistics {
	uint64_t count; /* ranges that have it, also those where it is NaN */
	/*
	 * The ranges' counters are summed before they are evaluated: `sum` is the total, where
	 * there is one, and of X.max that of the one instance with the most in all of them; `mean`
	 * is that over the count, or the ratio, percentage or rate of all ranges together, which
	 * is not the mean of their ratios: `weighted_by` says so.
	 */
	double sum, mean;
	/*
	 * These are over the ranges' own values; percentiles are interpolated. NaN where a row is a
	 * sum of ranges, whose own values are not known.
	 */
	double min, max, p50, p90, p99;
	/*
	 * What ranges weigh in `mean`. NULL: all the same, or their values are equal. "denominator":
	 * `mean` is the ratio of all ranges together, and each weighs as much as its denominator.
	 * Else the ranges are of several GPUs, the metric's numerator and denominator, or those of
	 * one that it is computed of, are not known, and `mean` is that of the GPUs' values,
	 * weighted by this metric, or by "count".
	 */
	const char *weighted_by;
};

/* A key group: ranges that share a key, see opk_sum(). */
struct opk_aggregated {
	const char *name;                     /* "" where they have different ones */
	struct opk_range range;               /* what they have in common; `count` of them */
	bool many_streams;                    /* `range.stream` can't say that it is unknown */
	const struct opk_statistics *columns; /* one a column of the evaluation */
	size_t gpus;                          /* that the ranges are of */
	bool summed; /* some of its rows are sums of ranges, whose own values are not known */
};

struct opk_aggregate_options {
	size_t size;
	const char *key;
	bool keep_first_sample; /* that begins at an earlier event; left out by default */
	const char *level;      /* as opk_sum() has it */
	/*
	 * Called for each column and key group with its ranges' own values, in their order: those
	 * that `count` of struct opk_statistics counts, and the `index` of the row that each is of.
	 * Both are gone afterwards. NaN where a row is a sum of ranges.
	 */
	void (*values)(void *data, size_t group, size_t column, const double *values,
	               const size_t *rows, size_t count);
	void *values_data;
};
/*
 * Statistics of an evaluation of `file`, from which no row was read before; both must outlive the
 * result. They are without rows that the evaluation's filter refuses. Key groups are in the order
 * in which the first range of each appeared. Where each range has one pass, each metric is over the
 * ranges of its passes; where these have different numbers of ranges, its mean is that of the mean
 * range, and it has no sum. Derived metrics are computed of totals, or of means where the metrics
 * in them have different counts. Ranges of several GPUs are in one group unless the key says
 * otherwise, and their values are put together as docs/formats.md says. OPK_EUSAGE: `key` or
 * `level` is not what opk_sum() takes, or the filter judges values of ranges that have one pass
 * each. OPK_EINPUT: the file was evaluated otherwise, or an image can't be read.
 */
struct opk_aggregate;
int opk_aggregate_new(struct opk_aggregate **out, struct opk_ctx *ctx,
                      struct opk_evaluation *evaluation, struct opk_file *file,
                      const struct opk_aggregate_options *options);
void opk_aggregate_free(struct opk_aggregate *aggregate);
OPK_DEFINE_AUTO(opk_aggregate)
size_t opk_aggregate_count(const struct opk_aggregate *aggregate);
const struct opk_aggregated *opk_aggregate_get(const struct opk_aggregate *aggregate, size_t i);
/* Samples that were left out because they begin at an earlier event. */
uint64_t opk_aggregate_left_out(const struct opk_aggregate *aggregate);

/* A part of a divided recording: ranges that share a key. */
struct opk_piece {
	const char *name;       /* "" where they have different ones */
	struct opk_range range; /* what they have in common; what they differ in is as unknown */
	bool many_streams;      /* `range.stream` can't say that it is unknown */
	uint64_t rows;          /* so many ranges or samples */
};

/* What opk_split() does, in two steps, with names that the caller chooses. `file` outlives it. */
struct opk_split;
int opk_split_new(struct opk_split **out, struct opk_ctx *ctx, struct opk_file *file,
                  const char *by);
void opk_split_free(struct opk_split *split);
OPK_DEFINE_AUTO(opk_split)
size_t opk_split_count(const struct opk_split *split);
const struct opk_piece *opk_split_get(const struct opk_split *split, size_t i);
/* Writes the parts, each to the path of its number. */
int opk_split_write(struct opk_ctx *ctx, struct opk_split *split, const char *const *paths);

#endif
