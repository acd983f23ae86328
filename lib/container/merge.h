/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that recordings can become one, and begins the one: merge.c. */
#ifndef OPK_MERGE_H
#define OPK_MERGE_H

#include "base/ctx.h"
#include "base/mem.h"

/* Whether two recordings' sets say the same beyond their metrics. */
bool opk_meta_same_set(const struct opk_meta *a, const struct opk_meta *b);

struct opk_merger;
/* Checks that the files go together. `join`, unless NULL, replaces theirs, which may differ. */
int opk_merger_new(struct opk_merger **out, struct opk_ctx *ctx, const char *const *paths,
                   size_t count, const char *join);
void opk_merger_free(struct opk_merger *merger);
OPK_DEFINE_AUTO(opk_merger)
/* The first file's. */
const struct opk_meta *opk_merger_meta(const struct opk_merger *merger);
/* Adds metadata, with another `join` unless NULL; config, prefix and availability images. */
int opk_merger_put_head(struct opk_merger *merger, struct opk_writer *writer, const char *join);

#endif
