/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of its own for code that meets foreign bytes, with limits on what it can do. */
#ifndef OPK_CONFINE_H
#define OPK_CONFINE_H

#include <stdint.h>
#include <sys/types.h>

struct opk_limits {
	uint64_t memory;  /* bytes that it may map beyond what NVIDIA's libraries take */
	uint64_t data;    /* bytes of data that it may add to what is there; 0: any */
	unsigned seconds; /* of a core's time; 0: any. After them comes SIGXCPU */
};

/*
 * Forks a child that does `work` and ends without exit handlers: they, and what stdio has buffered,
 * are the parent's. It ends with its parent, makes no core file, keeps to its limits, and writes
 * nothing on the terminal. Code that only reads bytes needs no more, so this is refused: opening
 * files for writing, making, changing and removing them, running programs, signals to others, TCP
 * connections, new privileges. What is open stays open. Kernels before 5.13, which lack Landlock,
 * refuse less. Returns -1 with errno set if there is no child; otherwise the caller has to wait for
 * it.
 */
pid_t opk_child_start(void (*work)(void *data), void *data, const struct opk_limits *limits);

#endif
