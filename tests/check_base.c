/* SPDX-License-Identifier: BSD-2-Clause */
/* Unit tests of lib/base: names, memory and bytes, lists, the context. */
#include <errno.h>

#include "allocation.h"
#include "base/buf.h"
#include "base/extreme.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "base/strlist.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "testing.h"

/* ---- names ------------------------------------------------------------------------------ */

static const struct {
	struct here here;
	const char *a, *b;
	size_t limit, wanted;
} edit_distance_rows[] = {
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

TEST_EACH(edit_distance, edit_distance_rows)
{
	size_t got = opk_edit_distance(row->a, row->b, row->limit);

	ck_row(row, got == row->wanted, "got %zu", got);
}

TEST(edit_distance_of_long_names)
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

static const struct {
	struct here here;
	const char *name;
	const char *candidates[4];
	const char *wanted;
} nearest_name_rows[] = {
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

TEST_EACH(nearest_name, nearest_name_rows)
{
	struct opk_nearest nearest = { .name = row->name };
	const char *wanted = row->wanted ? row->wanted : "(none)";

	for (size_t j = 0; row->candidates[j]; j++)
		opk_nearest_try(&nearest, row->candidates[j]);
	ck_row(row, !strcmp(nearest.best ? nearest.best : "(none)", wanted), "got %s",
	       nearest.best);
}

TEST(abbreviations)
{
	ck_assert(opk_is_abbreviation("params", "parameters"));
	ck_assert(opk_is_abbreviation("Desc", "description"));
	ck_assert(opk_is_abbreviation("unit", "unit"));
	ck_assert(!opk_is_abbreviation("pa", "parameters"));
	ck_assert(!opk_is_abbreviation("arams", "parameters"));
	ck_assert(!opk_is_abbreviation("paramz", "parameters"));
	ck_assert(!opk_is_abbreviation("parameterss", "parameters"));
}

/* ---- memory and bytes ------------------------------------------------------------------- */

TEST(memory_is_zeroed_and_bounded)
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

TEST(grow_doubles)
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
	huge = SIZE_MAX / 2 + 1;
	ck_assert(!opk_grow(&array, &huge, huge, 1));
	ck_assert_ptr_null(opk_realloc_array(NULL, SIZE_MAX / 2, 3));
	fail_allocation(0);
	ck_assert(!opk_grow(&array, &capacity, capacity, sizeof *array));
	ck_assert(allocation_failed());
	ck_assert_uint_eq(capacity, 128);
}

TEST(buf_contents)
{
	static const uint8_t wanted[] = { 'a',  'b',  0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06,
		                          0x05, 0x04, 0x03, 0x02, 0x01, 'x',  '=',  '7' };
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

TEST(buf_grows)
{
	opk_autobuf struct opk_buf buf = { 0 };

	for (uint32_t i = 0; i < 10000; i++)
		opk_buf_add_u32(&buf, i);
	ck_assert(!buf.failed);
	ck_assert_uint_eq(buf.size, 40000);
	for (uint32_t i = 0; i < 10000; i++)
		ck_assert_mem_eq(buf.data + 4 * i, (&(uint32_t){ i }), 4);
}

TEST(buf_failure_sticks)
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

TEST(buf_overflow_fails)
{
	opk_autobuf struct opk_buf buf = { 0 };
	volatile size_t all = SIZE_MAX;

	opk_buf_add_text(&buf, "a");
	opk_buf_add(&buf, "x", all);
	ck_assert(buf.failed);
	ck_assert_uint_eq(buf.size, 1);
}

TEST(reader_values)
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

static const struct {
	struct here here;
	size_t size, ask;
	bool fails;
} reader_failure_sticks_rows[] = {
	{ HERE, 0, 0, false },        { HERE, 0, 1, true },
	{ HERE, 7, 7, false },        { HERE, 7, 8, true },
	{ HERE, 12, 13, true },       { HERE, 16, 12, false },
	{ HERE, 16, SIZE_MAX, true }, { HERE, 16, SIZE_MAX - 15, true },
};

/* After one read past the end, even what would fit gives nothing. */
TEST_EACH(reader_failure_sticks, reader_failure_sticks_rows)
{
	static const uint8_t bytes[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct opk_reader reader = { .data = bytes, .left = row->size };
	const void *got = opk_read_bytes(&reader, row->ask);
	bool fits = !row->fails && row->size - row->ask >= 4;

	ck_row(row, reader.failed == row->fails, "failed %d", reader.failed);
	ck_row(row, !got == row->fails, "got %p", got);
	ck_row(row, opk_read_u32(&reader) == (fits ? 0x01010101 : 0), "a later read");
	ck_row(row, !opk_read_u64(&reader) && reader.failed, "a last read");
}

TEST(reader_integers_past_the_end)
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

TEST(strlist_holds_copies)
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

TEST(strlist_without_memory)
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

/* The list owns the text even if it can't grow: a sanitizer would report a leak. */
TEST(strlist_takes_over_without_memory)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	fail_allocation(0);
	ck_assert(!opk_strlist_take(&list, strdup("taken")));
	ck_assert(allocation_failed());
}

/* ---- context ---------------------------------------------------------------------------- */

CTX_TEST(causes_in_order)
{
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
}

CTX_TEST(causes_as_data)
{
	ck_assert_uint_eq(opk_error_cause_count(ctx), 0);
	ck_assert_ptr_null(opk_error_cause(ctx, 0));
	ck_assert_str_eq(opk_innermost(ctx), "out of memory");
	ck_assert_str_eq(opk_outermost(ctx), "out of memory");
	opk_fail(ctx, OPK_EINPUT, "inner");
	opk_add(ctx, OPK_EFAILED, "outer");
	ck_assert_str_eq(opk_innermost(ctx), "inner");
	ck_assert_str_eq(opk_outermost(ctx), "outer");
	ck_assert_uint_eq(opk_error_cause_count(ctx), 2);
	ck_assert_int_eq(opk_error_cause(ctx, 0)->code, OPK_EINPUT);
	ck_assert_int_eq(opk_error_cause(ctx, 0)->kind, OPK_CAUSE_ERROR);
	ck_assert_int_eq(opk_error_cause(ctx, 1)->code, OPK_EFAILED);
	ck_assert_int_eq(opk_error_cause(ctx, 1)->kind, OPK_CAUSE_WHILE);
	ck_assert_str_eq(opk_error_cause(ctx, 1)->text, "outer");
	ck_assert_str_eq(opk_error_cause(ctx, 1)->general, "outer");
	ck_assert_str_eq(opk_error_cause(ctx, 1)->message, "outer");
	ck_assert_ptr_null(opk_error_cause(ctx, 1)->file);
	ck_assert_ptr_null(opk_error_cause(ctx, 1)->excerpt);
	ck_assert_ptr_null(opk_error_cause(ctx, 2));
}

/* Places where something was looked for are not the error, but come before it. */
CTX_TEST(causes_of_search)
{
	static const enum opk_cause_kind kinds[] = { OPK_CAUSE_TRIED, OPK_CAUSE_TRIED,
		                                     OPK_CAUSE_ERROR, OPK_CAUSE_WHILE };

	opk_add_tried(ctx, OPK_ENVIDIA, "here");
	ck_assert_str_eq(opk_innermost(ctx), "tried here");
	opk_add_tried(ctx, OPK_ENVIDIA, "there");
	opk_add(ctx, OPK_ENVIDIA, "not found");
	opk_add(ctx, OPK_ENVIDIA, "outer");
	ck_assert_str_eq(opk_innermost(ctx), "not found");
	ck_assert_str_eq(opk_error_message(ctx, 1), "tried there");
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(opk_error_cause(ctx, i)->kind, kinds[i]);
	/* A text alone does not make it one. */
	opk_fail(ctx, OPK_EINPUT, "tried is a bad name");
	opk_add(ctx, OPK_EINPUT, "outer");
	ck_assert_str_eq(opk_innermost(ctx), "tried is a bad name");
}

/* ---- chains between processes */

/* A chain of three causes, the second with every field. */
static struct opk_ctx *ctx_with_chain(void)
{
	struct opk_ctx *ctx = new_ctx();
	char *message = strdup("f:3:4: FA100 is wrong");

	opk_add_tried(ctx, OPK_ENVIDIA, "inner");
	opk_add_cause(ctx, (struct opk_cause){ .code = OPK_EINPUT,
	                                       .kind = OPK_CAUSE_ERROR,
	                                       .file = strdup("f"),
	                                       .line = 3,
	                                       .column = 4,
	                                       .text = message + 7,
	                                       .general = strdup("* is wrong"),
	                                       .message = message,
	                                       .excerpt = strdup("  abcde"),
	                                       .caret = strdup("     ^"),
	                                       .remedy = OPK_REMEDY_RECOVER,
	                                       .os_error = ENOENT });
	opk_add(ctx, OPK_EFAILED, "outer");
	return ctx;
}

static bool put_and_get(struct opk_ctx *to, const struct opk_ctx *from)
{
	opk_autobuf struct opk_buf bytes = { 0 };

	opk_errors_put(&bytes, from);
	return opk_errors_get(to, &(struct opk_reader){ bytes.data, bytes.size, false });
}

TEST(chains_travel)
{
	freed(opk_ctx) *from = ctx_with_chain(), *to = new_ctx();
	const struct opk_cause *cause;

	ck_assert(put_and_get(to, from));
	ck_assert_uint_eq(opk_error_cause_count(to), 3);
	ck_assert_uint_eq(opk_error_count(to), 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(opk_error_message(to, i), opk_error_message(from, i));
	ck_assert_ptr_null(opk_error_message(to, 5));
	ck_assert_int_eq(opk_error_cause(to, 0)->kind, OPK_CAUSE_TRIED);
	cause = opk_error_cause(to, 1);
	ck_assert_int_eq(cause->code, OPK_EINPUT);
	ck_assert_int_eq(cause->kind, OPK_CAUSE_ERROR);
	ck_assert_int_eq(cause->remedy, OPK_REMEDY_RECOVER);
	ck_assert_int_eq(cause->os_error, ENOENT);
	ck_assert_uint_eq(cause->line, 3);
	ck_assert_uint_eq(cause->column, 4);
	ck_assert_str_eq(cause->file, "f");
	ck_assert_str_eq(cause->text, "FA100 is wrong");
	ck_assert_str_eq(cause->general, "* is wrong");
	ck_assert_str_eq(cause->caret, "     ^");
	ck_assert_int_eq(opk_error_cause(to, 2)->kind, OPK_CAUSE_WHILE);
}

/* The outer causes are kept, and the first bytes of a long one. */
TEST(long_chains_are_cut)
{
	freed(opk_ctx) *from = ctx_with_chain(), *to = new_ctx();

	for (int i = 0; i < OPK_MAX_CAUSES; i++)
		opk_add(from, OPK_EFAILED, "%d%05000d", i, 1);
	ck_assert(put_and_get(to, from));
	ck_assert_uint_eq(opk_error_count(to), OPK_MAX_CAUSES);
	ck_assert_uint_eq(strlen(opk_error_message(to, 0)), OPK_MAX_CAUSE);
	ck_assert_str_eq(opk_error_message(to, 999) + OPK_MAX_CAUSE - 5, "00000");
	ck_assert(!strncmp(opk_error_message(to, 999), "9990000", 7));
}

/* A truncated chain is refused; one with a changed byte is refused, or can be printed. */
TEST(damaged_chains)
{
	freed(opk_ctx) *from = ctx_with_chain();
	opk_autobuf struct opk_buf bytes = { 0 };

	opk_errors_put(&bytes, from);
	for (size_t size = 0; size < bytes.size; size++) {
		freed(opk_ctx) *to = new_ctx();
		struct opk_reader in = { bytes.data, size, false };

		ck_assert(!opk_errors_get(to, &in));
	}
	for (size_t at = 0; at < bytes.size * 256; at++) {
		freed(opk_ctx) *to = new_ctx();
		uint8_t kept = bytes.data[at / 256];

		bytes.data[at / 256] = (uint8_t)at;
		opk_errors_get(to, &(struct opk_reader){ bytes.data, bytes.size, false });
		for (size_t i = 0; i < opk_error_count(to); i++)
			ck_assert_ptr_nonnull(opk_error_message(to, i));
		for (size_t i = 0; i < opk_error_cause_count(to); i++)
			ck_assert(opk_error_cause(to, i)->text && opk_error_cause(to, i)->general);
		bytes.data[at / 256] = kept;
	}
}

CTX_TEST(fail_begins_anew)
{
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
	opk_ctx_free(NULL);
}

TEST(options_are_copied)
{
	char cuda[] = "/cuda", home[] = "/home/u";
	struct opk_env env = { .size = sizeof env, .offpeak_cuda = "", .home = home };
	struct opk_ctx_options options = OPTIONS(options, .env = &env, .cuda_dir = cuda);
	struct opk_ctx *ctx;

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

static void keep_log(void *data, const char *message)
{
	snprintf(data, 64, "%s", message);
}

TEST(log_reaches_the_callback)
{
	char text[64] = "";
	freed(opk_ctx) *ctx = NULL;
	struct opk_ctx_options options = OPTIONS(options, .log = keep_log, .log_data = text);

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	opk_log(ctx, "%d notes", 3);
	ck_assert_str_eq(text, "3 notes");
}

TEST(environment)
{
	struct opk_env env = OPK_INIT(env);

	setenv("OFFPEAK_SETS", "/sets", 1);
	setenv("CUDA_HOME", "/home-cuda", 1);
	unsetenv("CUDA_PATH");
	opk_env_read(&env);
	ck_assert_str_eq(env.sets, "/sets");
	ck_assert_str_eq(env.cuda_home, "/home-cuda");
	ck_assert_ptr_null(env.cuda_path);
}

TEST(ctx_without_memory)
{
	struct opk_env env = { .size = sizeof env,
		               .cuda_home = "a",
		               .cuda_path = "b",
		               .home = "c",
		               .sets = "d",
		               .offpeak_cuda = "e",
		               .virtual_env = "f",
		               .wheels = "h" };
	struct opk_ctx_options options = OPTIONS(options, .env = &env);
	struct opk_ctx *ctx = NULL;

	options.cuda_dir = options.data_dir = "g";
	for (long n = 0; n < 10; n++) {
		fail_allocation(n);
		ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_ENOMEM);
		ck_assert(allocation_failed());
		ck_assert_ptr_null(ctx);
	}
}

/* ---- terminals */

/* Test vectors of FIPS 180-4, and lengths around those at which padding changes. */
TEST(sha256)
{
	static const struct {
		struct here here;
		const char *text;
		size_t times;
		const char *wanted;
	} rows[] = {
		{ HERE, "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ HERE, "abc", 1,
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ HERE, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ HERE,
		  "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
		  "klmnopqrlmnopqrsmnopqrstnopqrstu",
		  1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
		{ HERE, "a", 55,
		  "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ HERE, "a", 56,
		  "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ HERE, "a", 64,
		  "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ HERE, "0123456", 1000,
		  "efa20244b07f2afa4aaf90e425a72dd94623d7be1262089e842ea8db47abacb2" },
		{ HERE, "aaaaaaaaaa", 100000,
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
	};

	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		const size_t row = i / 2;
		struct opk_sha256 hash;
		char text[OPK_SHA256_TEXT];

		opk_sha256_begin(&hash);
		/* Each row with and without the processor's instructions. */
		hash.plainly = hash.plainly || i % 2;
		for (size_t n = 0; n < rows[row].times; n++)
			opk_sha256_add(&hash, rows[row].text, strlen(rows[row].text));
		opk_sha256_end(&hash, text);
		ck_row(&rows[row], !strcmp(text, rows[row].wanted), "%s", text);
	}
}

static const struct {
	struct here here;
	const char *text;
	const char *escaped, *bold, *defused;
} terminals_obey_nothing_rows[] = {
	{ HERE, "", "", "", "" },
	{ HERE, "a\tb\nc", "a\tb\nc", "a\tb\nc", "a?b?c" },
	{ HERE, "\033[31mred\r\a\177", "\\u001b[31mred\\u000d\\u0007\\u007f",
	  "\\u001b[31mred\\u000d\\u0007\\u007f", "?[31mred???" },
	{ HERE, "\033[1mb\033[0m\033[1", "\\u001b[1mb\\u001b[0m\\u001b[1",
	  "\033[1mb\033[0m\\u001b[1", "?[1mb?[0m?[1" },
	{ HERE,
	  "\xc2\x9b"
	  "31m\xc2\x85\xc2\xa0",
	  "\\u009b31m\\u0085\xc2\xa0", "\\u009b31m\\u0085\xc2\xa0", "?31m?\xc2\xa0" },
	/* A single byte as control character; a terminal with 8-bit controls obeys it, too. */
	{ HERE,
	  "\x9b"
	  "31m\xff\xe2\x80",
	  "\\u009b31m\\u00ff\\u00e2\\u0080", "\\u009b31m\\u00ff\\u00e2\\u0080", "?31m???" },
	{ HERE,
	  "a\xe2\x80\xae"
	  "b\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f\xe2\x80\xa8",
	  "a\\u202eb\\u2066\\u061c\\u200f\\u2028", "a\\u202eb\\u2066\\u061c\\u200f\\u2028",
	  "a?b????" },
	{ HERE, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
};

TEST_EACH(terminals_obey_nothing, terminals_obey_nothing_rows)
{
	for (int bold = 0; bold < 2; bold++) {
		opk_autobuf struct opk_buf out = { 0 };

		opk_terminal_escape(&out, row->text, strlen(row->text), bold);
		opk_buf_add(&out, "", 1);
		ck_row(row, !strcmp((char *)out.data, bold ? row->bold : row->escaped), "got %s",
		       (char *)out.data);
	}
	opk_autofree char *text = opk_strdup(row->text);

	opk_terminal_defuse(text);
	ck_row(row, !strcmp(text, row->defused), "got %s", text);
}

TEST(extremes)
{
	ck_assert(opk_metric_is_extreme("sm__x.max"));
	ck_assert(opk_metric_is_extreme("sm__x.min.per_second"));
	ck_assert(opk_metric_is_extreme("TPC.TriageCompute.sm__x.max"));
	ck_assert(!opk_metric_is_extreme("TPC.TriageCompute.sm__x.avg"));
	ck_assert(!opk_metric_is_extreme("sm__x.max_rate"));
	ck_assert(!opk_metric_is_extreme("sm__max"));
}

static const struct {
	struct here here;
	const char *text;
	size_t most;
	const char *wanted;
} texts_that_fit_rows[] = {
	{ HERE, "twelve bytes", 12, "twelve bytes" },
	{ HERE, "thirteen byte", 12, "thirte\xe2\x80\xa6yte" },
	{ HERE, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 7, "\xc3\xa4\xe2\x80\xa6\xc3\xa4" },
	/* Not text: only continuation bytes. */
	{ HERE, "\x80\x80\x80\x80\x80\x80\x80\x80", 6, "\xe2\x80\xa6" },
	{ HERE, "", 3, "" },
};

TEST_EACH(texts_that_fit, texts_that_fit_rows)
{
	opk_autofree char *got = opk_utf8_fit(row->text, row->most);

	ck_row(row, !strcmp(got, row->wanted), "got %s", got);
}
