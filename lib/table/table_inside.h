/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/table alone. */
#ifndef OPK_TABLE_INSIDE_H
#define OPK_TABLE_INSIDE_H

#include "base/strlist.h"
#include "table/table.h"

struct opk_table_input {
	char *path;
	struct opk_file *file;
	const struct opk_meta *meta;
	enum opk_rows rows;
	struct opk_evaluation *evaluation;
	struct opk_join *join; /* NULL: each row of the evaluation is one */
};

struct opk_table {
	struct opk_ctx *ctx;              /* its own: for reading rows */
	struct opk_table_options options; /* its texts are gone once the table is made */
	struct opk_eval_options eval;
	struct opk_strlist metrics, chosen;
	const char **wanted; /* metrics to evaluate; evaluations borrow them */
	struct opk_filter *filter;
	struct opk_set *set;
	struct opk_kernel_names *names;
	struct opk_strlist about; /* fact and text, in turn */

	struct opk_table_input *inputs;
	size_t input_count;
	enum opk_profiler profiler;

	struct opk_table_column *columns;
	size_t *sources; /* of each column that is a value: which one of the evaluation */
	size_t column_count;

	/* The row that was read last. */
	struct opk_table_row row;
	union opk_cell *cells;
	struct opk_fact_text *texts;
	bool *known;
	double *values;              /* one a column of the evaluation */
	uint64_t *counts, *measured; /* in the same way; one a metric */
	/* Where the next one is. */
	size_t input, joined;
};

/* The names of --columns: facts and "file"; false: it is a value, or nothing. */
bool opk_table_find(struct opk_table_column *out, enum opk_profiler profiler, const char *name);
/* Before evaluation: whether there may be such columns; any metric of the chip's may be. */
int opk_table_check_chosen(const struct opk_table *table, struct opk_ctx *ctx,
                           const struct opk_table_input *input);
/* Lists the chosen columns, or all, of evaluated inputs. */
int opk_table_list_columns(struct opk_table *table, struct opk_ctx *ctx);
/* Opens and evaluates all files. */
int opk_table_read(struct opk_table *table, struct opk_ctx *ctx);

#endif
