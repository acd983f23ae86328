/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that writes a recording while the program runs. */
#include "collect/recording/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/shared/threads.h"

enum { MAX_WAITING = 4 };

struct segment {
	void *image;
	size_t image_size;
	struct opk_range *ranges; /* or times */
	struct opk_time *times;
	size_t count;
};

struct segments {
	struct opk_ctx *ctx; /* of the thread, once it runs */
	struct opk_writer *writer;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct segment waiting[MAX_WAITING];
	size_t count;
	bool ending;
	bool failed;
};

/* Reports the first failure only: what comes after it is lost. */
static void fail(struct segments *segments)
{
	size_t count = opk_error_count(segments->ctx);

	if (!segments->failed)
		fprintf(stderr, "offpeak-collect: the recording ends here: %s\n",
		        count ? opk_error_message(segments->ctx, count - 1) : "out of memory");
	segments->failed = true;
}

void segments_clear_range(struct opk_range *range)
{
	free((char *)range->name);
	free((char *)range->nvtx);
	range->name = range->nvtx = NULL;
}

void segments_free_ranges(struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; ranges && i < count; i++)
		segments_clear_range(&ranges[i]);
	free(ranges);
}

static void write_segment(struct segments *segments, const struct segment *segment)
{
	struct opk_writer *writer = segments->writer;
	int code = OPK_OK;

	if (!segments->failed)
		code = opk_writer_add(writer, OPK_SECTION_DATA, segment->image,
		                      segment->image_size);
	if (!segments->failed && !code)
		code = segment->times
		               ? opk_writer_add_times(writer, segment->times, segment->count)
		               : opk_writer_add_ranges(writer, segment->ranges, segment->count);
	if (code)
		fail(segments);
	free(segment->image);
	free(segment->times);
	segments_free_ranges(segment->ranges, segment->count);
}

static bool take(struct segments *segments, struct segment *segment)
{
	bool any;

	pthread_mutex_lock(&segments->lock);
	while (!segments->count && !segments->ending)
		pthread_cond_wait(&segments->changed, &segments->lock);
	any = segments->count > 0;
	if (any) {
		*segment = segments->waiting[0];
		memmove(segments->waiting, segments->waiting + 1,
		        --segments->count * sizeof *segments->waiting);
		pthread_cond_broadcast(&segments->changed);
	}
	pthread_mutex_unlock(&segments->lock);
	return any;
}

static void *run(void *data)
{
	struct segments *segments = data;
	struct segment segment;

	while (take(segments, &segment))
		write_segment(segments, &segment);
	return NULL;
}

int segments_new(struct segments **out, const char *path, const struct opk_meta *meta,
                 const void *availability, size_t availability_size)
{
	struct segments *segments = calloc(1, sizeof *segments);
	int code;

	if (!segments || opk_ctx_new(&segments->ctx, NULL)) {
		fputs("offpeak-collect: out of memory\n", stderr);
		free(segments);
		return OPK_ENOMEM;
	}
	pthread_mutex_init(&segments->lock, NULL);
	pthread_cond_init(&segments->changed, NULL);
	code = opk_writer_new_live(&segments->writer, segments->ctx, path);
	if (!code)
		code = opk_writer_add_meta(segments->writer, meta);
	if (!code)
		code = opk_writer_add(segments->writer, OPK_SECTION_AVAILABILITY, availability,
		                      availability_size);
	if (!code && !thread_start(&segments->thread, run, segments))
		code = OPK_EFAILED;
	if (code) {
		fprintf(stderr, "offpeak-collect: %s\n",
		        opk_error_count(segments->ctx) ? opk_error_message(segments->ctx, 0)
		                                       : "no thread");
		opk_writer_free(segments->writer);
		opk_ctx_free(segments->ctx);
		free(segments);
		return code;
	}
	*out = segments;
	return OPK_OK;
}

static void add(struct segments *segments, const struct segment *segment)
{
	pthread_mutex_lock(&segments->lock);
	while (segments->count == MAX_WAITING)
		pthread_cond_wait(&segments->changed, &segments->lock);
	segments->waiting[segments->count++] = *segment;
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
}

void segments_add(struct segments *segments, void *image, size_t size, struct opk_range *ranges,
                  size_t range_count)
{
	add(segments,
	    &(struct segment){
		    .image = image, .image_size = size, .ranges = ranges, .count = range_count });
}

void segments_add_samples(struct segments *segments, void *image, size_t size,
                          struct opk_time *times, size_t count)
{
	add(segments, &(struct segment){
			      .image = image, .image_size = size, .times = times, .count = count });
}

bool segments_finish(struct segments *segments, const struct opk_stats *stats)
{
	pthread_mutex_lock(&segments->lock);
	segments->ending = true;
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
	pthread_join(segments->thread, NULL);
	if (!segments->failed
	    && (opk_writer_add_stats(segments->writer, stats)
	        || opk_writer_finish(segments->writer)))
		fail(segments);
	return !segments->failed;
}
