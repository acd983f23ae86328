/* SPDX-License-Identifier: BSD-2-Clause */
/* The two profilers by name. */
#include <string.h>

#include "base/metric.h"

static const char *const profiler_names[] = { "range", "pm" };

const char *opk_profiler_name(enum opk_profiler profiler)
{
	return profiler_names[profiler];
}

bool opk_profiler_parse(enum opk_profiler *out, const char *name)
{
	for (size_t i = 0; i < 2; i++) {
		if (strcmp(name, profiler_names[i]))
			continue;
		*out = (enum opk_profiler)i;
		return true;
	}
	return false;
}
