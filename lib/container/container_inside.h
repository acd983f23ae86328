/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/container alone. */
#ifndef OPK_CONTAINER_INSIDE_H
#define OPK_CONTAINER_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Bytes that are mostly zero, packed: docs/format.md. Ranges of a counter data image, each XORed
 * with the one before it, leave one byte in twenty; packed so, deflate has a tenth of the work.
 */

/* Appends `size` bytes, XORed with as many at `before`; NULL: as they are. */
void opk_sparse_pack(struct opk_buf *out, const void *data, const void *before, size_t size);
/* XORs `size` bytes that were packed onto `to`, and moves `packed` past them. False: damaged. */
bool opk_sparse_unpack(struct opk_reader *packed, void *to, size_t size);

/*
 * The reversible filter before packing: each byte is XORed with the one `stride` before it. Ranges
 * of a counter data image lie at equal distances and share most of their bytes, so the result is
 * mostly zeros; sparse.h packs it.
 */

/*
 * The distance at which the data repeats best, any number of bytes; 0: none helps. False: no
 * memory.
 */
bool opk_xor_find_stride(size_t *stride, const void *data, size_t size);

#endif
