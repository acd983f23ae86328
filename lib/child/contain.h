/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs work in a child process, so that its crash or hang is an error here. */
#ifndef OPK_CONTAIN_H
#define OPK_CONTAIN_H

#include <stdio.h>
#include <sys/types.h>

#include "base/ctx.h"

/* What the work sees of its process. */
struct opk_child {
	FILE *spool;  /* where results go; complete once the work returned OPK_OK */
	int reports;  /* progress and the outcome go to the parent here */
	int64_t told; /* when progress was, ms */
	/* Of several works in a row: what those before did, and all of them have to do; 0: there is one. */
	uint64_t before, whole;
};

/* Tells the parent that the work goes on, now and then; long silence ends the child. */
void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total);

/*
 * A copy whose end lies before a page that can't be read: code that reads on where the bytes are
 * cut off crashes, instead of taking for data what happens to follow. 8-byte aligned; goes with
 * the child. NULL when out of memory.
 */
void *opk_child_guarded_copy(const void *data, size_t size);

/*
 * Forks a child that does `work` and ends, without exit handlers: they, and what stdio has
 * buffered, are the parent's. It ends with its parent, makes no core file, maps at most `memory`
 * bytes beyond what NVIDIA's libraries take, and writes nothing on the terminal. Returns -1 with
 * errno set when there is no child; otherwise the caller has to wait for it.
 */
pid_t opk_child_start(void (*work)(void *data), void *data, uint64_t memory);

/* "SIGSEGV", or NULL for a signal that no crash raises. */
const char *opk_crash_name(int signal_number);

typedef int opk_contained_fn(struct opk_ctx *ctx, void *data, struct opk_child *child);

struct opk_contain_options {
	unsigned timeout_s; /* without progress; 0: 30 */
	uint64_t memory;    /* bytes beyond what NVIDIA's libraries take */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *progress_data;
};

/*
 * Runs `work` in a child and waits. Its code and cause chain become those of the caller; a crash
 * or a timeout is OPK_EINPUT. On success *spool, unless NULL, is the result from its first byte,
 * to be closed by the caller. The child must not be needed for anything but the result: what it
 * changes in memory is lost.
 */
int opk_contain(FILE **spool, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options);

/*
 * The same in `count` children side by side, each with its own data and spool. Of several that fail
 * the first one's code and cause chain become the caller's, whatever came first in time; those
 * after it are stopped.
 */
int opk_contain_all(FILE **spools, struct opk_ctx *ctx, opk_contained_fn *work, void *const *data,
                    size_t count, const struct opk_contain_options *options);

/* What fails on an image alone is the image's fault. */
static inline int opk_blame_image(int code)
{
	return code == OPK_EFAILED ? OPK_EINPUT : code;
}

#endif
