/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak import: makes a recording from a bare image. */
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/files.h"

struct import_args {
	struct raw_args raw;
	const char *set_name, *config, *availability, *ranges;
	bool no_instances;
};

static const struct option_spec specs[] = {
	RAW_OPTIONS(struct import_args, raw),
	{ "set-name", 0, "NAME", "name of the metric set, for the record", OPTION_TEXT,
	  offsetof(struct import_args, set_name) },
	{ "config", 0, "FILE", "config image that it was collected with", OPTION_INPUT,
	  offsetof(struct import_args, config) },
	{ "availability", 0, "FILE", "counter-availability image of its GPU", OPTION_INPUT,
	  offsetof(struct import_args, availability) },
	{ "ranges", 0, "FILE", "range table, JSON as in docs/format.md", OPTION_INPUT,
	  offsetof(struct import_args, ranges) },
	{ "no-instances", 0, NULL, "it was made from a prefix without instances", OPTION_FLAG,
	  offsetof(struct import_args, no_instances) },
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
	code = opk_import(app->ctx, image, size, options, app->output);
	return code ? opk_add(app->ctx, code, "can't import %s", args->raw.image) : OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct import_args *args = data;
	struct opk_import_options options = OPK_INIT(options);
	struct opk_eval_options eval;
	struct raw_metrics metrics = { 0 };
	const char *slash;
	int code;

	if (!args->raw.image || !app->output || (!args->raw.metrics && !args->raw.set))
		return app_error(app, OPK_EUSAGE,
		                 "import: --raw IMAGE, --metrics A,B (or --set SET) and -o OUT.opk "
		                 "are required");
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
	.synopsis = "--raw IMAGE --metrics A,B -o OUT.opk",
	.summary = "make a recording of a bare counter data image",
	.details =
		"The image, from any CUPTI program, is evaluated once in a child process, to see that\n"
		"it can be; then it goes into OUT.opk with its metric list, compressed and\n"
		"checksummed, and evaluates with no further arguments.",
	.examples = {
		{ "import --raw run.cd --metrics sm__cycles_active.sum -o new.opk",
		  "a recording of a CUPTI program's image" },
		{ "import --raw run.cd --set my.yaml -o new.opk", "the metrics of a set" },
		{ "import --raw run.cd --metrics sm__cycles_active.sum --chip GH100 -o new.opk",
		  "an image that does not say its chip" },
	},
	.options = specs,
	.args_size = sizeof(struct import_args),
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_IMPORTED,
	.run = run,
};
