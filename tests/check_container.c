/* SPDX-License-Identifier: BSD-2-Clause */
/* .opk files: what was written comes back, and no damage goes unnoticed. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "adapters/zlib/deflate.h"
#include "base/buf.h"
#include "domain/meta.h"
#include "domain/xor_filter.h"
#include "testing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char folder[64];
static char path[80]; /* the file under test */

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_container.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/t.opk", folder);
}

static size_t entries(void)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void remove_folder(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
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

/* xorshift: the same bytes in every run. */
static uint64_t random_state = 88172645463325252u;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void noise(uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(random64() >> 32);
}

/* ---- a generator of files, sound and hostile --------------------------------------------- */

/* The bytes of each section header that the end section sums up. */
enum { SUMMED = 36 };

/* Written from the format alone, sharing no code with the library's writer. */
struct image {
	struct opk_buf buf;
	uint32_t crc, count; /* for the end section */
};

static void begin_image(struct image *image)
{
	*image = (struct image){ 0 };
	opk_buf_add(&image->buf, "\x89OPK\r\n\x1a\n\1\0\0\0\0\0\0\0", 16);
	image->crc = opk_crc32(0, image->buf.data, 16);
}

/* A section header exactly as told, with a right checksum; its payload, padded. */
static void put_raw(struct image *image, const struct opk_section *section, uint32_t reserved,
                    const void *payload, size_t size)
{
	opk_autobuf struct opk_buf header = { 0 };

	opk_buf_add_u32(&header, section->type);
	opk_buf_add_u32(&header, section->flags);
	opk_buf_add_u64(&header, section->stored_size);
	opk_buf_add_u64(&header, section->plain_size);
	opk_buf_add_u32(&header, section->stride);
	opk_buf_add_u32(&header, section->crc);
	opk_buf_add_u32(&header, reserved);
	opk_buf_add_u32(&header, opk_crc32(0, header.data, header.size));
	opk_buf_add(&image->buf, header.data, header.size);
	opk_buf_add(&image->buf, payload, size);
	opk_buf_add(&image->buf, "\0\0\0\0\0\0\0", -size & 7);
	if (section->type == OPK_SECTION_END)
		return;
	image->crc = opk_crc32(image->crc, header.data, SUMMED);
	image->count++;
}

static void put(struct image *image, uint32_t type, const void *payload, size_t size)
{
	struct opk_section section = { .type = type, .stored_size = size, .plain_size = size,
		                       .crc = opk_crc32(0, payload, size) };

	put_raw(image, &section, 0, payload, size);
}

static void put_end(struct image *image)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_buf_add_u32(&payload, image->count);
	opk_buf_add_u32(&payload, image->crc);
	put(image, OPK_SECTION_END, payload.data, payload.size);
}

static void write_bytes(const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static void write_image(struct image *image)
{
	write_bytes(image->buf.data, image->buf.size);
	opk_buf_clear(&image->buf);
}

static const char good_meta[] = "{\"kind\":\"set\",\"chip\":\"GH100\",\"profiler\":\"range\","
				"\"metrics\":[\"a__b.sum\"]}";

/* Metadata, a stored, an empty and a filtered section, and a range table: about 600 bytes. */
static size_t write_sample(struct opk_ctx *ctx)
{
	static const uint8_t repeated[] = "counter";
	uint8_t data[1024];
	struct opk_writer *writer;
	struct stat info;

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i % 100 * 37 + i % 100 / 7);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, good_meta, sizeof good_meta - 1));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_CONFIG, repeated, sizeof repeated - 1));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_PREFIX, NULL, 0));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, data, sizeof data));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_RANGES, "[{\"name\":\"r\"}]", 14));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	ck_assert_int_eq(stat(path, &info), 0);
	return (size_t)info.st_size;
}

/* Opens, verifies and reads everything; the first code that is not OPK_OK. */
static int read_all(struct opk_ctx *ctx, bool *complete)
{
	struct opk_file *file = NULL;
	int code = opk_file_open(&file, ctx, path);

	*complete = !code && opk_file_complete(file);
	for (size_t i = 0; !code && i < opk_file_section_count(file); i++) {
		opk_autofree void *data = NULL;
		size_t size;

		code = opk_file_verify(ctx, file, i);
		if (!code)
			code = opk_file_read(&data, &size, ctx, file, i);
	}
	opk_file_free(file);
	return code;
}

static struct opk_file *open_file(struct opk_ctx *ctx)
{
	struct opk_file *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	return file;
}

/* ---- the filter ------------------------------------------------------------------------- */

START_TEST(xor_is_reversible)
{
	static uint8_t data[4096], there[4096], back[4096];

	for (int i = 0; i < 500; i++) {
		size_t size = random64() % sizeof data;
		size_t stride = 1 + random64() % (size + 10);

		noise(data, size);
		memset(there, 0xaa, sizeof there);
		opk_xor_encode(there, data, size, stride);
		ck_assert_uint_eq(there[size], 0xaa);
		for (size_t j = stride; j < size; j++)
			ck_assert_uint_eq(there[j], data[j] ^ data[j - stride]);
		memcpy(back, there, sizeof back);
		opk_xor_decode(back, size, stride);
		ck_assert_mem_eq(back, data, size);
		ck_assert_uint_eq(back[size], 0xaa);
	}
}
END_TEST

/* Counter data in small: equal records with a few changed bytes in each. */
static void repeat(uint8_t *to, size_t size, size_t stride, size_t changed)
{
	noise(to, stride < size ? stride : size);
	for (size_t i = stride; i < size; i++)
		to[i] = to[i - stride];
	for (size_t at = stride; at < size; at += stride)
		for (size_t i = 0; i < changed && at + 8 * i < size; i++)
			to[at + 8 * i] = (uint8_t)random64();
}

START_TEST(stride_is_found)
{
	static const struct {
		struct here here;
		size_t size, stride, changed;
	} rows[] = {
		{ HERE, 100000, 64, 0 },      { HERE, 100000, 1000, 0 },
		{ HERE, 100000, 1000, 20 },   { HERE, 100000, 4097, 50 },
		{ HERE, 100000, 333, 3 },     { HERE, 1 << 20, 65536, 100 },
		{ HERE, 1 << 20, 77777, 100 }, { HERE, 300001, 100003, 10 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree uint8_t *data = malloc(rows[i].size);
		size_t got;

		repeat(data, rows[i].size, rows[i].stride, rows[i].changed);
		got = opk_xor_find_stride(data, rows[i].size);
		ck_row(&rows[i], got == rows[i].stride, "got %zu", got);
	}
}
END_TEST

START_TEST(no_stride_is_found)
{
	enum { SIZE = 1 << 18 };
	opk_autofree uint8_t *data = malloc(SIZE);

	noise(data, SIZE);
	ck_assert_uint_eq(opk_xor_find_stride(data, SIZE), 0);
	memset(data, 0, SIZE);
	ck_assert_uint_eq(opk_xor_find_stride(data, SIZE), 0);
	memset(data, 0x5a, SIZE);
	ck_assert_uint_eq(opk_xor_find_stride(data, SIZE), 0);
	ck_assert_uint_eq(opk_xor_find_stride(NULL, 0), 0);
	for (size_t size = 1; size < 96; size++) {
		opk_autofree uint8_t *tiny = malloc(size);

		memset(tiny, (int)size, size);
		ck_assert_uint_eq(opk_xor_find_stride(tiny, size), 0);
		noise(tiny, size);
		ck_assert_uint_eq(opk_xor_find_stride(tiny, size), 0);
	}
}
END_TEST

/* What repeats once amid zeros costs as many bytes as it saves. */
START_TEST(stride_without_gain)
{
	enum { SIZE = 1 << 16, PATTERN = 4096 };
	opk_autofree uint8_t *data = calloc(SIZE, 1);

	noise(data + 10000, PATTERN);
	memcpy(data + 30000, data + 10000, PATTERN);
	ck_assert_uint_eq(opk_xor_find_stride(data, SIZE), 0);
	ck_assert_uint_eq(opk_xor_find_stride(data, 30000 + PATTERN), 20000);
}
END_TEST

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

/* A megabyte of each type would test the compressor's patience and nothing else. */
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

START_TEST(all_sections_round_trip)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_writer *writer;
	struct opk_file *file;
	size_t count = 0;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (size_t i = 0; i < PAYLOADS; i++) {
		uint32_t type;
		size_t size;
		opk_autofree uint8_t *data = make_payload(i, &type, &size);

		if (wanted_payload(i))
			ck_ok(ctx, opk_writer_add(writer, type, data, size));
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_assert(opk_file_complete(file));
	for (size_t i = 0; i < PAYLOADS; i++)
		if (wanted_payload(i))
			check_section(ctx, file, count++, i);
	ck_assert_uint_eq(opk_file_section_count(file), count);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(file_without_sections)
{
	struct opk_ctx *ctx = new_ctx();
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
	ck_assert_uint_eq(opk_file_size(file), 64);
	ck_code(ctx, opk_file_meta(&meta, ctx, file), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "t.opk: no metadata section"));
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_uint_eq(count, 0);
	opk_file_free(file);
	opk_file_free(NULL);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(unfinished_writer_leaves_nothing)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_writer *writer = NULL;
	size_t size;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, "{}", 2));
	ck_assert_uint_eq(entries(), 1);
	opk_writer_free(writer);
	ck_assert_uint_eq(entries(), 0);
	opk_writer_free(NULL);
	size = write_sample(ctx);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	opk_writer_free(writer);
	ck_assert_uint_eq(entries(), 1);
	ck_assert_int_eq(truncate(path, (off_t)size), 0);
	writer = NULL;
	ck_code(ctx, opk_writer_new(&writer, ctx, folder), OPK_EFAILED);
	ck_assert_ptr_null(writer);
	opk_ctx_free(ctx);
}
END_TEST

/* The library reads what the generator writes, so that its hostile files fail for one reason. */
START_TEST(generated_file_is_good)
{
	struct opk_ctx *ctx = new_ctx();
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
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(unknown_types_are_skipped)
{
	struct opk_ctx *ctx = new_ctx();
	const struct opk_meta *meta;
	struct opk_file *file;
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
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* A later version may store sections in ways not known here: its lengths can't be judged. */
START_TEST(unknown_flags_are_refused_on_read)
{
	static const uint32_t flags[] = { 4, 1u << 31, OPK_SECTION_DEFLATED | 8, 0xffffffff };
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(flags); i++) {
		struct opk_section section = { .type = OPK_SECTION_CONFIG, .flags = flags[i],
			                       .stored_size = 3, .plain_size = UINT64_MAX,
			                       .crc = opk_crc32(0, "abc", 3) };
		void *data = NULL;
		struct opk_file *file;
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
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* ---- hostile files ---------------------------------------------------------------------- */

START_TEST(hostile_file_headers)
{
	static const struct {
		struct here here;
		const char *bytes;
		size_t size;
		const char *wanted;
	} rows[] = {
		{ HERE, "", 0, "byte 0: too short for an .opk file" },
		{ HERE, "\x89OPK\r\n\x1a\n\1\0\0\0\0\0\0", 15, "too short for an .opk file" },
		{ HERE, "\x89OPK\r\n\x1a\r\1\0\0\0\0\0\0\0", 16, "not an .opk file" },
		{ HERE, "\x89OPK\n\x1a\n\n\1\0\0\0\0\0\0\0", 16, "not an .opk file" },
		{ HERE, "\x09OPK\r\n\x1a\n\1\0\0\0\0\0\0\0", 16, "not an .opk file" },
		{ HERE, "\x89OPK\r\n\x1a\n\2\0\0\0\0\0\0\0", 16,
		  "format version 2, this offpeak knows version 1" },
		{ HERE, "\x89OPK\r\n\x1a\n\0\0\0\0\0\0\0\0", 16, "format version 0" },
		{ HERE, "\x89OPK\r\n\x1a\n\0\0\0\1\0\0\0\0", 16, "format version 16777216" },
		{ HERE, "\x89OPK\r\n\x1a\n\1\0\0\0\1\0\0\0", 16, "the file header is damaged" },
		{ HERE, "\x89OPK\r\n\x1a\n\1\0\0\0\0\0\0\1", 16, "the file header is damaged" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_file *file = NULL;
		int code;

		write_bytes(rows[i].bytes, rows[i].size);
		code = opk_file_open(&file, ctx, path);
		ck_row(&rows[i], code == OPK_EINPUT && !file, "code %d", code);
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "got %s", errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

enum { DEFLATED = OPK_SECTION_DEFLATED, XORED = OPK_SECTION_XORED };

/* The payload has 16 bytes; stored_size and plain_size say what they like. */
static const struct hostile {
	struct here here;
	uint32_t flags, stride, reserved;
	uint64_t stored, plain;
	const char *wanted; /* NULL: opens as incomplete */
} hostile[] = {
	{ HERE, 0, 0, 1, 16, 16, "a section header is damaged" },
	{ HERE, 0, 0, 1u << 31, 16, 16, "a section header is damaged" },
	{ HERE, 0, 0, 0, 16, 15, "a section's two lengths disagree" },
	{ HERE, 0, 0, 0, 16, 17, "a section's two lengths disagree" },
	{ HERE, 0, 0, 0, 16, UINT64_MAX, "a section's two lengths disagree" },
	{ HERE, XORED, 8, 0, 16, 17, "a section's two lengths disagree" },
	{ HERE, DEFLATED, 0, 0, 16, 16 * 1032 + 1, "a section claims an impossible length" },
	{ HERE, DEFLATED, 0, 0, 16, UINT64_MAX, "a section claims an impossible length" },
	{ HERE, DEFLATED, 0, 0, 0, 1, "a section claims an impossible length" },
	{ HERE, XORED, 0, 0, 16, 16, "a section's filter is out of range" },
	{ HERE, XORED, 16, 0, 16, 16, "a section's filter is out of range" },
	{ HERE, XORED, UINT32_MAX, 0, 16, 16, "a section's filter is out of range" },
	{ HERE, DEFLATED | XORED, 0, 0, 16, 100, "a section's filter is out of range" },
	{ HERE, DEFLATED | XORED, 100, 0, 16, 100, "a section's filter is out of range" },
	{ HERE, XORED, 1, 0, 0, 0, "a section's filter is out of range" },
	{ HERE, 0, 0, 0, 15, 15, "the bytes behind a section are not zero" },
	{ HERE, 0, 0, 0, 17, 17, "the bytes behind a section are not zero" },
	{ HERE, 0, 0, 0, 1000, 1000, NULL },
	{ HERE, 0, 0, 0, UINT64_MAX, UINT64_MAX, NULL },
	{ HERE, 0, 0, 0, UINT64_MAX - 3, UINT64_MAX - 3, NULL },
	{ HERE, 0, 0, 0, (uint64_t)1 << 63, (uint64_t)1 << 63, NULL },
	{ HERE, DEFLATED, 0, 0, UINT64_MAX, 1, NULL },
	{ HERE, 4, 0, 0, UINT64_MAX, 1, NULL },
	/* With the end section 64 bytes are left. One more does not fit, and no padding either. */
	{ HERE, 0, 0, 0, 65, 65, NULL },
};

START_TEST(hostile_sections)
{
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(hostile); i++) {
		const struct hostile *row = &hostile[i];
		struct opk_section section = { .type = OPK_SECTION_DATA, .flags = row->flags,
			                       .stored_size = row->stored,
			                       .plain_size = row->plain, .stride = row->stride };
		struct opk_file *file = NULL;
		struct image image;
		int code;

		begin_image(&image);
		section.crc = opk_crc32(0, "0123456789abcdef", 16);
		put_raw(&image, &section, row->reserved, "0123456789abcdef", 16);
		put_end(&image);
		write_image(&image);
		code = opk_file_open(&file, ctx, path);
		ck_row(row, code == (row->wanted ? OPK_EINPUT : OPK_OK), "%d %s", code,
		       errors_of(ctx));
		ck_row(row, !row->wanted || strstr(errors_of(ctx), row->wanted), "got %s",
		       errors_of(ctx));
		ck_row(row, code || !opk_file_complete(file), "complete");
		ck_row(row, code || !opk_file_section_count(file), "a section was believed");
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(hostile_end_sections)
{
	static const struct {
		struct here here;
		uint32_t count, crc_change, payload_crc_change, flags;
		uint64_t stored;
		const char *wanted;
	} rows[] = {
		{ HERE, 1, 0, 0, 0, 8, NULL },
		{ HERE, 0, 0, 0, 0, 8, "sections are missing or were moved" },
		{ HERE, 2, 0, 0, 0, 8, "sections are missing or were moved" },
		{ HERE, 1, 1, 0, 0, 8, "sections are missing or were moved" },
		{ HERE, 1, 0, 1, 0, 8, "the end section is damaged" },
		{ HERE, 1, 0, 0, XORED, 8, "the end section is damaged" },
		{ HERE, 1, 0, 0, 16, 8, "the end section is damaged" },
		{ HERE, 1, 0, 0, 0, 0, "the end section is damaged" },
		{ HERE, 1, 0, 0, 0, 16, "the end section is damaged" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_section end = { .type = OPK_SECTION_END, .flags = rows[i].flags,
			                   .stored_size = rows[i].stored,
			                   .plain_size = rows[i].stored,
			                   .stride = rows[i].flags & XORED };
		uint32_t payload[4] = { rows[i].count };
		struct image image;
		bool complete;
		int code;

		begin_image(&image);
		put(&image, OPK_SECTION_META, "{}", 2);
		payload[1] = image.crc ^ rows[i].crc_change;
		end.crc = opk_crc32(0, payload, 8) ^ rows[i].payload_crc_change;
		put_raw(&image, &end, 0, payload, rows[i].stored);
		write_image(&image);
		code = read_all(ctx, &complete);
		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
		ck_row(&rows[i], complete == !rows[i].wanted, "complete %d", complete);
		ck_row(&rows[i], !code || strstr(errors_of(ctx), rows[i].wanted), "got %s",
		       errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* Sections whose headers are sound and whose payload is not. */
START_TEST(hostile_payloads)
{
	static const struct {
		struct here here;
		const char *bytes;
		size_t size, plain;
		uint32_t crc_change;
		const char *wanted;
	} rows[] = {
		{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 3, 0, NULL },
		{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 3, 1, "its CRC-32 differs" },
		{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 2, 0, "differs from the one stated" },
		{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 4, 0, "differs from the one stated" },
		{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 0, 0, "compressed data is damaged" },
		{ HERE, "x\x9cKLJ\6\0\2M\1'?", 12, 3, 0, "differs from the one stated" },
		{ HERE, "x\x9cKLJ\6\0\2M\1", 10, 3, 0, "compressed data is damaged" },
		{ HERE, "x\x9cKLJ\6\0\2M\1(", 11, 3, 0, "incorrect data check" },
		{ HERE, "x\x9d", 2, 3, 0, "incorrect header check" },
		{ HERE, "garbage!", 8, 3, 0, "compressed data is damaged" },
		{ HERE, "x\xbb\0\0\0\1", 6, 3, 0, "compressed data is damaged" },
		{ HERE, "", 0, 0, 0, "compressed data is damaged" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t crc = opk_crc32(0, rows[i].bytes, rows[i].size) ^ rows[i].crc_change;
		struct opk_section section = { .type = OPK_SECTION_CONFIG, .flags = DEFLATED,
			                       .stored_size = rows[i].size,
			                       .plain_size = rows[i].plain, .crc = crc };
		opk_autofree void *data = NULL;
		struct opk_file *file;
		struct image image;
		size_t size;
		int code;

		begin_image(&image);
		put_raw(&image, &section, 0, rows[i].bytes, rows[i].size);
		put_end(&image);
		write_image(&image);
		file = open_file(ctx);
		code = opk_file_read(&data, &size, ctx, file, 0);
		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
		ck_row(&rows[i], !code || strstr(errors_of(ctx), rows[i].wanted), "got %s",
		       errors_of(ctx));
		ck_row(&rows[i], code || !strcmp(data, "abc"), "got %s", (char *)data);
		ck_row(&rows[i], !code == (data != NULL), "data %p", data);
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(not_a_file)
{
	static const struct {
		struct here here;
		const char *path, *wanted;
	} rows[] = {
		{ HERE, "/nowhere/x.opk", "/nowhere/x.opk: can't open: No such file" },
		{ HERE, "/dev/null", "/dev/null: not a regular file" },
		{ HERE, "/tmp", "/tmp: not a regular file" },
	};
	struct opk_ctx *ctx = new_ctx();
	struct opk_file *file = NULL;

	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_row(&rows[i], opk_file_open(&file, ctx, rows[i].path) == OPK_EINPUT, "opens");
		ck_row(&rows[i], strstr(errors_of(ctx), rows[i].wanted), "got %s", errors_of(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* Nobody writes to this pipe: who opens it like a file waits forever. */
START_TEST(pipe_is_no_opk_file)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_file *file = NULL;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_code(ctx, opk_file_open(&file, ctx, path), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "not a regular file"));
	opk_ctx_free(ctx);
}
END_TEST

/* ---- damage ----------------------------------------------------------------------------- */

START_TEST(truncated_anywhere)
{
	struct opk_ctx *ctx = new_ctx();
	size_t whole = write_sample(ctx), sections = 5;

	for (size_t size = whole; size-- > 0;) {
		struct opk_file *file = NULL;
		bool complete = true;
		int code;

		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		code = read_all(ctx, &complete);
		ck_assert_msg(code == (size < 16 ? OPK_EINPUT : OPK_OK), "%zu bytes: %d", size,
		              code);
		ck_assert_msg(!complete, "%zu bytes: complete", size);
		if (code)
			continue;
		/* What was whole stays readable, and never grows again. */
		ck_ok(ctx, opk_file_open(&file, ctx, path));
		ck_assert_uint_le(opk_file_section_count(file), sections);
		ck_assert_uint_eq(opk_file_size(file), size);
		sections = opk_file_section_count(file);
		opk_file_free(file);
	}
	ck_assert_uint_eq(sections, 0);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(every_bit_flip_is_noticed)
{
	struct opk_ctx *ctx = new_ctx();
	size_t size = write_sample(ctx);
	opk_autofree uint8_t *bytes = NULL;
	size_t got;
	bool complete;

	ck_ok(ctx, opk_read_file((void **)&bytes, &got, ctx, path));
	ck_assert_uint_eq(got, size);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		int code;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		write_bytes(bytes, size);
		code = read_all(ctx, &complete);
		ck_assert_msg(code == OPK_EINPUT, "bit %zu of byte %zu: %d", bit % 8, bit / 8,
		              code);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	write_bytes(bytes, size);
	ck_ok(ctx, read_all(ctx, &complete));
	ck_assert(complete);
	opk_ctx_free(ctx);
}
END_TEST

/* One byte each, padded, behind a header: all sections of this file are equally long. */
enum { HEAD = 16, SECTION = 48 };

static void write_letters(struct opk_ctx *ctx, uint8_t *bytes)
{
	opk_autofree void *written = NULL;
	struct opk_writer *writer;
	size_t size;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (const char *c = "abc"; *c; c++)
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, c, 1));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	ck_ok(ctx, opk_read_file(&written, &size, ctx, path));
	ck_assert_uint_eq(size, HEAD + 4 * SECTION);
	memcpy(bytes, written, size);
}

static const uint8_t *section_of(const uint8_t *bytes, char letter)
{
	return bytes + HEAD + (letter == 'E' ? 3 : letter - 'a') * SECTION;
}

/* The file has sections a, b and c, and its end, E; each row puts them into another order. */
START_TEST(sections_moved)
{
	static const char moved[] = "sections are missing or were moved";
	static const char more[] = "there is more after the end section";
	static const struct {
		struct here here;
		const char *order, *tail;
		const char *wanted; /* NULL: good */
	} rows[] = {
		{ HERE, "abcE", "", NULL },
		{ HERE, "abE", "", moved },
		{ HERE, "bcE", "", moved },
		{ HERE, "E", "", moved },
		{ HERE, "aabcE", "", moved },
		{ HERE, "abcaE", "", moved },
		{ HERE, "abEc", "", moved },
		{ HERE, "abcE", "x", more },
		{ HERE, "abcE", "01234567890123456789012345678901234567890123456789", more },
		{ HERE, "abcEE", "", more },
		{ HERE, "abcEa", "", more },
		/* As many sections as there were, and each whole in itself. */
		{ HERE, "acbE", "", moved },
		{ HERE, "bacE", "", moved },
		{ HERE, "aacE", "", moved },
		{ HERE, "cccE", "", moved },
	};
	uint8_t bytes[HEAD + 4 * SECTION];
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		bool complete;
		int code;

		write_letters(ctx, bytes);
		opk_buf_add(&buf, bytes, HEAD);
		for (const char *c = rows[i].order; *c; c++)
			opk_buf_add(&buf, section_of(bytes, *c), SECTION);
		opk_buf_add_text(&buf, rows[i].tail);
		write_bytes(buf.data, buf.size);
		code = read_all(ctx, &complete);
		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
		ck_row(&rows[i], !code || strstr(errors_of(ctx), rows[i].wanted), "got %s",
		       errors_of(ctx));
		ck_row(&rows[i], complete == !rows[i].wanted, "complete %d", complete);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* ---- metadata and ranges ----------------------------------------------------------------- */

static struct opk_file *file_with(struct opk_ctx *ctx, uint32_t type, const char *text)
{
	struct opk_writer *writer;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, type, text, strlen(text)));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	return open_file(ctx);
}

static void check_same_meta(const struct opk_meta *got, const struct opk_meta *wanted)
{
	ck_assert_str_eq(got->kind, wanted->kind);
	ck_assert_str_eq(got->generator, wanted->generator);
	ck_assert_str_eq(got->chip, wanted->chip);
	ck_assert_int_eq(got->profiler, wanted->profiler);
	ck_assert_str_eq(got->set_name, wanted->set_name);
	ck_assert_str_eq(got->set_description, wanted->set_description);
	ck_assert_uint_eq(got->metric_count, wanted->metric_count);
	for (size_t i = 0; i < wanted->metric_count; i++)
		ck_assert_str_eq(got->metrics[i], wanted->metrics[i]);
	ck_assert_uint_eq(got->passes, wanted->passes);
	ck_assert_int_eq(got->keep_instances, wanted->keep_instances);
	ck_assert_str_eq(got->config_hash, wanted->config_hash);
	ck_assert_uint_eq(got->cupti_version, wanted->cupti_version);
	ck_assert_str_eq(got->source, wanted->source);
	ck_assert_int_eq(got->has_gpu_time_shift, wanted->has_gpu_time_shift);
	ck_assert_int_eq(got->gpu_time_shift, wanted->gpu_time_shift);
}

static const char *const metric_names[] = { "sm__cycles.sum", "UNIT.Set.a__b.avg" };

static const struct opk_meta full_meta = {
	.kind = "recording", .generator = "offpeak 0", .chip = "GH100",
	.profiler = OPK_PROFILER_PM, .set_name = "a \"name\"",
	.set_description = "tab\there \xc3\xa9",
	.metrics = metric_names, .metric_count = 2, .passes = 3, .keep_instances = true,
	.config_hash = "crc32:00000001", .cupti_version = 130001, .source = "old.img",
	.gpu_time_shift = -794764, .has_gpu_time_shift = true,
};
static const struct opk_meta small_meta = {
	.kind = "", .generator = "", .chip = "A", .set_name = "", .set_description = "",
	.metrics = metric_names, .metric_count = 1, .config_hash = "", .source = "",
};

START_TEST(meta_round_trip)
{
	const struct opk_meta *const metas[] = { &full_meta, &small_meta };
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(metas); i++) {
		const struct opk_meta *got = NULL, *again = NULL;
		struct opk_writer *writer;
		struct opk_file *file;

		ck_ok(ctx, opk_writer_new(&writer, ctx, path));
		ck_ok(ctx, opk_writer_add_meta(writer, metas[i]));
		ck_ok(ctx, opk_writer_finish(writer));
		opk_writer_free(writer);
		file = open_file(ctx);
		ck_ok(ctx, opk_file_meta(&got, ctx, file));
		check_same_meta(got, metas[i]);
		ck_ok(ctx, opk_file_meta(&again, ctx, file));
		ck_assert_ptr_eq(got, again);
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

#define CHIP "\"chip\":\"GH100\","
#define RANGE "\"profiler\":\"range\","
#define METRICS "\"metrics\":[\"a.b\"]"

START_TEST(bad_metadata)
{
	static const char name_512[] = "{" CHIP RANGE "\"metrics\":[\"%0512d\"]}";
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "", "JSON, byte 0" },
		{ HERE, "chip: GH100", "JSON, byte 0" },
		{ HERE, "{" CHIP RANGE METRICS, "an object needs" },
		{ HERE, "[]", "names no usable chip" },
		{ HERE, "null", "names no usable chip" },
		{ HERE, "{}", "names no usable chip" },
		{ HERE, "{" RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":100," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"gh100\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"GH 100\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"../GH\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"G\xc3\x89\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"ABCDEFGHIJKLMNOP\"," RANGE METRICS "}",
		  "names no usable chip" },
		{ HERE, "{" CHIP METRICS "}", "names no known profiler" },
		{ HERE, "{" CHIP "\"profiler\":\"PM\"," METRICS "}", "names no known profiler" },
		{ HERE, "{" CHIP "\"profiler\":0," METRICS "}", "names no known profiler" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[]}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":\"a.b\"}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":{\"a\":\"b\"}}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"passes\":1}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a\",1]}", "metric 2 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[null]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[[\"a\"]]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a b\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a,b\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a\\n\"]}", "metric 1 has no usable name" },
		{ HERE, name_512, "metric 1 has no usable name" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *text = rows[i].text == name_512
		                                  ? opk_printf(name_512, 0)
		                                  : opk_strdup(rows[i].text);
		struct opk_file *file = file_with(ctx, OPK_SECTION_META, text);
		const struct opk_meta *meta = NULL;
		int code = opk_file_meta(&meta, ctx, file);

		ck_row(&rows[i], code == OPK_EINPUT && !meta, "code %d", code);
		ck_row(&rows[i], strstr(opk_error_message(ctx, 0), rows[i].wanted), "got %s",
		       errors_of(ctx));
		ck_row(&rows[i], strstr(opk_error_message(ctx, 1), "t.opk: section 1 (META)"),
		       "got %s", errors_of(ctx));
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* Wrong types and numbers out of range read as absent. */
START_TEST(odd_metadata)
{
	static const char *const texts[] = {
		"\"kind\":1,\"set\":null,\"source\":[],\"config_hash\":{},\"generator\":true",
		"\"passes\":\"3\",\"cupti_version\":true,\"keep_instances\":\"no\"",
		"\"passes\":-3,\"cupti_version\":-1,\"gpu_time_shift_ns\":\"5\"",
		"\"passes\":1.5,\"cupti_version\":13e4,\"gpu_time_shift_ns\":5.5",
		"\"passes\":18446744073709551616,\"gpu_time_shift_ns\":9223372036854775808",
		"\"cupti_version\":4294967297",
		"\"future\":{\"a\":[1]}",
	};
	struct opk_meta wanted = small_meta;
	struct opk_ctx *ctx = new_ctx();

	wanted.keep_instances = true; /* as in files that say nothing */
	wanted.metrics = (const char *[]){ "a.b" };
	wanted.chip = "GH100";
	for (size_t i = 0; i < COUNT(texts); i++) {
		opk_autofree char *text = opk_printf("{" CHIP RANGE METRICS ",%s}", texts[i]);
		struct opk_file *file = file_with(ctx, OPK_SECTION_META, text);
		const struct opk_meta *meta = NULL;

		ck_ok(ctx, opk_file_meta(&meta, ctx, file));
		check_same_meta(meta, &wanted);
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(config_hash)
{
	char hash[15];

	opk_config_hash(hash, "123456789", 9);
	ck_assert_str_eq(hash, "crc32:cbf43926");
	opk_config_hash(hash, NULL, 0);
	ck_assert_str_eq(hash, "crc32:00000000");
}
END_TEST

#define NOTHING_KNOWN { "", "", { 0 }, { 0 }, -1, 0, 0, 0, 0 }

START_TEST(range_rows)
{
	static const struct {
		struct here here;
		const char *text;
		struct opk_range wanted;
	} rows[] = {
		{ HERE, "{}", NOTHING_KNOWN },
		{ HERE, "null", NOTHING_KNOWN },
		{ HERE, "[1,2]", NOTHING_KNOWN },
		{ HERE,
		  "{\"name\":\"a/b\",\"kernel\":\"k<int>\",\"grid\":[1,2,3],\"block\":[4,5,6],"
		  "\"device\":2,\"start_ns\":7,\"end_ns\":18446744073709551615,"
		  "\"shared_bytes\":16,\"launch\":3}",
		  { "a/b", "k<int>", { 1, 2, 3 }, { 4, 5, 6 }, 2, 7, UINT64_MAX, 16, 3 } },
		{ HERE, "{\"name\":1,\"kernel\":[]}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[1,2],\"block\":[1,2,3,4]}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[1,2,\"3\"],\"block\":5}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[1,2,-3],\"block\":[1,2.5,3]}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[4294967295,1,1],\"block\":[4294967296,1,1]}",
		  { "", "", { UINT32_MAX, 1, 1 }, { 0 }, -1, 0, 0, 0, 0 } },
		{ HERE, "{\"device\":2147483647}", { "", "", { 0 }, { 0 }, INT32_MAX, 0, 0, 0, 0 } },
		{ HERE, "{\"device\":2147483648}", NOTHING_KNOWN },
		{ HERE, "{\"device\":-2}", NOTHING_KNOWN },
		{ HERE, "{\"start_ns\":-7,\"end_ns\":\"8\"}", NOTHING_KNOWN },
		{ HERE, "{\"start_ns\":1.5,\"end_ns\":1e9}", NOTHING_KNOWN },
		{ HERE, "{\"end_ns\":18446744073709551616}", NOTHING_KNOWN },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *text = opk_printf("[{\"name\":\"first\"},%s]", rows[i].text);
		struct opk_file *file = file_with(ctx, OPK_SECTION_RANGES, text);
		const struct opk_range *got = NULL, *wanted = &rows[i].wanted;
		size_t count = 0;

		ck_ok(ctx, opk_file_ranges(&got, &count, ctx, file));
		ck_row(&rows[i], count == 2 && !strcmp(got->name, "first"), "%zu rows", count);
		got++;
		ck_row(&rows[i], !strcmp(got->name, wanted->name), "%s", got->name);
		ck_row(&rows[i], !strcmp(got->kernel, wanted->kernel), "%s", got->kernel);
		ck_row(&rows[i], !memcmp(got->grid, wanted->grid, sizeof got->grid), "grid");
		ck_row(&rows[i], !memcmp(got->block, wanted->block, sizeof got->block), "block");
		ck_row(&rows[i], got->device == wanted->device, "device %d", got->device);
		ck_row(&rows[i], got->start_ns == wanted->start_ns, "%" PRIu64, got->start_ns);
		ck_row(&rows[i], got->shared_bytes == wanted->shared_bytes, "shared");
		ck_row(&rows[i], got->launch == wanted->launch, "launch");
		ck_row(&rows[i], got->end_ns == wanted->end_ns, "%" PRIu64, got->end_ns);
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(range_tables)
{
	static const struct {
		struct here here;
		const char *text;
		const char *wanted; /* NULL: good, and empty */
	} rows[] = {
		{ HERE, "[]", NULL },
		{ HERE, "{}", "the range table is no array" },
		{ HERE, "\"r\"", "the range table is no array" },
		{ HERE, "", "JSON, byte 0" },
		{ HERE, "[{}", "an array needs" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_file *file = file_with(ctx, OPK_SECTION_RANGES, rows[i].text);
		const struct opk_range *ranges;
		size_t count = 7;
		int code = opk_file_ranges(&ranges, &count, ctx, file);

		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
		ck_row(&rows[i], code || count == 0, "count %zu", count);
		ck_row(&rows[i], !code || strstr(errors_of(ctx), rows[i].wanted), "%s",
		       errors_of(ctx));
		ck_row(&rows[i], !code || strstr(errors_of(ctx), "t.opk: section 1 (RNGS)"), "%s",
		       errors_of(ctx));
		opk_file_free(file);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* ---- out of memory ---------------------------------------------------------------------- */

static int open_and_read(struct opk_ctx *ctx)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	struct opk_file *file = NULL;
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
	opk_file_free(file);
	return code;
}

static int write_file(struct opk_ctx *ctx)
{
	struct opk_writer *writer = NULL;
	uint8_t data[4096];
	int code;

	repeat(data, sizeof data, 101, 1);
	code = opk_writer_new(&writer, ctx, path);
	if (!code)
		code = opk_writer_add_meta(writer, &full_meta);
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_DATA, data, sizeof data);
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_CONFIG, "abc", 3);
	if (!code)
		code = opk_writer_finish(writer);
	opk_writer_free(writer);
	return code;
}

/* Each allocation fails once; what it leaves must be OPK_ENOMEM and nothing else. */
static void without_memory(int (*work)(struct opk_ctx *ctx), size_t files)
{
	struct opk_ctx *ctx = new_ctx();
	long n = 0;

	for (;; n++) {
		int code;

		fail_allocation(n);
		code = work(ctx);
		if (!allocation_failed()) {
			ck_ok(ctx, code);
			break;
		}
		ck_assert_msg(code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code,
		              errors_of(ctx));
		ck_assert_ptr_nonnull(strstr(errors_of(ctx), "out of memory"));
		ck_assert_uint_eq(entries(), files);
	}
	ck_assert_int_gt(n, 8);
	opk_ctx_free(ctx);
}

START_TEST(reading_without_memory)
{
	struct opk_ctx *ctx = new_ctx();

	write_sample(ctx);
	opk_ctx_free(ctx);
	without_memory(open_and_read, 1);
}
END_TEST

START_TEST(writing_without_memory)
{
	without_memory(write_file, 0);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);

	suite_add_tcase(suite, tests);
	/* A memory checker is twenty times slower. */
	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	return tests;
}

static void add_hostile(TCase *tests)
{
	tcase_add_test(tests, hostile_file_headers);
	tcase_add_test(tests, hostile_sections);
	tcase_add_test(tests, hostile_end_sections);
	tcase_add_test(tests, hostile_payloads);
	tcase_add_test(tests, not_a_file);
	tcase_add_test(tests, truncated_anywhere);
	tcase_add_test(tests, every_bit_flip_is_noticed);
	tcase_add_test(tests, sections_moved);
}

int main(void)
{
	Suite *suite = suite_create("container");
	TCase *tests = add_case(suite, "filter");

	tcase_add_test(tests, xor_is_reversible);
	tcase_add_test(tests, stride_is_found);
	tcase_add_test(tests, no_stride_is_found);
	tcase_add_test(tests, stride_without_gain);
	tests = add_case(suite, "sections");
	tcase_add_test(tests, all_sections_round_trip);
	tcase_add_test(tests, file_without_sections);
	tcase_add_test(tests, unfinished_writer_leaves_nothing);
	tcase_add_test(tests, generated_file_is_good);
	tcase_add_test(tests, unknown_types_are_skipped);
	tcase_add_test(tests, unknown_flags_are_refused_on_read);
	add_hostile(add_case(suite, "hostile"));
	tests = add_case(suite, "meta");
	tcase_add_test(tests, meta_round_trip);
	tcase_add_test(tests, bad_metadata);
	tcase_add_test(tests, odd_metadata);
	tcase_add_test(tests, config_hash);
	tcase_add_test(tests, range_rows);
	tcase_add_test(tests, range_tables);
	tests = add_case(suite, "memory");
	tcase_add_test(tests, reading_without_memory);
	tcase_add_test(tests, writing_without_memory);
	tests = add_case(suite, "pipe");
	tcase_set_timeout(tests, 4);
	tcase_add_test(tests, pipe_is_no_opk_file);
	return run_suite(suite);
}
