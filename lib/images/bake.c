/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies a recording with its values, and with or without its images. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "config.h"
#include "images/images.h"

struct bake {
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_bake_options *options;
	struct opk_writer *writer;
};

static int check(const struct bake *b)
{
	const struct opk_file *file = b->file;

	TRY(opk_file_check_complete(b->ctx, file, OPK_REMEDY_RECOVER));
	if (opk_file_find(file, OPK_SECTION_LEFT_OUT) >= 0)
		return opk_fail(b->ctx, OPK_EUSAGE,
		                "%s: it has its values, and its images were left out", file->path);
	if (opk_file_find(file, OPK_SECTION_DATA) < 0)
		return opk_fail(b->ctx, OPK_EUSAGE,
		                "%s: it has no counter data: what else is recorded can be read "
		                "without NVIDIA's libraries as it is",
		                file->path);
	return OPK_OK;
}

/* The header's checksum keeps apart what stands for different images. */
static int add_place(struct bake *b, size_t section, uint32_t number)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_buf_add_u32(&payload, b->file->sections[section].header_crc);
	opk_buf_add_u32(&payload, number);
	return opk_writer_add_buf(b->writer, OPK_SECTION_LEFT_OUT, &payload, "an image's place");
}

static int copy_image(struct bake *b, size_t section, uint32_t number)
{
	TRY(b->options->only ? add_place(b, section, number)
	                     : opk_writer_copy(b->writer, b->file, section));
	return opk_writer_copy_tables(b->writer, b->file, section);
}

/* Without images nothing needs what a GPU is to count. */
static bool is_kept(const struct bake *b, const struct opk_section *section)
{
	if (opk_is_attached(section) || section->type == OPK_SECTION_BAKED
	    || section->type == OPK_SECTION_VALUES)
		return false;
	return !b->options->only
	       || !(opk_is_of_plan(section->type) || section->type == OPK_SECTION_AVAILABILITY);
}

static int copy_all(struct bake *b)
{
	uint32_t images = 0;

	for (size_t i = 0; i < b->file->section_count; i++) {
		const struct opk_section *section = &b->file->sections[i];

		if (section->type == OPK_SECTION_DATA)
			TRY(copy_image(b, i, images++));
		else if (is_kept(b, section))
			TRY(opk_writer_copy(b->writer, b->file, i));
	}
	return OPK_OK;
}

static int bake(struct bake *b, const char *path)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_check_output(b->ctx, path, OPK_OUTPUT_BAKED));
	TRY(check(b));
	TRY(opk_file_meta(&b->meta, b->ctx, b->file));
	TRY(opk_writer_new_made(&writer, b->ctx, path, OPK_OUTPUT_BAKED));
	b->writer = writer;
	TRY(copy_all(b));
	TRY(opk_bake_rows(b->ctx, writer, b->file,
	                  &(struct opk_bake_rows){ .metrics = b->meta->metrics,
	                                           .metric_count = b->meta->metric_count,
	                                           .generator = "offpeak " PACKAGE_VERSION }));
	return opk_writer_finish(writer);
}

int opk_bake(struct opk_ctx *ctx, struct opk_file *file, const struct opk_bake_options *options,
             const char *path)
{
	struct bake b = { .ctx = ctx, .file = file, .options = options };
	int code = bake(&b, path);

	return code ? opk_add(ctx, code, "can't bake %s", file->path) : OPK_OK;
}
