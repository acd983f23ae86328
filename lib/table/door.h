/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TABLE_DOOR_H
#define OPK_TABLE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/* What the command alone asks for, beside struct opk_table_options. */
struct opk_table_inside {
	bool mark_first_sample; /* keeps it, too, with the column "spans_earlier" */
	bool drop_first_sample; /* as by default, but no note says it */
	/*
	 * There are no columns and rows, only their sources. Files may have different values;
	 * `columns` names those that are read.
	 */
	bool only_sources;
	/* Rows are shown inside others: without columns for that, unless `columns` name them. */
	bool is_tree;
	/*
	 * OPK_EFAILED where a file is named twice, or has images or records that another one has,
	 * too. By default they count twice, and the log of the context has a note.
	 */
	bool refuse_twice;
};

enum opk_table_kind {
	OPK_TABLE_FACT,
	OPK_TABLE_VALUE,
	OPK_TABLE_FILE, /* the path of the row's file */
	/*
	 * Of ranges inside others: how deep it is among the table's rows of its file, GPU and rank,
	 * from 1, and the range that it is in, by name; "a" holds "a/b", and kernels that ran in
	 * it. A sum over rows of level 1 counts nothing twice.
	 */
	OPK_TABLE_LEVEL,
	OPK_TABLE_PARENT,
	/* Where each value has a row. */
	OPK_TABLE_GROUP, /* number of the key group, from 0 over all files */
	OPK_TABLE_METRIC,
	OPK_TABLE_UNIT,
	OPK_TABLE_NUMBER,   /* the value itself */
	OPK_TABLE_LAUNCHES, /* it is of so many */
	/* struct opk_statistics */
	OPK_TABLE_COUNT,
	OPK_TABLE_SUM,
	OPK_TABLE_MEAN,
	OPK_TABLE_MIN,
	OPK_TABLE_MAX,
	OPK_TABLE_P50,
	OPK_TABLE_P90,
	OPK_TABLE_P99,
	OPK_TABLE_WEIGHTED,
	OPK_TABLE_INFLATED, /* counts idle time around short kernels, as the recording says */
	OPK_TABLE_KINDS
};

struct opk_table_column {
	struct opk_column header;
	enum opk_table_kind kind;
	enum opk_fact fact; /* of OPK_TABLE_FACT */
	const char *unit;   /* of a value: "byte", "" where it is not known; else NULL */
	/* The heading that the set has over a value; NULL: none. */
	const struct opk_meta_heading *heading;
};

/* NULL past the last one. */
const struct opk_table_column *opk_table_get_column(const struct opk_table *table, size_t i);

/* A file of a table and what came of it; all is the table's, which alone reads the rows. */
struct opk_table_file {
	char *path;
	struct opk_file *file;       /* NULL: a bare image */
	const struct opk_meta *meta; /* NULL: a bare image */
	enum opk_rows rows;          /* that it has */
	struct opk_evaluation *evaluation;
	struct opk_aggregate *aggregate; /* NULL: its rows are no statistics */
	bool *inflated;                  /* one a column of the evaluation; NULL: none is */
	uint64_t spans_earlier;          /* samples that begin at an earlier event, so far */
	uint64_t first_group;            /* the number that its first key group has in the table */
	/* The set that was evaluated: one that was asked for, else the file's; "": metrics were. */
	const char *set_name;
	bool has_rows;   /* some were found */
	size_t *watched; /* of each value of opk_table_get_values(): which one of the watch */
};
/* Borrowed; it stays where it is, and so does what it points to. NULL past the last file. */
const struct opk_table_file *opk_table_get_file(const struct opk_table *table, size_t i);

/*
 * Sets `found` of each fact that some of these ranges have, and leaves the others as they were:
 * begin with all false. Kernel and launch shape, device, nvtx, rank, number of summed ranges and
 * duration; with `all` every other one, too.
 */
void opk_facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                    bool all);

/* A fact of the files, as OPK_TABLE_ABOUT has it. */
const char *opk_table_about(const struct opk_table *table, const char *fact);

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
 * another file is read. `file` is its number.
 */
size_t opk_table_get_values(const size_t **columns, struct opk_table *table, size_t file);

/* Where a range, sample or key group is, so that they can be put in order without being kept. */
struct opk_table_place {
	size_t file;
	struct opk_bookmark mark; /* of a key group its number alone */
};

/* It has one row in a wide table, else one a value: opk_table_get_values(). */
struct opk_table_source {
	struct opk_table_place place;
	struct opk_row row;                 /* of a key group the name and range alone */
	const struct opk_aggregated *group; /* NULL: it is no key group */
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
