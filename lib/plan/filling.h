/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates whether metrics fit some passes: first fit of raw counters, as PerfWorks sees it. */
#ifndef OPK_FILLING_H
#define OPK_FILLING_H

#include "schedule/schedule.h"

/* Passes that metrics are added to, one after another. */
struct opk_filling {
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	bool *software; /* one per counter: patched into kernels, in separate passes */
	size_t passes;
	/* The counters of pass i start at i * counters.names.count, the last added one first. */
	size_t *members;
	size_t *sizes;
	struct opk_answers answers;
	bool *of_software; /* one per pass: has software counters */
	bool *placed;      /* one per counter */
	size_t *added;     /* room for one metric's counters */
};

void opk_filling_clear(struct opk_filling *f);
/*
 * For range metrics by full name, and a number of passes. OPK_ENVIDIA without PerfWorks' planner,
 * OPK_EUSAGE if it does not know a counter. Clear it in any case.
 */
int opk_filling_init(struct opk_filling *out, struct opk_ctx *ctx, const char *chip,
                     const struct opk_strlist *metrics, size_t passes);
/* Empties the passes. */
void opk_filling_restart(struct opk_filling *f);
/* Adds the metric, by number, if each of its counters fits a pass; else changes nothing. */
int opk_filling_add(bool *fits, struct opk_ctx *ctx, struct opk_filling *f, size_t metric);

#endif
