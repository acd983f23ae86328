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

/* Most launches of a kernel are alike: `last` has the value of its last one, for those after it. */
struct last {
	const struct opk_range *range;
	double value;
};

static void add_row(struct opk_totals *totals, const struct opk_meta *meta, const char *name,
                    const struct opk_range *range, struct last *last, size_t at)
{
	uint64_t launches = launches_of(range);

	if (!last->range || !opk_attributes_are_equal(last->range, range))
		*last = (struct last){ range, opk_attribute_value(name, meta, range) };
	if (isnan(last->value))
		return;
	totals->added[at] += last->value * (double)launches;
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

int opk_totals_add_attributes(struct opk_totals *totals, struct opk_ctx *ctx,
                              const struct opk_evaluation *evaluation, const struct opk_meta *meta,
                              const struct opk_sums *sums)
{
	size_t metrics = opk_evaluation_metric_count(evaluation);
	opk_autofree struct last *last = opk_alloc_array(sums->groups.count + 1, sizeof *last);

	if (!last)
		return opk_nomem(ctx, "statistics");

	for (size_t i = 0; i < metrics; i++) {
		const char *name = opk_evaluation_metric(evaluation, i);

		if (!opk_attribute_is_name(name))
			continue;
		for (size_t j = 0; j < sums->groups.count; j++) {
			totals->added[j * metrics + i] = 0;
			totals->counts[j * metrics + i] = 0;
			last[j].range = NULL;
		}
		for (size_t j = 0; j < sums->survey->row_count; j++)
			if (sums->group_of[j] != SIZE_MAX)
				add_row(totals, meta, name, opk_survey_range(sums->survey, j),
				        &last[sums->group_of[j]], sums->group_of[j] * metrics + i);
		for (size_t j = 0; j < sums->groups.count; j++)
			finish_group(totals, name, j * metrics + i);
	}
	return OPK_OK;
}
