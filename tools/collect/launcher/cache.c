/* SPDX-License-Identifier: BSD-2-Clause */
/* --cache: looks for a kept recording before the program runs, and keeps one afterwards. */
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

enum { MOST_SAID = 20 };

/* The state of this run. Unless `usable`, nothing is kept. */
static struct {
	bool usable;
	const struct settings *settings;
	char **program;
	unsigned count;
	struct argument {
		bool is_output;  /* names a file that the program made */
		bool was_there;  /* names a file that existed before this run */
	} * arguments;           /* of the program, with its name */
	struct opk_strlist kept; /* with --cache-verify: the existing recordings */
	bool outdated;           /* recordings exist, but of changed files */
	char output[PATH_MAX];
	struct cache_key key;
	char outputs[2 * PATH_MAX]; /* path of the list of output arguments */
} cache;

/* ---- files that arguments name and the program writes ------------------------------------ */

/* A recording does not depend on the contents of a file that the program writes. */
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

/* Reads the findings of earlier runs, a number per line. */
static void read_outputs(void)
{
	int fd = own_open(cache.outputs, O_RDONLY);
	opk_autofclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned argument;

	while (file && fscanf(file, "%u\n", &argument) == 1)
		if (argument < cache.count) {
			cache.arguments[argument].is_output = true;
			leave_out(argument);
		}
}

static void add_output(unsigned argument)
{
	int fd = own_open(cache.outputs, O_WRONLY | O_APPEND | O_CREAT);
	opk_autofclose FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (file)
		fprintf(file, "%u\n", argument);
	leave_out(argument);
	cache.arguments[argument].is_output = true;
	if (cache.settings->verbose)
		say(0,
		    "cache: %s was made by the program: it is an input only if something else "
		    "changes it",
		    cache.program[argument]);
}

/* Whether the program made the file that an argument names; parts of the key existed before. */
static bool is_new_output(unsigned argument)
{
	for (size_t i = 0; i < cache.key.count; i++)
		if (cache.key.items[i].argument == argument)
			return false;
	return !cache.arguments[argument].is_output && key_argument_file(cache.program[argument]);
}

/* ---- before the program ------------------------------------------------------------------ */

/* Reports to the user, and to the recording, which inputs are known. */
static void say_known(void)
{
	opk_autofree char *list = key_list(&cache.key);
	char hash[OPK_SHA256_TEXT];

	if (cache.settings->verbose && list)
		say(0, "cache: inputs that are known: %s", list);
	key_hash(hash, &cache.key, true);
	settings_export(SETTING_CACHE_KEY, hash);
	settings_export(SETTING_CACHE_KNOWN, list ? list : "");
}

static int make_key(char **program)
{
	opk_autofree char *gpus = probe_describe();
	char hash[OPK_SHA256_TEXT];
	int code;

	if (!gpus)
		return say(OPK_EFAILED, "note: without the cache: what the GPUs are is not known");
	code = key_make(&cache.key, cache.settings, program, gpus, cache.output);
	if (code == OPK_EUSAGE)
		return code;
	if (code) {
		say(0, "note: without the cache, for the reason above");
		return code;
	}
	key_hash(hash, &cache.key, false);
	snprintf(cache.outputs, sizeof cache.outputs, "%s/%s.outputs", cache.settings->cache, hash);
	read_outputs();
	say_known();
	return OPK_OK;
}

/* Whether files that the program opens have changed. */
static bool is_outdated(const struct cache_entry *entry)
{
	static const char *const does[] = { "opens", "reads", "made" };
	const char *changed = NULL;
	size_t kind = 0;

	while (kind < OPENED_KINDS
	       && !(changed = opened_changed(&entry->opened[kind], (enum opened_kind)kind)))
		kind++;
	if (changed && cache.settings->verbose)
		say(0, "cache: miss: what differs is %s, which the program %s", changed,
		    does[kind]);
	return changed;
}

static void say_restored(const struct cache_entry *entry)
{
	char more[64] = "";

	if (entry->hashes.count > 1)
		snprintf(more, sizeof more, ", of %zu processes,", entry->hashes.count);
	say(0,
	    "%s%s is from the cache, recorded %s: nothing has changed, and the program was not "
	    "started",
	    cache.output, more, entry->kept);
	if (entry->unseen)
		say(0,
		    "note: cache: when it was recorded, not all that the program read was seen "
		    "(%s): --cache-input names files and folders",
		    entry->unseen);
}

/* Copies the recording of an entry with this key; --cache-verify only remembers it. */
static bool restore_entry(const struct cache_entry *entry, const char *hash)
{
	cache.outdated = is_outdated(entry);
	if (cache.outdated)
		return false;
	/* The program runs anyway: the recordings are for a comparison. */
	for (size_t i = 0; cache.settings->cache_verify && i < entry->hashes.count; i++)
		opk_strlist_take(&cache.kept,
		                 opk_printf("%s/%s/%zu", cache.settings->cache, hash, i));
	if (cache.settings->cache_verify)
		return false;
	if (!store_restore(entry, cache.settings, hash, cache.output))
		return say(false, "note: cache: the program runs again");
	say_restored(entry);
	return true;
}

/* Whether there was a recording. */
static bool restore(void)
{
	opk_autoentry struct cache_entry entry = { 0 };
	opk_autofree char *different = NULL;
	char hash[OPK_SHA256_TEXT];

	key_hash(hash, &cache.key, true);
	if (store_read(&entry, cache.settings->cache, hash))
		return restore_entry(&entry, hash);
	if (!cache.settings->verbose)
		return false;
	different = store_nearest(cache.settings->cache, &cache.key);
	return say(false,
	           different ? "cache: miss: what differs is %s" : "cache: miss: it is empty",
	           different);
}

/* Checks what can be checked before anything runs. */
static int check_settings(void)
{
	if (name_varies(cache.settings->output))
		return say(OPK_EUSAGE,
		           "-o %s: with --cache all processes have one name, or --merge",
		           cache.settings->output);
	if (cache.settings->cache_verify && cache.settings->mode == MODE_SAMPLING
	    && !cache.settings->trace)
		return say(
			OPK_EUSAGE,
			"--cache-verify compares which kernels and ranges ran, and PM samples do "
			"not say it: add --trace kernels");
	return OPK_OK;
}

int cache_find(bool *found, const struct settings *settings, char **program)
{
	int code;

	*found = false;
	if (!settings->cache)
		return OPK_OK;
	cache.settings = settings;
	TRY(check_settings());
	if (!opk_make_folder(settings->cache, 0700))
		return say(OPK_EFAILED, "--cache %s: %s", settings->cache, strerror(errno));
	TRY(own_check(settings->cache));
	if (!name_expand(cache.output, sizeof cache.output, settings->output))
		return OPK_EFAILED;
	cache.program = program;
	while (program[cache.count])
		cache.count++;
	cache.arguments = opk_alloc_array(cache.count, sizeof *cache.arguments);
	if (!cache.arguments)
		return say(OPK_EFAILED, "out of memory");
	for (unsigned i = 0; i < cache.count; i++)
		cache.arguments[i].was_there = key_argument_file(program[i]);
	code = make_key(program);
	if (code)
		return code == OPK_EUSAGE ? code : OPK_OK;
	cache.usable = true;
	*found = restore();
	if (*found)
		return OPK_OK;
	TRY(opened_begin(settings->cache));
	watch_begin(settings, program, &cache.key);
	return OPK_OK;
}

/* ---- after the program ------------------------------------------------------------------- */

/* Why a recording is not kept; NULL: it is complete. */
static const char *flaw_of(const char *path)
{
	opk_autopeek struct peek peek = peek_at(path);

	if (!peek.file)
		return "a recording can't be read";
	if (!opk_file_complete(peek.file) || !peek.stats)
		return "a recording is cut off";
	return peek.stats->drop_count ? "some of it is missing" : NULL;
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

/* Files read below the program's folders become inputs. */
static void add_read(struct cache_entry *entry, const struct watched *found)
{
	const struct opk_strlist *paths = &found->read;

	opened_add(&entry->opened[OPENED_READ], paths, OPENED_READ);
	for (size_t i = 0; cache.settings->verbose && i < paths->count && i < MOST_SAID; i++)
		say(0, "cache: %s was read: it is an input, too", paths->items[i]);
	if (cache.settings->verbose && paths->count > MOST_SAID)
		say(0, "cache: %zu more files were read: they are inputs, too",
		    paths->count - MOST_SAID);
	if (found->unseen)
		say(0,
		    "cache: not all that the program reads could be seen (%s): --cache-input names "
		    "files and folders",
		    found->unseen);
	entry->unseen = found->unseen ? opk_strdup(found->unseen) : NULL;
}

/*
 * Adds files that arguments name and the program made, in their present state. A file from an
 * earlier run must exist again: this run may have read it.
 */
static void add_made(struct cache_entry *entry, bool earlier)
{
	enum opened_kind kind = earlier ? OPENED_READ : OPENED_MADE;
	opk_autostrlist struct opk_strlist paths = { 0 };

	for (unsigned i = 1; i < cache.count; i++) {
		const char *file = key_argument_file(cache.program[i]);

		if (file && cache.arguments[i].is_output && cache.arguments[i].was_there == earlier)
			opk_strlist_add(&paths, file);
	}
	opened_add(&entry->opened[kind], &paths, kind);
}

/* Whether a file changed after this run may have read it: then what it read is unknown. */
static bool has_changed(const struct watched *found)
{
	for (size_t i = 0; i < cache.key.count; i++) {
		const struct key_part *part = &cache.key.items[i];

		if (part->path && key_part_changed(part))
			return say(
				true,
				"note: not kept in the cache: %s changed while the program ran%s",
				part->path,
				part->argument ? "; if the program only writes it, delete it before"
					       : "");
	}
	if (found->changed)
		say(0,
		    "note: not kept in the cache: %s was read and then changed, so that what was "
		    "read is not known; --cache-input looks at it before the program runs",
		    found->changed);
	return found->changed;
}

static bool keep_entry(struct cache_entry *entry, const struct recordings *made)
{
	char hash[OPK_SHA256_TEXT];
	const char *problem = "the list of libraries that the program opened is gone, or is empty";

	entry->key = cache.key;
	key_hash(hash, &entry->key, true);
	if (opened_end(&entry->opened[OPENED_LIBRARY]))
		problem = store_keep(cache.settings, hash, entry, made);
	/* The entry only borrowed the key. */
	entry->key = (struct cache_key){ 0 };
	if (problem)
		say(0, "note: not kept in the cache: %s", problem);
	else if (cache.settings->verbose)
		say(0, "cache: kept as %s/%.12s...", cache.settings->cache, hash);
	return !problem;
}

/* Keeps the run's recordings in the cache; false: a note says why not. */
static bool keep(const struct recordings *made)
{
	opk_autoentry struct cache_entry entry = { 0 };
	opk_autowatched struct watched found = { 0 };

	watch_end(&found, &cache.key);
	add_read(&entry, &found);
	for (unsigned i = 1; i < cache.count; i++)
		if (is_new_output(i))
			add_output(i);
	add_made(&entry, false);
	add_made(&entry, true);
	if (found.failed || (found.unseen && !entry.unseen))
		return say(false, "note: not kept in the cache: out of memory");
	return !has_changed(&found) && keep_entry(&entry, made);
}

/* The present state of files; NULL if one is gone, or when out of memory. free() it. */
static struct stat *look_at(const struct opk_strlist *files)
{
	opk_autofree struct stat *seen = opk_alloc_array(files->count, sizeof *seen);

	for (size_t i = 0; seen && i < files->count; i++)
		if (lstat(files->items[i], &seen[i]))
			return NULL;
	return opk_take(seen);
}

/* Without anything to compare, the check fails, as `offpeak diff --fail` does. */
static int fail_unverified(const char *why, bool kept)
{
	return say(OPK_EFAILED, "cache: nothing was verified: %s%s", why,
	           kept ? "; this run is kept, for the next --cache-verify" : "");
}

/* Verified recordings stay, with their values. */
static int verify_or_keep(const struct recordings *made)
{
	int code = cache.kept.count ? verify_recordings(&cache.kept, made->names) : OPK_OK;
	bool kept = (code || !cache.kept.count) && keep(made);

	if (!cache.settings->cache_verify)
		return OPK_OK;
	if (!cache.kept.count)
		return fail_unverified(
			cache.outdated ? "files that the kept recording was made of have changed"
				       : "no recording of such a run is kept yet",
			kept);
	if (kept)
		say(0, "cache: the new recording is kept instead");
	return code;
}

static int keep_if_sound(const struct opk_strlist *names, int status)
{
	opk_autofree struct stat *seen = look_at(names);
	const char *reason = why_not(names, status);

	if (!reason && !seen)
		reason = "a recording is gone";
	if (!reason)
		return verify_or_keep(&(struct recordings){ names, seen, cache.output });
	say(0, "note: not kept in the cache: %s", reason);
	return cache.settings->cache_verify ? fail_unverified(reason, false) : OPK_OK;
}

int cache_keep(const struct settings *settings, const struct opk_strlist *recordings, int status)
{
	int code = OPK_OK;

	if (cache.usable && recordings)
		code = keep_if_sound(recordings, status);
	else if (settings->cache_verify)
		code = fail_unverified(cache.usable ? "there is no whole recording of this run"
		                                    : "what the run depends on is not known",
		                       false);
	opened_end(NULL);
	watch_end(NULL, NULL);
	opk_strlist_clear(&cache.kept);
	key_clear(&cache.key);
	free(opk_take(cache.arguments));
	return code;
}
