/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_CATALOG_H
#define OPK_CATALOG_H

#include "base/ctx.h"

/* Whether `name` is a full metric name of the chip: base metric, and a rollup or submetric it has. */
bool opk_catalog_has_full(const struct opk_catalog *catalog, const struct opk_ctx *ctx,
                          const char *name);
/* Adds to the cause chain why `name` is no full metric name of the chip; `place` may be "". */
int opk_catalog_explain(struct opk_ctx *ctx, int code, const struct opk_catalog *catalog,
                        const char *name, const char *place);

#endif
