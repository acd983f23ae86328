/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of collection, its lock, and the program's open range. */
#include "collect/collector.h"

#include <sys/syscall.h>

enum { LONG_S = 10, END_MS = 5000 };

struct collector collector = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	                       .launched = PTHREAD_COND_INITIALIZER,
	                       .cupti = PTHREAD_MUTEX_INITIALIZER };

static struct timespec in_ms(unsigned ms)
{
	uint64_t then = clock_host_ns() + (uint64_t)ms * 1000000;

	return (struct timespec){ (time_t)(then / 1000000000), (long)(then % 1000000000) };
}

/* NULL: until no launch is in progress. A signal handler's own launch does not end meanwhile. */
static bool goes_on(const struct timespec *until)
{
	int status = 0;

	while (!status && collector.launching && !pthread_equal(collector.launcher, pthread_self()))
		status = until ? pthread_cond_timedwait(&collector.launched, &collector.lock, until)
		               : pthread_cond_wait(&collector.launched, &collector.lock);
	if (!collector.launching && !collector.ended)
		return true;
	pthread_mutex_unlock(&collector.lock);
	return false;
}

/*
 * A thread of this library that prepares something may wait for a library that this thread loads,
 * whose constructor launches.
 */
static bool is_too_late(void)
{
	uint64_t until = __atomic_load_n(&collector.prepares_until, __ATOMIC_ACQUIRE);

	if (!until || clock_host_ns() < until
	    || thread_is_own((uint32_t)syscall(SYS_gettid), clock_host_ns()))
		return false;
	collector_note(DROP_LOCKED);
	return true;
}

bool collector_lock(void)
{
	int status = collector.pid == getpid() ? ETIMEDOUT : EPERM;

	while (status == ETIMEDOUT && !is_too_late()) {
		struct timespec until = in_ms(100);

		status = pthread_mutex_timedlock(&collector.lock, &until);
	}
	return !status && goes_on(NULL);
}

bool collector_lock_to_prepare(void)
{
	uint64_t most_ns = (LONG_S + collector.settings.wait_s) * 1000000000;

	if (!collector_lock())
		return false;
	__atomic_store_n(&collector.prepares_until, clock_host_ns() + most_ns, __ATOMIC_RELEASE);
	return true;
}

bool collector_lock_over(void)
{
	bool ended;

	if (collector.pid != getpid() || pthread_mutex_lock(&collector.lock))
		return false;
	ended = collector.ended;
	if (ended)
		pthread_mutex_unlock(&collector.lock);
	return !ended;
}

bool collector_lock_for(unsigned ms)
{
	struct timespec until = in_ms(ms);

	return collector.pid == getpid() && !pthread_mutex_timedlock(&collector.lock, &until)
	       && goes_on(&until);
}

bool collector_lock_at_end(void)
{
	static bool waited; /* in vain */
	bool locked = collector_lock_for(__atomic_load_n(&waited, __ATOMIC_RELAXED) ? 0 : END_MS);

	if (!locked)
		__atomic_store_n(&waited, true, __ATOMIC_RELAXED);
	return locked;
}

bool state_lock_within(pthread_mutex_t *lock)
{
	struct timespec until = in_ms(END_MS);

	return !pthread_mutex_timedlock(lock, &until);
}

void collector_unlock(void)
{
	__atomic_store_n(&collector.prepares_until, 0, __ATOMIC_RELEASE);
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
