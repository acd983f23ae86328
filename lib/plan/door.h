/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_PLAN_DOOR_H
#define OPK_PLAN_DOOR_H

#include "base/ctx.h"
#include "base/strlist.h"

/*
 * How many passes each of the names takes alone, where it is not known: as many as CUPTI plans for
 * it, or the status with which it refuses (cuptiProfilerHostConfigAddMetrics,
 * cuptiProfilerHostGetNumOfPasses; most need only NVPW_RawCounterConfig_AreRawCountersSchedulable).
 * The catalog must be complete; it keeps the counts, and so does the cache.
 */
int opk_catalog_count_passes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                             const struct opk_full_name *names, size_t count,
                             const struct opk_pass_options *options);
/* The catalog that it is from; borrowed. */
const struct opk_catalog *opk_metric_list_catalog(const struct opk_metric_list *list);
/* By name, in any case; NULL where there is no such set. */
const struct opk_single_pass_set *opk_single_pass_sets_find(const struct opk_single_pass_sets *sets,
                                                            const char *name);
/* As a metric set, for plans; it is independent of the single-pass set. */
int opk_set_from_single_pass(struct opk_set **out, struct opk_ctx *ctx,
                             const struct opk_single_pass_set *set);

/* What opk_plan_list() has as lists; borrowed from the plan. */
const char *opk_plan_chip(const struct opk_plan *plan);
enum opk_profiler opk_plan_profiler(const struct opk_plan *plan);
const char *opk_plan_set_name(const struct opk_plan *plan);
size_t opk_plan_passes(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_metrics(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_missing(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_left_out(const struct opk_plan *plan);
/* OPK_EUSAGE for the range profiler; OPK_ENVIDIA where the function is missing. */
int opk_plan_sample_bytes(size_t *out, struct opk_ctx *ctx, const struct opk_plan *plan);
size_t opk_plan_split_count(const struct opk_plan_split *split);
const struct opk_strlist *opk_plan_split_lost(const struct opk_plan_split *split);

/*
 * As opk_build(), under a temporary name, for files that appear together or not at all:
 * opk_writer_finish() puts it in place, and opk_writer_free() alone leaves nothing.
 */
int opk_build_begin(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_build_options *options, const char *path);

#endif
