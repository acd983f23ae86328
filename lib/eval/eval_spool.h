/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of the children that evaluated, read as one: eval_child.c writes them. */
#ifndef OPK_EVAL_SPOOL_H
#define OPK_EVAL_SPOOL_H

#include "eval/eval.h"

struct opk_spools {
	struct opk_result *results; /* in the order of their rows */
	struct opk_spool_trailer *trailers;
	size_t count;
	size_t at;         /* the result being read */
	uint64_t left;     /* of its stored rows */
	uint64_t next;     /* number of the row after the one that was read, over all results */
	uint64_t next_end; /* number of the first row of the next result */
	struct opk_spool_header header; /* the first one's */
	uint64_t total_rows;
	uint64_t incomplete_samples;
	char *name;
};

/* How children that evaluate are contained. */
struct opk_contain_options opk_eval_contain(const struct opk_eval_options *options,
                                            uint64_t largest_image);
/* Has children evaluate the job, and takes their results. */
int opk_eval_run(struct opk_spools *spools, struct opk_ctx *ctx, const struct opk_eval_job *job,
                 const struct opk_eval_options *options);

/* Room for `count` results, to be filled in. */
int opk_spools_init(struct opk_spools *spools, struct opk_ctx *ctx, size_t count);
void opk_spools_clear(struct opk_spools *spools);
/* Reads headers and trailers; appends the unit of each metric. */
int opk_spools_begin(struct opk_spools *spools, struct opk_ctx *ctx, struct opk_strlist *units,
                     size_t metric_count);
/*
 * The next row that was not dropped, its number and values, one a metric, and its name, which is
 * valid until the next call.
 */
int opk_spools_next(struct opk_spool_row *row, uint64_t *number, const char **name, double *values,
                    struct opk_ctx *ctx, struct opk_spools *spools, size_t metric_count);
/* Whether there are no more rows. */
bool opk_spools_ended(const struct opk_spools *spools);

#endif
