/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of one process: its metadata, and its segments. */
#ifndef OPK_COLLECT_RECORDING_H
#define OPK_COLLECT_RECORDING_H

#include "collect/shared/shared.h"
#include "collect/shared/target.h"

/* Losses of ranges, samples and records, by reason; some reasons count events instead. */
#define DROP_REASONS(X)                                                                            \
	X(PROFILER, "the profiler refused or dropped them")                                        \
	X(OVERFLOW, "samples came faster than they could be decoded, and sampling paused; a "      \
	            "longer --interval or fewer metrics help")                                     \
	X(OVERFLOWED, "the hardware's buffer of samples overflowed, as where the disk or this "    \
	              "process stood still; a longer --interval or a larger --buffer helps")       \
	X(OTHER_RANGE, "another range was open")                                                   \
	X(OTHER_DOMAIN, "a range of another NVTX domain was open; --nvtx-include RANGE/ takes "    \
	                "those of one domain")                                                     \
	X(NO_CONTEXT, "the thread had no CUDA context yet")                                        \
	X(NESTED, "nested in a recorded range; --replay application or user takes each level")     \
	X(CAPTURE, "begun while a stream was captured into a graph")                               \
	X(CUT, "the rest of user ranges in which a stream was captured into a graph")              \
	X(STOPPED, "the rest of user ranges that were open at cudaProfilerStop()")                 \
	X(GRAPH, "they are graphs: --push records them, in one pass or by rotation")               \
	X(ENDED, "sampling ended before the program, as after a cuptiFinalize() of its own, or "   \
	         "where the GPU failed")                                                           \
	X(INTERRUPTED, "sampling stood still, as where the program begins to trace itself; one "   \
	               "sample spans such a time")                                                 \
	X(RECORDS, "records of what ran: they came faster than they could be written")             \
	X(TIMELESS, "records of what ran: CUPTI could not take their times")                       \
	X(TAKEN, "records of what ran after the program asked CUPTI for them itself, counted as "  \
	         "one")                                                                            \
	X(HOMELESS, "records of what ran: there was no recording to write them to")                \
	X(DEAF, "records of what ran after CUPTI refused to hand them over, counted as one")       \
	X(CONTEXTS, "in a context beside 64 others of the process")                                \
	X(FINALIZED, "what followed a cuptiFinalize() of the program within 0.25 s, counted as "   \
	             "one")                                                                        \
	X(BUFFER_FULL, "times in which PC samples are missing, because the hardware's buffer was " \
	               "full; a longer --interval helps")                                          \
	X(HARDWARE, "PC samples that the hardware dropped; a longer --interval helps")             \
	X(PATCHED, "records of instructions that CUPTI dropped")                                   \
	X(LOCKED, "calls that did not wait longer for the profiler to be prepared, as a "          \
	          "library's constructor that launches")                                           \
	X(UNHEARD, "launched while another library had CUPTI's callbacks after a cuptiFinalize() " \
	           "of the program, counted as one")                                               \
	X(UNMARKED, "the program had CUPTI's callbacks itself, without which cudaProfilerStart() " \
	            "and cudaProfilerStop() are not heard; counted as one")                        \
	X(RESTED, "times in which the program used CUPTI itself; with --own-cupti recording goes " \
	          "on, and the program's own profile may be empty")

enum drop {
#define X(id, reason) DROP_##id,
	DROP_REASONS(X)
#undef X
		DROPS
};
extern const char *const drop_reasons[DROPS];

/*
 * The recording of one process: a thread compresses and appends each segment, which is a counter
 * data image with a row per range or the times of its samples, while the program continues.
 */

struct segments;

/*
 * Begins the file with its metadata and, unless NULL, the counter-availability image. NULL with a
 * message, or with *taken: another process has just made a file with that name.
 */
struct segments *segments_new(bool *taken, const char *path, const struct opk_meta *meta,
                              const void *availability, size_t availability_size);

/*
 * From now on, a file ends where it has as much time as the settings say, or was asked for, and the
 * next one begins; this one has that path and number. A file that can't be written
 * ends at once, and the next ones are tried until there is room.
 */
void segments_rotate(struct segments *segments, const struct settings *settings, const char *path,
                     unsigned image);
/*
 * Each of several files has what this adds when it ends, as readings since the last call, beside
 * its own losses.
 */
struct facts;
void segments_describe(struct segments *segments, void (*describe)(struct facts *facts));
/* Ends the file after the segments that were added so far; another one may follow them in it. */
void segments_cut(struct segments *segments);
/* The number of the present file. */
unsigned segments_file(const struct segments *segments);
/* Whether nothing could be written since some failure, with several files. */
bool segments_full(const struct segments *segments);

/*
 * An image with its ranges, or with the times of its samples; or records of what ran; or a module,
 * whose bytes are the image; or counts of instructions, whose strings outlive the recording.
 */
struct segment {
	void *image;
	size_t image_size;
	bool mapped; /* the image is a mapping, and not malloc'ed */
	struct opk_range *ranges;
	struct opk_time *times;
	struct opk_activity *activities;
	size_t count;
	struct opk_module module;                  /* data: NULL unless it is one */
	struct opk_instruction_table instructions; /* rows: NULL unless it is one */
	uint64_t drops[DROPS]; /* known since the last segment; it may have these alone */
};

/*
 * Takes over the segment's contents, including the ranges' names and nvtx strings, and the names of
 * NVTX ranges among the records; waits only while several segments are already queued.
 */
void segments_add(struct segments *segments, const struct segment *segment);
/* Waits until all segments are in the file. */
void segments_settle(struct segments *segments);
/* Frees the contents of a segment that segments_add() does not get. */
void segment_clear(struct segment *segment);
void segments_clear_range(struct opk_range *range);
/* Writes the rest and the counts, less those that earlier files have, and ends the file. */
void segments_finish(struct segments *segments, const struct opk_stats *stats);

/* Code: modules, and what was counted at their instructions. */

/* Keeps a module that the driver loads, with or without its code. */
void modules_loaded(const void *cubin, size_t size, bool code);
/* Writes a module of which something ran, once. */
void modules_use(struct segments *segments, uint64_t crc);

/* Counts of instructions in the making. Begins with its metrics, which outlive the recording. */
struct code_rows {
	const char *const *metrics;
	size_t metric_count;
	struct opk_instruction *rows; /* their functions are compared by address */
	uint64_t *values;             /* metric_count for each row */
	size_t count, room;
	size_t *slots, slot_count;
};
/* The values of the row of that place, which is added if it is new; NULL: out of memory. */
uint64_t *code_rows_at(struct code_rows *rows, const struct opk_instruction *place);
void code_rows_clear(struct code_rows *rows);
/* Writes all rows with their modules, and begins again. */
void code_rows_hand_on(struct code_rows *rows, struct segments *segments);

struct counts {
	uint64_t ranges; /* or samples */
	uint64_t activities;
	uint64_t reckoned; /* samples without a time from CUPTI */
	uint64_t drops[DROPS];
};
void counts_add(struct counts *to, const struct counts *from);

/* Begins a process's recording: its name, and its metadata. */

/*
 * A name that no other run can have, with a number from `first` on: 2 or more if the process has
 * written other files or ran another program before, or if a process in another container has its
 * id. 0 with a message: no name is free.
 */
unsigned recording_path(char *path, size_t size, const struct settings *settings, unsigned first);

/*
 * Begins the file with the metadata of this run, including `backend`, and the counter-availability
 * image, unless NULL. NULL with a message on stderr.
 */
struct segments *recording_begin(const struct settings *settings, const struct collect_set *set,
                                 const char *backend, const void *availability,
                                 size_t availability_size);
/* META's `run`: machine, devices, command and environment. */
struct facts {
	struct opk_property *items;
	size_t count, capacity;
	char generator[64];
};

/* Takes the value over, and leaves out NULL; the format makes the name. */
__attribute__((format(printf, 3, 4))) void facts_add(struct facts *facts, char *value,
                                                     const char *format, ...);
/* A device's UUID as nvidia-smi writes it, "MIG-..." of a part of a GPU; false: unknown. */
enum { DEVICE_UUID = 48 };
bool facts_uuid(char out[DEVICE_UUID], int device);
/* Leaves out facts for which memory is short. The driver must be initialized. */
void facts_collect(struct facts *facts);
/* Adds only driver, libcupti and devices. */
void facts_add_gpus(struct facts *facts);
/* Points metadata to the facts, and to the collector's name: valid as long as the facts are. */
void facts_describe(struct opk_meta *meta, struct facts *facts);
void facts_clear(struct facts *facts);
#define opk_autofacts __attribute__((cleanup(facts_clear)))
/* Appends the paths of the libraries in memory to a file, one per line; opened.c */
void opened_append(const char *path);
/*
 * The rank in an MPI, SLURM or torchrun job, from the environment; -1: none. A note on stderr names
 * a value that is not a number.
 */
int recording_rank(void);

#endif
