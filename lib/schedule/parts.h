/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw counters by where they are counted: those of different parts share no counter domain, so that
 * each part is packed into passes by itself.
 */
#ifndef OPK_PARTS_H
#define OPK_PARTS_H

#include "schedule/counters.h"
#include "schedule/packing.h"

struct opk_nv_scheduler;

/* Counters that share a pass; item i has members[first[i]] to members[first[i + 1] - 1]. */
struct opk_items {
	size_t count;
	size_t *first;
	size_t *members; /* numbers of counters */
	struct opk_packing packing;
	struct opk_bins bins; /* the best so far */
};

struct opk_part {
	struct opk_strlist domains;
	/* Counted by code patched into kernels: such counters share no pass with the hardware's. */
	bool software;
	bool has_trace_only; /* counters that take no room of the hardware's */
	size_t count;
	size_t *members;        /* numbers of counters */
	struct opk_items loose; /* each counter by itself */
	struct opk_items whole; /* a ratio's counters together, where one pass has room for them */
	size_t bound;           /* see opk_packing_bound() */
	/* What the questions need. */
	const struct opk_counters *counters;
	struct opk_nv_scheduler *scheduler;
};

struct opk_parts {
	struct opk_part *all;
	size_t count;
};

/*
 * Passes of a plan where part i takes counts[i]: those of the hardware, whose parts go side by
 * side, and after them those of software. `first` is the first one of software.
 */
size_t opk_parts_passes(size_t *first, const struct opk_parts *parts, const size_t *counts);

/* Splits the counters. OPK_EUSAGE: one is in no domain; OPK_ENVIDIA: no PerfWorks' planner. */
int opk_parts_split(struct opk_parts *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                    struct opk_nv_scheduler *scheduler);
/*
 * Makes the items, and a first packing of both kinds; ratios[i] says whether metric i is one.
 */
int opk_part_pack(struct opk_part *part, struct opk_ctx *ctx, const bool *ratios);
void opk_parts_clear(struct opk_parts *parts);

#endif
