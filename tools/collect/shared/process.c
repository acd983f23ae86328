/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, threads that do not receive the program's signals, and forks of the program. */
#include "collect/shared/shared.h"

#include <sys/syscall.h>

#include "base/signals.h"

struct timespec clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now;
}

double clock_seconds_since(const struct timespec *then)
{
	struct timespec now = clock_now();

	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) * 1e-9;
}

bool clock_is_due(struct timespec *last, double every_s)
{
	if (last->tv_sec && clock_seconds_since(last) < every_s)
		return false;
	*last = clock_now();
	return true;
}

uint64_t clock_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Threads that were started: a few run, at most one for each GPU and task. */
enum { MOST_OWN = 256 };
static struct own {
	uint32_t number;   /* the system's: another thread may get it later; 0: none */
	uint64_t ended_ns; /* clock_host_ns(); 0: it runs */
} own[MOST_OWN];
static unsigned own_count;

static bool has_ended(const struct own *thread)
{
	return !__atomic_load_n(&thread->number, __ATOMIC_RELAXED)
	       || __atomic_load_n(&thread->ended_ns, __ATOMIC_RELAXED);
}

/* The next place whose thread has ended; any, if all run. */
static struct own *new_own(void)
{
	struct own *place = NULL;

	for (size_t tries = 0; tries < MOST_OWN && !(place && has_ended(place)); tries++)
		place = &own[__atomic_fetch_add(&own_count, 1, __ATOMIC_RELAXED) % MOST_OWN];
	return place;
}

bool thread_is_own(uint32_t number, uint64_t at_ns)
{
	for (size_t i = 0; number && i < MOST_OWN; i++) {
		bool same = __atomic_load_n(&own[i].number, __ATOMIC_ACQUIRE) == number;
		uint64_t ended = __atomic_load_n(&own[i].ended_ns, __ATOMIC_RELAXED);

		if (same && (!ended || at_ns <= ended))
			return true;
	}
	return false;
}

struct start {
	void *(*run)(void *data);
	void *data;
};

static void *run_noted(void *data)
{
	struct start start = *(struct start *)data;
	struct own *place = new_own();
	void *result;

	free(data);
	__atomic_store_n(&place->ended_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&place->number, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	result = start.run(start.data);
	__atomic_store_n(&place->ended_ns, clock_host_ns(), __ATOMIC_RELAXED);
	return result;
}

bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data)
{
	opk_autofree struct start *start = malloc(sizeof *start);
	opk_autosignals sigset_t before = opk_block_signals();

	if (!start)
		return false;
	*start = (struct start){ run, data };
	return !pthread_create(thread, NULL, run_noted, start) && opk_take(start);
}

bool thread_detach(void *(*run)(void *data), void *data)
{
	pthread_t thread;

	return thread_start(&thread, run, data) && !pthread_detach(thread);
}

/* ---- forks ---------------------------------------------------------------------------------- */

/*
 * Threads that load have it for reading: they don't wait for one another, as one that is in a
 * constructor may have what the other waits for.
 */
static pthread_rwlock_t loading = PTHREAD_RWLOCK_INITIALIZER;
static __thread unsigned loads; /* of this thread */
static __thread bool waited;    /* this thread forks, and has the lock */

/*
 * A library that is being loaded may itself want what fork() holds (atfork handlers, glibc 2.28 to
 * 2.35), or fork: then this does not wait forever, or at all.
 */
static void before_fork(void)
{
	enum { LONGEST_S = 3 };
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LONGEST_S;
	waited = !loads && !pthread_rwlock_timedwrlock(&loading, &until);
}

static void after_fork(void)
{
	if (waited)
		pthread_rwlock_unlock(&loading);
}

/* The thread that may have the lock does not exist here. */
static void in_child(void)
{
	loading = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	loads = 0;
}

static void mind_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

bool loading_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, mind_forks);
	if (pthread_rwlock_rdlock(&loading))
		return false;
	loads++;
	return true;
}

void loading_end(const bool *begun)
{
	if (!*begun || !loads)
		return;
	loads--;
	pthread_rwlock_unlock(&loading);
}
