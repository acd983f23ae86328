/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes .opk files. */
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"
#include "base/option_struct.h"
#include "container/container.h"
#include "container/container_inside.h"

struct opk_writer {
	struct opk_ctx *ctx;
	struct opk_newfile file;
	bool fast;         /* speed matters more than size, as while a program runs */
	int failure;       /* the first section that failed: the file is never finished */
	bool by_meta;      /* metadata say what kind of file it is, and so what it may replace */
	const char *maker; /* `made_by` for the metadata; NULL: leave it as it is */
	uint32_t count;
	uint32_t headers_crc;
	uint32_t crc;    /* of the last section's header */
	unsigned tables; /* tables that name the last image */
	/* The last image, which tables name; its number is SIZE_MAX before the first. */
	size_t image;
	uint32_t image_crc;
	struct opk_bases bases;
};

static struct opk_writer *allocate(struct opk_ctx *ctx, bool fast)
{
	struct opk_writer *writer = opk_alloc(sizeof *writer);

	if (!writer)
		return NULL;
	writer->ctx = ctx;
	writer->fast = fast;
	writer->image = SIZE_MAX;
	return writer;
}

static int new_writer(struct opk_writer **out, struct opk_ctx *ctx, const char *path, bool live,
                      bool by_meta, enum opk_output output)
{
	opk_auto(opk_writer) struct opk_writer *writer = allocate(ctx, live);
	opk_autobuf struct opk_buf header = { 0 };
	int code;

	opk_buf_add(&header, OPK_MAGIC, OPK_MAGIC_SIZE);
	opk_buf_add_u32(&header, OPK_FORMAT_VERSION);
	opk_buf_add_u32(&header, 0);
	if (!writer || header.failed)
		return opk_nomem(ctx, "a writer");
	writer->by_meta = by_meta;
	writer->maker = opk_output_maker(output);
	writer->headers_crc = opk_crc32(0, header.data, header.size);
	TRY(live ? opk_newfile_create_live(&writer->file, ctx, path)
	         : opk_newfile_create(&writer->file, ctx, path, by_meta ? NULL : opk_check_output,
	                              output));
	code = opk_newfile_write(&writer->file, header.data, header.size);
	if (code && live)
		unlink(path);
	*out = code ? NULL : opk_take(writer);
	return code;
}

int opk_writer_new(struct opk_writer **out, struct opk_ctx *ctx, const char *path)
{
	return new_writer(out, ctx, path, false, true, OPK_OUTPUT_RECORDING);
}

int opk_writer_new_made(struct opk_writer **out, struct opk_ctx *ctx, const char *path,
                        enum opk_output output)
{
	return new_writer(out, ctx, path, false, false, output);
}

void opk_writer_hurry(struct opk_writer *writer)
{
	writer->fast = true;
}

int opk_writer_new_live(struct opk_writer **out, struct opk_ctx *ctx, const char *path)
{
	return new_writer(out, ctx, path, true, false, OPK_OUTPUT_RECORDING);
}

/* Sums up the headers as if this writer had written them; *end is where the next section goes. */
static int sum_headers(struct opk_writer *writer, uint64_t *end, const struct opk_file *file,
                       size_t count)
{
	uint8_t bytes[OPK_SECTION_SUMMED];

	*end = OPK_FILE_HEADER_SIZE;
	if (!opk_pread_all(file->fd, bytes, OPK_FILE_HEADER_SIZE, 0))
		return opk_fail_errno(writer->ctx, OPK_EINPUT, "can't read", file->path);
	writer->headers_crc = opk_crc32(0, bytes, OPK_FILE_HEADER_SIZE);
	for (; writer->count < count; writer->count++) {
		const struct opk_section *section = &file->sections[writer->count];

		if (!opk_pread_all(file->fd, bytes, sizeof bytes,
		                   section->offset - OPK_SECTION_HEADER_SIZE))
			return opk_fail_errno(writer->ctx, OPK_EINPUT, "can't read", file->path);
		writer->headers_crc = opk_crc32(writer->headers_crc, bytes, sizeof bytes);
		*end = section->offset + section->stored_size + opk_padding(section->stored_size);
	}
	return OPK_OK;
}

int opk_writer_resume(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_file *file)
{
	opk_auto(opk_writer) struct opk_writer *writer = allocate(ctx, true);
	size_t count = file->section_count;
	uint64_t end;

	if (file->complete)
		return opk_fail(ctx, OPK_EUSAGE, "%s: is complete", file->path);
	if (!writer)
		return opk_nomem(ctx, "a writer");
	/* Images at the end have no tables yet: leave them out. */
	while (count && opk_is_image(file->sections[count - 1].type))
		count--;
	TRY(sum_headers(writer, &end, file, count));
	TRY(opk_newfile_resume_live(&writer->file, ctx, file->path, file->fd, end));
	*out = opk_take(writer);
	return OPK_OK;
}

void opk_writer_free(struct opk_writer *writer)
{
	if (!writer)
		return;
	opk_newfile_discard(&writer->file);
	opk_bases_clear(&writer->bases);
	free(writer);
}

static int write_section(struct opk_writer *writer, const struct opk_section *section,
                         const void *payload)
{
	opk_autobuf struct opk_buf header = { 0 };
	static const uint8_t zeros[8];

	opk_buf_add_u32(&header, section->type);
	opk_buf_add_u32(&header, section->flags);
	opk_buf_add_u64(&header, section->stored_size);
	opk_buf_add_u64(&header, section->plain_size);
	opk_buf_add_u32(&header, section->stride);
	opk_buf_add_u32(&header, opk_crc32(0, payload, (size_t)section->stored_size));
	opk_buf_add_u32(&header, section->packed_size);
	opk_buf_add_u32(&header, section->distance);
	opk_buf_add_u32(&header, section->linked_crc);
	if (!header.failed)
		writer->crc = opk_crc32(0, header.data, header.size);
	opk_buf_add_u32(&header, writer->crc);
	if (header.failed)
		return opk_nomem(writer->ctx, "a section");
	if (opk_is_image(section->type)) {
		writer->image = writer->count;
		writer->image_crc = writer->crc;
		writer->tables = 0;
	}
	if (section->type != OPK_SECTION_END) {
		writer->headers_crc = opk_crc32(writer->headers_crc, header.data,
		                                OPK_SECTION_SUMMED);
		writer->count++;
	}
	TRY(opk_newfile_write(&writer->file, header.data, header.size));
	TRY(opk_newfile_write(&writer->file, payload, (size_t)section->stored_size));
	return opk_newfile_write(&writer->file, zeros, opk_padding(section->stored_size));
}

static int write_deflated(struct opk_writer *writer, struct opk_section *section, const void *data,
                          size_t size)
{
	opk_autofree void *packed = NULL;
	size_t packed_size;

	TRY(opk_deflate(&packed, &packed_size, writer->ctx, data, size, writer->fast));
	if (packed_size >= size)
		return write_section(writer, section, data);
	section->flags |= OPK_SECTION_DEFLATED;
	section->stored_size = packed_size;
	return write_section(writer, section, packed);
}

/* *done is false if packing does not help. */
static int write_packed(bool *done, struct opk_writer *writer, struct opk_section section,
                        const struct opk_base *base, const void *data, size_t size)
{
	opk_autobuf struct opk_buf packed = { 0 };
	opk_autofree void *deflated = NULL;
	size_t deflated_size;

	opk_image_pack(&packed, &section, base, data, size);
	if (packed.failed)
		return opk_nomem(writer->ctx, "a section");
	if (packed.size > UINT32_MAX)
		return OPK_OK;
	TRY(opk_deflate(&deflated, &deflated_size, writer->ctx, packed.data, packed.size,
	                writer->fast));
	/* Readers refuse a section that is almost empty. */
	section.flags |= OPK_SECTION_SPARSE | OPK_SECTION_DEFLATED;
	if (deflated_size >= size || size / opk_section_max_ratio(section.flags) >= deflated_size)
		return OPK_OK;
	*done = true;
	section.stored_size = deflated_size;
	section.packed_size = (uint32_t)packed.size;
	if (section.flags & OPK_SECTION_BASED) {
		section.distance = writer->count - base->section;
		section.linked_crc = base->crc;
	}
	return write_section(writer, &section, deflated);
}

static int write_data(struct opk_writer *writer, const struct opk_section *plain, const void *data,
                      size_t size)
{
	struct opk_section section = *plain;
	struct opk_base *base = opk_bases_find(&writer->bases, size, writer->count);
	bool done = false;
	size_t stride = base ? base->stride : 0;

	/* Images of one size have one layout. Finding it is the slowest step. */
	if (!stride && !opk_xor_find_stride(&stride, data, size))
		return opk_nomem(writer->ctx, "a section");
	if (stride && stride <= UINT32_MAX) {
		section.stride = (uint32_t)stride;
		section.flags |= OPK_SECTION_XORED;
	}
	if (base) {
		TRY(write_packed(&done, writer, section, base, data, size));
		base->based++;
	}
	if (done)
		return OPK_OK;
	TRY(write_packed(&done, writer, section, NULL, data, size));
	section = *plain;
	if (!done)
		TRY(write_deflated(writer, &section, data, size));
	return opk_bases_keep(&writer->bases, data, size,
	                      &(struct opk_base){ .crc = writer->crc,
	                                          .section = writer->count - 1,
	                                          .stride = stride })
	               ? OPK_OK
	               : opk_nomem(writer->ctx, "a writer");
}

/* Links the next section to the last image. */
static int link_to_image(struct opk_section *section, struct opk_writer *writer)
{
	unsigned table = opk_is_table(section->type);
	size_t distance = writer->count - writer->image;

	if (writer->image == SIZE_MAX || distance > OPK_LINK_DISTANCE)
		return opk_fail(writer->ctx, OPK_EUSAGE,
		                "a table needs an image before it, which it describes");
	if (writer->tables & table)
		return opk_fail(writer->ctx, OPK_EUSAGE, "an image has one table of a kind");
	writer->tables |= table;
	section->distance = (uint32_t)distance;
	section->linked_crc = writer->image_crc;
	return OPK_OK;
}

static int note_failure(struct opk_writer *writer, int code)
{
	if (code && !writer->failure)
		writer->failure = code;
	return code;
}

static int try_section(struct opk_writer *writer, uint32_t type, bool linked, const void *data,
                       size_t size)
{
	struct opk_section section = { .type = type, .stored_size = size, .plain_size = size };

	if (linked)
		TRY(link_to_image(&section, writer));
	/* The run's environment may be private. */
	if (type == OPK_SECTION_META && memmem(data, size, "\"env.", strlen("\"env.")))
		TRY(opk_newfile_make_private(&writer->file));
	if (size > OPK_MAX_PLAIN)
		return opk_fail(writer->ctx, OPK_EUSAGE,
		                "a section of %zu bytes: at most %ju are written", size,
		                (uintmax_t)OPK_MAX_PLAIN);
	return type == OPK_SECTION_DATA && size ? write_data(writer, &section, data, size)
	                                        : write_deflated(writer, &section, data, size);
}

static int add_section(struct opk_writer *writer, uint32_t type, bool linked, const void *data,
                       size_t size)
{
	return note_failure(writer, try_section(writer, type, linked, data, size));
}

int opk_writer_add(struct opk_writer *writer, uint32_t type, const void *data, size_t size)
{
	return add_section(writer, type, opk_is_table(type), data, size);
}

/* Copied metadata say which command made this file. */
static int copy_meta(struct opk_writer *writer, const char *data, size_t size)
{
	opk_auto(opk_json) struct opk_json *meta = NULL;
	opk_autobuf struct opk_buf text = { 0 };

	TRY(opk_json_parse(&meta, writer->ctx, data, size));
	TRY(opk_meta_set_maker(&text, writer->ctx, meta, writer->maker));
	return opk_writer_add(writer, OPK_SECTION_META, text.data, text.size);
}

int opk_writer_copy(struct opk_writer *writer, const struct opk_file *file, size_t i)
{
	opk_autofree void *data = NULL;
	size_t size;

	TRY(opk_check_interrupt(writer->ctx));
	TRY(opk_file_read(&data, &size, writer->ctx, file, i));
	if (file->sections[i].type == OPK_SECTION_META && writer->maker)
		return note_failure(writer, copy_meta(writer, data, size));
	return add_section(writer, file->sections[i].type, opk_is_attached(&file->sections[i]),
	                   data, size);
}

int opk_writer_copy_tables(struct opk_writer *writer, const struct opk_file *file, size_t image)
{
	size_t i = image;

	while ((i = opk_file_next_attached(file, image, i)) != SIZE_MAX)
		TRY(opk_writer_copy(writer, file, i));
	return OPK_OK;
}

int opk_writer_add_buf(struct opk_writer *writer, uint32_t type, const struct opk_buf *buf,
                       const char *what)
{
	return buf->failed ? note_failure(writer, opk_nomem(writer->ctx, what))
	                   : opk_writer_add(writer, type, buf->data, buf->size);
}

int opk_writer_add_text(struct opk_writer *writer, uint32_t type, const struct opk_buf *text,
                        const char *what)
{
	if (text->size > OPK_MAX_JSON)
		return note_failure(writer,
		                    opk_fail(writer->ctx, OPK_EUSAGE, "%s of more than %d bytes",
		                             what, OPK_MAX_JSON));
	return opk_writer_add_buf(writer, type, text, what);
}

static int check_meta(struct opk_writer *writer, const struct opk_meta *meta)
{
	int code = opk_meta_check(writer->ctx, meta);

	if (code)
		return code == OPK_EINPUT ? OPK_EUSAGE : code;
	if (!writer->by_meta)
		return OPK_OK;
	/* The kind of file is known from here on. */
	writer->file.check = opk_check_output;
	writer->file.output = opk_output_of_meta(meta);
	return opk_check_output(writer->ctx, writer->file.path, writer->file.output);
}

int opk_writer_add_meta(struct opk_writer *writer, const struct opk_meta *meta)
{
	opk_autobuf struct opk_buf text = { 0 };
	struct opk_meta made = *meta;

	TRY(note_failure(writer, check_meta(writer, meta)));
	if (writer->maker)
		made.made_by = writer->maker;
	opk_meta_to_json(&text, &made);
	return opk_writer_add_text(writer, OPK_SECTION_META, &text, "metadata");
}

int opk_writer_begin(struct opk_writer *writer, struct opk_file *set,
                     const struct opk_recorded *given)
{
	OPK_OPTIONS(opk_recorded, how, given);
	const struct opk_meta *planned;
	struct opk_meta meta;

	TRY(note_failure(writer, opk_file_meta(&planned, writer->ctx, set)));
	meta = *planned;
	meta.kind = "recording";
	meta.made_by = "";
	meta.generator = how.generator;
	meta.mode = how.mode;
	meta.join = how.join;
	meta.backend = how.backend;
	meta.has_gpu_time_shift = how.gpu_time_shift != NULL;
	meta.gpu_time_shift = how.gpu_time_shift ? *how.gpu_time_shift : 0;
	meta.run_count = 0;
	return opk_writer_add_meta(writer, &meta);
}

/* Rows in this library's layout: other versions' structs end earlier or later. free() `copy`. */
static int fit_rows(const void **rows, void **copy, struct opk_writer *writer, size_t count,
                    size_t size, size_t own)
{
	const uint8_t *given = *rows;

	if (size == own)
		return OPK_OK;
	if (!size)
		return note_failure(writer, opk_fail(writer->ctx, OPK_EUSAGE, "rows of 0 bytes"));
	*rows = *copy = calloc(count + 1, own);
	if (!*copy)
		return note_failure(writer, opk_nomem(writer->ctx, "rows"));
	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)*copy + i * own, given + i * size, size < own ? size : own);
	return OPK_OK;
}

int opk_writer_add_ranges(struct opk_writer *writer, const struct opk_range *ranges, size_t count,
                          size_t size)
{
	opk_autobuf struct opk_buf text = { 0 };
	opk_autofree void *copy = NULL;
	const void *rows = ranges;

	TRY(fit_rows(&rows, &copy, writer, count, size, sizeof *ranges));
	opk_ranges_to_json(&text, rows, count);
	return opk_writer_add_text(writer, OPK_SECTION_RANGES, &text, "a range table");
}

int opk_writer_add_times(struct opk_writer *writer, const struct opk_time *times, size_t count,
                         size_t size)
{
	opk_autobuf struct opk_buf payload = { 0 };
	opk_autofree void *copy = NULL;
	const void *rows = times;

	TRY(fit_rows(&rows, &copy, writer, count, size, sizeof *times));
	times = rows;
	if (count && !opk_times_have_device(times->device))
		return note_failure(writer, opk_fail(writer->ctx, OPK_EUSAGE,
		                                     "times of samples of device %jd",
		                                     (intmax_t)times->device));
	opk_times_encode(&payload, times, count);
	return opk_writer_add_buf(writer, OPK_SECTION_TIMES, &payload, "times of samples");
}

int opk_writer_add_activities(struct opk_writer *writer, const struct opk_activity *activities,
                              size_t count)
{
	opk_autobuf struct opk_buf payload = { 0 };

	if (count > UINT32_MAX)
		return note_failure(writer, opk_fail(writer->ctx, OPK_EUSAGE,
		                                     "more than 2^32 records in a section"));
	opk_activities_encode(&payload, activities, count);
	return opk_writer_add_buf(writer, OPK_SECTION_ACTIVITIES, &payload, "records");
}

int opk_writer_add_stats(struct opk_writer *writer, const struct opk_stats *stats)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (stats->drop_count > OPK_MAX_DROPS)
		return note_failure(writer, opk_fail(writer->ctx, OPK_EUSAGE,
		                                     "more than %d reasons", OPK_MAX_DROPS));
	opk_stats_to_json(&text, stats);
	return opk_writer_add_text(writer, OPK_SECTION_STATS, &text, "counts");
}

static int write_end(struct opk_writer *writer)
{
	struct opk_section section = { .type = OPK_SECTION_END,
		                       .stored_size = OPK_END_SIZE,
		                       .plain_size = OPK_END_SIZE };
	opk_autobuf struct opk_buf payload = { 0 };

	if (writer->failure)
		return opk_add(writer->ctx, writer->failure,
		               "the file lacks a section that could not be added");
	opk_buf_add_u32(&payload, writer->count);
	opk_buf_add_u32(&payload, writer->headers_crc);
	if (payload.failed)
		return opk_nomem(writer->ctx, "the end section");
	/* Metadata that were added as bytes were not looked at yet. */
	if (writer->by_meta)
		writer->file.check = opk_check_output;
	return write_section(writer, &section, payload.data);
}

int opk_writer_finish(struct opk_writer *writer)
{
	TRY(write_end(writer));
	return opk_newfile_commit(&writer->file);
}

int opk_writers_finish(struct opk_writer *const *writers, size_t count)
{
	opk_autofree struct opk_newfile **files = NULL;

	if (!count)
		return OPK_OK;
	files = opk_alloc_array(count, sizeof *files);
	if (!files)
		return opk_nomem(writers[0]->ctx, "files");
	for (size_t i = 0; i < count; i++) {
		files[i] = &writers[i]->file;
		TRY(write_end(writers[i]));
	}
	return opk_newfiles_commit(files, count);
}
