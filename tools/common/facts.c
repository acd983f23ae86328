/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that ranges have. */
#include "common/facts.h"

/* Shown where some range has something there; the others only where all are asked for. */
static const bool basic[OPK_FACT_COUNT] = {
	[OPK_FACT_NVTX] = true,
	[OPK_FACT_RANK] = true,
	[OPK_FACT_SUMMED] = true,
	[OPK_FACT_DURATION] = true,
};

/* Rank 0 is one; of all other numbers 0 is nothing to show. */
static bool has_something(enum opk_fact fact, const struct opk_row *row)
{
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, fact, row, NULL);

	if (opk_fact_column(fact, OPK_PROFILER_RANGE)->type == OPK_CELL_STRING)
		return cell.string && *cell.string;
	return cell.optional.known && (cell.optional.uint || fact == OPK_FACT_RANK);
}

void facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count, bool all)
{
	for (size_t i = 0; i < count; i++) {
		const struct opk_row row = { .name = "", .range = &ranges[i] };

		found[OPK_FACT_KERNEL] |= *ranges[i].kernel;
		found[OPK_FACT_DEVICE] |= ranges[i].device > 0;
		for (enum opk_fact fact = OPK_FACT_LAUNCH; fact <= OPK_FACT_DURATION; fact++)
			if (!found[fact] && (all || basic[fact]))
				found[fact] = has_something(fact, &row);
	}
	found[OPK_FACT_GRID] = found[OPK_FACT_BLOCK] = found[OPK_FACT_KERNEL];
	found[OPK_FACT_DEVICE] |= found[OPK_FACT_KERNEL];
}

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
