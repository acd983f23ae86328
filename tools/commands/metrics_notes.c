/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes for empty lists of metrics: units that exist, patterns that match. */
#include "commands/metrics_notes.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/strlist.h"
#include "chip/door.h"

/* ---- units */

/* In the catalog's order; false when out of memory. */
static bool list_units(struct opk_strlist *out, const struct opk_catalog *catalog)
{
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const char *unit = opk_catalog_get(catalog, i)->hw_unit;

		if (*unit && !opk_strlist_contains(out, unit) && !opk_strlist_add(out, unit))
			return false;
	}
	return true;
}

static bool has_unit(const struct opk_strlist *units, const char *unit)
{
	for (size_t i = 0; i < units->count; i++)
		if (!strcasecmp(units->items[i], unit))
			return true;
	return false;
}

/* Whether the unit is the reason; if so, notes it. */
static bool note_unit(const struct opk_catalog *catalog, const char *unit)
{
	opk_autostrlist struct opk_strlist units = { 0 };
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *text = NULL;

	if (!unit || !list_units(&units, catalog) || has_unit(&units, unit))
		return false;
	for (size_t i = 0; i < units.count; i++)
		opk_buf_add_printf(&list, "%s%s", i ? ", " : "", units.items[i]);
	text = opk_buf_take_text(&list);
	if (!text)
		return false;
	app_note("no metric matches: %s has no unit '%s'; its units: %s", opk_catalog_chip(catalog),
	         unit, text);
	return true;
}

/* ---- patterns */

static bool is_plain(const char *glob)
{
	return *glob && !strpbrk(glob, "*?[\\");
}

/* Counts the base metrics that meet all conditions with this pattern. */
static size_t count_matches(struct app *app, const struct opk_catalog *catalog,
                            const struct opk_metric_list_options *filter, const char *glob)
{
	struct opk_metric_list_options other = *filter;
	struct opk_matcher *matcher = NULL;
	size_t count = 0;

	other.globs = &glob;
	other.glob_count = 1;
	if (opk_matcher_new(&matcher, app->ctx, &other)) {
		opk_clear_errors(app->ctx);
		return 0;
	}
	for (size_t i = 0; i < opk_catalog_count(catalog); i++)
		count += opk_matcher_match(matcher, opk_catalog_get(catalog, i));
	opk_matcher_free(matcher);
	return count;
}

/* Whether the name is nvprof's; if so, notes it. */
static bool note_nvprof(struct app *app, const struct opk_catalog *catalog, const char *name)
{
	struct opk_legacy *legacy = NULL;

	if (opk_legacy_new(&legacy, app->ctx, catalog, name))
		opk_clear_errors(app->ctx);
	if (!legacy)
		return false;
	app_note("no metric matches '%s'; it is a name of nvprof's: 'offpeak describe %s %s' shows "
	         "what it is today",
	         name, opk_catalog_chip(catalog), name);
	opk_legacy_free(legacy);
	return true;
}

/* Whether there is a note on a name without wildcards. */
static bool note_name(struct app *app, const struct opk_catalog *catalog,
                      const struct opk_metric_list_options *filter, const char *name,
                      bool submetrics)
{
	opk_autofree char *wider = opk_printf("*%s*", name);
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	size_t count = wider ? count_matches(app, catalog, filter, wider) : 0;

	if (metric && strcmp(metric->name, name)) {
		app_note(submetrics
		                 ? "no metric matches '%s': %s has no such rollup or submetric"
		                 : "no metric matches '%s': globs go over base names such as %s, "
		                   "without rollup or submetric: --submetrics lists those, too",
		         name, metric->name);
		return true;
	}
	if (count) {
		app_note("no metric matches '%s'; '%s' matches %zu", name, wider, count);
		return true;
	}
	if (note_nvprof(app, catalog, name))
		return true;
	metric = metric ? NULL : opk_catalog_nearest(catalog, name);
	if (metric)
		app_note("no metric matches '%s', did you mean %s?", name, metric->name);
	return metric != NULL;
}

/* Notes the metric nearest to a pattern without wildcards; false: no metric is near. */
static bool note_pattern(const struct opk_catalog *catalog, const char *glob)
{
	opk_autofree char *words = opk_strdup(glob);
	const struct opk_metric *nearest;
	size_t length = 0;

	for (size_t i = 0; words && words[i]; i++)
		if (!strchr("*?[]", words[i]))
			words[length++] = words[i];
	if (!words || !length)
		return false;
	words[length] = '\0';
	nearest = opk_catalog_nearest(catalog, words);
	if (nearest)
		app_note("no metric matches '%s'; the nearest name is %s", glob, nearest->name);
	return nearest != NULL;
}

/* Notes an expression with blanks, which names don't have. */
static bool note_blanks(struct app *app, const struct opk_catalog *catalog,
                        const struct opk_metric_list_options *filter)
{
	opk_autofree char *joined = filter->grep ? opk_strdup(filter->grep) : NULL;
	struct opk_metric_list_options other = *filter;
	size_t count;

	if (!joined || !strchr(joined, ' '))
		return false;
	for (char *blank = joined; (blank = strchr(blank, ' '));)
		*blank = '.';
	other.grep = joined;
	count = count_matches(app, catalog, &other, "*");
	if (count)
		app_note("no metric matches; names have no blanks: --grep '%s' matches %zu", joined,
		         count);
	return count > 0;
}

void note_no_metric(struct app *app, const struct opk_catalog *catalog,
                    const struct opk_metric_list_options *filter, bool submetrics)
{
	bool full = false;

	if (note_unit(catalog, filter->unit) || note_blanks(app, catalog, filter))
		return;
	for (size_t i = 0; i < filter->glob_count; i++) {
		if (is_plain(filter->globs[i])
		    && note_name(app, catalog, filter, filter->globs[i], submetrics))
			return;
		full |= strchr(filter->globs[i], '.') != NULL;
	}
	if (!full && filter->glob_count == 1 && !filter->grep
	    && note_pattern(catalog, filter->globs[0]))
		return;
	app_note(full && !submetrics
	                 ? "no metric matches; globs go over base names such as dram__bytes, "
	                   "without rollup or submetric: --submetrics lists those, too"
	                 : "no metric matches");
}

/* Whether a name without wildcards exists. */
static bool is_known(const struct opk_catalog *catalog, const char *name, bool submetrics)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	size_t count = metric && submetrics ? opk_catalog_submetric_count(catalog, metric) : 0;
	const char *suffix = metric ? name + strlen(metric->name) : "";

	for (size_t i = 0; i < count; i++)
		if (!strcmp(opk_catalog_submetric(catalog, metric, i).suffix, suffix))
			return true;
	return metric && !*suffix;
}

/* Whether any name matches this pattern, ignoring all other conditions. */
static bool matches_any(const struct opk_matcher *matcher, const struct opk_catalog *catalog,
                        bool submetrics)
{
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);
		size_t count = submetrics ? opk_catalog_submetric_count(catalog, metric) : 0;

		if (opk_matcher_match(matcher, metric))
			return true;
		for (size_t j = 0; j < count; j++) {
			char full[1024];

			snprintf(full, sizeof full, "%s%s", metric->name,
			         opk_catalog_submetric(catalog, metric, j).suffix);
			if (opk_matcher_match_full(matcher, metric, full))
				return true;
		}
	}
	return false;
}

static bool is_idle(struct app *app, const struct opk_catalog *catalog, const char *glob,
                    bool submetrics)
{
	struct opk_metric_list_options alone = OPK_INIT(alone);
	struct opk_matcher *matcher;
	bool matches;

	if (is_plain(glob))
		return !is_known(catalog, glob, submetrics);
	alone.globs = &glob;
	alone.glob_count = 1;
	if (opk_matcher_new(&matcher, app->ctx, &alone)) {
		opk_clear_errors(app->ctx);
		return false;
	}
	matches = matches_any(matcher, catalog, submetrics);
	opk_matcher_free(matcher);
	return !matches;
}

void note_idle_patterns(struct app *app, const struct opk_catalog *catalog,
                        const struct opk_metric_list_options *filter, bool submetrics)
{
	for (size_t i = 0; filter->glob_count > 1 && i < filter->glob_count; i++) {
		const char *glob = filter->globs[i];

		if (is_idle(app, catalog, glob, submetrics)
		    && !(is_plain(glob) && note_name(app, catalog, filter, glob, submetrics)))
			app_note("no metric matches '%s'", glob);
	}
}
