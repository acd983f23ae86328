/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw counters of some metrics, and which metric needs which. */
#ifndef OPK_COUNTERS_H
#define OPK_COUNTERS_H

#include "base/ctx.h"
#include "base/strlist.h"

struct opk_counters {
	struct opk_strlist names; /* each once, in the order in which metrics need them */
	/* Metric i needs those at needs[first[i]] to needs[first[i + 1] - 1]. */
	size_t *first;
	size_t *needs;
	size_t metric_count;
};

/* For range metrics by full name; NVPW_MetricsEvaluator_GetMetricRawDependencies. */
int opk_counters_of(struct opk_counters *out, struct opk_ctx *ctx, const char *chip,
                    const struct opk_strlist *metrics);
void opk_counters_clear(struct opk_counters *counters);
/* Where it is among the names; their number where it is not. */
size_t opk_counters_find(const struct opk_counters *counters, const char *name);

/* The trace of when work began and ended: nearly every metric needs it, and it takes no room. */
bool opk_is_trace(const char *counter);

#endif
