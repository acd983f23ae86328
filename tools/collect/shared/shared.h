/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What launcher and library both need: settings, the set, names of files, the NVTX filter,
 * threads and clocks. It brings the headers of libc that most files use, memory, locks and TRY().
 */
#ifndef OPK_COLLECT_SHARED_H
#define OPK_COLLECT_SHARED_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <regex.h>
#include <string.h>
#include <time.h>

#include "base/lock.h"
#include "base/try.h"
#include "container/door.h"

/* What programs, the preloaded library or the launcher look up in the library. */
#define EXPORT __attribute__((visibility("default")))

/*
 * --nvtx-include and --nvtx-exclude, in Nsight Compute's grammar for push/pop ranges:
 *
 *     [DOMAIN@]RANGE/RANGE/...   these ranges, each right inside the one before, anywhere
 *     [RANGE/...                 the first one is the outermost of its domain
 *     RANGE/...RANGE]            the last one is the innermost of its domain
 *     RANGE/ * /RANGE            (without the blanks) any number of ranges between
 *     [DOMAIN@]RANGE             such a range, or one that was started and not ended yet
 *     DOMAIN@                    any range of the domain
 *
 * Without DOMAIN@ ranges of the default domain are meant. A '\' makes the next character a plain
 * one.
 */

enum { USER_RANGE_DEPTH = 64 };

/* A range that the program pushed and has not popped. */
struct user_range {
	char *domain; /* "": the default domain */
	char *name;
	uint64_t begun_ns; /* clock_host_ns() */
};

struct nvtx_filter;

/* Parses filters, one per line; NULL if one is malformed, or memory is out. */
struct nvtx_filter *nvtx_filter_new(const char *lines);
void nvtx_filter_free(struct nvtx_filter *filter);
/* Whether a filter without '/', '[' and ']' names this range of the whole process. */
bool nvtx_filter_match_started(const struct nvtx_filter *filter, const struct user_range *range);
/* Whether any of the filters matches these ranges, outermost first. */
bool nvtx_filter_match(const struct nvtx_filter *filter, const struct user_range *ranges,
                       size_t count);

/* --kernel: which kernels, and which launches of each. */
struct kernel_filter {
	regex_t regex;
	bool in_name, in_symbol; /* where it is looked for: demangled, mangled */
	uint64_t first, last;    /* launches of each kernel, from 1; last 0: all */
};
/* NULL is fine. */
void kernel_filter_free(struct kernel_filter *filter);

/*
 * The settings of a run: one table for the command line, its help, the environment that passes them
 * from launcher to library, and the checks of combinations. Values of setting_NAME are read by the
 * form NAME.
 */

typedef enum collect_mode {
	MODE_KERNEL_REPLAY, /* auto range; any number of passes */
	MODE_LAUNCH_RANGE,  /* a range around each launch; one pass */
	MODE_USER_RANGE,    /* the program's own ranges; one pass */
	MODE_SAMPLING,      /* PM sampling */
	MODE_TRACE,         /* no set: only what runs and when */
	MODE_SASS,          /* counts of instructions of each launch */
	MODE_PC,            /* samples of instructions */
} setting_mode;

/* What takes turns with the passes of a set that needs several. */
typedef enum collect_turns {
	TURNS_NONE,   /* one pass, or replay takes them all */
	TURNS_ROTATE, /* launches or ranges: each image has the next pass */
	TURNS_REPEAT, /* repetitions of an outermost user range */
} setting_turns;

typedef enum collect_range { RANGE_AUTO, RANGE_USER } setting_range;

typedef enum collect_replay {
	REPLAY_AUTO,
	REPLAY_KERNEL,
	REPLAY_NONE,
	REPLAY_ROTATE,
	REPLAY_USER,
	REPLAY_APPLICATION,
} setting_replay;

/* When something is recorded. */
typedef enum collect_capture {
	CAPTURE_NONE,         /* always */
	CAPTURE_PROFILER_API, /* between cudaProfilerStart() and cudaProfilerStop() */
	CAPTURE_OFFPEAK,      /* between offpeak_start() and offpeak_stop() of offpeak_range.h */
} setting_capture;

typedef enum collect_backend { BACKEND_RANGE, BACKEND_LEGACY } setting_backend;

typedef enum collect_caches { CACHES_NONE, CACHES_FLUSH } setting_caches;
/* What the GPUs' clocks are locked to. */
typedef enum collect_clocks { CLOCKS_NONE, CLOCKS_BASE, CLOCKS_BOOST } setting_clocks;
/* The plan of a set that rotation takes. */
typedef enum collect_prefer { PREFER_CHEAP, PREFER_FEWEST } setting_prefer;

/* What is recorded of GPU work: kernels; or also copies and sets of memory. */
typedef enum collect_trace { TRACE_NONE, TRACE_KERNELS, TRACE_ALL, TRACE_API } setting_trace;

/* What is kept of modules beside counts of instructions. */
typedef enum collect_code { CODE_LINES, CODE_NONE, CODE_WHOLE } setting_code;

/* What counts of instructions are of. */
typedef enum collect_per { PER_FUNCTION, PER_LAUNCH } setting_per;

/* What a set's profiler is called on the command line; none: as the set says. */
typedef enum collect_source { SOURCE_NONE, SOURCE_PC, SOURCE_SASS } setting_source;

/* An interval in cycles: this, plus the exponent of 2. */
#define INTERVAL_CYCLES ((uint64_t)1 << 63)

/* Environment variables that affect what runs where: recordings have their values. */
#define RECORDED_VARIABLES                                                                         \
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",                       \
		"CUDA_MODULE_LOADING", "CUDA_MPS_PIPE_DIRECTORY", "NVIDIA_TF32_OVERRIDE",          \
		"OMP_NUM_THREADS", "WORLD_SIZE", "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK",     \
		"PMI_RANK", "PMIX_RANK", "SLURM_JOB_ID", "SLURM_PROCID"

/* "METRIC<5 for 1s": so long a metric is below, or above, a value. */
struct dump_when {
	char metric[256];
	bool below, equal; /* <, <=; else >, >= */
	double value;
	uint64_t for_ns; /* 0: a single sample is enough */
	char text[64];   /* what follows the metric, for messages */
};

/* How other values are written, and the types that they are read into. */
typedef const char *setting_text, *setting_lines; /* lines: several values, one per line */
typedef bool setting_flag;
typedef uint64_t setting_count, setting_positive, setting_interval, setting_time, setting_size;
typedef int setting_device; /* -1: all */
typedef struct kernel_filter *setting_kernels;
typedef struct nvtx_filter *setting_filter; /* several add up, one a line */
typedef struct dump_when setting_when;

/* What a setting is for; none of the first three: for everything. */
enum {
	FOR_LAUNCHES = 1,
	FOR_RANGES = 2, /* the program's own */
	FOR_SAMPLES = 4,
	FOR_TRACE = 32,
	FOR_SASS = 64,
	FOR_PC = 128,
	FOR_ANY = FOR_LAUNCHES | FOR_RANGES | FOR_SAMPLES | FOR_TRACE | FOR_SASS | FOR_PC,
	RECORDED = 8,   /* in META's `run`, under its name */
	OPTIONAL = 256, /* its argument may be left out; it is written with '=' */
	RARE = 512,     /* the page that --help prints only names it */
	NOT_KEYED = 16, /* of the cache: makes no difference to a recording, or is read as a file */
};

/*
 * X(ID, field, form, default, what it is for, letter, name, argument, help): the variable is
 * OFFPEAK_COLLECT_ID. Without a default the field is 0. A setting without help is not an option:
 * the launcher sets it. An option without an argument is a flag. The first line of a help is on
 * the page that --help prints; a further line that begins with a word and a tab is about that word.
 */
#define SETTINGS(X)                                                                                  \
	X(SET, set_path, text, NULL, NOT_KEYED, 'c', "config", "FILE",                               \
	  "the set: what 'offpeak build' made for this GPU's chip\n"                                 \
	  "may repeat, once for each of the profilers range, sass and pc: the\n"                     \
	  "program runs once for each set, and one file has what all runs recorded")                 \
	X(SOURCE, source, source, "none", 0, 0, "source", "pc|sass",                                 \
	  "instructions: sampled (needs no -c), or counted\n"                                        \
	  "pc\twhere warps are, and why they wait; costs nothing measurable for kernels\n"           \
	  "of 10 us or more\n"                                                                       \
	  "sass\tas a set for the profiler sass says by itself; costs 1.1 to 1.6 ms a\n"             \
	  "chosen launch; wants CUPTI 12.8, 12.9, 13.1 or later")                                    \
	X(RANGE, range, range, NULL, 0, 0, "range", "auto|user",                                     \
	  "each kernel launch (default), or the program's own ranges\n"                              \
	  "user\tNVTX ranges, or those of offpeak_range.h")                                          \
	X(LEVEL, level, positive, "1", FOR_RANGES | RARE, 0, "level", "N",                           \
	  "record the nested user ranges of level N (default 1)")                                    \
	X(REPLAY, replay, replay, NULL, 0, 0, "replay", "WAY",                                       \
	  "how a set of several passes is recorded; none: in one, fast\n"                            \
	  "auto\tnone where one pass is enough, else kernel (default)\n"                             \
	  "kernel\tthe GPU repeats each launch: any number of passes, slow\n"                        \
	  "none\tone pass, fast. With a filter, idle time around a short kernel counts\n"            \
	  "into elapsed cycles and times; the recording marks such metrics, and\n"                   \
	  "auto avoids that, at 10 to 20 ms a launch\n"                                              \
	  "rotate\tlaunches take the set's passes in turn; 'offpeak eval' joins those of\n"          \
	  "the same kernel and shape\n"                                                              \
	  "user\trepetitions of an outermost user range take the passes in turn\n"                   \
	  "application\tthe program runs once for each pass and level of user ranges")               \
	X(PREFER, prefer, prefer, "cheap", FOR_LAUNCHES | RARE, 0, "prefer", "PLAN",                 \
	  "what rotate takes if the set has two plans\n"                                             \
	  "cheap\tmany passes in which a launch costs little (default)\n"                            \
	  "fewest\tfewest passes, for programs of few launches")                                     \
	X(PUSH, push, flag, NULL, FOR_LAUNCHES | RARE, 0, "push", NULL,                              \
	  "push a range around each launch, which records graphs, too\n"                             \
	  "idle time around a short kernel counts into elapsed cycles and times")                    \
	X(CACHE_CONTROL, caches, caches, "none", FOR_LAUNCHES | FOR_RANGES | RECORDED, 0,            \
	  "cache-control", "HOW",                                                                    \
	  "none or flush: what a launch, or user range, finds in L2\n"                               \
	  "none\tcaches are as the program left them (default)\n"                                    \
	  "flush\tnone of its data; not with kernel replay, which restores memory between\n"         \
	  "passes")                                                                                  \
	X(CLOCK_CONTROL, clock_control, clocks, "none", RECORDED, 0, "clock-control", "CLOCK",       \
	  "none, base or boost: the GPUs' clocks while the program runs\n"                           \
	  "none\tclocks are as they are (default)\n"                                                 \
	  "base\tGPUs run at their base clock until the program has ended; wants root\n"             \
	  "boost\tat their highest clock, as far as power and heat allow")                           \
	X(TRACE, trace, trace, NULL, FOR_SAMPLES | FOR_TRACE | RECORDED, 0, "trace",                 \
	  "kernels|all|api",                                                                         \
	  "what ran and when, and the program's NVTX ranges\n"                                       \
	  "kernels\tkernels: beside PM sampling, or alone, without -c\n"                             \
	  "all\tcopies and sets of memory, too\n"                                                    \
	  "api\tthe program's calls of CUDA, too")                                                   \
	X(INTERVAL, interval_ns, interval, "10us", FOR_SAMPLES | FOR_PC | RECORDED, 0, "interval",   \
	  "TIME",                                                                                    \
	  "time between PM samples: 10us (default), 500ns, 1ms\n"                                    \
	  "between PC samples: 2^5 to 2^31 cycles; by default 2^15 for a second,\n"                  \
	  "and then longer or shorter, as the number of samples asks for")                           \
	X(MAX_SAMPLES, max_samples, count, NULL, FOR_SAMPLES | RARE, 0, "max-samples", "N",          \
	  "stop after about N samples")                                                              \
	X(BUFFER, buffer_bytes, size, NULL, FOR_SAMPLES | RARE, 0, "buffer", "SIZE",                 \
	  "size of the hardware's buffer: 512M, 2G")                                                 \
	X(PER, per, per, "function", FOR_SASS | RARE, 0, "per", "function|launch",                   \
	  "counts of instructions: summed over launches (default), or each")                         \
	X(CODE, code, code, "lines", FOR_SASS | FOR_PC | OPTIONAL | RARE, 0, "code", "WHAT",         \
	  "what is kept of modules that ran; --code alone: their whole code\n"                       \
	  "lines\tfunctions and source lines (default); lines need nvcc's -lineinfo\n"               \
	  "none\tnothing\n"                                                                          \
	  "whole\ttheir code, too")                                                                  \
	X(KERNEL, kernel, kernels, NULL, FOR_LAUNCHES | FOR_SASS, 'k', "kernel", "REGEX",            \
	  "only kernels whose name or symbol matches\n"                                              \
	  "name:REGEX, symbol:REGEX: whose name, whose mangled symbol; REGEX#3,\n"                   \
	  "REGEX#3-7: only the third launch of each such kernel, the third to the\n"                 \
	  "seventh; '#3' of every kernel")                                                           \
	X(NVTX_INCLUDE, nvtx_include, filter, NULL, FOR_LAUNCHES | FOR_RANGES | FOR_SASS, 0,         \
	  "nvtx-include", "R",                                                                       \
	  "only what is in NVTX ranges [DOMAIN@]A/B/; may repeat\n"                                  \
	  "B right inside A; '*' any number of ranges, '[' outermost, ']'\n"                         \
	  "innermost. Ranges that start and end anywhere are named without a '/';\n"                 \
	  "DOMAIN@ alone is any range of the domain")                                                \
	X(NVTX_EXCLUDE, nvtx_exclude, filter, NULL, FOR_LAUNCHES | FOR_RANGES | FOR_SASS, 0,         \
	  "nvtx-exclude", "R", "nothing that is in such NVTX ranges; may repeat")                    \
	X(SKIP, skip, count, NULL, FOR_LAUNCHES | FOR_SASS, 0, "skip", "N",                          \
	  "leave out the first N of these launches")                                                 \
	X(EVERY, every, positive, NULL, FOR_LAUNCHES | FOR_SASS, 0, "every", "N",                    \
	  "then record one in N")                                                                    \
	X(COUNT, count, count, NULL, FOR_LAUNCHES | FOR_SASS, 0, "count", "N",                       \
	  "look only at the N launches after those left out")                                        \
	X(MAX_RANGES, max_ranges, count, NULL, FOR_LAUNCHES | FOR_RANGES, 0, "max-ranges", "N",      \
	  "record at most N ranges")                                                                 \
	X(CAPTURE_RANGE, capture_range, capture, NULL,                                               \
	  FOR_LAUNCHES | FOR_RANGES | FOR_SAMPLES | FOR_TRACE | FOR_SASS, 0, "capture-range",        \
	  "BY",                                                                                      \
	  "cudaProfilerApi or offpeak: only between such calls\n"                                    \
	  "none\tall that the program does (default)\n"                                              \
	  "cudaProfilerApi\tbetween its cudaProfilerStart() and cudaProfilerStop(); other filters\n" \
	  "choose among that; PyTorch's are torch.cuda.profiler.start() and stop()\n"                \
	  "offpeak\tbetween its offpeak_start() and offpeak_stop(), Python's\n"                      \
	  "pyoffpeak.collect.start() and stop()")                                                    \
	X(DEVICE, device, device, "all", 0, 0, "device", "N|all",                                    \
	  "only on that device (default all)")                                                       \
	X(WATCH, watch, flag, NULL, FOR_SAMPLES | NOT_KEYED, 0, "watch", NULL,                       \
	  "no program: samples all that the GPUs do, until a signal comes")                          \
	X(DURATION, duration_ns, time, NULL, FOR_SAMPLES | NOT_KEYED, 0, "duration", "TIME",         \
	  "or until this time is over: 60s, 10min, 2h")                                              \
	X(ROTATE_FILES, rotate_ns, time, NULL, FOR_SAMPLES | NOT_KEYED, 0, "rotate-files", "TIME",   \
	  "a file for each such time\n"                                                              \
	  "whose name has its end: run-20260131T120000Z.opk")                                        \
	X(KEEP, keep_ns, time, NULL, FOR_SAMPLES | RECORDED | NOT_KEYED, 0, "keep", "TIME",          \
	  "a flight recorder: only the last 30s, or another time\n"                                  \
	  "not with --rotate-files: a recorder or an archive\n"                                      \
	  "SIGUSR1 writes a file of it, and so does 'offpeak-collect --dump\n"                       \
	  "RUN.opk'")                                                                                \
	X(DUMP, dump, text, NULL, NOT_KEYED, 0, "dump", "RUN.opk",                                   \
	  "no program: a --watch --keep with this -o writes what it has\n"                           \
	  "and this prints the recording's name when it is whole")                                   \
	X(DUMP_WHEN, dump_when, when, NULL, FOR_SAMPLES | NOT_KEYED, 0, "dump-when", "COND",         \
	  "with --keep: as soon as a metric is so: 'METRIC<5 for 1s'\n"                              \
	  "<, <=, > or >=; again after a sample in which it was not")                                \
	X(OUTPUT, output, text, NULL, NOT_KEYED, 'o', "output", "FILE",                              \
	  "the recording, one for each process\n"                                                    \
	  "%h is the host, %p the process id, %q{NAME} an environment variable.\n"                   \
	  "Processes that would share a name get their ids added to it")                             \
	X(MERGE, merge, flag, NULL, 0, 0, "merge", NULL, "one file for all processes")               \
	X(FORCE, force, flag, NULL, NOT_KEYED, 0, "force", NULL,                                     \
	  "replace any file that has the name of -o\n"                                               \
	  "else only an older recording is replaced, and a note says which")                         \
	X(BEST_EFFORT, best_effort, flag, NULL, NOT_KEYED, 0, "best-effort", NULL,                   \
	  "run the program where nothing can be recorded, too\n"                                     \
	  "and pass on its exit code")                                                               \
	X(VERBOSE, verbose, flag, NULL, NOT_KEYED, 'v', "verbose", NULL,                             \
	  "say on stderr what was done")                                                             \
	X(CACHE, cache, text, NULL, NOT_KEYED, 0, "cache", "DIR",                                    \
	  "keep recordings there; copy one if nothing has changed since\n"                           \
	  "the program does not run then")                                                           \
	X(CACHE_ENV, cache_env, lines, NULL, NOT_KEYED | RARE, 0, "cache-env", "NAME",               \
	  "an environment variable that the program depends on; may repeat")                         \
	X(CACHE_INPUT, cache_inputs, lines, NULL, NOT_KEYED | RARE, 0, "cache-input", "FILE",        \
	  "a file or a folder that the program reads; may repeat\n"                                  \
	  "beyond its libraries, the files that arguments name, and what is in\n"                    \
	  "their folders and the current one")                                                       \
	X(CACHE_VERIFY, cache_verify, flag, NULL, NOT_KEYED | RARE, 0, "cache-verify", NULL,         \
	  "run the program all the same, and say whether what ran is what was kept\n"                \
	  "where it is not, an input is not known, and the exit code is 1, as it is\n"               \
	  "where nothing is kept to compare with")                                                   \
	X(CACHE_LIMIT, cache_limit, size, "5G", NOT_KEYED | RARE, 0, "cache-limit", "SIZE",          \
	  "delete what was not used for longest beyond this size (default 5G)")                      \
	X(WAIT, wait_s, count, NULL, FOR_LAUNCHES | FOR_RANGES | FOR_SAMPLES | NOT_KEYED, 0,         \
	  "wait", "SECONDS", "wait so long for another profiler to leave the counters")              \
	X(OWN_CUPTI, own_cupti, flag, NULL, 0, 0, "own-cupti", NULL,                                 \
	  "record also while the program itself uses CUPTI\n"                                        \
	  "as torch.profiler does; its own profile may be empty then. By default it\n"               \
	  "comes first")                                                                             \
	X(PROBE, probe, flag, NULL, 0, 0, "probe", NULL,                                             \
	  "no program: writes to -o what the GPUs can count\n"                                       \
	  "all, or that of --device; for 'offpeak build --availability' and\n"                       \
	  "'offpeak info'")                                                                          \
	X(BACKEND, backend, backend, NULL, FOR_LAUNCHES | FOR_RANGES | RARE, 0, "backend", "NAME",   \
	  "range (default) or legacy: CUPTI's older interface")                                      \
	X(CUPTI, cupti_path, text, "libcupti.so", NOT_KEYED | RARE, 0, "cupti", "FILE",              \
	  "use this libcupti")                                                                       \
	/* No other run of the program has the same: it is in the names of its parts. */             \
	X(TOKEN, token, text, NULL, NOT_KEYED, 0, "token", NULL, NULL)                               \
	/* With --cache: where processes say what they have opened. */                               \
	X(OPENED, opened, text, NULL, NOT_KEYED, 0, "opened", NULL, NULL)                            \
	/* The hash of all that is known to make a difference to the recording, and its files. */    \
	X(CACHE_KEY, cache_key, text, NULL, RECORDED | NOT_KEYED, 0, "cache-key", NULL, NULL)        \
	X(CACHE_KNOWN, cache_known, text, NULL, RECORDED | NOT_KEYED, 0, "cache-inputs", NULL,       \
	  NULL)                                                                                      \
	/* What --clock-control has locked. */                                                       \
	X(CLOCKS, clocks, text, NULL, RECORDED | NOT_KEYED, 0, "clocks", NULL, NULL)                 \
	/* Shared memory with a tally of each process. */                                            \
	X(TALLIES, tallies, count, NULL, NOT_KEYED, 0, "tallies", NULL, NULL)                        \
	/* The program and its arguments, as one line. */                                            \
	X(COMMAND, command, text, NULL, RECORDED | NOT_KEYED, 0, "command", NULL, NULL)              \
	X(MODE, mode, mode, NULL, 0, 0, "mode", NULL, NULL)                                          \
	X(TURNS, turns, turns, NULL, 0, 0, "turns", NULL, NULL)                                      \
	/* The pass of the first image, where images take turns; 0: the first one. */                \
	X(PASS, pass, count, NULL, 0, 0, "pass", NULL, NULL)                                         \
	/* Other runs of the program record other passes and levels. */                              \
	X(APPLICATION, application, flag, NULL, 0, 0, "application", NULL, NULL)                     \
	/* Launches: no idle time in their ranges, even with a filter. */                            \
	X(TIGHT, tight, flag, NULL, 0, 0, "tight", NULL, NULL)

enum setting_id {
#define X(id, ...) SETTING_##id,
	SETTINGS(X)
#undef X
		SETTINGS_TOTAL
};

struct settings {
#define X(id, field, form, ...) setting_##form field;
	SETTINGS(X)
#undef X
	bool given[SETTINGS_TOTAL];
};

struct setting {
	const char *variable;
	const struct setting_form *form;
	size_t offset, size; /* in struct settings */
	const char *fallback;
	unsigned uses;
	char letter; /* 0: none */
	const char *name, *argument, *help;
};

extern const struct setting settings_table[SETTINGS_TOTAL];

/* Names the library for programs that mark ranges with offpeak_range.h. */
#define SETTING_LIBRARY "OFFPEAK_COLLECT_LIBRARY"

/* Sets the defaults; removes an outer offpeak-collect's settings from the environment. */
void settings_begin(struct settings *settings);
/* From the command line, and passed on to the library. NULL, or what is wrong. */
const char *settings_take(struct settings *settings, enum setting_id id, const char *text);
/* Passes a value only to the library. */
void settings_export(enum setting_id id, const char *text);
void settings_export_number(enum setting_id id, size_t number);
/* In the library, from a copy of the environment. NULL, or what is wrong. */
const char *settings_read(struct settings *settings);

/* The words that an option takes, with NULL at the end, and a text that names those for users. */
const char *const *settings_words(const char **what, const struct setting *row);
/* The word for a value of an enum above, as in META's `mode`. */
const char *settings_word(enum setting_id id, unsigned value);
/* Whether some launches are excluded. */
bool settings_filter(const struct settings *settings);
/*
 * Whether ranges are pushed and popped. Without a filter the profiler makes a range of each launch,
 * tightly around the kernel; with a filter it would have to start and stop around each wanted
 * launch, which takes 9 to 18 ms.
 */
bool settings_push(const struct settings *settings);

/* The contents of set.opk for the collector. */

/* A config image and its counter-data prefix. */
struct image_set {
	void *config, *prefix;
	size_t config_size, prefix_size;
};

struct collect_set {
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_meta chosen; /* what `meta` is: with the plan that is recorded, and no other */
	bool rotates;           /* that is the set's plan for rotation */
	struct image_set images;
};

/*
 * Opens the set and verifies every byte; its images stay in the file. OPK_OK, or a message on
 * stderr. Call collect_set_clear() in either case. `settings` choose one of the set's plans.
 */
int collect_set_open(struct collect_set *set, const struct settings *settings, const char *path);
/* As collect_set_open(), and decodes the images. */
int collect_set_load(struct collect_set *set, const struct settings *settings, const char *path);
void collect_set_clear(struct collect_set *set);
#define opk_autoset __attribute__((cleanup(collect_set_clear)))

/*
 * A range pushed around a launch contains some microseconds of idle time, which count in elapsed
 * cycles and times, and so in what is divided by them. Counts, and ratios to active cycles, are
 * right.
 */
bool metric_is_inflated(const char *metric);
/* A set's inflated metrics: names borrowed from the set; free() the list. */
const char **inflated_metrics(size_t *count, const struct opk_meta *meta);

/* Names of recordings: one per process. */

/*
 * The ending of the name while a process writes the file: NAME.TOKEN-PROCESS.part, with the process
 * id. If the process became another program, or its id was used before in the run, the name ends
 * with PROCESS-N.part, N from 2.
 */
#define PART_ENDING ".part"

/*
 * Writes `format` with its items replaced, as in Nsight Compute: %h host name, %p process id,
 * %q{NAME} environment variable ("" if unset), %% a percent sign. False for any other item, or if
 * room is short.
 */
bool name_expand(char *out, size_t size, const char *format);
/* The beginning of the file's name, after its folders. */
const char *name_of_file(const char *format);
/* What is wrong with the file's name that name_expand() makes here; NULL: nothing. */
const char *name_problem(const char *format);
/* Whether an item in it may differ between processes. */
bool name_varies(const char *format);
/* Whether one of these items is in it, such as "p". */
bool name_has(const char *format, const char *items);
/* A pattern for glob(): '*' for each item. False like name_expand(). */
bool name_pattern(char *out, size_t size, const char *format);

/*
 * What a process has counted so far, in memory that outlives it: if it is killed, or becomes
 * another program, its unwritten data is at least counted.
 */
struct tally {
	unsigned process, image; /* as in its part's name */
	uint64_t launches;
	uint64_t ranges; /* begun; or decoded samples */
	uint32_t depth;  /* of user ranges */
	bool failed;     /* writing the file failed */
	bool stuck;      /* the program ended in the midst of a launch, or of preparations */
	uint64_t late;   /* launches after the recording's end */
};

/* In the launcher: makes memory for the token's run; without it nothing is counted. */
void tallies_new(const struct settings *settings);
/* The tally of a process of that run; NULL: unknown. */
const struct tally *tallies_find(unsigned process, unsigned image);
/* Launches of that run after their recordings' ends. */
uint64_t tallies_late(void);
/* In the library: begins this process's tally; without the memory it is not seen. */
void tally_begin(const struct settings *settings, unsigned image);
extern struct tally *tally;

/* The end of the path of the library that is loaded into programs. */
#define COLLECTOR_LIBRARY "/liboffpeak-inject.so"
/* Beside it: it sees what the program itself calls of CUPTI. */
#define PRELOADED_LIBRARY "/liboffpeak-preload.so"
/*
 * The first of these files that is in a process's memory; `count` if none is. False with errno if
 * the process can't be inspected.
 */
bool mapped_find(size_t *first, const char *process, const char *const *files, size_t count);
/* The name of a process, by number; "?" if unknown. */
void process_name(char name[32], const char *process);

/* A message of one line on stderr, with the program's name; returns the code. */
__attribute__((format(printf, 2, 3))) int say(int code, const char *format, ...);
/* The outermost cause of a failure. `ctx` is NULL if there was no memory for a context. */
const char *outer_cause(const struct opk_ctx *ctx);

/* Time, and this library's threads in the program. */

struct timespec clock_now(void);
/* Seconds since a time from clock_now(). */
double clock_seconds_since(const struct timespec *then);
/* Whether the last time was at least so long ago, or never (zero); then it is now. */
bool clock_is_due(struct timespec *last, double every_s);
static inline bool clock_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}
/* Nanoseconds since 1970, like start_ns and end_ns. */
uint64_t clock_host_ns(void);

/* Starts a thread that receives none of the program's signals. */
bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data);
/* Whether this was the system's number of such a thread at that time, in clock_host_ns(). */
bool thread_is_own(uint32_t number, uint64_t at_ns);
/* Starts a thread that is never joined. */
bool thread_detach(void *(*run)(void *data), void *data);

/*
 * Around what loads libraries, maybe in a thread: `opk_autoloading bool begun = loading_begin();`
 * until the end of the block. Forks wait meanwhile: in a child that is forked in the midst of
 * dlopen() no library can be loaded.
 */
bool loading_begin(void);
void loading_end(const bool *begun);
#define opk_autoloading __attribute__((cleanup(loading_end)))

#endif
