/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as its segments: each image with the tables that name it. */
#include "container/container.h"

/* The sections that name an image; 0: there is none, since an image comes before its tables. */
struct tables {
	size_t ranges, times;
};

struct opk_recording {
	struct opk_segment *segments;
	struct tables *tables; /* one a segment */
	size_t count;
	/* The rows of all images, one image's after the other's. */
	struct opk_range_table ranges;
	struct opk_time_table times;
};

void opk_recording_free(struct opk_recording *recording)
{
	if (!recording)
		return;
	opk_range_table_clear(&recording->ranges);
	free(recording->times.rows);
	free(recording->segments);
	free(recording->tables);
	free(recording);
}

void opk_file_free(struct opk_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	opk_meta_storage_free(file->meta);
	opk_joint_free(file->joint);
	opk_stats_storage_free(file->stats);
	opk_recording_free(file->recording);
	opk_activity_table_free(file->activities);
	free(file->sections);
	free(file->path);
	free(file);
}

static int take_table(struct tables *tables, size_t *bad, struct opk_ctx *ctx,
                      const struct opk_file *file, size_t section)
{
	bool ranges = file->sections[section].type == OPK_SECTION_RANGES;
	size_t *slot = ranges ? &tables->ranges : &tables->times;

	*bad = section;
	if (*slot) {
		opk_fail(ctx, OPK_EINPUT, "section %zu has another such table already",
		         file->sections[section].link + 1);
		return opk_file_add_place(ctx, OPK_EINPUT, file, section);
	}
	*slot = section;
	return OPK_OK;
}

static int find_segments(struct opk_recording *recording, size_t *bad, struct opk_ctx *ctx,
                         const struct opk_file *file)
{
	opk_autofree size_t *numbers = opk_alloc_array(file->section_count + 1, sizeof *numbers);

	recording->segments = opk_alloc_array(file->section_count + 1, sizeof(struct opk_segment));
	recording->tables = opk_alloc_array(file->section_count + 1, sizeof(struct tables));
	if (!numbers || !recording->segments || !recording->tables)
		return opk_nomem(ctx, "a recording");
	for (size_t i = 0; i < file->section_count; i++) {
		const struct opk_section *section = &file->sections[i];

		if (opk_is_image(section->type)) {
			numbers[i] = recording->count;
			recording->segments[recording->count++].image = i;
		} else if (opk_is_table(section->type) && section->link != SIZE_MAX)
			TRY(take_table(&recording->tables[numbers[section->link]], bad, ctx, file,
			               i));
	}
	return OPK_OK;
}

static int read_ranges(struct opk_recording *recording, struct opk_ctx *ctx,
                       const struct opk_file *file, size_t i)
{
	struct opk_range_table *table = &recording->ranges;
	struct opk_segment *segment = &recording->segments[i];
	size_t first = table->rows.count;

	TRY(opk_range_table_read(table, ctx, file, recording->tables[i].ranges));
	segment->has_ranges = true;
	segment->row_count = table->rows.count - first;
	if (segment->row_count)
		segment->pass = table->rows.items[first].pass;
	return OPK_OK;
}

static int read_times(struct opk_recording *recording, struct opk_ctx *ctx,
                      const struct opk_file *file, size_t i)
{
	struct opk_segment *segment = &recording->segments[i];
	size_t section = recording->tables[i].times, first = recording->times.count, count;

	TRY(opk_time_table_read(&recording->times, ctx, file, section));
	count = recording->times.count - first;
	if (segment->has_ranges && segment->row_count != count) {
		opk_fail(ctx, OPK_EINPUT, "times of %zu samples, and the range table has %zu rows",
		         count, segment->row_count);
		return opk_file_add_place(ctx, OPK_EINPUT, file, section);
	}
	segment->has_times = true;
	segment->row_count = count;
	return OPK_OK;
}

/* Points segments at their rows, now that the tables have stopped growing. */
static void set_rows(struct opk_recording *recording)
{
	const struct opk_range *range = recording->ranges.rows.items;
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

/* Finds the segment of one image. */
static int find_segment(struct opk_recording *recording, size_t *bad, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t image)
{
	size_t i = image;

	recording->segments = opk_alloc_array(1, sizeof(struct opk_segment));
	recording->tables = opk_alloc_array(1, sizeof(struct tables));
	if (!recording->segments || !recording->tables)
		return opk_nomem(ctx, "a recording");
	recording->segments->image = image;
	recording->count = 1;
	while ((i = opk_file_next_attached(file, image, i)) != SIZE_MAX)
		if (opk_is_table(file->sections[i].type))
			TRY(take_table(recording->tables, bad, ctx, file, i));
	return OPK_OK;
}

static int load(struct opk_recording *recording, size_t *bad, struct opk_ctx *ctx,
                const struct opk_file *file)
{
	for (size_t i = 0; i < recording->count; i++) {
		if (recording->tables[i].ranges) {
			*bad = recording->tables[i].ranges;
			TRY(read_ranges(recording, ctx, file, i));
		}
		if (recording->tables[i].times) {
			*bad = recording->tables[i].times;
			TRY(read_times(recording, ctx, file, i));
		}
	}
	set_rows(recording);
	return OPK_OK;
}

int opk_ranges_check_pass(struct opk_ctx *ctx, const struct opk_range *ranges, size_t count,
                          size_t passes)
{
	for (size_t i = 1; i < count; i++)
		if (ranges[i].pass != ranges->pass)
			return opk_fail(
				ctx, OPK_EINPUT,
				"its ranges are of passes %u and %u, and those of an image are of one",
				ranges->pass, ranges[i].pass);
	if (count && ranges->pass > passes)
		return opk_fail(ctx, OPK_EINPUT, "a range is of pass %u, and there are %zu",
		                ranges->pass, passes);
	return OPK_OK;
}

static int check_passes(size_t *bad, struct opk_ctx *ctx, const struct opk_file *file,
                        size_t passes)
{
	const struct opk_recording *recording = file->recording;

	for (size_t i = 0; i < recording->count; i++) {
		const struct opk_segment *segment = &recording->segments[i];
		int code = opk_ranges_check_pass(ctx, segment->ranges,
		                                 segment->ranges ? segment->row_count : 0, passes);

		*bad = recording->tables[i].ranges;
		if (code)
			return opk_file_add_place(ctx, code, file, *bad);
	}
	return OPK_OK;
}

static void place(struct opk_recording *recording, const struct opk_meta *meta)
{
	int32_t rank = opk_meta_rank(meta);

	opk_ranges_place(recording->ranges.rows.items, recording->ranges.rows.count, meta);
	for (size_t i = 0; i < recording->count; i++) {
		struct opk_segment *segment = &recording->segments[i];
		int32_t device = segment->times ? (int32_t)segment->times->device : -1;

		segment->host = opk_meta_host(meta);
		segment->gpu = opk_meta_gpu(meta, device);
		segment->rank = rank;
	}
}

/*
 * Rows are complete before callers get them, and don't change afterwards. If the metadata is
 * damaged or missing, host and GPU are unknown.
 */
static int get_recording(size_t *bad, struct opk_ctx *ctx, struct opk_file *file)
{
	opk_auto(opk_recording) struct opk_recording *recording = NULL;
	const struct opk_meta *meta = NULL;

	if (file->recording)
		return OPK_OK;
	TRY(opk_allow(ctx, opk_file_meta(&meta, ctx, file), OPK_EINPUT));
	recording = opk_alloc(sizeof *recording);
	TRY(recording ? find_segments(recording, bad, ctx, file) : opk_nomem(ctx, "a recording"));
	TRY(load(recording, bad, ctx, file));
	if (meta)
		place(recording, meta);
	file->recording = opk_take(recording);
	return OPK_OK;
}

int opk_recording_of_image(struct opk_recording **out, struct opk_ctx *ctx, struct opk_file *file,
                           size_t image)
{
	opk_auto(opk_recording) struct opk_recording *recording = opk_alloc(sizeof *recording);
	const struct opk_meta *meta;
	size_t bad;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(recording ? find_segment(recording, &bad, ctx, file, image)
	              : opk_nomem(ctx, "a recording"));
	TRY(load(recording, &bad, ctx, file));
	place(recording, meta);
	*out = opk_take(recording);
	return OPK_OK;
}

const struct opk_segment *opk_recording_segment(const struct opk_recording *recording)
{
	return recording->segments;
}

int opk_file_link(size_t *bad, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_meta *meta)
{
	TRY(get_recording(bad, ctx, file));
	return check_passes(bad, ctx, file, meta->passes);
}

int opk_file_segments(const struct opk_segment **segments, size_t *count, struct opk_ctx *ctx,
                      struct opk_file *file)
{
	const struct opk_meta *meta;
	size_t bad;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_link(&bad, ctx, file, meta));
	*segments = file->recording->segments;
	*count = file->recording->count;
	return OPK_OK;
}

int opk_file_ranges(const struct opk_range **ranges, size_t *count, struct opk_ctx *ctx,
                    struct opk_file *file)
{
	size_t bad;

	TRY(get_recording(&bad, ctx, file));
	*ranges = file->recording->ranges.rows.items;
	*count = file->recording->ranges.rows.count;
	return OPK_OK;
}

int opk_file_times(const struct opk_time **times, size_t *count, struct opk_ctx *ctx,
                   struct opk_file *file)
{
	size_t bad;

	TRY(get_recording(&bad, ctx, file));
	*times = file->recording->times.rows;
	*count = file->recording->times.count;
	return OPK_OK;
}
