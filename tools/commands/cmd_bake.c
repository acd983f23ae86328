/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak bake: writes the values of a recording into it. */
#include "baking/door.h"
#include "commands.h"
#include "common/args.h"
#include "common/files.h"

struct bake_args {
	bool only;
	const char *metrics;
	struct option_list sets, params;
};

static const struct option_spec specs[] = {
	{ "only", 0, NULL, "leave the images out: a smaller file that has its values alone",
	  OPTION_FLAG, offsetof(struct bake_args, only) },
	{ "metrics", 0, "A,B", "the values of these metrics, too: full names", OPTION_TEXT,
	  offsetof(struct bake_args, metrics) },
	{ "set", 0, "SET", "the values of this set, too; may be repeated", OPTION_LIST,
	  offsetof(struct bake_args, sets) },
	PARAM_OPTION(struct bake_args, params),
	TIMEOUT_OPTION,
	{ 0 },
};

/* Sets, and the metrics that were named as a set of their own at the end. */
struct also {
	struct opk_set *sets[MAX_REPEATS + 1];
	size_t count;
};

static void clear(struct also *also)
{
	for (size_t i = 0; i < also->count; i++)
		opk_set_free(also->sets[i]);
}

static int find_sets(struct also *also, struct app *app, const struct bake_args *args)
{
	for (size_t i = 0; i < args->sets.count; i++) {
		TRY(opk_set_find(&also->sets[i], app->ctx, args->sets.items[i]));
		also->count++;
		TRY(give_parameters(app, &args->params, also->sets[i]));
	}
	if (!args->metrics)
		return OPK_OK;
	TRY(opk_set_from_names(&also->sets[also->count], app->ctx, args->metrics));
	also->count++;
	return OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct bake_args *args = data;
	__attribute__((cleanup(clear))) struct also also = { .count = 0 };
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_autofree const char **names = NULL;
	struct opk_bake_options options = { .only = args->only };
	const struct opk_set *named;

	TRY(check_given(app, "bake", "RUN.opk", "-o OUT.opk"));
	if (args->params.count && !args->sets.count)
		return app_error(app, OPK_EUSAGE, "--param goes with --set");
	TRY(find_sets(&also, app, args));
	options.sets = (const struct opk_set *const *)also.sets;
	options.set_count = args->sets.count;
	named = args->metrics ? also.sets[also.count - 1] : NULL;
	options.metric_count = named ? opk_set_metric_count(named) : 0;
	names = opk_alloc_array(options.metric_count + 1, sizeof *names);
	if (!names)
		return app_nomem(app);
	for (size_t i = 0; i < options.metric_count; i++)
		names[i] = opk_set_metric(named, i);
	options.metrics = names;
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	TRY(opk_bake(app->ctx, file, &options, app->output));
	return files_report(app, app->output);
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
		"CUPTI evaluated; verify can compare values with images. With --only, a file that has just\n"
		"these values beside its images is copied without the images: no library is needed.\n"
		"\n"
		"Sums over time, trim, split and merge need the images, and so do sums of counters of\n"
		"other groups than those that 'offpeak show' has: kernels, or the names of the program's\n"
		"ranges. Without images, statistics of other groups are of the rows' own values, a note\n"
		"says so, and metrics that can't be had of these are nan.\n"
		"\n"
		"Prints the new file, its size and rows, and how many metrics have values there.",
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
