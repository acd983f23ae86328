/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of collection in a process: contexts and their sessions, devices and their samplers,
 * filters, and counts. One lock protects all of it and the profiler.
 */
#ifndef OPK_COLLECTOR_H
#define OPK_COLLECTOR_H

#include "collect/ranges/ranges.h"
#include "collect/ranges/launch.h"
#include "collect/profilers/profilers.h"

enum { MAX_CONTEXTS = 64, MAX_CAPTURES = 64 };

struct collector_context {
	CUcontext context; /* NULL: it is destroyed, and its place is free */
	uint32_t number;   /* from 1, of all that were seen */
	int device;
	struct session *session; /* NULL: can't or shall not be profiled, or is sampled */
	struct sass *sass;       /* instead, for counts of instructions */
	struct pc_sampler *pc;   /* instead, for samples of instructions */
	bool refused;            /* can't be profiled */
	bool rests;              /* closed for the program's own use of CUPTI */
	unsigned subscription;   /* of the callbacks, when it was last looked at */
	unsigned long long id;   /* the driver's: its handle may be used again; 0: unknown */
	bool waits;              /* it can as soon as another context of its GPU is not sampled */
};

/* The program's open range: at most one, as there is one profiler. */
struct open_range {
	struct session *session; /* NULL: no range is open */
	CUcontext context;
	const struct user_nest *nest; /* NULL: any thread may end the range */
	size_t depth;                 /* its depth in the nest, from 1 */
	uint64_t id;                  /* of a range that any thread may end */
};

/* A stream that is captured into a graph; of each thread's own streams also whose it is. */
struct capture {
	CUstream stream;
	pthread_t thread;
};

struct collector {
	pthread_mutex_t lock;
	pthread_cond_t launched; /* no launch is in progress any more */
	bool launching;          /* one that is recorded is, also while the lock is free */
	pthread_t launcher;      /* its thread */
	CUcontext launches_in;   /* its context */
	unsigned subscriptions;  /* so far: a cuptiFinalize() of the program ends one */
	uint64_t prepares_until; /* who has the lock may load libraries, it is hoped until then */
	unsigned (*program_uses)(void); /* NULL: there is no liboffpeak-preload.so */
	/* Held within the other by our threads that use CUPTI, and while the program ends it. */
	pthread_mutex_t cupti;
	struct settings settings;
	struct collect_set set;
	struct profiling profiling;
	struct rotation turns; /* of sessions that have ended */
	struct kernels *kernels;
	struct collector_context contexts[MAX_CONTEXTS];
	size_t context_count; /* places that were ever used */
	uint32_t contexts_seen;
	struct sampler *samplers[MAX_DEVICES];
	bool sampled[MAX_DEVICES]; /* sampling began, or failed to */
	struct open_range range;
	struct session *launch;  /* a launch is in progress in it */
	struct sass *counted;    /* likewise */
	uint64_t launches;       /* all */
	uint64_t matches;        /* launches that match the name filters */
	uint64_t outside_ranges; /* launches of chosen kernels that the NVTX filters leave out */
	uint64_t begun;          /* ranges, for --max-ranges */
	struct counts counts;
	struct capture captures[MAX_CAPTURES];
	size_t capture_count;
	uint32_t depth;             /* the deepest level of user ranges */
	bool unheard;               /* samples, but never had CUPTI's callbacks */
	bool outside;               /* outside of --capture-range */
	bool marked;                /* was inside of it */
	enum collect_capture early; /* the last mark, also before settings are read */
	bool initialized;           /* CUPTI's profiler is initialized */
	pid_t pid;
	bool resting; /* the program uses CUPTI itself */
	bool ended;
};

/* ---- state.c: shared by all other files ---- */

extern struct collector collector;

/*
 * Takes the lock, after the launch that is in progress. It returns false without the lock if
 * collection has ended; in a fork, which can't use the GPU, and where the lock may be held by a
 * thread that does not exist; if this thread has the lock already, or launches, because a signal
 * handler runs meanwhile and ends the program; and, which is counted, if preparations take long.
 */
bool collector_lock(void);
/* Likewise, for what may load libraries. */
bool collector_lock_to_prepare(void);
/* Likewise, also while a launch is in progress. */
bool collector_lock_over(void);
/* Likewise, within that time. */
bool collector_lock_for(unsigned ms);
/* Likewise, at the end: another thread's launch may never end. All calls together wait once. */
bool collector_lock_at_end(void);
/* Locks, unless that takes long. */
bool state_lock_within(pthread_mutex_t *lock);
void collector_unlock(void);
/* For `collector_auto bool locked = collector_lock();`: unlocks at the end of the block. */
void collector_leave(const bool *locked);
#define collector_auto __attribute__((cleanup(collector_leave)))
/* Whether to record only between the program's marks. */
bool collector_has_scope(void);
/* Ends the open range. The lock is held. */
void collector_end_range(void);
/* Ends a range that may be open, and counts its rest with that reason. The lock is held. */
void collector_cut_range(enum drop reason);

/* ---- collector.c: contexts and devices ---- */

/* Reads settings and set, and opens NVIDIA's libraries; false, with a message on stderr. */
bool collector_init(void);
/* The context's session; NULL if its ranges are not recorded. The lock is held. */
struct session *collector_session(CUcontext context);
/* Counts what is lost in a context that can't be profiled. */
void collector_miss(CUcontext context);
/* The row of a range in that context, with the context's facts. The lock is held. */
struct opk_range collector_row(CUcontext context);
/* Prepares CUPTI's profiler while the driver creates the first context. */
void collector_warm_up(void);
/*
 * PM sampling without callbacks: samples the devices whose primary context the program has created
 * so far. False if there are no others to wait for, or collection has ended.
 */
bool collector_watch(void);
/* What follows is not sampled. */
void offpeak_pause(void);
/* Begins to record what runs on the GPU. */
void collector_trace(void);
/* Call it before the driver destroys a context. */
void collector_forget(CUcontext context);
/* Writes what has waited for almost the flush interval; false when collection has ended. */
bool collector_flush(void);
/* Ends sampling. The lock is held. */
void collector_close_samplers(void);
/* Counts a loss or event. */
void collector_note(enum drop what);
/* Writes the rest, ends the recording, and reports what is missing. */
void collector_finish(void);
/* Registers collector_finish() to run at exit before NVIDIA's libraries clean up. */
void collector_end_before_nvidia(void);

/* For collector_code.c. The lock is held. */

/* Whether this GPU is to be recorded. */
bool collector_wants(int device);
/* NULL if CUPTI can't tell. */
const char *collector_chip(int device);
/* Whether the set is for the device's chip; else with a message. */
bool collector_is_right_chip(int device);
/* Initializes CUPTI's profiler once, and tries again after a failure. */
bool collector_initialize(void);
/* NULL: it was not seen yet. */
struct collector_context *collector_find(CUcontext context);
/* NULL: it is unknown to the driver, or there are too many. */
struct collector_context *collector_find_or_open(CUcontext context);
/* Opens what collects from the context; returns its session, if that is what it is. */
struct session *collector_open(struct collector_context *entry);
/* Writes the rest. */
void collector_close(struct collector_context *entry);

/* ---- collector_code.c: contexts in which instructions are counted or sampled ---- */

/* The context is current. */
void collector_open_code(struct collector_context *entry);
/* The context is current, if it still exists. */
void collector_close_code(struct collector_context *entry);
/* Like collector_session(), where instructions are counted. */
struct sass *collector_sass(CUcontext context);
/* Likewise, where they are sampled, before a launch: another context may be sampled until then. */
struct pc_sampler *collector_pc(CUcontext context);

/* ---- collector_report.c ---- */

/* Ends the recording after all is counted. The lock is held. */
void collector_end_recording(void);

/* ---- collector_launches.c ---- */

/*
 * Called around a launch, of which this subscription heard: true if it is recorded; then
 * collector_end_launch() should follow. Until then it is in progress, except with PC sampling: one
 * range at a time.
 */
bool collector_begin_launch(const struct launch *launch, unsigned subscription);
void collector_end_launch(const struct launch *launch, bool launched);
/* The end of a launch that is in progress will not be heard. The lock is held. */
void collector_lose_launch(void);
/*
 * During capture of a stream into a graph the profiler must be neither used nor running: its calls
 * fail, and then crash. Nothing is recorded meanwhile.
 */
void collector_begin_capture(CUstream stream);
/* The capture of that stream may have ended; NULL: any may. The lock is held. */
void collector_end_captures(CUstream stream);

/* ---- collector_scope.c: the program's marks ---- */

void collector_begin_scope(enum collect_capture of);
void collector_end_scope(enum collect_capture of);

/* ---- collector_way.c: the program's own use of CUPTI, which comes first ---- */

/* What the program uses, as bits of enum program_use; 0 with --own-cupti. */
unsigned collector_program_uses(void);
/* Rests if the program had one of these uses before CUDA; whether the collector rests. */
bool collector_begins_resting(unsigned uses);
/* False, with a message, if the program has CUPTI's activity records, or a profiler, already. */
bool collector_may_trace(void);
bool collector_may_sample(void);

/* ---- collector_watch.c: for a watch ---- */

/* Ends the present file soon. */
void offpeak_cut(void);
/* Whether there is no room for files. */
bool offpeak_full(void);
/* The number of the present file; 0: there is none. */
unsigned offpeak_file(void);
/*
 * How many GPUs are sampled, or will be, and how many have failed so far: these are tried again.
 * Call it a few times a second.
 */
size_t offpeak_watched(size_t *failed);
/* Counts what is missing of those that have failed. The lock is held. */
void collector_count_lost(void);

/* ---- inject.c ---- */

/* Leaves the callbacks to the program, without what they are for. */
void inject_leave_callbacks(void);
/* Ends a rest if the program uses nothing any more, and the callbacks are free. */
void inject_end_rest(void);

/* ---- collector_ranges.c ---- */

/* Records the program's ranges as they begin and end. */
void collector_listen_to_ranges(void);

#endif
