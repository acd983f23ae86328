/* SPDX-License-Identifier: BSD-2-Clause */
/* Values and rows of recordings. */
#ifndef OPK_EVAL_H
#define OPK_EVAL_H

#include "adapters/nv/nv.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/strlist.h"
#include "child/child.h"
#include "container/container.h"
#include "eval/door.h"
#include "formula/formula.h"
#include "resolve/resolve.h"

/* ---- range_path.c: paths of ranges */

/* Where the part that begins here ends: at the next '/' that is not escaped, or at the end. */
size_t opk_path_end_part(const char *path, size_t at);
/* The parts that are of the same NVTX domain as the one that begins at `part`. free() */
char *opk_path_of_domain(const char *path, size_t part);

/* What the child that evaluates and the parent that reads share: eval_child.c, eval.c. */

/* What a child that is kept has from its last job. */
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
	/* NULL: each range is a row. Else images are made, from first_mean on, before end_mean. */
	const struct opk_joining *joining;
	size_t first_mean, end_mean;
	bool partial; /* of the segments above alone: the result is the image, not yet values */
	struct opk_eval_warm *warm; /* NULL: a child that ends with the job */
	struct opk_result *parts;   /* of such results, instead of segments; NULL: none */
	size_t part_count;
};

/*
 * The result: a header, a unit for each metric, rows with their names and values, what is
 * remarkable of them, a trailer.
 */
struct opk_spool_header {
	char chip[32];
	int32_t profiler;
	struct opk_nv_versions versions; /* of the libraries that made the values */
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
	uint64_t remarks; /* so many struct opk_remark are before it */
};

enum { OPK_MAX_RANGE_NAME = 1 << 16, OPK_MAX_UNIT = 1 << 16, OPK_MAX_WORKERS = 1024 };

/*
 * Finds how many ranges or samples of an image are rows. OPK_EINPUT where what it says of itself
 * can't be, or where it is to have all passes, which is pass 0, and ranges of it are not whole.
 */
int opk_image_check(size_t *rows, struct opk_ctx *ctx, const struct opk_nv_image_info *info,
                    size_t size, enum opk_profiler profiler, uint32_t pass);
/* OPK_EINPUT where its tables have another number of rows. */
int opk_segment_check(struct opk_ctx *ctx, const struct opk_segment *segment, size_t rows);

/* Whether a column is nan in every row, and a note has said why. */
bool opk_evaluation_is_explained(const struct opk_evaluation *evaluation, size_t column);
/* Whether a column shows a throughput that may be more, since not all of its parts are known. */
bool opk_evaluation_is_bound(const struct opk_evaluation *evaluation, size_t column);

/* Says which metrics are in which pass; the metadata in it is NULL for a bare image. */
const struct opk_measured *opk_evaluation_passes(const struct opk_evaluation *evaluation);

/* Whether its filter has conditions on values. */
bool opk_evaluation_chooses_values(const struct opk_evaluation *evaluation);

/* The name of a value that each such condition is on. None where the filter is NULL. */
size_t opk_filter_value_count(const struct opk_filter *filter);
const char *opk_filter_value(const struct opk_filter *filter, size_t i);

/* opk_evaluation_next() begins with the first row again. */
void opk_evaluation_rewind(struct opk_evaluation *evaluation);

/* Rows in memory: what ran, what tables say, and joined ranges. */
struct opk_made_rows {
	struct opk_range *ranges;
	struct opk_ran *ran;       /* or NULL */
	struct opk_joined *joined; /* or NULL: see struct opk_row */
	double *values;            /* of each row, one a metric */
	size_t count;
};
void opk_made_rows_clear(struct opk_made_rows *rows);
/* An evaluation that has its columns and no rows yet; `file` has metadata at least. */
int opk_evaluation_begin_made(struct opk_evaluation **out, struct opk_ctx *ctx,
                              struct opk_file *file, enum opk_profiler profiler,
                              const struct opk_eval_options *options);
/* Takes over the rows; units are those of the first metrics of `samples`, or NULL: of none. */
int opk_evaluation_put_made(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                            struct opk_made_rows *rows, const struct opk_evaluation *samples);

struct opk_columns;
/* What it shows, and of what. */
const struct opk_columns *opk_evaluation_columns(const struct opk_evaluation *evaluation);

/* The job of all images of a file, but for its metrics; free *unwanted. NULL: no filter. */
int opk_eval_job_of_file(struct opk_eval_job *job, bool **unwanted, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_filter *filter);

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
/* The chip and the profiler of a job's bare image: a name and a number. */
int opk_image_origin_in_child(struct opk_ctx *ctx, void *job, struct opk_child *child);

/*
 * What an evaluation shows, and which metrics it takes: columns are metrics, under their names or
 * labels, and what is derived from metrics.
 */

/* The names in the formula are numbered as the values are: derived ones, then metrics. */
struct opk_derivation {
	struct opk_formula *formula; /* NULL: no column needs it */
	size_t *operands;
	char *unit; /* declared or computed; NULL: not known */
};

struct opk_columns {
	const struct opk_meta *meta; /* NULL: a bare image's */
	const char *const
		*metrics; /* to evaluate: `owned`, or those of the caller or the recording */
	const char **owned;
	size_t metric_count;
	struct opk_strlist names; /* of the columns */
	size_t *sources;          /* of each column: which value it shows */
	const struct opk_meta_heading *
		*headings; /* over each column, or NULL; borrowed from the metadata */
	struct opk_derivation *derived;
	size_t derived_count;
	/* The values that there are besides, for conditions and the order of rows. */
	size_t *also;
	size_t also_count;
	double *values;
	uint64_t *numbers;
};

/* Names of metrics, labels, derived ones and attributes. */
struct opk_wanted {
	const char *const *shown; /* NULL: all that a recording shows by itself */
	size_t shown_count;
	const char *const *also;
	size_t also_count;
};

/*
 * `meta` is NULL for a bare image. OPK_EINPUT where a formula that is needed can't be computed,
 * OPK_EUSAGE where a wanted name is nothing's. Borrows from both.
 */
int opk_columns_init(struct opk_columns *columns, struct opk_ctx *ctx, const struct opk_meta *meta,
                     const struct opk_wanted *wanted);
void opk_columns_clear(struct opk_columns *columns);
/* Computes undeclared units from those of the metrics, where "" is an unknown unit. */
int opk_columns_find_units(struct opk_columns *columns, struct opk_ctx *ctx,
                           const struct opk_strlist *units);
/* The values of all columns for those of all metrics. */
void opk_columns_compute(double *out, const struct opk_columns *columns, const double *metrics);
/* The values that there are besides. */
void opk_columns_compute_also(double *out, const struct opk_columns *columns,
                              const double *metrics);
/* The least of the metrics that each column is made from; UINT64_MAX where there is no metric. */
void opk_columns_least(uint64_t *out, const struct opk_columns *columns, const uint64_t *metrics);

/* What a value is, as far as names of metrics and formulas say it: traits.c. */
struct opk_traits {
	/*
	 * 1: values can be added up over ranges; 0: that of several ranges is a ratio of their
	 * sums, or whatever does not grow with their number; or OPK_NO_DEGREE.
	 */
	int degree;
	/*
	 * How it grows with the GPU's clock where everything takes as many cycles as before: 1: a
	 * rate per second; -1: a time; 0: counts, cycles, percentages; or OPK_NO_DEGREE.
	 */
	int clock;
	bool of_gpu; /* a peak or a clock: what the GPU can do, not what the program did */
};
struct opk_traits opk_metric_traits(const char *metric);
/* Their degree alone. */
int opk_metric_degree(const char *metric);
/* Whether what comes after the metric's name is something whose traits are known. */
bool opk_metric_traits_known(const char *metric);
/* Whether it is the elapsed cycles of a unit, which may stand for a time. */
bool opk_metric_is_cycles(const char *metric);
/* Whether it is the clock that SMs run at, in cycles per second. */
bool opk_metric_is_sm_clock(const char *metric);
/* The traits of all columns, and then those of the values that there are besides. */
int opk_columns_traits(struct opk_traits *out, struct opk_ctx *ctx,
                       const struct opk_columns *columns);

/* A set on a recording's chip as metadata: what is evaluated instead of what the recording says. */
struct opk_set_meta {
	struct opk_resolved resolved;
	struct opk_meta_label *labels;
	struct opk_meta meta; /* borrows from both, and from the recording's */
};
/* *out begins zeroed, and has to be cleared after a failure, too; `recorded` may be NULL. */
int opk_set_meta_init(struct opk_set_meta *out, struct opk_ctx *ctx, const struct opk_set *set,
                      const char *chip, enum opk_profiler profiler,
                      const struct opk_meta *recorded);
void opk_set_meta_clear(struct opk_set_meta *meta);

/* Values of the ranges of many images, by the faster of two evaluators, in a child. */

/* What is remarkable of a metric in some rows. */
enum opk_remark_kind {
	OPK_PART_LACKS, /* a part of a throughput is nan, though its unit worked: so is all of it */
	OPK_PART_FAILS, /* a part can't be evaluated: the throughput may be more */
	OPK_PARTS_UNKNOWN, /* nor does the library say which there are: it may be more */
	OPK_UNDIVIDED,     /* nor this, though all that it says is needed was collected */
	OPK_ABOVE_WHOLE,   /* a share of more than all */
	OPK_REMARK_KINDS,
	OPK_THROUGHPUT_KINDS = OPK_ABOVE_WHOLE
};

/*
 * In how many rows; of a throughput the first such part, and what the others amount to; of a share
 * how much it is. In percent.
 */
struct opk_remark {
	uint64_t metric, rows, kind;
	double least, most;
	char part[192];
};
void opk_remark_add(struct opk_remark *all, const struct opk_remark *one);
/* Whether values of a metric are percentages of a whole; full name. */
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

/* What says whether the unit of a part was idle: asked where the part is nan, made once. */
struct opk_idleness {
	char *names[2]; /* the sum of what the part counts, and the peak that it is a share of */
	struct opk_nv_requests *requests; /* NULL: by CUPTI */
	bool made, refused;
};

/* What is evaluated together: names, also as PerfWorks takes them, and the values of a range. */
struct opk_value_list {
	const char **names;
	size_t count;
	double *values;
	struct opk_nv_requests *requests; /* NULL: by CUPTI */
};

struct opk_values {
	const char *chip;
	enum opk_profiler profiler;
	const char *single_pass; /* CUPTI's single-pass set that has the metrics; NULL: none */
	const char *const *metrics;
	size_t metric_count;
	struct opk_nv_evaluator *evaluator; /* PerfWorks', borrowed; NULL: CUPTI alone */
	struct opk_nv_host *host;           /* CUPTI's, where it has to be */
	/* The image at hand. */
	const void *image;
	size_t image_size;
	void *head; /* of the device that the evaluators are set to; NULL: not known */
	size_t head_size;
	bool *wanted; /* the metrics that its ranges have */
	struct opk_value_list asked, parts;
	bool *failed; /* of those parts: which could not be evaluated in the row at hand */
	struct opk_throughputs throughputs;
	struct opk_remark *above;      /* one a metric */
	struct opk_idleness *idleness; /* one a part of the throughputs */
};

/* Takes down which shares of a range are above the whole. */
void opk_values_remark(struct opk_values *values, const double *of_range);
/* Strings, names and the evaluator are borrowed. */
int opk_values_init(struct opk_values *values, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const char *const *metrics, size_t count,
                    struct opk_nv_evaluator *evaluator);
void opk_values_clear(struct opk_values *values);
/*
 * The metrics that were recorded: throughputs that need nothing else are trusted as far as they can
 * be, where the library does not say which parts they have.
 */
int opk_values_trust(struct opk_values *values, struct opk_ctx *ctx, const struct opk_meta *meta);
/* The image whose ranges are next, borrowed, and whether its ranges have each of the metrics. */
int opk_values_of_image(struct opk_values *values, struct opk_ctx *ctx, const void *image,
                        size_t size, const bool *wanted);
/*
 * One a metric; NaN where it is not wanted, and of a throughput one of whose parts is lacking.
 * OPK_EUSAGE: a metric is unknown.
 */
int opk_values_of_range(double *out, struct opk_values *values, struct opk_ctx *ctx, size_t index);

/*
 * So many ranges of a pass make a mean at most: counts in images have 32 bits, and add units of
 * 4,096 at most for each range.
 */
enum { OPK_MOST_AVERAGED = (1 << 20) - 1 };

/* What images of one GPU have in common whose ranges can be added up. Begins zeroed. */
struct opk_layout {
	uint8_t *head;
	size_t size;
};
/* In a child: whether the image is another one of these; the first one always is. */
int opk_layout_fits(bool *fits, struct opk_layout *layout, struct opk_ctx *ctx, const void *image,
                    size_t size);
void opk_layout_clear(struct opk_layout *layout);

/* Key groups: ranges that share a key; what a key has, and what its ranges have in common. */

enum opk_key_part {
	OPK_KEY_NAME = 1 << 0,
	OPK_KEY_KERNEL = 1 << 1, /* and its symbol */
	OPK_KEY_SHAPE = 1 << 2,  /* grid and block */
	OPK_KEY_SHARED = 1 << 3, /* bytes of shared memory */
	OPK_KEY_LAUNCH = 1 << 4, /* index */
	OPK_KEY_NVTX = 1 << 5,
	OPK_KEY_DEVICE = 1 << 6, /* its index, on whatever host */
	OPK_KEY_RANK = 1 << 7,
	OPK_KEY_PASS = 1 << 8,
	OPK_KEY_GPU = 1 << 9, /* of one host */
	OPK_KEY_HOST = 1 << 10,
	OPK_KEY_ALL = 1 << 11, /* that they are ranges */
};

/* "kernel,rank" to parts. OPK_EUSAGE says which words there are. */
int opk_key_parse(unsigned *out, struct opk_ctx *ctx, const char *text);

struct opk_grouped {
	struct opk_range range; /* what all have in common; what they differ in is as unknown */
	char *name;             /* of the first */
	bool many_names;
	bool many_streams; /* `range.stream` can't say that it is unknown */
	uint64_t rows;
	uint64_t ranges;                    /* that the rows are of: more, where some are sums */
	uint64_t durations, duration_count; /* the sum of those known, and their number */
	char *key;                          /* what the numbers are found by */
};

/* Begin with { .key = parts }. Groups are in the order of the first range of each. */
struct opk_grouping {
	unsigned key;
	uint64_t besides; /* a part of the keys of what is added or found next */
	struct opk_grouped *groups;
	size_t count;
	size_t capacity;
	struct opk_index numbers; /* of groups, by their keys */
	/* The group of what was added last: most ranges are of the same one. */
	size_t last;
	uint64_t last_besides;
};

/* `range` may be NULL, where nothing is known of it but its name; its strings are borrowed. */
int opk_grouping_add(size_t *group, struct opk_grouping *grouping, struct opk_ctx *ctx,
                     const char *name, const struct opk_range *range);
/* SIZE_MAX where there is none yet. */
int opk_grouping_find(size_t *group, const struct opk_grouping *grouping, struct opk_ctx *ctx,
                      const char *name, const struct opk_range *range);
void opk_grouping_clear(struct opk_grouping *grouping);
#define opk_autogrouping __attribute__((cleanup(opk_grouping_clear)))

/* The evaluated metrics that have all their counters in a pass. */

struct opk_measured {
	const struct opk_meta *meta; /* NULL: a bare image, of all passes */
	size_t *positions;           /* of the evaluated metrics in the set, or OPK_NOT_IN_SET */
	size_t count;
	bool *attribute; /* of the evaluated metrics: no image has it */
	bool *current;   /* of the evaluated metrics: what the last call gave */
	bool known;      /* there was a call, for this pass */
	uint32_t pass;
};

#define OPK_NOT_IN_SET SIZE_MAX

/* Borrows `meta`. */
int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count);
void opk_measured_clear(struct opk_measured *measured);

/*
 * One a metric, valid until the next call: whether a range of this pass alone may have it; pass 0
 * stands for all passes. Attributes are not measured. Metrics whose passes are not known may be
 * computed from what is there: they are true.
 */
const bool *opk_measured_by(struct opk_measured *measured, uint32_t pass);
/*
 * Whether a range of the pass of the last call has the metric, and with this value: NaN is a
 * measured value, too, unless the passes are not known.
 */
bool opk_measured_has(const struct opk_measured *measured, size_t metric, uint32_t pass,
                      double value);
/*
 * The least number of ranges over the passes that a metric needs, or over those that there are
 * where the list is empty; and whether it is the same in all. `launches`: ranges that have all
 * passes, and then of each pass.
 */
uint64_t opk_launches_least(bool *equal, const struct opk_pass_list *needed,
                            const uint64_t *launches, size_t passes);
/* The passes of one of the evaluated metrics; an empty list where they are not known. */
const struct opk_pass_list *opk_measured_passes(const struct opk_measured *measured, size_t metric);

#endif
