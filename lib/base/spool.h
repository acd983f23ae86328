/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files without a name. */
#ifndef OPK_SPOOL_H
#define OPK_SPOOL_H

#include "base/ctx.h"

/* A file without a name in the folder that TMPDIR names, else in /tmp; it is gone once closed. */
int opk_spool_new(int *fd, struct opk_ctx *ctx);
/* Reports errno: in which folder it can't be written, why, and what helps. */
int opk_spool_fail(struct opk_ctx *ctx);

#endif
