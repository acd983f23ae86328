/* SPDX-License-Identifier: BSD-2-Clause */
/* Unit tests of lib/base. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/strlist.h"
#include "testing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_base.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* Counts what is in the folder, and removes it on request. */
static size_t entries(bool remove)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		count++;
		if (remove && unlink(in_folder(entry->d_name)))
			rmdir(in_folder(entry->d_name));
	}
	closedir(dir);
	return count;
}

static void remove_folder(void)
{
	entries(true);
	rmdir(folder);
}

static long until_failure;

/* Fails one allocation and serves all others: what fails must notice by itself. */
static void *failing(void *old, size_t size)
{
	return until_failure-- == 0 ? NULL : realloc(old, size);
}

static void fail_allocation(long n)
{
	until_failure = n;
	opk_set_realloc(failing);
}

static bool allocation_failed(void)
{
	opk_set_realloc(NULL);
	return until_failure < 0;
}

/* ---- names ------------------------------------------------------------------------------ */

START_TEST(edit_distance)
{
	static const struct {
		struct here here;
		const char *a, *b;
		size_t limit, wanted;
	} rows[] = {
		{ HERE, "", "", 3, 0 },
		{ HERE, "", "abc", 3, 3 },
		{ HERE, "abc", "", 2, 3 },
		{ HERE, "dram__bytes", "dram__byte", 3, 1 },
		{ HERE, "GH100", "gh100", 3, 0 },
		{ HERE, "kitten", "sitting", 3, 3 },
		{ HERE, "kitten", "sitting", 2, 3 },
		{ HERE, "sitting", "kitten", 3, 3 },
		{ HERE, "ab", "ba", 3, 2 },
		{ HERE, "abc", "xyz", 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t got = opk_edit_distance(rows[i].a, rows[i].b, rows[i].limit);

		ck_row(&rows[i], got == rows[i].wanted, "got %zu", got);
	}
}
END_TEST

START_TEST(edit_distance_of_long_names)
{
	char a[301], b[301];

	memset(a, 'a', 300);
	memset(b, 'a', 300);
	a[300] = b[300] = '\0';
	ck_assert_uint_eq(opk_edit_distance(a, b, 5), 6);
	a[255] = b[255] = '\0';
	ck_assert_uint_eq(opk_edit_distance(a, b, 5), 0);
	b[254] = 'b';
	ck_assert_uint_eq(opk_edit_distance(a, b, 5), 1);
}
END_TEST

START_TEST(nearest_name)
{
	static const struct {
		struct here here;
		const char *name;
		const char *candidates[4];
		const char *wanted;
	} rows[] = {
		{ HERE, "memroy", { "l1", "memory", "nvlink" }, "memory" },
		{ HERE, "MEMORY", { "memory" }, "memory" },
		{ HERE, "metrcs", { "metrics", "metric" }, "metrics" },
		{ HERE, "l3", { "l1", "l2" }, "l1" },
		{ HERE, "l3", { "l2", "l1", "l3" }, "l3" },
		{ HERE, "xyz", { "memory", "compute" }, NULL },
		{ HERE, "abcdef", { "abcxyz" }, "abcxyz" },
		{ HERE, "abcdef", { "abwxyz" }, NULL },
		{ HERE, "memory", { NULL }, NULL },
		{ HERE, "", { "a" }, "a" },
		{ HERE, "", { "ab" }, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_nearest nearest = { .name = rows[i].name };
		const char *wanted = rows[i].wanted ? rows[i].wanted : "(none)";

		for (size_t j = 0; rows[i].candidates[j]; j++)
			opk_nearest_try(&nearest, rows[i].candidates[j]);
		ck_row(&rows[i], !strcmp(nearest.best ? nearest.best : "(none)", wanted), "got %s",
		       nearest.best);
	}
}
END_TEST

/* ---- memory and bytes ------------------------------------------------------------------- */

START_TEST(memory_is_zeroed_and_bounded)
{
	opk_autofree uint8_t *zeroed = opk_alloc_array(100, 3);
	opk_autofree char *text = opk_strndup("memory", 3);
	opk_autofree char *printed = opk_printf("%s-%d", text, 7);

	for (size_t i = 0; i < 300; i++)
		ck_assert_uint_eq(zeroed[i], 0);
	ck_assert_str_eq(text, "mem");
	ck_assert_str_eq(printed, "mem-7");
	ck_assert_ptr_null(opk_alloc_array(SIZE_MAX / 2, 3));
}
END_TEST

START_TEST(grow_doubles)
{
	opk_autofree uint64_t *array = NULL;
	size_t capacity = 0, huge = SIZE_MAX / 8;

	for (size_t i = 0; i < 100; i++) {
		ck_assert(opk_grow(&array, &capacity, i, sizeof *array));
		ck_assert_uint_gt(capacity, i);
		array[i] = i;
	}
	ck_assert_uint_eq(capacity, 128);
	ck_assert_uint_eq(array[99], 99);
	ck_assert(!opk_grow(&array, &huge, huge, sizeof *array));
	ck_assert_uint_eq(huge, SIZE_MAX / 8);
	fail_allocation(0);
	ck_assert(!opk_grow(&array, &capacity, capacity, sizeof *array));
	ck_assert(allocation_failed());
	ck_assert_uint_eq(capacity, 128);
}
END_TEST

START_TEST(buf_contents)
{
	static const uint8_t wanted[] = { 'a', 'b', 0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06,
		                          0x05, 0x04, 0x03, 0x02, 0x01, 'x', '=', '7' };
	opk_autobuf struct opk_buf buf = { 0 };

	opk_buf_add(&buf, NULL, 0);
	opk_buf_add_text(&buf, "ab");
	opk_buf_add_u32(&buf, 0x01020304);
	opk_buf_add_u64(&buf, 0x0102030405060708);
	opk_buf_add_printf(&buf, "x=%d", 7);
	ck_assert(!buf.failed);
	ck_assert_uint_eq(buf.size, sizeof wanted);
	ck_assert_mem_eq(buf.data, wanted, sizeof wanted);
	opk_buf_clear(&buf);
	ck_assert_ptr_null(buf.data);
	ck_assert_uint_eq(buf.size, 0);
}
END_TEST

START_TEST(buf_grows)
{
	opk_autobuf struct opk_buf buf = { 0 };

	for (uint32_t i = 0; i < 10000; i++)
		opk_buf_add_u32(&buf, i);
	ck_assert(!buf.failed);
	ck_assert_uint_eq(buf.size, 40000);
	for (uint32_t i = 0; i < 10000; i++)
		ck_assert_mem_eq(buf.data + 4 * i, (&(uint32_t){ i }), 4);
}
END_TEST

START_TEST(buf_failure_sticks)
{
	opk_autobuf struct opk_buf buf = { 0 };

	opk_buf_add_text(&buf, "kept");
	fail_allocation(0);
	while (!buf.failed)
		opk_buf_add_text(&buf, "more and more");
	ck_assert(allocation_failed());
	ck_assert_uint_eq((buf.size - 4) % 13, 0);
	for (size_t before = buf.size, i = 0; i < 3; i++) {
		opk_buf_add(&buf, "x", 1);
		opk_buf_add_u64(&buf, 1);
		opk_buf_add_printf(&buf, "%d", 1);
		ck_assert(buf.failed);
		ck_assert_uint_eq(buf.size, before);
	}
	opk_buf_clear(&buf);
	ck_assert(!buf.failed);
}
END_TEST

START_TEST(buf_overflow_fails)
{
	opk_autobuf struct opk_buf buf = { 0 };
	volatile size_t all = SIZE_MAX;

	opk_buf_add_text(&buf, "a");
	opk_buf_add(&buf, "x", all);
	ck_assert(buf.failed);
	ck_assert_uint_eq(buf.size, 1);
}
END_TEST

START_TEST(reader_values)
{
	static const uint8_t bytes[] = { 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 'o', 'k' };
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };

	ck_assert_uint_eq(opk_read_u32(&reader), 0x01020304);
	ck_assert_uint_eq(opk_read_u64(&reader), 0x0102030405060708);
	ck_assert_ptr_eq(opk_read_bytes(&reader, 2), bytes + 12);
	ck_assert_ptr_nonnull(opk_read_bytes(&reader, 0));
	ck_assert_uint_eq(reader.left, 0);
	ck_assert(!reader.failed);
}
END_TEST

/* After one read past the end, even what would fit gives nothing. */
START_TEST(reader_failure_sticks)
{
	static const struct {
		struct here here;
		size_t size, ask;
		bool fails;
	} rows[] = {
		{ HERE, 0, 0, false },        { HERE, 0, 1, true },  { HERE, 7, 7, false },
		{ HERE, 7, 8, true },         { HERE, 12, 13, true }, { HERE, 16, 12, false },
		{ HERE, 16, SIZE_MAX, true }, { HERE, 16, SIZE_MAX - 15, true },
	};
	static const uint8_t bytes[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_reader reader = { .data = bytes, .left = rows[i].size };
		const void *got = opk_read_bytes(&reader, rows[i].ask);
		bool fits = !rows[i].fails && rows[i].size - rows[i].ask >= 4;

		ck_row(&rows[i], reader.failed == rows[i].fails, "failed %d", reader.failed);
		ck_row(&rows[i], !got == rows[i].fails, "got %p", got);
		ck_row(&rows[i], opk_read_u32(&reader) == (fits ? 0x01010101 : 0), "a later read");
		ck_row(&rows[i], !opk_read_u64(&reader) && reader.failed, "a last read");
	}
}
END_TEST

START_TEST(reader_integers_past_the_end)
{
	static const uint8_t bytes[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	for (size_t size = 0; size <= 8; size++) {
		struct opk_reader u32 = { .data = bytes, .left = size };
		struct opk_reader u64 = { .data = bytes, .left = size };

		ck_assert_uint_eq(opk_read_u32(&u32), size < 4 ? 0 : 0x01010101);
		ck_assert_uint_eq(opk_read_u64(&u64), size < 8 ? 0 : 0x0101010101010101);
		ck_assert_int_eq(u32.failed, size < 4);
		ck_assert_int_eq(u64.failed, size < 8);
	}
}
END_TEST

START_TEST(strlist_holds_copies)
{
	opk_autostrlist struct opk_strlist list = { 0 };
	char text[] = "b";

	ck_assert(opk_strlist_add(&list, text));
	text[0] = 'x';
	ck_assert(opk_strlist_add(&list, "c"));
	ck_assert(opk_strlist_take(&list, strdup("a")));
	ck_assert(!opk_strlist_take(&list, NULL));
	ck_assert_uint_eq(list.count, 3);
	ck_assert(opk_strlist_contains(&list, "b"));
	ck_assert(!opk_strlist_contains(&list, "x"));
	ck_assert(!opk_strlist_contains(&list, "B"));
	opk_strlist_sort(&list);
	ck_assert_str_eq(opk_strlist_items(&list)[0], "a");
	ck_assert_str_eq(opk_strlist_items(&list)[1], "b");
	ck_assert_str_eq(opk_strlist_items(&list)[2], "c");
	opk_strlist_clear(&list);
	ck_assert_uint_eq(list.count, 0);
	opk_strlist_sort(&list);
}
END_TEST

START_TEST(strlist_without_memory)
{
	for (long n = 0; n < 2; n++) {
		opk_autostrlist struct opk_strlist list = { 0 };

		fail_allocation(n);
		ck_assert(!opk_strlist_add(&list, "a"));
		ck_assert(allocation_failed());
		ck_assert_uint_eq(list.count, 0);
		ck_assert(opk_strlist_add(&list, "a"));
	}
}
END_TEST

/* The text is taken over even where the list can't grow: a sanitizer would tell a leak. */
START_TEST(strlist_takes_over_without_memory)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	fail_allocation(0);
	ck_assert(!opk_strlist_take(&list, strdup("taken")));
	ck_assert(allocation_failed());
}
END_TEST

/* ---- context ---------------------------------------------------------------------------- */

START_TEST(causes_in_order)
{
	struct opk_ctx *ctx = new_ctx();

	ck_assert_uint_eq(opk_error_count(ctx), 0);
	ck_assert_ptr_null(opk_error_message(ctx, 0));
	ck_assert_int_eq(opk_fail(ctx, OPK_EINPUT, "inner %d", 1), OPK_EINPUT);
	ck_assert_int_eq(opk_add(ctx, OPK_EFAILED, "middle %s", "2"), OPK_EFAILED);
	ck_assert_int_eq(opk_add(ctx, OPK_EINPUT, "outer"), OPK_EINPUT);
	ck_assert_uint_eq(opk_error_count(ctx), 3);
	ck_assert_str_eq(opk_error_message(ctx, 0), "inner 1");
	ck_assert_str_eq(opk_error_message(ctx, 1), "middle 2");
	ck_assert_str_eq(opk_error_message(ctx, 2), "outer");
	ck_assert_ptr_null(opk_error_message(ctx, 3));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(fail_begins_anew)
{
	struct opk_ctx *ctx = new_ctx();

	opk_fail(ctx, OPK_EINPUT, "old");
	opk_add(ctx, OPK_EINPUT, "older");
	opk_fail(ctx, OPK_EUSAGE, "new");
	ck_assert_str_eq(errors_of(ctx), "new");
	ck_assert_int_eq(opk_nomem(ctx, "a test"), OPK_ENOMEM);
	ck_assert_str_eq(errors_of(ctx), "out of memory for a test");
	errno = ENOENT;
	ck_assert_int_eq(opk_fail_errno(ctx, OPK_EINPUT, "can't open", "a/b"), OPK_EINPUT);
	ck_assert_str_eq(errors_of(ctx), "a/b: can't open: No such file or directory");
	opk_clear_errors(ctx);
	ck_assert_uint_eq(opk_error_count(ctx), 0);
	opk_ctx_free(ctx);
	opk_ctx_free(NULL);
}
END_TEST

START_TEST(options_are_copied)
{
	char cuda[] = "/cuda", home[] = "/home/u";
	struct opk_env env = { .offpeak_cuda = "", .home = home };
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_ctx *ctx;

	options.env = &env;
	options.cuda_dir = cuda;
	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	cuda[0] = home[0] = 'x';
	ck_assert_str_eq(ctx->cuda_dir, "/cuda");
	ck_assert_str_eq(ctx->env.home, "/home/u");
	ck_assert_ptr_null(ctx->env.offpeak_cuda);
	ck_assert_ptr_null(ctx->data_dir);
	opk_log(ctx, "nobody listens");
	opk_ctx_free(ctx);
	ck_assert_int_eq(opk_ctx_new(&ctx, NULL), OPK_OK);
	opk_ctx_free(ctx);
}
END_TEST

static void keep_log(void *data, const char *message)
{
	snprintf(data, 64, "%s", message);
}

START_TEST(log_reaches_the_callback)
{
	struct opk_ctx_options options = OPK_INIT(options);
	char text[64] = "";
	struct opk_ctx *ctx;

	options.log = keep_log;
	options.log_data = text;
	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	opk_log(ctx, "%d notes", 3);
	ck_assert_str_eq(text, "3 notes");
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(environment)
{
	struct opk_env env;

	setenv("OFFPEAK_SETS", "/sets", 1);
	setenv("CUDA_HOME", "/home-cuda", 1);
	unsetenv("CUDA_PATH");
	opk_env_read(&env);
	ck_assert_str_eq(env.sets, "/sets");
	ck_assert_str_eq(env.cuda_home, "/home-cuda");
	ck_assert_ptr_null(env.cuda_path);
}
END_TEST

START_TEST(ctx_without_memory)
{
	struct opk_env env = { .cuda_home = "a", .cuda_path = "b", .home = "c", .sets = "d",
		               .offpeak_cuda = "e", .virtual_env = "f" };
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_ctx *ctx = NULL;

	options.env = &env;
	options.cuda_dir = options.data_dir = "g";
	for (long n = 0; n < 9; n++) {
		fail_allocation(n);
		ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_ENOMEM);
		ck_assert(allocation_failed());
		ck_assert_ptr_null(ctx);
	}
}
END_TEST

/* ---- files ------------------------------------------------------------------------------ */

static void write_old(const char *name)
{
	FILE *file = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs("old", file);
	fclose(file);
}

static void check_content(const char *name, const char *wanted)
{
	struct opk_ctx *ctx = new_ctx();
	opk_autofree void *data = NULL;
	size_t size;

	ck_ok(ctx, opk_read_file(&data, &size, ctx, in_folder(name)));
	ck_assert_str_eq(data, wanted);
	ck_assert_uint_eq(size, strlen(wanted));
	opk_ctx_free(ctx);
}

START_TEST(file_replaced_at_once)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file;

	write_old("f");
	ck_ok(ctx, opk_outfile_new(&file, ctx, in_folder("f")));
	ck_ok(ctx, opk_outfile_write(file, "ne", 2));
	ck_ok(ctx, opk_outfile_write(file, "w", 1));
	ck_ok(ctx, opk_outfile_write(file, "", 0));
	check_content("f", "old");
	ck_ok(ctx, opk_outfile_finish(file));
	check_content("f", "new");
	opk_outfile_free(file);
	check_content("f", "new");
	ck_assert_uint_eq(entries(false), 1);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(unfinished_file_leaves_nothing)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file;

	ck_ok(ctx, opk_outfile_new(&file, ctx, in_folder("f")));
	ck_ok(ctx, opk_outfile_write(file, "lost", 4));
	ck_assert_uint_eq(entries(false), 1);
	opk_outfile_free(file);
	ck_assert_uint_eq(entries(false), 0);
	opk_outfile_free(NULL);
	write_old("f");
	ck_ok(ctx, opk_outfile_new(&file, ctx, in_folder("f")));
	opk_outfile_free(file);
	check_content("f", "old");
	ck_assert_uint_eq(entries(false), 1);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(file_mode_obeys_umask)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file;
	struct stat info;

	umask(027);
	ck_ok(ctx, opk_outfile_new(&file, ctx, in_folder("f")));
	ck_ok(ctx, opk_outfile_finish(file));
	opk_outfile_free(file);
	ck_assert_int_eq(stat(in_folder("f"), &info), 0);
	ck_assert_int_eq(info.st_mode & 0777, 0640);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(odd_targets_are_refused)
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
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file = NULL;
	struct stat info;

	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	ck_assert_int_eq(symlink("/dev/null", in_folder("link")), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *path = rows[i].path[0] == '/' ? rows[i].path : in_folder(rows[i].path);
		int code = opk_outfile_new(&file, ctx, path);

		ck_row(&rows[i], code == OPK_EFAILED && !file, "code %d", code);
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "%s", errors_of(ctx));
		ck_row(&rows[i], entries(false) == 2, "%zu entries", entries(false));
	}
	ck_assert_int_eq(lstat(in_folder("link"), &info), 0);
	ck_assert(S_ISLNK(info.st_mode));
	opk_ctx_free(ctx);
}
END_TEST

/* A full disk shows in some write; the first failure is told by finish, and nothing is replaced. */
START_TEST(failed_write_is_told_by_finish)
{
	struct rlimit small = { 4, 4 };
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file;

	signal(SIGXFSZ, SIG_IGN);
	write_old("f");
	ck_ok(ctx, opk_outfile_new(&file, ctx, in_folder("f")));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_code(ctx, opk_outfile_write(file, "too long", 8), OPK_EFAILED);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "/f: can't write: File too large"));
	ck_code(ctx, opk_outfile_write(file, "", 0), OPK_EFAILED);
	ck_code(ctx, opk_outfile_finish(file), OPK_EFAILED);
	opk_outfile_free(file);
	check_content("f", "old");
	ck_assert_uint_eq(entries(false), 1);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(outfile_without_memory)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_outfile *file = NULL;
	int code;

	for (long n = 0;; n++) {
		fail_allocation(n);
		code = opk_outfile_new(&file, ctx, in_folder("f"));
		if (!allocation_failed())
			break;
		ck_assert_int_eq(code, OPK_ENOMEM);
		ck_assert_uint_eq(entries(false), 0);
	}
	ck_assert_int_eq(code, OPK_OK);
	opk_outfile_free(file);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(whole_files)
{
	struct opk_ctx *ctx = new_ctx();
	void *data = NULL;
	size_t size;

	write_old("f");
	check_content("f", "old");
	ck_assert_int_eq(truncate(in_folder("f"), 0), 0);
	check_content("f", "");
	ck_code(ctx, opk_read_file(&data, &size, ctx, in_folder("none")), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "/none: can't open: No such file"));
	ck_code(ctx, opk_read_file(&data, &size, ctx, folder), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "not a regular file"));
	fail_allocation(0);
	ck_code(ctx, opk_read_file(&data, &size, ctx, in_folder("f")), OPK_ENOMEM);
	ck_assert(allocation_failed());
	ck_assert_ptr_null(data);
	opk_ctx_free(ctx);
}
END_TEST

/* Nobody writes to this pipe: who opens it like a file waits forever. */
START_TEST(pipe_is_no_file)
{
	struct opk_ctx *ctx = new_ctx();
	void *data = NULL;
	size_t size;

	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	ck_code(ctx, opk_read_file(&data, &size, ctx, in_folder("pipe")), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "not a regular file"));
	opk_ctx_free(ctx);
}
END_TEST

/* ---- JSON ------------------------------------------------------------------------------- */

/* Writes what was read; numbers go through a double. */
static void put_node(struct opk_json_writer *json, const struct opk_json *node)
{
	if (node->key)
		opk_json_key(json, node->key);
	switch (node->type) {
	case OPK_JSON_NULL:
		opk_json_put_string(json, NULL);
		return;
	case OPK_JSON_BOOL:
		opk_json_put_bool(json, node->boolean);
		return;
	case OPK_JSON_NUMBER:
		opk_json_put_double(json, strtod(node->text, NULL));
		return;
	case OPK_JSON_STRING:
		opk_json_put_string(json, node->text);
		return;
	case OPK_JSON_ARRAY:
		opk_json_begin_array(json);
		break;
	case OPK_JSON_OBJECT:
		opk_json_begin_object(json);
		break;
	}
	for (size_t i = 0; i < node->count; i++)
		put_node(json, &node->children[i]);
	if (node->type == OPK_JSON_ARRAY)
		opk_json_end_array(json);
	else
		opk_json_end_object(json);
}

static struct opk_json *parse(struct opk_ctx *ctx, const char *text)
{
	struct opk_json *root = NULL;

	ck_ok(ctx, opk_json_parse(&root, ctx, text, strlen(text)));
	return root;
}

START_TEST(json_good)
{
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "null", "null" },
		{ HERE, " \t\r\ntrue \n", "true" },
		{ HERE, "false", "false" },
		{ HERE, "0", "0" },
		{ HERE, "-0", "-0" },
		{ HERE, "120", "120" },
		{ HERE, "-12.50", "-12.5" },
		{ HERE, "0.5", "0.5" },
		{ HERE, "1e3", "1000" },
		{ HERE, "1E+3", "1000" },
		{ HERE, "25e-1", "2.5" },
		{ HERE, "1e999", "null" },
		{ HERE, "\"\"", "\"\"" },
		{ HERE, "\"a b\"", "\"a b\"" },
		{ HERE, "\"\\\"\\\\\\/\\n\"", "\"\\\"\\\\/\\n\"" },
		{ HERE, "\"\\b\\f\\r\\t\"", "\"\\u0008\\u000c\\u000d\\u0009\"" },
		{ HERE, "\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\"" },
		{ HERE, "\"\\u007f\\u0080\\u07ff\\u0800\"",
		  "\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\"" },
		{ HERE, "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"" },
		{ HERE, "\"\\uDBFF\\uDFFF\"", "\"\xf4\x8f\xbf\xbf\"" },
		{ HERE, "\"\\uffff\\ue000\"", "\"\xef\xbf\xbf\xee\x80\x80\"" },
		{ HERE, "\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\"" },
		{ HERE, "[]", "[]" },
		{ HERE, "[ ]", "[]" },
		{ HERE, "[1,[2],[[]] , \"x\"]", "[1,[2],[[]],\"x\"]" },
		{ HERE, "[1,2,3,4,5,6,7,8,9,10]", "[1,2,3,4,5,6,7,8,9,10]" },
		{ HERE, "{}", "{}" },
		{ HERE, "{\t}", "{}" },
		{ HERE, "{\"a\" : 1 , \"b\":{\"c\":[true,null]}}",
		  "{\"a\":1,\"b\":{\"c\":[true,null]}}" },
		{ HERE, "{\"\":0,\"a\\\"\":0}", "{\"\":0,\"a\\\"\":0}" },
		{ HERE, "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_json_writer json = { .buf = &buf };
		struct opk_json *root = NULL;
		int code = opk_json_parse(&root, ctx, rows[i].text, strlen(rows[i].text));

		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		put_node(&json, root);
		opk_buf_add(&buf, "", 1);
		ck_row(&rows[i], !strcmp((char *)buf.data, rows[i].wanted), "got %s", buf.data);
		opk_json_free(root);
	}
	opk_json_free(NULL);
	opk_ctx_free(ctx);
}
END_TEST

static const struct bad_json {
	struct here here;
	const char *text, *wanted;
} bad_json[] = {
	{ HERE, "", "byte 0: a value is needed here" },
	{ HERE, "  ", "byte 2: a value is needed here" },
	{ HERE, "tru", "byte 0: unknown word" },
	{ HERE, "True", "a value is needed here" },
	{ HERE, "nul1", "unknown word" },
	{ HERE, "falsy", "unknown word" },
	{ HERE, "nullx", "byte 4: more text after the value" },
	{ HERE, "1 2", "byte 2: more text after the value" },
	{ HERE, "{}{}", "byte 2: more text after the value" },
	{ HERE, "[1]]", "byte 3: more text after the value" },
	{ HERE, "01", "byte 1: more text after the value" },
	{ HERE, "-01", "byte 2: more text after the value" },
	{ HERE, "1.", "a number ends with its point" },
	{ HERE, "1.e3", "a number ends with its point" },
	{ HERE, "1e", "a number lacks its exponent" },
	{ HERE, "1e+", "a number lacks its exponent" },
	{ HERE, "-", "a value is needed here" },
	{ HERE, "+1", "a value is needed here" },
	{ HERE, ".5", "a value is needed here" },
	{ HERE, "0x10", "more text after the value" },
	{ HERE, "NaN", "a value is needed here" },
	{ HERE, "-Infinity", "a value is needed here" },
	{ HERE, "'a'", "a value is needed here" },
	{ HERE, "\v1", "a value is needed here" },
	{ HERE, "\xef\xbb\xbf{}", "byte 0: a value is needed here" },
	{ HERE, "\"", "byte 1: the text ends inside a string" },
	{ HERE, "\"abc", "byte 4: the text ends inside a string" },
	{ HERE, "\"a\\", "in a string" },
	{ HERE, "\"a\nb\"", "byte 2: a control character in a string" },
	{ HERE, "\"\x1f\"", "a control character in a string" },
	{ HERE, "\"\\a\"", "unknown escape in a string" },
	{ HERE, "\"\\'\"", "unknown escape in a string" },
	{ HERE, "\"\\U0041\"", "unknown escape in a string" },
	{ HERE, "\"\\u12\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u12", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u00g0\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u-001\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u0000\"", "a NUL character in a string" },
	{ HERE, "\"\\udc00\"", "half a surrogate pair" },
	{ HERE, "\"\\udfff\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800x\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\n\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\u0041\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\ue000\"", "half a surrogate pair" },
	{ HERE, "[", "a value is needed here" },
	{ HERE, "[1", "byte 2: an array needs ',' or ']' here" },
	{ HERE, "[1 2]", "byte 3: an array needs ',' or ']' here" },
	{ HERE, "[1,]", "byte 3: a value is needed here" },
	{ HERE, "[,1]", "a value is needed here" },
	{ HERE, "[1}", "an array needs ',' or ']' here" },
	{ HERE, "{", "a string is needed here" },
	{ HERE, "{1:2}", "byte 1: a string is needed here" },
	{ HERE, "{a:2}", "a string is needed here" },
	{ HERE, "{\"a\"", "':' is needed after a key" },
	{ HERE, "{\"a\",1}", "':' is needed after a key" },
	{ HERE, "{\"a\":}", "a value is needed here" },
	{ HERE, "{\"a\":1", "an object needs ',' or '}' here" },
	{ HERE, "{\"a\":1,}", "byte 7: a string is needed here" },
	{ HERE, "{\"a\":1]", "an object needs ',' or '}' here" },
	{ HERE, "[/* no */]", "a value is needed here" },
};

START_TEST(json_bad)
{
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(bad_json); i++) {
		/* A copy of the exact size: a sanitizer sees each byte read past the end. */
		size_t size = strlen(bad_json[i].text);
		opk_autofree char *copy = malloc(size + !size);
		struct opk_json *root = NULL;
		int code = opk_json_parse(&root, ctx, memcpy(copy, bad_json[i].text, size), size);

		ck_row(&bad_json[i], code == OPK_EINPUT && !root, "code %d", code);
		ck_row(&bad_json[i], strstr(errors_of(ctx), bad_json[i].wanted), "got %s",
		       errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* Text that is not UTF-8 is not JSON, and would make the tools' own JSON invalid. */
START_TEST(json_bad_utf8)
{
	static const struct bad_json rows[] = {
		{ HERE, "\"\xff\"", "UTF-8" },         { HERE, "\"\x80\"", "UTF-8" },
		{ HERE, "\"\xc3\"", "UTF-8" },         { HERE, "\"\xc0\xaf\"", "UTF-8" },
		{ HERE, "\"\xed\xa0\x80\"", "UTF-8" }, { HERE, "\"\xf5\x80\x80\x80\"", "UTF-8" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_json *root = NULL;
		int code = opk_json_parse(&root, ctx, rows[i].text, strlen(rows[i].text));

		opk_json_free(root);
		ck_row(&rows[i], code == OPK_EINPUT, "code %d", code);
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "got %s", errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(json_nul_bytes)
{
	static const struct {
		struct here here;
		const char *text;
		size_t size;
		const char *wanted;
	} rows[] = {
		{ HERE, "\0", 1, "a value is needed here" },
		{ HERE, "1\0", 2, "byte 1: more text after the value" },
		{ HERE, "\"a\0b\"", 5, "byte 2: a control character in a string" },
		{ HERE, "\"\\\0\"", 4, "unknown escape in a string" },
		{ HERE, "[1\0]", 4, "an array needs" },
		{ HERE, "tr\0e", 4, "unknown word" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_json *root = NULL;
		int code = opk_json_parse(&root, ctx, rows[i].text, rows[i].size);

		ck_row(&rows[i], code == OPK_EINPUT, "code %d", code);
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "got %s", errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* The outermost value is at depth 0. */
START_TEST(json_depth)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_json *root = NULL;
	char text[200];

	for (size_t levels = 30; levels < 100; levels++) {
		int code;

		memset(text, '[', levels);
		memset(text + levels, ']', levels);
		code = opk_json_parse(&root, ctx, text, 2 * levels);
		ck_assert_int_eq(code, levels <= 33 ? OPK_OK : OPK_EINPUT);
		if (code)
			ck_assert_str_eq(errors_of(ctx), "JSON, byte 33: nested too deeply");
		else
			opk_json_free(root);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(json_integers)
{
	static const struct {
		struct here here;
		const char *text;
		bool is_u64, is_i64;
		uint64_t value;
	} rows[] = {
		{ HERE, "0", true, true, 0 },
		{ HERE, "42", true, true, 42 },
		{ HERE, "-1", false, true, UINT64_MAX },
		{ HERE, "9223372036854775807", true, true, INT64_MAX },
		{ HERE, "9223372036854775808", true, false, (uint64_t)INT64_MAX + 1 },
		{ HERE, "-9223372036854775808", false, true, (uint64_t)INT64_MAX + 1 },
		{ HERE, "-9223372036854775809", false, false, 0 },
		{ HERE, "18446744073709551615", true, false, UINT64_MAX },
		{ HERE, "18446744073709551616", false, false, 0 },
		{ HERE, "1e3", false, false, 0 },
		{ HERE, "1.0", false, false, 0 },
		{ HERE, "\"1\"", false, false, 0 },
		{ HERE, "true", false, false, 0 },
		{ HERE, "null", false, false, 0 },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];
		struct opk_json *root;
		uint64_t u64 = 77;
		int64_t i64 = 77;

		snprintf(text, sizeof text, "{\"n\":%s}", rows[i].text);
		root = parse(ctx, text);
		ck_row(&rows[i], opk_json_u64(&u64, root, "n") == rows[i].is_u64, "u64");
		ck_row(&rows[i], opk_json_i64(&i64, root, "n") == rows[i].is_i64, "i64");
		ck_row(&rows[i], !rows[i].is_u64 || u64 == rows[i].value, "got %ju",
		       (uintmax_t)u64);
		ck_row(&rows[i], !rows[i].is_i64 || i64 == (int64_t)rows[i].value, "i64 value");
		/* Callers take what they preset for the answer where there is none. */
		ck_row(&rows[i], rows[i].is_u64 || u64 == 77, "u64 became %ju", (uintmax_t)u64);
		ck_row(&rows[i], rows[i].is_i64 || i64 == 77, "i64 became %jd", (intmax_t)i64);
		opk_json_free(root);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(json_members)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_json *root = parse(ctx, "{\"s\":\"x\",\"n\":1,\"s\":\"y\",\"o\":{\"s\":\"z\"}}");
	struct opk_json *array = parse(ctx, "[\"s\"]");
	const struct opk_json *inner = opk_json_get(root, "o", OPK_JSON_OBJECT);
	uint64_t value;

	ck_assert_str_eq(opk_json_string(root, "s"), "x");
	ck_assert_str_eq(opk_json_string(inner, "s"), "z");
	ck_assert_str_eq(opk_json_string(root, "n"), "");
	ck_assert_str_eq(opk_json_string(root, "none"), "");
	ck_assert_ptr_null(opk_json_get(root, "n", OPK_JSON_STRING));
	ck_assert_ptr_nonnull(opk_json_get(root, "n", OPK_JSON_NUMBER));
	ck_assert_ptr_null(opk_json_get(array, "s", OPK_JSON_STRING));
	ck_assert(!opk_json_u64(&value, array, "s"));
	opk_json_free(array);
	opk_json_free(root);
	opk_ctx_free(ctx);
}
END_TEST

/* Each character alone and all of them together come back as they went. */
START_TEST(json_strings_round_trip)
{
	struct opk_ctx *ctx = new_ctx();
	char all[160] = "";
	int count = 0;

	for (int c = 1; c < 128; c++)
		all[count++] = (char)c;
	strcpy(all + count, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	for (int c = 1; c < 129; c++) {
		const char *text = c == 128 ? all : (char[]){ (char)c, '\0' };
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_json_writer json = { .buf = &buf };
		struct opk_json *root = NULL;

		opk_json_begin_object(&json);
		opk_json_key(&json, text);
		opk_json_put_strings(&json, &text, 1);
		opk_json_end_object(&json);
		ck_ok(ctx, opk_json_parse(&root, ctx, (char *)buf.data, buf.size));
		ck_assert_str_eq(root->children[0].key, text);
		ck_assert_str_eq(root->children[0].children[0].text, text);
		opk_json_free(root);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(json_numbers_written)
{
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_json_writer json = { .buf = &buf };

	opk_json_begin_array(&json);
	opk_json_put_u64(&json, UINT64_MAX);
	opk_json_put_i64(&json, INT64_MIN);
	opk_json_put_double(&json, 0.1);
	opk_json_put_double(&json, (double)NAN);
	opk_json_put_double(&json, -(double)INFINITY);
	opk_json_put_strings(&json, NULL, 0);
	opk_json_put_strings(&json, (const char *[]){ "a", NULL }, 2);
	opk_json_end_array(&json);
	opk_buf_add(&buf, "", 1);
	ck_assert_str_eq((char *)buf.data, "[18446744073709551615,-9223372036854775808,"
	                                   "0.10000000000000001,null,null,[],[\"a\",null]]");
}
END_TEST

START_TEST(json_without_memory)
{
	static const char text[] =
		"{\"a\":[1,2,3,4,5,6,7,8,9,\"\\u20ac long enough to grow\"],\"b\":{}}";
	struct opk_ctx *ctx = new_ctx();
	struct opk_json *root = NULL;
	int code;

	for (long n = 0;; n++) {
		fail_allocation(n);
		code = opk_json_parse(&root, ctx, text, sizeof text - 1);
		if (!allocation_failed())
			break;
		ck_assert_msg(code == OPK_ENOMEM, "allocation %ld: %d", n, code);
		ck_assert_str_eq(errors_of(ctx), "out of memory for JSON");
		ck_assert_ptr_null(root);
	}
	ck_assert_int_eq(code, OPK_OK);
	opk_json_free(root);
	opk_ctx_free(ctx);
}
END_TEST

static void add_memory_tests(TCase *tests)
{
	tcase_add_test(tests, edit_distance);
	tcase_add_test(tests, edit_distance_of_long_names);
	tcase_add_test(tests, nearest_name);
	tcase_add_test(tests, memory_is_zeroed_and_bounded);
	tcase_add_test(tests, grow_doubles);
	tcase_add_test(tests, buf_contents);
	tcase_add_test(tests, buf_grows);
	tcase_add_test(tests, buf_failure_sticks);
	tcase_add_test(tests, buf_overflow_fails);
	tcase_add_test(tests, reader_values);
	tcase_add_test(tests, reader_failure_sticks);
	tcase_add_test(tests, reader_integers_past_the_end);
	tcase_add_test(tests, strlist_holds_copies);
	tcase_add_test(tests, strlist_without_memory);
	tcase_add_test(tests, strlist_takes_over_without_memory);
}

static void add_ctx_tests(TCase *tests)
{
	tcase_add_test(tests, causes_in_order);
	tcase_add_test(tests, fail_begins_anew);
	tcase_add_test(tests, options_are_copied);
	tcase_add_test(tests, log_reaches_the_callback);
	tcase_add_test(tests, environment);
	tcase_add_test(tests, ctx_without_memory);
}

static void add_file_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, file_replaced_at_once);
	tcase_add_test(tests, unfinished_file_leaves_nothing);
	tcase_add_test(tests, file_mode_obeys_umask);
	tcase_add_test(tests, odd_targets_are_refused);
	tcase_add_test(tests, failed_write_is_told_by_finish);
	tcase_add_test(tests, outfile_without_memory);
	tcase_add_test(tests, whole_files);
	tcase_add_test(tests, pipe_is_no_file);
}

static void add_json_tests(TCase *tests)
{
	tcase_add_test(tests, json_good);
	tcase_add_test(tests, json_bad);
	tcase_add_test(tests, json_bad_utf8);
	tcase_add_test(tests, json_nul_bytes);
	tcase_add_test(tests, json_depth);
	tcase_add_test(tests, json_integers);
	tcase_add_test(tests, json_members);
	tcase_add_test(tests, json_strings_round_trip);
	tcase_add_test(tests, json_numbers_written);
	tcase_add_test(tests, json_without_memory);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*add)(TCase *tests);
	} cases[] = {
		{ "memory", add_memory_tests },
		{ "ctx", add_ctx_tests },
		{ "file", add_file_tests },
		{ "json", add_json_tests },
	};
	Suite *suite = suite_create("base");

	for (size_t i = 0; i < COUNT(cases); i++) {
		TCase *tests = tcase_create(cases[i].name);

		cases[i].add(tests);
		suite_add_tcase(suite, tests);
	}
	return run_suite(suite);
}
