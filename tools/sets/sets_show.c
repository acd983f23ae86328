/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets SET: a page about one metric set. */
#include "sets/sets_show.h"

#include <string.h>

#include "common/args.h"
#include "plan/door.h"

/* A set is shown for this chip, if it claims it. */
static const char usual_chip[] = "GH100";

struct page {
	struct app *app;
	struct opk_set *set;
	const struct opk_chip *chip;
	struct opk_chips *chips;
	struct opk_plan *plan; /* NULL: no library */
	struct opk_listing *columns;
	struct opk_catalog *catalog;
};

/* A column of the set, as OPK_PLAN_COLUMNS has it. */
struct entry {
	const char *name, *unit, *group, *metric, *formula, *description, *prose;
	bool shown;
};

const struct opk_metric *sets_find_metric(const struct opk_catalog *catalog, const char *name,
                                          const char **unit)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);

	for (size_t i = 0; metric && i < opk_catalog_submetric_count(catalog, metric); i++) {
		struct opk_submetric sub = opk_catalog_submetric(catalog, metric, i);

		if (!strcmp(sub.suffix, name + strlen(metric->name)))
			*unit = sub.dim_unit;
	}
	return metric;
}

/* ---- what can be shown */

/* The named chip; the usual chip; or the last chip that the set claims. */
static int choose_chip(struct page *page, const struct option_list *named)
{
	struct opk_ctx *ctx = page->app->ctx;
	int code = opk_chips_new(&page->chips, ctx);

	if (code || named->count)
		return code ? code
		            : opk_chips_resolve(&page->chip, ctx, page->chips, named->items[0]);
	for (size_t i = 0; i < opk_chips_count(page->chips); i++) {
		const struct opk_chip *chip = opk_chips_get(page->chips, i);

		if (!opk_set_supports(page->set, chip))
			continue;
		page->chip = chip;
		if (!strcmp(chip->name, usual_chip))
			break;
	}
	if (page->chip)
		return OPK_OK;
	return app_error(page->app, OPK_EUSAGE, "set %s claims no chip that the library knows",
	                 opk_set_name(page->set));
}

static int plan_set(struct page *page)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_ctx *ctx = page->app->ctx;

	options.chip = page->chip->name;
	TRY(opk_plan_new(&page->plan, ctx, page->set, &options));
	TRY(opk_plan_list(&page->columns, ctx, page->plan, OPK_PLAN_COLUMNS));
	TRY(opk_catalog_new(&page->catalog, ctx, page->chip->name, opk_plan_profiler(page->plan)));
	return opk_catalog_complete(page->catalog, ctx);
}

static size_t count_entries(const struct page *page)
{
	size_t count = page->plan ? opk_listing_count(page->columns) : 0;

	if (count)
		return count;
	return page->plan ? opk_plan_metrics(page->plan)->count : opk_set_metric_count(page->set);
}

static struct entry entry_of(const union opk_cell *cells)
{
	return (struct entry){
		.name = cells[0].string,
		.shown = cells[1].boolean,
		.unit = cells[2].string,
		.group = cells[3].string,
		.metric = cells[4].string,
		.formula = cells[5].string,
		.description = cells[6].string,
		.prose = cells[7].string,
	};
}

/* A plain list of metrics has no columns; without a library, show the names in the file. */
static struct entry entry_at(const struct page *page, size_t i)
{
	struct entry entry = {
		.metric = "", .formula = "", .unit = "", .group = "", .shown = true
	};
	const struct opk_metric *metric;
	const char *name;

	if (!page->plan) {
		entry.name = opk_set_metric(page->set, i);
		return entry;
	}
	if (opk_listing_count(page->columns))
		entry = entry_of(opk_listing_get(page->columns, i));
	else
		entry.name = opk_plan_metrics(page->plan)->items[i];
	name = *entry.metric ? entry.metric : entry.name;
	metric = *entry.formula ? NULL : sets_find_metric(page->catalog, name, &entry.unit);
	if (metric)
		entry.description = metric->description;
	return entry;
}

/* ---- the page */

/* Adds prose as several lines, so that none is cut: only the first has the field's name. */
static bool add_prose(struct app_fields *fields, struct opk_strlist *lines, const char *text)
{
	enum { WIDTH = 66, MOST = 12 };

	for (size_t i = 0; *text; i++) {
		size_t length = strlen(text), end = length;

		/* The last line takes the rest. */
		if (length > WIDTH && i < MOST)
			for (end = WIDTH; end && text[end] != ' ';)
				end--;
		end = end ? end : length;
		if (!opk_strlist_take(lines, opk_strndup(text, end)))
			return false;
		field_text(fields, i ? "" : "description", lines->items[i]);
		text += end + strspn(text + end, " ");
	}
	return true;
}

static int print_summary(const struct page *page)
{
	opk_autostrlist struct opk_strlist lines = { 0 };
	const char *prose = opk_set_description(page->set);
	struct app_fields fields = { 0 };

	field_text(&fields, "set", opk_set_name(page->set));
	if (!app_shows_table(page->app))
		field_text(&fields, "description", prose);
	else if (!add_prose(&fields, &lines, prose))
		return app_nomem(page->app);
	field_text(&fields, "profiler", opk_profiler_name(opk_set_profiler(page->set)));
	field_text(&fields, "path", opk_set_path(page->set));
	if (page->plan) {
		field_text(&fields, "chip", opk_plan_chip(page->plan));
		field_number(&fields, "passes", opk_plan_passes(page->plan));
		field_number(&fields, "metric_count", opk_plan_metrics(page->plan)->count);
		field_number(&fields, "left_out", opk_plan_missing(page->plan)->count);
	}
	return app_record(page->app, &fields);
}

/* Prints a group's title at its start, and its prose only the first time. */
static void print_heading(struct app *app, const char **last, const struct entry *entry)
{
	const char *title = entry->shown ? entry->group : "For formulas alone";

	if (*last && !strcmp(*last, title))
		return;
	if (*last || *title)
		opk_out_heading(app->out, title, entry->shown && entry->prose ? entry->prose : "");
	*last = title;
}

/* Prints formulas separately, because they are long. */
static void print_formulas(const struct page *page)
{
	static const struct opk_column columns[] = {
		{ "derived", OPK_CELL_STRING },
		{ "formula", OPK_CELL_STRING },
	};
	bool begun = false;

	for (size_t i = 0; i < count_entries(page); i++) {
		struct entry entry = entry_at(page, i);

		if (!*entry.formula)
			continue;
		if (!begun)
			app_table(page->app, "formulas", columns);
		begun = true;
		app_row(page->app, cell_text(entry.name), cell_text(entry.formula));
	}
}

/* On a terminal: metrics with their descriptions, then formulas. */
static void print_metrics_for_people(const struct page *page)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },
		{ "unit", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};
	const char *last = NULL;

	app_table(page->app, "metrics", columns);
	for (size_t i = 0; i < count_entries(page); i++) {
		struct entry entry = entry_at(page, i);
		opk_autofree char *text = NULL;

		if (*entry.metric)
			text = opk_printf("%s: %s", entry.metric,
			                  entry.description ? entry.description : "");
		print_heading(page->app, &last, &entry);
		app_row(page->app, cell_text(entry.name), cell_text(entry.unit),
		        cell_text(text ? text : entry.description));
	}
	print_formulas(page);
}

static void print_metrics(const struct page *page)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },      { "unit", OPK_CELL_STRING },
		{ "group", OPK_CELL_STRING },       { "shown", OPK_CELL_BOOL },
		{ "short_for", OPK_CELL_STRING },   { "formula", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};

	app_table(page->app, "metrics", columns);
	for (size_t i = 0; i < count_entries(page); i++) {
		struct entry entry = entry_at(page, i);

		app_row(page->app, cell_text(entry.name), cell_text(entry.unit),
		        cell_text(entry.group), cell_flag(entry.shown), cell_text(entry.metric),
		        cell_text(entry.formula), cell_text(entry.description));
	}
}

static void print_groups(const struct page *page)
{
	static const struct opk_column columns[] = {
		{ "group", OPK_CELL_STRING },
		{ "text", OPK_CELL_STRING },
	};
	const char *last = "";

	app_table(page->app, "groups", columns);
	for (size_t i = 0; i < count_entries(page); i++) {
		struct entry entry = entry_at(page, i);

		if (strcmp(last, entry.group) && *entry.group)
			app_row(page->app, cell_text(entry.group), cell_text(entry.prose));
		last = entry.group;
	}
}

static int print(const struct page *page)
{
	struct app *app = page->app;
	bool for_people = app_shows_table(app) && !app->only;

	TRY(app_begin_output(app));
	TRY(print_summary(page));
	(for_people ? print_metrics_for_people : print_metrics)(page);
	if (!for_people)
		print_groups(page);
	return app_end_output(app);
}

static int show(struct page *page, const char *spec, const struct option_list *chips,
                const struct option_list *params)
{
	struct app *app = page->app;
	int code = opk_set_find(&page->set, app->ctx, spec);

	if (!code)
		code = give_parameters(app, params, page->set);
	if (code)
		return code;
	code = choose_chip(page, chips);
	if (!code)
		code = plan_set(page);
	if (code == OPK_ENVIDIA && !page->plan && !chips->count) {
		app_note("without NVIDIA's libraries these are the entries as they are written");
		code = OPK_OK;
	}
	return code ? code : print(page);
}

int sets_show(struct app *app, const char *spec, const struct option_list *chips,
              const struct option_list *params, unsigned table)
{
	struct page page = { .app = app };
	int code = app_choose_table(app, SETS_TABLES, table, "metrics");

	if (!code)
		code = show(&page, spec, chips, params);
	opk_catalog_free(page.catalog);
	opk_listing_free(page.columns);
	opk_plan_free(page.plan);
	opk_chips_free(page.chips);
	opk_set_free(page.set);
	return code;
}
