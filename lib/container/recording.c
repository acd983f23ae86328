/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as its segments: each image with the tables that name it. */
#include "container/recording.h"

#include "container/container.h"
#include "container/meta.h"

struct opk_recording {
	struct opk_segment *segments;
	size_t count;
	/* The rows of all images, one image's after the other's. */
	struct opk_range_table ranges;
	struct opk_time_table times;
};

static void recording_free(struct opk_recording *recording)
{
	if (!recording)
		return;
	opk_range_table_clear(&recording->ranges);
	free(recording->times.rows);
	free(recording->segments);
	free(recording);
}

void opk_file_free(struct opk_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	opk_meta_storage_free(file->meta);
	opk_stats_storage_free(file->stats);
	recording_free(file->recording);
	free(file->sections);
	free(file->path);
	free(file);
}

static int find_segments(struct opk_recording *recording, struct opk_ctx *ctx,
                         const struct opk_file *file)
{
	size_t capacity = 0;

	for (size_t i = 0; i < file->section_count; i++) {
		struct opk_segment *segment;

		if (file->sections[i].type != OPK_SECTION_DATA)
			continue;
		segment = opk_append(&recording->segments, &capacity, &recording->count,
		                     sizeof *segment);
		if (!segment)
			return opk_nomem(ctx, "a recording");
		*segment = (struct opk_segment){ .image = i };
	}
	return OPK_OK;
}

/* Finds the table of this type that names the image; SIZE_MAX: the image has no such table. */
static int find_table(size_t *table, struct opk_ctx *ctx, const struct opk_file *file, size_t image,
                      uint32_t type)
{
	size_t end = image + OPK_LINK_DISTANCE;

	*table = SIZE_MAX;
	for (size_t i = image + 1; i < file->section_count && i <= end; i++) {
		if (file->sections[i].type != type || file->sections[i].link != image)
			continue;
		if (*table != SIZE_MAX) {
			*table = i;
			opk_fail(ctx, OPK_EINPUT, "section %zu has another such table already",
			         image + 1);
			return opk_file_add_place(ctx, OPK_EINPUT, file, i);
		}
		*table = i;
	}
	return OPK_OK;
}

static int read_ranges(struct opk_recording *recording, size_t *section, struct opk_ctx *ctx,
                       const struct opk_file *file, struct opk_segment *segment)
{
	struct opk_range_table *table = &recording->ranges;
	size_t first = table->count;
	int code = find_table(section, ctx, file, segment->image, OPK_SECTION_RANGES);

	if (code || *section == SIZE_MAX)
		return code;
	code = opk_range_table_read(table, ctx, file, *section);
	if (code)
		return code;
	segment->has_ranges = true;
	segment->row_count = table->count - first;
	if (segment->row_count)
		segment->pass = table->rows[first].group;
	return OPK_OK;
}

static int read_times(struct opk_recording *recording, size_t *section, struct opk_ctx *ctx,
                      const struct opk_file *file, struct opk_segment *segment)
{
	size_t first = recording->times.count, count;
	int code = find_table(section, ctx, file, segment->image, OPK_SECTION_TIMES);

	if (code || *section == SIZE_MAX)
		return code;
	code = opk_time_table_read(&recording->times, ctx, file, *section);
	if (code)
		return code;
	count = recording->times.count - first;
	if (segment->has_ranges && segment->row_count != count) {
		opk_fail(ctx, OPK_EINPUT, "times of %zu samples, and the range table has %zu rows",
		         count, segment->row_count);
		return opk_file_add_place(ctx, OPK_EINPUT, file, *section);
	}
	segment->has_times = true;
	segment->row_count = count;
	return OPK_OK;
}

/* Points segments at their rows, now that the tables have stopped growing. */
static void set_rows(struct opk_recording *recording)
{
	const struct opk_range *range = recording->ranges.rows;
	const struct opk_time *time = recording->times.rows;

	for (size_t i = 0; i < recording->count; i++) {
		struct opk_segment *segment = &recording->segments[i];

		if (segment->has_ranges && segment->row_count) {
			segment->ranges = range;
			range += segment->row_count;
		}
		if (segment->has_times && segment->row_count) {
			segment->times = time;
			time += segment->row_count;
		}
	}
}

static int load(struct opk_recording *recording, size_t *bad, struct opk_ctx *ctx,
                const struct opk_file *file)
{
	int code = find_segments(recording, ctx, file);

	for (size_t i = 0; !code && i < recording->count; i++) {
		struct opk_segment *segment = &recording->segments[i];

		code = read_ranges(recording, bad, ctx, file, segment);
		if (!code)
			code = read_times(recording, bad, ctx, file, segment);
	}
	set_rows(recording);
	return code;
}

/* An image is of one pass, and so are all its ranges. */
static int check_pass(size_t *bad, struct opk_ctx *ctx, const struct opk_file *file,
                      const struct opk_segment *segment, size_t group_count)
{
	const struct opk_range *other = NULL;

	for (size_t i = 0; segment->ranges && i < segment->row_count && !other; i++)
		if (segment->ranges[i].group != segment->pass)
			other = &segment->ranges[i];
	if (!other && segment->pass <= group_count)
		return OPK_OK;
	find_table(bad, ctx, file, segment->image, OPK_SECTION_RANGES);
	if (other)
		opk_fail(ctx, OPK_EINPUT,
		         "its ranges are of groups %u and %u, and those of an image are of one",
		         segment->pass, other->group);
	else
		opk_fail(ctx, OPK_EINPUT, "a range is of group %u, and there are %zu",
		         segment->pass, group_count);
	return opk_file_add_place(ctx, OPK_EINPUT, file, *bad);
}

static int check_passes(size_t *bad, struct opk_ctx *ctx, const struct opk_file *file,
                        size_t group_count)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < file->recording->count; i++)
		code = check_pass(bad, ctx, file, &file->recording->segments[i], group_count);
	return code;
}

int opk_file_link(size_t *bad, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_meta *meta)
{
	struct opk_recording *recording;
	int code;

	if (!file->recording) {
		recording = opk_alloc(sizeof *recording);
		code = recording ? load(recording, bad, ctx, file) : opk_nomem(ctx, "a recording");
		if (code) {
			recording_free(recording);
			return code;
		}
		file->recording = recording;
	}
	return meta ? check_passes(bad, ctx, file, meta->group_count) : OPK_OK;
}

int opk_file_segments(const struct opk_segment **segments, size_t *count, struct opk_ctx *ctx,
                      struct opk_file *file)
{
	const struct opk_meta *meta;
	size_t bad;
	int code = opk_file_meta(&meta, ctx, file);

	if (!code)
		code = opk_file_link(&bad, ctx, file, meta);
	if (code)
		return code;
	*segments = file->recording->segments;
	*count = file->recording->count;
	return OPK_OK;
}

int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file)
{
	size_t bad;
	int code = opk_file_link(&bad, ctx, file, NULL);

	if (code)
		return code;
	*ranges = file->recording->ranges.rows;
	*count = file->recording->ranges.count;
	return OPK_OK;
}

int opk_file_times(const struct opk_time **times, size_t *count, struct opk_ctx *ctx,
                   struct opk_file *file)
{
	size_t bad;
	int code = opk_file_link(&bad, ctx, file, NULL);

	if (code)
		return code;
	*times = file->recording->times.rows;
	*count = file->recording->times.count;
	return OPK_OK;
}
