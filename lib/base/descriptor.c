/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors 0, 1 and 2, which may be closed when a program starts. */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Open the wrong way round, so that using it fails. It gets the lowest number that is free. */
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

int opk_beyond_standard(int fd)
{
	int copy, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return copy;
}
