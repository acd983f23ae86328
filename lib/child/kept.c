/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kept children stay and are asked again. They are this library, run as a program: they hold none
 * of the program's memory and files, and start as fast from a large program. The kernel makes them
 * children of the container's first process, so the program's wait() does not return them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/program.h"
#include "base/signals.h"
#include "base/spool.h"
#include "child/kept.h"

struct kept {
	struct kept *next;
	struct opk_buf settings; /* the child serves contexts with equal settings */
	int fd;
	pid_t starter;       /* our child, which forks the kept child; 0: reaped after the hello */
	int starter_process; /* the starter's pidfd, or -1 */
	bool greeted;
	int process; /* the kept child's pidfd, or -1 */
	bool busy;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct kept *all;     /* most recently used first */
static atomic_bool refused;  /* the library's file now has another version */
static size_t users;         /* contexts that have asked */
static atomic_uint failures; /* since the last success */

/* ---- forks: each process has its own kept children */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* A socket that stays open here would keep a child alive after the parent process ends. */
static void in_forked(void)
{
	for (struct kept *kept = all; kept; kept = kept->next) {
		close(kept->fd);
		if (kept->process >= 0)
			close(kept->process);
		if (kept->starter_process >= 0)
			close(kept->starter_process);
	}
	all = NULL;
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_forked);
}

/* ---- begin and end */

/* A pidfd, which is never reused like a pid; -1 before Linux 5.4. */
static int process_of(pid_t pid)
{
#ifdef SYS_pidfd_open
	return opk_beyond_standard((int)syscall(SYS_pidfd_open, pid, 0));
#else
	(void)pid;
	return -1;
#endif
}

/* Kills the process of the pidfd, and reaps it if it is our child. */
static void reap(int process)
{
	enum { OF_PIDFD = 3 }; /* P_PIDFD, which C libraries before 2.36 lack */
	siginfo_t ended = { 0 };

	if (process < 0)
		return;
#ifdef SYS_pidfd_send_signal
	/* A stopped process does not notice that its socket was closed. */
	syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
#endif
	/* ECHILD: not our child, or already reaped. */
	while (waitid((idtype_t)OF_PIDFD, (id_t)process, &ended, WEXITED) < 0 && errno == EINTR)
		;
	close(process);
}

/*
 * After the hello the starter ends by itself; without a hello it hangs. A program that waits for
 * all its children may have reaped it, and a new child may have its pid: the pidfd is still right.
 */
static void end_starter(struct kept *kept)
{
	pid_t pid = kept->starter;
	int process = kept->starter_process;

	kept->starter = 0;
	kept->starter_process = -1;
	reap(process);
	if (process >= 0 || pid <= 0 || waitpid(pid, NULL, WNOHANG))
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Ends the child. Callers hold the lock, so that no new fork keeps the socket open. */
static void hang_up(struct kept *kept)
{
	close(kept->fd);
	kept->fd = -1;
}

static void end(struct kept *kept)
{
	end_starter(kept);
	/* In a container's first process, the kept child is our child. */
	reap(kept->process);
	opk_buf_clear(&kept->settings);
	free(kept);
}

static void unlink_kept(const struct kept *kept)
{
	struct kept **at = &all;

	while (*at && *at != kept)
		at = &(*at)->next;
	if (*at)
		*at = kept->next;
}

struct program {
	char *loader, *library;
	int null;
};

static void program_clear(struct program *program)
{
	free(program->loader);
	free(program->library);
	if (program->null >= 0)
		close(program->null);
}

static bool find_program(struct program *program, void (*entry)(void))
{
	program->null = opk_beyond_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
	return program->null >= 0 && opk_as_program(&program->loader, &program->library, entry);
}

/* The new process shares this program's memory until exec. Discards the loader's output. */
static pid_t run(const struct program *program, int fd)
{
	char *arguments[] = { program->loader, program->library, NULL };
	pid_t pid = vfork();

	if (pid)
		return pid;
	for (int i = 0; i <= STDERR_FILENO; i++)
		if (dup2(program->null, i) < 0)
			_exit(1);
	if (fd == OPK_KEPT_SOCKET)
		fcntl(fd, F_SETFD, 0);
	else if (dup2(fd, OPK_KEPT_SOCKET) < 0)
		_exit(1);
	execv(program->loader, arguments);
	_exit(1);
}

/*
 * Starts the starter, which forks the kept child and ends, so that the kept child is not ours. If
 * that fails, no hello comes. Signals are blocked: handlers would run in both processes.
 */
static pid_t start(const struct program *program, int fd)
{
	opk_autosignals sigset_t before = opk_block_signals();

	return run(program, fd);
}

static bool connect_ends(int ends[2])
{
	return !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)
	       && opk_both_beyond_standard(ends);
}

/* Callers hold the lock: a process forked meanwhile would also have the child's end open. */
static struct kept *start_kept(struct opk_buf *settings, const struct program *program)
{
	struct kept *kept = opk_alloc(sizeof *kept);
	int ends[2];

	if (!kept || !connect_ends(ends)) {
		free(kept);
		return NULL;
	}
	*kept = (struct kept){
		.next = all,
		.settings = *settings,
		.fd = ends[0],
		.busy = true,
		.starter_process = -1,
		.process = -1,
	};
	*settings = (struct opk_buf){ 0 };
	all = kept;
	kept->starter = start(program, ends[1]);
	if (kept->starter > 0)
		kept->starter_process = process_of(kept->starter);
	close(ends[1]);
	return kept;
}

static struct kept *new_kept(struct opk_buf *settings, void (*entry)(void))
{
	__attribute__((cleanup(program_clear))) struct program program = { .null = -1 };
	struct kept *kept;

	/* Not under our lock: this takes the loader's lock, whose holder may be forking. */
	if (!find_program(&program, entry))
		return NULL;
	pthread_mutex_lock(&lock);
	kept = start_kept(settings, &program);
	pthread_mutex_unlock(&lock);
	return kept;
}

/* ---- which one */

/* Whether the child has ended, for example after long idleness. */
static bool has_ended(const struct kept *kept)
{
	struct pollfd child = { .fd = kept->fd };

	return poll(&child, 1, 0) > 0;
}

static bool serves(const struct kept *kept, const struct opk_buf *settings)
{
	return !kept->busy && kept->settings.size == settings->size
	       && !memcmp(kept->settings.data, settings->data, settings->size);
}

static struct kept *take_idle(const struct opk_buf *settings)
{
	struct kept *found;

	pthread_mutex_lock(&lock);
	for (found = all; found && !serves(found, settings);)
		found = found->next;
	if (found)
		found->busy = true;
	pthread_mutex_unlock(&lock);
	return found;
}

static void discard(struct kept *kept)
{
	pthread_mutex_lock(&lock);
	unlink_kept(kept);
	hang_up(kept);
	pthread_mutex_unlock(&lock);
	end(kept);
}

/* Moves the child to the front. If too many are idle, ends the one that was idle for longest. */
static void give_back(struct kept *kept)
{
	enum { MOST_IDLE = 4 };
	size_t most = opk_core_count() < MOST_IDLE ? opk_core_count() : MOST_IDLE, idle = 0;
	struct kept *last = NULL;

	pthread_mutex_lock(&lock);
	unlink_kept(kept);
	kept->busy = false;
	kept->next = all;
	all = kept;
	for (struct kept *at = all; at; at = at->next)
		if (!at->busy) {
			last = at;
			idle++;
		}
	if (idle > most) {
		unlink_kept(last);
		hang_up(last);
	} else {
		last = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (last)
		end(last);
}

/* If children keep failing, as over many damaged files, only every SELDOM-th request starts one. */
static bool is_promising(void)
{
	enum { FEW = 3, SELDOM = 16 };
	static atomic_uint asked;

	return failures < FEW || atomic_fetch_add(&asked, 1) % SELDOM == SELDOM - 1;
}

static struct kept *take(struct opk_buf *settings, const struct opk_kept_ask *ask)
{
	struct kept *kept;

	while ((kept = take_idle(settings))) {
		if (!has_ended(kept))
			return kept;
		discard(kept);
	}
	return ask->only_if_there || refused || !is_promising() ? NULL
	                                                        : new_kept(settings, ask->entry);
}

/* A context that has asked is freed; after the last one, all kept children end. */
static void leave(void)
{
	struct kept *ended = NULL, *next;

	pthread_mutex_lock(&lock);
	if (!--users) {
		ended = all;
		all = NULL;
	}
	for (next = ended; next; next = next->next)
		hang_up(next);
	pthread_mutex_unlock(&lock);
	for (; ended; ended = next) {
		next = ended->next;
		end(ended);
	}
}

static void join(struct opk_ctx *ctx)
{
	if (ctx->leave_kept)
		return;
	ctx->leave_kept = leave;
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
}

/* ---- asking */

static int put_in_file(int *fd, struct opk_ctx *ctx, const struct opk_buf *bytes)
{
	TRY(opk_spool_new(fd, ctx));
	return opk_write_all(*fd, bytes->data, bytes->size) ? OPK_OK : opk_spool_fail(ctx);
}

static bool send_question(const struct kept *kept, size_t size, const int *files)
{
	struct opk_kept_question question = { .size = size };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(OPK_KEPT_FILES * sizeof *files)];
	} control = { .bytes = "" };
	struct iovec part = { &question, sizeof question };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof control };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(OPK_KEPT_FILES * sizeof *files);
	memcpy(CMSG_DATA(head), files, OPK_KEPT_FILES * sizeof *files);
	return sendmsg(kept->fd, &message, MSG_NOSIGNAL) == sizeof question;
}

static int send_all(bool *sent, struct opk_ctx *ctx, const struct kept *kept,
                    const struct opk_buf *request, int input, int result)
{
	opk_autoclose int bytes = -1;
	int code = put_in_file(&bytes, ctx, request);
	int files[] = { bytes, input, result };

	*sent = !code && send_question(kept, request->size, files);
	return code;
}

enum heard { NOTHING, GOES_ON, DONE, FAILED };

static enum heard take_hello(struct kept *kept, struct opk_kept_hello *hello)
{
	hello->version[sizeof hello->version - 1] = '\0';
	refused = refused || strcmp(hello->version, opk_version()) != 0;
	kept->greeted = true;
	kept->process = process_of(hello->pid);
	end_starter(kept);
	return refused ? FAILED : GOES_ON;
}

/* Anything unexpected is a failure: the caller repeats the work in a new child to learn why. */
static enum heard hear(struct kept *kept, struct opk_ctx *ctx, enum opk_phase phase)
{
	union {
		struct opk_kept_hello hello;
		struct opk_report report;
	} said;
	ssize_t size = recv(kept->fd, &said, sizeof said, MSG_DONTWAIT);

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return NOTHING;
	if (!kept->greeted)
		return size == sizeof said.hello ? take_hello(kept, &said.hello) : FAILED;
	if (size != sizeof said.report)
		return FAILED;
	if (said.report.kind == REPORT_PROGRESS) {
		opk_progress(ctx, phase, said.report.progress, said.report.total);
		return GOES_ON;
	}
	return said.report.kind == REPORT_DONE && !said.report.code ? DONE : FAILED;
}

/* Before the hello only the loader can hang, which is not the input's fault. */
static int64_t patience_ms(const struct kept *kept, unsigned seconds)
{
	enum { HELLO_MS = 5000 };
	int64_t most = (int64_t)seconds * 1000;

	return kept->greeted || most < HELLO_MS ? most : HELLO_MS;
}

/*
 * `served`: the child has done the work. A failure code: interrupted, or the child was silent for
 * so long that another child would be, too.
 */
static int wait_for(bool *served, struct opk_ctx *ctx, struct kept *kept,
                    const struct opk_contain_options *options)
{
	unsigned seconds = opk_child_timeout(ctx, options);
	struct pollfd child = { .fd = kept->fd, .events = POLLIN };
	int64_t silent = 0, looked = opk_now_ms();
	enum heard heard = GOES_ON;

	while (heard < DONE && silent <= patience_ms(kept, seconds)) {
		bool says;

		TRY(opk_check_interrupt(ctx));
		says = poll(&child, 1, OPK_CHILD_TICK_MS) > 0;
		silent += opk_awake_ms(&looked);
		if (!says)
			continue;
		heard = hear(kept, ctx, options->phase);
		silent = 0;
	}
	*served = heard == DONE;
	return heard < DONE && kept->greeted ? opk_fail_silent(ctx, seconds) : OPK_OK;
}

static int ask(bool *served, struct opk_ctx *ctx, struct kept *kept, const struct opk_buf *request,
               int result, const struct opk_kept_ask *how)
{
	bool sent;
	int code = send_all(&sent, ctx, kept, request, how->input, result);

	if (sent)
		code = wait_for(served, ctx, kept, how->options);
	if (*served) {
		failures = 0;
		give_back(kept);
		return OPK_OK;
	}
	failures += !opk_interrupted(ctx);
	discard(kept);
	return code;
}

/* A child serves only requests with its rights: a process that drops root's gets another one. */
static void put_rights(struct opk_buf *out)
{
	const uint32_t rights[] = { getuid(), geteuid(), getgid(), getegid() };

	opk_buf_add(out, rights, sizeof rights);
}

int opk_kept_ask(bool *served, struct opk_result *result, struct opk_ctx *ctx,
                 const struct opk_kept_ask *how)
{
	opk_autobuf struct opk_buf settings = { 0 }, request = { 0 };
	struct kept *kept;
	int code, spool;

	*served = false;
	pthread_once(&once, watch_forks);
	opk_settings_put(&settings, ctx);
	opk_buf_add(&request, settings.data, settings.size);
	opk_buf_add(&request, how->request->data, how->request->size);
	put_rights(&settings);
	if (settings.failed || request.failed || how->request->failed)
		return opk_nomem(ctx, "a child process");
	if (!opk_settings_are_absolute(ctx))
		return OPK_OK;
	join(ctx);
	if (!(kept = take(&settings, how)))
		return OPK_OK;
	code = opk_spool_new(&spool, ctx);
	if (code) {
		discard(kept);
		return code;
	}
	code = ask(served, ctx, kept, &request, spool, how);
	if (*served)
		return opk_result_open(result, ctx, spool);
	close(spool);
	return code;
}
