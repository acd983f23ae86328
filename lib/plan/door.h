/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of this one, besides the public functions. */
#ifndef OPK_PLAN_DOOR_H
#define OPK_PLAN_DOOR_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "chip/door.h"

/*
 * How many passes each name takes alone, for names not counted yet: as many as CUPTI plans, or the
 * status with which it refuses the name (cuptiProfilerHostConfigAddMetrics,
 * cuptiProfilerHostGetNumOfPasses; most need only NVPW_RawCounterConfig_AreRawCountersSchedulable).
 * The catalog must be complete; it keeps the counts, and so does the cache.
 */
int opk_catalog_count_passes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                             const struct opk_full_name *names, size_t count,
                             const struct opk_metric_list_options *options);

enum { OPK_METRIC_NAME = 1024 };

/* Valid as long as the list is; `name` as long as this struct is. */
struct opk_listed_metric {
	const struct opk_metric *of;
	/* For a base metric `dim_unit` is its own, the rest is its plainest full name's. */
	struct opk_submetric sub;
	char name[OPK_METRIC_NAME]; /* a base or a full name */
};

/* What opk_metric_list() makes rows of. */
struct opk_metric_list;
int opk_metric_list_new(struct opk_metric_list **out, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler, const struct opk_metric_list_options *options);
void opk_metric_list_free(struct opk_metric_list *list);
size_t opk_metric_list_count(const struct opk_metric_list *list);
void opk_metric_list_get(struct opk_listed_metric *out, const struct opk_metric_list *list,
                         size_t i);
/* How many matches were left out: they can't be scheduled, or take too many passes. */
size_t opk_metric_list_refused(const struct opk_metric_list *list);
size_t opk_metric_list_costly(const struct opk_metric_list *list);
/* The catalog that the list is from; borrowed. */
const struct opk_catalog *opk_metric_list_catalog(const struct opk_metric_list *list);

/* opk_description_new() of the first profiler that has the metric. */
int opk_description_find(struct opk_description **out, struct opk_ctx *ctx, const char *chip,
                         const char *name);
/* opk_description_new() from a complete catalog, which must outlive the result. */
int opk_catalog_describe(struct opk_description **out, struct opk_ctx *ctx,
                         struct opk_catalog *catalog, const char *name);
/* opk_set_check() without the errors in files. */
int opk_set_check_on_chips(struct opk_listing **chips, struct opk_listing **errors,
                           struct opk_ctx *ctx, const struct opk_set *set,
                           const struct opk_set_check_options *options);

/* ---- single-pass sets */

/* The source that says which metrics make a single-pass set. */
enum opk_single_pass_origin {
	OPK_SINGLE_PASS_CUPTI,    /* cuptiProfilerHostGetSinglePassSets */
	OPK_SINGLE_PASS_EMULATED, /* the metrics' names: UNIT.SET.metric */
	OPK_SINGLE_PASS_OFFPEAK,  /* data/single_pass.tsv, by priority */
};
const char *opk_single_pass_origin_name(enum opk_single_pass_origin origin); /* "emulated" */

/* Metrics that CUPTI plans in one pass together. */
struct opk_single_pass_set {
	const char *name;
	enum opk_profiler profiler;
	enum opk_single_pass_origin origin;
	const char *const *metrics; /* full names; the plainest one of a base metric */
	size_t metric_count;
	const char *const *left_out; /* did not fit beside the metrics before them */
	size_t left_out_count;
};

/* What opk_single_pass_list() makes rows of. */
struct opk_single_pass_sets;
int opk_single_pass_sets_new(struct opk_single_pass_sets **out, struct opk_ctx *ctx,
                             const char *chip);
void opk_single_pass_sets_free(struct opk_single_pass_sets *sets);
size_t opk_single_pass_sets_count(const struct opk_single_pass_sets *sets);
const struct opk_single_pass_set *opk_single_pass_sets_get(const struct opk_single_pass_sets *sets,
                                                           size_t i);
/* By name, in any case; NULL where there is no such set. */
const struct opk_single_pass_set *opk_single_pass_sets_find(const struct opk_single_pass_sets *sets,
                                                            const char *name);
/* Makes a metric set of it, for plans; independent of the single-pass set. */
int opk_set_from_single_pass(struct opk_set **out, struct opk_ctx *ctx,
                             const struct opk_single_pass_set *set);

/* What opk_plan_list() shows as lists; borrowed from the plan. */
const char *opk_plan_chip(const struct opk_plan *plan);
enum opk_profiler opk_plan_profiler(const struct opk_plan *plan);
const char *opk_plan_set_name(const struct opk_plan *plan);
size_t opk_plan_passes(const struct opk_plan *plan);
/* Passes of the plan for rotation; 0: there is none. */
size_t opk_plan_rotation_passes(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_metrics(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_missing(const struct opk_plan *plan);
const struct opk_strlist *opk_plan_left_out(const struct opk_plan *plan);
/* OPK_EUSAGE for the range profiler; OPK_ENVIDIA if the library lacks the function. */
int opk_plan_sample_bytes(size_t *out, struct opk_ctx *ctx, const struct opk_plan *plan);
size_t opk_plan_split_count(const struct opk_plan_split *split);
const struct opk_strlist *opk_plan_split_lost(const struct opk_plan_split *split);

/*
 * Like opk_build(), but under a temporary name, for files that appear together or not at all:
 * opk_writer_finish() renames the file, and opk_writer_free() alone leaves no file.
 */
int opk_build_begin(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_build_options *options, const char *path);

#endif
