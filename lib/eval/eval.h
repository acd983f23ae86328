/* SPDX-License-Identifier: BSD-2-Clause */
/* What the child that evaluates and the parent that reads share: eval_child.c, eval.c. */
#ifndef OPK_EVAL_H
#define OPK_EVAL_H

#include "base/strlist.h"
#include "child/contain.h"

/* Everything that a child is to evaluate, from an .opk file or a bare image. */
struct opk_eval_job {
	const struct opk_file *file;        /* NULL: a bare image */
	const struct opk_meta *meta;        /* of the file */
	const struct opk_segment *segments; /* of the file */
	const bool *unwanted;               /* one a segment: the filter refuses all its rows */
	/* Rows that it is sure to refuse need not be evaluated; or NULL. */
	const struct opk_filter *filter;
	/* The file's segments from `first` on, before `end`. */
	size_t first, end;
	const void *image;
	size_t image_size;
	const char *chip; /* NULL: read from the image */
	bool has_profiler;
	enum opk_profiler profiler;
	int64_t gpu_time_shift;
	const char *const *metrics;
	size_t metric_count;
	bool names_known; /* the metrics are known to be the chip's */
	bool plain;       /* CUPTI's call alone, though PerfWorks may be faster */
};

/* The result: a header, a unit for each metric, rows with their names and values, a trailer. */
struct opk_spool_header {
	char chip[32];
	int32_t profiler;
};
struct opk_spool_row {
	uint64_t dropped;      /* rows before it that the filter refused */
	uint64_t segment, row; /* of the file, and of the segment; of a bare image 0 and the row */
	uint64_t start_ns, end_ns;
	uint32_t spans_earlier;
};
struct opk_spool_trailer {
	uint64_t rows; /* with those that the filter refused */
	uint64_t stored;
	uint64_t incomplete_samples;
};

enum { OPK_MAX_RANGE_NAME = 1 << 16, OPK_MAX_UNIT = 1 << 16, OPK_MAX_WORKERS = 1024 };

/* Which metrics are in which group; the metadata in it is NULL for a bare image. */
const struct opk_measured *opk_evaluation_groups(const struct opk_evaluation *evaluation);

struct opk_columns;
/* What it shows, and of what. */
const struct opk_columns *opk_evaluation_columns(const struct opk_evaluation *evaluation);

/* A file's evaluation on its way: all but the values, which children compute. */
struct opk_eval_task {
	struct opk_evaluation *evaluation;
	struct opk_eval_job job; /* borrows from it, and from the file */
	bool *unwanted;
};
int opk_eval_task_begin(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                        const struct opk_eval_options *options);
/* Takes over what one child found: *result is empty then. */
int opk_eval_task_take(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_result *result);
int opk_eval_task_finish(struct opk_evaluation **out, struct opk_ctx *ctx,
                         struct opk_eval_task *task);
void opk_eval_task_clear(struct opk_eval_task *task);

/* An opk_contained_fn over a struct opk_eval_job. */
int opk_eval_in_child(struct opk_ctx *ctx, void *job, struct opk_child *child);

#endif
