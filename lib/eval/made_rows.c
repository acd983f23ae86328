/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows that no image has, such as those of kernels on the timeline. */
#include <string.h>

#include "eval/eval_inside.h"

void opk_made_rows_clear(struct opk_made_rows *rows)
{
	free(rows->ranges);
	free(rows->ran);
	free(rows->values);
	*rows = (struct opk_made_rows){ 0 };
}

int opk_evaluation_begin_made(struct opk_evaluation **out, struct opk_ctx *ctx,
                              struct opk_file *file, enum opk_profiler profiler,
                              const struct opk_eval_options *options)
{
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	struct opk_eval_job job = { .file = file };
	int code = opk_filter_of(&filter, ctx, options);

	if (code)
		return code;
	code = opk_file_meta(&job.meta, ctx, file);
	if (!code)
		code = opk_filter_check(filter, ctx, profiler);
	if (!code)
		code = opk_evaluation_begin(out, ctx, &job, options, opk_take(filter));
	if (code)
		return opk_add(ctx, code, "can't evaluate %s", file->path);
	(*out)->is_made = true;
	(*out)->spools.header.profiler = profiler;
	snprintf((*out)->spools.header.chip, sizeof(*out)->spools.header.chip, "%s",
	         job.meta->chip);
	return OPK_OK;
}

int opk_evaluation_put_made(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                            struct opk_made_rows *rows, const struct opk_evaluation *samples)
{
	size_t count = evaluation->metrics.count;

	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(&evaluation->units, samples ? samples->units.items[i] : ""))
			return opk_nomem(ctx, "an evaluation");
	if (samples) {
		memcpy(evaluation->explained, samples->explained, count * sizeof(bool));
		memcpy(evaluation->bound, samples->bound, count * sizeof(bool));
	}
	evaluation->made = *rows;
	*rows = (struct opk_made_rows){ 0 };
	return opk_columns_find_units(&evaluation->columns, ctx, &evaluation->units);
}

size_t opk_evaluation_ranges(const struct opk_range **ranges,
                             const struct opk_evaluation *evaluation)
{
	*ranges = evaluation->made.ranges;
	return evaluation->made.count;
}

const struct opk_row *opk_made_row(struct opk_evaluation *evaluation, size_t number)
{
	const struct opk_made_rows *made = &evaluation->made;
	const struct opk_range *range = &made->ranges[number];
	size_t metrics = evaluation->metrics.count;

	memcpy(evaluation->values, made->values + number * metrics,
	       metrics * sizeof *evaluation->values);
	evaluation->row = (struct opk_row){
		.index = number,
		.name = range->name,
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.values = evaluation->values,
		.measured = evaluation->measured,
		.range = range,
		.ran = made->ran ? &made->ran[number] : NULL,
	};
	opk_evaluation_apply(evaluation);
	return &evaluation->row;
}
