/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak eval: what was asked for, and the table that is printed, or becomes a database. */
#ifndef OPK_TOOL_EVAL_H
#define OPK_TOOL_EVAL_H

#include "common/options.h"
#include "eval/eval_order.h"
#include "eval/eval_tree.h"

/* In the order of --first-sample's words. */
enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

/* In the order of --per's words; 0: not given. */
enum eval_per { PER_DEFAULT, PER_SAMPLE, PER_KERNEL, PER_LAUNCH };

struct eval {
	struct app *app;
	/* What was asked for. */
	enum first_sample first_sample;
	bool drops_as_told; /* the first sample */
	bool single;        /* no joined rows */
	enum eval_per per;
	bool to_database;          /* instead of a table */
	struct opk_strlist chosen; /* columns; none: whatever there is */
	const char *level;         /* of key groups */
	char *key;                 /* likewise; NULL: there are none */
	struct eval_order order;
	const char *also[MAX_SORT_KEYS]; /* its keys that are values; the table borrows them */
	bool strict;
	bool is_tree; /* of a wide layout */
	bool is_long; /* was asked for; statistics are long without it */
	struct eval_tree tree;
	/* What is printed. */
	struct opk_table *table;
	enum opk_profiler profiler;
	struct opk_column *headers;
	union opk_cell *cells; /* where rows are not printed as the table has them */
	size_t column_count, name_at;
	struct opk_database *database;
	const struct opk_table_file *file; /* whose rows are being printed */
	size_t begun; /* files before this one were, where rows have no order */
	const struct opk_meta_heading *heading; /* over the last row of a long table */
	uint64_t row_count;
};

/* Where each value has a row of its own, rows only need be of one kind. */
static inline bool eval_is_wide(const struct eval *eval)
{
	return !eval->is_long && !eval->key && !eval->to_database;
}

typedef int eval_source_fn(struct eval *eval, const struct opk_table_source *source);

/* ---- eval_rows.c */

/* Makes the causes of a failure in the table those of the command; returns `code`. */
int eval_table_result(struct eval *eval, int code);
/* The rows that follow are of this file. */
int eval_rows_begin_file(struct eval *eval, size_t file);
/* Counts and prints the rows of it. */
eval_source_fn eval_rows_print_source;
/* The column of the table that is printed as the i-th one. */
size_t eval_rows_column(const struct eval *eval, size_t i);
/* Prints the table. */
int eval_rows_print(struct eval *eval);

/* ---- eval_sorted.c */

/* Fills eval->also with those keys of --sort that are no facts; returns how many there are. */
size_t eval_sorted_values(struct eval *eval);
/* Whether rows of this profiler have the facts among the keys. */
int eval_sorted_check(struct eval *eval);
/* Takes it into eval->order. */
eval_source_fn eval_sorted_take;
/* Has what was taken printed in its order. */
int eval_sorted_print(struct eval *eval);

/* ---- eval_tree.c */

/* Takes it into eval->tree, and into eval->order. */
eval_source_fn eval_tree_take;
/* Prints the rows of what was taken, each after the one that it is in. */
int eval_tree_print(struct eval *eval);

#endif
