/* SPDX-License-Identifier: BSD-2-Clause */
/* What a watch asks for, and its GPUs that give no more samples: each is tried again. */
#include "collect/collector.h"

enum { RETRY_S = 2, MOST_TRIES = 3, GOOD_S = 10 };

/* GPUs whose sampling has ended, and since when. */
static struct lost {
	enum drop why; /* DROP_PROFILER: it is sampled, or was never */
	struct timespec since, tried;
	unsigned tries; /* since it was sampled for a while */
} lost[MAX_DEVICES];

EXPORT void offpeak_cut(void)
{
	collector_auto bool locked = collector_lock();

	if (locked && collector.profiling.segments)
		segments_cut(collector.profiling.segments);
}

EXPORT bool offpeak_full(void)
{
	collector_auto bool locked = collector_lock();

	return locked && collector.profiling.segments
	       && segments_full(collector.profiling.segments);
}

EXPORT unsigned offpeak_file(void)
{
	collector_auto bool locked = collector_lock();

	return locked && collector.profiling.segments ? segments_file(collector.profiling.segments)
	                                              : 0;
}

/* Counts the samples that are missing since then, also in the file that is being written. */
static void count_missing(int device)
{
	struct lost *one = &lost[device];
	struct segment segment = { .count = 0 };
	uint64_t missing = (uint64_t)(clock_seconds_since(&one->since) * 1e9
	                              / (double)collector.settings.interval_ns);

	segment.drops[one->why] = missing;
	collector.counts.drops[one->why] += missing;
	segments_add(collector.profiling.segments, &segment);
}

void collector_count_lost(void)
{
	for (int i = 0; i < MAX_DEVICES; i++) {
		if (!lost[i].why)
			continue;
		count_missing(i);
		say(0, "GPU %d gives no more samples: its recording ends here", i);
		lost[i].why = DROP_PROFILER;
	}
}

/* What CUPTI has is given back, so that it can be asked for again. */
static void lose(int device, enum drop why)
{
	struct lost *one = &lost[device];
	bool again = one->tries && clock_seconds_since(&one->tried) < GOOD_S;

	sampler_close(collector.samplers[device], &collector.counts);
	collector.samplers[device] = NULL;
	*one = (struct lost){ .why = why, .tries = again ? one->tries : 0 };
	one->since = one->tried = clock_now();
	say(0, "GPU %d gives no samples: sampling it is tried again every %d s", device, RETRY_S);
}

/* What failed was said before. */
static void try_again(int device)
{
	struct lost *one = &lost[device];

	if (clock_seconds_since(&one->tried) < RETRY_S)
		return;
	one->tried = clock_now();
	one->tries++;
	target_be_quiet(true);
	collector.samplers[device] = sampler_new(&collector.profiling, device, !collector.outside);
	target_be_quiet(false);
	if (!collector.samplers[device])
		return;
	count_missing(device);
	say(0, "GPU %d is sampled again", device);
	one->why = DROP_PROFILER;
}

/* It is, or will be. */
static bool is_sampled(int device)
{
	struct sampler *sampler = collector.samplers[device];
	enum drop why = DROP_PROFILER;

	if (sampler && sampler_works(sampler, &why))
		return true;
	if (lost[device].why)
		try_again(device);
	else if (why)
		lose(device, why);
	else if (sampler)
		return false;
	return collector.samplers[device]
	       || (!collector.sampled[device] && collector_wants(device));
}

/* Alone, a GPU that does not come back ends the watch after a few tries. */
EXPORT size_t offpeak_watched(size_t *failed)
{
	size_t watched = 0, hopeful = 0;
	int count = 0;
	bool locked;

	collector_watch();
	locked = collector_lock();
	*failed = 0;
	target.cuDeviceGetCount(&count);
	for (int i = 0; locked && i < count && i < MAX_DEVICES; i++) {
		watched += is_sampled(i);
		*failed += lost[i].why > 0;
		hopeful += lost[i].why && lost[i].tries < MOST_TRIES;
	}
	collector_leave(&locked);
	return watched + hopeful;
}
