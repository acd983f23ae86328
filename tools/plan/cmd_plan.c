/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak plan: passes, what they are for, and what evaluation will show. */
#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "plan/plan_svg.h"

struct plan_command_args {
	struct plan_args plan;
	const char *svg;
	unsigned table;
};

#define TABLES "summary|metrics|plan|domains|notable|left_out|columns"

static const struct option_spec specs[] = {
	PLAN_OPTIONS(struct plan_command_args, plan),
	TABLE_OPTION(TABLES, "summary", struct plan_command_args, table),
	{ "svg", 0, "FILE", "also draw the plan: a column a pass, a row a group of counter domains",
	  OPTION_OUTPUT_OF(OPK_OUTPUT_SVG), offsetof(struct plan_command_args, svg) },
	{ 0 },
};

static void print_domains(struct app *app, const struct opk_plan_detail *detail)
{
	static const struct opk_column columns[] = {
		{ "domains", OPK_CELL_LIST }, { "counters", OPK_CELL_UINT },
		{ "passes", OPK_CELL_UINT },  { "lower_bound", OPK_CELL_UINT },
		{ "fullest", OPK_CELL_UINT },
	};

	app_table(app, "domains", columns);
	for (size_t i = 0; i < opk_plan_detail_domain_count(detail); i++) {
		const struct opk_plan_domains *domains = opk_plan_detail_domain(detail, i);

		app_row(app, cell_list(domains->names, domains->name_count),
		        cell_number(domains->counters), cell_number(domains->passes),
		        cell_number(domains->bound), cell_number(domains->fullest));
	}
}

/* Metrics that make the plan longer, and ratios whose parts come from different passes. */
static void print_notable(struct app *app, const struct opk_plan *plan,
                          const struct opk_plan_detail *detail)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },
		{ "saves", OPK_CELL_UINT },
		{ "split", OPK_CELL_BOOL },
	};

	app_table(app, "notable", columns);
	for (size_t i = 0; i < opk_plan_metric_count(plan); i++) {
		size_t saves = opk_plan_detail_saves(detail, i);
		bool splits = opk_plan_detail_splits(detail, i);

		if (saves || splits)
			app_row(app, cell_text(opk_plan_metric(plan, i)), cell_number(saves),
			        cell_flag(splits));
	}
}

/* What evaluation will show, and what only formulas need. */
static void print_columns(struct app *app, const struct opk_plan_columns *shown)
{
	static const struct opk_column columns[] = {
		{ "column", OPK_CELL_STRING }, { "shown", OPK_CELL_BOOL },
		{ "unit", OPK_CELL_STRING },   { "group", OPK_CELL_STRING },
		{ "metric", OPK_CELL_STRING }, { "formula", OPK_CELL_STRING },
	};

	if (opk_plan_columns_count(shown) || app_wants_table(app, "columns"))
		app_table(app, "columns", columns);
	for (size_t i = 0; i < opk_plan_columns_count(shown); i++) {
		const struct opk_plan_column *column = opk_plan_columns_get(shown, i);

		app_row(app, cell_text(column->name), cell_flag(column->shown),
		        cell_text(column->unit), cell_text(column->group),
		        cell_text(column->metric), cell_text(column->formula));
	}
}

/* All that is reported about a plan. */
struct report {
	struct opk_plan *plan;
	struct opk_plan_detail *detail;
	struct opk_listing *left_out; /* of --single-pass, or where it is asked for */
	bool single_pass;
	struct opk_plan_columns *columns;
	const char **names; /* room for all metrics */
};

/* How much of what was asked for fits one pass; `text` holds what people read of it. */
static int add_fit(struct app_fields *fields, char **text, struct app *app,
                   const struct report *report)
{
	size_t fit = opk_plan_metric_count(report->plan);
	size_t asked = fit + opk_plan_left_out_count(report->plan);

	if (!report->single_pass)
		return OPK_OK;
	if (!app_shows_table(app)) {
		field_number(fields, "fit", fit);
		field_number(fields, "asked", asked);
		return OPK_OK;
	}
	*text = opk_printf("%zu of %zu metrics", fit, asked);
	if (*text)
		field_text(fields, "fit", *text);
	return *text ? OPK_OK : app_nomem(app);
}

/* Costs of a launch without replay, on average over the passes, and with kernel replay. */
static void add_costs(struct app_fields *fields, const struct report *report)
{
	size_t passes = opk_plan_passes(report->plan);
	uint64_t launch = 0, replay = 0;

	for (size_t pass = 0; pass < passes; pass++) {
		uint32_t one = opk_plan_detail_launch_us(report->detail, pass);

		/* An unknown pass makes the sum unknown. */
		if (!one)
			return;
		launch += one;
		replay += opk_plan_detail_replay_us(report->detail, pass);
	}
	field_number(fields, "launch_us", (launch + passes / 2) / passes);
	field_number(fields, "replay_us", replay);
	field_text(fields, "measured", opk_plan_detail_measured(report->detail));
}

static int print_record(struct app *app, const struct report *report)
{
	const struct opk_plan *plan = report->plan;
	struct app_fields fields = { 0 };
	opk_autofree char *fit = NULL;
	size_t sample_bytes;
	int code;

	for (size_t i = 0; i < opk_plan_metric_count(plan); i++)
		report->names[i] = opk_plan_metric(plan, i);
	field_text(&fields, "chip", opk_plan_chip(plan));
	field_text(&fields, "profiler", opk_profiler_name(opk_plan_profiler(plan)));
	field_text(&fields, "set", opk_plan_set_name(plan));
	field_list(&fields, "metrics", report->names, opk_plan_metric_count(plan));
	code = add_fit(&fields, &fit, app, report);
	if (code)
		return code;
	field_number(&fields, "passes", opk_plan_passes(plan));
	field_number(&fields, "lower_bound", opk_plan_detail_lower_bound(report->detail));
	add_costs(&fields, report);
	if (plan_sample_bytes(app, plan, &sample_bytes))
		field_number(&fields, "sample_bytes", sample_bytes);
	return app_record(app, &fields);
}

/* The domains of which the pass has counters, each with how many: "gpu_lts:8". */
static int list_fill(struct opk_strlist *out, const struct opk_plan_detail *detail, size_t pass)
{
	for (size_t i = 0; i < opk_plan_detail_domain_count(detail); i++) {
		size_t fill = opk_plan_detail_fill(detail, pass, i);

		if (fill
		    && !opk_strlist_take(out,
		                         opk_printf("%s:%zu",
		                                    opk_plan_detail_domain(detail, i)->names[0],
		                                    fill)))
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

static union opk_cell cell_cost(uint32_t us)
{
	return cell_known(us, us > 0);
}

static int print_passes(struct app *app, const struct report *report)
{
	static const struct opk_column columns[] = {
		{ "pass", OPK_CELL_UINT },          { "counters", OPK_CELL_UINT },
		{ "domains", OPK_CELL_LIST },       { "launch_us", OPK_CELL_OPTIONAL },
		{ "replay_us", OPK_CELL_OPTIONAL }, { "metrics", OPK_CELL_LIST },
	};

	app_table(app, "plan", columns);
	for (size_t pass = 0; pass < opk_plan_passes(report->plan); pass++) {
		opk_autostrlist struct opk_strlist fill = { 0 };
		uint32_t launch = opk_plan_detail_launch_us(report->detail, pass);
		uint32_t replay = opk_plan_detail_replay_us(report->detail, pass);
		size_t count = 0;

		if (list_fill(&fill, report->detail, pass))
			return app_nomem(app);
		for (size_t i = 0; i < opk_plan_metric_count(report->plan); i++)
			if (opk_plan_detail_serves(report->detail, pass, i))
				report->names[count++] = opk_plan_metric(report->plan, i);
		app_row(app, cell_number(pass + 1),
		        cell_number(opk_plan_detail_counters(report->detail, pass)),
		        cell_list(opk_strlist_items(&fill), fill.count), cell_cost(launch),
		        cell_cost(replay), cell_list(report->names, count));
	}
	return OPK_OK;
}

/* The other way round: a row a metric. The summary has the names alone, as metrics, too. */
static int print_metrics(struct app *app, const struct report *report)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING }, { "passes", OPK_CELL_UINT }, { "in", OPK_CELL_LIST },
		{ "saves", OPK_CELL_UINT },    { "split", OPK_CELL_BOOL },
	};

	app_table(app, "metrics", columns);
	for (size_t i = 0; i < opk_plan_metric_count(report->plan); i++) {
		opk_autostrlist struct opk_strlist in = { 0 };

		for (size_t pass = 0; pass < opk_plan_passes(report->plan); pass++)
			if (opk_plan_detail_serves(report->detail, pass, i)
			    && !opk_strlist_take(&in, opk_printf("%zu", pass + 1)))
				return app_nomem(app);
		app_row(app, cell_text(opk_plan_metric(report->plan, i)), cell_number(in.count),
		        cell_list(opk_strlist_items(&in), in.count),
		        cell_number(opk_plan_detail_saves(report->detail, i)),
		        cell_flag(opk_plan_detail_splits(report->detail, i)));
	}
	return OPK_OK;
}

/* The picture, where one is wanted, is in place when the rows are printed. */
static int print(struct app *app, struct report *report, const char *svg)
{
	opk_autonewfile struct opk_newfile picture = { 0 };
	int code = svg ? plan_svg(&picture, app, report->plan, report->detail, svg) : OPK_OK;

	if (!code)
		code = app_begin_output(app);
	if (!code)
		code = print_record(app, report);
	if (!code && app_wants_table(app, "metrics"))
		code = print_metrics(app, report);
	if (!code)
		code = print_passes(app, report);
	if (code)
		return code;
	if (opk_plan_passes(report->plan) > 1 || app_wants_table(app, "domains"))
		print_domains(app, report->detail);
	if (opk_plan_passes(report->plan) > 1 || app_wants_table(app, "notable"))
		print_notable(app, report->plan, report->detail);
	code = app_list(app, "left_out", opk_take(report->left_out));
	if (code)
		return code;
	print_columns(app, report->columns);
	code = app_end_output(app);
	return code || !svg ? code : opk_newfile_commit(&picture);
}

static int plan(struct app *app, struct plan_command_args *args, struct report *report)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	opk_autofree void *availability = NULL;
	struct opk_plan_options options;
	int code = plan_options(app, &args->plan, &options);

	if (!code)
		code = app_choose_table(app, TABLES, args->table, "summary");
	if (!code)
		code = plan_sets(app, &args->plan, &set);
	if (!code)
		code = plan_availability(app, &args->plan, set, &availability, &options);
	if (!code)
		code = opk_plan_new(&report->plan, app->ctx, set, &options);
	if (code)
		return code;
	note_missing(report->plan);
	report->names = opk_alloc_array(opk_plan_metric_count(report->plan), sizeof *report->names);
	if (!report->names)
		return app_nomem(app);
	code = opk_plan_detail_new(&report->detail, app->ctx, report->plan);
	report->single_pass = options.single_pass;
	if (!code && (options.single_pass || app_wants_table(app, "left_out")))
		code = opk_plan_list(&report->left_out, app->ctx, report->plan, OPK_PLAN_LEFT_OUT);
	if (!code)
		code = opk_plan_columns_new(&report->columns, app->ctx, report->plan);
	return code ? code : print(app, report, args->svg);
}

static int run(struct app *app, void *data)
{
	struct report report = { 0 };
	int code = plan(app, data, &report);

	opk_plan_columns_free(report.columns);
	opk_listing_free(report.left_out);
	opk_plan_detail_free(report.detail);
	opk_plan_free(report.plan);
	free(report.names);
	return code;
}

const struct command plan_command = {
	.name = "plan",
	.synopsis = "--chip CHIP SET...",
	.summary = "show how many passes a metric set takes, and what each is for",
	.details =
		"SET is a shipped set's name, a YAML file, or metric names with commas between.\n"
		"Several sets are planned as one. CUPTI's own order of counters may take more passes\n"
		"than needed: shorter plans are looked for, a moment by default and a minute at most,\n"
		"--effort SECONDS for longer; it bounds the time for lower_bound and notable, too. Where\n"
		"lower_bound equals passes, no plan is shorter, unless a pass has room for more counters\n"
		"of a domain than the fullest that was found. The table plan shows how many counters of\n"
		"which domains a pass has (where counters may choose between several, the first is\n"
		"named), and the table domains how many passes they need by themselves. notable lists\n"
		"metrics without which the plan would be shorter (saves), and ratios whose counters are\n"
		"in different passes, and so in different runs of the kernel (split). sample_bytes is\n"
		"what the hardware writes for each sample of PM sampling.\n"
		"\n"
		"In the table plan launch_us is by how many microseconds a pass makes a launch longer,\n"
		"without replay, and replay_us how long the pass takes under kernel replay. The summary\n"
		"has the mean of launch_us, for passes take turns, and the sum of replay_us. They come\n"
		"from where counters are counted and what that cost on one GPU (measured); nothing is\n"
		"said of chips where it was not measured. --prefer cheap plans few passes with counters\n"
		"that the SMs themselves keep, which make a launch twenty times dearer on an H100, and\n"
		"more passes in all.\n"
		"\n"
		"CSV has one table: the summary, or that of --table. The table metrics is printed for\n"
		"--table alone: a row a metric, with the number of its passes, which ones they are, saves\n"
		"and split.\n"
		"\n"
		"columns shows what evaluation will show of a set that is more than a list of metrics:\n"
		"metrics, short names of metrics, formulas; and, not shown, what only formulas need.\n"
		"\n"
		"--single-pass takes the metrics as a list by priority: each in its turn, if it fits one\n"
		"pass together with those before it; --strict-order stops at the first that does not.\n"
		"The summary says how many fit of how many were asked for, in CSV and JSON fit and asked.\n"
		"left_out has the others: whether one would fit beside the kept ones, and else the\n"
		"domains where its raw counters find no room.\n"
		"\n"
		"--svg draws a column a pass and a row for each group of domains that are scheduled\n"
		"together, filled in proportion to the fullest pass; a pass shows its metrics when the\n"
		"mouse is over it.",
	.examples = {
		{ "plan --chip GH100 memory", "how many passes a set takes" },
		{ "plan --chip GH100 roofline my.yaml --table metrics -o plan.csv",
		  "which passes each metric of two sets takes, as CSV" },
		{ "plan --chip GH100 roofline --svg plan.svg",
		  "what each pass is for, as a picture" },
	},
	.options = specs,
	.args_size = sizeof(struct plan_command_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_SETS,
	.run = run,
};
