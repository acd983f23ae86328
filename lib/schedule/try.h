/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI, or PerfWorks for it, makes of some metrics when they are tried together. */
#ifndef OPK_TRY_H
#define OPK_TRY_H

#include "base/problems.h"

struct opk_nv_host;

/* For what metrics are scheduled. */
struct opk_target {
	const char *chip; /* as the library spells it */
	enum opk_profiler profiler;
	const void *availability; /* a counter-availability image; NULL: all that the chip has */
};

struct opk_schedule_result {
	size_t passes;
	size_t apart; /* so many metrics CUPTI plans only apart from the others: PerfWorks did it */
	void *config; /* the config image */
	size_t size;
	int refused; /* the CUPTI status with which it refused the metrics; 0: it did not */
};

/*
 * Schedules metrics in CUPTI's order, and by CUPTI where it can be. OPK_EUSAGE where it does not
 * know one, OPK_EFAILED where they can't be scheduled; *out is to be cleared only after OPK_OK.
 */
int opk_schedule_try(struct opk_schedule_result *out, struct opk_ctx *ctx,
                     const struct opk_target *target, const char *const *metrics, size_t count);
/* The same for one metric; that CUPTI refuses it is no failure, and then there is no image. */
int opk_schedule_alone(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       const struct opk_target *target, const char *metric);
/* The result for metrics that the host object has been given. */
int opk_schedule_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       struct opk_nv_host *host);
void opk_schedule_result_clear(struct opk_schedule_result *result);
#define opk_autoresult __attribute__((cleanup(opk_schedule_result_clear)))

/* Finds the metrics that CUPTI refuses by themselves, or plans in too many passes. */
struct opk_refused {
	const struct opk_target *target;
	const char *const *names;
	size_t count;
	size_t max_passes; /* a metric that needs more is refused, too; 0: any number will do */
	/* Reports the i-th name, with what NVIDIA said; false: enough are known. */
	bool (*report)(void *data, size_t i, const char *reason);
	void *data;
};

/* Reports them in order. Anything but OPK_OK says why nothing can be planned at all. */
int opk_find_refused(struct opk_ctx *ctx, const struct opk_refused *refused);
/* Adds the problem that a metric is listed, but refused. */
void opk_refused_problem(struct opk_problems *problems, const struct opk_place *place,
                         const struct opk_target *target, const char *name, const char *reason);

#endif
