/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what ran in each sample, and for how long. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/timeline.h"

int opk_fail_at_once(struct opk_ctx *ctx)
{
	return opk_fail(ctx, OPK_EINPUT, "more than %d kernels run at once, which no GPU does",
	                OPK_MOST_AT_ONCE);
}

/*
 * Sums over time, from the first boundary until each boundary. Between two boundaries the same
 * stretches run.
 */
struct sums {
	uint64_t *times;
	double *share; /* of a stretch that runs all the time */
	double *idle, *shared;
	uint32_t *running; /* after the boundary */
	size_t count;
};

static void clear_sums(struct sums *sums)
{
	free(sums->times);
	free(sums->share);
	free(sums->idle);
	free(sums->shared);
	free(sums->running);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void add_boundary(struct sums *sums, uint64_t time, uint32_t running)
{
	size_t at = sums->count;

	if (at && sums->times[at - 1] == time) {
		sums->running[at - 1] = running;
		return;
	}
	if (at) {
		double passed = (double)(time - sums->times[at - 1]);
		uint32_t before = sums->running[at - 1];

		sums->share[at] = sums->share[at - 1] + (before ? passed / before : 0);
		sums->idle[at] = sums->idle[at - 1] + (before ? 0 : passed);
		sums->shared[at] = sums->shared[at - 1] + (before > 1 ? passed : 0);
	}
	sums->times[at] = time;
	sums->running[at] = running;
	sums->count++;
}

static int make_sums(struct sums *sums, struct opk_ctx *ctx, const struct opk_stretch *stretches,
                     size_t count)
{
	opk_autofree uint64_t *ends = opk_alloc_array(count + 1, sizeof *ends);
	uint32_t running = 0;

	sums->times = opk_alloc_array(2 * count + 1, sizeof *sums->times);
	sums->share = opk_alloc_array(2 * count + 1, sizeof *sums->share);
	sums->idle = opk_alloc_array(2 * count + 1, sizeof *sums->idle);
	sums->shared = opk_alloc_array(2 * count + 1, sizeof *sums->shared);
	sums->running = opk_alloc_array(2 * count + 1, sizeof *sums->running);
	if (!ends || !sums->times || !sums->share || !sums->idle || !sums->shared || !sums->running)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++)
		ends[i] = stretches[i].end > stretches[i].start ? stretches[i].end
		                                                : stretches[i].start;
	qsort(ends, count, sizeof *ends, by_time);
	for (size_t i = 0, end = 0; end < count;) {
		/* At equal times starts come before ends, so that `running` never drops below 0. */
		if (i < count && stretches[i].start <= ends[end])
			add_boundary(sums, stretches[i++].start, ++running);
		else
			add_boundary(sums, ends[end++], --running);
		if (running > OPK_MOST_AT_ONCE)
			return opk_fail_at_once(ctx);
	}
	return OPK_OK;
}

/* The sums at a time. */
struct sum {
	double share, idle, shared;
};

static struct sum sum_at(const struct sums *sums, uint64_t time)
{
	size_t low = 0, high = sums->count;
	double passed;
	uint32_t running;

	/* Finds the last boundary at or before `time`. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sums->times[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low) {
		passed = sums->count ? (double)(sums->times[0] - time) : 0;
		return (struct sum){ 0, -passed, 0 };
	}
	low--;
	passed = (double)(time - sums->times[low]);
	running = sums->running[low];
	return (struct sum){
		sums->share[low] + (running ? passed / running : 0),
		sums->idle[low] + (running ? 0 : passed),
		sums->shared[low] + (running > 1 ? passed : 0),
	};
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The first sample that ends after the stretch begins; it only moves forward, as starts do. */
static size_t next_sample(size_t at, const struct opk_stretch *stretch,
                          const struct opk_sample_time *samples, size_t count)
{
	while (at < count && samples[at].end <= stretch->start)
		at++;
	return at;
}

static uint32_t count_rows(const struct opk_stretch *stretches, size_t count)
{
	uint32_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows = stretches[i].row >= rows ? stretches[i].row + 1 : rows;
	return rows;
}

/* Counts a row once per sample: `counted` has the end of the samples already counted for it. */
static int count_items(struct opk_overlaps *out, struct opk_ctx *ctx,
                       const struct opk_stretch *stretches, size_t count,
                       const struct opk_sample_time *samples)
{
	opk_autofree size_t *counted = opk_alloc_array((size_t)count_rows(stretches, count) + 1,
	                                               sizeof *counted);
	size_t at = 0, total = 0;

	if (!counted)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++) {
		size_t *end = &counted[stretches[i].row], j;

		at = next_sample(at, &stretches[i], samples, out->sample_count);
		for (j = at > *end ? at : *end;
		     j < out->sample_count && samples[j].start < stretches[i].end; j++)
			out->first[j + 1]++;
		*end = j > *end ? j : *end;
	}
	for (size_t j = 0; j < out->sample_count; j++) {
		total += out->first[j + 1];
		out->first[j + 1] = total;
	}
	out->items = opk_alloc_array(total + 1, sizeof *out->items);
	return out->items ? OPK_OK : opk_nomem(ctx, "kernels on the timeline");
}

/* The last sample with an item of a row, and this item's place + 1; 0: none. */
struct last_item {
	size_t sample, after;
};

/* Adds to the row's item of a sample. Only overlapping stretches of a row revisit samples. */
static void add_item(struct opk_overlaps *out, struct last_item *last, size_t *ends, size_t sample,
                     struct opk_overlap item)
{
	size_t at = last->after;

	if (!at || sample > last->sample) {
		out->items[ends[sample]++] = item;
		*last = (struct last_item){ sample, ends[sample] };
		return;
	}
	if (sample < last->sample)
		for (at = ends[sample]; out->items[at - 1].row != item.row; at--)
			;
	out->items[at - 1].time += item.time;
	out->items[at - 1].share += item.share;
}

static int fill_items(struct opk_overlaps *out, struct opk_ctx *ctx, const struct sums *sums,
                      const struct opk_stretch *stretches, size_t count,
                      const struct opk_sample_time *samples)
{
	opk_autofree size_t *ends = opk_alloc_array(out->sample_count + 1, sizeof *ends);
	opk_autofree struct last_item *last = opk_alloc_array((size_t)count_rows(stretches, count)
	                                                              + 1,
	                                                      sizeof *last);
	size_t at = 0;

	if (!ends || !last)
		return opk_nomem(ctx, "kernels on the timeline");
	memcpy(ends, out->first, out->sample_count * sizeof *ends);
	for (size_t i = 0; i < count; i++) {
		const struct opk_stretch *s = &stretches[i];

		at = next_sample(at, s, samples, out->sample_count);
		for (size_t j = at; j < out->sample_count && samples[j].start < s->end; j++) {
			uint64_t from = later(s->start, samples[j].start);
			uint64_t to = earlier(s->end, samples[j].end);

			double share = sum_at(sums, to).share - sum_at(sums, from).share;

			add_item(out, &last[s->row], ends, j,
			         (struct opk_overlap){ s->row, (float)(to - from), (float)share });
		}
	}
	return OPK_OK;
}

static void fill_times(struct opk_overlaps *out, const struct sums *sums,
                       const struct opk_stretch *stretches, size_t count,
                       const struct opk_sample_time *samples)
{
	for (size_t j = 0; j < out->sample_count; j++) {
		out->lengths[j] = (float)(samples[j].end - samples[j].start);
		out->idle[j] = (float)(sum_at(sums, samples[j].end).idle
		                       - sum_at(sums, samples[j].start).idle);
	}
	for (size_t i = 0; i < count; i++)
		out->shared_of[i] = sum_at(sums, later(stretches[i].end, stretches[i].start)).shared
		                    - sum_at(sums, stretches[i].start).shared;
	if (!sums->count)
		return;
	out->shared = sums->shared[sums->count - 1];
	out->busy = (double)(sums->times[sums->count - 1] - sums->times[0])
	            - sums->idle[sums->count - 1];
}

int opk_overlaps_init(struct opk_overlaps *out, struct opk_ctx *ctx,
                      const struct opk_stretch *stretches, size_t count,
                      const struct opk_sample_time *samples, size_t sample_count)
{
	struct sums sums = { 0 };
	int code;

	*out = (struct opk_overlaps){
		.sample_count = sample_count,
		.first = opk_alloc_array(sample_count + 1, sizeof *out->first),
		.lengths = opk_alloc_array(sample_count + 1, sizeof *out->lengths),
		.idle = opk_alloc_array(sample_count + 1, sizeof *out->idle),
		.shared_of = opk_alloc_array(count + 1, sizeof *out->shared_of),
	};
	code = out->first && out->lengths && out->idle && out->shared_of
	               ? make_sums(&sums, ctx, stretches, count)
	               : opk_nomem(ctx, "kernels on the timeline");
	if (!code)
		code = count_items(out, ctx, stretches, count, samples);
	if (!code)
		code = fill_items(out, ctx, &sums, stretches, count, samples);
	if (!code)
		fill_times(out, &sums, stretches, count, samples);
	clear_sums(&sums);
	if (code)
		opk_overlaps_clear(out);
	return code;
}

void opk_overlaps_clear(struct opk_overlaps *overlaps)
{
	free(overlaps->first);
	free(overlaps->items);
	free(overlaps->lengths);
	free(overlaps->idle);
	free(overlaps->shared_of);
	*overlaps = (struct opk_overlaps){ 0 };
}
