/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan of several passes in groups of metrics that fit one pass each: groups.c. */
#ifndef OPK_GROUPS_H
#define OPK_GROUPS_H

#include "plan/plan.h"

struct opk_packed_group {
	size_t *metrics; /* indices into those of the plan, ascending */
	size_t metric_count;
	void *config; /* one pass */
	size_t config_size;
};

struct opk_groups {
	struct opk_packed_group *items;
	size_t count;
	size_t capacity;
	/* One with a pass for each: pass k collects items[k]. NULL where there are none. */
	void *config;
	size_t config_size;
};

/*
 * Each metric is in one group, or in none where it needs several passes by itself. Takes one or two
 * milliseconds a metric and a group. `availability` is the image that the plan was made with, or
 * NULL.
 */
int opk_groups_pack(struct opk_groups *out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const void *availability, size_t availability_size);
void opk_groups_clear(struct opk_groups *groups);

#define opk_autogroups __attribute__((cleanup(opk_groups_clear)))

#endif
