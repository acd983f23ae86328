/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts left by a run's processes, and by runs that were killed. */
#include "collect/launcher/launcher.h"

#include <glob.h>
#include <libgen.h>

int token_new(struct settings *settings)
{
	static char token[2 * sizeof(uint64_t) + 1];
	uint64_t number;

	if (!opk_random(&number, sizeof number))
		return say(OPK_EFAILED, "no random numbers: %s", strerror(errno));
	snprintf(token, sizeof token, "%016llx", (unsigned long long)number);
	settings->token = token;
	settings_export(SETTING_TOKEN, token);
	return OPK_OK;
}

/* In a folder that others can write to, a part may be another user's, or a planted link. */
static const char *why_foreign(const char *path)
{
	opk_autofree char *copy = opk_strdup(path);
	struct stat part, folder;

	if (lstat(path, &part))
		return strerror(errno);
	if (!S_ISREG(part.st_mode))
		return "is not a regular file";
	if (part.st_nlink != 1)
		return "has other names, too";
	if (copy && !stat(dirname(copy), &folder) && folder.st_mode & S_IWOTH
	    && part.st_uid != geteuid())
		return "belongs to another user, and anybody may write to its folder";
	return NULL;
}

/* "PROCESS.part", or "PROCESS-N.part"; false for another name. */
static bool read_ids(struct part *part, const char *ids)
{
	char *end;

	part->process = (unsigned)strtoul(ids, &end, 10);
	part->image = *end == '-' ? (unsigned)strtoul(end + 1, &end, 10) : 1;
	return !strcmp(end, PART_ENDING);
}

static bool add_part(struct parts *parts, const char *path, const char *token)
{
	struct part part = { .path = opk_strdup(path) }, *item;
	const char *at = strrchr(path, '.');
	const char *problem = why_foreign(path);

	while (at && at > path && *--at != '.')
		;
	if (!part.path || !at || (strcmp(token, "*") && strncmp(at + 1, token, strlen(token)))
	    || !read_ids(&part, at + 1 + strcspn(at + 1, "-") + 1) || problem) {
		if (problem && !parts->quiet)
			say(0, "%s: %s: it is left alone", path, problem);
		free(part.path);
		return part.path != NULL;
	}
	part.name_length = (size_t)(at - path);
	item = opk_list_add(parts);
	if (item)
		*item = part;
	else
		free(part.path);
	return item != NULL;
}

/* A process's earlier program comes first. */
static int compare(const void *one, const void *other)
{
	const struct part *a = one, *b = other;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->image < b->image ? -1 : a->image > b->image;
}

/* Finds files with the names of parts of runs with this token, which may be a pattern. */
static void find_files(glob_t *found, const struct settings *settings, const char *token,
                       const char *ending)
{
	char name[PATH_MAX], pattern[PATH_MAX + 64];

	*found = (glob_t){ 0 };
	if (!name_pattern(name, sizeof name, settings->output))
		return;
	snprintf(pattern, sizeof pattern, "%s.%s%s", name, token, ending);
	glob(pattern, GLOB_PERIOD, NULL, found);
}

int parts_find(struct parts *parts, const struct settings *settings)
{
	size_t before = parts->count;
	bool good = true;
	glob_t found;

	find_files(&found, settings, settings->token, "-*" PART_ENDING);
	for (size_t i = 0; i < found.gl_pathc; i++)
		good = good && add_part(parts, found.gl_pathv[i], settings->token);
	globfree(&found);
	if (!good)
		return say(OPK_EFAILED,
		           "out of memory; the processes' files stay: %s.%s-*" PART_ENDING,
		           settings->output, settings->token);
	if (parts->count > before)
		qsort(parts->items + before, parts->count - before, sizeof *parts->items, compare);
	return OPK_OK;
}

void parts_clear(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].path);
	free(parts->items);
	*parts = (struct parts){ 0 };
}

/* A process that was killed wrote no statistics; it wrote images if it recorded something. */
static bool has_rows(const char *path)
{
	opk_autopeek struct peek peek = peek_at(path);

	if (peek.stats)
		return peek.stats->ranges || peek.stats->activities;
	return peek.file
	       && (opk_file_find(peek.file, OPK_SECTION_DATA) >= 0
	           || opk_file_find(peek.file, OPK_SECTION_ACTIVITIES) >= 0
	           || opk_file_find(peek.file, OPK_SECTION_INSTRUCTIONS) >= 0);
}

bool parts_recorded(const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (has_rows(parts->items[i].path))
			return true;
	return false;
}

unsigned parts_depth(const struct parts *parts)
{
	unsigned deepest = 1;

	for (size_t i = 0; i < parts->count; i++) {
		opk_autopeek struct peek peek = peek_at(parts->items[i].path);

		if (peek.stats && peek.stats->depth > deepest)
			deepest = peek.stats->depth;
	}
	return deepest;
}

/* If its process, of this machine, has ended: one elsewhere may still write. */
static void report_leftover(const struct settings *settings, const char *path)
{
	opk_autopeek struct peek peek = { .ctx = NULL };
	char host[256] = "";

	if (why_foreign(path))
		return;
	peek = peek_at(path);
	gethostname(host, sizeof host - 1);
	if (!peek.meta || strcmp(opk_meta_fact(peek.meta, "hostname"), host)
	    || still_runs((unsigned)atoi(opk_meta_fact(peek.meta, "process"))))
		return;
	if (archive_is_recorders(&peek)) {
		/* Another recorder deletes it as soon as it is too old. */
		if (!settings->keep_ns)
			say(0,
			    "note: %s is a file of a recorder that was killed: delete it, or 'offpeak "
			    "merge' joins such files",
			    path);
	} else if (opk_file_complete(peek.file)) {
		say(0,
		    "note: %s is the whole recording of a process that went on after its run: "
		    "rename it",
		    path);
	} else {
		say(0,
		    "note: %s is what a run that was killed had recorded: 'offpeak recover %s -o "
		    "OTHER.opk' makes a recording of it; then delete it",
		    path, path);
	}
}

/* A run that still merges writes to its file all the time. */
static void report_merged(const char *path)
{
	enum { QUIET_S = 60 };
	struct stat info;

	if (!why_foreign(path) && !stat(path, &info) && time(NULL) - info.st_mtime > QUIET_S)
		say(0,
		    "note: %s was left by a run that was killed while it joined its files: delete "
		    "it",
		    path);
}

#define HEX4 "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"

void parts_report_leftovers(const struct settings *settings)
{
	glob_t found;

	find_files(&found, settings, "*", "-*" PART_ENDING);
	for (size_t i = 0; i < found.gl_pathc; i++)
		report_leftover(settings, found.gl_pathv[i]);
	globfree(&found);
	find_files(&found, settings, HEX4 HEX4 HEX4 HEX4 "*", MERGED_ENDING "*");
	for (size_t i = 0; i < found.gl_pathc; i++)
		report_merged(found.gl_pathv[i]);
	globfree(&found);
}
