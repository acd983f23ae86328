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
	OPK_TABLE_WIDE,  /* one column per value */
	OPK_TABLE_LONG,  /* one row per value */
	OPK_TABLE_GROUPS /* one row per key group and value */
};

/* Begin with { 0 }. */
struct opk_table_watch {
	struct opk_table_watched *values; /* table_watch.c */
	size_t count, capacity;
	size_t computed;          /* how many are not NaN in some row */
	struct opk_index numbers; /* of values, by name */
};

/* Finds which ranges are inside others; begin with { 0 }. */
struct opk_table_levels {
	struct opk_nesting holders; /* ranges in scopes of file, GPU and rank */
	struct opk_nesting inner;   /* what may be inside others, while levels are being found */
	bool any;                   /* at least one range is inside another */
};

struct opk_table {
	struct opk_ctx *ctx;              /* its own, for reading rows */
	struct opk_table_options options; /* its texts are valid only while the table is made */
	struct opk_table_inside inside;
	struct opk_eval_options eval;
	struct opk_eval_inside eval_inside;
	enum opk_table_layout layout;
	bool metrics_named; /* metrics were asked for, not a set */
	struct opk_strlist metrics, chosen, where;
	const char **wanted; /* metrics to evaluate; evaluations borrow them */
	struct opk_set *set;
	struct opk_kernel_names *names;
	struct opk_strlist about; /* fact and text, in turn */

	struct opk_table_file *inputs;
	size_t input_count;
	enum opk_profiler profiler; /* whose facts rows have; key groups have facts of ranges */

	struct opk_table_column *columns;
	struct opk_column *headers; /* of the columns */
	size_t *sources;            /* one per column: of a value, its column in the evaluation */
	size_t column_count;

	/* The current source: of the last row or, after a move, of the next one. */
	bool has_source;
	struct opk_table_source source;
	struct opk_joined of_group; /* what a row says of a key group */
	struct opk_table_levels levels;
	bool placed;        /* level and parent are known */
	uint64_t level;     /* from 1; 0: the row has no path */
	const char *parent; /* NULL: no range of the table holds it */
	bool computed;      /* the row's values are computed, and the watch has seen them */
	bool filled;        /* the cells that its rows share are filled in */
	size_t row_count;   /* rows of it that were read */
	/* The row that was read last. */
	union opk_cell *cells;
	struct opk_fact_text *texts;
	bool *known;
	/* The values of this input that have rows or columns. */
	const struct opk_table_file *picked_for;
	size_t *picked;
	size_t picked_count;
	/* The place of the next source; `number` is a key group's. */
	size_t input, number;
	/* For notes. */
	bool found;           /* there is a range, sample or key group */
	bool seen;            /* a row of the current source was read */
	size_t seen_count;    /* rows of kernels that ran, not of copies and idle time */
	size_t unknown_count; /* such rows with too little data in samples */
	size_t fitted_count;  /* such rows whose values are from all of their launches */
	size_t called_count;  /* such rows with a call of CUDA that is recorded */
	size_t divided_count; /* such rows with parts of samples that have short launches, too */
	bool noted;
	struct opk_table_watch watch;
	uint64_t *has_values, *has_metrics; /* room for the watch: one per column; one per metric */
};

/* Whether samples of some time make a row; all files are then a single input. */
static inline bool opk_table_is_resampled(const struct opk_table *table)
{
	return table->eval_inside.resample_ns > 0;
}

static inline bool opk_table_is_timeline(const struct opk_table_file *input)
{
	return input->rows == OPK_ROWS_KERNELS || input->rows == OPK_ROWS_LAUNCHES;
}

static inline bool opk_table_is_code(const struct opk_table_file *input)
{
	return input->rows >= OPK_ROWS_INSTRUCTIONS;
}

/* Whether the file records only what ran and when, without values. */
static inline bool opk_table_is_trace(const struct opk_table_file *input)
{
	return !strcmp(input->meta->mode, "trace");
}

static inline enum opk_profiler opk_table_profiler_of(const struct opk_table_file *input)
{
	if (opk_table_is_code(input))
		return OPK_PROFILER_SASS;
	return opk_table_is_timeline(input) ? OPK_PROFILER_RANGE : input->meta->profiler;
}

/* Whether each value is a column; false if the table has only sources. */
static inline bool opk_table_is_wide(const struct opk_table *table)
{
	return table->layout == OPK_TABLE_WIDE && !table->inside.only_sources;
}

/* ---- table_names.c: columns by name */

/* The header of a fact; NULL if this layout has no such column. */
const struct opk_column *opk_table_fact_header(const struct opk_table *table, enum opk_fact fact);
/* Whether its rows are ranges, which may be inside others. */
bool opk_table_has_levels(const struct opk_table *table);
/* Gives a column that is not a value; false if the layout has no column of this kind. */
bool opk_table_kind_column(struct opk_table_column *out, const struct opk_table *table,
                           enum opk_table_kind kind);
/* Before evaluation: checks that the chosen columns may exist; any metric of the chip may. */
int opk_table_check_recorded(const struct opk_table *table, struct opk_ctx *ctx,
                             const struct opk_table_file *input);
/* After evaluation: checks that each chosen name is a column. */
int opk_table_check_evaluated(const struct opk_table *table, struct opk_ctx *ctx,
                              const struct opk_table_file *input);
/* The place of a value in an evaluation, or SIZE_MAX. */
size_t opk_table_find_value(const struct opk_evaluation *evaluation, const char *name);

/* ---- facts.c: which facts are columns */

/*
 * As opk_facts_find(), for the ranges or samples of a file; fails as opk_file_ranges() does. The
 * second function is for the ranges of opk_evaluation_ranges().
 */
int opk_facts_find_recorded(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx, struct opk_file *file,
                            bool all);
void opk_facts_find_ran(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                        bool all);
struct opk_facts_options {
	const bool *found; /* OPK_FACT_COUNT of them */
	enum opk_profiler profiler;
	enum opk_rows rows;
	bool sampled;       /* rows of what ran: samples were recorded, too */
	bool joined;        /* some rows are made of several ranges */
	bool spans_earlier; /* samples that begin at an earlier event are marked */
};

/* Fills in the default columns of a table, in their order, and returns their number. */
size_t opk_facts_list(enum opk_fact facts[OPK_FACT_COUNT], const struct opk_facts_options *options);
/* Whether a table of several files has the column of their names after this one. */
bool opk_fact_precedes_file(enum opk_fact fact);

/* ---- table_levels.c: ranges inside others */

/* Reads the names of all rows. Call it after evaluation, before any row is read. */
int opk_table_find_levels(struct opk_table *table, struct opk_ctx *ctx);
/* Finds the level and parent of the current source. */
void opk_table_find_level(struct opk_table *table);
void opk_table_clear_levels(struct opk_table_levels *levels);

/* ---- table_fit.c: which files go together */

/* Checks what is known before evaluation. OPK_EUSAGE lists the files by what they have. */
int opk_table_check_recorded_fit(struct opk_table *table, struct opk_ctx *ctx);
/* Checks the rest after evaluation, if values are columns. */
int opk_table_check_evaluated_fit(const struct opk_table *table, struct opk_ctx *ctx);

/* ---- table_columns.c, table_inputs.c, table_groups.c */

/* Lists the chosen columns, or all columns, of evaluated inputs. */
int opk_table_list_columns(struct opk_table *table, struct opk_ctx *ctx);
/* Opens and evaluates all files. */
int opk_table_read(struct opk_table *table, struct opk_ctx *ctx);
/* Evaluates an image, which is the only input. */
int opk_table_read_image(struct opk_table *table, struct opk_ctx *ctx, const void *image,
                         size_t size);
/* Computes the statistics of an input. */
int opk_table_aggregate(struct opk_table *table, struct opk_ctx *ctx, struct opk_table_file *input);
/* Finds the facts that the ranges of some key group have in common. */
int opk_table_find_group_facts(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx,
                               const struct opk_table *table);

/* ---- table_sources.c */

/* Notes that a row of the current source was read. */
void opk_table_see(struct opk_table *table);

/* ---- table_watch.c, table_notes.c, table_none.c */

/* Watches the values of evaluated inputs. */
int opk_table_watch_begin(struct opk_table *table, struct opk_ctx *ctx);
/* Takes in the values of the current source. */
void opk_table_watch_row(struct opk_table *table, const double *values);
void opk_table_watch_clear(struct opk_table *table);
/* Writes notes on files and their key groups to the log of `ctx`. */
void opk_table_note_files(const struct opk_table *table, struct opk_ctx *ctx);
/* Parts of opk_table_note_rows(): on values that are NaN in all rows; on a table without rows. */
void opk_table_note_nan(const struct opk_table *table);
void opk_table_note_none(struct opk_table *table);

#endif
