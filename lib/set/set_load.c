/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads sets from files or text, with the files that they include. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/stream.h"
#include "container/container.h"
#include "set/set.h"
#include "set/set_read.h"

enum { MAX_DEPTH = 16, MAX_FILES = 100 };

/* A file whose reading has begun. */
struct file {
	dev_t device;
	ino_t inode;
	char *path;
	struct opk_set *set; /* NULL: still being read, or unreadable */
	struct opk_source *source;
	bool open;
};

/* State of one opk_set_load(), over all files. */
struct loading {
	struct opk_ctx *ctx;
	struct opk_problems problems;
	struct {
		struct file *items;
		size_t count, capacity;
	} files;
	size_t depth;
	struct opk_strlist open_folders; /* folders whose sets errors may quote */
};

static void clear(struct loading *l)
{
	opk_strlist_clear(&l->open_folders);
	opk_problems_clear(&l->problems);
	for (size_t i = 0; i < l->files.count; i++) {
		free(l->files.items[i].path);
		opk_set_free(l->files.items[i].set);
		opk_source_free(l->files.items[i].source);
	}
	free(l->files.items);
}

static int load_file(struct opk_set **out, struct loading *l, const char *path);

/* ---- including */

/* Reports "a.yaml includes b.yaml includes a.yaml". */
static void report_cycle(struct loading *l, const struct opk_word *word, const struct file *begin)
{
	opk_autofree char *chain = opk_strdup(begin->path);

	for (const struct file *file = begin + 1; chain && file < l->files.items + l->files.count;
	     file++) {
		char *longer = file->open ? opk_printf("%s includes %s", chain, file->path) : NULL;

		if (!file->open)
			continue;
		free(chain);
		chain = longer;
	}
	if (chain)
		opk_problems_add(&l->problems, &word->place,
		                 "sets include each other: %s includes %s", chain, begin->path);
	else
		l->problems.code = OPK_ENOMEM;
}

static struct file *find_file(struct loading *l, const char *path)
{
	struct stat status;

	for (size_t i = 0; !stat(path, &status) && i < l->files.count; i++)
		if (l->files.items[i].inode == status.st_ino
		    && l->files.items[i].device == status.st_dev)
			return &l->files.items[i];
	return NULL;
}

/* Paths are relative to the folder of the file that names them. */
static int find_path(char **out, struct loading *l, const struct opk_set *set, const char *word)
{
	/* A set from a pipe has no folder. */
	const char *slash = opk_stream_find(l->ctx, set->path) ? NULL : strrchr(set->path, '/');
	int code;

	if (!opk_set_is_path(word)) {
		code = opk_set_shipped(out, l->ctx, word);
		return code || *out ? code : opk_set_none_shipped(l->ctx, word, NULL);
	}
	if (!*set->path && *word != '/')
		return opk_fail(l->ctx, OPK_EINPUT,
		                "'%s' is relative to a file, and this set is in none: include sets "
		                "by name, or by a path from / on",
		                word);
	word += 2 * !strncmp(word, "./", 2);
	*out = *word == '/' || !slash
	               ? opk_strdup(word)
	               : opk_printf("%.*s/%s", (int)(slash - set->path), set->path, word);
	return *out ? OPK_OK : opk_nomem(l->ctx, "a metric set");
}

static void report_cause(struct loading *l, const struct opk_word *word)
{
	const struct opk_cause *cause = opk_error_cause(l->ctx, opk_error_cause_count(l->ctx) - 1);

	opk_problems_advise(opk_problems_add(&l->problems, &word->place, "%s",
	                                     opk_outermost(l->ctx)),
	                    cause ? cause->remedy : OPK_REMEDY_NONE);
}

static int load_included(struct opk_set **out, struct loading *l, const struct opk_set *set,
                         const struct opk_word *word)
{
	opk_autofree char *path = NULL;
	struct file *file;
	int code = find_path(&path, l, set, word->text);

	if (code) {
		report_cause(l, word);
		return code;
	}
	file = find_file(l, path);
	if (file && file->open)
		report_cycle(l, word, file);
	if (file) {
		*out = opk_set_use(file->set);
		return OPK_OK;
	}
	if (l->depth == MAX_DEPTH || l->files.count == MAX_FILES) {
		opk_problems_add(&l->problems, &word->place,
		                 l->depth == MAX_DEPTH
		                         ? "sets include each other more than %d levels deep"
		                         : "more than %d sets are included",
		                 l->depth == MAX_DEPTH ? MAX_DEPTH : MAX_FILES);
		return OPK_OK;
	}
	code = load_file(out, l, path);
	if (code)
		report_cause(l, word);
	return code;
}

/* An including set takes the profiler of the sets that it includes. */
static void check_profiler(struct loading *l, struct opk_set *set, const struct opk_set *from,
                           const struct opk_word *word)
{
	if (!from->has_profiler)
		return;
	if (set->has_profiler && set->profiler != from->profiler) {
		opk_autofree char *sampled = set->profiler == OPK_PROFILER_PM
		                                     ? opk_set_sampled(l->ctx, from->name)
		                                     : NULL;

		set->unfit = true;
		opk_problems_add(
			&l->problems, &word->place,
			"set %.100s is for profiler %s, this one for %s: build them apart%s%s",
			from->name, opk_profiler_name(from->profiler),
			opk_profiler_name(set->profiler), sampled ? ", or take " : "",
			sampled ? sampled : "");
	}
	if (!set->has_profiler)
		set->profiler = from->profiler;
	set->has_profiler = true;
}

static void include(struct loading *l, struct opk_set *set, const struct opk_word *word)
{
	struct opk_set *from = NULL, **slot;

	if (load_included(&from, l, set, word) == OPK_ENOMEM)
		l->problems.code = OPK_ENOMEM;
	if (!from) {
		set->broken = true;
		return;
	}
	check_profiler(l, set, from, word);
	slot = opk_list_add(&set->includes);
	if (slot) {
		*slot = from;
	} else {
		l->problems.code = OPK_ENOMEM;
		opk_set_free(from);
	}
}

/* ---- what errors may quote */

/* Adds the folder with its links resolved, if it exists. */
static bool add_open_folder(struct loading *l, const char *folder)
{
	opk_autofree char *real = realpath(folder, NULL);

	return !real || opk_strlist_take(&l->open_folders, opk_printf("%s/", real));
}

/* Adds the folder of the first set. */
static bool add_first_folder(struct loading *l, const char *path)
{
	const char *slash = opk_stream_find(l->ctx, path) ? NULL : strrchr(path, '/');
	opk_autofree char *folder = slash ? opk_strndup(path, (size_t)(slash - path) + 1)
	                                  : opk_strdup(".");

	return folder && add_open_folder(l, folder);
}

/* Adds the folder of the path, if any, and the folders in which sets are found by name. */
static int find_open_folders(struct loading *l, const char *path)
{
	opk_autostrlist struct opk_strlist where = { 0 };
	bool ok = (!path || add_first_folder(l, path)) && opk_set_folders(&where, l->ctx);

	for (size_t i = 0; ok && i < where.count; i++)
		ok = add_open_folder(l, where.items[i]);
	return ok ? OPK_OK : opk_nomem(l->ctx, "metric sets");
}

/* Whether errors may show the file's text: an include could name a private file. */
static bool may_show(const struct loading *l, const char *path)
{
	opk_autofree char *real = realpath(path, NULL);

	if (l->depth == 0)
		return true;
	for (size_t i = 0; real && opk_set_has_ending(real) && i < l->open_folders.count; i++)
		if (!strncmp(real, l->open_folders.items[i], strlen(l->open_folders.items[i])))
			return true;
	return false;
}

/* ---- one file or text */

static struct opk_source *read_source(struct loading *l, struct stat *status, const char *path,
                                      int *code)
{
	opk_autofree void *text = NULL;
	struct opk_source *source;
	size_t size;

	*code = opk_read_small_file(&text, &size, l->ctx, path, OPK_MAX_SET_FILE);
	if (!*code && stat(path, status))
		*code = opk_fail_errno(l->ctx, OPK_EINPUT, "can't open", path);
	if (!*code && size >= OPK_MAGIC_SIZE && !memcmp(text, OPK_MAGIC, OPK_MAGIC_SIZE))
		*code = opk_fail(l->ctx, OPK_EINPUT,
		                 "%s: is an .opk file, not the YAML of a metric set", path);
	if (*code)
		return NULL;
	source = opk_source_new(path, text, size);
	if (source)
		source->hidden = !may_show(l, path);
	else
		*code = opk_nomem(l->ctx, "a metric set");
	return source;
}

/* Reads the set and reports its errors; there is a set in any case. */
static int read_set(struct loading *l, struct opk_set *set)
{
	struct opk_set_reader reader = { .ctx = l->ctx, .problems = &l->problems, .set = set };
	struct opk_yaml *root = NULL;
	int code = opk_yaml_parse(&root, l->ctx, &l->problems, set->source);

	if (code == OPK_ENOMEM)
		return code;
	/* The part before malformed text may have errors, too. */
	set->broken = set->unfit = code != OPK_OK;
	if (root)
		opk_set_read(&reader, root);
	opk_yaml_free(root);
	for (size_t i = 0; i < reader.includes.count && !l->problems.code; i++)
		include(l, set, &reader.includes.items[i]);
	opk_set_reader_clear(&reader);
	return OPK_OK;
}

static struct file *open_file(struct loading *l, const char *path, int *code)
{
	struct stat status = { 0 };
	struct opk_source *source = read_source(l, &status, path, code);
	struct file *file = source ? opk_list_add(&l->files) : NULL;

	if (!file) {
		opk_source_free(source);
		*code = *code ? *code : opk_nomem(l->ctx, "a metric set");
		return NULL;
	}
	*file = (struct file){ status.st_dev, status.st_ino, opk_strdup(path), NULL, source, true };
	if (!file->path)
		*code = opk_nomem(l->ctx, "a metric set");
	return file;
}

/* Reads the set with all its includes. */
static int read_whole(struct loading *l, struct opk_set *set)
{
	int code;

	l->depth++;
	code = read_set(l, set);
	l->depth--;
	return code || opk_set_complete(set) ? code : opk_nomem(l->ctx, "a metric set");
}

static int load_file(struct opk_set **out, struct loading *l, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create("", path);
	size_t place = l->files.count;
	struct file *file;
	int code = OPK_OK;

	if (!set)
		return opk_nomem(l->ctx, "a metric set");
	file = open_file(l, path, &code);
	if (code)
		return code;
	set->source = opk_source_use(file->source);
	set->device = file->device;
	set->inode = file->inode;
	code = read_whole(l, set);
	/* `files` may have moved. */
	l->files.items[place].open = false;
	if (code)
		return code;
	l->files.items[place].set = opk_set_use(set);
	*out = opk_take(set);
	return OPK_OK;
}

/* `name` is its name in errors. */
static int load_text(struct opk_set **out, struct loading *l, const char *text, size_t size,
                     const char *name)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create("", "");

	if (size > OPK_MAX_SET_FILE)
		return opk_fail(l->ctx, OPK_EINPUT,
		                "%s is too large: a metric set has at most %d bytes", name,
		                OPK_MAX_SET_FILE);
	if (set)
		set->source = opk_source_new(name, text, size);
	if (!set || !set->source)
		return opk_nomem(l->ctx, "a metric set");
	TRY(read_whole(l, set));
	*out = opk_take(set);
	return OPK_OK;
}

/* Checks the set as a whole, after all files are read. */
static void check(struct loading *l, struct opk_set *set)
{
	set->symbols = opk_alloc(sizeof *set->symbols);
	if (!opk_problems_need(&l->problems, set->symbols))
		return;
	opk_symbols_init(set->symbols, l->ctx, &l->problems, set, &set->left);
	set->unfit |= set->symbols->unfit;
}

/* Whether a set with these errors can still be checked: on chips, or for the chips it claims. */
static bool is_of_use(const struct loading *l, const struct opk_set *set)
{
	return l->problems.count && !l->problems.unlisted && (!set->unfit || set->claiming.count);
}

/* Takes over the set that was read, with all its errors. */
static int finish(struct opk_set **out, struct loading *l, struct opk_set *read, const char *name)
{
	opk_auto(opk_set) struct opk_set *set = read;
	int code;

	if (!l->problems.code)
		check(l, set);
	opk_problems_hide(&l->problems);
	code = opk_problems_fail(l->ctx, &l->problems, OPK_EINPUT, name);
	if (code == OPK_EINPUT && is_of_use(l, set)) {
		set->errors = l->problems;
		l->problems = (struct opk_problems){ 0 };
	}
	if (!code || set->errors.count)
		*out = opk_take(set);
	return code;
}

int opk_set_load_partly(struct opk_set **out, struct opk_ctx *ctx, const char *path)
{
	__attribute__((cleanup(clear))) struct loading l = { .ctx = ctx };
	struct opk_set *set = NULL;

	*out = NULL;
	TRY(find_open_folders(&l, path));
	TRY(load_file(&set, &l, path));
	return finish(out, &l, set, path);
}

int opk_set_parse_partly(struct opk_set **out, struct opk_ctx *ctx, const char *text, size_t size,
                         const char *name)
{
	__attribute__((cleanup(clear))) struct loading l = { .ctx = ctx };
	struct opk_set *set = NULL;

	name = name ? name : "<text>";
	*out = NULL;
	TRY(find_open_folders(&l, NULL));
	TRY(load_text(&set, &l, text, size, name));
	return finish(out, &l, set, name);
}

int opk_set_load(struct opk_set **out, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = NULL;

	TRY(opk_set_load_partly(&set, ctx, path));
	*out = opk_take(set);
	return OPK_OK;
}

int opk_set_parse(struct opk_set **out, struct opk_ctx *ctx, const char *text, size_t size,
                  const char *name)
{
	opk_auto(opk_set) struct opk_set *set = NULL;

	TRY(opk_set_parse_partly(&set, ctx, text, size, name));
	*out = opk_take(set);
	return OPK_OK;
}
