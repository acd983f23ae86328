/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluated rows as table rows: which columns there are, wide or long. */
#ifndef OPK_EVAL_ROWS_H
#define OPK_EVAL_ROWS_H

#include "common/app.h"
#include "launch_columns.h"

enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

/* One input and what came of it. */
struct eval_input {
	const char *path;
	struct opk_file *file; /* NULL: a bare image */
	struct opk_evaluation *evaluation;
	struct opk_join *join; /* NULL: each range is a row */
	bool *inflated;        /* one a column; NULL: none is */
};

struct eval_rows {
	bool long_layout;
	enum first_sample first_sample;
	size_t file_count;
	struct launch_columns launches;
	bool joined;   /* any input is */
	bool inflated; /* any column of any input is */
	bool aggregated; /* no rows of ranges are wanted */
	/* Set up by the first evaluation; the others must fit. */
	bool begun;
	enum opk_profiler profiler;
	struct opk_column *columns;
	union opk_cell *cells;
	size_t column_count;
	size_t launch_at;   /* where the launch's columns begin */
	size_t fixed_count; /* columns before the values */
	size_t value_count;
	char **names;   /* of the values */
	bool *computed; /* a value that is not nan in every row */
	uint64_t row_count;
	/* Of the row and the input that are being printed: one a value, and one a metric. */
	double *values;
	uint64_t *launches_of, *launches_of_metrics;
};

/* Begins the output with the first evaluation; the others must fit in. Reports failures. */
int eval_rows_fit(struct eval_rows *rows, struct app *app, const struct eval_input *input);
/* Prints the rows of one evaluation. Reports failures. */
int eval_rows_print(struct eval_rows *rows, struct app *app, const struct eval_input *input);
/* Remarks on all rows, once they are printed. */
void eval_rows_note(const struct eval_rows *rows);
void eval_rows_clear(struct eval_rows *rows);

#endif
