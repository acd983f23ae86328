/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs another program inside a child, which waits for it. */
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/descriptor.h"
#include "base/mem.h"

enum { INPUT = 3, CLOSE_ON_EXEC = 1, CLOSE_RANGE = 436, MOST_FILES = 65536 };

/* The input as a file that the program can read; older C libraries lack memfd_create(). */
static int input_of(const struct opk_buf *input)
{
	int fd = (int)syscall(SYS_memfd_create, "input", CLOSE_ON_EXEC);

	if (fd >= 0 && opk_write_all(fd, input->data, input->size) && !lseek(fd, 0, SEEK_SET))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The caller's files may be writable. Kernels before 5.9 can't close a range. */
static void close_from(unsigned first)
{
	if (!syscall(CLOSE_RANGE, first, ~0U, 0))
		return;
	for (unsigned fd = first; fd < MOST_FILES; fd++)
		close((int)fd);
}

/* In the new process: only async-signal-safe calls. */
static void execute(char *const *arguments, int input, int output)
{
	static char *const environment[] = { NULL };
	pid_t parent = getppid();
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || parent == 1)
		_exit(127);
	if (null != STDIN_FILENO && dup2(null, STDIN_FILENO) < 0)
		_exit(127);
	/* A descriptor that has its number already would stay close-on-exec. */
	if (dup2(output, STDOUT_FILENO) < 0 || (input = fcntl(input, F_DUPFD, INPUT + 1)) < 0
	    || dup2(input, INPUT) < 0)
		_exit(127);
	close_from(INPUT + 1);
	execve(arguments[0], arguments, environment);
	_exit(127);
}

static int read_output(struct opk_buf *out, int fd, size_t most)
{
	uint8_t bytes[1 << 14];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof bytes)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || out->size + (size_t)got > most)
			return OPK_EINPUT;
		opk_buf_add(out, bytes, (size_t)got);
		if (out->failed)
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

static int start(struct opk_buf *out, struct opk_ctx *ctx, char *const *arguments, int input,
                 size_t most)
{
	int ends[2], status = 0, code;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return opk_fail(ctx, OPK_EFAILED, "no pipe for %s", arguments[0]);
	pid = fork();
	if (!pid)
		execute(arguments, input, ends[1]);
	close(ends[1]);
	code = pid < 0 ? OPK_EFAILED : read_output(out, ends[0], most);
	/* It may still write. */
	close(ends[0]);
	if (pid > 0 && code)
		kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (code == OPK_ENOMEM)
		return opk_nomem(ctx, "the output of a program");
	if (code == OPK_EINPUT)
		return opk_fail(ctx, OPK_EINPUT, "%s prints more than %zu bytes", arguments[0],
		                most);
	if (code || WEXITSTATUS(status) == 127)
		return opk_fail(ctx, OPK_EFAILED, "%s can't be run", arguments[0]);
	if (WIFSIGNALED(status))
		return opk_fail(ctx, OPK_EINPUT, "%s was ended by signal %d", arguments[0],
		                WTERMSIG(status));
	return status ? opk_fail(ctx, OPK_EINPUT, "%s failed with exit code %d", arguments[0],
	                         WEXITSTATUS(status))
	              : OPK_OK;
}

int opk_child_run(struct opk_buf *out, struct opk_ctx *ctx, char *const *arguments,
                  const struct opk_buf *input, size_t most)
{
	int fd = input_of(input), code;

	if (fd < 0)
		return opk_fail(ctx, OPK_EFAILED, "no file for the input of %s", arguments[0]);
	code = start(out, ctx, arguments, fd, most);
	close(fd);
	return code;
}
