/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of lib/container, besides the public functions. */
#ifndef OPK_CONTAINER_DOOR_H
#define OPK_CONTAINER_DOOR_H

#include "base/index.h"
#include "base/mem.h"
#include "base/strlist.h"

OPK_DEFINE_AUTO(opk_file)
OPK_DEFINE_AUTO(opk_writer)

struct opk_section {
	uint32_t type;
	uint32_t flags;       /* OPK_SECTION_DEFLATED, OPK_SECTION_XORED, ... */
	uint32_t stride;      /* of the XOR filter in bytes, 0 if unused */
	uint32_t crc;         /* CRC-32 of the stored payload */
	uint64_t offset;      /* of the payload in the file */
	uint64_t stored_size; /* bytes in the file */
	uint64_t plain_size;  /* bytes after decoding */
	uint32_t packed_size; /* with OPK_SECTION_SPARSE: bytes after inflating, before unpacking */
	uint32_t distance;    /* the section that it names is so many sections back; 0: none */
	uint32_t linked_crc;  /* CRC-32 of that section's header */
	uint32_t header_crc;  /* CRC-32 of all header fields above; `offset` is not in the header */
	size_t link; /* number of that section: the base with OPK_SECTION_BASED; a table's image */
	size_t part, number; /* of a joint file: the file that it is in, and its number there */
};

/* Further types, beside enum opk_section_type. */
enum {
	OPK_SECTION_BAKED = 0x454b4142,    /* "BAKE": how values were evaluated, JSON */
	OPK_SECTION_VALUES = 0x534c4156,   /* "VALS": values of rows */
	OPK_SECTION_LEFT_OUT = 0x53574f52, /* "ROWS": in place of an image */
};
/* Whether a section is an image, or is in place of one that was left out. */
static inline bool opk_is_image(uint32_t type)
{
	return type == OPK_SECTION_DATA || type == OPK_SECTION_LEFT_OUT;
}

#define OPK_SECTION_DEFLATED 1u
#define OPK_SECTION_XORED 2u
#define OPK_SECTION_SPARSE 4u /* packed, see docs/format.md */
#define OPK_SECTION_BASED 8u  /* its first block is XORed with an earlier section's */

/* The four characters of a type, "META", with unprintable bytes as '?'; `out` takes 5 bytes. */
void opk_section_type_name(char out[5], uint32_t type);

uint64_t opk_file_size(const struct opk_file *file);
size_t opk_file_section_count(const struct opk_file *file); /* without the end section */
const struct opk_section *opk_file_section(const struct opk_file *file, size_t i);

/* Passes of a config image that have one of a metric's counters: from 1, ascending. */
struct opk_pass_list {
	const uint32_t *passes;
	size_t count; /* 0: they are not known */
};

/* A fact about a run: "hostname", "driver", "device.0.name", "env.RANK". */
struct opk_property {
	const char *name;
	const char *value;
};

/* A short name for a metric in formulas and over columns. */
struct opk_meta_label {
	const char *metric;
	const char *name;
};

/* A derived metric, computed from other values after collection. */
struct opk_meta_derived {
	const char *name;
	/* Over metrics, labels and derived ones before it; only evaluation reads it. */
	const char *formula;
	const char *unit; /* such as "byte/second"; "": not known; "unitless": it has no unit */
	const char *description;
};

/* A heading over `count` columns from `first` on. */
struct opk_meta_heading {
	const char *title;
	const char *text;
	size_t first, count;
	const char *draw; /* "stack": the columns are parts of a whole; "" or NULL: not known */
};

/* A line of a roofline: a level of memory, whose bytes are counted, or a peak of operations. */
struct opk_meta_roof {
	const char *name;  /* "DRAM", "fp32" */
	const char *bytes; /* of a level: metric, label or derived metric; "" or NULL: a peak */
	const char *peak;  /* bytes or operations a second: metric, label or derived metric */
	/* The operations that a peak limits; "" or NULL: not known. */
	const char *work;
	/* How busy the busiest part of a level was, in percent; "" or NULL: not known. */
	const char *throughput;
};

/* The values of a roofline: metrics by name or label, and derived metrics. */
struct opk_meta_roofline {
	const char *title;       /* may be "" */
	const char *const *work; /* operations; their sum counts */
	size_t work_count;
	const char *time; /* in seconds or nanoseconds */
	const struct opk_meta_roof *roofs;
	size_t roof_count; /* 0: there is no roofline */
};

/* The GPU that a counter-availability image is of, and its profiler. */
struct opk_availability {
	const char *chip;
	enum opk_profiler profiler;
	int32_t device; /* its index on that machine */
};

/* As in struct opk_meta, for another plan of the same metrics; 0 passes: there is none. */
struct opk_meta_rotation {
	size_t passes;
	const char *config_hash;
	const struct opk_pass_list *metric_passes;
	size_t metric_pass_count;
};

/* The META section; absent strings are "" and absent numbers 0. */
struct opk_meta {
	/* "set": made by build; "recording": has counter data; "probe": what GPUs are like */
	const char *kind;
	const char *generator;
	const char *chip;
	enum opk_profiler profiler;
	const char *set_name;
	const char *set_description;
	const char
		*single_pass; /* CUPTI's single-pass set, without which it knows no such metrics */
	const char *const *metrics;
	size_t metric_count;
	size_t passes;
	bool keep_instances;
	const char *config_hash; /* "crc32:xxxxxxxx" of the config image */
	uint32_t cupti_version;  /* of the host that built or imported it */
	const char *source;      /* what was imported */
	/*
	 * How it was collected: "kernel" (auto range, kernel replay), "launch" (a range around each
	 * launch), "user" (the program's own ranges), "sampling", "code" (of instructions), "trace"
	 * (what ran and when alone: there are no metrics), "mixed" (merged).
	 */
	const char *mode;
	int64_t gpu_time_shift; /* ns: host time = GPU time + shift; PM sampling */
	bool has_gpu_time_shift;
	const struct opk_pass_list *metric_passes; /* one for each metric */
	size_t metric_pass_count;                  /* metric_count, or 0: not known */
	/* A set's plan for rotation, whose config image is in the section ROTA. */
	struct opk_meta_rotation rotation;
	/*
	 * How ranges of different passes are joined to one row: by the same "kernel" and launch
	 * shape (rotation), "launch" index (application replay), or "name" (repeated user ranges);
	 * "": each range has all passes.
	 */
	const char *join;
	const char *backend; /* "range-profiler", "pm-sampling", "sass-metrics", ... */
	/* Metrics whose values count idle time around short kernels, because of the mode. */
	const char *const *inflated;
	size_t inflated_count;
	const struct opk_property *run; /* facts about machine, command and environment */
	size_t run_count;
	/* The rest of the set. Labels and derived metrics must not share names. */
	uint32_t set_version;
	const char *set_hash; /* of the whole set, resolved for this chip */
	const struct opk_meta_label *labels;
	size_t label_count;
	const char *const *hidden; /* metrics that only formulas need */
	size_t hidden_count;
	const struct opk_meta_derived *derived;
	size_t derived_count;
	/*
	 * Shown columns in order: metrics, by name or label, and derived metrics; empty: all
	 * metrics that are not hidden, then all derived metrics.
	 */
	const char *const *columns;
	size_t column_count;
	const struct opk_meta_heading *headings;
	size_t heading_count;
	struct opk_meta_roofline roofline;
	/* A probe has one for each counter-availability image, in their order. */
	const struct opk_availability *availability;
	size_t availability_count;
	/* by "merge", "trim", "split", "recover", "bake" or "import"; "": it was recorded */
	const char *made_by;
};

/*
 * Reads and checks the metadata; *meta is borrowed from the file. OPK_EINPUT: it is missing or
 * wrong.
 */
int opk_file_meta(const struct opk_meta **meta, struct opk_ctx *ctx, struct opk_file *file);

/* A GPU's clocks drifted if they differ by this share of the higher: then times differ, too. */
#define OPK_CLOCK_DRIFT 0.05
/*
 * The rows of all range tables, in the order of their images; *count is 0 without any. They go with
 * the file, and no later call changes them. OPK_EINPUT: a table is damaged.
 */
int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file);
/* Whether any of these ranges is around a kernel, and not the program's own. */
bool opk_ranges_have_kernels(const struct opk_range *ranges, size_t count);

/*
 * The times of all samples, in the order of their images; *count is 0 without any. They go with the
 * file. OPK_EINPUT: a table is damaged.
 */
int opk_file_times(const struct opk_time **times, size_t *count, struct opk_ctx *ctx,
                   struct opk_file *file);

/* What ran on a GPU, or a range of the program. */
enum opk_activity_kind {
	OPK_ACTIVITY_KERNEL = 1,
	OPK_ACTIVITY_COPY,  /* of memory */
	OPK_ACTIVITY_SET,   /* of memory */
	OPK_ACTIVITY_RANGE, /* NVTX: from push to pop, on the host */
	OPK_ACTIVITY_CALL   /* of CUDA's driver or runtime, by the program */
};
/* Strings are "" and numbers 0 where unknown, or where the kind has none. */
struct opk_activity {
	enum opk_activity_kind kind;
	int32_t device;   /* its index; -1 where unknown, and of ranges */
	const char *name; /* of a kernel, demangled; "memcpy HtoD", "memset"; of a range, a call */
	const char *symbol;        /* of a kernel, mangled */
	uint64_t start_ns, end_ns; /* host time, on the clock of struct opk_time */
	uint64_t stream;           /* CUPTI's number of it in its context */
	uint64_t graph_node;       /* the graph's node that launched it */
	uint64_t bytes;            /* copied or set */
	uint64_t thread;      /* of a range or call: the system's number; 0: it is the process's */
	uint32_t context;     /* CUPTI's number of it in its process */
	uint32_t correlation; /* CUPTI's number of the call, or of the one that launched it */
	uint32_t grid[3], block[3];
	uint32_t registers;                         /* of a thread */
	uint32_t static_shared_bytes, shared_bytes; /* of a block; the latter: dynamic */
	uint32_t process;                           /* pid */
	int32_t rank;           /* of an MPI or torchrun job; -1 where unknown */
	const char *host, *gpu; /* as in struct opk_range */
	uint32_t cluster[3], carveout_plus_1;
	uint64_t external; /* of a call: the last number that the program pushed for CUPTI */
};
/* Whether this ran on a GPU: a kernel, a copy or a set. */
static inline bool opk_activity_ran(const struct opk_activity *activity)
{
	return activity->kind <= OPK_ACTIVITY_SET;
}
/* A record as a range, which borrows its texts. */
struct opk_range opk_activity_range(const struct opk_activity *activity);
/*
 * All records of what ran, in the order of the file, which is not always that of time; *count is 0
 * if there are none. The file owns them.
 */
int opk_file_activities(const struct opk_activity **activities, size_t *count, struct opk_ctx *ctx,
                        struct opk_file *file);

/*
 * NVTX ranges among records, by host, process, thread and start; records are borrowed. Begins
 * zeroed. nvtx_list.c
 */
struct opk_nvtx_range {
	const struct opk_activity *activity;
	size_t parent; /* the range of the thread that it is inside; SIZE_MAX: none */
	size_t level;  /* from 1 */
	char *path;    /* NULL until it is asked for */
};
struct opk_nvtx_ranges {
	struct opk_nvtx_range *items;
	size_t count;
	uint64_t weight; /* bytes of the paths so far */
};
int opk_nvtx_find(struct opk_nvtx_ranges *ranges, struct opk_ctx *ctx,
                  const struct opk_activity *activities, size_t count);
void opk_nvtx_clear(struct opk_nvtx_ranges *ranges);
/* The number of the innermost range that a call's thread was in then; SIZE_MAX: none. */
size_t opk_nvtx_at(const struct opk_nvtx_ranges *ranges, const struct opk_activity *call);
/*
 * A range with those around it, as in struct opk_range. OPK_EINPUT: the paths are too long for
 * a file of this size.
 */
int opk_nvtx_path(const char **out, struct opk_nvtx_ranges *ranges, struct opk_ctx *ctx,
                  const struct opk_file *file, size_t number);

/* A module of a program: a cubin, which is an ELF file, as the driver loaded it. */
struct opk_module {
	uint64_t crc;     /* of the whole cubin, as cuptiGetCubinCrc() computes it: its name */
	uint64_t size;    /* bytes */
	bool has_code;    /* false: all but its functions' names and lines is zero */
	const void *data; /* not checked: hostile bytes */
};

/* A module's name for people: its CRC in lower-case hexadecimal digits, at least 8. */
enum { OPK_MODULE_NAME = 17 };
void opk_module_name(char out[OPK_MODULE_NAME], uint64_t crc);
/* Reads a CODE section; `out` borrows from *data, which is freed by the caller. */
int opk_module_read(struct opk_module *out, void **data, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t section);

/* CODE sections of several files: a module is kept once, with code if one has it. Begins zeroed. */
struct opk_modules {
	struct opk_strlist names; /* CRCs in hexadecimal digits */
	struct opk_index numbers; /* of the names */
	size_t *best, capacity;   /* for each name the section that is kept: its number in `seen` */
	struct opk_seen_module *seen; /* in the order of files and sections */
	size_t seen_count, seen_capacity;
};
/* Adds the sections of file number `number`; files come in the order of their numbers. */
int opk_modules_add(struct opk_modules *modules, struct opk_ctx *ctx, const struct opk_file *file,
                    size_t number);
/* Whether the section is the one of its module that is kept. */
bool opk_modules_keep(const struct opk_modules *modules, size_t number, size_t section);
/* The number of the module with this CRC, whose name is added if it is not known. */
int opk_modules_name(size_t *name, struct opk_modules *modules, struct opk_ctx *ctx, uint64_t crc);
/* Its section in the file that has it; SIZE_MAX: only its name was added. */
size_t opk_modules_section(const struct opk_modules *modules, size_t name);
void opk_modules_clear(struct opk_modules *modules);
#define opk_automodules __attribute__((cleanup(opk_modules_clear)))

/* A place in code, of which something was counted. Strings are "" where unknown. */
struct opk_instruction {
	uint64_t module;        /* CRC of its module */
	const char *function;   /* mangled */
	const char *name;       /* demangled, in one spelling */
	uint32_t offset;        /* from the function's begin, bytes */
	uint32_t launch;        /* number of the function's launch, from 1; 0: not of one launch */
	uint32_t launches;      /* how many launches were counted; 0: not known */
	int32_t device;         /* its index; -1 where unknown */
	uint32_t process;       /* pid; 0 where unknown */
	int32_t rank;           /* of an MPI or torchrun job; -1 where unknown */
	uint32_t interval;      /* of samples: 2^interval cycles; 0: counts, or not known */
	const char *host, *gpu; /* as in struct opk_range */
};

/* Whether that is a reason of PC samples of which each sample has one. */
bool opk_is_stall(const char *metric);
/* How many samples, or else launches that were counted, an INSN section has. */
int opk_section_counted(uint64_t *counted, struct opk_ctx *ctx, const struct opk_file *file,
                        size_t section);

struct opk_instruction_table;
/* Whether something was counted or sampled there. Else the row says how often a function ran. */
bool opk_instruction_has_counts(const struct opk_instruction_table *table, size_t row);

/* An INSN section: some instructions, with the same metrics. Their counts add up over sections. */
struct opk_instruction_table {
	const char *const *metrics; /* of SASS metrics, or reasons of PC samples */
	size_t metric_count;
	const struct opk_instruction *rows;
	size_t count;
	const uint64_t *values; /* metric_count for each row */
};

struct opk_cubin_section {
	const char *name; /* "" if it has none */
	uint32_t type, link;
	uint64_t offset, size;
	const uint8_t *data; /* NULL: it has none */
};
/* A cubin whose sections are inside it; their contents are not checked. Borrows its bytes. */
struct opk_cubin {
	const void *data;
	size_t size;
	uint64_t table;                            /* of section headers: its offset */
	size_t count;                              /* of sections */
	struct opk_cubin_section names;            /* of sections */
	struct opk_cubin_section symbols, strings; /* of functions; empty if it has none */
};
struct opk_cubin_function {
	const char *name; /* mangled */
	size_t symbol;    /* its number in the table of symbols */
	size_t section;
	uint64_t offset, size; /* in the section, bytes */
};
/* OPK_EINPUT: it is not a cubin. */
int opk_cubin_init(struct opk_cubin *cubin, struct opk_ctx *ctx, const void *data, size_t size);
/* False past the last one, and for one outside the file. */
bool opk_cubin_section(struct opk_cubin_section *out, const struct opk_cubin *cubin, size_t i);
bool opk_cubin_find(struct opk_cubin_section *out, const struct opk_cubin *cubin, const char *name);
/* Walks over the functions that have code; *at begins as 0. False past the last one. */
bool opk_cubin_next_function(struct opk_cubin_function *out, const struct opk_cubin *cubin,
                             size_t *at);
/* The function with this name; its size is 0 if there is none. */
struct opk_cubin_function opk_cubin_function_named(const struct opk_cubin *cubin, const char *name);
/* Sets all to zero but the names and sizes of functions, and their lines. */
int opk_cubin_remove_code(struct opk_ctx *ctx, void *data, size_t size);

/* Ranges or samples that are missing, and why. */
struct opk_drop {
	const char *reason;
	uint64_t count;
};
/* The collector's counts over the run; a killed collector leaves none. */
struct opk_stats {
	uint64_t launches; /* seen */
	uint64_t ranges;   /* recorded; or samples */
	uint32_t depth;    /* deepest nesting of user ranges that was seen */
	const struct opk_drop *drops;
	size_t drop_count;
	uint64_t activities;            /* recorded */
	const struct opk_property *run; /* facts that are known only at the end of the run */
	size_t run_count;
};
/*
 * *stats is NULL if the file has none; adds the numbers of several, and keeps the facts on which
 * all agree. What they say of a device's clocks, power and temperature is joined: the least, the
 * mean and the most of all, and how often it was slowed. The file owns it.
 */
int opk_file_stats(const struct opk_stats **stats, struct opk_ctx *ctx, struct opk_file *file);

/* Clocks of the GPUs while ranges were recorded. */
struct opk_clock_span {
	uint32_t least, most; /* MHz, over all GPUs; 0 if unknown */
	bool drifted;         /* some GPU's clocks differ by more than OPK_CLOCK_DRIFT */
};
struct opk_clocks {
	struct opk_clock_span sm, memory;
};
/* Fills in the clocks of these ranges, such as those of opk_file_ranges(). */
void opk_clocks_find(struct opk_clocks *out, const struct opk_range *ranges, size_t count);
/* "1755 to 1980" or "1980", in MHz; "" where it is unknown. */
enum { OPK_CLOCK_TEXT = 32 };
void opk_clock_text(char out[OPK_CLOCK_TEXT], const struct opk_clock_span *span);

/* The first section of a type, or -1. */
long opk_file_find(const struct opk_file *file, uint32_t type);
/* For damaged files: ignores wrong metadata and tables. */
int opk_file_list_whole(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                        enum opk_file_list list);

/* Checks one section's CRC without decoding it. OPK_EINPUT: it is wrong. */
int opk_file_verify(struct opk_ctx *ctx, const struct opk_file *file, size_t i);
/* The value of a fact of `run`, such as "hostname", or "". The metadata owns it. */
const char *opk_meta_fact(const struct opk_meta *meta, const char *name);
/* The variables that may say which rank a process is, by their precedence; NULL past the last. */
const char *opk_rank_variable(size_t i);
/* Parses such a variable: only digits that fit an int; -1 for anything else. */
int opk_rank_read(const char *text);

/*
 * The counter-availability image in a set, a recording or a probe, for this profiler: free() it.
 * `chip`, such as "GH100", chooses among the chips of a probe; NULL: it has only one. OPK_EINPUT:
 * no image for this profiler: NVIDIA has one for each. OPK_EUSAGE: GPUs of a probe differ, for
 * example because one lacks NVLink.
 */
int opk_file_availability(void **data, size_t *size, struct opk_ctx *ctx, struct opk_file *file,
                          const char *chip, enum opk_profiler profiler);

/* A counter data image of a recording with its tables. */
struct opk_segment {
	size_t image;                   /* its section */
	bool has_ranges, has_times;     /* the tables that it has */
	size_t row_count;               /* of each; 0 without a table */
	const struct opk_range *ranges; /* NULL where it has none */
	const struct opk_time *times;   /* NULL where it has none */
	uint32_t pass;                  /* the pass of its counters, from 1; 0: all passes */
	const char *host, *gpu;         /* of samples without a range table; "" if unknown */
	int32_t rank;                   /* likewise; -1: unknown */
};

/*
 * All segments in the order of their images; the file owns them. OPK_EINPUT: a link is
 * inconsistent: two tables of a kind for one image, tables of different lengths, an unknown pass.
 * Only evaluation checks that an image has as many ranges as its tables have rows.
 */
int opk_file_segments(const struct opk_segment **segments, size_t *count, struct opk_ctx *ctx,
                      struct opk_file *file);

/*
 * Opens the files of one long watch as one recording in the order of time, with what their metadata
 * have in common. Nothing is copied, and each read opens its file again. A single file is opened as
 * it is. OPK_EUSAGE: some have no PM samples, other metrics, the same data twice, or other GPUs.
 */
int opk_file_join(struct opk_file **out, struct opk_ctx *ctx, const char *const *paths,
                  size_t count);

/*
 * Recordings of which those of one watch are joined to one, in the place of its first file: they
 * have PM samples, and facts of the same process, and are not cut off. Begins zeroed; borrows the
 * other files.
 */
struct opk_runs {
	struct opk_file **files;
	bool *joined; /* one per file: it is freed with this */
	size_t count;
};
int opk_runs_find(struct opk_runs *runs, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t count);
void opk_runs_clear(struct opk_runs *runs);

/*
 * One image's segment by itself, for recordings whose tables together take too much memory.
 * opk_recording_segment() borrows from it.
 */
struct opk_recording;
int opk_recording_of_image(struct opk_recording **out, struct opk_ctx *ctx, struct opk_file *file,
                           size_t image);
const struct opk_segment *opk_recording_segment(const struct opk_recording *recording);
void opk_recording_free(struct opk_recording *recording);
OPK_DEFINE_AUTO(opk_recording)

/*
 * Writes under the final name from the start, while recording: each section is in the file when
 * opk_writer_add() returns, and stays there if the process is killed. OPK_EFAILED: the name exists,
 * even as a link. Other users can't read the file. If the program closes its descriptor, or reuses
 * the number for another file, the writer opens the file again by its name.
 */
int opk_writer_new_live(struct opk_writer **out, struct opk_ctx *ctx, const char *path);

/*
 * Continues a recording that was cut off, after its complete sections; removes a last image whose
 * table is missing. OPK_EUSAGE: the file is complete. Added sections are in the file at once;
 * opk_writer_finish() completes it.
 */
int opk_writer_resume(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_file *file);
/* OPK_EUSAGE: readers would refuse the metadata; the message says why. */
int opk_writer_add_meta(struct opk_writer *writer, const struct opk_meta *meta);
/* What a META section contains. */
struct opk_buf;
void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* Each adds a section; a file may have several of them. NULL strings mean "". */
int opk_writer_add_activities(struct opk_writer *writer, const struct opk_activity *activities,
                              size_t count);
int opk_writer_add_stats(struct opk_writer *writer, const struct opk_stats *stats);
int opk_writer_add_module(struct opk_writer *writer, const struct opk_module *module);
int opk_writer_add_instructions(struct opk_writer *writer,
                                const struct opk_instruction_table *table);
/* Adds a section of these bytes; `what` names them if there is no memory. */
struct opk_buf;
int opk_writer_add_buf(struct opk_writer *writer, uint32_t type, const struct opk_buf *buf,
                       const char *what);
/* Likewise; OPK_EUSAGE: a reader would refuse so much JSON. */
int opk_writer_add_text(struct opk_writer *writer, uint32_t type, const struct opk_buf *text,
                        const char *what);

/*
 * Finishes all writers or none: if one file can't be put in place, the files that the others
 * replaced come back.
 */
int opk_writers_finish(struct opk_writer *const *writers, size_t count);

/*
 * Attributes: numbers about a launch or its device, with Nsight Compute's names.
 */

/*
 * "device__attribute_..." or a known "launch__..." or "sm__maximum_warps_...": metrics don't have
 * such names.
 */
bool opk_attribute_is_name(const char *name);
/* "": it has no unit, or the unit is not known. */
const char *opk_attribute_unit(const char *name);
/* What it is, as a sentence. */
const char *opk_attribute_text(const char *name);
/* Whether values are added over launches. */
bool opk_attribute_adds(const char *name);
/* NaN if not known. `meta` and `range` may be NULL. */
double opk_attribute_value(const char *name, const struct opk_meta *meta,
                           const struct opk_range *range);
/* Whether all that attributes are computed from is the same in both ranges of a recording. */
bool opk_attributes_are_equal(const struct opk_range *a, const struct opk_range *b);

#endif
