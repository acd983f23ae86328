/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_IMAGES_DOOR_H
#define OPK_IMAGES_DOOR_H

#include "base/ctx.h"
#include "container/door.h"
#include "eval/door.h"

struct opk_aggregate_options {
	size_t size;
	const char *key;
	bool keep_first_sample; /* that begins at an earlier event; left out by default */
	const struct opk_image_options *image;
	const char *level; /* as opk_sum() has it */
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
                  const char *by, const struct opk_image_options *options);
void opk_split_free(struct opk_split *split);
size_t opk_split_count(const struct opk_split *split);
const struct opk_piece *opk_split_get(const struct opk_split *split, size_t i);
/* Writes the parts, each to the path of its number. */
int opk_split_write(struct opk_ctx *ctx, struct opk_split *split, const char *const *paths);

#endif
