/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of images: ranges.c and times.c read one section each, recording.c all of a file. */
#ifndef OPK_RECORDING_H
#define OPK_RECORDING_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/strlist.h"

/* Members of a range of which nothing is known. */
#define OPK_UNKNOWN_RANGE                                                                          \
	.name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1

/* Rows of range tables. Many launches are of few kernels: each text is kept once. Begins zeroed. */
struct opk_range_table {
	struct opk_range *rows;
	size_t count, capacity;
	struct opk_strlist texts;
	struct opk_index numbers; /* of the texts */
	bool failed;              /* out of memory */
};
/* Appends the rows of a RNGS section. */
int opk_range_table_read(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_file *file, size_t section);
void opk_range_table_clear(struct opk_range_table *table);
void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count);

/* Whether its tables say how many rows it has. */
static inline bool opk_segment_is_counted(const struct opk_segment *segment)
{
	return segment->has_ranges || segment->has_times;
}

struct opk_time_table {
	struct opk_time *rows;
	size_t count;
};
/* Appends those of a TIME section. */
int opk_time_table_read(struct opk_time_table *table, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t section);
void opk_times_encode(struct opk_buf *out, const struct opk_time *times, size_t count);

/*
 * Links the tables of a file to its images, as opk_file_segments() does; where that fails with
 * OPK_EINPUT, *bad is the table at fault. Without metadata, NULL, groups are not looked at.
 */
int opk_file_link(size_t *bad, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_meta *meta);

#endif
