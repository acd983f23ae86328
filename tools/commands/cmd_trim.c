/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "commands.h"
#include "common/image_args.h"

struct trim_args {
	struct image_args image;
};

static const struct option_spec specs[] = {
	IMAGE_OPTIONS(struct trim_args, image),
	{ 0 },
};

static const struct opk_column columns[] = {
	{ "file", OPK_CELL_STRING },
	{ "size", OPK_CELL_UINT },
	{ "images", OPK_CELL_UINT },
	{ "image_bytes", OPK_CELL_UINT },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static int print_file(struct app *app, const char *path)
{
	union opk_cell cells[COLUMNS] = { { .string = path } };
	struct opk_file *file;
	int code = opk_file_open(&file, app->ctx, path);

	if (code)
		return code;
	cells[1].uint = opk_file_size(file);
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		const struct opk_section *section = opk_file_section(file, i);

		if (section->type != OPK_SECTION_DATA)
			continue;
		cells[2].uint++;
		cells[3].uint += section->plain_size;
	}
	opk_file_free(file);
	return opk_out_row(app->out, cells);
}

static int report(struct app *app, const char *from, const char *to)
{
	int code;

	/* -o names the recording, not this table. */
	app->output = NULL;
	code = app_begin_output(app, app_default_format(app));
	if (code)
		return code;
	code = opk_out_table(app->out, "files", columns, COLUMNS);
	if (!code)
		code = print_file(app, from);
	if (!code)
		code = print_file(app, to);
	return app_end_output(app, code);
}

static int run(struct app *app, void *data)
{
	const struct trim_args *args = data;
	struct opk_image_options options = image_options(&args->image, "copying range");
	const char *output = app->output;
	struct opk_file *file;
	int code;

	if (!output || !app->argument_count)
		return app_error(app, OPK_EUSAGE, "trim: FILE.opk and -o OUT.opk are needed");
	code = opk_file_open(&file, app->ctx, app->arguments[0]);
	if (code)
		return app_fail(app, code);
	code = opk_trim(app->ctx, file, &options, output);
	opk_file_free(file);
	app_progress_end();
	return code ? app_fail(app, code) : report(app, app->arguments[0], output);
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
	.options = specs,
	.args_size = sizeof(struct trim_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
