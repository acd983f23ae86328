/* SPDX-License-Identifier: BSD-2-Clause */
/* nvprof's names: data/legacy_names.tsv, lines of kind, name and formula with tabs between. */
#ifndef OPK_LEGACY_H
#define OPK_LEGACY_H

#include "base/ctx.h"
#include "base/strlist.h"

/* Legacy names most like a misspelt one, the likeliest first; put before what the list has. */
int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name);

#endif
