/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "commands.h"

struct metrics_args {
	const char *profiler, *type, *unit, *grep;
};

static const struct option_spec specs[] = {
	{ "profiler", 0, "NAME", "whose catalog: range (default) or pm", OPTION_TEXT,
	  offsetof(struct metrics_args, profiler) },
	{ "type", 0, "TYPE", "only counter, ratio or throughput", OPTION_TEXT,
	  offsetof(struct metrics_args, type) },
	{ "unit", 0, "HWUNIT", "only metrics of this hardware unit", OPTION_TEXT,
	  offsetof(struct metrics_args, unit) },
	{ "grep", 0, "REGEX", "only where name or description match, in any case", OPTION_TEXT,
	  offsetof(struct metrics_args, grep) },
	{ 0 },
};

static int print(struct app *app, const struct opk_catalog *catalog,
                 const struct opk_matcher *matcher)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },   { "type", OPK_CELL_STRING },
		{ "hw_unit", OPK_CELL_STRING },  { "dim_unit", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};
	int code = opk_out_table(app->out, "metrics", columns, 5);
	bool any = false;

	for (size_t i = 0; !code && i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		if (!opk_matcher_match(matcher, metric))
			continue;
		any = true;
		code = opk_out_row(app->out, (union opk_cell[]){
			{ .string = metric->name },
			{ .string = opk_metric_type_name(metric->type) },
			{ .string = metric->hw_unit },
			{ .string = metric->dim_unit },
			{ .string = metric->description },
		});
	}
	if (!any)
		app_note("no metric matches; globs go over base names such as dram__bytes, without "
		         "rollup or submetric");
	return app_end_output(app, code);
}

static int list(struct app *app, enum opk_profiler profiler, const struct opk_metric_filter *filter)
{
	struct opk_matcher *matcher;
	struct opk_catalog *catalog;
	int code = opk_matcher_new(&matcher, app->ctx, filter);

	if (code)
		return app_fail(app, code);
	code = opk_catalog_new(&catalog, app->ctx, app->arguments[0], profiler);
	if (code) {
		opk_matcher_free(matcher);
		return app_fail(app, code);
	}
	code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = print(app, catalog, matcher);
	opk_catalog_free(catalog);
	opk_matcher_free(matcher);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct metrics_args *args = data;
	struct opk_metric_filter filter = OPK_INIT(filter);
	enum opk_profiler profiler = OPK_PROFILER_RANGE;

	if (app->argument_count < 1)
		return app_error(app, OPK_EUSAGE, "metrics: which chip? 'offpeak chips' lists them");
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
	return list(app, profiler, &filter);
}

const struct command metrics_command = {
	.name = "metrics",
	.synopsis = "CHIP [GLOB...] [OPTIONS]",
	.summary = "list a chip's base metrics with their properties",
	.details = "GLOB is a shell pattern over the base name, as in 'dram__*'; quote it. Conditions\n"
	           "combine. A full metric name, as sets and images want it, adds a rollup (.sum,\n"
	           ".avg, .min, .max) and possibly a submetric (.per_second) to a counter, and a\n"
	           "submetric to a ratio.",
	.options = specs,
	.args_size = sizeof(struct metrics_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
