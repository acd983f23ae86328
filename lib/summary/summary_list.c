/* SPDX-License-Identifier: BSD-2-Clause */
/* A summary as lists. */
#include <math.h>

#include "base/listing.h"
#include "eval/door.h"
#include "summary/summary_inside.h"

static struct opk_listing *list_about(const struct opk_summary *s)
{
	static const char *const kinds[] = { "kernels", "ranges", "devices" };
	static const char *const times[] = { "", "ns", "cycles" };
	struct opk_listing *rows = opk_listing_new(
		"kind time_unit run machine clocks complete remarks*");

	opk_listing_row(rows, cell_text(kinds[s->kind]), cell_text(times[s->time]),
	                cell_text(s->words.run), cell_text(s->words.machine),
	                cell_text(s->words.clocks), cell_text(s->words.complete),
	                cell_texts(&s->remarks));
	return rows;
}

static struct opk_listing *list_columns(const struct opk_summary *s)
{
	struct opk_listing *rows = opk_listing_new(
		"name metric unit description heading inflated? unknown?");

	for (size_t i = 0; i < s->column_count; i++) {
		const struct opk_summary_column *of = &s->columns[i];

		opk_listing_row(rows, cell_text(of->name), cell_text(of->metric),
		                cell_text(of->unit), cell_text(of->description),
		                cell_text(of->heading ? of->heading->title : ""),
		                cell_flag(of->inflated), cell_flag(of->unknown));
	}
	return rows;
}

static struct opk_listing *list_groups(const struct opk_summary *s)
{
	struct opk_listing *rows = opk_listing_new("name count# time% share%");

	for (size_t i = 0; i < s->group_count; i++) {
		const struct opk_summary_group *group = &s->groups[i];
		const struct opk_range *range = &group->of->range;

		opk_listing_row(rows, cell_text(group->name),
		                cell_number(range->count ? range->count : 1),
		                cell_value(group->time), cell_value(group->share));
	}
	return rows;
}

static void add_value(struct opk_listing *rows, const struct opk_summary *s, size_t group,
                      const struct opk_summary_column *column)
{
	const struct opk_statistics *all = s->groups[group].of->columns, *of = &all[column->at];

	opk_listing_row(rows, cell_number(group), cell_text(column->name), cell_number(of->count),
	                cell_value(of->sum), cell_value(of->mean), cell_value(of->min),
	                cell_value(of->max), cell_value(of->p50), cell_value(of->p90),
	                cell_value(of->p99), cell_text(of->weighted_by ? of->weighted_by : ""),
	                cell_value(column->peak == SIZE_MAX ? (double)NAN
	                                                    : all[column->peak].mean));
}

static struct opk_listing *list_values(const struct opk_summary *s)
{
	struct opk_listing *rows = opk_listing_new(
		"group# column count# sum% mean% min% max% p50% p90% p99% weighted_by "
		"of_peak%");

	for (size_t i = 0; i < s->group_count; i++)
		for (size_t j = 0; j < s->column_count; j++)
			if (s->columns[j].at != SIZE_MAX)
				add_value(rows, s, i, &s->columns[j]);
	return rows;
}

static struct opk_listing *list_launched(const struct opk_summary *s)
{
	struct opk_listing *rows = opk_listing_new(
		"name launches# time_ns# least_ns# most_ns# share%");

	for (size_t i = 0; i < s->kernel_count; i++) {
		const struct opk_ran *ran = s->kernels[i].ran;

		opk_listing_row(rows, cell_text(s->kernels[i].name), cell_number(ran->launches),
		                cell_number(ran->time_ns), cell_number(ran->least_ns),
		                cell_number(ran->most_ns), cell_value(s->kernels[i].share));
	}
	return rows;
}

static struct opk_listing *list_peaks(const struct opk_summary *s)
{
	struct opk_listing *rows = opk_listing_new("kernel# name share%");
	size_t count = opk_summary_peak_count(s);

	for (size_t i = 0; i < s->kernel_count * count; i++)
		opk_listing_row(rows, cell_number(i / count),
		                cell_text(opk_summary_peak(s, i % count)),
		                cell_value(s->kernels[i / count].peaks[i % count]));
	return rows;
}

int opk_summary_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_summary *s,
                     enum opk_summary_list which)
{
	static struct opk_listing *(*const lists[])(const struct opk_summary *s) = {
		[OPK_SUMMARY_ABOUT] = list_about,       [OPK_SUMMARY_COLUMNS] = list_columns,
		[OPK_SUMMARY_GROUPS] = list_groups,     [OPK_SUMMARY_VALUES] = list_values,
		[OPK_SUMMARY_LAUNCHED] = list_launched, [OPK_SUMMARY_PEAKS] = list_peaks,
	};

	return opk_listing_finish(out, ctx, lists[which](s));
}
