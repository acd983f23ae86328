/* SPDX-License-Identifier: BSD-2-Clause */
/* Profilers by name, and a metric's properties from NVIDIA's libraries. */
#ifndef OPK_BASE_METRIC_H
#define OPK_BASE_METRIC_H

#include "offpeak.h"

#define OPK_PROFILER_COUNT (OPK_PROFILER_PC + 1)

/* Whether it measures instructions, without counters: its metrics are shipped data. */
static inline bool opk_profiler_is_code(enum opk_profiler profiler)
{
	return profiler == OPK_PROFILER_SASS || profiler == OPK_PROFILER_PC;
}
/* " for PM sampling", for messages after a metric's name; "" for ranges. */
const char *opk_profiler_phrase(enum opk_profiler profiler);
/* Finds the profiler of this opk_profiler_name(); false for any other name. */
bool opk_profiler_parse(enum opk_profiler *out, const char *name);

/* A base metric: "dram__bytes". A full name adds a rollup or a submetric: "dram__bytes.sum". */
struct opk_metric {
	const char *name;
	enum opk_metric_type type;
	const char *hw_unit;     /* "dram" */
	const char *dim_unit;    /* "byte"; unit of the counter, not of a submetric */
	const char *description; /* one line */
	enum opk_scope scope;    /* set when a list or a description needs it */
};

#endif
