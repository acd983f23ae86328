/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files without a name, and what goes into them. */
#ifndef OPK_SPOOL_H
#define OPK_SPOOL_H

#include <stdio.h>

#include "base/ctx.h"

/* In the folder that TMPDIR names, else in /tmp. Nobody else sees it, and it goes when it is closed. */
int opk_spool_new(FILE **out, struct opk_ctx *ctx);
int opk_spool_put(struct opk_ctx *ctx, FILE *spool, const void *data, size_t size);
/* Of errno: in which folder it can't be written, why, and what helps. */
int opk_spool_fail(struct opk_ctx *ctx);

#endif
