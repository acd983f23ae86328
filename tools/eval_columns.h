/* SPDX-License-Identifier: BSD-2-Clause */
/* Which columns a table of evaluated rows has. */
#ifndef OPK_EVAL_COLUMNS_H
#define OPK_EVAL_COLUMNS_H

#include "common/app.h"

enum first_sample { FIRST_KEEP, FIRST_MARK, FIRST_DROP };

enum eval_column_kind {
	COLUMN_FACT, /* `index` is an enum opk_fact */
	COLUMN_FILE,
	COLUMN_VALUE, /* wide: `index` is that of the evaluation's column */
	/* Long: of the value that the row is for. */
	COLUMN_METRIC,
	COLUMN_UNIT,
	COLUMN_NUMBER,
	COLUMN_LAUNCHES,
	COLUMN_INFLATED,
	COLUMN_KINDS
};

struct eval_column {
	enum eval_column_kind kind;
	size_t index;
};

/* What columns depend on. */
struct eval_shape {
	bool long_layout;
	bool all_facts; /* asked for; else those that everybody wants */
	enum first_sample first_sample;
	size_t file_count;
	/* Found in the inputs. */
	enum opk_profiler profiler;
	bool facts[OPK_FACT_COUNT]; /* some range has something there */
	bool joined;                  /* any input is */
	bool inflated;                /* any column of any input is */
	char **names;                 /* of the values */
	size_t value_count;
};

/* Notes which facts these ranges have. */
void eval_shape_find(struct eval_shape *shape, const struct opk_range *ranges, size_t count);
/* As many columns as there are at most. */
size_t eval_columns_most(const struct eval_shape *shape);
/* Fills both, which have that much room: what each column shows, and its name and kind; returns their number. */
size_t eval_columns_list(struct eval_column *columns, struct opk_column *out,
                         const struct eval_shape *shape);

#endif
