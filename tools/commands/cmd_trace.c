/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak trace: converts recordings for Perfetto. */
#include <string.h>

#include "base/ascii.h"
#include "commands.h"
#include "common/args.h"
#include "trace/door.h"

struct trace_args {
	struct raw_args raw;
	struct option_list where;
	unsigned kernel_names;
	bool allow_incomplete;
};

static const struct option_spec specs[] = {
	{ "metrics", 0, "A,B", "the full names of these metrics", OPTION_TEXT,
	  offsetof(struct trace_args, raw.metrics) },
	{ "set", 0, "SET", "the metrics of this set", OPTION_INPUT,
	  offsetof(struct trace_args, raw.set) },
	PARAM_OPTION(struct trace_args, raw.params),
	{ "where", 0, "NAME=GLOB",
	  "only samples like this, and launches: device=0, start_ns>=N, 'METRIC>1e6'; may be repeated",
	  OPTION_LIST, offsetof(struct trace_args, where) },
	{ "kernel-names", 0, "short|full|symbol",
	  "short (default): without arguments; full; or mangled", OPTION_WORD,
	  offsetof(struct trace_args, kernel_names) },
	{ "allow-incomplete", 0, NULL, "take what a cut-off recording still holds", OPTION_FLAG,
	  offsetof(struct trace_args, allow_incomplete) },
	TIMEOUT_OPTION,
	{ 0 },
};

struct inputs {
	struct opk_file **files;
	size_t count;
};

static int open_inputs(struct app *app, struct inputs *inputs)
{
	int code = OPK_OK;

	inputs->files = opk_alloc_array(app->argument_count, sizeof *inputs->files);
	if (!inputs->files)
		return app_nomem(app);
	for (size_t i = 0; !code && i < app->argument_count; i++) {
		code = opk_file_open(&inputs->files[i], app->ctx, app->arguments[i]);
		if (!code && !opk_file_complete(inputs->files[i]))
			app_note("%s: cut off: its end section is missing", app->arguments[i]);
		inputs->count += !code;
	}
	return code;
}

static void close_inputs(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		opk_file_free(inputs->files[i]);
	free(inputs->files);
}

static int report(struct app *app, const char *path, const struct opk_trace_counts *counts)
{
	struct app_fields fields = { 0 };

	field_text(&fields, "file", path);
	field_number(&fields, "events", counts->events);
	field_number(&fields, "samples", counts->samples);
	field_number(&fields, "values", counts->values);
	field_number(&fields, "missing_values", counts->missing_values);
	field_number(&fields, "first_samples", counts->first_samples);
	field_number(&fields, "kernels", counts->kernels);
	field_number(&fields, "copies", counts->copies);
	field_number(&fields, "sets", counts->sets);
	field_number(&fields, "nvtx_ranges", counts->nvtx_ranges);
	field_number(&fields, "ranges", counts->ranges);
	field_number(&fields, "calls", counts->calls);
	field_number(&fields, "origin_ns", counts->origin_ns);
	return app_report(app, &fields);
}

static void note_left_out(const struct opk_trace_counts *counts)
{
	if (counts->ranges_without_times)
		app_note("%ju ranges were recorded without times: they are not in the trace",
		         (uintmax_t)counts->ranges_without_times);
	if (counts->records_left_out)
		app_note(
			"%ju launches and NVTX ranges do not meet --where: they are not in the trace",
			(uintmax_t)counts->records_left_out);
	if (counts->incomplete_samples)
		app_note("%ju samples were begun but not completed: they are not in the trace",
		         (uintmax_t)counts->incomplete_samples);
}

static int write_trace(struct app *app, const struct opk_trace_options *options)
{
	struct opk_trace_counts counts;
	opk_autonewfile struct opk_newfile out = { 0 };
	const struct opk_sink sink = { opk_newfile_write, &out };
	const char *path = app->output;
	struct inputs inputs = { 0 };
	int code = open_inputs(app, &inputs);

	if (!code)
		code = opk_newfile_create(&out, app->ctx, path, opk_check_output, OPK_OUTPUT_TRACE);
	if (!code)
		code = opk_trace_write(&counts, app->ctx, inputs.files, inputs.count, options,
		                       &sink);
	if (!code)
		code = opk_newfile_commit(&out);
	close_inputs(&inputs);
	if (code)
		return code;
	note_left_out(&counts);
	return report(app, path, &counts);
}

static int run(struct app *app, void *data)
{
	const struct trace_args *args = data;
	struct opk_trace_options options = OPK_INIT(options);
	struct opk_eval_options eval;
	struct raw_metrics metrics = { 0 };
	int code = check_given(app, "trace", "FILE.opk...", "-o TRACE.json.gz");

	if (code)
		return code;
	options.gzip = opk_ends(app->output, ".gz");
	code = raw_eval_options(app, &args->raw, &eval, &metrics);
	if (!code) {
		eval.allow_incomplete = args->allow_incomplete;
		eval.where = args->where.items;
		eval.where_count = args->where.count;
		options.eval = &eval;
		options.kernel_names = kernel_style(app,
		                                    args->kernel_names ? args->kernel_names : 1);
		code = write_trace(app, &options);
	}
	raw_metrics_free(&metrics);
	return code;
}

const struct command trace_command = {
	.name = "trace",
	.synopsis = "FILE.opk... -o TRACE.json.gz",
	.summary = "write what was recorded over time, for Perfetto and chrome://tracing",
	.details =
		"Chrome's trace event format, which ui.perfetto.dev opens without sending it anywhere:\n"
		"a counter for each metric of the PM samples, a row for each stream with its kernels,\n"
		"copies and sets, and one for each thread's NVTX ranges, and for its calls of CUDA, with\n"
		"arrows to what they launched; user ranges of other recordings\n"
		"have their values as arguments, where their times are recorded. Each process, or rank, of\n"
		"a job is a process of the trace, and a GPU's counters are in the one that used it. The\n"
		"files of one watch are one recording, in the order of time.\n"
		"\n"
		"-o FILE.json.gz is compressed, FILE.json, or a name without an ending, is not, and - writes to stdout. Times are the\n"
		"host's, in microseconds from the first event on; otherData.origin_ns in the file is when\n"
		"that was. A sample without a value of a metric is no event of its counter: viewers draw the\n"
		"value before it further, and a slice 'no value' or 'no samples' shows where that is so.\n"
		"The first sample, which begins at an earlier event, is left out.\n"
		"\n"
		"--where is that of eval. Launches have to meet its conditions on start_ns, end_ns,\n"
		"device, host and gpu, too, and in a recording without samples those on any other fact.\n"
		"A recording of ranges without times has nothing that could be drawn: exit code 2.\n"
		"Prints how many events came of what.",
	.examples = {
		{ "trace pm.opk -o pm.json.gz", "open it in ui.perfetto.dev" },
		{ "trace pm.opk nvtx.opk -o both.json.gz", "two recordings on one time axis" },
		{ "trace pm.opk --metrics sm__cycles_active.avg --where 'sample<1000' -o sm.json",
		  "one counter, and of it the beginning, as text" },
	},
	.options = specs,
	.args_size = sizeof(struct trace_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_TRACE,
	.run = run,
};
