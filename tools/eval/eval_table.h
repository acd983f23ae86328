/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak eval: the request, and the table to print or to write to a database. */
#ifndef OPK_TOOL_EVAL_H
#define OPK_TOOL_EVAL_H

#include "common/options.h"
#include "eval/eval_order.h"
#include "eval/eval_tree.h"

/* In the order of --first-sample's words. */
enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

/* In the order of --per's words; 0: not given. */
enum eval_per {
	PER_DEFAULT,
	PER_SAMPLE,
	PER_KERNEL,
	PER_LAUNCH,
	PER_INSTRUCTION,
	PER_LINE,
	PER_FUNCTION
};

struct eval {
	struct app *app;
	/* The request. */
	enum first_sample first_sample;
	bool drops_as_told; /* drops the first sample because the user said so */
	bool single;        /* no joined rows */
	enum eval_per per;
	bool of_code;              /* rows are of instructions, lines or functions */
	bool to_database;          /* instead of a table */
	struct opk_strlist chosen; /* columns; empty: all */
	const char *level;         /* of key groups */
	char *key;                 /* of key groups; NULL: none */
	struct eval_order order;
	const char *also[MAX_SORT_KEYS]; /* sort keys that are values; the table borrows them */
	bool strict;
	bool is_tree; /* of a wide layout */
	bool is_long; /* requested; statistics are always long */
	struct eval_tree tree;
	/* The output. */
	struct opk_table *table;
	enum opk_profiler profiler;
	struct opk_column *headers;
	union opk_cell *cells; /* for rows that are not printed as the table has them */
	size_t column_count, name_at;
	struct opk_database *database;
	const struct opk_table_file *file;      /* its rows are being printed */
	size_t begun;                           /* number of files begun, if rows have no order */
	const struct opk_meta_heading *heading; /* of a long table's last row */
	uint64_t row_count;
};

/* If each value has its own row, rows may only be of one kind. */
static inline bool eval_is_wide(const struct eval *eval)
{
	return !eval->is_long && !eval->key && !eval->to_database;
}

/* Whether the output is Prometheus' text format. */
static inline bool eval_is_metrics(const struct eval *eval)
{
	return !eval->to_database && eval->app->format == OPK_FORMAT_OPENMETRICS + 1;
}

typedef int eval_source_fn(struct eval *eval, const struct opk_table_source *source);

/* ---- eval_rows.c */

/* Gives the command the error causes of the table; returns `code`. */
int eval_table_result(struct eval *eval, int code);
/* Begins the rows of this file. */
int eval_rows_begin_file(struct eval *eval, size_t file);
/* Counts and prints a source's rows. */
eval_source_fn eval_rows_print_source;
/* The table's column that is printed as the i-th. */
size_t eval_rows_column(const struct eval *eval, size_t i);

/* ---- eval_sorted.c */

/* Fills eval->also with the keys of --sort that are not facts; returns their number. */
size_t eval_sorted_values(struct eval *eval);
/* Whether a key is the opcode or the SASS text. */
bool eval_sorted_has_sass(const struct eval *eval);
/* Checks that rows of this profiler have the facts among the keys. */
int eval_sorted_check(struct eval *eval);
/* Adds a source's rows to eval->order. */
eval_source_fn eval_sorted_take;
/* Prints the added rows in their order. */
int eval_sorted_print(struct eval *eval);

/* ---- eval_tree.c */

/* Adds a source's rows to eval->tree, and to eval->order. */
eval_source_fn eval_tree_take;
/* Prints the added rows, each after the row that contains it. */
int eval_tree_print(struct eval *eval);

/* ---- eval_files.c */

/* Checks the options against the files. */
int eval_check_files(struct eval *eval);
/* Whether the first file is of instructions, whose rows are functions by default. */
bool eval_is_code(struct app *app);
/* Adds to the table's message which option can't be used for a trace without metrics. */
int eval_name_option(struct eval *eval, int failure);

/* ---- eval_print.c */

/* Prints the table. */
int eval_print(struct eval *eval);

#endif
