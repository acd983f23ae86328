/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, and threads of ours in somebody else's program. */
#ifndef OPK_PROCESS_H
#define OPK_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct timespec clock_now(void);
/* Seconds since clock_now() gave that moment. */
double clock_seconds_since(const struct timespec *then);
/* Nanoseconds since 1970, as start_ns and end_ns have them. */
uint64_t clock_host_ns(void);

/* The program's signals are the program's: none is delivered to this thread. */
bool thread_start(pthread_t *thread, void *(*run)(void *data), void *data);
/* Starts a thread that nothing waits for. */
bool thread_detach(void *(*run)(void *data), void *data);

#endif
