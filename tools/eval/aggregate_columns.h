/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of eval --aggregate: what ranges of a group have in common, and statistics of a metric. */
#ifndef OPK_AGGREGATE_COLUMNS_H
#define OPK_AGGREGATE_COLUMNS_H

#include "eval/eval_columns.h"

enum aggregate_kind {
	GROUP_NUMBER,
	GROUP_NAME,
	GROUP_FILE,
	GROUP_FACT, /* `fact`, in common */
	GROUP_METRIC,
	GROUP_UNIT,
	GROUP_COUNT,
	GROUP_SUM,
	GROUP_MEAN,
	GROUP_MIN,
	GROUP_MAX,
	GROUP_P50,
	GROUP_P90,
	GROUP_P99,
	GROUP_INFLATED,
	GROUP_KINDS
};

struct aggregate_column {
	enum aggregate_kind kind;
	enum opk_fact fact;
};

enum { AGGREGATE_COLUMNS = GROUP_KINDS + OPK_FACT_COUNT };

/* By name; `column` and `header` may be NULL. */
bool aggregate_column_find(struct aggregate_column *column, struct opk_column *header,
                           const char *name);
/* All their names; returns how many. */
size_t aggregate_columns_fixed(const char *out[AGGREGATE_COLUMNS]);
/*
 * Fills both with the columns chosen, or else those of which there is something to show; returns
 * their number. A choice of metrics alone leaves those that tell of groups out, one without
 * statistics has them all.
 */
size_t aggregate_columns_list(struct aggregate_column columns[AGGREGATE_COLUMNS],
                              struct opk_column headers[AGGREGATE_COLUMNS],
                              const struct eval_shape *shape);

#endif
