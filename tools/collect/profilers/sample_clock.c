/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts times of samples to the host's clock, if the program gave CUPTI another clock. */
#include "collect/profilers/profilers.h"

enum { SECOND_NS = 1000000000 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void sample_clock_read(struct sample_clock *clock)
{
	struct clock_reading now = { .host = clock_host_ns() };

	if (clock->refused)
		return;
	clock->refused = !target_check("cuptiGetTimestamp", target.cuptiGetTimestamp(&now.cupti));
	if (clock->refused || distance(now.cupti, now.host) < SECOND_NS)
		return;
	if (!clock->first.host || now.cupti < clock->last.cupti)
		clock->first = now;
	clock->last = now;
}

/* A time within an hour of now is already on the host's clock. 0: unknown. */
static uint64_t on_host(const struct sample_clock *clock, uint64_t time)
{
	const struct clock_reading *first = &clock->first, *last = &clock->last;
	double rate;

	if (distance(time, clock_host_ns()) < (uint64_t)3600 * SECOND_NS)
		return time;
	if (!time || last->cupti <= first->cupti)
		return 0;
	rate = (double)(last->host - first->host) / (double)(last->cupti - first->cupti);
	return first->host + (uint64_t)(int64_t)(((double)time - (double)first->cupti) * rate);
}

struct opk_time sample_clock_convert(struct sample_clock *clock, struct opk_time time,
                                     uint64_t interval_ns)
{
	uint64_t start = on_host(clock, time.start), end = on_host(clock, time.end);
	uint64_t last = clock->last_end;

	if (!end && last) {
		end = last + interval_ns;
		++*clock->reckoned;
	}
	if (!start && end)
		start = last ? last : end - interval_ns;
	/*
	 * Samples follow each other without a gap, but the rate between the clocks is measured
	 * better with time, so converted times can be apart or overlap a little.
	 */
	if (clock->first.host && distance(start, last) < interval_ns / 2)
		start = last;
	clock->last_end = end;
	return (struct opk_time){ start, end, time.device };
}
