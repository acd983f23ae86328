/* SPDX-License-Identifier: BSD-2-Clause */
#include "sets/sets_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"

static int write_file(struct app *app, const char *path, const char *text)
{
	opk_autonewfile struct opk_newfile file = { 0 };
	int code = opk_newfile_create(&file, app->ctx, path);

	if (!code)
		code = opk_newfile_write(&file, text, strlen(text));
	return code ? code : opk_newfile_commit(&file);
}

/* Where -o tells, or to stdout. */
static int write_text(struct app *app, const char *text)
{
	if (app->output)
		return write_file(app, app->output, text);
	if (fputs(text, stdout) == EOF || fflush(stdout))
		return app_error(app, OPK_EFAILED, "can't write the output: %s", strerror(errno));
	return OPK_OK;
}

/* The names of the others, after the first set's: "pm.yaml", "pm-pm2.yaml". */
static int name_others(struct app *app, struct opk_strlist *paths,
                       const struct opk_set_import *import)
{
	const char *first = app->output, *slash = strrchr(first, '/'), *dot = strrchr(first, '.');
	size_t stem = dot && dot > (slash ? slash + 1 : first) ? (size_t)(dot - first)
	                                                       : strlen(first);
	int code = OPK_OK;

	for (size_t i = 1; !code && i < opk_set_import_count(import); i++) {
		const char *suffix = opk_set_import_get(import, i)->suffix;

		if (!opk_strlist_take(paths, opk_printf("%.*s%s%s", (int)stem, first, suffix,
		                                        first + stem)))
			return app_nomem(app);
		code = files_write(app, paths->items[i - 1]);
	}
	return code;
}

static int write_others(struct app *app, const struct opk_strlist *paths,
                        const struct opk_set_import *import)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < paths->count; i++) {
		const struct opk_imported_set *set = opk_set_import_get(import, i + 1);

		code = write_file(app, paths->items[i], set->yaml);
		if (!code)
			app_note("%s has %zu more, for profiler %s", paths->items[i],
			         set->metric_count, opk_profiler_name(set->profiler));
	}
	return code;
}

static void tell(const struct app *app, const struct opk_set_import *import)
{
	const struct opk_imported_set *first = opk_set_import_get(import, 0);

	if (first->left_out_count)
		app_note(
			"%zu imported for profiler %s, %zu left out: the last lines tell which and why",
			first->metric_count, opk_profiler_name(first->profiler),
			first->left_out_count);
	for (size_t i = 1; !app->output && i < opk_set_import_count(import); i++) {
		const struct opk_imported_set *set = opk_set_import_get(import, i);

		app_note(
			"%zu more, for profiler %s, are a set of their own: -o FILE.yaml writes FILE%s.yaml, too",
			set->metric_count, opk_profiler_name(set->profiler), set->suffix);
	}
}

int sets_import(struct app *app, const char *path)
{
	opk_auto(opk_set_import) struct opk_set_import *import = NULL;
	opk_autostrlist struct opk_strlist others = { 0 };
	int code = opk_set_import_new(&import, app->ctx, path);

	/* All are known to be writable before the first is written. */
	if (!code && app->output)
		code = name_others(app, &others, import);
	if (!code)
		code = write_text(app, opk_set_import_get(import, 0)->yaml);
	if (!code)
		code = write_others(app, &others, import);
	if (!code)
		tell(app, import);
	return code;
}

int sets_write_single_pass(struct app *app, const struct opk_single_pass_set *set, const char *chip)
{
	opk_autofree char *text = NULL;
	int code = opk_single_pass_set_yaml(&text, app->ctx, set, chip);

	return code ? code : write_text(app, text);
}
