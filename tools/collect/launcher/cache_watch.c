/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are read in the program's folders while it runs. The kernel reports them by inotify,
 * which takes some microseconds a file, but not who reads them: what others read there counts, too.
 * Nothing is known of files elsewhere, which --cache-input names.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/file.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

enum { MOST_FOLDERS = 512, MOST_FILES = 10000 };

struct folder {
	int watch;
	char *path;
};

static struct {
	bool on;
	bool partial; /* not all could be seen */
	int fd, stop[2];
	pthread_t thread;
	OPK_LIST(struct folder) folders; /* by watch, which is how they are added */
	struct opk_strlist read, written;
} watch;

/* ---- which folders ------------------------------------------------------------------------ */

/* What everybody reads there, all the time. */
static bool is_everybodys(const char *path)
{
	static const char *const exactly[] = { "/", "/tmp", "/var/tmp", "/home" };
	static const char *const below[] = { "/bin/",  "/dev/", "/etc/",  "/lib/", "/lib64/",
		                             "/proc/", "/run/", "/sbin/", "/sys/", "/usr/" };
	opk_autofree char *folder = opk_printf("%s/", path);

	for (size_t i = 0; i < sizeof exactly / sizeof *exactly; i++)
		if (!strcmp(path, exactly[i]))
			return true;
	for (size_t i = 0; folder && i < sizeof below / sizeof *below; i++)
		if (!strncmp(folder, below[i], strlen(below[i])))
			return true;
	return !folder;
}

static void add_folder(const char *path, const struct settings *settings)
{
	struct folder *folder;
	int number;

	if (opk_is_same_file(path, settings->cache))
		return;
	number = watch.folders.count < MOST_FOLDERS && !is_everybodys(path)
	                 ? inotify_add_watch(watch.fd, path,
	                                     IN_CLOSE_NOWRITE | IN_CLOSE_WRITE | IN_CREATE
	                                             | IN_MOVED_TO | IN_ONLYDIR)
	                 : -1;
	watch.partial |= number < 0;
	/* A folder that has a watch gets the same number again. */
	if (number < 0
	    || (watch.folders.count
	        && number <= watch.folders.items[watch.folders.count - 1].watch))
		return;
	folder = opk_list_add(&watch.folders);
	if (folder)
		*folder = (struct folder){ number, opk_strdup(path) };
	watch.partial |= !folder || !folder->path;
}

static void add_folder_of(const char *file, const struct settings *settings)
{
	opk_autofree char *real = realpath(file, NULL);

	if (real)
		add_folder(dirname(real), settings);
}

/* Hidden ones are of git and other tools; links are not followed. */
static bool is_folder(const char *path, const struct dirent *entry)
{
	struct stat info;

	if (*entry->d_name == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return false;
	return entry->d_type == DT_DIR || (!lstat(path, &info) && S_ISDIR(info.st_mode));
}

static void add_below(const char *path, const struct settings *settings)
{
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && watch.folders.count < MOST_FOLDERS && (entry = readdir(folder)) != NULL) {
		opk_autofree char *name = opk_printf("%s/%s", path, entry->d_name);

		if (name && is_folder(name, entry))
			add_folder(name, settings);
	}
	if (folder)
		closedir(folder);
}

/* The current folder, those of the program and of files that arguments name, and what is below. */
static void add_folders(const struct settings *settings, char **program,
                        const struct cache_key *key)
{
	char current[PATH_MAX];

	if (getcwd(current, sizeof current))
		add_folder(current, settings);
	if (strchr(*program, '/'))
		add_folder_of(*program, settings);
	for (size_t i = 0; i < key->count; i++)
		if (key->items[i].argument)
			add_folder_of(key->items[i].path, settings);
	for (size_t i = 0; i < watch.folders.count; i++)
		add_below(watch.folders.items[i].path, settings);
}

/* ---- while the program runs --------------------------------------------------------------- */

/* A program may read a file a thousand times. */
static void note(struct opk_strlist *paths, const char *folder, const char *name)
{
	if (paths->count >= 2 * MOST_FILES)
		opk_strlist_sort_unique(paths);
	if (!folder || paths->count >= 2 * MOST_FILES
	    || !opk_strlist_take(paths, opk_printf("%s/%s", folder, name)))
		watch.partial = true;
}

static const char *folder_of(int number)
{
	size_t from = 0, to = watch.folders.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (watch.folders.items[middle].watch < number)
			from = middle + 1;
		else
			to = middle;
	}
	return from < watch.folders.count && watch.folders.items[from].watch == number
	               ? watch.folders.items[from].path
	               : NULL;
}

static void take(const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		watch.partial = true;
	if (event->mask & (IN_ISDIR | IN_IGNORED | IN_Q_OVERFLOW) || !event->len)
		return;
	note(event->mask & IN_CLOSE_NOWRITE ? &watch.read : &watch.written, folder_of(event->wd),
	     event->name);
}

static void take_all(void)
{
	_Alignas(struct inotify_event) char events[1 << 16];
	ssize_t size;

	while ((size = read(watch.fd, events, sizeof events)) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct inotify_event *event = (const void *)(events + at);

			take(event);
			at += (ssize_t)(sizeof *event + event->len);
		}
}

/* In turns: to be woken for each file would slow the program down. The queue has 16,384 places. */
static void *run(void *data)
{
	enum { TURN_MS = 20 };
	struct pollfd stop = { .fd = watch.stop[0], .events = POLLIN };

	while (!stop.revents) {
		poll(&stop, 1, TURN_MS);
		take_all();
	}
	return data;
}

void watch_begin(const struct settings *settings, char **program, const struct cache_key *key)
{
	watch.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch.partial = watch.fd < 0;
	if (watch.fd < 0)
		return;
	add_folders(settings, program, key);
	watch.on = !pipe2(watch.stop, O_CLOEXEC) && thread_start(&watch.thread, run, NULL);
	watch.partial |= !watch.on;
}

/* ---- after it ----------------------------------------------------------------------------- */

/* Python reads the file of bytes that it made of a module: it makes it again where that changes. */
static char *source_of(const char *path)
{
	static const char folder[] = "/__pycache__/";
	const char *at = strstr(path, folder), *name = at ? at + strlen(folder) : "";
	opk_autofree char *source = at && opk_ends(name, ".pyc")
	                                    ? opk_printf("%.*s/%.*s.py", (int)(at - path), path,
	                                                 (int)strcspn(name, "."), name)
	                                    : NULL;

	return source && !access(source, F_OK) ? opk_take(source) : opk_strdup(path);
}

/* Recordings are not inputs, files of the key are known, and a file that is gone was temporary. */
static bool is_input(const char *path, const struct cache_key *key)
{
	struct stat info;

	if (opk_ends(path, ".opk") || opk_ends(path, PART_ENDING) || stat(path, &info)
	    || !S_ISREG(info.st_mode))
		return false;
	for (size_t i = 0; i < key->count; i++)
		if (key->items[i].path && key->items[i].seen.st_dev == info.st_dev
		    && key->items[i].seen.st_ino == info.st_ino)
			return false;
	return true;
}

/* What the program, or somebody else, wrote meanwhile is made of other inputs. */
static void choose(struct opk_strlist *paths, const struct cache_key *key)
{
	opk_strlist_sort_unique(&watch.read);
	opk_strlist_sort_unique(&watch.written);
	for (size_t i = 0; i < watch.read.count; i++) {
		opk_autofree char *source = source_of(watch.read.items[i]);

		if (source && is_input(source, key)
		    && !opk_strlist_contains_sorted(&watch.written, source))
			opk_strlist_take(paths, opk_take(source));
	}
	opk_strlist_sort_unique(paths);
}

bool watch_end(struct opk_strlist *paths, const struct cache_key *key)
{
	bool partial = watch.partial;

	if (watch.on) {
		close(watch.stop[1]);
		pthread_join(watch.thread, NULL);
		close(watch.stop[0]);
		close(watch.fd);
		partial = watch.partial;
		if (paths)
			choose(paths, key);
	}
	for (size_t i = 0; i < watch.folders.count; i++)
		free(watch.folders.items[i].path);
	free(watch.folders.items);
	opk_strlist_clear(&watch.read);
	opk_strlist_clear(&watch.written);
	memset(&watch, 0, sizeof watch);
	return !partial;
}
