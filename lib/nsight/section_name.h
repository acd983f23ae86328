/* SPDX-License-Identifier: BSD-2-Clause */
/* What a metric name in Nsight Compute's sense asks for. */
#ifndef OPK_SECTION_NAME_H
#define OPK_SECTION_NAME_H

#include "offpeak.h"

struct opk_asked {
	const char *name;   /* inside the text, after its prefix */
	const char *reason; /* why hardware does not count it; NULL: it does */
	enum opk_profiler profiler;
	bool device;    /* it counts the whole device, and is collected apart from others */
	bool breakdown; /* "breakdown:": the constituents of this throughput are meant */
	bool pattern;   /* "regex:": the name is a regular expression */
	bool group;     /* "group:": a list of Nsight Compute's own */
};

struct opk_asked opk_asked_name(const char *text);
/* Whether a full name has its rollup or submetric: "dram__bytes.sum", not "dram__bytes". */
bool opk_asked_has_rollup(const char *name);

#endif
