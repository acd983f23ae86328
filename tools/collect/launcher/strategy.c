/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/launcher/strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/shared/set_file.h"

/* How a set is replayed; the words of --replay. */
enum replay {
	REPLAY_AUTO,
	REPLAY_KERNEL,
	REPLAY_NONE,
	REPLAY_ROTATE,
	REPLAY_USER,
	REPLAY_APPLICATION
};

static const char *const replay_names[] = { "auto",   "kernel", "none",
	                                    "rotate", "user",   "application" };

static int find_replay(enum replay *out, const char *name)
{
	for (size_t i = 0; i < sizeof replay_names / sizeof *replay_names; i++)
		if (!strcmp(replay_names[i], name)) {
			*out = (enum replay)i;
			return OPK_OK;
		}
	return launcher_fail(OPK_EUSAGE,
	                     "--replay is auto, kernel, none, rotate, user or application");
}

static size_t count_inflated(const struct opk_meta *meta)
{
	size_t count;

	free(inflated_metrics(&count, meta));
	return count;
}

static size_t count_grouped(const struct opk_meta *meta)
{
	size_t count = 0;

	for (size_t i = 0; i < meta->group_count; i++)
		count += meta->groups[i].metric_count;
	return count;
}

/* One pass a turn: the whole set where that is enough, else its groups. */
static int take_turns(struct strategy *strategy, const struct opk_meta *meta)
{
	size_t grouped = count_grouped(meta);

	strategy->groups = 1;
	if (meta->passes == 1)
		return OPK_OK;
	if (!meta->group_count)
		return launcher_fail(OPK_EUSAGE,
		                     "the set needs %zu passes and has no one-pass groups: "
		                     "build it without --no-groups, or use --replay kernel",
		                     meta->passes);
	if (grouped < meta->metric_count)
		launcher_fail(
			OPK_OK,
			"note: %zu of %zu metrics need several passes by themselves; they will be "
			"nan, --replay kernel collects them",
			meta->metric_count - grouped, meta->metric_count);
	strategy->groups = meta->group_count;
	strategy->grouped = true;
	return OPK_OK;
}

static int need_one_pass(const struct opk_meta *meta, const char *others)
{
	if (meta->passes == 1)
		return OPK_OK;
	return launcher_fail(OPK_EUSAGE,
	                     "the set needs %zu passes: use --replay %s, or build smaller sets",
	                     meta->passes, others);
}

static int choose_for_launches(struct strategy *strategy, enum replay replay,
                               const struct opk_meta *meta)
{
	strategy->mode = MODE_LAUNCH_RANGE;
	switch (replay) {
	case REPLAY_AUTO:
	case REPLAY_KERNEL:
		/* One pass needs no replay. */
		if (meta->passes != 1)
			strategy->mode = MODE_KERNEL_REPLAY;
		strategy->tight = count_inflated(meta) > 0;
		return OPK_OK;
	case REPLAY_NONE:
		return need_one_pass(meta, "kernel, rotate or application");
	case REPLAY_ROTATE:
		strategy->turns = meta->passes == 1 ? TURNS_NONE : TURNS_ROTATE;
		return take_turns(strategy, meta);
	case REPLAY_APPLICATION:
		strategy->application = true;
		return take_turns(strategy, meta);
	default:
		return launcher_fail(OPK_EUSAGE,
		                     "--replay user repeats user ranges: add --range user");
	}
}

static int choose_for_ranges(struct strategy *strategy, enum replay replay,
                             const struct opk_meta *meta)
{
	strategy->mode = MODE_USER_RANGE;
	switch (replay) {
	case REPLAY_AUTO:
	case REPLAY_NONE:
		return need_one_pass(meta,
		                     "user (the program repeats its ranges) or application (it "
		                     "is run several times)");
	case REPLAY_USER:
		strategy->turns = TURNS_REPEAT;
		return take_turns(strategy, meta);
	case REPLAY_APPLICATION:
		strategy->application = true;
		return take_turns(strategy, meta);
	default:
		return launcher_fail(OPK_EUSAGE,
		                     "--replay %s is for launches: use none, user or "
		                     "application with --range user",
		                     replay_names[replay]);
	}
}

static int choose_for_sampling(struct strategy *strategy, const struct request *request)
{
	strategy->mode = MODE_SAMPLING;
	if (strcmp(request->range, "auto") || strcmp(request->replay, "auto"))
		return launcher_fail(
			OPK_EUSAGE,
			"a PM-sampling set is collected over time: --range and --replay "
			"are for sets of the range profiler");
	return OPK_OK;
}

static int choose_launches(struct strategy *strategy, const struct request *request,
                           enum replay replay, const struct opk_meta *meta)
{
	int code = choose_for_launches(strategy, replay, meta);

	if (!request->push || code)
		return code;
	strategy->tight = false;
	if (strategy->mode == MODE_KERNEL_REPLAY)
		return launcher_fail(OPK_EUSAGE,
		                     "--push has one pass, the set needs %zu: add --replay "
		                     "rotate or application",
		                     meta->passes);
	return OPK_OK;
}

/* Options that would do nothing are mistakes. */
static int check_options(const struct request *request, const struct opk_meta *meta)
{
	static const struct {
		const char *variable, *option;
		bool launches, ranges, samples; /* what it is for */
	} uses[] = {
		{ SETTING_KERNEL, "--kernel", true, false, false },
		{ SETTING_SKIP, "--skip", true, false, false },
		{ SETTING_EVERY, "--every", true, false, false },
		{ SETTING_COUNT, "--count", true, false, false },
		{ SETTING_PUSH, "--push", true, false, false },
		{ SETTING_LEVEL, "--level", false, true, false },
		{ SETTING_NVTX_INCLUDE, "--nvtx-include", true, true, false },
		{ SETTING_MAX_RANGES, "--max-ranges", true, true, false },
		{ SETTING_INTERVAL, "--interval", false, false, true },
		{ SETTING_MAX_SAMPLES, "--max-samples", false, false, true },
		{ SETTING_BUFFER, "--buffer", false, false, true },
	};
	bool samples = meta->profiler == OPK_PROFILER_PM;
	bool ranges = !samples && !strcmp(request->range, "user");

	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
		bool useful = samples  ? uses[i].samples
		              : ranges ? uses[i].ranges
		                       : uses[i].launches;

		if (!useful && getenv(uses[i].variable))
			return launcher_fail(OPK_EUSAGE, "%s does nothing for %s", uses[i].option,
			                     samples  ? "a PM-sampling set"
			                     : ranges ? "--range user"
			                              : "launches of a range-profiler set");
	}
	if (request->has_level && !strcmp(request->replay, "user"))
		return launcher_fail(OPK_EUSAGE,
		                     "--level does nothing with --replay user: its turns "
		                     "take every level");
	return OPK_OK;
}

static int choose(struct strategy *strategy, const struct request *request,
                  const struct opk_meta *meta)
{
	enum replay replay = REPLAY_AUTO;
	int code = find_replay(&replay, request->replay);

	*strategy = (struct strategy){ .groups = 1 };
	if (!code)
		code = check_options(request, meta);
	if (code)
		return code;
	if (meta->profiler == OPK_PROFILER_PM)
		return choose_for_sampling(strategy, request);
	if (!strcmp(request->range, "auto"))
		return choose_launches(strategy, request, replay, meta);
	if (!strcmp(request->range, "user"))
		return choose_for_ranges(strategy, replay, meta);
	return launcher_fail(OPK_EUSAGE, "--range is auto or user");
}

static bool filters(void)
{
	static const char *const variables[] = { SETTING_KERNEL, SETTING_NVTX_INCLUDE,
		                                 SETTING_SKIP,   SETTING_EVERY,
		                                 SETTING_COUNT,  SETTING_MAX_RANGES };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (getenv(variables[i]))
			return true;
	return false;
}

static void tell(const struct strategy *strategy, const struct request *request,
                 const struct opk_meta *meta)
{
	size_t inflated = count_inflated(meta);

	if (strategy->mode == MODE_LAUNCH_RANGE && inflated && !strategy->tight
	    && (request->push || filters()))
		launcher_fail(
			OPK_OK,
			"note: with %s, %zu of %zu metrics count idle time around short kernels; "
			"the recording marks them, and --replay auto alone avoids it",
			request->push ? "--push" : "a filter", inflated, meta->metric_count);
	if (request->verbose)
		launcher_fail(OPK_OK, "mode %s, %zu pass%s, %zu turn%s%s",
		              settings_mode_name(strategy->mode), meta->passes,
		              meta->passes == 1 ? "" : "es", strategy->groups,
		              strategy->groups == 1 ? "" : "s",
		              strategy->application ? ", each a run of the program" : "");
}

int strategy_choose(struct strategy *strategy, const struct request *request)
{
	struct collect_set set;
	int code = collect_set_open(&set, request->set);

	if (!code && strcmp(set.meta->kind, "set"))
		code = launcher_fail(OPK_EINPUT,
		                     "%s is a recording: -c takes what 'offpeak build' makes",
		                     request->set);
	if (!code)
		code = choose(strategy, request, set.meta);
	if (!code)
		tell(strategy, request, set.meta);
	collect_set_clear(&set);
	return code;
}

static bool admin_only(void)
{
	FILE *file = fopen("/proc/driver/nvidia/params", "r");
	char line[256];
	int value = 0;

	while (file && fgets(line, sizeof line, file))
		sscanf(line, "RmProfilingAdminOnly: %d", &value);
	if (file)
		fclose(file);
	return value != 0;
}

/* CAP_SYS_ADMIN among the effective capabilities. */
static bool is_admin(void)
{
	enum { SYS_ADMIN = 21 };
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long mask = 0;
	char line[256];

	while (file && fgets(line, sizeof line, file))
		sscanf(line, "CapEff: %llx", &mask);
	if (file)
		fclose(file);
	return mask >> SYS_ADMIN & 1;
}

int strategy_permission(void)
{
	if (!admin_only() || is_admin())
		return OPK_OK;
	return launcher_fail(
		OPK_EFAILED,
		"no permission to read GPU counters (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "
		"35): run as root or with CAP_SYS_ADMIN, or load the driver with "
		"NVreg_RestrictProfilingToAdminUsers=0; --best-effort runs the program "
		"unrecorded");
}
