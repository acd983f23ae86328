/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TABLE_DOOR_H
#define OPK_TABLE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/* Options for the command alone, besides struct opk_table_options. */
struct opk_table_inside {
	bool mark_first_sample; /* keeps it, with the column "spans_earlier" */
	bool drop_first_sample; /* as by default, but without a note */
	/*
	 * The table has sources, but no columns and rows. Files may have different values;
	 * `columns` names those that are read.
	 */
	bool only_sources;
	/* Rows are shown inside others: no level and parent columns unless `columns` names them. */
	bool is_tree;
	/*
	 * OPK_EFAILED if a file is named twice, or shares images or records with another file. By
	 * default these count twice, with a note in the log of the context.
	 */
	bool refuse_twice;
	/* Columns for the device, the host and the GPU, also where all rows have the same. */
	bool with_origin;
	/* Opcodes and SASS texts are wanted, also where no column and condition names them. */
	bool with_sass;
};

/*
 * OPK_EUSAGE: rows of a recording of launches alone can't have what `what` asks for (NULL: it asks
 * for nothing), or are not put together by `key` (NULL: there is none), for which `what` asks.
 */
int opk_trace_refuse(struct opk_ctx *ctx, const char *path, const char *what);
int opk_trace_check_key(struct opk_ctx *ctx, const char *path, const char *what, const char *key);

enum opk_table_kind {
	OPK_TABLE_FACT,
	OPK_TABLE_VALUE,
	OPK_TABLE_FILE, /* the path of the row's file */
	/*
	 * A range's depth among the table's rows of its file, GPU and rank, from 1; and the name of
	 * the range that holds it. "a" holds "a/b", and kernels that ran in it. A sum over rows of
	 * level 1 counts nothing twice.
	 */
	OPK_TABLE_LEVEL,
	OPK_TABLE_PARENT,
	/* Columns of tables that have a row for each value: */
	OPK_TABLE_GROUP, /* number of the key group, from 0 over all files */
	OPK_TABLE_METRIC,
	OPK_TABLE_UNIT,
	OPK_TABLE_NUMBER,   /* the value itself */
	OPK_TABLE_LAUNCHES, /* how many the value is from */
	/* struct opk_statistics */
	OPK_TABLE_COUNT,
	OPK_TABLE_SUM,
	OPK_TABLE_MEAN,
	OPK_TABLE_MIN,
	OPK_TABLE_MAX,
	OPK_TABLE_P50,
	OPK_TABLE_P90,
	OPK_TABLE_P99,
	OPK_TABLE_STD,
	OPK_TABLE_MEAN_LOW,
	OPK_TABLE_MEAN_HIGH,
	OPK_TABLE_WEIGHTED,
	OPK_TABLE_INFLATED, /* whether the metric counts idle time around short kernels */
	OPK_TABLE_KINDS
};

struct opk_table_column {
	struct opk_column header;
	enum opk_table_kind kind;
	enum opk_fact fact; /* of OPK_TABLE_FACT */
	const char *unit;   /* of a value: "byte", "" if not known; else NULL */
	/* The set's heading over a value, or NULL. */
	const struct opk_meta_heading *heading;
};

/* Finds a column by name: a fact, "file" or others; false: a value, or unknown. */
bool opk_table_find(struct opk_table_column *out, const struct opk_table *table, const char *name);
/* NULL past the last one. */
const struct opk_table_column *opk_table_get_column(const struct opk_table *table, size_t i);

/* A file of a table, with its evaluation. The table owns all of it and reads its rows. */
struct opk_table_file {
	char *path;
	char *name;                  /* what rows call it */
	struct opk_file *file;       /* NULL: a bare image */
	const struct opk_meta *meta; /* NULL: a bare image */
	enum opk_rows rows;          /* the kind of its rows */
	struct opk_evaluation *evaluation;
	struct opk_aggregate *aggregate; /* NULL: its rows are not statistics */
	bool *inflated;                  /* one per column of the evaluation; NULL: none is */
	uint64_t spans_earlier;          /* samples read so far that begin at an earlier event */
	uint64_t first_group;            /* the table's number of its first key group */
	/* The evaluated set: the one asked for, else the file's; "": metrics were asked for. */
	const char *set_name;
	bool has_rows;   /* at least one was found */
	size_t *watched; /* for each of opk_table_get_values(): its place in the watch */
};
/* Borrowed; it and what it points to never move. NULL past the last file. */
const struct opk_table_file *opk_table_get_file(const struct opk_table *table, size_t i);

/*
 * Sets `found` of each fact that some of these ranges have, and leaves the others alone: begin with
 * all false. It looks for kernel, launch shape, device, nvtx, rank, number of summed ranges and
 * duration; with `all`, for every fact.
 */
void opk_facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                    bool all);

/* A fact of the files, as in OPK_TABLE_ABOUT. */
const char *opk_table_about(const struct opk_table *table, const char *fact);

/*
 * Writes notes on the rows read to `log` of the options: why there are none, which values are NaN
 * in all rows and why, which to distrust, which samples were left out. opk_table_next() calls it
 * after the last row, for callers that read all rows. Later calls note nothing.
 */
void opk_table_note_rows(struct opk_table *table);

/*
 * The name of the i-th value that was NaN in every row that opk_table_next() or opk_table_compute()
 * read, or that had no row. Statistics are NaN if mean and min are. NULL past the last.
 */
const char *opk_table_missing(const struct opk_table *table, size_t i);

/*
 * The columns of the evaluation of file number `file` that the table shows, in their order. Returns
 * how many there are and puts their numbers into *columns, valid until the next call or until a row
 * of another file is read.
 */
size_t opk_table_get_values(const size_t **columns, struct opk_table *table, size_t file);

/* The place of a range, sample or key group, so that these can be sorted without being kept. */
struct opk_table_place {
	size_t file;
	struct opk_bookmark mark; /* of a key group: only its number */
};

/* A source has one row in a wide table, else one row per value of opk_table_get_values(). */
struct opk_table_source {
	struct opk_table_place place;
	struct opk_row row;                 /* of a key group: only name and range */
	const struct opk_aggregated *group; /* NULL: not a key group */
};

/*
 * Moves to the next range, sample or key group and skips unread rows of the last one;
 * opk_table_next() then gives the rows of the new one. *source is valid until the next move, and
 * NULL after the last source. Fails as opk_table_next() does.
 */
int opk_table_next_source(const struct opk_table_source **source, struct opk_table *table);

/*
 * Moves to the source at a place that opk_table_next_source() gave; which source follows it is not
 * defined. Fails as opk_table_next() does.
 */
int opk_table_go_to(const struct opk_table_source **source, struct opk_table *table,
                    const struct opk_table_place *place);

/* As opk_evaluation_values(), for the current source, and for notes. Not for key groups. */
const double *opk_table_compute(struct opk_table *table);

#endif
