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
	if (!code)
		code = opk_newfile_commit(&file);
	return code;
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

/* Of the first set's "pm.yaml" the others' "pm-pm2.yaml". */
static char *beside(const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	size_t stem = dot && dot > (slash ? slash + 1 : path) ? (size_t)(dot - path) : strlen(path);
	char *out;

	return asprintf(&out, "%.*s%s%s", (int)stem, path, suffix, path + stem) < 0 ? NULL : out;
}

/* Before the first is written. */
static int check_others(struct app *app, const struct opk_set_import *import)
{
	int code = OPK_OK;

	for (size_t i = 1; !code && app->output && i < opk_set_import_count(import); i++) {
		char *path = beside(app->output, opk_set_import_get(import, i)->suffix);

		code = path ? files_write(app, path) : app_nomem(app);
		free(path);
	}
	return code;
}

static int write_others(struct app *app, const struct opk_set_import *import)
{
	int code = OPK_OK;

	for (size_t i = 1; !code && i < opk_set_import_count(import); i++) {
		const struct opk_imported_set *set = opk_set_import_get(import, i);
		char *path = beside(app->output, set->suffix);

		code = path ? write_file(app, path, set->yaml) : app_nomem(app);
		if (!code)
			app_note("%s has %zu more, for profiler %s", path, set->metric_count,
			         opk_profiler_name(set->profiler));
		free(path);
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
	struct opk_set_import *import;
	int code = opk_set_import_new(&import, app->ctx, path);

	if (code)
		return code;
	code = check_others(app, import);
	if (!code)
		code = write_text(app, opk_set_import_get(import, 0)->yaml);
	if (!code && app->output)
		code = write_others(app, import);
	if (!code)
		tell(app, import);
	opk_set_import_free(import);
	return code;
}

int sets_write_single_pass(struct app *app, const struct opk_single_pass_set *set, const char *chip)
{
	char *text = NULL;
	int code = opk_single_pass_set_yaml(&text, app->ctx, set, chip);

	code = code ? code : write_text(app, text);
	free(text);
	return code;
}
