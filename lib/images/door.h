/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_IMAGES_DOOR_H
#define OPK_IMAGES_DOOR_H

#include "base/ctx.h"

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
int opk_aggregate_new(struct opk_aggregate **out, struct opk_ctx *ctx,
                      struct opk_evaluation *evaluation, struct opk_file *file,
                      const struct opk_aggregate_options *options);
void opk_aggregate_free(struct opk_aggregate *aggregate);
size_t opk_aggregate_count(const struct opk_aggregate *aggregate);
const struct opk_aggregated *opk_aggregate_get(const struct opk_aggregate *aggregate, size_t i);
/* Samples that were left out because they begin at an earlier event. */
uint64_t opk_aggregate_left_out(const struct opk_aggregate *aggregate);

#endif
