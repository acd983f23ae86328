/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak diff: its options. */
#include <math.h>
#include <string.h>

#include "code/door.h"
#include "commands.h"
#include "common/files.h"
#include "diff/diff.h"

enum { TOP = 5, IGNORE_SHAPE = 1 };

struct diff_args {
	struct raw_args raw;
	struct option_list before, after, where, fail;
	const char *by, *level, *rules, *junit;
	unsigned per, ignore, kernel_names, table;
	uint64_t top;
	bool all, allow_incomplete;
};

#define TABLES "summary|differences|rows|values|peaks|unmatched|rules"

static const struct option_spec specs[] = {
	{ "before", 0, "FILE", "a recording of what was before; may be repeated", OPTION_LIST,
	  offsetof(struct diff_args, before) },
	{ "after", 0, "FILE", "a recording of what is now; may be repeated", OPTION_LIST,
	  offsetof(struct diff_args, after) },
	{ "by", 0, "KEY",
	  "match rows by kernel (default, with its shape), name, nvtx, or several: nvtx,kernel",
	  OPTION_TEXT, offsetof(struct diff_args, by) },
	{ "per", 0, "instruction|line|function",
	  "compare code: its samples and counts, matched across builds", OPTION_WORD,
	  offsetof(struct diff_args, per) },
	{ "ignore", 0, "shape|none",
	  "shape: match kernels whatever their grid, block and shared memory", OPTION_WORD,
	  offsetof(struct diff_args, ignore) },
	SHARED_OPTION("metrics", "A,B", "compare these, by their full names", OPTION_TEXT,
	              struct diff_args, raw.metrics),
	SHARED_OPTION("set", "SET", "compare the metrics of this set", OPTION_INPUT,
	              struct diff_args, raw.set),
	PARAM_OPTION(struct diff_args, raw.params),
	{ "where", 0, "NAME=GLOB", "only rows like this: kernel=*gemm*; may be repeated",
	  OPTION_LIST, offsetof(struct diff_args, where) },
	{ "top", 0, "N", "values of the first N rows; default: 5 in a table for people, else all",
	  OPTION_COUNT, offsetof(struct diff_args, top) },
	{ "all", 0, NULL, "in a table for people, what is the same or noise, too", OPTION_FLAG,
	  offsetof(struct diff_args, all) },
	{ "level", 0, "SHARE", "share of false changes among those found; default 0.005",
	  OPTION_TEXT, offsetof(struct diff_args, level) },
	{ "fail", 0, "RULE",
	  "exit 1 where 'METRIC>5%', 'METRIC<-3%', 'METRIC>1.5e6' or unmatched; may be repeated",
	  OPTION_LIST, offsetof(struct diff_args, fail) },
	{ "rules", 0, "FILE", "more such rules, in YAML", OPTION_INPUT,
	  offsetof(struct diff_args, rules) },
	{ "junit", 0, "FILE", "write what became of the rules as JUnit's XML",
	  OPTION_OUTPUT_OF(OPK_OUTPUT_JUNIT), offsetof(struct diff_args, junit) },
	{ "allow-incomplete", 0, NULL, "compare what cut-off recordings still hold", OPTION_FLAG,
	  offsetof(struct diff_args, allow_incomplete) },
	KERNEL_NAMES_OPTION(struct diff_args, kernel_names),
	TABLE_OPTION(TABLES, "values", struct diff_args, table),
	TIMEOUT_OPTION,
	{ 0 },
};

/* ---- the request ------------------------------------------------------------------------ */

static int check_side(struct app *app, const struct option_list *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		TRY(files_read(app, paths->items[i]));
	return OPK_OK;
}

static int choose_files(struct diff *diff, const struct diff_args *args)
{
	struct app *app = diff->app;
	bool named = args->before.count || args->after.count;

	TRY(check_side(app, &args->before));
	TRY(check_side(app, &args->after));
	if (named ? app->argument_count || !args->before.count || !args->after.count
	          : app->argument_count != 2)
		return app_error(app, OPK_EUSAGE,
		                 "diff: which recordings? BEFORE.opk AFTER.opk, or --before FILE "
		                 "and --after FILE, each as often as there are files");
	diff->before = args->before;
	diff->after = args->after;
	if (!named) {
		diff->before = (struct option_list){ { app->arguments[0] }, 1 };
		diff->after = (struct option_list){ { app->arguments[1] }, 1 };
	}
	return OPK_OK;
}

/* Reports wrong rules before any file is opened. */
static int add_rules(struct opk_diff_options *options, struct app *app,
                     const struct diff_args *args)
{
	options->rules = args->fail.items;
	options->rule_count = args->fail.count;
	options->rule_files = &args->rules;
	options->rule_file_count = args->rules != NULL;
	if (args->junit && !args->fail.count && !args->rules)
		return app_error(app, OPK_EUSAGE,
		                 "diff: --junit goes with --fail or --rules: it is about rules");
	return opk_diff_check_rules(app->ctx, options);
}

/* ---- files ------------------------------------------------------------------------------ */

static int open_files(struct app *app, struct opk_file **files, const struct option_list *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		TRY(opk_file_open(&files[i], app->ctx, paths->items[i]));
	return OPK_OK;
}

/* Whether a file has nothing but code to compare. */
static bool needs_per(const struct diff *diff, struct opk_file **files)
{
	const struct opk_meta *meta;

	for (size_t i = 0; !diff->code && i < diff->before.count + diff->after.count; i++)
		if (files[i] && !opk_file_meta(&meta, diff->app->ctx, files[i])
		    && opk_hot_is_alone(files[i], meta))
			return true;
	return false;
}

static int compare(struct opk_diff **out, struct diff *diff, struct opk_file **files,
                   const struct opk_diff_options *options)
{
	struct app *app = diff->app;
	int code = open_files(app, files, &diff->before);

	if (!code)
		code = open_files(app, files + diff->before.count, &diff->after);
	if (!code)
		code = opk_diff_new(out, app->ctx, files, diff->before.count, diff->after.count,
		                    options);
	if (code)
		return opk_add(app->ctx, code, "%s",
		               code == OPK_EUSAGE && needs_per(diff, files)
		                       ? "can't compare by kernel: --per line compares code"
		                       : "can't compare");
	return OPK_OK;
}

/* ---- output ----------------------------------------------------------------------------- */

static int name_kernels(struct diff *diff)
{
	struct opk_ctx *ctx = diff->app->ctx;

	for (size_t i = 0; i < diff->found->row_count; i++)
		TRY(opk_kernel_names_add(diff->names, ctx, &diff->found->rows[i].range, 1));
	for (size_t i = 0; i < diff->found->unmatched_count; i++)
		TRY(opk_kernel_names_add(diff->names, ctx, &diff->found->unmatched[i].range, 1));
	return OPK_OK;
}

static int print(struct diff *diff, const struct diff_args *args)
{
	struct app *app = diff->app;

	TRY(app_choose_table(app, TABLES, args->table, "values"));
	TRY(app_begin_output(app));
	TRY(diff_tables(diff));
	TRY(app_end_output(app));
	diff_notes(diff);
	return OPK_OK;
}

/* Broken checks are the result, and are reported even if their file can't be written. */
static int write_junit(struct diff *diff, const char *path, const char *broken)
{
	int code = opk_diff_write_junit(diff->of, diff->app->ctx, path);

	if (!code)
		return OPK_OK;
	if (broken)
		app_print_cause("offpeak: ", broken);
	return opk_add(diff->app->ctx, code, "can't write the file of --junit");
}

/* "1 of 5 checks is broken"; NULL: none is broken. */
static int describe_broken(char **out, struct diff *diff)
{
	size_t broken = diff->found->broken;

	*out = NULL;
	if (!broken)
		return OPK_OK;
	*out = opk_printf("%zu of %zu checks %s broken", broken, diff->found->judged.count,
	                  broken == 1 ? "is" : "are");
	return *out ? OPK_OK : app_nomem(diff->app);
}

/* Reports broken rules; fails if there are any. */
static int end_gate(struct diff *diff, const struct diff_args *args)
{
	opk_autofree char *broken = NULL;
	int code = describe_broken(&broken, diff);

	if (code)
		return code;
	diff_breaches(diff);
	if (args->junit)
		code = write_junit(diff, args->junit, broken);
	return code || !broken ? code : app_error(diff->app, OPK_EFAILED, "%s", broken);
}

static int run_with(struct diff *diff, const struct diff_args *args, struct opk_file **files,
                    const struct opk_eval_options *eval)
{
	opk_auto(opk_diff) struct opk_diff *of = NULL;
	struct opk_diff_options options = OPK_INIT(options);
	int code;

	options.by = diff->by;
	options.rows = args->per ? OPK_ROWS_INSTRUCTIONS + (args->per - 1) : OPK_ROWS_RECORDED;
	code = add_rules(&options, diff->app, args);
	options.ignore_shape = args->ignore == IGNORE_SHAPE;
	options.eval = eval;
	/* A log has short lines unless the user chooses otherwise. */
	options.kernel_names = kernel_style(diff->app, args->kernel_names ? args->kernel_names : 1);
	diff->has_rules = args->fail.count || args->rules;
	if (!code && args->level)
		code = parse_between(diff->app, &options.level, "--level", args->level, 0, 1,
		                     "a share such as 0.005");
	if (!code)
		code = compare(&of, diff, files, &options);
	diff->of = of;
	diff->found = code ? NULL : opk_diff_found(of);
	if (!code)
		code = name_kernels(diff);
	if (!code)
		code = print(diff, args);
	return code || !diff->has_rules ? code : end_gate(diff, args);
}

static int evaluate(struct diff *diff, const struct diff_args *args)
{
	size_t count = diff->before.count + diff->after.count;
	opk_autofree struct opk_file **files = opk_alloc_array(count + 1, sizeof *files);
	struct raw_metrics metrics = { 0 };
	struct opk_eval_options eval;
	int code = files ? raw_eval_options(diff->app, &args->raw, &eval, &metrics)
	                 : app_nomem(diff->app);

	if (!code) {
		eval.where = args->where.items;
		eval.where_count = args->where.count;
		eval.allow_incomplete = args->allow_incomplete;
		code = run_with(diff, args, files, &eval);
	}
	for (size_t i = 0; files && i < count; i++)
		opk_file_free(files[i]);
	raw_metrics_free(&metrics);
	return code;
}

/* Rows of code are matched in their own way, and have metrics of their own. */
static int check_per(struct app *app, const struct diff_args *args)
{
	const char *other = args->by                 ? "--by"
	                    : args->ignore           ? "--ignore"
	                    : args->raw.set          ? "--set"
	                    : args->raw.params.count ? "--param"
	                                             : NULL;

	if (!args->per || !other)
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "diff: --per matches code by function and line: no %s",
	                 other);
}

static int run(struct app *app, void *data)
{
	static const char *const pers[] = { NULL, "instruction", "line", "function" };
	const struct diff_args *args = data;
	struct diff diff = { .app = app,
		             .by = args->per  ? pers[args->per]
		                   : args->by ? args->by
		                              : "kernel",
		             .code = args->per > 0,
		             .all = args->all,
		             .top = args->top              ? args->top
		                    : app_shows_table(app) ? TOP
		                                           : SIZE_MAX };
	int code = check_per(app, args);

	if (!code)
		code = choose_files(&diff, args);
	if (!code)
		code = kernel_names_new(&diff.names, app, args->kernel_names);
	if (!code)
		code = evaluate(&diff, args);
	opk_kernel_names_free(diff.names);
	return code;
}

const struct command diff_command = {
	.name = "diff",
	.synopsis = "BEFORE.opk AFTER.opk | --before FILE... --after FILE...",
	.summary = "compare recordings: what changed by more than noise; fail where it must not",
	.details =
		"Rows of both sides are matched by kernel and launch shape, or as --by says. Names are\n"
		"compared in one spelling, so that it does not matter what recorded them. Rows of one\n"
		"side alone are listed. A side may be several files: runs of a program, or ranks of a\n"
		"job.\n"
		"\n"
		"A value is the median over launches, and change_pct is its change in percent. The column\n"
		"verdict is changed: by more than noise; noise: launches of one side differ by as much; same:\n"
		"all launches of both sides have one value; too few: there are too few launches to tell, and\n"
		"one launch a side always is; nan: a launch has no value; missing: one side did not measure\n"
		"it; clock: a time or rate changed by more than noise, but the SM's clock can explain all of\n"
		"it. The test is Mann and Whitney's U, two-sided, over launches. Benjamini and Hochberg's\n"
		"procedure limits the share of reported changes that did not happen to --level: if nothing\n"
		"changed, one diff in 200 reports a change. Times, and what rules name, are tested apart from\n"
		"other metrics, with four fifths of the level: so a metric that --fail names may be changed\n"
		"where it was noise without the rule. The summary says how many launches a test needs. A\n"
		"counter with the same value in all launches of each row needs no test, only three launches\n"
		"a side. Launches of one run share its clocks and its memory: several runs a side show what\n"
		"runs differ by.\n"
		"\n"
		"Peaks and clocks say what the GPU can do, not what the program did. The table peaks has\n"
		"each of them once, and they have no verdict unless a rule names them. clock_pct is the\n"
		"change of a time or rate that the SM's clock alone causes if everything takes as many cycles\n"
		"as before: the clock's part is at most that.\n"
		"\n"
		"Rows whose time changed most come first. The time is gpu__time_duration.sum, else the\n"
		"times of ranges or launches, else cycles; of code, samples, else executed instructions.\n"
		"time_change is the change of a launch times the number of launches. Notes say where the\n"
		"sides have other chips, GPUs, CUPTI versions, drivers, sets or clocks.\n"
		"\n"
		"If each range has one pass of the set, a metric is compared over the ranges that have it.\n"
		"A metric of several passes has one value a side, which can't be tested. Launches that\n"
		"were recorded beside PM samples are compared by their times; the samples give one value\n"
		"of each kernel for a recording.\n"
		"\n"
		"--per line compares the code of two builds, from recordings of instructions. It compares\n"
		"samples, executed instructions and sectors, or what --metrics names; --per function and\n"
		"--per instruction do the same for functions and instructions. A line is found on the other\n"
		"side by its function's name, the source file's name without folders, and its distance from\n"
		"the function's first line, so that text above a function does not matter. The column\n"
		"before_line has its number before. Instructions are found by their offsets. Both move where\n"
		"code is inserted into a function: if its lines with code differ, counted from the first one,\n"
		"the column rewritten says yes, a note names the function, and a line may be compared with an\n"
		"unrelated one. function_change_pct and function_verdict are of all samples of the function.\n"
		"Lines can change while the function takes as long: a note names these functions. Rows of one\n"
		"side alone are in the table unmatched; a line without any sample has no row.\n"
		"\n"
		"Counts are of a launch, and exact: same, or changed; noise, if recordings of one side differ\n"
		"by as much. Samples are of a launch, at the interval of the first recording with samples. If\n"
		"launches are not known, they are shares of all samples: a share also falls where other lines\n"
		"take longer. Samples are tested by the exact binomial test of two Poisson counts;\n"
		"before_count is the number of samples. Runs can differ by more than Poisson's distribution\n"
		"says: give several recordings a side (--before, --after), and Student's t-test uses their\n"
		"spread. The summary says which test decided.\n"
		"\n"
		"--fail and --rules make it a gate for builds: each broken rule is a line on stderr, and\n"
		"the exit code is 1. 'METRIC>5%' is broken where the metric grew by more than 5% and by\n"
		"more than noise; where launches are too few to tell, the change itself counts. The\n"
		"clock's part counts, too. 'METRIC>1.5e6' is broken where the value after is more than\n"
		"that, in base units. A value that is missing or nan breaks a rule; an infinite one breaks\n"
		"rules in percent. A rule is also broken if no row is like its conditions. 'unmatched' is\n"
		"broken by rows of one side alone. docs/ci.md has an example, and the rules file.",
	.options = specs,
	.args_size = sizeof(struct diff_args),
	.examples = {
		{ "diff before.opk after.opk", "what changed, the most in time first" },
		{ "diff before.opk after.opk --fail 'gpu__time_duration.sum>5%'",
		  "exit 1 where a kernel takes 5% longer" },
		{ "diff code-before.opk code-after.opk --per line --table rows",
		  "source lines of two builds, the largest change first" },
	},
	.max_arguments = 2,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
