/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a plan has as many passes as it has, and what each costs. */
#ifndef OPK_PLAN_DETAIL_H
#define OPK_PLAN_DETAIL_H

#include "plan/pass_costs.h"

struct opk_plan_detail {
	size_t passes, metrics;
	size_t lower_bound; /* of the number of passes */
	struct opk_pass_use use;
	bool *splits;  /* one a metric: a ratio whose counters are in different passes */
	size_t *saves; /* one a metric: the plan would have so many passes fewer without it */
	struct opk_patience patience;
	struct opk_counters counters;
	/* Domains that are scheduled together. Before CUPTI 12.9 none are known. */
	struct opk_parts parts;
	size_t *fill;                /* [pass * parts + part]: so many counters */
	struct opk_pass_cost *costs; /* one a pass */
	char *measured;              /* on which GPU, and when; "" */
};

/* Takes long. OPK_ENVIDIA: there is no libnvperf_host. */
int opk_plan_detail_new(struct opk_plan_detail **out, struct opk_ctx *ctx,
                        const struct opk_plan *plan);
void opk_plan_detail_free(struct opk_plan_detail *detail);

#endif
