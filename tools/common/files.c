/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

static int add(struct app_files *files, const char *path)
{
	char **grown = realloc(files->paths, (files->count + 1) * sizeof *grown);

	if (grown)
		files->paths = grown;
	if (!grown || !(grown[files->count] = strdup(path)))
		return app_error(NULL, OPK_EFAILED, "out of memory");
	files->count++;
	return OPK_OK;
}

int files_read(struct app *app, const char *path)
{
	return add(&app->inputs, path);
}

int files_read_set(struct app *app, const char *text)
{
	return strpbrk(text, "/.") ? files_read(app, text) : OPK_OK;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "." where no folder is named; free() */
static char *folder_of(const char *path)
{
	size_t length = (size_t)(name_of(path) - path);

	return length ? strndup(path, length) : strdup(".");
}

/* Names are replaced, not what they lead to: the same name in the same folder. */
static bool is_same_name(const char *one, const char *other)
{
	char *a, *b;
	bool same;

	if (strcmp(name_of(one), name_of(other)))
		return false;
	a = folder_of(one);
	b = folder_of(other);
	same = a && b && opk_is_same_file(a, b);
	free(a);
	free(b);
	return same;
}

int files_write(struct app *app, const char *path)
{
	for (size_t i = 0; i < app->inputs.count; i++)
		if (opk_is_same_file(path, app->inputs.paths[i]))
			return app_error(app, OPK_EUSAGE,
			                 "%s: is the file that is read, and would be replaced; "
			                 "write to another name",
			                 path);
	for (size_t i = 0; i < app->outputs.count; i++)
		if (is_same_name(path, app->outputs.paths[i]))
			return app_error(app, OPK_EUSAGE, "%s: named for two files", path);
	return add(&app->outputs, path);
}

void files_note_older(const char *output, size_t count)
{
	char *next = app_numbered(output, count + 1);
	struct stat info;

	if (next && !stat(next, &info))
		app_note(
			"%s is there from before, and belongs to no part of these; so may higher numbers",
			next);
	free(next);
}

void files_clear(struct app_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct app_files){ 0 };
}
