/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_EVAL_DOOR_H
#define OPK_EVAL_DOOR_H

#include "base/mem.h"
#include "container/door.h"

/* One evaluated range or sample. */
struct opk_row {
	size_t index;     /* over all images of the evaluation, from 0 */
	const char *name; /* range name, nested levels joined by '/'; "" for samples */
	/* For samples: host time where recorded or shifted, else GPU time. */
	uint64_t start_ns, end_ns;
	bool spans_earlier;            /* first sample of a session: begins at an earlier event */
	const double *values;          /* one a metric; NaN: CUPTI could not compute it */
	const struct opk_range *range; /* its row of the range table, a sample's device, or NULL */
	/* One a metric; false: the range has not all passes of it, and the value is NaN. */
	const bool *measured;
	const struct opk_ran *ran;       /* of samples divided among what ran; else NULL */
	const struct opk_joined *joined; /* NULL: the row is a single range or sample */
};

/*
 * What a row that several ranges make says besides: its range has what they have in common, what
 * they differ in is as unknown, and `duration_ns` is the mean of those known.
 */
struct opk_joined {
	bool many_streams;   /* `range.stream` can't say that it is unknown */
	uint64_t ranges;     /* of this row, also those beyond the most that are taken */
	uint64_t ranges_min; /* `counts` of the value that has the least */
	/*
	 * One a metric: ranges of the pass that has its counters, or of that of its passes that has
	 * the fewest; 0: a pass of it is missing, and the value is NaN. The first 2^20 - 1 ranges
	 * of each pass are taken.
	 */
	const uint64_t *counts;
};

/* What a row of what ran says besides its range, which has what several launches share. */
struct opk_ran {
	const char *kind;  /* "kernel", "copy" or "set"; "idle" */
	uint64_t launches; /* that the row is of; of idle time: pauses */
	uint64_t time_ns;  /* of all; range.duration_ns is the mean launch, and all idle time */
	uint64_t least_ns, most_ns;
	uint64_t shared_ns; /* of this time, others ran on the GPU, too */
	uint64_t bytes;     /* of copies and sets */
	uint64_t samples;   /* it ran in so many */
	/* As good as so many in which it ran alone; 0 also where there is no telling it apart. */
	uint64_t samples_alone;
	/* It has no values: too short, or too few samples tell it apart. */
	bool unknown;
};

/* What rooms and the command ask for beside struct opk_eval_options. */
struct opk_eval_inside {
	/* What else is evaluated, beside the columns: as `metrics`, borrowed. */
	const char *const *also;
	size_t also_count;
	/*
	 * NULL: each range is a row. "kernel": launches of the same kernel, symbol, launch shape,
	 * shared memory and GPU are one; "launch": those of the same kernel and shape with the same
	 * index, GPU and rank; "name": ranges of the same name, GPU and rank. "": as the recording
	 * says. OPK_EINPUT where there is no range table; OPK_EUSAGE for any other word, and for
	 * any but "" with samples or a bare image.
	 */
	const char *join;
	bool cupti_only; /* not by PerfWorks' evaluator, which gives the same bits in less time */
};
/* What the options point to, or nothing of it. */
static inline const struct opk_eval_inside *opk_eval_inside(const struct opk_eval_options *options)
{
	static const struct opk_eval_inside none = { 0 };

	return options->inside ? options->inside : &none;
}

/*
 * What rows have besides values, names, kernels, launch shapes, times: the columns before the
 * values, in their order; what conditions and databases take, too.
 */
enum opk_fact {
	OPK_FACT_SAMPLE, /* index over all images of the evaluation, from 0 */
	OPK_FACT_SAMPLE_START,
	OPK_FACT_SAMPLE_END,
	OPK_FACT_SPANS_EARLIER,
	OPK_FACT_RANGE, /* index, as for samples */
	OPK_FACT_NAME,
	OPK_FACT_KERNEL,
	OPK_FACT_SYMBOL,
	OPK_FACT_GRID, /* "32x32x1" */
	OPK_FACT_BLOCK,
	OPK_FACT_GRID_X,
	OPK_FACT_GRID_Y,
	OPK_FACT_GRID_Z,
	OPK_FACT_BLOCK_X,
	OPK_FACT_BLOCK_Y,
	OPK_FACT_BLOCK_Z,
	OPK_FACT_DEVICE, /* samples have it, too */
	OPK_FACT_LAUNCH,
	OPK_FACT_SHARED_BYTES,
	OPK_FACT_REGISTERS,
	OPK_FACT_STREAM,
	OPK_FACT_CONTEXT,
	OPK_FACT_NVTX,
	OPK_FACT_PROCESS,
	OPK_FACT_RANK,
	OPK_FACT_HOST, /* samples have it, too, and the next one */
	OPK_FACT_GPU,  /* its UUID or PCI address */
	OPK_FACT_SM_MHZ,
	OPK_FACT_MEMORY_MHZ,
	OPK_FACT_START,
	OPK_FACT_SUMMED, /* ranges of which this one is the sum */
	OPK_FACT_DURATION,
	OPK_FACT_LAUNCHES, /* ranges joined in the row */
	OPK_FACT_LAUNCHES_MIN,
	/* What ran: struct opk_ran. Other rows have none of it. */
	OPK_FACT_KIND,
	OPK_FACT_END,
	OPK_FACT_TIME,
	OPK_FACT_LEAST,
	OPK_FACT_MOST,
	OPK_FACT_SHARED,
	OPK_FACT_BYTES,
	OPK_FACT_SAMPLES,
	OPK_FACT_SAMPLES_ALONE,
	OPK_FACT_COUNT
};

/* Conditions: see `where` of struct opk_eval_options. They are copied. */
struct opk_filter;
int opk_filter_new(struct opk_filter **out, struct opk_ctx *ctx, const char *const *conditions,
                   size_t count);
void opk_filter_free(struct opk_filter *filter);
OPK_DEFINE_AUTO(opk_filter)

/*
 * Whether a row meets the conditions on facts, as far as these are known; those in `unknown`,
 * 1 << fact each, are not yet. Conditions on values are not judged. The row is of a profiler whose
 * rows have these facts. A filter that is NULL accepts all rows.
 */
int opk_filter_accepts(bool *out, struct opk_ctx *ctx, const struct opk_filter *filter,
                       enum opk_profiler profiler, const struct opk_row *row, uint64_t unknown);

/*
 * Evaluates counter data (NVPW_MetricsEvaluator_EvaluateToGpuValues where it can be had for ranges,
 * else cuptiProfilerHostEvaluateToGpuValues) in child processes, because NVIDIA's code crashes,
 * hangs or runs wild on damaged images: such an end is OPK_EINPUT here. All rows are computed
 * before the first can be read, and they and errors are the same however many children there are.
 * Children are forked and not replaced by exec. Other threads may work meanwhile, with contexts of
 * their own: none of them is in NVIDIA's code at a fork. One that is in the dynamic loader may hold
 * a child up; after opk_nvidia_get_info() children do not use the loader. Small recordings are
 * evaluated by a child that stays for the next ones, where the shared library is used: it is the
 * library itself, run as a program, has none of this process's memory and files, and no wait() of
 * this process finds it. It ends with the last context, or after a minute without work. Where there
 * can be none, or it ends otherwise, a forked child does the work. From an .opk file every
 * checksum is verified before a byte reaches NVIDIA's code; a bare image can't be verified. With a
 * filter only rows that it takes are evaluated, and images that have none, as the file's tables
 * say, are not even read.
 */
struct opk_evaluation;
/*
 * `file` must outlive the evaluation. OPK_EUSAGE: metrics that can't be evaluated on the chip, or a
 * filter on values that there are not. OPK_EINPUT: the file is damaged or cut off, or NVIDIA's code
 * can't read an image. OPK_EFAILED: there is no room for rows in the folder of temporary files.
 */
int opk_eval_file(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *options);
void opk_evaluation_free(struct opk_evaluation *evaluation);
OPK_DEFINE_AUTO(opk_evaluation)
/*
 * What there is to show: the metrics, under their labels where the recording has any and no others
 * were asked for, without hidden ones, and derived metrics. Metrics that these need are evaluated,
 * asked for or not.
 */
size_t opk_evaluation_column_count(const struct opk_evaluation *evaluation);
const char *opk_evaluation_column(const struct opk_evaluation *evaluation, size_t i);
/* NVIDIA's, or for derived metrics as declared or as the formula makes it; "": it is not known. */
const char *opk_evaluation_column_unit(const struct opk_evaluation *evaluation, size_t i);
/*
 * Fills opk_evaluation_column_count() values, each in its column's unit, from the
 * `values` of a row. NaN: a metric that it needs is
 * NaN, or the formula has no value.
 */
void opk_evaluation_compute(double *columns, const struct opk_evaluation *evaluation,
                            const double *metrics);
/*
 * The next row that the filter takes, valid until the next call; *row is NULL after the last.
 * OPK_EINPUT: what the child processes wrote can't be read back.
 */
int opk_evaluation_next(const struct opk_row **row, struct opk_ctx *ctx,
                        struct opk_evaluation *evaluation);

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
/* What is doubtful of values, in sentences that were noted, too. */
const struct opk_strlist *opk_evaluation_doubts(const struct opk_evaluation *evaluation);

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
 * Whether its rows are made of ranges that describe the same thing, each of which may have one pass
 * of several: see `join` of struct opk_eval_inside. Of each pass the counters of all its ranges
 * become those of a mean range (NVPW_CounterDataCombiner_AccumulateIntoRange), and this range,
 * which has the counters of all passes, is evaluated. Rows come in the order of their first ranges.
 */
bool opk_evaluation_is_joined(const struct opk_evaluation *evaluation);
/* Images of a cut-off file that have no range table: their ranges are in no joined row. */
uint64_t opk_evaluation_left_out(const struct opk_evaluation *evaluation);

/*
 * The ranges or samples of a recording as its own tables have them, without values: no NVIDIA
 * library is needed, and images are not read, so that one without a table has no rows here. Names
 * are "" where only the image has them. Of the options only conditions count. `file` must outlive
 * the evaluation. OPK_EUSAGE: there are conditions on values.
 */
int opk_recorded_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options);

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
 * are nanoseconds, clocks MHz.
 */
union opk_cell opk_fact_get(struct opk_fact_text *text, enum opk_fact fact,
                            const struct opk_row *row);

/* How kernels are called: see enum opk_kernel_style. */
struct opk_kernel_names;
int opk_kernel_names_new(struct opk_kernel_names **out, struct opk_ctx *ctx,
                         enum opk_kernel_style style);
void opk_kernel_names_free(struct opk_kernel_names *names);
/*
 * The kernels of these ranges are among those to be kept apart: add all of them before the first
 * opk_kernel_names_get(). Texts are copied.
 */
int opk_kernel_names_add(struct opk_kernel_names *names, struct opk_ctx *ctx,
                         const struct opk_range *ranges, size_t count);
/*
 * What the kernel of the range is called, borrowed from `names` or the range. One that was not
 * added has its full name, and "" stays "". It can't fail: where memory runs out names are full.
 */
const char *opk_kernel_names_get(struct opk_kernel_names *names, const struct opk_range *range);
OPK_DEFINE_AUTO(opk_kernel_names)

#endif
