/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives parts their final names, one by one or merged, and the mode of a recording. */
#include "collect/launcher/launcher.h"

int launcher_ctx_new(struct opk_ctx **out, const struct settings *settings)
{
	struct opk_ctx_options options = OPK_INIT(options);

	options.force = settings->force;
	return opk_ctx_new(out, &options) ? say(OPK_EFAILED, "out of memory") : OPK_OK;
}

struct peek peek_at(const char *path)
{
	struct peek peek = { .ctx = NULL };

	if (opk_ctx_new(&peek.ctx, NULL) || opk_file_open(&peek.file, peek.ctx, path))
		return peek;
	if (opk_file_meta(&peek.meta, peek.ctx, peek.file))
		peek.meta = NULL;
	if (opk_file_stats(&peek.stats, peek.ctx, peek.file))
		peek.stats = NULL;
	return peek;
}

void peek_end(struct peek *peek)
{
	opk_file_free(peek->file);
	opk_ctx_free(peek->ctx);
}

/* Reports a file without its end: its process was killed, or the disk was full. */
static void check(const char *path, bool verbose)
{
	opk_autopeek struct peek peek = peek_at(path);

	if (!peek.file)
		say(0, "%s", peek.ctx ? opk_error_message(peek.ctx, 0) : "out of memory");
	else if (!opk_file_complete(peek.file))
		say(0, "%s: cut off; its %zu whole sections evaluate with --allow-incomplete", path,
		    opk_file_section_count(peek.file));
	else if (verbose)
		say(0, "%s: %" PRIu64 " bytes", path, opk_file_size(peek.file));
}

static bool shares_name(const struct parts *parts, const struct part *part)
{
	for (const struct part *other = parts->items; other < parts->items + parts->count; other++)
		if (other != part && other->name_length == part->name_length
		    && !strncmp(other->path, part->path, part->name_length))
			return true;
	return false;
}

/* The length of a recording's name before its ending ".opk". */
static size_t stem_length(const char *name)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');

	return dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
}

void recording_name(char path[PATH_MAX], const char *name, const char *suffix)
{
	size_t stem = stem_length(name);

	snprintf(path, PATH_MAX, "%.*s%s%s", (int)stem, name, suffix, name + stem);
}

char *recording_suffix(const char *name, const char *output)
{
	size_t stem = stem_length(output), ending = strlen(output + stem), length = strlen(name);

	if (length < stem + ending || strncmp(name, output, stem)
	    || strcmp(name + length - ending, output + stem))
		return NULL;
	return opk_strndup(name + stem, length - stem - ending);
}

/* "run.opk", or "run-34.opk" if several processes share the name. */
static void final_name(char path[PATH_MAX], const struct part *part, bool shared)
{
	char name[PATH_MAX], ids[32];

	snprintf(name, sizeof name, "%.*s", (int)part->name_length, part->path);
	if (part->image > 1)
		snprintf(ids, sizeof ids, "-%u-%u", part->process, part->image);
	else
		snprintf(ids, sizeof ids, "-%u", part->process);
	recording_name(path, name, shared ? ids : "");
}

/* A recording may be the only result of a run. */
void outputs_note_older(const struct settings *settings, const char *path)
{
	opk_autopeek struct peek peek = { .ctx = NULL };
	const char *started;

	if (settings->force || access(path, F_OK))
		return;
	peek = peek_at(path);
	if (!peek.meta || strcmp(peek.meta->kind, "recording") != 0)
		return;
	/* Several runs have no common time. */
	started = opk_meta_fact(peek.meta, "started");
	say(0, "note: %s will be replaced: it %s%s%s of: %s", path,
	    *started ? "was recorded " : "is a recording", started, *started ? "," : "",
	    opk_meta_fact(peek.meta, "command"));
}

int outputs_check(const struct settings *settings, const char *path, enum opk_output output)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	const struct opk_cause *cause;
	bool exists;
	int code;

	TRY(launcher_ctx_new(&ctx, settings));
	code = opk_check_output(ctx, path, output);
	if (!code)
		return OPK_OK;
	cause = opk_error_cause(ctx, 0);
	exists = cause
	         && (cause->remedy == OPK_REMEDY_FORCE || cause->remedy == OPK_REMEDY_RECOVER);
	return say(code, "%s%s", opk_error_message(ctx, 0), exists ? OPK_GIVE_FORCE : "");
}

/* The file that existed when the run began: only this one may be replaced. */
static struct {
	char path[PATH_MAX];
	bool exists;
	struct stat info;
	struct timespec time;
} before;

void outputs_begin(const struct settings *settings)
{
	clock_gettime(CLOCK_REALTIME, &before.time);
	if (!name_varies(settings->output)
	    && name_expand(before.path, sizeof before.path, settings->output))
		before.exists = !lstat(before.path, &before.info);
	/* Files of an archive have other names. */
	if (before.exists && (!settings->rotate_ns || settings->keep_ns))
		outputs_note_older(settings, before.path);
}

bool outputs_is_anothers(const char *path)
{
	struct stat now;

	if (lstat(path, &now) || !S_ISREG(now.st_mode))
		return false;
	if (strcmp(path, before.path))
		return clock_is_before(before.time, now.st_mtim);
	return !before.exists || now.st_dev != before.info.st_dev
	       || now.st_ino != before.info.st_ino
	       || clock_is_before(before.info.st_mtim, now.st_mtim);
}

/* Why a recording can't have this name; NULL: it can. */
static const char *why_taken(const struct settings *settings, const char *path)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;

	if (outputs_is_anothers(path))
		return "was written by another run meanwhile";
	if (launcher_ctx_new(&ctx, settings) || opk_check_output(ctx, path, OPK_OUTPUT_RECORDING))
		return "exists and is not an older recording";
	return NULL;
}

/* If the name in `path` is taken, adds "-IDS", which makes a name that no other run can have. */
static void avoid_others(char path[PATH_MAX], const struct settings *settings, const char *ids)
{
	const char *why = why_taken(settings, path);
	opk_autofree char *name = opk_strdup(path), *suffix = opk_printf("-%s", ids);

	/* A single known name was reported before the program ran. */
	if (!why && strcmp(path, before.path) != 0)
		outputs_note_older(settings, path);
	if (!why || !name || !suffix)
		return;
	recording_name(path, name, suffix);
	say(0, "note: %s %s: the recording of this one is %s", name, why, path);
}

/* Whether the facts contain environment variables, which others may not be meant to see. */
static bool is_private(const char *path)
{
	opk_autopeek struct peek peek = peek_at(path);

	for (size_t i = 0; peek.meta && i < peek.meta->run_count; i++)
		if (!strncmp(peek.meta->run[i].name, "env.", 4))
			return true;
	return !peek.meta;
}

/*
 * Checks the older file that a recording replaces, if there is one: it must be a regular file. The
 * recording gets its mode; if it is another user's, only the permissions that both modes have.
 * False: it is not a regular file, and a message was printed.
 */
static bool take_place(mode_t *mode, const char *path)
{
	struct stat info;

	if (lstat(path, &info) || S_ISLNK(info.st_mode))
		return true;
	if (!S_ISREG(info.st_mode))
		say(0, "%s: exists and is not a regular file", path);
	else if (info.st_uid == geteuid())
		*mode = info.st_mode & 0777;
	else
		*mode &= info.st_mode;
	return S_ISREG(info.st_mode);
}

/* File systems without modes refuse this: only ask them if it matters. */
static bool set_mode(const char *path, mode_t mode)
{
	opk_autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	return fd >= 0 && !fstat(fd, &info)
	       && ((info.st_mode & 0777) == mode || !fchmod(fd, mode) || errno == EPERM);
}

int part_rename(const struct part *part, const char *path,
                bool (*move)(const char *from, const char *to))
{
	/* The launcher has one thread. */
	mode_t mask = umask(0), mode;

	umask(mask);
	/* A new file's: by the umask, or for the owner alone. */
	mode = is_private(part->path) ? 0600 : 0666 & ~mask;
	if (!take_place(&mode, path))
		return say(OPK_EFAILED, "the recording stays %s", part->path);
	if (set_mode(part->path, mode) && move(part->path, path))
		return OPK_OK;
	return errno == EEXIST ? PART_TAKEN
	                       : say(OPK_EFAILED, "%s: %s; the recording stays %s", path,
	                             strerror(errno), part->path);
}

/* Where another run takes the name just now, this one gets another. */
static int place(char path[PATH_MAX], const struct part *part, const struct settings *settings,
                 const char *ids)
{
	enum { TRIES = 3 };
	int code = PART_TAKEN;

	for (int i = 0; code == PART_TAKEN && i < TRIES; i++) {
		avoid_others(path, settings, ids);
		code = part_rename(part, path, opk_move_file);
	}
	return code == PART_TAKEN ? say(OPK_EFAILED, "%s: %s; the recording stays %s", path,
	                                strerror(EEXIST), part->path)
	                          : code;
}

static int name_part(struct opk_strlist *made, const struct part *part, bool shared,
                     const struct settings *settings)
{
	const char *ids = part->path + part->name_length + 1; /* TOKEN-PROCESS.part */
	opk_autofree char *own = opk_strndup(ids, strlen(ids) - strlen(PART_ENDING));
	char path[PATH_MAX];

	if (!own)
		return say(OPK_EFAILED, "out of memory");
	final_name(path, part, shared);
	TRY(place(path, part, settings, own));
	check(path, settings->verbose);
	return opk_strlist_add(made, path) ? OPK_OK : say(OPK_EFAILED, "out of memory");
}

int parts_rename(struct opk_strlist *made, const struct parts *parts,
                 const struct settings *settings)
{
	int code = OPK_OK;

	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->items[i];
		int problem = name_part(made, part, shares_name(parts, part), settings);

		code = problem ? problem : code;
	}
	return code;
}

int parts_merge(struct opk_strlist *made, const struct parts *parts,
                const struct settings *settings, const char *join)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_autofree const char **paths = opk_alloc_array(parts->count + 1, sizeof *paths);
	struct opk_merge_options options = OPK_INIT(options);
	char output[PATH_MAX], merged[PATH_MAX + 64];
	int code;

	if (!paths || launcher_ctx_new(&ctx, settings))
		return OPK_EFAILED;
	if (!name_expand(output, sizeof output, settings->output))
		return OPK_EFAILED;
	for (size_t i = 0; i < parts->count; i++)
		paths[i] = parts->items[i].path;
	/* Others may take the name meanwhile. */
	snprintf(merged, sizeof merged, "%s.%s" MERGED_ENDING, output, settings->token);
	options.join = join;
	options.original = true;
	code = opk_merge(ctx, paths, parts->count, &options, merged);
	if (code)
		return say(code, "%s; the processes' own files stay: %s...", outer_cause(ctx),
		           paths[0]);
	TRY(place(output, &(struct part){ .path = merged }, settings, settings->token));
	for (size_t i = 0; i < parts->count; i++)
		unlink(paths[i]);
	check(output, settings->verbose);
	return opk_strlist_add(made, output) ? OPK_OK : say(OPK_EFAILED, "out of memory");
}

void outputs_report_watch(const struct settings *settings, const struct opk_strlist *made)
{
	char path[PATH_MAX];

	if (!settings->verbose && !isatty(STDERR_FILENO))
		return;
	recording_name(path, settings->output, "-*");
	if (settings->rotate_ns && !settings->keep_ns)
		say(0, "the recordings are %s", path);
	for (size_t i = 0; i < made->count; i++) {
		opk_autopeek struct peek peek = peek_at(made->items[i]);

		if (peek.stats)
			say(0, "%s has %" PRIu64 " samples", made->items[i], peek.stats->ranges);
	}
}
