/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak eval: what was asked for, the inputs, and the table or database that they become. */
#ifndef OPK_TOOL_EVAL_H
#define OPK_TOOL_EVAL_H

#include "common/options.h"
#include "eval/eval_order.h"
#include "eval/eval_tree.h"
#include "eval/eval_watch.h"

enum eval_layout {
	EVAL_WIDE,   /* a row a range; of a database, too, which has both layouts */
	EVAL_LONG,   /* a row a value */
	EVAL_GROUPS, /* --aggregate: a row a key group and value */
};

/* In the order of --first-sample's words. */
enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

/* In the order of --per's words; 0: not given. */
enum eval_per { PER_DEFAULT, PER_SAMPLE, PER_KERNEL, PER_LAUNCH };

/* What the columns of a table are, in the order in which tables have them. */
enum eval_column_kind {
	COLUMN_GROUP,
	COLUMN_NAME,
	COLUMN_FILE,
	COLUMN_FACT,  /* `index` is an enum opk_fact; the file is among them, but for key groups */
	COLUMN_VALUE, /* wide: `index` is that of the evaluation's column */
	/* The others are about the value that the row is for. */
	COLUMN_METRIC,
	COLUMN_UNIT,
	COLUMN_NUMBER,
	COLUMN_LAUNCHES,
	COLUMN_COUNT,
	COLUMN_SUM,
	COLUMN_MEAN,
	COLUMN_MIN,
	COLUMN_MAX,
	COLUMN_P50,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_WEIGHTED,
	COLUMN_INFLATED,
	COLUMN_KINDS
};

struct eval_column {
	enum eval_column_kind kind;
	size_t index;
};

/* One input and what came of it. */
struct eval_input {
	const char *path;
	struct opk_file *file;       /* NULL: a bare image */
	const struct opk_meta *meta; /* likewise */
	bool of_kernels;             /* its rows are of what ran */
	struct opk_evaluation *evaluation;
	struct opk_join *join; /* NULL: each range is a row */
	struct opk_aggregate *aggregate;
	bool *inflated; /* one a column; NULL: none is */
};

struct eval {
	struct app *app;
	/* What was asked for. */
	enum eval_layout layout;
	enum first_sample first_sample;
	bool drops_as_told; /* the first sample: needs no note */
	bool single;        /* no joined rows */
	enum eval_per per;
	bool all_facts;                  /* else those that everybody wants */
	const struct option_list *where; /* none: every row is wanted */
	bool to_database;                /* instead of a table */
	struct opk_strlist chosen;       /* columns; none: whatever there is */
	const char **chosen_values; /* those of them that are values; evaluations borrow them */
	const char *level;          /* of key groups */
	char *key;                  /* likewise */
	struct eval_order order;
	const char *also[MAX_SORT_KEYS]; /* its keys that are values; evaluations borrow them */
	bool strict;
	bool is_tree; /* of a wide layout */
	bool is_long; /* was asked for; statistics are long without it */
	struct eval_tree tree;
	struct opk_kernel_names *kernel_names;
	/* What the inputs have. */
	struct eval_input *inputs;
	size_t input_count;
	enum opk_profiler profiler;
	bool facts[OPK_FACT_COUNT]; /* some range has something there */
	bool joined, inflated;      /* any input is, or any column of any */
	bool of_kernels;            /* any input's rows are of what ran */
	bool weighted;              /* some mean over GPUs is */
	struct opk_strlist names;   /* of the first input's values */
	/* The table: what a cell shows, its header, itself, and what it points to. */
	struct eval_column *columns;
	struct opk_column *headers;
	union opk_cell *cells;
	struct opk_fact_text *texts;
	size_t column_count;
	struct opk_database *database;
	/* The row and the input that are being printed: one a value, or one a metric. */
	double *values;
	uint64_t *launches_of, *launches_of_metrics;
	size_t *picked; /* values that there are rows of, in a long table or a database */
	size_t picked_count;
	const struct opk_meta_heading *heading; /* over the last row of a long table */
	size_t unknown_count; /* rows of what ran of which samples say too little */
	/* All rows so far. */
	uint64_t row_count;
	struct eval_watch watch;
};

/* Where each value has a row of its own, rows only need be of one kind. */
static inline bool eval_is_wide(const struct eval *eval)
{
	return eval->layout == EVAL_WIDE && !eval->to_database;
}

typedef int eval_row_fn(struct eval *eval, const struct eval_input *input,
                        const struct opk_row *row, const struct opk_joined_row *joined);

/* ---- eval_inputs.c */

/*
 * Opens and evaluates all of them, the recordings that are the arguments or one bare image, before
 * the first row is printed: a bad one leaves no half table.
 */
int eval_inputs_read(struct eval *eval, const char *raw_image,
                     const struct opk_eval_options *options);
/* Notes where the clocks of a recording drifted. */
void eval_inputs_note_drift(const struct eval *eval);
void eval_inputs_free(struct eval *eval);

/* ---- eval_columns.c */

/* --columns: names with commas between. */
int eval_columns_parse(struct eval *eval, const char *list);
/* Whether each chosen name is one column's: `values` are those of the input. */
int eval_columns_check(struct eval *eval, const struct opk_meta *meta, enum opk_profiler profiler,
                       const struct opk_strlist *values, bool any_metric, const char *path);
/* Checks the names against what an evaluation has. */
int eval_columns_check_input(struct eval *eval, const struct eval_input *input);
/* Fills eval->chosen_values; returns how many there are. */
size_t eval_columns_values(struct eval *eval, enum opk_profiler profiler);
/* Sets eval->picked: the chosen ones of the evaluation's columns in their order, or else all. */
int eval_columns_pick(struct eval *eval, const struct opk_evaluation *evaluation);
/* Lists the columns of the table, and makes room for its cells. */
int eval_columns_list(struct eval *eval);

/* ---- eval_rows.c */

/* Says which column of the table that was begun has the units of the others. */
void eval_rows_put_unit_column(const struct eval *eval);
/* Fills the cells that are the same for all values of a row. */
void eval_rows_fill(struct eval *eval, const struct eval_input *input, const struct opk_row *row,
                    const struct opk_joined_row *joined);
/* Fills those that are about one value; statistics are of key groups. */
void eval_rows_fill_value(struct eval *eval, const struct eval_input *input, size_t column,
                          const struct opk_statistics *statistics);
/* Samples that were left out; `earlier` begin at an earlier event. */
void eval_rows_note_samples(const struct eval *eval, const struct eval_input *input,
                            uint64_t earlier);
/* Where there are none: that --where left them all out. `rows` is what there would be. */
void eval_rows_note_none(const struct eval *eval, const char *rows);
/* A joined row as a row. */
struct opk_row eval_rows_of_joined(const struct opk_joined_row *joined, size_t number);
/* Makes room for the rows of the input, which follow. */
int eval_rows_begin_input(struct eval *eval, const struct eval_input *input);
/* Prints everything that was read. */
int eval_rows_print(struct eval *eval);

/* ---- eval_sorted.c */

/* Fills eval->also with those keys of --sort that are no facts; returns how many there are. */
size_t eval_sorted_values(struct eval *eval);
/* Whether rows of this profiler have the facts among the keys. */
int eval_sorted_check(struct eval *eval);
/* An eval_row_fn: takes the row into eval->order. */
eval_row_fn eval_sorted_take;
/* Reads a row that was taken again, for this function. */
int eval_sorted_read(struct eval *eval, const struct eval_place *place, eval_row_fn *print);
/* Has the rows printed that were taken, in their order. */
int eval_sorted_print(struct eval *eval, eval_row_fn *print);
/* Takes the key groups of an input into eval->order. */
int eval_sorted_take_groups(struct eval *eval, const struct eval_input *input);

/* ---- eval_tree.c */

/* An eval_row_fn: takes the row into eval->tree, and into eval->order. */
eval_row_fn eval_tree_take;
/* Prints the rows that were taken, each after the one that it is in. */
int eval_tree_print(struct eval *eval);

/* ---- eval_aggregate.c */

/* Computes statistics of all inputs, then prints them. What keys are: opk_aggregate_new(). */
int eval_aggregate(struct eval *eval, bool keep_first_sample, unsigned timeout_s);

#endif
