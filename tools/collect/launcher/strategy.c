/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses mode and turns for a set and its options, and refuses conflicts. */
#include "collect/launcher/launcher.h"
#include "base/ascii.h"

static size_t count_inflated(const struct opk_meta *meta)
{
	size_t count;

	free(inflated_metrics(&count, meta));
	return count;
}

/* One pass per turn, if there are several; for repeated ranges, levels also take turns. */
static int take_turns(struct settings *settings, size_t *passes, const struct opk_meta *meta,
                      enum collect_turns turns)
{
	if (turns == TURNS_REPEAT || meta->passes > 1)
		settings->turns = turns;
	*passes = meta->passes > 1 ? meta->passes : 0;
	return OPK_OK;
}

static int need_one_pass(const struct opk_meta *meta, const char *others)
{
	if (meta->passes == 1)
		return OPK_OK;
	return say(OPK_EUSAGE, "the set needs %zu passes: use --replay %s, or build smaller sets",
	           meta->passes, others);
}

static int choose_for_launches(struct settings *settings, size_t *passes,
                               const struct opk_meta *meta)
{
	settings->mode = MODE_LAUNCH_RANGE;
	switch (settings->replay) {
	case REPLAY_AUTO:
	case REPLAY_KERNEL:
		/* One pass needs no replay. */
		settings->tight = !settings->push && count_inflated(meta) > 0;
		if (meta->passes == 1)
			return OPK_OK;
		settings->mode = MODE_KERNEL_REPLAY;
		if (!settings->push)
			return OPK_OK;
		return say(OPK_EUSAGE,
		           "--push has one pass, the set needs %zu: add --replay rotate or "
		           "application",
		           meta->passes);
	case REPLAY_NONE:
		return need_one_pass(meta, "kernel, rotate or application");
	case REPLAY_ROTATE:
		return take_turns(settings, passes, meta, TURNS_ROTATE);
	case REPLAY_APPLICATION:
		settings->application = true;
		return take_turns(settings, passes, meta, TURNS_ROTATE);
	default:
		return say(OPK_EUSAGE, "--replay user repeats user ranges: add --range user");
	}
}

static int choose_for_ranges(struct settings *settings, size_t *passes, const struct opk_meta *meta)
{
	settings->mode = MODE_USER_RANGE;
	switch (settings->replay) {
	case REPLAY_AUTO:
	case REPLAY_NONE:
		return need_one_pass(
			meta,
			"user (the program repeats its ranges) or application (it is run several "
			"times)");
	case REPLAY_USER:
		return take_turns(settings, passes, meta, TURNS_REPEAT);
	case REPLAY_APPLICATION:
		settings->application = true;
		return take_turns(settings, passes, meta, TURNS_ROTATE);
	default:
		return say(
			OPK_EUSAGE,
			"--replay %s is for launches: use none, user or application with --range "
			"user",
			settings_word(SETTING_REPLAY, settings->replay));
	}
}

/* Refuses options that would have no effect. */
static int check_use(const struct settings *settings, unsigned use, const char *what)
{
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		unsigned uses = settings_table[i].uses & FOR_ANY;

		if (settings->given[i] && uses && !(uses & use))
			return say(OPK_EUSAGE, "--%s does nothing for %s", settings_table[i].name,
			           what);
	}
	if (!(use & (FOR_SAMPLES | FOR_TRACE | FOR_SASS | FOR_PC))
	    || (settings->range == RANGE_AUTO && settings->replay == REPLAY_AUTO))
		return OPK_OK;
	return say(OPK_EUSAGE,
	           "%s is collected %s: --range and --replay are for sets of the range profiler",
	           what, use == FOR_SASS ? "without replay" : "over time");
}

/* The two meanings of --interval: PM samples take a time, PC samples cycles. */
static int check_interval(const struct settings *settings, bool cycles)
{
	if (!settings->given[SETTING_INTERVAL]
	    || cycles == ((settings->interval_ns & INTERVAL_CYCLES) != 0))
		return OPK_OK;
	return say(OPK_EUSAGE, cycles ? "--interval of PC samples is 2^5 to 2^31 cycles: 2^12"
	                              : "--interval of PM samples is a time: 10us");
}

enum opk_profiler profiler_of_source(enum collect_source source)
{
	static const enum opk_profiler profilers[] = {
		[SOURCE_PC] = OPK_PROFILER_PC, [SOURCE_SASS] = OPK_PROFILER_SASS
	};

	return profilers[source];
}

static int check_source(const struct settings *settings, const struct opk_meta *meta)
{
	if (!settings->source || meta->profiler == profiler_of_source(settings->source))
		return OPK_OK;
	return say(OPK_EUSAGE, "--source %s: the set is for the profiler %s",
	           settings_word(SETTING_SOURCE, settings->source),
	           opk_profiler_name(meta->profiler));
}

static int check_dump_when(const struct settings *settings, const struct opk_meta *meta)
{
	struct opk_nearest nearest = { .name = settings->dump_when.metric };

	if (!settings->given[SETTING_DUMP_WHEN])
		return OPK_OK;
	if (!settings->keep_ns)
		return say(OPK_EUSAGE, "--dump-when writes what --keep holds: add --keep 30s");
	for (size_t i = 0; i < meta->metric_count; i++) {
		if (!strcmp(meta->metrics[i], nearest.name))
			return OPK_OK;
		opk_nearest_try(&nearest, meta->metrics[i]);
	}
	return say(
		OPK_EUSAGE,
		"--dump-when: the set has no metric %s%s%s%s 'offpeak info %s' lists its metrics",
		nearest.name, nearest.best ? ", did you mean " : ":",
		nearest.best ? nearest.best : "", nearest.best ? "?" : "", settings->set_path);
}

static int check_options(const struct settings *settings, const struct opk_meta *meta)
{
	if (settings->watch && meta->profiler != OPK_PROFILER_PM)
		return say(OPK_EUSAGE, "--watch takes a PM-sampling set, such as pm-overview");
	if (settings->given[SETTING_DURATION] && !settings->watch)
		return say(OPK_EUSAGE, "--duration ends --watch: a program ends by itself");
	if ((settings->keep_ns || settings->rotate_ns) && !settings->watch)
		return say(OPK_EUSAGE, "--%s is for --watch",
		           settings->keep_ns ? "keep" : "rotate-files");
	TRY(check_dump_when(settings, meta));
	if (settings->given[SETTING_PREFER] && settings->replay != REPLAY_ROTATE)
		return say(OPK_EUSAGE, "--prefer chooses a plan for --replay rotate");
	TRY(check_source(settings, meta));
	TRY(check_interval(settings, meta->profiler == OPK_PROFILER_PC));
	if (meta->profiler == OPK_PROFILER_SASS)
		return check_use(settings, FOR_SASS, "a set of SASS metrics");
	if (meta->profiler == OPK_PROFILER_PC)
		return check_use(settings, FOR_PC, "a set of PC samples");
	if (meta->profiler == OPK_PROFILER_PM)
		return check_use(settings, FOR_SAMPLES, "a PM-sampling set");
	if (settings->range != RANGE_USER)
		return check_use(settings, FOR_LAUNCHES, "launches of a range-profiler set");
	if (settings->given[SETTING_LEVEL] && settings->replay == REPLAY_USER)
		return say(OPK_EUSAGE,
		           "--level does nothing with --replay user: its turns take every level");
	return check_use(settings, FOR_RANGES, "--range user");
}

static int choose_mode(struct settings *settings, size_t *passes, const struct opk_meta *meta)
{
	if (settings->range == RANGE_USER)
		return choose_for_ranges(settings, passes, meta);
	if (meta->profiler == OPK_PROFILER_RANGE)
		return choose_for_launches(settings, passes, meta);
	settings->mode = meta->profiler == OPK_PROFILER_PM     ? MODE_SAMPLING
	                 : meta->profiler == OPK_PROFILER_SASS ? MODE_SASS
	                                                       : MODE_PC;
	return OPK_OK;
}

static int choose(struct settings *settings, size_t *passes, const struct opk_meta *meta)
{
	TRY(check_options(settings, meta));
	TRY(choose_mode(settings, passes, meta));
	if (settings->caches == CACHES_NONE || settings->mode != MODE_KERNEL_REPLAY)
		return OPK_OK;
	return say(
		OPK_EUSAGE,
		"--cache-control flush works once a launch, but kernel replay repeats a launch for "
		"each of the %zu passes, and restores memory in between: use --replay rotate or "
		"application",
		meta->passes);
}

static void report(const struct settings *settings, size_t passes, const struct opk_meta *meta)
{
	size_t inflated = count_inflated(meta), turns = passes ? passes : 1;

	if (settings->mode == MODE_LAUNCH_RANGE && inflated && settings_push(settings))
		say(OPK_OK,
		    "note: with %s, %zu of %zu metrics count idle time around short kernels; the "
		    "recording marks them, and --replay auto alone avoids it",
		    settings->push ? "--push" : "a filter", inflated, meta->metric_count);
	if (settings->verbose)
		say(OPK_OK, "mode %s, %zu pass%s, %zu turn%s%s",
		    settings_word(SETTING_MODE, settings->mode), meta->passes,
		    meta->passes == 1 ? "" : "es", turns, turns == 1 ? "" : "s",
		    settings->application ? ", each a run of the program" : "");
}

/* A file that can't be opened may be meant as a set's name, or contain YAML. */
static void advise_build(const char *path)
{
	const char *ending = opk_ending(path);
	bool is_yaml = !strcmp(ending, ".yaml") || !strcmp(ending, ".yml");

	if (strcmp(ending, ".opk") != 0)
		say(OPK_EINPUT, "-c takes what 'offpeak build --chip CHIP %s -o SET.opk' makes",
		    is_yaml ? path : "SET");
}

int strategy_open(struct collect_set *set, const struct settings *settings, const char *path)
{
	int code = collect_set_open(set, settings, path);

	if (code && !set->file)
		advise_build(path);
	if (code || !strcmp(set->meta->kind, "set"))
		return code;
	return say(OPK_EINPUT, "%s is a %s: -c takes what 'offpeak build' makes", path,
	           set->meta->kind);
}

int strategy_choose(struct settings *settings, size_t *passes)
{
	opk_autoset struct collect_set set = { 0 };

	*passes = 0;
	if (!settings->set_path && settings->source == SOURCE_PC) {
		settings->mode = MODE_PC;
		TRY(check_interval(settings, true));
		return check_use(settings, FOR_PC, "PC samples");
	}
	if (!settings->set_path) {
		settings->mode = MODE_TRACE;
		return check_use(settings, FOR_TRACE, "--trace without a set");
	}
	TRY(strategy_open(&set, settings, settings->set_path));
	if (settings->given[SETTING_PREFER] && settings->prefer == PREFER_CHEAP && !set.rotates
	    && settings->replay == REPLAY_ROTATE)
		return say(OPK_EUSAGE, "--prefer cheap: the set has one plan");
	TRY(choose(settings, passes, set.meta));
	report(settings, *passes, set.meta);
	return OPK_OK;
}

/* The number after a name in a file of /proc; 0: none. */
static unsigned long long number_in(const char *path, const char *format)
{
	opk_autofclose FILE *file = fopen(path, "r");
	unsigned long long number = 0;
	char line[256];

	while (file && fgets(line, sizeof line, file))
		sscanf(line, format, &number);
	return number;
}

int strategy_permission(void)
{
	enum { SYS_ADMIN = 21 };

	if (!number_in("/proc/driver/nvidia/params", "RmProfilingAdminOnly: %llu")
	    || number_in("/proc/self/status", "CapEff: %llx") >> SYS_ADMIN & 1)
		return OPK_OK;
	return say(
		OPK_EFAILED,
		"no permission to read GPU counters (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35): run "
		"as root or with CAP_SYS_ADMIN, or load the driver with "
		"NVreg_RestrictProfilingToAdminUsers=0; --best-effort runs the program unrecorded");
}
