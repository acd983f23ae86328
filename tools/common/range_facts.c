/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/range_facts.h"

void range_facts_find(struct range_facts *facts, const struct opk_range *range)
{
	eval_shape_find(&facts->shape, range, 1);
}

size_t range_facts_columns(struct range_facts *facts, struct opk_column *columns)
{
	for (enum opk_fact fact = OPK_FACT_KERNEL; fact <= OPK_FACT_DURATION; fact++) {
		if (!facts->shape.facts[fact])
			continue;
		columns[facts->count] = *opk_fact_column(fact, OPK_PROFILER_RANGE);
		facts->facts[facts->count++] = fact;
	}
	return facts->count;
}

union opk_cell *range_facts_fill(struct range_facts *facts, union opk_cell *cells,
                                 const struct opk_range *range, bool many_streams)
{
	const struct opk_row row = { .name = "", .range = range };
	const struct opk_joined_row joined = { .many_streams = many_streams };

	for (size_t i = 0; i < facts->count; i++)
		*cells++ = opk_fact_get(&facts->texts[i], facts->facts[i], &row, &joined);
	return cells;
}
