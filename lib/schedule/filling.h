/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates which metrics go together into a number of passes: by raw counters, first fit. */
#ifndef OPK_FILLING_H
#define OPK_FILLING_H

#include "schedule/counters.h"

struct opk_nv_scheduler;

/* Passes that metrics are added to, one after another. */
struct opk_filling {
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	bool *software; /* one a counter: code patched into kernels, in passes without the hardware's */
	size_t passes;
	const char **names; /* of pass i: from i * counters.names.count on */
	size_t *sizes;
	bool *of_software; /* one a pass that has any */
	bool *placed;      /* one a counter */
	size_t *added;     /* room for a metric's */
};

/*
 * For range metrics by full name, and so many passes. OPK_ENVIDIA without PerfWorks' planner,
 * OPK_EUSAGE where it does not know a counter.
 */
int opk_filling_init(struct opk_filling *out, struct opk_ctx *ctx, const char *chip,
                     const struct opk_strlist *metrics, size_t passes);
void opk_filling_clear(struct opk_filling *filling);
/* Empties the passes. */
void opk_filling_restart(struct opk_filling *filling);
/* Adds the metric, by number, where each of its counters finds a pass; else nothing changes. */
int opk_filling_add(bool *fits, struct opk_ctx *ctx, struct opk_filling *filling, size_t metric);

#endif
