/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/files.h"

struct extract_args {
	const char *files[4]; /* as `kinds` */
	uint64_t group, image;
};

#define KIND_OPTION(i, option, text)                                                               \
	{                                                                                          \
		option, 0, "FILE", text, OPTION_TEXT, offsetof(struct extract_args, files[i])      \
	}
static const struct option_spec specs[] = {
	KIND_OPTION(0, "config", "the config image goes to this file"),
	KIND_OPTION(1, "prefix", "the counter-data prefix goes to this file"),
	KIND_OPTION(2, "availability", "the counter-availability image goes to this file"),
	KIND_OPTION(
		3, "data",
		"the counter data image goes to this file; several to FILE-1, FILE-2 and so on"),
	{ "group", 0, "N",
	  "config image and prefix of this group, from 1, instead of the whole set", OPTION_NUMBER,
	  offsetof(struct extract_args, group) },
	{ "image", 0, "N", "this counter data image alone, from 1", OPTION_NUMBER,
	  offsetof(struct extract_args, image) },
	{ 0 },
};

enum { DATA = 3 };
static const struct kind {
	uint32_t type;
	const char *name;    /* an option, and the ending behind a prefix of names */
	const char *content; /* for people */
	size_t first;        /* number of the first one: the whole set is group 0 */
} kinds[] = {
	{ OPK_SECTION_CONFIG, "config", "config image", 0 },
	{ OPK_SECTION_PREFIX, "prefix", "counter-data prefix", 0 },
	{ OPK_SECTION_AVAILABILITY, "availability", "counter-availability image", 0 },
	{ OPK_SECTION_DATA, "data", "counter data image", 1 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* One image on its way into a file. */
struct item {
	const struct kind *kind;
	size_t section, number;
	char *path;
	struct opk_newfile out;
};

struct items {
	struct item *items;
	size_t count;
};

static size_t count_of(const struct opk_file *file, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_file_section_count(file); i++)
		count += opk_file_section(file, i)->type == type;
	return count;
}

/* All go to names that begin with that of -o; else to the file of their kind's option. */
static char *path_of(const struct app *app, const struct extract_args *args,
                     const struct item *item, bool several)
{
	size_t kind = (size_t)(item->kind - kinds);
	size_t number = kind == DATA  ? (several ? item->number : 0)
	                : app->output ? item->number
	                              : 0;
	char *name, *path;

	if (args->files[kind])
		return app_numbered(args->files[kind], number);
	if (asprintf(&name, "%s.%s", app->output, item->kind->name) < 0)
		return NULL;
	path = app_numbered(name, number);
	free(name);
	return path;
}

static bool is_wanted(const struct app *app, const struct extract_args *args, size_t kind,
                      size_t number)
{
	if (app->output)
		return true;
	if (!args->files[kind])
		return false;
	if (kind == DATA)
		return !args->image || number == args->image;
	return number == (kinds[kind].type == OPK_SECTION_AVAILABILITY ? 0 : args->group);
}

/* What was asked for and is not there. */
static int miss(struct app *app, const struct extract_args *args, size_t kind)
{
	uint64_t number = kind == DATA ? args->image : args->group;
	char which[32] = "";

	if (number && kinds[kind].type != OPK_SECTION_AVAILABILITY)
		snprintf(which, sizeof which, kind == DATA ? " number %ju" : " of group %ju",
		         (uintmax_t)number);
	return app_error(app, OPK_EINPUT, "%s: no %s%s in it", app->arguments[0],
	                 kinds[kind].content, which);
}

static int choose(struct app *app, const struct extract_args *args, struct items *items,
                  const struct opk_file *file, size_t kind)
{
	size_t number = kinds[kind].first, before = items->count;
	bool several = !args->image && count_of(file, kinds[kind].type) > 1;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		struct item *item = &items->items[items->count];

		if (opk_file_section(file, i)->type != kinds[kind].type)
			continue;
		*item = (struct item){ &kinds[kind], i, number++, NULL, { 0 } };
		if (!is_wanted(app, args, kind, item->number))
			continue;
		item->path = path_of(app, args, item, several);
		if (!item->path)
			return app_error(app, OPK_EFAILED, "out of memory");
		items->count++;
	}
	return args->files[kind] && items->count == before ? miss(app, args, kind) : OPK_OK;
}

static int choose_all(struct app *app, const struct extract_args *args, struct items *items,
                      const struct opk_file *file)
{
	int code = OPK_OK;

	items->items = calloc(opk_file_section_count(file) + 1, sizeof *items->items);
	if (!items->items)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t kind = 0; !code && kind < KINDS; kind++)
		code = choose(app, args, items, file, kind);
	if (!code && !items->count)
		code = app_error(app, OPK_EINPUT, "%s: no image in it", app->arguments[0]);
	return code;
}

/* Before anything is written. */
static int check(struct app *app, const struct items *items, const struct opk_file *file)
{
	for (size_t i = 0; i < items->count; i++) {
		int code = opk_file_verify(app->ctx, file, items->items[i].section);

		if (code)
			return app_fail(app, code);
		code = files_write(app, items->items[i].path);
		if (code)
			return code;
	}
	return OPK_OK;
}

static int write_item(struct app *app, const struct opk_file *file, struct item *item)
{
	size_t size;
	void *data;
	int code = opk_file_read(&data, &size, app->ctx, file, item->section);

	if (code)
		return app_fail(app, code);
	code = opk_newfile_create(&item->out, app->ctx, item->path);
	if (!code)
		code = opk_newfile_write(&item->out, data, size);
	free(data);
	return code ? app_fail(app, code) : OPK_OK;
}

/* All or none. */
static int finish_items(struct app *app, const struct items *items)
{
	struct opk_newfile **files = calloc(items->count, sizeof *files);
	int code;

	if (!files)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t i = 0; i < items->count; i++)
		files[i] = &items->items[i].out;
	code = opk_newfiles_commit(files, items->count);
	free(files);
	return code ? app_fail(app, code) : OPK_OK;
}

/* -o names the files here, not this table. */
static int report(struct app *app, const struct items *items, const struct opk_file *file)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING },
		{ "content", OPK_CELL_STRING },
		{ "number", OPK_CELL_UINT },
		{ "size", OPK_CELL_UINT },
	};
	int code;

	app->output = NULL;
	code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = opk_out_table(app->out, "files", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; !code && i < items->count; i++) {
		const struct item *item = &items->items[i];

		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = item->path },
						     { .string = item->kind->content },
						     { .uint = item->number },
						     { .uint = opk_file_section(file, item->section)
		                                                       ->plain_size },
					     });
	}
	return app_end_output(app, code);
}

static int extract(struct app *app, const struct extract_args *args, struct items *items,
                   const struct opk_file *file)
{
	int code = choose_all(app, args, items, file);

	if (!code)
		code = check(app, items, file);
	for (size_t i = 0; !code && i < items->count; i++)
		code = write_item(app, file, &items->items[i]);
	if (!code)
		code = finish_items(app, items);
	return code ? code : report(app, items, file);
}

static bool is_usage(const struct app *app, const struct extract_args *args)
{
	bool any = false;

	for (size_t i = 0; i < KINDS; i++)
		any = any || args->files[i];
	if (app->output)
		return app->argument_count == 1 && !any && !args->group && !args->image;
	return app->argument_count == 1 && any;
}

static int run(struct app *app, void *data)
{
	const struct extract_args *args = data;
	struct items items = { 0 };
	struct opk_file *file;
	int code;

	if (!is_usage(app, args))
		return app_error(
			app, OPK_EUSAGE,
			"extract: one FILE.opk is needed, and --config, --prefix, --availability "
			"or --data FILE; or -o PREFIX alone for everything");
	code = opk_file_open(&file, app->ctx, app->arguments[0]);
	if (code)
		return app_fail(app, code);
	if (!opk_file_complete(file))
		app_note("%s: cut off: its end section is missing", app->arguments[0]);
	code = extract(app, args, &items, file);
	for (size_t i = 0; i < items.count; i++) {
		opk_newfile_discard(&items.items[i].out);
		free(items.items[i].path);
	}
	free(items.items);
	opk_file_free(file);
	return code;
}

const struct command extract_command = {
	.name = "extract",
	.synopsis =
		"FILE.opk [--config FILE] [--prefix FILE] [--availability FILE] [--data FILE] | FILE.opk -o PREFIX",
	.summary = "write the bare images of a container into files, for other CUPTI programs",
	.details =
		"Config image and counter-data prefix are those of the whole set, or of one group of one\n"
		"pass with --group; one more than there are groups is the config image of all groups with\n"
		"a pass each. -o PREFIX writes everything: PREFIX.config, PREFIX-1.config of group 1,\n"
		"PREFIX.prefix, PREFIX.availability, PREFIX.data or, of several, PREFIX-1.data. Checksums\n"
		"are verified before anything is written. Needs no NVIDIA library.",
	.options = specs,
	.args_size = sizeof(struct extract_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.numbers_output = true,
	.run = run,
};
