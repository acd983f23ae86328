/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of collection, its lock, and the program's open range. */
#include "collect/collector.h"

struct collector collector = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	                       .cupti = PTHREAD_MUTEX_INITIALIZER };

static bool goes_on(void)
{
	if (!collector.ended)
		return true;
	pthread_mutex_unlock(&collector.lock);
	return false;
}

bool collector_lock(void)
{
	return collector.pid == getpid() && !pthread_mutex_lock(&collector.lock) && goes_on();
}

bool state_lock_within(pthread_mutex_t *lock)
{
	enum { LONG_S = 5 };
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LONG_S;
	return !pthread_mutex_timedlock(lock, &until);
}

bool collector_lock_within(void)
{
	return collector.pid == getpid() && state_lock_within(&collector.lock) && goes_on();
}

void collector_unlock(void)
{
	pthread_mutex_unlock(&collector.lock);
}

void collector_leave(const bool *locked)
{
	if (*locked)
		collector_unlock();
}

bool collector_has_scope(void)
{
	return collector.settings.capture_range != CAPTURE_NONE;
}

void collector_end_range(void)
{
	session_end(collector.range.session);
	collector.range.session = NULL;
}

void collector_cut_range(enum drop reason)
{
	if (!collector.range.session)
		return;
	collector_end_range();
	collector.counts.drops[reason]++;
}
