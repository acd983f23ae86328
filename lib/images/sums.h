/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ranges are summed, and into which images: for merged recordings and for statistics. */
#ifndef OPK_SUMS_H
#define OPK_SUMS_H

#include "eval/grouping.h"
#include "images/recombine.h"

/* A range to be made: the sum of those of one group that have the same metrics. */
struct opk_summed {
	size_t group;           /* of opk_sums.groups */
	uint32_t metrics_group; /* whose metrics it has; 0: the whole set's */
	size_t first;           /* its first row */
	uint64_t layout;        /* of all its rows */
	size_t place;           /* among the sums, in the order of the images */
	size_t target, slot;
};

struct opk_sums {
	const struct opk_survey *survey;
	struct opk_grouping groups; /* by the key, and always by device, too */
	struct opk_grouping parts;  /* the same by metrics besides: one a sum */
	struct opk_summed *sums;
	size_t count;
	size_t *group_of;           /* one a row; SIZE_MAX: left out */
	size_t *sum_of;             /* the same */
	size_t *order;              /* the sums, image by image and slot by slot */
	struct opk_strlist numbers; /* of their groups, in that order: the names of the slots */
	struct opk_target *targets;
	size_t target_count;
	struct opk_move *moves; /* one a row that is not left out */
};

/*
 * `key` is one of opk_key_parse(); `left_out`, which may be NULL, has one a row. Borrows the
 * survey. OPK_EUSAGE where ranges of one group can't be summed, for they were counted on GPUs of
 * different layout, or other counters.
 */
int opk_sums_init(struct opk_sums *out, struct opk_ctx *ctx, const struct opk_survey *survey,
                  unsigned key, const bool *left_out);
void opk_sums_clear(struct opk_sums *sums);

#endif
