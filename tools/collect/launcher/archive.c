/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a long watch. The library begins a new part again and again; a finished one becomes
 * an archive of its time, or stays a part as long as it is not too old for a dump.
 */
#include "collect/launcher/launcher.h"

#include <glob.h>

#define opk_autoparts __attribute__((cleanup(parts_clear)))

/*
 * "run-20260131T120000Z.opk": the time until which it was recorded. The next one of that second is
 * "run-20260131T120000Z_2.opk", which sorts after it.
 */
static bool name_by_time(char path[PATH_MAX], const struct settings *settings, time_t until)
{
	char name[PATH_MAX], suffix[32];
	struct stat info;
	struct tm utc;
	size_t length;

	if (!name_expand(name, sizeof name, settings->output) || !gmtime_r(&until, &utc))
		return false;
	length = strftime(suffix, sizeof suffix, "-%Y%m%dT%H%M%SZ", &utc);
	recording_name(path, name, suffix);
	for (int i = 2; !lstat(path, &info) && S_ISREG(info.st_mode); i++) {
		snprintf(suffix + length, sizeof suffix - length, "_%d", i);
		recording_name(path, name, suffix);
	}
	return true;
}

/* Others, as another watch with the same -o, may take a name meanwhile. */
static int place_by_time(char path[PATH_MAX], const struct settings *settings,
                         const struct part *part, time_t until)
{
	enum { TRIES = 100 };
	int code = PART_TAKEN;

	for (int i = 0; code == PART_TAKEN && i < TRIES; i++)
		code = name_by_time(path, settings, until)
		               ? part_rename(part, path, opk_move_new_file)
		               : say(OPK_EFAILED, "%s: the name is too long", part->path);
	return code == PART_TAKEN ? say(OPK_EFAILED, "%s: %s; the recording stays %s", path,
	                                strerror(EEXIST), part->path)
	                          : code;
}

static int name_part(const struct settings *settings, const struct part *part)
{
	char path[PATH_MAX];
	struct stat info;

	if (stat(part->path, &info))
		return say(OPK_EFAILED, "%s: %s", part->path, strerror(errno));
	return place_by_time(path, settings, part, info.st_mtime);
}

/* Only the wall clock says the age of an earlier recorder's part. */
static bool is_old(const struct settings *settings, const struct part *part)
{
	struct stat info;

	return !stat(part->path, &info)
	       && (double)(time(NULL) - info.st_mtime) > (double)settings->keep_ns * 1e-9;
}

/*
 * Deletes a part of this watch that has been whole for longer than what is kept, unless a dump
 * needs it. The wall clock may be set meanwhile.
 */
static void delete_if_old(const struct settings *settings, const struct part *part, bool needed)
{
	enum { MOST = 4096 };
	static struct {
		unsigned image;
		struct timespec whole;
	} parts[MOST], *one;

	one = &parts[part->image % MOST];
	if (one->image != part->image) {
		one->image = part->image;
		one->whole = clock_now();
	} else if (!needed && clock_seconds_since(&one->whole) > (double)settings->keep_ns * 1e-9) {
		unlink(part->path);
	}
}

static bool has_end(const char *path)
{
	opk_autopeek struct peek peek = peek_at(path);

	return peek.file && opk_file_complete(peek.file);
}

/*
 * Names finished parts, all if `last`. Those that can't be named keep their names, and are tried
 * again in the end only: this is called again and again. The library ends what a full disk left
 * without an end once there is room.
 */
static int name_parts(const struct settings *settings, const struct parts *parts, bool last)
{
	static unsigned failed;
	int code = OPK_OK;

	for (size_t i = 0; i + !last < parts->count; i++) {
		const struct part *part = &parts->items[i];

		if (!last && (part->image <= failed || !has_end(part->path)))
			continue;
		if (name_part(settings, part)) {
			code = OPK_EFAILED;
			failed = part->image > failed ? part->image : failed;
		}
	}
	return code;
}

bool archive_is_recorders(const struct peek *peek)
{
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	return peek->meta && *opk_meta_fact(peek->meta, settings_table[SETTING_KEEP].name)
	       && !strcmp(opk_meta_fact(peek->meta, "hostname"), host);
}

/* Whether the part is of a flight recorder that may run here: the signal ends any other program. */
static bool is_recorder(const struct part *part)
{
	opk_autopeek struct peek peek = peek_at(part->path);

	return archive_is_recorders(&peek)
	       && (unsigned)atoi(opk_meta_fact(peek.meta, "process")) == part->process;
}

/* What a recorder with this -o that was killed had kept gets too old, as this one's own does. */
static void forget_dead(const struct settings *settings)
{
	opk_autoparts struct parts parts = { .quiet = true };
	struct settings any = *settings;

	any.token = "*";
	if (parts_find(&parts, &any))
		return;
	for (size_t i = 0; i < parts.count; i++) {
		const struct part *part = &parts.items[i];
		bool own = !strncmp(part->path + part->name_length + 1, settings->token,
		                    strlen(settings->token));

		if (!own && is_old(settings, part) && !still_runs(part->process)
		    && is_recorder(part))
			unlink(part->path);
	}
}

int archive_tidy(const struct settings *settings, bool last, unsigned held)
{
	opk_autoparts struct parts parts = { .quiet = true };

	TRY(parts_find(&parts, settings));
	if (!settings->keep_ns)
		return name_parts(settings, &parts, last);
	for (size_t i = 0; i + !last < parts.count; i++)
		delete_if_old(settings, &parts.items[i], parts.items[i].image <= held);
	forget_dead(settings);
	return OPK_OK;
}

/* Without its end only where the disk was full. */
static bool is_whole(const char *path)
{
	return has_end(path) || say(false, "note: %s is cut off, and the dump is without it", path);
}

/* From the first sample to the end of the last one; 0 without any. */
static double seconds_of(const char *path)
{
	opk_autopeek struct peek peek = peek_at(path);
	const struct opk_time *times = NULL;
	uint64_t start = UINT64_MAX, end = 0;
	size_t count = 0;

	if (!peek.file || opk_file_times(&times, &count, peek.ctx, peek.file))
		return 0;
	for (size_t i = 0; i < count; i++) {
		start = times[i].start < start ? times[i].start : start;
		end = times[i].end > end ? times[i].end : end;
	}
	return end > start ? (double)(end - start) * 1e-9 : 0;
}

/* It has less than what is kept soon after the beginning, and where the disk was full. */
static int report_dump(const struct settings *settings, const char *path, double seconds)
{
	double kept = (double)settings->keep_ns * 1e-9;

	return seconds < kept - 0.5
	               ? say(OPK_OK, "%s has %.1f s of the last %.0f s", path, seconds, kept)
	               : say(OPK_OK, "%s has the last %.0f s", path, kept);
}

int archive_dump(const struct settings *settings, unsigned last)
{
	opk_autoparts struct parts parts = { 0 };
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_autofree const char **paths = NULL;
	struct opk_merge_options options = OPK_INIT(options);
	char path[PATH_MAX], merged[PATH_MAX + 64];
	double seconds = 0;
	size_t count = 0;

	options.original = true;
	TRY(parts_find(&parts, settings));
	paths = opk_alloc_array(parts.count + 1, sizeof *paths);
	if (!paths || launcher_ctx_new(&ctx, settings))
		return say(OPK_EFAILED, "out of memory");
	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].image <= last && is_whole(parts.items[i].path))
			paths[count++] = parts.items[i].path;
	if (!count || !name_expand(path, sizeof path, settings->output))
		return say(OPK_EFAILED, "there is nothing to dump yet");
	snprintf(merged, sizeof merged, "%s.%s-%d" MERGED_ENDING, path, settings->token,
	         (int)getpid());
	if (opk_merge(ctx, paths, count, &options, merged))
		return say(OPK_EFAILED, "no dump: %s", outer_cause(ctx));
	for (size_t i = 0; i < count; i++)
		seconds += seconds_of(paths[i]);
	TRY(place_by_time(path, settings, &(struct part){ .path = merged }, time(NULL)));
	return report_dump(settings, path, seconds);
}

/* Finds the dumps of a watch by their names. */
static void find_dumps(glob_t *found, const struct settings *settings)
{
	static const char *const endings[] = { "-[0-9]*T[0-9]*Z", "-[0-9]*T[0-9]*Z_[0-9]*" };
	char name[PATH_MAX], pattern[PATH_MAX];

	*found = (glob_t){ 0 };
	if (!name_pattern(name, sizeof name, settings->output))
		return;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		recording_name(pattern, name, endings[i]);
		glob(pattern, found->gl_pathc ? GLOB_APPEND : 0, NULL, found);
	}
}

bool archive_any(const struct settings *settings)
{
	bool any = false;
	glob_t found;

	find_dumps(&found, settings);
	for (size_t i = 0; i < found.gl_pathc; i++)
		any |= outputs_is_anothers(found.gl_pathv[i]);
	globfree(&found);
	return any;
}

static bool has_path(const glob_t *files, const char *path)
{
	for (size_t i = 0; i < files->gl_pathc; i++)
		if (!strcmp(files->gl_pathv[i], path))
			return true;
	return false;
}

/* Prints the name of a dump that was not there before. */
static bool print_new(const struct settings *settings, const glob_t *before)
{
	bool any = false;
	glob_t now;

	find_dumps(&now, settings);
	for (size_t i = 0; i < now.gl_pathc && !any; i++) {
		any = !has_path(before, now.gl_pathv[i]);
		if (any)
			puts(now.gl_pathv[i]);
	}
	globfree(&now);
	return any;
}

/* A dump begins when the present file has ended, and then joins what can be many bytes. */
static int wait_for_dump(const struct settings *settings, unsigned process, const glob_t *before)
{
	enum { WAIT_S = 30, LOOK_NS = 100000000 };
	const struct timespec look = { .tv_nsec = LOOK_NS };
	struct timespec begun = clock_now();
	bool runs = true;

	while (runs && clock_seconds_since(&begun) < WAIT_S) {
		nanosleep(&look, NULL);
		/* A watch that ends has made its dumps. */
		runs = still_runs(process);
		if (print_new(settings, before))
			return OPK_OK;
	}
	return runs ? say(OPK_EFAILED, "no dump came within %d s; the watch's stderr may say why",
	                  WAIT_S)
	            : say(OPK_EFAILED, "the watch ended without a dump; %s has what it kept",
	                  settings->dump);
}

/*
 * The newest recorder that runs, or 0: its process is in the names of its parts. What was killed
 * may have left others. *other: a process that runs and is not a recorder, or 0.
 */
static unsigned find_recorder(unsigned *other, const struct parts *parts)
{
	unsigned recorder = 0;
	struct stat info;
	time_t newest = 0;

	*other = 0;
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->items[i];

		if (stat(part->path, &info) || !still_runs(part->process))
			continue;
		if (!is_recorder(part)) {
			*other = part->process;
		} else if (info.st_mtime >= newest) {
			newest = info.st_mtime;
			recorder = part->process;
		}
	}
	return recorder;
}

int archive_ask(struct settings *settings)
{
	opk_autoparts struct parts parts = { 0 };
	unsigned process, other;
	glob_t before;
	int code;

	settings->output = settings->dump;
	settings->token = "*";
	TRY(parts_find(&parts, settings));
	process = find_recorder(&other, &parts);
	if (!process && other)
		return say(OPK_EUSAGE,
		           "process %u, which records %s, makes no dumps: only a --watch with "
		           "--keep does",
		           other, settings->dump);
	if (!process)
		return say(OPK_EUSAGE, "no watch with -o %s runs here", settings->dump);
	find_dumps(&before, settings);
	code = !kill((pid_t)process, SIGUSR1)
	               ? wait_for_dump(settings, process, &before)
	               : say(OPK_EFAILED, "process %u: %s", process, strerror(errno));
	globfree(&before);
	return code;
}
