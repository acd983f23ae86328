/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/contain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/mem.h"
#include "domain/confine.h"

enum {
	DEFAULT_TIMEOUT_S = 30,
	MAX_TIMEOUT_S = 86400,
	MAX_CAUSES = 1000,
	MAX_CAUSE = 1024,
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

void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total)
{
	struct report report = { .kind = REPORT_PROGRESS, .progress = done, .total = total };

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

/* What the child needs of opk_contain's arguments. */
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
	code = task->work(task->ctx, task->data, child);
	if (!code && fflush(child->spool))
		code = opk_fail(task->ctx, OPK_EFAILED, "can't write a temporary file: %s",
		                strerror(errno));
	report_outcome(child, task->ctx, code);
}

/* Waits for bytes; false at the end, or with *late after too long a silence. */
static bool read_report_bytes(int fd, void *to, size_t size, unsigned timeout_s, bool *late)
{
	uint8_t *bytes = to;

	while (size) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int events = poll(&ready, 1, (int)timeout_s * 1000);
		ssize_t got;

		if (events < 0 && errno == EINTR)
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

struct outcome {
	bool done; /* the child said how it ended */
	bool late;
	bool wild; /* what it said makes no sense */
	int code;
};

/* A child that ran wild may report anything: lengths and counts are bounded. */
static void listen_to(struct outcome *outcome, struct opk_ctx *ctx, int fd,
                      const struct opk_contain_options *options, unsigned timeout_s)
{
	struct report report;
	size_t causes = 0;

	opk_clear_errors(ctx);
	while (read_report_bytes(fd, &report, sizeof report, timeout_s, &outcome->late)) {
		char text[MAX_CAUSE + 1] = "";

		switch (report.kind) {
		case REPORT_PROGRESS:
			if (options->progress)
				options->progress(options->progress_data, report.progress,
				                  report.total);
			break;
		case REPORT_CAUSE:
			outcome->wild = report.length > MAX_CAUSE || causes++ >= MAX_CAUSES;
			if (outcome->wild
			    || !read_report_bytes(fd, text, report.length, timeout_s,
			                          &outcome->late))
				return;
			opk_add(ctx, OPK_EFAILED, "%s", text);
			break;
		case REPORT_DONE:
			outcome->done = report.code >= OPK_OK && report.code <= OPK_ENOMEM;
			outcome->wild = !outcome->done;
			outcome->code = report.code;
			return;
		default:
			outcome->wild = true;
			return;
		}
	}
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

static int judge(struct opk_ctx *ctx, const struct outcome *outcome, int status,
                 unsigned timeout_s)
{
	if (outcome->late)
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code made no progress for %u s on these bytes and was "
		                "stopped; they are damaged, or --timeout is too short",
		                timeout_s);
	if (outcome->done)
		return outcome->code;
	/* Its end was our doing. */
	if (outcome->wild)
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code ran wild on these bytes and was stopped; they are "
		                "damaged");
	if (WIFSIGNALED(status) && !opk_crash_name(WTERMSIG(status)))
		return opk_fail(ctx, OPK_EFAILED, "the child that evaluates was ended from outside (%s)",
		                strsignal(WTERMSIG(status)));
	if (WIFSIGNALED(status))
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code crashed on these bytes (signal %d, %s); they are damaged",
		                WTERMSIG(status), strsignal(WTERMSIG(status)));
	return opk_fail(ctx, OPK_EINPUT,
	                "NVIDIA's code ended the process on these bytes (exit %d); they are damaged",
	                WEXITSTATUS(status));
}

static int supervise(struct opk_ctx *ctx, pid_t pid, int fd,
                     const struct opk_contain_options *options)
{
	unsigned wanted = options->timeout_s ? options->timeout_s : DEFAULT_TIMEOUT_S;
	unsigned timeout_s = wanted < MAX_TIMEOUT_S ? wanted : MAX_TIMEOUT_S;
	struct outcome outcome = { 0 };
	int status = 0;

	listen_to(&outcome, ctx, fd, options, timeout_s);
	/* Without a sound last word the child may still be running wild. */
	if (!outcome.done)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return judge(ctx, &outcome, status, timeout_s);
}

int opk_contain(FILE **spool, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options)
{
	static const struct opk_contain_options defaults;
	opk_autofclose FILE *file = tmpfile();
	opk_autoclose int read_end = -1;
	struct task task = { .ctx = ctx, .work = work, .data = data };
	int ends[2], code;
	pid_t pid;

	if (!options)
		options = &defaults;
	if (!file || pipe2(ends, O_CLOEXEC))
		return opk_fail(ctx, OPK_EFAILED, "no temporary file or pipe: %s", strerror(errno));
	read_end = ends[0];
	task.child = (struct opk_child){ .spool = file, .reports = ends[1] };
	task.read_end = read_end;
	pid = opk_child_start(run, &task, options->memory);
	close(ends[1]);
	if (pid < 0)
		return opk_fail(ctx, OPK_EFAILED, "no child process: %s", strerror(errno));
	code = supervise(ctx, pid, read_end, options);
	if (code)
		return code;
	rewind(file);
	if (spool)
		*spool = opk_take(file);
	return OPK_OK;
}
