/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

enum { MIN_CHIPS = 2, MAX_CHIPS = 30, NAME_COLUMNS = 2, MAX_COLUMNS = NAME_COLUMNS + MAX_CHIPS };

struct compare_args {
	const char *profiler, *unit, *grep;
	bool all;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, "range|pm", "whose catalogs: range (default) or pm", OPTION_TEXT,
	  offsetof(struct compare_args, profiler) },
	{ "unit", 0, "HWUNIT", "only metrics of this hardware unit", OPTION_TEXT,
	  offsetof(struct compare_args, unit) },
	{ "grep", 0, "REGEX", "only where name or description match, in any case", OPTION_TEXT,
	  offsetof(struct compare_args, grep) },
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
	const struct opk_metric *shown;         /* the first of them that the filters let through */
	const struct opk_metric *of[MAX_CHIPS]; /* NULL where the chip lacks it */
};

struct comparison {
	struct app *app;
	const struct compare_args *args;
	enum opk_profiler profiler;
	const struct opk_matcher *matcher;
	struct opk_catalog *catalogs[MAX_CHIPS];
	size_t chips;
	struct found *found; /* by name */
	size_t found_count, common;
	struct unit *units;
	size_t unit_count;
};

static void close_catalogs(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->chips; i++)
		opk_catalog_free(comparison->catalogs[i]);
	free(comparison->found);
	free(comparison->units);
}

/* A chip named twice would be two columns of one name. */
static int open_catalog(struct comparison *comparison, const char *chip)
{
	struct app *app = comparison->app;
	struct opk_catalog *catalog;
	int code = opk_catalog_new(&catalog, app->ctx, chip, comparison->profiler);

	if (code)
		return app_fail(app, code);
	for (size_t i = 0; i < comparison->chips; i++) {
		if (strcmp(opk_catalog_chip(comparison->catalogs[i]), opk_catalog_chip(catalog)))
			continue;
		opk_catalog_free(catalog);
		return app_error(app, OPK_EUSAGE, "compare: %s is named twice", chip);
	}
	comparison->catalogs[comparison->chips++] = catalog;
	return OPK_OK;
}

/* The chip's next metric, or NULL past its end. */
static const struct opk_metric *peek(const struct comparison *comparison, const size_t *next,
                                     size_t chip)
{
	const struct opk_catalog *catalog = comparison->catalogs[chip];

	return next[chip] < opk_catalog_count(catalog) ? opk_catalog_get(catalog, next[chip])
	                                               : NULL;
}

/*
 * The catalogs are sorted: takes the least name off all that begin with it; false at the end of
 * all of them.
 */
static bool take_next(struct found *out, const struct comparison *comparison, size_t *next)
{
	const char *least = NULL;

	*out = (struct found){ 0 };
	for (size_t i = 0; i < comparison->chips; i++) {
		out->of[i] = peek(comparison, next, i);
		if (out->of[i] && (!least || strcmp(out->of[i]->name, least) < 0))
			least = out->of[i]->name;
	}
	for (size_t i = 0; i < comparison->chips; i++) {
		if (out->of[i] && strcmp(out->of[i]->name, least))
			out->of[i] = NULL;
		next[i] += out->of[i] != NULL;
	}
	return least != NULL;
}

static bool all_have(const struct comparison *comparison, const struct found *found)
{
	for (size_t i = 0; i < comparison->chips; i++)
		if (!found->of[i])
			return false;
	return true;
}

/* The array has room for as many as all catalogs together hold. */
static void count_unit(struct comparison *comparison, size_t chip, const char *name)
{
	struct unit *unit = comparison->units, *end = unit + comparison->unit_count;

	while (unit < end && strcmp(unit->name, name))
		unit++;
	if (unit == end) {
		*unit = (struct unit){ .name = name };
		comparison->unit_count++;
	}
	unit->counts[chip]++;
}

/* A few metrics have another unit or description on another chip: each chip counts for its own. */
static void match(struct comparison *comparison, struct found *found)
{
	for (size_t i = 0; i < comparison->chips; i++) {
		const struct opk_metric *metric = found->of[i];

		if (!metric || !opk_matcher_match(comparison->matcher, metric))
			continue;
		count_unit(comparison, i, metric->hw_unit);
		if (!found->shown)
			found->shown = metric;
	}
}

static int compare_units(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

static int find(struct comparison *comparison)
{
	size_t next[MAX_CHIPS] = { 0 }, room = 0;
	struct found found;

	for (size_t i = 0; i < comparison->chips; i++)
		room += opk_catalog_count(comparison->catalogs[i]);
	comparison->found = calloc(room + 1, sizeof *comparison->found);
	comparison->units = calloc(room + 1, sizeof *comparison->units);
	if (!comparison->found || !comparison->units)
		return app_error(comparison->app, OPK_EFAILED, "out of memory");
	while (take_next(&found, comparison, next)) {
		match(comparison, &found);
		if (!found.shown)
			continue;
		comparison->found[comparison->found_count++] = found;
		comparison->common += all_have(comparison, &found);
	}
	qsort(comparison->units, comparison->unit_count, sizeof *comparison->units, compare_units);
	return OPK_OK;
}

/* Behind the columns that are there, one for each chip; returns how many there are then. */
static size_t add_chips(struct opk_column *columns, size_t count, enum opk_cell_type type,
                        const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->chips; i++)
		columns[count++] = (struct opk_column){ opk_catalog_chip(comparison->catalogs[i]),
			                                type };
	return count;
}

static int print_record(const struct comparison *comparison)
{
	static const struct opk_column columns[] = {
		{ "profiler", OPK_CELL_STRING },
		{ "chips", OPK_CELL_LIST },
		{ "in_all", OPK_CELL_UINT },
		{ "in_some", OPK_CELL_UINT },
	};
	const char *chips[MAX_CHIPS];

	for (size_t i = 0; i < comparison->chips; i++)
		chips[i] = opk_catalog_chip(comparison->catalogs[i]);
	return opk_out_record(comparison->app->out, columns,
	                      (union opk_cell[]){
				      { .string = opk_profiler_name(comparison->profiler) },
				      { .list = { chips, comparison->chips } },
				      { .uint = comparison->common },
				      { .uint = comparison->found_count - comparison->common },
			      },
	                      4);
}

/* Columns are read until the next table begins: they are the caller's. */
static int print_units(const struct comparison *comparison, struct opk_column *columns)
{
	size_t count = add_chips(columns, 1, OPK_CELL_UINT, comparison);
	int code;

	columns[0] = (struct opk_column){ "hw_unit", OPK_CELL_STRING };
	code = opk_out_table(comparison->app->out, "units", columns, count);
	for (size_t i = 0; !code && i < comparison->unit_count; i++) {
		union opk_cell cells[MAX_COLUMNS] = { { .string = comparison->units[i].name } };

		for (size_t chip = 0; chip < comparison->chips; chip++)
			cells[1 + chip].uint = comparison->units[i].counts[chip];
		code = opk_out_row(comparison->app->out, cells);
	}
	return code;
}

static int print_metric(const struct comparison *comparison, const struct found *found)
{
	union opk_cell cells[MAX_COLUMNS] = {
		{ .string = found->shown->name },
		{ .string = found->shown->hw_unit },
	};

	for (size_t i = 0; i < comparison->chips; i++)
		cells[NAME_COLUMNS + i].boolean = found->of[i] != NULL;
	return opk_out_row(comparison->app->out, cells);
}

static int print_metrics(const struct comparison *comparison, struct opk_column *columns)
{
	size_t count = add_chips(columns, NAME_COLUMNS, OPK_CELL_BOOL, comparison);
	int code;

	columns[0] = (struct opk_column){ "metric", OPK_CELL_STRING };
	columns[1] = (struct opk_column){ "hw_unit", OPK_CELL_STRING };
	code = opk_out_table(comparison->app->out, "metrics", columns, count);
	for (size_t i = 0; !code && i < comparison->found_count; i++)
		if (comparison->args->all || !all_have(comparison, &comparison->found[i]))
			code = print_metric(comparison, &comparison->found[i]);
	return code;
}

static int print(const struct comparison *comparison)
{
	struct opk_column unit_columns[MAX_COLUMNS], metric_columns[MAX_COLUMNS];
	int code = print_record(comparison);

	if (!code)
		code = print_units(comparison, unit_columns);
	if (!code)
		code = print_metrics(comparison, metric_columns);
	if (!code && !comparison->found_count)
		app_note("no metric matches");
	return app_end_output(comparison->app, code);
}

static int compare(struct comparison *comparison)
{
	struct app *app = comparison->app;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < app->argument_count; i++)
		code = open_catalog(comparison, app->arguments[i]);
	if (!code)
		code = find(comparison);
	if (!code)
		code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = print(comparison);
	close_catalogs(comparison);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct compare_args *args = data;
	struct comparison comparison = { .app = app, .args = args };
	struct opk_metric_filter filter = OPK_INIT(filter);
	struct opk_matcher *matcher;
	int code;

	if (app->argument_count < MIN_CHIPS || app->argument_count > MAX_CHIPS)
		return app_error(app, OPK_EUSAGE,
		                 "compare: name %d to %d chips; 'offpeak chips' lists them",
		                 MIN_CHIPS, MAX_CHIPS);
	if (args->profiler && !opk_profiler_parse(&comparison.profiler, args->profiler))
		return app_error(app, OPK_EUSAGE, "--profiler %s: use range or pm", args->profiler);
	filter.unit = args->unit;
	filter.grep = args->grep;
	code = opk_matcher_new(&matcher, app->ctx, &filter);
	if (code)
		return app_fail(app, code);
	comparison.matcher = matcher;
	code = compare(&comparison);
	opk_matcher_free(matcher);
	return code;
}

const struct command compare_command = {
	.name = "compare",
	.synopsis = "CHIP CHIP... [OPTIONS]",
	.summary = "tell which metrics some chips have and others lack",
	.details =
		"Two tables over base metrics: how many each chip has of each hardware unit, and the\n"
		"metrics that only some of the chips have, with --all every one. At least two chips,\n"
		"at most thirty. in_all counts the metrics that all of the chips have, in_some the\n"
		"others. A metric that is of another unit on another chip is shown with the first\n"
		"chip's.",
	.options = specs,
	.args_size = sizeof(struct compare_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
