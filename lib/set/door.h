/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_SET_DOOR_H
#define OPK_SET_DOOR_H

#include "base/ctx.h"

/* From metric names with commas between, whatever they look like. OPK_EUSAGE: there are none. */
int opk_set_from_names(struct opk_set **out, struct opk_ctx *ctx, const char *names);
/* "FILE:LINE:COLUMN" of the i-th metric; "" for metrics from the command line. */
const char *opk_set_metric_place(const struct opk_set *set, size_t i);

#endif
