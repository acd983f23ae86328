/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalogues in the cache folder, one file for each pair of NVIDIA's libraries, chip and profiler. It is
 * only ever a shortcut: what can't be read is as if it were not there, and what can't be written is left.
 */
#ifndef OPK_CATALOG_CACHE_H
#define OPK_CATALOG_CACHE_H

#include "base/ctx.h"
#include "domain/catalog_table.h"

bool opk_cache_read(struct opk_table *table, const struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler);
void opk_cache_write(const struct opk_ctx *ctx, const struct opk_table *table, const char *chip,
                     enum opk_profiler profiler);

#endif
