/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak compare: what only some chips count. */
#include <string.h>

#include "chip/door.h"
#include "commands.h"
#include "common/args.h"

enum { MIN_CHIPS = 2, MAX_CHIPS = 30 };

struct compare_args {
	const char *unit, *grep;
	unsigned profiler, table;
	bool all;
};

#define TABLES "summary|units|metrics"

static const struct option_spec specs[] = {
	{ "profiler", 0, PROFILER_WORDS, "whose catalogs; default range", OPTION_WORD,
	  offsetof(struct compare_args, profiler) },
	{ "unit", 0, "HWUNIT", "only metrics of this hardware unit", OPTION_TEXT,
	  offsetof(struct compare_args, unit) },
	{ "grep", 0, "REGEX", "only where name or description match, in any case", OPTION_TEXT,
	  offsetof(struct compare_args, grep) },
	TABLE_OPTION(TABLES, "metrics", struct compare_args, table),
	{ "all", 0, NULL, "the metrics that all of the chips have, too", OPTION_FLAG,
	  offsetof(struct compare_args, all) },
	{ 0 },
};

struct unit {
	const char *name;
	uint64_t counts[MAX_CHIPS];
};

/* A base metric that at least one of the chips has. */
struct found {
	const struct opk_metric *shown;         /* the first that the filters admit */
	const struct opk_metric *of[MAX_CHIPS]; /* NULL if the chip lacks it */
};

struct comparison {
	struct app *app;
	const struct compare_args *args;
	struct opk_matcher *matcher;
	struct opk_catalog *catalogs[MAX_CHIPS];
	const char *names[MAX_CHIPS]; /* of the chips */
	size_t chips;
	struct found *found; /* by name */
	size_t found_count, found_capacity, common;
	struct unit *units;
	size_t unit_count, unit_capacity;
};

/* The same chip twice would make two columns with one name. */
static int open_catalog(struct comparison *c, const char *chip)
{
	struct opk_catalog **catalog = &c->catalogs[c->chips];

	TRY(opk_catalog_new(catalog, c->app->ctx, chip, profiler_of_word(c->args->profiler)));
	c->names[c->chips++] = opk_catalog_chip(*catalog);
	for (size_t i = 0; i + 1 < c->chips; i++)
		if (!strcmp(c->names[i], c->names[c->chips - 1]))
			return app_error(c->app, OPK_EUSAGE, "compare: %s is named twice", chip);
	return OPK_OK;
}

/*
 * Takes the least name from all sorted catalogs that have it next; false at the end of all of them.
 */
static bool take_next(struct found *out, const struct comparison *c, size_t *next)
{
	const char *least = NULL;

	*out = (struct found){ 0 };
	for (size_t i = 0; i < c->chips; i++) {
		if (next[i] < opk_catalog_count(c->catalogs[i]))
			out->of[i] = opk_catalog_get(c->catalogs[i], next[i]);
		if (out->of[i] && (!least || strcmp(out->of[i]->name, least) < 0))
			least = out->of[i]->name;
	}
	for (size_t i = 0; i < c->chips; i++) {
		if (out->of[i] && strcmp(out->of[i]->name, least))
			out->of[i] = NULL;
		next[i] += out->of[i] != NULL;
	}
	return least != NULL;
}

static bool all_have(const struct comparison *c, const struct found *found)
{
	for (size_t i = 0; i < c->chips; i++)
		if (!found->of[i])
			return false;
	return true;
}

static int count_unit(struct comparison *c, size_t chip, const char *name)
{
	struct unit *unit = c->units, *end = unit + c->unit_count;

	while (unit < end && strcmp(unit->name, name))
		unit++;
	if (unit == end) {
		unit = opk_append(&c->units, &c->unit_capacity, &c->unit_count, sizeof *unit);
		if (!unit)
			return app_nomem(c->app);
		unit->name = name;
	}
	unit->counts[chip]++;
	return OPK_OK;
}

/* A metric's unit or description may differ between chips: each chip is matched with its own. */
static int match(struct comparison *c, struct found *found)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < c->chips; i++) {
		const struct opk_metric *metric = found->of[i];

		if (!metric || !opk_matcher_match(c->matcher, metric))
			continue;
		code = count_unit(c, i, metric->hw_unit);
		if (!found->shown)
			found->shown = metric;
	}
	return code;
}

static int compare_units(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

static int find(struct comparison *c)
{
	size_t next[MAX_CHIPS] = { 0 };
	struct found found, *kept;

	while (take_next(&found, c, next)) {
		TRY(match(c, &found));
		if (!found.shown)
			continue;
		kept = opk_append(&c->found, &c->found_capacity, &c->found_count, sizeof *kept);
		if (!kept)
			return app_nomem(c->app);
		*kept = found;
		c->common += all_have(c, &found);
	}
	if (c->unit_count)
		qsort(c->units, c->unit_count, sizeof *c->units, compare_units);
	return OPK_OK;
}

static void print_record(const struct comparison *c)
{
	struct app_fields fields = { 0 };

	field_text(&fields, "profiler", opk_profiler_name(profiler_of_word(c->args->profiler)));
	field_list(&fields, "chips", c->names, c->chips);
	field_number(&fields, "in_all", c->common);
	field_number(&fields, "in_some", c->found_count - c->common);
	app_record(c->app, &fields);
}

static void print_units(const struct comparison *c)
{
	struct app_fields row = { 0 };

	field_text(&row, "hw_unit", NULL);
	for (size_t chip = 0; chip < c->chips; chip++)
		field_number(&row, c->names[chip], 0);
	app_fields_table(c->app, "units", &row);
	for (size_t i = 0; i < c->unit_count; i++) {
		row.cells[0] = cell_text(c->units[i].name);
		for (size_t chip = 0; chip < c->chips; chip++)
			row.cells[1 + chip] = cell_number(c->units[i].counts[chip]);
		opk_out_row(c->app->out, row.cells);
	}
}

static void print_metrics(const struct comparison *c)
{
	struct app_fields row = { 0 };

	field_text(&row, "metric", NULL);
	field_text(&row, "hw_unit", NULL);
	for (size_t chip = 0; chip < c->chips; chip++)
		field_flag(&row, c->names[chip], false);
	app_fields_table(c->app, "metrics", &row);
	for (size_t i = 0; i < c->found_count; i++) {
		const struct found *found = &c->found[i];

		if (!c->args->all && all_have(c, found))
			continue;
		row.cells[0] = cell_text(found->shown->name);
		row.cells[1] = cell_text(found->shown->hw_unit);
		for (size_t chip = 0; chip < c->chips; chip++)
			row.cells[2 + chip] = cell_flag(found->of[chip] != NULL);
		opk_out_row(c->app->out, row.cells);
	}
}

static int compare(struct comparison *c)
{
	struct opk_metric_list_options filter = OPK_INIT(filter);
	struct app *app = c->app;

	filter.unit = c->args->unit;
	filter.grep = c->args->grep;
	TRY(app_choose_table(app, TABLES, c->args->table, "metrics"));
	TRY(opk_matcher_new(&c->matcher, app->ctx, &filter));
	for (size_t i = 0; i < app->argument_count; i++)
		TRY(open_catalog(c, app->arguments[i]));
	TRY(find(c));
	TRY(app_begin_output(app));
	print_record(c);
	print_units(c);
	print_metrics(c);
	if (!c->found_count)
		app_note("no metric matches");
	return app_end_output(app);
}

static int run(struct app *app, void *data)
{
	struct comparison comparison = { .app = app, .args = data };
	int code;

	if (app->argument_count < MIN_CHIPS || app->argument_count > MAX_CHIPS)
		return app_error(app, OPK_EUSAGE,
		                 "compare: name %d to %d chips; 'offpeak chips' lists them",
		                 MIN_CHIPS, MAX_CHIPS);
	code = compare(&comparison);
	for (size_t i = 0; i < comparison.chips; i++)
		opk_catalog_free(comparison.catalogs[i]);
	free(comparison.found);
	free(comparison.units);
	opk_matcher_free(comparison.matcher);
	return code;
}

const struct command compare_command = {
	.name = "compare",
	.synopsis = "CHIP CHIP...",
	.summary = "show which metrics some chips have and others lack",
	.details =
		"Two tables over base metrics: how many each chip has of each hardware unit, and the\n"
		"metrics that only some of the chips have, with --all every one. At least two chips,\n"
		"at most thirty. in_all counts the metrics that all of the chips have, in_some the\n"
		"others. CSV has the table of metrics, or that of --table. A metric that is of another\n"
		"unit on another chip is shown with the first chip's.",
	.examples = {
		{ "compare GA100 GH100 --unit dram",
		  "what an H100 counts at its memory and an A100 does not" },
		{ "compare GH100 GB100 GB202 --grep tensor", "by words of names and descriptions" },
		{ "compare GH100 GB100 --all -o all.csv", "the metrics that both have, too" },
	},
	.options = specs,
	.args_size = sizeof(struct compare_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
