/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a plan has its number of passes, and what each pass costs. */
#ifndef OPK_PLAN_DETAIL_H
#define OPK_PLAN_DETAIL_H

#include "plan/pass_costs.h"

struct opk_plan_detail {
	size_t passes, metrics;
	size_t lower_bound; /* of the number of passes */
	struct opk_pass_use use;
	bool *splits;  /* one per metric: a ratio whose counters are in different passes */
	size_t *saves; /* one per metric: how many passes fewer the plan has without it */
	struct opk_patience patience;
	struct opk_counters counters;
	/* Domains that are scheduled together. Before CUPTI 12.9 none is known. */
	struct opk_parts parts;
	size_t *fill;                /* [pass * parts + part]: number of counters */
	struct opk_pass_cost *costs; /* one a pass */
	char *measured;              /* on which GPU, and when; or "" */
};

/* Takes long. OPK_ENVIDIA: libnvperf_host is missing. */
int opk_plan_detail_new(struct opk_plan_detail **out, struct opk_ctx *ctx,
                        const struct opk_plan *plan);
void opk_plan_detail_free(struct opk_plan_detail *detail);

#endif
