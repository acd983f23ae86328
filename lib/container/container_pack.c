/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores images as differences: from one range to the next, and from earlier images. */
#include "container/container.h"
#include "container/container_inside.h"

enum {
	/* The most sections that are lost with a damaged base. */
	MAX_BASED = 15,
	MAX_BASE_BYTES = 64 << 20,
};

/* ---- differences */

/* Keeps the shorter of the two. */
static bool take_if_shorter(struct opk_buf *out, struct opk_buf *other)
{
	out->failed |= other->failed;
	if (out->failed || other->size >= out->size)
		return false;
	opk_buf_clear(out);
	*out = *other;
	*other = (struct opk_buf){ 0 };
	return true;
}

/*
 * The first block is the difference to the base's where that is shorter. Each other block is the
 * difference to the one before it.
 */
static void pack_blocks(struct opk_buf *out, struct opk_section *section,
                        const struct opk_base *base, const uint8_t *data, size_t size)
{
	size_t block = (size_t)opk_section_block(section);
	opk_autobuf struct opk_buf based = { 0 };

	opk_sparse_pack(out, data, NULL, block);
	if (base) {
		opk_sparse_pack(&based, data, base->image.data, block);
		if (take_if_shorter(out, &based))
			section->flags |= OPK_SECTION_BASED;
	}
	for (size_t at = block; at < size; at += block)
		opk_sparse_pack(out, data + at, data + at - block,
		                size - at < block ? size - at : block);
}

/* Range by range, or the whole image on its base: images that are much the same are shorter so. */
void opk_image_pack(struct opk_buf *out, struct opk_section *section, const struct opk_base *base,
                    const void *data, size_t size)
{
	opk_autobuf struct opk_buf whole = { 0 };

	pack_blocks(out, section, base, data, size);
	if (!base || !section->stride)
		return;
	opk_sparse_pack(&whole, data, base->image.data, size);
	if (!take_if_shorter(out, &whole))
		return;
	section->flags = OPK_SECTION_BASED;
	section->stride = 0;
}

/* ---- kept images */

struct opk_base *opk_bases_find(struct opk_bases *bases, size_t size, uint32_t section)
{
	for (size_t i = 0; i < OPK_MAX_BASES; i++) {
		struct opk_base *base = &bases->items[i];

		if (base->image.size == size && base->based < MAX_BASED
		    && section - base->section <= OPK_LINK_DISTANCE)
			return base;
	}
	return NULL;
}

/* The base of this size, or else the oldest. */
static struct opk_base *find_victim(struct opk_bases *bases, size_t size)
{
	struct opk_base *oldest = bases->items;

	for (size_t i = 0; i < OPK_MAX_BASES; i++) {
		if (bases->items[i].image.size == size)
			return &bases->items[i];
		if (bases->items[i].section < oldest->section)
			oldest = &bases->items[i];
	}
	return oldest;
}

/* Limits the memory that is taken from the running program. */
static bool has_room(struct opk_bases *bases, size_t size)
{
	size_t total = size;

	for (size_t i = 0; i < OPK_MAX_BASES; i++)
		total += bases->items[i].image.size;
	if (total <= MAX_BASE_BYTES)
		return true;
	for (size_t i = 0; i < OPK_MAX_BASES; i++)
		opk_buf_clear(&bases->items[i].image);
	return size <= MAX_BASE_BYTES;
}

bool opk_bases_keep(struct opk_bases *bases, const void *data, size_t size,
                    const struct opk_base *as)
{
	struct opk_base *base = find_victim(bases, size);
	struct opk_buf image;

	base->image.size = 0;
	if (!has_room(bases, size))
		return true;
	image = base->image;
	opk_buf_add(&image, data, size);
	*base = *as;
	base->image = image;
	return !image.failed;
}

void opk_bases_clear(struct opk_bases *bases)
{
	for (size_t i = 0; i < OPK_MAX_BASES; i++)
		opk_buf_clear(&bases->items[i].image);
}
