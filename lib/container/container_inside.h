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
 * with the one before it, leave one byte in twenty; after packing, deflate has a
 * tenth of the work.
 */

/* Appends `size` bytes, XORed with as many at `before`; NULL: as they are. */
void opk_sparse_pack(struct opk_buf *out, const void *data, const void *before, size_t size);
/* XORs `size` bytes that were packed onto `to`, and moves `packed` past them. False: damaged. */
bool opk_sparse_unpack(struct opk_reader *packed, void *to, size_t size);

/*
 * The reversible filter before packing: each byte is XORed with the one `stride` before it. Ranges
 * of a counter data image lie at equal distances and share most of their bytes, so the result is
 * mostly zeros, which are packed as above.
 */

/*
 * The distance at which the data repeats best, any number of bytes; 0: none helps. False: no
 * memory.
 */
bool opk_xor_find_stride(size_t *stride, const void *data, size_t size);

/* Stores images as differences from others: container_pack.c. */

/* Images of different passes alternate, so several bases are kept. */
enum { OPK_MAX_BASES = 32 };

/* An image from which others of its size are stored as differences. */
struct opk_base {
	struct opk_buf image;
	uint32_t crc; /* of its section's header */
	uint32_t section;
	unsigned based; /* number of images that build on it */
	size_t stride;  /* 0: none was found */
};
/* Begins zeroed. */
struct opk_bases {
	struct opk_base items[OPK_MAX_BASES];
};
/*
 * Finds a base of this size that is near enough to the section of this number, and that few enough
 * images build on; NULL: there is none.
 */
struct opk_base *opk_bases_find(struct opk_bases *bases, size_t size, uint32_t section);
/* Keeps a copy of an image, if there is room; `as` has its other fields. False: no memory. */
bool opk_bases_keep(struct opk_bases *bases, const void *data, size_t size,
                    const struct opk_base *as);
void opk_bases_clear(struct opk_bases *bases);

struct opk_section;
/*
 * Packs an image range by range, as section->stride divides it, or as what differs from the base,
 * which may be NULL: the shorter of both. The section's flags and stride say which it is.
 */
void opk_image_pack(struct opk_buf *out, struct opk_section *section, const struct opk_base *base,
                    const void *data, size_t size);

#endif
