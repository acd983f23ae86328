/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The single-pass sets of a chip, as text: a line "set NAME PROFILER ORIGIN" and behind it lines of
 * "metric NAME" and "left_out NAME", with tabs between. It is the same in the cache.
 */
#ifndef OPK_SINGLE_PASS_H
#define OPK_SINGLE_PASS_H

#include "base/buf.h"
#include "base/ctx.h"

/*
 * Asks NVIDIA's libraries. `wanted` is data/single_pass.tsv, possibly empty, and cut into pieces
 * here; `path` is where it came from.
 */
int opk_single_pass_ask(struct opk_buf *text, struct opk_ctx *ctx, const char *chip, char *wanted,
                        const char *path);

#endif
