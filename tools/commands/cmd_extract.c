/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak extract: writes a container's images and modules to files. */
#include <string.h>

#include "commands.h"
#include "base/buf.h"
#include "base/file.h"
#include "common/files.h"
#include "container/door.h"

enum { CONFIG, ROTATION, PREFIX, AVAILABILITY, DATA, IMAGES, CODE = IMAGES, KINDS };

struct extract_args {
	const char *files[IMAGES];
	const char *code; /* a folder */
	uint64_t image;
};

#define KIND_OPTION(kind, option, text)                                                            \
	{                                                                                          \
		option, 0, "FILE", text, OPTION_TEXT, offsetof(struct extract_args, files[kind])   \
	}
static const struct option_spec specs[] = {
	KIND_OPTION(CONFIG, "config", "the config image goes to this file"),
	KIND_OPTION(ROTATION, "rotation", "a set's config image for rotation goes to this file"),
	KIND_OPTION(PREFIX, "prefix", "the counter-data prefix goes to this file"),
	KIND_OPTION(
		AVAILABILITY, "availability",
		"the counter-availability image goes to this file; several to FILE-1 and so on"),
	KIND_OPTION(
		DATA, "data",
		"the counter data image goes to this file; several to FILE-1, FILE-2 and so on"),
	{ "code", 0, "DIR", "modules with code go to this folder, each as CRC.cubin", OPTION_TEXT,
	  offsetof(struct extract_args, code) },
	{ "image", 0, "N", "this counter data image alone, from 1", OPTION_NUMBER,
	  offsetof(struct extract_args, image) },
	{ 0 },
};

static const struct {
	uint32_t type;
	const char *name;    /* an option, and the ending after a prefix of names */
	const char *content; /* for people */
	enum opk_output output;
} kinds[KINDS] = {
	[CONFIG] = { OPK_SECTION_CONFIG, "config", "config image", OPK_OUTPUT_CONFIG },
	[ROTATION] = { OPK_SECTION_ROTATION, "rotation", "config image for rotation",
	               OPK_OUTPUT_CONFIG },
	[PREFIX] = { OPK_SECTION_PREFIX, "prefix", "counter-data prefix", OPK_OUTPUT_PREFIX },
	[AVAILABILITY] = { OPK_SECTION_AVAILABILITY, "availability", "counter-availability image",
	                   OPK_OUTPUT_AVAILABILITY },
	[DATA] = { OPK_SECTION_DATA, "data", "counter data image", OPK_OUTPUT_IMAGE },
	[CODE] = { OPK_SECTION_CODE, "code", "cubin", OPK_OUTPUT_CUBIN },
};

/* An image or module to be written to a file. */
struct item {
	size_t kind, section, number;
	uint64_t size;
	char *path;
	struct opk_newfile out;
};

struct extraction {
	struct app *app;
	const struct extract_args *args;
	struct opk_file *file;
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

/* Whether images of this kind go to several numbered files. */
static bool are_several(const struct extraction *x, size_t kind)
{
	bool all = kind == AVAILABILITY || (kind == DATA && !x->args->image);

	return all && count_of(x->file, kinds[kind].type) > 1;
}

/* With -o, all names begin with its value; else the option of the image's kind names the file. */
static char *path_of(const struct extraction *x, const struct item *item)
{
	const char *output = x->app->output, *given = x->args->files[item->kind];
	bool several = are_several(x, item->kind);
	size_t number = several || (item->kind != DATA && output) ? item->number : 0;
	opk_autofree char *name = NULL;

	if (given)
		return files_numbered(given, number);
	name = opk_printf("%s.%s", output, kinds[item->kind].name);
	return name ? files_numbered(name, number) : NULL;
}

static bool is_wanted(const struct extraction *x, const struct item *item)
{
	uint64_t number = item->kind == DATA ? x->args->image : 0;

	if (x->app->output)
		return true;
	return x->args->files[item->kind] && (!number || item->number == number);
}

/* Reports a requested image that is not there. */
static int miss(const struct extraction *x, size_t kind)
{
	char which[32] = "";

	if (kind == DATA && x->args->image)
		snprintf(which, sizeof which, " number %ju", (uintmax_t)x->args->image);
	return app_error(x->app, OPK_EINPUT, "%s: no %s%s in it", x->app->arguments[0],
	                 kinds[kind].content, which);
}

static int choose(struct extraction *x, size_t kind)
{
	size_t number = kind == DATA || are_several(x, kind), before = x->count;
	const char *given = x->args->files[kind];

	if (given && are_several(x, kind) && files_check_several(x->app, given))
		return OPK_EUSAGE;
	for (size_t i = 0; i < opk_file_section_count(x->file); i++) {
		struct item *item = &x->items[x->count];

		if (opk_file_section(x->file, i)->type != kinds[kind].type)
			continue;
		*item = (struct item){ .kind = kind,
			               .section = i,
			               .number = number++,
			               .size = opk_file_section(x->file, i)->plain_size };
		if (!is_wanted(x, item))
			continue;
		item->path = path_of(x, item);
		if (!item->path)
			return app_nomem(x->app);
		x->count++;
	}
	return x->args->files[kind] && x->count == before ? miss(x, kind) : OPK_OK;
}

/* ---- modules */

static int add_module(struct extraction *x, struct opk_strlist *without, size_t section)
{
	struct item *item = &x->items[x->count];
	opk_autofree void *data = NULL;
	char name[OPK_MODULE_NAME];
	struct opk_module module;

	TRY(opk_module_read(&module, &data, x->app->ctx, x->file, section));
	opk_module_name(name, module.crc);
	if (!module.has_code)
		return opk_strlist_add(without, name) ? OPK_OK : app_nomem(x->app);
	*item = (struct item){ .kind = CODE, .section = section, .size = module.size };
	item->path = opk_printf("%s/%s.cubin", x->args->code, name);
	if (!item->path)
		return app_nomem(x->app);
	x->count++;
	return OPK_OK;
}

static void note_without(const struct extraction *x, const struct opk_strlist *without)
{
	enum { MOST = 10 };
	opk_autobuf struct opk_buf names = { 0 };

	for (size_t i = 0; i < without->count && i < MOST; i++)
		opk_buf_add_printf(&names, "%s%s", i ? ", " : "", without->items[i]);
	if (without->count > MOST)
		opk_buf_add_printf(&names, " and %zu more", without->count - MOST);
	if (without->count && !names.failed)
		app_note("%s: without code, only functions and lines: %.*s", x->app->arguments[0],
		         (int)names.size, (const char *)names.data);
}

/* Each module once, with its code if it is in the file. */
static int choose_modules(struct extraction *x)
{
	opk_autostrlist struct opk_strlist without = { 0 };
	opk_automodules struct opk_modules modules = { 0 };
	size_t before = x->count;

	if (!x->args->code)
		return OPK_OK;
	TRY(opk_modules_add(&modules, x->app->ctx, x->file, 0));
	for (size_t i = 0; i < modules.names.count; i++)
		TRY(add_module(x, &without, opk_modules_section(&modules, i)));
	if (x->count == before)
		return app_error(x->app, OPK_EFAILED,
		                 "%s: no module with code in it: 'offpeak-collect --code' records "
		                 "code",
		                 x->app->arguments[0]);
	note_without(x, &without);
	return OPK_OK;
}

/* ---- files */

/* Checks all checksums and names before anything is written. */
static int choose_all(struct extraction *x)
{
	x->items = opk_alloc_array(opk_file_section_count(x->file) + 1, sizeof *x->items);
	if (!x->items)
		return app_nomem(x->app);
	for (size_t kind = 0; kind < IMAGES; kind++)
		TRY(choose(x, kind));
	TRY(choose_modules(x));
	if (!x->count)
		TRY(app_error(x->app, OPK_EINPUT, "%s: no image in it", x->app->arguments[0]));
	for (size_t i = 0; i < x->count; i++) {
		TRY(opk_file_verify(x->app->ctx, x->file, x->items[i].section));
		TRY(files_write(x->app, x->items[i].path, kinds[x->items[i].kind].output));
	}
	return OPK_OK;
}

/* The bytes of an image, or of a module without its section's header. */
static int read_item(const void **bytes, size_t *size, void **data, const struct extraction *x,
                     const struct item *item)
{
	struct opk_module module;

	if (item->kind != CODE) {
		TRY(opk_file_read(data, size, x->app->ctx, x->file, item->section));
		*bytes = *data;
		return OPK_OK;
	}
	TRY(opk_module_read(&module, data, x->app->ctx, x->file, item->section));
	*bytes = module.data;
	*size = module.size;
	return OPK_OK;
}

/* Writes all files or none. */
static int write_all(struct extraction *x)
{
	opk_autofree struct opk_newfile **files = opk_alloc_array(x->count, sizeof *files);

	if (!files)
		return app_nomem(x->app);
	if (x->args->code && !opk_make_folder(x->args->code, 0777))
		return opk_fail_errno(x->app->ctx, OPK_EFAILED, "can't create", x->args->code);
	for (size_t i = 0; i < x->count; i++) {
		struct item *item = &x->items[i];
		opk_autofree void *data = NULL;
		const void *bytes;
		size_t size;

		files[i] = &item->out;
		TRY(read_item(&bytes, &size, &data, x, item));
		TRY(opk_newfile_create(&item->out, x->app->ctx, item->path, opk_check_output,
		                       kinds[item->kind].output));
		TRY(opk_newfile_write(&item->out, bytes, size));
	}
	return opk_newfiles_commit(files, x->count);
}

static int extract(struct extraction *x)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING },
		{ "content", OPK_CELL_STRING },
		{ "number", OPK_CELL_UINT },
		{ "size", OPK_CELL_UINT },
	};

	TRY(choose_all(x));
	TRY(write_all(x));
	TRY(app_begin_report(x->app));
	app_table(x->app, "files", columns);
	for (size_t i = 0; i < x->count; i++) {
		const struct item *item = &x->items[i];

		app_row(x->app, cell_text(item->path), cell_text(kinds[item->kind].content),
		        cell_number(item->number), cell_number(item->size));
	}
	return app_end_output(x->app);
}

static bool is_usage(const struct app *app, const struct extract_args *args)
{
	bool any = args->code;

	for (size_t i = 0; i < IMAGES; i++)
		any = any || args->files[i];
	if (app->output)
		return app->argument_count == 1 && !any && !args->image;
	return app->argument_count == 1 && any;
}

static int run(struct app *app, void *data)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	struct extract_args *args = data;
	struct extraction x = { .app = app, .args = args };
	int code;

	for (size_t i = 0; i < IMAGES; i++)
		if (args->files[i] && !strcmp(args->files[i], "-"))
			args->files[i] = "/dev/stdout";
	if (!is_usage(app, data))
		return app_error(
			app, OPK_EUSAGE,
			"extract: one FILE.opk is needed, and --config, --prefix, --availability "
			"or --data FILE, or --code DIR; or -o PREFIX alone for all images");
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	if (!opk_file_complete(file))
		app_note("%s: cut off: its end section is missing", app->arguments[0]);
	x.file = file;
	code = app->output ? files_check_several(app, app->output) : OPK_OK;
	if (!code)
		code = extract(&x);
	for (size_t i = 0; i < x.count; i++) {
		opk_newfile_discard(&x.items[i].out);
		free(x.items[i].path);
	}
	free(x.items);
	return code;
}

const struct command extract_command = {
	.name = "extract",
	.synopsis =
		"FILE.opk [--config FILE] [--prefix FILE] [--availability FILE] [--data FILE] [--code DIR] | FILE.opk -o PREFIX",
	.summary = "write the bare images and the modules of a container into files, for other programs",
	.details =
		"-o PREFIX writes all images: PREFIX.config, PREFIX.prefix, PREFIX.availability,\n"
		"PREFIX.data or, of several, PREFIX-1.data. Checksums are verified before anything is\n"
		"written. Needs no NVIDIA library.\n"
		"\n"
		"--code writes the modules that were recorded with their code as cubins, for nvdisasm,\n"
		"cuobjdump and Nsight Compute; 'offpeak info' lists them. The folder is made.",
	.examples = {
		{ "extract roofline.opk -o roofline",
		  "roofline.config, roofline.prefix: what a collector of your own needs" },
		{ "extract run.opk --data run.cd",
		  "the counter data image, for a program of your own" },
		{ "extract code.opk --code cubins", "the modules whose instructions were counted" },
	},
	.options = specs,
	.args_size = sizeof(struct extract_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_NUMBERED,
	.run = run,
};
