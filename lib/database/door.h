/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_DATABASE_DOOR_H
#define OPK_DATABASE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

struct opk_database_options {
	size_t size;
	/*
	 * The view `wide` has these: names of facts, "file", names of columns; NULL: all. So has
	 * `samples_wide`, which is there beside it where there are ranges and samples.
	 */
	const char *const *columns;
	size_t column_count;
};

/*
 * Evaluations as a SQLite database, docs/formats.md: written under a temporary name, in one
 * transaction. OPK_EFAILED: the library was built without SQLite, SQLite refuses, or another
 * program is writing a database of that name. OPK_EUSAGE: `path` is a pipe. The context must
 * outlive the database, and has its errors; after a failure there is only opk_database_free().
 */
struct opk_database;
int opk_database_new(struct opk_database **out, struct opk_ctx *ctx, const char *path,
                     const struct opk_database_options *options);

/* An evaluation whose rows follow. */
struct opk_database_run {
	size_t size;
	const char *file;            /* its name */
	const struct opk_meta *meta; /* NULL: a bare image */
	bool cut_off;                /* its end, or some of its rows, are missing */
	bool joined;                 /* as the metadata says */
	const struct opk_evaluation *evaluation;
	const size_t *columns; /* of the evaluation: only these, in this order; NULL: all */
	size_t column_count;
	const bool *inflated; /* one a column of the evaluation; NULL: no column is */
	const char *set_name; /* the set that was evaluated; "": none; NULL: that of `meta` */
};

/*
 * Begins an evaluation's rows. Borrows nothing. Types and descriptions of metrics come from
 * cuptiProfilerHostGetMetricProperties, and are empty where there is no libcupti.
 */
int opk_database_add_run(struct opk_database *database, const struct opk_database_run *run);

/*
 * A row of that evaluation. `values` has one for each of its columns; `launches`, too: of how many
 * ranges each is; NULL: of one.
 */
int opk_database_add_row(struct opk_database *database, const struct opk_row *row,
                         const double *values, const uint64_t *launches);
/* Makes indexes and views, and the file appears, or replaces an older one. */
int opk_database_finish(struct opk_database *database);
/* Without opk_database_finish() nothing is left. */
void opk_database_free(struct opk_database *database);

#endif
