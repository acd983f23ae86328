/* SPDX-License-Identifier: BSD-2-Clause */
#include "build/build_split.h"

#include <stdlib.h>

#include "build/build_report.h"
#include "common/files.h"
#include "common/plan_args.h"

struct split_files {
	struct opk_writer **writers;
	char **paths;
	size_t count;
};

/* Under temporary names. */
static int begin_files(struct app *app, struct split_files *files,
                       const struct opk_plan_split *split, const struct opk_build_options *options,
                       const char *output)
{
	size_t count = opk_plan_split_count(split);
	int code = OPK_OK;

	files->writers = calloc(count, sizeof *files->writers);
	files->paths = calloc(count, sizeof *files->paths);
	if (!files->writers || !files->paths)
		return app_error(app, OPK_EFAILED, "out of memory");
	while (!code && files->count < count) {
		size_t i = files->count++;

		files->paths[i] = app_numbered(output, i + 1);
		if (!files->paths[i])
			return app_error(app, OPK_EFAILED, "out of memory");
		code = files_write(app, files->paths[i]);
		if (code)
			return code;
		code = opk_build_begin(&files->writers[i], app->ctx, opk_plan_split_get(split, i),
		                       options, files->paths[i]);
	}
	return code ? app_fail(app, code) : OPK_OK;
}

/* Without the last ones the first are no set. */
static int finish_files(struct app *app, struct split_files *files)
{
	int code = opk_writers_finish(files->writers, files->count);

	return code ? app_fail(app, code) : OPK_OK;
}

static void free_files(struct split_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		opk_writer_free(files->writers[i]);
		free(files->paths[i]);
	}
	free(files->writers);
	free(files->paths);
}

/* What the set would show, and no file can compute; and what the chip has not. */
static void note_lost(const struct opk_plan_split *split)
{
	size_t count = opk_plan_split_lost_count(split);

	note_missing(opk_plan_split_get(split, 0));
	if (count)
		app_note("%zu column%s of the set can't be computed of one file alone, such as %s",
		         count, count == 1 ? "" : "s", opk_plan_split_lost(split, 0));
}

int build_split(struct app *app, const struct opk_set *set, const struct opk_plan_options *how,
                const struct opk_build_options *options, const char *output)
{
	struct split_files files = { 0 };
	struct opk_plan_split *split;
	int code = opk_plan_split_new(&split, app->ctx, set, how);

	if (code)
		return app_fail(app, code);
	note_lost(split);
	code = begin_files(app, &files, split, options, output);
	if (!code)
		code = finish_files(app, &files);
	if (!code)
		files_note_older(output, files.count);
	if (!code)
		code = build_report_split(app, split, files.paths, !options->no_groups);
	free_files(&files);
	opk_plan_split_free(split);
	return code;
}
