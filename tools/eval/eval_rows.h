/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluated rows as table rows, wide or long. */
#ifndef OPK_EVAL_ROWS_H
#define OPK_EVAL_ROWS_H

#include "eval/eval_choice.h"

/* One input and what came of it. */
struct eval_input {
	const char *path;
	struct opk_file *file; /* NULL: a bare image */
	const struct opk_meta *meta;
	struct opk_evaluation *evaluation;
	struct opk_join *join; /* NULL: each range is a row */
	bool *inflated;        /* one a column; NULL: none is */
};

struct eval_rows {
	struct eval_shape shape;
	/* Set up by the first evaluation; the others must fit. */
	bool begun;
	bool filtered;    /* some rows may be left out */
	bool to_database; /* instead of a table */
	struct opk_database *database;
	struct eval_column *columns; /* one a cell */
	struct opk_column *headers;
	union opk_cell *cells;
	struct opk_fact_text *texts; /* what cells point to */
	size_t column_count;
	bool *computed; /* a value that is not nan in every row */
	bool *measured; /* in some row there is all that it is computed of */
	uint64_t row_count;
	const struct opk_meta_heading *heading; /* over the last row of a long table */
	/* Of the row and the input that are being printed: one a value, and one a metric. */
	double *values;
	uint64_t *launches_of, *launches_of_metrics;
	size_t *picked; /* values that there are rows of, in a long table or a database */
	size_t picked_count;
};

/* Begins the output with the first evaluation; the others must fit in. Reports failures. */
int eval_rows_fit(struct eval_rows *rows, struct app *app, const struct eval_input *input);
/* Prints the rows of one evaluation. Reports failures. */
int eval_rows_print(struct eval_rows *rows, struct app *app, const struct eval_input *input);
/* Ends the output, with remarks on all rows. Reports failures. */
int eval_rows_finish(const struct eval_rows *rows, struct app *app);
void eval_rows_clear(struct eval_rows *rows);

#endif
