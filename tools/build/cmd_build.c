/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>

#include "build/build_report.h"
#include "build/build_split.h"
#include "commands.h"
#include "common/files.h"
#include "common/plan_args.h"

struct build_args {
	struct plan_args plan;
	const char *availability, *raw_config, *raw_prefix;
	bool no_instances, instances, no_groups, split;
};

static const struct option_spec specs[] = {
	PLAN_OPTIONS(struct build_args, plan),
	{ "availability", 0, "FILE", "counter-availability image of the target GPU", OPTION_INPUT,
	  offsetof(struct build_args, availability) },
	{ "no-instances", 0, NULL,
	  "counter data without instances: 90 times smaller, min and max nan", OPTION_FLAG,
	  offsetof(struct build_args, no_instances) },
	{ "instances", 0, NULL, "PM sampling: keep instances though no metric needs them",
	  OPTION_FLAG, offsetof(struct build_args, instances) },
	{ "no-groups", 0, NULL, "without groups of one pass: only replay can collect such a set",
	  OPTION_FLAG, offsetof(struct build_args, no_groups) },
	{ "split", 0, NULL,
	  "write OUT-1.opk, OUT-2.opk and so on, each of at most --max-passes passes", OPTION_FLAG,
	  offsetof(struct build_args, split) },
	{ "raw-config", 0, "FILE", "also write the bare config image", OPTION_OUTPUT,
	  offsetof(struct build_args, raw_config) },
	{ "raw-prefix", 0, "FILE", "also write the bare counter-data prefix", OPTION_OUTPUT,
	  offsetof(struct build_args, raw_prefix) },
	{ 0 },
};

/* The bare images, written under temporary names until the container is in place. */
struct raw_files {
	struct opk_newfile config, prefix;
};

static int begin_raw(struct app *app, struct opk_newfile *file, const char *path, const void *data,
                     size_t size)
{
	int code = opk_newfile_create(file, app->ctx, path);

	return code ? code : opk_newfile_write(file, data, size);
}

static int begin_raw_files(struct app *app, struct raw_files *files, const struct opk_plan *plan,
                           const struct build_args *args, const struct opk_build_options *options)
{
	size_t size;
	const void *config = opk_plan_config(plan, &size);
	void *prefix = NULL;
	int code = OPK_OK;

	if (args->raw_config)
		code = begin_raw(app, &files->config, args->raw_config, config, size);
	if (!code && args->raw_prefix)
		code = opk_prefix_new(&prefix, &size, app->ctx, plan,
		                      opk_build_keeps_instances(plan, options));
	if (!code && args->raw_prefix)
		code = begin_raw(app, &files->prefix, args->raw_prefix, prefix, size);
	free(prefix);
	return code;
}

static int finish_raw_files(struct raw_files *files)
{
	struct opk_newfile *all[2];
	size_t count = 0;

	if (files->config.path)
		all[count++] = &files->config;
	if (files->prefix.path)
		all[count++] = &files->prefix;
	return opk_newfiles_commit(all, count);
}

/* All files or none, as far as can be seen before the first is renamed. */
static int write_files(struct app *app, const struct build_args *args, const struct opk_plan *plan,
                       const struct opk_build_options *options, const char *output)
{
	struct raw_files files = { 0 };
	int code = begin_raw_files(app, &files, plan, args, options);

	if (!code)
		code = opk_build(app->ctx, plan, options, output);
	if (!code)
		code = finish_raw_files(&files);
	opk_newfile_discard(&files.config);
	opk_newfile_discard(&files.prefix);
	return code;
}

static int build_one(struct app *app, const struct build_args *args, const struct opk_set *set,
                     const struct opk_plan_options *how, const struct opk_build_options *options,
                     const char *output)
{
	struct opk_plan *plan;
	int code = opk_plan_new(&plan, app->ctx, set, how);

	if (code)
		return app_fail(app, code);
	note_missing(plan);
	code = write_files(app, args, plan, options, output);
	code = code ? app_fail(app, code)
	            : build_report(app, plan, output,
	                           opk_plan_passes(plan) > 1 && !args->no_groups);
	opk_plan_free(plan);
	return code;
}

/* In how many passes the files may be collected; PM sampling has one. */
static int limit_passes(struct app *app, const struct build_args *args, const struct opk_set *set,
                        struct opk_plan_options *how)
{
	enum opk_profiler profiler = how->has_profiler ? how->profiler : opk_set_profiler(set);

	if (!args->split || how->max_passes)
		return OPK_OK;
	if (profiler != OPK_PROFILER_PM)
		return app_error(app, OPK_EUSAGE, "build: --split needs --max-passes N");
	how->max_passes = 1;
	return OPK_OK;
}

static int build(struct app *app, const struct build_args *args, const struct opk_set *set,
                 const struct opk_plan_options *how)
{
	struct opk_build_options options = OPK_INIT(options);

	options.no_instances = args->no_instances;
	options.keep_instances = args->instances;
	options.no_groups = args->no_groups;
	options.availability = how->availability;
	options.availability_size = how->availability_size;
	if (!args->split && files_write(app, app->output))
		return OPK_EUSAGE;
	return args->split ? build_split(app, set, how, &options, app->output)
	                   : build_one(app, args, set, how, &options, app->output);
}

static int check_split(struct app *app, const struct build_args *args)
{
	if (!args->split)
		return OPK_OK;
	if (args->plan.single_pass)
		return app_error(app, OPK_EUSAGE, "build: --split or --single-pass, not both");
	if (args->raw_config || args->raw_prefix)
		return app_error(app, OPK_EUSAGE,
		                 "build: --raw-config and --raw-prefix are of one "
		                 "plan, --split makes several");
	return OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct build_args *args = data;
	struct opk_plan_options options;
	struct opk_set *set;
	void *availability = NULL;
	int code = plan_options(app, &args->plan, &options);

	if (!code && args->instances && args->no_instances)
		code = app_error(app, OPK_EUSAGE, "build: --instances or --no-instances, not both");
	if (!code)
		code = check_split(app, args);
	if (!code && !app->output)
		code = app_error(app, OPK_EUSAGE, "build: -o FILE.opk is required");
	if (!code)
		code = app_read(app, &availability, &options.availability_size, args->availability);
	if (!code) {
		options.availability = availability;
		code = plan_sets(app, &args->plan, &set);
	}
	if (!code) {
		code = limit_passes(app, args, set, &options);
		if (!code)
			code = build(app, args, set, &options);
		opk_set_free(set);
	}
	free(availability);
	return code;
}

const struct command build_command = {
	.name = "build",
	.synopsis = "--chip CHIP SET... -o OUT.opk",
	.summary = "build the images that a GPU machine needs to collect a metric set",
	.details =
		"Writes config image and counter-data prefix into OUT.opk and prints the number of\n"
		"passes. SET is a shipped set's name, a YAML file, or metric names with commas\n"
		"between. PM sampling has a single pass: a set that needs more is refused, with the\n"
		"metrics that don't fit. Its counter data is without instances, and 90 times smaller,\n"
		"unless a metric is a minimum or maximum (.min, .max) or --instances is given;\n"
		"sample_bytes is what the hardware writes for each sample.\n"
		"\n"
		"A set of several passes is also packed into groups of one pass each, so that it can\n"
		"be collected without replay, a group a launch. ungrouped is the number of metrics\n"
		"that need several passes by themselves. --single-pass builds for the metrics, from\n"
		"the first on, that fit one pass; left_out is the number of the others, and plan\n"
		"tells which they are.\n"
		"\n"
		"--split divides the metrics into as few files as are found of at most --max-passes\n"
		"passes each (PM sampling: one, always), OUT-1.opk, OUT-2.opk and so on, and prints a row a\n"
		"file. Metrics that need more passes by themselves are refused, and nothing is written.\n"
		"--effort holds for each plan that is tried.",
	.options = specs,
	.args_size = sizeof(struct build_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_SETS,
	.numbers_output = true,
	.run = run,
};
