/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, and threads that do not receive the program's signals. */
#include "collect/shared/shared.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
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

uint64_t clock_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The system's numbers of threads that were started: a few, at most one for each GPU and task. */
enum { MOST_OWN = 256 };
static uint32_t own[MOST_OWN];
static unsigned own_count;

bool thread_is_own(uint32_t number)
{
	for (size_t i = 0; number && i < MOST_OWN; i++)
		if (__atomic_load_n(&own[i], __ATOMIC_RELAXED) == number)
			return true;
	return false;
}

struct start {
	void *(*run)(void *data);
	void *data;
};

static void *run_noted(void *data)
{
	struct start start = *(struct start *)data;
	unsigned slot = __atomic_fetch_add(&own_count, 1, __ATOMIC_RELAXED) % MOST_OWN;

	free(data);
	__atomic_store_n(&own[slot], (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	return start.run(start.data);
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
