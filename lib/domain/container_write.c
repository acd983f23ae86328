/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes .opk files. */

#include "adapters/zlib/deflate.h"
#include "base/file.h"
#include "domain/container.h"
#include "domain/meta.h"
#include "domain/xor_filter.h"

struct opk_writer {
	struct opk_ctx *ctx;
	struct opk_newfile file;
	bool live; /* beside a running program: speed before size */
	uint32_t count;
	uint32_t headers_crc;
};

static int new_writer(struct opk_writer **out, struct opk_ctx *ctx, const char *path, bool live)
{
	opk_autobuf struct opk_buf header = { 0 };
	struct opk_writer *writer = opk_alloc(sizeof *writer);
	int code;

	if (!writer)
		return opk_nomem(ctx, "a writer");
	writer->ctx = ctx;
	writer->live = live;
	opk_buf_add(&header, OPK_MAGIC, OPK_MAGIC_SIZE);
	opk_buf_add_u32(&header, OPK_FORMAT_VERSION);
	opk_buf_add_u32(&header, 0);
	if (header.failed) {
		free(writer);
		return opk_nomem(ctx, "a writer");
	}
	writer->headers_crc = opk_crc32(0, header.data, header.size);
	code = live ? opk_newfile_create_live(&writer->file, ctx, path)
	            : opk_newfile_create(&writer->file, ctx, path);
	if (!code)
		code = opk_newfile_write(&writer->file, ctx, header.data, header.size);
	if (code) {
		opk_writer_free(writer);
		return code;
	}
	*out = writer;
	return OPK_OK;
}

int opk_writer_new(struct opk_writer **out, struct opk_ctx *ctx, const char *path)
{
	return new_writer(out, ctx, path, false);
}

int opk_writer_new_live(struct opk_writer **out, struct opk_ctx *ctx, const char *path)
{
	return new_writer(out, ctx, path, true);
}

void opk_writer_free(struct opk_writer *writer)
{
	if (!writer)
		return;
	opk_newfile_discard(&writer->file);
	free(writer);
}

static int write_section(struct opk_writer *writer, const struct opk_section *section,
                         const void *payload)
{
	opk_autobuf struct opk_buf header = { 0 };
	static const uint8_t zeros[8];
	int code;

	opk_buf_add_u32(&header, section->type);
	opk_buf_add_u32(&header, section->flags);
	opk_buf_add_u64(&header, section->stored_size);
	opk_buf_add_u64(&header, section->plain_size);
	opk_buf_add_u32(&header, section->stride);
	opk_buf_add_u32(&header, opk_crc32(0, payload, (size_t)section->stored_size));
	opk_buf_add_u32(&header, 0);
	if (!header.failed)
		opk_buf_add_u32(&header, opk_crc32(0, header.data, header.size));
	if (header.failed)
		return opk_nomem(writer->ctx, "a section");
	if (section->type != OPK_SECTION_END) {
		writer->headers_crc =
			opk_crc32(writer->headers_crc, header.data, OPK_SECTION_SUMMED);
		writer->count++;
	}
	code = opk_newfile_write(&writer->file, writer->ctx, header.data, header.size);
	if (!code)
		code = opk_newfile_write(&writer->file, writer->ctx, payload,
		                         (size_t)section->stored_size);
	if (!code)
		code = opk_newfile_write(&writer->file, writer->ctx, zeros,
		                         opk_padding(section->stored_size));
	return code;
}

/* XORs counter data where that helps; *filtered is NULL where it doesn't. */
static int filter(uint8_t **filtered, struct opk_section *section, struct opk_ctx *ctx,
                  const void *data, size_t size)
{
	size_t stride = section->type == OPK_SECTION_DATA ? opk_xor_find_stride(data, size) : 0;

	if (!stride || stride > UINT32_MAX)
		return OPK_OK;
	*filtered = opk_realloc(NULL, size);
	if (!*filtered)
		return opk_nomem(ctx, "a section");
	opk_xor_encode(*filtered, data, size, stride);
	section->stride = (uint32_t)stride;
	section->flags |= OPK_SECTION_XORED;
	return OPK_OK;
}

int opk_writer_add(struct opk_writer *writer, uint32_t type, const void *data, size_t size)
{
	struct opk_section section = { .type = type, .stored_size = size, .plain_size = size };
	opk_autofree uint8_t *filtered = NULL;
	opk_autofree void *packed = NULL;
	size_t packed_size;
	int code = filter(&filtered, &section, writer->ctx, data, size);

	if (!code)
		code = opk_deflate(&packed, &packed_size, writer->ctx, filtered ? filtered : data,
		                   size, writer->live);
	if (code)
		return code;
	if (packed_size >= size) {
		section.flags = section.stride = 0;
		return write_section(writer, &section, data);
	}
	section.flags |= OPK_SECTION_DEFLATED;
	section.stored_size = packed_size;
	return write_section(writer, &section, packed);
}

static int add_buf(struct opk_writer *writer, uint32_t type, const struct opk_buf *buf,
                   const char *what)
{
	return buf->failed ? opk_nomem(writer->ctx, what)
	                   : opk_writer_add(writer, type, buf->data, buf->size);
}

/* What a reader would refuse is not written. */
static int add_text(struct opk_writer *writer, uint32_t type, const struct opk_buf *text,
                    const char *what)
{
	if (text->size > OPK_MAX_JSON)
		return opk_fail(writer->ctx, OPK_EUSAGE, "%s of more than %d bytes", what,
		                OPK_MAX_JSON);
	return add_buf(writer, type, text, what);
}

int opk_writer_add_meta(struct opk_writer *writer, const struct opk_meta *meta)
{
	opk_autobuf struct opk_buf text = { 0 };
	int code = opk_meta_check(writer->ctx, meta);

	if (code)
		return code;
	opk_meta_to_json(&text, meta);
	return add_text(writer, OPK_SECTION_META, &text, "metadata");
}

int opk_writer_add_ranges(struct opk_writer *writer, const struct opk_range *ranges, size_t count)
{
	opk_autobuf struct opk_buf text = { 0 };

	opk_ranges_to_json(&text, ranges, count);
	return add_text(writer, OPK_SECTION_RANGES, &text, "a range table");
}

int opk_writer_add_times(struct opk_writer *writer, const struct opk_time *times, size_t count)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_times_encode(&payload, times, count);
	return add_buf(writer, OPK_SECTION_TIMES, &payload, "times of samples");
}

int opk_writer_add_stats(struct opk_writer *writer, const struct opk_stats *stats)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (stats->drop_count > OPK_MAX_DROPS)
		return opk_fail(writer->ctx, OPK_EUSAGE, "more than %d reasons", OPK_MAX_DROPS);
	opk_stats_to_json(&text, stats);
	return add_text(writer, OPK_SECTION_STATS, &text, "counts");
}

int opk_writer_finish(struct opk_writer *writer)
{
	struct opk_section section = { .type = OPK_SECTION_END, .stored_size = OPK_END_SIZE,
		                       .plain_size = OPK_END_SIZE };
	opk_autobuf struct opk_buf payload = { 0 };
	int code;

	opk_buf_add_u32(&payload, writer->count);
	opk_buf_add_u32(&payload, writer->headers_crc);
	if (payload.failed)
		return opk_nomem(writer->ctx, "the end section");
	code = write_section(writer, &section, payload.data);
	if (!code)
		code = opk_newfile_commit(&writer->file, writer->ctx);
	return code;
}
