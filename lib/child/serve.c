/* SPDX-License-Identifier: BSD-2-Clause */
/* The kept child's side: this library, run as a program, until its program ends or stops asking. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "child/kept.h"

/* ---- alone */

/* Forks and ends the starter: the program waits for the starter only, not for the kept child. */
static void leave_starter(void)
{
	pid_t pid = fork();

	if (pid)
		_exit(pid < 0);
	setsid();
}

/* Closes all files that the program had open. */
static void close_files(void)
{
	enum { MOST = 1 << 20 };
	struct rlimit limit = { .rlim_cur = MOST };
	int count;

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, OPK_KEPT_SOCKET + 1, ~0U, 0))
		return;
#endif
	/* Before Linux 5.9. */
	getrlimit(RLIMIT_NOFILE, &limit);
	count = limit.rlim_cur < MOST ? (int)limit.rlim_cur : MOST;
	for (int fd = OPK_KEPT_SOCKET + 1; fd < count; fd++)
		close(fd);
}

static void forget_program(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_NAME, "offpeak-child");
	close_files();
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	opk_reserve_standard();
	/* The child's working folder must not keep a file system busy. */
	if (chdir("/"))
		_exit(1);
}

/* A thread that ends this process with the program, even while NVIDIA's code hangs. */
static void *end_with_program(void *unused)
{
	struct pollfd program = { .fd = OPK_KEPT_SOCKET, .events = POLLRDHUP };

	(void)unused;
	while (poll(&program, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void say_hello(void)
{
	struct opk_kept_hello hello = { .pid = getpid() };

	snprintf(hello.version, sizeof hello.version, "%s", opk_version());
	opk_write_all(OPK_KEPT_SOCKET, &hello, sizeof hello);
}

/* ---- works */

struct question {
	struct opk_kept_question said;
	int files[OPK_KEPT_FILES];
};

static bool take_files(struct question *question, struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);

	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS
	    || head->cmsg_len != CMSG_LEN(sizeof question->files))
		return false;
	memcpy(question->files, CMSG_DATA(head), sizeof question->files);
	return true;
}

/* False if no more questions will come, or none came for long. */
static bool hear(struct question *question)
{
	struct pollfd program = { .fd = OPK_KEPT_SOCKET, .events = POLLIN };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof question->files)];
	} files;
	struct iovec part = { &question->said, sizeof question->said };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &files,
		                  .msg_controllen = sizeof files };

	if (poll(&program, 1, OPK_KEPT_IDLE_S * 1000) <= 0)
		return false;
	return recvmsg(OPK_KEPT_SOCKET, &message, MSG_CMSG_CLOEXEC)
	               == (ssize_t)sizeof question->said
	       && take_files(question, &message);
}

static uint8_t *read_request(const struct question *question)
{
	uint8_t *bytes = opk_realloc(NULL, question->said.size);

	if (bytes
	    && opk_pread_all(question->files[OPK_KEPT_REQUEST], bytes, question->said.size, 0))
		return bytes;
	free(bytes);
	return NULL;
}

/* Uses the context of the first request for all: their settings are the same. */
static int work_on(struct opk_ctx **kept, opk_kept_work *work, const struct question *question)
{
	opk_autofree uint8_t *bytes = read_request(question);
	struct opk_reader reader = { .data = bytes, .left = bytes ? question->said.size : 0 };
	struct opk_ctx *ctx = bytes ? opk_settings_get(&reader) : NULL;
	struct opk_child child = { .reports = OPK_KEPT_SOCKET };
	int code = OPK_ENOMEM;

	if (*kept)
		opk_ctx_free(ctx);
	else
		*kept = ctx;
	child.ctx = *kept;
	child.spool = fdopen(question->files[OPK_KEPT_RESULT], "w");
	if (ctx && child.spool)
		code = work(child.ctx, &reader, question->files[OPK_KEPT_INPUT], &child);
	if (child.spool && fclose(child.spool) && !code)
		code = OPK_EFAILED;
	close(question->files[OPK_KEPT_REQUEST]);
	close(question->files[OPK_KEPT_INPUT]);
	return code;
}

void opk_kept_serve(opk_kept_work *work)
{
	const struct opk_limits limits = { .memory = 4 * (uint64_t)OPK_KEPT_MOST_BYTES };
	struct question question;
	struct opk_ctx *ctx = NULL;
	pthread_t watcher;

	leave_starter();
	forget_program();
	opk_child_confine(&limits);
	say_hello();
	if (pthread_create(&watcher, NULL, end_with_program, NULL))
		_exit(1);
	while (hear(&question)) {
		struct opk_report done = { .kind = REPORT_DONE,
			                   .code = work_on(&ctx, work, &question) };

		opk_write_all(OPK_KEPT_SOCKET, &done, sizeof done);
	}
	_exit(0);
}
