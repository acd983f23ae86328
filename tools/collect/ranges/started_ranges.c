/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges of the whole process, which overlap freely: open ones, by their ids. */
#include "collect/ranges/ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct started {
	uint64_t id;
	struct user_range range;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct started *list;
static size_t count, capacity;
static uint64_t last_id;
static const struct started_range_listener *listener;

static void hold(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* No other thread has the lock, nor is in the middle of a change, when the process is forked. */
static void mind_forks(void)
{
	pthread_atfork(hold, unlock, unlock);
}

static void lock(void)
{
	pthread_once(&once, mind_forks);
	hold();
}

void started_ranges_listen(const struct started_range_listener *wanted)
{
	__atomic_store_n(&listener, wanted, __ATOMIC_RELEASE);
}

/* Its id, or 0 where memory is out. */
static uint64_t add(const struct user_range *range)
{
	struct started started = {
		.range = { .domain = strdup(range->domain),
		           .name = strdup(range->name),
		           .begun_ns = clock_host_ns() },
	};

	lock();
	if (started.range.domain && started.range.name
	    && opk_grow(&list, &capacity, count, sizeof *list)) {
		started.id = ++last_id;
		list[count++] = started;
	}
	unlock();
	if (!started.id) {
		free(started.range.domain);
		free(started.range.name);
	}
	return started.id;
}

uint64_t started_range_begin(const char *domain, const char *name)
{
	const struct started_range_listener *to = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	struct user_range range = { .domain = (char *)domain, .name = (char *)name };
	uint64_t id = add(&range);

	if (to && id)
		to->started(id, &range);
	return id;
}

void started_range_end(uint64_t id)
{
	const struct started_range_listener *to = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	struct started ended = { 0 };

	lock();
	for (size_t i = 0; i < count; i++) {
		if (list[i].id != id)
			continue;
		ended = list[i];
		list[i] = list[--count];
		break;
	}
	unlock();
	if (to && ended.id)
		to->ended(id, &ended.range);
	free(ended.range.domain);
	free(ended.range.name);
}

bool started_range_match(const struct nvtx_filter *filter)
{
	bool found = false;

	lock();
	for (size_t i = 0; i < count && !found; i++)
		found = nvtx_filter_match_started(filter, &list[i].range);
	unlock();
	return found;
}
