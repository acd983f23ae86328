/* SPDX-License-Identifier: BSD-2-Clause */
/* Catalogs in the cache folder: cache.h. */
#ifndef OPK_CATALOG_CACHE_H
#define OPK_CATALOG_CACHE_H

#include "base/ctx.h"
#include "chip/catalog_table.h"

bool opk_cache_read(struct opk_table *table, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler);
/* Whether there is a cache to write it to. */
bool opk_cache_takes_catalog(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler);
void opk_cache_write(struct opk_ctx *ctx, const struct opk_table *table, const char *chip,
                     enum opk_profiler profiler);

#endif
