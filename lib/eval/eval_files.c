/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many recordings, such as one per rank of a job: small ones share a child, since it starts slowly.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "container/container.h"
#include "eval/eval_inside.h"
#include "child/child.h"

/* The decoded size of all its images. */
static uint64_t images_size(const struct opk_file *file)
{
	uint64_t size = 0;

	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA)
			size += file->sections[i].plain_size;
	return size;
}

/* What one child evaluates. Its result ends with a table of where each file's part ends. */
struct share {
	struct opk_eval_task **tasks;
	size_t count;
	uint64_t size; /* bytes of images */
};

/* Several children may share a larger file. */
static const uint64_t small_file = 32 << 20;

struct many {
	struct opk_ctx *ctx;
	const struct opk_eval_options *options;
	struct opk_eval_task *tasks; /* one per file */
	size_t count;
	struct opk_eval_task **left; /* those for children: their files lack values */
	size_t left_count;
	struct share *shares;
	struct opk_result *results; /* one per share */
	size_t share_count;
};

/* Names that were checked for the file before need no new check. */
static bool has_same_names(const struct opk_eval_job *one, const struct opk_eval_job *other)
{
	bool same = !strcmp(one->chip, other->chip) && one->profiler == other->profiler
	            && one->metric_count == other->metric_count;

	for (size_t i = 0; same && i < one->metric_count; i++)
		same = !strcmp(one->metrics[i], other->metrics[i]);
	return same;
}

/* In the child. */
static int evaluate_share(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct share *share = data;
	opk_autofree uint64_t *ends = opk_alloc_array(share->count, sizeof *ends);

	if (!ends)
		return opk_nomem(ctx, "an evaluation");
	child->whole = share->size;
	for (size_t i = 0; i < share->count; i++) {
		struct opk_eval_job *job = &share->tasks[i]->job;

		opk_child_progress(child, 0, 0);
		job->names_known = i && has_same_names(job, &share->tasks[i - 1]->job);
		TRY(opk_eval_in_child(ctx, job, child));
		ends[i] = (uint64_t)ftello(child->spool);
		child->before += images_size(job->file);
	}
	opk_put(child, ends, share->count * sizeof *ends);
	return OPK_OK;
}

/* A child that ran wild may send anything: reading stops at ends that go back. */
static int divide(struct many *m, const struct share *share, struct opk_result *result)
{
	uint64_t table = share->count * sizeof(uint64_t);
	opk_autosent struct opk_result ends = opk_result_part(result, result->end - table, table);

	for (size_t i = 0; i < share->count; i++) {
		uint64_t at = opk_get_number(&ends, result->end - table);
		opk_autosent struct opk_result part = opk_result_part(result, result->at,
		                                                      at - result->at);

		TRY(opk_result_check(&ends, m->ctx));
		TRY(opk_result_check(&part, m->ctx));
		TRY(opk_eval_task_take(share->tasks[i], m->ctx, &part));
		result->at = at;
	}
	return OPK_OK;
}

/* Makes a share per core, each with its part of the bytes. */
static int make_shares(struct many *m, uint64_t *largest)
{
	size_t most = m->options->workers ? m->options->workers : opk_core_count();
	uint64_t total = 0, done = 0;

	most = most < OPK_MAX_WORKERS ? most : OPK_MAX_WORKERS;
	most = most < m->left_count ? most : m->left_count;
	m->shares = opk_alloc_array(most, sizeof *m->shares);
	m->results = opk_alloc_array(most, sizeof *m->results);
	if (!m->shares || !m->results)
		return opk_nomem(m->ctx, "an evaluation");
	for (size_t i = 0; i < m->left_count; i++)
		total += images_size(m->left[i]->job.file);
	for (size_t i = 0; i < m->left_count; i++) {
		uint64_t size = images_size(m->left[i]->job.file);

		if (done >= total / most * m->share_count && m->share_count < most)
			m->shares[m->share_count++].tasks = &m->left[i];
		m->shares[m->share_count - 1].count++;
		m->shares[m->share_count - 1].size += size;
		done += size;
		*largest = size > *largest ? size : *largest;
	}
	return OPK_OK;
}

static int run_shares(struct many *m)
{
	struct opk_contain_options contain;
	uint64_t largest = 0;

	TRY(make_shares(m, &largest));
	contain = opk_eval_contain(largest);
	TRY(opk_contain_all(m->results, m->ctx,
	                    &(struct opk_contained){ evaluate_share, m->shares, sizeof *m->shares,
	                                             m->share_count },
	                    &contain));
	for (size_t i = 0; i < m->share_count; i++)
		TRY(divide(m, &m->shares[i], &m->results[i]));
	return OPK_OK;
}

static void clear(struct many *m)
{
	for (size_t i = 0; m->tasks && i < m->count; i++)
		opk_eval_task_clear(&m->tasks[i]);
	for (size_t i = 0; m->results && i < m->share_count; i++)
		opk_result_clear(&m->results[i]);
	free(m->tasks);
	free(m->left);
	free(m->shares);
	free(m->results);
}

static int evaluate_together(struct opk_evaluation **out, struct opk_ctx *ctx,
                             struct opk_file *const *files, size_t count,
                             const struct opk_eval_options *options)
{
	__attribute__((
		cleanup(clear))) struct many m = { .ctx = ctx, .options = options, .count = count };

	m.tasks = opk_alloc_array(count, sizeof *m.tasks);
	m.left = opk_alloc_array(count, sizeof *m.left);
	if (!m.tasks || !m.left)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < count; i++) {
		bool served;

		TRY(opk_check_interrupt(ctx));
		TRY(opk_eval_task_begin(&m.tasks[i], ctx, files[i], options));
		TRY(opk_eval_task_read(&served, &m.tasks[i], ctx, options));
		if (!served)
			m.left[m.left_count++] = &m.tasks[i];
	}
	/* Loads libraries once for all children, also where values were not enough. */
	if (m.left_count > 1)
		opk_nv_load(ctx);
	if (m.left_count)
		TRY(run_shares(&m));
	for (size_t i = 0; i < count; i++)
		TRY(opk_eval_task_finish(&out[i], ctx, &m.tasks[i]));
	return OPK_OK;
}

static void forget(struct opk_evaluation **out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		opk_evaluation_free(opk_take(out[i]));
}

/* If files fail together, halving finds the bad one, whose own evaluation gives the error. */
static int evaluate_some(struct opk_evaluation **out, struct opk_ctx *ctx,
                         struct opk_file *const *files, size_t count,
                         const struct opk_eval_options *options)
{
	size_t half = count / 2;
	int code;

	if (count == 1)
		return opk_eval_file(out, ctx, *files, options);
	code = evaluate_together(out, ctx, files, count, options);
	if (!code)
		return OPK_OK;
	forget(out, count);
	if (code == OPK_ENOMEM)
		return code;
	TRY(evaluate_some(out, ctx, files, half, options));
	return evaluate_some(out + half, ctx, files + half, count - half, options);
}

/* Counts one large file, or the small ones up to the next large one. */
static size_t count_next(struct opk_file *const *files, size_t count)
{
	size_t next = 0;

	while (next < count && images_size(files[next]) < small_file)
		next++;
	return next ? next : 1;
}

int opk_eval_files(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_eval_options *given)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	int code = OPK_OK;
	size_t unbaked = 0;

	memset(out, 0, count * sizeof *out);
	/* Checks all files first, so that a cut-off one is found before others are evaluated. */
	for (size_t i = 0; i < count; i++) {
		TRY(opk_eval_check_whole(ctx, files[i], options.allow_incomplete));
		unbaked += !opk_file_is_baked(files[i]);
	}
	/* Loads libraries once for all children. The first child says if they are missing. */
	if (unbaked > 1)
		opk_nv_load(ctx);
	for (size_t at = 0, next; !code && at < count; at += next) {
		next = count_next(files + at, count - at);
		code = evaluate_some(out + at, ctx, files + at, next, &options);
	}
	if (code)
		forget(out, count);
	return code;
}
