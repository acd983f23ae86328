/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_FILTER_H
#define OPK_FILTER_H

#include "base/ctx.h"

/* OPK_EUSAGE where rows of this profiler don't tell what a condition asks. NULL, no filter, is fine. */
int opk_filter_check(const struct opk_filter *filter, struct opk_ctx *ctx,
                     enum opk_profiler profiler);
/* Whether it may take the row, of which it is not known what the facts in `untold`, 1 << fact each, will be. */
bool opk_filter_may_accept(const struct opk_filter *filter, enum opk_profiler profiler,
                           const struct opk_row *row, uint64_t untold);

#endif
