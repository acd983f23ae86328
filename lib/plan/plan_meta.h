/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_PLAN_META_H
#define OPK_PLAN_META_H

#include "plan/plan.h"

/* What a set says beyond its metrics, for the metadata; borrowed from the plan but for these lists. */
struct opk_plan_meta {
	struct opk_meta_label *labels;
	struct opk_meta_derived *derived;
	struct opk_meta_heading *headings;
};

/* Borrowed from the set but for these lists. */
int opk_resolved_to_meta(struct opk_meta *meta, struct opk_plan_meta *lists, struct opk_ctx *ctx,
                         const struct opk_resolved *set);
int opk_plan_to_meta(struct opk_meta *meta, struct opk_plan_meta *lists, struct opk_ctx *ctx,
                     const struct opk_plan *plan);
void opk_plan_meta_clear(struct opk_plan_meta *lists);
#define opk_autoplanmeta __attribute__((cleanup(opk_plan_meta_clear)))

#endif
