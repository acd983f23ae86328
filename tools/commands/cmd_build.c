/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak build: writes a set as one or several containers. */
#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "container/door.h"
#include "plan/door.h"

struct build_args {
	struct plan_args plan;
	const char *raw_config, *raw_prefix;
	bool no_instances, instances, split;
};

static const struct option_spec specs[] = {
	PLAN_OPTIONS(struct build_args, plan),
	{ "no-instances", 0, NULL,
	  "counter data without instances: 90 times smaller, min and max nan", OPTION_FLAG,
	  offsetof(struct build_args, no_instances) },
	{ "instances", 0, NULL,
	  "keep instances of all counters, not only of what .min and .max need", OPTION_FLAG,
	  offsetof(struct build_args, instances) },
	{ "split", 0, NULL,
	  "write OUT-1.opk, OUT-2.opk and so on, each of at most --max-passes passes", OPTION_FLAG,
	  offsetof(struct build_args, split) },
	{ "raw-config", 0, "FILE", "also write the bare config image",
	  OPTION_OUTPUT_OF(OPK_OUTPUT_CONFIG), offsetof(struct build_args, raw_config) },
	{ "raw-prefix", 0, "FILE", "also write the bare counter-data prefix",
	  OPTION_OUTPUT_OF(OPK_OUTPUT_PREFIX), offsetof(struct build_args, raw_prefix) },
	{ 0 },
};

/* ---- the report */

static void describe(struct app_fields *fields, const struct opk_plan *plan, const char *path)
{
	fields->count = 0;
	field_text(fields, "file", path);
	field_text(fields, "chip", opk_plan_chip(plan));
	field_text(fields, "profiler", opk_profiler_name(opk_plan_profiler(plan)));
	field_text(fields, "set", opk_plan_set_name(plan));
	field_number(fields, "metrics", opk_plan_metrics(plan)->count);
	field_number(fields, "passes", opk_plan_passes(plan));
	if (opk_plan_rotation_passes(plan))
		field_number(fields, "rotation_passes", opk_plan_rotation_passes(plan));
}

static int report_one(struct app *app, const struct opk_plan *plan, const char *path)
{
	size_t sample_bytes, left_out = opk_plan_left_out(plan)->count;
	struct app_fields fields;

	describe(&fields, plan, path);
	if (plan_sample_bytes(app, plan, &sample_bytes))
		field_number(&fields, "sample_bytes", sample_bytes);
	if (left_out)
		field_number(&fields, "left_out", left_out);
	return app_report(app, &fields);
}

static int report_split(struct app *app, const struct opk_plan_split *split,
                        const struct opk_strlist *paths)
{
	struct app_fields fields;

	TRY(app_begin_report(app));
	for (size_t i = 0; i < opk_plan_split_count(split); i++) {
		const struct opk_plan *plan = opk_plan_split_get(split, i);
		size_t sample_bytes;

		describe(&fields, plan, paths->items[i]);
		if (plan_sample_bytes(app, plan, &sample_bytes))
			field_number(&fields, "sample_bytes", sample_bytes);
		if (!i)
			app_fields_table(app, "files", &fields);
		TRY(opk_out_row(app->out, fields.cells));
	}
	return app_end_output(app);
}

/* ---- one file */

/* Writes all files or none, as far as can be checked before the first is renamed. */
static int write_files(struct app *app, const struct build_args *args, const struct opk_plan *plan,
                       const struct opk_build_options *options, const char *output)
{
	opk_autonewfile struct opk_newfile config = { 0 }, prefix = { 0 };
	struct opk_newfile *files[2];
	opk_autofree void *data = NULL;
	size_t size, count = 0;
	const void *image = opk_plan_config(plan, &size);

	if ((args->raw_config || args->raw_prefix) && opk_profiler_is_code(opk_plan_profiler(plan)))
		return app_error(
			app, OPK_EUSAGE,
			"build: --raw-config and --raw-prefix are of counters, and profiler "
			"%s uses none",
			opk_profiler_name(opk_plan_profiler(plan)));
	if (args->raw_config) {
		files[count++] = &config;
		TRY(opk_newfile_create(&config, app->ctx, args->raw_config, opk_check_output,
		                       OPK_OUTPUT_CONFIG));
		TRY(opk_newfile_write(&config, image, size));
	}
	if (args->raw_prefix) {
		files[count++] = &prefix;
		TRY(opk_prefix_new(&data, &size, app->ctx, plan, options));
		TRY(opk_newfile_create(&prefix, app->ctx, args->raw_prefix, opk_check_output,
		                       OPK_OUTPUT_PREFIX));
		TRY(opk_newfile_write(&prefix, data, size));
	}
	TRY(opk_build(app->ctx, plan, options, output));
	return opk_newfiles_commit(files, count);
}

static int build_one(struct app *app, const struct build_args *args, const struct opk_set *set,
                     const struct opk_plan_options *how, const struct opk_build_options *options,
                     const char *output)
{
	opk_auto(opk_plan) struct opk_plan *plan = NULL;

	TRY(files_write(app, output, OPK_OUTPUT_SET));
	TRY(opk_plan_new(&plan, app->ctx, set, how));
	note_missing(plan);
	TRY(write_files(app, args, plan, options, output));
	return report_one(app, plan, output);
}

/* ---- several files */

/* Notes columns of the set that no file can compute, and metrics that the chip lacks. */
static void note_lost(const struct opk_plan_split *split)
{
	const struct opk_strlist *lost = opk_plan_split_lost(split);

	note_missing(opk_plan_split_get(split, 0));
	if (lost->count)
		app_note("%zu column%s of the set can't be computed of one file alone, such as %s",
		         lost->count, lost->count == 1 ? "" : "s", lost->items[0]);
}

/* Writes all files or none: the first ones alone are not the set. */
static int write_split(struct app *app, const struct opk_plan_split *split,
                       const struct opk_build_options *options, const struct opk_strlist *paths)
{
	opk_autofree struct opk_writer **writers = opk_alloc_array(paths->count, sizeof *writers);
	int code = writers ? OPK_OK : app_nomem(app);

	for (size_t i = 0; !code && i < paths->count; i++)
		code = opk_build_begin(&writers[i], app->ctx, opk_plan_split_get(split, i), options,
		                       paths->items[i]);
	if (!code)
		code = opk_writers_finish(writers, paths->count);
	for (size_t i = 0; writers && i < paths->count; i++)
		opk_writer_free(writers[i]);
	return code;
}

static int build_split(struct app *app, const struct opk_set *set, struct opk_plan_options *how,
                       const struct opk_build_options *options, const char *output)
{
	opk_auto(opk_plan_split) struct opk_plan_split *split = NULL;
	opk_autostrlist struct opk_strlist paths = { 0 };

	TRY(files_check_first(app, output, OPK_OUTPUT_SET));
	TRY(opk_plan_split_new(&split, app->ctx, set, how));
	note_lost(split);
	TRY(files_number(app, &paths, output, opk_plan_split_count(split), OPK_OUTPUT_SET));
	TRY(write_split(app, split, options, &paths));
	files_note_older(output, paths.count);
	return report_split(app, split, &paths);
}

/* ---- either */

static int check_args(struct app *app, const struct build_args *args)
{
	if (args->instances && args->no_instances)
		return app_error(app, OPK_EUSAGE, "build: --instances or --no-instances, not both");
	if (args->split && args->plan.single_pass)
		return app_error(app, OPK_EUSAGE, "build: --split or --single-pass, not both");
	if (args->split && (args->raw_config || args->raw_prefix))
		return app_error(app, OPK_EUSAGE,
		                 "build: --raw-config and --raw-prefix are of one "
		                 "plan, --split makes several");
	if (!app->output)
		return app_error(app, OPK_EUSAGE, "build: -o FILE.opk is required");
	return OPK_OK;
}

/* The most passes per file; PM sampling has one. */
static int limit_passes(struct app *app, const struct opk_set *set, struct opk_plan_options *how)
{
	enum opk_profiler profiler = how->has_profiler ? how->profiler : opk_set_profiler(set);

	if (how->max_passes)
		return OPK_OK;
	if (profiler == OPK_PROFILER_RANGE)
		return app_error(app, OPK_EUSAGE, "build: --split needs --max-passes N");
	how->max_passes = 1;
	return OPK_OK;
}

static int run(struct app *app, void *data)
{
	struct build_args *args = data;
	struct opk_build_options options = OPK_INIT(options);
	struct opk_plan_options how;
	opk_auto(opk_set) struct opk_set *set = NULL;
	opk_autofree void *availability = NULL;

	TRY(plan_options(app, &args->plan, &how));
	how.for_rotation = !args->plan.prefer && !args->split;
	TRY(check_args(app, args));
	TRY(plan_sets(app, &args->plan, &set));
	TRY(plan_availability(app, &args->plan, set, &availability, &how));
	if (args->split)
		TRY(limit_passes(app, set, &how));
	options.availability = availability;
	options.availability_size = how.availability_size;
	options.no_instances = args->no_instances;
	options.keep_instances = args->instances;
	return args->split ? build_split(app, set, &how, &options, app->output)
	                   : build_one(app, args, set, &how, &options, app->output);
}

const struct command build_command = {
	.name = "build",
	.synopsis = "--chip CHIP SET... -o OUT.opk",
	.summary = "build the images that a GPU machine needs to collect a metric set",
	.details =
		"Writes config image and counter-data prefix into OUT.opk and prints the number of\n"
		"passes. SET is a shipped set's name, a YAML file, or metric names with commas\n"
		"between. PM sampling has a single pass: a set that needs more is refused, with the\n"
		"metrics that don't fit; sample_bytes is what the hardware writes for each sample.\n"
		"\n"
		"Minima and maxima (.min, .max) need the value of each instance of a hardware unit, and\n"
		"on GH100 so does mio2rf_writeback_active, which is a part of sm__throughput. Counter\n"
		"data keeps these values for the counters that need them, with PM sampling for all\n"
		"counters as soon as one needs them, and otherwise sums: that makes it up to 90 times\n"
		"smaller. --instances keeps the values of all.\n"
		"\n"
		"Where launches take passes in turn, by rotation, many passes in which a launch costs little\n"
		"are better than few. For chips on which the cost was measured, the file has such a plan,\n"
		"too (rotation_passes); --prefer writes one of the two alone.\n"
		"\n"
		"A set of instructions (profiler sass or pc) has neither passes nor counters: its file has\n"
		"metadata alone.\n"
		"\n"
		"--single-pass builds for the metrics that, taken in order, fit one pass; left_out is\n"
		"the number of the others, and plan shows them.\n"
		"\n"
		"--split divides the metrics into as few files as are found of at most --max-passes\n"
		"passes each (PM sampling: one, always), OUT-1.opk, OUT-2.opk and so on, and prints a row a\n"
		"file. Metrics that need more passes by themselves are refused, and nothing is written.\n"
		"--effort holds for each plan that is tried.",
	.examples = {
		{ "build --chip GH100 roofline -o roofline.opk",
		  "what offpeak-collect -c takes on a machine with an H100" },
		{ "build --chip GB202 my.yaml dram__throughput.avg.pct_of_peak_sustained_elapsed -o my.opk",
		  "a set of your own and one metric more" },
		{ "build --chip GH100 roofline --split --max-passes 1 -o one.opk",
		  "one-1.opk, one-2.opk and so on, a pass each" },
	},
	.options = specs,
	.args_size = sizeof(struct build_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_SETS,
	.output = OUTPUT_IS_NUMBERED,
	.run = run,
};
