/* SPDX-License-Identifier: BSD-2-Clause */
/* A chart as lists. */
#include "base/listing.h"
#include "series/series.h"

static struct opk_listing *list_about(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new("start_ns# end_ns# points#");

	opk_listing_row(rows, cell_number(chart->start_ns), cell_number(chart->end_ns),
	                cell_number(chart->points));
	return rows;
}

static union opk_cell cell_index(int32_t number)
{
	return cell_known((uint64_t)number, number >= 0);
}

static struct opk_listing *list_places(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new("title host gpu device~ rank~ samples#");

	for (size_t i = 0; i < chart->place_count; i++) {
		const struct opk_chart_place *of = &chart->places[i];

		opk_listing_row(rows, cell_text(of->title), cell_text(of->host), cell_text(of->gpu),
		                cell_index(of->device), cell_index(of->rank),
		                cell_number(of->samples));
	}
	return rows;
}

static struct opk_listing *list_lines(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new("place# name unit lowest% highest% missing#");

	for (size_t i = 0; i < chart->place_count; i++)
		for (size_t j = 0; j < chart->places[i].line_count; j++) {
			const struct opk_chart_line *of = &chart->places[i].lines[j];

			opk_listing_row(rows, cell_number(i), cell_text(of->name),
			                cell_text(of->unit), cell_value(of->lowest),
			                cell_value(of->highest), cell_number(of->missing));
		}
	return rows;
}

static struct opk_listing *list_lanes(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new("place# title is_range? row#");

	for (size_t i = 0; i < chart->place_count; i++)
		for (size_t j = 0; j < chart->places[i].lane_count; j++) {
			const struct opk_chart_lane *of = &chart->places[i].lanes[j];

			opk_listing_row(rows, cell_number(i), cell_text(of->title),
			                cell_flag(of->is_range), cell_number(of->row));
		}
	return rows;
}

static void add_bars(struct opk_listing *rows, const struct opk_chart_lane *lane, size_t number)
{
	for (size_t i = 0; i < lane->bar_count; i++) {
		const struct opk_chart_bar *of = &lane->bars[i];

		opk_listing_row(rows, cell_number(number), cell_number(of->start_ns),
		                cell_number(of->end_ns), cell_text(of->name),
		                cell_text(of->full_name), cell_number(of->records));
	}
}

static struct opk_listing *list_bars(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new(
		"lane# start_ns# end_ns# name full_name records#");

	for (size_t i = 0, lane = 0; i < chart->place_count; i++)
		for (size_t j = 0; j < chart->places[i].lane_count; j++)
			add_bars(rows, &chart->places[i].lanes[j], lane++);
	return rows;
}

int opk_chart_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_chart *chart,
                   enum opk_chart_list which)
{
	static struct opk_listing *(*const lists[])(const struct opk_chart *chart) = {
		[OPK_CHART_ABOUT] = list_about, [OPK_CHART_PLACES] = list_places,
		[OPK_CHART_LINES] = list_lines, [OPK_CHART_LANES] = list_lanes,
		[OPK_CHART_BARS] = list_bars,
	};

	return opk_listing_finish(out, ctx, lists[which](chart));
}

const double *opk_chart_line(const struct opk_chart *chart, size_t line, bool most)
{
	const struct opk_chart_place *place = chart->places;

	for (; line >= place->line_count; place++)
		line -= place->line_count;
	return most ? place->lines[line].most : place->lines[line].least;
}
