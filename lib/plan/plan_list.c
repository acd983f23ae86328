/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of what is known of a plan. */
#include "plan/plan.h"

int opk_plan_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                  enum opk_plan_list list)
{
	switch (list) {
	case OPK_PLAN_LEFT_OUT:
		return opk_plan_list_left_out(out, ctx, plan);
	}
	return opk_fail(ctx, OPK_EUSAGE, "a plan has no list %d", (int)list);
}
