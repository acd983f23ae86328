/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries that a program opens as it runs, as Python's modules are. They can't be known beforehand, but
 * those of the run that was kept can be looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

/* The processes of all runs write to it; in the cache's folder, where it is swept up. */
static char list[PATH_MAX];

int opened_begin(const char *folder)
{
	opk_autofree char *whole = realpath(folder, NULL);
	int fd;

	if (!whole || snprintf(list, sizeof list, "%s/new-XXXXXX", whole) >= (int)sizeof list)
		return launcher_fail(OPK_EFAILED, "--cache %s: %s", folder, strerror(errno));
	fd = mkostemp(list, O_CLOEXEC);
	if (fd < 0)
		return launcher_fail(OPK_EFAILED, "--cache %s: %s", folder, strerror(errno));
	close(fd);
	settings_export(SETTING_OPENED, list);
	return OPK_OK;
}

/* The driver's version is a part of its own, and so is our library. */
static bool is_known(const char *path)
{
	static const char *const known[] = { "libcuda.so", "libnvidia-", "liboffpeak-inject.so" };
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(name, known[i], strlen(known[i])))
			return true;
	return false;
}

static bool add_library(struct cache_key *opened, const char *path)
{
	char hash[OPK_SHA256_TEXT];
	opk_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	/* What was there for this run only can't be looked at. */
	return fd < 0 || !opk_sha256_file(hash, fd) || key_add_hash(opened, path, hash);
}

void opened_end(struct cache_key *opened)
{
	opk_autofclose FILE *file = *list ? fopen(list, "re") : NULL;
	opk_autostrlist struct opk_strlist paths = { 0 };
	opk_autofree char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '/' && !is_known(line) && !opk_terminal_obeys(line, strlen(line)))
			opk_strlist_add(&paths, line);
	}
	opk_strlist_sort(&paths);
	for (size_t i = 0; opened && i < paths.count; i++)
		if (!i || strcmp(paths.items[i], paths.items[i - 1]))
			add_library(opened, paths.items[i]);
	if (*list)
		unlink(list);
	*list = '\0';
}

const char *opened_changed(const struct cache_key *opened)
{
	for (size_t i = 0; i < opened->count; i++) {
		const struct key_part *part = &opened->items[i];
		opk_autoclose int fd = open(part->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		char hash[OPK_SHA256_TEXT];

		if (fd < 0 || !opk_sha256_file(hash, fd) || strcmp(hash, part->hash))
			return part->name;
	}
	return NULL;
}
