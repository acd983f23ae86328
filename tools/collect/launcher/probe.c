/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the GPUs in a child process, where NVIDIA's code may do what it likes. */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

/* In the child: a function of the library, which has one argument or ignores it. */
static int call_library(const char *path, const char *function, int fd)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*call)(int fd);

	*(void **)&call = library ? dlsym(library, function) : NULL;
	return call ? call(fd) : launcher_fail(OPK_EFAILED, "%s", dlerror());
}

/* Another tool's library must not get into it. */
static void become(const char *library, const char *function, int fd)
{
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	settings_export(SETTING_PROBE, "1");
	_exit(call_library(library, function, fd));
}

static int end_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return launcher_fail(OPK_EFAILED, "waiting: %s", strerror(errno));
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	return launcher_fail(OPK_ENVIDIA, "asking the GPUs ended with signal %d (%s)",
	                     WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* What the child writes to `fd`; it holds the pipe's other end alone. */
static void read_all(struct opk_buf *text, int fd)
{
	char piece[4096];
	ssize_t size;

	while ((size = read(fd, piece, sizeof piece)) > 0 || (size < 0 && errno == EINTR))
		opk_buf_add(text, piece, size > 0 ? (size_t)size : 0);
}

static int ask(const char *function, struct opk_buf *text)
{
	opk_autofree char *library = launcher_library();
	int ends[2];
	pid_t pid;

	if (!library)
		return OPK_EFAILED;
	pid = pipe2(ends, O_CLOEXEC) ? -1 : fork();
	if (pid < 0)
		return launcher_fail(OPK_EFAILED, "no process: %s", strerror(errno));
	if (!pid)
		become(library, function, ends[1]);
	close(ends[1]);
	read_all(text, ends[0]);
	close(ends[0]);
	return end_of(pid);
}

int probe_write(const struct settings *settings)
{
	opk_autobuf struct opk_buf nothing = { 0 };
	char name[4096];
	int code = strategy_permission();

	if (code)
		return code;
	if (!name_expand(name, sizeof name, settings->output))
		return launcher_fail(OPK_EUSAGE, "-o %s: no usable name", settings->output);
	return ask("offpeak_probe", &nothing);
}

char *probe_describe(void)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (ask("offpeak_describe", &text))
		return NULL;
	return opk_buf_take_text(&text);
}
