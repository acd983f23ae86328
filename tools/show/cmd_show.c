/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak show: shows a recording to people. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "code/door.h"
#include "commands.h"
#include "container/door.h"
#include "show/show.h"

/* FULL_NAMES: the place of the word. */
enum { TOP = 5, FULL_NAMES = 2 };

struct show_args {
	const char *kernel, *sort;
	uint64_t top;
	unsigned kernel_names, names;
	const char *by;
	bool source, metrics, all;
	struct option_list source_paths;
};

static const struct option_spec specs[] = {
	{ "kernel", 0, "PATTERN", "only kernels like this, or user ranges: *gemm*, step/*",
	  OPTION_TEXT, offsetof(struct show_args, kernel) },
	{ "sort", 0, "WHAT", "by time (default), launches, name, or a metric", OPTION_TEXT,
	  offsetof(struct show_args, sort) },
	{ "top", 0, "N", "only the first N kernels, or ranges; default 5", OPTION_COUNT,
	  offsetof(struct show_args, top) },
	KERNEL_NAMES_OPTION(struct show_args, kernel_names),
	{ "source", 0, NULL, "the lines of code where time goes; default 10", OPTION_FLAG,
	  offsetof(struct show_args, source) },
	{ "metrics", 0, NULL, "the recorded values, instead of what limits the kernels",
	  OPTION_FLAG, offsetof(struct show_args, metrics) },
	{ "names", 0, "words|full", "text names metrics in words (default), or by their full names",
	  OPTION_WORD, offsetof(struct show_args, names) },
	{ "by", 0, "KEY", "keep kernels apart by nvtx, shape, device, host or rank", OPTION_TEXT,
	  offsetof(struct show_args, by) },
	{ "all", 0, NULL, "all that can be said of each kernel, and all values", OPTION_FLAG,
	  offsetof(struct show_args, all) },
	{ "source-path", 0, "OLD=NEW",
	  "source files whose recorded paths begin with OLD are here under NEW; may be repeated",
	  OPTION_LIST, offsetof(struct show_args, source_paths) },
	{ 0 },
};

/* Whether kernels are known by when they ran: of samples, or of a trace. */
static bool is_timeline(const struct show *show)
{
	return strcmp(show->meta->kind, "set") != 0
	       && (show->meta->profiler == OPK_PROFILER_PM || !strcmp(show->meta->mode, "trace"));
}

static int summarize(struct show *show, const char *path, const struct show_args *args)
{
	struct opk_summary_options options = OPK_INIT(options);
	/* Where there are answers, these alone are kept apart. */
	const struct opk_summary_values values = { .by = is_timeline(show) ? args->by : NULL };
	struct opk_ctx *ctx = show->app->ctx;
	int code;

	options.kernel = args->kernel;
	options.sort = args->sort;
	options.kernel_names = kernel_style(show->app, args->kernel_names);
	code = opk_summary_make(&show->summary, ctx, show->file, &options, &values);
	if (!code && values.by && !show->summary->kernel_count && !args->kernel)
		code = opk_fail(
			ctx, OPK_EUSAGE,
			"--by keeps kernels apart, and the recording does not say which ran: "
			"record with 'offpeak-collect --trace'");
	return code ? opk_add(ctx, code, "can't show %s", path) : OPK_OK;
}

/* Prints a few lines: what ran, where, and how complete the recording is. */
static int show_run(struct show *show)
{
	const struct opk_summary_words *words = &show->summary->words;
	struct app_fields fields = { .count = 0 };

	field_text(&fields, "run", words->run);
	field_text(&fields, "machine", words->machine);
	if (*words->clocks)
		field_text(&fields, "clocks", words->clocks);
	field_text(&fields, "complete", words->complete);
	if (show->answers) {
		field_number(&fields, "launches", opk_answers_launches(show->answers));
		field_add(&fields, "time_ns", OPK_CELL_DOUBLE,
		          cell_value(round(opk_answers_time(show->answers))));
	}
	return app_record(show->app, &fields);
}

/* What limits the kernels, if the recording has the metrics that say so. */
static int find_answers(struct show *show, const struct show_args *args)
{
	struct opk_answers_options options = {
		.kernel = args->kernel,
		/* Short in every format. */
		.kernel_names = kernel_style(show->app,
		                             args->kernel_names ? args->kernel_names : 1),
		.by = args->by,
	};
	int code;

	if (is_timeline(show) || opk_profiler_is_code(show->meta->profiler))
		return OPK_OK;
	if (args->by && (args->metrics || args->sort))
		return app_error(show->app, OPK_EUSAGE,
		                 "show --by is for answers, not for --metrics and --sort");
	if ((args->metrics && !args->all) || args->sort || !strcmp(show->meta->kind, "set"))
		return OPK_OK;
	code = opk_answers_new(&show->answers, show->app->ctx, show->file, &options);
	if (code)
		return opk_add(show->app->ctx, code, "can't show %s", show->app->arguments[0]);
	if (opk_answers_are_whole(show->answers))
		return OPK_OK;
	opk_answers_free(opk_take(show->answers));
	if (args->by && !args->kernel)
		return app_error(show->app, OPK_EUSAGE,
		                 "show --by: the recording lacks what answers need; 'offpeak eval "
		                 "--aggregate' keeps values apart");
	return OPK_OK;
}

static int print(struct show *show)
{
	int code = app_begin_output(show->app);

	for (size_t i = 0; i < show->summary->remarks.count; i++)
		app_note("%s", show->summary->remarks.items[i]);
	TRY(code);
	if (is_timeline(show) && strcmp(show->meta->mode, "trace") != 0
	    && show->summary->kernel_count)
		app_note("'offpeak eval --per kernel' has values of each kernel, those of kernels "
		         "shorter than a sample from all of their launches");
	if (!show->answers && show->summary->kind == OPK_SUMMARY_KERNELS && !show->metrics
	    && show->summary->evaluation && show->summary->group_count)
		app_note(
			"what limits these kernels is not known from these metrics: record the set "
			"'answers' ('offpeak build --chip %s answers -o answers.opk', then "
			"'offpeak-collect -c answers.opk')",
			show->meta->chip);
	/* Text of answers begins with the run. */
	if (!show->answers || !app_shows_table(show->app))
		TRY(show_run(show));
	if (show->answers)
		TRY(show_answers(show));
	if (show->answers && !show->all)
		return app_end_output(show->app);
	TRY(show_kernels(show));
	if (strcmp(show->meta->mode, "trace") != 0)
		TRY(show->summary->evaluation ? show_tables(show) : show_descriptions(show));
	return app_end_output(show->app);
}

static int show_lines(struct show *show, const struct show_args *args)
{
	if (args->sort)
		return app_error(
			show->app, OPK_EUSAGE,
			"show --sort %s: lines are in the order of their share; eval --per "
			"line --sort has others",
			args->sort);
	show->top = args->top;
	return show_source(show, &args->source_paths, kernel_style(show->app, args->kernel_names));
}

static int show_kernels_first(struct show *show, const struct show_args *args)
{
	show->top = args->top ? args->top : TOP;
	show->all = args->all;
	show->full_names = args->names == FULL_NAMES;
	show->metrics = args->metrics || args->sort;
	TRY(find_answers(show, args));
	if (show->answers && !show->all)
		TRY(opk_summary_make_head(&show->summary, show->app->ctx, show->file));
	else
		TRY(summarize(show, show->app->arguments[0], args));
	return print(show);
}

/* Code is counted over all launches. */
static int check_by(const struct show *show, const struct show_args *args)
{
	if (!args->by || !(args->source || opk_profiler_is_code(show->meta->profiler)))
		return OPK_OK;
	return app_error(show->app, OPK_EUSAGE,
	                 "show --by %s: lines of code have no launches to keep apart; 'offpeak "
	                 "eval --per function' has the functions of each recorded module",
	                 args->by);
}

static void clear(struct show *show)
{
	opk_answers_free(show->answers);
	opk_summary_free(show->summary);
	opk_file_free(show->file);
}

static int run(struct app *app, void *data)
{
	struct show_args *args = data;
	struct show show = { .app = app, .kernel = args->kernel };
	int code;

	/* Answers have this order, too. */
	if (args->sort && !args->source && !strcmp(args->sort, "time"))
		args->sort = NULL;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE, "show: which recording?");
	if (args->metrics && app->argument_count > 1 && strstr(app->arguments[1], "__")
	    && access(app->arguments[1], F_OK))
		return app_error(
			app, OPK_EUSAGE,
			"show: --metrics takes no names, and there is no file '%s': 'offpeak "
			"eval FILE --metrics NAMES' has the values of some metrics",
			app->arguments[1]);
	/* The output is for people, to any destination, unless another format is requested. */
	app->for_people = !app->output;
	if (!app->format && !app->output)
		app->format = OPK_FORMAT_TABLE + 1;
	code = opk_file_join(&show.file, app->ctx, (const char *const *)app->arguments,
	                     app->argument_count);
	if (!code)
		code = opk_file_meta(&show.meta, app->ctx, show.file);
	if (!code)
		code = check_by(&show, args);
	if (!code)
		code = args->source || opk_hot_is_alone(show.file, show.meta)
		               ? show_lines(&show, args)
		               : show_kernels_first(&show, args);
	clear(&show);
	return code;
}

const struct command show_command = {
	.name = "show",
	.synopsis = "FILE.opk...",
	.summary = "show a recording to people: what limits its kernels, or their values",
	.details =
		"If the recording has the metrics of the set 'answers', show says what limits each\n"
		"kernel, or range of the program, by rules: first how long its launches took together,\n"
		"and how far their mean may be off, at 95%, where that is 1% or more; what limits it;\n"
		"how busy the parts of the GPU were over the kernel's whole time, in percent of their\n"
		"peaks, and how many warps an SM held; and what may be tried. What that can\n"
		"save is a bound: it is never more, and may be much less. --all has up to five things to\n"
		"try, and then the values. With --by nvtx, the ranges of the program come first, each with\n"
		"all kernels in it and what limits it most; a range holds those inside it, too.\n"
		"docs/findings.md has the rules, how they were tested, and the way to source lines: record\n"
		"-c answers.opk -c hot.opk; --source shows where in the program that is.\n"
		"\n"
		"Otherwise, or with --metrics, or --sort by anything but time:\n"
		"first what ran, where, and how complete the recording is. Then the kernels, or the\n"
		"ranges of the program, by the time that they took in all launches: their own\n"
		"gpu__time_duration.sum, else the host's durations of ranges, else elapsed cycles such as\n"
		"sm__cycles_elapsed.max; where none of these was recorded, in the order in which they\n"
		"appeared. Where the set says what a roofline is drawn of, a table has each kernel's\n"
		"shares of the peaks: of the operations that it has, and of each level of memory with the\n"
		"level's throughput; and what is not known. Then the values of each under the headings of\n"
		"the set, and at last what they mean. Where there are several launches, a value is the mean of one\n"
		"launch, beside the least and the greatest; text heads it mean, CSV and JSON value, and\n"
		"short lines have no least and greatest. Where each launch has one pass, a metric of\n"
		"several passes has a mean alone. The mean of a ratio, percentage or rate is that of all\n"
		"launches together: a note says so, and weighted_by in CSV and JSON. PM samples are shown\n"
		"by device: the mean of a sample, without the first one, which begins at an earlier event.\n"
		"Several files of one watch of a GPU are one long recording, in the order of time.\n"
		"\n"
		"Where what ran was recorded, alone or beside PM samples, there are tables of kernels by\n"
		"time, with the shares of peaks that their samples have, of streams, of copies, and of NVTX\n"
		"ranges; and the GPU was busy where a kernel, a copy or a set ran. It waited for calls, if\n"
		"those were recorded, where nothing ran and the next work was not called yet. The tables of streams,\n"
		"copies and NVTX ranges have ten rows, or as many as --top says where it says more.\n"
		"\n"
		"--source shows the lines of code that have most samples of --source pc, or executed most\n"
		"instructions by --source sass: the part of all kernels' samples, the reason why warps wait\n"
		"there, how often warps executed the line, and the sectors of global memory that it moved\n"
		"beside the fewest that would do. Other columns, instructions and functions: 'offpeak\n"
		"eval'. The lines' texts are read here, where the paths exist or --source-path leads.\n"
		"\n"
		"A bar shows how near a value is to its peak, where it is a percentage of that, or was\n"
		"recorded together with it. Text names metrics in words; --names full has the names that\n"
		"other commands take. What is 0 in all that is shown is in one line, and a peak is beside\n"
		"its rate; with --all each has a line of its own.\n"
		"\n"
		"--sort takes the names of columns, too: the greatest come first. --kernel takes patterns\n"
		"(* ? [a-z]) over a kernel's whole name or the plain one, or over a range's name; *gemm*\n"
		"matches a part of one.\n"
		"\n"
		"This is text everywhere; --format json and csv have what is shown as numbers, in base\n"
		"units. 'offpeak eval' has each launch. For a file of 'offpeak build' show says what\n"
		"the set is.",
	.options = specs,
	.args_size = sizeof(struct show_args),
	.examples = {
		{ "show run.opk", "what limits the five kernels that took longest, if that was recorded" },
		{ "show run.opk --metrics", "the run, the five kernels that took longest, and their values" },
		{ "show hot.opk --source --kernel '*dgemm*'", "the hottest lines of these kernels" },
	},
	.max_arguments = ANY_NUMBER,
	.prints_text = true,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
