/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak bake: writes the values of a recording into it. */
#include "baking/door.h"
#include "commands.h"
#include "common/args.h"

struct bake_args {
	bool only;
	struct raw_args also;
};

static const struct option_spec specs[] = {
	{ "only", 0, NULL, "leave the images out: a smaller file that has its values alone",
	  OPTION_FLAG, offsetof(struct bake_args, only) },
	{ "metrics", 0, "A,B", "the values of these metrics, too: full names", OPTION_TEXT,
	  offsetof(struct bake_args, also.metrics) },
	{ "set", 0, "SET", "the values of this set, too", OPTION_INPUT,
	  offsetof(struct bake_args, also.set) },
	TIMEOUT_OPTION,
	{ 0 },
};

static int bake(struct app *app, const struct bake_args *args, const struct opk_eval_options *also)
{
	const struct opk_bake_options options = {
		.only = args->only,
		.metrics = also->set ? NULL : also->metrics,
		.metric_count = also->set ? 0 : also->metric_count,
		.set = also->set,
	};
	opk_auto(opk_file) struct opk_file *file = NULL;

	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	return opk_bake(app->ctx, file, &options, app->output);
}

static int run(struct app *app, void *data)
{
	const struct bake_args *args = data;
	struct opk_eval_options also;
	struct raw_metrics metrics = { 0 };
	int code = check_given(app, "bake", "RUN.opk", "-o OUT.opk");

	if (!code)
		code = raw_eval_options(app, &args->also, &also, &metrics);
	if (!code)
		code = bake(app, args, &also);
	raw_metrics_free(&metrics);
	return code;
}

const struct command bake_command = {
	.name = "bake",
	.synopsis = "RUN.opk -o OUT.opk",
	.summary = "write a recording's values into it, to be read without NVIDIA's libraries",
	.details =
		"Evaluates the metrics that were recorded, and writes their values beside the images, or\n"
		"with --only in their place. Such a file can be read anywhere: eval, show, report, diff,\n"
		"noise, plot, trace, SQLite and Python give what they give of the original, bit for bit.\n"
		"They take the values that are there, which is faster than evaluating, and images only\n"
		"where other metrics are asked for. --metrics and --set add those. The file says which\n"
		"CUPTI evaluated; verify can compare values with images.\n"
		"\n"
		"Sums over time, trim, split and merge need the images, and so do sums of counters of\n"
		"other groups than those that 'offpeak show' has: kernels, or the names of the program's\n"
		"ranges. Without images, statistics of other groups are of the rows' own values, a note\n"
		"says so, and metrics that can't be had of these are nan.",
	.examples = {
		{ "bake run.opk -o baked.opk", "the recording with its values" },
		{ "bake --only run.opk -o values.opk", "the values alone, to share or archive" },
		{ "bake run.opk --set roofline -o baked.opk",
		  "what a roofline needs as well, where the recording has it" },
	},
	.options = specs,
	.args_size = sizeof(struct bake_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_BAKED,
	.run = run,
};
