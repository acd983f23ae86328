/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans: the fewest passes, single-pass sets, config images, what one metric costs. */
#ifndef OPK_PLAN_H
#define OPK_PLAN_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "resolve/resolve.h"
#include "schedule/schedule.h"

/* A plan: the set on a chip, its schedule, and what led to it. */

/* The most bytes of a config image that is taken from a child. */
enum { OPK_MAX_CONFIG = 1 << 28 };

struct opk_plan {
	struct opk_target target; /* owns its text; only the child has the availability image */
	char *set_name;
	char *set_description;
	struct opk_resolved resolved; /* the set on this chip */
	struct opk_strlist metrics;   /* in the order in which they are scheduled */
	struct opk_strlist left_out;  /* the set's metrics that are not in `metrics` */
	struct opk_schedule_result schedule;
	struct opk_schedule_result rotation; /* of cheap passes, if asked for; no passes: none */
	size_t limit;                        /* of passes; 0: none */
	/* Processor time for improving and explaining the plan: opk_plan_options.effort. */
	double seconds;
	bool searched;                  /* for fewer passes */
	const struct opk_strlist *lost; /* from the plan's split; NULL: not part of one */
	struct opk_plan_detail *detail; /* made when a list asks for it */
};

OPK_DEFINE_AUTO(opk_plan)

/* opk_plan_new() without a limit of passes, with complete options. */
int opk_plan_unlimited(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options);

/*
 * A plan of some metrics of a plan of the whole set. Cheap to try: what the set computes from these
 * metrics is added only by opk_plan_resolve().
 */
int opk_plan_some(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_plan *whole,
                  const struct opk_set *set, const struct opk_plan_options *options,
                  const struct opk_strlist *metrics);
int opk_plan_resolve(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set);

/*
 * Leaves out each metric that does not fit one pass beside those before it; with `strict_order`
 * also all after the first such one. OPK_EFAILED if none is left. The image is still that of all.
 */
int opk_plan_fit_one_pass(struct opk_plan *plan, struct opk_ctx *ctx, bool strict_order);
/* Keeps the flagged metrics and moves the others to left_out; one flag per metric. */
int opk_plan_keep(struct opk_plan *plan, struct opk_ctx *ctx, const bool *kept);

/* ---- plan_search.c */

/* Processor time: the default without an effort, and the least with any effort. */
enum { OPK_DEFAULT_SECONDS = 60, OPK_LEAST_SECONDS = 1 };
double opk_plan_seconds(const struct opk_plan_options *options);

/*
 * Replaces the plan's image and passes if fewer passes are enough, or if as many passes split fewer
 * ratios. Leaves the plan unchanged without PerfWorks' planner, and for PM sampling.
 */
int opk_plan_search(struct opk_plan *plan, struct opk_ctx *ctx,
                    const struct opk_plan_options *options);

/* The rows of two lists of opk_plan_list(): leftovers.c, plan_columns.c */
int opk_plan_add_left_out(struct opk_listing *rows, struct opk_ctx *ctx,
                          const struct opk_plan *plan);
int opk_plan_add_columns(struct opk_listing *rows, struct opk_ctx *ctx,
                         const struct opk_plan *plan);

/* Whether a full metric name is a ratio, or a counter divided by cycles. */
bool opk_is_ratio(const char *metric);

/* build.c: opk_resolved_to_meta() for the set; no columns if they are simply the metrics. */
int opk_plan_to_meta(struct opk_meta *meta, struct opk_meta_label **labels, struct opk_ctx *ctx,
                     const struct opk_plan *plan);

/*
 * Which raw counters keep each hardware instance's value in counter data, not only their sum:
 * images are up to 90 times smaller without instances. instances.c
 */
enum opk_instances {
	OPK_INSTANCES_NONE,
	OPK_INSTANCES_ALL,
	OPK_INSTANCES_NEEDED, /* those without which the plan's metrics, or their parts, are nan */
};
/*
 * Whether each counter of the plan's metrics shall keep its instances; PM sampling needs all or
 * none. free()
 */
int opk_instances_find(bool **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_counters *counters, enum opk_instances instances);
/*
 * Metrics besides minima and maxima that CUPTI computes instance by instance on a chip: the raw
 * counters of each, which need instances wherever all of them are collected. May be empty.
 */
int opk_by_instance(struct opk_counters *out, struct opk_ctx *ctx, const char *chip);

/* plan_refused.c: explains why CUPTI refused with `code`, or why there are too many passes. */
int opk_plan_explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                             const struct opk_set *set, int code);
int opk_plan_explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan);

/*
 * describe_ask.c: what describe.c shows of a full name of the metric, as lines of text. *complete:
 * whether all libraries could be asked.
 */
int opk_describe_ask(struct opk_buf *text, bool *complete, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_metric *metric,
                     const char *full);

/* metric_passes.c: what the passes of a plan count, and which metrics each pass serves. */

struct opk_pass_use {
	size_t passes, metrics;
	struct opk_strlist *counters; /* raw counters, one list per pass */
	bool *serves;                 /* [pass * metrics + metric] */
};

/*
 * `counters` are the counters of the plan's metrics. With one pass they are not needed: it serves
 * all metrics. Clear it whether this succeeds or not.
 */
int opk_pass_use_find(struct opk_pass_use *out, struct opk_ctx *ctx, const struct opk_plan *plan,
                      const struct opk_counters *counters);
void opk_pass_use_clear(struct opk_pass_use *use);
static inline bool opk_pass_serves(const struct opk_pass_use *use, size_t pass, size_t metric)
{
	return use->serves[pass * use->metrics + metric];
}
#define opk_autopassuse __attribute__((cleanup(opk_pass_use_clear)))

#endif
