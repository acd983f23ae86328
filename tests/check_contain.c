/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child that meets unverified bytes can do, and what it can't. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "domain/contain.h"
#include "folder.h"

/* Whether children are confined: where lines are counted they write the counts. */
static bool has_landlock(void)
{
#ifdef OPK_COVERAGE
	return false;
#else
	return syscall(444, NULL, (size_t)0, 1) > 0;
#endif
}

/* ---- deeds: 0, or the errno with which it failed */

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
	char *memory = malloc(64 << 20);

	if (!memory)
		return ENOMEM;
	memset(memory, 1, 64 << 20);
	free(memory);
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
	{ HERE, reads, false },        { HERE, allocates, false }, { HERE, writes, true },
	{ HERE, creates, true },       { HERE, makes_folder, true }, { HERE, links, true },
	{ HERE, renames, true },       { HERE, removes, true },    { HERE, shortens, true },
	{ HERE, runs, true },
};

static int do_deed(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct deed *deed = data;
	int result = deed->run();

	(void)ctx;
	return fwrite(&result, sizeof result, 1, child->spool) == 1 ? OPK_OK : OPK_EFAILED;
}

START_TEST(confined)
{
	const struct deed *deed = &deeds[_i];
	struct opk_ctx *ctx;
	FILE *spool;
	int result;

	if (deed->refused && !has_landlock())
		return;
	ctx = new_ctx();
	put_file("inside", "sound", 5);
	snprintf(inside, sizeof inside, "%s", in_folder("inside"));
	snprintf(made, sizeof made, "%s", in_folder("made"));
	ck_ok(ctx, opk_contain(&spool, ctx, do_deed, (void *)deed, NULL));
	ck_assert_uint_eq(fread(&result, sizeof result, 1, spool), 1);
	fclose(spool);
	ck_row(deed, deed->refused ? result == EACCES || result == EXDEV : !result, "errno %d", result);
	ck_assert_uint_eq(entries(false), 1);
	opk_ctx_free(ctx);
}
END_TEST

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
	fwrite(limits, sizeof limits, 1, child->spool);
	fwrite(&death, sizeof death, 1, child->spool);
	death = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	fwrite(&death, sizeof death, 1, child->spool);
	return OPK_OK;
}

START_TEST(limited)
{
	struct opk_ctx *ctx = new_ctx();
	struct rlimit limits[2];
	int death[2];
	FILE *spool;

	ck_ok(ctx, opk_contain(&spool, ctx, tell_limits, NULL, NULL));
	ck_assert_uint_eq(fread(limits, sizeof limits, 1, spool), 1);
	ck_assert_uint_eq(fread(death, sizeof death, 1, spool), 1);
	fclose(spool);
	ck_assert_uint_eq(limits[0].rlim_max, 0);
#ifndef __SANITIZE_ADDRESS__
	ck_assert(limits[1].rlim_max != RLIM_INFINITY);
#endif
	ck_assert_int_eq(death[0], SIGKILL);
	ck_assert_int_eq(death[1], 1);
	opk_ctx_free(ctx);
}
END_TEST

/* Nothing of it comes out, neither there nor here. */
static int prints(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	(void)ctx;
	(void)data;
	(void)child;
	return write(STDOUT_FILENO, "wild", 4) == 4 && write(STDERR_FILENO, "wild", 4) == 4
	               ? OPK_OK
	               : OPK_EFAILED;
}

START_TEST(silent)
{
	int kept[2] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) };
	int file = open(in_folder("out"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct opk_ctx *ctx = new_ctx();
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
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("contain");
	TCase *tests = tcase_create("contain");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_loop_test(tests, confined, 0, COUNT(deeds));
	tcase_add_test(tests, limited);
	tcase_add_test(tests, silent);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
