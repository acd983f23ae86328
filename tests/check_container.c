/* SPDX-License-Identifier: BSD-2-Clause */
/* .opk files: what is written can be read back; and the filter of counter data. */
#include "allocation.h"
#include "containers.h"
#include "container/container_inside.h"
#include "random.h"

static void noise(uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(random64() >> 32);
}

/* ---- the filter ------------------------------------------------------------------------- */

/* A small model of counter data: equal records with a few changed bytes in each. */
static void repeat(uint8_t *to, size_t size, size_t stride, size_t changed)
{
	noise(to, stride < size ? stride : size);
	for (size_t i = stride; i < size; i++)
		to[i] = to[i - stride];
	for (size_t at = stride; at < size; at += stride)
		for (size_t i = 0; i < changed && at + 8 * i < size; i++)
			to[at + 8 * i] = (uint8_t)random64();
}

static size_t find_stride(const void *data, size_t size)
{
	size_t stride = 1;

	ck_assert(opk_xor_find_stride(&stride, data, size));
	return stride;
}

static const struct {
	struct here here;
	size_t size, stride, changed;
} stride_is_found_rows[] = {
	{ HERE, 100000, 64, 0 },       { HERE, 100000, 1000, 0 },    { HERE, 100000, 1000, 20 },
	{ HERE, 100000, 4097, 50 },    { HERE, 100000, 333, 3 },     { HERE, 1 << 20, 65536, 100 },
	{ HERE, 1 << 20, 77777, 100 }, { HERE, 300001, 100003, 10 },
};

TEST_EACH(stride_is_found, stride_is_found_rows)
{
	opk_autofree uint8_t *data = malloc(row->size);
	size_t got;

	random_restart();
	repeat(data, row->size, row->stride, row->changed);
	got = find_stride(data, row->size);
	ck_row(row, got == row->stride, "got %zu", got);
}

TEST(no_stride_is_found)
{
	enum { SIZE = 1 << 18 };
	opk_autofree uint8_t *data = malloc(SIZE);

	random_restart();
	noise(data, SIZE);
	ck_assert_uint_eq(find_stride(data, SIZE), 0);
	memset(data, 0, SIZE);
	ck_assert_uint_eq(find_stride(data, SIZE), 0);
	memset(data, 0x5a, SIZE);
	ck_assert_uint_eq(find_stride(data, SIZE), 0);
	ck_assert_uint_eq(find_stride(NULL, 0), 0);
	for (size_t size = 1; size < 96; size++) {
		opk_autofree uint8_t *tiny = malloc(size);

		memset(tiny, (int)size, size);
		ck_assert_uint_eq(find_stride(tiny, size), 0);
		noise(tiny, size);
		ck_assert_uint_eq(find_stride(tiny, size), 0);
	}
}

/* One repeat among zeros costs as many bytes as it saves. */
TEST(stride_without_gain)
{
	enum { SIZE = 1 << 16, PATTERN = 4096 };
	opk_autofree uint8_t *data = calloc(SIZE, 1);

	random_restart();
	noise(data + 10000, PATTERN);
	memcpy(data + 30000, data + 10000, PATTERN);
	ck_assert_uint_eq(find_stride(data, SIZE), 0);
	ck_assert_uint_eq(find_stride(data, 30000 + PATTERN), 20000);
}

/* ---- round trip ------------------------------------------------------------------------- */

enum kind { NOISE, ZEROS, REPEATS, KINDS };

static void fill(uint8_t *to, size_t size, enum kind kind)
{
	memset(to, 0, size);
	if (kind == NOISE)
		noise(to, size);
	else if (kind == REPEATS)
		repeat(to, size, 1001, 5);
}

static const uint32_t types[] = {
	OPK_SECTION_META,         OPK_SECTION_CONFIG, OPK_SECTION_PREFIX,
	OPK_SECTION_AVAILABILITY, OPK_SECTION_DATA,   OPK_SECTION_RANGES,
};
static const size_t sizes[] = { 0, 1, 7, 8, 9, 63, 4096, 1 << 20 };
enum { PAYLOADS = COUNT(types) * COUNT(sizes) * KINDS };

/* A megabyte of each type would only test the compressor's speed. */
static bool wanted_payload(size_t i)
{
	uint32_t type = types[i / (COUNT(sizes) * KINDS)];

	return sizes[i / KINDS % COUNT(sizes)] < 1 << 20 || type == OPK_SECTION_DATA
	       || type == OPK_SECTION_CONFIG;
}

static uint8_t *make_payload(size_t i, uint32_t *type, size_t *size)
{
	uint8_t *data;

	*type = types[i / (COUNT(sizes) * KINDS)];
	*size = sizes[i / KINDS % COUNT(sizes)];
	data = malloc(*size + 1);
	random_state = 1000 + i;
	fill(data, *size, (enum kind)(i % KINDS));
	return data;
}

static void check_section(struct opk_ctx *ctx, const struct opk_file *file, size_t section,
                          size_t payload)
{
	const struct opk_section *got = opk_file_section(file, section);
	uint32_t type;
	size_t size, got_size;
	opk_autofree uint8_t *wanted = make_payload(payload, &type, &size);
	opk_autofree uint8_t *data = NULL;
	bool xored = got->flags & OPK_SECTION_XORED;
	bool repeats = payload % KINDS == REPEATS && size >= 4096;

	ck_ok(ctx, opk_file_verify(ctx, file, section));
	ck_ok(ctx, opk_file_read((void **)&data, &got_size, ctx, file, section));
	ck_assert_uint_eq(got->type, type);
	ck_assert_uint_eq(got->plain_size, size);
	ck_assert_uint_eq(got_size, size);
	ck_assert_uint_le(got->stored_size, size);
	ck_assert_uint_eq((uintptr_t)data % 8, 0);
	ck_assert_uint_eq(data[size], 0);
	ck_assert(!size || !memcmp(data, wanted, size));
	ck_assert_int_eq(xored, type == OPK_SECTION_DATA && repeats);
	ck_assert_uint_eq(got->stride, xored ? 1001 : 0);
	if (payload % KINDS != NOISE && size >= 4096)
		ck_assert_uint_lt(got->stored_size, size / 2);
}

CTX_TEST(all_sections_round_trip)
{
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;
	size_t count = 0;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (size_t i = 0; i < PAYLOADS; i++) {
		uint32_t type;
		size_t size;
		opk_autofree uint8_t *data = make_payload(i, &type, &size);

		/* An image has one table of each kind. */
		if (wanted_payload(i) && type == OPK_SECTION_RANGES)
			ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, NULL, 0));
		if (wanted_payload(i))
			ck_ok(ctx, opk_writer_add(writer, type, data, size));
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_assert(opk_file_complete(file));
	for (size_t i = 0; i < PAYLOADS; i++) {
		if (!wanted_payload(i))
			continue;
		count += types[i / (COUNT(sizes) * KINDS)] == OPK_SECTION_RANGES;
		check_section(ctx, file, count++, i);
	}
	ck_assert_uint_eq(opk_file_section_count(file), count);
}

CTX_TEST(file_without_sections)
{
	const struct opk_range *ranges;
	const struct opk_meta *meta;
	struct opk_writer *writer;
	struct opk_file *file;
	size_t count = 7;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_assert(opk_file_complete(file));
	ck_assert_uint_eq(opk_file_section_count(file), 0);
	ck_assert_uint_eq(opk_file_size(file), 72);
	ck_fails(ctx, opk_file_meta(&meta, ctx, file), OPK_EINPUT, "t.opk: no metadata section");
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_uint_eq(count, 0);
	opk_file_free(file);
	ck_assert_int_eq(truncate(path, 40), 0);
	file = open_file(ctx);
	ck_fails(ctx, opk_file_meta(&meta, ctx, file), OPK_EINPUT,
	         "t.opk: cut off at byte 40, before its metadata are whole");
	opk_file_free(file);
	opk_file_free(NULL);
}

CTX_TEST(unfinished_writer_leaves_nothing)
{
	struct opk_writer *writer = NULL;
	size_t size;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, "{}", 2));
	ck_assert_uint_eq(entries(false), 1);
	opk_writer_free(writer);
	ck_assert_uint_eq(entries(false), 0);
	opk_writer_free(NULL);
	size = write_sample(ctx);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	opk_writer_free(writer);
	ck_assert_uint_eq(entries(false), 1);
	ck_assert_int_eq(truncate(path, (off_t)size), 0);
	writer = NULL;
	ck_code(ctx, opk_writer_new(&writer, ctx, folder), OPK_EFAILED);
	ck_assert_ptr_null(writer);
}

/* A caller that checks only finish() is also told of earlier errors. */
CTX_TEST(incomplete_writer_does_not_finish)
{
	const struct opk_meta wrong = { .kind = "recording", .chip = "no chip" };
	const struct opk_time time = { 0 }, far = { .device = 1ll << 32 };
	struct opk_writer *writers[2];

	ck_ok(ctx, opk_writer_new(&writers[0], ctx, path));
	ck_ok(ctx, opk_writer_add(writers[0], OPK_SECTION_META, "{}", 2));
	ck_ok(ctx, opk_writer_add(writers[0], OPK_SECTION_DATA, "image", 5));
	ck_fails(ctx, opk_writer_add_times(writers[0], &far, 1, sizeof far), OPK_EUSAGE,
	         "times of samples of device 4294967296");
	opk_writer_free(writers[0]);

	ck_ok(ctx, opk_writer_new(&writers[0], ctx, path));
	ck_ok(ctx, opk_writer_add(writers[0], OPK_SECTION_META, "{}", 2));
	ck_code(ctx, opk_writer_add_times(writers[0], &time, 1, sizeof(struct opk_time)),
	        OPK_EUSAGE);
	ck_fails(ctx, opk_writer_finish(writers[0]), OPK_EUSAGE, "lacks a section");
	opk_writer_free(writers[0]);
	ck_ok(ctx, opk_writer_new(&writers[0], ctx, path));
	ck_ok(ctx, opk_writer_new(&writers[1], ctx, path));
	ck_code(ctx, opk_writer_add_meta(writers[1], &wrong), OPK_EUSAGE);
	ck_code(ctx, opk_writers_finish(writers, 2), OPK_EUSAGE);
	opk_writer_free(writers[0]);
	opk_writer_free(writers[1]);
	ck_assert_uint_eq(entries(false), 0);
}

/* The library reads the generator's files, so a hostile file fails only for its own damage. */
CTX_TEST(generated_file_is_good)
{
	struct image image;
	bool complete;

	begin_image(&image);
	put(&image, OPK_SECTION_META, "{}", 2);
	put(&image, 0x41414141, "unknown", 7);
	put(&image, OPK_SECTION_DATA, "12345678", 8);
	put_end(&image);
	write_image(&image);
	ck_ok(ctx, read_all(ctx, &complete));
	ck_assert(complete);
}

CTX_TEST(unknown_types_are_skipped)
{
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;
	struct image image;
	char name[5];

	begin_image(&image);
	put(&image, 0x58585858, "future", 6);
	put(&image, OPK_SECTION_META, good_meta, sizeof good_meta - 1);
	put(&image, 0x41004141, NULL, 0);
	put_end(&image);
	write_image(&image);
	file = open_file(ctx);
	ck_assert(opk_file_complete(file));
	ck_assert_uint_eq(opk_file_section_count(file), 3);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->chip, "GH100");
	opk_section_type_name(name, opk_file_section(file, 2)->type);
	ck_assert_str_eq(name, "AA?A");
	opk_section_type_name(name, OPK_SECTION_END);
	ck_assert_str_eq(name, "END ");
}

/* A later version may encode sections in unknown ways: their lengths can't be checked. */
CTX_TEST(unknown_flags_are_refused_on_read)
{
	static const uint32_t flags[] = { 16, 1u << 31, OPK_SECTION_DEFLATED | 32, 0xffffffff };

	for (size_t i = 0; i < COUNT(flags); i++) {
		struct opk_section section = { .type = OPK_SECTION_CONFIG,
			                       .flags = flags[i],
			                       .stored_size = 3,
			                       .plain_size = UINT64_MAX,
			                       .crc = opk_crc32(0, "abc", 3) };
		void *data = NULL;
		freed(opk_file) *file = NULL;
		struct image image;
		size_t size;

		begin_image(&image);
		put_raw(&image, &section, 0, "abc", 3);
		put_end(&image);
		write_image(&image);
		file = open_file(ctx);
		ck_assert(opk_file_complete(file));
		ck_ok(ctx, opk_file_verify(ctx, file, 0));
		ck_code(ctx, opk_file_read(&data, &size, ctx, file, 0), OPK_EINPUT);
		ck_assert_str_eq(opk_error_message(ctx, 0),
		                 "stored in a way that a later offpeak knows");
		ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 1), "t.opk: section 1 (CNFG)"));
		ck_assert_ptr_null(data);
	}
}

/* ---- out of memory ---------------------------------------------------------------------- */

static int open_and_read(struct opk_ctx *ctx)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	freed(opk_file) *file = NULL;
	size_t count;
	int code = opk_file_open(&file, ctx, path);

	if (!code)
		code = opk_file_meta(&meta, ctx, file);
	if (!code)
		code = opk_file_ranges(&ranges, &count, ctx, file);
	for (size_t i = 0; !code && i < opk_file_section_count(file); i++) {
		opk_autofree void *data = NULL;
		size_t size;

		code = opk_file_read(&data, &size, ctx, file, i);
	}
	return code;
}

static int write_file(struct opk_ctx *ctx)
{
	freed(opk_writer) *writer = NULL;
	uint8_t data[4096];

	repeat(data, sizeof data, 101, 1);
	TRY(opk_writer_new(&writer, ctx, path));
	TRY(opk_writer_add_meta(writer, &full_meta));
	TRY(opk_writer_add(writer, OPK_SECTION_DATA, data, sizeof data));
	TRY(opk_writer_add(writer, OPK_SECTION_CONFIG, "abc", 3));
	return opk_writer_finish(writer);
}

/* Each allocation fails once; the result must be OPK_ENOMEM. */
static void without_memory(int (*work)(struct opk_ctx *ctx), size_t files)
{
	freed(opk_ctx) *ctx = new_ctx();
	long n = 0;

	for (; is_short(ctx, n, work(ctx)); n++) {
		ck_assert_ptr_nonnull(strstr(errors_of(ctx), "out of memory"));
		ck_assert_uint_eq(entries(false), files);
	}
	ck_assert_int_gt(n, 8);
}

/* Readers refuse a second table of a kind for an image, so writers do, too. */
CTX_TEST(one_table_of_a_kind)
{
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (int i = 0; i < 2; i++) {
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "an image", 8));
		ck_ok(ctx, opk_writer_add_ranges(writer, NULL, 0, sizeof(struct opk_range)));
		ck_fails(ctx, opk_writer_add_ranges(writer, NULL, 0, sizeof(struct opk_range)),
		         OPK_EUSAGE, "an image has one table of a kind");
		ck_ok(ctx, opk_writer_add_times(writer, NULL, 0, sizeof(struct opk_time)));
		ck_code(ctx, opk_writer_add_times(writer, NULL, 0, sizeof(struct opk_time)),
		        OPK_EUSAGE);
	}
}

CTX_TEST(reading_without_memory)
{
	write_sample(ctx);
	without_memory(open_and_read, 1);
}

TEST(writing_without_memory)
{
	without_memory(write_file, 0);
}

SUITE(.set_up = make_path, .tear_down = remove_path);
