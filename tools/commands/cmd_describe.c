/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

struct describe_args {
	const char *profiler;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, "range|pm", "whose catalog: range (default) or pm", OPTION_TEXT,
	  offsetof(struct describe_args, profiler) },
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

static int print_record(struct app *app, const struct opk_catalog *catalog,
                        enum opk_profiler profiler, const struct opk_description *d)
{
	static const struct opk_column columns[] = {
		{ "chip", OPK_CELL_STRING },      { "profiler", OPK_CELL_STRING },
		{ "metric", OPK_CELL_STRING },    { "base", OPK_CELL_STRING },
		{ "type", OPK_CELL_STRING },      { "hw_unit", OPK_CELL_STRING },
		{ "dim_unit", OPK_CELL_STRING },  { "description", OPK_CELL_STRING },
		{ "passes", OPK_CELL_EITHER },    { "method", OPK_CELL_STRING },
		{ "status", OPK_CELL_STRING },    { "chips", OPK_CELL_LIST },
		{ "single_pass", OPK_CELL_LIST }, { "scope", OPK_CELL_STRING },
	};
	size_t count = sizeof columns / sizeof *columns;
	const struct opk_metric *metric = d->of.metric;
	struct opk_submetric sub = submetric_of(catalog, &d->of);

	/* People need no line that says nothing. */
	if (!metric->scope && app_shows_table(app))
		count--;
	return opk_out_record(app->out, columns,
	                      (union opk_cell[]){
				      { .string = opk_catalog_chip(catalog) },
				      { .string = opk_profiler_name(profiler) },
				      { .string = d->name },
				      { .string = metric->name },
				      { .string = opk_metric_type_name(metric->type) },
				      { .string = metric->hw_unit },
				      { .string = sub.dim_unit },
				      { .string = metric->description },
				      app_passes(sub.passes),
				      { .string = opk_method_name(sub.method) },
				      { .string = opk_refusal_name(sub.passes) },
				      { .list = { d->chips, d->chip_count } },
				      { .list = { d->single_pass, d->single_pass_count } },
				      { .string = opk_scope_name(metric->scope) },
			      },
	                      count);
}

static int print_submetrics(struct app *app, const struct opk_catalog *catalog,
                            const struct opk_metric *metric)
{
	static const struct opk_column columns[] = {
		{ "submetric", OPK_CELL_STRING },
		{ "dim_unit", OPK_CELL_STRING },
		{ "passes", OPK_CELL_EITHER },
	};
	int code = opk_out_table(app->out, "submetrics", columns, 3);

	for (size_t i = 0; !code && i < opk_catalog_submetric_count(catalog, metric); i++) {
		struct opk_submetric sub = opk_catalog_submetric(catalog, metric, i);

		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = sub.suffix },
						     { .string = sub.dim_unit },
						     app_passes(sub.passes),
					     });
	}
	return code;
}

static int print_counters(struct app *app, const struct opk_description *d)
{
	static const struct opk_column columns[] = {
		{ "counter", OPK_CELL_STRING },
		{ "domains", OPK_CELL_LIST },
	};
	int code = opk_out_table(app->out, "counters", columns, 2);

	for (size_t i = 0; !code && i < d->counter_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = d->counters[i].name },
						     { .list = { d->counters[i].domains,
		                                                 d->counters[i].domain_count } },
					     });
	return code;
}

static int print_constituents(struct app *app, const struct opk_description *d)
{
	static const struct opk_column columns[] = {
		{ "constituent", OPK_CELL_STRING },
		{ "type", OPK_CELL_STRING },
	};
	int code = opk_out_table(app->out, "constituents", columns, 2);

	for (size_t i = 0; !code && i < d->constituent_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = d->constituents[i].name },
						     { .string = opk_metric_type_name(
							       d->constituents[i].type) },
					     });
	return code;
}

static int describe_metric(struct app *app, struct opk_catalog *catalog, enum opk_profiler profiler,
                           const char *name)
{
	struct opk_description *d;
	int code = opk_description_new(&d, app->ctx, catalog, name);

	if (code)
		return app_fail(app, code);
	code = app_begin_output(app, app_default_format(app));
	if (!code) {
		code = print_record(app, catalog, profiler, d);
		if (!code)
			code = print_submetrics(app, catalog, d->of.metric);
		if (!code)
			code = print_counters(app, d);
		if (!code && d->of.metric->type != OPK_COUNTER)
			code = print_constituents(app, d);
		code = app_end_output(app, code);
	}
	opk_description_free(d);
	return code;
}

/* ---- a name of nvprof's */

static int print_legacy(struct app *app, const char *chip, const struct opk_legacy *legacy)
{
	static const struct opk_column record[] = {
		{ "chip", OPK_CELL_STRING },
		{ "legacy", OPK_CELL_STRING },
		{ "kind", OPK_CELL_STRING },
		{ "formula", OPK_CELL_STRING },
	};
	static const struct opk_column columns[] = {
		{ "term", OPK_CELL_STRING },
		{ "exists", OPK_CELL_BOOL },
		{ "nearest", OPK_CELL_STRING },
	};
	int code = opk_out_record(app->out, record,
	                          (union opk_cell[]){
					  { .string = chip },
					  { .string = legacy->name },
					  { .string = legacy->kind },
					  { .string = *legacy->formula ? legacy->formula
	                                                               : "no counterpart" },
				  },
	                          4);

	if (!code)
		code = opk_out_table(app->out, "terms", columns, 3);
	for (size_t i = 0; !code && i < legacy->term_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = legacy->terms[i].name },
						     { .boolean = legacy->terms[i].exists },
						     { .string = legacy->terms[i].nearest },
					     });
	if (!code && legacy->other_kind)
		app_note("there is an %s %s, too: %s", legacy->other_kind, legacy->name,
		         *legacy->other_formula ? legacy->other_formula : "no counterpart");
	return app_end_output(app, code);
}

static int describe(struct app *app, struct opk_catalog *catalog, enum opk_profiler profiler,
                    const char *name)
{
	struct opk_legacy *legacy = NULL;
	int code = opk_catalog_complete(catalog, app->ctx);

	if (!code && !opk_catalog_find(catalog, name))
		code = opk_legacy_new(&legacy, app->ctx, catalog, name);
	if (code)
		return app_fail(app, code);
	if (!legacy)
		return describe_metric(app, catalog, profiler, name);
	code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = print_legacy(app, opk_catalog_chip(catalog), legacy);
	opk_legacy_free(legacy);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct describe_args *args = data;
	enum opk_profiler profiler = OPK_PROFILER_RANGE;
	struct opk_catalog *catalog;
	int code;

	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "describe: which chip and which metric?");
	if (args->profiler && !opk_profiler_parse(&profiler, args->profiler))
		return app_error(app, OPK_EUSAGE, "--profiler %s: use range or pm", args->profiler);
	code = opk_catalog_new(&catalog, app->ctx, app->arguments[0], profiler);
	if (code)
		return app_fail(app, code);
	code = describe(app, catalog, profiler, app->arguments[1]);
	opk_catalog_free(catalog);
	return code;
}

const struct command describe_command = {
	.name = "describe",
	.synopsis = "CHIP METRIC [OPTIONS]",
	.summary = "tell all there is to know of one metric",
	.details =
		"METRIC is a base name such as dram__bytes, which stands for its plainest full\n"
		"name (.sum, .ratio or, of a throughput, .avg.pct_of_peak_sustained_elapsed), or a\n"
		"full name. Told are its properties, the other chips that have it, its submetrics\n"
		"with the passes that each takes alone, the raw counters that it is computed from\n"
		"with the domains that can count them, and what a throughput is the highest of: its\n"
		"constituents, counters and throughputs. Of a ratio these are the counters that are\n"
		"computed from its raw counters (the range profiler's alone). single_pass names the\n"
		"chip's sets of one pass that have the metric. The scope, where CUPTI tells (13.1 and later),\n"
		"is context or device: 'offpeak help metrics'.\n\n"
		"METRIC may also be a metric or event of nvprof: told is the formula over today's\n"
		"metrics, and whether the chip has each of them. A term with {op} stands for several\n"
		"metrics; the first is named.",
	.options = specs,
	.args_size = sizeof(struct describe_args),
	.max_arguments = 2,
	.run = run,
};
