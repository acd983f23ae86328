/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of lib/database, besides the public functions. */
#ifndef OPK_DATABASE_DOOR_H
#define OPK_DATABASE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

struct opk_database_options {
	size_t size;
	/*
	 * Columns of the view `wide`: names of facts, "file", names of metrics; NULL: all. If there
	 * are ranges and samples, the view `samples_wide` has the same columns. A column of which
	 * such rows have nothing is NULL.
	 */
	const char *const *columns;
	size_t column_count;
};

/*
 * Writes evaluations to a SQLite database, docs/formats.md, under a temporary name in one
 * transaction. OPK_EFAILED: the library was built without SQLite, SQLite fails, or another program
 * is writing a database of that name. OPK_EUSAGE: `path` is a pipe. The context must outlive the
 * database, and gets its errors; after a failure only opk_database_free() is allowed.
 */
struct opk_database;
int opk_database_new(struct opk_database **out, struct opk_ctx *ctx, const char *path,
                     const struct opk_database_options *options);

/* An evaluation, whose rows are added after it. */
struct opk_database_run {
	size_t size;
	const char *file;            /* its name */
	const struct opk_meta *meta; /* NULL: a bare image */
	bool cut_off;                /* the file's end, or some of its rows, are missing */
	bool joined;                 /* as the metadata says */
	const struct opk_evaluation *evaluation;
	const size_t *columns; /* numbers of columns of the evaluation, in order; NULL: all */
	size_t column_count;
	const bool *inflated;       /* one for each column of the evaluation; NULL: no column is */
	const char *set_name;       /* the evaluated set; "": no set; NULL: the set of `meta` */
	struct opk_file *recording; /* may say what its metrics are, and has NVTX ranges; or NULL */
};

/*
 * Begins an evaluation's rows. Borrows nothing. Types and descriptions of metrics come from
 * cuptiProfilerHostGetMetricProperties, and are empty where there is no libcupti.
 */
int opk_database_add_run(struct opk_database *database, const struct opk_database_run *run);

/*
 * Adds a row of that evaluation. `values` has a value for each of its columns, and `launches` the
 * number of ranges in each value; NULL: one.
 */
int opk_database_add_row(struct opk_database *database, const struct opk_row *row,
                         const double *values, const uint64_t *launches);
/* Makes indexes and views; then the file appears, or replaces an older one. */
int opk_database_finish(struct opk_database *database);
/* Without opk_database_finish() no file is left. */
void opk_database_free(struct opk_database *database);

#endif
