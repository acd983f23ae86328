/* SPDX-License-Identifier: BSD-2-Clause */
/* What a launch of a pass costs, as measured on a GPU of the chip. */
#ifndef OPK_PASS_COSTS_H
#define OPK_PASS_COSTS_H

#include "plan/plan.h"

struct opk_domain_cost {
	const char *domain, *unit;
	uint32_t launch_us, setup_us, stop_us;
};

struct opk_pass_costs {
	char *text;             /* the file's text; all names point into it */
	const char *gpu, *date; /* where and when it was measured */
	struct opk_domain_cost *rows;
	size_t count, capacity; /* 0: no measurement for this chip */
};

int opk_pass_costs_read(struct opk_pass_costs *out, struct opk_ctx *ctx, const char *chip);
void opk_pass_costs_clear(struct opk_pass_costs *costs);
#define opk_autopasscosts __attribute__((cleanup(opk_pass_costs_clear)))

/* Whether counters in the domain make a launch several times dearer than in other domains. */
bool opk_domain_is_dear(const struct opk_pass_costs *costs, const char *domain);

/* plan_image.c: passes that the search composed. */
struct opk_composed {
	const struct opk_counters *counters;
	const struct opk_parts *parts;
	struct opk_schedule *schedule;
	struct opk_nv_scheduler *asked; /* knows where counters can be; no pass was added to it */
	/*
	 * Counters that can only be in dear domains: a pass with one may have others there, too.
	 * NULL: all passes have any domain.
	 */
	const bool *dear;
	const struct opk_pass_costs *costs;
};

/* Moves passes with such counters to the front, and returns their number. */
size_t opk_dear_passes_first(const struct opk_composed *composed);
int opk_compose_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                      const struct opk_target *target, const struct opk_composed *composed);

/* What a pass costs; 0: unknown. */
struct opk_pass_cost {
	uint32_t launch_us; /* of a launch without replay */
	uint32_t replay_us; /* of the pass under kernel replay */
	uint32_t stop_us;   /* part of replay_us */
};

/* `cheap`: counters that can be in another domain than a dear one are there. */
int opk_pass_cost_of(struct opk_pass_cost *out, struct opk_ctx *ctx,
                     const struct opk_pass_costs *costs, struct opk_nv_scheduler *scheduler,
                     const struct opk_strlist *counters, bool cheap);

#endif
