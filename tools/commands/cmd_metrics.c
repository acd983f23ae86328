/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak metrics: a chip's catalog. */
#include "commands.h"
#include "commands/metrics_notes.h"
#include "common/args.h"

struct metrics_args {
	const char *unit, *grep, *availability;
	unsigned profiler, type, scope;
	uint64_t max_passes;
	bool submetrics, passes, count;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, PROFILER_WORDS, "whose catalog: range (default) or pm", OPTION_WORD,
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

/* The names that match. Where passes are counted, a base name means one of its full names. */
struct listing {
	struct app *app;
	const struct metrics_args *args;
	struct opk_catalog *catalog;
	const struct opk_metric_filter *filter;
	struct opk_matcher *matcher;
	struct opk_full_name *names;
	size_t count, capacity;
	size_t left_out; /* of what matches */
	bool for_people; /* a table for a terminal */
	bool scope;      /* is a column */
	bool passes;     /* are columns */
};

static int add(struct listing *listing, const struct opk_metric *metric, size_t submetric)
{
	struct opk_full_name *name = opk_append(&listing->names, &listing->capacity,
	                                        &listing->count, sizeof *name);

	if (!name)
		return app_nomem(listing->app);
	*name = (struct opk_full_name){ metric, submetric };
	return OPK_OK;
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

/* The values of --scope; 0: it is not given. */
enum { SCOPE_ANY = 1, SCOPE_CONTEXT, SCOPE_DEVICE };

static bool has_scope(const struct listing *listing, const struct opk_metric *metric)
{
	return listing->args->scope == SCOPE_ANY
	       || metric->scope
	                  == (listing->args->scope == SCOPE_CONTEXT ? OPK_SCOPE_CONTEXT
	                                                            : OPK_SCOPE_DEVICE);
}

static int ask_scopes(const struct listing *listing)
{
	opk_autofree const struct opk_metric **metrics = opk_alloc_array(listing->count + 1,
	                                                                 sizeof *metrics);
	size_t count = 0;

	for (size_t i = 0; metrics && i < listing->count; i++)
		if (!count || metrics[count - 1] != listing->names[i].metric)
			metrics[count++] = listing->names[i].metric;
	return metrics ? opk_catalog_ask_scopes(listing->catalog, listing->app->ctx, metrics, count)
	               : app_nomem(listing->app);
}

/* Of what was found. A library that says nothing about scopes would leave nothing. */
static int choose_scope(struct listing *listing)
{
	size_t found = listing->count, known = 0;
	int code = listing->args->scope ? ask_scopes(listing) : OPK_OK;

	if (code || !listing->args->scope)
		return code;
	listing->count = 0;
	for (size_t i = 0; i < found; i++) {
		known += listing->names[i].metric->scope != OPK_SCOPE_UNKNOWN;
		if (has_scope(listing, listing->names[i].metric))
			listing->names[listing->count++] = listing->names[i];
	}
	if (known || !found)
		return OPK_OK;
	return app_error(
		listing->app, OPK_ENVIDIA,
		"metrics: this CUPTI does not say which metrics are of a context and which "
		"of the device; 13.1 and later do");
}

static int passes_of(const struct listing *listing, const struct opk_full_name *name)
{
	return opk_catalog_submetric_count(listing->catalog, name->metric)
	               ? opk_catalog_submetric(listing->catalog, name->metric, name->submetric)
	                         .passes
	               : 0;
}

/* Those that can be collected, and in few passes, once these are counted. */
static void keep_collectable(struct listing *listing)
{
	uint64_t most = listing->args->max_passes ? listing->args->max_passes : UINT64_MAX;
	size_t found = listing->count, refused = 0;

	listing->count = 0;
	for (size_t i = 0; i < found; i++) {
		int passes = passes_of(listing, &listing->names[i]);

		refused += passes <= 0;
		if (passes > 0 && (uint64_t)passes <= most)
			listing->names[listing->count++] = listing->names[i];
	}
	listing->left_out = found - listing->count;
	if (listing->args->availability && refused)
		app_note("%zu of %zu metrics are left out: the GPU of %s can't collect them",
		         refused, found, listing->args->availability);
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
	/* Rows for programs always have a scope; an empty column is no use to people. */
	listing->for_people = app_shows_table(listing->app);
	listing->scope = listing->args->scope || !listing->for_people;
	return code ? code : choose_scope(listing);
}

static void add_passes(struct app_fields *fields, const struct listing *listing,
                       const struct opk_submetric *sub)
{
	if (!listing->passes)
		return;
	field_add(fields, "passes", OPK_CELL_EITHER, cell_passes(sub->passes));
	field_text(fields, "method", opk_method_name(sub->method));
	field_text(fields, "status", opk_refusal_name(sub->passes));
}

/* `full` is the name's text, which has to stay where it is. */
static void describe(struct app_fields *fields, const struct listing *listing, const char *full,
                     const struct opk_metric *metric, const struct opk_submetric *sub)
{
	fields->count = 0;
	field_text(fields, "metric", full);
	/* What was asked for stands beside the name, for a terminal has room for little more. */
	if (listing->for_people)
		add_passes(fields, listing, sub);
	field_text(fields, "type", opk_metric_type_name(metric->type));
	field_text(fields, "hw_unit", metric->hw_unit);
	field_text(fields, "dim_unit",
	           listing->args->submetrics ? sub->dim_unit : metric->dim_unit);
	if (!listing->for_people) {
		field_text(fields, "description", metric->description);
		add_passes(fields, listing, sub);
	}
	if (listing->scope)
		field_text(fields, "scope",
		           listing->args->scope ? opk_scope_name(metric->scope) : NULL);
	if (listing->for_people)
		field_text(fields, "description", metric->description);
}

static int print_row(const struct listing *listing, const struct opk_full_name *name)
{
	struct opk_submetric sub = { .suffix = "", .dim_unit = name->metric->dim_unit };
	struct app_fields fields;
	char full[1024];

	if (opk_catalog_submetric_count(listing->catalog, name->metric))
		sub = opk_catalog_submetric(listing->catalog, name->metric, name->submetric);
	snprintf(full, sizeof full, "%s%s", name->metric->name,
	         listing->args->submetrics ? sub.suffix : "");
	describe(&fields, listing, full, name->metric, &sub);
	return opk_out_row(listing->app->out, fields.cells);
}

static int print(const struct listing *listing)
{
	static const struct opk_metric nothing;
	static const struct opk_submetric no_sub;
	struct app_fields fields;

	describe(&fields, listing, "", &nothing, &no_sub);
	app_fields_table(listing->app, "metrics", &fields);
	for (size_t i = 0; i < listing->count; i++)
		print_row(listing, &listing->names[i]);
	if (!listing->count && !listing->left_out)
		note_no_metric(listing->app, listing->catalog, listing->filter,
		               listing->args->submetrics);
	else
		note_idle_patterns(listing->app, listing->catalog, listing->filter,
		                   listing->args->submetrics);
	return app_end_output(listing->app);
}

static int print_count(const struct listing *listing)
{
	static const struct opk_column columns[] = { { "count", OPK_CELL_UINT } };

	app_table(listing->app, "count", columns);
	app_row(listing->app, cell_number(listing->count));
	if (listing->count)
		note_idle_patterns(listing->app, listing->catalog, listing->filter,
		                   listing->args->submetrics);
	return app_end_output(listing->app);
}

static int count_passes(struct listing *listing)
{
	struct opk_pass_options options = OPK_INIT(options);
	int code;

	options.progress = app_progress;
	options.progress_data = (void *)"counting passes, set of counters";
	code = opk_catalog_count_passes(listing->catalog, listing->app->ctx, listing->names,
	                                listing->count, &options);
	app_progress_end();
	return code;
}

static int use_availability(struct listing *listing)
{
	struct app *app = listing->app;
	opk_autofree void *image = NULL;
	size_t size;
	int code = opk_availability_load(&image, &size, app->ctx, listing->args->availability,
	                                 app->arguments[0],
	                                 profiler_of_word(listing->args->profiler));

	return code ? code : opk_catalog_set_availability(listing->catalog, app->ctx, image, size);
}

static int open_catalog(struct listing *listing)
{
	const struct metrics_args *args = listing->args;
	struct app *app = listing->app;
	int code = opk_catalog_new(&listing->catalog, app->ctx, app->arguments[0],
	                           profiler_of_word(args->profiler));

	if (code)
		return code;
	if (args->submetrics || listing->passes || args->availability)
		code = opk_catalog_complete(listing->catalog, app->ctx);
	else
		opk_catalog_keep(listing->catalog, app->ctx);
	return !code && args->availability ? use_availability(listing) : code;
}

static int list(struct listing *listing)
{
	const struct metrics_args *args = listing->args;
	struct app *app = listing->app;
	bool choosy = args->max_passes || args->availability;
	int code = opk_matcher_new(&listing->matcher, app->ctx, listing->filter);

	listing->passes = args->passes || args->max_passes;
	if (!code)
		code = open_catalog(listing);
	if (!code)
		code = find(listing);
	if (!code && (choosy || (listing->passes && !args->count)))
		code = count_passes(listing);
	if (!code && choosy)
		keep_collectable(listing);
	if (!code)
		code = app_begin_output(app);
	if (code)
		return code;
	return args->count ? print_count(listing) : print(listing);
}

static int run(struct app *app, void *data)
{
	const struct metrics_args *args = data;
	struct opk_metric_filter filter = OPK_INIT(filter);
	struct listing listing = { .app = app, .args = args, .filter = &filter };
	int code;

	if (app->argument_count < 1)
		return app_error(app, OPK_EUSAGE,
		                 "metrics: which chip? 'offpeak chips' lists them");
	filter.has_type = args->type != 0;
	filter.type = (enum opk_metric_type)(args->type - (args->type != 0));
	filter.unit = args->unit;
	filter.grep = args->grep;
	filter.globs = (const char *const *)app->arguments + 1;
	filter.glob_count = app->argument_count - 1;
	code = list(&listing);
	free(listing.names);
	opk_catalog_free(listing.catalog);
	opk_matcher_free(listing.matcher);
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
