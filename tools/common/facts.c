/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that ranges have. */
#include "common/facts.h"

static bool is_known(enum opk_fact fact, const struct opk_range *range)
{
	const struct opk_row row = { .name = range->name, .range = range };
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, fact, &row, NULL);
	enum opk_cell_type type = opk_fact_column(fact, OPK_PROFILER_RANGE)->type;

	if (type == OPK_CELL_STRING)
		return cell.string && *cell.string;
	return type != OPK_CELL_OPTIONAL || cell.optional.known;
}

bool facts_known(enum opk_fact fact, const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_known(fact, &ranges[i]))
			return true;
	return false;
}
