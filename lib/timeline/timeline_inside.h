/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/timeline alone: from what ran to rows. */
#ifndef OPK_TIMELINE_INSIDE_H
#define OPK_TIMELINE_INSIDE_H

#include "eval/eval.h"
#include "timeline/timeline.h"

/* A record of what ran on one GPU, and what it is counted as. */
struct opk_run_record {
	const struct opk_activity *activity;
	uint32_t gpu, kernel;
	uint32_t row; /* of the result */
};

/* What ran, by GPU and then by time; and the rows that it becomes, but for their values. */
struct opk_ran_rows {
	struct opk_run_record *records;
	size_t count;
	struct opk_grouping gpus;    /* of all records, then those that only have samples */
	struct opk_grouping kernels; /* by name and symbol; copies and sets by name */
	struct opk_made_rows made;   /* room for one more: idle time */
	bool each_launch;
	bool whole; /* no record is known to be missing */
};

/* OPK_EUSAGE where the file does not say what ran. rows.c */
int opk_ran_rows_init(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file,
                      bool each_launch);
void opk_ran_rows_clear(struct opk_ran_rows *rows);
/*
 * The number of a sample's GPU, also of one on which nothing ran; SIZE_MAX: it is not known, or
 * its records may be missing.
 */
int opk_ran_rows_gpu(size_t *gpu, struct opk_ran_rows *rows, struct opk_ctx *ctx,
                     const struct opk_range *range);
/* The records of a GPU: those from *first on; returns their number. */
size_t opk_ran_rows_of_gpu(size_t *first, const struct opk_ran_rows *rows, size_t gpu);
/*
 * Adds to the idle time, which is one row: it lasts as long as all pauses together. Those between
 * records are in it from the start.
 */
void opk_ran_rows_add_pause(struct opk_ran_rows *rows, uint64_t time);
/* When they ran, for opk_overlaps_init(); free(). NULL when out of memory. */
struct opk_stretch *opk_ran_stretches(const struct opk_run_record *records, size_t count);

/* Fills in the values of the rows, and the last row: idle time. attribute.c */
int opk_attribute(struct opk_ran_rows *rows, struct opk_evaluation **samples, struct opk_ctx *ctx,
                  struct opk_file *file, const struct opk_columns *columns,
                  const struct opk_eval_options *options);

#endif
