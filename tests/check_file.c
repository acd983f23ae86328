/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear whole or not at all, and files read whole. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "allocation.h"
#include "base/file.h"
#include "base/stream.h"
#include "base/mem.h"
#include "folder.h"
#include "testing.h"

static void write_old(const char *name)
{
	FILE *file = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs("old", file);
	fclose(file);
}

static void check_content(const char *name, const char *wanted)
{
	freed(opk_ctx) *ctx = new_ctx();
	opk_autofree void *data = NULL;
	size_t size;

	ck_ok(ctx, opk_read_file(&data, &size, ctx, in_folder(name)));
	ck_assert_str_eq(data, wanted);
	ck_assert_uint_eq(size, strlen(wanted));
}

CTX_TEST(file_replaced_at_once)
{
	struct opk_newfile file;

	write_old("f");
	ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	ck_ok(ctx, opk_newfile_write(&file, "ne", 2));
	ck_ok(ctx, opk_newfile_write(&file, "w", 1));
	ck_ok(ctx, opk_newfile_write(&file, "", 0));
	check_content("f", "old");
	ck_ok(ctx, opk_newfile_commit(&file));
	check_content("f", "new");
	opk_newfile_discard(&file);
	check_content("f", "new");
	ck_assert_uint_eq(entries(false), 1);
}

CTX_TEST(unfinished_file_leaves_nothing)
{
	struct opk_newfile file;

	ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	ck_ok(ctx, opk_newfile_write(&file, "lost", 4));
	ck_assert_uint_eq(entries(false), 1);
	opk_newfile_discard(&file);
	ck_assert_uint_eq(entries(false), 0);
	opk_newfile_discard(&file);
	write_old("f");
	ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	opk_newfile_discard(&file);
	check_content("f", "old");
	ck_assert_uint_eq(entries(false), 1);
}

/* A signal handler discards any number of files, but none that is complete. */
CTX_TEST(unfinished_files_can_be_discarded)
{
	enum { MANY = 200 };
	struct opk_newfile files[MANY];

	for (size_t i = 0; i < MANY; i++) {
		char name[8];

		snprintf(name, sizeof name, "f%zu", i);
		ck_ok(ctx,
		      opk_newfile_create(&files[i], ctx, in_folder(name), NULL, OPK_OUTPUT_TABLE));
	}
	ck_ok(ctx, opk_newfile_commit(&files[MANY - 1]));
	opk_newfile_discard(&files[MANY / 2]);
	ck_assert_uint_eq(entries(false), MANY - 1);
	opk_discard_unfinished();
	ck_assert_uint_eq(entries(false), 1);
	for (size_t i = 0; i < MANY; i++)
		if (i != MANY / 2)
			opk_newfile_discard(&files[i]);
	ck_assert_uint_eq(entries(false), 1);
}

static void end_by_signal(int number)
{
	(void)number;
	opk_discard_unfinished();
	_exit(0);
}

/* Creates files until the signal comes, which it does within a millisecond. */
static _Noreturn void create_until_signal(struct opk_ctx *ctx, int microseconds)
{
	const struct itimerval timer = { .it_value.tv_usec = microseconds };
	struct opk_newfile file;

	signal(SIGALRM, end_by_signal);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (;;)
		if (opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE))
			_exit(1);
		else
			opk_newfile_discard(&file);
}

/* Many times, for it comes at any moment: once a file was there before a handler knew of it. */
CTX_TEST(signals_leave_no_file)
{
	for (int i = 1; i <= 300; i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			create_until_signal(ctx, 100 + 3 * i);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(entries(false), 0);
	}
}

CTX_TEST(file_mode_obeys_umask)
{
	struct opk_newfile file;
	struct stat info;

	umask(027);
	ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	ck_ok(ctx, opk_newfile_commit(&file));
	opk_newfile_discard(&file);
	ck_assert_int_eq(stat(in_folder("f"), &info), 0);
	ck_assert_int_eq(info.st_mode & 0777, 0640);
}

static mode_t mode_of(const char *name)
{
	struct stat info;

	ck_assert_int_eq(stat(in_folder(name), &info), 0);
	return info.st_mode & 0777;
}

CTX_TEST(older_mode_stays)
{
	static const mode_t modes[] = { 0600, 0640, 0666, 0444 };
	struct opk_newfile file;

	umask(022);
	write_old("f");
	for (size_t i = 0; i < COUNT(modes); i++) {
		ck_assert_int_eq(chmod(in_folder("f"), modes[i]), 0);
		ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
		ck_ok(ctx, opk_newfile_commit(&file));
		opk_newfile_discard(&file);
		ck_assert_int_eq(mode_of("f"), modes[i]);
	}
}

/* A user who foresees the name can't get our bytes into a file with another mode. */
CTX_TEST(mode_of_others)
{
	static const struct {
		struct here here;
		bool link, private;
		mode_t older, wanted;
	} rows[] = {
		{ HERE, true, false, 0666, 0644 },  { HERE, true, true, 0666, 0600 },
		{ HERE, false, false, 0666, 0644 }, { HERE, false, false, 0600, 0600 },
		{ HERE, false, true, 0666, 0600 },  { HERE, false, false, 0755, 0644 },
	};
	char target[512];

	umask(022);
	snprintf(target, sizeof target, "%s", in_folder("target"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = rows[i].link ? "target" : "f";
		struct opk_newfile file;

		/* Only root can give files away. */
		if (!rows[i].link && geteuid())
			continue;
		unlink(in_folder("f"));
		write_old(name);
		ck_assert_int_eq(chmod(in_folder(name), rows[i].older), 0);
		if (rows[i].link)
			ck_assert_int_eq(symlink(target, in_folder("f")), 0);
		else
			ck_assert_int_eq(chown(in_folder("f"), 65534, (gid_t)-1), 0);
		ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
		if (rows[i].private)
			ck_ok(ctx, opk_newfile_make_private(&file));
		ck_ok(ctx, opk_newfile_commit(&file));
		ck_row(&rows[i], mode_of("f") == rows[i].wanted, "%o", mode_of("f"));
	}
}

/* The temporary name is not longer than the longest final name. */
CTX_TEST(long_names)
{
	struct opk_newfile file;
	char name[257];

	for (size_t length = 246; length <= 255; length++) {
		memset(name, 'x', length);
		name[length] = '\0';
		ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder(name), NULL, OPK_OUTPUT_TABLE));
		ck_ok(ctx, opk_newfile_commit(&file));
		opk_newfile_discard(&file);
		ck_assert_int_eq(unlink(in_folder(name)), 0);
	}
	ck_assert_uint_eq(entries(false), 0);
	memset(name, 'x', 256);
	name[256] = '\0';
	ck_fails(ctx, opk_newfile_create(&file, ctx, in_folder(name), NULL, OPK_OUTPUT_TABLE),
	         OPK_EFAILED, "can't create: File name too long");
	ck_assert_uint_eq(entries(false), 0);
}

/* If the last file can't be renamed, the older files are restored, and no new one stays. */
CTX_TEST(all_or_none)
{
	static const char *const names[] = { "a", "b", "c" };
	struct opk_newfile files[3];

	for (int failing = 1; failing >= 0; failing--) {
		write_old("a");
		for (size_t i = 0; i < COUNT(files); i++) {
			ck_ok(ctx, opk_newfile_create(&files[i], ctx, in_folder(names[i]), NULL,
			                              OPK_OUTPUT_TABLE));
			ck_ok(ctx, opk_newfile_write(&files[i], "new", 3));
		}
		if (failing)
			ck_assert_int_eq(mkdir(in_folder("c"), 0700), 0);
		ck_code(ctx,
		        opk_newfiles_commit((struct opk_newfile *const[]){ &files[0], &files[1],
		                                                           &files[2] },
		                            3),
		        failing ? OPK_EFAILED : OPK_OK);
		for (size_t i = 0; i < COUNT(files); i++)
			opk_newfile_discard(&files[i]);
		check_content("a", failing ? "old" : "new");
		ck_assert_uint_eq(entries(false), failing ? 2 : 3);
		if (failing)
			ck_assert_int_eq(rmdir(in_folder("c")), 0);
	}
	ck_ok(ctx, opk_newfiles_commit(NULL, 0));
}

CTX_TEST(odd_targets_are_refused)
{
	static const struct {
		struct here here;
		const char *path, *wanted;
	} rows[] = {
		{ HERE, "/dev/null", "exists and is not a regular file" },
		{ HERE, "pipe", "exists and is not a regular file" },
		{ HERE, ".", "exists and is not a regular file" },
		{ HERE, "link", "exists and is not a regular file" },
		{ HERE, "missing/f", "can't create: No such file or directory" },
	};
	struct opk_newfile file;
	struct stat info;

	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	ck_assert_int_eq(symlink("/dev/null", in_folder("link")), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *path = rows[i].path[0] == '/' ? rows[i].path : in_folder(rows[i].path);
		int code = opk_newfile_create(&file, ctx, path, NULL, OPK_OUTPUT_TABLE);

		ck_row(&rows[i], code == OPK_EFAILED && file.fd < 0, "code %d", code);
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "%s", errors_of(ctx));
		ck_row(&rows[i], entries(false) == 2, "%zu entries", entries(false));
	}
	ck_assert_int_eq(lstat(in_folder("link"), &info), 0);
	ck_assert(S_ISLNK(info.st_mode));
}

/* A full disk fails a write; the first failure fails the commit, and nothing is replaced. */
CTX_TEST(failed_write_fails_the_commit)
{
	static const char much[10000];
	struct rlimit usual, small = { .rlim_cur = 8192 };
	struct opk_newfile file;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &usual), 0);
	small.rlim_max = usual.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	write_old("f");
	ck_ok(ctx, opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_fails(ctx, opk_newfile_write(&file, much, sizeof much), OPK_EFAILED,
	         "/f: can't write: File too large");
	ck_code(ctx, opk_newfile_write(&file, "", 0), OPK_EFAILED);
	ck_code(ctx, opk_newfile_commit(&file), OPK_EFAILED);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &usual), 0);
	opk_newfile_discard(&file);
	check_content("f", "old");
	ck_assert_uint_eq(entries(false), 1);
}

CTX_TEST(newfile_without_memory)
{
	struct opk_newfile file;

	for (long n = 0;
	     is_short(ctx, n,
	              opk_newfile_create(&file, ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
	     n++)
		ck_assert_uint_eq(entries(false), 0);
	opk_newfile_discard(&file);
}

/* ---- live files */

static void create_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *name)
{
	ck_ok(ctx, opk_newfile_create_live(file, ctx, in_folder(name)));
	ck_ok(ctx, opk_newfile_write(file, "one ", 4));
}

/* A file that has the name is not opened, followed or waited for. */
CTX_TEST(live_file_is_new)
{
	struct opk_newfile file;
	char target[512];

	write_old("old");
	snprintf(target, sizeof target, "%s", in_folder("old"));
	ck_assert_int_eq(symlink(target, in_folder("symlink")), 0);
	ck_assert_int_eq(symlink("nowhere", in_folder("dangling")), 0);
	ck_assert_int_eq(link(target, in_folder("hardlink")), 0);
	ck_assert_int_eq(mkfifo(in_folder("fifo"), 0600), 0);
	for (size_t i = 0; i < 5; i++) {
		static const char *const names[] = { "old", "symlink", "dangling", "hardlink",
			                             "fifo" };

		ck_assert_int_eq(opk_newfile_create_live(&file, ctx, in_folder(names[i])),
		                 OPK_EFAILED);
		ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 0), "can't create"));
		opk_newfile_discard(&file);
	}
	check_content("old", "old");
	ck_assert_uint_eq(entries(false), 5);
}

/* Only its owner can read it, with any umask of the program. */
CTX_TEST(live_file_is_ours_alone)
{
	mode_t mask = umask(0777);
	struct opk_newfile file;
	struct stat info;

	create_live(&file, ctx, "f");
	umask(mask);
	ck_assert_int_eq(stat(in_folder("f"), &info), 0);
	ck_assert_int_eq(info.st_mode & 0777, 0600);
	ck_assert_int_gt(file.live.fd, 100);
	ck_ok(ctx, opk_newfile_commit(&file));
	check_content("f", "one ");
}

/* Its descriptor is closed, or is another file's: that file gets no byte, and stays open. */
CTX_TEST(live_file_is_found_again)
{
	struct opk_newfile file;
	int other;

	create_live(&file, ctx, "f");
	close(file.live.fd);
	ck_ok(ctx, opk_newfile_write(&file, "two ", 4));
	other = open(in_folder("other"), O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(dup2(other, file.live.fd), 0);
	close(other);
	other = file.live.fd;
	ck_ok(ctx, opk_newfile_write(&file, "three ", 6));
	ck_assert_int_ne(file.live.fd, other);
	ck_assert_int_ge(dup2(other, file.live.fd), 0);
	other = file.live.fd;
	ck_ok(ctx, opk_newfile_commit(&file));
	ck_assert_int_eq(write(other, "own", 3), 3);
	close(other);
	check_content("f", "one two three ");
	check_content("other", "own");
}

CTX_TEST(live_file_is_gone)
{
	struct opk_newfile file;
	char moved[512];

	create_live(&file, ctx, "f");
	unlink(in_folder("f"));
	ck_assert_int_eq(opk_newfile_write(&file, "two", 3), OPK_EFAILED);
	ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 0), "it was deleted"));
	ck_assert_int_eq(opk_newfile_commit(&file), OPK_EFAILED);
	opk_newfile_discard(&file);
	/* Another file has its name, and the descriptor is closed. */
	create_live(&file, ctx, "g");
	snprintf(moved, sizeof moved, "%s", in_folder("moved"));
	ck_assert_int_eq(rename(in_folder("g"), moved), 0);
	ck_ok(ctx, opk_newfile_write(&file, "two", 3));
	write_old("g");
	close(file.live.fd);
	ck_assert_int_eq(opk_newfile_write(&file, "three", 5), OPK_EFAILED);
	ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 0), "another file has its name"));
	opk_newfile_discard(&file);
	check_content("moved", "one two");
	check_content("g", "old");
}

CTX_TEST(whole_files)
{
	void *data = NULL;
	size_t size;

	write_old("f");
	check_content("f", "old");
	ck_assert_int_eq(truncate(in_folder("f"), 0), 0);
	check_content("f", "");
	ck_fails(ctx, opk_read_file(&data, &size, ctx, in_folder("none")), OPK_EINPUT,
	         "/none: can't open: No such file");
	ck_fails(ctx, opk_read_file(&data, &size, ctx, folder), OPK_EINPUT, "is a folder");
	fail_allocation(0);
	ck_code(ctx, opk_read_file(&data, &size, ctx, in_folder("f")), OPK_ENOMEM);
	ck_assert(allocation_failed());
	ck_assert_ptr_null(data);
}

/* The pipe has no writer: opening it like a file would block forever. */
CTX_TEST(pipe_is_no_file)
{
	void *data = NULL;
	size_t size;

	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	ck_fails(ctx, opk_read_file(&data, &size, ctx, in_folder("pipe")), OPK_EINPUT,
	         "not a regular file");
}

TEST(names_of_streams)
{
	static const struct {
		struct here here;
		const char *path;
		int number;
	} rows[] = {
		{ HERE, "/dev/stdin", 0 },
		{ HERE, "/dev/stdout", 1 },
		{ HERE, "/dev/stderr", 2 },
		{ HERE, "/dev/fd/63", 63 },
		{ HERE, "/proc/self/fd/7", 7 },
		{ HERE, "/dev/fd/", -1 },
		{ HERE, "/dev/fd/63x", -1 },
		{ HERE, "/dev/fd/-1", -1 },
		{ HERE, "/dev/fd/99999999999", -1 },
		{ HERE, "/dev/stdin2", -1 },
		{ HERE, "-", -1 },
		{ HERE, "", -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int number = opk_stream_number(rows[i].path);

		ck_row(&rows[i], number == rows[i].number, "%d", number);
		ck_row(&rows[i], opk_names_stream(rows[i].path) == (number >= 0), "stream");
	}
	ck_assert(!opk_names_stream("/dev/null"));
	ck_assert(!opk_names_stream(folder));
}

/* The whole pipe, even if opened several times, and not a byte more than allowed. */
TEST(pipe_is_kept)
{
	struct opk_ctx *ctx = new_ctx();
	char path[32], *text;
	void *data = NULL;
	int ends[2];
	size_t size;

	ck_assert_int_eq(pipe(ends), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	ck_assert_int_eq(write(ends[1], "content", 7), 7);
	close(ends[1]);
	ck_ok(ctx, opk_stream_read(ctx, path, 7));
	ck_ok(ctx, opk_stream_read(ctx, path, 0));
	for (int i = 0; i < 2; i++) {
		ck_ok(ctx, opk_read_file(&data, &size, ctx, path));
		text = data;
		ck_assert_str_eq(text, "content");
		ck_assert_uint_eq(size, 7);
		free(data);
	}
	close(ends[0]);
	opk_ctx_free(ctx);

	ctx = new_ctx();
	ck_assert_int_eq(pipe(ends), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	ck_assert_int_eq(write(ends[1], "content", 7), 7);
	close(ends[1]);
	ck_fails(ctx, opk_stream_read(ctx, path, 6), OPK_EINPUT, "no more is read from a pipe");
	close(ends[0]);
	opk_ctx_free(ctx);
}

/* A pipe gets nothing before the commit, and then everything, alone or with other files. */
CTX_TEST(pipe_is_written_whole)
{
	struct opk_newfile files[2] = { 0 }, *both[] = { &files[0], &files[1] };
	char path[32], got[32] = "";
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
	ck_ok(ctx, opk_stream_write(ctx, path));
	for (int together = 0; together < 2; together++) {
		ck_ok(ctx, opk_newfile_create(&files[0], ctx, path, NULL, OPK_OUTPUT_TABLE));
		ck_ok(ctx,
		      opk_newfile_create(&files[1], ctx, in_folder("f"), NULL, OPK_OUTPUT_TABLE));
		ck_ok(ctx, opk_newfile_write(&files[0], "content", 7));
		ck_assert_int_eq(read(ends[0], got, sizeof got), -1);
		ck_ok(ctx, together ? opk_newfiles_commit(both, 2) : opk_newfile_commit(&files[0]));
		ck_assert_int_eq(read(ends[0], got, sizeof got), 7);
		ck_assert_str_eq(got, "content");
		opk_newfile_discard(&files[1]);
		ck_assert_uint_eq(entries(false), together);
	}
	/* Discarded output is not sent. */
	ck_ok(ctx, opk_newfile_create(&files[0], ctx, path, NULL, OPK_OUTPUT_TABLE));
	ck_ok(ctx, opk_newfile_write(&files[0], "more", 4));
	opk_newfile_discard(&files[0]);
	ck_assert_int_eq(read(ends[0], got, sizeof got), -1);
	close(ends[0]);
	close(ends[1]);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
