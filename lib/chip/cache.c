/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file has a line that names the form, a CRC-32 of the rest, what it describes, and the data. It
 * gets its final name when complete, so that other processes never see a part of it.
 */
#include "chip/chip.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "adapters/nv/nv.h"
#include "adapters/deflate/deflate.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "config.h"

static const char magic[] = "offpeak cache 1\n";

/* Increase it when the meaning of the data changes. */
enum { FORM = 4 };

enum { CRC_AT = sizeof magic - 1, BODY_AT = CRC_AT + 4 };

char *opk_cache_whom(struct opk_ctx *ctx, const char *format, ...)
{
	opk_autofree char *identity = ctx->cache_dir ? opk_nv_identity(ctx) : NULL;
	char text[2048];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* Our version counts, too: it interprets NVIDIA's answers. */
	return identity && length >= 0 && (size_t)length < sizeof text
	               ? opk_printf("%soffpeak " PACKAGE_VERSION " form %d\n%s", identity, FORM,
	                            text)
	               : NULL;
}

static char *path_of(struct opk_ctx *ctx, const char *kind, const char *whom)
{
	uint64_t hash = opk_hash(OPK_HASH_BEGIN, whom, strlen(whom));

	return opk_printf("%s/%016jx.%s", ctx->cache_dir, (uintmax_t)hash, kind);
}

/* The offset of the data in a file; 0 if the file is not sound, or describes something else. */
static size_t find_kept(const uint8_t *data, size_t size, const char *whom)
{
	size_t length = strlen(whom) + 1;
	uint32_t crc;

	if (size < BODY_AT + length || memcmp(data, magic, CRC_AT))
		return 0;
	memcpy(&crc, data + CRC_AT, sizeof crc);
	if (crc != opk_crc32(0, data + BODY_AT, size - BODY_AT)
	    || memcmp(data + BODY_AT, whom, length))
		return 0;
	return BODY_AT + length;
}

void *opk_cache_load(size_t *size, struct opk_ctx *ctx, const char *kind, const char *whom)
{
	opk_autofree char *path = whom ? path_of(ctx, kind, whom) : NULL;
	struct opk_errors_mark mark;
	opk_autofree void *data = NULL;
	size_t all = 0, from;

	/* A missing file is not a failure. */
	opk_errors_mark(&mark, ctx);
	if (path)
		opk_read_file(&data, &all, ctx, path);
	opk_errors_rewind(ctx, &mark);
	if (!data)
		return NULL;
	from = find_kept(data, all, whom);
	if (!from)
		return NULL;
	*size = all - from;
	/* opk_read_file() puts a NUL after what it read. */
	memmove(data, (uint8_t *)data + from, *size + 1);
	return opk_take(data);
}

bool opk_cache_takes(struct opk_ctx *ctx, const char *whom)
{
	return whom && opk_make_folder(ctx->cache_dir, 0777)
	       && !access(ctx->cache_dir, W_OK | X_OK);
}

static void write_file(struct opk_ctx *ctx, const char *path, const struct opk_buf *bytes)
{
	opk_autonewfile struct opk_newfile file = { 0 };
	struct opk_errors_mark mark;

	opk_errors_mark(&mark, ctx);
	if (!opk_newfile_create(&file, ctx, path, NULL, OPK_OUTPUT_TABLE)
	    && !opk_newfile_write(&file, bytes->data, bytes->size))
		opk_newfile_commit(&file);
	opk_errors_rewind(ctx, &mark);
}

void opk_cache_store(struct opk_ctx *ctx, const char *kind, const char *whom, const void *data,
                     size_t size)
{
	opk_autofree char *path = whom ? path_of(ctx, kind, whom) : NULL;
	opk_autobuf struct opk_buf bytes = { 0 };
	uint32_t crc;

	if (!path || !opk_cache_takes(ctx, whom))
		return;
	opk_buf_add(&bytes, magic, CRC_AT);
	opk_buf_add_u32(&bytes, 0);
	opk_buf_add(&bytes, whom, strlen(whom) + 1);
	opk_buf_add(&bytes, data, size);
	if (bytes.failed)
		return;
	crc = opk_crc32(0, bytes.data + BODY_AT, bytes.size - BODY_AT);
	memcpy(bytes.data + CRC_AT, &crc, sizeof crc);
	write_file(ctx, path, &bytes);
}
