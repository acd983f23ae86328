/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reversible filter in front of deflate: each byte is XORed with the one `stride` before it.
 * Ranges of a counter data image lie at equal distances and share most of their bytes, so the
 * result is mostly zeros.
 */
#ifndef OPK_XOR_FILTER_H
#define OPK_XOR_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* The distance at which the data repeats best, any number of bytes; 0 where none helps. */
size_t opk_xor_find_stride(const void *data, size_t size);
/* `out` and `data` have `size` bytes and may not overlap. */
void opk_xor_encode(void *out, const void *data, size_t size, size_t stride);
void opk_xor_decode(void *data, size_t size, size_t stride);

#endif
