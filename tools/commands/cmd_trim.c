/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak trim: removes free slots from a recording's images, and code. */
#include "commands.h"
#include "common/args.h"
#include "container/door.h"
#include "images/door.h"

struct trim_args {
	unsigned code;
};

static const struct option_spec specs[] = {
	{ "code", 0, "lines|none", "remove code: keep functions and lines, or nothing of modules",
	  OPTION_WORD, offsetof(struct trim_args, code) },
	TIMEOUT_OPTION,
	{ 0 },
};

static int print_file(struct app *app, const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	uint64_t images = 0, bytes = 0;

	TRY(opk_file_open(&file, app->ctx, path));
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		const struct opk_section *section = opk_file_section(file, i);

		if (section->type != OPK_SECTION_DATA)
			continue;
		images++;
		bytes += section->plain_size;
	}
	return app_row(app, cell_text(path), cell_number(opk_file_size(file)), cell_number(images),
	               cell_number(bytes));
}

static int report(struct app *app, const char *from, const char *to)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING },
		{ "size", OPK_CELL_UINT },
		{ "images", OPK_CELL_UINT },
		{ "image_bytes", OPK_CELL_UINT },
	};

	TRY(app_begin_report(app));
	TRY(app_table(app, "files", columns));
	TRY(print_file(app, from));
	TRY(print_file(app, to));
	return app_end_output(app);
}

static int run(struct app *app, void *data)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct trim_args *args = data;
	const char *output = app->output;

	TRY(check_given(app, "trim", "FILE.opk", "-o OUT.opk"));
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	TRY(opk_trim_code(app->ctx, file, (enum opk_code_kept)args->code, output));
	return report(app, app->arguments[0], output);
}

const struct command trim_command = {
	.name = "trim",
	.synopsis = "FILE.opk -o OUT.opk",
	.summary = "copy a recording without its images' free slots, or without code",
	.details =
		"A counter data image is made for so many ranges, and often has fewer: the copy's images\n"
		"have as many slots as ranges or whole samples. Values are the same bit for bit, and\n"
		"all that is not counter data stays as it was. An image that would not be smaller stays,\n"
		"too; PM samples that were begun but not completed keep their slots.\n"
		"\n"
		"--code removes the code of recorded modules, where it must not leave the machine:\n"
		"lines keeps names, sizes and lines of functions; with none no module is left. What was\n"
		"counted at their instructions stays.\n"
		"\n"
		"Prints both files, with their sizes and those of their images when unpacked. The\n"
		"recording's checksums are verified first, and NVIDIA's code runs in a child process.",
	.examples = {
		{ "trim run.opk -o small.opk", "the same values in a smaller file" },
		{ "trim run.opk -o share.opk --code=lines", "the recording without code" },
		{ "trim run.opk -o small.opk --format json",
		  "the sizes before and after, for scripts" },
	},
	.options = specs,
	.args_size = sizeof(struct trim_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_TRIMMED,
	.run = run,
};
