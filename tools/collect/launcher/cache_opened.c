/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a program opens while it runs: libraries, such as Python's modules, and data. They
 * can't be known beforehand. So the files that the kept run opened are checked.
 */
#include <sys/file.h>

#include "base/terminal.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

/* All processes of all runs write to this file; it is in the cache's folder, which is swept. */
static char list[PATH_MAX];

int opened_begin(const char *folder)
{
	opk_autofree char *whole = realpath(folder, NULL);
	int fd;

	if (!whole || snprintf(list, sizeof list, "%s/new-XXXXXX", whole) >= (int)sizeof list)
		return say(OPK_EFAILED, "--cache %s: %s", folder, strerror(errno));
	fd = mkostemp(list, O_CLOEXEC);
	if (fd < 0)
		return say(OPK_EFAILED, "--cache %s: %s", folder, strerror(errno));
	/* As long as this process runs, others see that it is needed. */
	flock(fd, LOCK_EX | LOCK_NB);
	settings_export(SETTING_OPENED, list);
	return OPK_OK;
}

/* The driver's version is a separate part of the key, and so is this library. */
static bool is_known(const char *path)
{
	static const char *const known[] = { "libcuda.so", "libnvidia-", "liboffpeak-inject.so" };
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(name, known[i], strlen(known[i])))
			return true;
	return false;
}

/* ---- hashes, by several threads: PyTorch has gigabytes ------------------------------------- */

struct work {
	char *const *paths;
	char (*hashes)[OPK_SHA256_TEXT]; /* "" if the file can't be read */
	size_t count, next;
	enum opened_kind kind;
};

/* Data may be too much to read: for a large file, only size and time of change are hashed. */
static bool hash_one(char hash[OPK_SHA256_TEXT], int fd, enum opened_kind kind)
{
	enum { LARGE = 16 << 20 };
	struct opk_sha256 sha;
	struct stat info;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode))
		return false;
	if (kind == OPENED_LIBRARY || info.st_size < LARGE)
		return opk_sha256_file(hash, fd);
	opk_sha256_begin(&sha);
	opk_sha256_add(&sha, &info.st_size, sizeof info.st_size);
	opk_sha256_add(&sha, &info.st_mtim, sizeof info.st_mtim);
	opk_sha256_end(&sha, hash);
	return true;
}

static void *hash_some(void *data)
{
	struct work *work = data;
	size_t i;

	while ((i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->count) {
		opk_autoclose int fd = open(work->paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0 || !hash_one(work->hashes[i], fd, work->kind))
			*work->hashes[i] = '\0';
	}
	return NULL;
}

/* NULL when out of memory; free(). */
static char (*hash_all(char *const *paths, size_t count, enum opened_kind kind))[OPK_SHA256_TEXT]
{
	enum { MOST_THREADS = 16 };
	struct work work = { paths, opk_alloc_array(count, sizeof *work.hashes), count, 0, kind };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MOST_THREADS];
	size_t started = 0;

	if (!work.hashes)
		return NULL;
	while (started < MOST_THREADS && (long)started + 1 < processors && started + 1 < count
	       && !pthread_create(&threads[started], NULL, hash_some, &work))
		started++;
	hash_some(&work);
	while (started)
		pthread_join(threads[--started], NULL);
	return work.hashes;
}

void opened_add(struct cache_key *opened, const struct opk_strlist *paths, enum opened_kind kind)
{
	opk_autofree char(*hashes)[OPK_SHA256_TEXT] = hash_all(paths->items, paths->count, kind);

	for (size_t i = 0; hashes && i < paths->count; i++)
		if (*hashes[i])
			key_add_hash(opened, paths->items[i], hashes[i]);
}

/* ---- before and after the program --------------------------------------------------------- */

bool opened_end(struct cache_key *opened)
{
	int fd = *list ? own_open(list, O_RDONLY) : -1;
	opk_autofclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	opk_autostrlist struct opk_strlist paths = { 0 };
	opk_autofree char *line = NULL;
	bool any = false;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		any = true;
		if (*line == '/' && !is_known(line) && !opk_terminal_obeys(line, strlen(line)))
			opk_strlist_add(&paths, line);
	}
	opk_strlist_sort_unique(&paths);
	if (opened)
		opened_add(opened, &paths, OPENED_LIBRARY);
	if (*list)
		unlink(list);
	*list = '\0';
	return any;
}

const char *opened_changed(const struct cache_key *opened, enum opened_kind kind)
{
	opk_autofree char **paths = opk_alloc_array(opened->count, sizeof *paths);
	opk_autofree char(*hashes)[OPK_SHA256_TEXT] = NULL;

	for (size_t i = 0; paths && i < opened->count; i++)
		paths[i] = opened->items[i].name;
	hashes = paths ? hash_all(paths, opened->count, kind) : NULL;
	for (size_t i = 0; i < opened->count; i++) {
		/* The program makes what it made again. */
		bool gone = kind == OPENED_MADE && access(opened->items[i].name, F_OK);

		if (!hashes || (strcmp(hashes[i], opened->items[i].hash) && !gone))
			return opened->items[i].name;
	}
	return NULL;
}
