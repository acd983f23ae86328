/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TRACE_DOOR_H
#define OPK_TRACE_DOOR_H

#include "base/ctx.h"

/* As opk_trace_save(), piece by piece. OPK_EFAILED: the sink refused, too. */
int opk_trace_write(struct opk_trace_counts *counts, struct opk_ctx *ctx,
                    struct opk_file *const *files, size_t count,
                    const struct opk_trace_options *options, opk_sink_fn *sink, void *sink_data);

#endif
