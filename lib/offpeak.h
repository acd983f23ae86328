/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offpeak: NVIDIA GPU hardware metrics without a GPU.
 *
 * docs/library.md says how to link the library and what may change before version 1.0;
 * docs/examples has whole programs. For every function below:
 *  - The out parameter comes first. The caller owns an object from opk_X_new() or opk_X_load() and
 *    frees it with opk_X_free(), which takes NULL. All other pointers that a function returns are
 *    borrowed from the object they came from and live as long as it does, unless the comment says
 *    who frees them.
 *  - An int result is an enum opk_status. On failure *out is untouched, and the context has a chain
 *    of causes: opk_error_count(). Every function may run out of memory, be interrupted, fail to
 *    read or write a file, or miss NVIDIA's library where it calls it. Comments name the codes
 *    that mean more than that.
 *  - Option structs begin with their size: use OPK_INIT. A field that is zero or absent has its
 *    default; NULL instead of a struct means all defaults. The function copies what it needs,
 *    unless a field says that it is borrowed.
 *  - Texts are UTF-8 and end with NUL. An unknown text is "", or NULL where its field says so.
 *  - A chip is given as opk_chip_list() takes it, or as a function here returned it.
 *  - An output file appears whole or not at all, and replaces an older file of its name.
 *  - An index counts from 0, and must be less than the object's count: the function does not check
 *    it, unless the comment says what it returns past the end.
 *  - Only one thread at a time may use a context and the objects made with it. Other threads may
 *    use other contexts meanwhile.
 *
 * The library never prints, never exits, and reads the environment only in opk_env_read().
 *
 * Groups, in the order of use: context, errors, rows, NVIDIA libraries, chips, metrics, metric
 * sets, plans, building, files, recordings, what a file replaces, writing, evaluation, tables,
 * Arrow, traces, comparison, summaries, pictures, reports, new recordings, repair.
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
 * `struct opk_xxx_options o = OPK_INIT(o);` zeroes a struct that begins with its size, and sets the
 * size. It initialises variables and members in C99 and C++11, elements of arrays only in C.
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

/* The version of this header: 1.2.3 is 10203. */
#define OPK_VERSION_MAJOR 0
#define OPK_VERSION_MINOR 1
#define OPK_VERSION_PATCH 0
#define OPK_VERSION_NUMBER (OPK_VERSION_MAJOR * 10000 + OPK_VERSION_MINOR * 100 + OPK_VERSION_PATCH)

/* The library's version, "0.1.0", and the same as a number, 100. */
const char *opk_version(void);
uint32_t opk_version_number(void);

/* ---- context --------------------------------------------------------------------------------- */

/*
 * All other objects are made with a context. It keeps the settings, the open libraries and the
 * causes of the last failure. Make one for each thread, and keep it as long as the thread works.
 */

struct opk_ctx;

/* What the environment says, as opk_env_read() finds it; NULL where unset. "" counts as unset. */
struct opk_env {
	size_t size;
	const char *offpeak_cuda; /* OFFPEAK_CUDA: folder of the CUDA toolkit or of its libraries */
	const char *cuda_home;    /* CUDA_HOME */
	const char *cuda_path;    /* CUDA_PATH */
	const char *virtual_env; /* VIRTUAL_ENV: a Python environment, maybe with NVIDIA's wheels */
	const char *home;        /* HOME: for wheels installed with pip --user */
	const char *wheels;      /* OFFPEAK_WHEELS: folders like site-packages, "a:b" */
	const char *sets;        /* OFFPEAK_SETS: folder of metric sets, searched first */
	const char *cache;       /* XDG_CACHE_HOME: for tools alone, as the next three */
	const char *pager;       /* PAGER */
	const char *no_color;    /* NO_COLOR */
	const char *columns;     /* COLUMNS: how wide tables are for a terminal */
	const char *tmpdir;      /* TMPDIR: folder of the library's temporary files, else /tmp */
	/* OFFPEAK_LIBCUDA: the driver's libcuda.so.1, which CUPTI 13.2 and later want. */
	const char *offpeak_libcuda;
	const char *path; /* PATH: for nvdisasm, after all other places */
};

/* Fills *env, whose size the caller has set (OPK_INIT), with pointers into the environment. */
void opk_env_read(struct opk_env *env);

/* Takes a note: a sentence without newline, valid during the call. It must not use the context. */
typedef void opk_log_fn(void *data, const char *message);

/* Work that takes long, and what `done` and `total` count meanwhile. */
enum opk_phase {
	OPK_PHASE_NONE,
	OPK_PHASE_EVALUATION, /* ranges or samples */
	OPK_PHASE_IMAGES,     /* ranges or samples that go into new images */
	OPK_PHASE_PLAN,       /* hundredths of the search for a shorter plan */
	OPK_PHASE_SPLIT,      /* hundredths of dividing a set */
	OPK_PHASE_PASSES,     /* metrics whose passes are counted; equal counters count once */
	OPK_PHASE_TRACE,      /* samples that are written */
	OPK_PHASE_SETS,       /* metric sets that are planned */
};

struct opk_ctx_options {
	size_t size;
	const char *cuda_dir;      /* look for NVIDIA's libraries here and nowhere else */
	const struct opk_env *env; /* copied; NULL: an empty environment */
	const char *data_dir;      /* shipped data (sets/...); NULL: installed with the library */
	opk_log_fn *log;           /* notes about unusual but harmless things */
	void *log_data;
	const char *cache_dir; /* keeps what NVIDIA's libraries said of chips; NULL: no cache */
	/* For CUPTI 13.2 and later; NULL: OFFPEAK_LIBCUDA, or the system's, or the toolkit's. */
	const char *libcuda;
	bool force;         /* a new file replaces an older one of any kind: opk_check_output() */
	unsigned timeout_s; /* stop NVIDIA's code after so many seconds without progress; 0: 30 */
	/* Called from time to time during long work, on the calling thread. */
	void (*progress)(void *data, enum opk_phase phase, uint64_t done, uint64_t total);
	void *progress_data;
};

/*
 * Takes little time: NVIDIA's libraries are opened when a function first needs them. Fails only
 * with OPK_ENOMEM. Free a context after all objects that were made with it.
 */
int opk_ctx_new(struct opk_ctx **out, const struct opk_ctx_options *options);
void opk_ctx_free(struct opk_ctx *ctx);

/*
 * Makes the present long call on this context, and each later one until opk_ctx_resume(), end soon
 * with OPK_EFAILED, "interrupted". They leave no child processes and no output files. Any thread
 * and any signal handler may call it.
 */
void opk_ctx_interrupt(struct opk_ctx *ctx);
/* Call it before the next call that shall work, also if the interrupt came between calls. */
void opk_ctx_resume(struct opk_ctx *ctx);

/* ---- errors ---------------------------------------------------------------------------------- */

/*
 * Why the last call failed, as messages to print from the last one, the outermost, to number 0.
 * They stay until the next call with this context. There are none if memory ran out. Messages name
 * files, metrics and chips as the caller gave them, and quote the line of a text file with a caret.
 */

/* How many messages there are; a message, NULL past the end. */
size_t opk_error_count(const struct opk_ctx *ctx);
const char *opk_error_message(const struct opk_ctx *ctx, size_t i);

enum opk_cause_kind {
	OPK_CAUSE_ERROR, /* what is wrong */
	OPK_CAUSE_WHILE, /* what the library was doing, or how many errors there are */
	OPK_CAUSE_TRIED, /* where something was looked for that the next error says is missing */
};

/* What would help; a program says so in its own words, after the message. */
enum opk_remedy {
	OPK_REMEDY_NONE,
	OPK_REMEDY_ALLOW_INCOMPLETE, /* a file was cut off: allow_incomplete takes what is whole */
	OPK_REMEDY_RECOVER, /* a file was cut off: opk_recover() makes a complete one of it */
	OPK_REMEDY_FORCE,   /* a file is not replaced: `force` of struct opk_ctx_options does so */
	OPK_REMEDY_LIST_CHIPS,       /* choose from opk_chip_list() */
	OPK_REMEDY_LIST_SETS,        /* choose a shipped set, or give a path or metrics */
	OPK_REMEDY_LIST_SINGLE_PASS, /* choose one of the chip's single-pass sets */
	OPK_REMEDY_LIST_ROWS,        /* choose a kernel or range of the recording's summary */
	OPK_REMEDY_SPLIT,            /* divide the metrics among several sets */
	OPK_REMEDY_TRACE,            /* record what ran, too */
	OPK_REMEDY_CUDA,     /* set `cuda_dir` of struct opk_ctx_options to libcupti's folder */
	OPK_REMEDY_LIBCUDA,  /* set `libcuda` of struct opk_ctx_options to the driver's library */
	OPK_REMEDY_EVALUATE, /* write the .opk file first; tables and pages are made of it */
	OPK_REMEDY_BAKE,     /* 'offpeak bake' with these metrics or this set, from the recording */
	OPK_REMEDY_COMMON,   /* choose metrics that all files have, or compare two of them */
};

/*
 * A message as data, borrowed until the next call. The errors of several chips are one error if
 * they have the same place and the same `general`: the text with '*' instead of the chip.
 */
struct opk_cause {
	int code; /* enum opk_status */
	enum opk_cause_kind kind;
	const char *file;    /* that is wrong, or can't be opened, read or written; or NULL */
	size_t line, column; /* from 1; columns are characters; 0: the cause has no place */
	const char *text;    /* without the place */
	const char *general;
	const char *message;         /* "FILE:LINE:COLUMN: TEXT", or text */
	const char *excerpt, *caret; /* the file's line, and a caret to print below it; or NULL */
	enum opk_remedy remedy;      /* the texts leave it out */
	int os_error; /* errno of the failed call; ETIMEDOUT: NVIDIA's code was stopped; or 0 */
};

/* The same chain as data; NULL past the end. */
size_t opk_error_cause_count(const struct opk_ctx *ctx);
const struct opk_cause *opk_error_cause(const struct opk_ctx *ctx, size_t i);

/* ---- rows ------------------------------------------------------------------------------------ */

/* Columns and cells of all lists and tables. */

/* The type of a column says which member of union opk_cell its cells use. */
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

/* Cells point into the list or table of their row. */
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

/* A list: columns, and rows with a cell for each column. It owns all of them. */
struct opk_listing;
const struct opk_column *opk_listing_columns(const struct opk_listing *listing, size_t *count);
size_t opk_listing_count(const struct opk_listing *listing);
const union opk_cell *opk_listing_get(const struct opk_listing *listing, size_t i);
void opk_listing_free(struct opk_listing *listing);

/* A value for people: "3.35 TB/s" of a value in "byte/second", "23.2 us"; NaN is "nan". */
enum { OPK_VALUE_TEXT = 128 };
void opk_value_text(char out[OPK_VALUE_TEXT], double value, const char *unit);

/* ---- NVIDIA libraries ------------------------------------------------------------------------ */

/* libcupti and libnvperf_host: for programs that show what was found. */

/* NVIDIA's libraries that were found; texts are borrowed from the context. */
struct opk_nvidia_info {
	size_t size;
	const char *cupti_path;       /* NULL: not found */
	const char *nvperf_host_path; /* NULL: not found */
	uint32_t cupti_version;       /* cuptiGetVersion, e.g. 130001; 0 if not found */
	const char *libcuda_path;     /* NULL: not needed, or not found */
	bool needs_libcuda;           /* CUPTI 13.2 and later: nothing works without libcuda.so.1 */
	const char *nvperf_host_version; /* NVPW_QueryVersionNumber, "2025.4.2"; or "" */
	const char *mixed;         /* the two libraries' releases, where they differ; else NULL */
	const char *nvdisasm_path; /* NULL: not found, so that instructions have no text */
};

/*
 * Opens the libraries, unless an earlier call did, and fills *info, whose size the caller has set
 * (cuptiGetVersion). OPK_ENVIDIA: libcupti is missing or unusable; *info is filled even then.
 */
int opk_nvidia_get_info(struct opk_nvidia_info *info, struct opk_ctx *ctx);

/* Lists about these libraries, and their columns. */
enum opk_nvidia_list {
	/* feature, available, missing ("libnvperf_host: NVPW_...", the symbol), description */
	OPK_NVIDIA_FEATURES,
	OPK_NVIDIA_TRIED, /* tried: each file that was tried while looking for them */
};
int opk_nvidia_list(struct opk_listing **out, struct opk_ctx *ctx, enum opk_nvidia_list list);

/* ---- chips ----------------------------------------------------------------------------------- */

/* The chips that libcupti supports, and what each chip offers to the profilers. */

enum opk_profiler {
	OPK_PROFILER_RANGE, /* one value a range of kernels; any number of passes */
	OPK_PROFILER_PM,    /* PM sampling: one value a time interval; a single pass */
	OPK_PROFILER_SASS,  /* counts of each instruction, by code patched into kernels */
	OPK_PROFILER_PC,    /* samples of program counters, with the reasons of stalls */
};

/* "range", "pm", "sass" or "pc". */
const char *opk_profiler_name(enum opk_profiler profiler);

/* Additional columns of opk_chip_list(); some take long. */
enum opk_chip_columns {
	/* architecture, compute_capability, products: "Hopper", "9.0", "H100"; "" if unknown */
	OPK_CHIP_FACTS = 1,
	/*
	 * metrics_per_pass, pm_metrics_per_pass: the most hardware metrics in a pass of each
	 * profiler (cuptiProfilerHostGetMaxNumHardwareMetricsPerPass); few sets come near it.
	 * device_level: the range profiler has OPK_SCOPE_DEVICE metrics (13.1). Absent if unknown.
	 */
	OPK_CHIP_LIMITS = 2,
	/* range_metrics, pm_metrics: how many base metrics (cuptiProfilerHostGetBaseMetrics) */
	OPK_CHIP_COUNTS = 4,
};

/*
 * The chips that libcupti supports (cuptiProfilerHostGetSupportedChips), in its order. Columns:
 * chip; range and pm_sampling, whether that profiler knows the chip; what `columns` adds, a sum of
 * enum opk_chip_columns; and sass, whether it has metrics of instructions. `chip` NULL lists all.
 * Else it is a name ("gh100"), a product ("H100") or a compute capability ("sm_90"), in upper or
 * lower case. OPK_EUSAGE: there is no such chip (the message has the nearest name), or several.
 */
int opk_chip_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip,
                  unsigned columns);

/* ---- metrics --------------------------------------------------------------------------------- */

/* A chip's metrics, and all that is known about each metric. */

/* A count, a quotient of counts, or how near the busiest of several units is to its peak. */
enum opk_metric_type { OPK_COUNTER, OPK_RATIO, OPK_THROUGHPUT };

/* A metric counts the work of one CUDA context, or of all that use the device, as on PCIe. */
enum opk_scope { OPK_SCOPE_UNKNOWN, OPK_SCOPE_CONTEXT, OPK_SCOPE_DEVICE };

/* Chooses the metrics of a list: all conditions must hold. NULL and 0: any. */
struct opk_metric_list_options {
	size_t size;
	/* Shell patterns over base names; one of them must match. */
	const char *const *globs;
	size_t glob_count;
	const char *unit; /* hardware unit, in any case */
	const char *grep; /* POSIX extended regular expression over name and description */
	bool has_type;
	enum opk_metric_type type;
	bool submetrics;   /* list full names; globs match these, too */
	bool passes;       /* count passes; for a base metric, of its plainest full name */
	size_t max_passes; /* only metrics that can be scheduled in at most so many; 0: all */
	/* Only metrics that a GPU with this counter-availability image can collect. */
	const void *availability;
	size_t availability_size;
	bool scopes;          /* asks for scopes, for which CUPTI takes a millisecond a metric */
	enum opk_scope scope; /* only metrics of this scope; OPK_SCOPE_UNKNOWN: all */
	size_t processes;     /* child processes that count passes; 0: one for each core */
	/* Out: how many matches max_passes left out: unschedulable ones; ones with more passes. */
	size_t *refused, *costly;
};

/*
 * A chip's metrics: base names, "dram__bytes", or full names, which add a rollup or a submetric,
 * "dram__bytes.sum" (cuptiProfilerHostGetBaseMetrics, ...GetSubMetrics, ...GetMetricProperties;
 * from the cache if possible). Columns: metric; type ("counter", "ratio", "throughput"); hw_unit
 * ("dram"); dim_unit ("byte"; a full name may have another, "byte/second"); description; scope
 * ("context", "device", or NULL). If passes were counted, also passes (absent: CUPTI refuses the
 * metric), method ("hardware"; "sass": CUPTI patches code into kernels; "both"; "") and status ("",
 * or "CUPTI_ERROR_NOT_SUPPORTED"). CUPTI 12.x lists no submetrics: the submetrics of 13.0 are
 * tried. Metrics of instructions have no submetrics, and NVIDIA's libraries are not asked for them.
 * OPK_EUSAGE: there is no such chip, or the regular expression is malformed. OPK_EFAILED: the chip
 * does not have this profiler. OPK_ENVIDIA: the library can't report scopes or submetrics.
 */
int opk_metric_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const struct opk_metric_list_options *options);

/*
 * All that is known about one metric: a full name, or a base metric, described by its plainest full
 * name. Counts the passes of all its submetrics, and keeps the results in the cache. Without
 * libnvperf_host the log says what is left out. A name of nvprof's gives the metrics that replace
 * it. OPK_EUSAGE: there is no such metric, and the message has the nearest names.
 */
struct opk_description;
int opk_description_new(struct opk_description **out, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler, const char *name);
void opk_description_free(struct opk_description *description);

/* Lists of a description, and their columns. For nvprof's names only the last two have rows. */
enum opk_description_list {
	/*
	 * One row: chip, profiler, metric (a full name, or a base name without submetrics), base,
	 * type, hw_unit, dim_unit, description, passes (alone; "unschedulable"; or ""), method,
	 * status, other_chips (with the same base metric), single_pass (this profiler's sets of one
	 * pass that have it), scope.
	 */
	OPK_DESCRIPTION_METRIC,
	/* submetric (".sum.per_second"), dim_unit, passes, method, status */
	OPK_DESCRIPTION_SUBMETRICS,
	/* counter, a raw one; domains of it (NVPW_MetricsEvaluator_GetMetricRawDependencies) */
	OPK_DESCRIPTION_COUNTERS,
	/*
	 * constituent, type: the base metrics whose highest value a throughput is
	 * (NVPW_MetricsEvaluator_GetThroughputMetricProperties); for a ratio, the counters all of
	 * whose raw counters it needs.
	 */
	OPK_DESCRIPTION_CONSTITUENTS,
	/*
	 * One row, for a name of nvprof's: chip, name, kind ("metric", "event"), formula (over full
	 * names of the chip; NULL: the chip has no counterpart), unit ("": it follows from the
	 * metrics), nvidia (NVIDIA's own formula, or ""), note (such as why the formulas differ),
	 * lack (why the chip has no counterpart, or NULL), other_kind and other_formula (if the
	 * name is both a metric and an event: of the other one; else NULL).
	 */
	OPK_DESCRIPTION_LEGACY,
	/* term, exists (on the chip), nearest: names in `formula`, or else in another chip's */
	OPK_DESCRIPTION_TERMS,
};
int opk_description_list(struct opk_listing **out, struct opk_ctx *ctx,
                         const struct opk_description *description, enum opk_description_list list);

/* ---- metric sets ----------------------------------------------------------------------------- */

/*
 * A metric set says what to measure, on any chip: metrics, and values computed from them.
 * docs/metric-sets.md has the YAML form. A plan says what a set means on one chip.
 */

struct opk_set;
/*
 * Reads a YAML file. OPK_EINPUT: there is a cause for every error in it and in files that it
 * includes, outermost first, each as "FILE:LINE:COLUMN: ..." with the line and a caret below.
 */
int opk_set_load(struct opk_set **out, struct opk_ctx *ctx, const char *path);
/*
 * Finds what a user names: a shipped set; the path of a YAML file, which has a slash or ends in
 * .yaml or .yml; a full metric name; a name of nvprof's; several of these with commas between; or
 * "single-pass:NAME", a row of the chip's opk_single_pass_list(). OPK_EUSAGE: there is no such set.
 * OPK_EINPUT: as for opk_set_load().
 */
int opk_set_find_on(struct opk_set **out, struct opk_ctx *ctx, const char *spec, const char *chip);
/*
 * Reads YAML in memory, at most 1 MB. Messages call it `name`; NULL: "<text>". It can include sets
 * by their names or absolute paths, not by relative paths. OPK_EINPUT: as for opk_set_load().
 */
int opk_set_parse(struct opk_set **out, struct opk_ctx *ctx, const char *text, size_t size,
                  const char *name);
/*
 * Joins several sets to one, with their metrics in order, each once. OPK_EUSAGE: there are no sets,
 * their profilers differ, or one name means different things.
 */
int opk_set_join(struct opk_set **out, struct opk_ctx *ctx, const struct opk_set *const *sets,
                 size_t count);
void opk_set_free(struct opk_set *set);
/*
 * Sets a parameter of the set, or of a set that it includes, to another value than its default.
 * OPK_EUSAGE: there is no such parameter, and the message has the nearest name.
 */
int opk_set_parameter(struct opk_set *set, struct opk_ctx *ctx, const char *name,
                      const char *value);
/*
 * Lists in one row what a set's file says. `set` NULL: all sets that opk_set_find_on() finds by
 * name, folder by folder. Columns: set, its name ("custom": a list of metrics); profiler (NULL:
 * range); metrics, how many entries; description; path (or ""); version; chips and architectures
 * for which it is meant (both empty: any, or as the sets say that it includes); entries, as written
 * (a plan says what they mean); error, why a file can't be read (else NULL).
 */
int opk_set_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_set *set);

struct opk_set_check_options {
	size_t size;
	const char *const *chips; /* NULL: all for which the set is meant */
	size_t chip_count;
	double effort; /* as in struct opk_plan_options, for all chips together; 0: a minute */
	/* For a set that could not be loaded: the arguments of opk_set_find_on() or _parse(). */
	const char *spec;
	const char *text;
	size_t text_size;
	const char *name;
};

/*
 * Finds what is wrong with a set on each chip. *chips: chip, passes, metrics, left_out (optional
 * metrics that the chip lacks, and what needs them), status ("ok", or what is wrong), failed (the
 * status is an error). *errors, each once: message, file, line, column, text, excerpt and caret as
 * in struct opk_cause, of the first chip with this error; is_error (false: OPK_CAUSE_WHILE); chips,
 * all with this error. Errors are mistakes in the set's files, unknown chips, metrics, patterns and
 * constants that a chip lacks, wrong units, metrics that CUPTI refuses. OPK_EUSAGE: no such chip.
 */
int opk_set_check(struct opk_listing **chips, struct opk_listing **errors, struct opk_ctx *ctx,
                  const struct opk_set *set, const struct opk_set_check_options *options);

/*
 * Lists sets of metrics that a chip counts together in one pass, as PM sampling needs: CUPTI's sets
 * (cuptiProfilerHostGetMetricsInSinglePassSet), sets that metric names show, and offpeak's, packed
 * metric by metric until nothing more fits. From the cache if possible. Columns: set, profiler,
 * origin ("cupti"; "emulated": by names, UNIT.SET.metric; "offpeak": data/single_pass.tsv), metrics
 * and left_out (numbers), metric_names (full names, the plainest of a base metric), left_out_names
 * (metrics that did not fit beside earlier ones).
 */
int opk_single_pass_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip);

/* ---- plans ----------------------------------------------------------------------------------- */

/* A plan is a set on a chip: its metrics there, their passes, and what configures the GPU. */

struct opk_plan_options {
	size_t size;
	const char *chip; /* in any case */
	/* Overrides the set's own profiler if has_profiler; a set without one means range. */
	bool has_profiler;
	enum opk_profiler profiler;
	/* Counter-availability image of the target GPU; optional, borrowed during the call. */
	const void *availability;
	size_t availability_size;
	size_t max_passes; /* fail if more are needed; 0: no limit (PM sampling: always 1) */
	/* Take the metrics in order, and leave out those that don't fit one pass with the rest. */
	bool single_pass;
	/*
	 * How many seconds to look for fewer passes than CUPTI's own order of counters takes; 0: a
	 * fixed number of tries, at most a minute of processor time; negative: not at all. Ends
	 * early at the lower bound. Limits opk_plan_list(), too. Each may take a second longer.
	 */
	double effort;
	/*
	 * Without replay: rather than few passes, few in which a launch costs much time (OPK_EUSAGE
	 * for PM and single_pass); for_rotation: such a plan, too, if the chip's costs are known.
	 */
	bool prefer_cheap;
	/* With single_pass: leave out the first metric that does not fit, and all after it. */
	bool strict_order, for_rotation;
};

/*
 * Schedules a set on a chip (cuptiProfilerHostConfigAddMetrics, ...GetConfigImage,
 * ...GetNumOfPasses; fewer passes than CUPTI's order takes are found with libnvperf_host,
 * NVPW_RawCounterConfig_*). OPK_EUSAGE: there is no such chip, or a cause for each metric that it
 * lacks or CUPTI refuses; for a set from a file OPK_EINPUT, with their places. OPK_EFAILED: the set
 * needs more passes than allowed, and the message names the metrics that don't fit.
 */
struct opk_plan;
int opk_plan_new(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                 const struct opk_plan_options *options);
void opk_plan_free(struct opk_plan *plan);
/* The config image, for cuptiRangeProfilerSetConfig or cuptiPmSamplingSetConfig; else NULL. */
const void *opk_plan_config(const struct opk_plan *plan, size_t *size);

/* Lists about a plan, and their columns in this order. */
enum opk_plan_list {
	/*
	 * One row: chip; profiler; set, its name; metrics, full names in the set's order, each
	 * once; passes; missing, optional metrics that the chip lacks or CUPTI refuses, and metrics
	 * derived from these; left_out, how many did not fit `single_pass`; lost, columns that no
	 * plan of a split has, because their formulas need metrics of several plans; sample_bytes,
	 * which limit the rate of PM sampling, or absent
	 * (NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize).
	 */
	OPK_PLAN_ABOUT,
	/*
	 * First the columns that evaluation shows, then the metrics that only formulas need; empty
	 * for a plain list of metrics. column: a metric, derived metric or short name; shown; unit:
	 * "byte/second", or "" (cuptiProfilerHostGetMetricProperties); group: the heading over it;
	 * metric: the full name of a short name; of a derived metric formula, with constants and
	 * parameters put in, and description; prose: the text below `group`.
	 */
	OPK_PLAN_COLUMNS,
	/*
	 * Metrics that did not fit `single_pass`: metric; would_fit: it fits beside the kept
	 * metrics in another order; full_domains: if it does not, NVIDIA's names of the counter
	 * domains in which one of its raw counters found no room
	 * (NVPW_RawCounterConfig_GetRawCounterProperties).
	 */
	OPK_PLAN_LEFT_OUT,
	/*
	 * One row: lower_bound of the number of passes, if known; launch_us, the cost of a launch
	 * without replay, the mean over the passes; replay_us, the cost of all passes of kernel
	 * replay; measured: on which GPU, and when. Absent and "" for PM sampling, and for chips
	 * that were not measured. This list and the following ones take long at first
	 * (NVPW_Config_GetRawCounters, NVPW_MetricsEvaluator_GetMetricRawDependencies).
	 * OPK_ENVIDIA: there is no libnvperf_host.
	 */
	OPK_PLAN_COSTS,
	/*
	 * pass, from 1; counters, how many raw ones; domains, "gpu_lts:8" for 8 counters in gpu_lts
	 * and domains sharing counters with it; launch_us; replay_us; metrics with counters in it.
	 */
	OPK_PLAN_PASSES,
	/*
	 * metric; passes, how many it needs; in, their numbers, from 1; saves, how many passes
	 * fewer the plan would have without it, if that was tried; split: it is a ratio whose
	 * counters are in different passes, and therefore from different runs.
	 */
	OPK_PLAN_METRICS,
	OPK_PLAN_NOTABLE, /* metric, saves, split: metrics with passes to save, or split */
	/*
	 * domains that share counters and so are scheduled together; counters, how many raw
	 * counters they count; passes, in how many; lower_bound of these passes; fullest, the most
	 * of these counters in a pass; software: code patched into kernels counts them, in separate
	 * passes. Empty before CUPTI 12.9.
	 */
	OPK_PLAN_DOMAINS,
};
int opk_plan_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_plan *plan,
                  enum opk_plan_list list);

/*
 * Divides a set's metrics into several plans, as few as it finds. Each plan has at most
 * options->max_passes (PM sampling: one), and each metric is in one plan
 * (NVPW_RawCounterConfig_AreRawCountersSchedulable). OPK_EFAILED: a metric alone needs more passes,
 * and the message names all such metrics.
 */
struct opk_plan_split;
int opk_plan_split_new(struct opk_plan_split **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options);
void opk_plan_split_free(struct opk_plan_split *split);
/* The i-th plan, borrowed from the split; NULL past the end. */
struct opk_plan *opk_plan_split_get(const struct opk_plan_split *split, size_t i);

/* ---- building -------------------------------------------------------------------------------- */

/* The file that a collector needs: plan, build, and copy it to the GPU machine. */

struct opk_build_options {
	size_t size;
	/*
	 * By default counter data has the value of each instance of a unit if a metric needs them:
	 * minima, maxima, and parts of throughputs that CUPTI computes instance by instance.
	 * Without instances these metrics are NaN, and images are up to 90 times smaller. PM
	 * sampling: all counters have them, or none.
	 */
	bool no_instances;
	/* The image that the plan was made with; stored in the file; optional. */
	const void *availability;
	size_t availability_size;
	bool keep_instances; /* keep the instances of all counters, needed or not */
};

/* Writes set.opk: metadata and, for range and pm, config images and opk_prefix_new(). */
int opk_build(struct opk_ctx *ctx, const struct opk_plan *plan,
              const struct opk_build_options *options, const char *path);
/*
 * Makes the counter-data prefix (NVPW_CUDA_CounterDataBuilder), from which CUPTI sizes and
 * initialises counter data images; free() it. OPK_ENVIDIA: there is no libnvperf_host.
 */
int opk_prefix_new(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                   const struct opk_build_options *options);

/*
 * Lists the passes of a bare config image: pass, from 1; counters, how many raw counters; chip. A
 * child process reads it (cuptiProfilerHostGetNumOfPasses, NVPW_Config_GetRawCounters). OPK_EINPUT:
 * NVIDIA's code can't read it, or crashes.
 */
int opk_config_info(struct opk_listing **out, struct opk_ctx *ctx, const void *image, size_t size);

/* ---- files ----------------------------------------------------------------------------------- */

/* Containers (.opk): built sets, recordings, probes. This group and the next two need no NVIDIA. */

/* Section types, docs/format.md; unknown ones are skipped. */
enum opk_section_type {
	OPK_SECTION_META = 0x4154454d,         /* "META": JSON, see OPK_FILE_META */
	OPK_SECTION_CONFIG = 0x47464e43,       /* "CNFG": config image */
	OPK_SECTION_ROTATION = 0x41544f52,     /* "ROTA": config image for rotation */
	OPK_SECTION_PREFIX = 0x58465250,       /* "PRFX": counter-data prefix */
	OPK_SECTION_AVAILABILITY = 0x4c495641, /* "AVIL": counter-availability image */
	OPK_SECTION_DATA = 0x41544144,         /* "DATA": counter data image, any number */
	OPK_SECTION_RANGES = 0x53474e52,       /* "RNGS": range table, JSON */
	OPK_SECTION_TIMES = 0x454d4954,        /* "TIME": host times of the samples of an image */
	OPK_SECTION_STATS = 0x54415453,        /* "STAT": what the collector counted, JSON */
	OPK_SECTION_ACTIVITIES = 0x4e52454b,   /* "KERN": what ran on the GPU, and when */
	OPK_SECTION_CODE = 0x45444f43,         /* "CODE": a module with functions that ran */
	OPK_SECTION_INSTRUCTIONS = 0x4e534e49, /* "INSN": counts and samples of instructions */
	OPK_SECTION_END = 0x20444e45,          /* "END ": closes a complete file */
};

/*
 * Opens a container and checks every length and every section's header. It also opens a file that
 * was cut off: then opk_file_complete() is false. OPK_EINPUT: the file is damaged.
 */
struct opk_file;
int opk_file_open(struct opk_file **out, struct opk_ctx *ctx, const char *path);
void opk_file_free(struct opk_file *file);
bool opk_file_complete(const struct opk_file *file);
/*
 * Decodes one section, a row of OPK_FILE_SECTIONS: *data is 8-byte aligned and followed by a NUL
 * that *size does not count; free() it. OPK_EINPUT: its CRC is wrong.
 */
int opk_file_read(void **data, size_t *size, struct opk_ctx *ctx, const struct opk_file *file,
                  size_t i);

/* ---- recordings ------------------------------------------------------------------------------ */

/* All that a file says except values. */

/* Lists about a file, and their columns. */
enum opk_file_list {
	/*
	 * One row: size (bytes), complete (false: cut off, or OPK_FILE_DROPS has rows), ranges (or
	 * samples, in the file's tables), activities (records of what ran on the GPU).
	 */
	OPK_FILE_COUNTS,
	/*
	 * type ("META"), content (in words), stored and plain (bytes in the file, and decoded),
	 * encoding, stride (of the XOR filter in bytes, or 0), integrity (NULL)
	 */
	OPK_FILE_SECTIONS,
	OPK_FILE_VERIFIED, /* the same, with integrity "ok" or "damaged"; reads the whole file */
	/*
	 * One row; docs/format.md says what they mean: kind, generator, made_by, cupti_version,
	 * source, chip, profiler, set, set_description, set_version, set_hash, passes,
	 * rotation_passes, keep_instances, config_hash, mode, join, backend, gpu_time_shift (an
	 * int64_t), metrics, hidden, inflated, columns (empty: all that are not hidden).
	 */
	OPK_FILE_META,
	OPK_FILE_SHOWN,    /* name: of each column that is shown, in their order */
	OPK_FILE_PASSES,   /* metric, pass (from 1): the passes that have its counters, if known */
	OPK_FILE_LABELS,   /* label, metric: short names for metrics */
	OPK_FILE_DERIVED,  /* name, unit ("": not known), formula, description */
	OPK_FILE_HEADINGS, /* title, first, count, text: over `count` columns from number `first` */
	OPK_FILE_RUN,      /* name ("hostname", "device.0.name"), value: facts about the run */
	OPK_FILE_AVAILABILITY, /* device (index), chip, profiler: images of a probe */
	OPK_FILE_STATS,  /* at most one row: launches (seen), ranges, depth (of them), activities */
	OPK_FILE_DROPS,  /* reason, count: ranges or samples that are missing */
	OPK_FILE_CLOCKS, /* clock ("sm", "memory"), least, most (MHz), drifted (by over 5%) */
	/* module (its CRC, hexadecimal), size and stored (bytes, of the cubin and in the file),
	 * code, lines (whether it has them), functions, ran (how many of these have counts) */
	OPK_FILE_CODE,
	OPK_FILE_FUNCTIONS, /* module, function, symbol, size (bytes), instructions (with counts) */
	OPK_FILE_NVTX,      /* a row an NVTX range that was recorded beside what ran, by start */
};
/*
 * OPK_EINPUT: the metadata, or the tables that the list comes from, are damaged. For ranges, times
 * and what ran use opk_table_new() with OPK_ROWS_TABLES and OPK_ROWS_LAUNCHES.
 */
int opk_file_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                  enum opk_file_list list);

/*
 * Reads the counter-availability image of an .opk file, or another file as it is, unchecked; free()
 * it. `chip` is one of a probe's; NULL: any. OPK_EUSAGE: its GPUs differ. OPK_EINPUT: it has none.
 */
int opk_availability_load(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                          const char *chip, enum opk_profiler profiler);

/* ---- what a file replaces -------------------------------------------------------------------- */

/* An output replaces only an older file of the same kind. */

/* What is written; RECORDING to PROBE, and BAKED, are .opk files. */
enum opk_output {
	OPK_OUTPUT_TABLE,       /* CSV, JSON, NDJSON or text, by its first lines */
	OPK_OUTPUT_DATABASE,    /* of SQLite */
	OPK_OUTPUT_PARQUET,     /* written by programs, never by this library */
	OPK_OUTPUT_SVG,         /* .svg */
	OPK_OUTPUT_HTML,        /* .html or .htm */
	OPK_OUTPUT_TRACE,       /* .json or .json.gz */
	OPK_OUTPUT_JUNIT,       /* XML */
	OPK_OUTPUT_WRITTEN_SET, /* YAML made from other tools' lists of metrics */
	OPK_OUTPUT_IMAGE,       /* a bare counter data image */
	OPK_OUTPUT_RECORDING,   /* what a GPU counted, by a collector */
	OPK_OUTPUT_SET,         /* by opk_build() */
	OPK_OUTPUT_MERGED,      /* by opk_merge() and opk_sum() */
	OPK_OUTPUT_TRIMMED,
	OPK_OUTPUT_PART, /* by opk_split() */
	OPK_OUTPUT_RECOVERED,
	OPK_OUTPUT_IMPORTED,
	OPK_OUTPUT_PROBE,  /* what a GPU can count, by a collector */
	OPK_OUTPUT_CONFIG, /* a bare config image; this and those below are not .opk files */
	OPK_OUTPUT_PREFIX,
	OPK_OUTPUT_AVAILABILITY,
	OPK_OUTPUT_CUBIN,
	OPK_OUTPUT_BAKED, /* a recording with its values */
};
/*
 * Checks whether a file may be written at this path: docs/formats.md, "What is replaced". Functions
 * with an output call it before they begin and before the file gets its name; so should a program
 * that writes such files itself. OPK_EUSAGE: the path has a file of another kind, or one that can't
 * be read, or the wrong ending. With `force` of struct opk_ctx_options only the ending is checked.
 */
int opk_check_output(struct opk_ctx *ctx, const char *path, enum opk_output output);

/* ---- writing --------------------------------------------------------------------------------- */

/* For programs that write recordings: add metadata first, then each image before its tables. */

/* A row of a range table, for the i-th range or sample of an image; "" and 0 mean unknown. */
struct opk_range {
	const char *name; /* replaces the image's own range name */
	const char *kernel;
	uint32_t grid[3], block[3];
	int32_t device;            /* -1: unknown */
	uint64_t start_ns, end_ns; /* host time of a sample, as CUPTI gave it while collecting */
	uint32_t shared_bytes;     /* dynamic shared memory of a block */
	uint64_t launch;           /* index among all launches of the process, from 1 */
	const char *symbol;        /* of the kernel, mangled; `kernel` is for people */
	const char *nvtx;     /* ranges that the thread was in, outermost first, with '/' between */
	uint64_t stream;      /* the driver's id of the stream; 0: the default stream */
	uint64_t duration_ns; /* host time between push and pop of a user range */
	uint32_t registers;   /* per thread */
	uint32_t context, process; /* index in its process, from 1; pid */
	uint32_t pass; /* the pass whose counters it has, from 1; 0: it has all passes */
	int32_t rank;  /* in an MPI or torchrun job; -1: unknown */
	uint32_t sm_mhz, memory_mhz; /* the GPU's clocks at about its end, by NVML; 0: unknown */
	uint64_t count; /* how many ranges opk_sum() added to this one; 0: it is a single range */
	const char *host, *gpu; /* else facts: "hostname", "device.N.uuid" or "device.N.pci" */
	uint32_t static_shared_plus_1, carveout_plus_1; /* bytes of a block; preferred percent */
	uint32_t cluster[3];                            /* in blocks; 1, 1, 1 without clusters */
};

/* Start and end of a sample in ns of host time, as CUPTI gave them while collecting. */
struct opk_time {
	uint64_t start, end;
	int64_t device; /* its index */
};

/*
 * Writes a container under a temporary name. opk_writer_finish() puts it in place after fsync;
 * opk_writer_free() without it leaves no file. After a failure only opk_writer_free() may be
 * called. The context must outlive the writer. The metadata say which of OPK_OUTPUT_RECORDING,
 * OPK_OUTPUT_SET and OPK_OUTPUT_PROBE opk_check_output() gets.
 */
struct opk_writer;
int opk_writer_new(struct opk_writer **out, struct opk_ctx *ctx, const char *path);
/*
 * Adds a section, deflated if that makes it smaller. A table (OPK_SECTION_RANGES,
 * OPK_SECTION_TIMES) describes the last image added. OPK_EUSAGE: there is no image.
 */
int opk_writer_add(struct opk_writer *writer, uint32_t type, const void *data, size_t size);
/* Metadata of a recording that the program knows; the set has the rest. */
struct opk_recorded {
	size_t size;
	const char *generator; /* the program: "write.c 1.0" */
	/*
	 * "kernel" (auto range, kernel replay), "launch" (a range around each launch), "user" (the
	 * program's ranges), "sampling", or "trace" (what ran and when, without metrics).
	 */
	const char *mode;
	/*
	 * What ranges of different passes must share to make one row: "kernel" (with the launch
	 * shape), "launch" (index), or "name"; NULL: every range has all passes.
	 */
	const char *join;
	const char *backend; /* "range-profiler", "legacy", "pm-sampling" */
	/* PM sampling: host time minus GPU time, ns; NULL: unknown. */
	const int64_t *gpu_time_shift;
};
/* Begins with the metadata of a set or of a recording. OPK_EUSAGE: `recorded` is wrong. */
int opk_writer_begin(struct opk_writer *writer, struct opk_file *set,
                     const struct opk_recorded *recorded);
/* The range table of the image added before; `size` is sizeof(struct opk_range). */
int opk_writer_add_ranges(struct opk_writer *writer, const struct opk_range *ranges, size_t count,
                          size_t size);
/* Times of the samples in the image added before, all of one device; sizeof(struct opk_time). */
int opk_writer_add_times(struct opk_writer *writer, const struct opk_time *times, size_t count,
                         size_t size);
/* Closes the file, and puts it in place. Afterwards only opk_writer_free() may be called. */
int opk_writer_finish(struct opk_writer *writer);
void opk_writer_free(struct opk_writer *writer);

/* Removes this process's temporary files: for the handler of a signal that ends it. */
void opk_discard_unfinished(void);

/* ---- evaluation ------------------------------------------------------------------------------ */

/* How values of recordings are chosen and computed; opk_table_new() gives them row by row. */

struct opk_eval_options {
	size_t size;
	/* Full names, labels and derived metrics; NULL: all that the recording shows. Borrowed. */
	const char *const *metrics;
	size_t metric_count;
	/* Instead of metrics: all that the set shows on the chip. */
	const struct opk_set *set;
	const char *chip;  /* bare images: NULL reads it from the image */
	bool has_profiler; /* bare images: false reads it from the image */
	enum opk_profiler profiler;
	bool has_gpu_time_shift; /* bare images */
	int64_t gpu_time_shift;
	bool allow_incomplete; /* evaluate what a cut-off file still holds */
	/* Child processes that share the images; 0: chosen by the cores and the images' bytes. */
	size_t workers;
	/*
	 * Only rows that meet all conditions: "NAME=PATTERN", "NAME!=PATTERN", or "NAME<NUMBER"
	 * with < <= > >= = !=. NAME is a column: a fact ("range" also means the range's name,
	 * "index" its number), or a metric, label, derived metric or attribute. PATTERN is a shell
	 * pattern for the whole fact as CSV has it, "" if unknown; numbers compare as numbers.
	 * Unknown facts and NaN never meet < <= > >=. Conditions on facts are checked before ranges
	 * are joined to rows, those on values afterwards. OPK_EUSAGE: malformed, or no such column.
	 */
	const char *const *where;
	size_t where_count;
	const struct opk_eval_inside *inside; /* for the library itself; leave NULL */
};

/* What becomes a row of a recording. */
enum opk_rows {
	OPK_ROWS_RECORDED, /* a range, or several that the recording's `join` makes one; a sample */
	OPK_ROWS_SINGLE,   /* a range as it was recorded, never joined */
	OPK_ROWS_KERNELS,  /* a kernel that ran, with its part of the samples */
	OPK_ROWS_LAUNCHES, /* a launch that ran, with its part of the samples */
	OPK_ROWS_TABLES,   /* a range or sample, without values */
	OPK_ROWS_INSTRUCTIONS, /* of code, as are the next two */
	OPK_ROWS_LINES,        /* of source code */
	OPK_ROWS_FUNCTIONS,    /* the default for recordings of instructions */
};

/*
 * Which names kernels get. If several kernels have the same short name, each gets what makes it
 * different, "scale<float>", or else a number in the order of appearance, "scale #2". A name of
 * more than 200 bytes is shortened, with U+2026 in its middle.
 */
enum opk_kernel_style {
	OPK_KERNEL_FULL,   /* demangled, in one spelling */
	OPK_KERNEL_SHORT,  /* without namespaces, template arguments and arguments */
	OPK_KERNEL_SYMBOL, /* mangled; full if the recording has no symbol */
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* Recordings as rows and columns, as "offpeak eval" prints them. Values come from here. */

struct opk_table_options {
	size_t size;
	/* The metrics and rows to evaluate, and how; NULL: defaults. */
	const struct opk_eval_options *eval;
	const char *set; /* instead of metrics or a set in `eval`: as for opk_set_find_on() */
	/* Only these facts, "file", metrics, labels and derived metrics, in this order; or NULL. */
	const char *const *columns;
	size_t column_count;
	bool all_facts;         /* columns for all known facts; else for the most useful ones */
	bool keep_first_sample; /* by default left out, since it begins at an earlier event */
	enum opk_rows rows;     /* always OPK_ROWS_LAUNCHES for a trace without metrics */
	enum opk_kernel_style kernel_names;
	bool is_long; /* a row for each value, not a column: files may have different metrics */
	/*
	 * Gives statistics, a row for each group of rows with one key and each value; key and level
	 * are as for opk_sum(). Values named in `columns` choose rows. A trace without metrics can
	 * have only the key "kernel".
	 */
	const char *aggregate, *level;
	/* Takes notes about rows, on the thread that reads them; NULL: no notes. */
	opk_log_fn *log;
	void *log_data;
	const struct opk_table_inside *inside; /* for the library itself; leave NULL */
	const char *resample;     /* "1s": PM samples of so much time, of all files, are a row */
	const char *const *names; /* what the column "file" says; NULL: the paths */
};

/*
 * Makes one table of recordings, all of ranges or all of samples: docs/formats.md. It opens the
 * files itself and has its own context, so another thread may read it, and it may outlive `ctx`.
 *
 * Evaluates all files before it returns (NVPW_MetricsEvaluator_EvaluateToGpuValues for ranges if
 * available, else cuptiProfilerHostEvaluateToGpuValues). It does so in child processes, because
 * NVIDIA's code crashes and hangs on damaged images; for the caller that is OPK_EINPUT. Children
 * are forks without exec. For small recordings, if the shared library is used, one child is kept
 * for a minute: the library run as a program, without this process's memory and files; wait() does
 * not find it. A thread in the dynamic loader may delay a child, unless opk_nvidia_get_info() was
 * called before. Rows and errors do not depend on the number of children. Checksums of files are
 * verified before NVIDIA's code gets an image. It is not read if none of its rows meets `where`.
 *
 * OPK_EUSAGE: there are no files, a file lacks a column or metric, files can't share one table, or
 * options contradict each other. OPK_EINPUT: a file is damaged, or cut off without allow_incomplete
 * in `eval`, or NVIDIA's code can't read an image. OPK_EFAILED: the folder of temporary files is
 * full. The log of `ctx` gets notes about files and key groups, `log` in the options about rows.
 */
struct opk_table;
int opk_table_new(struct opk_table **out, struct opk_ctx *ctx, const char *const *paths,
                  size_t count, const struct opk_table_options *options);
/*
 * The same for a bare counter data image. The table shows `name` as its path. Metrics or a set are
 * required; there are no key groups, kernels and launches.
 */
int opk_table_new_image(struct opk_table **out, struct opk_ctx *ctx, const void *image, size_t size,
                        const char *name, const struct opk_table_options *options);
void opk_table_free(struct opk_table *table);
/* Names and types of the columns in their order, borrowed from the table. */
const struct opk_column *opk_table_columns(const struct opk_table *table, size_t *count);
enum opk_table_list {
	/* A row for each column. unit: of a value, "byte", "" if unknown; of a fact NULL. */
	OPK_TABLE_UNITS,
	/*
	 * One row: chip; profiler; set, the evaluated one, "" for metrics by name; recorded_set,
	 * the set of the recordings. Several are joined by ','; "" is unknown.
	 */
	OPK_TABLE_ABOUT,
};
/* One of the lists above. */
int opk_table_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_table *table,
                   enum opk_table_list which);
/*
 * The next row: *cells has a cell for each column, and is NULL after the last row. (*known)[i] is
 * false if a fact is unknown, or if nothing was collected for a value, which then is NaN. A value
 * that was collected may also be NaN. Both arrays are valid until the next call. opk_table_error()
 * has the causes of a failure. OPK_EINPUT: what the child processes wrote can't be read back.
 */
int opk_table_next(const union opk_cell **cells, const bool **known, struct opk_table *table);
/* Goes back to the first row, without another evaluation. */
void opk_table_rewind(struct opk_table *table);

/* The table's context with the causes of its last failure, borrowed: see opk_error_count(). */
const struct opk_ctx *opk_table_error(const struct opk_table *table);

/* ---- Arrow ----------------------------------------------------------------------------------- */

/* Tables as Arrow record batches, by its C stream interface. No Arrow library is needed. */

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
 * Makes a stream of the rows that were not read yet, in record batches of some MiB. Texts are
 * dictionaries of UTF-8 with 32-bit indices, sent with each batch; integers are int64, values
 * float64. Unknown cells are null; a value that could not be computed is NaN. Fields of values have
 * "unit" as metadata; the schema has the columns of OPK_TABLE_ABOUT, and "offpeak", the version.
 *
 * Unless this call fails, the stream owns the table, and its release() frees it. Schemas and arrays
 * outlive the stream. If get_next() fails, with EIO or ENOMEM, get_last_error() gives the causes,
 * innermost first, one a line, and later calls fail. This call fails only with OPK_ENOMEM.
 */
int opk_table_export_arrow(struct ArrowArrayStream *out, struct opk_table *table);

/*
 * A list as such a stream, independent of the list. Unknown cells, "", lists and words are null; a
 * list of metrics has its "chip" as metadata. Fails only with OPK_ENOMEM, without a cause.
 */
int opk_listing_export_arrow(struct ArrowArrayStream *out, const struct opk_listing *listing);

/* ---- traces ---------------------------------------------------------------------------------- */

/* Recordings for Perfetto and other viewers. */

struct opk_trace_options {
	size_t size;
	/*
	 * Which metrics, samples and ranges; NULL: all. Conditions on start_ns, end_ns, device,
	 * host and gpu also apply to what ran; in files without samples conditions on any fact do.
	 */
	const struct opk_eval_options *eval;
	enum opk_kernel_style kernel_names;
	bool gzip;
};
/*
 * Writes recordings, for instance one of each rank of a job, in Chrome's trace event format, JSON
 * for Perfetto and chrome://tracing: docs/traces.md. Counters are PM samples; slices are kernels,
 * copies, sets, NVTX ranges, and user ranges with times. Times are host times, in microseconds
 * since the first event, whose time is otherData.origin_ns. Evaluates as opk_table_new() does.
 * Takes 24 bytes of memory a sample, 300 a range with values, and memory for the records of
 * sections that overlap in time. OPK_EUSAGE: no file has anything with a time, or a condition is on
 * a fact that no event has. OPK_EINPUT: a damaged file. OPK_EFAILED: too many slices overlap.
 *
 * *counts has one row: events, the total; samples, with an event for each metric that has a value;
 * values; missing_values, NaN, shown as slices; first_samples, which begin at an earlier event, and
 * incomplete_samples, both left out; kernels, copies, sets, nvtx_ranges, ranges; records_left_out,
 * by conditions; ranges_without_times, left out; origin_ns; calls.
 */
int opk_trace_save(struct opk_listing **counts, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_trace_options *options, const char *path);

/* ---- comparison ------------------------------------------------------------------------------ */

/* Recordings before and after a change, and rules that a change must not break. */

struct opk_diff_options {
	size_t size;
	/* The key that matches rows, as for opk_sum(): "name", "nvtx,kernel"; NULL: "kernel". */
	const char *by;
	bool ignore_shape; /* "kernel" matches launches of different grids, blocks, shared memory */
	double level;      /* share of false discoveries; 0: 0.005 */
	const struct opk_eval_options *eval; /* the metrics and rows; NULL: all */
	/*
	 * Rules; their metrics are also evaluated. "METRIC>5%" (or >=, <, <=) is broken by a row
	 * whose metric grew by more than 5% and more than noise, or whose launches are too few to
	 * tell; "METRIC>1.5e6" by a row with a greater value afterwards, in base units; "unmatched"
	 * by a row that only one side has. A missing or NaN value breaks a rule, an infinite one a
	 * rule in percent. A rule without any row is broken. If no rows match, every rule is.
	 */
	const char *const *rules;
	size_t rule_count;
	const char *const *rule_files; /* YAML files with more of them, docs/ci.md */
	size_t rule_file_count;
	enum opk_kernel_style kernel_names;
	enum opk_rows rows; /* of code: OPK_ROWS_INSTRUCTIONS, _LINES, _FUNCTIONS; else see `by` */
};

/*
 * Compares two sides, before and after, each of one recording or several (runs, ranks), row by row:
 * docs/ci.md. A side's value is the median over launches. A change is more than noise according to
 * a two-sided Mann-Whitney U test over launches, with Benjamini and Hochberg's procedure for many
 * comparisons. Times and rates must also change by more than the SM's clock explains. Samples of
 * code, or their shares where launches are unknown, are tested as Poisson counts.
 * `files`: those before, then those after; they must outlive the result. They are evaluated as by
 * opk_table_new(); samples are divided among the kernels that ran. Kernels match by name. Rows are
 * in order of their change in time; rows that changed beyond noise come first. Broken rules do not
 * make the call fail. OPK_EUSAGE: a side has no file, or the same file twice; its rows can't be
 * compared; or a rule is malformed, or on an unknown metric. OPK_EINPUT: a set, or wrong rules.
 */
struct opk_diff;
int opk_diff_new(struct opk_diff **out, struct opk_ctx *ctx, struct opk_file *const *files,
                 size_t before_count, size_t after_count, const struct opk_diff_options *options);
void opk_diff_free(struct opk_diff *diff);

/*
 * Lists of a comparison. before and after are medians of before_count and after_count launches (for
 * code, of so many samples, and summed launches: means), or NaN. before_low, before_high, after_low
 * and after_high are quartiles, NaN for fewer than two values, or recordings of code.
 */
enum opk_diff_list {
	/*
	 * One row: before, after (paths); by; matched_rows, unmatched_rows; launches_least and
	 * launches_most of a value with a spread; test, in words; level, the share of false
	 * discoveries, in two families: level_of_times, with what rules name, and level_of_others;
	 * tested and launches_needed on each side to tell a single change among so many, then
	 * tested_others and launches_needed_others; and how many values have each verdict: changed,
	 * noise, same, too_few, nan, missing, clock.
	 */
	OPK_DIFF_ABOUT,
	/* Facts that differ, such as "chip", "gpu" or "sm_mhz": fact, before, after. */
	OPK_DIFF_DIFFERENCES,
	/* name, "duration_ns" of ranges or launches; unit; is_time: rows are in its order */
	OPK_DIFF_COLUMNS,
	/*
	 * Rows of both sides. name, made of all facts that matched, "gemm 16x6x1 128x1x1"; kernel;
	 * before_launches, after_launches; time_change: of a launch, times the smaller number of
	 * launches, in the unit of the column with is_time, or NaN; time_changed: beyond noise.
	 */
	OPK_DIFF_ROWS,
	OPK_DIFF_UNMATCHED, /* the same for rows that only one side has; the other has 0 launches */
	/*
	 * Each of OPK_DIFF_COLUMNS for each of OPK_DIFF_ROWS: row, from 0; metric; before, after;
	 * change_pct, infinite where only `before` is 0; verdict; p, of the test, or NaN;
	 * before_count, after_count, before_low, before_high, after_low, after_high; clock_pct, the
	 * most that the SM's clock can have changed a time or a rate, or NaN. Verdicts: "same", all
	 * launches have one value; "noise"; "changed", beyond noise; "too few" launches to tell;
	 * "nan", a launch has no value; "missing", a side was not measured; "clock", changed, but
	 * the clock can explain it.
	 */
	OPK_DIFF_VALUES,
	/*
	 * Peaks and clocks, each over all launches of a side, the SM's clock first: they say what
	 * the GPU can do. Only rules that name them judge them. metric, unit, before, after,
	 * change_pct, before_count, after_count, before_low, before_high, after_low, after_high.
	 */
	OPK_DIFF_PEAKS,
	/*
	 * rule, as it was written; row, a name, or "": all rows, or no row; broken; found: "+7.3%,
	 * from 1200 to 1287.6 ns"; reason, from the file of rules, or ""
	 */
	OPK_DIFF_RULES
};
int opk_diff_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_diff *diff,
                  enum opk_diff_list which);
/* OPK_DIFF_RULES as JUnit's XML for CI systems, a test case a row. */
int opk_diff_write_junit(const struct opk_diff *diff, struct opk_ctx *ctx, const char *path);

/* ---- summaries ------------------------------------------------------------------------------- */

/* Where the time went, what limits kernels, what the columns mean and how far to trust them. */

struct opk_summary_options {
	size_t size;
	const char *kernel; /* a shell pattern: only these kernels, or user ranges; NULL: all */
	const char *sort;   /* "time", which NULL means, "launches", "name" or a column's name */
	enum opk_kernel_style kernel_names;
};

/*
 * Summarises a recording for people: kernels, user ranges or devices by the time that they took,
 * what the columns mean, the run in words. Evaluates the file as opk_table_new() does. The file
 * must outlive the result. For a set there are only columns and words. OPK_EUSAGE: there is no
 * column `sort`, or `kernel` is given for samples.
 */
struct opk_summary;
int opk_summary_new(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_summary_options *options);
void opk_summary_free(struct opk_summary *summary);

enum opk_summary_list {
	/*
	 * One row: kind, what groups are: "kernels", "ranges", "devices"; time_unit, the unit of
	 * their times: "ns", "cycles", or ""; and in words: run, what was recorded; machine, where
	 * and when; clocks, or ""; complete, "yes" or what is missing; remarks, a list.
	 */
	OPK_SUMMARY_ABOUT,
	/*
	 * name: a metric, a label or a derived metric; metric, its full name, NULL: it is derived;
	 * unit, description, heading, or ""; inflated: counts idle time around short kernels,
	 * because of how it was recorded; unknown: no group has a value.
	 */
	OPK_SUMMARY_COLUMNS,
	/*
	 * In the order of `sort`: name; count, of launches, ranges or samples; time, of all
	 * launches, or NaN; share of the time of all groups, in percent.
	 */
	OPK_SUMMARY_GROUPS,
	/*
	 * Each column for each group: group, from 0; column; count, sum, mean, min, max, p50, p90,
	 * p99, weighted_by or "" (docs/formats.md, statistics); of_peak: percent, or NaN
	 */
	OPK_SUMMARY_VALUES,
	/* What ran on the GPU, if recorded: name, launches, time_ns, least_ns, most_ns, share */
	OPK_SUMMARY_LAUNCHED,
	OPK_SUMMARY_PEAKS /* kernel: a row of OPK_SUMMARY_LAUNCHED, from 0; name; share or NaN */
};
/* One of the lists above. */
int opk_summary_list(struct opk_listing **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary, enum opk_summary_list which);

struct opk_answers_options {
	size_t size;
	const char *kernel; /* as in struct opk_summary_options */
	enum opk_kernel_style kernel_names;
	const char *by;             /* what also keeps kernels apart: "shape,rank"; NULL: nothing */
	const char *const *columns; /* noise: only of these; NULL: of all */
	size_t column_count;
	double level, within; /* noise: a probability, 0: 0.95; percent of the mean, 0: 1 */
};

enum opk_answers_list {
	/*
	 * kernel, or a user range, by time; limiter, or ""; percent of its peak, or of the time;
	 * sure; finding, or ""; gain, at most so much of the kernel's time, in percent, or NaN;
	 * text, advice, because: about the finding; share of the time of all kernels, in percent;
	 * time, ns; launches; answer: the limiter in words. A row for each finding, at least one.
	 */
	OPK_ANSWERS_FINDINGS,
	/*
	 * metric; kernel; launches that have it; spread, their standard deviation, and trusted_pct,
	 * how near the mean of many more is at `level`, both in percent of the mean, or NaN;
	 * launches_needed so that it is `within`; more_launches, how many are missing; mean; unit.
	 */
	OPK_ANSWERS_NOISE,
	/*
	 * Each kernel and launch shape: kernel; launches; block_size, threads; registers of a
	 * thread; static_shared, dynamic_shared, bytes of a block; limit_blocks, limit_warps,
	 * limit_registers, limit_shared_mem: how many blocks an SM holds by each; limiter, the
	 * lowest or several of these, or ""; theoretical and achieved occupancy, percent, or NaN.
	 */
	OPK_ANSWERS_OCCUPANCY
};
/* Evaluates as opk_table_new(). OPK_EUSAGE: no kernels have counters; several files, not noise. */
int opk_answers_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *const *files,
                     size_t count, enum opk_answers_list which,
                     const struct opk_answers_options *options);

/* ---- pictures -------------------------------------------------------------------------------- */

/* What `offpeak plot` draws: as SVG, as shapes, and as numbers. */

enum opk_picture_kind {
	OPK_PICTURE_ROOFLINE, /* kernels between the roofs, as the recording or the set says */
	OPK_PICTURE_KERNELS,  /* kernels by time */
	OPK_PICTURE_STACK,    /* parts of a whole, a bar for each kernel */
	OPK_PICTURE_TIMELINE  /* PM samples over time, with NVTX ranges and launches */
};

struct opk_picture_options {
	size_t size;
	double width, height; /* in CSS pixels; 0: chosen for the picture */
	const char *title;    /* NULL: the picture's own */
	bool dark;
	size_t top;         /* at most so many kernels; 0: chosen for the picture */
	const char *kernel; /* a shell pattern: only these kernels; NULL: all */
	const char *group;  /* for a stack: the heading of its columns; NULL: the first */
	/* For a timeline: only these metrics and samples; NULL: all. */
	const struct opk_eval_options *eval;
};

/*
 * Evaluates the file as opk_table_new() does, and draws. OPK_EUSAGE: the recording lacks values
 * that the picture needs, no kernel matches `kernel`, or the picture is too narrow.
 */
struct opk_picture;
int opk_picture_new(struct opk_picture **out, struct opk_ctx *ctx, struct opk_file *file,
                    enum opk_picture_kind kind, const struct opk_picture_options *options);
void opk_picture_free(struct opk_picture *picture);
/* The SVG, UTF-8 without scripts; valid as long as the picture. */
const char *opk_picture_svg(const struct opk_picture *picture);

enum opk_picture_list {
	/* left, top, right, bottom; x_from, x_to, x_log, y_from...; width, height of the picture */
	OPK_PICTURE_PANELS,
	/*
	 * kind: "line", "rect", from x, y to x2, y2; "mark", around x, y, with `size`: a circle, or
	 * a shape whose points are in units of the size; "area", "path", through points; "text",
	 * with its baseline at y, and its left, right or center (anchor) at x; "x tick", "y tick",
	 * labels of an axis, at x or y. panel, from 0; class, as in SVG; angle, in degrees; colour
	 * of a series, "#0072b2", else ""; opacity; stroke, a width; kernel, numbered by time.
	 */
	OPK_PICTURE_SHAPES,
	/*
	 * Roofline: kernel; level; intensity, operations a byte, and rate, operations a second,
	 * both above 0; their unit; share of the time of all kernels, 0 to 1, or NaN; highest: the
	 * largest share of a peak that is known, "fp32 48.1%", "L2 at least 12%" where not all
	 * parts of its throughput are known, or ""; text: all shares, and what is not known, in
	 * words. Kernels: kernel, time, share. Stack: kernel, part, value, unit. Timeline: place,
	 * "rank 3, node7, GPU 0"; metric; unit; start_ns, end_ns; least, most, mean; or NaN.
	 */
	OPK_PICTURE_NUMBERS,
	/*
	 * Roofline: name; is_level: of memory, in bytes a second, else of operations a second;
	 * peak, the highest of all kernels, since it goes with the clock; idle: no kernel has such
	 * operations; unit: "byte", "flop", or "op" of integers.
	 */
	OPK_PICTURE_ROOFS,
	/*
	 * Timeline, what ran: place; lane, "stream 7"; start_ns, end_ns; name, short for kernels;
	 * full_name, as recorded; records, of short ones close to each other: this is the first.
	 */
	OPK_PICTURE_RAN
};
/* One of the lists above, valid as long as the picture; empty if another kind has this list. */
const struct opk_listing *opk_picture_list(const struct opk_picture *picture,
                                           enum opk_picture_list which);

/* ---- reports --------------------------------------------------------------------------------- */

/* Pages of HTML. */

struct opk_report_options {
	size_t size;
	const char *title;  /* of the page; NULL: the names of the files */
	const char *kernel; /* as in struct opk_summary_options */
	enum opk_kernel_style kernel_names;
	bool embed_source;              /* the text of source files around counted lines */
	const char *const *source_maps; /* "OLD=NEW": how paths begin in recordings, and here */
	size_t source_map_count;
};
/*
 * Writes a page of HTML about one or several recordings, which needs no other file and no network:
 * "offpeak help report" says what is on it. Two are also compared, as before and after, unless the
 * log says why not. Evaluates files as opk_table_new() does. OPK_EUSAGE: no files, or nothing like
 * `kernel`. OPK_EINPUT: a set, or damaged. OPK_EFAILED: no template; the message names its package.
 */
int opk_report(struct opk_ctx *ctx, const char *const *paths, size_t count,
               const struct opk_report_options *options, const char *path);

/* ---- new recordings -------------------------------------------------------------------------- */

/* Recordings made from recordings: merged, trimmed, summed or divided. */

struct opk_merge_options {
	size_t size;
	const char *join; /* as in struct opk_recorded; NULL: the first file's */
	/* The files are parts of one recording, and are removed: OPK_OUTPUT_RECORDING. */
	bool original;
};
/*
 * Makes one recording from several, with their ranges in order. Config image, prefix and metadata
 * are the first file's, without facts that do not hold for all files: docs/format.md. The log names
 * files and images that occur twice. Needs no NVIDIA library. OPK_EUSAGE: there are no files, one
 * is a probe, or chip, profiler or metrics differ. OPK_EINPUT: a file is cut off or damaged.
 */
int opk_merge(struct opk_ctx *ctx, const char *const *paths, size_t count,
              const struct opk_merge_options *options, const char *path);
/* Logs which files are named twice, or by two names, without opening them; ignores missing ones. */
int opk_note_same_files(struct opk_ctx *ctx, const char *const *paths, size_t count);

/*
 * Copies a recording without the free slots of its counter data images of ranges
 * (NVPW_CounterDataCombiner_*) or samples (NVPW_PeriodicSampler_CounterData_TrimInPlace). An image
 * that would not get smaller stays as it is. Values are the same bit for bit. OPK_EINPUT: it is cut
 * off or damaged, has no counter data, or can't be read. OPK_ENVIDIA: the combiner is missing.
 */
int opk_trim(struct opk_ctx *ctx, struct opk_file *file, const char *path);

struct opk_sum_options {
	size_t size;
	/* name, kernel, shape, nvtx, device, host, rank, all, or several: "kernel,rank" */
	const char *key;
	/*
	 * Ranges may be inside other ranges, "step/forward" in "step", and kernels in NVTX ranges.
	 * So that nothing counts twice, only one level of the ranges with one key is added:
	 * "outermost" (NULL) or "innermost"; or "all". The log says which ranges are left out.
	 */
	const char *level;
	/*
	 * Makes a part, to sum files step by step. opk_sum() of parts with the same key and level,
	 * in the order of the files, is the same bit for bit as of all files; a sum of parts may be
	 * a part again. A kernel in a range of the program must be in the same part as the range.
	 * Kernels without a symbol, and ranges by name and rank, are added only at the end.
	 */
	bool part;
};
/*
 * Merges recordings like opk_merge(), and makes one range of all ranges that share a key: it has
 * the sum of their counters (NVPW_CounterDataCombiner_SumIntoRange), the facts that all have in
 * common, their number as `count`, and the sum of their durations. Ranges of different GPUs are
 * never summed. OPK_EUSAGE: key or level is an unknown word; ranges of one key come from GPUs of
 * different layout; there are samples; or the passes of a key have different numbers of ranges.
 * OPK_EINPUT: a file is cut off or damaged, or NVIDIA's code can't read an image.
 */
int opk_sum(struct opk_ctx *ctx, const char *const *paths, size_t count,
            const struct opk_sum_options *options, const char *path);

/*
 * Divides a recording into files PATH-1.opk and so on for PATH.opk, all or none. `by` is name,
 * kernel, shape, nvtx, device or rank, or several with ',' between; "segment": a part for each
 * counter data image; or a number: so many ranges in each part. Images of samples stay whole. The
 * first part has the collector's counts (STAT). *out has a row for each part: name and kernel (of
 * its ranges, or ""), rows. OPK_EUSAGE: samples of one image would go into several parts, there are
 * more than 500 parts, or `by` is an unknown word. OPK_EINPUT: the file is cut off or damaged, or
 * NVIDIA's code can't read an image.
 */
int opk_split(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file, const char *by,
              const char *path);

/* ---- repair ---------------------------------------------------------------------------------- */

/* Finds what is wrong with a file, and saves what is whole. */

struct opk_verify_options {
	size_t size;
	bool deep; /* if all is sound, also checks values and modules' CRCs, by NVIDIA's code */
};
/*
 * Lists all sections of a container, and what is wrong with them: headers, checksums, encodings,
 * tables that contradict each other or the metadata. After damage it goes on at the next section
 * header. *out: section (from 1; 0: bytes between sections, or the whole file), type (also of a
 * missing section; "": unknown), byte and size (in the file, with header and padding), problem
 * (NULL: it is sound). OPK_OK even with problems; OPK_EINPUT: the file is not a container.
 */
int opk_verify(struct opk_listing **out, struct opk_ctx *ctx, const char *path,
               const struct opk_verify_options *options);

/*
 * Makes a complete recording `to` of all that is whole in `from`: images with their tables, in
 * order. An image without its range table is kept, unless the table says which metrics it has; an
 * image without its times is left out if others have times. OPK_FILE_DROPS of `to` counts what was
 * left out. *out, unless NULL, is as from opk_verify(): sections that were not kept have a problem.
 * With libcupti, a child asks how many ranges each image has (NVPW_CounterData_GetNumRanges,
 * cuptiPmSamplingGetCounterDataInfo): tables of another number of rows are left out, and images it
 * can't read. OPK_EUSAGE: `to` is `from`. OPK_EINPUT: nothing is left.
 */
int opk_recover(struct opk_listing **out, struct opk_ctx *ctx, const char *from, const char *to);

#ifdef __cplusplus
}
#endif

#endif
