/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>

#include "commands.h"
#include "common/plan_args.h"
#include "plan/plan_svg.h"

struct plan_command_args {
	struct plan_args plan;
	const char *svg;
};

static const struct option_spec specs[] = {
	PLAN_OPTIONS(struct plan_command_args, plan),
	{ "svg", 0, "FILE", "also draw the plan: a column a pass, a row a group of counter domains",
	  OPTION_OUTPUT, offsetof(struct plan_command_args, svg) },
	{ 0 },
};

/* "gpu_lts:8": of which domains a pass has counters, and how many; free() each and the list. */
static char **fill_of(const struct opk_plan_detail *detail, size_t pass, size_t *count)
{
	char **list = calloc(opk_plan_detail_domain_count(detail) + 1, sizeof *list);

	*count = 0;
	for (size_t i = 0; list && i < opk_plan_detail_domain_count(detail); i++) {
		size_t fill = opk_plan_detail_fill(detail, pass, i);

		if (fill
		    && asprintf(&list[*count], "%s:%zu",
		                opk_plan_detail_domain(detail, i)->names[0], fill)
		               > 0)
			++*count;
	}
	return list;
}

static int print_pass(struct app *app, const struct opk_plan *plan,
                      const struct opk_plan_detail *detail, size_t pass, const char **names)
{
	size_t count = 0, domains;
	char **fill = fill_of(detail, pass, &domains);
	int code;

	for (size_t i = 0; i < opk_plan_metric_count(plan); i++)
		if (opk_plan_detail_serves(detail, pass, i))
			names[count++] = opk_plan_metric(plan, i);
	if (!fill)
		return app_error(app, OPK_EFAILED, "out of memory");
	code = opk_out_row(app->out, (union opk_cell[]){
					     { .uint = pass + 1 },
					     { .uint = opk_plan_detail_counters(detail, pass) },
					     { .list = { (const char *const *)fill, domains } },
					     { .list = { names, count } },
				     });
	for (size_t i = 0; i < domains; i++)
		free(fill[i]);
	free(fill);
	return code;
}

static int print_domains(struct app *app, const struct opk_plan_detail *detail)
{
	static const struct opk_column columns[] = {
		{ "domains", OPK_CELL_LIST }, { "counters", OPK_CELL_UINT },
		{ "passes", OPK_CELL_UINT },  { "lower_bound", OPK_CELL_UINT },
		{ "fullest", OPK_CELL_UINT },
	};
	int code = opk_out_table(app->out, "domains", columns, 5);

	for (size_t i = 0; !code && i < opk_plan_detail_domain_count(detail); i++) {
		const struct opk_plan_domains *domains = opk_plan_detail_domain(detail, i);

		code = opk_out_row(app->out,
		                   (union opk_cell[]){
					   { .list = { domains->names, domains->name_count } },
					   { .uint = domains->counters },
					   { .uint = domains->passes },
					   { .uint = domains->bound },
					   { .uint = domains->fullest },
				   });
	}
	return code;
}

/* Metrics that make the plan longer, and ratios whose parts come from different passes. */
static int print_notable(struct app *app, const struct opk_plan *plan,
                         const struct opk_plan_detail *detail)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },
		{ "saves", OPK_CELL_UINT },
		{ "split", OPK_CELL_BOOL },
	};
	int code = opk_out_table(app->out, "notable", columns, 3);

	for (size_t i = 0; !code && i < opk_plan_metric_count(plan); i++)
		if (opk_plan_detail_saves(detail, i) || opk_plan_detail_splits(detail, i))
			code = opk_out_row(app->out,
			                   (union opk_cell[]){
						   { .string = opk_plan_metric(plan, i) },
						   { .uint = opk_plan_detail_saves(detail, i) },
						   { .boolean = opk_plan_detail_splits(detail, i) },
					   });
	return code;
}

/* What evaluation will show, and what only formulas need. */
static int print_columns(struct app *app, const struct opk_plan_columns *shown)
{
	static const struct opk_column columns[] = {
		{ "column", OPK_CELL_STRING }, { "shown", OPK_CELL_BOOL },
		{ "unit", OPK_CELL_STRING },   { "group", OPK_CELL_STRING },
		{ "metric", OPK_CELL_STRING }, { "formula", OPK_CELL_STRING },
	};
	int code = opk_out_table(app->out, "columns", columns, 6);

	for (size_t i = 0; !code && i < opk_plan_columns_count(shown); i++) {
		const struct opk_plan_column *column = opk_plan_columns_get(shown, i);

		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = column->name },
						     { .boolean = column->shown },
						     { .string = column->unit },
						     { .string = column->group },
						     { .string = column->metric },
						     { .string = column->formula },
					     });
	}
	return code;
}

static int print_left_out(struct app *app, const struct opk_leftovers *leftovers)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },
		{ "would_fit", OPK_CELL_BOOL },
		{ "full_domains", OPK_CELL_LIST },
	};
	int code = opk_out_table(app->out, "left_out", columns, 3);

	for (size_t i = 0; !code && i < opk_leftovers_count(leftovers); i++) {
		const struct opk_left_out *one = opk_leftovers_get(leftovers, i);

		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = one->metric },
						     { .boolean = one->would_fit },
						     { .list = { one->full_domains,
		                                                 one->full_domain_count } },
					     });
	}
	return code;
}

/* All that is told of a plan. */
struct report {
	struct opk_plan *plan;
	struct opk_plan_detail *detail;
	struct opk_leftovers *leftovers; /* of --single-pass */
	struct opk_plan_columns *columns;
};

static int print(struct app *app, const struct report *report)
{
	static const struct opk_column record[] = {
		{ "chip", OPK_CELL_STRING },       { "profiler", OPK_CELL_STRING },
		{ "set", OPK_CELL_STRING },        { "metrics", OPK_CELL_LIST },
		{ "passes", OPK_CELL_UINT },       { "lower_bound", OPK_CELL_UINT },
		{ "sample_bytes", OPK_CELL_UINT },
	};
	static const struct opk_column columns[] = {
		{ "pass", OPK_CELL_UINT },
		{ "counters", OPK_CELL_UINT },
		{ "domains", OPK_CELL_LIST },
		{ "metrics", OPK_CELL_LIST },
	};
	const struct opk_plan *plan = report->plan;
	const struct opk_plan_detail *detail = report->detail;
	size_t count = opk_plan_metric_count(plan), sample_bytes = 0;
	bool sampling = plan_sample_bytes(app, plan, &sample_bytes);
	const char **names = calloc(count, sizeof *names);
	int code;

	if (!names)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t i = 0; i < count; i++)
		names[i] = opk_plan_metric(plan, i);
	code = opk_out_record(app->out, record,
	                      (union opk_cell[]){
				      { .string = opk_plan_chip(plan) },
				      { .string = opk_profiler_name(opk_plan_profiler(plan)) },
				      { .string = opk_plan_set_name(plan) },
				      { .list = { names, count } },
				      { .uint = opk_plan_passes(plan) },
				      { .uint = opk_plan_detail_lower_bound(detail) },
				      { .uint = sample_bytes },
			      },
	                      sampling ? 7 : 6);
	if (!code)
		code = opk_out_table(app->out, "plan", columns, 4);
	for (size_t pass = 0; !code && pass < opk_plan_passes(plan); pass++)
		code = print_pass(app, plan, detail, pass, names);
	if (!code && opk_plan_passes(plan) > 1)
		code = print_domains(app, detail);
	if (!code && opk_plan_passes(plan) > 1)
		code = print_notable(app, plan, detail);
	if (!code && report->leftovers)
		code = print_left_out(app, report->leftovers);
	if (!code && opk_plan_columns_count(report->columns))
		code = print_columns(app, report->columns);
	free(names);
	return app_end_output(app, code);
}

/* The rows, and the picture where one is wanted: it is in place when they are printed. */
static int show(struct app *app, const struct plan_command_args *args, const struct report *report)
{
	opk_autonewfile struct opk_newfile picture = { 0 };
	int code = args->svg ? plan_svg(&picture, app, report->plan, report->detail, args->svg)
	                     : OPK_OK;

	if (!code)
		code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = print(app, report);
	if (!code && args->svg && (code = opk_newfile_commit(&picture)))
		code = app_fail(app, code);
	return code;
}

static int plan(struct app *app, const struct plan_command_args *args, const struct opk_set *set,
                const struct opk_plan_options *options)
{
	struct report report = { 0 };
	int code = opk_plan_new(&report.plan, app->ctx, set, options);

	if (code)
		return app_fail(app, code);
	note_missing(report.plan);
	code = opk_plan_detail_new(&report.detail, app->ctx, report.plan);
	if (!code && options->single_pass)
		code = opk_leftovers_new(&report.leftovers, app->ctx, report.plan);
	if (!code)
		code = opk_plan_columns_new(&report.columns, app->ctx, report.plan);
	code = code ? app_fail(app, code) : show(app, args, &report);
	opk_plan_columns_free(report.columns);
	opk_leftovers_free(report.leftovers);
	opk_plan_detail_free(report.detail);
	opk_plan_free(report.plan);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct plan_command_args *args = data;
	struct opk_plan_options options;
	struct opk_set *set;
	int code = plan_options(app, &args->plan, &options);

	if (!code)
		code = plan_sets(app, &args->plan, &set);
	if (code)
		return code;
	code = plan(app, args, set, &options);
	opk_set_free(set);
	return code;
}

const struct command plan_command = {
	.name = "plan",
	.synopsis = "--chip CHIP SET...",
	.summary = "tell how many passes a metric set takes, and what each is for",
	.details =
		"SET is a shipped set's name, a YAML file, or metric names with commas between.\n"
		"Several sets are planned as one. Fewer passes than CUPTI's own order takes are looked\n"
		"for, a moment by default, --effort SECONDS for longer. lower_bound is reached where it\n"
		"equals passes: no plan is shorter, unless a pass had room for more counters of a domain\n"
		"than the fullest that was found. domains tells how many counters of which domains a\n"
		"pass has (of several that counters may choose between, the first is named), and below\n"
		"how many passes they need by themselves. notable are metrics without which the plan\n"
		"would be shorter (saves), and ratios whose counters are in different passes, and so of\n"
		"different runs of the kernel (split). sample_bytes, of PM sampling, is\n"
		"what the hardware writes for each sample.\n"
		"\n"
		"columns, of a set that is more than a list of metrics, tells what evaluation will show:\n"
		"metrics, short names of metrics, formulas; and below, not shown, what only formulas need.\n"
		"\n"
		"--single-pass takes the metrics as a list by priority and keeps as many, from the\n"
		"first on, as fit one pass. left_out has the others: whether one would fit beside the\n"
		"kept ones, and else the domains where its raw counters find no room.\n"
		"\n"
		"--svg draws a column a pass and a row for each group of domains that are scheduled\n"
		"together, filled as far as the pass is beside the fullest one; a pass shows its\n"
		"metrics when the mouse is over it.",
	.options = specs,
	.args_size = sizeof(struct plan_command_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_SETS,
	.run = run,
};
