/* SPDX-License-Identifier: BSD-2-Clause */
/* Profilers of ranges, sessions that use them, and PM sampling. */
#ifndef OPK_COLLECT_PROFILERS_H
#define OPK_COLLECT_PROFILERS_H

#include <sys/stat.h>

#include "collect/recording/recording.h"

/* Further devices are ignored. */
enum { MAX_DEVICES = 64 };

/* One interface to NVIDIA's two profilers: cuptiRangeProfiler* and the legacy cuptiProfiler*. */

#define ANY_PASS SIZE_MAX

/* A profiler of one context. */
struct profiler {
	const struct profiler_ops *ops;
	const struct image_set *images;
	CUcontext context;
	uint8_t *image; /* receives the ranges */
	size_t image_size;
	uint32_t slots;
	size_t pass;        /* from 0: what configure() collects, unless replay takes all passes */
	bool push;          /* ranges are pushed and popped; else each launch is one range */
	bool kernel_replay; /* the GPU repeats launches for each pass; else there is one pass */
	size_t next_pass;   /* collected by the next configure(), instead of `pass`; or ANY_PASS */
	CUpti_RangeProfiler_Object *object; /* range profiler */
	uint8_t *scratch;                   /* legacy */
	bool in_session;                    /* legacy */
};

/*
 * In the order of their calls; each reports failures on stderr. The context must be current, unless
 * `context` names it. configure() to decode() can repeat; so can start() and stop() in between.
 */
struct profiler_ops {
	const char *name; /* META's `backend` */
	bool (*enable)(struct profiler *profiler);
	bool (*configure)(struct profiler *profiler);
	bool (*start)(struct profiler *profiler);
	bool (*push)(struct profiler *profiler, const char *name);
	bool (*pop)(struct profiler *profiler);
	bool (*stop)(struct profiler *profiler);
	bool (*decode)(struct profiler *profiler); /* afterwards the image has its ranges */
	void (*disable)(struct profiler *profiler);
};

extern const struct profiler_ops range_profiler, legacy_profiler;

/* Shared by all sessions and samplers of a process. */
struct profiling {
	const struct settings *settings;
	const struct collect_set *set;
	const struct profiler_ops *ops; /* NULL for sampling or tracing */
	struct segments *segments;
	struct rotation *turns; /* of sessions that have ended */
	int rank;
};

/* The profiler that works in this libcupti, the range profiler first; else NULL with a message. */
const struct profiler_ops *profiler_choose(bool legacy);
/* Prepares CUPTI's profiler after the driver, in 60 to 100 ms. False with a message on stderr. */
bool profiler_initialize(void);
/*
 * The counter-availability image of a context, or with NULL of the device for PM sampling; free().
 * Call it before the first session: during a session the call for the image fails, and after one it
 * crashes. Without access to the counters this fails while all else seems to work, so it is also
 * the permission check. NULL with a message on stderr.
 */
uint8_t *profiler_availability(CUcontext context, int device, size_t *size);

/* How many ranges an image of about that size holds, from 1 to `most`. */
uint32_t image_ranges(const struct profiler *profiler, size_t bytes, uint32_t most);
/* An empty counter data image with the profiler's slots: free(). NULL with a message on stderr. */
uint8_t *image_new(const struct profiler *profiler, size_t *size);
/*
 * Makes images that are alike: the first as image_new() does, all later ones as copies of it, which
 * share its memory as far as nothing is written to them. Start with zeros.
 */
struct blank {
	size_t size;      /* 0: there is no first image yet */
	uint8_t *image;   /* NULL: the file has it */
	int file;         /* in memory */
	struct stat info; /* of the file */
};
/* Gives the segment an image; false: nothing, with a message on stderr unless memory is out. */
bool blank_copy(struct segment *copy, struct blank *blank, const struct profiler *profiler);
void blank_clear(struct blank *blank);
/* The number of ranges in an image; `expected` if this libcupti can't tell. */
size_t profiler_count(const struct profiler *profiler, size_t expected);

/* How often NVML is asked, by clock_is_due(). */
#define NVML_EVERY_S 0.25

/* A device's current clocks; 0 if NVML is missing or does not know them. */
struct clocks {
	uint32_t sm_mhz, memory_mhz;
};

struct clocks clocks_read(int device);
/* Reads them for the run's facts, unless that was a short time ago, or the device is idle. */
void clocks_look(int device);
/* Processes that have work on a device; false if NVML can't say, as where there are more. */
enum { MOST_USERS = 1024 };
bool clocks_processes(unsigned processes[MOST_USERS], size_t *count, int device);

/* users.c: which processes use a watched GPU, and when. */

struct users;
/* NULL: out of memory; then the other functions do nothing. */
struct users *users_new(int device, struct segments *segments, struct counts *counts);
/*
 * Looks if it is time to, and writes a record, as of an NVTX range, for each process that has
 * ended its use.
 */
void users_look(struct users *users);
/* Writes records of those that still use it. */
void users_end(struct users *users);
/* Reports on stderr which of the clocks read have drifted. */
void clocks_report(void);
/* Adds what was read of each device since the last call, and what NVML knows of it. */
void clocks_facts(struct facts *facts);
/*
 * clock_lock.c: locks the clocks of the wanted devices, writes what it locked to, waits until the
 * other end of `fd` is closed, and frees them. OPK_OK, or a message.
 */
int clocks_hold(const struct settings *settings, int fd);
/* gpu_facts.c: what only NVML knows of a device that does not change. */
struct nvml_device;
void gpu_facts(struct facts *facts, int device, struct nvml_device *handle);

/* Memory as large as a context's L2 cache, and a buffer to copy it to. Start with zeros. */
struct cache {
	CUdeviceptr buffer; /* the driver frees it with the context */
	size_t bytes;
	bool failed;
};

/*
 * Fills L2 with lines that the program does not use; almost none of them must be written back.
 * Finished when it returns. False if it fails, the first time with a message on stderr.
 */
bool cache_flush(struct cache *cache, CUstream stream);

/* Profiles ranges of one context into images, decodes these and hands them on. */

struct session;

/* Starts profiling the current context. NULL with a message on stderr if it can't be profiled. */
struct session *session_new(const struct profiling *profiling, CUcontext context);
/*
 * Begins a range; false if it is not recorded. `row` has the facts about it: if true, its name and
 * nvtx are handed over (NULL or malloc'ed); other strings must outlive the session. Flushes the
 * cache in `stream`, if the settings say so.
 */
bool session_begin(struct session *session, const struct opk_range *row, CUstream stream);
void session_end(struct session *session);
/* Ends a range whose launch failed: the profiler makes no range for it. */
void session_cancel(struct session *session);
/* Selects the pass of the next ranges; ends the present image if it is of another pass. */
void session_select(struct session *session, size_t pass);
/* Decodes the current image and hands it on; does nothing during a range. */
void session_flush(struct session *session);
/* Hands on what is recorded, and releases the GPU until the next range begins. */
void session_suspend(struct session *session);

/* Flushes, ends profiling in this context, and frees the session, which must not be used again. */
void session_close(struct session *session, struct counts *counts);
/* Reports on stderr if passes had no turn; after the sessions. */
void session_report_turns(const struct profiling *profiling);
/* Seconds since the first range that was not handed on; 0: none. */
double session_age(const struct session *session);

/*
 * What libnvperf_host adds to PM sampling, if it is beside libcupti: images without instances,
 * images cut to their samples, the size of a hardware record. CUDA's headers do not declare its
 * calls; if they are missing or fail, sampling still works, with larger images.
 */

/*
 * Opens it beside that libcupti, which must be initialised, or on the loader's path. It is never
 * closed: NVIDIA's code can't be unloaded safely. Without it the other functions do nothing.
 */
void perfworks_open(const char *cupti_path);
/* Bytes of hardware records per sample; 0: unknown. */
size_t perfworks_record_bytes(const struct image_set *images);
/* Bytes of an image for so many samples made from the set's prefix; 0: unknown. */
size_t perfworks_image_size(const struct image_set *images, uint32_t samples, size_t device);
bool perfworks_image_init(const struct image_set *images, uint32_t samples, size_t device,
                          uint8_t *image, size_t size);
/* Cuts an image after its last sample; returns its new size, or the old one if it can't. */
size_t perfworks_trim(uint8_t *image, size_t size);

/*
 * Traces what runs on the GPU and when, from CUPTI's activity records, with PM sampling or alone;
 * and the program's ranges that end meanwhile. One per process.
 */

/*
 * Returns the recording after something ran on that device; NULL if there is none yet, with *never
 * true if there will be none. Called on a separate thread.
 */
typedef struct segments *trace_begin_fn(int device, bool *never);
/* Call it right after the driver's start; false with a message on stderr if CUPTI refuses. */
bool trace_start(const struct profiling *profiling, trace_begin_fn *begin, bool paused);
/* While paused, records neither new launches nor ranges that end. */
void trace_pause(bool pause);

/* Leaves CUPTI's records to the program for good, with what came so far; false: it had none. */
bool trace_leave(void);
/* Ends tracing, hands on the rest, for which it calls trace_begin_fn(), and adds its counts. */
void trace_stop(struct counts *counts);

/*
 * The clock of samples: the host's, unless the program gave CUPTI another one, as torch.profiler
 * does with the processor's time stamps. For a while after that, CUPTI gives no times.
 */
struct sample_clock {
	struct clock_reading {
		uint64_t cupti, host; /* at the same moment; ns on the host */
	} first, last;                /* 0: CUPTI's clock is the host's */
	bool refused;                 /* CUPTI can't read its clock */
	uint64_t last_end;            /* of the previous sample, ns */
	uint64_t *reckoned; /* counts samples whose end is the previous end plus an interval */
};
/* Reads both clocks, often enough to know the speed of CUPTI's clock. */
void sample_clock_read(struct sample_clock *clock);
/* The times of the next sample on the host's clock; 0: unknown. */
struct opk_time sample_clock_convert(struct sample_clock *clock, struct opk_time time,
                                     uint64_t interval_ns);

/* sample_image.c: as many samples as one call may decode; it drops those that do not fit. */
struct sample_image {
	const struct collect_set *set;
	CUpti_PmSampling_Object *object;
	int device;
	bool instances; /* CUPTI makes the images: with all instances */
	uint8_t *bytes;
	uint8_t *blank; /* initialised once by CUPTI: doing so after cuptiFinalize() would crash */
	size_t size;
	uint32_t slots;
};
/* Makes one without instances if the set was built so and libnvperf_host can. */
bool sample_image_make(struct sample_image *image);
bool sample_image_empty(struct sample_image *image);
void sample_image_clear(struct sample_image *image);

/* threshold.c: --dump-when. NULL does nothing. */

struct threshold;
/* NULL if the settings have no condition. False with a message on stderr. */
bool threshold_new(struct threshold **out, const struct profiling *profiling, int device);
/* Evaluates one sample of an image. */
void threshold_look(struct threshold *threshold, const uint8_t *image, size_t size, size_t sample);
/* Asks for a dump, if the samples so far call for one; they are handed on. */
void threshold_act(struct threshold *threshold);
void threshold_free(struct threshold *threshold);

/* PM sampling of one device: a thread decodes the hardware's records and hands them on. */

struct sampler;

/* Begins to sample, or waits for sampler_want(). NULL with a message on stderr if it can't. */
struct sampler *sampler_new(const struct profiling *profiling, int device, bool at_once);
/* Starts or stops sampling; when this returns, it has started or stopped. */
void sampler_want(struct sampler *sampler, bool wanted);
/* Whether more samples may come; sets *why if none will because the GPU or CUPTI failed. */
bool sampler_works(struct sampler *sampler, enum drop *why);

/* Ends sampling, hands on the rest of the buffer, and frees the sampler. */
void sampler_close(struct sampler *sampler, struct counts *counts);

/* SASS metrics of one context, counted by code that CUPTI patches into functions. */

struct sass;

/* The context is current. NULL with a message on stderr. */
struct sass *sass_new(const struct profiling *profiling, CUcontext context, int device);
struct launch;
/* Around a launch to be counted, which has this number; false: it is not counted. */
bool sass_begin(struct sass *sass, const struct launch *launch, uint64_t number);
void sass_end(struct sass *sass, bool launched);
/* Writes what waits for about a second. The context is current. */
void sass_flush(struct sass *sass);
/* Writes what was counted, and stops counting until the next launch to be counted. */
void sass_rest(struct sass *sass);
/* Writes the rest, and frees it. The context is current. */
void sass_close(struct sass *sass, struct counts *counts);

/* PC sampling of one context, in which kernels run as without it. */

struct pc_sampler;

/* Samples from now on. The context is current. NULL with a message on stderr. */
struct pc_sampler *pc_sampler_new(const struct profiling *profiling, CUcontext context, int device);
/* The metrics that it counts; they outlive the sampler. */
const char *const *pc_sampler_metrics(size_t *count, const struct pc_sampler *sampler);
/* Begins to write; the sampler has a thread from then on. */
bool pc_sampler_start(struct pc_sampler *sampler, struct segments *segments);
/* A kernel or graph is about to be launched. The context is current. */
void pc_sampler_launch(struct pc_sampler *sampler);
/* It was. */
void pc_sampler_launched(struct pc_sampler *sampler, const struct launch *launch);
/* Whether its context has launched nothing so far. */
bool pc_sampler_is_idle(struct pc_sampler *sampler);
/* Writes the rest, and frees it. The context is current. */
void pc_sampler_close(struct pc_sampler *sampler, struct counts *counts);
/*
 * After all are closed: writes how often each function was launched on each device, if all its
 * samplers know it. NULL: they are not known.
 */
void pc_launches_write(struct segments *segments);

#endif
