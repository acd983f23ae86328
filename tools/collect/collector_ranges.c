/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's own ranges, one nesting level at a time: the profiler gets ranges without nesting,
 * so levels cost no passes. Turns choose the level and the pass.
 */
#include "collect/collector.h"

static struct repetitions repetitions;

/*
 * The level of the innermost range, counted from the first range of its domain that --nvtx-include
 * and --capture-range admit; 0: outside such ranges, or inside one of --nvtx-exclude.
 */
static size_t level_of(const struct user_nest *nest)
{
	const struct nvtx_filter *filter = collector.settings.nvtx_include;
	size_t first = 1;

	if (nvtx_filter_match(collector.settings.nvtx_exclude, nest->ranges, nest->count))
		return 0;
	while (filter && first <= nest->count && !nvtx_filter_match(filter, nest->ranges, first))
		first++;
	if (first <= nest->outside)
		first = nest->outside + 1;
	return first <= nest->count ? nest->count - first + 1 : 0;
}

static struct turn turn_of(const char *name, size_t levels)
{
	const struct settings *settings = &collector.settings;
	size_t passes = collector.set.meta->passes;
	struct turn next = { .level = settings->level };

	if (settings->turns != TURNS_REPEAT)
		return next;
	next = repetitions_next(&repetitions, name, passes, levels);
	next.pass = passes > 1 ? next.pass + 1 : 0;
	return next;
}

/* Takes over `name`; finds out the session and context of the range. */
static void begin_range(struct open_range range, char *name, size_t pass)
{
	CUcontext context = NULL;
	struct session *session;
	struct opk_range row;

	if (target.cuCtxGetCurrent(&context))
		context = NULL;
	session = context ? collector_session(context) : NULL;
	if (!session) {
		collector.counts.drops[DROP_NO_CONTEXT] += !context;
		collector_miss(context);
		free(name);
		return;
	}
	if (collector.settings.turns == TURNS_REPEAT)
		session_select(session, pass);
	row = collector_row(context);
	row.name = name;
	if (!session_begin(session, &row, CU_STREAM_LEGACY)) {
		segments_clear_range(&row);
		return;
	}
	collector.begun++;
	collector.range = range;
	collector.range.session = session;
	collector.range.context = context;
}

/* Whether the profiler has room for a range that shall be recorded; NULL: one of the process. */
static bool can_begin(const struct user_nest *nest)
{
	const struct settings *settings = &collector.settings;
	const struct user_nest *open = collector.range.session ? collector.range.nest : NULL;
	bool other = nest && open && strcmp(nest->domain, open->domain) != 0;

	if (collector.capture_count)
		collector.counts.drops[DROP_CAPTURE]++;
	else if (collector.range.session)
		collector.counts.drops[other ? DROP_OTHER_DOMAIN : DROP_OTHER_RANGE]++;
	else
		return !collector.resting
		       && (!settings->max_ranges || collector.begun < settings->max_ranges);
	return false;
}

static void pushed(struct user_nest *nest)
{
	collector_auto bool locked = collector_lock();
	size_t level;

	if (!locked)
		return;
	if (collector.outside)
		nest->outside = nest->count;
	level = level_of(nest);
	if (!level)
		return;
	if (level > collector.depth)
		tally->depth = collector.depth = (uint32_t)level;
	/* The first ranges may have begun before the program used CUDA and loaded this library. */
	if (level == 1 || !nest->turn.level)
		nest->turn = turn_of(user_nest_path(nest), collector.depth ? collector.depth : 1);
	if (level != nest->turn.level) {
		collector.counts.drops[DROP_NESTED] += level > nest->turn.level
		                                       && collector.settings.turns == TURNS_NONE
		                                       && !collector.settings.application;
		return;
	}
	if (!can_begin(nest))
		return;
	begin_range((struct open_range){ .nest = nest, .depth = nest->count },
	            strdup(user_nest_path(nest)), nest->turn.pass);
}

static void popping(struct user_nest *nest)
{
	collector_auto bool locked = collector_lock();

	nest->outside -= nest->count <= nest->outside;
	if (locked && collector.range.session && collector.range.nest == nest
	    && collector.range.depth == nest->count)
		collector_end_range();
}

/* A range of the whole process is not nested, so its level is 1. */
static void started(uint64_t id, const struct user_range *range)
{
	collector_auto bool locked = collector_lock();
	const struct nvtx_filter *filter = collector.settings.nvtx_include;
	opk_autofree char *name = user_range_text(range);
	struct turn next;

	if (!locked || !name || collector.outside
	    || (filter && !nvtx_filter_match_started(filter, range))
	    || nvtx_filter_match_started(collector.settings.nvtx_exclude, range))
		return;
	if (!collector.depth)
		collector.depth = 1;
	next = turn_of(name, 1);
	if (next.level != 1 || !can_begin(NULL))
		return;
	begin_range((struct open_range){ .id = id }, opk_take(name), next.pass);
}

/* Runs on any thread, which may have another context. */
static void ended(uint64_t id, const struct user_range *range)
{
	collector_auto bool locked = collector_lock();
	CUcontext ours;

	(void)range;
	if (!locked || !collector.range.session || collector.range.nest || collector.range.id != id
	    || target.cuCtxPushCurrent(collector.range.context))
		return;
	collector_end_range();
	target.cuCtxPopCurrent(&ours);
}

void collector_listen_to_ranges(void)
{
	static const struct range_listener listener = { pushed, popping, started, ended };

	ranges_listen(&listener);
}
