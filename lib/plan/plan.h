/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans: the fewest passes, single-pass sets, config images, what one metric costs.
 */
#ifndef OPK_PLAN_H
#define OPK_PLAN_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "resolve/resolve.h"
#include "schedule/schedule.h"

/* A plan: the set on a chip, how it is scheduled, and the steps on the way there. */

/* Bytes that a child may say a config image has. */
enum { OPK_MAX_CONFIG = 1 << 28 };

struct opk_plan {
	struct opk_target target; /* owns its text; the availability image is in the child alone */
	char *set_name;
	char *set_description;
	struct opk_resolved resolved; /* the set on this chip */
	struct opk_strlist metrics;   /* in the order in which they are scheduled */
	struct opk_strlist left_out;  /* of the set's metrics, those after `metrics` */
	struct opk_schedule_result schedule;
	size_t limit; /* of passes; 0: none */
	/* Processor time for finding out more about the plan: opk_plan_options.effort. */
	double seconds;
	bool searched;                  /* for a shorter one */
	const struct opk_strlist *lost; /* its split's; NULL: it is of none */
	struct opk_plan_detail *detail; /* once a list asked for it */
};

OPK_DEFINE_AUTO(opk_plan)

/* opk_plan_new() of however many passes, with options that are complete. */
int opk_plan_unlimited(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options);

/*
 * A plan of some metrics of a plan of the whole set. Cheap to try: only opk_plan_resolve()
 * adds what the set computes from these metrics alone.
 */
int opk_plan_some(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_plan *whole,
                  const struct opk_set *set, const struct opk_plan_options *options,
                  const struct opk_strlist *metrics);
int opk_plan_resolve(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set);

/*
 * Leaves out what does not fit one pass beside the metrics before it; with `strict_order` all from
 * the first such one on. OPK_EFAILED where nothing is left. The image is still that of all.
 */
int opk_plan_fit_one_pass(struct opk_plan *plan, struct opk_ctx *ctx, bool strict_order);
/* Moves the others to those that are left out; one flag a metric. */
int opk_plan_keep(struct opk_plan *plan, struct opk_ctx *ctx, const bool *kept);

/* ---- plan_search.c */

/* Processor time that may be taken where no effort is given, and with any. */
enum { OPK_DEFAULT_SECONDS = 60, OPK_LEAST_SECONDS = 1 };
double opk_plan_seconds(const struct opk_plan_options *options);

/*
 * Replaces the plan's image and passes where fewer passes are enough, or as many keep more ratios
 * whole. Leaves the plan as it is where PerfWorks' planner is missing, and for PM sampling.
 */
int opk_plan_search(struct opk_plan *plan, struct opk_ctx *ctx,
                    const struct opk_plan_options *options);

/* The rows of two lists of opk_plan_list(): leftovers.c, plan_columns.c */
int opk_plan_add_left_out(struct opk_listing *rows, struct opk_ctx *ctx,
                          const struct opk_plan *plan);
int opk_plan_add_columns(struct opk_listing *rows, struct opk_ctx *ctx,
                         const struct opk_plan *plan);

/* Whether a full metric name is a ratio's, or a counter's that is divided by cycles. */
bool opk_is_ratio(const char *metric);

/* build.c: opk_resolved_to_meta() for the set; no columns where they are simply the metrics. */
int opk_plan_to_meta(struct opk_meta *meta, struct opk_meta_label **labels, struct opk_ctx *ctx,
                     const struct opk_plan *plan);

/*
 * The raw counters that have each hardware instance's value in counter data, not their sum alone:
 * images shrink up to 90-fold without any. instances.c
 */
enum opk_instances {
	OPK_INSTANCES_NONE,
	OPK_INSTANCES_ALL,
	OPK_INSTANCES_NEEDED, /* what the plan's metrics are nan without, or their parts */
};
/*
 * Whether each counter of the plan's metrics is to have its instances; for PM sampling all or
 * none are needed. free()
 */
int opk_instances_find(bool **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_counters *counters, enum opk_instances instances);
/*
 * What CUPTI computes instance by instance on a chip besides minima and maxima: each metric's raw
 * counters, which need instances wherever they are together. There may be none.
 */
int opk_by_instance(struct opk_counters *out, struct opk_ctx *ctx, const char *chip);

/* plan_refused.c: why CUPTI refused them, with `code`, and why they take too many passes. */
int opk_plan_explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                             const struct opk_set *set, int code);
int opk_plan_explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan);

/*
 * describe_ask.c: what describe.c shows of a full name of the metric, as lines of text. *complete:
 * whether all of the libraries could be asked.
 */
int opk_describe_ask(struct opk_buf *text, bool *complete, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_metric *metric,
                     const char *full);

/* What the passes of a plan count, and which metrics that serves: metric_passes.c. */

struct opk_pass_use {
	size_t passes, metrics;
	struct opk_strlist *counters; /* raw ones, one list a pass */
	bool *serves;                 /* [pass * metrics + metric] */
};

/*
 * `counters` are those of the plan's metrics; one pass serves all, and needs none. To be cleared
 * whether it succeeds or not.
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
