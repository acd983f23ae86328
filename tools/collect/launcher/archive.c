/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a long watch. The library begins a new part again and again; a finished one becomes
 * an archive of its time, or stays a part as long as it is not too old for a dump.
 */
#include "base/try.h"
#include "collect/launcher/launcher.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define opk_autoparts __attribute__((cleanup(parts_clear)))

/* "run-20260131T120000Z.opk": the time until which it was recorded. */
static bool name_by_time(char path[PATH_MAX], const struct settings *settings, time_t until)
{
	char name[PATH_MAX], suffix[32];
	struct tm utc;

	if (!name_expand(name, sizeof name, settings->output) || !gmtime_r(&until, &utc))
		return false;
	strftime(suffix, sizeof suffix, "-%Y%m%dT%H%M%SZ", &utc);
	recording_name(path, name, suffix);
	return true;
}

static int name_part(const struct settings *settings, const struct part *part)
{
	char path[PATH_MAX];
	struct stat info;

	if (stat(part->path, &info) || !name_by_time(path, settings, info.st_mtime))
		return say(OPK_EFAILED, "%s: %s", part->path, strerror(errno));
	return part_rename(part, path);
}

static bool is_old(const struct settings *settings, const struct part *part)
{
	struct timespec now;
	struct stat info;

	clock_gettime(CLOCK_REALTIME, &now);
	return !stat(part->path, &info)
	       && (double)(now.tv_sec - info.st_mtim.tv_sec) > (double)settings->keep_ns * 1e-9;
}

int archive_tidy(const struct settings *settings, bool last)
{
	opk_autoparts struct parts parts = { 0 };
	size_t finished;
	int code = OPK_OK;

	TRY(parts_find(&parts, settings));
	finished = parts.count && !last ? parts.count - 1 : parts.count;
	for (size_t i = 0; !code && i < finished; i++)
		if (!settings->keep_ns)
			code = name_part(settings, &parts.items[i]);
		else if (is_old(settings, &parts.items[i]))
			unlink(parts.items[i].path);
	return code;
}

unsigned archive_current(const struct settings *settings)
{
	opk_autoparts struct parts parts = { 0 };

	if (parts_find(&parts, settings) || !parts.count)
		return 0;
	return parts.items[parts.count - 1].image;
}

int archive_dump(const struct settings *settings, unsigned last)
{
	opk_autoparts struct parts parts = { 0 };
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_autofree const char **paths = NULL;
	struct opk_merge_options options = OPK_INIT(options);
	char path[PATH_MAX];
	size_t count = 0;

	options.original = true;
	TRY(parts_find(&parts, settings));
	paths = opk_alloc_array(parts.count + 1, sizeof *paths);
	if (!paths || launcher_ctx_new(&ctx, settings))
		return say(OPK_EFAILED, "out of memory");
	while (count < parts.count && parts.items[count].image <= last) {
		paths[count] = parts.items[count].path;
		count++;
	}
	if (!count || !name_by_time(path, settings, time(NULL)))
		return say(OPK_EFAILED, "there is nothing to dump yet");
	if (opk_merge(ctx, paths, count, &options, path))
		return say(OPK_EFAILED, "no dump: %s", outer_cause(ctx));
	return say(OPK_OK, "%s has the last %.0f s", path, (double)settings->keep_ns * 1e-9);
}

/* The watch's process is in the names of its parts. */
int archive_ask(struct settings *settings)
{
	opk_autoparts struct parts parts = { 0 };
	const struct part *newest;

	settings->output = settings->dump;
	settings->token = "*";
	TRY(parts_find(&parts, settings));
	newest = parts.count ? &parts.items[parts.count - 1] : NULL;
	if (!newest || !still_runs(newest->process))
		return say(OPK_EUSAGE, "no watch with -o %s runs here", settings->dump);
	return !kill((pid_t)newest->process, SIGUSR1)
	               ? OPK_OK
	               : say(OPK_EFAILED, "process %u: %s", newest->process, strerror(errno));
}
