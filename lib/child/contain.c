/* SPDX-License-Identifier: BSD-2-Clause */
#include "child/contain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "child/confine.h"
#include "child/spool.h"

enum {
	DEFAULT_TIMEOUT_S = 30,
	MAX_TIMEOUT_S = 86400,
	MAX_CAUSES = 1000,
	MAX_CAUSE = 1024,
	TICK_MS = 1000,
	REPORT_MS = 50,
};

#ifndef __SANITIZE_ADDRESS__
/* What NVIDIA's libraries may map for themselves. */
static const uint64_t base_memory = (uint64_t)8 << 30;
#endif

/* Reports from child to parent; a cause's text follows its report. */
struct report {
	enum { REPORT_PROGRESS = 1, REPORT_CAUSE, REPORT_DONE } kind;
	int code;          /* DONE */
	uint32_t length;   /* CAUSE */
	uint64_t progress; /* PROGRESS: of total */
	uint64_t total;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total)
{
	struct report report = {
		.kind = REPORT_PROGRESS,
		.progress = child->before + done,
		.total = child->whole ? child->whole : total,
	};
	int64_t now = now_ms();

	if (now - child->told < REPORT_MS)
		return;
	child->told = now;
	opk_write_all(child->reports, &report, sizeof report);
}

void *opk_child_guarded_copy(const void *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t aligned = (size + 7) & ~(size_t)7;
	size_t room = (aligned + page - 1) & ~(page - 1);
	uint8_t *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *copy;

	if (pages == MAP_FAILED || mprotect(pages + room, page, PROT_NONE))
		return NULL;
	copy = pages + room - aligned;
	memcpy(copy, data, size);
	return copy;
}

static void report_outcome(struct opk_child *child, const struct opk_ctx *ctx, int code)
{
	struct report done = { .kind = REPORT_DONE, .code = code };

	size_t first = ctx->error_count > MAX_CAUSES ? ctx->error_count - MAX_CAUSES : 0;

	/* Innermost first; of too many the outer ones matter. */
	for (size_t i = first; code && i < ctx->error_count; i++) {
		struct report cause = { .kind = REPORT_CAUSE };

		cause.length = (uint32_t)strnlen(ctx->errors[i], MAX_CAUSE);
		opk_write_all(child->reports, &cause, sizeof cause);
		opk_write_all(child->reports, ctx->errors[i], cause.length);
	}
	opk_write_all(child->reports, &done, sizeof done);
}

#ifndef __SANITIZE_ADDRESS__
/* What this process has mapped already, which the limit counts too. */
static uint64_t mapped_bytes(void)
{
	opk_autofclose FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file || fscanf(file, "%llu", &pages) != 1)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

/* A sanitizer maps terabytes and reports on stderr: neither may be cut off. */
static void limit(uint64_t memory)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
	uint64_t most = mapped_bytes() + base_memory + memory;
	struct rlimit space = { most, most };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setrlimit(RLIMIT_AS, &space);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
#else
	(void)memory;
#endif
}

pid_t opk_child_start(void (*work)(void *data), void *data, uint64_t memory)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	/* Nobody else would end a child that hangs after its parent was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent) {
		limit(memory);
		opk_confine();
		work(data);
	}
	_exit(0);
}

/* What a child needs of opk_contain_all's arguments. */
struct task {
	struct opk_child child;
	struct opk_ctx *ctx;
	opk_contained_fn *work;
	void *data;
	int read_end; /* the parent's */
};

static void run(void *data)
{
	struct task *task = data;
	struct opk_child *child = &task->child;
	int code;

	close(task->read_end);
	opk_clear_errors(task->ctx);
	code = task->work(task->ctx, task->data, child);
	if (!code && fflush(child->spool))
		code = opk_spool_fail(task->ctx);
	report_outcome(child, task->ctx, code);
}

/* What the parent knows of a child. */
struct watched {
	pid_t pid; /* 0: it was waited for */
	int fd;    /* its reports; -1: it says no more */
	FILE *spool;
	int64_t silent; /* ms since it last said something */
	uint64_t done, total;
	bool told; /* it said how it ended */
	bool late;
	bool wild; /* what it said makes no sense */
	int code;
	int status; /* of waitpid */
	size_t cause_count;
	struct opk_strlist causes;
};

struct crew {
	struct watched *children;
	size_t count;
	unsigned timeout_s;
	int64_t looked; /* when it was last looked after, ms */
	const struct opk_contain_options *options;
};

/* Waits for bytes; false at the end, or with *late after too long a silence. */
static bool read_report_bytes(int fd, void *to, size_t size, unsigned timeout_s, bool *late)
{
	uint8_t *bytes = to;
	unsigned ticks = 0;

	while (size) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int events = poll(&ready, 1, TICK_MS);
		ssize_t got;

		if ((events < 0 && errno == EINTR) || (events == 0 && ++ticks < timeout_s))
			continue;
		*late = events == 0;
		if (events <= 0)
			return false;
		got = read(fd, bytes, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		size -= (size_t)got;
	}
	return true;
}

static bool hear_cause(struct watched *child, uint32_t length, unsigned timeout_s)
{
	char text[MAX_CAUSE + 1] = "";

	child->wild = length > MAX_CAUSE || child->cause_count++ >= MAX_CAUSES;
	if (child->wild || !read_report_bytes(child->fd, text, length, timeout_s, &child->late))
		return false;
	/* Without memory a cause is lost, not the error. */
	opk_strlist_add(&child->causes, text);
	return true;
}

/* One report; false when there are no more. A child that ran wild may say anything: all is bounded. */
static bool hear(struct watched *child, unsigned timeout_s)
{
	struct report report;

	if (!read_report_bytes(child->fd, &report, sizeof report, timeout_s, &child->late))
		return false;
	child->silent = 0;
	switch (report.kind) {
	case REPORT_PROGRESS:
		child->done = report.progress;
		child->total = report.total;
		return true;
	case REPORT_CAUSE:
		return hear_cause(child, report.length, timeout_s);
	case REPORT_DONE:
		child->told = report.code >= OPK_OK && report.code <= OPK_ENOMEM;
		child->wild = !child->told;
		child->code = report.code;
		return false;
	default:
		child->wild = true;
		return false;
	}
}

static bool has_failed(const struct watched *child)
{
	return child->late || child->wild || !child->told || child->code;
}

/* Without a sound last word it may still be running. */
static void end(struct watched *child)
{
	if (child->fd >= 0)
		close(child->fd);
	child->fd = -1;
	if (child->pid <= 0)
		return;
	if (!child->told)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
}

/* The first child that failed tells the error, whichever failed first: what comes after it is in vain. */
static void end_and_dismiss(struct crew *crew, size_t i)
{
	end(&crew->children[i]);
	if (!has_failed(&crew->children[i]))
		return;
	for (size_t j = i + 1; j < crew->count; j++)
		end(&crew->children[j]);
}

static void tell_progress(const struct crew *crew)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < crew->count; i++) {
		done += crew->children[i].done;
		total += crew->children[i].total;
	}
	if (crew->options->progress && total)
		crew->options->progress(crew->options->progress_data, done, total);
}

/* Since the last call. While this process was stopped, its children were, too: that is nobody's silence. */
static int64_t awake_ms(struct crew *crew)
{
	int64_t now = now_ms(), passed = now - crew->looked;

	crew->looked = now;
	return passed < 2 * TICK_MS ? passed : TICK_MS;
}

/* Waits for reports of any child, or for one to be too late; false when all have ended. */
static bool watch(struct crew *crew, struct pollfd *ready)
{
	nfds_t live = 0;
	int64_t passed;

	for (size_t i = 0; i < crew->count; i++)
		ready[i] = (struct pollfd){ .fd = crew->children[i].fd, .events = POLLIN };
	for (size_t i = 0; i < crew->count; i++)
		live += ready[i].fd >= 0;
	if (!live)
		return false;
	if (poll(ready, crew->count, TICK_MS) < 0)
		return true;
	passed = awake_ms(crew);
	for (size_t i = 0; i < crew->count; i++) {
		struct watched *child = &crew->children[i];

		if (child->fd < 0)
			continue;
		if (!ready[i].revents) {
			child->silent += passed;
			child->late = child->silent > (int64_t)crew->timeout_s * 1000;
		}
		if (ready[i].revents ? !hear(child, crew->timeout_s) : child->late)
			end_and_dismiss(crew, i);
	}
	tell_progress(crew);
	return true;
}

const char *opk_crash_name(int signal_number)
{
	static const struct {
		int number;
		const char *name;
	} crashes[] = {
		{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGILL, "SIGILL" },
		{ SIGFPE, "SIGFPE" },   { SIGABRT, "SIGABRT" }, { SIGTRAP, "SIGTRAP" },
		{ SIGSYS, "SIGSYS" },
	};

	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		if (signal_number == crashes[i].number)
			return crashes[i].name;
	return NULL;
}

static int judge(struct opk_ctx *ctx, const struct watched *child, unsigned timeout_s)
{
	int status = child->status;

	if (child->late)
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code made no progress for %u s on these bytes and was "
		                "stopped; they are damaged, or --timeout is too short",
		                timeout_s);
	if (child->told) {
		for (size_t i = 0; i < child->causes.count; i++)
			opk_add(ctx, OPK_EFAILED, "%s", child->causes.items[i]);
		return child->code;
	}
	/* Its end was our doing. */
	if (child->wild)
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code ran wild on these bytes and was stopped; they are "
		                "damaged");
	if (WIFSIGNALED(status) && !opk_crash_name(WTERMSIG(status)))
		return opk_fail(ctx, OPK_EFAILED,
		                "the child that evaluates was ended from outside (%s)",
		                strsignal(WTERMSIG(status)));
	if (WIFSIGNALED(status))
		return opk_fail(
			ctx, OPK_EINPUT,
			"NVIDIA's code crashed on these bytes (signal %d, %s); they are damaged",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return opk_fail(
		ctx, OPK_EINPUT,
		"NVIDIA's code ended the process on these bytes (exit %d); they are damaged",
		WEXITSTATUS(status));
}

static int judge_all(const struct crew *crew, struct opk_ctx *ctx)
{
	opk_clear_errors(ctx);
	for (size_t i = 0; i < crew->count; i++) {
		int code = judge(ctx, &crew->children[i], crew->timeout_s);

		if (code)
			return code;
	}
	return OPK_OK;
}

static int start(struct watched *child, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                 uint64_t memory)
{
	struct task task = { .ctx = ctx, .work = work, .data = data };
	int ends[2];

	if (opk_spool_new(&child->spool, ctx))
		return OPK_EFAILED;
	if (pipe2(ends, O_CLOEXEC))
		return opk_fail(ctx, OPK_EFAILED, "no pipe: %s%s", strerror(errno),
		                errno == EMFILE ? "; raise 'ulimit -n', or merge the files first"
		                                : "");
	child->fd = ends[0];
	task.child = (struct opk_child){ .spool = child->spool, .reports = ends[1] };
	task.read_end = ends[0];
	child->pid = opk_child_start(run, &task, memory);
	close(ends[1]);
	if (child->pid < 0)
		return opk_fail(ctx, OPK_EFAILED, "no child process: %s", strerror(errno));
	return OPK_OK;
}

static int run_crew(struct crew *crew, struct opk_ctx *ctx, opk_contained_fn *work,
                    void *const *data)
{
	opk_autofree struct pollfd *ready = opk_alloc_array(crew->count, sizeof *ready);
	int code = ready ? OPK_OK : opk_nomem(ctx, "child processes");

	crew->looked = now_ms();
	for (size_t i = 0; !code && i < crew->count; i++)
		code = start(&crew->children[i], ctx, work, data[i], crew->options->memory);
	while (!code && watch(crew, ready))
		;
	/* Where one could not be started, the others are not waited for. */
	for (size_t i = 0; i < crew->count; i++)
		end(&crew->children[i]);
	return code ? code : judge_all(crew, ctx);
}

int opk_contain_all(FILE **spools, struct opk_ctx *ctx, opk_contained_fn *work, void *const *data,
                    size_t count, const struct opk_contain_options *options)
{
	static const struct opk_contain_options defaults;
	opk_autofree struct watched *children = opk_alloc_array(count, sizeof *children);
	struct crew crew = { children, count, .options = options ? options : &defaults };
	unsigned wanted = crew.options->timeout_s ? crew.options->timeout_s : DEFAULT_TIMEOUT_S;
	int code;

	if (!children)
		return opk_nomem(ctx, "child processes");
	crew.timeout_s = wanted < MAX_TIMEOUT_S ? wanted : MAX_TIMEOUT_S;
	for (size_t i = 0; i < count; i++)
		children[i].fd = -1;
	code = run_crew(&crew, ctx, work, data);
	for (size_t i = 0; i < count; i++) {
		opk_strlist_clear(&children[i].causes);
		if (!code) {
			rewind(children[i].spool);
			spools[i] = opk_take(children[i].spool);
		} else if (children[i].spool) {
			fclose(children[i].spool);
		}
	}
	return code;
}

int opk_contain(FILE **spool, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options)
{
	opk_autofclose FILE *file = NULL;
	int code = opk_contain_all(&file, ctx, work, &data, 1, options);

	if (!code && spool)
		*spool = opk_take(file);
	return code;
}
