/* SPDX-License-Identifier: BSD-2-Clause */
/* What ranges have in common, as columns of a table: those facts that some of them has. */
#ifndef OPK_RANGE_FACTS_H
#define OPK_RANGE_FACTS_H

#include "eval/eval_columns.h"

struct range_facts {
	struct eval_shape shape; /* `facts`: which */
	enum opk_fact facts[OPK_FACT_COUNT];
	struct opk_fact_text texts[OPK_FACT_COUNT]; /* what cells point to */
	size_t count;
};

/* Notes what the range has. */
void range_facts_find(struct range_facts *facts, const struct opk_range *range);
/* Adds the columns; returns how many. */
size_t range_facts_columns(struct range_facts *facts, struct opk_column *columns);
/* Fills the cells of these columns, until the next call; returns what is behind them. */
union opk_cell *range_facts_fill(struct range_facts *facts, union opk_cell *cells,
                                 const struct opk_range *range, bool many_streams);

#endif
