/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that writes a recording while the program runs. */
#include "collect/recording/recording.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/ctx.h"

enum { MAX_WAITING = 4 };

/* How one file follows the other; settings: NULL if there is one file. */
struct rotating {
	const struct settings *settings;
	_Atomic unsigned image;
	char path[4096];
	struct timespec begun;
	uint64_t here, records; /* samples, and records of what ran, in this file */
	uint64_t lost;          /* of both, not written, and not yet counted in a file */
	uint64_t drops[DROPS];  /* known, and not yet counted in a file */
	uint64_t told[DROPS];   /* counted in the files before */
	void (*describe)(struct facts *facts);
	uint64_t last;     /* the segment with which the file shall end */
	bool cut;          /* it shall */
	_Atomic bool full; /* nothing could be written since */
	/* A file that could not be ended then, and what it has: it is tried again. */
	char unended[4096];
	struct opk_stats unended_stats;
};

static const char unwritten[] = "the file could not be written";

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

/* Reports only the first failure: later segments are lost, with several files until one begins. */
static void fail(struct segments *segments)
{
	struct rotating *rotating = &segments->rotating;

	if (!segments->failed && !rotating->full)
		say(0, "%s: %s",
		    rotating->settings ? "nothing can be recorded for now"
		                       : "the recording ends here",
		    outer_cause(segments->ctx));
	segments->failed = tally->failed = true;
	rotating->full = rotating->settings;
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
	if (segment->mapped)
		munmap(segment->image, segment->image_size);
	else
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
	if (!segment->count)
		return OPK_OK;
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
	opk_autounlock pthread_mutex_t *held = opk_lock(&segments->lock);

	segments->writing = false;
	pthread_cond_broadcast(&segments->changed);
	while (!segments->count && !segments->ending)
		pthread_cond_wait(&segments->changed, &segments->lock);
	if (!segments->count)
		return false;
	segments->writing = true;
	*segment = segments->waiting[0];
	memmove(segments->waiting, segments->waiting + 1,
	        --segments->count * sizeof *segments->waiting);
	pthread_cond_broadcast(&segments->changed);
	return true;
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
	opk_autounlock pthread_mutex_t *held = opk_lock(&segments->lock);
	struct rotating *rotating = &segments->rotating;
	bool cut = rotating->cut && segments->written >= rotating->last;

	rotating->cut &= !cut;
	return rotating->settings
	       && (cut || segments->failed
	           || clock_seconds_since(&rotating->begun) * 1e9
	                      >= (double)rotating->settings->rotate_ns);
}

/* Adds an end after what is whole in a file. */
static int complete(struct segments *segments, const char *path, const struct opk_stats *stats)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_section *last;

	TRY(opk_file_open(&file, segments->ctx, path));
	TRY(opk_writer_resume(&writer, segments->ctx, file));
	last = opk_file_section(file, opk_file_section_count(file) - 1);
	if (last->type != OPK_SECTION_STATS)
		TRY(opk_writer_add_stats(writer, stats));
	return opk_writer_finish(writer);
}

/* Ends a file that failed, or leaves it for later; without any samples it is removed. */
static bool end_failed_file(struct segments *segments, const struct opk_stats *stats)
{
	struct rotating *rotating = &segments->rotating;

	if (!stats->ranges && !stats->activities) {
		unlink(rotating->path);
		return false;
	}
	if (!complete(segments, rotating->path, stats))
		return true;
	if (!*rotating->unended) {
		snprintf(rotating->unended, sizeof rotating->unended, "%s", rotating->path);
		rotating->unended_stats = (struct opk_stats){ .ranges = stats->ranges,
			                                      .activities = stats->activities };
	}
	return false;
}

static void end_earlier_file(struct segments *segments)
{
	struct rotating *rotating = &segments->rotating;

	if (*rotating->unended && !complete(segments, rotating->unended, &rotating->unended_stats))
		*rotating->unended = '\0';
	opk_clear_errors(segments->ctx);
}

/* The drops that a file has: room for each reason, and one more. */
static size_t list_drops(struct opk_drop *drops, const struct rotating *rotating)
{
	size_t count = 0;

	for (size_t i = 0; i < DROPS; i++)
		if (rotating->drops[i])
			drops[count++] = (struct opk_drop){ drop_reasons[i], rotating->drops[i] };
	if (rotating->lost)
		drops[count++] = (struct opk_drop){ unwritten, rotating->lost };
	return count;
}

/* What is missing is counted in a file now. */
static void forget_drops(struct rotating *rotating)
{
	for (size_t i = 0; i < DROPS; i++) {
		rotating->told[i] += rotating->drops[i];
		rotating->drops[i] = 0;
	}
	rotating->lost = 0;
}

/* Ends one of several files. */
static void end_one(struct segments *segments, struct opk_stats *stats)
{
	struct rotating *rotating = &segments->rotating;
	bool begun = segments->writer, ended;
	struct opk_drop drops[DROPS + 1];
	opk_autofacts struct facts facts = { 0 };

	if (rotating->describe)
		rotating->describe(&facts);
	stats->run = facts.items;
	stats->run_count = facts.count;
	stats->ranges = rotating->here;
	stats->activities = rotating->records;
	stats->drops = drops;
	stats->drop_count = list_drops(drops, rotating);
	ended = !segments->failed && !end_file(segments, stats);
	if (!ended)
		fail(segments);
	opk_writer_free(opk_take(segments->writer));
	if (begun && (ended || end_failed_file(segments, stats)))
		forget_drops(rotating);
	opk_clear_errors(segments->ctx);
	rotating->here = rotating->records = 0;
}

/* A file that failed, as where the disk was full, does not prevent the next one. */
static void next_file(struct segments *segments)
{
	struct rotating *rotating = &segments->rotating;
	struct opk_stats stats = { 0 };
	unsigned image;

	end_one(segments, &stats);
	end_earlier_file(segments);
	rotating->begun = clock_now();
	image = recording_path(rotating->path, sizeof rotating->path, rotating->settings,
	                       rotating->image + 1);
	segments->failed = false;
	if (image && !begin_file(segments, rotating->path, NULL)) {
		rotating->image = image;
		return;
	}
	fail(segments);
	if (segments->writer)
		unlink(rotating->path);
	opk_writer_free(opk_take(segments->writer));
}

static void write_one(struct segments *segments, const struct segment *segment)
{
	struct rotating *rotating = &segments->rotating;

	if (!segments->failed && write_segment(segments->writer, segment))
		fail(segments);
	rotating->here += !segments->failed && segment->times ? segment->count : 0;
	rotating->records += !segments->failed && segment->activities ? segment->count : 0;
	rotating->lost += segments->failed ? segment->count : 0;
	for (size_t i = 0; i < DROPS; i++)
		rotating->drops[i] += segment->drops[i];
	if (segments->failed || !rotating->full || !segment->count)
		return;
	rotating->full = false;
	say(0, "files can be written again, and recording goes on");
}

/* What all files are missing, less what earlier ones say. */
static uint64_t left(const struct rotating *rotating, const struct opk_stats *stats, size_t reason)
{
	for (size_t i = 0; i < stats->drop_count; i++)
		if (stats->drops[i].reason == drop_reasons[reason])
			return stats->drops[i].count - rotating->told[reason];
	return 0;
}

static void end(struct segments *segments)
{
	struct opk_stats stats = *segments->stats;
	struct rotating *rotating = &segments->rotating;

	if (!rotating->settings) {
		if (!segments->failed && end_file(segments, &stats))
			fail(segments);
		return;
	}
	for (size_t i = 0; i < DROPS; i++)
		rotating->drops[i] = left(rotating, &stats, i);
	end_one(segments, &stats);
	end_earlier_file(segments);
}

static void *run(void *data)
{
	struct segments *segments = data;
	struct segment segment;

	while (take(segments, &segment)) {
		write_one(segments, &segment);
		segment_clear(&segment);
		segments->written++;
		if (is_due(segments))
			next_file(segments);
	}
	/* Keep the signal for a file-size limit in this thread. */
	end(segments);
	return NULL;
}

void segments_rotate(struct segments *segments, const struct settings *settings, const char *path,
                     unsigned image)
{
	snprintf(segments->rotating.path, sizeof segments->rotating.path, "%s", path);
	segments->rotating.image = image;
	segments->rotating.begun = clock_now();
	segments->rotating.settings = settings;
}

void segments_describe(struct segments *segments, void (*describe)(struct facts *facts))
{
	segments->rotating.describe = describe;
}

void segments_cut(struct segments *segments)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&segments->lock);

	/* The file ends after a segment, and none may follow, as where all GPUs have failed. */
	if (!segments->count) {
		segments->waiting[segments->count++] = (struct segment){ .count = 0 };
		segments->added++;
		pthread_cond_broadcast(&segments->changed);
	}
	segments->rotating.cut = true;
	segments->rotating.last = segments->added;
}

unsigned segments_file(const struct segments *segments)
{
	return segments->rotating.image;
}

bool segments_full(const struct segments *segments)
{
	return segments->rotating.full;
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
	opk_autounlock pthread_mutex_t *held = opk_lock(&segments->lock);

	while (segments->count == MAX_WAITING)
		pthread_cond_wait(&segments->changed, &segments->lock);
	segments->waiting[segments->count++] = *segment;
	segments->added++;
	pthread_cond_broadcast(&segments->changed);
}

void segments_settle(struct segments *segments)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&segments->lock);

	while (segments->count || segments->writing)
		pthread_cond_wait(&segments->changed, &segments->lock);
}

void segments_finish(struct segments *segments, const struct opk_stats *stats)
{
	pthread_mutex_t *held = opk_lock(&segments->lock);

	segments->ending = true;
	segments->stats = stats;
	pthread_cond_broadcast(&segments->changed);
	opk_unlock(&held);
	pthread_join(segments->thread, NULL);
}
