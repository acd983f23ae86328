/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs in child processes: results, and all failures of a child. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "allocation.h"
#include "base/mem.h"
#include "child/child.h"
#include "testing.h"

/* ---- fork fails on request; libcheck's own calls come here, too */

static long forks_until_failure = -1;

pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	if (forks_until_failure >= 0 && forks_until_failure-- == 0) {
		errno = EAGAIN;
		return -1;
	}
	return real();
}

/* ---- jobs */

/* The misbehavior of one job; the others behave. */
struct deeds {
	size_t at;
	int (*deed)(struct opk_ctx *ctx);
	pid_t parent;
};

static int32_t expected(size_t i)
{
	return (int32_t)(i * 7 % 1000) - 300;
}

static int job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	const struct deeds *deeds = data;

	ck_assert_int_ne(getpid(), deeds->parent);
	*result = expected(i);
	return deeds->deed && i == deeds->at ? deeds->deed(ctx) : OPK_OK;
}

/* Results with their initial values. */
static int32_t *fresh(size_t count)
{
	int32_t *results = malloc((count + 1) * sizeof *results);

	for (size_t i = 0; i <= count; i++)
		results[i] = -4711;
	return results;
}

static void check_untouched(const int32_t *results, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		ck_assert_int_eq(results[i], -4711);
}

static void check_no_child(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static size_t open_files(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	return count;
}

TEST(results_in_order)
{
	static const struct {
		struct here here;
		size_t count, processes;
	} rows[] = {
		{ HERE, 0, 0 },      { HERE, 0, 1 },     { HERE, 1, 0 },     { HERE, 1, 1 },
		{ HERE, 1, 8 },      { HERE, 7, 0 },     { HERE, 7, 1 },     { HERE, 7, 3 },
		{ HERE, 7, 7 },      { HERE, 10000, 0 }, { HERE, 10000, 1 }, { HERE, 10000, 5 },
		{ HERE, 10000, 64 },
	};

	for (size_t row = 0; row < COUNT(rows); row++) {
		freed(opk_ctx) *ctx = new_ctx();
		struct deeds deeds = { .parent = getpid() };
		struct opk_workers workers = { .job = job, .data = &deeds };
		size_t count = rows[row].count, files = open_files();
		int32_t *results = fresh(count);

		opk_fail(ctx, OPK_EFAILED, "of an earlier call");
		workers.processes = rows[row].processes;
		ck_ok(ctx, opk_workers_run(results, ctx, &workers, count));
		for (size_t i = 0; i < count; i++)
			ck_row(&rows[row], results[i] == expected(i), "%zu: %d", i, results[i]);
		check_untouched(results, count, count + 1);
		check_no_child();
		ck_assert_uint_eq(opk_error_count(ctx), 0);
		ck_assert_uint_eq(open_files(), files);
		free(results);
	}
}

/* ---- failures */

static int fails(struct opk_ctx *ctx)
{
	opk_fail(ctx, OPK_ENVIDIA, "NVIDIA says no");
	return opk_add(ctx, OPK_ENVIDIA, "while planning");
}

static int fails_silently(struct opk_ctx *ctx)
{
	(void)ctx;
	return OPK_EUSAGE;
}

static int fails_at_length(struct opk_ctx *ctx)
{
	char text[5000];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	opk_fail(ctx, OPK_EINPUT, "innermost");
	for (int i = 0; i < 20; i++)
		opk_add(ctx, OPK_EINPUT, "%s", text);
	return opk_add(ctx, OPK_EINPUT, "outermost");
}

static int raises(int number)
{
	/* A sanitizer would turn the signal into an exit. */
	signal(number, SIG_DFL);
	raise(number);
	return OPK_OK;
}

static int segfaults(struct opk_ctx *ctx)
{
	(void)ctx;
	return raises(SIGSEGV);
}

static int aborts(struct opk_ctx *ctx)
{
	(void)ctx;
	return raises(SIGABRT);
}

static int is_killed(struct opk_ctx *ctx)
{
	(void)ctx;
	return raises(SIGKILL);
}

static int exits_happy(struct opk_ctx *ctx)
{
	(void)ctx;
	_exit(0);
}

static int exits(struct opk_ctx *ctx)
{
	(void)ctx;
	_exit(3);
}

static const struct deed_row {
	struct here here;
	int (*deed)(struct opk_ctx *ctx);
	int wanted;
	const char *chain;
} deed_rows[] = {
	{ HERE, fails, OPK_ENVIDIA, "NVIDIA says no <- while planning" },
	{ HERE, fails_silently, OPK_EUSAGE, "" },
	{ HERE, segfaults, OPK_EFAILED, "a child process crashed (SIGSEGV)" },
	{ HERE, aborts, OPK_EFAILED, "a child process crashed (SIGABRT)" },
	{ HERE, is_killed, OPK_EFAILED, "a child process was ended from outside (Killed)" },
	{ HERE, exits_happy, OPK_EFAILED, "a child process ended before its work (exit 0)" },
	{ HERE, exits, OPK_EFAILED, "a child process ended before its work (exit 3)" },
};

static void check_failure(const struct deed_row *row, size_t at, size_t count, size_t processes)
{
	freed(opk_ctx) *ctx = new_ctx();
	struct deeds deeds = { .deed = row->deed, .at = at, .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = processes };
	opk_autofree int32_t *results = fresh(count);
	int code = opk_workers_run(results, ctx, &workers, count);

	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !strcmp(errors_of(ctx), row->chain), "%s", errors_of(ctx));
	check_untouched(results, 0, count + 1);
	check_no_child();
}

TEST_EACH(job_fails, deed_rows)
{
	static const size_t counts[] = { 1, 7, 1000 };

	for (size_t i = 0; i < COUNT(counts); i++)
		for (size_t processes = 1; processes <= 4; processes += 3) {
			check_failure(row, 0, counts[i], processes);
			check_failure(row, counts[i] - 1, counts[i], processes);
		}
}

CTX_TEST(job_fails_at_length)
{
	struct deeds deeds = { .deed = fails_at_length, .at = 5, .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = 3 };
	int32_t results[10];

	ck_code(ctx, opk_workers_run(results, ctx, &workers, 10), OPK_EINPUT);
	ck_assert_uint_eq(opk_error_count(ctx), 22);
	ck_assert_str_eq(opk_error_message(ctx, 0), "innermost");
	ck_assert_uint_eq(strlen(opk_error_message(ctx, 1)), 1024);
	ck_assert_str_eq(opk_error_message(ctx, 21), "outermost");
}

/* Without SIGCHLD there is no exit status; the reports that children write count. */
CTX_TEST(children_that_nobody_waits_for)
{
	struct deeds deeds = { .parent = getpid(), .at = 3 };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = 3 };
	int32_t results[10];

	signal(SIGCHLD, SIG_IGN);
	ck_ok(ctx, opk_workers_run(results, ctx, &workers, 10));
	ck_assert_int_eq(results[9], expected(9));
	deeds.deed = segfaults;
	ck_code(ctx, opk_workers_run(results, ctx, &workers, 10), OPK_EFAILED);
	deeds.deed = fails;
	ck_code(ctx, opk_workers_run(results, ctx, &workers, 10), OPK_ENVIDIA);
	signal(SIGCHLD, SIG_DFL);
	check_no_child();
}

/* ---- what the system refuses */

CTX_TEST(no_process)
{
	struct deeds deeds = { .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = 4 };
	size_t files = open_files();

	for (long n = 0; n <= 4; n++) {
		int32_t *results = fresh(100);
		int code;

		forks_until_failure = n;
		code = opk_workers_run(results, ctx, &workers, 100);
		forks_until_failure = -1;
		ck_assert_int_eq(code, n < 4 ? OPK_EFAILED : OPK_OK);
		ck_assert(n == 4 || told(ctx, "no child process: "));
		check_untouched(results, n < 4 ? 0 : 100, 101);
		check_no_child();
		ck_assert_uint_eq(open_files(), files);
		free(results);
	}
}

CTX_TEST(no_pipe)
{
	struct deeds deeds = { .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds };
	struct rlimit limit, tight;
	int32_t result = -1;
	int code;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = limit;
	tight.rlim_cur = 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	code = opk_workers_run(&result, ctx, &workers, 1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(code, OPK_EFAILED);
	ck_assert_str_eq(errors_of(ctx), "no pipe: Too many open files; raise 'ulimit -n'");
	ck_assert_int_eq(result, -1);
}

/* Each process needs a pipe: fewer processes start than requested, without an error. */
CTX_TEST(few_open_files)
{
	struct deeds deeds = { .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = 500 };
	struct rlimit limit, tight;
	int32_t results[500];
	int code;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = limit;
	tight.rlim_cur = 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	code = opk_workers_run(results, ctx, &workers, COUNT(results));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_ok(ctx, code);
	for (size_t i = 0; i < COUNT(results); i++)
		ck_assert_int_eq(results[i], expected(i));
	check_no_child();
}

CTX_TEST(absurd_counts)
{
	static const size_t counts[] = { SIZE_MAX, SIZE_MAX / 4, SIZE_MAX / 8 };
	struct deeds deeds = { .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds };

	for (size_t i = 0; i < COUNT(counts); i++) {
		ck_fails(ctx, opk_workers_run(NULL, ctx, &workers, counts[i]), OPK_ENOMEM,
		         "out of memory for results");
	}
}

/* The job that `data` names has no memory. */
static int allocating_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	opk_autofree int32_t *copy = NULL;

	if (data && i == *(const size_t *)data)
		fail_allocation(0);
	copy = opk_alloc(sizeof *copy);
	if (!copy)
		return opk_nomem(ctx, "a job");
	*copy = expected(i);
	*result = *copy;
	return OPK_OK;
}

/* The parent allocates twice before the first child. */
CTX_TEST(no_memory)
{
	struct opk_workers workers = { .job = allocating_job, .processes = 1 };
	int32_t results[3] = { -1, -1, -1 };

	for (size_t n = 0; n < 5; n++) {
		size_t at = n - 2;
		int code;

		workers.data = n < 2 ? NULL : &at;
		fail_allocation(n < 2 ? (long)n : 1000);
		code = opk_workers_run(results, ctx, &workers, 3);
		ck_assert(allocation_failed());
		ck_assert_int_eq(code, OPK_ENOMEM);
		ck_assert_str_eq(errors_of(ctx), n < 2 ? "out of memory for child processes"
		                                       : "out of memory for a job");
		ck_assert_int_eq(results[0], -1);
		check_no_child();
	}
	workers.data = NULL;
	fail_allocation(1000);
	ck_ok(ctx, opk_workers_run(results, ctx, &workers, 3));
	ck_assert(!allocation_failed());
	ck_assert_int_eq(results[2], expected(2));
}

/* ---- time */

struct seen {
	pid_t pid;
	size_t calls, done;
};

static void see(void *data, enum opk_phase phase, uint64_t done, uint64_t count)
{
	struct seen *seen = data;

	ck_assert_int_eq(phase, OPK_PHASE_PASSES);
	ck_assert_int_eq(getpid(), seen->pid);
	ck_assert_uint_eq(count, 100);
	ck_assert_uint_ge(done, seen->done);
	ck_assert_uint_le(done, count);
	seen->done = done;
	seen->calls++;
}

static int slow_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	(void)ctx;
	(void)data;
	usleep(10000);
	*result = expected(i);
	return OPK_OK;
}

CTX_TEST(progress)
{
	struct seen seen = { .pid = getpid() };
	struct opk_workers workers = { .job = slow_job, .processes = 2, .phase = OPK_PHASE_PASSES };
	int32_t results[100];

	ctx->progress = see;
	ctx->progress_data = &seen;
	ck_ok(ctx, opk_workers_run(results, ctx, &workers, 100));
	ck_assert_uint_ge(seen.calls, 1);
	ck_assert_uint_ge(seen.done, 1);
}

static int endless_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	(void)result;
	(void)data;
	if (i == 3)
		return opk_fail(ctx, OPK_EFAILED, "the fourth");
	for (;;)
		pause();
}

CTX_TEST(one_failure_ends_all)
{
	struct opk_workers workers = { .job = endless_job, .processes = 4 };
	int32_t results[8];

	ck_code(ctx, opk_workers_run(results, ctx, &workers, 8), OPK_EFAILED);
	ck_assert_str_eq(errors_of(ctx), "the fourth");
	check_no_child();
}

static int pipe_ends[2];

static int telling_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	(void)result;
	(void)ctx;
	(void)data;
	(void)i;
	ck_assert_int_eq(write(pipe_ends[1], "j", 1), 1);
	for (;;)
		pause();
}

/* The pipe reports a hangup when the last child is gone. */
CTX_TEST(no_orphans)
{
	struct opk_workers workers = { .job = telling_job, .processes = 3 };
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_ends), 0);
	pid = fork();
	if (pid == 0) {
		int32_t results[3];

		opk_workers_run(results, ctx, &workers, 3);
		_exit(0);
	}
	close(pipe_ends[1]);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(read(pipe_ends[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	ck_assert_int_eq(read(pipe_ends[0], &byte, 1), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Output in stdio's buffers at the fork is written once, by the parent. */
CTX_TEST(stdio_is_the_parents)
{
	struct deeds deeds = { .parent = getpid() };
	struct opk_workers workers = { .job = job, .data = &deeds, .processes = 4 };
	FILE *file = tmpfile();
	int32_t results[10];

	fputs("once", file);
	ck_ok(ctx, opk_workers_run(results, ctx, &workers, 10));
	ck_assert_int_eq(lseek(fileno(file), 0, SEEK_END), 0);
	fclose(file);
}
