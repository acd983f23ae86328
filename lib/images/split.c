/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a recording into several. */
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/option_struct.h"
#include "baked/baked.h"
#include "container/container.h"
#include "eval/eval.h"
#include "images/door.h"
#include "images/images.h"

enum { MAX_PARTS = 500 }; /* each file stays open until all are written */

struct part {
	struct opk_piece described;
	struct opk_grouping common; /* one group with all its ranges */
};

struct opk_split {
	struct opk_file *file;
	struct opk_survey survey;
	size_t *part_of; /* one per row */
	struct part *parts;
	size_t part_count, part_capacity;
	struct opk_writer **writers; /* one per part, while parts are written */
	/* Images to be made, in the order of the source's images, then of parts. */
	struct opk_target *targets;
	size_t target_count, target_capacity;
	struct opk_move *moves; /* one per row */
	const char **names;     /* one per row */
};

/* ---- which range goes where ------------------------------------------------------------- */

/* 64 for "64", 0 for anything else. */
static uint64_t parse_number(const char *text)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno ? number : 0;
}

static int assign_by_key(struct opk_split *split, struct opk_ctx *ctx, const char *by)
{
	opk_autogrouping struct opk_grouping grouping = { 0 };
	int code = opk_key_parse(&grouping.key, ctx, by);

	if (code)
		return opk_add(ctx, code,
		               "ranges are divided by that, by segment, or into so many each");
	for (size_t i = 0; i < split->survey.row_count; i++)
		TRY(opk_grouping_add(&split->part_of[i], &grouping, ctx,
		                     opk_survey_name(&split->survey, i),
		                     opk_survey_range(&split->survey, i)));
	return OPK_OK;
}

/* Each image becomes a part, unless it has no whole range. */
static void assign_by_image(struct opk_split *split)
{
	size_t part = 0;

	for (size_t i = 0; i < split->survey.image_count; i++) {
		const struct opk_surveyed *image = &split->survey.images[i];

		for (size_t j = 0; j < image->facts.rows; j++)
			split->part_of[image->first + j] = part;
		part += image->facts.rows > 0;
	}
}

static int assign(struct opk_split *split, struct opk_ctx *ctx, const char *by)
{
	uint64_t number = parse_number(by);

	split->part_of = opk_alloc_array(split->survey.row_count + 1, sizeof *split->part_of);
	if (!split->part_of)
		return opk_nomem(ctx, "parts");
	for (size_t i = 0; number && i < split->survey.row_count; i++)
		split->part_of[i] = i / number;
	if (number)
		return OPK_OK;
	if (strcmp(by, "segment"))
		return assign_by_key(split, ctx, by);
	assign_by_image(split);
	return OPK_OK;
}

/* ---- what the parts are ----------------------------------------------------------------- */

static int describe(struct opk_split *split, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < split->survey.row_count; i++) {
		size_t index = split->part_of[i], group;

		if (index >= MAX_PARTS)
			return opk_fail(ctx, OPK_EUSAGE, "%s: more than %d parts",
			                split->file->path, MAX_PARTS);
		if (index == split->part_count
		    && !opk_append(&split->parts, &split->part_capacity, &split->part_count,
		                   sizeof *split->parts))
			return opk_nomem(ctx, "parts");
		TRY(opk_grouping_add(&group, &split->parts[index].common, ctx,
		                     opk_survey_name(&split->survey, i),
		                     opk_survey_range(&split->survey, i)));
	}
	for (size_t i = 0; i < split->part_count; i++) {
		const struct opk_grouped *common = split->parts[i].common.groups;

		split->parts[i].described = (struct opk_piece){
			.name = common->many_names ? "" : common->name,
			.range = common->range,
			.many_streams = common->many_streams,
			.rows = common->rows,
		};
		split->parts[i].described.range.duration_ns = 0;
	}
	return OPK_OK;
}

/* ---- which images are to be made -------------------------------------------------------- */

/* Places an image's rows of one part, after the rows placed before. */
static void place_rows(struct opk_split *split, const struct opk_surveyed *image, size_t part,
                       struct opk_target *target, size_t at)
{
	*target = (struct opk_target){
		.moves = split->moves + at,
		.names = split->names + at,
	};
	for (size_t i = image->first; i < image->first + image->facts.rows; i++) {
		if (split->part_of[i] != part)
			continue;
		split->moves[at] = (struct opk_move){ i, target->slots++ };
		split->names[at++] = split->survey.names.items[i];
	}
	target->move_count = target->slots;
}

static int divide(struct opk_split *split, struct opk_ctx *ctx, const struct opk_surveyed *image,
                  const size_t *counts)
{
	size_t at = image->first;

	if (image->facts.profiler == OPK_PROFILER_PM) {
		opk_fail(ctx, OPK_EUSAGE,
		         "samples of one image can't be divided; 'segment' keeps "
		         "images whole");
		return opk_file_add_place(ctx, OPK_EUSAGE, split->file, image->section);
	}
	for (size_t i = 0; i < split->part_count; i++) {
		struct opk_target *target;

		if (!counts[i])
			continue;
		target = opk_append(&split->targets, &split->target_capacity, &split->target_count,
		                    sizeof *split->targets);
		if (!target)
			return opk_nomem(ctx, "images");
		place_rows(split, image, i, target, at);
		at += target->slots;
	}
	return OPK_OK;
}

static void count_rows(size_t *counts, const struct opk_split *split,
                       const struct opk_surveyed *image)
{
	memset(counts, 0, split->part_count * sizeof *counts);
	for (size_t i = 0; i < image->facts.rows; i++)
		counts[split->part_of[image->first + i]]++;
}

static bool is_whole(const size_t *counts, const struct opk_split *split,
                     const struct opk_surveyed *image)
{
	return counts[split->part_of[image->first]] == image->facts.rows;
}

static int plan_images(struct opk_split *split, struct opk_ctx *ctx)
{
	opk_autofree size_t *counts = opk_alloc_array(split->part_count + 1, sizeof *counts);

	split->moves = opk_alloc_array(split->survey.row_count + 1, sizeof *split->moves);
	split->names = opk_alloc_array(split->survey.row_count + 1, sizeof *split->names);
	if (!counts || !split->moves || !split->names)
		return opk_nomem(ctx, "parts");
	for (size_t i = 0; i < split->survey.image_count; i++) {
		const struct opk_surveyed *image = &split->survey.images[i];

		if (!image->facts.rows)
			continue;
		count_rows(counts, split, image);
		if (!is_whole(counts, split, image))
			TRY(divide(split, ctx, image, counts));
	}
	return OPK_OK;
}

int opk_split_new(struct opk_split **out, struct opk_ctx *ctx, struct opk_file *file,
                  const char *by)
{
	opk_auto(opk_split) struct opk_split *split = opk_alloc(sizeof *split);

	if (!split)
		return opk_nomem(ctx, "parts");
	split->file = file;
	TRY(opk_survey_make(&split->survey, ctx, &file, 1));
	if (!split->survey.row_count)
		return opk_fail(ctx, OPK_EINPUT, "%s: no range or sample is whole", file->path);
	TRY(assign(split, ctx, by));
	TRY(describe(split, ctx));
	TRY(plan_images(split, ctx));
	*out = opk_take(split);
	return OPK_OK;
}

void opk_split_free(struct opk_split *split)
{
	if (!split)
		return;
	for (size_t i = 0; i < split->part_count; i++)
		opk_grouping_clear(&split->parts[i].common);
	free(split->parts);
	free(split->writers);
	free(split->part_of);
	free(split->targets);
	free(split->moves);
	free(split->names);
	opk_survey_clear(&split->survey);
	free(split);
}

size_t opk_split_count(const struct opk_split *split)
{
	return split->part_count;
}

const struct opk_piece *opk_split_get(const struct opk_split *split, size_t i)
{
	return &split->parts[i].described;
}

/* ---- the files -------------------------------------------------------------------------- */

/* Chooses the sections that each part has, and those that only the first one has. */
static bool goes_into(uint32_t type, bool first)
{
	switch (type) {
	case OPK_SECTION_META:
	case OPK_SECTION_CONFIG:
	case OPK_SECTION_ROTATION:
	case OPK_SECTION_PREFIX:
	case OPK_SECTION_AVAILABILITY:
		return true;
	case OPK_SECTION_STATS:
	case OPK_SECTION_ACTIVITIES:
	case OPK_SECTION_CODE:
	case OPK_SECTION_INSTRUCTIONS:
		return first;
	default:
		return false;
	}
}

static int begin_part(struct opk_split *split, struct opk_ctx *ctx, size_t index, const char *path)
{
	struct opk_writer **writer = &split->writers[index];

	TRY(opk_writer_new_made(writer, ctx, path, OPK_OUTPUT_PART));
	for (size_t i = 0; i < split->file->section_count; i++) {
		if (goes_into(split->file->sections[i].type, !index))
			TRY(opk_writer_copy(*writer, split->file, i));
	}
	return OPK_OK;
}

static int add_ranges(struct opk_split *split, struct opk_ctx *ctx, struct opk_writer *writer,
                      const struct opk_move *moves, size_t count)
{
	opk_autofree struct opk_range *ranges = opk_alloc_array(count, sizeof *ranges);
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, split->file));
	if (!opk_survey_image(&split->survey, moves->row)->segment->ranges)
		return OPK_OK;
	if (!ranges)
		return opk_nomem(ctx, "a range table");
	for (size_t i = 0; i < count; i++)
		ranges[i] = *opk_survey_range(&split->survey, moves[i].row);
	opk_ranges_unplace(ranges, count, meta);
	return opk_writer_add_ranges(writer, ranges, count, sizeof(struct opk_range));
}

static int add_whole(struct opk_split *split, const struct opk_surveyed *image)
{
	struct opk_writer *writer = split->writers[split->part_of[image->first]];

	TRY(opk_writer_copy(writer, split->file, image->section));
	return opk_writer_copy_tables(writer, split->file, image->section);
}

static int add_made(struct opk_split *split, struct opk_ctx *ctx, const struct opk_target *target,
                    struct opk_result *result)
{
	struct opk_writer *writer = split->writers[split->part_of[target->moves->row]];
	opk_autofree void *data = NULL;
	size_t size;

	TRY(opk_recombine_next(&data, &size, ctx, result));
	TRY(opk_writer_add(writer, OPK_SECTION_DATA, data, size));
	return add_ranges(split, ctx, writer, target->moves, target->move_count);
}

/* Targets are in the order of their source images. */
static int add_images(struct opk_split *split, struct opk_ctx *ctx, struct opk_result *result)
{
	size_t next = 0;

	for (size_t i = 0; i < split->survey.image_count; i++) {
		const struct opk_surveyed *image = &split->survey.images[i];
		size_t end = image->first + image->facts.rows, before = next;

		while (next < split->target_count && split->targets[next].moves->row < end)
			TRY(add_made(split, ctx, &split->targets[next++], result));
		if (next == before && image->facts.rows)
			TRY(add_whole(split, image));
	}
	return OPK_OK;
}

static int write_parts(struct opk_split *split, struct opk_ctx *ctx, const char *const *paths)
{
	opk_autosent struct opk_result result = { 0 };

	for (size_t i = 0; i < split->part_count; i++)
		TRY(opk_check_output(ctx, paths[i], OPK_OUTPUT_PART));
	if (split->target_count)
		TRY(opk_recombine(&result, ctx,
		                  &(struct opk_recombination){
					  .survey = &split->survey,
					  .targets = split->targets,
					  .target_count = split->target_count,
				  }));
	split->writers = opk_alloc_array(split->part_count, sizeof *split->writers);
	if (!split->writers)
		return opk_nomem(ctx, "parts");
	for (size_t i = 0; i < split->part_count; i++)
		TRY(begin_part(split, ctx, i, paths[i]));
	return add_images(split, ctx, &result);
}

static void drop_writers(struct opk_split *split)
{
	for (size_t i = 0; split->writers && i < split->part_count; i++)
		opk_writer_free(opk_take(split->writers[i]));
}

/* Writes all parts or none: the first parts are incomplete without the last ones. */
int opk_split_write(struct opk_ctx *ctx, struct opk_split *split, const char *const *paths)
{
	int code;

	if (opk_file_is_baked(split->file))
		opk_log(ctx, "%s: its parts have no values: bake them again", split->file->path);
	code = write_parts(split, ctx, paths);
	if (!code)
		code = opk_writers_finish(split->writers, split->part_count);
	drop_writers(split);
	return code ? opk_add(ctx, code, "can't split %s", split->file->path) : OPK_OK;
}

static int write_numbered(struct opk_ctx *ctx, struct opk_split *split, const char *path)
{
	opk_autostrlist struct opk_strlist paths = { 0 };
	const char *ending = opk_ending(path);

	for (size_t i = 0; i < split->part_count; i++)
		if (!opk_strlist_take(&paths, opk_printf("%.*s-%zu%s", (int)(ending - path), path,
		                                         i + 1, ending)))
			return opk_nomem(ctx, "parts");
	return opk_split_write(ctx, split, opk_strlist_items(&paths));
}

int opk_split(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file, const char *by,
              const char *path)
{
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new("name kernel rows#");
	opk_auto(opk_listing) struct opk_listing *parts = NULL;
	opk_auto(opk_split) struct opk_split *split = NULL;

	TRY(opk_split_new(&split, ctx, file, by));
	for (size_t i = 0; i < split->part_count; i++) {
		const struct opk_piece *part = &split->parts[i].described;

		opk_listing_row(rows, cell_text(part->name), cell_text(part->range.kernel),
		                cell_number(part->rows));
	}
	TRY(opk_listing_finish(&parts, ctx, opk_take(rows)));
	TRY(write_numbered(ctx, split, path));
	*out = opk_take(parts);
	return OPK_OK;
}
