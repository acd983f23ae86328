/* SPDX-License-Identifier: BSD-2-Clause */
/* --cache: looks for a kept recording before the program runs, and keeps one after it. */
#include "collect/launcher/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "collect/launcher/launcher.h"

OPK_DEFINE_AUTO(opk_ctx)
OPK_DEFINE_AUTO(opk_file)

/* This run's. Without `usable` nothing is kept. */
static struct {
	bool usable;
	char **program;
	unsigned arguments; /* of the program, with its name */
	bool *is_output;    /* for each: it names a file that the program writes */
	char output[PATH_MAX];
	struct cache_key key;
	char outputs[2 * PATH_MAX]; /* a file with the numbers of these arguments */
} cache;

/* ---- files that arguments name and the program writes ------------------------------------ */

/* A recording does not depend on them. */
static void leave_out(unsigned argument)
{
	size_t kept = 0;

	for (size_t i = 0; i < cache.key.count; i++) {
		struct key_part *part = &cache.key.items[i];

		if (part->argument == argument) {
			free(part->name);
			free(part->path);
		} else {
			cache.key.items[kept++] = *part;
		}
	}
	cache.key.count = kept;
}

/* What earlier runs found out, a number a line. */
static void read_outputs(void)
{
	int fd = own_open(cache.outputs, O_RDONLY);
	opk_autofclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned argument;

	while (file && fscanf(file, "%u\n", &argument) == 1)
		if (argument < cache.arguments) {
			cache.is_output[argument] = true;
			leave_out(argument);
		}
}

static void add_output(unsigned argument, bool verbose)
{
	int fd = own_open(cache.outputs, O_WRONLY | O_APPEND | O_CREAT);
	opk_autofclose FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (file)
		fprintf(file, "%u\n", argument);
	leave_out(argument);
	if (verbose)
		launcher_fail(0, "cache: %s is written by the program, and so is no input",
		              cache.program[argument]);
}

/* Whether the program has made the file that an argument names; a part of the key was there. */
static bool is_new_output(unsigned argument)
{
	for (size_t i = 0; i < cache.key.count; i++)
		if (cache.key.items[i].argument == argument)
			return false;
	return !cache.is_output[argument] && key_argument_file(cache.program[argument]);
}

/* ---- before the program ------------------------------------------------------------------ */

static int make_key(const struct settings *settings, char **program)
{
	opk_autofree char *gpus = probe_describe();
	char hash[OPK_SHA256_TEXT];
	int code;

	if (!gpus) {
		launcher_fail(0, "note: without the cache: what the GPUs are is not known");
		return OPK_EFAILED;
	}
	code = key_make(&cache.key, settings, program, gpus, cache.output);
	if (code == OPK_EUSAGE)
		return code;
	if (code) {
		launcher_fail(0, "note: without the cache, for the reason above");
		return code;
	}
	key_hash(hash, &cache.key, false);
	snprintf(cache.outputs, sizeof cache.outputs, "%s/%s.outputs", settings->cache, hash);
	read_outputs();
	return OPK_OK;
}

static void say_miss(const struct settings *settings)
{
	opk_autofree char *different = store_nearest(settings->cache, &cache.key);

	launcher_fail(0, different ? "cache: miss: what differs is %s" : "cache: miss: it is empty",
	              different);
}

/* Whether libraries that the program opens are others now. */
static bool is_outdated(const struct settings *settings, const struct cache_entry *entry)
{
	const char *changed = opened_changed(&entry->opened);

	if (changed && settings->verbose)
		launcher_fail(0, "cache: miss: what differs is %s, which the program opens",
		              changed);
	return changed;
}

/* Whether the recording was there. */
static bool restore(const struct settings *settings)
{
	struct cache_entry entry;
	char hash[OPK_SHA256_TEXT], more[64] = "";
	bool found;

	key_hash(hash, &cache.key, true);
	found = store_read(&entry, settings->cache, hash);
	if (found && is_outdated(settings, &entry)) {
		store_clear_entry(&entry);
		return false;
	}
	if (found && !store_restore(&entry, settings, hash, cache.output)) {
		store_clear_entry(&entry);
		launcher_fail(0, "note: cache: the program runs again");
		return false;
	}
	if (!found && settings->verbose)
		say_miss(settings);
	if (!found)
		return false;
	if (entry.hashes.count > 1)
		snprintf(more, sizeof more, ", of %zu processes,", entry.hashes.count);
	launcher_fail(
		0,
		"%s%s is from the cache, recorded %s: nothing has changed, and the program was "
		"not started",
		cache.output, more, entry.kept);
	store_clear_entry(&entry);
	return true;
}

int cache_find(bool *found, const struct settings *settings, char **program)
{
	int code;

	*found = false;
	if (!settings->cache)
		return OPK_OK;
	if (name_varies(settings->output))
		return launcher_fail(OPK_EUSAGE,
		                     "-o %s: with --cache all processes have one name, or --merge",
		                     settings->output);
	if (!opk_make_folder(settings->cache, 0700))
		return launcher_fail(OPK_EFAILED, "--cache %s: %s", settings->cache,
		                     strerror(errno));
	code = own_check(settings->cache);
	if (code)
		return code;
	if (!name_expand(cache.output, sizeof cache.output, settings->output))
		return OPK_EFAILED;
	cache.program = program;
	while (program[cache.arguments])
		cache.arguments++;
	cache.is_output = opk_alloc_array(cache.arguments, sizeof *cache.is_output);
	if (!cache.is_output)
		return launcher_fail(OPK_EFAILED, "out of memory");
	code = make_key(settings, program);
	if (code)
		return code == OPK_EUSAGE ? code : OPK_OK;
	cache.usable = true;
	*found = restore(settings);
	return *found ? OPK_OK : opened_begin(settings->cache);
}

/* ---- after it ---------------------------------------------------------------------------- */

/* Why a recording is not kept; NULL: it is sound. */
static const char *flaw_of(const char *path)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_stats *stats = NULL;

	if (opk_ctx_new(&ctx, NULL) || opk_file_open(&file, ctx, path)
	    || opk_file_stats(&stats, ctx, file))
		return "a recording can't be read";
	if (!opk_file_complete(file) || !stats)
		return "a recording is cut off";
	return stats->drop_count ? "some of it is missing" : NULL;
}

static const char *why_not(const struct opk_strlist *recordings, int status)
{
	const char *flaw = WIFSIGNALED(status)   ? "a signal ended the program"
	                   : WEXITSTATUS(status) ? "the program's exit code is not 0"
	                   : !recordings->count  ? "nothing was recorded"
	                                         : NULL;

	for (size_t i = 0; !flaw && i < recordings->count; i++)
		flaw = flaw_of(recordings->items[i]);
	return flaw;
}

/* A part that is not as it was read. */
static const struct key_part *find_changed(void)
{
	for (size_t i = 0; i < cache.key.count; i++)
		if (cache.key.items[i].path && key_part_changed(&cache.key.items[i]))
			return &cache.key.items[i];
	return NULL;
}

static void keep(const struct settings *settings, const struct opk_strlist *recordings,
                 const struct stat *seen)
{
	struct cache_entry entry = { 0 };
	char hash[OPK_SHA256_TEXT];
	const struct key_part *changed;
	const char *problem;

	for (unsigned i = 1; i < cache.arguments; i++)
		if (is_new_output(i))
			add_output(i, settings->verbose);
	changed = find_changed();
	if (changed) {
		launcher_fail(0, "note: not kept in the cache: %s changed while the program ran%s",
		              changed->path,
		              changed->argument
		                      ? "; if the program only writes it, delete it before"
		                      : "");
		return;
	}
	entry.key = cache.key;
	opened_end(&entry.opened);
	key_hash(hash, &entry.key, true);
	problem = store_keep(settings->cache, hash, &entry, recordings, seen, cache.output,
	                     settings->cache_limit);
	key_clear(&entry.opened);
	if (problem)
		launcher_fail(0, "note: not kept in the cache: %s", problem);
	else if (settings->verbose)
		launcher_fail(0, "cache: kept as %s/%.12s...", settings->cache, hash);
}

/* What files are now; NULL where one is gone, or out of memory. free() it. */
static struct stat *look_at(const struct opk_strlist *files)
{
	opk_autofree struct stat *seen = opk_alloc_array(files->count, sizeof *seen);

	for (size_t i = 0; seen && i < files->count; i++)
		if (lstat(files->items[i], &seen[i]))
			return NULL;
	return opk_take(seen);
}

static void keep_if_sound(const struct settings *settings, const struct opk_strlist *recordings,
                          int status)
{
	opk_autofree struct stat *seen = look_at(recordings);
	const char *reason = why_not(recordings, status);

	if (!reason && !seen)
		reason = "a recording is gone";
	if (reason)
		launcher_fail(0, "note: not kept in the cache: %s", reason);
	else
		keep(settings, recordings, seen);
}

void cache_keep(const struct settings *settings, const struct opk_strlist *recordings, int status)
{
	if (cache.usable && recordings)
		keep_if_sound(settings, recordings, status);
	opened_end(NULL);
	key_clear(&cache.key);
	free(opk_take(cache.is_output));
}
