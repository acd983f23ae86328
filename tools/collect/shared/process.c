/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, and threads that do not receive the program's signals. */
#include "collect/shared/shared.h"

#include <signal.h>

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

bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	/* A fault of this thread meets the program's handler, if it has one. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

bool thread_detach(void *(*run)(void *data), void *data)
{
	pthread_t thread;

	return thread_start(&thread, run, data) && !pthread_detach(thread);
}
