/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran as an evaluation, whose rows are read as those of images are. */
#include <string.h>

#include "base/option_struct.h"
#include "timeline/door.h"
#include "timeline/timeline_inside.h"

static int make_rows(struct opk_ran_rows *rows, struct opk_evaluation *evaluation,
                     struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_eval_options *options)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);
	struct opk_evaluation *samples = NULL;
	int code = OPK_OK;

	if (columns->metric_count && !strcmp(columns->meta->mode, "trace"))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s only says what ran and when: it has no values of metrics",
		                file->path);
	if (columns->metric_count && columns->meta->profiler != OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has ranges, not PM samples, which could be divided among "
		                "kernels: statistics by kernel put ranges together",
		                file->path);
	if (columns->metric_count)
		code = opk_attribute(rows, &samples, ctx, file, columns, options);
	else
		rows->made.values = opk_alloc_array(1, sizeof *rows->made.values);
	/* Idle time is none of the launches, but some samples are its own. */
	rows->made.count += columns->metric_count || !rows->each_launch;
	if (!code && !rows->made.values)
		code = opk_nomem(ctx, "what ran");
	if (!code)
		code = opk_evaluation_put_made(evaluation, ctx, &rows->made, samples);
	opk_evaluation_free(samples);
	return code;
}

int opk_timeline_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *given, bool each_launch)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	struct opk_evaluation *evaluation = NULL;
	struct opk_ran_rows rows = { 0 };
	int code = OPK_OK;

	if (!options.allow_incomplete)
		code = opk_file_check_complete(ctx, file, OPK_REMEDY_ALLOW_INCOMPLETE);
	if (!code)
		code = opk_evaluation_begin_made(&evaluation, ctx, file, OPK_PROFILER_RANGE,
		                                 &options);
	if (!code)
		code = opk_ran_rows_init(&rows, ctx, file, each_launch);
	if (!code)
		code = make_rows(&rows, evaluation, ctx, file, &options);
	opk_ran_rows_clear(&rows);
	if (!code)
		*out = opk_take(evaluation);
	opk_evaluation_free(evaluation);
	return code;
}
