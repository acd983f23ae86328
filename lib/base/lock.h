/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock that is held until the end of a block. */
#ifndef OPK_LOCK_H
#define OPK_LOCK_H

#include <pthread.h>

/*
 * For `opk_autounlock pthread_mutex_t *held = opk_lock(&mutex);`. NULL: this thread has it already,
 * where the mutex checks for errors.
 */
static inline pthread_mutex_t *opk_lock(pthread_mutex_t *mutex)
{
	return pthread_mutex_lock(mutex) ? NULL : mutex;
}

static inline void opk_unlock(pthread_mutex_t **held)
{
	if (*held)
		pthread_mutex_unlock(*held);
	*held = NULL;
}
#define opk_autounlock __attribute__((cleanup(opk_unlock)))

#endif
