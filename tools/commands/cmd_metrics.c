/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

struct metrics_args {
	const char *profiler, *type, *unit, *grep;
	bool submetrics, passes, count;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, "range|pm", "whose catalog: range (default) or pm", OPTION_TEXT,
	  offsetof(struct metrics_args, profiler) },
	{ "type", 0, "counter|ratio|throughput", "only metrics of this type", OPTION_TEXT,
	  offsetof(struct metrics_args, type) },
	{ "unit", 0, "HWUNIT", "only metrics of this hardware unit", OPTION_TEXT,
	  offsetof(struct metrics_args, unit) },
	{ "grep", 0, "REGEX", "only where name or description match, in any case", OPTION_TEXT,
	  offsetof(struct metrics_args, grep) },
	{ "submetrics", 0, NULL, "a row for each full name, with its own unit", OPTION_FLAG,
	  offsetof(struct metrics_args, submetrics) },
	{ "passes", 0, NULL, "how many passes each takes alone, and how it is counted", OPTION_FLAG,
	  offsetof(struct metrics_args, passes) },
	{ "count", 0, NULL, "only how many there are", OPTION_FLAG,
	  offsetof(struct metrics_args, count) },
	{ 0 },
};

/* Those of --passes come between the base metric's and the scope. */
enum {
	DESCRIPTION = 4,
	BASE_COLUMNS,
	PASS_COLUMNS = 3,
	MAX_COLUMNS = BASE_COLUMNS + PASS_COLUMNS + 1
};

static const struct opk_column columns[MAX_COLUMNS] = {
	{ "metric", OPK_CELL_STRING },      { "type", OPK_CELL_STRING },
	{ "hw_unit", OPK_CELL_STRING },     { "dim_unit", OPK_CELL_STRING },
	{ "description", OPK_CELL_STRING }, { "passes", OPK_CELL_EITHER },
	{ "method", OPK_CELL_STRING },      { "status", OPK_CELL_STRING },
	{ "scope", OPK_CELL_STRING },
};

/* The names that match. A base name stands for one of its full names where passes are counted. */
struct listing {
	struct app *app;
	const struct metrics_args *args;
	struct opk_catalog *catalog;
	const struct opk_matcher *matcher;
	struct opk_full_name *names;
	size_t count, room;
	struct opk_column columns[MAX_COLUMNS];
	size_t column_count;
	bool scope; /* is a column */
	bool description_last;
};

static int add(struct listing *listing, const struct opk_metric *metric, size_t submetric)
{
	if (listing->count == listing->room) {
		size_t room = listing->room ? listing->room * 2 : 1024;
		struct opk_full_name *grown = realloc(listing->names,
		                                      room * sizeof *listing->names);

		if (!grown)
			return app_error(listing->app, OPK_EFAILED, "out of memory");
		listing->names = grown;
		listing->room = room;
	}
	listing->names[listing->count++] = (struct opk_full_name){ metric, submetric };
	return OPK_OK;
}

static void compose(char *out, size_t size, const struct listing *listing, size_t i)
{
	const struct opk_full_name *name = &listing->names[i];

	snprintf(out, size, "%s%s", name->metric->name,
	         listing->args->submetrics
	                 ? opk_catalog_submetric(listing->catalog, name->metric, name->submetric)
	                           .suffix
	                 : "");
}

static int add_full(struct listing *listing, const struct opk_metric *metric)
{
	size_t count = opk_catalog_submetric_count(listing->catalog, metric);
	char full[1024];
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++) {
		snprintf(full, sizeof full, "%s%s", metric->name,
		         opk_catalog_submetric(listing->catalog, metric, i).suffix);
		if (opk_matcher_match_full(listing->matcher, metric, full))
			code = add(listing, metric, i);
	}
	return code;
}

static int find(struct listing *listing)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_catalog_count(listing->catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(listing->catalog, i);

		if (listing->args->submetrics)
			code = add_full(listing, metric);
		else if (opk_matcher_match(listing->matcher, metric))
			code = add(listing, metric, opk_catalog_plainest(listing->catalog, metric));
	}
	return code;
}

static int print_row(struct listing *listing, size_t i)
{
	const struct opk_metric *metric = listing->names[i].metric;
	bool complete = opk_catalog_submetric_count(listing->catalog, metric) > 0;
	struct opk_submetric sub = { .dim_unit = metric->dim_unit };
	char name[1024];
	union opk_cell cells[MAX_COLUMNS];
	size_t count = BASE_COLUMNS;

	if (complete)
		sub = opk_catalog_submetric(listing->catalog, metric, listing->names[i].submetric);
	compose(name, sizeof name, listing, i);
	cells[0].string = name;
	cells[1].string = opk_metric_type_name(metric->type);
	cells[2].string = metric->hw_unit;
	cells[3].string = listing->args->submetrics ? sub.dim_unit : metric->dim_unit;
	cells[4].string = metric->description;
	if (listing->args->passes) {
		cells[count++] = app_passes(sub.passes);
		cells[count++].string = opk_method_name(sub.method);
		cells[count++].string = opk_refusal_name(sub.passes);
	}
	if (listing->scope)
		cells[count++].string = opk_scope_name(metric->scope);
	if (listing->description_last) {
		union opk_cell description = cells[DESCRIPTION];

		memmove(cells + DESCRIPTION, cells + DESCRIPTION + 1,
		        (count - DESCRIPTION - 1) * sizeof *cells);
		cells[count - 1] = description;
	}
	return opk_out_row(listing->app->out, cells);
}

/* Rows for programs always have a scope; an empty column is no use to people. */
static void choose_columns(struct listing *listing)
{
	listing->scope = !app_shows_table(listing->app);
	for (size_t i = 0; !listing->scope && i < listing->count; i++)
		listing->scope = listing->names[i].metric->scope != OPK_SCOPE_UNKNOWN;
	for (size_t i = 0; i < MAX_COLUMNS; i++) {
		bool wanted = i < BASE_COLUMNS      ? true
		              : i < MAX_COLUMNS - 1 ? listing->args->passes
		                                    : listing->scope;

		if (wanted)
			listing->columns[listing->column_count++] = columns[i];
	}
	/* On a terminal what is long is cut: nothing that was asked for stands behind it. */
	listing->description_last = app_shows_table(listing->app);
	if (!listing->description_last)
		return;
	memmove(listing->columns + DESCRIPTION, listing->columns + DESCRIPTION + 1,
	        (listing->column_count - DESCRIPTION - 1) * sizeof *columns);
	listing->columns[listing->column_count - 1] = columns[DESCRIPTION];
}

static int print(struct listing *listing)
{
	int code;

	choose_columns(listing);
	code = opk_out_table(listing->app->out, "metrics", listing->columns, listing->column_count);
	for (size_t i = 0; !code && i < listing->count; i++)
		code = print_row(listing, i);
	if (!code && !listing->count)
		app_note(
			listing->args->submetrics
				? "no metric matches"
				: "no metric matches; globs go over base names such as dram__bytes, "
				  "without rollup or submetric: --submetrics lists those, too");
	return app_end_output(listing->app, code);
}

static int print_count(struct listing *listing)
{
	static const struct opk_column column = { "count", OPK_CELL_UINT };
	int code = opk_out_table(listing->app->out, "count", &column, 1);

	if (!code)
		code = opk_out_row(listing->app->out,
		                   (union opk_cell[]){ { .uint = listing->count } });
	return app_end_output(listing->app, code);
}

static int prepare(struct listing *listing)
{
	const struct metrics_args *args = listing->args;
	struct opk_pass_options options = OPK_INIT(options);
	struct app *app = listing->app;
	int code = OPK_OK;

	if (args->submetrics || args->passes)
		code = opk_catalog_complete(listing->catalog, app->ctx);
	else
		opk_catalog_keep(listing->catalog, app->ctx);
	if (code)
		return app_fail(app, code);
	code = find(listing);
	if (code || !args->passes || args->count)
		return code;
	options.progress = app_progress;
	options.progress_data = (void *)"counting passes, set of counters";
	code = opk_catalog_count_passes(listing->catalog, app->ctx, listing->names, listing->count,
	                                &options);
	app_progress_end();
	return code ? app_fail(app, code) : OPK_OK;
}

static int list(struct app *app, const struct metrics_args *args, enum opk_profiler profiler,
                const struct opk_metric_filter *filter)
{
	struct opk_matcher *matcher;
	struct listing listing = { .app = app, .args = args };
	int code = opk_matcher_new(&matcher, app->ctx, filter);

	if (code)
		return app_fail(app, code);
	listing.matcher = matcher;
	code = opk_catalog_new(&listing.catalog, app->ctx, app->arguments[0], profiler);
	code = code ? app_fail(app, code) : prepare(&listing);
	if (!code)
		code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = args->count ? print_count(&listing) : print(&listing);
	free(listing.names);
	opk_catalog_free(listing.catalog);
	opk_matcher_free(matcher);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct metrics_args *args = data;
	struct opk_metric_filter filter = OPK_INIT(filter);
	enum opk_profiler profiler = OPK_PROFILER_RANGE;

	if (app->argument_count < 1)
		return app_error(app, OPK_EUSAGE,
		                 "metrics: which chip? 'offpeak chips' lists them");
	if (args->profiler && !opk_profiler_parse(&profiler, args->profiler))
		return app_error(app, OPK_EUSAGE, "--profiler %s: use range or pm", args->profiler);
	filter.has_type = args->type != NULL;
	if (args->type && !opk_metric_type_parse(&filter.type, args->type))
		return app_error(app, OPK_EUSAGE, "--type %s: use counter, ratio or throughput",
		                 args->type);
	filter.unit = args->unit;
	filter.grep = args->grep;
	filter.globs = (const char *const *)app->arguments + 1;
	filter.glob_count = app->argument_count - 1;
	return list(app, args, profiler, &filter);
}

const struct command metrics_command = {
	.name = "metrics",
	.synopsis = "CHIP [GLOB...] [OPTIONS]",
	.summary = "list a chip's metrics with their properties",
	.details =
		"Without --submetrics these are the base metrics. A full metric name, as sets and\n"
		"images want it, adds a rollup (.sum, .avg, .min, .max) and possibly a submetric\n"
		"(.per_second) to a counter, and a submetric to a ratio. GLOB is a shell pattern\n"
		"over the base name, with --submetrics over the full one, too, as in 'dram__*' or\n"
		"'*.pct'; quote it. Conditions combine.\n\n"
		"--passes plans each name alone: a number, or unschedulable with CUPTI's status; a\n"
		"base metric by its plainest full name (.sum, .ratio or, of a throughput,\n"
		".avg.pct_of_peak_sustained_elapsed). The method is hardware, sass (code that CUPTI\n"
		"patches into kernels) or both. The scope, which CUPTI 13.1 and later tell, is context\n"
		"(the work of one program) or device (all that the device does, as for PCIe, NVLink\n"
		"and all of PM sampling); tables have it where it is known. What was found out is kept\n"
		"in ~/.cache/offpeak.",
	.options = specs,
	.args_size = sizeof(struct metrics_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
