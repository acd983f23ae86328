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

struct plot {
	struct app *app;
	const struct plot_args *args;
	struct opk_file *file;
	const struct opk_summary *summary; /* NULL of a timeline */
	struct opk_picture_options options;
	struct opk_newfile out;
};

static int draw_roofline(struct plot *p)
{
	return opk_picture_roofline(opk_newfile_write, &p->out, p->app->ctx, p->summary,
	                            &p->options);
}

static int draw_kernels(struct plot *p)
{
	return opk_picture_kernels(opk_newfile_write, &p->out, p->app->ctx, p->summary,
	                           &p->options);
}

static int draw_stack(struct plot *p)
{
	const char *wanted = p->args->group;
	const struct opk_meta_heading *heading;
	opk_autobuf struct opk_buf others = { 0 };

	for (size_t i = 0; (heading = opk_picture_stack_heading(p->summary, i)); i++) {
		if (!wanted || !strcmp(heading->title, wanted))
			break;
		opk_buf_add_printf(&others, "%s%s", i ? ", " : "", heading->title);
	}
	opk_buf_add(&others, "", 1);
	if (wanted && !heading && others.size > 1)
		return app_error(p->app, OPK_EUSAGE, "--group %s: what can be stacked is %s",
		                 wanted, (char *)others.data);
	return opk_picture_stack(opk_newfile_write, &p->out, p->app->ctx, p->summary, heading,
	                         &p->options);
}

static int draw_timeline(struct plot *p)
{
	struct opk_eval_options eval = OPK_INIT(eval);
	struct raw_args raw = { .metrics = p->args->metrics };
	struct raw_metrics metrics = { 0 };
	int code = raw_eval_options(p->app, &raw, &eval, &metrics);

	eval.allow_incomplete = true;
	if (!code)
		code = opk_picture_timeline(opk_newfile_write, &p->out, p->app->ctx, p->file, &eval,
		                            &p->options);
	app_progress_end();
	raw_metrics_free(&metrics);
	return code;
}

static const struct picture {
	const char *name;
	int (*draw)(struct plot *p);
} pictures[] = {
	{ "roofline", draw_roofline },
	{ "kernels", draw_kernels },
	{ "stack", draw_stack },
	{ "timeline", draw_timeline },
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

/* What would be passed over without a word. */
static int check_use(struct app *app, const struct plot_args *args, const struct picture *picture)
{
	bool timeline = picture->draw == draw_timeline;

	if (args->metrics && !timeline)
		return app_error(app, OPK_EUSAGE,
		                 "--metrics is for the timeline: %s has its metrics from the set",
		                 picture->name);
	if (args->group && picture->draw != draw_stack)
		return app_error(app, OPK_EUSAGE, "--group is for stack: %s has no groups",
		                 picture->name);
	if ((args->kernel || args->top) && timeline)
		return app_error(app, OPK_EUSAGE, "--%s does nothing for the timeline",
		                 args->kernel ? "kernel" : "top");
	return OPK_OK;
}

static int draw(struct plot *p, const struct picture *picture)
{
	int code = opk_newfile_create(&p->out, p->app->ctx, p->app->output, opk_check_output,
	                              OPK_OUTPUT_SVG);

	if (!code)
		code = picture->draw(p);
	if (!code)
		code = opk_newfile_commit(&p->out);
	opk_newfile_discard(&p->out);
	return code;
}

/* Groups of samples are devices, which are there whatever the kernel. */
static int check_pattern(struct plot *p, const char *path)
{
	bool devices = p->summary->kind == OPK_SUMMARY_DEVICES;

	if (!p->args->kernel || p->summary->kernel_count || (!devices && p->summary->group_count))
		return OPK_OK;
	return app_error(p->app, OPK_EUSAGE, "no kernel is like %s; 'offpeak show %s' lists them",
	                 p->args->kernel, path);
}

static int plot(struct plot *p, const struct picture *picture, const char *path)
{
	struct opk_summary_options how = OPK_INIT(how);
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_summary) struct opk_summary *summary = NULL;
	struct opk_ctx *ctx = p->app->ctx;
	int code = opk_file_open(&file, ctx, path);

	how.kernel = p->args->kernel;
	how.kernel_names = OPK_KERNEL_SHORT;
	p->file = file;
	if (!code && picture->draw != draw_timeline)
		code = opk_summary_new(&summary, ctx, file, &how);
	app_progress_end();
	p->summary = summary;
	if (!code && summary)
		code = check_pattern(p, path);
	if (!code)
		code = draw(p, picture);
	return code ? opk_add(ctx, code, "can't plot %s", path) : OPK_OK;
}

static int run(struct app *app, void *data)
{
	const struct plot_args *args = data;
	const struct picture *picture = app->argument_count ? find(app->arguments[0]) : NULL;
	struct plot p = { .app = app, .args = args, .options = OPK_INIT(p.options) };

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE, "plot: which picture? " PICTURES);
	if (!picture)
		return app_error(app, OPK_EUSAGE, "plot: no picture is called %s: use " PICTURES,
		                 app->arguments[0]);
	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "plot: which recording?");
	TRY(check_use(app, args, picture));
	if (!app->output)
		return app_error(app, OPK_EUSAGE,
		                 "plot: where to? -o FILE.svg, or -o - for stdout");
	p.options.title = args->title;
	p.options.dark = args->dark;
	p.options.top = (size_t)args->top;
	TRY(take_pixels(&p.options.width, app, "width", args->width));
	TRY(take_pixels(&p.options.height, app, "height", args->height));
	return plot(&p, picture, app->arguments[1]);
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
		"timeline: PM samples over time, a row a metric, filled from the least to the most sample\n"
		"of each column of pixels; NVTX ranges and launches where they were recorded.\n"
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
