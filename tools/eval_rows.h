/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluated rows as table rows: which columns there are, wide or long. */
#ifndef OPK_EVAL_ROWS_H
#define OPK_EVAL_ROWS_H

#include "common/app.h"

enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

struct eval_rows {
	bool long_layout;
	enum first_sample first_sample;
	size_t file_count;
	bool launches; /* kernel, grid, block, device are recorded */
	/* Set up by the first evaluation; the others must fit. */
	bool begun;
	enum opk_profiler profiler;
	struct opk_column *columns;
	union opk_cell *cells;
	size_t column_count;
	size_t fixed_count; /* columns before the metrics */
	size_t metric_count;
	char **metrics;
	bool *computed; /* a metric that is not nan in every row */
	uint64_t row_count;
};

/* Begins the output with the first evaluation; the others must fit in. Reports failures. */
int eval_rows_fit(struct eval_rows *rows, struct app *app, const char *path,
                  const struct opk_evaluation *evaluation);
/* Prints the rows of one evaluation. Reports failures. */
int eval_rows_print(struct eval_rows *rows, struct app *app, const char *path,
                    struct opk_evaluation *evaluation);
/* Remarks on all rows, once they are printed. */
void eval_rows_note(const struct eval_rows *rows);
void eval_rows_clear(struct eval_rows *rows);

#endif
