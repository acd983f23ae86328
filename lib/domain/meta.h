/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of JSON: metadata and range tables. */
#ifndef OPK_META_H
#define OPK_META_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json_read.h"

/* What a reader would refuse is not written: OPK_EUSAGE. */
int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta);
void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* The RNGS section: ranges.c. */
void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count);
/* "crc32:89abcdef"; `out` takes 15 bytes. */
void opk_config_hash(char out[15], const void *config, size_t size);

/* Decodes and parses a section of JSON; free with opk_json_free(). */
int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section);

#endif
