/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_OUTPUT_DOOR_H
#define OPK_OUTPUT_DOOR_H

#include "base/ctx.h"

enum opk_format { OPK_FORMAT_TABLE, OPK_FORMAT_CSV, OPK_FORMAT_JSON, OPK_FORMAT_NDJSON };

struct opk_out_options {
	size_t size;
	enum opk_format format;
	/*
	 * Tables: so many columns has the terminal; 0: lines are as long as they have to be. A
	 * table that is wider has less in it that is the same in all rows, and texts and names of
	 * columns on several lines, or several blocks of columns; nothing is cut.
	 */
	size_t width;
	bool bold; /* tables: headers in bold, for terminals */
	/*
	 * Tables that would take more lines so are left wide instead, for a pager that scrolls
	 * sideways; 0: none are.
	 */
	size_t height;
	/*
	 * CSV: a ' before text whose first character makes a spreadsheet compute it: = + - @, a tab
	 * or a carriage return. Other programs see it as part of the text.
	 */
	bool csv_safe;
	/* Write this table of a record alone, or "summary", the record; NULL: all. */
	const char *only;
};

/*
 * Either one table: opk_out_table(), opk_out_row()...; or a record: opk_out_record(), then any
 * number of tables that belong to it. A record is an object in JSON, and field,value rows in CSV.
 * What is given is written or copied before a call returns, but for names of columns. Each call
 * returns the first failure, such as OPK_EFAILED of the sink, from then on: it is enough to look at
 * that of opk_out_finish(). `only` of the options is copied; the context must outlive the writer.
 */
struct opk_out;
int opk_out_new(struct opk_out **out, struct opk_ctx *ctx, const struct opk_out_options *options,
                opk_sink_fn *sink, void *sink_data);
/* Begins a record of `count` fields: names and types, and a cell for each. */
int opk_out_record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count);

/*
 * Begins a table of `count` columns, whose names and its own are borrowed until the next table or
 * the end. Its name is shown beside a record, as the key in JSON.
 */
int opk_out_table(struct opk_out *out, const char *name, const struct opk_column *columns,
                  size_t count);
/* A row of the table that was begun last: a cell for each of its columns. */
int opk_out_row(struct opk_out *out, const union opk_cell *cells);

/*
 * A row inside the last one of less depth, or of depth 0 inside none: JSON has it among that one's
 * "children", and other formats take no notice. `cells` are those of the first `count` columns. A
 * table has only rows of this kind, or none.
 */
int opk_out_nested_row(struct opk_out *out, size_t depth, const union opk_cell *cells,
                       size_t count);

/*
 * A heading over `count` columns of this table from `first` on. Only tables for people have
 * headings.
 */
int opk_out_span(struct opk_out *out, const char *title, size_t first, size_t count);

/*
 * Tables for people alone: doubles of this column are in this unit, as NVIDIA writes it or any
 * other. They have five digits, a unit that makes them short ("GB/s" for "bytes/second"), and the
 * heading shows that. Doubles without a unit have five digits, too. NULL: this column shares the
 * unit of the one before it, so that both can be compared at a glance.
 */
int opk_out_unit(struct opk_out *out, size_t column, const char *unit);
/* The same, where the unit of a row's doubles is in a column of its own. */
int opk_out_unit_in(struct opk_out *out, size_t column);

/*
 * Tables for people alone: where lines have no room for all columns, this one, of the first 64, is
 * left out, and a line above the table says so.
 */
int opk_out_optional(struct opk_out *out, size_t column);

/*
 * A heading over the rows that come next, with prose below it, until another one comes, or none
 * (""). Tables for people alone; without rows there is no heading.
 */
int opk_out_heading(struct opk_out *out, const char *title, const char *text);
/* How many rows the table that was begun last has so far. */
size_t opk_out_row_count(const struct opk_out *out);
/* Writes what is left; without it the end of a table is missing. */
int opk_out_finish(struct opk_out *out);
void opk_out_free(struct opk_out *out);

#endif
