/* SPDX-License-Identifier: BSD-2-Clause */
/* A crew of trusted children shares memory with the next job's number and the results. */
#include "child/child.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { MAX_PROCESSES = 1024 };

struct board {
	atomic_size_t next; /* the next job to take */
	int32_t results[];
};

struct work {
	const struct opk_workers *workers;
	size_t count;
	struct board *board;
};

/* Takes jobs one by one: their durations differ, and taking one costs almost nothing. */
static int do_jobs(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct work *work = data;
	const struct opk_workers *workers = work->workers;
	struct board *board = work->board;
	uint64_t done = 0;
	size_t i;

	while ((i = atomic_fetch_add(&board->next, 1)) < work->count) {
		TRY(workers->job(&board->results[i], ctx, workers->data, i));
		opk_child_progress(child, ++done, work->count);
	}
	return OPK_OK;
}

size_t opk_core_count(void)
{
	cpu_set_t cores;
	long online;

	if (!sched_getaffinity(0, sizeof cores, &cores))
		return (size_t)CPU_COUNT(&cores);
	/* The machine has more cores than a cpu_set_t holds. */
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (size_t)online : 1;
}

size_t opk_thread_count(void)
{
	struct stat tasks;

	/* A folder's link count is 2 and one for each folder in it, here one a thread. */
	return stat("/proc/self/task", &tasks) || tasks.st_nlink < 3 ? 2 : tasks.st_nlink - 2;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Each process takes a pipe. Leaves half of the allowed open files for other uses. */
static size_t process_count(size_t wanted, size_t count)
{
	size_t most = least(MAX_PROCESSES, count);
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files))
		most = least(most, files.rlim_cur > 1 ? files.rlim_cur / 2 : 1);
	return least(wanted ? wanted : opk_core_count(), most);
}

static struct board *map_board(size_t *size, size_t count)
{
	struct board *board;

	if (__builtin_mul_overflow(count, sizeof *board->results, size)
	    || __builtin_add_overflow(*size, sizeof *board, size))
		return NULL;
	board = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return board == MAP_FAILED ? NULL : board;
}

int opk_workers_run(int32_t *results, struct opk_ctx *ctx, const struct opk_workers *workers,
                    size_t count)
{
	size_t processes = process_count(workers->processes, count), size;
	struct work work = { workers, count, NULL };
	const struct opk_contain_options options = { .trusted = true,
		                                     .phase = workers->phase,
		                                     .total = count };
	struct opk_contained jobs = { do_jobs, &work, .count = processes };
	int code;

	opk_clear_errors(ctx);
	if (!count)
		return OPK_OK;
	work.board = map_board(&size, count);
	if (!work.board)
		return opk_nomem(ctx, "results of child processes");
	code = opk_contain_all(NULL, ctx, &jobs, &options);
	if (!code)
		memcpy(results, work.board->results, count * sizeof *results);
	munmap(work.board, size);
	return code;
}
