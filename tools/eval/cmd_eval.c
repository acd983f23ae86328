/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/raw_args.h"
#include "eval/eval_aggregate.h"
#include "eval/eval_rows.h"

struct eval_args {
	struct raw_args raw;
	const char *format, *layout, *first_sample, *join, *launch_columns, *columns, *aggregate;
	struct option_list where;
	const char *evaluator;
	uint64_t workers;
	bool allow_incomplete;
};

static const struct option_spec specs[] = {
	{ "format", 0, "table|csv|json|ndjson|sqlite",
	  "csv (default), or sqlite: a database, as -o FILE.db and FILE.sqlite mean anyway",
	  OPTION_TEXT, offsetof(struct eval_args, format) },
	{ "layout", 0, "wide|long", "wide (default): a column a metric; long: a row a value",
	  OPTION_TEXT, offsetof(struct eval_args, layout) },
	{ "first-sample", 0, "keep|mark|drop",
	  "PM sampling: what becomes of the first; default keep", OPTION_TEXT,
	  offsetof(struct eval_args, first_sample) },
	{ "join", 0, "recorded|none",
	  "recorded (default): one row of ranges that belong together; or none", OPTION_TEXT,
	  offsetof(struct eval_args, join) },
	{ "launch-columns", 0, "basic|all", "basic (default), or all that is known of each launch",
	  OPTION_TEXT, offsetof(struct eval_args, launch_columns) },
	{ "columns", 0, "A,B", "only these columns and metrics, in this order", OPTION_TEXT,
	  offsetof(struct eval_args, columns) },
	{ "where", 0, "NAME=GLOB",
	  "only rows like this: kernel=*gemm*, device=0, range=step/*; may be repeated",
	  OPTION_LIST, offsetof(struct eval_args, where) },
	{ "aggregate", 0, "KEY",
	  "statistics of ranges that share it: name, kernel, device and others", OPTION_TEXT,
	  offsetof(struct eval_args, aggregate) },
	{ "allow-incomplete", 0, NULL, "evaluate what a cut-off recording still holds", OPTION_FLAG,
	  offsetof(struct eval_args, allow_incomplete) },
	{ "workers", 0, "N", "processes that divide the images; default: as is worthwhile",
	  OPTION_NUMBER, offsetof(struct eval_args, workers) },
	{ "evaluator", 0, "auto|cupti",
	  "auto (default): the faster one; or CUPTI's call. The bits are the same", OPTION_TEXT,
	  offsetof(struct eval_args, evaluator) },
	RAW_OPTIONS(struct eval_args, raw),
	{ 0 },
};

/* One of two words, of which the first is the default. */
static int choose(bool *second, struct app *app, const char *option, const char *given,
                  const char *const words[2])
{
	*second = given && !strcmp(given, words[1]);
	if (given && !*second && strcmp(given, words[0]))
		return app_error(app, OPK_EUSAGE, "%s %s: use %s or %s", option, given, words[0],
		                 words[1]);
	return OPK_OK;
}

static int check_shape(struct app *app, const struct eval_args *args, struct eval_rows *rows,
                       bool *single)
{
	static const char *const layouts[] = { "wide", "long" };
	static const char *const joins[] = { "recorded", "none" };
	static const char *const columns[] = { "basic", "all" };
	int code = choose(&rows->shape.long_layout, app, "--layout", args->layout, layouts);

	if (!code)
		code = choose(single, app, "--join", args->join, joins);
	if (!code && args->columns)
		code = eval_choice_parse(&rows->shape.choice, app, args->columns);
	return code ? code
	            : choose(&rows->shape.all_facts, app, "--launch-columns", args->launch_columns,
	                     columns);
}

/* Nobody wants a text in an x.db. */
static bool names_database(const char *path)
{
	static const char *const endings[] = { ".db", ".sqlite", ".sqlite3" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (!strcmp(dot, endings[i]))
			return true;
	return false;
}

static int choose_format(struct app *app, const struct eval_args *args, struct eval_rows *rows)
{
	if (args->format)
		rows->to_database = !strcmp(args->format, "sqlite");
	else
		rows->to_database = app->output && names_database(app->output);
	/* It has both layouts. */
	if (rows->to_database)
		rows->shape.long_layout = false;
	if (rows->to_database && !app->output)
		return app_error(app, OPK_EUSAGE,
		                 "--format sqlite: a database needs a file: -o FILE.db");
	if (rows->to_database || !args->format)
		return OPK_OK;
	app->format_name = args->format;
	if (!opk_format_parse(&app->format, args->format))
		return app_error(app, OPK_EUSAGE,
		                 "--format %s: use table, csv, json, ndjson or sqlite",
		                 args->format);
	return OPK_OK;
}

/* A row a group and metric needs no rows of ranges, and no bare image has groups. */
static int check_aggregate(struct app *app, const struct eval_args *args,
                           const struct eval_rows *rows, bool single)
{
	if (!args->aggregate)
		return OPK_OK;
	if (args->raw.image)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate takes recordings; 'import' makes "
		                 "one of a bare image");
	if (single || (args->layout && strcmp(args->layout, "long")) || args->allow_incomplete)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate has one row a group and metric, of "
		                 "whole recordings: no --layout wide, --join none or "
		                 "--allow-incomplete");
	if (rows->to_database)
		return app_error(
			app, OPK_EUSAGE,
			"eval: --aggregate writes table, csv, json or ndjson, no database");
	if (args->first_sample && !strcmp(args->first_sample, "mark"))
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate with --first-sample keep or drop");
	return OPK_OK;
}

static int check_args(struct app *app, const struct eval_args *args, struct eval_rows *rows)
{
	static const char *const hows[] = { "keep", "mark", "drop" };

	if (args->first_sample) {
		size_t how = 0;

		while (how < 3 && strcmp(args->first_sample, hows[how]))
			how++;
		if (how == 3)
			return app_error(app, OPK_EUSAGE,
			                 "--first-sample %s: use keep, mark or drop",
			                 args->first_sample);
		rows->shape.first_sample = (enum first_sample)how;
	}
	if (!args->raw.image && !app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "eval: which recording? FILE.opk, or --raw IMAGE");
	if (args->raw.image && app->argument_count)
		return app_error(app, OPK_EUSAGE, "eval: --raw IMAGE or FILE.opk, not both");
	if (!args->raw.image && (args->raw.chip || args->raw.profiler || args->raw.time_shift))
		return app_error(app, OPK_EUSAGE,
		                 "eval: --chip, --profiler and --time-shift go with --raw; a "
		                 "recording knows its own");
	return OPK_OK;
}

static int eval_raw(struct app *app, struct eval_input *input, const char *path,
                    const struct opk_eval_options *options)
{
	void *image;
	size_t size;
	int code = app_read(app, &image, &size, path);

	input->path = path;

	if (code)
		return code;
	code = opk_eval_image(&input->evaluation, app->ctx, image, size, options);
	free(image);
	if (!code)
		return OPK_OK;
	return app_fail_while(app, code, "can't evaluate %s", input->path);
}

static bool contains(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Of each metric 0 where the metadata calls it inflated, else 1. */
static uint64_t *find_sound(const struct opk_evaluation *evaluation, const struct opk_meta *meta)
{
	size_t count = opk_evaluation_metric_count(evaluation);
	uint64_t *sound = calloc(count + 1, sizeof *sound);

	for (size_t i = 0; sound && i < count; i++)
		sound[i] = !contains(meta->inflated, meta->inflated_count,
		                     opk_evaluation_metric(evaluation, i));
	return sound;
}

/* Which of the columns are inflated: those of an inflated metric. */
static int find_inflated(struct app *app, struct eval_input *input, struct eval_rows *rows,
                         const struct opk_meta *meta)
{
	size_t count = opk_evaluation_column_count(input->evaluation);
	uint64_t *sound, *least;

	if (!meta->inflated_count)
		return OPK_OK;
	sound = find_sound(input->evaluation, meta);
	least = calloc(count + 1, sizeof *least);
	input->inflated = calloc(count + 1, sizeof *input->inflated);
	if (sound && least && input->inflated) {
		opk_evaluation_least(least, input->evaluation, sound);
		for (size_t i = 0; i < count; i++) {
			input->inflated[i] = !least[i];
			rows->shape.inflated |= input->inflated[i];
		}
	}
	free(sound);
	free(least);
	return sound && least && input->inflated ? OPK_OK
	                                         : app_error(app, OPK_EFAILED, "out of memory");
}

/* Several devices are told apart in a column. */
static int find_devices(struct app *app, struct eval_input *input, struct eval_rows *rows)
{
	const struct opk_time *times;
	size_t count;
	int code = opk_file_times(&times, &count, app->ctx, input->file);

	for (size_t i = 0; !code && i < count; i++)
		rows->shape.facts[OPK_FACT_DEVICE] |= times[i].device > 0;
	return code;
}

/* Where --columns alone says which metrics are wanted, no others are evaluated. */
static int choose_metrics(struct app *app, const struct eval_input *input,
                          const struct eval_rows *rows, const struct opk_meta *meta,
                          struct opk_eval_options *options)
{
	struct eval_known known;
	int code = eval_known_of_meta(&known, app, meta);

	if (!code)
		code = eval_choice_check(app, &rows->shape, meta->profiler, &known, input->path);
	eval_known_clear(&known);
	if (code)
		return code;
	options->metric_count = eval_choice_values(rows->shape.choice.values, &rows->shape,
	                                           meta->profiler);
	options->metrics = options->metric_count ? rows->shape.choice.values : NULL;
	return OPK_OK;
}

static enum opk_profiler profiler_of(const struct eval_input *input)
{
	return input->meta->profiler;
}

/* Recordings of one profiler, of which the same metrics are wanted. */
static int evaluate_alike(struct app *app, struct eval_input *inputs, size_t count,
                          const struct eval_rows *rows, const struct opk_eval_options *given)
{
	struct opk_evaluation **evaluations = calloc(count, sizeof *evaluations);
	struct opk_file **files = calloc(count, sizeof *files);
	struct opk_eval_options options = *given;
	int code = evaluations && files ? OPK_OK : app_error(app, OPK_EFAILED, "out of memory");

	for (size_t i = 0; !code && i < count; i++) {
		files[i] = inputs[i].file;
		if (rows->shape.choice.count && !given->metrics)
			code = choose_metrics(app, &inputs[i], rows, inputs[i].meta, &options);
	}
	if (!code) {
		code = opk_eval_files(evaluations, app->ctx, files, count, &options);
		code = code ? app_fail(app, code) : OPK_OK;
	}
	for (size_t i = 0; !code && i < count; i++)
		inputs[i].evaluation = evaluations[i];
	free(evaluations);
	free(files);
	return code;
}

static int evaluate(struct app *app, struct eval_input *inputs, size_t count,
                    const struct eval_rows *rows, const struct opk_eval_options *options)
{
	int code = OPK_OK;

	for (size_t at = 0, end; !code && at < count; at = end) {
		for (end = at + 1;
		     end < count && profiler_of(&inputs[end]) == profiler_of(&inputs[at]); end++)
			;
		code = evaluate_alike(app, inputs + at, end - at, rows, options);
	}
	return code;
}

static int open_inputs(struct app *app, struct eval_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int code = opk_file_open(&inputs[i].file, app->ctx, app->arguments[i]);

		inputs[i].path = app->arguments[i];
		if (!code)
			code = opk_file_meta(&inputs[i].meta, app->ctx, inputs[i].file);
		if (code)
			return app_fail(app, code);
	}
	return OPK_OK;
}

/* What the set has for another profiler alone is not in the table, nor is an error told. */
static void note_profiler(const struct eval_input *input, const struct opk_meta *meta,
                          const struct opk_set *set)
{
	if (set && opk_set_has_profiler(set) && opk_set_profiler(set) != meta->profiler)
		app_note(
			"%s: of profiler %s, and set %s is for %s: evaluated is what it has for %s",
			input->path, opk_profiler_name(meta->profiler), opk_set_name(set),
			opk_profiler_name(opk_set_profiler(set)),
			opk_profiler_name(meta->profiler));
}

/* What it has besides values, and what is to be said of it. */
static int look_at(struct app *app, struct eval_input *input, struct eval_rows *rows,
                   const struct opk_eval_options *options, bool single)
{
	const struct opk_meta *meta = input->meta;
	const struct opk_range *ranges;
	size_t count;
	int code = opk_file_ranges(&ranges, &count, app->ctx, input->file);

	if (!code)
		code = find_devices(app, input, rows);
	if (!code && *meta->join && !single && !rows->shape.aggregated)
		code = opk_join_new(&input->join, app->ctx, input->evaluation, NULL);
	if (code)
		return app_fail(app, code);
	note_profiler(input, meta, options->set);
	if (!opk_file_complete(input->file))
		app_note("%s: cut off: these are the ranges of its %zu whole sections", input->path,
		         opk_file_section_count(input->file));
	if (meta->profiler == OPK_PROFILER_RANGE)
		eval_shape_find(&rows->shape, ranges, count);
	rows->shape.joined |= input->join != NULL;
	return find_inflated(app, input, rows, meta);
}

static int eval_recordings(struct app *app, struct eval_input *inputs, size_t count,
                           struct eval_rows *rows, const struct opk_eval_options *options,
                           bool single)
{
	int code = open_inputs(app, inputs, count);

	if (!code)
		code = evaluate(app, inputs, count, rows, options);
	for (size_t i = 0; !code && i < count; i++)
		code = look_at(app, &inputs[i], rows, options, single);
	return code;
}

static void free_inputs(struct eval_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		opk_join_free(inputs[i].join);
		opk_evaluation_free(inputs[i].evaluation);
		opk_file_free(inputs[i].file);
		free(inputs[i].inflated);
	}
	free(inputs);
}

/* All inputs are evaluated before the first row is printed: a bad one leaves no half table. */
static int eval_all(struct app *app, const struct eval_args *args,
                    const struct opk_eval_options *options, struct eval_rows *rows, bool single)
{
	size_t count = args->raw.image ? 1 : app->argument_count;
	struct eval_input *inputs = calloc(count, sizeof *inputs);
	int code = inputs ? OPK_OK : app_error(app, OPK_EFAILED, "out of memory");

	rows->shape.file_count = count;
	if (!code)
		code = args->raw.image ? eval_raw(app, inputs, args->raw.image, options)
		                       : eval_recordings(app, inputs, count, rows, options, single);
	if (!code && args->aggregate) {
		code = eval_aggregate(app, inputs, count, rows, args->aggregate,
		                      args->first_sample && rows->shape.first_sample == FIRST_KEEP,
		                      options->timeout_s);
		free_inputs(inputs, count);
		return code;
	}
	for (size_t i = 0; !code && i < count; i++)
		code = eval_rows_fit(rows, app, &inputs[i]);
	for (size_t i = 0; !code && i < count; i++)
		code = eval_rows_print(rows, app, &inputs[i]);
	if (!code)
		code = eval_rows_finish(rows, app);
	free_inputs(inputs, inputs ? count : 0);
	return code;
}

static int make_filter(struct app *app, const struct option_list *where, struct opk_filter **filter,
                       struct eval_rows *rows)
{
	int code;

	if (!where->count)
		return OPK_OK;
	rows->filtered = true;
	code = opk_filter_new(filter, app->ctx, where->items, where->count);
	return code ? app_fail(app, code) : OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct eval_args *args = data;
	struct opk_eval_options options;
	struct raw_metrics metrics = { 0 };
	struct opk_filter *filter = NULL;
	struct eval_rows rows = { 0 };
	bool single;
	int code = check_shape(app, args, &rows, &single);

	if (!code)
		code = choose_format(app, args, &rows);
	if (!code)
		code = check_args(app, args, &rows);
	if (!code)
		code = check_aggregate(app, args, &rows, single);
	rows.shape.aggregated = args->aggregate != NULL;
	if (!code)
		code = raw_eval_options(app, &args->raw, &options, &metrics);
	if (!code)
		code = make_filter(app, &args->where, &filter, &rows);
	if (!code) {
		options.allow_incomplete = args->allow_incomplete;
		options.filter = filter;
		options.workers = args->workers;
		code = choose(&options.cupti_only, app, "--evaluator", args->evaluator,
		              (const char *const[]){ "auto", "cupti" });
	}
	if (!code)
		code = eval_all(app, args, &options, &rows, single);
	eval_rows_clear(&rows);
	opk_filter_free(filter);
	raw_metrics_free(&metrics);
	return code;
}

const struct command eval_command = {
	.name = "eval",
	.synopsis = "FILE.opk... | --raw IMAGE --metrics A,B",
	.summary = "evaluate recordings into CSV or a database, on a machine without a GPU",
	.details =
		"Ranges: range,name, then kernel, grid, block and device where recorded, and nvtx,\n"
		"rank and duration_ns; then the metrics. --launch-columns all adds launch,\n"
		"shared_bytes, registers, stream, context, process and start_ns. PM sampling:\n"
		"sample,start_ns,end_ns, device where there are several, then the metrics; only\n"
		"completed samples. The first sample of a recording begins at an earlier event, so its times\n"
		"and values span more than an interval: --first-sample mark adds the column\n"
		"spans_earlier, drop leaves it out.\n"
		"\n"
		"Where a recording has groups of metrics, each range has those of one group, and\n"
		"those that belong together make one row: launches of the same kernel and shape,\n"
		"the same launch of several runs, or ranges of the same name. A value is the mean of\n"
		"the ranges that have it. launches is their number: in a wide table that of the\n"
		"row, beside launches_min, that of the value that has the fewest; 0 shows an\n"
		"incomplete row, metrics of no group apart. --join none prints each range by itself.\n"
		"\n"
		"Some ways to collect count idle time around short kernels into some metrics: a\n"
		"note names them, and a long table has the column inflated.\n"
		"\n"
		"A recording may show more than its metrics: short names instead of theirs, and\n"
		"derived metrics, computed of each row's values. --metrics takes any of these names\n"
		"and those of metrics that are not shown. A long table has derived metrics' units\n"
		"as declared, or else as they follow from the formula.\n"
		"\n"
		"Where the set has groups, a table for people (--format table) has their headings over\n"
		"the columns; a long one has them between the rows, and their prose once.\n"
		"\n"
		"--columns takes the names of columns, metrics, and all else that is known of a row, such\n"
		"as symbol, stream or file; no other metrics are evaluated. In a long table metrics are\n"
		"rows, and metric, unit and value follow where they are not named. --where NAME=GLOB\n"
		"leaves in the rows whose text in that column matches as a whole (* ? [a-z] [!a]),\n"
		"--where NAME!=GLOB those where it does not; all of several must hold. range is the\n"
		"range's name. What is not known only matches an empty pattern or *. Rows are judged\n"
		"before they are joined, and only those wanted are evaluated: images without any are\n"
		"not read, so that damage there goes unnoticed. Values of metrics can't be asked for.\n"
		"\n"
		"--format sqlite writes a database, as does -o FILE.db, FILE.sqlite or FILE.sqlite3\n"
		"without --format: tables runs, devices, metrics, ranges, samples and values, and the\n"
		"views wide and long, whatever --layout says. nan is NULL there. docs/formats.md has\n"
		"the tables, and how Parquet is made of it.\n"
		"\n"
		"--aggregate has a row a metric and group of ranges that share a key: name, kernel,\n"
		"shape (grid, block, shared memory), nvtx, device or rank, or several with ',' between;\n"
		"ranges of different devices stay apart. Counters are summed before metrics are\n"
		"evaluated, by PerfWorks' combiner: mean is the ratio, percentage or rate of all ranges\n"
		"together, and of what adds up the sum over the count. What does not add up has no sum\n"
		"(nan). min, max and percentiles are of the ranges' own values, interpolated between two\n"
		"of them. Derived metrics are computed of sums, or of means where groups of metrics have\n"
		"different counts. PM samples aggregate by device, without the first one; --first-sample\n"
		"keep keeps it. --where tells which ranges there are groups of, --columns which metrics\n"
		"have rows and what these tell: metric and unit follow where they are not named, and all\n"
		"statistics where none is. It writes no database.\n"
		"\n"
		"Values are base units with 17 digits; nan is what CUPTI could not compute. A\n"
		"recording's checksums are verified first. NVIDIA's code sees images in child processes\n"
		"alone: on damaged bytes it may crash, which is exit code 4 here. Large recordings\n"
		"have as many as there are cores. With --raw the chip and the profiler are read from\n"
		"the image.",
	.options = specs,
	.args_size = sizeof(struct eval_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
