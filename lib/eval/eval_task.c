/* SPDX-License-Identifier: BSD-2-Clause */
/* A file's evaluation on its way: checked, divided among children, finished. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "container/container.h"
#include "eval/eval_inside.h"

int opk_eval_check_whole(struct opk_ctx *ctx, struct opk_file *file, bool allow_incomplete)
{
	bool has_data = opk_file_find(file, OPK_SECTION_DATA) >= 0;
	const struct opk_meta *meta;
	int code = opk_file_meta(&meta, ctx, file);

	if (!code && !allow_incomplete && has_data)
		code = opk_file_check_complete(ctx, file, OPK_REMEDY_ALLOW_INCOMPLETE);
	if (code || has_data)
		return code;
	return opk_fail(ctx, OPK_EINPUT, "%s: no counter data; %s", file->path,
	                !file->complete             ? "it was cut off before any was whole"
	                : opk_meta_is_probe(meta)   ? "it says what a GPU is like"
	                : strcmp(meta->kind, "set") ? "nothing that was to be recorded happened"
	                                            : "it was built, not yet recorded");
}

/*
 * No byte of a file goes on unless it is whole, has data and every checksum is right. Images are
 * checked where they are decoded.
 */
static int check_file(struct opk_ctx *ctx, struct opk_file *file, bool allow_incomplete)
{
	TRY(opk_eval_check_whole(ctx, file, allow_incomplete));
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type != OPK_SECTION_DATA)
			TRY(opk_file_verify(ctx, file, i));
	}
	return OPK_OK;
}

int opk_eval_job_of_file(struct opk_eval_job *job, bool **unwanted, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_filter *filter)
{
	const struct opk_segment *segments;
	const struct opk_meta *meta;
	size_t count;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_segments(&segments, &count, ctx, file));
	TRY(opk_filter_segments(unwanted, ctx, filter, meta->profiler, segments, count));
	*job = (struct opk_eval_job){
		.file = file,
		.meta = meta,
		.segments = segments,
		.unwanted = *unwanted,
		.end = count,
		.chip = meta->chip,
		.has_profiler = true,
		.profiler = meta->profiler,
		.gpu_time_shift = meta->gpu_time_shift,
	};
	return OPK_OK;
}

int opk_eval_task_begin(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                        const struct opk_eval_options *options)
{
	const struct opk_eval_inside *inside = opk_eval_inside(options);
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	struct opk_eval_job *job = &task->job;
	const struct opk_meta *meta;
	const char *how;
	int code = check_file(ctx, file, options->allow_incomplete);

	if (!code)
		code = opk_file_meta(&meta, ctx, file);
	if (!code)
		code = opk_filter_of(&filter, ctx, options);
	if (!code)
		code = opk_filter_check(filter, ctx, meta->profiler);
	if (code)
		return code;
	how = inside->join && !*inside->join ? meta->join : inside->join;
	how = how && *how ? how : NULL;
	code = opk_eval_job_of_file(job, &task->unwanted, ctx, file, filter);
	if (code)
		return opk_add(ctx, code, "can't evaluate %s", file->path);
	code = opk_evaluation_begin(&task->evaluation, ctx, job, options, opk_take(filter));
	if (!code && how)
		code = opk_joining_new(&task->evaluation->joining, ctx, job, how);
	if (!code && how) {
		job->joining = task->evaluation->joining;
		job->end_mean = job->joining->image_count;
	}
	return code ? opk_add(ctx, code, "can't evaluate %s", file->path) : OPK_OK;
}

int opk_eval_task_take(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_result *result)
{
	struct opk_spools *spools = &task->evaluation->spools;

	TRY(opk_spools_init(spools, ctx, 1));
	*spools->results = *result;
	*result = (struct opk_result){ 0 };
	return OPK_OK;
}

int opk_eval_task_finish(struct opk_evaluation **out, struct opk_ctx *ctx,
                         struct opk_eval_task *task)
{
	struct opk_evaluation *evaluation = task->evaluation;
	int code = opk_evaluation_finish(evaluation, ctx);

	if (!code)
		code = opk_evaluation_note_remarks(evaluation, ctx, task->job.file->path);
	if (code)
		return opk_add(ctx, code, "can't evaluate %s", task->job.file->path);
	evaluation->segments = task->job.segments;
	evaluation->segment_count = task->job.end;
	*out = opk_take(task->evaluation);
	return OPK_OK;
}

void opk_eval_task_clear(struct opk_eval_task *task)
{
	opk_evaluation_free(task->evaluation);
	free(task->unwanted);
	*task = (struct opk_eval_task){ 0 };
}

/* What it names is not known, and the recording named it, not the caller. */
static int fail_recorded(struct opk_ctx *ctx, uint32_t cupti_version)
{
	const struct opk_nv_release release = opk_nv_release_of(cupti_version);

	if (!*release.name)
		return opk_add(ctx, OPK_EFAILED,
		               "it does not say with which CUPTI it was made; choose metrics to "
		               "evaluate some");
	return opk_add(ctx, OPK_EFAILED,
	               "it was made with %s; take that, or choose metrics to evaluate some",
	               release.name);
}

int opk_eval_file(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *given)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	struct opk_eval_task task = { 0 };
	int code = opk_eval_task_begin(&task, ctx, file, &options);

	if (!code) {
		code = opk_eval_run(&task.evaluation->spools, ctx, &task.job, &options);
		if (code == OPK_EUSAGE && !options.metrics && !task.evaluation->columns.also_count)
			code = fail_recorded(ctx, task.job.meta->cupti_version);
		code = code ? opk_add(ctx, code, "can't evaluate %s", file->path)
		            : opk_eval_task_finish(out, ctx, &task);
	}
	opk_eval_task_clear(&task);
	return code;
}
