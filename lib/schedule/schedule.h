/* SPDX-License-Identifier: BSD-2-Clause */
/* The pass of a plan that counts each raw counter. */
#ifndef OPK_SCHEDULE_H
#define OPK_SCHEDULE_H

#include "schedule/counters.h"
#include "schedule/try.h"

struct opk_parts;

struct opk_schedule {
	size_t passes;
	size_t *pass_of; /* one a counter: its first pass; SIZE_MAX: none */
};

/* What a config image does. */
int opk_schedule_read(struct opk_schedule *out, struct opk_ctx *ctx,
                      const struct opk_counters *counters, const struct opk_schedule_result *plan);
/*
 * The bins of each part as passes, so that the counters of as many ratios as can be come together.
 * `whole`, one a part, says which kind of its items is taken.
 */
int opk_schedule_compose(struct opk_schedule *out, struct opk_ctx *ctx,
                         const struct opk_counters *counters, const struct opk_parts *parts,
                         const bool *whole, const bool *ratios);
void opk_schedule_clear(struct opk_schedule *schedule);

/* Whether a metric's counters, without the trace, are in more than one pass. */
bool opk_schedule_splits(const struct opk_schedule *schedule, const struct opk_counters *counters,
                         size_t metric);

#endif
