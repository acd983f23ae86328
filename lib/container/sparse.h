/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that are mostly zero, packed: docs/format.md. Ranges of a counter data image, each XORed
 * with the one before it, leave one byte in twenty; packed so, deflate has a tenth of the work.
 */
#ifndef OPK_SPARSE_H
#define OPK_SPARSE_H

#include "base/buf.h"

/* Appends `size` bytes, XORed with as many at `before`; NULL: as they are. */
void opk_sparse_pack(struct opk_buf *out, const void *data, const void *before, size_t size);
/* XORs `size` bytes that were packed onto `to`, and moves `packed` past them. False: damaged. */
bool opk_sparse_unpack(struct opk_reader *packed, void *to, size_t size);

#endif
