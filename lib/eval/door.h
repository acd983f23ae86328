/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_EVAL_DOOR_H
#define OPK_EVAL_DOOR_H

#include "base/index.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "container/door.h"

/* One evaluated range or sample. */
struct opk_row {
	size_t index;     /* over all images of the evaluation, from 0 */
	const char *name; /* range name, nested levels joined by '/'; "" for samples */
	/* For samples: host time where recorded or shifted, else GPU time. */
	uint64_t start_ns, end_ns;
	bool spans_earlier;   /* first sample of a session: begins at an earlier event */
	const double *values; /* one per metric; NaN: CUPTI could not compute it */
	const struct opk_range
		*range; /* its row of the range table; a sample: its device; or NULL */
	/* One per metric; false: the range lacks a pass of it, and the value is NaN. */
	const bool *measured;
	const struct opk_ran *ran;       /* of samples divided among what ran; else NULL */
	const struct opk_joined *joined; /* NULL: the row is a single range or sample */
	const struct opk_code *code;     /* of a row of code; else NULL */
};

/*
 * A row made of several ranges. Its `range` has the facts that they have in common; facts that
 * differ count as unknown, and `duration_ns` is the mean of the known durations.
 */
struct opk_joined {
	bool many_streams;   /* `range.stream` can't say that it is unknown */
	uint64_t ranges;     /* in this row, with those beyond the limit */
	uint64_t ranges_min; /* the least of the `counts` of its values */
	/*
	 * One per metric: how many ranges have the pass with its counters; with several passes, the
	 * least of their counts. 0: a pass is missing, and the value is NaN. Of each pass only the
	 * first OPK_MOST_AVERAGED ranges are used.
	 */
	const uint64_t *counts;
};

/* METRIC:within is how far a metric's value may be off that all launches together gave. */
#define OPK_WITHIN ":within"

/* A row of what ran. The row's `range` has what its launches have in common. */
struct opk_ran {
	const char *kind;  /* "kernel", "copy" or "set"; "idle"; "bin": samples of some time */
	uint64_t launches; /* in the row; for idle time: pauses */
	/* All launches; range.duration_ns has the mean launch, or all idle time. */
	uint64_t time_ns;
	uint64_t least_ns, most_ns;
	uint64_t shared_ns; /* part of this time in which others ran on the GPU, too */
	/*
	 * Launches whose call is recorded. Their sums: the time from the call's beginning to the
	 * start; in which the GPU did nothing before; of that, in which it was not called yet.
	 */
	uint64_t called, latency_ns, gap_ns, host_gap_ns;
	uint64_t graph_node; /* that launched all of it; 0: none, or several */
	uint64_t bytes;      /* of copies and sets */
	uint64_t samples;    /* samples in which it ran */
	/* Its evidence is worth this many samples of it alone; 0 also if it can't be told apart. */
	uint64_t samples_alone;
	/* It has no values: too short, or too few samples tell it apart. */
	bool unknown;
	bool fitted;  /* some values are from what all of its launches have in common */
	bool divided; /* some are parts of samples, in a recording that has short launches */
	bool few;     /* samples alone don't tell it apart: values that are not fitted are NaN */
};

/* What is known of instructions: exact counts, or how many samples found a warp there. */
enum opk_count_kind { OPK_COUNTED, OPK_SAMPLED, OPK_COUNT_KINDS };
/* The kind by the metric's name; OPK_COUNT_KINDS: it is not a metric of instructions. */
enum opk_count_kind opk_count_kind(const char *metric);

/*
 * The lines of a function in a file, by all its instructions. The first one; hashes of which lines
 * have code, and of the line of each instruction, both counted from the first. 0: unknown.
 */
struct opk_code_lines {
	uint32_t first;
	uint64_t set, layout;
};

/* A row of code: an instruction, a line or a function. */
struct opk_code {
	uint64_t module; /* CRC */
	bool of_module;  /* false: a line may be in several */
	bool is_one;     /* `offset` is known */
	uint32_t offset; /* of the instruction in its function, bytes */
	/* As a disassembler writes it; "" without one, or without the module's code. */
	const char *opcode; /* "LDG.E" */
	const char *sass;   /* "@P0 LDG.E R3,desc[UR4][R2.64]" */
	/* An instruction's own, also where it was inlined; for a line, the function's. */
	const char *source; /* path; "" if unknown */
	uint32_t line;      /* 0: unknown */
	/* The function's own line; another one where what it calls there was inlined. */
	const char *own_source;
	uint32_t own_line;
	/* Where an instruction was inlined: "FILE:LINE", its callers after " < "; or "". */
	const char *inlined_at;
	uint64_t instructions;
	uint64_t launches; /* that were counted; 0: unknown */
	/* By the sections with counts, and by those with PC samples; `launches` is the larger. */
	uint64_t launches_of[OPK_COUNT_KINDS];
	/* Sampled launches of its function in all modules, also those without this row. */
	uint64_t sampled_launches;
	struct opk_code_lines lines; /* of the function, in the file of `own_line` */
};

/*
 * The interval of a sample in a file's rows of code: 2^shortest cycles. Where intervals differ, a
 * sample of a longer one counts for several. 0: it is not known, or there are no samples.
 */
struct opk_code_interval {
	uint32_t shortest, longest;
};

/* What people read instead of an empty path of NVTX ranges. */
#define opk_no_range "(no range)"

/* Options for rooms and the command, besides struct opk_eval_options. */
struct opk_eval_inside {
	/* Further names to evaluate besides the columns, in the form of `metrics`; borrowed. */
	const char *const *also;
	size_t also_count;
	/*
	 * NULL: each range is a row. "kernel": launches with the same kernel, symbol, launch shape,
	 * shared memory and GPU make one row; "launch": launches with the same kernel, shape,
	 * index, GPU and rank; "name": ranges with the same name, GPU and rank. "": as the
	 * recording says. OPK_EINPUT: there is no range table. OPK_EUSAGE: any other word, and for
	 * any but "" with samples or a bare image.
	 */
	const char *join;
	/*
	 * Of rows of kernels that ran, what also keeps them apart: "rank", or shape, device, host
	 * or several; NULL: nothing. OPK_EUSAGE: any other word.
	 */
	const char *by;
	uint64_t resample_ns; /* samples of so much time make a row; 0: each is one */
	bool latest_bin;      /* with it: only each GPU's latest row whose time is over */
	bool cupti_only;   /* skips PerfWorks' evaluator, which gives the same bits in less time */
	bool from_images;  /* also where the file has the values already */
	bool silent;       /* remarks on values are kept, and no notes say them */
	bool without_rows; /* columns alone, for statistics that have rows from elsewhere */
	bool without_sass; /* rows of instructions: opcodes and SASS texts are not wanted */
	struct opk_code_interval *interval; /* filled for rows of code; NULL: it is not wanted */
};
/* The options' `inside`, or one with all zeros. */
static inline const struct opk_eval_inside *opk_eval_inside(const struct opk_eval_options *options)
{
	static const struct opk_eval_inside none = { 0 };

	return options->inside ? options->inside : &none;
}

/*
 * Facts of rows, such as names, kernels, launch shapes and times. They are the columns before the
 * values, in this order; conditions and databases use them, too.
 */
enum opk_fact {
	OPK_FACT_SAMPLE, /* index over all images of the evaluation, from 0 */
	OPK_FACT_SAMPLE_START,
	OPK_FACT_SAMPLE_END,
	OPK_FACT_BINNED,  /* how many samples the row is made of */
	OPK_FACT_COVERED, /* the time of these samples */
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
	OPK_FACT_SUMMED, /* how many ranges this one is the sum of */
	OPK_FACT_DURATION,
	OPK_FACT_LAUNCHES, /* ranges joined in the row */
	OPK_FACT_LAUNCHES_MIN,
	/* From struct opk_ran; only rows of what ran have these. */
	OPK_FACT_KIND,
	OPK_FACT_END,
	OPK_FACT_TIME,
	OPK_FACT_LEAST,
	OPK_FACT_MOST,
	OPK_FACT_SHARED,
	OPK_FACT_GRAPH_NODE,
	OPK_FACT_LATENCY, /* a mean; this and the next two: only if calls were recorded */
	OPK_FACT_GAP,
	OPK_FACT_HOST_GAP,
	OPK_FACT_BYTES,
	OPK_FACT_SAMPLES,
	OPK_FACT_SAMPLES_ALONE,
	/* From struct opk_code; only rows of instructions, lines and functions have these. */
	OPK_FACT_MODULE,
	OPK_FACT_FUNCTION, /* the kernel's or device function's name */
	OPK_FACT_OFFSET,
	OPK_FACT_OPCODE,
	OPK_FACT_SASS,
	OPK_FACT_SOURCE,
	OPK_FACT_LINE,
	OPK_FACT_INLINED_AT,
	OPK_FACT_ADDRESSES,
	OPK_FACT_COUNT
};

/* Conditions: see `where` of struct opk_eval_options. They are copied. */
struct opk_filter;
int opk_filter_new(struct opk_filter **out, struct opk_ctx *ctx, const char *const *conditions,
                   size_t count);
void opk_filter_free(struct opk_filter *filter);
OPK_DEFINE_AUTO(opk_filter)
/* OPK_EUSAGE if rows of this profiler lack a fact that a condition names. `filter` may be NULL. */
int opk_filter_check(const struct opk_filter *filter, struct opk_ctx *ctx,
                     enum opk_profiler profiler);
/* Until this, names of facts that only rows of code have are names of values. */
void opk_filter_judge_code(struct opk_filter *filter);

/*
 * Whether a row meets the conditions on known facts; `unknown` has 1 << fact for each fact that is
 * not known yet. Conditions on values are ignored. `profiler` is the row's, and must have the facts
 * of the conditions. A NULL filter accepts all rows.
 */
int opk_filter_accepts(bool *out, struct opk_ctx *ctx, const struct opk_filter *filter,
                       enum opk_profiler profiler, const struct opk_row *row, uint64_t unknown);

/*
 * Evaluates counter data (NVPW_MetricsEvaluator_EvaluateToGpuValues for ranges where it is
 * available, else cuptiProfilerHostEvaluateToGpuValues) in child processes, because NVIDIA's code
 * crashes, hangs or runs wild on damaged images: such an end is OPK_EINPUT here. All rows are
 * computed before the first can be read. Rows and errors do not depend on the number of children.
 * Children are forked without exec. Other threads may use contexts of their own meanwhile: none of
 * them is in NVIDIA's code at a fork. A thread in the dynamic loader may delay a child; after
 * opk_nvidia_get_info() children do not use the loader. With the shared library, a child that stays
 * for later ones evaluates small recordings. It is the library itself, run as a program; it shares
 * no memory or files with this process, and no wait() of this process finds it. It ends with the
 * last context, or after a minute without work. Where it can't start or fails, a forked child does
 * the work. From an .opk file every checksum is verified before a byte reaches NVIDIA's code; a
 * bare image can't be verified. With a filter, only rows that it takes are evaluated; images
 * without such rows, by the file's tables, are not even read.
 */
struct opk_evaluation;
/*
 * `file` must outlive the evaluation. OPK_EUSAGE: metrics that can't be evaluated on the chip, or a
 * filter on values that don't exist. OPK_EINPUT: the file is damaged or cut off, or NVIDIA's code
 * can't read an image. OPK_EFAILED: the folder of temporary files has no space for the rows.
 */
int opk_eval_file(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *options);
void opk_evaluation_free(struct opk_evaluation *evaluation);
OPK_DEFINE_AUTO(opk_evaluation)
/*
 * The columns to show: the metrics that are not hidden, and derived metrics. Without metrics in the
 * options, metrics with labels go by these. Metrics that derived ones need are evaluated even if
 * not asked for.
 */
size_t opk_evaluation_column_count(const struct opk_evaluation *evaluation);
const char *opk_evaluation_column(const struct opk_evaluation *evaluation, size_t i);
/* NVIDIA's unit; for derived metrics the declared or the formula's unit; "": not known. */
const char *opk_evaluation_column_unit(const struct opk_evaluation *evaluation, size_t i);
/*
 * The next row that the filter takes, valid until the next call; *row is NULL after the last.
 * OPK_EINPUT: what the child processes wrote can't be read back.
 */
int opk_evaluation_next(const struct opk_row **row, struct opk_ctx *ctx,
                        struct opk_evaluation *evaluation);

/*
 * The columns of the row that was read last, valid until another is read: the values, each in its
 * column's unit, and of the names in `also` of the options. NaN: a metric that the column needs is
 * NaN, or its formula has no value.
 */
const double *opk_evaluation_values(struct opk_evaluation *evaluation);
const double *opk_evaluation_also(struct opk_evaluation *evaluation);
/* From how many ranges or launches each of these columns is; 0: a pass that it needs is missing. */
const uint64_t *opk_evaluation_counts(struct opk_evaluation *evaluation);

/*
 * As opk_eval_file() for each of many files, such as one per rank of a job, in less time: NVIDIA's
 * libraries are loaded once, into this process (110 MB), and small files share children. `out` has
 * room for `count` evaluations, in the order of the files. Either all succeed or none does; the
 * error is the first failing file's.
 */
int opk_eval_files(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_eval_options *options);

/*
 * Evaluates a bare counter data image, which is not used after the return.
 * NVPW_CounterData_GetChipName gives the chip if the options don't. OPK_EUSAGE: the options have
 * neither metrics nor a set.
 */
int opk_eval_image(struct opk_evaluation **out, struct opk_ctx *ctx, const void *image, size_t size,
                   const struct opk_eval_options *options);
/* The chip that the data was collected on, such as "GH100", and the profiler of the rows. */
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
 * The set's heading over a column, or NULL. `first` and `count` refer to the columns of the set,
 * not to those shown here. Borrowed: the recording or the set has to stay open.
 */
const struct opk_meta_heading *opk_evaluation_column_heading(
	const struct opk_evaluation *evaluation, size_t i);

/*
 * The columns that a roofline is drawn from, as the recording or the set names them; without roofs
 * there is no roofline. Borrowed, as headings are.
 */
const struct opk_meta_roofline *opk_evaluation_roofline(const struct opk_evaluation *evaluation);
/* Counts ranges or samples, with those that a filter leaves out; each joined range counts. */
uint64_t opk_evaluation_row_count(const struct opk_evaluation *evaluation);
/* Samples that were begun but not completed, and therefore left out. */
uint64_t opk_evaluation_incomplete_samples(const struct opk_evaluation *evaluation);
/* Doubts about values, as sentences; the log has them as notes, too. */
const struct opk_strlist *opk_evaluation_doubts(const struct opk_evaluation *evaluation);

/* The place of a row that was read, so that rows can be sorted without being kept. */
struct opk_bookmark {
	size_t part, number;
	uint64_t byte;
};

/* The place of the row that opk_evaluation_next() gave last. */
struct opk_bookmark opk_evaluation_mark(const struct opk_evaluation *evaluation);
/* Gives the row at a place again, and does not move opk_evaluation_next(). */
int opk_evaluation_reread(const struct opk_row **row, struct opk_ctx *ctx,
                          struct opk_evaluation *evaluation, const struct opk_bookmark *mark);

/*
 * Whether rows are made of several ranges that describe the same thing, where each range may have
 * only one of several passes: see `join` of struct opk_eval_inside. For each pass the counters of
 * its ranges are averaged (NVPW_CounterDataCombiner_AccumulateIntoRange). The mean range has the
 * counters of all passes, and is evaluated. Rows are in the order of their first ranges.
 */
bool opk_evaluation_is_joined(const struct opk_evaluation *evaluation);
/* How many images of a cut-off file lack a range table: no joined row has their ranges. */
uint64_t opk_evaluation_left_out(const struct opk_evaluation *evaluation);

/*
 * The ranges or samples of a recording from its own tables, without values. It needs no NVIDIA
 * library and reads no images: an image without a table has no rows here. Names are "" where only
 * the image has them. Only the conditions of the options are used. `file` must outlive the
 * evaluation. OPK_EUSAGE: there are conditions on values.
 */
int opk_recorded_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options);

/*
 * The ranges of all rows of opk_timeline_eval() and opk_recorded_eval(), with rows that a filter
 * refuses; or of launches one for each kind of row. Returns their number and puts a borrowed array
 * into *ranges. Other evaluations have 0.
 */
size_t opk_evaluation_ranges(const struct opk_range **ranges,
                             const struct opk_evaluation *evaluation);
/* Sets *calls and *nodes if calls, or nodes of graphs, that launched rows are known. */
void opk_evaluation_find_ran(bool *calls, bool *nodes, const struct opk_evaluation *evaluation);
/* The fact's column, a constant; NULL if rows of this profiler don't have the fact. */
const struct opk_column *opk_fact_column(enum opk_fact fact, enum opk_profiler profiler);

/*
 * Finds a fact by its column's name, or by "index" for `range` and `sample`. Returns false and
 * leaves *out alone if rows of this profiler have no such fact.
 */
bool opk_fact_find(enum opk_fact *out, const char *name, enum opk_profiler profiler);

/* Memory for text that a cell may point to; it must live as long as the cell is used. */
struct opk_fact_text {
	char text[40];
};

/*
 * A row's fact as a cell of the type of opk_fact_column(), borrowed from *text and the row; times
 * are nanoseconds, clocks MHz.
 */
union opk_cell opk_fact_get(struct opk_fact_text *text, enum opk_fact fact,
                            const struct opk_row *row);

/* The end of the part that begins at `at`: the next '/' that is not escaped, or the text's end. */
size_t opk_path_end_part(const char *path, size_t at);
/*
 * Whether a path has more than 100 parts, as only damaged files have. Looking at each part takes
 * long, so such a path is not divided.
 */
bool opk_path_is_too_deep(const char *path);
/* Whether one of the names, such as "step", is of a range that holds this one, "step/forward". */
int opk_path_is_inside(bool *out, struct opk_ctx *ctx, const struct opk_index *names,
                       const char *path);

/*
 * Ranges inside others, by their paths: "a" and "a/b" hold "a/b/c", and kernels that ran in them.
 * Begin with { 0 }.
 */
struct opk_nesting {
	struct opk_strlist keys;  /* of ranges that may hold others */
	struct opk_index numbers; /* of these keys */
};
/*
 * A key is a path in a scope, such as a file, GPU and rank: ranges hold only what is in the same
 * scope. A kernel has the path of the ranges that it ran in. free()
 */
char *opk_nesting_key(const char *scope, const char *path, bool is_kernel);
/* Where the path begins in a key. */
const char *opk_nesting_path(const char *key);
/* Finds the number of a key, or gives it the next one. Takes over the key; false: no memory. */
bool opk_nesting_add(size_t *number, struct opk_nesting *nesting, char *key);
/*
 * Finds the next range that holds what has this key, from the outermost on; false after the last.
 * *end, where its path ends in the key, begins with 0. The key does not stay changed.
 */
bool opk_nesting_next(size_t *holder, size_t *end, const struct opk_nesting *nesting, char *key);
void opk_nesting_clear(struct opk_nesting *nesting);

/* Names of kernels for people: see enum opk_kernel_style. */
struct opk_kernel_names;
int opk_kernel_names_new(struct opk_kernel_names **out, struct opk_ctx *ctx,
                         enum opk_kernel_style style);
void opk_kernel_names_free(struct opk_kernel_names *names);
/*
 * Adds the kernels of these ranges to those that get distinct names. Add all before the first
 * opk_kernel_names_get(). Texts are copied.
 */
int opk_kernel_names_add(struct opk_kernel_names *names, struct opk_ctx *ctx,
                         const struct opk_range *ranges, size_t count);
/*
 * The name of the range's kernel, borrowed from `names` or the range. A kernel that was not added
 * has its full name, and "" stays "". It can't fail: when out of memory it gives full names.
 */
const char *opk_kernel_names_get(struct opk_kernel_names *names, const struct opk_range *range);
OPK_DEFINE_AUTO(opk_kernel_names)

/* ---- bare images as recordings: import.c ---- */

struct opk_import_options {
	size_t size;
	const struct opk_eval_options *eval; /* required, with metrics or a set */
	const char *set_name;                /* NULL: the name of the set */
	const char *source;                  /* recorded as the image's origin */
	size_t passes;
	const void *config; /* the config image it was collected with; optional */
	size_t config_size;
	const void *availability;
	size_t availability_size;
	const char *ranges; /* a range table, JSON as in docs/format.md; optional */
	size_t ranges_size;
	const char *ranges_name; /* for errors: the file of the range table; optional */
	bool no_instances;       /* the image was made from a prefix without instances */
};
/*
 * Makes a recording of a bare counter data image. Evaluates it once, and fails as opk_table_new()
 * does. OPK_EINPUT: the range table is wrong, or does not have one row for each range.
 */
int opk_import(struct opk_ctx *ctx, const void *image, size_t size,
               const struct opk_import_options *options, const char *path);

#endif
