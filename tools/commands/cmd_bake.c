/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak bake: writes the values of a recording into it. */
#include "baking/door.h"
#include "commands.h"
#include "common/args.h"

struct bake_args {
	bool only;
};

static const struct option_spec specs[] = {
	{ "only", 0, NULL, "leave the images out: a smaller file that has its values alone",
	  OPTION_FLAG, offsetof(struct bake_args, only) },
	TIMEOUT_OPTION,
	{ 0 },
};

static int run(struct app *app, void *data)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct bake_args *args = data;
	const struct opk_bake_options options = { .only = args->only };

	TRY(check_given(app, "bake", "RUN.opk", "-o OUT.opk"));
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	return opk_bake(app->ctx, file, &options, app->output);
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
		"where other metrics are asked for. The file says which CUPTI evaluated.",
	.examples = {
		{ "bake run.opk -o baked.opk", "the recording with its values" },
		{ "bake --only run.opk -o values.opk", "the values alone, to share or archive" },
	},
	.options = specs,
	.args_size = sizeof(struct bake_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_BAKED,
	.run = run,
};
