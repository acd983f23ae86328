/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of some metrics CUPTI refuses to plan by themselves, or plans in too many passes. */
#ifndef OPK_REFUSED_H
#define OPK_REFUSED_H

#include "base/problems.h"
#include "plan/plan.h"

struct opk_refused {
	struct opk_ctx *ctx;
	const struct opk_plan *plan; /* its chip, profiler and counter-availability image */
	const char *const *names;
	size_t max_passes; /* who needs more by itself is refused, too; 0: any number will do */
	/* Of the i-th, with what NVIDIA said; false: enough are known. */
	bool (*tell)(void *data, size_t i, const char *reason);
	void *data;
};

/* Tells them in order. Anything but OPK_OK says why nothing can be planned at all. */
int opk_find_refused(const struct opk_refused *refused, size_t count);

/* Adds the problem that a metric is listed, but refused. */
void opk_tell_refused(struct opk_problems *problems, const struct opk_place *place,
                      const struct opk_plan *plan, const char *name, const char *reason);

#endif
