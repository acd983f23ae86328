/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-pass sets in the making: only for single_pass.c and its neighbours. */
#ifndef OPK_SINGLE_PASS_H
#define OPK_SINGLE_PASS_H

#include "base/buf.h"
#include "plan/door.h"

/* A set that CUPTI lists but can't use, and CUPTI's reason. */
struct opk_unusable {
	const char *name, *reason;
};

struct opk_single_pass_sets {
	char *text; /* cut into pieces */
	struct opk_single_pass_set *sets;
	size_t count;
	const char **metrics, **left_out; /* of all sets together */
	struct opk_unusable *unusable;
	size_t unusable_count;
};

/* opk_single_pass_sets_new() that does not log the sets that CUPTI can't use. */
int opk_single_pass_sets_quietly(struct opk_single_pass_sets **out, struct opk_ctx *ctx,
                                 const char *chip);
/*
 * Asks NVIDIA's libraries, and writes the text of single_pass.c. `wanted` is data/single_pass.tsv,
 * possibly empty, and is cut into pieces here; `path` is its file.
 */
int opk_single_pass_ask(struct opk_buf *text, struct opk_ctx *ctx, const char *chip, char *wanted,
                        const char *path);

#endif
