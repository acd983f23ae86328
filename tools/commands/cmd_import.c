/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak import: makes a recording from a bare image, or of what ncu or nsys wrote. */
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "base/buf.h"
#include "ncu/door.h"
#include "nsys/door.h"

struct import_args {
	struct raw_args raw;
	const char *ncu, *nsys, *set_name, *config, *availability, *ranges;
	bool no_instances;
};

static const struct option_spec specs[] = {
	{ "ncu", 0, "REPORT", "a report of Nsight Compute, as ncu prints it in CSV", OPTION_INPUT,
	  offsetof(struct import_args, ncu) },
	{ "nsys", 0, "DATABASE", "what Nsight Systems exports to SQLite", OPTION_INPUT,
	  offsetof(struct import_args, nsys) },
	RAW_OPTIONS(struct import_args, raw),
	{ "set-name", 0, "NAME", "name of the metric set, for the record", OPTION_TEXT,
	  offsetof(struct import_args, set_name) },
	{ "config", 0, "FILE", "config image that it was collected with", OPTION_INPUT,
	  offsetof(struct import_args, config) },
	{ "availability", 0, "FILE", "counter-availability image of its GPU", OPTION_INPUT,
	  offsetof(struct import_args, availability) },
	{ "ranges", 0, "FILE", "range table, JSON as in docs/format.md", OPTION_INPUT,
	  offsetof(struct import_args, ranges) },
	{ "no-instances", 0, NULL, "the image was made with a prefix without instances",
	  OPTION_FLAG, offsetof(struct import_args, no_instances) },
	{ 0 },
};

static int import(struct app *app, const struct import_args *args,
                  struct opk_import_options *options)
{
	opk_autofree void *image = NULL, *config = NULL, *availability = NULL, *ranges = NULL;
	size_t size;
	int code = files_get(app, &image, &size, args->raw.image);

	if (!code)
		code = files_get(app, &config, &options->config_size, args->config);
	if (!code)
		code = files_get(app, &availability, &options->availability_size,
		                 args->availability);
	if (!code)
		code = files_get(app, &ranges, &options->ranges_size, args->ranges);
	if (code)
		return code;
	options->config = config;
	options->availability = availability;
	options->ranges = ranges;
	options->ranges_name = args->ranges;
	code = opk_import(app->ctx, image, size, options, app->output);
	return code ? opk_add(app->ctx, code, "can't import %s", args->raw.image)
	            : files_report(app, app->output);
}

/* ---- reports of Nsight Compute */

/* Names what was left out: each of a few, or some of many. */
static void note_names(const char *what, const struct opk_strlist *names)
{
	enum { NAMED = 5 };
	opk_autobuf struct opk_buf text = { 0 };
	size_t shown = names->count <= NAMED + 1 ? names->count : NAMED;

	for (size_t i = 0; i < shown; i++)
		opk_buf_add_printf(&text, "%s%s", i ? ", " : "", names->items[i]);
	if (shown < names->count)
		opk_buf_add_printf(&text, " and %zu more", names->count - shown);
	opk_buf_add(&text, "", 1);
	if (names->count && !text.failed)
		app_note("%s: %s", what, (const char *)text.data);
}

static int import_report(struct app *app, const struct import_args *args)
{
	opk_autoimported struct opk_ncu_imported imported = { 0 };
	struct app_fields fields = { .count = 0 };
	int code = opk_ncu_import(&imported, app->ctx, args->ncu, args->raw.chip, app->output);

	note_names("left out, since they are labels: 'ncu --page raw --csv' has the metrics' names",
	           &imported.labels);
	if (imported.error)
		app_note("ncu reports an error in line %zu, so launches may be missing: %s",
		         imported.error_line, imported.error);
	if (code)
		return opk_add(app->ctx, code, "can't import %s%s", args->ncu,
		               imported.needs_chip ? " without --chip" : "");
	note_names("launches left out, since a recording has one chip", &imported.other_gpus);
	note_names("no known chip has this compute capability, so the one that --chip names was "
	           "taken",
	           &imported.unknown_gpus);
	note_names("left out, since their values are texts", &imported.texts);
	note_names("values that are not numbers became nan", &imported.odd);
	note_names("left out, since they were sampled while kernels ran", &imported.sampled);
	if (imported.open_line)
		app_note("whether a point begins decimals, as was assumed, or thousands is not "
		         "clear: all of its numbers with points are like that of line %zu",
		         imported.open_line);
	if (imported.decimal_comma)
		app_note("its numbers have decimal commas");
	field_text(&fields, "file", app->output);
	field_number(&fields, "launches", imported.launches);
	field_number(&fields, "metrics", imported.metrics);
	return app_report(app, &fields);
}

/* ---- databases of Nsight Systems */

static int import_database(struct app *app, const struct import_args *args)
{
	opk_autonsysimported struct opk_nsys_imported imported = { 0 };
	struct app_fields fields = { .count = 0 };
	int code = opk_nsys_import(&imported, app->ctx, args->nsys, args->raw.chip, app->output);

	if (imported.odd_records)
		app_note("records with impossible times are left out: %ju",
		         (uintmax_t)imported.odd_records);
	if (code)
		return opk_add(app->ctx, code, "can't import %s%s", args->nsys,
		               imported.needs_chip ? " without --chip" : "");
	if (imported.no_clock)
		app_note("it does not say when it was recorded: times count from 0");
	if (imported.graphs)
		app_note("%ju launches of CUDA graphs are there as a whole: "
		         "'nsys profile --cuda-graph-trace=node' records their kernels",
		         (uintmax_t)imported.graphs);
	if (imported.open_ranges)
		app_note("NVTX ranges that did not end are left out: %ju",
		         (uintmax_t)imported.open_ranges);
	if (imported.odd_ranges)
		app_note("NVTX records that end before they begin, or are of an unknown type, are "
		         "left out: %ju",
		         (uintmax_t)imported.odd_ranges);
	if (imported.no_names)
		app_note("its samples of GPU metrics are left out: it does not name the metrics");
	if (imported.negative)
		app_note("%ju values of GPU metrics are negative, which they can't be: nan",
		         (uintmax_t)imported.negative);
	if (imported.texts)
		app_note("values of GPU metrics that are texts became nan: %ju",
		         (uintmax_t)imported.texts);
	note_names("left out, since another label means the same metric", &imported.second);
	note_names("left out, since it is not documented which metrics these labels mean",
	           &imported.labels);
	field_text(&fields, "file", app->output);
	field_number(&fields, "kernels", imported.kernels);
	field_number(&fields, "copies", imported.copies);
	field_number(&fields, "sets", imported.sets);
	field_number(&fields, "nvtx_ranges", imported.ranges);
	field_number(&fields, "calls", imported.calls);
	return app_report(app, &fields);
}

/* Whether options are given that only say something of images. */
static bool is_raw(const struct app *app, const struct import_args *args)
{
	return args->raw.image || args->raw.metrics || args->raw.set || args->raw.params.count
	       || args->raw.profiler || args->raw.time_shift || app->timeout || args->set_name
	       || args->config || args->availability || args->ranges || args->no_instances;
}

static int run(struct app *app, void *data)
{
	const struct import_args *args = data;
	struct opk_import_options options = OPK_INIT(options);
	struct opk_eval_options eval;
	struct raw_metrics metrics = { 0 };
	const char *slash;
	int code;

	if (app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "import: say what '%s' is: --ncu REPORT.csv, --nsys DATABASE "
		                 "or --raw IMAGE",
		                 app->arguments[0]);
	if ((args->ncu || args->nsys) && !app->output)
		return app_error(app, OPK_EUSAGE, "import: -o OUT.opk is needed");
	if ((args->ncu || args->nsys) && (is_raw(app, args) || (args->ncu && args->nsys)))
		return app_error(app, OPK_EUSAGE,
		                 "import: %s goes with -o OUT.opk and --chip alone",
		                 args->ncu ? "--ncu REPORT.csv" : "--nsys DATABASE");
	if (args->ncu)
		return import_report(app, args);
	if (args->nsys)
		return import_database(app, args);
	if (!args->raw.image || !app->output || (!args->raw.metrics && !args->raw.set))
		return app_error(app, OPK_EUSAGE,
		                 "import: --raw IMAGE, --metrics A,B (or --set SET) and -o OUT.opk "
		                 "are required, or --ncu REPORT.csv or --nsys DATABASE "
		                 "and -o OUT.opk");
	slash = strrchr(args->raw.image, '/');
	options.source = slash ? slash + 1 : args->raw.image;
	options.set_name = args->set_name;
	options.no_instances = args->no_instances;
	options.eval = &eval;
	code = raw_eval_options(app, &args->raw, &eval, &metrics);
	if (!code)
		code = import(app, args, &options);
	raw_metrics_free(&metrics);
	return code;
}

const struct command import_command = {
	.name = "import",
	.synopsis = "--raw IMAGE --metrics A,B -o OUT.opk | --ncu REPORT -o OUT.opk | --nsys DATABASE -o OUT.opk",
	.summary = "make a recording of a report of ncu or nsys, or of a bare counter data image",
	.details =
		"--ncu: a report of Nsight Compute in CSV, its raw page or a row for each metric, as\n"
		"docs/guide.md says; base units keep more digits. The recording has the values\n"
		"themselves, so show, diff, report, eval and others read it without NVIDIA's libraries,\n"
		"but evaluate no other metrics. --chip is needed where the compute capability is that of\n"
		"several chips and the report lacks the device's name, or where GPUs of several chips ran\n"
		"kernels: it takes the launches of one chip.\n"
		"\n"
		"--nsys: what 'nsys export -t sqlite' makes of a report: kernels, copies, sets, NVTX\n"
		"ranges and calls of the runtime become a trace, which trace, show, eval and others read,\n"
		"and samples of GPU metrics become PM samples, as docs/guide.md says. --chip is needed\n"
		"where the database does not name it, or names several.\n"
		"\n"
		"--raw: the image, from any CUPTI program, is evaluated once in a child process, to see that\n"
		"it can be; then it goes into OUT.opk with its metric list, compressed and\n"
		"checksummed, and evaluates with no further arguments.\n"
		"\n"
		"Prints how much of each kind is in the new recording.",
	.examples = {
		{ "import --raw run.cd --metrics sm__cycles_active.sum -o new.opk",
		  "a recording of a CUPTI program's image" },
		{ "import --ncu report.csv -o new.opk", "the values of a report of Nsight Compute" },
		{ "import --nsys report.sqlite -o new.opk", "what ran, as Nsight Systems recorded it" },
	},
	.options = specs,
	.args_size = sizeof(struct import_args),
	.arguments = ARGUMENTS_ARE_FILES,
	.max_arguments = 1,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_IMPORTED,
	.run = run,
};
