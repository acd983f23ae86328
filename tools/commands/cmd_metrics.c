/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak metrics: a chip's catalog. */
#include "commands.h"
#include "commands/metrics_notes.h"
#include "common/args.h"
#include "plan/door.h"

struct metrics_args {
	const char *unit, *grep, *availability;
	unsigned profiler, type, scope;
	uint64_t max_passes;
	bool submetrics, passes, count;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, PROFILER_WORDS, "whose catalog; default range", OPTION_WORD,
	  offsetof(struct metrics_args, profiler) },
	{ "type", 0, "counter|ratio|throughput", "only metrics of this type", OPTION_WORD,
	  offsetof(struct metrics_args, type) },
	{ "unit", 0, "HWUNIT", "only metrics of this hardware unit", OPTION_TEXT,
	  offsetof(struct metrics_args, unit) },
	{ "grep", 0, "REGEX", "only where name or description match, in any case", OPTION_TEXT,
	  offsetof(struct metrics_args, grep) },
	{ "submetrics", 0, NULL, "a row for each full name, with its own unit", OPTION_FLAG,
	  offsetof(struct metrics_args, submetrics) },
	{ "passes", 0, NULL, "how many passes each takes alone, and how it is counted", OPTION_FLAG,
	  offsetof(struct metrics_args, passes) },
	{ "max-passes", 0, "N", "only what takes at most so many passes alone", OPTION_COUNT,
	  offsetof(struct metrics_args, max_passes) },
	AVAILABILITY_OPTION(struct metrics_args, availability),
	{ "scope", 0, "any|context|device",
	  "fill the column scope, and list only metrics of this one (CUPTI 13.1 and later)",
	  OPTION_WORD, offsetof(struct metrics_args, scope) },
	{ "count", 0, NULL, "only how many there are", OPTION_FLAG,
	  offsetof(struct metrics_args, count) },
	{ 0 },
};

/* What to print of a list, and how. */
struct listing {
	struct app *app;
	const struct metrics_args *args;
	const struct opk_metric_list_options *filter;
	struct opk_metric_list *list;
	bool for_people; /* a table for a terminal */
	bool scope;      /* is a column */
};

static void add_passes(struct app_fields *fields, const struct listing *listing,
                       const struct opk_submetric *sub)
{
	if (!listing->args->passes && !listing->args->max_passes)
		return;
	field_add(fields, "passes", OPK_CELL_EITHER, cell_passes(sub->passes));
	field_text(fields, "method", opk_method_name(sub->method));
	field_text(fields, "status", opk_refusal_name(sub->passes));
}

static void describe(struct app_fields *fields, const struct listing *listing,
                     const struct opk_listed_metric *listed)
{
	const struct opk_metric *metric = listed->of;

	fields->count = 0;
	field_text(fields, "metric", listed->name);
	/* On a terminal, the requested fact is beside the name: there is little room for more. */
	if (listing->for_people)
		add_passes(fields, listing, &listed->sub);
	field_text(fields, "type", opk_metric_type_name(metric->type));
	field_text(fields, "hw_unit", metric->hw_unit);
	field_text(fields, "dim_unit", listed->sub.dim_unit);
	if (!listing->for_people) {
		field_text(fields, "description", metric->description);
		add_passes(fields, listing, &listed->sub);
	}
	if (listing->scope)
		field_text(fields, "scope",
		           listing->args->scope ? opk_scope_name(metric->scope) : NULL);
	if (listing->for_people)
		field_text(fields, "description", metric->description);
}

static int print(struct listing *listing)
{
	static const struct opk_metric nothing;
	struct opk_listed_metric listed = { .of = &nothing };
	const struct opk_catalog *catalog = opk_metric_list_catalog(listing->list);
	size_t count = opk_metric_list_count(listing->list);
	struct app_fields fields;

	/* Rows for programs always have a scope; people don't need an empty column. */
	listing->for_people = app_shows_table(listing->app);
	listing->scope = listing->args->scope || !listing->for_people;
	describe(&fields, listing, &listed);
	app_fields_table(listing->app, "metrics", &fields);
	for (size_t i = 0; i < count; i++) {
		opk_metric_list_get(&listed, listing->list, i);
		describe(&fields, listing, &listed);
		opk_out_row(listing->app->out, fields.cells);
	}
	if (!count && !opk_metric_list_refused(listing->list)
	    && !opk_metric_list_costly(listing->list))
		note_no_metric(listing->app, catalog, listing->filter, listing->args->submetrics);
	else
		note_idle_patterns(listing->app, catalog, listing->filter,
		                   listing->args->submetrics);
	return app_end_output(listing->app);
}

static int print_count(const struct listing *listing)
{
	static const struct opk_column columns[] = { { "count", OPK_CELL_UINT } };
	size_t count = opk_metric_list_count(listing->list);

	app_table(listing->app, "count", columns);
	app_row(listing->app, cell_number(count));
	if (count)
		note_idle_patterns(listing->app, opk_metric_list_catalog(listing->list),
		                   listing->filter, listing->args->submetrics);
	return app_end_output(listing->app);
}

static void note_refused(const struct listing *listing)
{
	size_t refused = opk_metric_list_refused(listing->list);
	size_t found = opk_metric_list_count(listing->list) + refused
	               + opk_metric_list_costly(listing->list);

	if (listing->args->availability && refused)
		app_note("%zu of %zu metrics are left out: the GPU of %s can't collect them",
		         refused, found, listing->args->availability);
}

static int find(struct listing *listing, struct opk_metric_list_options *options)
{
	const struct metrics_args *args = listing->args;
	enum opk_profiler profiler = profiler_of_word(args->profiler);
	struct app *app = listing->app;
	opk_autofree void *image = NULL;
	int code = OPK_OK;

	if (args->availability)
		code = opk_availability_load(&image, &options->availability_size, app->ctx,
		                             args->availability, app->arguments[0], profiler);
	options->availability = image;
	return code ? code
	            : opk_metric_list_new(&listing->list, app->ctx, app->arguments[0], profiler,
	                                  options);
}

static int list(struct listing *listing, struct opk_metric_list_options *options)
{
	struct app *app = listing->app;

	TRY(find(listing, options));
	note_refused(listing);
	TRY(app_begin_output(app));
	return listing->args->count ? print_count(listing) : print(listing);
}

static int run(struct app *app, void *data)
{
	static const enum opk_scope scopes[] = { OPK_SCOPE_UNKNOWN, OPK_SCOPE_UNKNOWN,
		                                 OPK_SCOPE_CONTEXT, OPK_SCOPE_DEVICE };
	const struct metrics_args *args = data;
	struct opk_metric_list_options options = OPK_INIT(options);
	struct listing listing = { .app = app, .args = args, .filter = &options };
	int code;

	if (app->argument_count < 1)
		return app_error(app, OPK_EUSAGE,
		                 "metrics: which chip? 'offpeak chips' lists them");
	options.has_type = args->type != 0;
	options.type = (enum opk_metric_type)(args->type - (args->type != 0));
	options.unit = args->unit;
	options.grep = args->grep;
	options.globs = (const char *const *)app->arguments + 1;
	options.glob_count = app->argument_count - 1;
	options.submetrics = args->submetrics;
	options.passes = args->passes && !args->count;
	options.max_passes = args->max_passes;
	options.scopes = args->scope != 0;
	options.scope = scopes[args->scope];
	code = list(&listing, &options);
	opk_metric_list_free(listing.list);
	return code;
}

const struct command metrics_command = {
	.name = "metrics",
	.synopsis = "CHIP [GLOB...]",
	.summary = "list a chip's metrics with their properties",
	.details =
		"Without --submetrics these are the base metrics. A full metric name, as sets and\n"
		"images want it, adds a rollup (.sum, .avg, .min, .max) and possibly a submetric\n"
		"(.per_second) to a counter, and a submetric to a ratio. GLOB is a shell pattern\n"
		"over the base name, with --submetrics over the full one, too, as in 'dram__*' or\n"
		"'*.pct'; quote it. Conditions combine.\n\n"
		"Profilers sass and pc measure instructions: counts by code that is patched into kernels,\n"
		"and samples of program counters. Their base names are full names, listed without\n"
		"NVIDIA's libraries; all of them fit one pass.\n\n"
		"--passes plans each name alone: a number, or unschedulable with CUPTI's status; a\n"
		"base metric by its plainest full name (.sum, .ratio or, of a throughput,\n"
		".avg.pct_of_peak_sustained_elapsed). The method is hardware, sass (code that CUPTI\n"
		"patches into kernels) or both. --max-passes N leaves out what takes more, or can't be\n"
		"scheduled. --availability leaves out what that GPU can't collect, and counts passes for\n"
		"it; a recording of the GPU will do. The scope, which CUPTI 13.1 and later have, is context\n"
		"(the work of one program) or device (all that the device does, as for PCIe, NVLink\n"
		"and all of PM sampling). CUPTI takes a millisecond for each metric's, so it is asked only\n"
		"with --scope. What was found out is kept in ~/.cache/offpeak.",
	.examples = {
		{ "metrics GH100 'dram__bytes*'", "by name; quote the pattern" },
		{ "metrics GH100 --grep 'shared.*conflict'", "by words of name or description" },
		{ "metrics GH100 --submetrics --passes 'dram__bytes.sum.pct*'",
		  "full names, and what each costs" },
	},
	.options = specs,
	.args_size = sizeof(struct metrics_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
