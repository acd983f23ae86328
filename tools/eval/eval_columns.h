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

/* What --columns names: facts, values, and in long tables what each row tells of a value. */
struct eval_choice {
	char *text; /* of the names */
	const char **names;
	const char **values; /* room for those of them that are values */
	size_t count;        /* 0: whatever there is */
};

/* What columns depend on. */
struct eval_shape {
	bool long_layout; /* and a table: a database has both layouts */
	bool aggregated;  /* rows of groups instead, see aggregate_columns.h */
	struct eval_choice choice;
	bool all_facts; /* asked for; else those that everybody wants */
	enum first_sample first_sample;
	size_t file_count;
	/* Found in the inputs. */
	enum opk_profiler profiler;
	bool facts[OPK_FACT_COUNT]; /* some range has something there */
	bool joined;                /* any input is */
	bool inflated;              /* any column of any input is */
	char **names;               /* of the values */
	size_t value_count;
};

/* Notes which facts these ranges have. */
void eval_shape_find(struct eval_shape *shape, const struct opk_range *ranges, size_t count);
/* A column that tables may have whatever is evaluated, by name; `column` and `header` may be NULL. */
bool eval_column_find(struct eval_column *column, struct opk_column *header,
                      const struct eval_shape *shape, enum opk_profiler profiler, const char *name);
/* All their names; returns how many. */
enum { EVAL_FIXED_COLUMNS = OPK_FACT_COUNT + 20 };
size_t eval_columns_fixed(const char *out[EVAL_FIXED_COLUMNS], const struct eval_shape *shape,
                          enum opk_profiler profiler);
/* As many columns as there are at most. */
size_t eval_columns_most(const struct eval_shape *shape);
/* Fills both, which have that much room: what each column shows, and its name and kind; returns their number. */
size_t eval_columns_list(struct eval_column *columns, struct opk_column *out,
                         const struct eval_shape *shape);

#endif
