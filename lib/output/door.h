/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_OUTPUT_DOOR_H
#define OPK_OUTPUT_DOOR_H

#include "base/ctx.h"

enum opk_format {
	OPK_FORMAT_TABLE,
	OPK_FORMAT_CSV,
	OPK_FORMAT_JSON,
	OPK_FORMAT_NDJSON,
	OPK_FORMAT_OPENMETRICS, /* one table, no record; OPK_EUSAGE: rows have the same labels */
};

struct opk_out_options {
	size_t size;
	enum opk_format format;
	/*
	 * Tables: the terminal's width; 0: unlimited. A wider table drops columns that are the same
	 * in all rows, wraps texts and names of columns, or becomes several blocks of columns;
	 * nothing is cut.
	 */
	size_t width;
	bool bold; /* tables: headers in bold, for terminals */
	/*
	 * Tables that would then take more lines than this stay wide, for a pager that scrolls
	 * sideways; 0: no limit.
	 */
	size_t height;
	/*
	 * CSV: puts ' before text that a spreadsheet would compute, because it begins with = + - @,
	 * a tab or a carriage return. Other programs see the ' as part of the text.
	 */
	bool csv_safe;
	/* Writes only this table of a record, or with "summary" only the record; NULL: all. */
	const char *only;
};

/*
 * Writes either one table: opk_out_table(), opk_out_row()...; or a record: opk_out_record(), then
 * any number of its tables. A record is an object in JSON, and field,value rows in CSV. Arguments
 * are written or copied before a call returns, except names of columns. After a failure, such as
 * OPK_EFAILED of the sink, all calls return it: it is enough to check opk_out_finish(). `only` of
 * the options is copied; the context must outlive the writer.
 */
struct opk_out;
int opk_out_new(struct opk_out **out, struct opk_ctx *ctx, const struct opk_out_options *options,
                opk_sink_fn *sink, void *sink_data);
/* Begins a record of `count` fields, each with a name, type and cell. */
int opk_out_record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count);

/*
 * Begins a table of `count` columns. Its name and those of columns are borrowed until the next
 * table or the end. In a record the table has its name, which is the key in JSON.
 */
int opk_out_table(struct opk_out *out, const char *name, const struct opk_column *columns,
                  size_t count);
/* Adds a row to the current table: a cell for each column. */
int opk_out_row(struct opk_out *out, const union opk_cell *cells);

/*
 * Adds a row inside the last row of less depth; depth 0: inside no other row. JSON puts it into
 * that row's "children"; other formats ignore the depth. `cells` are for the first `count` columns.
 * All rows of a table must be nested rows, or none.
 */
int opk_out_nested_row(struct opk_out *out, size_t depth, const union opk_cell *cells,
                       size_t count);

/*
 * Puts a heading over `count` columns of this table from `first` on. Only tables for people have
 * headings.
 */
int opk_out_span(struct opk_out *out, const char *title, size_t first, size_t count);

/*
 * Only for tables for people and OpenMetrics: sets the unit of this column's doubles, as NVIDIA
 * writes it or any other. Tables show five digits, in a unit that makes doubles short ("GB/s" for
 * "bytes/second"), which is in the heading. NULL: this column shares the unit of the one before it,
 * so that both are easy to compare.
 */
int opk_out_unit(struct opk_out *out, size_t column, const char *unit);
/* As opk_out_unit(), with each row's unit in a column of its own. */
int opk_out_unit_in(struct opk_out *out, size_t column);

/*
 * Only for tables for people: if a line has no room for all columns, this one (of the first 64) is
 * left out, and a line above the table says so.
 */
int opk_out_optional(struct opk_out *out, size_t column);

/*
 * Only for tables for people: this column (of the first 64) has names. One that has no room is on a
 * line of its own, instead of being broken within a word.
 */
int opk_out_whole(struct opk_out *out, size_t column);

/* Only for OpenMetrics: what a column is. By default numbers are values, and texts are left out. */
enum opk_out_role { OPK_ROLE_NONE, OPK_ROLE_VALUE, OPK_ROLE_LABEL, OPK_ROLE_NAME };
int opk_out_role(struct opk_out *out, size_t column, enum opk_out_role role);
/* Only for OpenMetrics: a label of all rows of this table, unless the value is "". */
int opk_out_constant(struct opk_out *out, const char *name, const char *value);

/*
 * Puts a heading over the next rows, with prose below it, until the next heading; "": no heading.
 * Only for tables for people; without rows it is not shown.
 */
int opk_out_heading(struct opk_out *out, const char *title, const char *text);
/* Ends the table, and writes text as it is. Only output for people has it. */
int opk_out_text(struct opk_out *out, const char *text);
/* As opk_out_text(), for a paragraph that is wrapped to the width. */
int opk_out_prose(struct opk_out *out, const char *text);
/* How many rows the current table has so far. */
size_t opk_out_row_count(const struct opk_out *out);
/* Writes the rest, such as the end of a table. */
int opk_out_finish(struct opk_out *out);
void opk_out_free(struct opk_out *out);

#endif
