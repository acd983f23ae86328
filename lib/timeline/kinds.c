/* SPDX-License-Identifier: BSD-2-Clause */
/* How the values of metrics are combined. */
#include "timeline/timeline_inside.h"

#include <string.h>

#include "base/ascii.h"

enum opk_kind opk_kind_of(const char *metric)
{
	if (opk_attribute_is_name(metric))
		return OPK_CONSTANT;
	if (opk_metric_degree(metric) == 1
	    && (strstr(metric, "__time_duration") || strstr(metric, "cycles_elapsed")
	        || opk_ends(metric, ".peak_sustained_elapsed")))
		return OPK_ELAPSES;
	if (opk_metric_degree(metric) == 1)
		return OPK_ADDS;
	if (strstr(metric, "cycles_elapsed") && opk_ends(metric, ".per_second"))
		return OPK_CLOCK;
	if (opk_ends(metric, ".per_second") || opk_ends(metric, ".per_cycle_elapsed")
	    || opk_ends(metric, ".pct_of_peak_sustained_elapsed"))
		return OPK_LASTS;
	return OPK_MEAN;
}
