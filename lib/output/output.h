/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows as table, CSV, JSON. */
#ifndef OPK_OUTPUT_H
#define OPK_OUTPUT_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json_write.h"
#include "base/strlist.h"

/* What the row writers share: one struct of functions a format, cells as text. */

struct opk_out_ops {
	void (*record)(struct opk_out *out, const struct opk_column *columns,
	               const union opk_cell *cells, size_t count);
	void (*begin_table)(struct opk_out *out);
	void (*row)(struct opk_out *out, const union opk_cell *cells);
	/* NULL where there is nothing to write then, or where headings don't fit. */
	void (*end_table)(struct opk_out *out);
	void (*finish)(struct opk_out *out);
	void (*span)(struct opk_out *out, const char *title, size_t first, size_t count);
	void (*heading)(struct opk_out *out, const char *title, const char *text);
};

/* A heading of a table, over columns or over the rows from one on. */
struct opk_out_heading {
	char *title, *text;
	size_t first, count;
};

struct opk_out_headings {
	struct opk_out_heading *items;
	size_t count, capacity;
};

struct opk_out {
	struct opk_ctx *ctx;
	const struct opk_out_ops *ops;
	opk_sink_fn *sink;
	void *sink_data;
	size_t width;
	bool bold;
	struct opk_buf buf; /* goes to the sink when it is large enough, and at the end */
	int code;           /* of the first failure: nothing is written after it */
	bool lines;         /* NDJSON */
	bool has_record;
	bool in_table;
	const char *table;
	const struct opk_column *columns;
	size_t column_count;
	size_t row_count;                        /* of this table */
	struct opk_json_writer json;             /* JSON and NDJSON */
	struct opk_strlist texts;                /* tables: the cells so far */
	struct opk_out_headings spans, headings; /* tables: those so far */
};

extern const struct opk_out_ops opk_out_table_ops, opk_out_csv_ops, opk_out_json_ops;

/* The cell as text: numbers as %.17g, NaN as nan, booleans as yes and no, lists with blanks. */
void opk_cell_text(struct opk_buf *out, enum opk_cell_type type, const union opk_cell *cell);

#endif
