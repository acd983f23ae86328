/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child that reads unverified bytes can do, and what it can't. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "child/child.h"
#include "container/container.h"
#include "images/images.h"
#include "folder.h"

/* Whether children are confined. Coverage builds do not confine them: they write counts. */
static bool has_landlock(void)
{
#ifdef OPK_COVERAGE
	return false;
#else
	return syscall(444, NULL, (size_t)0, 1) > 0;
#endif
}

/* ---- deeds: each returns 0, or the errno of its failure */

static int outcome(long result)
{
	return result < 0 ? errno : 0;
}

static char inside[512], made[512];

static int reads(void)
{
	return outcome(open(inside, O_RDONLY | O_CLOEXEC));
}

static int allocates(void)
{
	opk_autofree char *memory = malloc(64 << 20);

	if (!memory)
		return ENOMEM;
	memset(memory, 1, 64 << 20);
	return 0;
}

static int writes(void)
{
	return outcome(open(inside, O_WRONLY | O_CLOEXEC));
}

static int creates(void)
{
	return outcome(open(made, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int makes_folder(void)
{
	return outcome(mkdir(made, 0700));
}

static int links(void)
{
	return outcome(symlink("x", made));
}

static int renames(void)
{
	return outcome(rename(inside, made));
}

static int removes(void)
{
	return outcome(unlink(inside));
}

static int shortens(void)
{
	return outcome(truncate(inside, 0));
}

static int runs(void)
{
	char *const arguments[] = { (char *)"true", NULL };

	execv("/bin/true", arguments);
	return errno;
}

static const struct deed {
	struct here here;
	int (*run)(void);
	bool refused;
} deeds[] = {
	{ HERE, reads, false },  { HERE, allocates, false },   { HERE, writes, true },
	{ HERE, creates, true }, { HERE, makes_folder, true }, { HERE, links, true },
	{ HERE, renames, true }, { HERE, removes, true },      { HERE, shortens, true },
	{ HERE, runs, true },
};

static int do_deed(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct deed *deed = data;
	int result = deed->run();

	(void)ctx;
	opk_put(child, &result, sizeof result);
	return OPK_OK;
}

TEST_EACH(confined, deeds)
{
	freed(opk_ctx) *ctx = NULL;
	struct opk_result found;
	int result;

	if (row->refused && !has_landlock()) {
		printf("skipped: what the kernel would refuse, line %d: no Landlock here\n",
		       row->here.line);
		return;
	}
	ctx = new_ctx();
	put_file("inside", "sound", 5);
	snprintf(inside, sizeof inside, "%s", in_folder("inside"));
	snprintf(made, sizeof made, "%s", in_folder("made"));
	ck_ok(ctx, opk_contain(&found, ctx, do_deed, (void *)row, NULL));
	opk_get(&found, &result, sizeof result);
	ck_ok(ctx, opk_result_check(&found, ctx));
	opk_result_clear(&found);
	ck_row(row, row->refused ? result == EACCES || result == EXDEV : !result, "errno %d",
	       result);
	ck_assert_uint_eq(entries(false), 1);
}

/* ---- limits */

static int tell_limits(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct rlimit limits[2];
	int death = 0;

	(void)ctx;
	(void)data;
	getrlimit(RLIMIT_CORE, &limits[0]);
	getrlimit(RLIMIT_AS, &limits[1]);
	prctl(PR_GET_PDEATHSIG, &death);
	opk_put(child, limits, sizeof limits);
	opk_put(child, &death, sizeof death);
	death = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	opk_put(child, &death, sizeof death);
	return OPK_OK;
}

/* NVIDIA's libraries may use 8 GiB more than their input, as docs/format.md says. */
static void check_space(const struct rlimit *space, uint64_t asked)
{
#ifndef __SANITIZE_ADDRESS__
	uint64_t least = ((uint64_t)8 << 30) + asked;

	ck_assert_uint_eq(space->rlim_cur, space->rlim_max);
	/* The limit also covers what this process has mapped already. */
	ck_assert_uint_gt(space->rlim_max, least);
	ck_assert_uint_lt(space->rlim_max, least + ((uint64_t)4 << 30));
#else
	(void)space;
	(void)asked;
#endif
}

static const uint64_t memory_limits[] = { 0, (uint64_t)100 << 30 };

CTX_TEST_EACH(limited, memory_limits)
{
	struct opk_contain_options options = { .limits.memory = *row };
	struct rlimit limits[2];
	int death[2];
	struct opk_result found;

	ck_ok(ctx, opk_contain(&found, ctx, tell_limits, NULL, &options));
	opk_get(&found, limits, sizeof limits);
	opk_get(&found, death, sizeof death);
	ck_ok(ctx, opk_result_check(&found, ctx));
	opk_result_clear(&found);
	ck_assert_uint_eq(limits[0].rlim_max, 0);
	check_space(&limits[1], *row);
	ck_assert_int_eq(death[0], SIGKILL);
	ck_assert_int_eq(death[1], 1);
}

/* An image may claim any size. */
static int takes_much(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	bool refused;
	void *memory = malloc((size_t)16 << 30);

	(void)ctx;
	(void)data;
	refused = !memory;
	free(memory);
	opk_put(child, &refused, sizeof refused);
	return OPK_OK;
}

CTX_TEST(allocation_beyond_the_limit, .needs = is_plain_build)
{
	struct opk_contain_options options = { .limits.memory = 1 << 20 };
	bool refused = false;
	struct opk_result found;

	ck_ok(ctx, opk_contain(&found, ctx, takes_much, NULL, &options));
	opk_get(&found, &refused, sizeof refused);
	ck_ok(ctx, opk_result_check(&found, ctx));
	ck_assert(refused);
	opk_result_clear(&found);
}

/* Images are in memory one at a time. */
TEST(memory_of_the_largest)
{
	struct opk_section sections[] = { { .plain_size = 1000 },
		                          { .plain_size = 5000 },
		                          { .plain_size = 3000 } };
	struct opk_file file = { .sections = sections, .section_count = COUNT(sections) };
	struct opk_surveyed images[] = { { .file = &file, .section = 0 },
		                         { .file = &file, .section = 1 },
		                         { .file = &file, .section = 2 } };
	struct opk_survey survey = { .images = images, .image_count = COUNT(images) };

	ck_assert_uint_eq(opk_survey_contain(&survey).limits.memory, 4 * 5000);
}

/* ---- a stopped child is not a silent one */

/* Shared by the child, the process that stops it, and its parent. */
struct stopped {
	pid_t child;
	bool over;
};

static int tells_progress(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	volatile struct stopped *stopped = data;

	(void)ctx;
	stopped->child = getpid();
	for (uint64_t i = 0; !stopped->over; i++) {
		usleep(60000);
		opk_child_progress(child, i, UINT64_MAX);
	}
	return OPK_OK;
}

/* Stops both, as a terminal does; the child continues last. */
static void stop_both(pid_t parent, volatile struct stopped *stopped)
{
	while (!stopped->child)
		usleep(1000);
	kill(parent, SIGSTOP);
	kill(stopped->child, SIGSTOP);
	sleep(5);
	kill(parent, SIGCONT);
	usleep(300000);
	kill(stopped->child, SIGCONT);
	usleep(300000);
	stopped->over = true;
	_exit(0);
}

CTX_TEST(stop_is_no_silence)
{
	struct opk_contain_options options = { .timeout_s = 2 };
	struct stopped *stopped = mmap(NULL, sizeof *stopped, PROT_READ | PROT_WRITE,
	                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), pid;

	ck_assert(stopped != MAP_FAILED);
	pid = fork();
	if (!pid)
		stop_both(parent, stopped);
	ck_ok(ctx, opk_contain(NULL, ctx, tells_progress, stopped, &options));
	ck_assert(stopped->over);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	munmap(stopped, sizeof *stopped);
}

/* ---- the last report */

/* What a child that NVIDIA's code corrupted may still write before it hangs. */
static const struct ending {
	struct here here;
	struct opk_report report;
	bool closes, trusted;
	int wanted;
	const char *chain;
} endings[] = {
	{ HERE, { .kind = REPORT_DONE }, false, false, OPK_OK, "" },
	{ HERE, { .kind = REPORT_DONE }, true, false, OPK_OK, "" },
	{ HERE, { .kind = REPORT_DONE, .code = OPK_ENVIDIA }, false, false, OPK_ENVIDIA, "" },
	{ HERE,
	  { .kind = 4711 },
	  false,
	  false,
	  OPK_EINPUT,
	  "NVIDIA's code ran wild on these bytes and was stopped; they are damaged" },
	{ HERE,
	  { .kind = 4711 },
	  false,
	  true,
	  OPK_EFAILED,
	  "a child process sent reports that make no sense" },
};

static int reports_and_hangs(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct ending *ending = data;

	(void)ctx;
	if (write(child->reports, &ending->report, sizeof ending->report) < 0)
		return OPK_EFAILED;
	if (ending->closes)
		close(child->reports);
	for (;;)
		pause();
}

CTX_TEST_EACH(hangs_after_its_report, endings)
{
	struct opk_contain_options options = { .trusted = row->trusted };
	int code = opk_contain(NULL, ctx, reports_and_hangs, (void *)row, &options);

	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !strcmp(errors_of(ctx), row->chain), "%s", errors_of(ctx));
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- temporary files */

static struct opk_ctx *ctx_with_tmpdir(const char *tmpdir)
{
	struct opk_env env = { .size = sizeof env, .tmpdir = tmpdir };
	struct opk_ctx *ctx;
	struct opk_ctx_options options = OPTIONS(options, .env = &env);

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	return ctx;
}

/* A job that reports the path of its result file. */
static int names_spool(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	char link[64], name[1024];
	ssize_t length;

	(void)ctx;
	(void)data;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(child->spool));
	length = readlink(link, name, sizeof name);
	opk_put_bytes(child, name, length > 0 ? (size_t)length : 0);
	return OPK_OK;
}

TEST(spool_lies_where_told)
{
	freed(opk_ctx) *ctx = ctx_with_tmpdir(folder);
	struct opk_result found;
	char *name;

	ck_ok(ctx, opk_contain(&found, ctx, names_spool, NULL, NULL));
	name = opk_get_bytes(NULL, &found, 1024);
	ck_ok(ctx, opk_result_check(&found, ctx));
	ck_assert_msg(!strncmp(name, folder, strlen(folder)), "%s", name);
	free(name);
	/* The file has no name. */
	ck_assert_uint_eq(entries(false), 0);
	opk_result_clear(&found);
}

TEST(spool_fails_with_reason)
{
	freed(opk_ctx) *ctx = ctx_with_tmpdir(in_folder("none"));

	ck_fails(ctx, opk_contain(NULL, ctx, names_spool, NULL, NULL), OPK_EFAILED,
	         "/none: can't write a temporary file: No such file or directory; "
	         "let TMPDIR name another folder");
}

static int writes_much(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	static const char zeros[1 << 20];

	(void)ctx;
	(void)data;
	opk_put(child, zeros, sizeof zeros);
	return OPK_OK;
}

TEST(full_spool)
{
	struct rlimit small = { 1000, 1000 };
	freed(opk_ctx) *ctx = ctx_with_tmpdir(folder);

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_fails(ctx, opk_contain(NULL, ctx, writes_much, NULL, NULL), OPK_EFAILED,
	         ": can't write a temporary file: File too large; "
	         "let TMPDIR name a folder with more room");
}

/* ---- results */

static const char long_text[40000];

static int puts_all(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	(void)ctx;
	(void)data;
	opk_put_number(child, 7);
	opk_put_bytes(child, "text", 4);
	opk_put_bytes(child, NULL, 0);
	opk_put_bytes(child, long_text, sizeof long_text);
	opk_put_number(child, UINT64_MAX);
	return OPK_OK;
}

CTX_TEST(result_as_put)
{
	struct opk_strlist texts = { 0 };
	struct opk_result result, part;
	opk_autofree void *bytes = NULL;
	size_t size;

	ck_ok(ctx, opk_contain(&result, ctx, puts_all, NULL, NULL));
	/* A part can be read by itself, also after the whole was freed. */
	part = opk_result_part(&result, result.end - 8, 8);
	ck_assert_uint_eq(opk_get_number(&result, 7), 7);
	opk_get_text(&texts, &result, 4);
	opk_get_text(&texts, &result, 0);
	ck_assert_str_eq(texts.items[0], "text");
	ck_assert_str_eq(texts.items[1], "");
	bytes = opk_get_bytes(&size, &result, sizeof long_text);
	ck_assert_uint_eq(size, sizeof long_text);
	ck_assert_int_eq(memcmp(bytes, long_text, size), 0);
	ck_assert_uint_eq(opk_get_number(&result, UINT64_MAX), UINT64_MAX);
	ck_ok(ctx, opk_result_check(&result, ctx));
	opk_result_clear(&result);
	ck_assert_uint_eq(opk_get_number(&part, UINT64_MAX), UINT64_MAX);
	ck_ok(ctx, opk_result_check(&part, ctx));
	opk_result_clear(&part);
	opk_strlist_clear(&texts);
}

static void read_too_large_number(struct opk_result *result)
{
	ck_assert_uint_eq(opk_get_number(result, 6), 0);
}

static void read_too_long_text(struct opk_result *result)
{
	opk_get_number(result, 7);
	ck_assert_ptr_null(opk_get_bytes(NULL, result, 3));
}

static void read_number_as_size(struct opk_result *result)
{
	struct opk_result whole = *result;

	*result = opk_result_part(&whole, result->end - 8, 8);
	opk_result_clear(&whole);
	ck_assert_ptr_null(opk_get_bytes(NULL, result, UINT64_MAX));
}

static void read_past_the_end(struct opk_result *result)
{
	char all[41000];

	opk_get(result, all, sizeof all);
	ck_assert_int_eq(all[0], 0);
}

static void read_part_past_the_end(struct opk_result *result)
{
	struct opk_result whole = *result;

	*result = opk_result_part(&whole, result->end - 8, 9);
	opk_result_clear(&whole);
}

static void read_part_before_the_start(struct opk_result *result)
{
	struct opk_result whole = *result;

	opk_get_number(&whole, 7);
	*result = opk_result_part(&whole, 0, 8);
	opk_result_clear(&whole);
}

static void find_nonsense(struct opk_result *result)
{
	opk_result_expect(result, true);
	ck_assert_int_eq(result->code, OPK_OK);
	opk_result_expect(result, false);
}

static void (*const misreadings[])(struct opk_result *result) = {
	read_too_large_number,  read_too_long_text,         read_number_as_size, read_past_the_end,
	read_part_past_the_end, read_part_before_the_start, find_nonsense,
};

/* One failure, which sticks. */
CTX_TEST_EACH(result_is_not_believed, misreadings)
{
	struct opk_strlist texts = { 0 };
	struct opk_result result;

	ck_ok(ctx, opk_contain(&result, ctx, puts_all, NULL, NULL));
	(*row)(&result);
	ck_assert_uint_eq(opk_get_number(&result, UINT64_MAX), 0);
	opk_get_text(&texts, &result, UINT64_MAX);
	ck_assert_uint_eq(texts.count, 0);
	ck_code(ctx, opk_result_check(&result, ctx), OPK_EINPUT);
	ck_assert_str_eq(errors_of(ctx),
	                 "the result of a child process is damaged, as its input must be");
	opk_result_clear(&result);
}

/* Its output is discarded, in the child and here. */
static int prints(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	(void)ctx;
	(void)data;
	(void)child;
	return write(STDOUT_FILENO, "wild", 4) == 4 && write(STDERR_FILENO, "wild", 4) == 4
	               ? OPK_OK
	               : OPK_EFAILED;
}

CTX_TEST(silent)
{
	int kept[2] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) };
	int file = open(in_folder("out"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat info;
	int code;

	fflush(NULL);
	dup2(file, STDOUT_FILENO);
	dup2(file, STDERR_FILENO);
	code = opk_contain(NULL, ctx, prints, NULL, NULL);
	dup2(kept[0], STDOUT_FILENO);
	dup2(kept[1], STDERR_FILENO);
	ck_ok(ctx, code);
	ck_assert_int_eq(fstat(file, &info), 0);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_eq(info.st_size, 0);
#endif
	close(file);
}

/* The child redirects 1 and 2 to nowhere: files of the library must not have these numbers. */
static int reads_file(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	opk_autofree void *section = NULL;
	size_t size;
	int code = opk_file_read(&section, &size, ctx, data, 0);

	if (!code)
		opk_put(child, "put", 3);
	return code;
}

CTX_TEST(standard_descriptors_closed)
{
	struct opk_newfile new_file = { .fd = -1 };
	struct opk_result result;
	freed(opk_file) *file = NULL;
	char put[4] = "";
	int kept[3], code, fds[2];

	fflush(NULL);
	for (int i = 0; i < 3; i++) {
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	code = opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-simple.opk");
	fds[0] = code ? -1 : file->fd;
	code = code ? code
	            : opk_newfile_create(&new_file, ctx, in_folder("new"), NULL, OPK_OUTPUT_TABLE);
	fds[1] = new_file.fd;
	code = code ? code : opk_contain(&result, ctx, reads_file, file, NULL);
	for (int i = 0; i < 3; i++)
		dup2(kept[i], i);
	ck_ok(ctx, code);
	ck_assert_int_gt(fds[0], 2);
	ck_assert_int_gt(fds[1], 2);
	opk_get(&result, put, 3);
	ck_ok(ctx, opk_result_check(&result, ctx));
	ck_assert_str_eq(put, "put");
	opk_result_clear(&result);
	opk_newfile_discard(&new_file);
}

/* A program's own files never get these numbers. */
TEST(standard_descriptors_reserved)
{
	int kept[3], found[3], next, code[2];
	char byte = 0;

	fflush(NULL);
	for (int i = 0; i < 3; i++) {
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	opk_reserve_standard();
	code[0] = read(0, &byte, 1) < 0 ? errno : 0;
	code[1] = write(1, &byte, 1) < 0 ? errno : 0;
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		found[i] = fcntl(i, F_GETFD);
		dup2(kept[i], i);
	}
	ck_assert_int_eq(code[0], EBADF);
	ck_assert_int_eq(code[1], EBADF);
	ck_assert_int_gt(next, 2);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(found[i], FD_CLOEXEC);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
