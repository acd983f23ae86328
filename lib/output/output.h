/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes rows as table, CSV or JSON. */
#ifndef OPK_OUTPUT_H
#define OPK_OUTPUT_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json_write.h"
#include "base/strlist.h"
#include "output/door.h"

/* Shared by the row writers: one struct of functions per format, cells as text. */

struct opk_openmetrics;

struct opk_out_ops {
	void (*record)(struct opk_out *out, const struct opk_column *columns,
	               const union opk_cell *cells, size_t count);
	void (*begin_table)(struct opk_out *out);
	void (*row)(struct opk_out *out, const union opk_cell *cells);
	/* NULL: written as a plain row. */
	void (*nested_row)(struct opk_out *out, size_t depth, const union opk_cell *cells);
	/* The following may be NULL: the format has nothing to write. */
	void (*end_table)(struct opk_out *out);
	void (*finish)(struct opk_out *out);
	void (*span)(struct opk_out *out, const char *title, size_t first, size_t count);
	void (*unit)(struct opk_out *out, size_t column, const char *unit);
	void (*heading)(struct opk_out *out, const char *title, const char *text);
	void (*role)(struct opk_out *out, size_t column, enum opk_out_role role);
	void (*constant)(struct opk_out *out, const char *name, const char *value);
};

/* A heading over columns, or over the rows from `first` on. */
struct opk_out_heading {
	char *title, *text;
	size_t first, count;
};

struct opk_out_headings {
	struct opk_out_heading *items;
	size_t count, capacity;
};

/* A cell of a table; a double becomes text once all doubles of its column are known. */
struct opk_out_cell {
	char *text;
	double number;
};

struct opk_out {
	struct opk_ctx *ctx;
	const struct opk_out_ops *ops;
	opk_sink_fn *sink;
	void *sink_data;
	size_t width, height;
	bool bold;
	bool csv_safe;
	char *only;         /* owned; NULL: all is written */
	struct opk_buf buf; /* goes to the sink when it is large enough, and at the end */
	int code;           /* the first failure: nothing is written after it */
	bool lines;         /* NDJSON */
	bool has_record;
	bool in_table; /* false in a table that is left out */
	const char *table;
	struct opk_column *columns; /* of the table */
	size_t column_count;
	size_t row_count;            /* of this table */
	size_t cell_count;           /* in this row; the other cells are empty */
	size_t open;                 /* JSON: depth of open rows */
	bool has_children;           /* the innermost open row has children */
	struct opk_json_writer json; /* JSON and NDJSON */
	/* Tables: waits for the table's end. */
	OPK_LIST(struct opk_out_cell) cells;
	struct opk_out_headings spans, headings;
	struct opk_strlist units; /* of the columns */
	size_t unit_column;       /* has the unit of each row; or NO_COLUMN */
	/* One bit per column. */
	uint64_t optional;               /* left out if there is no room */
	uint64_t whole;                  /* names, which are not broken */
	uint64_t shared;                 /* shares the unit of the column before it */
	struct opk_openmetrics *metrics; /* of the table; else NULL */
};
#define NO_COLUMN SIZE_MAX

extern const struct opk_out_ops opk_out_table_ops, opk_out_csv_ops, opk_out_json_ops,
	opk_out_openmetrics_ops;

/* The metrics of a table, which wait for its end: openmetrics.c. */
void opk_openmetrics_free(struct opk_openmetrics *metrics);

/* Appends a cell as text: %.17g, nan, yes and no, lists with blanks. */
void opk_cell_text(struct opk_buf *out, enum opk_cell_type type, const union opk_cell *cell);
/* Whether cells of this type are numbers, which are aligned right. */
bool opk_cell_is_number(enum opk_cell_type type);

/* Numbers for people: readable.c. */

/* A divisor of numbers, and their unit after the division; "": no unit. */
struct opk_scale {
	double divisor;
	char unit[96];
};
/* Finds the scale for numbers up to `most`. */
void opk_scale_find(struct opk_scale *scale, const char *unit, double most);
/* The larger of `most` and the number's absolute value, if this is finite. */
double opk_most_of(double most, double number);
/* Appends a number with five digits, or with all digits if it is whole. */
void opk_put_readable(struct opk_buf *out, double number);

/* The layout of a table's columns: table_layout.c. */

struct opk_table_layout {
	const struct opk_out *out;
	size_t rows;
	size_t *widths; /* of the columns */
	bool *hidden;   /* empty, constant or left out: see `constants` */
	size_t *shown;  /* the others */
	size_t shown_count;
	size_t key_count; /* shown columns that every block begins with */
	bool narrow;      /* names of columns wrap */
	struct opk_buf constants;
};
/* False when out of memory. */
bool opk_table_layout_init(struct opk_table_layout *layout, const struct opk_out *out);
void opk_table_layout_clear(struct opk_table_layout *layout);
/* The end of the block that begins with the shown column `first`. */
size_t opk_table_block_end(const struct opk_table_layout *layout, size_t first);
/* Lists the columns of a block: the key, repeated in each block after the first, then its own. */
size_t opk_table_block(size_t *columns, const struct opk_table_layout *layout, size_t first,
                       size_t end);

/* Whether the column has names, which are not broken. */
bool opk_table_is_whole(const struct opk_out *out, size_t column);

/* The characters of a text; each counts as one column wide. */
size_t opk_text_width(const char *text, size_t size);
/* How many bytes of the text fit on a line of this width; *skipped: blanks dropped after them. */
size_t opk_line_length(const char *text, size_t width, size_t *skipped);
size_t opk_line_count(const char *text, size_t width);

/* Writes tables: table_print.c. */
void opk_table_print(struct opk_out *out, const struct opk_table_layout *layout);
/* Writes a line without blanks at its end. */
void opk_table_line(struct opk_out *out, struct opk_buf *line, bool bold);
void opk_table_pad(struct opk_buf *line, size_t count);
/* Writes prose, wrapped to the width. */
void opk_table_prose(struct opk_out *out, const char *text, size_t indent, bool bold);
enum {
	OPK_TABLE_GAP = 2,
	OPK_LIST_LINES = 3, /* of a list in a table */
};

#endif
