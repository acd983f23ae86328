/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether metrics will fit some passes: their raw counters, first fit, as PerfWorks sees it. */
#ifndef OPK_FILLING_H
#define OPK_FILLING_H

#include "schedule/schedule.h"

/* Passes that metrics are added to, one after another. */
struct opk_filling {
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	bool *software; /* one a counter: patched into kernels, in passes of its own */
	size_t passes;
	/* The counters of pass i, from i * counters.names.count on, the last one first. */
	size_t *members;
	size_t *sizes;
	struct opk_answers answers;
	bool *of_software; /* one a pass that has any */
	bool *placed;      /* one a counter */
	size_t *added;     /* room for a metric's */
};

void opk_filling_clear(struct opk_filling *f);
/*
 * For range metrics by full name, and so many passes. OPK_ENVIDIA without PerfWorks' planner,
 * OPK_EUSAGE where it does not know a counter. To be cleared in any case.
 */
int opk_filling_init(struct opk_filling *out, struct opk_ctx *ctx, const char *chip,
                     const struct opk_strlist *metrics, size_t passes);
/* Empties the passes. */
void opk_filling_restart(struct opk_filling *f);
/* Adds the metric, by number, where each of its counters finds a pass; else nothing changes. */
int opk_filling_add(bool *fits, struct opk_ctx *ctx, struct opk_filling *f, size_t metric);

#endif
