/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors: their numbers, and complete reads and writes. */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Opens stdin for writing, and others for reading, so that using them fails. */
static int open_useless(int number)
{
	int flags = O_CLOEXEC | (number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	int fd = open("/dev/null", flags);

	return fd >= 0 ? fd : open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void opk_reserve_standard(void)
{
	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
		if (fcntl(number, F_GETFD) < 0 && errno == EBADF && open_useless(number) < 0)
			return;
}

/* Replaces `fd` by a copy whose number is at least `lowest`. */
static int move(int fd, int lowest)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, lowest), error = errno;

	close(fd);
	errno = error;
	return copy;
}

int opk_beyond_standard(int fd)
{
	return fd < 0 || fd > STDERR_FILENO ? fd : move(fd, STDERR_FILENO + 1);
}

bool opk_both_beyond_standard(int ends[2])
{
	ends[0] = opk_beyond_standard(ends[0]);
	ends[1] = opk_beyond_standard(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return true;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	errno = EMFILE;
	return false;
}

int opk_out_of_the_way(int fd)
{
	/* Each fork copies the table up to the highest number: a very high one would be slow. */
	enum { END = 1024, ROOM = 32 };
	struct rlimit limit;
	int copy, end = END;

	if (fd < 0)
		return fd;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < END)
		end = (int)limit.rlim_cur;
	copy = end > 2 * ROOM ? fcntl(fd, F_DUPFD_CLOEXEC, end - ROOM) : -1;
	if (copy < 0)
		return opk_beyond_standard(fd);
	close(fd);
	return copy;
}

bool opk_is_still(int fd, dev_t device, ino_t inode, struct stat *info)
{
	return fd >= 0 && !fstat(fd, info) && info->st_dev == device && info->st_ino == inode;
}

bool opk_pread_all(int fd, void *data, size_t size, uint64_t offset)
{
	uint8_t *to = data;

	while (size) {
		ssize_t got = pread(fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = 0;
		if (got <= 0)
			return false;
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool opk_write_all(int fd, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		ssize_t put = write(fd, from, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		from += put;
		size -= (size_t)put;
	}
	return true;
}
