/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a recording from its own tables: without values, and without an NVIDIA library. */
#include "base/option_struct.h"
#include "eval/eval_inside.h"

static void add_segment(struct opk_made_rows *rows, const struct opk_segment *segment)
{
	for (size_t i = 0; i < segment->row_count; i++) {
		struct opk_row row = { .name = "" };
		struct opk_range *range = &rows->ranges[rows->count++];

		opk_segment_describe(&row, range, segment, i);
		if (row.range)
			*range = *row.range;
		range->start_ns = row.start_ns ? row.start_ns : range->start_ns;
		range->end_ns = row.end_ns ? row.end_ns : range->end_ns;
		range->name = range->name ? range->name : "";
	}
}

static int make_rows(struct opk_made_rows *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_segment *segments;
	size_t count, most = 0;

	TRY(opk_file_segments(&segments, &count, ctx, file));
	for (size_t i = 0; i < count; i++)
		most += segments[i].row_count;
	rows->ranges = opk_alloc_array(most + 1, sizeof *rows->ranges);
	rows->values = opk_alloc_array(1, sizeof *rows->values);
	if (!rows->ranges || !rows->values)
		return opk_nomem(ctx, "the ranges of a recording");
	for (size_t i = 0; i < count; i++)
		add_segment(rows, &segments[i]);
	return OPK_OK;
}

int opk_recorded_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *given)
{
	static const char *const none[] = { NULL };
	OPK_OPTIONS(opk_eval_options, options, given);
	__attribute__((cleanup(opk_made_rows_clear))) struct opk_made_rows rows = { 0 };
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	const struct opk_meta *meta;

	options.metrics = none;
	options.set = NULL;
	options.inside = NULL;
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_filter_of(&filter, ctx, &options));
	if (opk_filter_value_count(filter))
		return opk_fail(ctx, OPK_EUSAGE,
		                "conditions on values need values, and these are rows without any");
	TRY(opk_evaluation_begin_made(&evaluation, ctx, file, meta->profiler, &options));
	TRY(make_rows(&rows, ctx, file));
	TRY(opk_evaluation_put_made(evaluation, ctx, &rows, NULL));
	*out = opk_take(evaluation);
	return OPK_OK;
}
