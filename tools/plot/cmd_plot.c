/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak plot: pictures of a recording, as SVG. */
#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "container/door.h"
#include "picture/door.h"

#define PICTURES "roofline, kernels, stack or timeline"

struct plot_args {
	const char *title, *width, *height, *group, *metrics, *kernel;
	uint64_t top;
	bool dark;
};

static const struct option_spec specs[] = {
	{ "title", 0, "TEXT", "this title instead of the picture's own", OPTION_TEXT,
	  offsetof(struct plot_args, title) },
	{ "kernel", 0, "PATTERN", "only kernels like this: *gemm*; not of a timeline", OPTION_TEXT,
	  offsetof(struct plot_args, kernel) },
	{ "top", 0, "N", "only the first N kernels by time", OPTION_COUNT,
	  offsetof(struct plot_args, top) },
	{ "group", 0, "TITLE", "stack: the columns under this heading; default: the first",
	  OPTION_TEXT, offsetof(struct plot_args, group) },
	{ "metrics", 0, "A,B", "timeline: these instead of all that were recorded", OPTION_TEXT,
	  offsetof(struct plot_args, metrics) },
	{ "width", 0, "PIXELS", "how wide; default: what suits the picture", OPTION_TEXT,
	  offsetof(struct plot_args, width) },
	{ "height", 0, "PIXELS", "how high", OPTION_TEXT, offsetof(struct plot_args, height) },
	{ "dark", 0, NULL, "light on dark", OPTION_FLAG, offsetof(struct plot_args, dark) },
	{ 0 },
};

static const char *const pictures[] = {
	[OPK_PICTURE_ROOFLINE] = "roofline",
	[OPK_PICTURE_KERNELS] = "kernels",
	[OPK_PICTURE_STACK] = "stack",
	[OPK_PICTURE_TIMELINE] = "timeline",
};

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

/* Refuses options that would be ignored silently. */
static int check_use(struct app *app, const struct plot_args *args, enum opk_picture_kind kind)
{
	bool timeline = kind == OPK_PICTURE_TIMELINE;

	if (args->metrics && !timeline)
		return app_error(app, OPK_EUSAGE,
		                 "--metrics is for the timeline: %s has its metrics from the set",
		                 pictures[kind]);
	if (args->group && kind != OPK_PICTURE_STACK)
		return app_error(app, OPK_EUSAGE, "--group is for stack: %s has no groups",
		                 pictures[kind]);
	if ((args->kernel || args->top) && timeline)
		return app_error(app, OPK_EUSAGE, "--%s does nothing for the timeline",
		                 args->kernel ? "kernel" : "top");
	return OPK_OK;
}

static int write_picture(struct app *app, const struct opk_picture *picture)
{
	const char *text = opk_picture_svg(picture);
	struct opk_newfile out = { 0 };
	int code = opk_newfile_create(&out, app->ctx, app->output, opk_check_output,
	                              OPK_OUTPUT_SVG);

	if (!code && opk_newfile_write(&out, text, strlen(text)))
		code = opk_fail(app->ctx, OPK_EFAILED, "the picture can't be written");
	if (!code)
		code = opk_newfile_commit(&out);
	opk_newfile_discard(&out);
	return code;
}

static int draw(struct opk_picture **out, struct app *app, struct opk_file *file,
                enum opk_picture_kind kind, struct opk_picture_options *options, const char *names)
{
	struct opk_eval_options eval = OPK_INIT(eval);
	struct raw_args raw = { .metrics = names };
	struct raw_metrics metrics = { 0 };
	int code = raw_eval_options(app, &raw, &eval, &metrics);

	eval.allow_incomplete = true;
	options->eval = &eval;
	if (!code)
		code = opk_picture_draw(out, app->ctx, file, kind, options);
	app_progress_end();
	raw_metrics_free(&metrics);
	return code;
}

static int plot(struct app *app, enum opk_picture_kind kind, struct opk_picture_options *options,
                const char *metrics)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_picture) struct opk_picture *picture = NULL;
	const char *path = app->arguments[1];
	int code = opk_file_open(&file, app->ctx, path);

	if (!code)
		code = draw(&picture, app, file, kind, options, metrics);
	if (!code)
		code = write_picture(app, picture);
	return code ? opk_add(app->ctx, code, "can't plot %s", path) : OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct plot_args *args = data;
	struct opk_picture_options options = OPK_INIT(options);
	size_t kind = 0;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE, "plot: which picture? " PICTURES);
	while (kind < COUNT(pictures) && strcmp(pictures[kind], app->arguments[0]) != 0)
		kind++;
	if (kind == COUNT(pictures))
		return app_error(app, OPK_EUSAGE, "plot: no picture is called %s: use " PICTURES,
		                 app->arguments[0]);
	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "plot: which recording?");
	TRY(check_use(app, args, (enum opk_picture_kind)kind));
	if (!app->output)
		return app_error(app, OPK_EUSAGE,
		                 "plot: where to? -o FILE.svg, or -o - for stdout");
	options.title = args->title;
	options.dark = args->dark;
	options.kernel = args->kernel;
	options.group = args->group;
	options.top = (size_t)args->top;
	TRY(take_pixels(&options.width, app, "width", args->width));
	TRY(take_pixels(&options.height, app, "height", args->height));
	return plot(app, (enum opk_picture_kind)kind, &options, args->metrics);
}

const struct command plot_command = {
	.name = "plot",
	.synopsis = "PICTURE RUN.opk -o X.svg",
	.summary = "draw a recording as SVG, for papers and wikis: roofline, kernels, timeline",
	.details =
		"PICTURE is one of these:\n"
		"\n"
		"roofline: how many operations a second each kernel makes over its operations per byte of\n"
		"each level of memory, and what the chip allows at most: operations of each type have the\n"
		"peak of that type. Beside a kernel is its largest share of such a peak, or of a level's.\n"
		"Sets say what it is drawn of: roofline-hierarchical does, and a set of yours can. The 300\n"
		"kernels with most time have marks, or as many as --top says.\n"
		"\n"
		"kernels: how much of the time each kernel took in all its launches.\n"
		"\n"
		"stack: parts of a whole as stacked bars, a row a kernel, such as the issue slots of the\n"
		"set top-down, or what warps wait for, of the set stalls.\n"
		"\n"
		"timeline: PM samples over time, a row a metric: the mean of each column of pixels, over a\n"
		"band from its least to its most sample; NVTX ranges and launches where they were recorded,\n"
		"with a colour each for the kernels that take most time.\n"
		"\n"
		"rsvg-convert or inkscape make PNG and PDF of it: rsvg-convert -z 2 x.svg -o x.png",
	.examples = {
		{ "plot roofline roofs.opk -o roofline.svg", "each kernel between the roofs" },
		{ "plot roofline roofs.opk --top 3 --dark -o slide.svg",
		  "the three kernels that take longest, light on dark" },
		{ "plot kernels run.opk --title 'One step' -o - >kernels.svg",
		  "kernels by time, with a title of your own" },
	},
	.options = specs,
	.args_size = sizeof(struct plot_args),
	.max_arguments = 2,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_SVG,
	.no_table = true,
	.run = run,
};
