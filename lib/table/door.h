/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TABLE_DOOR_H
#define OPK_TABLE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/*
 * Sets `found` of each fact that some of these ranges have, and leaves the others as they were:
 * begin with all false. Kernel and launch shape, device, nvtx, rank, number of summed ranges and
 * duration; with `all` every other one, too.
 */
void opk_facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                    bool all);

/*
 * In the same way of the ranges or samples of a file, which fails as opk_file_ranges() does; and of
 * the ranges of opk_evaluation_ranges().
 */
int opk_facts_find_recorded(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx, struct opk_file *file,
                            bool all);
void opk_facts_find_ran(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                        bool all);
struct opk_facts_options {
	size_t size;
	const bool *found; /* OPK_FACT_COUNT of them */
	enum opk_profiler profiler;
	enum opk_rows rows;
	bool sampled;       /* of what ran: samples were recorded beside it */
	bool joined;        /* some rows are of several ranges */
	bool spans_earlier; /* samples that begin at an earlier event are marked */
};

/*
 * Fills in the columns that a table has unless it is told others, in their order, and returns how
 * many they are.
 */
size_t opk_facts_list(enum opk_fact facts[OPK_FACT_COUNT], const struct opk_facts_options *options);
/* A table of several files has a column with their names after this one. */
bool opk_fact_precedes_file(enum opk_fact fact);

/*
 * Notes of the rows that were read, to `log` of the options: why there are none, which values are
 * NaN in all of them, and why, which to distrust, and which samples were left out. opk_table_next()
 * does it after the last row, for those who read all in their order. Later calls note nothing.
 */
void opk_table_note_rows(struct opk_table *table);

/*
 * The i-th value that was NaN in every row which opk_table_next() or opk_table_compute() read of
 * it, or had no row, by its name; statistics are NaN where mean and min are. NULL past the last.
 */
const char *opk_table_missing(const struct opk_table *table, size_t i);

/*
 * The columns of a file's evaluation that its part of the table is made of, in their order: how
 * many there are, and in *columns their numbers, valid until this is called again or a row of
 * another file is read. `file` is a number below opk_table_file_count().
 */
size_t opk_table_get_values(const size_t **columns, struct opk_table *table, size_t file);

/* Where a range, sample or key group is, so that they can be put in order without being kept. */
struct opk_table_place {
	size_t file;
	size_t number; /* of a joined row or key group */
	struct opk_bookmark mark;
};

/* It has one row in a wide table, else one a value: opk_table_get_values(). */
struct opk_table_source {
	struct opk_table_place place;
	struct opk_row row;                  /* of a key group the name and range alone */
	const struct opk_joined_row *joined; /* NULL: it is a single range or a sample */
	const struct opk_aggregated *group;  /* NULL: it is no key group */
};

/*
 * Goes to the next range, sample or key group, past rows of the last one that were not read:
 * opk_table_next() gives its rows. *source is valid until another one is gone to, and NULL after
 * the last one. Fails as opk_table_next() does.
 */
int opk_table_next_source(const struct opk_table_source **source, struct opk_table *table);

/*
 * Goes to the one at a place of this table, from opk_table_next_source(); which one follows it is
 * not defined. Fails as opk_table_next() does.
 */
int opk_table_go_to(const struct opk_table_source **source, struct opk_table *table,
                    const struct opk_table_place *place);

/*
 * The values of the source that was gone to last, one a column of its file's evaluation, and of how
 * many ranges each one is; valid as the source is. Not of key groups.
 */
const double *opk_table_compute(struct opk_table *table);
const uint64_t *opk_table_count_launches(struct opk_table *table);

#endif
