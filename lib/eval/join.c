/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of several ranges as users see them: all of them, in the order of their first ranges. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "eval/eval_inside.h"

struct opk_join {
	const struct opk_evaluation *evaluation;
	struct opk_joining *joining; /* the evaluation's */
	size_t metric_count;
	struct opk_joined_row *rows;
	size_t count;
};

static int read_rows(struct opk_join *join, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	size_t size = join->metric_count * sizeof(double), read = 0;
	const struct opk_row *row;
	int code;

	while (!(code = opk_evaluation_next_by_facts(&row, ctx, evaluation)) && row) {
		memcpy(join->joining->means[row->index].values, row->values, size);
		read++;
	}
	if (!code && read != join->joining->count)
		return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
	return code;
}

/* Metrics that could have been there: those of known passes, and whatever some range has. */
static void find_expected(bool *expected, const struct opk_join *join)
{
	const struct opk_measured *passes = opk_evaluation_passes(join->evaluation);

	for (size_t i = 0; i < join->metric_count; i++)
		expected[i] = opk_measured_passes(passes, i)->count > 0;
	for (size_t i = 0; i < join->joining->count; i++)
		for (size_t j = 0; j < join->metric_count; j++)
			expected[j] |= join->joining->means[i].counts[j] > 0;
}

static struct opk_joined_row make_row(const struct opk_join *join, size_t number,
                                      const bool *expected)
{
	const struct opk_grouped *group = &join->joining->grouping.groups[number];
	const struct opk_mean *mean = &join->joining->means[number];
	struct opk_joined_row row = {
		.name = group->name,
		.range = group->range,
		.many_streams = group->many_streams,
		.ranges = group->rows,
		.ranges_min = group->rows,
		.values = mean->values,
		.counts = mean->counts,
	};

	for (size_t i = 0; i < join->metric_count; i++)
		if (expected[i] && mean->counts[i] < row.ranges_min)
			row.ranges_min = mean->counts[i];
	row.range.duration_ns = opk_mean_of(group->durations, group->duration_count);
	return row;
}

/* Values are judged here, where ranges of all passes have come together. */
static int make_rows(struct opk_join *join, struct opk_ctx *ctx)
{
	size_t most = join->joining->count;
	opk_autofree bool *expected = opk_alloc_array(join->metric_count + 1, sizeof *expected);

	join->rows = opk_alloc_array(most + 1, sizeof *join->rows);
	if (!expected || !join->rows)
		return opk_nomem(ctx, "joined ranges");
	find_expected(expected, join);
	for (size_t i = 0; i < most; i++)
		if (opk_evaluation_takes(join->evaluation, join->joining->means[i].values))
			join->rows[join->count++] = make_row(join, i, expected);
	return OPK_OK;
}

int opk_join_new(struct opk_join **out, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	struct opk_join *join;
	int code;

	if (!opk_evaluation_joining(evaluation))
		return opk_fail(ctx, OPK_EUSAGE, "the evaluation's rows are single ranges");
	join = opk_alloc(sizeof *join);
	if (!join)
		return opk_nomem(ctx, "joined ranges");
	join->evaluation = evaluation;
	join->joining = opk_evaluation_joining(evaluation);
	join->metric_count = opk_evaluation_metric_count(evaluation);
	code = read_rows(join, ctx, evaluation);
	if (!code)
		code = make_rows(join, ctx);
	if (code) {
		opk_join_free(join);
		return code;
	}
	*out = join;
	return OPK_OK;
}

void opk_join_free(struct opk_join *join)
{
	if (!join)
		return;
	free(join->rows);
	free(join);
}

size_t opk_join_count(const struct opk_join *join)
{
	return join->count;
}

const struct opk_joined_row *opk_join_get(const struct opk_join *join, size_t i)
{
	return &join->rows[i];
}

uint64_t opk_join_left_out(const struct opk_join *join)
{
	return join->joining->left_out;
}
