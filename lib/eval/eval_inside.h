/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/eval alone. */
#ifndef OPK_EVAL_INSIDE_H
#define OPK_EVAL_INSIDE_H

#include "baked/baked.h"
#include "base/ctx.h"
#include "container/container.h"
#include "eval/door.h"
#include "eval/eval.h"
#include "resolve/resolve.h"

/* The results of the children that evaluated, read as one: eval_child.c writes them. */

struct opk_spools {
	struct opk_result *results; /* in the order of their rows */
	struct opk_spool_trailer *trailers;
	uint64_t *firsts; /* the place of the first row of each */
	size_t count, metric_count;
	size_t at;                      /* the result being read */
	uint64_t left;                  /* of its stored rows */
	uint64_t next;                  /* number of the next row, over all results */
	uint64_t next_end;              /* number of the first row of the next result */
	struct opk_spool_header header; /* the first one's */
	uint64_t total_rows;
	uint64_t incomplete_samples;
	struct opk_remark *remarks; /* OPK_REMARK_KINDS per metric; without rows: no such remark */
	char *name;
	bool apart; /* the results are of jobs with `apart` */
	/* Remarks on the row that was read last, with `rows` 1. */
	OPK_LIST(struct opk_remark) of_row;
};

/* Values that the file has already: eval_baked.c. */

/* *served is false if the file lacks some of them; `spools` is not touched then. */
int opk_eval_by_baked(bool *served, struct opk_spools *spools, struct opk_ctx *ctx,
                      const struct opk_eval_job *job);

/* The limits of children that evaluate. */
struct opk_contain_options opk_eval_contain(uint64_t largest_image);
/* Runs the job in children, and collects their results. */
int opk_eval_run(struct opk_spools *spools, struct opk_ctx *ctx, const struct opk_eval_job *job,
                 const struct opk_eval_options *options);

/* The cheap checks before evaluation: the file has data, and is not cut off. */
int opk_eval_check_whole(struct opk_ctx *ctx, struct opk_file *file, bool allow_incomplete);
/* Runs a job of a whole file in the kept child: see opk_kept_ask(). */
int opk_eval_by_kept(bool *served, struct opk_result *result, struct opk_ctx *ctx,
                     const struct opk_eval_job *job, const struct opk_contain_options *contain);

/* The entry point of that child. */
void opk_evaluator_main(void);

/* Makes room for `count` results, to be filled in. */
int opk_spools_init(struct opk_spools *spools, struct opk_ctx *ctx, size_t count);
void opk_spools_clear(struct opk_spools *spools);
/* Reads headers and trailers; appends the unit of each metric. */
int opk_spools_begin(struct opk_spools *spools, struct opk_ctx *ctx, struct opk_strlist *units,
                     size_t metric_count);
/* A row that was not dropped, and its place; the name is valid until the next row is read. */
struct opk_spooled {
	struct opk_spool_row row;
	struct opk_bookmark at;
	const char *name;
};
/* Reads the next row and its values, one per metric. */
int opk_spools_next(struct opk_spooled *out, double *values, struct opk_ctx *ctx,
                    struct opk_spools *spools);
/* Makes the first row the next one again. */
void opk_spools_rewind(struct opk_spools *spools);
/* Reads the row at a place, and does not move the next one. */
int opk_spools_reread(struct opk_spooled *out, double *values, struct opk_ctx *ctx,
                      struct opk_spools *spools, const struct opk_bookmark *at);
/* Whether there are no more rows. */
bool opk_spools_ended(const struct opk_spools *spools);

/* The throughputs among metrics and all parts of each: throughput.c. */

/* Whether a metric may be a throughput, by its name; whether any of several may be. */
bool opk_may_be_throughput(const char *metric);
bool opk_any_throughput(const char *const *metrics, size_t count);
/* `evaluator` may be NULL: then no parts are known. Clear *throughputs even after a failure. */
int opk_throughputs_init(struct opk_throughputs *throughputs, struct opk_ctx *ctx,
                         struct opk_nv_evaluator *evaluator, const char *const *metrics,
                         size_t count);
void opk_throughputs_clear(struct opk_throughputs *throughputs);
/* Whether the parts of some throughput are not all known; and opk_values_trust() for these. */
bool opk_throughputs_in_doubt(const struct opk_throughputs *throughputs);
int opk_throughputs_trust(struct opk_throughputs *throughputs, struct opk_ctx *ctx,
                          struct opk_nv_evaluator *evaluator, const char *const *metrics,
                          const struct opk_meta *meta);
/* The names of the sum of what a part counts, and of the peak that it is a share of; free(). */
char *opk_throughput_part_sum(const char *part);
char *opk_throughput_part_peak(const char *part);
/* Counts a row in which the throughput has this value, or its other parts amount to it. */
void opk_throughput_remark(struct opk_throughput *throughput, enum opk_remark_kind kind,
                           const char *part, double value);

/* Filters choose the wanted rows by what is known before their images are decoded. */

/* Makes a filter from the conditions in `where` of the options; NULL without conditions. */
int opk_filter_of(struct opk_filter **out, struct opk_ctx *ctx,
                  const struct opk_eval_options *options);
/* Whether a row with these values, one per condition on values, meets all these conditions. */
bool opk_filter_takes(const struct opk_filter *filter, const double *values);

/*
 * Puts what a segment's tables say of its row number `i` into *row, instead of what the image says;
 * *row may point into *room. Returns the facts that only the image has, 1 << fact each.
 */
uint64_t opk_segment_describe(struct opk_row *row, struct opk_range *room,
                              const struct opk_segment *segment, uint64_t i);
/*
 * One per segment: whether its tables show that the filter takes none of its rows. `filter` may be
 * NULL. `first` is the number of the first segment's first row. free()
 */
int opk_filter_segments(bool **unwanted, struct opk_ctx *ctx, const struct opk_filter *filter,
                        enum opk_profiler profiler, const struct opk_segment *segments,
                        size_t count, size_t first);

/*
 * Rows made of several ranges, each of which may have only one pass: their counters make a mean
 * range, which is evaluated. joining.c plans it, means.c makes the images.
 */

/* The most bytes of an image of means. Where one is not enough, the ranges are read again. */
enum { OPK_MEANS_BYTES = 256 << 20 };

/* A future row. */
struct opk_mean {
	size_t image, slot;
	uint64_t *launches; /* how many of its ranges have all passes, then each pass */
	/* One per metric: values, and how many ranges each is from. */
	double *values;
	uint64_t *counts;
};

/* A segment with ranges for an image of means, and the number of its first row. */
struct opk_mean_source {
	size_t segment, row;
};

/* An image of means to be made. */
struct opk_mean_image {
	struct opk_mean_source *sources; /* in the order of the segments */
	size_t source_count, capacity;
	size_t slots;
	size_t *groups; /* one per slot */
};

struct opk_joining {
	struct opk_grouping grouping;
	struct opk_mean *means; /* one per group */
	size_t count, capacity;
	size_t passes;    /* the greatest number of a pass */
	size_t *group_of; /* one per row of the segments; SIZE_MAX: no group */
	struct opk_mean_image *images;
	size_t image_count;
	size_t *order;     /* of groups, image by image */
	uint64_t left_out; /* images without a range table */
};
/* `how`: "kernel", "launch" or "name". *out is to be freed in any case. */
int opk_joining_new(struct opk_joining **out, struct opk_ctx *ctx, const struct opk_eval_job *job,
                    const char *how);
void opk_joining_free(struct opk_joining *joining);
/* What the rows are means of; borrows from both. */
struct opk_value_groups opk_joining_groups(const struct opk_joining *joining,
                                           const struct opk_eval_job *job);

/*
 * In a child: makes the image of this number; NULL if the job's segments have no ranges for it. A
 * partial job also sends it.
 */
int opk_means_make(void **image, size_t *size, struct opk_ctx *ctx, struct opk_child *child,
                   const struct opk_eval_job *job, size_t number);

/*
 * Rows for bins of time: the samples of a GPU in a bin are summed, and the sum is evaluated. bins.c
 * plans it and reads the rows, bins_make.c makes the images. Tables of samples are read image by
 * image, since those of days don't fit into memory.
 */

/* An image, with the least start and end of its samples, and the greatest end, if known. */
struct opk_binned {
	size_t section, first_row, gpu;
	uint64_t start, first, end; /* `end` is UINT64_MAX if unknown */
	bool in_order;              /* all times are known, and no end is before an earlier row's */
};

struct opk_bins {
	struct opk_file *file;
	uint64_t interval; /* ns; a bin begins at each multiple of it */
	bool latest;       /* only the latest row of each GPU is wanted */
	struct opk_grouping gpus;
	struct opk_texts texts;    /* of the groups */
	struct opk_binned *images; /* in the order of time */
	size_t count, row_count;
};
/* *out is to be freed in any case. */
int opk_bins_new(struct opk_bins **out, struct opk_ctx *ctx, struct opk_file *file,
                 const struct opk_filter *filter, uint64_t interval);
void opk_bins_free(struct opk_bins *bins);

/* The bytes of a GPU's images of sums, unless a single sum takes more. */
enum { OPK_SUMS_BYTES = 16 << 20 };

struct opk_bin {
	uint64_t number; /* it begins at that many intervals */
	size_t gpu;
	uint64_t samples, covered_ns;
};
/* Takes an image with the sum of each of these bins. */
typedef int opk_bins_fn(void *data, const void *image, size_t size, const struct opk_bin *bins,
                        size_t count);
/* In a child: makes the images of the job's bins, and adds up samples that were only begun. */
int opk_bins_make(struct opk_ctx *ctx, struct opk_child *child, const struct opk_eval_job *job,
                  opk_bins_fn *use, void *data, uint64_t *incomplete);

/* Reads the rows that children made of bins, as rows in memory. */
int opk_evaluation_read_bins(struct opk_evaluation *evaluation, struct opk_ctx *ctx);

/* Facts of a bin that are not known of its samples, 1 << fact each. */
#define opk_facts_of_bins (UINT64_C(1) << OPK_FACT_BINNED | UINT64_C(1) << OPK_FACT_COVERED)

/* Reads the rows that children made from means, as rows in memory. rows.c */
int opk_evaluation_read_joined(struct opk_evaluation *evaluation, struct opk_ctx *ctx);

/* nvprof's names that are wanted: the recording's metadata with what these names mean. */

struct opk_nvprof_names {
	struct opk_resolved resolved;
	struct opk_meta meta; /* borrows from the recording's, and from the fields here */
	const char **metrics, **hidden;
	struct opk_strlist columns;
	struct opk_meta_derived *derived;
};
/*
 * If names of nvprof are wanted that the recording lacks, *meta, which may be NULL, becomes that of
 * `n`, where they are derived metrics.
 */
int opk_nvprof_names_add(struct opk_nvprof_names *n, struct opk_ctx *ctx,
                         const struct opk_meta **meta, const struct opk_eval_options *options,
                         const struct opk_wanted *wanted);
void opk_nvprof_names_clear(struct opk_nvprof_names *n);

/* An evaluation: eval.c; its rows: rows.c. */

struct opk_evaluation {
	struct opk_spools spools;
	struct opk_made_rows made;   /* instead */
	struct opk_range made_range; /* of the row that was read last, if they are filled in then */
	struct opk_ran made_ran;
	size_t next_made;
	bool is_made;
	struct opk_filter *filter;   /* NULL: every row is wanted */
	size_t condition_count;      /* on values: the first ones of `also` */
	size_t workers;              /* of the options */
	const struct opk_meta *meta; /* of the recording; NULL: a bare image */
	struct opk_columns columns;
	struct opk_set_meta set;        /* asked for instead: `columns` borrows from it */
	struct opk_nvprof_names nvprof; /* nvprof's names, likewise */
	struct opk_strlist metrics;
	struct opk_strlist units;
	const struct opk_segment *segments; /* of the file, which outlives the evaluation */
	size_t segment_count;
	struct opk_range sample;     /* facts of samples that have only times */
	struct opk_joining *joining; /* NULL: each row is a range */
	struct opk_bins *bins;       /* NULL: rows are not bins of time */
	struct opk_measured passes;
	struct opk_strlist doubts; /* see opk_evaluation_doubts() */
	bool *explained, *bound;   /* one per metric: see opk_evaluation_is_explained() */
	bool *measured;
	struct opk_row row;
	struct opk_bookmark mark; /* of that row */
	double *values;
	/* The row's columns, computed on demand: see opk_evaluation_values(). */
	double *shown, *also;
	uint64_t *launches, *counts; /* one per metric; one per column */
	bool has_shown, has_also, has_counts;
};

/* Prepares everything except values. Takes over the filter. The job borrows from the evaluation. */
int opk_evaluation_begin(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_eval_job *job,
                         const struct opk_eval_options *options, struct opk_filter *filter);
/* Adds the file's name to a failure to evaluate it; returns `code`. */
int opk_evaluation_blame(struct opk_ctx *ctx, const struct opk_file *file, int code);
/* Uses what children found: units, and the profiler, for which it checks the filter. */
int opk_evaluation_finish(struct opk_evaluation *evaluation, struct opk_ctx *ctx);
/*
 * Notes which throughputs lack a part or may be higher, and which shares are too high. `of`: the
 * file's name; NULL: they are only kept.
 */
int opk_evaluation_note_remarks(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                                const char *of);

/* ---- measure.c */

/* A number with a unit after it, such as "25us". */
struct opk_measure {
	double number; /* in `unit`, without its prefix */
	const char *unit;
};
/* False: it is not one, or its unit is unknown. */
bool opk_measure_find(struct opk_measure *out, const char *pattern);

/* ---- filter_explain.c */

/* Only joined rows have the fact. */
bool opk_fact_is_of_joined(enum opk_fact fact);
/* OPK_EUSAGE, with why a condition can't be judged: no rows have anything of this name. */
int opk_explain_name(struct opk_ctx *ctx, const char *name);
/* `pattern` has a unit. */
int opk_explain_measure(struct opk_ctx *ctx, const char *name, const char *pattern, bool is_value,
                        const struct opk_measure *measure);
/* Rows of this profiler lack the fact. */
int opk_explain_lack(struct opk_ctx *ctx, const char *name, enum opk_profiler profiler);

#endif
