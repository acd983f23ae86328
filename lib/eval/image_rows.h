/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file's tables tell of its images before one of them is decoded: which rows each has, and whether any is wanted. */
#ifndef OPK_IMAGE_ROWS_H
#define OPK_IMAGE_ROWS_H

#include "base/ctx.h"

/* The tables of a file, which outlives them. */
struct opk_tables {
	const struct opk_range *ranges;
	size_t range_count;
	const struct opk_time *times;
	size_t time_count;
};
int opk_tables_read(struct opk_tables *tables, struct opk_ctx *ctx, struct opk_file *file);

/*
 * Puts what the tables tell of the row of this index into it, in place of what the image does;
 * `room` is for what it points to. Returns the facts that only the image tells, 1 << fact each.
 */
uint64_t opk_tables_tell(struct opk_row *row, struct opk_range *room,
                         const struct opk_tables *tables);

struct opk_image_rows {
	size_t first, count; /* of the rows of the file */
	bool known;          /* else neither is */
	bool open;           /* there may be more: the last image of a file that was cut off */
	bool unwanted;       /* the filter takes none of them */
};
/*
 * One a section, of use for images; free(). Rows are known where images and tables take turns, as
 * in recordings as they are collected, imported and merged: then each table is of its neighbour.
 * The tables have been read; without a filter, which may be NULL, no image is unwanted.
 */
int opk_image_rows_find(struct opk_image_rows **out, struct opk_ctx *ctx,
                        const struct opk_file *file, const struct opk_tables *tables,
                        enum opk_profiler profiler, const struct opk_filter *filter);

#endif
