/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows are wanted, and what is known of a row before its image is decoded. */
#ifndef OPK_FILTER_H
#define OPK_FILTER_H

#include "base/ctx.h"

/* OPK_EUSAGE where rows of this profiler lack a fact that a condition names. NULL: no filter. */
int opk_filter_check(const struct opk_filter *filter, struct opk_ctx *ctx,
                     enum opk_profiler profiler);
/* Whether it may take the row. The facts in `unknown`, 1 << fact each, are not known yet. */
bool opk_filter_may_accept(const struct opk_filter *filter, enum opk_profiler profiler,
                           const struct opk_row *row, uint64_t unknown);

/*
 * Puts what a segment's tables say of its row number `i` into *row, replacing what the image says;
 * `room` is for what it points to. Returns the facts that only the image says, 1 << fact each.
 */
uint64_t opk_segment_describe(struct opk_row *row, struct opk_range *room,
                              const struct opk_segment *segment, uint64_t i);
/*
 * For each segment whether the filter, which may be NULL, is sure to take none of its rows: its
 * tables say so. free()
 */
int opk_filter_segments(bool **unwanted, struct opk_ctx *ctx, const struct opk_filter *filter,
                        enum opk_profiler profiler, const struct opk_segment *segments,
                        size_t count);

#endif
