/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of collection in a process: its contexts and their sessions, its devices and their
 * samplers, filters, and counts. One lock is over all of it and over the profiler.
 */
#ifndef OPK_COLLECTOR_H
#define OPK_COLLECTOR_H

#include <pthread.h>

#include "collect/ranges/ranges.h"
#include "collect/ranges/launch.h"
#include "collect/profilers/profilers.h"

enum { MAX_CONTEXTS = 64 };

struct collector_context {
	CUcontext context;
	int device;
	struct session *session; /* NULL: can't be profiled, is not to be, or is sampled */
	bool refused;            /* can't be profiled */
};

/* The range of the program's that is open: one at most, as there is one profiler. */
struct open_range {
	struct session *session; /* NULL: none is open */
	CUcontext context;
	const struct user_nest *nest; /* NULL: any thread may end it */
	size_t depth;                 /* its place in the nest, from 1 */
	uint64_t id;                  /* of one that any thread may end */
};

struct collector {
	pthread_mutex_t lock;
	struct settings settings;
	struct collect_set set;
	struct profiling profiling;
	struct kernels *kernels;
	struct collector_context contexts[MAX_CONTEXTS];
	size_t context_count; /* ever seen */
	struct sampler *samplers[MAX_DEVICES];
	bool sampled[MAX_DEVICES]; /* begun, or tried in vain */
	struct open_range range;
	struct session *launch; /* a launch is under way in it */
	uint64_t launches;      /* all */
	uint64_t matches;       /* those that the name filters let through */
	uint64_t begun;         /* ranges, for --max-ranges */
	struct counts counts;
	unsigned captures; /* streams that are being captured into graphs */
	uint32_t depth;    /* deepest level of user ranges */
	bool unheard;      /* samples without callbacks from the start */
	bool outside;      /* of what --capture-range lets in */
	bool marked;       /* has been inside */
	bool initialized;  /* CUPTI's profiler */
	pid_t pid;
	bool ended;
};

/* ---- state.c: what all others use ---- */

extern struct collector collector;

/*
 * Takes the lock; false, without it, when collection has ended, and in a fork, which shares the
 * state but not the GPU, and where a thread that was not forked may hold it for ever. Also false
 * where this thread has it: a signal that arrives during a launch may end the program.
 */
bool collector_lock(void);
void collector_unlock(void);
/* For `collector_auto bool locked = collector_lock();`: unlocks at the end of the block. */
void collector_leave(const bool *locked);
#define collector_auto __attribute__((cleanup(collector_leave)))
/* Whether only what is between the program's marks is recorded. */
bool collector_has_scope(void);
/* Ends the range that is open. The lock is held. */
void collector_end_range(void);
/* Ends the range that may be open, and counts its rest with that reason. The lock is held. */
void collector_cut_range(enum drop reason);

/* ---- collector.c: contexts and devices ---- */

/* Reads settings and set, and opens NVIDIA's libraries; false with a message on stderr. */
bool collector_init(void);
/* The context's session; NULL where its ranges are not recorded. The lock is held. */
struct session *collector_session(CUcontext context);
/* Counts what can't be recorded in a context that can't be profiled. */
void collector_miss(CUcontext context);
/* The row of a range in that context, as far as the context says. The lock is held. */
struct opk_range collector_row(CUcontext context);
/* Before the first context: readies CUPTI's profiler while the driver makes the context. */
void collector_warm_up(void);
/*
 * PM sampling without callbacks: samples the devices whose primary context the program has made by
 * now. False when there are no others to wait for, or collection has ended.
 */
bool collector_watch(void);
/* Begins to record what runs on the GPU. */
void collector_trace(void);
/* Before the driver destroys a context. */
void collector_forget(CUcontext context);
/* Hands on what has waited for almost the flush interval; false when collection has ended. */
bool collector_flush(void);
/* Counts something that has happened. */
void collector_note(enum drop what);
/* Writes what is left, ends the recording, and says what is missing. */
void collector_finish(void);
/* Has the program's end call that before NVIDIA's libraries clean up what they have by now. */
void collector_end_before_nvidia(void);

/* ---- collector_report.c ---- */

/* The end of the recording, when all is counted. The lock is held. */
void collector_end_recording(void);

/* ---- collector_launches.c ---- */

/*
 * Around a launch: true where it is recorded, and then the lock is held until
 * collector_end_launch(): one range at a time.
 */
bool collector_begin_launch(const struct launch *launch);
void collector_end_launch(bool launched);
/*
 * While a stream is captured into a graph the profiler must not be touched, nor run: its calls
 * fail, and then crash. Nothing is recorded in between.
 */
void collector_begin_capture(void);
void collector_end_capture(void);

/* ---- collector_scope.c: the program's marks ---- */

void collector_begin_scope(void);
void collector_end_scope(void);

/* ---- collector_ranges.c ---- */

/* Listens to the program's ranges and records them. */
void collector_listen_to_ranges(void);

#endif
