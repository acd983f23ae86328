/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32, and the formats of zlib (RFC 1950) and gzip. zlib compresses, so that the same input
 * gives the same bytes everywhere. libdeflate decompresses and computes the CRC three times as
 * fast; a build without it uses zlib.
 */
#ifndef OPK_DEFLATE_H
#define OPK_DEFLATE_H

#include "base/ctx.h"

uint32_t opk_crc32(uint32_t crc, const void *data, size_t size);
/* Compresses at zlib's best level, or its fastest; free(). */
int opk_deflate(void **out, size_t *out_size, struct opk_ctx *ctx, const void *data, size_t size,
                bool fast);
/* Decompresses to exactly `plain_size` bytes; OPK_EINPUT for anything else. */
int opk_inflate(void *out, size_t plain_size, struct opk_ctx *ctx, const void *data, size_t size);

/* Writes the gzip format (RFC 1952) to a sink, piece by piece. */
struct opk_gzip;
int opk_gzip_new(struct opk_gzip **out, struct opk_ctx *ctx, opk_sink_fn *sink, void *sink_data);
/* An opk_sink_fn. */
int opk_gzip_write(void *gzip, const void *bytes, size_t size);
int opk_gzip_finish(struct opk_gzip *gzip);
void opk_gzip_free(struct opk_gzip *gzip);

#endif
