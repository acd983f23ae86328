/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak describe: one metric, or one of nvprof's names. */
#include <string.h>

#include "commands.h"
#include "common/args.h"

struct describe_args {
	unsigned profiler, table;
};

#define TABLES "summary|submetrics|counters|constituents|terms"

static const struct option_spec specs[] = {
	{ "profiler", 0, PROFILER_WORDS, "whose catalog: range (default) or pm", OPTION_WORD,
	  offsetof(struct describe_args, profiler) },
	TABLE_OPTION(TABLES, "summary", struct describe_args, table),
	{ 0 },
};

/* ---- a metric */

/* One of its full names; where it has none, the metric's own properties. */
static struct opk_submetric submetric_of(const struct opk_catalog *catalog,
                                         const struct opk_full_name *of)
{
	if (opk_catalog_submetric_count(catalog, of->metric))
		return opk_catalog_submetric(catalog, of->metric, of->submetric);
	return (struct opk_submetric){ .suffix = "", .dim_unit = of->metric->dim_unit };
}

/* Where the summary is all that is printed, as in CSV, the parts' names go with it. */
static void field_parts(struct app *app, struct app_fields *fields, const struct opk_description *d,
                        const char **names)
{
	for (size_t i = 0; i < d->constituent_count; i++)
		names[i] = d->constituents[i].name;
	if (app_wants_table(app, "summary") && (d->constituent_count || !app_shows_table(app)))
		field_list(fields, "constituents", names, d->constituent_count);
}

static int print_record(struct app *app, const struct opk_catalog *catalog,
                        enum opk_profiler profiler, const struct opk_description *d)
{
	const struct opk_metric *metric = d->of.metric;
	struct opk_submetric sub = submetric_of(catalog, &d->of);
	opk_autofree const char **parts = opk_alloc_array(d->constituent_count + 1, sizeof *parts);
	struct app_fields fields = { 0 };

	if (!parts)
		return app_nomem(app);
	field_text(&fields, "chip", opk_catalog_chip(catalog));
	field_text(&fields, "profiler", opk_profiler_name(profiler));
	field_text(&fields, "metric", d->name);
	field_text(&fields, "base", metric->name);
	field_text(&fields, "type", opk_metric_type_name(metric->type));
	field_text(&fields, "hw_unit", metric->hw_unit);
	field_text(&fields, "dim_unit", sub.dim_unit);
	field_text(&fields, "description", metric->description);
	field_add(&fields, "passes", OPK_CELL_EITHER, cell_passes(sub.passes));
	field_text(&fields, "method", opk_method_name(sub.method));
	field_text(&fields, "status", opk_refusal_name(sub.passes));
	field_list(&fields, "other_chips", d->other_chips, d->other_chip_count);
	field_list(&fields, "single_pass", d->single_pass, d->single_pass_count);
	/* People need no line that says nothing. */
	if (d->scope || !app_shows_table(app))
		field_text(&fields, "scope", opk_scope_name(d->scope));
	field_parts(app, &fields, d, parts);
	return app_record(app, &fields);
}

static void print_submetrics(struct app *app, const struct opk_catalog *catalog,
                             const struct opk_metric *metric)
{
	static const struct opk_column columns[] = {
		{ "submetric", OPK_CELL_STRING },
		{ "dim_unit", OPK_CELL_STRING },
		{ "passes", OPK_CELL_EITHER },
	};

	app_table(app, "submetrics", columns);
	for (size_t i = 0; i < opk_catalog_submetric_count(catalog, metric); i++) {
		struct opk_submetric sub = opk_catalog_submetric(catalog, metric, i);

		app_row(app, cell_text(sub.suffix), cell_text(sub.dim_unit),
		        cell_passes(sub.passes));
	}
}

static void print_counters(struct app *app, const struct opk_description *d)
{
	static const struct opk_column columns[] = {
		{ "counter", OPK_CELL_STRING },
		{ "domains", OPK_CELL_LIST },
	};

	app_table(app, "counters", columns);
	for (size_t i = 0; i < d->counter_count; i++) {
		const struct opk_raw_counter *counter = &d->counters[i];

		app_row(app, cell_text(counter->name),
		        cell_list(counter->domains, counter->domain_count));
	}
}

static void print_constituents(struct app *app, const struct opk_description *d)
{
	static const struct opk_column columns[] = {
		{ "constituent", OPK_CELL_STRING },
		{ "type", OPK_CELL_STRING },
	};

	app_table(app, "constituents", columns);
	for (size_t i = 0; i < d->constituent_count; i++)
		app_row(app, cell_text(d->constituents[i].name),
		        cell_text(opk_metric_type_name(d->constituents[i].type)));
}

static int describe_metric(struct app *app, struct opk_catalog *catalog, enum opk_profiler profiler,
                           const char *name)
{
	opk_auto(opk_description) struct opk_description *d = NULL;
	int code = opk_description_new(&d, app->ctx, catalog, name);

	if (!code)
		code = app_begin_output(app);
	if (!code)
		code = print_record(app, catalog, profiler, d);
	if (code)
		return code;
	print_submetrics(app, catalog, d->of.metric);
	print_counters(app, d);
	if (d->of.metric->type != OPK_COUNTER || app_wants_table(app, "constituents"))
		print_constituents(app, d);
	return app_end_output(app);
}

/* ---- a name of nvprof's */

/* People need no line that says nothing. */
static void field_note(struct app *app, struct app_fields *fields, const char *name,
                       const char *text)
{
	if (*text || !app_shows_table(app))
		field_text(fields, name, text);
}

static void print_legacy(struct app *app, const char *chip, const struct opk_legacy *legacy)
{
	opk_autofree char *nothing = opk_printf("no counterpart on %s", chip);
	struct app_fields fields = { 0 };

	field_text(&fields, "chip", chip);
	field_text(&fields, "legacy", legacy->name);
	field_text(&fields, "kind", legacy->kind);
	field_text(&fields, "formula", legacy->lack ? nothing : legacy->formula);
	field_note(app, &fields, "unit", legacy->unit);
	field_note(app, &fields, "nvidia",
	           strcmp(legacy->nvidia, legacy->formula) ? legacy->nvidia : "");
	field_note(app, &fields, "note", legacy->note);
	app_record(app, &fields);
}

static void note_legacy(const char *chip, const struct opk_legacy *legacy)
{
	const char *other = legacy->other_formula;

	if (legacy->lack)
		app_note("nvprof's %s has no counterpart on %s: %s", legacy->name, chip,
		         legacy->lack);
	if (legacy->other_kind)
		app_note("there is an %s %s, too: %s", legacy->other_kind, legacy->name,
		         *other ? other : "no counterpart");
}

static int describe_legacy(struct app *app, const char *chip, const struct opk_legacy *legacy)
{
	static const struct opk_column columns[] = {
		{ "term", OPK_CELL_STRING },
		{ "exists", OPK_CELL_BOOL },
		{ "nearest", OPK_CELL_STRING },
	};
	int code = app_begin_output(app);

	if (code)
		return code;
	print_legacy(app, chip, legacy);
	app_table(app, "terms", columns);
	for (size_t i = 0; i < legacy->term_count; i++) {
		const struct opk_legacy_term *term = &legacy->terms[i];

		app_row(app, cell_text(term->name), cell_flag(term->exists),
		        cell_text(term->nearest));
	}
	note_legacy(chip, legacy);
	return app_end_output(app);
}

/* A metric has other tables than a name of nvprof's. */
static int check_table(struct app *app, bool legacy)
{
	bool terms = app_wants_table(app, "terms");

	if (!app->only || app_wants_table(app, "summary") || terms == legacy)
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "--table %s: %s is %s; use %s", app->only,
	                 app->arguments[1], legacy ? "a name of nvprof's" : "a metric",
	                 legacy ? "summary or terms"
	                        : "summary, submetrics, counters or constituents");
}

static int run(struct app *app, void *data)
{
	const struct describe_args *args = data;
	enum opk_profiler profiler = profiler_of_word(args->profiler);
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;
	opk_auto(opk_legacy) struct opk_legacy *legacy = NULL;
	int code;

	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "describe: which chip and which metric?");
	code = app_choose_table(app, TABLES, args->table, "summary");
	if (!code)
		code = opk_catalog_new(&catalog, app->ctx, app->arguments[0], profiler);
	if (!code)
		code = opk_catalog_complete(catalog, app->ctx);
	if (!code && !opk_catalog_find(catalog, app->arguments[1]))
		code = opk_legacy_new(&legacy, app->ctx, catalog, app->arguments[1]);
	if (!code)
		code = check_table(app, legacy != NULL);
	if (code)
		return code;
	return legacy ? describe_legacy(app, opk_catalog_chip(catalog), legacy)
	              : describe_metric(app, catalog, profiler, app->arguments[1]);
}

const struct command describe_command = {
	.name = "describe",
	.synopsis = "CHIP METRIC",
	.summary = "show all that is known about one metric",
	.details =
		"METRIC is a full name, or a base name such as dram__bytes, which means its plainest\n"
		"full name (.sum, .ratio or, of a throughput, .avg.pct_of_peak_sustained_elapsed). The\n"
		"output has its properties, the other chips that have it, its submetrics with the\n"
		"passes that each takes alone, the raw counters that it is computed from with the\n"
		"domains that can count them, and its constituents: the counters and throughputs of\n"
		"which a throughput is the highest, or, for a ratio of the range profiler, the counters\n"
		"that are computed from its raw counters. single_pass names the chip's sets of one pass\n"
		"that have the metric. The scope, with CUPTI 13.1 and later, is context or device: see\n"
		"'offpeak help metrics'.\n"
		"\n"
		"METRIC may also be a metric or event of nvprof: the output has the formula over metrics of\n"
		"the chip, NVIDIA's own text where it is another one, and a note that says why. A term with\n"
		"{op} means several metrics; the first is named. Where the chip has no counterpart, a\n"
		"message says what it lacks.",
	.examples = {
		{ "describe GH100 dram__throughput",
		  "its unit, passes, raw counters and constituents" },
		{ "describe GB100 achieved_occupancy", "a name of nvprof's: today's formula" },
		{ "describe GH100 sm__throughput --table constituents -o parts.csv",
		  "what a throughput is the highest of, as CSV" },
	},
	.options = specs,
	.args_size = sizeof(struct describe_args),
	.max_arguments = 2,
	.run = run,
};
