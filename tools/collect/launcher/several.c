/* SPDX-License-Identifier: BSD-2-Clause */
/* Several sets: which can be collected for one recording, and the settings of each. */
#include "collect/launcher/launcher.h"

static const char *const contents[] = {
	[OPK_PROFILER_RANGE] = "counters",
	[OPK_PROFILER_PM] = NULL,
	[OPK_PROFILER_SASS] = "counts of instructions",
	[OPK_PROFILER_PC] = "samples of instructions",
};

/* ---- which sets go together ---------------------------------------------------------------- */

static int check_pair(const struct collection *one, const struct collection *other)
{
	const char *a = one->settings.set_path, *b = other->settings.set_path;

	if (strcmp(one->chip, other->chip) != 0)
		return say(OPK_EUSAGE, "%s is for %s and %s for %s: one recording is of one chip",
		           a, one->chip, b, other->chip);
	if (one->profiler != other->profiler)
		return OPK_OK;
	return say(OPK_EUSAGE,
	           "%s and %s are both for the profiler %s: build one set of both, or make two "
	           "recordings",
	           a, b, opk_profiler_name(one->profiler));
}

static int read_set(struct collection *out, const struct settings *settings, const char *path)
{
	opk_autoset struct collect_set set = { 0 };

	TRY(strategy_open(&set, settings, path));
	*out = (struct collection){ .settings = *settings, .profiler = set.meta->profiler };
	out->settings.set_path = path;
	/* All processes of all runs share one file. */
	out->settings.merge = true;
	out->what = contents[out->profiler];
	if (!out->what)
		return say(OPK_EUSAGE,
		           "%s is a PM-sampling set: its samples can't be joined with what other "
		           "sets record; collect it alone",
		           path);
	out->chip = opk_strdup(set.meta->chip);
	return out->chip ? OPK_OK : say(OPK_EFAILED, "out of memory");
}

/* Each has a profiler of its own, so that there are at most MOST_SETS. */
static int read_sets(struct collections *all, const struct settings *settings,
                     const struct opk_strlist *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct collection one = { .what = NULL };
		int code = read_set(&one, settings, paths->items[i]);

		for (size_t j = 0; !code && j < all->count; j++)
			code = check_pair(&all->items[j], &one);
		if (code) {
			free(one.chip);
			return code;
		}
		all->items[all->count++] = one;
	}
	return OPK_OK;
}

/* ---- what concerns each set ---------------------------------------------------------------- */

static unsigned use_of(const struct collection *one)
{
	return one->profiler == OPK_PROFILER_SASS  ? FOR_SASS
	       : one->profiler == OPK_PROFILER_PC  ? FOR_PC
	       : one->settings.range == RANGE_USER ? FOR_RANGES
	                                           : FOR_LAUNCHES;
}

static bool concerns(const struct collection *one, enum setting_id id)
{
	unsigned uses = settings_table[id].uses & FOR_ANY;

	if (id == SETTING_RANGE || id == SETTING_REPLAY)
		return one->profiler == OPK_PROFILER_RANGE;
	if (id == SETTING_SOURCE)
		return one->profiler == profiler_of_source(one->settings.source);
	return !uses || uses & use_of(one);
}

/* A setting that concerns no set stays, so that the first one refuses it. */
static bool is_anothers(const struct collections *all, const struct collection *one,
                        enum setting_id id)
{
	bool others = false;

	for (size_t i = 0; i < all->count; i++)
		others |= concerns(&all->items[i], id);
	return others && !concerns(one, id);
}

static void forget(struct settings *settings, const struct settings *defaults, enum setting_id id)
{
	const struct setting *row = &settings_table[id];

	memcpy((char *)settings + row->offset, (const char *)defaults + row->offset, row->size);
	settings->given[id] = false;
	unsetenv(row->variable);
}

int several_keep(struct collection *one)
{
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const char *text = getenv(settings_table[i].variable);

		free(one->environment[i]);
		one->environment[i] = text ? opk_strdup(text) : NULL;
		if (text && !one->environment[i])
			return say(OPK_EFAILED, "out of memory");
	}
	return OPK_OK;
}

void several_enter(const struct collection *one)
{
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (one->environment[i])
			settings_export((enum setting_id)i, one->environment[i]);
		else
			unsetenv(settings_table[i].variable);
}

/* Each collection's settings and environment are those that were given, less what others need. */
static int divide(struct collections *all)
{
	static struct collection given;
	struct settings defaults;
	bool drop[MOST_SETS][SETTINGS_TOTAL];

	TRY(several_keep(&given));
	settings_begin(&defaults);
	for (size_t i = 0; i < all->count; i++)
		for (size_t id = 0; id < SETTINGS_TOTAL; id++)
			drop[i][id] = is_anothers(all, &all->items[i], (enum setting_id)id);
	for (size_t i = 0; i < all->count; i++) {
		struct collection *one = &all->items[i];

		several_enter(&given);
		settings_export(SETTING_SET, one->settings.set_path);
		for (size_t id = 0; id < SETTINGS_TOTAL; id++)
			if (one->settings.given[id] && drop[i][id])
				forget(&one->settings, &defaults, (enum setting_id)id);
		TRY(several_keep(one));
	}
	return OPK_OK;
}

int several_plan(struct collections *all, const struct settings *settings,
                 const struct opk_strlist *sets)
{
	if (settings->cache)
		return say(OPK_EUSAGE,
		           "--cache keeps recordings of one set: collect each set alone, and join "
		           "them with 'offpeak merge'");
	TRY(read_sets(all, settings, sets));
	return divide(all);
}
