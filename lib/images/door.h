/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_IMAGES_DOOR_H
#define OPK_IMAGES_DOOR_H

#include "base/ctx.h"
#include "base/mem.h"
#include "container/door.h"
#include "eval/door.h"

/* What stays of the modules in a recording. */
enum opk_code_kept {
	OPK_CODE_ALL,
	OPK_CODE_LINES, /* names and sizes of functions, and their lines */
	OPK_CODE_NONE
};
/*
 * Like opk_trim(), and removes code. OPK_EINPUT: a module is not a cubin, so that only
 * OPK_CODE_NONE removes it.
 */
int opk_trim_code(struct opk_ctx *ctx, struct opk_file *file, enum opk_code_kept kept,
                  const char *path);

/* A column's values over some ranges; NaN: undefined, or a range's value is NaN. */
struct opk_statistics {
	uint64_t count; /* ranges that have the value, even as NaN */
	/*
	 * The ranges' counters are summed before evaluation. `sum` is the total, if there is one;
	 * for X.max the total of the instance with the most over all ranges. `mean` is the total
	 * over the count, or the ratio, percentage or rate of all ranges together, which is not the
	 * mean of their ratios: see `weighted_by`.
	 */
	double sum, mean;
	/*
	 * Over the ranges' own values; percentiles are interpolated. NaN if a row is a sum of
	 * ranges, whose own values are not known.
	 */
	double min, max, p50, p90, p99;
	/*
	 * The weights of ranges in `mean`. NULL: all weigh the same, or their values are equal.
	 * "denominator": `mean` is the ratio of all ranges together, and each range weighs as its
	 * denominator. Else the ranges are from several GPUs, and numerator and denominator of the
	 * metric, or of one it is computed from, are not known: `mean` is over the GPUs' values,
	 * weighted by the metric named here, or by "count".
	 */
	const char *weighted_by;
	/*
	 * The standard deviation of the ranges' own values; and the interval in which the mean of
	 * many more such ranges is, with a probability of 95%. NaN: too few ranges, or, for the
	 * interval, they weigh differently.
	 */
	double std, mean_low, mean_high;
};

/* A key group: ranges that share a key, see opk_sum(). */
struct opk_aggregated {
	const char *name;                     /* "" if they have different names */
	struct opk_range range;               /* what they have in common; `count`: how many */
	bool many_streams;                    /* `range.stream` can't say that it is unknown */
	const struct opk_statistics *columns; /* one per column of the evaluation */
	size_t gpus;                          /* of the ranges */
	bool summed; /* some rows are sums of ranges, whose own values are not known */
};

struct opk_aggregate_options {
	size_t size;
	const char *key;
	bool keep_first_sample; /* which begins at an earlier event; default: left out */
	const char *level;      /* as for opk_sum() */
	/*
	 * Rows and their own values are of this evaluation, which has few columns. Columns that
	 * are not the same in both are only computed from sums, and their least, greatest and
	 * percentiles are NaN. NULL: the evaluation itself.
	 */
	struct opk_evaluation *own;
	/*
	 * Called for each column of `own` and key group with its ranges' values, in order: those
	 * in `count` of struct opk_statistics, each with the `index` of its row. Both arrays are
	 * valid only during the call. NaN if a row is a sum of ranges.
	 */
	void (*values)(void *data, size_t group, size_t column, const double *values,
	               const size_t *rows, size_t count);
	void *values_data;
	struct opk_value_sink *bake; /* takes the sums' values, of the images; or NULL */
};
/*
 * Statistics of an evaluation of `file`, from which no row was read yet; both must outlive the
 * result. Rows that the evaluation's filter refuses are left out. Key groups are in the order of
 * their first ranges. If each range has one pass, each metric is over the ranges of its passes; if
 * these passes have different numbers of ranges, its mean is the mean range's value, and it has no
 * sum. Derived metrics are computed from totals, or from means if their metrics have different
 * counts. Ranges of several GPUs share a group unless the key separates them; docs/formats.md says
 * how their values are combined. OPK_EUSAGE: `key` or `level` is not what opk_sum() takes, or the
 * filter judges values of ranges that have one pass each. OPK_EINPUT: the evaluation has other rows
 * than the file, or an image can't be read.
 */
struct opk_aggregate;
int opk_aggregate_new(struct opk_aggregate **out, struct opk_ctx *ctx,
                      struct opk_evaluation *evaluation, struct opk_file *file,
                      const struct opk_aggregate_options *options);
void opk_aggregate_free(struct opk_aggregate *aggregate);
OPK_DEFINE_AUTO(opk_aggregate)
size_t opk_aggregate_count(const struct opk_aggregate *aggregate);
const struct opk_aggregated *opk_aggregate_get(const struct opk_aggregate *aggregate, size_t i);
/* Whether counters could not be added up, so that all is of the ranges' own values. */
bool opk_aggregate_is_of_rows(const struct opk_aggregate *aggregate);
/* Samples that were left out because they begin at an earlier event. */
uint64_t opk_aggregate_left_out(const struct opk_aggregate *aggregate);

/* ---- how well a mean is known: precision.c ---- */

/* The number of values, their mean and the sum of their squared distances from it. From zeros. */
struct opk_moments {
	uint64_t count;
	double mean, squares;
};
void opk_moments_add(struct opk_moments *moments, double value);
void opk_moments_merge(struct opk_moments *moments, const struct opk_moments *other);
/* The deviation of single values, by count - 1; NaN for less than two. */
double opk_moments_deviation(const struct opk_moments *moments);
/* How far the mean of many more values may be from this one, by their deviation; NaN: unknown. */
double opk_mean_within(const struct opk_moments *moments, double level);

/* What the mean of a metric over some launches says of the mean of any number of launches. */
struct opk_precision {
	double spread; /* the standard deviation of a launch, in percent of the mean */
	/*
	 * The mean of many more launches is within so many percent, by Student's t, with the
	 * probability `level`.
	 */
	double half_width;
	/* With how many launches `half_width` is `within`, if they are spread as these. */
	uint64_t needed;
};
/*
 * `level` is a share such as 0.95, `within` is in percent. Unknown, so that percentages are NaN and
 * `needed` is 0: of one launch; of a mean that is 0 though values are not. Equal values are 0%
 * apart; two are too few to say so of other values than 0.
 */
void opk_precision_find(struct opk_precision *out, uint64_t count, double mean, double deviation,
                        double level, double within);

/* A part of a divided recording: ranges that share a key. */
struct opk_piece {
	const char *name;       /* "" if they have different names */
	struct opk_range range; /* what they have in common; what differs is as if unknown */
	bool many_streams;      /* `range.stream` can't say that it is unknown */
	uint64_t rows;          /* number of ranges or samples */
};

/* opk_split() in two steps, with names that the caller chooses. `file` must outlive it. */
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
