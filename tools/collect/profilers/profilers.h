/* SPDX-License-Identifier: BSD-2-Clause */
/* Profilers of ranges, sessions with them, and PM sampling. */
#ifndef OPK_COLLECT_PROFILERS_H
#define OPK_COLLECT_PROFILERS_H

#include "collect/recording/recording.h"
#include "collect/shared/shared.h"
#include "collect/shared/target.h"

/* Devices after these are not looked at. */
enum { MAX_DEVICES = 64 };

/* One interface to NVIDIA's two: cuptiRangeProfiler* and the legacy cuptiProfiler*. */

#define ANY_PASS SIZE_MAX

/* One context under a profiler. */
struct profiler {
	const struct profiler_ops *ops;
	const struct image_set *images;
	CUcontext context;
	uint8_t *image; /* receives the ranges */
	size_t image_size;
	uint32_t slots;
	size_t pass; /* from 0: what configure() collects, where replay does not take them all */
	bool push;   /* ranges are pushed and popped; else each launch is one */
	bool kernel_replay; /* the GPU repeats launches for each pass; else there is one */
	size_t next_pass;   /* the next configure() collects it, not `pass`; or ANY_PASS */
	CUpti_RangeProfiler_Object *object; /* range profiler */
	uint8_t *scratch;                   /* legacy */
	bool in_session;                    /* legacy */
};

/*
 * In the order of their calls; each reports its failure on stderr. The context is current, or
 * `context` names it. configure() to decode() repeat, start() and stop() may repeat in between.
 */
struct profiler_ops {
	const char *name; /* META's `backend` */
	bool (*enable)(struct profiler *profiler);
	bool (*configure)(struct profiler *profiler);
	bool (*start)(struct profiler *profiler);
	bool (*push)(struct profiler *profiler, const char *name);
	bool (*pop)(struct profiler *profiler);
	bool (*stop)(struct profiler *profiler);
	bool (*decode)(struct profiler *profiler); /* the image holds its ranges now */
	void (*disable)(struct profiler *profiler);
};

extern const struct profiler_ops range_profiler, legacy_profiler;

/* What all sessions and samplers of a process share. */
struct profiling {
	const struct settings *settings;
	const struct collect_set *set;
	const struct profiler_ops *ops; /* NULL where it is sampled or traced */
	struct segments *segments;
	int rank;
};

/* The one that works in this libcupti, the range profiler first; NULL with a message otherwise. */
const struct profiler_ops *profiler_choose(bool legacy);
/*
 * Whether the profiler makes a range of each memset, too, while it runs. Kernel replay of several
 * passes does not.
 */
bool profiler_counts_memsets(void);
/* Readies CUPTI's profiler, when the driver is up; 60 to 100 ms. False with a message on stderr. */
bool profiler_initialize(void);
/*
 * The counter-availability image of a context, or with NULL that of the device for PM sampling;
 * free(). Must come before the first session: while one is active the call for the image fails, and
 * after one it crashes. Without access to the counters it fails where all else seems to work, so it
 * is the permission check, too. NULL with a message on stderr.
 */
uint8_t *profiler_availability(CUcontext context, int device, size_t *size);

/* How many ranges an image of about that size holds, from 1 to `most`. */
uint32_t image_ranges(const struct profiler *profiler, size_t bytes, uint32_t most);
/* An empty counter data image with the profiler's slots: free(). NULL with a message on stderr. */
uint8_t *image_new(const struct profiler *profiler, size_t *size);
/* How many ranges an image holds; `expected` where this libcupti can't say. */
size_t profiler_count(const struct profiler *profiler, size_t expected);

/* Clocks of a device, now; 0 where NVML is missing or does not know. */
struct clocks {
	uint32_t sm_mhz, memory_mhz;
};

struct clocks clocks_read(int device);
/* Says on stderr which clocks drifted, of all that were read. */
void clocks_report(void);

/* Memory as large as a context's L2 cache, and a bit to copy it to. Zeroed at first. */
struct cache {
	CUdeviceptr buffer; /* the driver frees it with the context */
	size_t bytes;
	bool failed;
};

/*
 * Fills L2 with lines that the program does not use, nearly all of which need not be written back;
 * done when it returns. False where that can't be, the first time with a message on stderr.
 */
bool cache_flush(struct cache *cache, CUstream stream);

/* One context under a profiler: images that fill with ranges, are decoded and handed on. */

struct session;

/* Profiles the current context. NULL with a message on stderr where it can't be profiled. */
struct session *session_new(const struct profiling *profiling, CUcontext context);
/*
 * Begins a range; false where it is not recorded. `row` is what is known of it: with true its name
 * and nvtx are handed over (NULL or malloc'ed); other strings must outlive the session. The cache
 * is flushed in `stream`, where that is wanted.
 */
bool session_begin(struct session *session, const struct opk_range *row, CUstream stream);
void session_end(struct session *session);
/* Ends a range whose launch failed: the profiler makes no range of it. */
void session_cancel(struct session *session);
/* Chooses the next ranges' pass; ends the present image where that is another one's. */
void session_select(struct session *session, size_t pass);
/* Decodes what the current image holds and hands it on; nothing while a range is open. */
void session_flush(struct session *session);
/* Hands on what there is and leaves the GPU alone until the next range begins. */
void session_suspend(struct session *session);

/* The last flush, and the end of profiling in this context. Frees: nothing may name it any more. */
void session_close(struct session *session, struct counts *counts);
/* Seconds since the first range that was not yet handed on; 0 where there is none. */
double session_age(const struct session *session);

/*
 * What libnvperf_host adds to PM sampling, where it is beside libcupti: images without instances,
 * images cut to their samples, the size of a hardware record. Its calls are not in CUDA's headers;
 * where they are missing or refuse, sampling works all the same, with larger images.
 */

/*
 * Opens it beside that libcupti, which must be initialised, or on the loader's path. It stays:
 * NVIDIA's code does not expect to be unloaded. Without it the rest does nothing.
 */
void perfworks_open(const char *cupti_path);
/* Bytes of hardware records a sample; 0 where unknown. */
size_t perfworks_record_bytes(const struct image_set *images);
/* Bytes of an image for so many samples made from the set's prefix; 0 where that can't be had. */
size_t perfworks_image_size(const struct image_set *images, uint32_t samples, size_t device);
bool perfworks_image_init(const struct image_set *images, uint32_t samples, size_t device,
                          uint8_t *image, size_t size);
/* Cuts an image after its last sample; its new size, the old one where it can't be cut. */
size_t perfworks_trim(uint8_t *image, size_t size);

/*
 * What runs on the GPU and when, as CUPTI's activity records, beside PM sampling or alone; and the
 * program's ranges that end meanwhile. One a process.
 */

/*
 * Gives the recording, once something ran on that device; NULL where there is none yet, and `never`
 * is true where there will be none. Called on a thread of its own.
 */
typedef struct segments *trace_begin_fn(int device, bool *never);
/* Right after the driver's start; false with a message on stderr where CUPTI refuses. */
bool trace_start(const struct profiling *profiling, trace_begin_fn *begin, bool paused);
/* Records nothing that is launched, and no range that ends, until it goes on. */
void trace_pause(bool pause);

/* Ends it, hands on what is left, for which it calls trace_begin_fn(), and adds its counts. */
void trace_stop(struct counts *counts);

/*
 * The clock of samples: the host's, unless the program has given CUPTI another one, as
 * torch.profiler does with the processor's time stamps. CUPTI then tells no times for a while.
 */
struct sample_clock {
	struct clock_reading {
		uint64_t cupti, host; /* at the same moment; ns on the host */
	} first, last;                /* 0: CUPTI's clock is the host's */
	bool refused;                 /* CUPTI does not tell its time */
	uint64_t last_end;            /* of the sample before, ns */
	uint64_t *reckoned;           /* counts samples whose end is that and an interval */
};
/* Looks at both clocks, often enough to know how fast CUPTI's is. */
void sample_clock_read(struct sample_clock *clock);
/* The times of the next sample on the host's clock; 0 where they can't be told. */
struct opk_time sample_clock_convert(struct sample_clock *clock, struct opk_time time,
                                     uint64_t interval_ns);

/* PM sampling of one device: a thread decodes what the hardware wrote and hands it on. */

struct sampler;

/* Begins to sample, or waits for sampler_want(). NULL with a message on stderr: it can't. */
struct sampler *sampler_new(const struct profiling *profiling, int device, bool at_once);
/* Whether it samples from now on: it has stopped, or started, when this returns. */
void sampler_want(struct sampler *sampler, bool wanted);

/* Ends sampling, hands on what the buffer still holds, and frees. */
void sampler_close(struct sampler *sampler, struct counts *counts);

#endif
