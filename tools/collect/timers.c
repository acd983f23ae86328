/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/timers.h"

#include <stdlib.h>

struct timer {
	CUevent begin, end;
	bool complete; /* both are recorded */
};

struct timers {
	const struct target *target;
	uint32_t count;
	struct timer timers[];
};

struct timers *timers_new(const struct target *target, uint32_t count)
{
	struct timers *timers;

	if (!target->cuEventElapsedTime)
		return NULL;
	timers = calloc(1, sizeof *timers + count * sizeof *timers->timers);
	if (!timers)
		return NULL;
	timers->target = target;
	for (; timers->count < count; timers->count++) {
		struct timer *timer = &timers->timers[timers->count];

		if (target->cuEventCreate(&timer->begin, CU_EVENT_DEFAULT))
			break;
		if (target->cuEventCreate(&timer->end, CU_EVENT_DEFAULT)) {
			target->cuEventDestroy(timer->begin);
			break;
		}
	}
	return timers;
}

void timers_free(struct timers *timers)
{
	if (!timers)
		return;
	for (uint32_t i = 0; i < timers->count; i++) {
		timers->target->cuEventDestroy(timers->timers[i].begin);
		timers->target->cuEventDestroy(timers->timers[i].end);
	}
	free(timers);
}

void timers_start(struct timers *timers, uint32_t index, CUstream stream)
{
	if (!timers || index >= timers->count)
		return;
	timers->timers[index].complete = false;
	if (timers->target->cuEventRecord(timers->timers[index].begin, stream))
		timers->count = index;
}

void timers_stop(struct timers *timers, uint32_t index, CUstream stream)
{
	if (!timers || index >= timers->count)
		return;
	timers->timers[index].complete =
		!timers->target->cuEventRecord(timers->timers[index].end, stream);
}

uint64_t timers_read(struct timers *timers, uint32_t index)
{
	float milliseconds = 0;
	struct timer *timer;

	if (!timers || index >= timers->count)
		return 0;
	timer = &timers->timers[index];
	if (!timer->complete || timers->target->cuEventSynchronize(timer->end)
	    || timers->target->cuEventElapsedTime(&milliseconds, timer->begin, timer->end))
		return 0;
	return (uint64_t)((double)milliseconds * 1e6 + 0.5);
}
