/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds values that are nan in every row of the table. */
#ifndef OPK_TOOL_EVAL_WATCH_H
#define OPK_TOOL_EVAL_WATCH_H

#include "base/index.h"
#include "common/app.h"

/* Begin with { 0 }. Values of several inputs go together by name. */
struct eval_watch {
	struct opk_strlist names;
	struct opk_index numbers; /* of the names */
	struct eval_watched {
		bool computed; /* in some row it is not nan */
		bool measured; /* in some row there is all that it is computed of */
	} * values;
	size_t capacity;
	/* The input at hand: the columns that are shown, and each one's number. */
	const struct opk_evaluation *evaluation;
	size_t *columns, *of;
	size_t count;
	uint64_t *known, *least; /* one a metric, one a column */
	uint64_t rows;
	bool apart; /* ranges of one pass each are rows by themselves */
};

/* The rows that follow are of this evaluation, and the table shows these of its columns. */
int eval_watch_begin(struct eval_watch *watch, struct app *app,
                     const struct opk_evaluation *evaluation, const size_t *columns, size_t count);
/* A row: its columns' values, and those of its metrics. */
void eval_watch_row(struct eval_watch *watch, const double *values, const double *metrics);
/* A key group; true where the value is not nan. */
void eval_watch_value(struct eval_watch *watch, size_t at, bool computed);
/* Notes them. With `strict` OPK_EFAILED says which they are, also where there was no row. */
int eval_watch_end(const struct eval_watch *watch, struct app *app, bool strict, const char *rows,
                   bool quiet);
void eval_watch_clear(struct eval_watch *watch);

#endif
