/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan of several passes in pass groups: metrics that fit one pass together. */
#ifndef OPK_PASS_GROUPS_H
#define OPK_PASS_GROUPS_H

#include "plan/plan.h"

struct opk_pass_group {
	size_t *metrics; /* indices into those of the plan, ascending */
	size_t metric_count;
	struct opk_schedule_result schedule; /* one pass */
};

struct opk_pass_groups {
	struct opk_pass_group *items;
	size_t count;
	size_t capacity;
	/* With a pass for each: pass k collects items[k]. Empty where there are none. */
	struct opk_schedule_result schedule;
};

/*
 * Each metric is in one pass group, or in none if it needs several passes by itself. Takes one or
 * two milliseconds a metric and a group. `availability` is the image that the plan was made with,
 * or NULL.
 */
int opk_pass_groups_pack(struct opk_pass_groups *out, struct opk_ctx *ctx,
                         const struct opk_plan *plan, const void *availability,
                         size_t availability_size);
void opk_pass_groups_clear(struct opk_pass_groups *groups);

#define opk_autopassgroups __attribute__((cleanup(opk_pass_groups_clear)))

#endif
