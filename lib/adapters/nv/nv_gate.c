/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread at a time calls NVIDIA's code: nothing says that its host objects are thread-safe.
 * No thread is in it during a fork: the child would wait forever for a lock of that thread.
 */
#include <pthread.h>

#include "adapters/nv/nv_table.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void watch_forks(void)
{
	pthread_atfork(nv_enter, nv_leave, nv_leave);
}

void nv_enter(void)
{
	pthread_mutex_lock(&gate);
}

void nv_leave(void)
{
	pthread_mutex_unlock(&gate);
}

void nv_enter_first(void)
{
	pthread_once(&once, watch_forks);
	nv_enter();
}
