/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks names of input and output files against each other. */
#include "common/files.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "baked/door.h"
#include "base/ascii.h"
#include "base/stream.h"
#include "container/door.h"

/* An image has at most so many bytes, and a metric set. */
#define MOST_BYTES ((uint64_t)4 << 30)
#define MOST_OF_SET ((uint64_t)1 << 20)

static int add(struct app *app, struct opk_strlist *files, const char *path)
{
	return opk_strlist_add(files, path) ? OPK_OK : app_nomem(app);
}

/* A pattern that the shell left alone; a file may have such a name. */
static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") && access(text, F_OK);
}

static int add_matches(struct app *app, const char *pattern)
{
	glob_t found = { 0 };
	int code = OPK_OK;

	if (glob(pattern, 0, NULL, &found))
		code = app_error(app, OPK_EINPUT, "%s: there is no such file", pattern);
	for (size_t i = 0; !code && i < found.gl_pathc; i++)
		code = add(app, &app->expanded, found.gl_pathv[i]);
	globfree(&found);
	return code;
}

int files_expand(struct app *app)
{
	size_t patterns = 0;

	for (size_t i = 0; i < app->argument_count; i++)
		patterns += is_pattern(app->arguments[i]);
	if (!patterns)
		return OPK_OK;
	for (size_t i = 0; i < app->argument_count; i++)
		TRY(is_pattern(app->arguments[i]) ? add_matches(app, app->arguments[i])
		                                  : add(app, &app->expanded, app->arguments[i]));
	app->arguments = app->expanded.items;
	app->argument_count = app->expanded.count;
	return OPK_OK;
}

int files_read(struct app *app, const char *path)
{
	return add(app, &app->inputs, path);
}

int files_read_set(struct app *app, const char *text)
{
	return strpbrk(text, "/.") ? add(app, &app->sets, text) : OPK_OK;
}

int files_get(struct app *app, void **data, size_t *size, const char *path)
{
	*data = NULL;
	*size = 0;
	return path ? opk_read_file(data, size, app->ctx, path) : OPK_OK;
}

/* "." if the path has no folder; free() */
static char *folder_of(const char *path)
{
	size_t length = (size_t)(opk_base_name(path) - path);

	return length ? opk_strndup(path, length) : opk_strdup(".");
}

/* Output replaces names, not link targets: compare folder and name. */
static bool is_same_name(const char *one, const char *other)
{
	opk_autofree char *a = folder_of(one), *b = folder_of(other);

	return !strcmp(opk_base_name(one), opk_base_name(other)) && a && b
	       && opk_is_same_file(a, b);
}

/* A character device, such as /dev/null: a block device holds data. */
static bool is_written_to(const char *path)
{
	struct stat info;

	return opk_names_stream(path) || (!stat(path, &info) && S_ISCHR(info.st_mode));
}

/* Refuses a terminal: the bytes of a recording would disturb it. */
static int open_output(struct app *app, const char *path)
{
	if (!is_written_to(path))
		return OPK_OK;
	TRY(opk_stream_write(app->ctx, path));
	if (isatty(opk_stream_find(app->ctx, path)->to))
		return app_error(app, OPK_EUSAGE, "%s: is a terminal; name a file, or use a pipe",
		                 path);
	app->stdout_taken |= opk_stream_number(path) == STDOUT_FILENO;
	return OPK_OK;
}

static bool is_among(const char *path, const struct opk_strlist *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (opk_is_same_file(path, inputs->items[i]))
			return true;
	return false;
}

/* Writing to a device replaces nothing. */
static bool is_device(const char *path)
{
	struct stat info;

	return !stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static int check_inputs(struct app *app, const char *path)
{
	if (is_device(path) || !(is_among(path, &app->inputs) || is_among(path, &app->sets)))
		return OPK_OK;
	return app_error(app, OPK_EUSAGE,
	                 "%s is the file that is read: it is not replaced; choose another name",
	                 path);
}

int files_write(struct app *app, const char *path, enum opk_output kind)
{
	struct app_output *added;

	TRY(check_inputs(app, path));
	for (size_t i = 0; i < app->output_count; i++)
		if (strcmp(path, "/dev/null") && is_same_name(path, app->outputs[i].path))
			return app_error(app, OPK_EUSAGE, "%s: named for two files", path);
	if (kind == OPK_OUTPUT_TABLE)
		TRY(app_choose_format(app));
	added = opk_append(&app->outputs, &app->output_capacity, &app->output_count, sizeof *added);
	if (!added)
		return app_nomem(app);
	*added = (struct app_output){ opk_strdup(path), kind };
	if (!added->path)
		return app_nomem(app);
	if (!app->ctx)
		return OPK_OK;
	TRY(opk_check_output(app->ctx, path, kind));
	return open_output(app, path);
}

int files_open_streams(struct app *app)
{
	for (size_t i = 0; i < app->output_count; i++)
		TRY(opk_check_output(app->ctx, app->outputs[i].path, app->outputs[i].kind));
	for (size_t i = 0; i < app->inputs.count; i++) {
		if (opk_names_stream(app->inputs.items[i]))
			TRY(opk_stream_read(app->ctx, app->inputs.items[i], MOST_BYTES));
	}
	for (size_t i = 0; i < app->sets.count; i++) {
		if (opk_names_stream(app->sets.items[i]))
			TRY(opk_stream_read(app->ctx, app->sets.items[i], MOST_OF_SET));
	}
	for (size_t i = 0; i < app->output_count; i++)
		TRY(open_output(app, app->outputs[i].path));
	return OPK_OK;
}

char *files_numbered(const char *name, size_t number)
{
	const char *ending = opk_ending(name);

	if (!number)
		return opk_strdup(name);
	return opk_printf("%.*s-%zu%s", (int)(strlen(name) - strlen(ending)), name, number, ending);
}

int files_check_several(struct app *app, const char *name)
{
	if (!opk_names_stream(name) && !is_device(name))
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "%s: several files can't go there; name a file", name);
}

int files_check_first(struct app *app, const char *name, enum opk_output kind)
{
	opk_autofree char *first = files_numbered(name, 1);

	TRY(first ? check_inputs(app, first) : app_nomem(app));
	return opk_check_output(app->ctx, first, kind);
}

int files_number(struct app *app, struct opk_strlist *paths, const char *name, size_t count,
                 enum opk_output kind)
{
	TRY(files_check_several(app, name));
	for (size_t i = 0; i < count; i++)
		TRY(opk_strlist_take(paths, files_numbered(name, i + 1))
		            ? files_write(app, paths->items[i], kind)
		            : app_nomem(app));
	return OPK_OK;
}

void files_note_older(const char *name, size_t count)
{
	opk_autofree char *next = files_numbered(name, count + 1);

	if (next && !access(next, F_OK))
		app_note(
			"%s is there from before, and belongs to no part of these; so may higher numbers",
			next);
}

int files_report(struct app *app, const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_listing) struct opk_listing *sets = NULL;
	const struct opk_segment *segments;
	struct app_fields fields = { .count = 0 };
	size_t count, metrics;
	uint64_t rows = 0;

	TRY(opk_file_open(&file, app->ctx, path));
	TRY(opk_file_segments(&segments, &count, app->ctx, file));
	TRY(opk_values_list(&sets, &metrics, app->ctx, file));
	for (size_t i = 0; i < count; i++)
		rows += segments[i].row_count;
	field_text(&fields, "file", path);
	field_number(&fields, "size", opk_file_size(file));
	/* How many an image without a table has, only NVIDIA's library knows. */
	if (rows)
		field_number(&fields, "rows", rows);
	if (metrics)
		field_number(&fields, "metrics", metrics);
	return app_report(app, &fields);
}

const char *files_set_name(char out[SET_NAME_SIZE], const char *path)
{
	const char *file = opk_base_name(path);

	snprintf(out, SET_NAME_SIZE, "%.*s", (int)(strrchr(file, '.') - file), file);
	return out;
}
