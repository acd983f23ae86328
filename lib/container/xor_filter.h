/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reversible filter before packing: each byte is XORed with the one `stride` before it. Ranges
 * of a counter data image lie at equal distances and share most of their bytes, so the result is
 * mostly zeros; sparse.h packs it.
 */
#ifndef OPK_XOR_FILTER_H
#define OPK_XOR_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* The distance at which the data repeats best, any number of bytes; 0 where none helps. */
size_t opk_xor_find_stride(const void *data, size_t size);

#endif
