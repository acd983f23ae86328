/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/arrow alone: tables in Arrow's C interfaces. */
#ifndef OPK_ARROW_INSIDE_H
#define OPK_ARROW_INSIDE_H

#include "base/buf.h"
#include "base/index.h"
#include "base/strlist.h"
#include "container/door.h"
#include "table/door.h"

/* How a column is stored. */
enum opk_arrow_type { OPK_ARROW_TEXT, OPK_ARROW_INT, OPK_ARROW_BOOL, OPK_ARROW_DOUBLE };
enum opk_arrow_type opk_arrow_type_of(const struct opk_table_column *column);

/* ---- schema.c */

/* Metadata: `about` and the library's version. False when out of memory: *out is released. */
bool opk_arrow_schema(struct ArrowSchema *out, const struct opk_table_column *columns, size_t count,
                      const struct opk_property *about, size_t about_count);

/* ---- builder.c: rows become the arrays of a batch */

struct opk_arrow_column {
	enum opk_arrow_type type;
	enum opk_cell_type cell_type;
	struct opk_buf cells; /* values, indices or bits */
	struct opk_buf nulls; /* one bit for each row, 1: it has a value; empty: all rows do */
	size_t null_count;
	/* The dictionary, and where its texts are in it. */
	struct opk_strlist texts;
	struct opk_index numbers;
	size_t text_size;
};

struct opk_arrow_builder {
	struct opk_arrow_column *columns;
	size_t column_count;
	size_t rows;
};
bool opk_arrow_builder_init(struct opk_arrow_builder *builder,
                            const struct opk_table_column *columns, size_t count);
void opk_arrow_builder_clear(struct opk_arrow_builder *builder);
/* False when out of memory: the builder can't be used any more. */
bool opk_arrow_builder_add(struct opk_arrow_builder *builder, const union opk_cell *cells,
                           const bool *known);
/* Whether the batch has enough rows, or bytes of text. */
bool opk_arrow_builder_full(const struct opk_arrow_builder *builder);
/* Makes a batch of the rows and empties the builder. False when out of memory. */
bool opk_arrow_builder_finish(struct ArrowArray *out, struct opk_arrow_builder *builder);

#endif
