/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_PLAN_H
#define OPK_PLAN_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "resolve/resolve.h"

struct opk_catalog;
struct opk_nv_host;

struct opk_plan {
	char *chip;
	enum opk_profiler profiler;
	char *set_name;
	char *set_description;
	struct opk_resolved resolved; /* the set on this chip */
	struct opk_strlist metrics;   /* in the order in which they are scheduled */
	struct opk_strlist left_out;  /* of the set's metrics, those behind `metrics` */
	void *config;
	size_t config_size;
	size_t passes;
	size_t limit; /* of passes; 0: none */
	size_t apart; /* so many metrics CUPTI plans only apart from the others: plan_together.c */
	/* In the child that plans with one, else NULL. */
	const void *availability;
};

OPK_DEFINE_AUTO(opk_plan)

/* Passes and config image of some metrics; `config` may be NULL. In CUPTI's order, and by CUPTI where it can be. */
int opk_plan_try(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                 const struct opk_plan *plan, const char *const *metrics, size_t count);
/* The same of a plan's own. */
int opk_plan_make(struct opk_plan *plan, struct opk_ctx *ctx);
/* The same on a fresh host object alone. */
int opk_plan_by_cupti(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                      const struct opk_plan *plan, const char *const *metrics, size_t count);
/*
 * The same of range metrics that CUPTI refuses together, but not the `apart` ones and the others by
 * themselves: by PerfWorks. Another failure than OPK_ENOMEM only says that they are not such ones.
 */
int opk_plan_together(size_t *apart, size_t *passes, void **config, size_t *size,
                      struct opk_ctx *ctx, const struct opk_plan *plan, const char *const *metrics,
                      size_t count);
/*
 * The same of one metric. CUPTI may refuse it, which is no failure: *passes is the negative status,
 * then, and there is no image.
 */
int opk_plan_alone(int *passes, void **config, size_t *size, struct opk_ctx *ctx,
                   const struct opk_catalog *catalog, const char *metric);
/* The same of what the host object has been given. */
int opk_plan_image(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                   struct opk_nv_host *host);

/* opk_plan_new() of however many passes, with options that are complete. */
int opk_plan_unlimited(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options);

/*
 * The same of some of the metrics of a plan of the whole set. Cheap to try: only opk_plan_resolve()
 * adds what the set computes from these metrics alone.
 */
int opk_plan_some(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_plan *whole,
                  const struct opk_set *set, const struct opk_plan_options *options,
                  const struct opk_strlist *metrics);
int opk_plan_resolve(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set);

/* plan_refused.c: why CUPTI refused all of them, with `code`, and why they take more passes than are allowed. */
int opk_plan_explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                             const struct opk_set *set, int code);
int opk_plan_explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan);

/* Keeps the longest prefix of the metrics that fits one pass, where all of them don't: plan_single.c. */
int opk_plan_shorten(struct opk_plan *plan, struct opk_ctx *ctx);
/* Keeps `count` metrics and leaves the others out. */
int opk_plan_keep(struct opk_plan *plan, struct opk_ctx *ctx, size_t count);

#endif
