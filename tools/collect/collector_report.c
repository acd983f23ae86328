/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process recorded and what it missed: statistics of the recording, and messages. */
#include "collect/collector.h"

#include <inttypes.h>
#include <stdio.h>

#include "collect/recording/recording.h"

static const char *const drop_reasons[DROPS] = {
	[DROP_PROFILER] = "the profiler refused or dropped them",
	[DROP_OVERFLOW] =
		"samples came faster than they could be decoded, and sampling paused; a longer "
		"--interval or fewer metrics help",
	[DROP_OTHER_RANGE] = "another range was open",
	[DROP_OTHER_DOMAIN] =
		"a range of another NVTX domain was open; --nvtx-include RANGE/ takes "
		"those of one domain",
	[DROP_NO_CONTEXT] = "the thread had no CUDA context yet",
	[DROP_GRAPH] = "they are graphs: --push records them, in one pass or by rotation",
	[DROP_ENDED] = "sampling ended before the program, as after a cuptiFinalize() of its own",
	[DROP_INTERRUPTED] = "sampling stood still, as where the program begins to trace itself; "
			     "one sample spans such a time",
	[DROP_RECORDS] = "records of what ran: they came faster than they could be written",
	[DROP_TIMELESS] = "records of what ran: CUPTI could not take their times",
	[DROP_TAKEN] = "records of what ran after the program asked CUPTI for them itself, counted "
		       "as one",
	[DROP_HOMELESS] = "records of what ran: there was no recording to write them to",
	[DROP_DEAF] = "records of what ran after CUPTI refused to hand them over, counted as one",
	[DROP_CONTEXTS] = "in a context beyond the 64th of the process",
	[DROP_FINALIZED] = "what followed a cuptiFinalize() of the program within 0.25 s, counted "
			   "as one",
	[DROP_UNHEARD] = "launched while another library had CUPTI's callbacks after a "
			 "cuptiFinalize() of the program, counted as one",
	[DROP_CAPTURE] = "begun while a stream was captured into a graph",
	[DROP_CUT] = "the rest of user ranges in which a stream was captured into a graph",
	[DROP_STOPPED] = "the rest of user ranges that were open at cudaProfilerStop()",
	[DROP_NESTED] = "nested in a recorded range; --replay application or user takes each level",
};

static const char *why_empty(void)
{
	if (collector_has_scope() && !collector.marked)
		return "the program did not call cudaProfilerStart(), and --capture-range waits for "
		       "it";
	switch (collector.settings.mode) {
	case MODE_SAMPLING:
		return collector.unheard && !collector.profiling.segments
		               ? "CUPTI's callbacks belong to another library, and without them "
		                 "only contexts of the CUDA runtime are seen"
		               : "no sample came";
	case MODE_TRACE:
		return "nothing ran on the GPU, or the program asked CUPTI for activity records "
		       "itself, as torch.profiler does";
	case MODE_USER_RANGE:
		return "no range that was to be recorded was pushed";
	default:
		return collector.launches ? "no launch passed the filters; kernels' names have "
		                            "their parameters"
		                          : "nothing was launched";
	}
}

static void report_counts(const struct opk_stats *stats)
{
	if (collector.settings.mode == MODE_SAMPLING)
		fprintf(stderr, "offpeak-collect: %" PRIu64 " samples recorded\n", stats->ranges);
	else if (collector.settings.mode != MODE_TRACE)
		fprintf(stderr,
		        "offpeak-collect: %" PRIu64 " launches, %" PRIu64 " ranges recorded\n",
		        stats->launches, stats->ranges);
	if (collector.settings.trace)
		fprintf(stderr, "offpeak-collect: %" PRIu64 " records of what ran\n",
		        stats->activities);
}

static void report(const struct opk_stats *stats)
{
	if (collector.settings.verbose)
		report_counts(stats);
	/* Where a session was refused, that was said. */
	if (!stats->ranges && !stats->activities && !stats->drop_count
	    && (collector.profiling.segments || !collector.context_count))
		fprintf(stderr, "offpeak-collect: note: %s: %s\n",
		        collector.profiling.segments ? "the recording is empty"
		                                     : "nothing was recorded of this process",
		        why_empty());
	if (collector.reckoned)
		fprintf(stderr,
		        "offpeak-collect: note: CUPTI had no times of %" PRIu64
		        " samples, as where the program begins to trace itself: each is taken to "
		        "follow the one before it\n",
		        collector.reckoned);
	for (size_t i = 0; i < stats->drop_count; i++)
		fprintf(stderr, "offpeak-collect: note: %" PRIu64 " are missing: %s\n",
		        stats->drops[i].count, stats->drops[i].reason);
}

void collector_end_recording(void)
{
	struct opk_drop drops[DROPS];
	struct opk_stats stats = {
		.launches = collector.launches,
		.ranges = collector.recorded + collector.samples,
		.activities = collector.activities,
		.depth = collector.depth,
		.drops = drops,
	};

	for (size_t i = 0; i < DROPS; i++)
		if (collector.drops[i])
			drops[stats.drop_count++] = (struct opk_drop){ drop_reasons[i],
				                                       collector.drops[i] };
	if (collector.profiling.segments)
		segments_finish(collector.profiling.segments, &stats);
	if (collector.settings.opened)
		opened_append(collector.settings.opened);
	report(&stats);
	clocks_report();
}
