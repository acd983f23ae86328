/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that write a database; docs/formats.md has its tables. */
#ifndef OPK_DATABASE_H
#define OPK_DATABASE_H

#include "adapters/sqlite/sqlite_file.h"
#include "base/file.h"
#include "base/index.h"
#include "base/metric.h"
#include "base/strlist.h"
#include "eval/door.h"

enum opk_database_table {
	OPK_INTO_RUNS,
	OPK_INTO_RUN_FACTS,
	OPK_INTO_METRICS,
	OPK_INTO_RUN_METRICS,
	OPK_INTO_RANGES,
	OPK_INTO_RANGE_VALUES,
	OPK_INTO_SAMPLES,
	OPK_INTO_SAMPLE_VALUES,
	OPK_INTO_CODE,
	OPK_INTO_CODE_VALUES,
	OPK_INTO_NVTX,
	OPK_TABLES
};

/* The tables of ranges, of samples, or of rows of code. */
struct opk_database_kind {
	enum opk_database_table into, into_values;
	const char *rows, *values;
	const char *id;     /* the column of `values` with the row's number */
	const char *prefix; /* of the names of views, where another kind has the plain names */
};
const struct opk_database_kind *opk_database_kind(enum opk_profiler profiler);

/* Where a metric is used. */
struct opk_database_use {
	uint64_t last_run; /* the last run that has it */
	bool by[OPK_PROFILER_COUNT];
};

struct opk_database {
	struct opk_ctx *ctx;
	struct opk_newfile file;
	struct opk_sqlite *sqlite;
	struct opk_statement *into[OPK_TABLES];
	struct opk_strlist shown; /* columns of the view `wide`; empty: all */
	/* The numbers of the last row of each table. */
	uint64_t run, row;
	enum opk_profiler profiler; /* of the current run */
	bool has[OPK_PROFILER_COUNT];
	bool has_ran; /* some row describes what ran */
	/* One for each metric. */
	struct opk_strlist names;
	struct opk_database_use *uses;
	size_t use_capacity;
	struct opk_strlist keys; /* all fields that make metrics different */
	struct opk_index by_key;
	/* The columns of the current run's evaluation, and the numbers of their metrics, from 1. */
	size_t *columns;
	size_t *metrics;
	size_t column_count;
};

/* The column of a fact in the table of such rows; NULL: it has none. */
const struct opk_column *opk_database_fact(enum opk_fact fact, enum opk_profiler profiler);

extern const char opk_database_schema[], opk_database_indexes[];
extern const char *const opk_database_inserts[OPK_TABLES];

/* Adds the views, which depend on the contents. */
int opk_database_add_views(struct opk_database *database);

#endif
