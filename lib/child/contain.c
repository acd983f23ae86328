/* SPDX-License-Identifier: BSD-2-Clause */
/* A crew of children: starts and watches them, and reports an error if one ends badly. */
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/descriptor.h"
#include "base/spool.h"

enum {
	MAX_TIMEOUT_S = 86400,
	EXIT_MS = 1000,
};

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

/* A child, as its parent sees it. */
struct watched {
	pid_t pid;      /* 0: reaped, or not started */
	int fd;         /* its reports; -1: closed */
	int spool;      /* -1: no spool, or handed over */
	int64_t silent; /* ms since its last report */
	uint64_t done, total;
	enum {
		SILENT,    /* it has not reported its end */
		REPORTED,  /* it has reported its code and causes */
		LATE,      /* it was silent too long */
		WILD,      /* its reports make no sense */
		DISMISSED, /* another one failed */
	} end;
	int code;
	int status;           /* of waitpid */
	struct opk_buf heard; /* an incomplete report; at the end, the causes */
};

struct crew {
	struct watched *children;
	const struct opk_contained *jobs; /* one for each child */
	unsigned timeout_s;
	int64_t looked; /* when it was last looked at, ms */
	const struct opk_contain_options *options;
};

/* ---- in a child */

struct task {
	struct opk_child child;
	const struct crew *crew;
	void *data;
	int read_end; /* the parent's end of the pipe */
	int spool;
};

static void run(void *data)
{
	struct task *task = data;
	struct opk_child *child = &task->child;
	struct opk_ctx *ctx = child->ctx;
	int code;

	close(task->read_end);
	opk_clear_errors(ctx);
	/* A log may take locks that other threads held at the fork; nothing unlocks them here. */
	ctx->log = NULL;
	if (task->spool >= 0 && !(child->spool = fdopen(task->spool, "w")))
		opk_child_end(child, opk_spool_fail(ctx));
	code = task->crew->jobs->work(ctx, task->data, child);
	if (!code && child->spool && fflush(child->spool))
		code = opk_spool_fail(ctx);
	opk_child_end(child, code);
}

/* ---- reports */

static void forget(struct opk_buf *heard, size_t size)
{
	heard->size -= size;
	memmove(heard->data, heard->data + size, heard->size);
}

/* Takes all complete reports; false if no more will come. A wild child may write anything. */
static bool understand(struct watched *child)
{
	struct opk_buf *heard = &child->heard;
	struct opk_report report;

	while (heard->size >= sizeof report) {
		memcpy(&report, heard->data, sizeof report);
		if (report.kind == REPORT_PROGRESS) {
			child->done = report.progress;
			child->total = report.total;
			forget(heard, sizeof report);
			continue;
		}
		if (report.kind != REPORT_DONE || report.code < OPK_OK || report.code > OPK_ENOMEM
		    || report.length > OPK_MAX_CHAIN_SIZE) {
			child->end = WILD;
			return false;
		}
		if (heard->size - sizeof report < report.length)
			return true;
		child->end = REPORTED;
		child->code = report.code;
		forget(heard, sizeof report);
		return false;
	}
	return true;
}

/* Reads the available reports; false if no more will come. */
static bool hear(struct watched *child)
{
	uint8_t bytes[1 << 12];
	ssize_t got = read(child->fd, bytes, sizeof bytes);

	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	child->silent = 0;
	opk_buf_add(&child->heard, bytes, (size_t)got);
	return !child->heard.failed && understand(child);
}

/* ---- ends */

/* Gives a child that has finished its work a second to exit, since it may hang. */
static void let_exit(const struct watched *child)
{
	struct pollfd reports = { .fd = child->fd };

	if (child->pid > 0 && child->end == REPORTED)
		poll(&reports, 1, EXIT_MS);
}

/* Ends `count` children from `first` on: first kills all, then waits for them. */
static void end(struct crew *crew, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		struct watched *child = &crew->children[i];

		let_exit(child);
		if (child->fd >= 0)
			close(child->fd);
		child->fd = -1;
		/* The child may still run. */
		if (child->pid > 0)
			kill(child->pid, SIGKILL);
	}
	for (size_t i = first; i < first + count; i++) {
		struct watched *child = &crew->children[i];

		/* If the program ignores SIGCHLD, there is no status. */
		while (child->pid > 0 && waitpid(child->pid, &child->status, 0) < 0
		       && errno == EINTR)
			;
		child->pid = 0;
	}
}

/* If a child fails, dismisses the children after it, or all others if they are trusted. */
static void end_and_dismiss(struct crew *crew, size_t i)
{
	struct watched *failed = &crew->children[i];
	size_t first = crew->options->trusted ? 0 : i + 1;

	end(crew, i, 1);
	if (failed->end == REPORTED && !failed->code)
		return;
	for (size_t j = first; j < crew->jobs->count; j++)
		if (crew->children[j].pid)
			crew->children[j].end = DISMISSED;
	end(crew, first, crew->jobs->count - first);
}

/* ---- watching */

static void tell_progress(const struct crew *crew, struct opk_ctx *ctx)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < crew->jobs->count; i++) {
		done += crew->children[i].done;
		total += crew->children[i].total;
	}
	opk_progress(ctx, crew->options->phase, done,
	             crew->options->total ? crew->options->total : total);
}

/* Waits until a child reports or is late; false when all have ended. */
static bool watch(struct crew *crew, struct opk_ctx *ctx, struct pollfd *ready)
{
	nfds_t live = 0;
	int64_t passed;

	for (size_t i = 0; i < crew->jobs->count; i++) {
		ready[i] = (struct pollfd){ .fd = crew->children[i].fd, .events = POLLIN };
		live += ready[i].fd >= 0;
	}
	if (!live)
		return false;
	if (poll(ready, crew->jobs->count, OPK_CHILD_TICK_MS) < 0)
		return true;
	passed = opk_awake_ms(&crew->looked);
	for (size_t i = 0; i < crew->jobs->count; i++) {
		struct watched *child = &crew->children[i];

		if (child->fd < 0)
			continue;
		if (!ready[i].revents) {
			child->silent += passed;
			if (!crew->options->trusted
			    && child->silent > (int64_t)crew->timeout_s * 1000)
				child->end = LATE;
		}
		if (ready[i].revents ? !hear(child) : child->end == LATE)
			end_and_dismiss(crew, i);
	}
	tell_progress(crew, ctx);
	return true;
}

/* ---- errors */

/* "SIGSEGV"; NULL for a signal that does not mean a crash. */
static const char *crash_name(int signal_number)
{
	static const struct {
		int number;
		const char *name;
	} crashes[] = {
		{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGILL, "SIGILL" },
		{ SIGFPE, "SIGFPE" },   { SIGABRT, "SIGABRT" }, { SIGTRAP, "SIGTRAP" },
		{ SIGSYS, "SIGSYS" },   { SIGXCPU, "SIGXCPU" },
	};

	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		if (signal_number == crashes[i].number)
			return crashes[i].name;
	return NULL;
}

static int take_causes(struct opk_ctx *ctx, const struct watched *child)
{
	struct opk_reader causes = { .data = child->heard.data, .left = child->heard.size };

	if (causes.left)
		opk_errors_get(ctx, &causes);
	return child->code;
}

/* The error for a child that ended without a report. */
static int judge_end(struct opk_ctx *ctx, int status, bool trusted)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number && !crash_name(number))
		return opk_fail(ctx, OPK_EFAILED, "a child process was ended from outside (%s)",
		                strsignal(number));
	if (number && trusted)
		return opk_fail(ctx, OPK_EFAILED, "a child process crashed (%s)",
		                crash_name(number));
	if (number)
		return opk_fail(
			ctx, OPK_EINPUT,
			"NVIDIA's code crashed on these bytes (signal %d, %s); they are damaged",
			number, strsignal(number));
	if (trusted)
		return opk_fail(ctx, OPK_EFAILED, "a child process ended before its work (exit %d)",
		                WEXITSTATUS(status));
	return opk_fail(
		ctx, OPK_EINPUT,
		"NVIDIA's code ended the process on these bytes (exit %d); they are damaged",
		WEXITSTATUS(status));
}

int opk_fail_silent(struct opk_ctx *ctx, unsigned seconds)
{
	int code =
		opk_fail(ctx, OPK_EINPUT,
	                 "NVIDIA's code made no progress for %u s on these bytes and was stopped; "
	                 "they are damaged, or the timeout is too short",
	                 seconds);

	return opk_os_error(ctx, code, ETIMEDOUT);
}

static int judge(struct opk_ctx *ctx, const struct watched *child, const struct crew *crew)
{
	bool trusted = crew->options->trusted;

	if (child->heard.failed)
		return opk_nomem(ctx, "child processes");
	switch (child->end) {
	case DISMISSED:
		return OPK_OK;
	case REPORTED:
		return take_causes(ctx, child);
	case LATE:
		return opk_fail_silent(ctx, crew->timeout_s);
	case WILD:
		if (trusted)
			return opk_fail(ctx, OPK_EFAILED,
			                "a child process sent reports that make no sense");
		return opk_fail(ctx, OPK_EINPUT,
		                "NVIDIA's code ran wild on these bytes and was stopped; they are "
		                "damaged");
	default:
		return judge_end(ctx, child->status, trusted);
	}
}

/* ---- the crew */

/* The child's own 1 and 2 will be /dev/null. */
static bool open_pipe(int ends[2])
{
	return !pipe2(ends, O_CLOEXEC) && opk_both_beyond_standard(ends);
}

static int start(struct watched *child, struct opk_ctx *ctx, const struct crew *crew, void *data)
{
	struct task task = { .child = { .ctx = ctx }, .crew = crew, .data = data };
	int ends[2];

	if (!open_pipe(ends))
		return opk_fail(ctx, OPK_EFAILED, "no pipe: %s%s%s", strerror(errno),
		                errno == EMFILE ? "; raise 'ulimit -n'" : "",
		                errno == EMFILE && !crew->options->trusted
		                        ? ", or merge the files first"
		                        : "");
	child->fd = task.read_end = ends[0];
	task.child.reports = ends[1];
	task.spool = child->spool;
	child->pid = opk_child_start(run, &task, &crew->options->limits);
	close(ends[1]);
	return child->pid < 0 ? opk_fail(ctx, OPK_EFAILED, "no child process: %s", strerror(errno))
	                      : OPK_OK;
}

/* Starts all, and watches them until they have ended. */
static int run_crew(struct crew *crew, struct opk_ctx *ctx, bool spooled)
{
	opk_autofree struct pollfd *ready = opk_alloc_array(crew->jobs->count, sizeof *ready);
	uint8_t *data = crew->jobs->data;

	if (!ready)
		return opk_nomem(ctx, "child processes");
	crew->looked = opk_now_ms();
	for (size_t i = 0; i < crew->jobs->count; i++, data += crew->jobs->size) {
		if (spooled)
			TRY(opk_spool_new(&crew->children[i].spool, ctx));
		TRY(start(&crew->children[i], ctx, crew, data));
	}
	while (watch(crew, ctx, ready))
		TRY(opk_check_interrupt(ctx));
	return OPK_OK;
}

static int judge_all(struct crew *crew, struct opk_ctx *ctx)
{
	opk_clear_errors(ctx);
	for (size_t i = 0; i < crew->jobs->count; i++)
		TRY(judge(ctx, &crew->children[i], crew));
	return OPK_OK;
}

int opk_contain_all(struct opk_result *results, struct opk_ctx *ctx,
                    const struct opk_contained *contained,
                    const struct opk_contain_options *options)
{
	static const struct opk_contain_options defaults;
	size_t count = contained->count;
	opk_autofree struct watched *children = opk_alloc_array(count, sizeof *children);
	struct crew crew = { children, contained, .options = options ? options : &defaults };
	unsigned wanted = opk_child_timeout(ctx, crew.options);
	int code;

	if (!children)
		return opk_nomem(ctx, "child processes");
	crew.timeout_s = wanted < MAX_TIMEOUT_S ? wanted : MAX_TIMEOUT_S;
	for (size_t i = 0; i < count; i++)
		children[i].fd = children[i].spool = -1;
	if (results)
		memset(results, 0, count * sizeof *results);
	code = run_crew(&crew, ctx, results != NULL);
	/* Kills what still runs, if a child could not be started, or the crew failed. */
	end(&crew, 0, count);
	code = code ? code : judge_all(&crew, ctx);
	for (size_t i = 0; i < count; i++) {
		opk_buf_clear(&children[i].heard);
		if (!code && results)
			code = opk_result_open(&results[i], ctx, children[i].spool);
		else if (children[i].spool >= 0)
			close(children[i].spool);
	}
	for (size_t i = 0; code && results && i < count; i++)
		opk_result_clear(&results[i]);
	return code;
}

int opk_contain(struct opk_result *result, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options)
{
	opk_autosent struct opk_result own = { 0 };

	return opk_contain_all(result ? result : &own, ctx,
	                       &(struct opk_contained){ .work = work, .data = data, .count = 1 },
	                       options);
}
