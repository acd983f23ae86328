/* SPDX-License-Identifier: BSD-2-Clause */
/* One interface to NVIDIA's two: cuptiRangeProfiler* and the legacy cuptiProfiler*. */
#ifndef OPK_COLLECT_PROFILER_H
#define OPK_COLLECT_PROFILER_H

#include "collect/recording/segments.h"
#include "collect/shared/set_file.h"
#include "collect/shared/settings.h"
#include "collect/shared/target.h"

struct profiler_config {
	const void *config;
	size_t config_size;
	size_t pass;    /* of the config image, where replay does not take them all */
	uint8_t *image; /* receives the ranges */
	size_t image_size;
	uint32_t slots;
	bool push;          /* ranges are pushed and popped; else each launch is one */
	bool kernel_replay; /* the GPU repeats launches for each pass; else there is one */
};

#define ANY_PASS SIZE_MAX

/* One context under a profiler. */
struct profiler {
	const struct profiler_ops *ops;
	const struct target *target;
	CUcontext context;
	struct profiler_config config;
	size_t next_pass; /* the next configure() collects it, not config.pass; or ANY_PASS */
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
	/* Images take the passes of one config image in turn, as next_pass below says. */
	bool takes_turns;
	bool (*enable)(struct profiler *profiler);
	bool (*configure)(struct profiler *profiler); /* with profiler->config */
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
	const struct target *target;
	const struct settings *settings;
	const struct collect_set *set;
	const struct profiler_ops *ops; /* NULL where it is sampled */
	struct segments *segments;
};

/* The one that this libcupti has, the range profiler first; NULL with a message otherwise. */
const struct profiler_ops *profiler_choose(const struct target *target, bool legacy);
/* Readies CUPTI's profiler, when the driver is up; 60 to 100 ms. False with a message on stderr. */
bool profiler_initialize(const struct target *target);
/*
 * The counter-availability image of a context, or with NULL that of the device for PM sampling;
 * free(). Must come before the first session: while one is active the call for the image fails, and
 * after one it crashes. Without access to the counters it fails where all else seems to work, so it
 * is the permission check, too. NULL with a message on stderr.
 */
uint8_t *profiler_availability(const struct target *target, CUcontext context, int device,
                               size_t *size);

/* How many ranges an image of about that size holds, from 1 to `most`. */
uint32_t image_ranges(const struct target *target, const struct image_set *set, size_t bytes,
                      uint32_t most);
/* An empty counter data image: free(). NULL with a message on stderr. */
uint8_t *image_new(const struct target *target, const struct image_set *set, uint32_t ranges,
                   size_t *size);
/* How many ranges an image holds; `expected` where this libcupti can't say. */
size_t profiler_count(const struct profiler *profiler, size_t expected);

#endif
