/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan of fewer passes than CUPTI's. CUPTI takes the metrics in order and each raw counter into
 * the first pass with room; here counters that clash with many others go first, and the parts of
 * the GPU that share no counter domain are packed apart. What comes of it is a config image as
 * CUPTI would make it.
 */
#ifndef OPK_PLAN_SEARCH_H
#define OPK_PLAN_SEARCH_H

#include "plan/plan.h"

/*
 * Replaces the plan's image and passes where fewer passes are enough, or as many keep more ratios
 * whole. Leaves the plan as it is where PerfWorks' planner is missing, and for PM sampling.
 */
int opk_plan_search(struct opk_plan *plan, struct opk_ctx *ctx,
                    const struct opk_plan_options *options);

/* Whether a full metric name is a ratio's. */
bool opk_is_ratio(const char *metric);

#endif
