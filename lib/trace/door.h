/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TRACE_DOOR_H
#define OPK_TRACE_DOOR_H

#include "base/ctx.h"

/* Counts of what became events. */
struct opk_trace_counts {
	uint64_t events;  /* all, with those for names of processes and threads, and gaps */
	uint64_t samples; /* each makes an event per metric with a value */
	uint64_t values, missing_values; /* NaN: a slice instead of an event */
	uint64_t first_samples;          /* begin at an earlier event: left out */
	uint64_t incomplete_samples;     /* begun but not completed: left out */
	uint64_t kernels, copies, sets, nvtx_ranges, ranges, calls;
	uint64_t records_left_out;     /* of what ran, refused by `where` */
	uint64_t ranges_without_times; /* left out */
	uint64_t origin_ns;            /* host time that is 0 in the trace */
};

/* As opk_trace_save(), but to a sink; `counts` may be NULL. OPK_EFAILED also if the sink fails. */
int opk_trace_write(struct opk_trace_counts *counts, struct opk_ctx *ctx,
                    struct opk_file *const *files, size_t count,
                    const struct opk_trace_options *options, const struct opk_sink *sink);

#endif
