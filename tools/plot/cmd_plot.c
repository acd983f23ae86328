/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak plot: pictures of a recording, as SVG. */
#include <string.h>

#include "base/ctx.h"
#include "commands.h"
#include "common/args.h"
#include "common/files.h"

#define PICTURES "roofline"

struct plot_args {
	const char *title, *width, *height;
	uint64_t top;
	bool dark;
};

static const struct option_spec specs[] = {
	{ "title", 0, "TEXT", "this title instead of the picture's own", OPTION_TEXT,
	  offsetof(struct plot_args, title) },
	{ "top", 0, "N", "only the first N kernels by time", OPTION_COUNT,
	  offsetof(struct plot_args, top) },
	{ "width", 0, "PIXELS", "how wide; default: what suits the picture", OPTION_TEXT,
	  offsetof(struct plot_args, width) },
	{ "height", 0, "PIXELS", "how high", OPTION_TEXT, offsetof(struct plot_args, height) },
	{ "dark", 0, NULL, "light on dark", OPTION_FLAG, offsetof(struct plot_args, dark) },
	{ 0 },
};

typedef int picture_fn(opk_sink_fn *sink, void *sink_data, struct opk_ctx *ctx,
                       const struct opk_summary *summary,
                       const struct opk_picture_options *options);

static const struct picture {
	const char *name;
	picture_fn *draw;
} pictures[] = {
	{ "roofline", opk_picture_roofline },
};

static const struct picture *find(const char *name)
{
	for (size_t i = 0; i < COUNT(pictures); i++)
		if (!strcmp(pictures[i].name, name))
			return &pictures[i];
	return NULL;
}

static int take_pixels(double *out, struct app *app, const char *option, const char *text)
{
	enum { LEAST = 100, MOST = 10000 };
	char *end = NULL;

	*out = text ? strtod(text, &end) : 0;
	if (!text || (!*end && *out >= LEAST && *out <= MOST))
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "--%s %s: use pixels, from %d to %d", option, text, LEAST,
	                 MOST);
}

static int draw(struct app *app, const struct picture *picture, const struct opk_summary *summary,
                const struct opk_picture_options *options)
{
	opk_autonewfile struct opk_newfile out = { 0 };
	int code = opk_newfile_create(&out, app->ctx, app->output);

	if (!code)
		code = picture->draw(opk_newfile_write, &out, app->ctx, summary, options);
	return code ? code : opk_newfile_commit(&out);
}

static int plot(struct app *app, const struct picture *picture, const char *path,
                const struct opk_picture_options *options)
{
	struct opk_summary_options how = OPK_INIT(how);
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_summary) struct opk_summary *summary = NULL;
	int code = opk_file_open(&file, app->ctx, path);

	how.progress = app_progress;
	how.progress_data = (void *)"evaluating range";
	if (!code)
		code = opk_summary_new(&summary, app->ctx, file, &how);
	app_progress_end();
	if (!code)
		code = draw(app, picture, summary, options);
	return code ? opk_add(app->ctx, code, "can't plot %s", path) : OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct plot_args *args = data;
	struct opk_picture_options options = OPK_INIT(options);
	const struct picture *picture = app->argument_count ? find(app->arguments[0]) : NULL;
	int code;

	if (!picture)
		return app_error(app, OPK_EUSAGE, "plot: which picture? " PICTURES);
	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "plot: which recording?");
	if (!app->output)
		return app_error(app, OPK_EUSAGE,
		                 "plot: where to? -o FILE.svg, or -o - for stdout");
	options.title = args->title;
	options.dark = args->dark;
	options.top = (size_t)args->top;
	code = take_pixels(&options.width, app, "width", args->width);
	if (!code)
		code = take_pixels(&options.height, app, "height", args->height);
	return code ? code : plot(app, picture, app->arguments[1], &options);
}

const struct command plot_command = {
	.name = "plot",
	.synopsis = "PICTURE RUN.opk -o X.svg",
	.summary = "draw a recording as SVG, for papers and wikis: its roofline",
	.details =
		"PICTURE is one of these:\n"
		"\n"
		"roofline: how many operations a second each kernel makes over its operations per byte of\n"
		"each level of memory, and what the chip allows at most. Sets say what it is drawn of:\n"
		"roofline-hierarchical does, and a set of yours can.",
	.examples = {
		{ "plot roofline roofs.opk -o roofline.svg", "each kernel between the roofs" },
		{ "plot roofline roofs.opk --top 3 --dark -o slide.svg",
		  "the three kernels that take longest, light on dark" },
		{ "plot roofline roofs.opk --title 'One step on an H100' -o - >step.svg",
		  "with a title of your own" },
	},
	.options = specs,
	.args_size = sizeof(struct plot_args),
	.max_arguments = 2,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.run = run,
};
