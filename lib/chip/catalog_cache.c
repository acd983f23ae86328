/* SPDX-License-Identifier: BSD-2-Clause */
#include "chip/catalog_cache.h"

#include "chip/cache.h"
#include "chip/chip.h"

static const char kind[] = "catalog";

static char *whom_of(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *name = ctx->cache_dir ? opk_chip_upper(chip) : NULL;

	return name ? opk_cache_whom(ctx, "%s %s\n", name, opk_profiler_name(profiler)) : NULL;
}

bool opk_cache_read(struct opk_table *table, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);
	size_t size = 0;
	opk_autofree void *data = opk_cache_load(&size, ctx, kind, whom);

	return data && opk_table_read(table, data, size);
}

bool opk_cache_takes_catalog(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);

	return opk_cache_takes(ctx, whom);
}

void opk_cache_write(struct opk_ctx *ctx, const struct opk_table *table, const char *chip,
                     enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);
	opk_autobuf struct opk_buf bytes = { 0 };

	if (!whom)
		return;
	opk_table_write(&bytes, table);
	if (!bytes.failed)
		opk_cache_store(ctx, kind, whom, bytes.data, bytes.size);
}
