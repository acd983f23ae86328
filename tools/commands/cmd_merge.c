/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak merge: makes one recording of several, or sums their ranges. */
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/files.h"

struct merge_args {
	const char *join, *sum, *level;
};

static const struct option_spec specs[] = {
	{ "join", 0, "kernel|launch|name|none", "what ranges of one row share", OPTION_TEXT,
	  offsetof(struct merge_args, join) },
	{ "sum", 0, "KEY",
	  "one range of those that share it: name, kernel, shape, nvtx, device, host, rank",
	  OPTION_TEXT, offsetof(struct merge_args, sum) },
	LEVEL_OPTION(struct merge_args, level),
	TIMEOUT_OPTION,
	{ 0 },
};

static int sum(struct app *app, const struct merge_args *args)
{
	struct opk_sum_options options = OPK_INIT(options);

	if (args->join)
		return app_error(app, OPK_EUSAGE, "merge: --sum or --join, not both");
	options.key = args->sum;
	options.level = args->level;
	TRY(opk_sum(app->ctx, (const char *const *)app->arguments, app->argument_count, &options,
	            app->output));
	return files_report(app, app->output);
}

static int run(struct app *app, void *data)
{
	const struct merge_args *args = data;
	struct opk_merge_options options = OPK_INIT(options);

	TRY(check_given(app, "merge", "FILE.opk...", "-o OUT.opk"));
	if (args->sum)
		return sum(app, args);
	if (args->level)
		return app_error(app, OPK_EUSAGE, "merge: --level goes with --sum");
	options.join = args->join && !strcmp(args->join, "none") ? "" : args->join;
	TRY(opk_merge(app->ctx, (const char *const *)app->arguments, app->argument_count, &options,
	              app->output));
	return files_report(app, app->output);
}

const struct command merge_command = {
	.name = "merge",
	.synopsis = "-o OUT.opk FILE.opk...",
	.summary = "make one recording of several: the ranges of all files, in order",
	.details =
		"For the processes of one run, or several runs of a program with one pass of the set\n"
		"each. Chip, profiler, metrics and their passes must be the same; the config\n"
		"images and the rest of the metadata are those of the first file, but for what is\n"
		"not true of all: facts about the runs that differ are left out. --join launch\n"
		"makes one row of the launches that have the same index in several runs. Needs no\n"
		"NVIDIA library. Counts of instructions, of profilers sass and pc, go with counters of\n"
		"ranges of the same chip, whose metadata stay, and with each other: then module, function\n"
		"and offset join them. Each module is kept once. A recording of what ran goes with PM\n"
		"samples of the same GPUs. Values that 'offpeak bake' wrote are left out: bake the\n"
		"result. Files that have values alone are refused; eval, show, report and diff take\n"
		"several files.\n"
		"\n"
		"--sum makes one range of those that share a key: name, kernel, shape (grid, block,\n"
		"shared memory), nvtx, device, host or rank, several with ',' between, or all; ranges\n"
		"of different GPUs always stay apart. Their counters are summed by PerfWorks' combiner,\n"
		"in a child process, and metrics are evaluated from the sums: ratios are ratios of\n"
		"sums, and max is that of one unit over all ranges. A range keeps what all have in\n"
		"common, the sum of their durations, and their number as count. Where ranges are inside\n"
		"others of their key, as step/forward in step, only the outermost are added, so that\n"
		"nothing counts twice; --level innermost adds those that hold no others, --level all\n"
		"every one. A sum is refused where counters can't be added: those of images with and\n"
		"without instances, and, where each range has one pass, where the passes of a key have\n"
		"different numbers of ranges. PM samples, and ranges of several GPUs, are summed by\n"
		"eval alone.\n"
		"\n"
		"Where hosts or GPUs of the files differ, each row says its own: columns host and gpu of\n"
		"eval. Prints the new file, its size and rows.",
	.examples = {
		{ "merge -o all.opk part-1.opk part-2.opk", "the ranges of both, in order" },
		{ "merge --join launch -o all.opk run-1.opk run-2.opk",
		  "a row of each launch, with the metrics of both runs" },
		{ "merge --sum kernel -o sums.opk run.opk",
		  "a range a kernel, with the sums of its counters" },
	},
	.options = specs,
	.args_size = sizeof(struct merge_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_MERGED,
	.run = run,
};
