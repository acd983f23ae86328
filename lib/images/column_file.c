/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary file of blocks of rows, from which whole columns are read. */
#include "images/images.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/spool.h"
#include "child/child.h"

enum {
	CELL = sizeof(double) + sizeof(bool),
	BLOCK_BYTES = 8 << 20,
	/* A block's column is read at once, and should be a page at least. */
	MIN_ROWS = 512,
	MAX_ROWS = 8192,
};

int opk_column_file_init(struct opk_column_file *file, struct opk_ctx *ctx, size_t columns)
{
	size_t rows = BLOCK_BYTES / CELL / (columns ? columns : 1);

	rows = rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : rows;
	*file = (struct opk_column_file){
		.columns = columns,
		.block_rows = rows,
		.block = opk_alloc_array(columns + 1, rows * CELL),
		.fd = -1,
	};
	return file->block ? OPK_OK : opk_nomem(ctx, "statistics");
}

static uint8_t *column_of(const struct opk_column_file *file, size_t column)
{
	return file->block + column * file->block_rows * CELL;
}

static size_t block_size(const struct opk_column_file *file)
{
	return file->columns * file->block_rows * CELL;
}

static int put_block(struct opk_column_file *file, struct opk_ctx *ctx)
{
	if (!(file->fd >= 0))
		TRY(opk_spool_new(&file->fd, ctx));
	if (!opk_write_all(file->fd, file->block, block_size(file)))
		TRY(opk_spool_fail(ctx));
	return OPK_OK;
}

int opk_column_file_add(struct opk_column_file *file, struct opk_ctx *ctx, const double *values,
                        const bool *present)
{
	size_t at = file->row_count % file->block_rows;

	if (file->row_count && !at && file->columns)
		TRY(put_block(file, ctx));
	for (size_t i = 0; i < file->columns; i++) {
		uint8_t *column = column_of(file, i);

		memcpy(column + at * sizeof *values, &values[i], sizeof *values);
		memcpy(column + file->block_rows * sizeof *values + at, &present[i],
		       sizeof *present);
	}
	file->row_count++;
	return OPK_OK;
}

/* `part`: a block's column. */
static void take_part(double *values, bool *present, const struct opk_column_file *file,
                      const uint8_t *part, size_t count)
{
	memcpy(values, part, count * sizeof *values);
	memcpy(present, part + file->block_rows * sizeof *values, count * sizeof *present);
}

int opk_column_file_read(double *values, bool *present, struct opk_column_file *file,
                         struct opk_ctx *ctx, size_t column)
{
	size_t size = file->block_rows * CELL;
	opk_autofree uint8_t *part = opk_alloc_array(1, size);
	size_t at = 0;

	if (!part)
		return opk_nomem(ctx, "statistics");
	/* The last block stays in memory, full or not. */
	for (; file->row_count - at > file->block_rows; at += file->block_rows) {
		uint64_t from = at / file->block_rows * block_size(file) + column * size;

		if (!opk_pread_all(file->fd, part, size, from))
			return opk_fail(ctx, OPK_EFAILED, "can't read a temporary file");
		take_part(values + at, present + at, file, part, file->block_rows);
	}
	take_part(values + at, present + at, file, column_of(file, column), file->row_count - at);
	return OPK_OK;
}

void opk_column_file_clear(struct opk_column_file *file)
{
	if (file->block && file->fd >= 0)
		close(file->fd);
	free(file->block);
	*file = (struct opk_column_file){ 0 };
}
