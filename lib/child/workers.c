/* SPDX-License-Identifier: BSD-2-Clause */
#include "child/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "child/contain.h"

enum {
	MAX_PROCESSES = 1024,
	MAX_CAUSES = 8,
	MAX_CAUSE = 1024,
	TICK_MS = 100,
};

/* What a child says of itself before it ends. */
struct outcome {
	bool told;
	int code;
	size_t cause_count;
	char causes[MAX_CAUSES][MAX_CAUSE];
};

/* The memory that all processes share; outcomes and results lie behind it. */
struct board {
	atomic_size_t next; /* the first job that nobody has taken */
	atomic_size_t done;
	struct outcome *outcomes;
	int32_t *results;
};

/* The caller's side. Process ids are out of the reach of a child that runs wild. */
struct crew {
	const struct opk_workers *workers;
	size_t count;
	size_t processes;
	struct board *board;
	size_t board_size;
	pid_t *pids; /* 0: not started, or ended */
	int alive;   /* a pipe's end, which hangs up when the last child has ended */
};

/* ---- in a child */

static void tell(struct outcome *outcome, const struct opk_ctx *ctx, int code)
{
	size_t first = ctx->error_count > MAX_CAUSES ? ctx->error_count - MAX_CAUSES : 0;

	/* Innermost first; of too many the outer ones matter. */
	for (size_t i = first; code && i < ctx->error_count; i++)
		snprintf(outcome->causes[outcome->cause_count++], MAX_CAUSE, "%s", ctx->errors[i]);
	outcome->code = code;
	outcome->told = true;
}

/* One by one: jobs may differ in length, and taking one costs next to nothing. */
static int do_jobs(const struct crew *crew, struct opk_ctx *ctx)
{
	const struct opk_workers *workers = crew->workers;
	struct board *board = crew->board;
	size_t i;

	while ((i = atomic_fetch_add(&board->next, 1)) < crew->count) {
		int code = workers->job(&board->results[i], ctx, workers->data, i);

		if (code)
			return code;
		atomic_fetch_add(&board->done, 1);
	}
	return OPK_OK;
}

struct worker {
	const struct crew *crew;
	struct opk_ctx *ctx;
	struct outcome *outcome;
};

static void work(void *data)
{
	const struct worker *worker = data;

	tell(worker->outcome, worker->ctx, do_jobs(worker->crew, worker->ctx));
}

/* ---- in the parent */

size_t opk_core_count(void)
{
	cpu_set_t cores;
	long online;

	if (!sched_getaffinity(0, sizeof cores, &cores))
		return (size_t)CPU_COUNT(&cores);
	/* More cores than a cpu_set_t holds. */
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (size_t)online : 1;
}

static size_t process_count(size_t wanted, size_t count)
{
	if (!wanted)
		wanted = opk_core_count();
	if (wanted > MAX_PROCESSES)
		wanted = MAX_PROCESSES;
	return wanted < count ? wanted : count;
}

static int map_board(struct crew *crew, struct opk_ctx *ctx)
{
	size_t before = sizeof *crew->board + crew->processes * sizeof *crew->board->outcomes;
	size_t results, size;
	struct board *board;

	if (__builtin_mul_overflow(crew->count, sizeof *board->results, &results)
	    || __builtin_add_overflow(before, results, &size))
		return opk_nomem(ctx, "results of child processes");
	board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return opk_nomem(ctx, "results of child processes");
	board->outcomes = (struct outcome *)(board + 1);
	board->results = (int32_t *)(board->outcomes + crew->processes);
	crew->board = board;
	crew->board_size = size;
	return OPK_OK;
}

static int start(struct crew *crew, struct opk_ctx *ctx)
{
	int ends[2], code = OPK_OK;

	if (pipe2(ends, O_CLOEXEC))
		return opk_fail(ctx, OPK_EFAILED, "no pipe: %s", strerror(errno));
	crew->alive = ends[0];
	for (size_t i = 0; !code && i < crew->processes; i++) {
		struct worker worker = { crew, ctx, &crew->board->outcomes[i] };
		pid_t pid = opk_child_start(work, &worker, 0);

		if (pid < 0)
			code = opk_fail(ctx, OPK_EFAILED, "no child process: %s", strerror(errno));
		else
			crew->pids[i] = pid;
	}
	close(ends[1]);
	return code;
}

/* A child that ran wild may have written anything: what is read of it is bounded. */
static int judge(struct opk_ctx *ctx, const struct outcome *outcome, int status)
{
	if (outcome->told) {
		for (size_t i = 0; i < outcome->cause_count && i < MAX_CAUSES; i++)
			opk_add(ctx, outcome->code, "%.*s", MAX_CAUSE, outcome->causes[i]);
		return outcome->code;
	}
	if (!WIFSIGNALED(status))
		return opk_fail(ctx, OPK_EFAILED, "a child process ended before its work (exit %d)",
		                WEXITSTATUS(status));
	if (opk_crash_name(WTERMSIG(status)))
		return opk_fail(ctx, OPK_EFAILED, "a child process crashed (%s)",
		                opk_crash_name(WTERMSIG(status)));
	return opk_fail(ctx, OPK_EFAILED, "a child process was ended from outside (%s)",
	                strsignal(WTERMSIG(status)));
}

/* False while it runs. Where the program ignores SIGCHLD, a child that is gone says no status. */
static bool has_ended(pid_t pid, int *status, int flags)
{
	pid_t ended;

	*status = 0;
	while ((ended = waitpid(pid, status, flags)) < 0 && errno == EINTR)
		;
	return ended != 0;
}

/* Waits a tick, or less if the last child ends; true then. */
static bool wait_a_tick(const struct crew *crew)
{
	const struct opk_workers *workers = crew->workers;
	struct pollfd alive = { .fd = crew->alive };
	int events = poll(&alive, 1, TICK_MS);

	if (events == 0 && workers->progress)
		workers->progress(workers->progress_data, atomic_load(&crew->board->done),
		                  crew->count);
	return events > 0;
}

static int watch(const struct crew *crew, struct opk_ctx *ctx)
{
	bool last_ended = false;

	/* Nobody's end is missed: after the last hung up, each is waited for. */
	while (!last_ended) {
		last_ended = wait_a_tick(crew);
		for (size_t i = 0; i < crew->processes; i++) {
			int status, code;

			if (!crew->pids[i]
			    || !has_ended(crew->pids[i], &status, last_ended ? 0 : WNOHANG))
				continue;
			crew->pids[i] = 0;
			code = judge(ctx, &crew->board->outcomes[i], status);
			if (code)
				return code;
		}
	}
	return OPK_OK;
}

/* All are killed before the first is waited for, so that they end side by side. */
static void dismiss(const struct crew *crew)
{
	int status;

	for (size_t i = 0; i < crew->processes; i++)
		if (crew->pids[i])
			kill(crew->pids[i], SIGKILL);
	for (size_t i = 0; i < crew->processes; i++)
		if (crew->pids[i])
			has_ended(crew->pids[i], &status, 0);
}

int opk_workers_run(int32_t *results, struct opk_ctx *ctx, const struct opk_workers *workers,
                    size_t count)
{
	size_t processes = process_count(workers->processes, count);
	opk_autofree pid_t *pids = count ? opk_alloc_array(processes, sizeof *pids) : NULL;
	struct crew crew = { workers, count, processes, .pids = pids, .alive = -1 };
	int code;

	opk_clear_errors(ctx);
	if (!count)
		return OPK_OK;
	if (!pids)
		return opk_nomem(ctx, "child processes");
	code = map_board(&crew, ctx);
	if (code)
		return code;
	code = start(&crew, ctx);
	if (!code)
		code = watch(&crew, ctx);
	dismiss(&crew);
	if (!code)
		memcpy(results, crew.board->results, count * sizeof *results);
	if (crew.alive >= 0)
		close(crew.alive);
	munmap(crew.board, crew.board_size);
	return code;
}
