/* SPDX-License-Identifier: BSD-2-Clause */
/* Values and rows of recordings. */
#ifndef OPK_EVAL_H
#define OPK_EVAL_H

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/strlist.h"
#include "child/child.h"
#include "container/container.h"
#include "eval/door.h"
#include "formula/formula.h"
#include "resolve/resolve.h"

/* ---- range_path.c: paths of ranges */

/* The parts of the same NVTX domain as the part that begins at `part`. free() */
char *opk_path_of_domain(const char *path, size_t part);

/* Shared by the child that evaluates and the parent that reads: eval_child.c, eval.c. */

/* What a kept child keeps from its last job. */
struct opk_eval_warm {
	char *chip;
	struct opk_nv_evaluator *evaluator; /* PerfWorks', of the chip */
	struct opk_decoder decoder;
};

/* Everything that a child is to evaluate, from an .opk file or a bare image. */
struct opk_eval_job {
	const struct opk_file *file;        /* NULL: a bare image */
	const struct opk_meta *meta;        /* of the file */
	const struct opk_segment *segments; /* of the file */
	const bool *unwanted;               /* one per segment: the filter refuses all its rows */
	/* NULL, or rows that it surely refuses are not evaluated. */
	const struct opk_filter *filter;
	/* The segments from `first` until before `end`. */
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
	bool plain;       /* only CUPTI, though PerfWorks may be faster */
	bool apart;       /* the result has the remarks of each row, and not of all together */
	/* NULL: each range is a row. Else it makes images from first_mean until before end_mean. */
	const struct opk_joining *joining;
	size_t first_mean, end_mean;
	bool partial; /* of the segments above alone: the result is an image, not values */
	/* NULL, or rows are bins of time, from first_bin until before end_bin. */
	const struct opk_bins *bins;
	uint64_t first_bin, end_bin;
	struct opk_eval_warm *warm; /* NULL: a child that ends with the job */
	struct opk_result *parts;   /* partial results, instead of segments; NULL: none */
	size_t part_count;
};

/*
 * The result: a header, a unit for each metric, rows with names and values, remarks, a trailer.
 * With `apart`, each row has its remarks: their number, and a struct opk_row_remark and the part's
 * name for each.
 */
struct opk_spool_header {
	char chip[32];
	int32_t profiler;
	struct opk_nv_versions versions; /* of the libraries that made the values */
};
struct opk_spool_row {
	uint64_t dropped; /* rows before it that the filter refused */
	/* In the file; in the segment. Bare image: 0 and the row. Bin: its GPU, and its samples. */
	uint64_t segment, row;
	uint64_t start_ns, end_ns, covered_ns;
	uint32_t spans_earlier;
};
struct opk_spool_trailer {
	uint64_t rows; /* including those that the filter refused */
	uint64_t stored;
	uint64_t incomplete_samples;
	uint64_t remarks; /* how many struct opk_remark precede it */
};

struct opk_row_remark {
	uint64_t metric, kind;
	double value; /* percent */
};

enum { OPK_MAX_RANGE_NAME = 1 << 16, OPK_MAX_UNIT = 1 << 16, OPK_MAX_WORKERS = 1024 };

/*
 * Finds how many ranges or samples of an image are rows. OPK_EINPUT: its numbers contradict each
 * other, or some ranges lack passes though `pass` is 0, which means all passes.
 */
int opk_image_check(size_t *rows, struct opk_ctx *ctx, const struct opk_nv_image_info *info,
                    size_t size, enum opk_profiler profiler, uint32_t pass);
/* OPK_EINPUT if the segment's tables have another number of rows. */
int opk_segment_check(struct opk_ctx *ctx, const struct opk_segment *segment, size_t rows);

/* Whether a note says why a column is NaN in every row. */
bool opk_evaluation_is_explained(const struct opk_evaluation *evaluation, size_t column);
/* Whether a column is a throughput that may be too low, since some of its parts are not known. */
bool opk_evaluation_is_bound(const struct opk_evaluation *evaluation, size_t column);

/* The release of CUPTI that gave the values; 0: another tool did. */
uint32_t opk_evaluation_cupti(const struct opk_evaluation *evaluation);

/* Says which metrics are in which pass; the metadata in it is NULL for a bare image. */
const struct opk_measured *opk_evaluation_passes(const struct opk_evaluation *evaluation);

/* Whether its filter has conditions on values. */
bool opk_evaluation_chooses_values(const struct opk_evaluation *evaluation);

/* The names of values that conditions judge, one per such condition; none if the filter is NULL. */
size_t opk_filter_value_count(const struct opk_filter *filter);
const char *opk_filter_value(const struct opk_filter *filter, size_t i);

/* The `workers` of its options. */
size_t opk_evaluation_workers(const struct opk_evaluation *evaluation);
/* Makes opk_evaluation_next() begin with the first row again. */
void opk_evaluation_rewind(struct opk_evaluation *evaluation);

/* Rows in memory: of what ran, of tables alone, of joined ranges. */
struct opk_made_rows {
	struct opk_range *ranges;
	struct opk_ran *ran;       /* or NULL */
	struct opk_joined *joined; /* or NULL: see struct opk_row */
	struct opk_code *code;     /* or NULL */
	struct opk_strlist texts;  /* that ranges and code name, unless the file has them */
	struct opk_strlist
		metrics; /* whose names the evaluation borrows, unless the caller has them */
	double *values;  /* row by row, one per metric */
	size_t count;
	/* Or fills in a row when it is read; `ranges` and `ran` have an example of each kind. */
	void (*make)(struct opk_range *range, struct opk_ran *ran, const void *maker,
	             size_t number);
	void *maker;
	void (*free_maker)(void *maker);
	size_t examples;
};
void opk_made_rows_clear(struct opk_made_rows *rows);
/* An evaluation that has its columns and no rows yet; `file` has metadata at least. */
int opk_evaluation_begin_made(struct opk_evaluation **out, struct opk_ctx *ctx,
                              struct opk_file *file, enum opk_profiler profiler,
                              const struct opk_eval_options *options);
/*
 * Takes over the rows. They get the units of the first metrics of `samples`; NULL: rows of code
 * have units of their own, and others none.
 */
int opk_evaluation_put_made(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                            struct opk_made_rows *rows, const struct opk_evaluation *samples);

struct opk_columns;
/* The columns of an evaluation, and what they are computed from. */
const struct opk_columns *opk_evaluation_columns(const struct opk_evaluation *evaluation);

/* Makes a job of all images of a file, without metrics; free *unwanted. `filter` may be NULL. */
int opk_eval_job_of_file(struct opk_eval_job *job, bool **unwanted, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_filter *filter);

/* A file's evaluation before children have computed the values. */
struct opk_eval_task {
	struct opk_evaluation *evaluation;
	struct opk_eval_job job; /* borrows from the evaluation and the file */
	bool *unwanted;
	bool silent; /* notes of remarks are for later readers */
};
int opk_eval_task_begin(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                        const struct opk_eval_options *options);
/* Reads the values that the file has; *served is false if its images have to be evaluated. */
int opk_eval_task_read(bool *served, struct opk_eval_task *task, struct opk_ctx *ctx,
                       const struct opk_eval_options *options);
/* Takes over the result of one child, and empties *result. */
int opk_eval_task_take(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_result *result);
int opk_eval_task_finish(struct opk_evaluation **out, struct opk_ctx *ctx,
                         struct opk_eval_task *task);
void opk_eval_task_clear(struct opk_eval_task *task);

/* An opk_contained_fn over a struct opk_eval_job. */
int opk_eval_in_child(struct opk_ctx *ctx, void *job, struct opk_child *child);
/* Sends the chip's name and the profiler's number of a job's bare image. */
int opk_image_origin_in_child(struct opk_ctx *ctx, void *job, struct opk_child *child);

/*
 * What an evaluation shows, and which metrics it needs. Columns are metrics, by name or label, and
 * derived metrics.
 */

/* `operands` are numbers of values: derived metrics first, then metrics. */
struct opk_derivation {
	struct opk_formula *formula; /* NULL: no column needs it */
	size_t *operands;
	char *unit; /* declared or computed; NULL: not known */
};

struct opk_columns {
	const struct opk_meta *meta; /* NULL: a bare image's */
	const char *const *metrics;  /* to evaluate: `owned`, the caller's or the recording's */
	const char **owned;
	struct opk_strlist within; /* names of metrics with OPK_WITHIN */
	size_t metric_count;
	struct opk_strlist names; /* of the columns */
	size_t *sources;          /* one per column: which value it shows */
	const struct opk_meta_heading *
		*headings; /* over each column, or NULL; borrowed from the metadata */
	struct opk_derivation *derived;
	size_t derived_count;
	/* Values that are not columns, for conditions and the order of rows. */
	size_t *also;
	size_t also_count;
	double *values;
	uint64_t *numbers;
};

/* Names of metrics, labels, derived metrics and attributes. */
struct opk_wanted {
	const char *const *shown; /* NULL: all that the recording shows by default */
	size_t shown_count;
	const char *const *also;
	size_t also_count;
};

/*
 * `meta` is NULL for a bare image. OPK_EINPUT: a formula that is needed can't be computed.
 * OPK_EUSAGE: a wanted name is unknown. Borrows from `meta` and `wanted`.
 */
int opk_columns_init(struct opk_columns *columns, struct opk_ctx *ctx, const struct opk_meta *meta,
                     const struct opk_wanted *wanted);
void opk_columns_clear(struct opk_columns *columns);
/* Computes undeclared units from the units of the metrics; "" is an unknown unit. */
int opk_columns_find_units(struct opk_columns *columns, struct opk_ctx *ctx,
                           const struct opk_strlist *units);
/* Computes the values of all columns from the values of all metrics. */
void opk_columns_compute(double *out, const struct opk_columns *columns, const double *metrics);
/* Computes the values in `also`. */
void opk_columns_compute_also(double *out, const struct opk_columns *columns,
                              const double *metrics);
/*
 * Takes a number per metric, such as `counts` of a joined row. Gives for each column the least
 * number of the metrics it is computed from; UINT64_MAX if it needs no metric.
 */
void opk_columns_least(uint64_t *out, const struct opk_columns *columns, const uint64_t *metrics);

/* Values of all rows, from the images, for a file that has them: bake_rows.c */

/*
 * Fills in all but the generator, metrics and sets; free() the images. Metrics after the first
 * `named` ones only help to store these in fewer bytes.
 */
int opk_bake_rows(struct opk_baked *baked, struct opk_ctx *ctx, struct opk_value_sink *sink,
                  struct opk_file *file, const struct opk_strlist *metrics, size_t named);
/* The means of ranges that the metadata's `join` asks for. */
int opk_bake_joined(struct opk_ctx *ctx, struct opk_value_sink *sink, struct opk_file *file,
                    const struct opk_strlist *metrics);

/* What names of metrics and formulas reveal about a value: traits.c. */
struct opk_traits {
	/*
	 * 1: values of ranges can be added up. 0: the value of several ranges is a ratio of sums,
	 * or does not grow with their number. Or OPK_NO_DEGREE.
	 */
	int degree;
	/*
	 * The power of the GPU's clock that it is proportional to, if the cycles stay the same: 1:
	 * a rate per second; -1: a time; 0: counts, cycles, percentages; or OPK_NO_DEGREE.
	 */
	int clock;
	bool of_gpu; /* a peak or a clock: what the GPU can do, not what the program did */
};
struct opk_traits opk_metric_traits(const char *metric);
int opk_metric_degree(const char *metric);
/* Whether the traits of the metric's suffix are known. */
bool opk_metric_traits_known(const char *metric);
/* Whether the metric is the elapsed cycles of a unit, which can replace a time. */
bool opk_metric_is_cycles(const char *metric);
/* Whether the metric is the clock that SMs run at, in cycles per second. */
bool opk_metric_is_sm_clock(const char *metric);
/* The traits of all columns, then of the values in `also`. */
int opk_columns_traits(struct opk_traits *out, struct opk_ctx *ctx,
                       const struct opk_columns *columns);

/* A set, resolved for a recording's chip, as metadata that replaces the recording's. */
struct opk_set_meta {
	struct opk_resolved resolved;
	struct opk_meta_label *labels;
	struct opk_meta meta; /* borrows from the above and from the recording's */
};
/*
 * *out begins zeroed and has to be cleared even after a failure; `recorded` may be NULL. `file`,
 * which may be NULL, is a recording that may have the set's values.
 */
int opk_set_meta_init(struct opk_set_meta *out, struct opk_ctx *ctx, const struct opk_set *set,
                      const struct opk_file *file, const char *chip, enum opk_profiler profiler,
                      const struct opk_meta *recorded);
void opk_set_meta_clear(struct opk_set_meta *meta);

/* Values of the ranges of many images, by the faster of two evaluators, in a child. */

/* What a remark says of a metric in some rows. */
enum opk_remark_kind {
	OPK_PART_LACKS,    /* the throughput is NaN: a part is NaN though its unit was busy */
	OPK_PART_FAILS,    /* a part can't be evaluated: the throughput may be higher */
	OPK_PARTS_UNKNOWN, /* the library does not list its parts: it may be higher */
	OPK_UNDIVIDED,     /* the same, though all that the library says it needs was collected */
	OPK_ABOVE_WHOLE,   /* a share above 100% */
	OPK_REMARK_KINDS,
	OPK_THROUGHPUT_KINDS = OPK_ABOVE_WHOLE
};

/*
 * `rows`: in how many. `least` and `most` are in percent: of a share its value; of a throughput
 * what the other parts amount to, and `part` is the first such part.
 */
struct opk_remark {
	uint64_t metric, rows, kind;
	double least, most;
	char part[192];
};
void opk_remark_add(struct opk_remark *all, const struct opk_remark *one);
/* Counts which of a row's values are shares above the whole; `above` has one per metric. */
void opk_remark_above(struct opk_remark *above, const char *const *metrics, const double *values,
                      size_t count);
/* Whether values of a metric, by its full name, are percentages of a whole. */
bool opk_is_share(const char *metric);

/* A throughput among the metrics, and where its parts are. */
struct opk_throughput {
	size_t metric, first, end;
	struct opk_remark remarks[OPK_THROUGHPUT_KINDS];
};

struct opk_throughputs {
	struct opk_throughput *items;
	size_t count;
	struct opk_strlist parts; /* full names, once for each throughput */
};

/* Tells whether the unit of a part was idle. Made once, where the part is NaN. */
struct opk_idleness {
	char *names[2]; /* the sum of what the part counts, and the peak that it is a share of */
	struct opk_nv_requests *requests; /* NULL: by CUPTI */
	bool made, refused;
};

/* Metrics evaluated together: names, PerfWorks' requests for them, and the values of a range. */
struct opk_value_list {
	const char **names;
	size_t count;
	double *values;
	struct opk_nv_requests *requests; /* NULL: by CUPTI */
};

struct opk_values {
	const char *chip;
	enum opk_profiler profiler;
	const char *const *metrics;
	size_t metric_count;
	struct opk_nv_evaluator *evaluator; /* PerfWorks'; NULL: CUPTI alone */
	const char *single_pass;  /* CUPTI's single-pass set that has the metrics; NULL: none */
	struct opk_nv_host *host; /* CUPTI's, where it is needed */
	/* The current image. */
	const void *image;
	size_t image_size;
	void *head; /* an image head of the evaluators' device; NULL: not known */
	size_t head_size;
	bool *wanted; /* the metrics that its ranges have */
	struct opk_value_list asked, parts;
	bool *failed; /* one per part: it could not be evaluated in the current row */
	struct opk_throughputs throughputs;
	struct opk_remark *above;      /* one per metric */
	struct opk_idleness *idleness; /* one per part of the throughputs */
};

/* The caller sets the fields up to `evaluator`, which are borrowed; the others are zeros. */
int opk_values_begin(struct opk_values *values, struct opk_ctx *ctx);
void opk_values_clear(struct opk_values *values);
/*
 * Tells which metrics were recorded. A throughput whose parts the library does not list is trusted
 * more if all that it needs was recorded.
 */
int opk_values_trust(struct opk_values *values, struct opk_ctx *ctx, const struct opk_meta *meta);
/* Sets the image of the next ranges, borrowed; `wanted` says which metrics its ranges have. */
int opk_values_of_image(struct opk_values *values, struct opk_ctx *ctx, const void *image,
                        size_t size, const bool *wanted);
/* The next ranges of the image have other metrics. */
int opk_values_choose(struct opk_values *values, struct opk_ctx *ctx, const bool *wanted);
/*
 * Gives one value per metric; NaN if it is not wanted, or a throughput that lacks a part.
 * OPK_EUSAGE: a metric is unknown.
 */
int opk_values_of_range(double *out, struct opk_values *values, struct opk_ctx *ctx, size_t index);

/*
 * The most ranges of a pass in a mean: counts in images have 32 bits, and each range adds 4,096 at
 * most.
 */
enum { OPK_MOST_AVERAGED = (1 << 20) - 1 };

/* What images have in common if their ranges can be added up. Begins zeroed. */
struct opk_layout {
	uint8_t *head;
	size_t size;
};
/* In a child: whether the image has this layout, too; the first one always does. */
int opk_layout_fits(bool *fits, struct opk_layout *layout, struct opk_ctx *ctx, const void *image,
                    size_t size);
void opk_layout_clear(struct opk_layout *layout);

/* An image that is made of ranges of other images, in a child. Begins zeroed. */
struct opk_made {
	void *image;
	size_t size;
	struct opk_nv_combiner *combiner;
};
int opk_made_begin(struct opk_made *made, struct opk_ctx *ctx, const void *like, size_t size,
                   const struct opk_nv_room *room);
void opk_made_clear(struct opk_made *made);
#define opk_automade __attribute__((cleanup(opk_made_clear)))
/* Sends it to the parent as a part: its bytes, and for each slot whether it has data. */
void opk_made_send(const struct opk_made *made, struct opk_child *child, size_t slots);
/* The bytes of a part; NULL: it has no ranges. free() */
int opk_part_receive(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *sent,
                     size_t slots);
/* Then adds its slots with data: opk_nv_combiner_sum() or opk_nv_combiner_average(). */
typedef int opk_combine_fn(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                           const void *image, size_t index);
int opk_made_add(struct opk_made *made, struct opk_ctx *ctx, struct opk_child *child,
                 const void *image, struct opk_result *sent, size_t slots, opk_combine_fn *add);

/* Key groups are ranges that share a key: parts of a key, and what a group has in common. */

enum opk_key_part {
	OPK_KEY_NAME = 1 << 0,
	OPK_KEY_KERNEL = 1 << 1, /* and its symbol */
	OPK_KEY_SHAPE = 1 << 2,  /* grid and block */
	OPK_KEY_SHARED = 1 << 3, /* bytes of shared memory */
	OPK_KEY_LAUNCH = 1 << 4, /* index */
	OPK_KEY_NVTX = 1 << 5,
	OPK_KEY_DEVICE = 1 << 6, /* its index, on any host */
	OPK_KEY_RANK = 1 << 7,
	OPK_KEY_PASS = 1 << 8,
	OPK_KEY_GPU = 1 << 9, /* of one host */
	OPK_KEY_HOST = 1 << 10,
	OPK_KEY_ALL = 1 << 11, /* the same for all ranges */
};

/* Reads "kernel,rank". OPK_EUSAGE lists the words that there are. */
int opk_key_parse(unsigned *out, struct opk_ctx *ctx, const char *text);

/*
 * What ranges share by such a key, as text: "gemm 16x6x1 128x1x1"; free(). NULL: out of memory.
 * `kernel` is the kernel's name to show, or "".
 */
char *opk_key_name(unsigned key, const char *kernel, const char *name,
                   const struct opk_range *range);

struct opk_grouped {
	struct opk_range range; /* what all have in common; what differs is as if unknown */
	char *name;             /* of the first */
	bool many_names;
	bool many_streams; /* `range.stream` can't say that it is unknown */
	uint64_t rows;
	uint64_t ranges;                    /* in the rows: more than rows where some are sums */
	uint64_t durations, duration_count; /* the sum of those known, and their number */
	char *key;                          /* the index finds its number by it */
};

/* Begin with { .key = parts }. Groups are in the order of their first ranges. */
struct opk_grouping {
	unsigned key;
	uint64_t besides; /* a further part of the keys for the next calls */
	struct opk_grouped *groups;
	size_t count;
	size_t capacity;
	struct opk_index numbers; /* of groups, by their keys */
	/* The group of the range added last: the next one mostly has the same. */
	size_t last;
	uint64_t last_besides;
};

/* `range` may be NULL if only its name is known; its strings are borrowed. */
int opk_grouping_add(size_t *group, struct opk_grouping *grouping, struct opk_ctx *ctx,
                     const char *name, const struct opk_range *range);
/* *group is SIZE_MAX if there is no such group yet. */
int opk_grouping_find(size_t *group, const struct opk_grouping *grouping, struct opk_ctx *ctx,
                      const char *name, const struct opk_range *range);
void opk_grouping_clear(struct opk_grouping *grouping);
#define opk_autogrouping __attribute__((cleanup(opk_grouping_clear)))

/* The evaluated metrics that have all their counters in a pass. */

struct opk_measured {
	const struct opk_meta *meta; /* NULL: a bare image, of all passes */
	size_t *positions;           /* one per evaluated metric: in the set, or OPK_NOT_IN_SET */
	size_t count;
	bool *attribute; /* one per evaluated metric: no image has it */
	bool *current;   /* one per evaluated metric: what the last call gave */
	bool known;      /* there was a call, for this pass */
	uint32_t pass;
};

#define OPK_NOT_IN_SET SIZE_MAX

/* Borrows `meta`. */
int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count);
void opk_measured_clear(struct opk_measured *measured);

/*
 * One per metric, valid until the next call: whether a range with only this pass may have it; pass
 * 0 means all passes. Attributes are false. Metrics whose passes are not known are true: the
 * counters that there are may be enough.
 */
const bool *opk_measured_by(struct opk_measured *measured, uint32_t pass);
/* The same for a mean of so many ranges of each pass: see opk_launches_least(). */
const bool *opk_measured_by_mean(struct opk_measured *measured, const uint64_t *launches,
                                 size_t passes);
/*
 * Whether a range of the last call's pass has the metric, with this value. NaN counts as measured,
 * except where the passes are not known.
 */
bool opk_measured_has(const struct opk_measured *measured, size_t metric, uint32_t pass,
                      double value);
/*
 * The least number of ranges over the passes that a metric needs, or over all passes if the list is
 * empty; *equal: all have that number. `launches`: how many ranges have all passes, then how many
 * have each pass.
 */
uint64_t opk_launches_least(bool *equal, const struct opk_pass_list *needed,
                            const uint64_t *launches, size_t passes);
/* The passes of one of the evaluated metrics; an empty list where they are not known. */
const struct opk_pass_list *opk_measured_passes(const struct opk_measured *measured, size_t metric);

#endif
