/* SPDX-License-Identifier: BSD-2-Clause */
/* The profilers by name. */
#include <string.h>

#include "base/metric.h"

static const char *const profiler_names[OPK_PROFILER_COUNT] = { "range", "pm", "sass", "pc" };

const char *opk_profiler_name(enum opk_profiler profiler)
{
	return profiler_names[profiler];
}

const char *opk_profiler_phrase(enum opk_profiler profiler)
{
	static const char *const phrases[OPK_PROFILER_COUNT] = { "", " for PM sampling",
		                                                 " for profiler sass",
		                                                 " for profiler pc" };

	return phrases[profiler];
}

bool opk_profiler_parse(enum opk_profiler *out, const char *name)
{
	for (size_t i = 0; i < OPK_PROFILER_COUNT; i++) {
		if (strcmp(name, profiler_names[i]))
			continue;
		*out = (enum opk_profiler)i;
		return true;
	}
	return false;
}
