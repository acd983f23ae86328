/* SPDX-License-Identifier: BSD-2-Clause */
/* Hostile and damaged .opk files: all damage is detected. */
#include "adapters/deflate/deflate.h"
#include "base/file.h"
#include "containers.h"
#include "container/container.h"

static const struct {
	struct here here;
	const char *bytes;
	size_t size;
	const char *wanted;
} hostile_file_headers_rows[] = {
	{ HERE, "", 0, "byte 0: too short for an .opk file" },
	{ HERE, "\x89OPK\r\n\x1a\n\2\0\0\0\0\0\0", 15, "too short for an .opk file" },
	{ HERE, "\x89OPK\r\n\x1a\r\2\0\0\0\0\0\0\0", 16, "not an .opk file" },
	{ HERE, "\x89OPK\n\x1a\n\n\2\0\0\0\0\0\0\0", 16, "not an .opk file" },
	{ HERE, "\x09OPK\r\n\x1a\n\2\0\0\0\0\0\0\0", 16, "not an .opk file" },
	{ HERE, "\x89OPK\r\n\x1a\n\3\0\0\0\0\0\0\0", 16,
	  "format version 3, this offpeak knows version 2" },
	{ HERE, "\x89OPK\r\n\x1a\n\1\0\0\0\0\0\0\0", 16,
	  "format version 1, this offpeak knows version 2: record it again, or use the offpeak that wrote it" },
	{ HERE, "\x89OPK\r\n\x1a\n\0\0\0\0\0\0\0\0", 16, "format version 0" },
	{ HERE, "\x89OPK\r\n\x1a\n\0\0\0\1\0\0\0\0", 16, "format version 16777216" },
	{ HERE, "\x89OPK\r\n\x1a\n\2\0\0\0\1\0\0\0", 16, "the file header is damaged" },
	{ HERE, "\x89OPK\r\n\x1a\n\2\0\0\0\0\0\0\1", 16, "the file header is damaged" },
};

CTX_TEST_EACH(hostile_file_headers, hostile_file_headers_rows)
{
	struct opk_file *file = NULL;
	int code;

	write_bytes(row->bytes, row->size);
	code = opk_file_open(&file, ctx, path);
	ck_row(row, code == OPK_EINPUT && !file, "code %d", code);
	ck_row(row, strstr(errors_of(ctx), row->wanted), "got %s", errors_of(ctx));
}

enum {
	DEFLATED = OPK_SECTION_DEFLATED,
	XORED = OPK_SECTION_XORED,
	SPARSE = OPK_SECTION_SPARSE,
	BASED = OPK_SECTION_BASED,
};

/* The payload has 16 bytes; stored_size and plain_size differ. */
static const struct hostile {
	struct here here;
	uint32_t flags, stride, reserved;
	uint64_t stored, plain;
	const char *wanted; /* NULL: opens as incomplete */
} hostile[] = {
	{ HERE, 0, 0, 1, 16, 16, "a section's packing is out of range" },
	{ HERE, 0, 0, 1u << 31, 16, 16, "a section's packing is out of range" },
	{ HERE, DEFLATED, 0, 1, 16, 16, "a section's packing is out of range" },
	{ HERE, SPARSE, 0, 16, 16, 16, "a section's packing is out of range" },
	{ HERE, BASED, 0, 0, 16, 16, "a section's packing is out of range" },
	{ HERE, BASED | DEFLATED, 0, 0, 16, 16, "a section's packing is out of range" },
	{ HERE, SPARSE | DEFLATED, 0, 16 * 1032 + 1, 16, 16,
	  "a section's packing is out of range" },
	{ HERE, SPARSE | DEFLATED, 0, 1, 16, 16 * 4 * 1032 + 1,
	  "a section claims an impossible length" },
	{ HERE, SPARSE | DEFLATED, 0, 1, 0, 1, "a section claims an impossible length" },
	{ HERE, SPARSE | DEFLATED | XORED, 16, 1, 16, 16, "a section's filter is out of range" },
	{ HERE, SPARSE | DEFLATED | BASED, 0, 1, 16, 16, "a section names no base" },
	{ HERE, SPARSE | DEFLATED | BASED, 0, 1, 16, 16 << 20, "a section names no base" },
	{ HERE, SPARSE | DEFLATED | BASED, 0, 1, 16, ((uint64_t)4 << 30) + 1,
	  "a section of more than 4 GiB" },
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
	/* Filtered and not packed, as in version 1. */
	{ HERE, DEFLATED | XORED, 8, 0, 16, 100, "a section's filter is out of range" },
	{ HERE, XORED, 8, 0, 16, 16, "a section's filter is out of range" },
	{ HERE, DEFLATED | XORED, 100, 0, 16, 100, "a section's filter is out of range" },
	{ HERE, XORED, 1, 0, 0, 0, "a section's filter is out of range" },
	{ HERE, 0, 0, 0, 15, 15, "the bytes after a section are not zero" },
	{ HERE, 0, 0, 0, 17, 17, "the bytes after a section are not zero" },
	{ HERE, 0, 0, 0, 1000, 1000, NULL },
	{ HERE, 0, 0, 0, UINT64_MAX, UINT64_MAX, NULL },
	{ HERE, 0, 0, 0, UINT64_MAX - 3, UINT64_MAX - 3, NULL },
	{ HERE, 0, 0, 0, (uint64_t)1 << 63, (uint64_t)1 << 63, NULL },
	{ HERE, DEFLATED, 0, 0, UINT64_MAX, 1, NULL },
	{ HERE, 16, 0, 0, UINT64_MAX, 1, NULL },
	/* With the end section 72 bytes are left: neither one more nor padding fits. */
	{ HERE, 0, 0, 0, 73, 73, NULL },
};

CTX_TEST(hostile_sections)
{
	for (size_t i = 0; i < COUNT(hostile); i++) {
		const struct hostile *row = &hostile[i];
		struct opk_section section = { .type = OPK_SECTION_DATA,
			                       .flags = row->flags,
			                       .stored_size = row->stored,
			                       .plain_size = row->plain,
			                       .stride = row->stride };
		freed(opk_file) *file = NULL;
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
	}
}

static const struct {
	struct here here;
	uint32_t type, flags, distance, change;
	const char *wanted; /* NULL: good */
} hostile_links_rows[] = {
	{ HERE, OPK_SECTION_RANGES, 0, 2, 0, NULL },
	{ HERE, OPK_SECTION_TIMES, 0, 2, 0, NULL },
	{ HERE, OPK_SECTION_RANGES, 0, 0, 0, "a section's link is out of range" },
	{ HERE, OPK_SECTION_RANGES, 0, 1, 0, "the image that it describes is not there" },
	{ HERE, OPK_SECTION_RANGES, 0, 3, 0, "the image that it describes is not there" },
	{ HERE, OPK_SECTION_RANGES, 0, 2, 1, "the image that it describes is not there" },
	{ HERE, OPK_SECTION_TIMES, 0, 1000, 0, "the image that it describes is not there" },
	{ HERE, OPK_SECTION_TIMES, 0, 1001, 0, "a section's link is out of range" },
	{ HERE, OPK_SECTION_TIMES, 0, UINT32_MAX, 0, "a section's link is out of range" },
	{ HERE, OPK_SECTION_META, 0, 2, 0, "a section names another one without need" },
	{ HERE, OPK_SECTION_DATA, 0, 2, 0, "a section names another one without need" },
	{ HERE, OPK_SECTION_STATS, 0, 2, 0, "a section names another one without need" },
	{ HERE, OPK_SECTION_DATA, SPARSE | DEFLATED | BASED, 2, 0, NULL },
	{ HERE, OPK_SECTION_DATA, SPARSE | DEFLATED | BASED, 1, 0,
	  "it builds on a section that is not there" },
	{ HERE, OPK_SECTION_DATA, SPARSE | DEFLATED | BASED, 2, 1,
	  "it builds on a section that is not there" },
	/* A type of a later version. */
	{ HERE, 0x41414141, 0, 2, 0, NULL },
	{ HERE, 0x41414141, 0, 1, 0, "the image that it describes is not there" },
	{ HERE, 0x41414141, 16, 1, 0, NULL },
	{ HERE, 0x41414141, 0, 2000, 0, "a section's link is out of range" },
};

/* An image, four bytes of another type, and a section that names one of them, or nothing. */
CTX_TEST_EACH(hostile_links, hostile_links_rows)
{
	struct opk_section section = {
		.type = row->type,
		.flags = row->flags,
		.stored_size = 8,
		.plain_size = 8,
		.crc = opk_crc32(0, "12345678", 8),
		.distance = row->distance,
	};
	freed(opk_file) *file = NULL;
	struct image image;

	begin_image(&image);
	put(&image, OPK_SECTION_DATA, "an image", 8);
	put(&image, OPK_SECTION_CONFIG, "1234", 4);
	section.linked_crc = crc_back(&image, 2) + row->change;
	put_raw(&image, &section, 0, "12345678", 8);
	put_end(&image);
	write_image(&image);
	ck_row_ends(row, ctx, opk_file_open(&file, ctx, path), row->wanted ? OPK_EINPUT : OPK_OK,
	            row->wanted);
}

static const struct {
	struct here here;
	struct opk_section section;
	const char *wanted; /* NULL: valid */
} huge_sections_rows[] = {
	{ HERE,
	  { .flags = OPK_SECTION_DEFLATED,
	    .stored_size = (uint64_t)8 << 20,
	    .plain_size = (uint64_t)4 << 30 },
	  NULL },
	{ HERE,
	  { .flags = OPK_SECTION_DEFLATED,
	    .stored_size = (uint64_t)8 << 20,
	    .plain_size = ((uint64_t)4 << 30) + 1 },
	  "a section of more than 4 GiB" },
	{ HERE,
	  { .flags = OPK_SECTION_DEFLATED,
	    .stored_size = (uint64_t)1 << 40,
	    .plain_size = (uint64_t)1 << 50 },
	  "a section of more than 4 GiB" },
	{ HERE,
	  { .stored_size = (uint64_t)5 << 30, .plain_size = (uint64_t)5 << 30 },
	  "a section of more than 4 GiB" },
	{ HERE,
	  { .flags = OPK_SECTION_DEFLATED,
	    .stored_size = 1 << 20,
	    .plain_size = (uint64_t)4 << 30 },
	  "a section claims an impossible length" },
};

/* A section that claims a size above the limit of decoding. */
TEST_EACH(huge_sections, huge_sections_rows)
{
	const char *flaw = opk_section_flaw(&row->section);

	ck_row(row, row->wanted ? flaw && !strcmp(flaw, row->wanted) : !flaw, "%s",
	       flaw ? flaw : "sound");
}

static const struct {
	struct here here;
	uint32_t count, crc_change, payload_crc_change, flags;
	uint64_t stored;
	const char *wanted;
} hostile_end_sections_rows[] = {
	{ HERE, 1, 0, 0, 0, 8, NULL },
	{ HERE, 0, 0, 0, 0, 8, "sections are missing or were moved" },
	{ HERE, 2, 0, 0, 0, 8, "sections are missing or were moved" },
	{ HERE, 1, 1, 0, 0, 8, "sections are missing or were moved" },
	{ HERE, 1, 0, 1, 0, 8, "the end section is damaged" },
	{ HERE, 1, 0, 0, DEFLATED, 8, "the end section is damaged" },
	{ HERE, 1, 0, 0, 16, 8, "the end section is damaged" },
	{ HERE, 1, 0, 0, 0, 0, "the end section is damaged" },
	{ HERE, 1, 0, 0, 0, 16, "the end section is damaged" },
};

CTX_TEST_EACH(hostile_end_sections, hostile_end_sections_rows)
{
	struct opk_section end = { .type = OPK_SECTION_END,
		                   .flags = row->flags,
		                   .stored_size = row->stored,
		                   .plain_size = row->stored };
	uint32_t payload[4] = { row->count };
	struct image image;
	bool complete;
	int code;

	begin_image(&image);
	put(&image, OPK_SECTION_META, "{}", 2);
	payload[1] = image.crc ^ row->crc_change;
	end.crc = opk_crc32(0, payload, 8) ^ row->payload_crc_change;
	put_raw(&image, &end, 0, payload, row->stored);
	write_image(&image);
	code = read_all(ctx, &complete);
	ck_row(row, code == (row->wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
	ck_row(row, complete == !row->wanted, "complete %d", complete);
	ck_row(row, !code || strstr(errors_of(ctx), row->wanted), "got %s", errors_of(ctx));
}

static const struct {
	struct here here;
	const char *bytes;
	size_t size, plain;
	uint32_t crc_change;
	const char *wanted;
} hostile_payloads_rows[] = {
	{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 3, 0, NULL },
	{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 3, 1, "its CRC-32 differs" },
	{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 2, 0, "differs from the one stated" },
	{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 4, 0, "differs from the one stated" },
	{ HERE, "x\x9cKLJ\6\0\2M\1'", 11, 0, 0, "compressed data is damaged" },
	{ HERE, "x\x9cKLJ\6\0\2M\1'?", 12, 3, 0, "differs from the one stated" },
	{ HERE, "x\x9cKLJ\6\0\2M\1", 10, 3, 0, "compressed data is damaged" },
	{ HERE, "x\x9cKLJ\6\0\2M\1(", 11, 3, 0, "compressed data is damaged" },
	{ HERE, "x\x9d", 2, 3, 0, "compressed data is damaged" },
	{ HERE, "garbage!", 8, 3, 0, "compressed data is damaged" },
	{ HERE, "x\xbb\0\0\0\1", 6, 3, 0, "compressed data is damaged" },
	{ HERE, "", 0, 0, 0, "compressed data is damaged" },
};

/* Sections with a valid header and an invalid payload. */
CTX_TEST_EACH(hostile_payloads, hostile_payloads_rows)
{
	uint32_t crc = opk_crc32(0, row->bytes, row->size) ^ row->crc_change;
	struct opk_section section = { .type = OPK_SECTION_CONFIG,
		                       .flags = DEFLATED,
		                       .stored_size = row->size,
		                       .plain_size = row->plain,
		                       .crc = crc };
	opk_autofree void *data = NULL;
	freed(opk_file) *file = NULL;
	struct image image;
	size_t size;
	int code;

	begin_image(&image);
	put_raw(&image, &section, 0, row->bytes, row->size);
	put_end(&image);
	write_image(&image);
	file = open_file(ctx);
	code = opk_file_read(&data, &size, ctx, file, 0);
	ck_row_ends(row, ctx, code, row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
	ck_row(row, code || !strcmp(data, "abc"), "got %s", (char *)data);
	ck_row(row, !code == (data != NULL), "data %p", data);
}

static const struct {
	struct here here;
	const char *path, *wanted;
} not_a_file_rows[] = {
	{ HERE, "/nowhere/x.opk", "/nowhere/x.opk: can't open: No such file" },
	{ HERE, "/dev/null", "/dev/null: not a regular file" },
	{ HERE, "/tmp", "/tmp: is a folder; the recordings in it are /tmp/*.opk" },
};

CTX_TEST_EACH(not_a_file, not_a_file_rows)
{
	struct opk_file *file = NULL;

	ck_row(row, opk_file_open(&file, ctx, row->path) == OPK_EINPUT, "opens");
	ck_row(row, strstr(errors_of(ctx), row->wanted), "got %s", errors_of(ctx));
}

/* The pipe has no writer: opening it like a file would block forever. */
CTX_TEST(pipe_is_no_opk_file)
{
	struct opk_file *file = NULL;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_fails(ctx, opk_file_open(&file, ctx, path), OPK_EINPUT, "not a regular file");
}

/* ---- damage ----------------------------------------------------------------------------- */

CTX_TEST(truncated_anywhere)
{
	size_t whole = write_sample(ctx), sections = 5;

	for (size_t size = whole; size-- > 0;) {
		freed(opk_file) *file = NULL;
		bool complete = true;
		int code;

		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		code = read_all(ctx, &complete);
		ck_assert_msg(code == (size < 16 ? OPK_EINPUT : OPK_OK), "%zu bytes: %d", size,
		              code);
		ck_assert_msg(!complete, "%zu bytes: complete", size);
		if (code)
			continue;
		/* The complete part stays readable, and never grows again. */
		ck_ok(ctx, opk_file_open(&file, ctx, path));
		ck_assert_uint_le(opk_file_section_count(file), sections);
		ck_assert_uint_eq(opk_file_size(file), size);
		sections = opk_file_section_count(file);
	}
	ck_assert_uint_eq(sections, 0);
}

CTX_TEST(every_bit_flip_is_noticed)
{
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
}

/* One byte each, padded, after a header: all sections of this file are equally long. */
enum { HEAD = 16, SECTION = 56 };

static void write_letters(struct opk_ctx *ctx, uint8_t *bytes)
{
	opk_autofree void *written = NULL;
	struct opk_writer *writer;
	size_t size;

	unlink(path);
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

/* The file has sections a, b and c, and its end, E; each row reorders them. */
CTX_TEST(sections_moved)
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
		/* The same number of sections, each valid in itself. */
		{ HERE, "acbE", "", moved },
		{ HERE, "bacE", "", moved },
		{ HERE, "aacE", "", moved },
		{ HERE, "cccE", "", moved },
	};
	uint8_t bytes[HEAD + 4 * SECTION];

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		bool complete;

		write_letters(ctx, bytes);
		opk_buf_add(&buf, bytes, HEAD);
		for (const char *c = rows[i].order; *c; c++)
			opk_buf_add(&buf, section_of(bytes, *c), SECTION);
		opk_buf_add_text(&buf, rows[i].tail);
		write_bytes(buf.data, buf.size);
		ck_row_ends(&rows[i], ctx, read_all(ctx, &complete),
		            rows[i].wanted ? OPK_EINPUT : OPK_OK, rows[i].wanted);
		ck_row(&rows[i], complete == !rows[i].wanted, "complete %d", complete);
	}
}

/* ---- rows that take almost no bytes ----------------------------------------------------- */

enum { IMAGE_SIZE = 8 << 20 };

/* A section of these bytes, deflated once for many copies. */
struct squeezed {
	uint32_t type;
	size_t plain, stored;
	void *bytes;
};

static void squeeze(struct squeezed *section, struct opk_ctx *ctx, const struct opk_buf *plain)
{
	ck_assert(!plain->failed);
	section->plain = plain->size;
	ck_ok(ctx,
	      opk_deflate(&section->bytes, &section->stored, ctx, plain->data, plain->size, true));
}

static void put_squeezed(struct image *image, const struct squeezed *squeezed)
{
	struct opk_section section = { .type = squeezed->type,
		                       .flags = DEFLATED,
		                       .stored_size = squeezed->stored,
		                       .plain_size = squeezed->plain,
		                       .crc = opk_crc32(0, squeezed->bytes, squeezed->stored) };

	if (squeezed->type != OPK_SECTION_DATA) {
		section.distance = image->count - image->linked;
		section.linked_crc = crc_back(image, section.distance);
	}
	put_raw(image, &section, 0, squeezed->bytes, squeezed->stored);
}

/* Empty rows, or rows with a text each. */
static void squeeze_rows(struct squeezed *table, struct opk_ctx *ctx, size_t first, size_t rows,
                         size_t length)
{
	static const uint64_t zero[2];
	bool times = table->type == OPK_SECTION_TIMES;
	opk_autobuf struct opk_buf plain = { 0 };

	opk_buf_add(&plain, times ? (const void *)zero : "[", times ? 8 : 1);
	for (size_t i = 0; i < rows; i++) {
		if (times)
			opk_buf_add(&plain, zero, sizeof zero);
		else if (length)
			opk_buf_add_printf(&plain, "%s{\"name\":\"%0*zu\"}", i ? "," : "",
			                   (int)length, first + i);
		else
			opk_buf_add(&plain, ",{}" + !i, 3 - !i);
	}
	if (!times)
		opk_buf_add_text(&plain, "]");
	squeeze(table, ctx, &plain);
}

static const struct {
	struct here here;
	uint32_t type;
	size_t sections, rows;
	size_t length; /* of each row's text */
	const char *wanted;
} many_rows[] = {
	{ HERE, OPK_SECTION_RANGES, 2, 200000, 0, NULL },
	{ HERE, OPK_SECTION_RANGES, 10, 300000, 0, "those before it would take 230400000 bytes" },
	{ HERE, OPK_SECTION_RANGES, 1, IMAGE_SIZE / 8 + 1, 0,
	  "1048577 rows for an image of 8388608" },
	{ HERE, OPK_SECTION_TIMES, 4, 1 << 20, 0, NULL },
	{ HERE, OPK_SECTION_TIMES, 6, 1 << 20, 0, "those before it would take 201326592 bytes" },
	{ HERE, OPK_SECTION_TIMES, 1, (1 << 20) + 1, 0, "1048577 rows for an image of 8388608" },
	/* Only for make check-long. */
	{ HERE, OPK_SECTION_RANGES, 8, 1000, 30000, "those before it would take" },
};

CTX_TEST_EACH(many_rows_in_few_bytes, many_rows)
{
	struct squeezed table = { .type = row->type }, data = { .type = OPK_SECTION_DATA };
	opk_autofree uint8_t *zeros = opk_alloc(IMAGE_SIZE);
	const struct opk_segment *segments;
	freed(opk_file) *file = NULL;
	struct image image;
	size_t count;

	squeeze(&data, ctx, &(struct opk_buf){ .data = zeros, .size = IMAGE_SIZE });
	begin_image(&image);
	put(&image, OPK_SECTION_META, good_meta, strlen(good_meta));
	for (size_t i = 0; i < row->sections; i++) {
		if (!table.bytes || row->length) {
			free(table.bytes);
			squeeze_rows(&table, ctx, i * row->rows, row->rows, row->length);
		}
		put_squeezed(&image, &data);
		put_squeezed(&image, &table);
	}
	put_end(&image);
	write_image(&image);
	free(table.bytes);
	free(data.bytes);
	file = open_file(ctx);
	ck_row_ends(row, ctx, opk_file_segments(&segments, &count, ctx, file),
	            row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
}

SUITE(.set_up = make_path, .tear_down = remove_path);
