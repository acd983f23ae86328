/* SPDX-License-Identifier: BSD-2-Clause */
/* Least, greatest and percentiles of values. */
#ifndef OPK_STATISTICS_H
#define OPK_STATISTICS_H

#include "base/ctx.h"

/* Fills in min, max and percentiles; sorts the values. All are NaN without values, or if one is. */
void opk_statistics_order(struct opk_statistics *out, double *values, size_t count);

#endif
