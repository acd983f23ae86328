/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of one metric, as text: lines of "chip NAME", "counter NAME DOMAIN..." and
 * "constituent TYPE NAME" with tabs between. It is the same in the cache.
 */
#ifndef OPK_DESCRIBE_H
#define OPK_DESCRIBE_H

#include "base/buf.h"
#include "chip/catalog.h"

/*
 * Asks NVIDIA's libraries; *complete tells whether all of them could be asked.
 * `full` is a full name of the metric.
 */
int opk_describe_ask(struct opk_buf *text, bool *complete, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_metric *metric,
                     const char *full);

/* The text of a cached description, free(); NULL where there is none. */
char *opk_describe_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full);
void opk_describe_cache(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full,
                        const char *text);

#endif
