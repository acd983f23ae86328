/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran as an evaluation, with rows like those of images. */
#include <string.h>

#include "base/option_struct.h"
#include "timeline/door.h"
#include "timeline/timeline_inside.h"

static int fail_values(struct opk_ctx *ctx, const struct opk_file *file,
                       const struct opk_meta *meta)
{
	return opk_fail(ctx, OPK_EUSAGE,
	                !strcmp(meta->mode, "trace")
	                        ? "%s only says what ran and when: it has no values of metrics"
	                        : "%s has ranges, not PM samples, which could be divided among "
	                          "kernels: statistics by kernel put ranges together",
	                file->path);
}

static int make_rows(struct opk_ran_rows *rows, struct opk_evaluation *evaluation,
                     struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_eval_options *options)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);
	opk_auto(opk_evaluation) struct opk_evaluation *samples = NULL;
	const struct opk_meta *meta;
	bool values = columns->metric_count > 0;

	TRY(opk_file_meta(&meta, ctx, file));
	if (values && (!strcmp(meta->mode, "trace") || meta->profiler != OPK_PROFILER_PM))
		return fail_values(ctx, file, meta);
	if (values)
		TRY(opk_attribute(rows, &samples, ctx, file, columns, options));
	else
		rows->made.values = opk_alloc_array(1, sizeof *rows->made.values);
	/* Idle time is not a launch; among launches it has a row only for its samples' values. */
	rows->made.count += values || !rows->each_launch;
	if (!rows->made.values)
		return opk_nomem(ctx, "what ran");
	rows->made.texts = rows->nvtx.list;
	rows->nvtx.list = (struct opk_strlist){ 0 };
	return opk_evaluation_put_made(evaluation, ctx, &rows->made, samples);
}

int opk_timeline_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *given, bool each_launch)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	__attribute__((cleanup(opk_ran_rows_clear))) struct opk_ran_rows rows = { 0 };
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;

	if (!options.allow_incomplete)
		TRY(opk_file_check_complete(ctx, file, OPK_REMEDY_ALLOW_INCOMPLETE));
	TRY(opk_evaluation_begin_made(&evaluation, ctx, file, OPK_PROFILER_RANGE, &options));
	TRY(opk_ran_rows_init(&rows, ctx, file, &options, each_launch,
	                      opk_evaluation_columns(evaluation)->metric_count > 0));
	TRY(make_rows(&rows, evaluation, ctx, file, &options));
	*out = opk_take(evaluation);
	return OPK_OK;
}
