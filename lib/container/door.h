/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_CONTAINER_DOOR_H
#define OPK_CONTAINER_DOOR_H

#include "base/mem.h"

OPK_DEFINE_AUTO(opk_file)
OPK_DEFINE_AUTO(opk_writer)

struct opk_section {
	uint32_t type;
	uint32_t flags;       /* OPK_SECTION_DEFLATED, OPK_SECTION_XORED, ... */
	uint32_t stride;      /* of the XOR filter in bytes, 0 where unused */
	uint32_t crc;         /* CRC-32 of the stored payload */
	uint64_t offset;      /* of the payload in the file */
	uint64_t stored_size; /* bytes in the file */
	uint64_t plain_size;  /* bytes after decoding */
	uint32_t packed_size; /* with OPK_SECTION_SPARSE: bytes after inflating, before unpacking */
	uint32_t distance;    /* how many sections before it the one is that it names; 0: none */
	uint32_t linked_crc;  /* CRC-32 of that one's header */
	uint32_t header_crc;  /* of its own, which covers all of the above but for `offset` */
	size_t link; /* its number: of the base with OPK_SECTION_BASED, of the image of a table */
};

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

/* A short name that stands for a metric in formulas and over columns. */
struct opk_meta_label {
	const char *metric;
	const char *name;
};

/* What is computed of others' values after collection. */
struct opk_meta_derived {
	const char *name;
	/* Over metrics, labels and derived ones before it; only evaluation reads it. */
	const char *formula;
	const char *unit; /* as in "byte/second"; "": it is not known; "unitless": there is none */
	const char *description;
};

/* A heading over `count` columns from `first` on. */
struct opk_meta_heading {
	const char *title;
	const char *text;
	size_t first, count;
	const char *draw; /* "stack": they are parts of a whole; "" or NULL: nothing is said */
};

/* A line of a roofline: a level of memory, whose bytes are counted, or a peak of operations. */
struct opk_meta_roof {
	const char *name;  /* "DRAM", "fp32" */
	const char *bytes; /* of a level: metric, label or derived metric; "" or NULL: it is none */
	const char *peak;  /* so many bytes or operations a second; as above */
	/* The operations that a peak limits; "" or NULL: they are not known. */
	const char *work;
	/* How busy the busiest part of a level was, in percent; "" or NULL: it is not known. */
	const char *throughput;
};

/* What a roofline is drawn of: metrics by name or label, and derived metrics. */
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

/* What the META section says; strings are "" and numbers 0 where absent. */
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
	 * launch), "user" (the program's own ranges), "sampling", "trace" (what ran and when alone:
	 * there are no metrics), "mixed" (merged).
	 */
	const char *mode;
	int64_t gpu_time_shift; /* ns: host time = GPU time + shift; PM sampling */
	bool has_gpu_time_shift;
	const struct opk_pass_list *metric_passes; /* one a metric */
	size_t metric_pass_count;                  /* 0: they are not known; or metric_count */
	/*
	 * Ranges of different passes that make one row together: those of the same "kernel" and
	 * launch shape (rotation), "launch" index (application replay), or "name" (repeated user
	 * ranges); "": every range has all passes.
	 */
	const char *join;
	const char *backend; /* "range-profiler", "legacy", "pm-sampling" or "mixed" */
	/* Metrics whose values count idle time around short kernels, because of the mode. */
	const char *const *inflated;
	size_t inflated_count;
	const struct opk_property *run; /* facts about machine, command and environment */
	size_t run_count;
	/* What the set says beyond its metrics. Labels and derived ones have names of their own. */
	uint32_t set_version;
	const char *set_hash; /* of all that the set became on this chip */
	const struct opk_meta_label *labels;
	size_t label_count;
	const char *const *hidden; /* metrics that only formulas need */
	size_t hidden_count;
	const struct opk_meta_derived *derived;
	size_t derived_count;
	/*
	 * Metrics, by name or label, and derived ones in the order in which they are shown; none:
	 * all metrics that are not hidden, then all derived ones.
	 */
	const char *const *columns;
	size_t column_count;
	const struct opk_meta_heading *headings;
	size_t heading_count;
	struct opk_meta_roofline roofline;
	/* A probe has one for each counter-availability image, in their order. */
	const struct opk_availability *availability;
	size_t availability_count;
	/* "merge", "trim", "split", "recover" or "import", of other files; "": it was recorded */
	const char *made_by;
};

/*
 * Reads and checks the metadata; *meta is borrowed from the file. OPK_EINPUT: there are none, or
 * they are wrong.
 */
int opk_file_meta(const struct opk_meta **meta, struct opk_ctx *ctx, struct opk_file *file);

/* Clocks of a GPU so far apart, as a share of the higher, make times and rates differ. */
#define OPK_CLOCK_DRIFT 0.05
/*
 * The rows of all range tables, in the order of their images; *count is 0 without any. They go with
 * the file, and no later call changes them. OPK_EINPUT: a table is damaged.
 */
int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file);

/*
 * The times of all samples, in the order of their images; *count is 0 without any. They go with the
 * file. OPK_EINPUT: a table is damaged.
 */
int opk_file_times(const struct opk_time **times, size_t *count, struct opk_ctx *ctx,
                   struct opk_file *file);

/* What ran on a GPU, or a range of the program. */
enum opk_activity_kind {
	OPK_ACTIVITY_KERNEL = 1,
	OPK_ACTIVITY_COPY, /* of memory */
	OPK_ACTIVITY_SET,  /* of memory */
	OPK_ACTIVITY_RANGE /* NVTX: from push to pop, on the host */
};
/* Strings are "" and numbers 0 where unknown, or where the kind has none. */
struct opk_activity {
	enum opk_activity_kind kind;
	int32_t device;            /* its index; -1 where unknown, and of ranges */
	const char *name;          /* of a kernel, demangled; "memcpy HtoD", "memset"; of a range */
	const char *symbol;        /* of a kernel, mangled */
	uint64_t start_ns, end_ns; /* host time, on the clock of struct opk_time */
	uint64_t stream;           /* CUPTI's number of it in its context */
	uint64_t graph_node;       /* the graph's node that launched it */
	uint64_t bytes;            /* copied or set */
	uint64_t thread;           /* of a range: the system's number; 0: it is the process's */
	uint32_t context;          /* CUPTI's number of it in its process */
	uint32_t correlation;      /* CUPTI's number of the call that launched it */
	uint32_t grid[3], block[3];
	uint32_t registers;                         /* of a thread */
	uint32_t static_shared_bytes, shared_bytes; /* of a block; the latter: dynamic */
	uint32_t process;                           /* pid */
	int32_t rank;           /* of an MPI or torchrun job; -1 where unknown */
	const char *host, *gpu; /* as in struct opk_range */
};
/*
 * All that was recorded of what ran, in the order of the file, which is not always that of time;
 * *count is 0 without any. It goes with the file.
 */
int opk_file_activities(const struct opk_activity **activities, size_t *count, struct opk_ctx *ctx,
                        struct opk_file *file);

/* Ranges or samples that are missing, and why. */
struct opk_drop {
	const char *reason;
	uint64_t count;
};
/* What the collector counted over the run; a killed one leaves none. */
struct opk_stats {
	uint64_t launches; /* seen */
	uint64_t ranges;   /* recorded; or samples */
	uint32_t depth;    /* deepest nesting of user ranges that was seen */
	const struct opk_drop *drops;
	size_t drop_count;
	uint64_t activities; /* recorded */
};
/*
 * *stats is NULL where the file has none; of several, numbers are added up. It goes with the file.
 */
int opk_file_stats(const struct opk_stats **stats, struct opk_ctx *ctx, struct opk_file *file);

/* Clocks of the GPUs while ranges were recorded. */
struct opk_clock_span {
	uint32_t least, most; /* MHz, over all GPUs; 0 where unknown */
	bool drifted;         /* those of some GPU, by more than OPK_CLOCK_DRIFT */
};
struct opk_clocks {
	struct opk_clock_span sm, memory;
};
/* Fills in the clocks of these ranges, such as those of opk_file_ranges(). */
void opk_clocks_find(struct opk_clocks *out, const struct opk_range *ranges, size_t count);
/* "1755 to 1980" or "1980", in MHz; "" where it is unknown. */
enum { OPK_CLOCK_TEXT = 32 };
void opk_clock_text(char out[OPK_CLOCK_TEXT], const struct opk_clock_span *span);

/* What is wrong with metadata or tables is as if it was not there: for damaged files. */
int opk_file_list_whole(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                        enum opk_file_list list);

/* Checks one section's CRC without decoding it. OPK_EINPUT: it is wrong. */
int opk_file_verify(struct opk_ctx *ctx, const struct opk_file *file, size_t i);
/* The value of a fact of `run`, such as "hostname"; "" without it. It goes with the metadata. */
const char *opk_meta_fact(const struct opk_meta *meta, const char *name);
/* The variables that may say which rank a process is, by their precedence; NULL past the last. */
const char *opk_rank_variable(size_t i);
/* What such a variable says: digits alone, for an int; -1 for anything else. */
int opk_rank_read(const char *text);

/*
 * The counter-availability image in a set, a recording or a probe, for this profiler: free() it.
 * `chip`, as "GH100", chooses among the chips of a probe; NULL: there is one only. OPK_EINPUT where
 * there is none: NVIDIA has an image of its own for each profiler. OPK_EUSAGE where GPUs of a probe
 * differ, as one without NVLink does.
 */
int opk_file_availability(void **data, size_t *size, struct opk_ctx *ctx, struct opk_file *file,
                          const char *chip, enum opk_profiler profiler);

/* A counter data image of a recording, and what the tables that name it say. */
struct opk_segment {
	size_t image;                   /* its section */
	bool has_ranges, has_times;     /* which tables there are */
	size_t row_count;               /* of each; 0 without a table */
	const struct opk_range *ranges; /* NULL where it has none */
	const struct opk_time *times;   /* NULL where it has none */
	uint32_t pass;          /* the pass that it has counters of, from 1; 0: it has all passes */
	const char *host, *gpu; /* of samples that no range table describes; "" where unknown */
};

/*
 * All segments in the order of their images; they go with the file. OPK_EINPUT where a link is
 * inconsistent: two tables of a kind for one image, tables of different lengths, a pass that is not
 * there. That an image has as many ranges as its tables have rows is seen when it is evaluated.
 */
int opk_file_segments(const struct opk_segment **segments, size_t *count, struct opk_ctx *ctx,
                      struct opk_file *file);

/*
 * Under the final name from the start, for a recording in the making: each section is in the file
 * when opk_writer_add() returns, and stays there if the process is killed. OPK_EFAILED where
 * something has that name, be it a link; nobody else can read the file. Should the program close
 * its descriptor, or give the number to another file, it is opened again by its name.
 */
int opk_writer_new_live(struct opk_writer **out, struct opk_ctx *ctx, const char *path);

/*
 * Goes on with a recording that was cut off, after its whole sections; an image that ends them,
 * whose table is missing, is cut off, too. OPK_EUSAGE for a file that is complete. What is added is
 * in the file at once; opk_writer_finish() completes it.
 */
int opk_writer_resume(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_file *file);
/* OPK_EUSAGE: no reader would take it, and the message says why. */
int opk_writer_add_meta(struct opk_writer *writer, const struct opk_meta *meta);
/* Any number of such sections; where strings are NULL it is as if they were "". */
int opk_writer_add_activities(struct opk_writer *writer, const struct opk_activity *activities,
                              size_t count);
int opk_writer_add_stats(struct opk_writer *writer, const struct opk_stats *stats);

/*
 * Several at once, all or none: where one can't be put in place, what the others have replaced is
 * there again.
 */
int opk_writers_finish(struct opk_writer *const *writers, size_t count);

#endif
