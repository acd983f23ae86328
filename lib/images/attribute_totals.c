/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of key groups: facts of launches that are in recordings, but not in images. */
#include <math.h>

#include "eval/door.h"
#include "eval/eval.h"
#include "images/images.h"

/* The launches of a row. A sum of launches has their common shape. */
static uint64_t launches_of(const struct opk_range *range)
{
	return range && range->count ? range->count : 1;
}

static void add_row(struct opk_totals *totals, const struct opk_sums *sums,
                    const struct opk_meta *meta, const char *name, size_t row, size_t at)
{
	const struct opk_range *range = opk_survey_range(sums->survey, row);
	uint64_t launches = launches_of(range);
	double value = opk_attribute_value(name, meta, range);

	if (isnan(value))
		return;
	totals->added[at] += value * (double)launches;
	totals->counts[at] += launches;
}

/* Numbers of blocks and threads add up; other attributes have a mean. */
static void finish_group(struct opk_totals *totals, const char *name, size_t at)
{
	if (!totals->counts[at])
		totals->added[at] = (double)NAN;
	else if (!opk_attribute_adds(name))
		totals->added[at] /= (double)totals->counts[at];
	totals->values[at] = totals->added[at];
	totals->weights[at] = OPK_EXACT;
}

void opk_totals_add_attributes(struct opk_totals *totals, const struct opk_evaluation *evaluation,
                               const struct opk_meta *meta, const struct opk_sums *sums)
{
	size_t metrics = opk_evaluation_metric_count(evaluation);

	for (size_t i = 0; i < metrics; i++) {
		const char *name = opk_evaluation_metric(evaluation, i);

		if (!opk_attribute_is_name(name))
			continue;
		for (size_t j = 0; j < sums->groups.count; j++) {
			totals->added[j * metrics + i] = 0;
			totals->counts[j * metrics + i] = 0;
		}
		for (size_t j = 0; j < sums->survey->row_count; j++)
			if (sums->group_of[j] != SIZE_MAX)
				add_row(totals, sums, meta, name, j,
				        sums->group_of[j] * metrics + i);
		for (size_t j = 0; j < sums->groups.count; j++)
			finish_group(totals, name, j * metrics + i);
	}
}
