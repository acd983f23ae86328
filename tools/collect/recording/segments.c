/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that writes a recording while the program runs. */
#include "base/try.h"
#include "collect/recording/recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/ctx.h"

enum { MAX_WAITING = 4 };

/* How one file follows the other; settings: NULL if there is one file. */
struct rotating {
	const struct settings *settings;
	unsigned image;
	struct timespec begun;
	uint64_t here, before;            /* samples in this file, and in those before it */
	uint64_t records, records_before; /* of what ran, likewise */
	uint64_t last;                    /* the segment with which the file shall end */
	bool cut;                         /* it shall */
};

struct segments {
	struct opk_ctx *ctx; /* used by the thread once it runs */
	struct opk_writer *writer;
	struct opk_buf meta, availability; /* each file has these */
	struct rotating rotating;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct segment waiting[MAX_WAITING];
	size_t count;
	uint64_t added, written;
	bool writing; /* a segment outside of the queue */
	bool ending;
	const struct opk_stats *stats; /* written last */
	bool failed;
};

/* Reports only the first failure: all later segments are lost. */
static void fail(struct segments *segments)
{
	if (!segments->failed)
		say(0, "the recording ends here: %s", outer_cause(segments->ctx));
	segments->failed = tally->failed = true;
}

void segments_clear_range(struct opk_range *range)
{
	free((char *)range->name);
	free((char *)range->nvtx);
	range->name = range->nvtx = NULL;
}

void segment_clear(struct segment *segment)
{
	for (size_t i = 0; segment->ranges && i < segment->count; i++)
		segments_clear_range(&segment->ranges[i]);
	for (size_t i = 0; segment->activities && i < segment->count; i++)
		if (segment->activities[i].kind == OPK_ACTIVITY_RANGE)
			free((char *)segment->activities[i].name);
	free(segment->ranges);
	free(segment->activities);
	free(segment->times);
	free(segment->image);
	free((void *)segment->instructions.rows);
	free((void *)segment->instructions.values);
	*segment = (struct segment){ 0 };
}

static int write_segment(struct opk_writer *writer, const struct segment *segment)
{
	if (segment->module.data)
		return opk_writer_add_module(writer, &segment->module);
	if (segment->instructions.rows)
		return opk_writer_add_instructions(writer, &segment->instructions);
	if (segment->activities)
		return opk_writer_add_activities(writer, segment->activities, segment->count);
	TRY(opk_writer_add(writer, OPK_SECTION_DATA, segment->image, segment->image_size));
	return segment->times ? opk_writer_add_times(writer, segment->times, segment->count,
	                                             sizeof(struct opk_time))
	                      : opk_writer_add_ranges(writer, segment->ranges, segment->count,
	                                              sizeof(struct opk_range));
}

/* False when there are no more segments. */
static bool take(struct segments *segments, struct segment *segment)
{
	bool any;

	pthread_mutex_lock(&segments->lock);
	segments->writing = false;
	pthread_cond_broadcast(&segments->changed);
	while (!segments->count && !segments->ending)
		pthread_cond_wait(&segments->changed, &segments->lock);
	any = segments->count > 0;
	segments->writing = any;
	if (any) {
		*segment = segments->waiting[0];
		memmove(segments->waiting, segments->waiting + 1,
		        --segments->count * sizeof *segments->waiting);
		pthread_cond_broadcast(&segments->changed);
	}
	pthread_mutex_unlock(&segments->lock);
	return any;
}

/* The metadata are checked for the first file, and the same in those that follow it. */
static int begin_file(struct segments *segments, const char *path, const struct opk_meta *first)
{
	TRY(opk_writer_new_live(&segments->writer, segments->ctx, path));
	TRY(first ? opk_writer_add_meta(segments->writer, first)
	          : opk_writer_add(segments->writer, OPK_SECTION_META, segments->meta.data,
	                           segments->meta.size));
	return segments->availability.size
	               ? opk_writer_add(segments->writer, OPK_SECTION_AVAILABILITY,
	                                segments->availability.data, segments->availability.size)
	               : OPK_OK;
}

static int end_file(struct segments *segments, const struct opk_stats *stats)
{
	TRY(opk_writer_add_stats(segments->writer, stats));
	return opk_writer_finish(segments->writer);
}

static bool is_due(struct segments *segments)
{
	struct rotating *rotating = &segments->rotating;

	bool cut;

	pthread_mutex_lock(&segments->lock);
	cut = rotating->cut && segments->written >= rotating->last;
	rotating->cut &= !cut;
	pthread_mutex_unlock(&segments->lock);
	return rotating->settings
	       && (cut
	           || clock_seconds_since(&rotating->begun) * 1e9
	                      >= (double)rotating->settings->rotate_ns);
}

/* A file that failed, as where the disk was full, does not prevent the next one. */
static void next_file(struct segments *segments)
{
	struct rotating *rotating = &segments->rotating;
	struct opk_stats stats = { .ranges = rotating->here, .activities = rotating->records };
	char path[4096];

	if (!segments->failed && end_file(segments, &stats))
		fail(segments);
	opk_writer_free(segments->writer);
	segments->writer = NULL;
	opk_clear_errors(segments->ctx);
	rotating->begun = clock_now();
	rotating->before += rotating->here;
	rotating->records_before += rotating->records;
	rotating->here = rotating->records = 0;
	rotating->image = recording_path(path, sizeof path, rotating->settings,
	                                 rotating->image + 1);
	segments->failed = false;
	if (!rotating->image || begin_file(segments, path, NULL))
		fail(segments);
}

static void *run(void *data)
{
	struct segments *segments = data;
	struct opk_stats stats;
	struct segment segment;

	while (take(segments, &segment)) {
		if (!segments->failed && write_segment(segments->writer, &segment))
			fail(segments);
		segments->rotating.here += segment.times ? segment.count : 0;
		segments->rotating.records += segment.activities ? segment.count : 0;
		segment_clear(&segment);
		segments->written++;
		if (is_due(segments))
			next_file(segments);
	}
	/* Keep the signal for a file-size limit in this thread. */
	stats = *segments->stats;
	stats.ranges -= segments->rotating.before;
	stats.activities -= segments->rotating.records_before;
	if (!segments->failed && end_file(segments, &stats))
		fail(segments);
	return NULL;
}

void segments_rotate(struct segments *segments, const struct settings *settings, unsigned image)
{
	segments->rotating.image = image;
	segments->rotating.begun = clock_now();
	segments->rotating.settings = settings;
}

void segments_cut(struct segments *segments)
{
	pthread_mutex_lock(&segments->lock);
	segments->rotating.cut = true;
	segments->rotating.last = segments->added;
	pthread_mutex_unlock(&segments->lock);
}

struct segments *segments_new(bool *taken, const char *path, const struct opk_meta *meta,
                              const void *availability, size_t availability_size)
{
	struct segments *segments = calloc(1, sizeof *segments);
	struct stat info;

	*taken = false;
	if (!segments)
		return NULL;
	pthread_mutex_init(&segments->lock, NULL);
	pthread_cond_init(&segments->changed, NULL);
	opk_meta_to_json(&segments->meta, meta);
	if (availability)
		opk_buf_add(&segments->availability, availability, availability_size);
	if (!segments->meta.failed && !segments->availability.failed
	    && !opk_ctx_new(&segments->ctx, NULL) && !begin_file(segments, path, meta)
	    && thread_start(&segments->thread, run, segments))
		return segments;
	*taken = !segments->writer && !lstat(path, &info);
	if (!*taken)
		say(0, "%s", outer_cause(segments->ctx));
	opk_writer_free(segments->writer);
	opk_ctx_free(segments->ctx);
	opk_buf_clear(&segments->meta);
	opk_buf_clear(&segments->availability);
	free(segments);
	return NULL;
}

void segments_add(struct segments *segments, const struct segment *segment)
{
	pthread_mutex_lock(&segments->lock);
	while (segments->count == MAX_WAITING)
		pthread_cond_wait(&segments->changed, &segments->lock);
	segments->waiting[segments->count++] = *segment;
	segments->added++;
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
}

void segments_settle(struct segments *segments)
{
	pthread_mutex_lock(&segments->lock);
	while (segments->count || segments->writing)
		pthread_cond_wait(&segments->changed, &segments->lock);
	pthread_mutex_unlock(&segments->lock);
}

void segments_finish(struct segments *segments, const struct opk_stats *stats)
{
	pthread_mutex_lock(&segments->lock);
	segments->ending = true;
	segments->stats = stats;
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
	pthread_join(segments->thread, NULL);
}
