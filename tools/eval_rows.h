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
	/* Set up by the first evaluation; the others must fit. */
	bool begun;
	enum opk_profiler profiler;
	bool launches; /* kernel, grid, block, device are recorded */
	struct opk_column *columns;
	union opk_cell *cells;
	size_t column_count;
	size_t fixed_count; /* columns before the metrics */
	size_t metric_count;
	char **metrics;
};

/*
 * Prints the rows of one evaluation; the first begins the output, and its `launches` says whether
 * there are columns for kernel, grid, block and device. Reports failures.
 */
int eval_rows_print(struct eval_rows *rows, struct app *app, const char *path,
                    struct opk_evaluation *evaluation, bool launches);
int eval_rows_finish(struct eval_rows *rows, struct app *app);
void eval_rows_clear(struct eval_rows *rows);

#endif
