/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of ours in somebody else's program. */
#ifndef OPK_THREADS_H
#define OPK_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* The program's signals are the program's: none is delivered to this thread. */
bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data);
/* Starts a thread that nothing waits for. */
bool thread_detach(void *(*run)(void *data), void *data);

#endif
