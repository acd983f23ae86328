/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions in the cache folder, one a metric: cache.h. */
#include <string.h>

#include "chip/cache.h"
#include "plan/describe.h"

static const char kind[] = "description";

static char *whom_of(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	return opk_cache_whom(ctx, "%s %s %s\n", catalog->chip,
	                      opk_profiler_name(catalog->profiler), full);
}

char *opk_describe_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);
	size_t size;

	return opk_cache_load(&size, ctx, kind, whom);
}

void opk_describe_cache(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full,
                        const char *text)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);

	opk_cache_store(ctx, kind, whom, text, strlen(text));
}
