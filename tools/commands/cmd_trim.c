/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak trim: removes free slots from a recording's images. */
#include "commands.h"
#include "common/args.h"
#include "container/door.h"

static const struct option_spec specs[] = {
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
	const char *output = app->output;

	(void)data;
	TRY(check_given(app, "trim", "FILE.opk", "-o OUT.opk"));
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	TRY(opk_trim(app->ctx, file, output));
	return report(app, app->arguments[0], output);
}

const struct command trim_command = {
	.name = "trim",
	.synopsis = "FILE.opk -o OUT.opk",
	.summary = "copy a recording without its images' free slots",
	.details =
		"A counter data image is made for so many ranges, and often has fewer: the copy's images\n"
		"have as many slots as ranges or whole samples. Values are the same bit for bit, and\n"
		"all that is not counter data stays as it was. An image that would not be smaller stays,\n"
		"too; PM samples that were begun but not completed keep their slots.\n"
		"\n"
		"Prints both files, with their sizes and those of their images when unpacked. The\n"
		"recording's checksums are verified first, and NVIDIA's code runs in a child process.",
	.examples = {
		{ "trim run.opk -o small.opk", "the same values in a smaller file" },
		{ "trim pm.opk -o small.opk", "samples, too" },
		{ "trim run.opk -o small.opk --format json",
		  "the sizes before and after, for scripts" },
	},
	.options = specs,
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_TRIMMED,
	.run = run,
};
