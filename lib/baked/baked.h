/* SPDX-License-Identifier: BSD-2-Clause */
/* Values in a recording, evaluated before: sections BAKE and VALS of docs/format.md. */
#ifndef OPK_BAKED_H
#define OPK_BAKED_H

#include <string.h>

#include "baked/door.h"
#include "base/ctx.h"
#include "base/strlist.h"
#include "container/container.h"

/* ---- tables of values: value_table.c, value_read.c */

enum opk_value_kind { OPK_VALUES_OF_ROWS = 1, OPK_VALUES_OF_SUMS, OPK_VALUES_OF_MEANS };

enum opk_value_role {
	OPK_VALUE_METRIC = 1,
	OPK_VALUE_START,
	OPK_VALUE_END,
	OPK_VALUE_SPANS,       /* the sample begins at an earlier event */
	OPK_VALUE_NAME,        /* the row's name: its number in the texts, from 1; 0: "" */
	OPK_VALUE_GROUP,       /* one per row of the file: the entry that has it, from 1; 0: none */
	OPK_VALUE_HELP,        /* whole numbers that other columns are computed from */
	OPK_VALUE_REMARK = 16, /* plus the kind of the remark */
	OPK_VALUE_LAST_REMARK = 19,
};

struct opk_value_column {
	uint32_t role;
	const char *name, *other; /* a metric, and its unit or part; "" where there is none */
	/* Entries of metrics and remarks are the bits of doubles. NULL: not decoded yet. */
	uint64_t *entries;
};

enum {
	OPK_VALUES_AT_ONCE = 1 << 22, /* about how many entries a table of rows has, in memory */
	OPK_MOST_VALUES = 1 << 25,    /* that a reader takes in all columns of a table: 256 MiB */
	OPK_MOST_VALUE_COLUMNS = 1 << 20,
};

/* Whether a table of so many columns and entries in each, and of groups, has at most `most`. */
static inline bool opk_values_fit(uint64_t columns, uint64_t count, uint64_t members, uint64_t most)
{
	uint64_t all;

	return columns <= OPK_MOST_VALUE_COLUMNS
	       && !__builtin_mul_overflow(count, columns ? columns : 1, &all)
	       && !__builtin_add_overflow(all, members, &all) && all <= most;
}

/* Begins zeroed. */
struct opk_value_table {
	uint32_t kind;
	size_t part;      /* of a joint file: the file that it is in */
	uint64_t first;   /* of rows: the number of the first one, over all images */
	uint64_t count;   /* entries of each column but OPK_VALUE_GROUP */
	uint64_t members; /* entries of that one: the rows of the file */
	struct opk_value_column *columns;
	size_t column_count;
	struct opk_strlist texts; /* that the columns borrow, and those of OPK_VALUE_NAME */
	struct opk_index metrics; /* of a table that was read: the columns of metrics, by name */
	struct opk_value_source *source; /* likewise: its bytes; or NULL */
};
/* Frees columns and texts, not the entries of columns that were not read. */
void opk_value_table_clear(struct opk_value_table *table);
#define opk_autovalues __attribute__((cleanup(opk_value_table_clear)))
/*
 * Reads a section with all of its columns, except those that a later offpeak wrote. OPK_EINPUT:
 * docs/format.md does not allow it.
 */
int opk_value_table_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section);
/* Whether the tables of a file fit together; otherwise *bad is the section that does not. */
int opk_value_tables_check(size_t *bad, struct opk_ctx *ctx, const struct opk_file *file);

/* A walk over the tables of a file. Begins zeroed except its first three members. */
struct opk_value_walk {
	struct opk_ctx *ctx;
	const struct opk_file *file;
	uint32_t kind;                 /* tables of other kinds are passed over */
	size_t section;                /* of the table */
	size_t next;                   /* the section to look at next */
	uint64_t entries;              /* of all tables so far: a small file may claim any number */
	uint64_t first, after;         /* rows of the last table of rows, and the row after them */
	bool any;                      /* the file, or this file of a joint one, has one */
	size_t part;                   /* of a joint file: the file */
	uint64_t before;               /* rows of the files before it */
	struct opk_value_texts *texts; /* of the first table, which others share; NULL: not read */
};
/*
 * Reads what the next table has, without entries. *found is false at the end. The table begins
 * zeroed, and lives as long as the walk.
 */
int opk_value_walk_next(bool *found, struct opk_value_table *table, struct opk_value_walk *walk);
void opk_value_walk_clear(struct opk_value_walk *walk);
#define opk_autowalk __attribute__((cleanup(opk_value_walk_clear)))
/* Decodes the entries of a column of a table that was read, unless they are there. */
int opk_value_column_need(struct opk_value_table *table, struct opk_ctx *ctx,
                          const struct opk_value_column *column);
/* The name of a row: its number is an entry of OPK_VALUE_NAME. */
const char *opk_value_table_text(const struct opk_value_table *table, uint64_t number);
/* The metrics that the rows of a file have values of. */
int opk_value_row_metrics(struct opk_strlist *out, struct opk_ctx *ctx,
                          const struct opk_file *file);
/* NULL: there is no such column. `name` may be NULL. */
const struct opk_value_column *opk_value_table_find(const struct opk_value_table *table,
                                                    uint32_t role, const char *name);
/* Adds a column of zeros to a table that is being made. The texts are copied. */
int opk_value_table_add(uint64_t **entries, struct opk_value_table *table, struct opk_ctx *ctx,
                        uint32_t role, const char *name, const char *other);

/* Takes the tables of a file that is being made, rows first. Begins zeroed except the writer. */
struct opk_value_sink {
	struct opk_writer *writer;
	uint64_t most;            /* entries of a table; 0: OPK_MOST_VALUES */
	struct opk_strlist names; /* of all metrics, each once */
	OPK_LIST(struct opk_value_table) rows;
	uint64_t kept;              /* entries of all rows */
	const char *const *helpers; /* metrics that only help to store others */
	size_t helper_count;
	bool any;                      /* a table was written */
	struct opk_strlist texts;      /* of the first one, which later ones share */
	struct opk_value_table groups; /* of the groups that were added last */
};
bool opk_sink_helps(const struct opk_value_sink *sink, const char *metric);
/*
 * Writes it as several tables of some of its columns if a reader takes no more at once. Changes the
 * table: groups of one row that has the same values are left out.
 */
int opk_sink_add(struct opk_value_sink *sink, struct opk_ctx *ctx, struct opk_value_table *table);
void opk_sink_clear(struct opk_value_sink *sink);

static inline double opk_double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}
static inline uint64_t opk_bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* ---- values of groups of rows: groups.c */

/* Sums or means of rows: each row of the file is in one group at most. */
struct opk_value_groups {
	uint32_t kind;          /* OPK_VALUES_OF_SUMS or OPK_VALUES_OF_MEANS */
	const size_t *group_of; /* one per row of the file; SIZE_MAX: none */
	size_t row_count, group_count;
	const char *const *metrics; /* attributes have no column */
	size_t metric_count;
};
/*
 * Gathers the values of groups from all tables that have groups of the same rows. *found is false
 * if some are not there. `table` begins zeroed, and gets an entry for each group.
 */
int opk_value_groups_gather(bool *found, struct opk_value_table *table, struct opk_ctx *ctx,
                            const struct opk_file *file, const struct opk_value_groups *wanted);
/* Begins a table of these groups, with OPK_VALUE_GROUP. */
int opk_value_groups_begin(struct opk_value_table *table, struct opk_ctx *ctx,
                           const struct opk_value_groups *groups);

/* ---- how values were made: baked.c */

struct opk_baked_image {
	uint64_t rows, incomplete;
};
/* What the chip's catalog said of a base metric whose values are in the file. */
struct opk_baked_metric {
	const char *name, *type; /* "counter" */
	const char *hw_unit, *unit, *description;
	const struct opk_property *suffixes; /* of the metrics, ".sum", and their units */
	size_t suffix_count;
};
/* A set that was evaluated, too. */
struct opk_baked_set {
	const char *name;
	uint64_t metrics;
};
struct opk_baked {
	uint32_t cupti_version, nvperf_year, nvperf_number; /* 0: another tool evaluated */
	const char *generator;
	const struct opk_baked_image *images; /* one per image of the file */
	size_t image_count;
	const struct opk_baked_metric *metrics; /* sorted by name */
	size_t metric_count;
	/* Hashes of the sets that were evaluated, too, as they are on this chip. */
	const char *const *sets;
	size_t set_count;
	/* Hashes of their definitions, as many and in the same order. */
	const char *const *definitions;
	size_t definition_count;
	/* What these are called, in the same order; none in files of earlier versions. */
	const struct opk_baked_set *named_sets;
	size_t named_set_count;
};
int opk_writer_add_baked(struct opk_writer *writer, const struct opk_baked *baked);

/* A file's BAKE section. */
struct opk_baked_file;
/* Reads this section. */
int opk_baked_read(struct opk_baked_file **out, struct opk_ctx *ctx, const struct opk_file *file,
                   size_t section);
/* *out is NULL if the file has none, or some file of a joint one. */
int opk_baked_open(struct opk_baked_file **out, struct opk_ctx *ctx, const struct opk_file *file);
void opk_baked_file_free(struct opk_baked_file *baked);
OPK_DEFINE_AUTO(opk_baked_file)
const struct opk_baked *opk_baked_get(const struct opk_baked_file *baked);
/* Whether the file says that it has values, and all files of a joint one. */
bool opk_file_is_baked(const struct opk_file *file);

/*
 * Adds a section ROWS, for tables to name in place of an image; `image_crc` and `number` tell it
 * from others.
 */
int opk_writer_add_place(struct opk_writer *writer, uint32_t image_crc, uint32_t number);
/* OPK_EINPUT: the values are of other images, or other rows, than the file's segments. */
int opk_baked_check_segments(struct opk_ctx *ctx, const struct opk_baked *baked,
                             const struct opk_segment *segments, size_t count);
/* OPK_EUSAGE: the file lacks images, which `what`, such as "a sum over time", needs. */
int opk_baked_check_images(struct opk_ctx *ctx, const struct opk_file *file, const char *what);
/* Why such a file lacks images, in words. */
int opk_baked_why_no_images(const char **why, struct opk_ctx *ctx, const struct opk_file *file);
/* The first metric whose values no row has; NULL: all are there. */
int opk_baked_find_lacking(const char **out, struct opk_ctx *ctx, const struct opk_file *file,
                           const char *const *metrics, size_t count);
/* Fails with OPK_EUSAGE: says of a file without images what would give it the values of `what`. */
int opk_baked_lacks(struct opk_ctx *ctx, const struct opk_file *file, const char *what);

/* ---- all at once: baked.c */

/* Values that another tool evaluated, of rows that opk_writer_add_ranges() describes. */
struct opk_given_values {
	const char *const *metrics;
	const char *const *units; /* as NVIDIA writes them, "bytes/second"; "" if unknown */
	size_t metric_count;
	size_t row_count;
	const double *values; /* row by row, one per metric; NaN: there is none */
	const char *generator;
	/* How the rows are divided among range tables, in their order. */
	const struct opk_baked_image *images;
	size_t image_count;
};
/* Adds VALS and BAKE sections, after the range tables. */
int opk_writer_add_given_values(struct opk_writer *writer, struct opk_ctx *ctx,
                                const struct opk_given_values *values);

#endif
