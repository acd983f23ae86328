/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks images against their tables, and finds those whose ranges can be added up. */
#include "eval/eval.h"

#include <string.h>

#include "base/mem.h"

/*
 * The head of an image, before its first slot, depends only on the GPU and the counters. In an
 * image of one pass of several, the unit numbers of all other counters are 0; each has 16 bits.
 */
typedef uint16_t field;

/* The last field may be cut off. */
static field field_at(const uint8_t *head, size_t at, size_t size)
{
	field out = 0;

	memcpy(&out, head + at, size - at < sizeof out ? size - at : sizeof out);
	return out;
}

static bool agree(const uint8_t *one, const uint8_t *other, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(field)) {
		field a = field_at(one, i, size), b = field_at(other, i, size);

		if (a != b && a && b)
			return false;
	}
	return true;
}

int opk_layout_fits(bool *fits, struct opk_layout *layout, struct opk_ctx *ctx, const void *image,
                    size_t size)
{
	opk_autofree void *head = NULL;
	const uint8_t *bytes;
	size_t head_size;
	int code = opk_nv_image_like(&head, &head_size, ctx, image, size,
	                             &(struct opk_nv_room){ 0, 1 });

	if (code)
		return opk_blame_image(code);
	if (!layout->head) {
		*fits = true;
		layout->head = opk_take(head);
		layout->size = head_size;
		return OPK_OK;
	}
	bytes = head;
	*fits = head_size == layout->size && agree(layout->head, bytes, head_size);
	/* Fields are equal, or 0 in one head: OR of bytes merges them. */
	for (size_t i = 0; *fits && i < head_size; i++)
		layout->head[i] |= bytes[i];
	return OPK_OK;
}

void opk_layout_clear(struct opk_layout *layout)
{
	free(layout->head);
	*layout = (struct opk_layout){ 0 };
}

/* The table must have a row for each range, and no others. */
int opk_segment_check(struct opk_ctx *ctx, const struct opk_segment *segment, size_t rows)
{
	if (!opk_segment_is_counted(segment) || segment->row_count == rows)
		return OPK_OK;
	if (segment->has_ranges)
		return opk_fail(ctx, OPK_EINPUT, "the range table has %zu rows for %zu ranges",
		                segment->row_count, rows);
	return opk_fail(ctx, OPK_EINPUT, "there are times of %zu samples, and %zu samples",
	                segment->row_count, rows);
}

int opk_image_check(size_t *rows, struct opk_ctx *ctx, const struct opk_nv_image_info *info,
                    size_t size, enum opk_profiler profiler, uint32_t pass)
{
	/* NVIDIA never marks a range with one of several passes as completed. */
	*rows = pass ? info->populated : info->completed;
	/* A range takes more than a word: larger numbers come from damage. */
	if (*rows > size / 8 || *rows > info->slots)
		return opk_fail(ctx, OPK_EINPUT,
		                "the image claims %zu ranges in %zu slots and %zu bytes", *rows,
		                info->slots, size);
	/* Samples may be incomplete; an incomplete range was cut off or lacks passes. */
	if (profiler == OPK_PROFILER_RANGE && *rows < info->populated)
		return opk_fail(
			ctx, OPK_EINPUT,
			"only %zu of %zu ranges are whole: the image was cut off, or passes "
			"are missing",
			info->completed, info->populated);
	return OPK_OK;
}
