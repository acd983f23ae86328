/* SPDX-License-Identifier: BSD-2-Clause */
/* Packing of data with many zeros, and images stored as differences from others. */
#include "containers.h"
#include "container/container.h"
#include "container/container_inside.h"
#include "random.h"

enum { MOST = 1000, GUARD = 0xaa };

/* One byte in `rarity` is not zero. */
static void scatter(uint8_t *to, size_t size, size_t rarity)
{
	memset(to, 0, size);
	for (size_t i = 0; i < size; i++)
		if (random64() % rarity == 0)
			to[i] = (uint8_t)random64();
}

TEST(packing_is_reversible)
{
	static const size_t rarities[] = { 1, 2, 10, 100, 100000 };
	static uint8_t data[MOST], before[MOST], back[MOST + 1];

	for (size_t i = 0; i < 1000; i++) {
		size_t size = random64() % MOST;
		const void *other = i % 2 ? before : NULL;
		opk_autobuf struct opk_buf packed = { 0 };
		struct opk_reader reader;

		scatter(data, size, rarities[i % COUNT(rarities)]);
		scatter(before, size, rarities[i / 5 % COUNT(rarities)]);
		opk_sparse_pack(&packed, data, other, size);
		ck_assert(!packed.failed);
		memset(back, 0, sizeof back);
		if (other)
			memcpy(back, other, size);
		back[size] = GUARD;
		reader = (struct opk_reader){ .data = packed.data, .left = packed.size };
		ck_assert(opk_sparse_unpack(&reader, back, size));
		ck_assert_uint_eq(reader.left, 0);
		ck_assert(!reader.failed);
		ck_assert(!size || !memcmp(back, data, size));
		ck_assert_uint_eq(back[size], GUARD);
	}
}

static const struct {
	struct here here;
	const char *plain;
	size_t size;
	const char *packed;
	size_t packed_size;
} packed_forms_rows[] = {
	{ HERE, "", 0, "", 0 },
	{ HERE, "\0", 1, "\1\0", 2 },
	{ HERE, "a", 1, "\0\1\1\1a", 5 },
	{ HERE, "\0\0\0\0\0\0\0b\0c", 10,
	  "\0\1\3\x80"
	  "b\2c",
	  7 },
};

TEST_EACH(packed_forms, packed_forms_rows)
{
	opk_autobuf struct opk_buf packed = { 0 };

	opk_sparse_pack(&packed, row->plain, NULL, row->size);
	ck_row(row,
	       packed.size == row->packed_size
	               && !memcmp(packed.size ? packed.data : (void *)"", row->packed, packed.size),
	       "%zu bytes", packed.size);
}

static const struct {
	struct here here;
	const char *packed;
	size_t packed_size, size;
} damage_is_refused_rows[] = {
	{ HERE, "", 0, 1 },      /* empty */
	{ HERE, "\0", 1, 1 },    /* one count */
	{ HERE, "\0\0", 2, 1 },  /* no progress */
	{ HERE, "\2\0", 2, 64 }, /* more groups than there are */
	{ HERE, "\0\2\0\0", 4, 64 },
	{ HERE, "\1\1\0", 3, 64 },
	{ HERE, "\0\1", 2, 64 }, /* the group is missing */
	{ HERE, "\0\1\1", 3, 64 },
	{ HERE, "\0\1\1\3a", 5, 64 }, /* a byte is missing */
	{ HERE, "\0\1\1\2a", 5, 1 },  /* after the end */
	{ HERE, "\0\1\2\1a", 5, 8 },
	{ HERE, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11, 64 }, /* too long a count */
	{ HERE, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\1", 10, 64 },
};

TEST_EACH(damage_is_refused, damage_is_refused_rows)
{
	struct opk_reader reader = { .data = (const uint8_t *)row->packed,
		                     .left = row->packed_size };
	uint8_t to[65] = { 0 };

	to[row->size] = GUARD;
	ck_row(row, !opk_sparse_unpack(&reader, to, row->size), "was taken");
	ck_row(row, to[row->size] == GUARD, "wrote after the end");
}

/* Any input stays inside its buffers. */
TEST(noise_is_survived)
{
	for (int i = 0; i < 20000; i++) {
		size_t size = random64() % 300, packed_size = random64() % 100;
		opk_autofree uint8_t *to = calloc(1, size + 1), *packed = malloc(packed_size + 1);
		struct opk_reader reader = { .data = packed, .left = packed_size };

		for (size_t j = 0; j < packed_size; j++)
			packed[j] = (uint8_t)(random64() >> (random64() % 8 + 32));
		to[size] = GUARD;
		opk_sparse_unpack(&reader, to, size);
		ck_assert_uint_eq(to[size], GUARD);
		ck_assert_uint_le(reader.left, packed_size);
	}
}

/* ---- images stored as differences from others -------------------------------------------- */

enum { RECORD = 4000, RECORDS = 6, IMAGES = 40, IMAGE = RECORD * RECORDS + 100 };

/* A table that all images share, and a few numbers that differ. */
static void make_image(uint8_t *to, unsigned number)
{
	random_state = 7;
	for (size_t i = 0; i < IMAGE; i++)
		to[i] = i < RECORD ? (uint8_t)(random64() >> 32) : to[i - RECORD];
	random_state = 100 + number;
	for (size_t i = 0; i < IMAGE; i += 80)
		to[i] = (uint8_t)random64();
}

static void write_images(struct opk_ctx *ctx)
{
	static uint8_t image[IMAGE];
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (unsigned i = 0; i < IMAGES; i++) {
		make_image(image, i);
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, IMAGE));
	}
	ck_ok(ctx, opk_writer_finish(writer));
}

static bool is_based(const struct opk_file *file, size_t i)
{
	return opk_file_section(file, i)->flags & OPK_SECTION_BASED;
}

CTX_TEST(what_repeats_is_stored_once)
{
	static uint8_t wanted[IMAGE];
	struct opk_decoder decoder = { 0 };
	freed(opk_file) *file = NULL;
	const void *data;
	size_t size;

	write_images(ctx);
	file = open_file(ctx);
	/* In reverse order: each image finds its base by itself. */
	for (size_t i = IMAGES; i-- > 0;) {
		make_image(wanted, (unsigned)i);
		ck_ok(ctx, opk_file_decode(&data, &size, ctx, file, i, &decoder));
		ck_assert_uint_eq(size, IMAGE);
		ck_assert_mem_eq(data, wanted, IMAGE);
		ck_assert_int_eq(is_based(file, i), i % 16 != 0);
		if (is_based(file, i))
			ck_assert_uint_lt(2 * opk_file_section(file, i)->stored_size,
			                  opk_file_section(file, 0)->stored_size);
	}
	opk_decoder_clear(&decoder);
}

CTX_TEST(copies_cost_next_to_nothing)
{
	enum { BIG = 12 << 20, COPIES = 20 };
	opk_autofree uint8_t *image = opk_alloc_array(BIG, 1);
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;

	for (size_t i = 0; i < BIG; i += 500)
		image[i] = (uint8_t)random64();
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (int i = 0; i < COPIES; i++)
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, BIG));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	for (size_t i = 0; i < COPIES; i++) {
		opk_autofree void *data = NULL;
		size_t size;

		ck_assert_int_eq(is_based(file, i), i % 16 != 0);
		if (is_based(file, i))
			ck_assert_uint_le(opk_file_section(file, i)->stored_size, 40);
		ck_ok(ctx, opk_file_read(&data, &size, ctx, file, i));
		ck_assert_uint_eq(size, BIG);
		ck_assert_mem_eq(data, image, BIG);
	}
}

/* Changes a byte of the payload of section `i`. */
static void damage(struct opk_ctx *ctx, size_t i)
{
	freed(opk_file) *file = open_file(ctx);
	uint64_t at = opk_file_section(file, i)->offset + 20;
	int fd = open(path, O_RDWR);
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 1;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

CTX_TEST(a_damaged_base_takes_fifteen_with_it)
{
	freed(opk_file) *file = NULL;
	size_t size;

	write_images(ctx);
	damage(ctx, 16);
	file = open_file(ctx);
	for (size_t i = 0; i < IMAGES; i++) {
		opk_autofree void *data = NULL;
		int code = opk_file_read(&data, &size, ctx, file, i);

		ck_assert_int_eq(code, i / 16 == 1 ? OPK_EINPUT : OPK_OK);
	}
	ck_fails(ctx, opk_file_read(&(void *){ NULL }, &size, ctx, file, 20), OPK_EINPUT,
	         "section 17 (DATA)");
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "section 21 builds on it"));
}

/* An empty image packs to nothing: it is deflated instead, and can still be a base. */
CTX_TEST(empty_images)
{
	opk_autofree uint8_t *image = calloc(1, 1 << 20);
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (int i = 0; i < 3; i++) {
		image[5000] = (uint8_t)i;
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, 1 << 20));
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	for (size_t i = 0; i < 3; i++) {
		opk_autofree uint8_t *data = NULL;
		size_t size;

		ck_ok(ctx, opk_file_read((void **)&data, &size, ctx, file, i));
		ck_assert_uint_eq(size, 1 << 20);
		ck_assert_uint_eq(data[5000], i);
		data[5000] = 0;
		ck_assert(!data[0] && !memcmp(data, data + 1, size - 1));
	}
}

SUITE(.set_up = make_path, .tear_down = remove_path);
