/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of what files claim, and means of them. */
#ifndef OPK_SUM_H
#define OPK_SUM_H

#include <stdint.h>

/* Saturating addition: a sum that overflows stays at the maximum. */
static inline void opk_sum_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* The mean, rounded to the nearest whole number; 0 if `count` is 0. */
static inline uint64_t opk_mean_of(uint64_t sum, uint64_t count)
{
	uint64_t rest = count ? sum % count : 0;

	return count ? sum / count + (rest >= count - rest) : 0;
}

#endif
