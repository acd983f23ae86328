/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_parts.h"

#include "container/container.h"
#include "child/workers.h"

/*
 * What images cost, as bytes that take as long to unpack and to evaluate. A child takes some
 * milliseconds to begin, in which another does so much.
 */
static const uint64_t image_cost = 64 << 10, worthwhile = 16 << 20;

static uint64_t size_of(const struct opk_eval_job *job, size_t i)
{
	return job->file->sections[job->segments[i].image].plain_size;
}

static size_t count_parts(uint64_t total, size_t images, size_t workers)
{
	size_t most = workers ? workers : opk_core_count();

	if (!workers && total / worthwhile < most)
		most = total / worthwhile;
	if (most > OPK_MAX_WORKERS)
		most = OPK_MAX_WORKERS;
	most = most < images ? most : images;
	return most ? most : 1;
}

/* Each part but the last ends once it and those before it have their share of the bytes. */
static void divide(struct opk_eval_parts *parts, const struct opk_eval_job *job, uint64_t total)
{
	uint64_t done = 0;
	size_t part = 0;

	for (size_t i = job->first; i < job->end; i++) {
		if (job->unwanted[i])
			continue;
		if (part + 1 < parts->count && done >= total / parts->count * (part + 1)) {
			parts->jobs[part++].end = i;
			parts->jobs[part].first = i;
		}
		done += size_of(job, i) + image_cost;
	}
	/* Few large images may leave parts without any. */
	parts->jobs[part].end = job->end;
	parts->count = part + 1;
}

int opk_eval_parts_init(struct opk_eval_parts *parts, struct opk_ctx *ctx,
                        const struct opk_eval_job *job, size_t workers)
{
	uint64_t total = 0;
	size_t images = 0;

	*parts = (struct opk_eval_parts){ .largest = job->image_size };
	for (size_t i = job->first; i < job->end; i++)
		if (!job->unwanted[i]) {
			uint64_t size = size_of(job, i);

			images++;
			total += size + image_cost;
			parts->largest = size > parts->largest ? size : parts->largest;
		}
	parts->count = count_parts(total, images, workers);
	parts->jobs = opk_alloc_array(parts->count, sizeof *parts->jobs);
	if (!parts->jobs)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < parts->count; i++)
		parts->jobs[i] = *job;
	divide(parts, job, total);
	return OPK_OK;
}

void opk_eval_parts_clear(struct opk_eval_parts *parts)
{
	free(parts->jobs);
	*parts = (struct opk_eval_parts){ 0 };
}

uint64_t opk_images_size(const struct opk_file *file)
{
	uint64_t size = 0;

	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA)
			size += file->sections[i].plain_size;
	return size;
}
