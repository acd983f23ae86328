/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offpeak: NVIDIA GPU hardware metrics without a GPU.
 *
 * docs/library.md says how to link the library, and what may change before version 1.0;
 * docs/examples has whole programs.
 *
 * Conventions, for every function below:
 *  - the out parameter comes first; an object from opk_X_new() or opk_X_load() belongs to the
 *    caller and goes back through opk_X_free(), which takes NULL; all other returned pointers are
 *    borrowed from the object that gave them and live as long as it does, unless the function says
 *    who frees them;
 *  - an int result is an enum opk_status; on failure *out is untouched and the context holds a
 *    chain of causes, see opk_error_count(). Codes mean what enum opk_status says of them, and
 *    comments name those that mean more: any such function may run out of memory, be interrupted,
 *    find no library of NVIDIA's where it asks one, or meet a file that can't be read or written;
 *  - option structs begin with their size (use OPK_INIT); absent or zero fields mean the default,
 *    and NULL for the struct means the defaults of all. It is not needed after the call, but for
 *    what a field says it borrows;
 *  - texts are UTF-8 that ends with NUL; one that is not known is "" unless its field says NULL;
 *  - a chip is named as opk_chips_resolve() takes it, unless it is what a function here returned;
 *  - files that are written appear whole or not at all, in place of older ones;
 *  - an index i is below the count of the same object; past the end nothing is checked unless the
 *    function says what it returns;
 *  - a context and what was made from it belong to one thread at a time; other threads may work
 *    with contexts of their own at the same time.
 *
 * The library never prints, never exits, and reads the environment only in opk_env_read().
 *
 * Groups, in the order of use: context, errors, rows, NVIDIA libraries, chips, metrics, metric
 * sets, plans, building, files, recordings, what a file replaces, writing, evaluation, tables,
 * Arrow, traces, comparison, summaries, charts, pictures, reports, new recordings, repair.
 */
#ifndef OFFPEAK_H
#define OFFPEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result codes. The first five are also the exit codes of the tools. */
enum opk_status {
	OPK_OK = 0,
	/* The request can't be met: too many passes, an NVIDIA call failed, no room for a file. */
	OPK_EFAILED = 1,
	OPK_EUSAGE = 2,  /* an argument is wrong: unknown chip, metric, set or option value */
	OPK_ENVIDIA = 3, /* an NVIDIA library or symbol is missing or unusable */
	OPK_EINPUT = 4,  /* an input file is missing, damaged or of the wrong kind */
	OPK_ENOMEM = 5,  /* out of memory */
};

/*
 * `struct opk_xxx_options o = OPK_INIT(o);` zeroes a struct that begins with its size, and sets
 * that. So do C99 and C++11; in C++ it is for variables and members, in C also for elements.
 */
#ifdef __cplusplus
#define OPK_INIT(var) opk_init<decltype(var)>()
extern "C++" {
template <typename T> T opk_init()
{
	T sized = T();

	sized.size = sizeof sized;
	return sized;
}
}
#else
#define OPK_INIT(var)                                                                              \
	{                                                                                          \
		.size = sizeof(var)                                                                \
	}
#endif

/* The version of this header; 1.2.3 is 10203. opk_version_number() is that of the library. */
#define OPK_VERSION_MAJOR 0
#define OPK_VERSION_MINOR 1
#define OPK_VERSION_PATCH 0
#define OPK_VERSION_NUMBER (OPK_VERSION_MAJOR * 10000 + OPK_VERSION_MINOR * 100 + OPK_VERSION_PATCH)

/* The library's version, "0.1.0". */
const char *opk_version(void);
/* The same as a number, 100, which is OPK_VERSION_NUMBER where header and library go together. */
uint32_t opk_version_number(void);

/* ---- context --------------------------------------------------------------------------------- */

/*
 * Every other object is made with a context. It keeps the settings, the open libraries and the
 * causes of the last failure: one for each thread, for as long as the thread works.
 */

struct opk_ctx;

/* What the environment says, as opk_env_read() finds it; NULL where unset; "" is as unset. */
struct opk_env {
	size_t size;
	const char *offpeak_cuda; /* OFFPEAK_CUDA: folder of the CUDA toolkit or of its libraries */
	const char *cuda_home;    /* CUDA_HOME */
	const char *cuda_path;    /* CUDA_PATH */
	/* VIRTUAL_ENV: a Python environment that may hold NVIDIA's wheels. */
	const char *virtual_env;
	const char *home; /* HOME: for wheels installed with pip --user */
	/*
	 * OFFPEAK_WHEELS: folders, separated by colons, that may hold NVIDIA's wheels, as a
	 * site-packages folder does; searched after those of CUDA_HOME and CUDA_PATH.
	 */
	const char *wheels;
	const char *sets; /* OFFPEAK_SETS: folder of metric sets, searched first */
	/* For tools; the library itself does not look at them. */
	const char *cache;    /* XDG_CACHE_HOME */
	const char *pager;    /* PAGER */
	const char *no_color; /* NO_COLOR */
	const char *columns;  /* COLUMNS: how wide tables are for a terminal */
	const char *tmpdir;   /* TMPDIR: folder of the library's temporary files, else /tmp */
	/* OFFPEAK_LIBCUDA: the driver's libcuda.so.1, which CUPTI 13.2 and later want. */
	const char *offpeak_libcuda;
};

/* Fills *env, whose size the caller has set (OPK_INIT), with pointers into the environment. */
void opk_env_read(struct opk_env *env);

/* Takes a note: a sentence without a newline, gone when it returns. It may not use the context. */
typedef void opk_log_fn(void *data, const char *message);

/* What takes long, and what is counted while it does. */
enum opk_phase {
	OPK_PHASE_NONE,
	OPK_PHASE_EVALUATION, /* ranges or samples */
	OPK_PHASE_IMAGES,     /* ranges or samples, for new images of them */
	OPK_PHASE_PLAN,       /* hundredths of the search for a shorter plan */
	OPK_PHASE_SPLIT,      /* hundredths of dividing a set */
	OPK_PHASE_PASSES, /* metrics whose passes are counted, those with the same counters once */
	OPK_PHASE_TRACE,  /* samples that are written */
};

struct opk_ctx_options {
	size_t size;
	const char *cuda_dir;      /* look for NVIDIA's libraries here and nowhere else */
	const struct opk_env *env; /* copied; NULL: an empty environment */
	const char *data_dir;      /* shipped data (sets/...); NULL: what lies beside the library */
	opk_log_fn *log;           /* notes about unusual but harmless things */
	void *log_data;
	const char *cache_dir; /* keeps what NVIDIA's libraries said of chips; NULL: nothing is */
	/*
	 * The driver's libcuda.so.1: CUPTI 13.2 and later want a real one, no GPU. NULL:
	 * OFFPEAK_LIBCUDA, that of the system, or one unpacked into the folder of the toolkit.
	 */
	const char *libcuda;
	bool force;         /* new files replace any files of their names: opk_check_output() */
	unsigned timeout_s; /* give up on NVIDIA's code after so long without progress; 0: 30 */
	/* From time to time, while something takes long, on the thread that called. */
	void (*progress)(void *data, enum opk_phase phase, uint64_t done, uint64_t total);
	void *progress_data;
};

/*
 * Cheap: NVIDIA's libraries are opened when a function first needs them. What options point to is
 * copied. Fails with OPK_ENOMEM alone. A context is freed after all that was made with it.
 */
int opk_ctx_new(struct opk_ctx **out, const struct opk_ctx_options *options);
void opk_ctx_free(struct opk_ctx *ctx);

/*
 * What takes long on this context ends soon with OPK_EFAILED, "interrupted", and so do later calls,
 * until opk_ctx_resume(): child processes are ended, and output files are not there. From any
 * thread, and from a signal handler.
 */
void opk_ctx_interrupt(struct opk_ctx *ctx);
/* Before a call; an interrupt that came too late for the one before is forgotten. */
void opk_ctx_resume(struct opk_ctx *ctx);

/* ---- errors ---------------------------------------------------------------------------------- */

/* Why the last call failed: print the messages from the last, which is the outermost, to 0. */

/*
 * The cause chain of the last failure, as lines to print: 0 is the innermost, count - 1 the
 * outermost message; NULL past the end. A cause with a place in a text file has that line and a
 * caret below it. They are there until the next call with this context; there may be none where
 * memory ran out. Messages name files, metrics and chips as they were given.
 */
size_t opk_error_count(const struct opk_ctx *ctx);
const char *opk_error_message(const struct opk_ctx *ctx, size_t i);

enum opk_cause_kind {
	OPK_CAUSE_ERROR, /* what is wrong */
	OPK_CAUSE_WHILE, /* what was being done, or how many errors there are */
};

/* What would help, which a program says in its own words. */
enum opk_remedy {
	OPK_REMEDY_NONE,
	/* A file was cut off: allow_incomplete of struct opk_eval_options takes what is whole. */
	OPK_REMEDY_ALLOW_INCOMPLETE,
	OPK_REMEDY_RECOVER, /* a file was cut off: opk_recover() makes a complete one of it */
	OPK_REMEDY_FORCE,   /* a file is not replaced: `force` of struct opk_ctx_options does so */
};

/*
 * A cause as data, borrowed from the context until its next call. Causes of several chips are the
 * same if they have one place and one general text, which is the text with '*' for the chip.
 */
struct opk_cause {
	int code; /* enum opk_status */
	enum opk_cause_kind kind;
	/*
	 * The text file that is wrong, or a file of any kind that can't be opened, read or
	 * written; NULL: neither.
	 */
	const char *file;
	size_t line, column; /* from 1; columns are characters; 0: the cause has no place */
	const char *text;    /* without the place */
	const char *general;
	const char *message;         /* "FILE:LINE:COLUMN: TEXT", or text */
	const char *excerpt, *caret; /* that line, and a caret below it, both indented; or NULL */
	enum opk_remedy remedy;      /* not in the texts */
	int os_error;                /* errno of the call that failed on the file; 0: none did */
};

/* The same chain as data: 0 is the innermost; NULL past the end. */
size_t opk_error_cause_count(const struct opk_ctx *ctx);
const struct opk_cause *opk_error_cause(const struct opk_ctx *ctx, size_t i);

/* ---- rows ------------------------------------------------------------------------------------ */

/* Columns and cells of all that comes as rows. */

/* Says which member of union opk_cell the cells of a column are. */
enum opk_cell_type {
	OPK_CELL_STRING,
	OPK_CELL_UINT,
	OPK_CELL_DOUBLE,
	OPK_CELL_BOOL,
	OPK_CELL_LIST,
	OPK_CELL_OPTIONAL,
	OPK_CELL_EITHER,
	OPK_CELL_OPTIONAL_BOOL, /* `optional`, with 0 or 1 */
};

struct opk_column {
	const char *name;
	enum opk_cell_type type;
};

/* What cells point to is borrowed from where the row is from, and gone with it. */
union opk_cell {
	const char *string; /* NULL: absent; empty in CSV, null in JSON */
	uint64_t uint;
	double number; /* %.17g; NaN is nan in CSV and null in JSON */
	bool boolean;  /* yes or no; true or false in JSON */
	struct {
		const char *const *items;
		size_t count;
	} list; /* joined by a blank; an array in JSON */
	struct {
		uint64_t uint;
		bool known;
	} optional; /* a number, or a boolean; absent: empty in CSV, null in JSON */
	struct {
		const char *word; /* NULL: the number; "": absent, as above */
		uint64_t uint;
	} either; /* a number, or a word instead of it: a string in JSON */
};

/*
 * A list that the library made: columns, and rows with a cell for each. All of it is read only, and
 * belongs to the list.
 */
struct opk_listing;
const struct opk_column *opk_listing_columns(const struct opk_listing *listing, size_t *count);
size_t opk_listing_count(const struct opk_listing *listing);
const union opk_cell *opk_listing_get(const struct opk_listing *listing, size_t i);
void opk_listing_free(struct opk_listing *listing);

/*
 * A value in a unit as NVIDIA or a set writes it, for people: "3.35 TB/s", "23.2 us", "75.4 %"; NaN
 * is "nan". A unit that does not fit is cut.
 */
enum { OPK_VALUE_TEXT = 128 };
void opk_value_text(char out[OPK_VALUE_TEXT], double value, const char *unit);

/* ---- NVIDIA libraries ------------------------------------------------------------------------ */

/*
 * libcupti and libnvperf_host are opened when a function first needs them. Nothing here has to be
 * called first; it is for programs that show what there is.
 */

/* What was found of NVIDIA's libraries; texts are borrowed from the context. */
struct opk_nvidia_info {
	size_t size;
	const char *cupti_path;       /* NULL: not found */
	const char *nvperf_host_path; /* NULL: not found */
	uint32_t cupti_version;       /* cuptiGetVersion, e.g. 130001; 0 if not found */
	const char *libcuda_path;     /* NULL: not needed, or not found */
	bool needs_libcuda;           /* CUPTI 13.2 and later: nothing works without libcuda.so.1 */
	const char *nvperf_host_version; /* NVPW_QueryVersionNumber, "2025.4.2"; or "" */
	const char *mixed; /* both were found, but of different releases: which; NULL: a pair */
};

/*
 * Opens the libraries if that has not happened yet and says what was found (cuptiGetVersion): child
 * processes have them at once from then on. OPK_ENVIDIA: libcupti is missing, or lacks what nothing
 * works without; *info, whose size the caller has set, is filled in this case, too.
 */
int opk_nvidia_get_info(struct opk_nvidia_info *info, struct opk_ctx *ctx);

/* What there is to list of them, and its columns. */
enum opk_nvidia_list {
	/*
	 * feature, available, missing, description: what works with them, and "libnvperf_host:
	 * NVPW_...", the symbol that it lacks, where it does not. Opens the libraries.
	 */
	OPK_NVIDIA_FEATURES,
	OPK_NVIDIA_TRIED, /* tried: each file that was tried while looking for them */
};
int opk_nvidia_list(struct opk_listing **out, struct opk_ctx *ctx, enum opk_nvidia_list list);

/* ---- chips ----------------------------------------------------------------------------------- */

/* What libcupti supports, and what each chip offers to the two profilers. */

enum opk_profiler {
	OPK_PROFILER_RANGE, /* one value a range of kernels; any number of passes */
	OPK_PROFILER_PM,    /* PM sampling: one value a time interval; a single pass */
};

/* "range" or "pm". */
const char *opk_profiler_name(enum opk_profiler profiler);

/* Columns of opk_chip_list() beside those that it always has; some take long. */
enum opk_chip_columns {
	/*
	 * architecture, compute_capability, products: "Hopper", "9.0", and examples, spelt without
	 * blanks: "H100". What NVIDIA's libraries don't say without a GPU; "" and no products where
	 * it is not known.
	 */
	OPK_CHIP_FACTS = 1,
	/*
	 * metrics_per_pass, pm_metrics_per_pass: how many metrics that the hardware counts fit one
	 * pass of a profiler at most; few sets get near. device_level: whether the range profiler
	 * has metrics that count the whole device, see enum opk_scope. Absent where the chip lacks
	 * the profiler, or libcupti does not say
	 * (cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, and CUPTI 13.1).
	 */
	OPK_CHIP_LIMITS = 2,
	/*
	 * range_metrics, pm_metrics: how many base metrics there are
	 * (cuptiProfilerHostGetBaseMetrics).
	 */
	OPK_CHIP_COUNTS = 4,
};

/*
 * The chips that libcupti supports (cuptiProfilerHostGetSupportedChips), in its order. Columns are
 * chip, range and pm_sampling, which are whether that profiler knows it, and those of `columns`,
 * several of enum opk_chip_columns. `chip` NULL: all. Else one, by its name ("gh100"), a product
 * ("H100") or a compute capability ("sm_90") that means one chip, in any case; OPK_EUSAGE: it is
 * none, and the message has the nearest; or it means several.
 */
int opk_chip_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip,
                  unsigned columns);

/* ---- metrics --------------------------------------------------------------------------------- */

/* A chip's metrics, and what is known of each of them. */

/* What a metric is: a count, a quotient of counts, or how near the busiest unit is to its peak. */
enum opk_metric_type { OPK_COUNTER, OPK_RATIO, OPK_THROUGHPUT };

/*
 * What a metric counts: the work of one CUDA context, or whatever the device does (PCIe, NVLink,
 * all of PM sampling). Unknown before CUPTI 13.1.
 */
enum opk_scope { OPK_SCOPE_UNKNOWN, OPK_SCOPE_CONTEXT, OPK_SCOPE_DEVICE };

/* Chooses the metrics of a list: all conditions must hold. NULL and 0: any. */
struct opk_metric_list_options {
	size_t size;
	/* Shell patterns over base names, any of which suffices. */
	const char *const *globs;
	size_t glob_count;
	const char *unit; /* hardware unit, in any case */
	const char *grep; /* POSIX extended regular expression over name and description */
	bool has_type;
	enum opk_metric_type type;
	bool submetrics; /* each full name; the globs are over these, too */
	/* Counts passes: those of a base metric are the ones of its plainest full name. */
	bool passes;
	size_t max_passes; /* only what takes at most so many, and can be scheduled; 0: any */
	/* Only what a GPU with this counter-availability image can collect; passes are for it. */
	const void *availability;
	size_t availability_size;
	bool scopes;          /* asks for scopes, for which CUPTI takes a millisecond a metric */
	enum opk_scope scope; /* asks, and lists only metrics of this one; unknown: all */
	size_t processes;     /* that count passes; 0: one a core */
	/* How many that match were left out: what can't be scheduled; what takes too many. */
	size_t *refused, *costly;
};

/*
 * A chip's metrics by name: "dram__bytes", or full names, which add a rollup or a submetric:
 * "dram__bytes.sum" (cuptiProfilerHostGetBaseMetrics, ...GetSubMetrics, ...GetMetricProperties;
 * from the cache where it can). Columns are metric, type ("counter", "ratio", "throughput"),
 * hw_unit ("dram"), dim_unit ("byte", of a full name its own: "byte/second"), description and scope
 * ("context", "device"; NULL where it was not asked for or is not known). Where passes were
 * counted, also passes (absent: CUPTI refuses it), method ("hardware", "sass" for code that CUPTI
 * patches into kernels, "both"; "" where it is not known) and status
 * ("CUPTI_ERROR_NOT_SUPPORTED" where it is refused, else ""). CUPTI 12.x lists no submetrics: there
 * they are those of 13.0 that it has properties for. OPK_EUSAGE: no such chip, or a malformed
 * regular expression. OPK_EFAILED: the chip does not have this profiler. OPK_ENVIDIA: the library
 * says nothing about scopes, or submetrics.
 */
int opk_metric_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const struct opk_metric_list_options *options);

/*
 * All that is known of one metric: of a full name, or of the plainest of a base name. The passes of
 * all its submetrics are counted. What a missing libnvperf_host could have said is left out, and
 * logged; the rest is kept in the cache. A name of nvprof's is described as what became of it, with
 * the shipped data. OPK_EUSAGE: there is no such metric, and the message has the nearest names.
 */
struct opk_description;
int opk_description_new(struct opk_description **out, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler, const char *name);
void opk_description_free(struct opk_description *description);

/* What there is to list of a description, and its columns; lists of the other kind are empty. */
enum opk_description_list {
	/*
	 * One row: chip, profiler, metric (a full name, or the base name of a metric without
	 * submetrics), base, type, hw_unit, dim_unit, description, passes (that it takes alone;
	 * "unschedulable"; or "" where it is not known), method, status, other_chips (that have the
	 * base metric, too), single_pass (this profiler's sets of one pass that have it), scope.
	 */
	OPK_DESCRIPTION_METRIC,
	/* submetric (".sum.per_second"), dim_unit, passes, method, status */
	OPK_DESCRIPTION_SUBMETRICS,
	/*
	 * counter, domains: raw counters, and what can count each, by NVIDIA's names
	 * (NVPW_MetricsEvaluator_GetMetricRawDependencies).
	 */
	OPK_DESCRIPTION_COUNTERS,
	/*
	 * constituent, type: a throughput is the highest of these base metrics
	 * (NVPW_MetricsEvaluator_GetThroughputMetricProperties). NVIDIA says no parts of a ratio:
	 * its constituents are the counters whose raw counters are all among the ratio's.
	 */
	OPK_DESCRIPTION_CONSTITUENTS,
	/*
	 * One row of a name of nvprof's: chip, name, kind ("metric", "event"), formula (over full
	 * names of the chip; NULL: it has no counterpart), unit (of the formula's value; "": what
	 * follows from its metrics), nvidia (NVIDIA's own formula, which may be another; "": it
	 * names none), note (such as why it is not NVIDIA's; may be ""), lack (why the chip has no
	 * counterpart; else NULL), other_kind and other_formula (where a metric and an event have
	 * the same name, the other of the two; else NULL).
	 */
	OPK_DESCRIPTION_LEGACY,
	/*
	 * term, exists, nearest: names in that formula, or in the first that the chip would have to
	 * have; whether the chip has it; of a term with {op}, which means several, the first.
	 */
	OPK_DESCRIPTION_TERMS,
};
int opk_description_list(struct opk_listing **out, struct opk_ctx *ctx,
                         const struct opk_description *description, enum opk_description_list list);

/* ---- metric sets ----------------------------------------------------------------------------- */

/*
 * What to measure: metrics, what is computed of them and how it is shown, for any chip. A plan says
 * what becomes of it on one.
 */

/* Metrics and what is computed from them; docs/metric-sets.md has the YAML form. */
struct opk_set;
/*
 * From a YAML file. OPK_EINPUT: the chain has every error in it and in those that it includes, from
 * the outer end in order. Each is "FILE:LINE:COLUMN: ..." and, after two blanks, the line and a
 * caret below the column; several have "FILE: N errors" before them.
 */
int opk_set_load(struct opk_set **out, struct opk_ctx *ctx, const char *path);
/*
 * From what a user writes: a shipped set's name, the path of a YAML file (it has a slash or ends in
 * .yaml or .yml), a full metric name, a name of nvprof's, or a comma-separated list of these; or
 * "single-pass:NAME", one of the chip's opk_single_pass_list(). OPK_EUSAGE: there is no set of that
 * name. OPK_EINPUT: as opk_set_load().
 */
int opk_set_find_on(struct opk_set **out, struct opk_ctx *ctx, const char *spec, const char *chip);
/*
 * From YAML in memory, UTF-8 of so many bytes, at most 1 MB. Errors are as opk_set_load()'s, and
 * `name` is what they call the text; NULL: "<text>". It is in no folder: it includes sets by name,
 * or by a path from / on.
 */
int opk_set_parse(struct opk_set **out, struct opk_ctx *ctx, const char *text, size_t size,
                  const char *name);
/*
 * Several sets as one: metrics in order, each once. The sets are not needed afterwards. OPK_EUSAGE:
 * there are none, or their profilers differ, or names in them clash.
 */
int opk_set_join(struct opk_set **out, struct opk_ctx *ctx, const struct opk_set *const *sets,
                 size_t count);
void opk_set_free(struct opk_set *set);
/*
 * Gives a parameter of the set, or of one that it includes, another value than its default, from
 * then on. OPK_EUSAGE, with a suggestion: no parameter has this name.
 */
int opk_set_parameter(struct opk_set *set, struct opk_ctx *ctx, const char *name,
                      const char *value);
/*
 * A set as its file says, in one row; "custom" and "" of a list of metrics, and version 0. `set`
 * NULL: all sets that are found by name, folder by folder in the order of the search, by name
 * inside, and without those that an earlier folder shadows. Columns are set (the name; of all sets,
 * that of the file), profiler (NULL: it names none, which means range), metrics (how many entries
 * there are), description, path ("" unless it came from a file), version, chips (that it claims,
 * and architectures; none: every chip of its profiler, or those that the sets claim which it
 * includes), entries (of its lists of metrics, as written; a plan has what they mean on a chip) and
 * error (the messages of a file that can't be read, which says nothing else; else NULL).
 */
int opk_set_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_set *set);

struct opk_set_check_options {
	size_t size;
	const char *const *chips; /* NULL: all that the set claims */
	size_t chip_count;
	double effort; /* as that of struct opk_plan_options, for all chips together; 0: a minute */
	/*
	 * Where there is no set because its files have errors: the `spec` of opk_set_find_on(), or
	 * the text and name of opk_set_parse(). What could be read of it is checked, too.
	 */
	const char *spec;
	const char *text;
	size_t text_size;
	const char *name;
};

/*
 * What is wrong with a set, on each chip on which it is planned. *chips: chip, passes, metrics,
 * left_out (optional metrics that the chip lacks, and what needs them), status ("ok", or what is
 * wrong), failed (what is wrong is among the errors). *errors, each once: message, file, line,
 * column, text, excerpt and caret as struct opk_cause has them, of the first chip that has it,
 * is_error (false: what was being done), chips (that have it). They are those in its files, each
 * chip that it claims and that there is not, and metrics, patterns and constants that a chip lacks,
 * units, and metrics that CUPTI refuses. OPK_EUSAGE: there is no such set or chip.
 */
int opk_set_check(struct opk_listing **chips, struct opk_listing **errors, struct opk_ctx *ctx,
                  const struct opk_set *set, const struct opk_set_check_options *options);

/*
 * The sets of metrics that a chip counts together in one pass, as PM sampling needs it: for PM
 * sampling first CUPTI's own (cuptiProfilerHostGetMetricsInSinglePassSet), or else those that
 * metric names show, or else one of offpeak's; and one of offpeak's for the range profiler. Each is
 * packed metric by metric until nothing more fits, and what was kept was planned as a whole. Comes
 * from the cache where it can. Columns are set, profiler, origin ("cupti"; "emulated": the metrics'
 * names, UNIT.SET.metric; "offpeak": data/single_pass.tsv, by priority), metrics and left_out
 * (numbers), metric_names (full names; of a base metric its plainest) and left_out_names (did not
 * fit beside the ones before them).
 */
int opk_single_pass_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip);

/* ---- plans ----------------------------------------------------------------------------------- */

/* A set on a chip: which metrics there are, in how many passes, and what configures the GPU. */

struct opk_plan_options {
	size_t size;
	const char *chip; /* in any case */
	/* Overrides the set's own profiler if has_profiler; a set without one means range. */
	bool has_profiler;
	enum opk_profiler profiler;
	/* Counter-availability image of the target GPU; optional, borrowed during the call. */
	const void *availability;
	size_t availability_size;
	size_t max_passes; /* fail where more are needed; 0: no limit (PM sampling: always 1) */
	/* Take the metrics in order, and leave out those that don't fit one pass with the rest. */
	bool single_pass;
	/*
	 * How long to look for a plan of fewer passes than CUPTI's own order of counters takes, in
	 * seconds; 0: a while that is the same everywhere, but at most a minute of processor time;
	 * negative: not at all. Ends early where the lower bound is reached. It bounds
	 * opk_plan_list(), too. Both may take a second of processor time in any case.
	 */
	double effort;
	/*
	 * Few passes in which a launch costs much, such as those with counters that the SMs keep,
	 * rather than few passes: for collecting without replay. OPK_EUSAGE with PM sampling, which
	 * has one pass, and with single_pass.
	 */
	bool prefer_cheap;
	/* With single_pass: leave out all from the first metric on that does not fit. */
	bool strict_order;
};

/*
 * Schedules a set on a chip (cuptiProfilerHostConfigAddMetrics, ...GetConfigImage,
 * ...GetNumOfPasses). The set is not needed afterwards. OPK_EUSAGE: no such chip, or metrics that
 * it lacks or CUPTI refuses, each with a cause of its own; OPK_EINPUT, with their places, where the
 * set is from a file. OPK_EFAILED: it needs more passes than it may, as PM sampling may one, and
 * the message names the metrics that don't fit. Fewer passes than CUPTI's order takes are found
 * with libnvperf_host alone (NVPW_RawCounterConfig_*).
 */
struct opk_plan;
int opk_plan_new(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                 const struct opk_plan_options *options);
void opk_plan_free(struct opk_plan *plan);
/*
 * The config image of *size bytes, borrowed: what cuptiRangeProfilerSetConfig and
 * cuptiPmSamplingSetConfig take.
 */
const void *opk_plan_config(const struct opk_plan *plan, size_t *size);

/* Lists of what is known of a plan, and their columns in this order. */
enum opk_plan_list {
	/*
	 * One row: chip; profiler, "range" or "pm"; set, its name; metrics, full names in the order
	 * of the set, each once; passes; missing, optional metrics that the chip lacks or CUPTI
	 * refuses, and those derived from them; left_out, how many metrics `single_pass` left out;
	 * lost, columns of the set that no plan of a split has: formulas over metrics of several;
	 * sample_bytes of hardware records that each PM sample makes, which bound the sampling rate
	 * (NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize), where they are known.
	 */
	OPK_PLAN_ABOUT,
	/*
	 * column, shown, unit, group, metric, formula, description, prose: what evaluation will
	 * show of a set that says more than its metrics, in its order, then what only formulas
	 * need, which is not shown; a plain list of metrics has none. column: the name of a metric,
	 * its short name, or the name of a derived metric; unit: "byte/second", "" where it is not
	 * known (cuptiProfilerHostGetMetricProperties); group: the heading over it, and prose the
	 * text below that; metric: what a short name means; formula, with constants and parameters
	 * put in, and description: of a derived metric.
	 */
	OPK_PLAN_COLUMNS,
	/*
	 * metric, would_fit, full_domains: what `single_pass` left out, in order, each planned
	 * beside the kept ones. would_fit: it has room beside them, had it come earlier; else
	 * full_domains are NVIDIA's names of the counter domains where one of its raw counters
	 * found none (NVPW_Config_GetRawCounters, NVPW_RawCounterConfig_GetRawCounterProperties).
	 */
	OPK_PLAN_LEFT_OUT,
	/*
	 * One row: lower_bound of the number of passes, unless one had room for more counters of a
	 * domain than the fullest that was found; launch_us, what a launch costs without replay, on
	 * average over the passes; replay_us, of all passes of kernel replay; measured, on which
	 * GPU, and when. Not known, and "", where that was not measured on the chip, and for PM
	 * sampling. This list and those below take long at first; the plan keeps what was found
	 * (NVPW_Config_GetRawCounters, NVPW_MetricsEvaluator_GetMetricRawDependencies,
	 * NVPW_RawCounterConfig_GetRawCounterProperties). OPK_ENVIDIA: there is no libnvperf_host.
	 */
	OPK_PLAN_COSTS,
	/*
	 * pass, from 1; counters, raw ones; domains, "gpu_lts:8" for 8 counters in those that are
	 * scheduled together with the first; launch_us, replay_us, as above; metrics that need it.
	 */
	OPK_PLAN_PASSES,
	/*
	 * metric; passes, how many need it; in, which ones, from 1; saves, how many fewer passes
	 * the plan would have without it, where moving a few counters was tried; split, whether it
	 * is a ratio whose counters are in different passes, and so of different runs.
	 */
	OPK_PLAN_METRICS,
	OPK_PLAN_NOTABLE, /* metric, saves, split: of metrics that save passes or are split */
	/*
	 * domains, by NVIDIA's names, that counters may choose between, and that are therefore
	 * scheduled together; counters, raw ones of the plan; passes that count any of them;
	 * lower_bound, as above, of these passes; fullest, the most counters in a pass; software,
	 * whether it is code patched into kernels: in passes without hardware counters. Before
	 * CUPTI 12.9 none are known, and the lower bound is what the hungriest metric needs alone.
	 */
	OPK_PLAN_DOMAINS,
};
int opk_plan_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_plan *plan,
                  enum opk_plan_list list);

/*
 * A set's metrics divided into plans of at most options->max_passes passes each (PM sampling: one),
 * as few as are found, each metric in one of them. PerfWorks says which metrics go together, as far
 * as it knows them (NVPW_RawCounterConfig_AreRawCountersSchedulable), and each plan is
 * opk_plan_new()'s. OPK_EFAILED: metrics need more passes by themselves, and the message names
 * them.
 */
struct opk_plan_split;
int opk_plan_split_new(struct opk_plan_split **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options);
void opk_plan_split_free(struct opk_plan_split *split);
/* The i-th plan, borrowed from the split; NULL past the end. */
struct opk_plan *opk_plan_split_get(const struct opk_plan_split *split, size_t i);

/* ---- building -------------------------------------------------------------------------------- */

/* What a collector needs, as a file: plan, build, and carry it to the GPU machine. */

struct opk_build_options {
	size_t size;
	/*
	 * By default the raw counters that need it have each instance's value in counter data,
	 * not their sum alone: those of minima and maxima, and of what CUPTI computes instance by
	 * instance, which may be a part of a throughput. Without, these are NaN, and images up to
	 * 90 times smaller. For PM sampling all counters have their instances, or none.
	 */
	bool no_instances;
	/* What the plan was made with; stored with the images; optional. */
	const void *availability;
	size_t availability_size;
	bool keep_instances; /* of all counters, needed or not */
};

/* A plan as set.opk: metadata, config image, counter-data prefix (opk_prefix_new()). */
int opk_build(struct opk_ctx *ctx, const struct opk_plan *plan,
              const struct opk_build_options *options, const char *path);
/*
 * The counter-data prefix (NVPW_CUDA_CounterDataBuilder): what sizes and initialises a counter data
 * image. *size bytes that belong to the caller: free(). OPK_ENVIDIA: there is no libnvperf_host.
 */
int opk_prefix_new(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                   const struct opk_build_options *options);

/*
 * What any bare config image says: a row a pass, of pass, from 1; counters, raw ones in it; chip,
 * the same in each. It is read in a child process (cuptiProfilerHostGetNumOfPasses,
 * NVPW_Config_GetRawCounters); OPK_EINPUT where NVIDIA's code can't read it, or crashes.
 */
int opk_config_info(struct opk_listing **out, struct opk_ctx *ctx, const void *image, size_t size);

/* ---- files ----------------------------------------------------------------------------------- */

/*
 * Containers (.opk) with their sections: sets that were built, recordings, probes. Nothing here or
 * in the next two groups opens a library of NVIDIA's.
 */

/* Section types, docs/format.md; unknown ones are skipped. */
enum opk_section_type {
	OPK_SECTION_META = 0x4154454d,         /* "META": JSON, see OPK_FILE_META */
	OPK_SECTION_CONFIG = 0x47464e43,       /* "CNFG": config image */
	OPK_SECTION_PREFIX = 0x58465250,       /* "PRFX": counter-data prefix */
	OPK_SECTION_AVAILABILITY = 0x4c495641, /* "AVIL": counter-availability image */
	OPK_SECTION_DATA = 0x41544144,         /* "DATA": counter data image, any number */
	OPK_SECTION_RANGES = 0x53474e52,       /* "RNGS": range table, JSON */
	OPK_SECTION_TIMES = 0x454d4954,        /* "TIME": host times of the samples of an image */
	OPK_SECTION_STATS = 0x54415453,        /* "STAT": what the collector counted, JSON */
	OPK_SECTION_ACTIVITIES = 0x4e52454b,   /* "KERN": what ran on the GPU, and when */
	OPK_SECTION_END = 0x20444e45,          /* "END ": closes a complete file */
};

/*
 * Opens a container and checks its structure: every length is bounded by the file before it is
 * believed, every section header by its checksum. A file cut off between or inside sections opens,
 * and opk_file_complete() is false; damage is OPK_EINPUT.
 */
struct opk_file;
int opk_file_open(struct opk_file **out, struct opk_ctx *ctx, const char *path);
void opk_file_free(struct opk_file *file);
bool opk_file_complete(const struct opk_file *file);
/*
 * Decodes one section, the i-th of OPK_FILE_SECTIONS, after its CRC: *data of *size bytes is 8-byte
 * aligned, followed by a NUL that *size does not count, and belongs to the caller: free().
 * OPK_EINPUT: it is damaged.
 */
int opk_file_read(void **data, size_t *size, struct opk_ctx *ctx, const struct opk_file *file,
                  size_t i);

/* ---- recordings ------------------------------------------------------------------------------ */

/*
 * What a file says besides values: metadata, what was counted, and how.
 */

/* Lists of what a file says, and their columns. */
enum opk_file_list {
	/*
	 * One row: size (bytes), complete (false: it was cut off, or rows are missing, which
	 * OPK_FILE_DROPS has), ranges (or samples, that tables of the file describe), activities
	 * (records of what ran on the GPU).
	 */
	OPK_FILE_COUNTS,
	/*
	 * type ("META"), content (in words), stored (bytes in the file), plain (bytes after
	 * decoding), encoding, stride (of the XOR filter in bytes; 0: unused), integrity (NULL);
	 * without the end section.
	 */
	OPK_FILE_SECTIONS,
	/* The same, but integrity is "ok", or "damaged": a CRC differs; reads the whole file. */
	OPK_FILE_VERIFIED,
	/*
	 * One row, of which docs/format.md says more: kind ("set", "recording" or "probe"),
	 * generator, made_by ("merge", "trim", "split", "recover" or "import", of other files; "":
	 * it was recorded), cupti_version (of the host that built it, 130001), source (what was
	 * imported), chip, profiler ("range" or "pm"), set, set_description, set_version, set_hash,
	 * passes, keep_instances, config_hash, mode (how it was collected), join (which ranges make
	 * one row together), backend, gpu_time_shift (an int64_t: ns of host time less GPU time),
	 * metrics (full names), hidden (that only formulas need), inflated (whose values count idle
	 * time around short kernels), columns (what is shown, in its order; none: all metrics that
	 * are not hidden, then derived ones).
	 */
	OPK_FILE_META,
	OPK_FILE_SHOWN,    /* name: of each column that is shown, in their order */
	OPK_FILE_PASSES,   /* metric, pass (from 1): the passes that have its counters, if known */
	OPK_FILE_LABELS,   /* label, metric: short names for metrics */
	OPK_FILE_DERIVED,  /* name, unit ("": not known), formula, description */
	OPK_FILE_HEADINGS, /* title, first, count, text: over so many columns, from the first on */
	OPK_FILE_RUN,      /* name ("hostname", "device.0.name"), value: facts about the run */
	OPK_FILE_AVAILABILITY, /* device (index), chip, profiler: images of a probe */
	/* One row, or none: launches (seen), ranges (recorded), depth (of these), activities. */
	OPK_FILE_STATS,
	OPK_FILE_DROPS,  /* reason, count: ranges or samples that are missing */
	OPK_FILE_CLOCKS, /* clock ("sm" or "memory"), least, most (MHz), drifted: of the ranges */
};
/*
 * OPK_EINPUT: the metadata, or the tables that the list is made of, are damaged. Ranges, times and
 * what ran come as rows of tables: OPK_ROWS_TABLES and OPK_ROWS_LAUNCHES.
 */
int opk_file_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                  enum opk_file_list list);

/*
 * The counter-availability image of a recording or a set for this profiler, or a file that is one,
 * unchecked then. `chip` is a name of opk_chips_resolve(). free() the image.
 */
int opk_availability_load(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                          const char *chip, enum opk_profiler profiler);

/* ---- what a file replaces -------------------------------------------------------------------- */

/*
 * An older file is replaced by its own kind alone, whoever writes: functions of this library, or a
 * program with code of its own.
 */

/* What is written. OPK_OUTPUT_RECORDING to OPK_OUTPUT_PROBE are .opk files. */
enum opk_output {
	OPK_OUTPUT_TABLE,       /* CSV, JSON, NDJSON or text, by its first lines */
	OPK_OUTPUT_DATABASE,    /* of SQLite */
	OPK_OUTPUT_PARQUET,     /* of whoever writes it: this library does not */
	OPK_OUTPUT_SVG,         /* .svg */
	OPK_OUTPUT_HTML,        /* .html or .htm */
	OPK_OUTPUT_TRACE,       /* .json or .json.gz */
	OPK_OUTPUT_JUNIT,       /* XML */
	OPK_OUTPUT_WRITTEN_SET, /* YAML that was made of other tools' lists */
	OPK_OUTPUT_IMAGE,       /* a bare counter data image */
	OPK_OUTPUT_RECORDING,   /* what a GPU counted: of a collector */
	OPK_OUTPUT_SET,         /* of opk_build() */
	OPK_OUTPUT_MERGED,      /* of opk_merge() and opk_sum() */
	OPK_OUTPUT_TRIMMED,
	OPK_OUTPUT_PART, /* of opk_split() */
	OPK_OUTPUT_RECOVERED,
	OPK_OUTPUT_IMPORTED,
	OPK_OUTPUT_PROBE,  /* what a GPU can count: of a collector */
	OPK_OUTPUT_CONFIG, /* a bare config image; no .opk file, like the two that follow */
	OPK_OUTPUT_PREFIX,
	OPK_OUTPUT_AVAILABILITY,
};
/*
 * Whether a file may be written there: every function that takes the name of its output asks this
 * before it begins, and again when the file takes its place; so should who writes one of these with
 * code of their own. What is there is replaced by its own kind alone: docs/formats.md, What is
 * replaced. OPK_EUSAGE: it is something else, it can't be read, or the name has an ending that this
 * kind does not have. With `force` of struct opk_ctx_options only the ending counts.
 */
int opk_check_output(struct opk_ctx *ctx, const char *path, enum opk_output output);

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Files of one's own, such as recordings of a program that collects with CUPTI: metadata first,
 * then each image followed by its tables.
 */

/*
 * One row of a range table; the i-th row describes the i-th range or sample of an image. Strings
 * are "" and numbers 0 where unknown.
 */
struct opk_range {
	const char *name; /* replaces the image's own range name */
	const char *kernel;
	uint32_t grid[3], block[3];
	int32_t device;            /* -1 where unknown */
	uint64_t start_ns, end_ns; /* host time of a sample, as CUPTI gave it while collecting */
	uint32_t shared_bytes;     /* dynamic shared memory of a block */
	uint64_t launch;           /* index among all launches of the process, from 1 */
	const char *symbol;        /* of the kernel, mangled; `kernel` is for people */
	const char *nvtx;     /* ranges that the thread was in, outermost first, with '/' between */
	uint64_t stream;      /* the driver's id of it; 0 is the default stream */
	uint64_t duration_ns; /* host time between push and pop of a user range */
	uint32_t registers;   /* of a thread */
	uint32_t context;     /* index in its process, from 1 */
	uint32_t process;     /* pid */
	uint32_t pass;        /* the pass that it has counters of, from 1; 0: it has all passes */
	int32_t rank;         /* of an MPI or torchrun job; -1 where unknown */
	uint32_t sm_mhz, memory_mhz; /* clocks when its image was full, by NVML; 0: unknown */
	uint64_t count; /* ranges that were summed to this one: opk_sum(); 0: it is one */
	/*
	 * Which GPU of which host; NULL or "" where unknown. A row that a file says nothing of has
	 * what the run's facts say: "hostname", and "device.N.uuid" or else "device.N.pci".
	 */
	const char *host, *gpu;
};

/* Start and end of a sample in ns of host time, as CUPTI gave them while collecting. */
struct opk_time {
	uint64_t start, end;
	int64_t device; /* its index */
};

/*
 * Writes a container: everything goes to a temporary name beside `path`, and opk_writer_finish()
 * puts it in place after fsync. opk_writer_free() without it leaves nothing. The context must
 * outlive the writer, and has its errors. After a failure there is only opk_writer_free(): what was
 * not added is missing. The metadata say what the file is: OPK_OUTPUT_RECORDING, OPK_OUTPUT_SET or
 * OPK_OUTPUT_PROBE, which opk_writer_begin() and opk_writer_finish() hold against what is there.
 */
struct opk_writer;
int opk_writer_new(struct opk_writer **out, struct opk_ctx *ctx, const char *path);
/*
 * Counter data images are filtered and deflated, other sections deflated where that helps. A table
 * (OPK_SECTION_RANGES, OPK_SECTION_TIMES) names the image that was added last: OPK_EUSAGE where
 * there is no image.
 */
int opk_writer_add(struct opk_writer *writer, uint32_t type, const void *data, size_t size);
/* What a program says of its recording, beside what the set does. */
struct opk_recorded {
	size_t size;
	const char *generator; /* the program: "write.c 1.0" */
	/*
	 * How it was collected: "kernel" (auto range, kernel replay), "launch" (a range around each
	 * launch), "user" (the program's own ranges), "sampling", "trace" (what ran and when
	 * alone: there are no metrics).
	 */
	const char *mode;
	/*
	 * Ranges of different passes that make one row together: those of the same "kernel" and
	 * launch shape (rotation), "launch" index (application replay), or "name" (repeated user
	 * ranges); NULL: every range has all passes.
	 */
	const char *join;
	const char *backend; /* "range-profiler", "legacy", "pm-sampling" */
	/* PM sampling: ns that host time is ahead of GPU time; NULL: not known. */
	const int64_t *gpu_time_shift;
};
/*
 * Begins a recording with the metadata of `set`, a file of opk_build() or a recording, and these.
 * OPK_EUSAGE: no reader would take them, and the message says why.
 */
int opk_writer_begin(struct opk_writer *writer, struct opk_file *set,
                     const struct opk_recorded *recorded);
/* The range table of the counter data image that was added last. */
int opk_writer_add_ranges(struct opk_writer *writer, const struct opk_range *ranges, size_t count);
/* Times of the samples in the counter data image that was added last, all of one device. */
int opk_writer_add_times(struct opk_writer *writer, const struct opk_time *times, size_t count);
/* Closes the file, and puts it in place. Afterwards there is only opk_writer_free(). */
int opk_writer_finish(struct opk_writer *writer);
void opk_writer_free(struct opk_writer *writer);

/*
 * Removes what this process has under temporary names: for the handler of a signal that ends it,
 * since it is safe there.
 */
void opk_discard_unfinished(void);

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Values of recordings: which, and how they are computed. opk_table_new() gives them row by row. */

struct opk_eval_options {
	size_t size;
	/*
	 * For recordings labels and derived metrics, too; NULL: all that it shows by itself.
	 * Borrowed as long as what was evaluated is there.
	 */
	const char *const *metrics;
	size_t metric_count;
	/*
	 * Instead of metrics: all that the set shows on the recording's or image's chip, derived
	 * metrics, too.
	 */
	const struct opk_set *set;
	const char *chip;  /* bare images: NULL reads it from the image */
	bool has_profiler; /* bare images: false reads it from the image */
	enum opk_profiler profiler;
	bool has_gpu_time_shift; /* bare images */
	int64_t gpu_time_shift;
	bool allow_incomplete; /* evaluate what a cut-off file still holds */
	/* Child processes that divide the images among them; 0: as cores and bytes suggest. */
	size_t workers;
	/*
	 * Only rows that meet all conditions, each "NAME=PATTERN" or "NAME!=PATTERN", or
	 * "NAME<NUMBER" with < <= > >= = or !=. The name is that of a fact's column, where "range"
	 * is also the range's name, and "index" its number; or of a metric, label, derived metric
	 * or attribute, whose values are numbers. The pattern is a shell glob over the whole text
	 * of a fact as CSV has it, "" where it is unknown; where text and pattern are numbers, they
	 * are compared as such. What is unknown or nan meets no < <= > >=. Facts are judged before
	 * rows are joined, values after it. OPK_EUSAGE: this is no condition, or rows have no such
	 * fact or value.
	 */
	const char *const *where;
	size_t where_count;
	const struct opk_eval_inside *inside; /* the library's own; NULL */
};

/* What the rows of a recording are. */
enum opk_rows {
	OPK_ROWS_RECORDED, /* ranges, joined where the recording says so, or samples */
	OPK_ROWS_SINGLE,   /* ranges are never joined */
	OPK_ROWS_KERNELS,  /* what ran, with its part of the samples */
	OPK_ROWS_LAUNCHES,
	OPK_ROWS_TABLES, /* what is known of each without values */
};

/*
 * How kernels are called. Where several have one short name, it has what they differ in,
 * "scale<float>", or else a number, "scale #2": in the order in which they appeared. A base name of
 * more than 200 bytes has U+2026 in its middle.
 */
enum opk_kernel_style {
	OPK_KERNEL_FULL,   /* as ranges have it: demangled, in one spelling */
	OPK_KERNEL_SHORT,  /* without namespaces, template arguments and arguments */
	OPK_KERNEL_SYMBOL, /* mangled, where the recording has it; else full */
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* Recordings as rows and columns, which "offpeak eval" prints: the way to values. */

/* Texts are copied. */
struct opk_table_options {
	size_t size;
	/* For which metrics or set, which rows, and how; NULL: defaults. */
	const struct opk_eval_options *eval;
	const char *set; /* instead of its metrics or set: as opk_set_find() takes it */
	/*
	 * Only these, in this order: names of facts, "file", and metrics, labels or derived
	 * metrics; where neither set nor metrics are given, no others are evaluated. NULL: all.
	 */
	const char *const *columns;
	size_t column_count;
	bool all_facts;         /* all that is known of each row, else the most wanted */
	bool keep_first_sample; /* that begins at an earlier event; left out by default */
	enum opk_rows rows;     /* recordings that only say what ran have OPK_ROWS_LAUNCHES */
	enum opk_kernel_style kernel_names;
	/* A row a range and value, not a column a value: files may have different ones. */
	bool is_long;
	/*
	 * Statistics: a row a key group and value; key and level as opk_sum() takes them. Columns
	 * that name values choose the rows. Recordings that only say what ran take "kernel" alone,
	 * which is OPK_ROWS_KERNELS there.
	 */
	const char *aggregate, *level;
	/* Takes notes of the rows, on the thread that reads them. NULL: nothing is noted. */
	opk_log_fn *log;
	void *log_data;
	const struct opk_table_inside *inside; /* the library's own; NULL */
};

/*
 * Recordings, all of ranges or all of samples, as one table with columns and rows as "offpeak eval"
 * prints them: docs/formats.md. It has files and a context of its own, so that it may be used on
 * another thread than `ctx` and outlive it; the causes of a failure here are those of `ctx`.
 *
 * All files are evaluated before this returns (NVPW_MetricsEvaluator_EvaluateToGpuValues where it
 * can be had for ranges, else cuptiProfilerHostEvaluateToGpuValues), in child processes, because
 * NVIDIA's code crashes, hangs or runs wild on damaged images: such an end is OPK_EINPUT here. Rows
 * and errors are the same however many children there are. Children are forked and not replaced by
 * exec. Other threads may work meanwhile, with contexts of their own: none of them is in NVIDIA's
 * code at a fork. One that is in the dynamic loader may hold a child up; after
 * opk_nvidia_get_info() children do not use the loader. Small recordings are evaluated by a child
 * that stays for the next ones, where the shared library is used: it is the library itself, run as
 * a program, has none of this process's memory and files, and no wait() of this process finds it.
 * It ends with the last context, or after a minute without work. Where there can be none, or it
 * ends otherwise, a forked child does the work. From an .opk file every checksum is verified before
 * a byte reaches NVIDIA's code; a bare image can't be verified. Where there are conditions, images
 * that have no such rows, as the file's tables say, are not even read.
 *
 * OPK_EUSAGE: there are no files, a file has no such column or metric, files do not go into one
 * table, or options contradict each other. OPK_EINPUT: a file is damaged, or cut off where `eval`
 * does not allow that, or NVIDIA's code can't read an image. OPK_EFAILED: there is no room for rows
 * in the folder of temporary files. The log of `ctx` has notes of files and key groups, and `log`
 * of the options those of rows.
 */
struct opk_table;
int opk_table_new(struct opk_table **out, struct opk_ctx *ctx, const char *const *paths,
                  size_t count, const struct opk_table_options *options);
/*
 * In the same way a bare counter data image, which is read before this returns; `name` is its path
 * in the table. Metrics, or a set, are required; see struct opk_eval_options. There are no key
 * groups, and neither kernels nor launches.
 */
int opk_table_new_image(struct opk_table **out, struct opk_ctx *ctx, const void *image, size_t size,
                        const char *name, const struct opk_table_options *options);
void opk_table_free(struct opk_table *table);
/* Names and types of the columns in their order, borrowed from the table. */
const struct opk_column *opk_table_columns(const struct opk_table *table, size_t *count);
enum opk_table_list {
	/* unit: of a value, "byte", "" where it is not known; else NULL. A row a column. */
	OPK_TABLE_UNITS,
	/*
	 * One row: chip; profiler; set, which was evaluated, "" where metrics were asked for by
	 * name; recorded_set, with which the files were recorded. Several, with ',' between, where
	 * files differ; "" where it is not known.
	 */
	OPK_TABLE_ABOUT,
};
/* What the table is about. */
int opk_table_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_table *table,
                   enum opk_table_list which);
/*
 * The next row: *cells has one a column, and is NULL after the last row. (*known)[i] is false where
 * a fact is not known, or nothing was collected of which the value or the statistics are computed,
 * which are NaN then; what was collected may be NaN, too. Both are valid until the next call. Where
 * it fails, opk_table_error() has the causes, not the context that the table was made with.
 * OPK_EINPUT: what the child processes wrote can't be read back.
 */
int opk_table_next(const union opk_cell **cells, const bool **known, struct opk_table *table);
/* The next row is the first one again; nothing is evaluated for that. */
void opk_table_rewind(struct opk_table *table);

/* The table's context with the causes of its last failure, borrowed: see opk_error_count(). */
const struct opk_ctx *opk_table_error(const struct opk_table *table);

/* ---- Arrow ----------------------------------------------------------------------------------- */

/* Tables as Arrow's record batches: its C stream interface, without a library of Arrow's. */

/* As the Arrow C data and stream interfaces declare them: arrow.apache.org/docs/format. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/*
 * The rows of a table that were not read yet, as a stream of record batches, each of some MiB.
 * Texts are dictionaries of UTF-8 with 32-bit indices, whose dictionary goes with each batch;
 * integers are int64, values float64. What is not known (opk_table_next()) is null, and a
 * value that could not be computed is NaN. The fields of values have their "unit" as metadata, and
 * the schema those of OPK_TABLE_ABOUT and "offpeak", which is the version.
 *
 * The stream takes the table over, unless this fails; its release() frees it. Schemas and arrays
 * outlive the stream. Where get_next() fails, with EIO or ENOMEM, get_last_error() has the cause
 * chain, innermost first, a line each, and it fails from then on. This fails with OPK_ENOMEM alone,
 * without a cause: *out is as it was, and the table still the caller's.
 */
int opk_table_export_arrow(struct ArrowArrayStream *out, struct opk_table *table);

/*
 * A list as such a stream, which is independent of it. What is not known, "" and cells that are
 * lists or words are null; a list of metrics has its "chip" as metadata. Fails with OPK_ENOMEM
 * alone, without a cause.
 */
int opk_listing_export_arrow(struct ArrowArrayStream *out, const struct opk_listing *listing);

/* ---- traces ---------------------------------------------------------------------------------- */

/* Recordings for Perfetto and other viewers. */

struct opk_trace_options {
	size_t size;
	/*
	 * The metrics, which samples and ranges, and how they are evaluated; NULL: defaults. What
	 * ran has to meet conditions on start_ns, end_ns, device, host and gpu, too; in files
	 * without samples those on any fact of launches. NVTX ranges are of no device.
	 */
	const struct opk_eval_options *eval;
	enum opk_kernel_style kernel_names;
	bool gzip;
};
/*
 * Recordings in Chrome's trace event format, JSON that Perfetto and chrome://tracing open:
 * docs/traces.md. Counters are PM samples; slices are kernels, copies, sets, NVTX ranges, and user
 * ranges that have times. Everything is on the clock of the host, in microseconds since the
 * beginning of the first event; otherData.origin_ns says when that was.
 *
 * Writes a trace of all files, which may be those of the ranks of a job, to `path`. Besides
 * NVIDIA's libraries it takes 24 bytes of memory for each sample, its times; 300 for each range
 * with values; and records of what ran as long as sections of the file overlap in time that have
 * them. Samples and ranges are evaluated as opk_table_new() does it. OPK_EUSAGE: no file has
 * anything with a time, or a condition is on a fact that no event has. OPK_EINPUT: a file is cut
 * off or damaged. OPK_EFAILED: more slices are at one time than a trace can show.
 *
 * *counts has one row, of what became events: events: all, with those that name processes and
 * threads, or mark gaps; samples: each is an event for every metric of which it has a value;
 * values; missing_values, nan: no event, but a slice says so; first_samples, that begin at an
 * earlier event, and incomplete_samples, begun but not completed: left out; kernels, copies, sets,
 * nvtx_ranges, ranges; records_left_out: of what ran, because of conditions; ranges_without_times:
 * left out; origin_ns: host time that is 0 in the trace.
 */
int opk_trace_save(struct opk_listing **counts, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_trace_options *options, const char *path);

/* ---- comparison ------------------------------------------------------------------------------ */

/* Recordings before and after a change, and rules that a change must not break. */

struct opk_diff_options {
	size_t size;
	/* Words as opk_sum() has them: "kernel", which NULL means, "name", "nvtx,kernel". */
	const char *by;
	bool ignore_shape; /* by "kernel" launches of other grids, blocks and shared memory match */
	double level;      /* share of false discoveries; 0: 0.005 */
	/* What is evaluated, and its filter; `also` and `join` are not looked at. */
	const struct opk_eval_options *eval;
	/*
	 * Rules that the change must not break; their metrics are evaluated, too. "METRIC>5%" (or
	 * >=, <, <=) is broken where the metric grew by more than that and it is no noise, or can't
	 * be told from noise; "METRIC>1.5e6" where it is more than that afterwards, in base units;
	 * "unmatched" by rows of one side alone. A value that is missing or NaN breaks a rule on
	 * it, and an infinite one a rule in percent. A rule that looks at no row is broken, and so
	 * are all rules of a comparison in which no row matches.
	 */
	const char *const *rules;
	size_t rule_count;
	const char *const *rule_files; /* YAML files with more of them, docs/ci.md */
	size_t rule_file_count;
	enum opk_kernel_style kernel_names;
};

/*
 * Two sides, before and after, each of one recording or several (runs, ranks), matched row by row;
 * docs/ci.md says how. A value of a side is the median over launches. Whether two differ by more
 * than noise is found by Mann and Whitney's U test over launches, two-sided, and among many
 * comparisons by Benjamini and Hochberg's procedure. Times and rates have to differ
 * by more than what the SM's clock can explain, too, where it is known.
 *
 * The files must outlive the result, and are evaluated as opk_table_new() does it, samples divided
 * among what ran beside them. Kernels match by their names, not their symbols. Rows are in order of
 * what changed most in time, those that changed by more than noise first. That rules are broken is
 * no failure. OPK_EUSAGE: a side has no file, or one twice; rows can't be compared, as PM samples
 * without what ran beside them, or ranges with launches on a timeline; or a rule is none, or on no
 * metric. OPK_EINPUT: a file was built and not recorded, or rules from a file are wrong.
 */
struct opk_diff;
int opk_diff_new(struct opk_diff **out, struct opk_ctx *ctx, struct opk_file *const *before,
                 size_t before_count, struct opk_file *const *after, size_t after_count,
                 const struct opk_diff_options *options);
void opk_diff_free(struct opk_diff *diff);

/*
 * Lists of a comparison. A value of a side is of `before_count` launches, or of what launches are
 * together: the median; of different kernels, or means of several launches, the mean; or NaN.
 * before_low and before_high are its quartiles, NaN for fewer than two values.
 */
enum opk_diff_list {
	/*
	 * One row: before, after (paths), by, matched_rows, unmatched_rows; launches_least,
	 * launches_most: of a value with a spread, on a side; test, in words; level, the share of
	 * false discoveries, in two families, level_of_times, with what rules name, and
	 * level_of_others; tested, launches_needed: on each side, to tell a single change among so
	 * many; tested_others, launches_needed_others; and how many values are changed, noise,
	 * same, too_few, nan, missing, clock: see `verdict` below.
	 */
	OPK_DIFF_ABOUT,
	/* Facts that differ, such as "chip", "gpu" or "sm_mhz": fact, before, after. */
	OPK_DIFF_DIFFERENCES,
	/*
	 * name: a metric, label, derived metric, or "duration_ns", times of ranges, or launches on
	 * a timeline; unit; is_time: rows are in order of this one.
	 */
	OPK_DIFF_COLUMNS,
	/*
	 * Rows that both sides have. name: all that it was matched by, "gemm 16x6x1 128x1x1";
	 * kernel; before_launches, after_launches; time_change: that of a launch, times the
	 * launches that both sides have at least, in the unit of the column with is_time, or NaN;
	 * time_changed: by more than noise.
	 */
	OPK_DIFF_ROWS,
	OPK_DIFF_UNMATCHED, /* the same of one side alone: the other one's launches are 0 */
	/*
	 * Of each of OPK_DIFF_ROWS each of OPK_DIFF_COLUMNS: row, from 0; metric; before, after,
	 * change_pct: of what was before, infinite where only that is 0; verdict: "same": all
	 * launches of both sides have one value, "noise": launches differ from each other as much,
	 * "changed": by more than noise, "too few" launches to tell, "nan": on either side a
	 * launch has no value, "missing": on either side nothing was measured, "clock": the SM's
	 * clock can explain all of it; p, of the test, NaN: it was not made; before_count,
	 * after_count, before_low, before_high, after_low, after_high; clock_pct: of a time or a
	 * rate the change that the SM's clock alone makes where all else takes as many cycles as
	 * before, and so the most that it can have made; NaN: that is not known.
	 */
	OPK_DIFF_VALUES,
	/*
	 * Peaks and clocks, what the GPU can do, and not what the program did: not judged, unless
	 * a rule names them, and each here once, its values of all launches of a side. The SM's
	 * clock is first, where both sides have it. metric, unit, before, after, change_pct,
	 * before_count, after_count, before_low, before_high, after_low, after_high.
	 */
	OPK_DIFF_PEAKS,
	/*
	 * Rule by rule each row that it is about: rule, as it was written; row, its name, "": all
	 * rows, or none; broken; found: "+7.3%, from 1200 to 1287.6 ns"; reason: what the rule is
	 * for, or "".
	 */
	OPK_DIFF_RULES
};
int opk_diff_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_diff *diff,
                  enum opk_diff_list which);
/* What became of the rules as a file of JUnit's, which CI systems read: a test case a row. */
int opk_diff_write_junit(const struct opk_diff *diff, struct opk_ctx *ctx, const char *path);

/* ---- summaries ------------------------------------------------------------------------------- */

/* A recording as people look at it: where the time went, and what the columns mean. */

struct opk_summary_options {
	size_t size;
	const char
		*kernel;  /* only kernels, or user ranges, like this: a shell pattern; NULL: all */
	const char *sort; /* "time", which NULL means, "launches", "name" or a column's name */
	enum opk_kernel_style kernel_names;
};

/*
 * A recording as people look at it: kernels by the time that they took in all launches, or user
 * ranges, or the devices of samples; what the columns mean; the run in words. Evaluates the file,
 * which must outlive the result, as opk_table_new() does it. Of a set that
 * was built there are only columns and words. OPK_EUSAGE: `sort` names nothing to sort by, or
 * `kernel` is given and samples are of no kernel.
 */
struct opk_summary;
int opk_summary_new(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_summary_options *options);
void opk_summary_free(struct opk_summary *summary);

enum opk_summary_list {
	/*
	 * One row: kind, what groups are: "kernels", "ranges" of the program, or "devices" of PM
	 * samples; time_unit, of groups: "ns", "cycles" or "", no time is known; run: what was
	 * recorded, in words; machine: where, and when; clocks, or ""; complete: "yes", or what is
	 * missing; remarks: what else is to be known of the values, a sentence each.
	 */
	OPK_SUMMARY_ABOUT,
	/*
	 * What the recording shows, in its order. name: a metric, a label or a derived metric;
	 * metric, its full name, NULL: it is derived; unit, description, heading, or ""; inflated:
	 * it counts idle time around short kernels, because of how it was recorded; unknown: no
	 * group has a value.
	 */
	OPK_SUMMARY_COLUMNS,
	/*
	 * Kernels with all their launches, user ranges, or devices, in the order of `sort`. name;
	 * count, of launches, ranges or samples; time, of all launches, or NaN; share of the time
	 * of all groups, in percent.
	 */
	OPK_SUMMARY_GROUPS,
	/*
	 * Of each of the groups each column that was evaluated. group, from 0; column; count, sum,
	 * mean, min, max, p50, p90, p99 and weighted_by, or "": docs/formats.md, statistics;
	 * of_peak: percent of the peak, or NaN.
	 */
	OPK_SUMMARY_VALUES,
	/*
	 * Kernels on the timeline, by time, none where it was not recorded what ran beside
	 * samples, or alone: name, launches, time_ns, least_ns, most_ns, share in percent.
	 */
	OPK_SUMMARY_LAUNCHED,
	OPK_SUMMARY_PEAKS /* of each of these, from 0: kernel, name, share in percent, or NaN */
};
/* One of the lists above. */
int opk_summary_list(struct opk_listing **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary, enum opk_summary_list which);

/* ---- charts ---------------------------------------------------------------------------------- */

/* PM samples, and what ran, over time: as numbers to draw. */

struct opk_chart_options {
	size_t size;
	const struct opk_eval_options *eval; /* which metrics, and samples; NULL: all */
	size_t points;                       /* 0: 1000 */
	/* What ran close together is joined until so many bars are left; 0: 1500. */
	size_t bars;
};

/*
 * PM samples, and what ran, as few numbers as can be drawn, on the clock of struct opk_time.
 * Evaluates the file, as opk_table_new() does it; the file must outlive the result. Of very many
 * samples up to 2^23 values are in memory at a time. OPK_EUSAGE: neither samples nor what ran was
 * recorded.
 */
struct opk_chart;
int opk_chart_new(struct opk_chart **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_chart_options *options);
void opk_chart_free(struct opk_chart *chart);

enum opk_chart_list {
	/*
	 * One row: start_ns, end_ns, of all samples, without any of all that ran; points: into so
	 * many equal parts this time is divided.
	 */
	OPK_CHART_ABOUT,
	/*
	 * GPUs of a host, or ranks on them: title, "node7 GPU 0 rank 3", "" where nothing is known;
	 * host, gpu, device, rank, samples.
	 */
	OPK_CHART_PLACES,
	/*
	 * Metrics of a place's samples: place, from 0; name; unit; lowest and highest of all
	 * samples, NaN: none has a value; missing: samples without a value.
	 */
	OPK_CHART_LINES,
	/*
	 * Bars of a stream, or NVTX ranges of a thread, that do not overlap: place; title, "stream
	 * 7"; is_range; row, of the lanes of this stream or thread, from 0.
	 */
	OPK_CHART_LANES,
	/*
	 * A launch, a copy, a set or an NVTX range, in the order of their starts: lane, from 0;
	 * start_ns, end_ns; name, of kernels as people call them; full_name, as it was recorded;
	 * records: of short ones close to each other, of which this is the first.
	 */
	OPK_CHART_BARS
};
/* One of the lists above. */
int opk_chart_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_chart *chart,
                   enum opk_chart_list which);
/* The least or the most of a line, from 0, in each part of time; NaN: no sample has a value. */
const double *opk_chart_line(const struct opk_chart *chart, size_t line, bool most);

/* ---- pictures -------------------------------------------------------------------------------- */

/* Kernels between their roofs, as numbers to draw. */

enum opk_roofline_list {
	/*
	 * One row: title; unit of operations, "flop", "op" where some are of another unit; notes:
	 * which kernels have no dot, and what is missing in every kernel, in sentences, or "".
	 */
	OPK_ROOFLINE_ABOUT,
	/*
	 * Lines: name; is_level: of memory, `peak` is bytes a second, else operations a second;
	 * peak: the highest of all kernels, for it goes with the clock; idle: of operations that
	 * no kernel has; unit: "byte", or of operations: "flop", "op" for those of integers.
	 */
	OPK_ROOFLINE_ROOFS,
	/*
	 * Kernels at levels of memory, those of a kernel one after the other: kernel, its name;
	 * roof, its level's, from 0; intensity, operations a byte, finite and more than 0, and
	 * rate, operations a second, in the same way; share of the time of all kernels, 0 to 1, or
	 * NaN; highest: the largest share of a line's peak that is known, "fp32 48.1%", "L2 at
	 * least 12%" where not all parts of its throughput are known, or ""; text: all shares, the
	 * nearest line, and what is not known, in words. Operations of each type are held against
	 * that type's own peak, a level against its bytes a second and its throughput; the largest
	 * share is the nearest.
	 */
	OPK_ROOFLINE_DOTS
};
/*
 * Where a recording's kernels are between the roofs, as the recording or the set says.
 * OPK_EUSAGE: there is no roofline, or the summary lacks a column that it needs.
 */
int opk_roofline_list(struct opk_listing **out, struct opk_ctx *ctx,
                      const struct opk_summary *summary, enum opk_roofline_list which);

/* ---- reports --------------------------------------------------------------------------------- */

/* Pages of HTML. */

struct opk_report_options {
	size_t size;
	const char *title; /* of the page; NULL: the names of the files */
	const char
		*kernel; /* only kernels, or user ranges, like this: a shell pattern; NULL: all */
	enum opk_kernel_style kernel_names;
};
/*
 * One page of HTML about one or several recordings, which needs no other file and no network. Two
 * are compared as well, the first as before and the second as after, unless the log says why not.
 * "offpeak help report" says what is on it. All text of a recording is text there, whatever is in
 * it. Files are evaluated as opk_table_new() does it. OPK_EUSAGE: there are no files, or
 * `kernel` is like none. OPK_EINPUT: a file is no recording, or damaged.
 * OPK_EFAILED: what a page is made of is not installed, and the message names the package.
 */
int opk_report(struct opk_ctx *ctx, const char *const *paths, size_t count,
               const struct opk_report_options *options, const char *path);

/* ---- new recordings -------------------------------------------------------------------------- */

/*
 * Recordings out of recordings: merged, trimmed, summed, divided; and of bare images. Sums and
 * parts are made by PerfWorks' combiner, as statistics are.
 */

struct opk_merge_options {
	size_t size;
	const char *join; /* overrides the first file's, see struct opk_recorded; NULL: that one */
	/*
	 * The files are parts of one recording, which are removed afterwards. So the new one is
	 * what was recorded: OPK_OUTPUT_RECORDING, else OPK_OUTPUT_MERGED.
	 */
	bool original;
};
/*
 * One recording of several, their ranges in order. Config image and prefix are those of the first,
 * and so is what metadata say, but for what is not true of all: see docs/format.md. The log names
 * files, or images in them, that are there twice. Needs no NVIDIA library. OPK_EUSAGE: there are
 * no files, one is a probe, or chip, profiler or metrics differ. OPK_EINPUT: a file is cut off or
 * damaged.
 */
int opk_merge(struct opk_ctx *ctx, const char *const *paths, size_t count,
              const struct opk_merge_options *options, const char *path);
/*
 * Logs which files are named twice, or by two names, and would count twice where each is evaluated
 * by itself. Opens none, so that copies are not found; those that are missing are passed over.
 */
int opk_note_same_files(struct opk_ctx *ctx, const char *const *paths, size_t count);

/*
 * A copy of a recording in which each counter data image has as many slots as ranges
 * (NVPW_CounterDataCombiner_*) or samples (NVPW_PeriodicSampler_CounterData_TrimInPlace); values
 * are the same bit for bit, and all else is as it was. An image that would not be smaller stays.
 * OPK_EINPUT: the file is cut off or damaged, has no counter data, or NVIDIA's code can't read an
 * image. OPK_ENVIDIA: a function of the combiner is missing.
 */
int opk_trim(struct opk_ctx *ctx, struct opk_file *file, const char *path);

struct opk_sum_options {
	size_t size;
	/*
	 * One word of name, kernel, shape, nvtx, device, host, rank and all, or several:
	 * "kernel,rank".
	 */
	const char *key;
	/*
	 * Ranges may be inside others, "step/forward" in "step", and kernels in those of their
	 * NVTX ranges. Of those that share a key only one level is added, so that nothing counts
	 * twice: "outermost", which NULL means, "innermost", or "all" of them. What is left out is
	 * logged.
	 */
	const char *level;
	/*
	 * A part of a sum, which is opk_sum() of such parts, or of their sums that are parts again:
	 * with the same key and level, in the order of the files, it is the same bit for bit. What
	 * is found out at the end stays apart: kernels without a symbol, and ranges by name and
	 * rank, for others may be inside them. But kernels that ran inside ranges of the program
	 * have to be in one part with these. Passes of a key may have different numbers of ranges.
	 */
	bool part;
};
/*
 * One recording of several, as opk_merge() makes it, in which the ranges that share a key are one:
 * the sum of their counters (NVPW_CounterDataCombiner_SumIntoRange), of which metrics are
 * evaluated. The range has what all have in common, their number as `count`, and the sum of their
 * durations. Ranges of different GPUs are never summed. OPK_EUSAGE: key or level are other words;
 * ranges of one key were counted on GPUs of different layout; there are samples; or each range has
 * one pass and the passes of a key have different numbers of ranges, whose sums would not go
 * together. OPK_EINPUT: a file is cut off or damaged, or NVIDIA's code can't read an image.
 */
int opk_sum(struct opk_ctx *ctx, const char *const *paths, size_t count,
            const struct opk_sum_options *options, const char *path);

/*
 * A recording as several: PATH-1.opk and so on for a `path` of PATH.opk, all or none, which
 * together are the whole recording. `by` is a key, of name, kernel, shape, nvtx, device and rank
 * one word or several with ',' between; or "segment": one a counter data image; or a number: so
 * many ranges each, in order. Images of samples stay whole, for the combiner can't divide them.
 * What the collector counted goes into the first, so that it is there once when they are merged
 * again. *out has a row a file, in order: name and kernel (of its ranges; "" where they have
 * different ones), rows (so many ranges or samples). OPK_EUSAGE: samples of one image would go
 * into several parts, there are more than 500, or `by` is another word. OPK_EINPUT: the file is
 * cut off or damaged, or NVIDIA's code can't read an image.
 */
int opk_split(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file, const char *by,
              const char *path);

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
	bool no_instances; /* the image was made from a prefix without instances */
};
/*
 * A bare counter data image of `size` bytes becomes a recording at `path`. It is evaluated once, to
 * see that it can be, and fails as opk_table_new() does. `options` are required. OPK_EINPUT: the
 * range table is wrong, or has not one row for each range.
 */
int opk_import(struct opk_ctx *ctx, const void *image, size_t size,
               const struct opk_import_options *options, const char *path);

/* ---- repair ---------------------------------------------------------------------------------- */

/* What is wrong with a file, and what can be saved of it. */

struct opk_verify_options {
	size_t size;
	bool deep; /* evaluate all ranges, too, if all else is right; needs NVIDIA's libraries */
};
/*
 * All sections of a container, and what is wrong: headers, checksums, encodings, tables that can't
 * be read, do not agree with each other or with the metadata. After damage it goes on at the next
 * section header. *out has the columns section (from 1, as far as sections were found; 0: bytes
 * between sections, or the file as a whole), type (of the section, or of one that is missing; "":
 * not known), byte and size (where it is in the file, its header and padding included), and problem
 * (NULL: it is sound), in the order of the file. OPK_OK also where problems were found; OPK_EINPUT
 * where this is not a container at all.
 */
int opk_verify(struct opk_listing **out, struct opk_ctx *ctx, const char *path,
               const struct opk_verify_options *options);

/*
 * What is whole of a damaged or cut-off recording becomes a complete one at `to`, which is not
 * `from`: images with their tables, in order. An image whose range table is lost goes on without
 * one, unless the table says which metrics it has; without the times that others have it is left
 * out. What was left out is among the drops of the new file, too. *out, unless NULL, has all
 * sections of `from` as opk_verify() does; what was not kept has a problem. Where there is
 * libcupti, a child process asks it how many ranges are in each image
 * (NVPW_CounterData_GetNumRanges, cuptiPmSamplingGetCounterDataInfo): a table that has more rows,
 * or fewer, is lost, and so is an image that it can't read. Elsewhere the log says that this was
 * left out. OPK_EUSAGE: `to` is `from`. OPK_EINPUT: nothing can be evaluated in it any more, and
 * *out is as it was.
 */
int opk_recover(struct opk_listing **out, struct opk_ctx *ctx, const char *from, const char *to);

#ifdef __cplusplus
}
#endif

#endif
