/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/table alone. */
#ifndef OPK_TABLE_INSIDE_H
#define OPK_TABLE_INSIDE_H

#include <string.h>

#include "base/index.h"
#include "base/strlist.h"
#include "eval/door.h"
#include "images/door.h"
#include "table/door.h"

enum opk_table_layout {
	OPK_TABLE_WIDE,  /* a column a value */
	OPK_TABLE_LONG,  /* a row a value */
	OPK_TABLE_GROUPS /* a row a key group and value */
};

/* Begin with { 0 }. */
struct opk_table_watch {
	struct opk_table_watched *values; /* table_watch.c */
	size_t count, capacity;
	size_t computed;          /* so many are not nan in some row */
	struct opk_index numbers; /* of the values, by their names */
};

/* Knows which ranges are inside others; begin with { 0 }. */
struct opk_table_levels {
	struct opk_strlist keys;  /* of ranges: their files, GPUs, ranks and paths */
	struct opk_index holders; /* the same */
	bool any;                 /* is inside another one */
	/* While they are looked for. */
	struct opk_strlist inner; /* keys of what may be inside others */
	struct opk_index inner_numbers;
};

struct opk_table {
	struct opk_ctx *ctx;              /* its own: for reading rows */
	struct opk_table_options options; /* its texts are gone once the table is made */
	struct opk_table_inside inside;
	struct opk_eval_options eval;
	struct opk_eval_inside eval_inside;
	enum opk_table_layout layout;
	bool metrics_named; /* they were asked for, and no set */
	struct opk_strlist metrics, chosen, where;
	const char **wanted; /* metrics to evaluate; evaluations borrow them */
	struct opk_set *set;
	struct opk_kernel_names *names;
	struct opk_strlist about; /* fact and text, in turn */

	struct opk_table_file *inputs;
	size_t input_count;
	enum opk_profiler profiler; /* whose facts rows have; those of key groups are of ranges */

	struct opk_table_column *columns;
	struct opk_column *headers; /* of the columns */
	size_t *sources; /* of each column that is a value: which one of the evaluation */
	size_t column_count;

	/* What the last row was read of, or the next one is; none at the beginning and end. */
	bool has_source;
	struct opk_table_source source;
	struct opk_joined of_group; /* what a row says of it */
	struct opk_table_levels levels;
	bool placed;                 /* the next two are known */
	uint64_t level;              /* from 1; 0: it has no path */
	const char *parent;          /* NULL: no range of the table holds it */
	bool computed, counted;      /* its values; its counts */
	double *values;              /* one a column of the evaluation */
	uint64_t *counts, *measured; /* in the same way; one a metric */
	bool filled;                 /* are the cells that its rows have in common */
	size_t row_count;            /* that were read of it */
	/* The row that was read last. */
	union opk_cell *cells;
	struct opk_fact_text *texts;
	bool *known;
	/* Values that have rows or columns, of this input. */
	const struct opk_table_file *picked_for;
	size_t *picked;
	size_t picked_count;
	/* Where the next one is: `number` of a key group. */
	size_t input, number;
	/* For notes. */
	bool found;           /* there is a range, sample or key group */
	bool seen;            /* a row of the source at hand was read */
	size_t seen_count;    /* rows of kernels that ran, not of copies and idle time */
	size_t unknown_count; /* those among them of which samples say too little */
	bool noted;
	struct opk_table_watch watch;
};

static inline bool opk_table_is_timeline(const struct opk_table_file *input)
{
	return input->rows == OPK_ROWS_KERNELS || input->rows == OPK_ROWS_LAUNCHES;
}

/* Whether it has what ran and when, and no values. */
static inline bool opk_table_is_trace(const struct opk_table_file *input)
{
	return !strcmp(input->meta->mode, "trace");
}

static inline enum opk_profiler opk_table_profiler_of(const struct opk_table_file *input)
{
	return opk_table_is_timeline(input) ? OPK_PROFILER_RANGE : input->meta->profiler;
}

/* A column a value, or none: not the list of where values come from. */
static inline bool opk_table_is_wide(const struct opk_table *table)
{
	return table->layout == OPK_TABLE_WIDE && !table->inside.only_sources;
}

/* ---- table_names.c: columns by name */

/* The header of a fact; NULL where this layout has no such column. */
const struct opk_column *opk_table_fact_header(const struct opk_table *table, enum opk_fact fact);
/* Whether its rows are ranges, which may be inside others. */
bool opk_table_has_levels(const struct opk_table *table);
/* A column that is no value; false where the layout has none of this kind. */
bool opk_table_kind_column(struct opk_table_column *out, const struct opk_table *table,
                           enum opk_table_kind kind);
/* Chosen names: facts, "file" and others; false: it is a value, or nothing. */
bool opk_table_find(struct opk_table_column *out, const struct opk_table *table, const char *name);
/* Before evaluation: whether there may be such columns; any metric of the chip's may be. */
int opk_table_check_recorded(const struct opk_table *table, struct opk_ctx *ctx,
                             const struct opk_table_file *input);
/* After it: whether each chosen name is one column's. */
int opk_table_check_evaluated(const struct opk_table *table, struct opk_ctx *ctx,
                              const struct opk_table_file *input);
/* The place of a value in an evaluation; SIZE_MAX. */
size_t opk_table_find_value(const struct opk_evaluation *evaluation, const char *name);

/* ---- facts.c: which facts are columns */

/*
 * As opk_facts_find(), of the ranges or samples of a file, which fails as opk_file_ranges() does;
 * and of the ranges of opk_evaluation_ranges().
 */
int opk_facts_find_recorded(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx, struct opk_file *file,
                            bool all);
void opk_facts_find_ran(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                        bool all);
struct opk_facts_options {
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

/* ---- table_levels.c: ranges inside others */

/* Reads the names of all rows; the inputs are evaluated, and none of their rows was read. */
int opk_table_find_levels(struct opk_table *table, struct opk_ctx *ctx);
/* The level and parent of the source at hand. */
void opk_table_find_level(struct opk_table *table);
void opk_table_clear_levels(struct opk_table_levels *levels);

/* ---- table_fit.c: which files go together */

/* OPK_EUSAGE, with all of them by what they have, where that is known before an evaluation. */
int opk_table_check_recorded_fit(const struct opk_table *table, struct opk_ctx *ctx);
/* In the same way afterwards, where values are columns. */
int opk_table_check_evaluated_fit(const struct opk_table *table, struct opk_ctx *ctx);

/* ---- table_columns.c, table_inputs.c, table_groups.c */

/* Lists the chosen columns, or all, of evaluated inputs. */
int opk_table_list_columns(struct opk_table *table, struct opk_ctx *ctx);
/* Opens and evaluates all files. */
int opk_table_read(struct opk_table *table, struct opk_ctx *ctx);
/* Evaluates the image, which is the only input. */
int opk_table_read_image(struct opk_table *table, struct opk_ctx *ctx, const void *image,
                         size_t size);
/* Computes the statistics of an input. */
int opk_table_aggregate(struct opk_table *table, struct opk_ctx *ctx, struct opk_table_file *input);
/* Finds the facts that the ranges of some key group have in common. */
int opk_table_find_group_facts(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx,
                               const struct opk_table *table);

/* ---- table_sources.c */

/* A row of the source at hand is read. */
void opk_table_see(struct opk_table *table);

/* ---- table_watch.c, table_notes.c, table_none.c */

/* Watches the values of evaluated inputs. */
int opk_table_watch_begin(struct opk_table *table, struct opk_ctx *ctx);
/* The values of the source at hand were computed. */
void opk_table_watch_row(struct opk_table *table);
void opk_table_watch_clear(struct opk_table *table);
/* Notes what is to be known of files and their key groups, to the log of `ctx`. */
void opk_table_note_files(const struct opk_table *table, struct opk_ctx *ctx);
/* Parts of opk_table_note_rows(): values that are nan everywhere; that there is no row. */
void opk_table_note_nan(const struct opk_table *table);
void opk_table_note_none(struct opk_table *table);

#endif
