/* SPDX-License-Identifier: BSD-2-Clause */
/* Launches: which ones are recorded, and the contents of their rows. */
#include "collect/collector.h"

/* Applies --skip, --every, --count, --max-ranges, in this order. */
static bool wanted_by_number(void)
{
	const struct settings *settings = &collector.settings;
	uint64_t match = collector.matches++;

	return match >= settings->skip
	       && (!settings->every || (match - settings->skip) % settings->every == 0)
	       && (!settings->count || match - settings->skip < settings->count);
}

/* Whether the thread is in ranges that the filter matches. */
static bool is_in_ranges(const struct nvtx_filter *filter)
{
	struct user_nest *const *nests;
	size_t count;

	/* Some filters match outside of all ranges, too. */
	if (nvtx_filter_match(filter, NULL, 0))
		return true;
	nests = user_nests(&count);
	for (size_t i = 0; i < count; i++)
		if (nvtx_filter_match(filter, nests[i]->ranges, nests[i]->count))
			return true;
	return started_range_match(filter);
}

static bool wanted_by_ranges(void)
{
	const struct settings *settings = &collector.settings;

	return (!settings->nvtx_include || is_in_ranges(settings->nvtx_include))
	       && (!settings->nvtx_exclude || !is_in_ranges(settings->nvtx_exclude));
}

/*
 * The profiler makes no ranges for graphs, and breaks graphs whose kernels it should replay: unless
 * ranges are pushed, graphs run unrecorded.
 */
static bool begin_session(struct session *session, const struct opk_range *row,
                          const struct launch *launch)
{
	if (launch->function || settings_push(&collector.settings))
		return session_begin(session, row, launch_stream(launch));
	session_suspend(session);
	collector.counts.drops[DROP_GRAPH]++;
	return false;
}

/* Counting stops at a launch that is not chosen. */
static bool leave_out(const struct launch *launch)
{
	bool counted = collector.settings.mode == MODE_SASS && !collector.capture_count;
	struct sass *sass = counted ? collector_sass(launch->context) : NULL;

	if (sass)
		sass_rest(sass);
	return false;
}

static bool count_instructions(const struct launch *launch, uint64_t index)
{
	struct sass *sass;

	if (!wanted_by_number())
		return leave_out(launch);
	if (!launch->function) {
		collector.counts.drops[DROP_GRAPH]++;
		return leave_out(launch);
	}
	sass = collector_sass(launch->context);
	if (!sass || !sass_begin(sass, launch, index)) {
		collector_miss(launch->context);
		return false;
	}
	collector.counted = sass;
	return true;
}

static bool record(const struct launch *launch, struct kernel *kernel, uint64_t index)
{
	const struct settings *settings = &collector.settings;
	struct session *session = collector_session(launch->context);
	const char *path = user_range_path();
	struct opk_range row;

	if (!wanted_by_number()
	    || (settings->max_ranges && collector.begun >= settings->max_ranges))
		return false;
	if (!session) {
		collector_miss(launch->context);
		return false;
	}
	row = collector_row(launch->context);
	launch_describe(&row, &kernel->function, launch);
	row.symbol = kernel->symbol;
	row.kernel = kernel->name;
	row.launch = index;
	row.nvtx = *path ? strdup(path) : NULL;
	if (!begin_session(session, &row, launch)) {
		segments_clear_range(&row);
		return false;
	}
	collector.begun++;
	collector.launch = session;
	return true;
}

/* Stops the profiler: it would make a range for a launch that shall not be recorded. */
static bool rest(const struct launch *launch)
{
	struct session *session = collector.capture_count ? NULL
	                                                  : collector_session(launch->context);

	leave_out(launch);
	if (session)
		session_suspend(session);
	return false;
}

static bool begin(const struct launch *launch)
{
	struct kernel *kernel = kernels_find(collector.kernels, launch->symbol);
	bool wanted = kernel && kernels_launch(collector.kernels, kernel);
	uint64_t index = ++collector.launches;

	tally->launches = index;
	if (collector.resting)
		return false;
	if (collector.outside)
		return rest(launch);
	if (wanted && !wanted_by_ranges()) {
		collector.outside_ranges++;
		wanted = false;
	}
	if (!wanted)
		return leave_out(launch);
	if (!collector.capture_count)
		return collector.settings.mode == MODE_SASS ? count_instructions(launch, index)
		                                            : record(launch, kernel, index);
	collector.counts.drops[DROP_CAPTURE]++;
	return false;
}

static void sample_instructions(const struct launch *launch)
{
	struct pc_sampler *sampler = collector_pc(launch->context);

	if (sampler)
		pc_sampler_launch(sampler);
	else
		collector_miss(launch->context);
}

/* Other threads launch meanwhile: the context may have another sampler, or none. */
static void count_sampled(const struct launch *launch)
{
	collector_auto bool locked = collector_lock();
	const struct collector_context *entry = locked ? collector_find(launch->context) : NULL;

	if (entry && entry->pc)
		pc_sampler_launched(entry->pc, launch);
}

/* In an exit handler. */
static bool miss_late(void)
{
	if (collector.ended && collector.pid == getpid()
	    && collector.settings.mode != MODE_SAMPLING)
		__atomic_add_fetch(&tally->late, 1, __ATOMIC_RELAXED);
	return false;
}

bool collector_begin_launch(const struct launch *launch, unsigned subscription)
{
	bool launching = false;

	if (launch_is_captured(launch))
		return false;
	if (!collector_lock())
		return miss_late();
	collector.launcher = pthread_self();
	collector.launches_in = launch->context;
	/* Sampling only has to begin before the first kernel. */
	if (collector.settings.mode == MODE_SAMPLING)
		collector_session(launch->context);
	else if (collector.settings.mode == MODE_PC)
		sample_instructions(launch);
	/* Else it had to wait, and its end may not be heard. */
	else if (subscription == collector.subscriptions)
		launching = collector.launching = begin(launch);
	collector_unlock();
	return launching || collector.settings.mode == MODE_PC;
}

static void end(bool launched)
{
	if (collector.launch && launched)
		session_end(collector.launch);
	else if (collector.launch)
		session_cancel(collector.launch);
	if (collector.counted)
		sass_end(collector.counted, launched);
	collector.launch = NULL;
	collector.counted = NULL;
	collector.launching = false;
	pthread_cond_broadcast(&collector.launched);
}

void collector_lose_launch(void)
{
	CUcontext ours;
	bool entered;

	if (!collector.launching)
		return;
	entered = !target.cuCtxPushCurrent(collector.launches_in);
	/* As a rule it was launched. */
	end(true);
	if (entered)
		target.cuCtxPopCurrent(&ours);
}

void collector_end_launch(const struct launch *launch, bool launched)
{
	if (collector.settings.mode == MODE_PC && launched)
		count_sampled(launch);
	if (collector.settings.mode == MODE_PC || !collector_lock_over())
		return;
	/* It may be lost, and another one be in progress. */
	if (collector.launching && pthread_equal(collector.launcher, pthread_self()))
		end(launched);
	collector_unlock();
}
