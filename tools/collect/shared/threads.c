/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that leave the program's signals alone. */
#include "collect/shared/threads.h"

#include <signal.h>

bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
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
