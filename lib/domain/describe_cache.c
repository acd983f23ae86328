/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions in the cache folder, one file a metric, like catalogs: a line that names the form, a
 * CRC-32 of the rest, whom it is of, and the text. What can't be read is as if it were not there.
 */
#include <string.h>

#include "adapters/zlib/deflate.h"
#include "base/file.h"
#include "domain/describe.h"

static const char magic[] = "offpeak description 1\n";

enum { CRC_AT = sizeof magic - 1, BODY_AT = CRC_AT + 4 };

/* What the file must be of; NULL where nothing is to be cached. */
static char *whom_of(const struct opk_ctx *ctx, const struct opk_catalog *catalog,
                     const char *full)
{
	opk_autofree char *identity = ctx->cache_dir ? opk_nv_identity(ctx) : NULL;

	return identity ? opk_printf("%s%s %s %s\n", identity, catalog->chip,
	                             opk_profiler_name(catalog->profiler), full)
	                : NULL;
}

static char *path_of(const struct opk_ctx *ctx, const char *whom)
{
	uint32_t high = opk_crc32(0, whom, strlen(whom));
	uint32_t low = opk_crc32(high, whom, strlen(whom));

	return opk_printf("%s/%08x%08x.description", ctx->cache_dir, high, low);
}

char *opk_describe_cached(const struct opk_ctx *ctx, const struct opk_catalog *catalog,
                          const char *full)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);
	opk_autofree char *path = whom ? path_of(ctx, whom) : NULL;
	/* A context of its own: that there is no file is no failure. */
	struct opk_ctx quiet = { 0 };
	opk_autofree void *data = NULL;
	const char *bytes;
	size_t size = 0, length = whom ? strlen(whom) : 0;
	uint32_t crc;

	if (!path || opk_read_file(&data, &size, &quiet, path)) {
		opk_clear_errors(&quiet);
		return NULL;
	}
	bytes = data;
	if (size < BODY_AT + length || memcmp(bytes, magic, CRC_AT))
		return NULL;
	memcpy(&crc, bytes + CRC_AT, sizeof crc);
	if (crc != opk_crc32(0, bytes + BODY_AT, size - BODY_AT)
	    || memcmp(bytes + BODY_AT, whom, length))
		return NULL;
	/* opk_read_file() puts a NUL behind what it read. */
	return opk_strdup(bytes + BODY_AT + length);
}

static int write_file(struct opk_ctx *ctx, const char *path, const struct opk_buf *bytes)
{
	struct opk_newfile file = { .fd = -1 };
	int code = opk_newfile_create(&file, ctx, path);

	if (!code)
		code = opk_newfile_write(&file, ctx, bytes->data, bytes->size);
	if (!code)
		code = opk_newfile_commit(&file, ctx);
	opk_newfile_discard(&file);
	return code;
}

/* The catalog, which is written before, has made the folder. */
void opk_describe_cache(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full,
                        const char *text)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);
	opk_autofree char *path = whom ? path_of(ctx, whom) : NULL;
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_ctx quiet = { 0 };
	uint32_t crc;

	if (!path)
		return;
	opk_buf_add(&bytes, magic, CRC_AT);
	opk_buf_add_u32(&bytes, 0);
	opk_buf_add_text(&bytes, whom);
	opk_buf_add_text(&bytes, text);
	if (bytes.failed)
		return;
	crc = opk_crc32(0, bytes.data + BODY_AT, bytes.size - BODY_AT);
	memcpy(bytes.data + CRC_AT, &crc, sizeof crc);
	/* Where it can't be written the catalog could not either, and that was said. */
	write_file(&quiet, path, &bytes);
	opk_clear_errors(&quiet);
}
