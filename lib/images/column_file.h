/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that come row by row and are wanted column by column, in little memory: blocks of rows,
 * each by columns, in a temporary file where there is more than one.
 */
#ifndef OPK_COLUMN_FILE_H
#define OPK_COLUMN_FILE_H

#include "base/ctx.h"

struct opk_column_file {
	size_t columns, row_count;
	size_t block_rows;
	uint8_t *block; /* the last one: of each column values, then whether they are there */
	int fd;         /* a file of those before it; -1: there are none */
};

int opk_column_file_init(struct opk_column_file *file, struct opk_ctx *ctx, size_t columns);
/* Adds a row; where `present` is false, there is no value. */
int opk_column_file_add(struct opk_column_file *file, struct opk_ctx *ctx, const double *values,
                        const bool *present);
/* Both have room for as many as there are rows. */
int opk_column_file_read(double *values, bool *present, struct opk_column_file *file,
                         struct opk_ctx *ctx, size_t column);
void opk_column_file_clear(struct opk_column_file *file);

#endif
