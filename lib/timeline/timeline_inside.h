/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/timeline alone: from what ran to rows. */
#ifndef OPK_TIMELINE_INSIDE_H
#define OPK_TIMELINE_INSIDE_H

#include "eval/eval.h"
#include "timeline/timeline.h"

/* A record of what ran on a GPU, and the numbers that it counts for. */
struct opk_run_record {
	const struct opk_activity *activity;
	uint32_t gpu, kernel, unit;
	uint32_t row; /* of the result */
};

/* Records of what ran, by GPU and then by time, and their rows, still without values. */
struct opk_ran_rows {
	struct opk_run_record *records;
	size_t count;
	struct opk_grouping gpus; /* of records, then GPUs that only have samples */
	/* By name and symbol, copies and sets by name; and by what the options say. */
	struct opk_grouping kernels;
	struct opk_grouping units; /* kernels that differ in shape are apart */
	struct opk_made_rows made; /* with room for one more row: idle time */
	struct opk_texts nvtx;     /* which ranges name; made.texts takes its list */
	bool each_launch;
	bool whole; /* no record is known to be missing */
};

/*
 * `values`: the rows will get values of samples. OPK_EUSAGE: the file does not record what ran, or
 * `by` of the options is wrong. rows.c
 */
int opk_ran_rows_init(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, bool each_launch, bool values);
void opk_ran_rows_clear(struct opk_ran_rows *rows);
/*
 * The number of a sample's GPU, even if nothing ran on it; SIZE_MAX: the GPU is not known, or its
 * records may be missing.
 */
int opk_ran_rows_gpu(size_t *gpu, struct opk_ran_rows *rows, struct opk_ctx *ctx,
                     const struct opk_range *range);
/* Finds the records of a GPU, which begin at *first; returns their number. */
size_t opk_ran_rows_of_gpu(size_t *first, const struct opk_ran_rows *rows, size_t gpu);
/*
 * Adds a pause to the row of idle time, which lasts as long as all pauses together. It already has
 * the pauses between records.
 */
void opk_ran_rows_add_pause(struct opk_ran_rows *rows, uint64_t time);
/* The times of records, for opk_overlaps_init(); free(). NULL when out of memory. */
struct opk_stretch *opk_ran_stretches(const struct opk_run_record *records, size_t count);

/* A sample, and its row in the evaluation. */
struct opk_sample {
	struct opk_sample_time time; /* without time that an earlier sample covers */
	uint64_t length;             /* ns in which its values were counted */
	uint32_t gpu;                /* UINT32_MAX: not known */
	uint32_t row;
};
/* Orders samples by GPU and time, and leaves out some. samples.c */
int opk_samples_order(struct opk_sample *samples, size_t *count, struct opk_ctx *ctx);

/* How values of a metric are combined: docs/formats.md. kinds.c */
enum opk_kind {
	OPK_ADDS,     /* a count: divided among what ran */
	OPK_ELAPSES,  /* time itself, or its cycles: all that ran at once get all of it */
	OPK_CLOCK,    /* cycles of a clock per time: independent of what runs */
	OPK_LASTS,    /* per time, or in percent of the peak: divided, then over time */
	OPK_DIVIDED,  /* a ratio of known counts, which add up */
	OPK_MEAN,     /* any other: samples of a kernel alone weigh most */
	OPK_CONSTANT, /* an attribute: no sample has it */
};
enum opk_kind opk_kind_of(const char *metric);

/* Adds to rows what is known of the calls that launched them. calls.c */
int opk_ran_rows_add_calls(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file);

/*
 * Makes rows of launches that are filled in when they are read. If the file has calls of the
 * program, which rows would have to be joined with, made->count stays 0. launches.c
 */
int opk_launches_make(struct opk_made_rows *made, struct opk_ctx *ctx, struct opk_file *file);
int opk_fail_no_launches(struct opk_ctx *ctx, const struct opk_file *file);

/* Fills in the values of the rows and of idle time, the last row. attribute.c */
int opk_attribute(struct opk_ran_rows *rows, struct opk_evaluation **samples, struct opk_ctx *ctx,
                  struct opk_file *file, const struct opk_columns *columns,
                  const struct opk_eval_options *options);

#endif
