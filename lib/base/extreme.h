/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics that are minima or maxima, which need the values of all instances. */
#ifndef OPK_EXTREME_H
#define OPK_EXTREME_H

#include <stdbool.h>
#include <string.h>

/* Whether ".min" or ".max" is a whole part of the name. */
static inline bool opk_metric_is_extreme(const char *metric)
{
	for (const char *part = strchr(metric, '.'); part; part = strchr(part + 1, '.'))
		if ((!strncmp(part, ".min", 4) || !strncmp(part, ".max", 4))
		    && (!part[4] || part[4] == '.'))
			return true;
	return false;
}

#endif
