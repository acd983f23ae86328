/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/shared/metric_names.h"

#include <stdlib.h>
#include <string.h>

bool metric_is_inflated(const char *metric)
{
	static const char *const marks[] = { "_elapsed", "per_second", "__time_", "in_region",
		                             "in_frame" };

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strstr(metric, marks[i]))
			return true;
	return false;
}

const char **inflated_metrics(size_t *count, const struct opk_meta *meta)
{
	const char **names = calloc(meta->metric_count, sizeof *names);

	*count = 0;
	for (size_t i = 0; names && i < meta->metric_count; i++)
		if (metric_is_inflated(meta->metrics[i]))
			names[(*count)++] = meta->metrics[i];
	return names;
}
