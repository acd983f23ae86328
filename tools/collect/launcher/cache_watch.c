/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches which files in the program's folders are read while it runs. inotify reports events of
 * files in order, but not which process causes them: reads by others count, too. Files elsewhere
 * are unknown; --cache-input names them.
 */
#include <libgen.h>
#include <poll.h>
#include <sys/inotify.h>

#include "base/ascii.h"
#include "base/terminal.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

enum { MOST_FOLDERS = 512, MOST_FILES = 20000 };

struct folder {
	int watch;
	char *path;
};

struct file {
	char *path;
	bool input;   /* read before it was written */
	bool changed; /* written or removed afterwards */
};

static struct {
	bool on;
	char unseen[2 * PATH_MAX]; /* the first reason why something could not be seen, or "" */
	int fd, stop[2];
	pthread_t thread;
	OPK_LIST(struct folder) folders; /* in the order of watch numbers, as they are added */
	OPK_LIST(struct file) files;
	struct opk_index by_path;
} watch;

static void miss(const char *what, const char *why)
{
	if (*watch.unseen)
		return;
	snprintf(watch.unseen, sizeof watch.unseen, "%s: %s", what, why);
	opk_terminal_defuse(watch.unseen);
}

/* ---- folders to watch --------------------------------------------------------------------- */

/* Folders that all programs read: programs, libraries, settings, devices. */
static bool is_everybodys(const char *path)
{
	static const char *const exactly[] = { "/", "/home", "/run", "/tmp", "/usr", "/var/tmp" };
	static const char *const below[] = { "/bin/",     "/dev/",       "/etc/",
		                             "/lib/",     "/lib64/",     "/proc/",
		                             "/sbin/",    "/sys/",       "/usr/bin/",
		                             "/usr/lib/", "/usr/lib64/", "/usr/libexec/",
		                             "/usr/sbin/" };
	opk_autofree char *folder = opk_printf("%s/", path);

	for (size_t i = 0; i < sizeof exactly / sizeof *exactly; i++)
		if (!strcmp(path, exactly[i]))
			return true;
	for (size_t i = 0; folder && i < sizeof below / sizeof *below; i++)
		if (!strncmp(folder, below[i], strlen(below[i])))
			return true;
	return !folder;
}

/* The watch number of the folder, or -1 if it can't be watched; reports that if it matters. */
static int add_watch(const char *path)
{
	enum { WHAT = IN_ACCESS | IN_MODIFY | IN_CLOSE | IN_CREATE | IN_DELETE | IN_MOVE };
	int number;

	if (watch.folders.count >= MOST_FOLDERS) {
		miss(path, "more folders than are watched");
		return -1;
	}
	number = inotify_add_watch(watch.fd, path, WHAT | IN_ONLYDIR);
	if (number < 0 && errno != ENOENT)
		miss(path, errno == ENOSPC ? "the limit of inotify watches is reached "
		                             "(fs.inotify.max_user_watches)"
		                           : strerror(errno));
	return number;
}

static void add_folder(const char *path, const struct settings *settings)
{
	struct folder *folder;
	int number;

	if (opk_is_same_file(path, settings->cache))
		return;
	if (is_everybodys(path)) {
		miss(path, "it is not watched, because all programs read there");
		return;
	}
	number = add_watch(path);
	/* A folder that already has a watch gets the same number. */
	if (number < 0
	    || (watch.folders.count
	        && number <= watch.folders.items[watch.folders.count - 1].watch))
		return;
	folder = opk_list_add(&watch.folders);
	if (folder)
		*folder = (struct folder){ number, opk_strdup(path) };
	if (!folder || !folder->path)
		miss(path, "out of memory");
}

/* The program itself is known; a folder that all programs read adds nothing. */
static void add_folder_of_program(const char *program, const struct settings *settings)
{
	opk_autofree char *real = strchr(program, '/') ? realpath(program, NULL) : NULL;
	const char *folder = real ? dirname(real) : NULL;

	if (folder && !is_everybodys(folder))
		add_folder(folder, settings);
	else if (folder && settings->verbose)
		say(0, "cache: %s is not watched, because all programs read there", folder);
}

/* Hidden folders belong to git and other tools; links are not followed. */
static bool is_folder(const char *path, const struct dirent *entry)
{
	struct stat info;

	if (*entry->d_name == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return false;
	return entry->d_type == DT_DIR || (!lstat(path, &info) && S_ISDIR(info.st_mode));
}

static void add_below(const char *path, const struct settings *settings)
{
	opk_autoclosedir DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		opk_autofree char *name = opk_printf("%s/%s", path, entry->d_name);

		if (name && is_folder(name, entry))
			add_folder(name, settings);
		if (watch.folders.count >= MOST_FOLDERS && *watch.unseen)
			break;
	}
}

/* The current folder, the folders of the program and of files in arguments, and all below. */
static void add_folders(const struct settings *settings, char **program,
                        const struct cache_key *key)
{
	char current[PATH_MAX];

	if (getcwd(current, sizeof current))
		add_folder(current, settings);
	add_folder_of_program(*program, settings);
	for (size_t i = 0; i < key->count; i++) {
		opk_autofree char *real = key->items[i].argument
		                                  ? realpath(key->items[i].path, NULL)
		                                  : NULL;

		if (real)
			add_folder(dirname(real), settings);
	}
	for (size_t i = 0; i < watch.folders.count; i++)
		add_below(watch.folders.items[i].path, settings);
}

/* ---- while the program runs --------------------------------------------------------------- */

static int compare_watches(const void *one, const void *other)
{
	const struct folder *a = one, *b = other;

	return a->watch < b->watch ? -1 : a->watch > b->watch;
}

static const char *folder_of(int number)
{
	struct folder wanted = { .watch = number };
	const struct folder *folder = bsearch(&wanted, watch.folders.items, watch.folders.count,
	                                      sizeof wanted, compare_watches);

	return folder ? folder->path : NULL;
}

static struct file *find(const char *path)
{
	size_t at;

	return opk_index_find(&at, &watch.by_path, path) ? &watch.files.items[at] : NULL;
}

/* NULL: too many files. */
static struct file *add(const char *path)
{
	struct file *file = watch.files.count < MOST_FILES ? opk_list_add(&watch.files) : NULL;

	if (!file)
		return NULL;
	file->path = opk_strdup(path);
	if (file->path && opk_index_add(&watch.by_path, file->path, watch.files.count - 1, NULL))
		return file;
	free(file->path);
	watch.files.count--;
	return NULL;
}

/*
 * The first event of a file decides whether it is an input: a file that is created or emptied is
 * not. A program that opens a file for reading and writing, but writes nothing, may have read it by
 * mmap(), which causes no event.
 */
static void note(const char *path, bool writes)
{
	struct file *file = find(path);

	if (file) {
		file->changed |= writes;
		return;
	}
	file = add(path);
	if (file)
		file->input = !writes;
	else
		miss(path, "more files than are remembered");
}

static void take(const struct inotify_event *event)
{
	enum { WRITES = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVE };
	const char *folder = folder_of(event->wd);
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW)
		miss("inotify", "the kernel's queue was full (fs.inotify.max_queued_events)");
	if (event->mask & (IN_ISDIR | IN_IGNORED | IN_Q_OVERFLOW) || !event->len || !folder)
		return;
	if (snprintf(path, sizeof path, "%s/%s", folder, event->name) < (int)sizeof path)
		note(path, event->mask & WRITES);
	else
		miss(folder, "a name in it is too long");
}

/* Returns the number of events. */
static size_t take_all(void)
{
	_Alignas(struct inotify_event) char events[1 << 16];
	size_t count = 0;
	ssize_t size;

	while ((size = read(watch.fd, events, sizeof events)) > 0)
		for (ssize_t at = 0; at < size; count++) {
			const struct inotify_event *event = (const void *)(events + at);

			take(event);
			at += (ssize_t)(sizeof *event + event->len);
		}
	return count;
}

/*
 * Sleeps between reads: waking up for each file would slow the program down. The pauses are shorter
 * while much is read, because the queue holds 16,384 events.
 */
static void *run(void *data)
{
	enum { TURN_MS = 20, BUSY_MS = 1, BUSY = 1000 };
	struct pollfd stop = { .fd = watch.stop[0], .events = POLLIN };
	size_t count = 0;

	while (!stop.revents) {
		poll(&stop, 1, count > BUSY ? BUSY_MS : TURN_MS);
		count = take_all();
	}
	return data;
}

void watch_begin(const struct settings *settings, char **program, const struct cache_key *key)
{
	watch.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch.fd < 0) {
		miss("inotify", strerror(errno));
		return;
	}
	add_folders(settings, program, key);
	if (pipe2(watch.stop, O_CLOEXEC)) {
		miss("a pipe", strerror(errno));
		close(watch.fd);
		return;
	}
	watch.on = thread_start(&watch.thread, run, NULL);
	if (watch.on)
		return;
	miss("a thread", "it can't be started");
	close(watch.fd);
	close(watch.stop[0]);
	close(watch.stop[1]);
}

/* ---- after the program -------------------------------------------------------------------- */

/* The source of a file of Python bytecode: Python makes it again if the source changes. */
static char *source_of(const char *path)
{
	static const char folder[] = "/__pycache__/";
	const char *at = strstr(path, folder), *name = at ? at + strlen(folder) : "";
	opk_autofree char *source = at && opk_ends(name, ".pyc")
	                                    ? opk_printf("%.*s/%.*s.py", (int)(at - path), path,
	                                                 (int)strcspn(name, "."), name)
	                                    : NULL;

	return source && !access(source, F_OK) ? opk_take(source) : NULL;
}

/* Whether the key has the file's state before the run, maybe by another path. */
static bool is_in_key(const struct cache_key *key, const char *path, const struct stat *info,
                      bool changed)
{
	for (size_t i = 0; i < key->count; i++) {
		const struct key_part *part = &key->items[i];

		if (part->path
		    && ((part->seen.st_dev == info->st_dev && part->seen.st_ino == info->st_ino)
		        || (changed && opk_is_same_file(part->path, path))))
			return true;
	}
	return false;
}

/* Skips recordings, files of the key, and temporary files, which are gone. */
static void choose(struct watched *found, const char *path, bool changed,
                   const struct cache_key *key)
{
	struct stat info;
	bool there = !stat(path, &info);

	if (opk_ends(path, ".opk") || opk_ends(path, PART_ENDING)
	    || (there && (!S_ISREG(info.st_mode) || is_in_key(key, path, &info, changed))))
		return;
	if (!changed && there)
		found->failed |= !opk_strlist_add(&found->read, path);
	else if (changed && !found->changed)
		found->failed |= !(found->changed = opk_strdup(path));
}

/* A file that any program wrote before it was read depends on other inputs. */
static void choose_all(struct watched *found, const struct cache_key *key)
{
	for (size_t i = 0; i < watch.files.count; i++) {
		const struct file *file = &watch.files.items[i];
		opk_autofree char *source = file->input ? source_of(file->path) : NULL;

		/* A source that was opened itself is among the files. */
		if (file->input && (!source || !find(source)))
			choose(found, source ? source : file->path, !source && file->changed, key);
	}
	opk_strlist_sort_unique(&found->read);
}

void watch_end(struct watched *found, const struct cache_key *key)
{
	if (watch.on) {
		close(watch.stop[1]);
		pthread_join(watch.thread, NULL);
		close(watch.stop[0]);
		close(watch.fd);
		if (found)
			choose_all(found, key);
	}
	if (found && *watch.unseen)
		found->failed |= !(found->unseen = opk_strdup(watch.unseen));
	for (size_t i = 0; i < watch.folders.count; i++)
		free(watch.folders.items[i].path);
	free(watch.folders.items);
	for (size_t i = 0; i < watch.files.count; i++)
		free(watch.files.items[i].path);
	free(watch.files.items);
	opk_index_clear(&watch.by_path);
	memset(&watch, 0, sizeof watch);
}

void watched_clear(struct watched *found)
{
	opk_strlist_clear(&found->read);
	free(found->changed);
	free(found->unseen);
	*found = (struct watched){ 0 };
}
