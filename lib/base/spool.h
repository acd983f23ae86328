/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files without a name. */
#ifndef OPK_SPOOL_H
#define OPK_SPOOL_H

#include "base/ctx.h"

/* Opens a nameless file in TMPDIR, otherwise in /tmp; it is gone once closed. */
int opk_spool_new(int *fd, struct opk_ctx *ctx);
/* Reports errno: names the folder, the reason, and a remedy. */
int opk_spool_fail(struct opk_ctx *ctx);

#endif
