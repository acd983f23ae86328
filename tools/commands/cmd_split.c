/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/files.h"
#include "common/image_args.h"
#include "common/range_facts.h"

struct split_args {
	struct image_args image;
	const char *by;
};

static const struct option_spec specs[] = {
	{ "by", 0, "KEY", "what the ranges of a part share; or segment; or how many a part gets",
	  OPTION_TEXT, offsetof(struct split_args, by) },
	IMAGE_OPTIONS(struct split_args, image),
	{ 0 },
};

/* What of the parts is shown beside their files. */
enum { FIXED = 4, COLUMNS = FIXED + OPK_FACT_COUNT };

static int print_part(struct app *app, struct range_facts *facts, const struct opk_piece *part,
                      const char *path)
{
	union opk_cell cells[COLUMNS];
	struct opk_file *file;
	int code = opk_file_open(&file, app->ctx, path);

	if (code)
		return code;
	cells[0].string = path;
	cells[1].uint = opk_file_size(file);
	cells[2].uint = part->rows;
	cells[3].string = part->name;
	opk_file_free(file);
	range_facts_fill(facts, cells + FIXED, &part->range, part->many_streams);
	return opk_out_row(app->out, cells);
}

static int report(struct app *app, const struct opk_split *split, const char *by,
                  char *const *paths)
{
	struct opk_column columns[COLUMNS] = {
		{ "file", OPK_CELL_STRING },
		{ "size", OPK_CELL_UINT },
		{ "rows", OPK_CELL_UINT },
		{ "name", OPK_CELL_STRING },
	};
	struct range_facts facts = { 0 };
	size_t count = opk_split_count(split);
	int code;

	/* -o names the recordings, not this table. */
	app->output = NULL;
	code = app_begin_output(app, app_default_format(app));
	if (code)
		return code;
	facts.shape.facts[OPK_FACT_DEVICE] = strstr(by, "device") != NULL;
	for (size_t i = 0; i < count; i++)
		range_facts_find(&facts, &opk_split_get(split, i)->range);
	code = opk_out_table(app->out, "files", columns,
	                     FIXED + range_facts_columns(&facts, columns + FIXED));
	for (size_t i = 0; !code && i < count; i++)
		code = print_part(app, &facts, opk_split_get(split, i), paths[i]);
	return app_end_output(app, code);
}

static void free_paths(char **paths, size_t count)
{
	for (size_t i = 0; paths && i < count; i++)
		free(paths[i]);
	free(paths);
}

static char **name_parts(const char *output, size_t count)
{
	char **paths = calloc(count, sizeof *paths);

	for (size_t i = 0; paths && i < count; i++) {
		paths[i] = app_numbered(output, i + 1);
		if (!paths[i]) {
			free_paths(paths, count);
			return NULL;
		}
	}
	return paths;
}

static int write_parts(struct app *app, struct opk_split *split, const char *by)
{
	size_t count = opk_split_count(split);
	char **paths = name_parts(app->output, count);
	int code = OPK_OK;

	if (!paths)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t i = 0; !code && i < count; i++)
		code = files_write(app, paths[i]);
	if (!code) {
		code = opk_split_write(app->ctx, split, (const char *const *)paths);
		app_progress_end();
		if (!code)
			files_note_older(app->output, count);
		code = code ? app_fail(app, code) : report(app, split, by, paths);
	}
	free_paths(paths, count);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct split_args *args = data;
	struct opk_image_options options = image_options(&args->image, "copying range");
	struct opk_split *split;
	struct opk_file *file;
	int code;

	if (!app->output || !app->argument_count || !args->by)
		return app_error(app, OPK_EUSAGE,
		                 "split: FILE.opk, --by and -o OUT.opk are needed");
	code = opk_file_open(&file, app->ctx, app->arguments[0]);
	if (code)
		return app_fail(app, code);
	code = opk_split_new(&split, app->ctx, file, args->by, &options);
	if (code) {
		opk_file_free(file);
		return app_fail(app, code);
	}
	code = write_parts(app, split, args->by);
	opk_split_free(split);
	opk_file_free(file);
	return code;
}

const struct command split_command = {
	.name = "split",
	.synopsis = "FILE.opk --by KEY -o OUT.opk",
	.summary = "make several recordings of one",
	.details =
		"OUT-1.opk, OUT-2.opk and so on get the ranges that share a key: name, kernel, shape\n"
		"(grid, block, shared memory), nvtx, device or rank, or several with ',' between. By\n"
		"segment, each part is one counter data image; by a number, each has so many ranges,\n"
		"in order. Each is a whole recording, of at most 500; all are written or none. Files of\n"
		"these names are replaced; a note tells of higher numbers from before. Values\n"
		"are the same bit for bit. What the collector counted goes into the first, so that\n"
		"merge has it once.\n"
		"\n"
		"Images of PM samples stay whole, for PerfWorks can't divide them: by device where each\n"
		"image is of one, by rank, or by segment. Checksums are verified first, and NVIDIA's\n"
		"code runs in a child process. Prints a table of the parts.",
	.options = specs,
	.args_size = sizeof(struct split_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.numbers_output = true,
	.run = run,
};
