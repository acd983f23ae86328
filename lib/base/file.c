/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are read whole, and files that appear whole or not at all. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/descriptor.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/stream.h"

enum { TEMPORARY_LETTERS = 6 };

bool opk_make_folder(const char *path, mode_t mode)
{
	char *slash = strrchr(path, '/');
	opk_autofree char *parent = slash && slash > path
	                                    ? opk_strndup(path, (size_t)(slash - path))
	                                    : NULL;

	if (!mkdir(path, mode) || errno == EEXIST)
		return true;
	if (errno != ENOENT || !parent || !opk_make_folder(parent, 0777))
		return false;
	return !mkdir(path, mode) || errno == EEXIST;
}

int opk_read_small_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                        size_t most)
{
	opk_autoclose int fd = opk_stream_open(ctx, path);
	opk_autofree uint8_t *bytes = NULL;
	struct stat info;

	if (fd < 0 || fstat(fd, &info))
		return opk_fail_errno(ctx, OPK_EINPUT, "can't open", path);
	if (!S_ISREG(info.st_mode))
		return opk_fail(ctx, OPK_EINPUT, "%s: %s", path,
		                S_ISDIR(info.st_mode) ? "is a folder" : "not a regular file");
	if ((uintmax_t)info.st_size > most)
		return opk_fail(ctx, OPK_EINPUT, "%s: more than %zu bytes", path, most);
	if ((uintmax_t)info.st_size < SIZE_MAX)
		bytes = opk_realloc(NULL, (size_t)info.st_size + 1);
	if (!bytes)
		return opk_fail(ctx, OPK_ENOMEM, "%s: out of memory for %jd bytes", path,
		                (intmax_t)info.st_size);
	if (!opk_pread_all(fd, bytes, (size_t)info.st_size, 0))
		return opk_fail_errno(ctx, OPK_EINPUT, "can't read", path);
	bytes[info.st_size] = '\0';
	*data = opk_take(bytes);
	*size = (size_t)info.st_size;
	return OPK_OK;
}

int opk_read_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path)
{
	return opk_read_small_file(data, size, ctx, path, SIZE_MAX);
}

bool opk_can_replace(const char *path)
{
	opk_autofree char *copy = opk_strdup(path);
	const char *name = copy ? dirname(copy) : NULL;
	struct stat folder, file;

	if (!name || stat(name, &folder) || access(name, W_OK | X_OK))
		return false;
	return !(folder.st_mode & S_ISVTX) || !geteuid() || folder.st_uid == geteuid()
	       || lstat(path, &file) || file.st_uid == geteuid();
}

bool opk_is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool opk_random(void *out, size_t size)
{
	opk_autoclose int fd = -1;

#ifdef SYS_getrandom
	if (syscall(SYS_getrandom, out, size, 0) == (long)size)
		return true;
#endif
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, out, size) == (ssize_t)size;
}

/*
 * Like mkstemp() with a mode, to which the kernel applies the umask. Reading the umask would set it
 * for a moment, while another thread may be creating a file.
 */
static int create_temporary(char *path, mode_t mode)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char *end = path + strlen(path) - TEMPORARY_LETTERS;
	uint8_t random[TEMPORARY_LETTERS];
	int fd = -1;

	for (int tries = 0; fd < 0 && tries < 100; tries++) {
		if (!opk_random(random, sizeof random))
			return -1;
		for (size_t i = 0; i < sizeof random; i++)
			end[i] = letters[random[i] % (sizeof letters - 1)];
		fd = opk_beyond_standard(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

/*
 * The unfinished files. Signal handlers read the list without the lock, so each change is one
 * store. A child process has a copy of the list, but does not own the files.
 */
static struct opk_newfile *volatile unfinished;
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t unfinished_once = PTHREAD_ONCE_INIT;
static pid_t owner;

static void lock_unfinished(void)
{
	pthread_mutex_lock(&unfinished_lock);
}

static void unlock_unfinished(void)
{
	pthread_mutex_unlock(&unfinished_lock);
}

/* A forked child must not wait for a lock whose holder exists in the parent only. */
static void watch_forks(void)
{
	pthread_atfork(lock_unfinished, unlock_unfinished, unlock_unfinished);
}

static void remember(struct opk_newfile *file)
{
	pthread_once(&unfinished_once, watch_forks);
	pthread_mutex_lock(&unfinished_lock);
	if (owner != getpid())
		unfinished = NULL;
	owner = getpid();
	file->next = unfinished;
	unfinished = file;
	pthread_mutex_unlock(&unfinished_lock);
}

static void forget(struct opk_newfile *file)
{
	struct opk_newfile *volatile *at = &unfinished;

	pthread_mutex_lock(&unfinished_lock);
	while (*at && *at != file)
		at = (struct opk_newfile *volatile *)&(*at)->next;
	if (*at)
		*at = file->next;
	pthread_mutex_unlock(&unfinished_lock);
}

void opk_discard_unfinished(void)
{
	for (struct opk_newfile *file = unfinished; owner == getpid() && file; file = file->next)
		unlink(file->temporary);
}

/* Cuts a long name off, so that it fits the file system's limit with the letters after it. */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
	size_t length = strlen(path + folder), most = NAME_MAX - 1 - TEMPORARY_LETTERS;

	return opk_printf("%.*s.XXXXXX", /* as many letters as create_temporary() replaces */
	                  (int)(folder + (length < most ? length : most)), path);
}

/* Gives up the file: with the wrong mode, users could read it who could not read the older file. */
static int refuse_mode(int fd, const char *temporary)
{
	int error = errno;

	close(fd);
	unlink(temporary);
	errno = error;
	return -1;
}

static int begin(struct opk_newfile *file, struct opk_ctx *ctx, const char *path)
{
	*file = (struct opk_newfile){ .ctx = ctx, .fd = -1, .path = opk_strdup(path) };
	return file->path ? OPK_OK : opk_nomem(ctx, "a file name");
}

static int create_for_stream(struct opk_newfile *file, const char *path)
{
	TRY(begin(file, file->ctx, path));
	file->stream = opk_stream_find(file->ctx, path);
	return opk_stream_create(&file->fd, file->ctx, file->stream);
}

/* A live file that could not be opened stays where it is. */
static int begin_live(struct opk_newfile *file, int code)
{
	if (code)
		opk_newfile_discard(file);
	return code;
}

int opk_newfile_create_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path)
{
	TRY(begin(file, ctx, path));
	return begin_live(file, opk_live_create(&file->live, ctx, file->path));
}

int opk_newfile_resume_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path, int fd,
                            uint64_t size)
{
	TRY(begin(file, ctx, path));
	return begin_live(file, opk_live_resume(&file->live, ctx, file->path, fd, size));
}

/*
 * The file or link that already has a new file's name. Another user may have made it, to choose our
 * file's mode. A link's mode is ignored; the mode of another user's file can only deny access.
 */
struct older {
	bool exists, replaced, ours;
	struct stat info;
};

static struct older look_at(const char *path)
{
	struct older older = { .exists = !stat(path, &older.info) };
	struct stat link;

	older.replaced = older.exists && !lstat(path, &link) && !S_ISLNK(link.st_mode);
	older.ours = older.replaced && older.info.st_uid == geteuid();
	return older;
}

/* Never grants more access than the file that it replaces. */
static int create_in_place_of(const struct older *older, char *temporary)
{
	mode_t mode = older->info.st_mode & 0777;
	int fd;

	if (!older->ours)
		return create_temporary(temporary, older->replaced ? mode & 0666 : 0666);
	fd = create_temporary(temporary, 0600);
	return fd >= 0 && fchmod(fd, mode) ? refuse_mode(fd, temporary) : fd;
}

/* A signal comes before the file is there, or when a handler knows of it. */
static bool create_remembered(struct opk_newfile *file, const struct older *older)
{
	opk_autosignals sigset_t before = opk_block_signals();

	file->fd = create_in_place_of(older, file->temporary);
	if (file->fd >= 0)
		remember(file);
	return file->fd >= 0;
}

int opk_newfile_create(struct opk_newfile *file, struct opk_ctx *ctx, const char *path,
                       opk_check_fn *check, enum opk_output output)
{
	opk_autofree char *copy = opk_strdup(path), *temporary = temporary_name(path);
	struct older older = look_at(path);

	*file = (struct opk_newfile){ .ctx = ctx, .fd = -1, .check = check, .output = output };
	if (opk_stream_find(ctx, path))
		return create_for_stream(file, path);
	if (!older.exists && errno == ENAMETOOLONG)
		return opk_fail_errno(ctx, OPK_EFAILED, "can't create", path);
	if (older.exists && !S_ISREG(older.info.st_mode))
		return opk_fail(ctx, OPK_EFAILED, "%s: exists and is not a regular file", path);
	if (!copy || !temporary)
		return opk_nomem(ctx, "a file name");
	if (check)
		TRY(check(ctx, path, output));
	file->replaces = older.ours;
	file->temporary = temporary;
	if (!create_remembered(file, &older)) {
		file->temporary = NULL;
		return opk_fail_errno(ctx, OPK_EFAILED, "can't create", path);
	}
	file->path = opk_take(copy);
	temporary = NULL;
	return OPK_OK;
}

int opk_newfile_make_private(struct opk_newfile *file)
{
	struct stat info;

	if (file->code || file->replaces || file->stream || file->live.path)
		return file->code;
	/* Some file systems have no modes. */
	if (fstat(file->fd, &info) || (fchmod(file->fd, info.st_mode & 0700) && errno != EPERM))
		return opk_fail_errno(file->ctx, OPK_EFAILED, "can't write", file->path);
	return OPK_OK;
}

int opk_newfile_write(void *newfile, const void *data, size_t size)
{
	struct opk_newfile *file = newfile;

	if (!file->code && file->live.path)
		file->code = opk_live_write(&file->live, data, size);
	else if (!file->code && !opk_write_all(file->fd, data, size))
		file->code = opk_fail_errno(file->ctx, OPK_EFAILED, "can't write", file->path);
	return file->code;
}

static void forget_temporary(struct opk_newfile *file)
{
	if (file->temporary)
		forget(file);
	free(opk_take(file->temporary));
}

/* Makes sure that all bytes are on disk or in the pipe, and that the file may take its place. */
static int finish(struct opk_newfile *file)
{
	if (!file->code && file->live.path)
		file->code = opk_live_find(&file->live);
	if (!file->code
	    && !(file->stream ? opk_stream_send(file->stream)
	                      : !fsync(file->live.path ? file->live.fd : file->fd)))
		return opk_fail_errno(file->ctx, OPK_EFAILED, "can't write", file->path);
	if (file->code || !file->check || !file->temporary)
		return file->code;
	return file->check(file->ctx, file->path, file->output);
}

/* Old kernels and some file systems have no flags for renaming. */
static bool is_unsupported(int error)
{
	return error == ENOSYS || error == EINVAL || error == ENOTSUP;
}

static bool is_free(const char *path)
{
	struct stat info;

	return lstat(path, &info) && errno == ENOENT;
}

bool opk_move_new_file(const char *from, const char *to)
{
	errno = ENOSYS;
#if defined RENAME_NOREPLACE && defined SYS_renameat2 /* glibc has the function from 2.28 on */
	if (!syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return true;
#endif
	if (!is_unsupported(errno))
		return false;
	if (is_free(to))
		return !rename(from, to);
	errno = EEXIST;
	return false;
}

bool opk_move_file(const char *from, const char *to)
{
	return is_free(to) ? opk_move_new_file(from, to) : !rename(from, to);
}

int opk_newfile_commit(struct opk_newfile *file)
{
	TRY(finish(file));
	if (file->temporary && !opk_move_file(file->temporary, file->path))
		return opk_fail_errno(file->ctx, OPK_EFAILED, "can't write", file->path);
	forget_temporary(file);
	opk_newfile_discard(file);
	return OPK_OK;
}

static bool exchange(const struct opk_newfile *file)
{
#if defined RENAME_EXCHANGE && defined SYS_renameat2 /* glibc has the function from 2.28 on */
	return !syscall(SYS_renameat2, AT_FDCWD, file->temporary, AT_FDCWD, file->path,
	                RENAME_EXCHANGE);
#else
	(void)file;
	errno = ENOSYS;
	return false;
#endif
}

/* If names can be exchanged, the older file gets the temporary name. */
static bool place(struct opk_newfile *file)
{
	struct stat info;
	bool exists = !stat(file->path, &info);

	if (file->stream)
		return true;
	if (exists && !S_ISREG(info.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (exists && exchange(file)) {
		file->placed = NEWFILE_EXCHANGED;
		return true;
	}
	if (exists && !is_unsupported(errno))
		return false;
	if (!opk_move_file(file->temporary, file->path))
		return false;
	file->placed = exists ? NEWFILE_PUT_OVER : NEWFILE_ADDED;
	return true;
}

/* If taking back fails, the new file stays, and the older one keeps the temporary name. */
static void take_back(struct opk_newfile *file)
{
	if (file->placed == NEWFILE_EXCHANGED && !exchange(file))
		forget_temporary(file);
	else if (file->placed == NEWFILE_ADDED)
		unlink(file->path);
	file->placed = NEWFILE_UNPLACED;
}

/* Blocks signals: meanwhile temporary names belong to older files, which a handler would remove. */
static int place_all(struct opk_newfile *const *files, size_t count)
{
	opk_autosignals sigset_t before = opk_block_signals();
	size_t done = 0;
	int code = OPK_OK;

	while (!code && done < count)
		if (place(files[done]))
			done++;
		else
			code = opk_fail_errno(files[done]->ctx, OPK_EFAILED, "can't write",
			                      files[done]->path);
	while (code && done > 0)
		take_back(files[--done]);
	/* The files that were replaced are removed. */
	for (size_t i = 0; !code && i < count; i++)
		opk_newfile_discard(files[i]);
	return code;
}

int opk_newfiles_commit(struct opk_newfile *const *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		TRY(finish(files[i]));
	return place_all(files, count);
}

void opk_newfile_discard(struct opk_newfile *file)
{
	if (!file->path && !file->temporary)
		return;
	if (file->live.path)
		opk_live_close(&file->live);
	else if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->live.path = NULL;
	if (file->temporary)
		unlink(file->temporary);
	forget_temporary(file);
	free(opk_take(file->path));
}
