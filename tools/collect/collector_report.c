/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process recorded and missed: statistics for the recording, and messages. */
#include "collect/collector.h"

static const char *why_no_launch(void)
{
	const struct kernel_filter *filter = collector.settings.kernel;
	static char text[320];

	if (!collector.launches)
		return "nothing was launched";
	if (!collector.outside_ranges)
		return "no launch passed the filters; kernels' names have their parameters";
	if (!filter || !filter->last)
		return "each launch of a chosen kernel is left out by --nvtx-include or --nvtx-exclude";
	snprintf(text, sizeof text,
	         "launches chosen by '#%" PRIu64 "' are left out by --nvtx-include or "
	         "--nvtx-exclude: such numbers count those, too. --skip %" PRIu64
	         " --count %" PRIu64 " counts only what the ranges leave, of all kernels together",
	         filter->first, filter->first - 1, filter->last - filter->first + 1);
	return text;
}

static const char *why_empty(void)
{
	if (collector_has_scope() && !collector.marked)
		return collector.settings.capture_range == CAPTURE_OFFPEAK
		               ? "the program did not call offpeak_start(), and --capture-range "
		                 "waits for it"
		               : "the program did not call cudaProfilerStart(), and "
		                 "--capture-range waits for it";
	switch (collector.settings.mode) {
	case MODE_SAMPLING:
		return collector.unheard && !collector.profiling.segments
		               ? "CUPTI's callbacks belong to another library, and without them "
		                 "only contexts of the CUDA runtime are seen"
		               : "no sample came";
	case MODE_PC:
		return "no sample came";
	case MODE_TRACE:
		return "nothing ran on the GPU, or the program asked CUPTI for activity records "
		       "itself, as torch.profiler does";
	case MODE_USER_RANGE:
		return "no range that was to be recorded was pushed";
	default:
		return why_no_launch();
	}
}

static void report_counts(const struct opk_stats *stats)
{
	if (collector.settings.mode == MODE_SAMPLING || collector.settings.mode == MODE_PC)
		say(0, "%" PRIu64 " samples recorded", stats->ranges);
	else if (collector.settings.mode != MODE_TRACE)
		say(0, "%" PRIu64 " launches, %" PRIu64 " ranges recorded", stats->launches,
		    stats->ranges);
	if (collector.settings.trace)
		say(0, "%" PRIu64 " records of what ran", stats->activities);
}

static void report(const struct opk_stats *stats)
{
	if (collector.settings.verbose)
		report_counts(stats);
	/* The refusal of a session was already reported. */
	if (!stats->ranges && !stats->activities && !stats->drop_count
	    && (collector.profiling.segments || !collector.context_count))
		say(0, "note: %s: %s",
		    collector.profiling.segments ? "the recording is empty"
		                                 : "nothing was recorded of this process",
		    why_empty());
	if (collector.counts.reckoned)
		say(0,
		    "note: CUPTI had no times of %" PRIu64
		    " samples, as where the program begins to trace itself: each is taken to "
		    "follow the one before it",
		    collector.counts.reckoned);
	for (size_t i = 0; i < stats->drop_count; i++)
		say(0, "note: %" PRIu64 " are missing: %s", stats->drops[i].count,
		    stats->drops[i].reason);
}

void collector_end_recording(void)
{
	struct opk_drop drops[DROPS];
	opk_autofacts struct facts facts = { 0 };
	struct opk_stats stats = {
		.launches = collector.launches,
		.ranges = collector.counts.ranges,
		.activities = collector.counts.activities,
		.depth = collector.depth,
		.drops = drops,
	};

	for (size_t i = 0; i < DROPS; i++)
		if (collector.counts.drops[i])
			drops[stats.drop_count++] = (struct opk_drop){ drop_reasons[i],
				                                       collector.counts.drops[i] };
	/* If there are several files, each has its own. */
	if (collector.profiling.segments && !collector.settings.rotate_ns)
		clocks_facts(&facts);
	stats.run = facts.items;
	stats.run_count = facts.count;
	if (collector.profiling.segments)
		segments_finish(collector.profiling.segments, &stats);
	if (collector.settings.opened)
		opened_append(collector.settings.opened);
	session_report_turns(&collector.profiling);
	report(&stats);
	clocks_report();
}
