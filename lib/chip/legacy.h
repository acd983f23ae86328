/* SPDX-License-Identifier: BSD-2-Clause */
/* nvprof's names: data/legacy_names.tsv, lines of kind, name and formula with tabs between. */
#ifndef OPK_LEGACY_H
#define OPK_LEGACY_H

#include "base/ctx.h"
#include "base/strlist.h"

/* Legacy names most like a misspelt one, the likeliest first; put before what the list has. */
int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name);
/*
 * The formula of a name, the metric's where an event has it, too; free(). "": there is no
 * counterpart. *out stays as it is where nvprof had no such name.
 */
int opk_legacy_formula(char **out, struct opk_ctx *ctx, const char *name);
/*
 * The formula with a sum in the place of each "..._op_{op}.sum": over the words that have a metric
 * of the chip for all such terms of the formula. free().
 */
int opk_legacy_expand(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formula);

#endif
