/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .opk files for tests: a writer that shares no code with the library, so it can write what the
 * library refuses to write; a valid sample; and a reader of everything.
 */
#ifndef OPK_CONTAINERS_H
#define OPK_CONTAINERS_H

#include <fcntl.h>
#include <sys/stat.h>

#include "adapters/deflate/deflate.h"
#include "base/buf.h"
#include "container/container.h"
#include "folder.h"
#include "testing.h"

static char path[80]; /* the file under test, alone in its folder */

static inline void make_path(void)
{
	make_folder();
	snprintf(path, sizeof path, "%s/t.opk", folder);
}

/* Fails if the folder holds any other file. */
static inline void remove_path(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* A row of opk_verify(). */
struct finding {
	uint64_t section;
	uint32_t type; /* 0: unknown */
	uint64_t byte, size;
	const char *problem;
};

static inline struct finding finding_of(const struct opk_listing *findings, size_t i)
{
	const union opk_cell *cells = opk_listing_get(findings, i);
	struct finding finding = { cells[0].uint, 0, cells[2].uint, cells[3].uint,
		                   cells[4].string };

	memcpy(&finding.type, cells[1].string, strlen(cells[1].string));
	return finding;
}

/* The end section sums up this many bytes of each section header. */
enum { SUMMED = 44 };

/* "XTRB": a type that no program knows yet, and that names an image. */
enum { LATER_TABLE = 0x42525458 };

/* Written after the format's specification; shares no code with the library's writer. */
struct image {
	struct opk_buf buf;
	uint32_t crc, count;      /* for the end section */
	uint32_t linked;          /* the last image, which tables name */
	uint32_t header_crcs[64]; /* of the last sections */
};

static inline void begin_image(struct image *image)
{
	*image = (struct image){ 0 };
	opk_buf_add(&image->buf, "\x89OPK\r\n\x1a\n\2\0\0\0\0\0\0\0", 16);
	image->crc = opk_crc32(0, image->buf.data, 16);
}

/* Writes a section header exactly as given, with a correct checksum, and the padded payload. */
static inline void put_raw(struct image *image, const struct opk_section *section,
                           uint32_t reserved, const void *payload, size_t size)
{
	opk_autobuf struct opk_buf header = { 0 };

	opk_buf_add_u32(&header, section->type);
	opk_buf_add_u32(&header, section->flags);
	opk_buf_add_u64(&header, section->stored_size);
	opk_buf_add_u64(&header, section->plain_size);
	opk_buf_add_u32(&header, section->stride);
	opk_buf_add_u32(&header, section->crc);
	opk_buf_add_u32(&header, reserved);
	opk_buf_add_u32(&header, section->distance);
	opk_buf_add_u32(&header, section->linked_crc);
	image->header_crcs[image->count % 64] = opk_crc32(0, header.data, header.size);
	opk_buf_add_u32(&header, image->header_crcs[image->count % 64]);
	opk_buf_add(&image->buf, header.data, header.size);
	opk_buf_add(&image->buf, payload, size);
	opk_buf_add(&image->buf, "\0\0\0\0\0\0\0", -size & 7);
	if (section->type == OPK_SECTION_END)
		return;
	if (section->type == OPK_SECTION_DATA)
		image->linked = image->count;
	image->crc = opk_crc32(image->crc, header.data, SUMMED);
	image->count++;
}

/* The CRC by which a section names the one `distance` sections before it. */
static inline uint32_t crc_back(const struct image *image, uint32_t distance)
{
	return image->header_crcs[(image->count - distance) % 64];
}

/* A table names the last image; if there is no image, it names one that does not exist. */
static inline void put(struct image *image, uint32_t type, const void *payload, size_t size)
{
	struct opk_section section = { .type = type,
		                       .stored_size = size,
		                       .plain_size = size,
		                       .crc = opk_crc32(0, payload, size) };

	if (type == OPK_SECTION_RANGES || type == OPK_SECTION_TIMES || type == LATER_TABLE) {
		section.distance = image->count - image->linked;
		section.linked_crc = crc_back(image, section.distance);
	}

	put_raw(image, &section, 0, payload, size);
}

static inline void put_end(struct image *image)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_buf_add_u32(&payload, image->count);
	opk_buf_add_u32(&payload, image->crc);
	put(image, OPK_SECTION_END, payload.data, payload.size);
}

static inline void write_bytes(const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static inline void write_image(struct image *image)
{
	write_bytes(image->buf.data, image->buf.size);
	opk_buf_clear(&image->buf);
}

static const char good_meta[] = "{\"kind\":\"set\",\"chip\":\"GH100\",\"profiler\":\"range\","
				"\"metrics\":[\"a__b.sum\"]}";

/* Metadata, a stored, an empty and a filtered section, and a range table: about 600 bytes. */
static inline size_t write_sample(struct opk_ctx *ctx)
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

/* Opens, verifies and reads everything; returns the first code that is not OPK_OK. */
static inline int read_all(struct opk_ctx *ctx, bool *complete)
{
	freed(opk_file) *file = NULL;
	int code = opk_file_open(&file, ctx, path);

	*complete = !code && opk_file_complete(file);
	for (size_t i = 0; !code && i < opk_file_section_count(file); i++) {
		opk_autofree void *data = NULL;
		size_t size;

		code = opk_file_verify(ctx, file, i);
		if (!code)
			code = opk_file_read(&data, &size, ctx, file, i);
	}
	return code;
}

static inline struct opk_file *open_file(struct opk_ctx *ctx)
{
	struct opk_file *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	return file;
}

/* Metadata with every field, and its metrics. */
static const char *const metric_names[] = { "sm__cycles.sum", "UNIT.Set.a__b.avg" };

static const struct opk_pass_list full_passes[] = {
	{ (const uint32_t[]){ 2 }, 1 },
	{ (const uint32_t[]){ 1, 3 }, 2 },
};
static const struct opk_property full_run[] = {
	{ "hostname", "node \"7\"" },
	{ "env.RANK", "" },
	{ "device.0.name", "\xc3\xa9" },
};
static const struct opk_meta_label full_labels[] = { { "UNIT.Set.a__b.avg", "ab" } };
static const struct opk_meta_derived full_derived[] = {
	{ "half", "ab / 2", "byte/second", "tab\there" },
	{ "twice", "sm__cycles.sum * (half + ab)", "", "" },
};
static const char *const full_columns[] = { "twice", "ab", "half" };
static const struct opk_meta_heading full_headings[] = {
	{ "All \xc3\xa9", "of them", 0, 3, "stack" },
	{ "None", "", 3, 0, "" },
};
static const struct opk_meta full_meta = {
	.kind = "recording",
	.generator = "offpeak 0",
	.chip = "GH100",
	.profiler = OPK_PROFILER_PM,
	.set_name = "a \"name\"",
	.set_description = "tab\there \xc3\xa9",
	.metrics = metric_names,
	.metric_count = 2,
	.passes = 3,
	.keep_instances = true,
	.config_hash = "crc32:00000001",
	.cupti_version = 130001,
	.source = "old.img",
	.mode = "launch",
	.gpu_time_shift = -794764,
	.has_gpu_time_shift = true,
	.metric_passes = full_passes,
	.metric_pass_count = 2,
	.rotation = { 3, "crc32:00000003", full_passes, 2 },
	.join = "kernel",
	.backend = "legacy",
	.inflated = metric_names + 1,
	.inflated_count = 1,
	.run = full_run,
	.run_count = 3,
	.set_version = 2,
	.set_hash = "crc32:00000002",
	.labels = full_labels,
	.label_count = 1,
	.hidden = metric_names,
	.hidden_count = 1,
	.derived = full_derived,
	.derived_count = 2,
	.columns = full_columns,
	.column_count = 3,
	.headings = full_headings,
	.heading_count = 2,
};

static __attribute__((unused)) bool same_set(const struct opk_meta *a, const struct opk_meta *b)
{
	freed(opk_ctx) *ctx = new_ctx();
	bool same = false;

	ck_ok(ctx, opk_meta_same_set(&same, ctx, a, b));
	return same;
}

#endif
