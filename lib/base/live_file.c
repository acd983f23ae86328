/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that the library writes in another program's process. */
#include "base/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/descriptor.h"

enum { OURS_ALONE = 0600 };

static bool is_it(const struct opk_live_file *file, int fd, struct stat *info)
{
	return opk_is_still(fd, file->device, file->inode, info);
}

/* Another user could have guessed the name: follows no link, and does not wait for a pipe. */
static int open_again(struct opk_live_file *file)
{
	int fd = opk_out_of_the_way(
		open(file->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
	struct stat info;

	file->fd = -1;
	if (fd < 0)
		return opk_fail_errno(file->ctx, OPK_EFAILED, "can't open again", file->path);
	if (is_it(file, fd, &info)) {
		file->fd = fd;
		return OPK_OK;
	}
	close(fd);
	return opk_fail(file->ctx, OPK_EFAILED, "%s: can't open again: another file has its name",
	                file->path);
}

int opk_live_find(struct opk_live_file *file)
{
	struct stat info;

	if (!is_it(file, file->fd, &info))
		return open_again(file);
	if (info.st_nlink)
		return OPK_OK;
	return opk_fail(file->ctx, OPK_EFAILED, "%s: it was deleted", file->path);
}

int opk_live_write(struct opk_live_file *file, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		ssize_t put;

		TRY(opk_live_find(file));
		put = pwrite(file->fd, from, size, (off_t)file->size);
		if (put >= 0) {
			from += put;
			size -= (size_t)put;
			file->size += (uint64_t)put;
		} else if (errno != EINTR && errno != EBADF) {
			return opk_fail_errno(file->ctx, OPK_EFAILED, "can't write", file->path);
		}
	}
	return OPK_OK;
}

void opk_live_close(struct opk_live_file *file)
{
	struct stat info;

	if (is_it(file, file->fd, &info))
		close(file->fd);
}

static bool identify(struct opk_live_file *file, int fd, struct stat *info)
{
	if (fd < 0 || fstat(fd, info))
		return false;
	file->device = info->st_dev;
	file->inode = info->st_ino;
	return true;
}

int opk_live_create(struct opk_live_file *file, struct opk_ctx *ctx, const char *path)
{
	struct stat info;

	*file = (struct opk_live_file){ .ctx = ctx, .path = path };
	file->fd = opk_out_of_the_way(
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OURS_ALONE));
	if (!identify(file, file->fd, &info))
		return opk_fail_errno(ctx, OPK_EFAILED, "can't create", path);
	/* The program's umask may deny even us access; some file systems have no modes. */
	if ((info.st_mode & 0777) != OURS_ALONE && fchmod(file->fd, OURS_ALONE))
		errno = 0;
	return OPK_OK;
}

int opk_live_resume(struct opk_live_file *file, struct opk_ctx *ctx, const char *path, int fd,
                    uint64_t size)
{
	struct stat info;

	*file = (struct opk_live_file){ .ctx = ctx, .path = path, .fd = -1, .size = size };
	if (!identify(file, fd, &info))
		return opk_fail_errno(ctx, OPK_EFAILED, "can't open", path);
	TRY(opk_live_find(file));
	return ftruncate(file->fd, (off_t)size)
	               ? opk_fail_errno(ctx, OPK_EFAILED, "can't write", path)
	               : OPK_OK;
}
