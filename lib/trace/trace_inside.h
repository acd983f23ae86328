/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/trace alone: recordings as events in Chrome's trace format. */
#ifndef OPK_TRACE_INSIDE_H
#define OPK_TRACE_INSIDE_H

#include "adapters/deflate/deflate.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/json_write.h"
#include "container/container.h"
#include "eval/door.h"
#include "trace/door.h"

/* ---- events as text: events.c */

struct opk_trace_out {
	struct opk_ctx *ctx;
	struct opk_sink sink;
	struct opk_gzip *gzip; /* NULL: the sink gets plain text */
	struct opk_buf text;   /* not yet written */
	struct opk_json_writer json;
	uint64_t origin; /* host time that is 0 in the trace, ns */
	uint64_t events; /* all, with metadata events (names) */
};

int opk_trace_open(struct opk_trace_out *out, bool gzip);
/*
 * Begins an event of a kind ("X", "M"); its other members and its end follow. `thread` 0: the event
 * belongs to the whole process.
 */
void opk_trace_begin_event(struct opk_trace_out *out, const char *phase, uint32_t process,
                           uint32_t thread);
int opk_trace_end_event(struct opk_trace_out *out);
/* Counts an event that was written into `text` directly. */
void opk_trace_next_event(struct opk_trace_out *out);
/* Sends `text` on if enough has gathered. */
int opk_trace_flush(struct opk_trace_out *out);
/* Writes microseconds with three decimals: as a member, or the number alone. */
void opk_trace_put_time(struct opk_trace_out *out, const char *name, uint64_t ns);
void opk_trace_add_time(struct opk_buf *text, uint64_t ns);
/* Writes members of an object: kernel, shape, registers, shared memory, if known. */
void opk_trace_put_launch(struct opk_json_writer *json, const struct opk_range *range);
/* Ends the list of events; call it before another member and opk_trace_close(). */
void opk_trace_end_events(struct opk_trace_out *out);
int opk_trace_close(struct opk_trace_out *out);
void opk_trace_out_clear(struct opk_trace_out *out);

/* ---- processes, and rows in them: tracks.c */

/* Where something ran; strings are borrowed. */
struct opk_trace_place {
	const char *host, *gpu;
	int32_t device, rank;
	uint32_t process; /* pid; 0: not known */
};
struct opk_trace_place opk_trace_place_of_run(const struct opk_meta *meta);
/* The place of a sample or range: what the range does not say is as in the place of the run. */
struct opk_trace_place opk_trace_place_of(const struct opk_trace_place *run,
                                          const struct opk_range *range);
struct opk_trace_place opk_trace_place_of_record(const struct opk_activity *activity);

struct opk_trace_process {
	char *key;
	char *name;
	char *host;
	int32_t rank;
	uint32_t process; /* pid */
	uint32_t id;      /* in the trace */
	bool named;       /* its name is in the trace */
	/* The devices of its counters found so far. */
	bool has_device, many_devices;
	int32_t device;
};

/* A lane of slices, which nest or follow each other; slices that cross need several lanes. */
struct opk_trace_lane {
	uint32_t id;
	uint64_t *ends; /* of the open slices, outermost first */
	size_t depth, capacity;
};
enum opk_trace_row_kind {
	OPK_TRACE_NVTX,
	OPK_TRACE_CALLS,
	OPK_TRACE_RANGES,   /* of the program, with values */
	OPK_TRACE_PROFILED, /* launches, with values, for as long as profiling them took */
	OPK_TRACE_STREAM
};
/* A row of a process: a thread's NVTX ranges or calls, or a stream of a device. */
struct opk_trace_row_key {
	enum opk_trace_row_kind kind;
	int32_t device;
	uint32_t context;
	uint64_t number; /* of thread or stream */
};
struct opk_trace_row {
	char *text; /* the key, with the process's key */
	struct opk_trace_row_key key;
	const struct opk_trace_process *process;
	OPK_LIST(struct opk_trace_lane) lanes;
};

struct opk_trace_gpu {
	char *key;
	struct opk_trace_process *owner; /* NULL: several processes ran on it */
};

struct opk_trace_tracks {
	OPK_LIST(struct opk_trace_process *) processes;
	OPK_LIST(struct opk_trace_row *) rows;
	OPK_LIST(struct opk_trace_gpu) gpus;
	struct opk_index process_numbers, row_numbers, gpu_numbers;
	/* The last ones looked up: the next look-up mostly is the same. */
	struct opk_trace_process *process;
	struct opk_trace_row *row;
	uint32_t last_id; /* ids of processes and lanes are unique in the trace */
	uint32_t lane;    /* of the last slice */
};

void opk_trace_tracks_clear(struct opk_trace_tracks *tracks);
/* Finds or adds the process that something ran in. NULL when out of memory. */
struct opk_trace_process *opk_trace_process_of(struct opk_trace_tracks *tracks,
                                               const struct opk_trace_place *place);
/* Notes that a process ran something on a GPU. */
int opk_trace_note_gpu(struct opk_trace_tracks *tracks, struct opk_ctx *ctx,
                       const struct opk_trace_place *place);
/*
 * The process that a GPU's samples belong to: the only one that ran on it; else the recorded one,
 * if the place names it; else an artificial one for the GPU.
 */
struct opk_trace_process *opk_trace_process_of_gpu(struct opk_trace_tracks *tracks,
                                                   const struct opk_trace_place *place);
/* Writes the process's name before its first event. */
int opk_trace_name_process(struct opk_trace_out *out, struct opk_trace_process *process);

/* Something that ran; times are the host's. */
struct opk_trace_slice {
	struct opk_trace_place place;
	struct opk_trace_row_key key;
	uint64_t start, end;
	const char *category, *name;
};
/*
 * Begins the slice's event in a lane of its row; starts in a row must not decrease. Slices of a
 * stream only follow each other, others may nest. Names a new process or lane in the trace.
 */
int opk_trace_begin_slice(struct opk_trace_out *out, struct opk_trace_tracks *tracks,
                          const struct opk_trace_slice *slice);

/* ---- what ran, section after section: sweep.c */

struct opk_trace_block {
	size_t section;
	uint32_t process;                /* of its records */
	uint64_t first;                  /* start of its first record */
	struct opk_activity_table table; /* set while it is open */
	size_t *order;                   /* sorted records */
	size_t next;                     /* in `order` */
};

struct opk_trace_sweep {
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_trace_block *blocks; /* by first record */
	size_t count;
	bool mixed;   /* a section has several processes: all are swept at once */
	size_t begun; /* blocks opened so far */
	struct opk_trace_block **open;
	size_t open_count;
};

typedef int opk_trace_record_fn(void *data, struct opk_ctx *ctx,
                                const struct opk_activity *activity, uint32_t *process);
/*
 * Reads each section once, and calls `each` for its records in the order of the file; `each` gives
 * the record's process.
 */
int opk_trace_sweep_init(struct opk_trace_sweep *sweep, struct opk_ctx *ctx, struct opk_file *file,
                         opk_trace_record_fn *each, void *data);
/*
 * Gives records process by process, by start, the longest first. Only sections whose times overlap
 * are in memory. *activity is NULL after the last record.
 */
int opk_trace_sweep_next(const struct opk_activity **activity, struct opk_ctx *ctx,
                         struct opk_trace_sweep *sweep);
void opk_trace_sweep_clear(struct opk_trace_sweep *sweep);

/* ---- the conditions of --where, for what has these facts: where.c */

struct opk_trace_where {
	struct opk_filter *ran;  /* launches and copies; NULL: all */
	struct opk_filter *nvtx; /* ranges and calls */
};

/*
 * `rows`: the file has samples or ranges, so that conditions may be on values; `samples`: it has
 * samples.
 */
int opk_trace_where_init(struct opk_trace_where *where, struct opk_ctx *ctx,
                         const char *const *conditions, size_t count, bool rows, bool samples);
int opk_trace_where_accepts(bool *out, struct opk_ctx *ctx, const struct opk_trace_where *where,
                            const struct opk_activity *activity);
void opk_trace_where_clear(struct opk_trace_where *where);

/* ---- arrows from calls to what they launched: flows.c */

struct opk_trace_flows {
	OPK_LIST(uint64_t) calls, ran; /* keys of records; in the end `ran` is empty */
	unsigned char *drawn;          /* for each call: 1: the arrow's beginning, 2: all of it */
};

/* Notes a record of a process; after all of them, join finds which belong together. */
int opk_trace_flows_note(struct opk_trace_flows *flows, struct opk_ctx *ctx, uint32_t process,
                         const struct opk_activity *activity);
int opk_trace_flows_join(struct opk_trace_flows *flows, struct opk_ctx *ctx);
void opk_trace_flows_clear(struct opk_trace_flows *flows);

/* ---- all of it: trace.c */

struct opk_trace_file {
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_trace_where where;
	struct opk_trace_sweep sweep;
	struct opk_evaluation *evaluation; /* NULL: nothing to evaluate */
	struct opk_trace_place place;      /* its process, from the facts of the run */
};

struct opk_trace {
	struct opk_ctx *ctx;
	struct opk_trace_options options;
	struct opk_eval_options eval; /* from these options */
	struct opk_runs recordings;
	struct opk_trace_file *files;
	size_t file_count;
	struct opk_trace_out out;
	struct opk_trace_tracks tracks;
	struct opk_trace_flows flows;
	struct opk_kernel_names *names;
	struct opk_trace_counts counts;
	uint64_t first,
		last;      /* host time of the beginning and the end; UINT64_MAX, 0: nothing yet */
	uint64_t last_gap; /* the last gap id */
	uint64_t row_count, row; /* samples of all files; how many were read */
};

/* Events of a file: ran.c, samples.c, user_ranges.c. */
int opk_trace_put_ran(struct opk_trace *trace, struct opk_trace_file *file);
/* After the slice of a record: the part of an arrow that belongs to it. flows.c */
int opk_trace_put_flow(struct opk_trace *trace, const struct opk_activity *activity);
int opk_trace_put_samples(struct opk_trace *trace, struct opk_trace_file *file);
int opk_trace_put_user_ranges(struct opk_trace *trace, struct opk_trace_file *file);
/* Gives a range's start and end; false: it has no times. */
bool opk_trace_range_times(uint64_t *start, uint64_t *end, const struct opk_range *range);

#endif
