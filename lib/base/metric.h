/* SPDX-License-Identifier: BSD-2-Clause */
/* Profilers by name, and what NVIDIA's libraries say of a metric. */
#ifndef OPK_BASE_METRIC_H
#define OPK_BASE_METRIC_H

#include "offpeak.h"

/* The profiler of this opk_profiler_name(); false for anything else. */
bool opk_profiler_parse(enum opk_profiler *out, const char *name);

/* A base metric: "dram__bytes". A full name adds a rollup or a submetric: "dram__bytes.sum". */
struct opk_metric {
	const char *name;
	enum opk_metric_type type;
	const char *hw_unit;     /* "dram" */
	const char *dim_unit;    /* "byte"; of the counter itself, before any submetric */
	const char *description; /* one line */
	enum opk_scope scope;    /* once a list or a description asked for it */
};

#endif
