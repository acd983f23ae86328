/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins ranges that have one group's metrics each. */
#include <math.h>
#include <string.h>

#include "eval/eval_inside.h"

/* The sums of a group's values; the group itself is one of the grouping's. */
struct joined {
	struct opk_joined_row row;
	double *values;
	uint64_t *counts;
};

struct opk_join {
	size_t metric_count;
	struct opk_grouping grouping;
	struct joined *rows; /* one a group */
	size_t count;
	size_t capacity;
	uint64_t left_out;
};

static int add_row(struct opk_join *join, struct opk_ctx *ctx)
{
	struct joined *joined;

	if (!opk_grow(&join->rows, &join->capacity, join->count, sizeof *join->rows))
		return opk_nomem(ctx, "joined ranges");
	/* It counts, so that it is freed. */
	joined = &join->rows[join->count++];
	*joined = (struct joined){
		.values = opk_alloc_array(join->metric_count, sizeof *joined->values),
		.counts = opk_alloc_array(join->metric_count, sizeof *joined->counts),
	};
	return joined->values && joined->counts ? OPK_OK : opk_nomem(ctx, "joined ranges");
}

static int take(struct opk_join *join, struct opk_ctx *ctx, const struct opk_row *row)
{
	struct joined *joined;
	size_t index;
	int code = opk_grouping_add(&index, &join->grouping, ctx, row->name, row->range);

	if (!code && index == join->count)
		code = add_row(join, ctx);
	if (code)
		return code;
	joined = &join->rows[index];
	/* A measured NaN makes the sum and the mean NaN: they could not be computed. */
	for (size_t i = 0; i < join->metric_count; i++)
		if (row->measured[i]) {
			joined->values[i] += row->values[i];
			joined->counts[i]++;
		}
	return OPK_OK;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Metrics that could have been there: those of a group, and whatever some range has. */
static void find_expected(bool *expected, const struct opk_join *join, const bool *grouped)
{
	memcpy(expected, grouped, join->metric_count * sizeof *expected);
	for (size_t i = 0; i < join->count; i++)
		for (size_t j = 0; j < join->metric_count; j++)
			expected[j] |= join->rows[i].counts[j] > 0;
}

static void finish_row(struct joined *joined, const struct opk_join *join,
                       const struct opk_grouped *group, const bool *expected)
{
	struct opk_joined_row *row = &joined->row;
	uint64_t least = group->rows;

	for (size_t i = 0; i < join->metric_count; i++) {
		uint64_t count = joined->counts[i];

		joined->values[i] = count ? joined->values[i] / (double)count : (double)NAN;
		if (expected[i] && count < least)
			least = count;
	}
	*row = (struct opk_joined_row){
		.name = group->name,
		.range = group->range,
		.many_streams = group->many_streams,
		.ranges = group->rows,
		.ranges_min = least,
		.values = joined->values,
		.counts = joined->counts,
	};
	row->range.duration_ns = group->duration_count
	                                 ? (uint64_t)((double)group->durations
	                                                      / (double)group->duration_count
	                                              + 0.5)
	                                 : 0;
}

static void clear_row(struct joined *joined)
{
	free(joined->values);
	free(joined->counts);
}

/* Values are judged here, where ranges of all groups have come together. */
static void keep_wanted(struct opk_join *join, const struct opk_evaluation *evaluation)
{
	size_t count = 0;

	for (size_t i = 0; i < join->count; i++) {
		if (opk_evaluation_takes(evaluation, join->rows[i].values))
			join->rows[count++] = join->rows[i];
		else
			clear_row(&join->rows[i]);
	}
	join->count = count;
}

static int join_rows(struct opk_join *join, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	opk_autofree bool *expected = opk_alloc_array(join->metric_count, sizeof *expected);
	const struct opk_row *row;
	int code = expected ? OPK_OK : opk_nomem(ctx, "joined ranges");

	while (!code && !(code = opk_evaluation_next_by_facts(&row, ctx, evaluation)) && row) {
		if (row->range)
			code = take(join, ctx, row);
		else
			join->left_out++;
	}
	if (!code && !join->count && join->left_out)
		code = opk_fail(ctx, OPK_EINPUT, "ranges can't be joined without a range table");
	if (code)
		return code;
	find_expected(expected, join, opk_evaluation_groups(evaluation)->grouped);
	for (size_t i = 0; i < join->count; i++)
		finish_row(&join->rows[i], join, &join->grouping.groups[i], expected);
	keep_wanted(join, evaluation);
	return OPK_OK;
}

static int find_key(unsigned *key, struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                    const char *how)
{
	/* The same index with another kernel is another launch: that program took another way. */
	static const struct {
		const char *how;
		unsigned key;
	} joins[] = {
		{ "kernel", OPK_KEY_KERNEL | OPK_KEY_SHAPE | OPK_KEY_SHARED | OPK_KEY_DEVICE },
		{ "launch",
		  OPK_KEY_KERNEL | OPK_KEY_SHAPE | OPK_KEY_LAUNCH | OPK_KEY_DEVICE | OPK_KEY_RANK },
		{ "name", OPK_KEY_NAME | OPK_KEY_DEVICE | OPK_KEY_RANK },
	};
	const struct opk_meta *meta = opk_evaluation_groups(evaluation)->meta;

	if (!meta || meta->profiler != OPK_PROFILER_RANGE)
		return opk_fail(ctx, OPK_EUSAGE, "only ranges of a recording can be joined");
	how = how ? how : meta->join;
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strcmp(how, joins[i].how)) {
			*key = joins[i].key;
			return OPK_OK;
		}
	return opk_fail(ctx, OPK_EUSAGE, "'%s' is no way to join ranges", how);
}

int opk_join_new(struct opk_join **out, struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                 const char *how)
{
	struct opk_join *join = opk_alloc(sizeof *join);
	int code = join ? find_key(&join->grouping.key, ctx, evaluation, how)
	                : opk_nomem(ctx, "joined ranges");

	if (!code) {
		join->metric_count = opk_evaluation_metric_count(evaluation);
		code = join_rows(join, ctx, evaluation);
	}
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
	for (size_t i = 0; i < join->count; i++)
		clear_row(&join->rows[i]);
	free(join->rows);
	opk_grouping_clear(&join->grouping);
	free(join);
}

size_t opk_join_count(const struct opk_join *join)
{
	return join->count;
}

const struct opk_joined_row *opk_join_get(const struct opk_join *join, size_t i)
{
	return &join->rows[i].row;
}

uint64_t opk_join_left_out(const struct opk_join *join)
{
	return join->left_out;
}
