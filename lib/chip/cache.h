/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NVIDIA's libraries said, in the user's cache folder: one file for each thing and pair of
 * libraries. It is only ever a shortcut: what can't be read is as if it were not there, and what
 * can't be written is left.
 */
#ifndef OPK_CACHE_H
#define OPK_CACHE_H

#include "base/ctx.h"

/* Names the thing and the libraries that described it; free(). NULL: nothing is cached. */
char *opk_cache_whom(struct opk_ctx *ctx, const char *format, ...) OPK_PRINTF(2, 3);
/*
 * What was stored for `whom`, which may be NULL; free(). A NUL follows it. NULL where there is
 * nothing. `kind` ends the file's name.
 */
void *opk_cache_load(size_t *size, struct opk_ctx *ctx, const char *kind, const char *whom);
/* Whether opk_cache_store() has a folder to write to, which may be made for it. */
bool opk_cache_takes(struct opk_ctx *ctx, const char *whom);
void opk_cache_store(struct opk_ctx *ctx, const char *kind, const char *whom, const void *data,
                     size_t size);

#endif
