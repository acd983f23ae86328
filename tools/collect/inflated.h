/* SPDX-License-Identifier: BSD-2-Clause */
/* Which values a range around a launch makes too large. */
#ifndef OPK_INFLATED_H
#define OPK_INFLATED_H

#include "offpeak.h"

/*
 * A range around a launch holds some microseconds of idle time, which count into elapsed cycles and
 * times, and so into what is divided by them. Counts and what is counted in active cycles are right.
 */
bool inflated_by_launch_range(const char *metric);
/* The names of such metrics among those of a set, borrowed from it; free() the list. */
const char **inflated_metrics(size_t *count, const struct opk_meta *meta);

#endif
