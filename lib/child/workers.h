/* SPDX-License-Identifier: BSD-2-Clause */
/* Many small independent jobs over all cores: processes, as NVIDIA's code may not like threads. */
#ifndef OPK_WORKERS_H
#define OPK_WORKERS_H

#include "base/ctx.h"

/*
 * Job `i`: its result is a number. Runs in a child process, which does many of them; what it
 * changes in memory is lost to the caller and to other children. A code, with its causes on `ctx`,
 * ends all.
 */
typedef int opk_worker_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i);

struct opk_workers {
	opk_worker_job *job;
	void *data;       /* of the jobs */
	size_t processes; /* 0: one a core that this process may use */
	/* In the caller's process, at most ten times a second; short work may never call it. */
	void (*progress)(void *data, size_t done, size_t count);
	void *progress_data;
};

/*
 * Fills results[0] to results[count - 1], or leaves them alone and returns a code. A failed job's
 * code and cause chain become the caller's; a child that crashes or ends by itself is OPK_EFAILED.
 * No child is left in either case.
 */
int opk_workers_run(int32_t *results, struct opk_ctx *ctx, const struct opk_workers *workers,
                    size_t count);

/* Cores that this process may use, at least one. */
size_t opk_core_count(void);

#endif
