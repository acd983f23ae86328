/* SPDX-License-Identifier: BSD-2-Clause */
/* Where sets lie. */
#ifndef OPK_SET_FIND_H
#define OPK_SET_FIND_H

#include "base/ctx.h"

/* Whether it is meant as a path: it has a slash, or ends in .yaml or .yml. */
bool opk_set_is_path(const char *text);
/* The path of the set that is found by this name; OPK_EUSAGE with a suggestion; free(). */
int opk_set_shipped_path(char **out, struct opk_ctx *ctx, const char *name);
/* opk_set_find_partly() of a path. */
int opk_set_load_partly(struct opk_set **out, struct opk_ctx *ctx, const char *path);

#endif
