/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file is a line that names the form, a CRC-32 of the rest, whom it is of, and the table. It appears by
 * its last name all at once, so that runs side by side see a whole one or none.
 */
#include "domain/catalog_cache.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/nv/nv.h"
#include "adapters/zlib/deflate.h"
#include "base/file.h"

static const char magic[] = "offpeak catalog 1\n";

enum { CRC_AT = sizeof magic - 1, BODY_AT = CRC_AT + 4 };

/* What the file must be of; NULL where nothing is to be cached. */
static char *describe(const struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *identity = ctx->cache_dir ? opk_nv_identity(ctx) : NULL;
	char *text;

	/* A chip's name is part of a file's name. */
	for (const char *c = chip; *c; c++)
		if (!isalnum((unsigned char)*c))
			return NULL;
	if (!identity)
		return NULL;
	text = opk_printf("%s%s %s\n", identity, chip, opk_profiler_name(profiler));
	for (char *c = text ? text + strlen(identity) : NULL; c && *c && *c != ' '; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}

static char *path_of(const struct opk_ctx *ctx, const char *whom)
{
	uint32_t high = opk_crc32(0, whom, strlen(whom));
	uint32_t low = opk_crc32(high, whom, strlen(whom));

	return opk_printf("%s/%08x%08x.catalog", ctx->cache_dir, high, low);
}

/* The table's bytes in those of a file. */
static const uint8_t *find_table(const uint8_t *data, size_t size, const char *whom)
{
	size_t length = strlen(whom) + 1;
	uint32_t crc;

	if (size < BODY_AT + length || memcmp(data, magic, CRC_AT))
		return NULL;
	memcpy(&crc, data + CRC_AT, sizeof crc);
	if (crc != opk_crc32(0, data + BODY_AT, size - BODY_AT)
	    || memcmp(data + BODY_AT, whom, length))
		return NULL;
	return data + BODY_AT + length;
}

bool opk_cache_read(struct opk_table *table, const struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler)
{
	opk_autofree char *whom = describe(ctx, chip, profiler);
	opk_autofree char *path = whom ? path_of(ctx, whom) : NULL;
	/* A context of its own: that there is no file is no failure. */
	struct opk_ctx quiet = { 0 };
	opk_autofree void *data = NULL;
	const uint8_t *bytes;
	size_t size = 0;

	if (!path || opk_read_file(&data, &size, &quiet, path)) {
		opk_clear_errors(&quiet);
		return false;
	}
	bytes = find_table(data, size, whom);
	return bytes && opk_table_read(table, bytes, size - (size_t)(bytes - (uint8_t *)data));
}

/* The folder and those above it. */
static bool make_folders(const char *folder)
{
	opk_autofree char *path = opk_strdup(folder);

	for (char *slash = path ? strchr(path + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return path && (!mkdir(path, 0777) || errno == EEXIST);
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

void opk_cache_write(const struct opk_ctx *ctx, const struct opk_table *table, const char *chip,
                     enum opk_profiler profiler)
{
	opk_autofree char *whom = describe(ctx, chip, profiler);
	opk_autofree char *path = whom ? path_of(ctx, whom) : NULL;
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_ctx quiet = { 0 };
	uint32_t crc;

	if (!path || !make_folders(ctx->cache_dir))
		return;
	opk_buf_add(&bytes, magic, CRC_AT);
	opk_buf_add_u32(&bytes, 0);
	opk_buf_add(&bytes, whom, strlen(whom) + 1);
	opk_table_write(&bytes, table);
	if (bytes.failed)
		return;
	crc = opk_crc32(0, bytes.data + BODY_AT, bytes.size - BODY_AT);
	memcpy(bytes.data + CRC_AT, &crc, sizeof crc);
	write_file(&quiet, path, &bytes);
	opk_clear_errors(&quiet);
}
