/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/image_rows.h"

#include "container/container.h"
#include "eval/filter.h"

/* ---- rows ------------------------------------------------------------------------------- */

int opk_tables_read(struct opk_tables *tables, struct opk_ctx *ctx, struct opk_file *file)
{
	int code = opk_file_ranges(&tables->ranges, &tables->range_count, ctx, file);

	return code ? code : opk_file_times(&tables->times, &tables->time_count, ctx, file);
}

#define FACT(fact) (UINT64_C(1) << (fact))

/* What was recorded of the launch or the sample is better than what the image tells. */
static uint64_t tell_range(struct opk_row *row, const struct opk_range *range)
{
	uint64_t untold = 0;

	row->range = range;
	if (*range->name)
		row->name = range->name;
	else
		untold |= FACT(OPK_FACT_NAME);
	if (range->end_ns) {
		row->start_ns = range->start_ns;
		row->end_ns = range->end_ns;
	} else {
		untold |= FACT(OPK_FACT_SAMPLE_START) | FACT(OPK_FACT_SAMPLE_END);
	}
	return untold;
}

static void tell_time(struct opk_row *row, struct opk_range *room, const struct opk_time *time)
{
	row->start_ns = time->start;
	row->end_ns = time->end;
	*room = (struct opk_range){
		.name = "",
		.kernel = "",
		.symbol = "",
		.nvtx = "",
		.device = (int32_t)time->device,
		.rank = -1,
	};
	if (!row->range)
		row->range = room;
}

uint64_t opk_tables_tell(struct opk_row *row, struct opk_range *room,
                         const struct opk_tables *tables)
{
	const uint64_t times = FACT(OPK_FACT_SAMPLE_START) | FACT(OPK_FACT_SAMPLE_END);
	uint64_t untold = FACT(OPK_FACT_NAME) | times;

	if (row->index < tables->range_count)
		untold = tell_range(row, &tables->ranges[row->index]);
	if (row->index < tables->time_count) {
		tell_time(row, room, &tables->times[row->index]);
		untold &= ~times;
	}
	return untold | FACT(OPK_FACT_SPANS_EARLIER);
}

/* ---- whose they are --------------------------------------------------------------------- */

static size_t rows_of_table(const struct opk_file *file, size_t section, unsigned kind)
{
	return kind == OPK_KIND_RANGES ? opk_file_range_count(file, section)
	                               : opk_times_count(file->sections[section].plain_size);
}

/*
 * In each turn an image and one table of every kind that the file has. Of a file that was cut off
 * nobody knows what is missing, unless the image has the same place in each.
 */
struct turns {
	unsigned all, seen;
	int place, image_place; /* of the next section, and of the image in the first turn */
	size_t image, row, rows;
};

static bool take_section(struct turns *turns, const struct opk_file *file, size_t i, unsigned kind)
{
	bool other_table = turns->seen & ~OPK_KIND_IMAGE;
	size_t rows;

	if (turns->seen & kind)
		return false;
	turns->seen |= kind;
	if (kind == OPK_KIND_IMAGE) {
		turns->image = i;
		turns->image_place = turns->image_place < 0 ? turns->place : turns->image_place;
		return turns->place++ == turns->image_place || file->complete;
	}
	turns->place++;
	rows = rows_of_table(file, i, kind);
	if (other_table && rows != turns->rows)
		return false;
	turns->rows = rows;
	return true;
}

static void end_turn(struct turns *turns, struct opk_image_rows *out)
{
	out[turns->image] = (struct opk_image_rows){ .first = turns->row,
		                                     .count = turns->rows,
		                                     .known = true };
	turns->row += turns->rows;
	turns->rows = 0;
	turns->seen = 0;
	turns->place = 0;
}

static bool take_turns(struct opk_image_rows *out, const struct opk_file *file, unsigned all)
{
	struct turns turns = { .all = all, .image_place = -1 };

	for (size_t i = 0; i < file->section_count; i++) {
		unsigned kind = opk_section_kind(file->sections[i].type);

		if (kind && !take_section(&turns, file, i, kind))
			return false;
		if (turns.seen == all)
			end_turn(&turns, out);
	}
	if (file->complete)
		return !turns.seen;
	/* What was cut off may be the last image's. */
	if (turns.seen & OPK_KIND_IMAGE)
		end_turn(&turns, out);
	out[turns.image].open = true;
	return true;
}

static bool is_wanted(const struct opk_image_rows *rows, const struct opk_tables *tables,
                      enum opk_profiler profiler, const struct opk_filter *filter)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct opk_row row = { .index = rows->first + i, .name = "" };
		struct opk_range room;
		uint64_t untold = opk_tables_tell(&row, &room, tables);

		if (opk_filter_may_accept(filter, profiler, &row, untold))
			return true;
	}
	return false;
}

int opk_image_rows_find(struct opk_image_rows **out, struct opk_ctx *ctx,
                        const struct opk_file *file, const struct opk_tables *tables,
                        enum opk_profiler profiler, const struct opk_filter *filter)
{
	opk_autofree struct opk_image_rows *rows = opk_alloc_array(file->section_count + 1,
	                                                           sizeof *rows);
	unsigned all = opk_file_kinds(file);
	bool known;

	if (!rows)
		return opk_nomem(ctx, "an evaluation");
	known = all > OPK_KIND_IMAGE && all & OPK_KIND_IMAGE && take_turns(rows, file, all);
	for (size_t i = 0; i < file->section_count; i++) {
		if (!known)
			rows[i] = (struct opk_image_rows){ 0 };
		else if (rows[i].known && !rows[i].open && filter)
			rows[i].unwanted = !is_wanted(&rows[i], tables, profiler, filter);
	}
	*out = opk_take(rows);
	return OPK_OK;
}
