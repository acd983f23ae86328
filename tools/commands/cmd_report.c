/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak report: recordings as one page to look at. */
#include "base/ctx.h"
#include "commands.h"
#include "common/args.h"

struct report_args {
	const char *kernel, *title;
	bool embed_source;
	struct option_list source_paths;
	unsigned kernel_names;
};

static const struct option_spec specs[] = {
	{ "kernel", 0, "PATTERN", "only kernels like this, or user ranges: *gemm*, step/*",
	  OPTION_TEXT, offsetof(struct report_args, kernel) },
	{ "title", 0, "TEXT", "heads the page; default: the names of the files", OPTION_TEXT,
	  offsetof(struct report_args, title) },
	{ "embed-source", 0, NULL, "show the text of source files around lines with counts",
	  OPTION_FLAG, offsetof(struct report_args, embed_source) },
	{ "source-path", 0, "OLD=NEW",
	  "with --embed-source: files whose recorded paths begin with OLD are here under NEW; may be repeated",
	  OPTION_LIST, offsetof(struct report_args, source_paths) },
	KERNEL_NAMES_OPTION(struct report_args, kernel_names),
	{ 0 },
};

static int run(struct app *app, void *data)
{
	const struct report_args *args = data;
	struct opk_report_options options = OPK_INIT(options);

	TRY(check_given(app, "report", "RUN.opk...", "-o R.html"));
	if (args->source_paths.count && !args->embed_source)
		return app_error(app, OPK_EUSAGE,
		                 "report: --source-path goes with --embed-source, which puts text "
		                 "of source files on the page");
	options.kernel = args->kernel;
	options.title = args->title;
	options.embed_source = args->embed_source;
	options.source_maps = (const char *const *)args->source_paths.items;
	options.source_map_count = args->source_paths.count;
	options.kernel_names = kernel_style(app, args->kernel_names ? args->kernel_names : 1);
	return opk_report(app->ctx, (const char *const *)app->arguments, app->argument_count,
	                  &options, app->output);
}

const struct command report_command = {
	.name = "report",
	.synopsis = "RUN.opk... -o R.html",
	.summary = "write a page to look at: what limits kernels, memory, roofline, values, source, timeline",
	.details =
		"The page is one file that needs no network and no other file: it can be sent, or kept\n"
		"with the recording. On it are, as far as they were recorded: what limits each kernel, how\n"
		"busy the GPU's parts are, and what to try, as 'offpeak show' finds them; what ran where,\n"
		"how complete the recording is, and which values are inflated or missing, in words; what a\n"
		"launch of the chosen kernel moved between levels of memory, and how fast; the roofline,\n"
		"and bars of what adds up to a whole, where the set has them; PM samples and what ran over\n"
		"time; kernels by rank, or by GPU; kernels, or user ranges, by the time that they took, to\n"
		"be sorted and searched; of the one that is chosen, its values under the headings of the\n"
		"set, with units, bars against the peak, and how they are spread over launches; and source\n"
		"lines beside their instructions, with samples by the reason why warps wait, and counts.\n"
		"\n"
		"Several recordings are on one page, one shown at a time; the files of one watch are one\n"
		"recording, in the order of time. Two are compared, too: what\n"
		"changed from the first to the second, and whether that is more than noise, as diff finds\n"
		"it; recordings of instructions are compared by 'offpeak diff' alone, by line. The page\n"
		"follows the system's dark or light colours, and prints. Its\n"
		"Content-Security-Policy allows nothing to be loaded or sent, and no scripts but the page's\n"
		"own; names in a recording are text.\n"
		"\n"
		"The text of source files is on the page only with --embed-source, and only around lines\n"
		"that have counts. It is read here, where the recorded paths exist or --source-path leads.\n"
		"\n"
		"A table has the 5,000 rows that took most time, and says what is left out; values of so\n"
		"many that the page stays small. 'offpeak eval' has all. Of a long name the table shows\n"
		"where it differs from the others; it is whole below the table once its row is chosen.",
	.options = specs,
	.args_size = sizeof(struct report_args),
	.examples = {
		{ "report run.opk --kernel '*fma*' -o fma.html", "a page about one kernel" },
		{ "report hot.opk --embed-source --source-path /build=. -o hot.html",
		  "source lines with their text, built in /build and now here" },
		{ "report before.opk after.opk -o change.html", "a page about two, and what changed" },
	},
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_HTML,
	.no_table = true,
	.run = run,
};
