/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_EVAL_DOOR_H
#define OPK_EVAL_DOOR_H

#include "container/door.h"

/*
 * Whether it meets the conditions on facts; those on values are not judged. The row is of a
 * profiler whose rows have these facts.
 */
bool opk_filter_accepts(const struct opk_filter *filter, enum opk_profiler profiler,
                        const struct opk_row *row);

/*
 * As opk_eval_file() for each of many files, such as those of the ranks of a job, in less time:
 * NVIDIA's libraries are loaded once, into this process (110 MB), and small files share children.
 * `out` has room for `count` evaluations, in the order of the files. All or none; the error is that
 * of the first file that has one.
 */
int opk_eval_files(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_eval_options *options);

/*
 * A bare counter data image of `size` bytes, which is read before this returns; where the options
 * name no chip, NVPW_CounterData_GetChipName does. OPK_EUSAGE: neither metrics nor a set.
 */
int opk_eval_image(struct opk_evaluation **out, struct opk_ctx *ctx, const void *image, size_t size,
                   const struct opk_eval_options *options);
/* The chip that it was collected on, "GH100", and the profiler whose rows they are. */
const char *opk_evaluation_chip(const struct opk_evaluation *evaluation);
enum opk_profiler opk_evaluation_profiler(const struct opk_evaluation *evaluation);

/*
 * The metrics that are evaluated, in the order of `values` of a row, and their units as NVIDIA
 * writes them, "bytes/second" (cuptiProfilerHostGetMetricProperties,
 * NVPW_MetricsEvaluator_GetMetricDimUnits); "" where one is not known.
 */
size_t opk_evaluation_metric_count(const struct opk_evaluation *evaluation);
const char *opk_evaluation_metric(const struct opk_evaluation *evaluation, size_t i);
const char *opk_evaluation_unit(const struct opk_evaluation *evaluation, size_t i);

/*
 * The heading that the set has over a column, with `first` and `count` of the set's columns,
 * whatever is shown here; NULL: none. Borrowed: the recording or the set has to stay open.
 */
const struct opk_meta_heading *opk_evaluation_column_heading(
	const struct opk_evaluation *evaluation, size_t i);

/*
 * What a roofline is drawn of, by names of columns, as the recording or the set says; no roofs:
 * there is none. Borrowed, as headings are.
 */
const struct opk_meta_roofline *opk_evaluation_roofline(const struct opk_evaluation *evaluation);
/* In the same way a value for each of the names in `also` of the options. */
void opk_evaluation_compute_also(double *also, const struct opk_evaluation *evaluation,
                                 const double *metrics);

/*
 * From numbers, one a metric, such as `counts` of a joined row: for each column the least of those
 * that it is computed from; UINT64_MAX where it is computed from none.
 */
void opk_evaluation_least(uint64_t *columns, const struct opk_evaluation *evaluation,
                          const uint64_t *metrics);
/* Ranges or samples; those that a filter leaves out count, too, and joined ones each. */
uint64_t opk_evaluation_row_count(const struct opk_evaluation *evaluation);
/* Samples that were begun but not completed, and therefore left out. */
uint64_t opk_evaluation_incomplete_samples(const struct opk_evaluation *evaluation);

/* Where a row is that was read, so that rows can be put in order without being kept. */
struct opk_bookmark {
	size_t part, number;
	uint64_t byte;
};

/* The place of the row that opk_evaluation_next() gave last. */
struct opk_bookmark opk_evaluation_mark(const struct opk_evaluation *evaluation);
/* That row again, as opk_evaluation_next() gives it; this goes on where it was. */
int opk_evaluation_reread(const struct opk_row **row, struct opk_ctx *ctx,
                          struct opk_evaluation *evaluation, const struct opk_bookmark *mark);

/*
 * Ranges that describe the same thing, each of which may have one pass of several, as one row with
 * all passes: see `join` of struct opk_eval_options. Of each pass the counters of all its ranges
 * become those of a mean range (NVPW_CounterDataCombiner_AccumulateIntoRange), and this range,
 * which has the counters of all passes, is evaluated.
 */
struct opk_joined_row {
	const char *name; /* of the first range */
	/*
	 * What the ranges have in common; what they differ in is as unknown, except `duration_ns`,
	 * which is the mean of those known.
	 */
	struct opk_range range;
	bool many_streams;    /* `range.stream` can't say that it is unknown */
	uint64_t ranges;      /* of this row, also those beyond the most that are taken */
	uint64_t ranges_min;  /* `counts` of the value that has the least */
	const double *values; /* one a metric: of the mean range */
	/*
	 * One a metric: ranges of the pass that has its counters, or of that of its passes that has
	 * the fewest; 0: a pass of it is missing, and the value is NaN. The first 2^20 - 1 ranges
	 * of each pass are taken.
	 */
	const uint64_t *counts;
};

/* Rows of recordings in which a range has one pass of several. */
struct opk_join;

/*
 * Reads all rows of an evaluation with the option `join`, of which none was read before and which
 * must outlive the result; rows come in the order in which the first range of each appeared.
 * OPK_EUSAGE where its rows are single ranges; otherwise it fails as opk_evaluation_next() does.
 */
int opk_join_new(struct opk_join **out, struct opk_ctx *ctx, struct opk_evaluation *evaluation);
void opk_join_free(struct opk_join *join);
size_t opk_join_count(const struct opk_join *join);
const struct opk_joined_row *opk_join_get(const struct opk_join *join, size_t i);
/* Images of a cut-off file that have no range table: their ranges are in no row. */
uint64_t opk_join_left_out(const struct opk_join *join);

/*
 * The ranges or samples of a recording as its own tables have them, without values: no NVIDIA
 * library is needed, and images are not read, so that one without a table has no rows here. Names
 * are "" where only the image has them. `file` and filter must outlive the evaluation; a filter of
 * NULL takes all. OPK_EUSAGE: the filter has conditions on values.
 */
int opk_recorded_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_filter *filter);

/*
 * The ranges of all rows of opk_timeline_eval() and opk_recorded_eval(), also of those that a
 * filter refuses: how many there are, and in *ranges an array of them, borrowed. Of another
 * evaluation 0.
 */
size_t opk_evaluation_ranges(const struct opk_range **ranges,
                             const struct opk_evaluation *evaluation);
/* Name and type of its column, of static life; NULL where rows of this profiler don't have it. */
const struct opk_column *opk_fact_column(enum opk_fact fact, enum opk_profiler profiler);

/*
 * By the column's name, or "index" for `range` and `sample`; false, with *out as it was, where rows
 * of this profiler have no such fact.
 */
bool opk_fact_find(enum opk_fact *out, const char *name, enum opk_profiler profiler);

/* Room for text that a cell may point to: it has to be there as long as the cell is used. */
struct opk_fact_text {
	char text[40];
};

/*
 * A row's fact as a cell of the type of opk_fact_column(), borrowed from *text and the row; times
 * are nanoseconds, clocks MHz. A joined row is given as both, `row` with its index, name and range;
 * `joined` is NULL for all others.
 */
union opk_cell opk_fact_get(struct opk_fact_text *text, enum opk_fact fact,
                            const struct opk_row *row, const struct opk_joined_row *joined);

#endif
