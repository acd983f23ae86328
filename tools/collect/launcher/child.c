/* SPDX-License-Identifier: BSD-2-Clause */
/* Child processes that answer with text. */
#include "collect/launcher/launcher.h"

/* Only the child has the pipe's other end. */
static void read_all(struct opk_buf *text, int fd)
{
	char piece[4096];
	ssize_t size;

	while ((size = read(fd, piece, sizeof piece)) > 0 || (size < 0 && errno == EINTR))
		opk_buf_add(text, piece, size > 0 ? (size_t)size : 0);
}

int child_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int child_ask(struct opk_buf *text, int (*answer)(const void *question, int fd),
              const void *question)
{
	int ends[2];
	pid_t pid = pipe2(ends, O_CLOEXEC) ? -1 : fork();

	if (pid < 0)
		return say(-1, "no process: %s", strerror(errno));
	if (!pid)
		_exit(answer(question, ends[1]));
	close(ends[1]);
	read_all(text, ends[0]);
	close(ends[0]);
	return child_wait(pid);
}
