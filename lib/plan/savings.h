/* SPDX-License-Identifier: BSD-2-Clause */
/* What a plan would save without a metric. */
#ifndef OPK_SAVINGS_H
#define OPK_SAVINGS_H

#include "schedule/parts.h"
#include "schedule/schedule.h"

/*
 * Fills saves[i] for each metric: so many passes fewer would do without it, when its own counters
 * are taken out and what is left in the emptiest pass of a part, a few counters, is moved into the
 * others.
 */
int opk_savings_find(size_t *saves, struct opk_ctx *ctx, const struct opk_counters *counters,
                     const struct opk_parts *parts, const struct opk_schedule *schedule);

#endif
