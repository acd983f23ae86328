/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_CHIP_DOOR_H
#define OPK_CHIP_DOOR_H

#include "base/ctx.h"

/*
 * Whether any metric of a profiler that the chip has counts the whole device: enum opk_scope. Asks
 * about few metrics where it can, for CUPTI 13.1 takes a millisecond for each. OPK_ENVIDIA:
 * libcupti has no such function.
 */
int opk_chip_device_level(bool *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler);
size_t opk_catalog_count(const struct opk_catalog *catalog);
const struct opk_metric *opk_catalog_get(const struct opk_catalog *catalog, size_t i);
/* Completes the catalog where there is a cache to fill for the next query; it can't fail. */
void opk_catalog_keep(struct opk_catalog *catalog, struct opk_ctx *ctx);

/*
 * Fills in the scopes of `count` metrics of this catalog, where they are not known yet; they stay
 * unknown before CUPTI 13.1. Only where they are wanted: CUPTI takes a millisecond for each
 * (cuptiProfilerHostGetMetricProperties). A complete catalog keeps them in the cache.
 */
int opk_catalog_ask_scopes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                           const struct opk_metric *const *metrics, size_t count);

/*
 * From here on passes are counted for a GPU with this counter-availability image, which is copied;
 * NULL: for any. Names whose counters the GPU lacks are refused then. Earlier counts are forgotten,
 * and counts with an image don't go to the cache. Nothing is checked here: where the image is
 * damaged or another chip's, opk_catalog_count_passes() is OPK_EINPUT.
 */
int opk_catalog_set_availability(struct opk_catalog *catalog, struct opk_ctx *ctx,
                                 const void *image, size_t size);
/* The base metric of the chip that is most like a misspelt name; NULL where none is near. */
const struct opk_metric *opk_catalog_nearest(const struct opk_catalog *catalog, const char *name);

/*
 * The number of the submetric that stands for its base metric: .sum, .ratio or, of a throughput,
 * .avg.pct_of_peak_sustained_elapsed; else the first. The catalog must be complete.
 */
size_t opk_catalog_plainest(const struct opk_catalog *catalog, const struct opk_metric *metric);

/*
 * The metric names that begin with a text, in order, for completion: base names or, after one with
 * a dot, its full names ("dram__bytes.s"), which CUPTI 12.x does not list. From the cache where it
 * can, else from NVIDIA's libraries without the properties (cuptiProfilerHostGetBaseMetrics,
 * cuptiProfilerHostGetSubMetrics). OPK_EFAILED: the chip does not have this profiler.
 */
struct opk_names;
int opk_names_new(struct opk_names **out, struct opk_ctx *ctx, const char *chip,
                  enum opk_profiler profiler, const char *prefix);
void opk_names_free(struct opk_names *names);
size_t opk_names_count(const struct opk_names *names);
const char *opk_names_get(const struct opk_names *names, size_t i);
struct opk_matcher;

/* OPK_EUSAGE for a malformed regular expression. */
int opk_matcher_new(struct opk_matcher **out, struct opk_ctx *ctx,
                    const struct opk_metric_filter *filter);
void opk_matcher_free(struct opk_matcher *matcher);
bool opk_matcher_match(const struct opk_matcher *matcher, const struct opk_metric *metric);
/* For a full name of that metric: globs are over the base or the full name. */
bool opk_matcher_match_full(const struct opk_matcher *matcher, const struct opk_metric *metric,
                            const char *full);
/* The chip that such a file is of, free(); "" of a bare image, and of a probe of several chips. */
int opk_availability_chip(char **out, struct opk_ctx *ctx, const char *path);

#endif
