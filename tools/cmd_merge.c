/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <string.h>

#include "commands.h"

struct merge_args {
	const char *join;
};

static const struct option_spec specs[] = {
	{ "join", 0, "kernel|launch|name|none", "what ranges of one row share",
	  OPTION_TEXT, offsetof(struct merge_args, join) },
	{ 0 },
};

static int run(struct app *app, void *data)
{
	const struct merge_args *args = data;
	struct opk_merge_options options = OPK_INIT(options);
	int code;

	if (!app->output || !app->argument_count)
		return app_error(app, OPK_EUSAGE, "merge: -o OUT.opk and FILE.opk... are needed");
	options.join = args->join && !strcmp(args->join, "none") ? "" : args->join;
	code = opk_merge(app->ctx, (const char *const *)app->arguments, app->argument_count, &options,
	                 app->output);
	return code ? app_fail(app, code) : OPK_OK;
}

const struct command merge_command = {
	.name = "merge",
	.synopsis = "-o OUT.opk FILE.opk...",
	.summary = "make one recording of several: the ranges of all files, in order",
	.details = "For the processes of one run, or several runs of a program with a group of the\n"
	           "metrics each. Chip, profiler, metrics and groups must be the same; the config\n"
	           "images and the rest of the metadata are those of the first file. --join launch\n"
	           "makes one row of the launches that have the same index in several runs. Needs no\n"
	           "NVIDIA library.",
	.options = specs,
	.args_size = sizeof(struct merge_args),
	.max_arguments = ANY_NUMBER,
	.run = run,
};
