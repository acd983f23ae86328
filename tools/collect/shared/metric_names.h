/* SPDX-License-Identifier: BSD-2-Clause */
/* What metrics' names tell about how they can be collected. */
#ifndef OPK_METRIC_NAMES_H
#define OPK_METRIC_NAMES_H

#include "offpeak.h"

/*
 * A range that is pushed around a launch holds some microseconds of idle time, which count into
 * elapsed cycles and times, and so into what is divided by them. Counts and what is counted in
 * active cycles are right.
 */
bool metric_is_inflated(const char *metric);
/* The names of such metrics among those of a set, borrowed from it; free() the list. */
const char **inflated_metrics(size_t *count, const struct opk_meta *meta);

#endif
