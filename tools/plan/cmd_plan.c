/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak plan: the passes, their purpose, and what evaluation will show. */
#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "plan/door.h"
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

/* The tables after the summary. */
static const struct {
	const char *name;
	enum opk_plan_list list;
	size_t columns; /* number of the list's columns to show */
} tables[] = {
	{ "metrics", OPK_PLAN_METRICS, 5 },   { "plan", OPK_PLAN_PASSES, 6 },
	{ "domains", OPK_PLAN_DOMAINS, 5 },   { "notable", OPK_PLAN_NOTABLE, 3 },
	{ "left_out", OPK_PLAN_LEFT_OUT, 3 }, { "columns", OPK_PLAN_COLUMNS, 6 },
};

/* The report about a plan. */
struct report {
	struct opk_plan *plan;
	bool single_pass;
	struct opk_listing *costs;
	struct opk_listing *lists[COUNT(tables)]; /* NULL: not shown */
};

/* Adds how much of the request fits one pass; `text` owns the text for people. */
static int add_fit(struct app_fields *fields, char **text, struct app *app,
                   const struct report *report)
{
	size_t fit = opk_plan_metrics(report->plan)->count;
	size_t asked = fit + opk_plan_left_out(report->plan)->count;

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

static int print_record(struct app *app, const struct report *report)
{
	const struct opk_plan *plan = report->plan;
	const struct opk_strlist *metrics = opk_plan_metrics(plan);
	const union opk_cell *costs = opk_listing_get(report->costs, 0);
	struct app_fields fields = { 0 };
	opk_autofree char *fit = NULL;
	size_t sample_bytes;

	field_text(&fields, "chip", opk_plan_chip(plan));
	field_text(&fields, "profiler", opk_profiler_name(opk_plan_profiler(plan)));
	field_text(&fields, "set", opk_plan_set_name(plan));
	field_list(&fields, "metrics", opk_strlist_items(metrics), metrics->count);
	TRY(add_fit(&fields, &fit, app, report));
	field_number(&fields, "passes", opk_plan_passes(plan));
	field_number(&fields, "lower_bound", costs[0].uint);
	if (costs[1].optional.known) {
		field_number(&fields, "launch_us", costs[1].optional.uint);
		field_number(&fields, "replay_us", costs[2].optional.uint);
		field_text(&fields, "measured", costs[3].string);
	}
	if (plan_sample_bytes(app, plan, &sample_bytes))
		field_number(&fields, "sample_bytes", sample_bytes);
	return app_record(app, &fields);
}

/* Writes the picture, if requested, before it prints the rows. */
static int print(struct app *app, struct report *report, const char *svg)
{
	opk_autonewfile struct opk_newfile picture = { 0 };
	size_t lower_bound = opk_listing_get(report->costs, 0)[0].uint;
	int code = svg ? plan_svg(&picture, app, report->plan, lower_bound, svg) : OPK_OK;

	if (!code)
		code = app_begin_output(app);
	if (!code)
		code = print_record(app, report);
	for (size_t i = 0; !code && i < COUNT(tables); i++)
		code = app_list_columns(app, tables[i].name, opk_take(report->lists[i]),
		                        tables[i].columns);
	if (!code)
		code = app_end_output(app);
	return code || !svg ? code : opk_newfile_commit(&picture);
}

static bool is_shown(const struct report *report, enum opk_plan_list list)
{
	switch (list) {
	case OPK_PLAN_PASSES:
	case OPK_PLAN_COLUMNS:
		return true;
	case OPK_PLAN_DOMAINS:
	case OPK_PLAN_NOTABLE:
		return opk_plan_passes(report->plan) > 1;
	default:
		return list == OPK_PLAN_LEFT_OUT && report->single_pass;
	}
}

static int find(struct app *app, struct report *report)
{
	TRY(opk_plan_list(&report->costs, app->ctx, report->plan, OPK_PLAN_COSTS));
	for (size_t i = 0; i < COUNT(tables); i++) {
		bool wanted = app_wants_table(app, tables[i].name);

		if (!wanted && !is_shown(report, tables[i].list))
			continue;
		TRY(opk_plan_list(&report->lists[i], app->ctx, report->plan, tables[i].list));
		/* A plain list of metrics has no columns. */
		if (!wanted && tables[i].list == OPK_PLAN_COLUMNS
		    && !opk_listing_count(report->lists[i]))
			opk_listing_free(opk_take(report->lists[i]));
	}
	return OPK_OK;
}

static int plan(struct app *app, struct plan_command_args *args, struct report *report)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	opk_autofree void *availability = NULL;
	struct opk_plan_options options;

	TRY(plan_options(app, &args->plan, &options));
	TRY(app_choose_table(app, TABLES, args->table, "summary"));
	TRY(plan_sets(app, &args->plan, &set));
	TRY(plan_availability(app, &args->plan, set, &availability, &options));
	TRY(opk_plan_new(&report->plan, app->ctx, set, &options));
	note_missing(report->plan);
	report->single_pass = options.single_pass;
	TRY(find(app, report));
	return print(app, report, args->svg);
}

static int run(struct app *app, void *data)
{
	struct report report = { 0 };
	int code = plan(app, data, &report);

	for (size_t i = 0; i < COUNT(tables); i++)
		opk_listing_free(report.lists[i]);
	opk_listing_free(report.costs);
	opk_plan_free(report.plan);
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
