/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps what each launch measured, as far as it can be shown, without averaging. */
#include <math.h>

#include "answers/door.h"
#include "report/report_inside.h"

/* Limits: values of a metric and kernel (more become pairs of least and greatest), sizes. */
enum { MOST_VALUES = 120, MOST_LANE_SUMS = 8 << 20, MOST_SPREADS = 2 << 20 };

static struct report_spread *find_spread(struct report_run *run, size_t group, size_t column)
{
	return &run->spreads[group * run->spread_columns + column];
}

/* Makes room in the table, with new entries empty; NULL: it would be too large. */
static struct report_spread *make_room(struct report_run *run, size_t group, size_t column)
{
	size_t columns = column + 1 > run->spread_columns ? 2 * (column + 1) : run->spread_columns;
	size_t groups = group + 1 > run->spread_count ? 2 * (group + 1) : run->spread_count;
	struct report_spread *spreads;

	if (columns == run->spread_columns && groups == run->spread_count)
		return find_spread(run, group, column);
	if (groups > MOST_SPREADS / columns)
		groups = MOST_SPREADS / columns;
	if (group >= groups || groups < run->spread_count)
		return NULL;
	spreads = opk_alloc_array(groups * columns, sizeof *spreads);
	run->failed = !spreads;
	if (!spreads)
		return NULL;
	for (size_t i = 0; i < run->spread_count; i++)
		memcpy(spreads + i * columns, run->spreads + i * run->spread_columns,
		       run->spread_columns * sizeof *spreads);
	free(run->spreads);
	run->spreads = spreads;
	run->spread_columns = columns;
	run->spread_count = groups;
	return find_spread(run, group, column);
}

/* NaN values stay NaN: a launch without a value is visible. */
static void reduce(float pair[2], const double *values, size_t count)
{
	pair[0] = INFINITY;
	pair[1] = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i])) {
			pair[0] = pair[1] = NAN;
			return;
		}
		pair[0] = (float)fmin(pair[0], values[i]);
		pair[1] = (float)fmax(pair[1], values[i]);
	}
}

static void fill(struct report_spread *spread, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i += spread->each) {
		size_t some = count - i < spread->each ? count - i : spread->each;

		if (spread->each == 1)
			spread->values[spread->count++] = (float)values[i];
		else
			reduce(spread->values + spread->count, values + i, some);
		spread->count += spread->each == 1 ? 0 : 2;
	}
}

/* Adds the values of each lane, unless that needs too much memory. */
static bool take_lanes(struct report_run *run, struct report_spread *spread, const double *values,
                       const size_t *rows, size_t count)
{
	struct report_lanes *lanes = &run->lanes;

	if (lanes->count < 2 || lanes->kept + lanes->count > MOST_LANE_SUMS)
		return true;
	spread->lanes = opk_alloc_array(lanes->count, sizeof *spread->lanes);
	if (!spread->lanes)
		return false;
	lanes->kept += lanes->count;
	for (size_t i = 0; i < count; i++) {
		struct report_sum *sum = &spread->lanes[lanes->of_row[rows[i]]];

		sum->sum += values[i];
		sum->count++;
	}
	return true;
}

void report_begin_values(void *data, size_t time_column)
{
	struct report_run *run = data;

	if (run->answers)
		opk_answers_watch(run->answers, time_column);
}

void report_take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count)
{
	struct report_run *run = data;
	struct report_spread *spread;

	if (run->answers)
		opk_answers_take(run->answers, group, column, values, count);
	/* A single launch equals its mean. */
	if (run->failed || (count < 2 && run->lanes.count < 2))
		return;
	spread = make_room(run, group, column);
	if (!spread)
		return;
	run->failed = !take_lanes(run, spread, values, rows, count);
	if (count < 2 || run->failed)
		return;
	spread->each = count <= MOST_VALUES ? 1 : (2 * count + MOST_VALUES - 1) / MOST_VALUES;
	spread->values = opk_alloc_array(count <= MOST_VALUES ? count : MOST_VALUES + 2,
	                                 sizeof *spread->values);
	if (spread->values)
		fill(spread, values, count);
	run->failed |= !spread->values;
}

void report_clear_spreads(struct report_run *run)
{
	for (size_t i = 0; i < run->spread_count * run->spread_columns; i++) {
		free(run->spreads[i].values);
		free(run->spreads[i].lanes);
	}
	free(run->spreads);
}
