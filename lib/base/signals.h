/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps signals out of a piece of code, or out of the threads that it starts. */
#ifndef OPK_SIGNALS_H
#define OPK_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/*
 * Blocks signals in this thread, except its own faults, which can't wait: the program may have a
 * handler for them. Returns what was blocked before; for
 * `opk_autosignals sigset_t before = opk_block_signals();`: they come at the end of the block.
 */
static inline sigset_t opk_block_signals(void)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	return before;
}

static inline void opk_restore_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}
#define opk_autosignals __attribute__((cleanup(opk_restore_signals)))

#endif
