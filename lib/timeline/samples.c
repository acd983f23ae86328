/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings samples into the order of time, without overlaps and pauses of sampling. */
#include <stdlib.h>

#include "timeline/timeline_inside.h"

static int by_gpu_and_time(const void *a, const void *b)
{
	const struct opk_sample *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->time.start != y->time.start)
		return x->time.start < y->time.start ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/*
 * Leaves out samples of unknown GPUs, and time that an earlier sample covers: a sample begins where
 * the one before it ends, and is dropped if no time is left.
 */
static void order(struct opk_sample *samples, size_t *count)
{
	size_t kept = 0;

	qsort(samples, *count, sizeof *samples, by_gpu_and_time);
	for (size_t i = 0; i < *count; i++) {
		struct opk_sample sample = samples[i];
		const struct opk_sample *before = kept ? &samples[kept - 1] : NULL;

		if (sample.gpu == UINT32_MAX)
			break;
		if (before && before->gpu == sample.gpu && sample.time.start < before->time.end)
			sample.time.start = before->time.end;
		if (sample.time.end > sample.time.start)
			samples[kept++] = sample;
	}
	*count = kept;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* All samples are from one GPU. */
static uint64_t median_length(uint64_t *room, const struct opk_sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		room[i] = samples[i].time.end - samples[i].time.start;
	qsort(room, count, sizeof *room, by_number);
	return room[count / 2];
}

/*
 * Leaves out samples that are much longer than others: sampling paused in them, and counters may
 * have stopped, so these samples say nothing about what ran.
 */
static int leave_out_pauses(struct opk_sample *samples, size_t *count, struct opk_ctx *ctx)
{
	enum { MUCH = 10 };
	opk_autofree uint64_t *room = opk_alloc_array(*count + 1, sizeof *room);
	size_t kept = 0;

	if (!room)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0, end; i < *count; i = end) {
		uint64_t longest;

		for (end = i + 1; end < *count && samples[end].gpu == samples[i].gpu;)
			end++;
		longest = MUCH * median_length(room, samples + i, end - i);
		for (size_t j = i; j < end; j++)
			if (samples[j].time.end - samples[j].time.start <= longest)
				samples[kept++] = samples[j];
	}
	*count = kept;
	return OPK_OK;
}

int opk_samples_order(struct opk_sample *samples, size_t *count, struct opk_ctx *ctx)
{
	order(samples, count);
	return leave_out_pauses(samples, count, ctx);
}
