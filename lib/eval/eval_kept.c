/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates small recordings in a kept child, which keeps what each of them needs. */
#include <stdatomic.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "child/child.h"
#include "container/container.h"
#include "eval/eval_inside.h"

int opk_eval_job_of_file(struct opk_eval_job *job, bool **unwanted, struct opk_ctx *ctx,
                         struct opk_file *file, const struct opk_filter *filter)
{
	const struct opk_segment *segments;
	const struct opk_meta *meta;
	size_t count;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_segments(&segments, &count, ctx, file));
	TRY(opk_filter_segments(unwanted, ctx, filter, meta->profiler, segments, count, 0));
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

/* ---- in the child */

static struct opk_eval_warm warm;

static int read_metrics(struct opk_strlist *metrics, struct opk_ctx *ctx,
                        struct opk_reader *request)
{
	size_t count = opk_read_u64(request);

	for (size_t i = 0; i < count && !request->failed; i++) {
		size_t size = opk_read_u32(request);
		const char *name = opk_read_bytes(request, size);

		if (name && !opk_strlist_add(metrics, name))
			return opk_nomem(ctx, "an evaluation");
	}
	return request->failed ? OPK_EFAILED : OPK_OK;
}

static int evaluate(struct opk_ctx *ctx, const struct opk_strlist *metrics, bool plain,
                    struct opk_file *file, struct opk_child *child)
{
	opk_autofree bool *unwanted = NULL;
	struct opk_eval_job job;

	TRY(opk_eval_job_of_file(&job, &unwanted, ctx, file, NULL));
	job.metrics = opk_strlist_items(metrics);
	job.metric_count = metrics->count;
	job.plain = plain;
	job.warm = &warm;
	return opk_eval_in_child(ctx, &job, child);
}

static int answer(struct opk_ctx *ctx, struct opk_reader *request, int input,
                  struct opk_child *child)
{
	opk_autofree char *path = opk_printf("/proc/self/fd/%d", input);
	opk_autostrlist struct opk_strlist metrics = { 0 };
	opk_auto(opk_file) struct opk_file *file = NULL;
	bool plain = opk_read_u32(request);

	TRY(read_metrics(&metrics, ctx, request));
	TRY(path ? opk_file_open(&file, ctx, path) : OPK_ENOMEM);
	return evaluate(ctx, &metrics, plain, file, child);
}

/* The library's entry point, where the loader runs it as a program: see opk_as_program(). */
#ifdef __x86_64__
/* The loader jumps here without a call, so the stack is not aligned as in other functions. */
__attribute__((force_align_arg_pointer))
#endif
void opk_evaluator_main(void)
{
	opk_kept_serve(answer);
}

/* ---- its parent's side */

/*
 * If NVIDIA's libraries are loaded here, a forked child has them at once, while a kept one loads
 * them again: that pays only if more jobs follow.
 */
static bool pays(void)
{
	enum { FEW = 3 };
	static atomic_uint asked;

	return !opk_nv_loaded() || atomic_fetch_add(&asked, 1) >= FEW;
}

/* The child evaluates all rows of a file, even those that a filter refuses. */
static bool suits(const struct opk_eval_job *job)
{
	uint64_t size = 0;

	if (!job->file || job->file->joint || job->joining || job->apart)
		return false;
	for (size_t i = job->first; i < job->end; i++)
		size += job->file->sections[job->segments[i].image].plain_size;
	return size <= OPK_KEPT_MOST_BYTES;
}

int opk_eval_by_kept(bool *served, struct opk_result *result, struct opk_ctx *ctx,
                     const struct opk_eval_job *job, const struct opk_contain_options *contain)
{
	opk_autobuf struct opk_buf request = { 0 };
	struct opk_kept_ask ask = {
		.entry = opk_evaluator_main,
		.request = &request,
		.options = contain,
	};

	*served = false;
	if (!suits(job))
		return OPK_OK;
	ask.input = job->file->fd;
	ask.only_if_there = !pays();
	opk_buf_add_u32(&request, job->plain);
	opk_buf_add_u64(&request, job->metric_count);
	for (size_t i = 0; i < job->metric_count; i++) {
		size_t size_of_name = strlen(job->metrics[i]) + 1;

		opk_buf_add_u32(&request, (uint32_t)size_of_name);
		opk_buf_add(&request, job->metrics[i], size_of_name);
	}
	return opk_kept_ask(served, result, ctx, &ask);
}
