/* SPDX-License-Identifier: BSD-2-Clause */
#include "images/survey.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "base/hash.h"
#include "container/container.h"
#include "eval/eval.h"
#include "eval/image_rows.h"

/* ---- the child -------------------------------------------------------------------------- */

struct work {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_survey *survey;
};

/* An empty image of the kind tells all: it holds the counters' table and the GPU's attributes. */
static int find_layout(struct work *w, struct opk_surveyed_facts *facts, const void *image,
                       size_t size)
{
	opk_autofree void *one = NULL, *two = NULL;
	size_t one_size, two_size;
	int code = opk_nv_image_like(&one, &one_size, w->ctx, image, size, 1, 1);

	if (!code)
		code = opk_nv_image_like(&two, &two_size, w->ctx, image, size, 2, 1);
	if (code)
		return code;
	facts->layout = opk_hash(OPK_HASH_BEGIN, one, one_size);
	facts->slot_size = two_size - one_size;
	return OPK_OK;
}

static int find_profiler(struct work *w, struct opk_surveyed_facts *facts, const void *image,
                         const struct opk_meta *meta)
{
	enum opk_profiler profiler;
	int code = opk_nv_image_profiler(&profiler, w->ctx, image);

	if (!code && profiler != meta->profiler)
		return opk_fail(w->ctx, OPK_EINPUT, "the image is of profiler %s, not %s",
		                opk_profiler_name(profiler), opk_profiler_name(meta->profiler));
	facts->profiler = (int32_t)meta->profiler;
	return code;
}

static int put_names(struct work *w, const void *image, size_t size, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		opk_autofree char *name = NULL;
		int code = opk_nv_range_name(&name, w->ctx, image, size, i);

		if (code)
			return opk_blame_image(code);
		opk_put_bytes(w->child, name, strnlen(name, OPK_MAX_RANGE_NAME));
	}
	return OPK_OK;
}

static int look_at(struct work *w, const void *image, size_t size, const struct opk_meta *meta)
{
	struct opk_surveyed_facts facts = { 0 };
	struct opk_nv_image_info info;
	int code = opk_nv_image_info(&info, w->ctx, image, size);

	if (!code)
		code = find_profiler(w, &facts, image, meta);
	if (!code)
		code = find_layout(w, &facts, image, size);
	if (code)
		return opk_blame_image(code);
	/* What is copied would be whole, and nobody would miss the rest. Samples may have been cut short. */
	if (meta->profiler == OPK_PROFILER_RANGE && info.completed < info.populated)
		return opk_fail(w->ctx, OPK_EINPUT,
		                "only %zu of %zu ranges are whole: passes are missing",
		                info.completed, info.populated);
	facts.rows = info.completed;
	facts.slots = info.slots;
	opk_put(w->child, &facts, sizeof facts);
	return meta->profiler == OPK_PROFILER_RANGE ? put_names(w, image, size, facts.rows)
	                                            : OPK_OK;
}

static int survey_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct work w = { .ctx = ctx, .child = child, .survey = data };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < w.survey->image_count; i++) {
		const struct opk_surveyed *surveyed = &w.survey->images[i];
		opk_autofree void *image = NULL;
		const struct opk_meta *meta;
		size_t size;

		if (surveyed->skipped)
			continue;
		opk_child_progress(child, i, w.survey->image_count);
		code = opk_file_meta(&meta, ctx, surveyed->file);
		if (!code)
			code = opk_file_read(&image, &size, ctx, surveyed->file, surveyed->section);
		if (!code)
			code = look_at(&w, image, size, meta);
		if (code == OPK_EINPUT)
			opk_file_add_place(ctx, code, surveyed->file, surveyed->section);
	}
	return code;
}

/* ---- the parent ------------------------------------------------------------------------- */

/* A child that ran wild may say anything: a row has a byte at least. */
static int read_image(struct opk_survey *survey, struct opk_ctx *ctx, struct opk_result *result,
                      struct opk_surveyed *surveyed)
{
	uint64_t size = surveyed->file->sections[surveyed->section].plain_size;
	struct opk_surveyed_facts *facts = &surveyed->facts;

	if (!surveyed->skipped) {
		opk_get(result, facts, sizeof *facts);
		opk_result_expect(result, facts->slots <= size && facts->rows <= facts->slots
		                                  && facts->slot_size <= size + (1 << 20));
	}
	surveyed->first = survey->row_count;
	survey->row_count += facts->rows;
	for (uint64_t i = 0; !result->code && i < facts->rows; i++) {
		if (facts->profiler == OPK_PROFILER_RANGE && !surveyed->skipped)
			opk_get_text(&survey->names, result, OPK_MAX_RANGE_NAME);
		else if (!opk_strlist_add(&survey->names, ""))
			return opk_nomem(ctx, "rows");
	}
	return opk_result_check(result, ctx);
}

static int check_file(struct opk_ctx *ctx, const struct opk_file *file)
{
	if (!file->complete)
		return opk_fail(ctx, OPK_EINPUT, "%s: cut off: its end section is missing",
		                file->path);
	if (opk_file_find(file, OPK_SECTION_DATA) < 0)
		return opk_fail(ctx, OPK_EINPUT, "%s: no counter data", file->path);
	return OPK_OK;
}

/* All but the images that are skipped. */
static int verify_file(struct opk_ctx *ctx, const struct opk_file *file,
                       const struct opk_survey *survey)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < file->section_count; i++)
		if (file->sections[i].type != OPK_SECTION_DATA)
			code = opk_file_verify(ctx, file, i);
	for (size_t i = 0; !code && i < survey->image_count; i++)
		if (survey->images[i].file == file && !survey->images[i].skipped)
			code = opk_file_verify(ctx, file, survey->images[i].section);
	return code;
}

static int list_images(struct opk_survey *survey, struct opk_ctx *ctx, struct opk_file *file)
{
	size_t count = survey->image_count;
	struct opk_surveyed *grown;

	for (size_t i = 0; i < file->section_count; i++)
		count += file->sections[i].type == OPK_SECTION_DATA;
	grown = opk_realloc(survey->images, count * sizeof *grown);
	if (!grown)
		return opk_nomem(ctx, "counter data images");
	survey->images = grown;
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA)
			survey->images[survey->image_count++] = (struct opk_surveyed){
				.file = file, .section = i
			};
	return OPK_OK;
}

struct opk_contain_options opk_survey_contain(const struct opk_survey *survey,
                                              const struct opk_image_options *options)
{
	struct opk_contain_options contain = {
		.timeout_s = options->timeout_s,
		.progress = options->progress,
		.progress_data = options->progress_data,
	};

	/* As evaluation has it: for the image, and what is made of it. One is held at a time. */
	for (size_t i = 0; i < survey->image_count; i++) {
		const struct opk_surveyed *surveyed = &survey->images[i];
		uint64_t memory = 4 * surveyed->file->sections[surveyed->section].plain_size;

		if (!surveyed->skipped && memory > contain.limits.memory)
			contain.limits.memory = memory;
	}
	return contain;
}

static int ask(struct opk_survey *survey, struct opk_ctx *ctx,
               const struct opk_image_options *options)
{
	struct opk_contain_options contain = opk_survey_contain(survey, options);
	opk_autosent struct opk_result result = { 0 };
	int code;

	/* Here once, for this child and those that work on the images after it. */
	opk_nv_load(ctx);
	code = opk_contain(&result, ctx, survey_in_child, survey, &contain);

	for (size_t i = 0; !code && i < survey->image_count; i++)
		code = read_image(survey, ctx, &result, &survey->images[i]);
	return code;
}

/* ---- tables ----------------------------------------------------------------------------- */

static int check_group(struct opk_ctx *ctx, const struct opk_surveyed *image,
                       const struct opk_meta *meta)
{
	for (size_t i = 0; i < image->facts.rows; i++) {
		uint32_t group = image->ranges[i].group;

		if (group > meta->group_count || group != image->ranges[0].group) {
			opk_fail(ctx, OPK_EINPUT,
			         "its ranges are of groups %u and %u, and there are "
			         "%zu groups",
			         image->ranges[0].group, group, meta->group_count);
			return opk_file_add_place(ctx, OPK_EINPUT, image->file, image->section);
		}
	}
	return OPK_OK;
}

/* The rows of one file begin with `first` and are `count`. */
struct file_tables {
	size_t first, count;
	struct opk_image_rows *known; /* what they tell of each section; free() */
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	const struct opk_time *times;
};

static int read_tables(struct file_tables *tables, struct opk_ctx *ctx, struct opk_file *file)
{
	size_t ranges, times;
	int code = opk_file_meta(&tables->meta, ctx, file);

	if (!code)
		code = opk_file_ranges(&tables->ranges, &ranges, ctx, file);
	if (!code)
		code = opk_file_times(&tables->times, &times, ctx, file);
	if (code)
		return code;
	if (ranges && ranges != tables->count)
		return opk_fail(ctx, OPK_EINPUT, "%s: the range table has %zu rows for %zu ranges",
		                file->path, ranges, tables->count);
	if (times && times != tables->count)
		return opk_fail(ctx, OPK_EINPUT,
		                "%s: there are times of %zu samples, and %zu samples", file->path,
		                times, tables->count);
	tables->ranges = ranges ? tables->ranges : NULL;
	tables->times = times ? tables->times : NULL;
	return opk_image_rows_find(&tables->known, ctx, file, &(struct opk_tables){ 0 },
	                           tables->meta->profiler, NULL);
}

/* No row of another image can make up for one that is missing. */
static int check_rows(struct opk_ctx *ctx, const struct opk_surveyed *image,
                      const struct opk_image_rows *rows)
{
	if (!rows->known || rows->count == image->facts.rows)
		return OPK_OK;
	opk_fail(ctx, OPK_EINPUT, "the tables have %zu rows for %ju ranges or samples", rows->count,
	         (uintmax_t)image->facts.rows);
	return opk_file_add_place(ctx, OPK_EINPUT, image->file, image->section);
}

static int link_image(struct opk_surveyed *image, struct opk_ctx *ctx,
                      const struct file_tables *tables)
{
	size_t at = image->first - tables->first;
	int code = check_rows(ctx, image, &tables->known[image->section]);

	if (code)
		return code;
	if (!image->facts.rows)
		return OPK_OK;
	if (tables->times) {
		image->times = tables->times + at;
		image->sample = (struct opk_range){
			.name = "",
			.kernel = "",
			.symbol = "",
			.nvtx = "",
			.rank = -1,
			.device = (int32_t)image->times->device,
		};
	}
	if (!tables->ranges)
		return OPK_OK;
	image->ranges = tables->ranges + at;
	return check_group(ctx, image, tables->meta);
}

static int link_file(struct opk_survey *survey, struct opk_ctx *ctx, struct opk_file *file)
{
	struct file_tables tables = { .first = SIZE_MAX };
	int code;

	for (size_t i = 0; i < survey->image_count; i++) {
		if (survey->images[i].file != file)
			continue;
		if (tables.first == SIZE_MAX)
			tables.first = survey->images[i].first;
		tables.count += survey->images[i].facts.rows;
	}
	code = read_tables(&tables, ctx, file);
	for (size_t i = 0; !code && i < survey->image_count; i++)
		if (survey->images[i].file == file)
			code = link_image(&survey->images[i], ctx, &tables);
	free(tables.known);
	return code;
}

/* All files' images are listed by now. */
static int survey(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t file_count, const struct opk_image_options *options)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < file_count; i++)
		code = verify_file(ctx, files[i], out);
	if (!code)
		code = ask(out, ctx, options);
	for (size_t i = 0; !code && i < file_count; i++)
		code = link_file(out, ctx, files[i]);
	return code;
}

int opk_survey_make(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                    size_t file_count, const struct opk_image_options *options)
{
	int code = OPK_OK;

	*out = (struct opk_survey){ 0 };
	for (size_t i = 0; !code && i < file_count; i++) {
		code = check_file(ctx, files[i]);
		if (!code)
			code = list_images(out, ctx, files[i]);
	}
	return code ? code : survey(out, ctx, files, file_count, options);
}

static bool all_left_out(const struct opk_image_rows *rows, const bool *left_out, size_t count)
{
	bool all = rows->known && !rows->open && rows->first + rows->count <= count;

	for (size_t i = 0; all && i < rows->count; i++)
		all = left_out[rows->first + i];
	return all;
}

int opk_survey_make_some(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                         const bool *left_out, size_t count,
                         const struct opk_image_options *options)
{
	opk_autofree struct opk_image_rows *rows = NULL;
	const struct opk_meta *meta;
	struct opk_tables tables;
	int code = opk_file_meta(&meta, ctx, file);

	*out = (struct opk_survey){ 0 };
	if (!code)
		code = check_file(ctx, file);
	if (!code)
		code = opk_tables_read(&tables, ctx, file);
	if (!code)
		code = opk_image_rows_find(&rows, ctx, file, &tables, meta->profiler, NULL);
	if (!code)
		code = list_images(out, ctx, file);
	for (size_t i = 0; !code && i < out->image_count; i++) {
		const struct opk_image_rows *known = &rows[out->images[i].section];

		out->images[i].skipped = all_left_out(known, left_out, count);
		if (out->images[i].skipped)
			out->images[i].facts.rows = known->count;
	}
	return code ? code : survey(out, ctx, &file, 1, options);
}

void opk_survey_clear(struct opk_survey *survey)
{
	free(survey->images);
	opk_strlist_clear(&survey->names);
	*survey = (struct opk_survey){ 0 };
}

/* Some images may be empty. */
const struct opk_surveyed *opk_survey_image(const struct opk_survey *survey, size_t row)
{
	size_t low = 0, high = survey->image_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (survey->images[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return &survey->images[low];
}

const struct opk_range *opk_survey_range(const struct opk_survey *survey, size_t row)
{
	const struct opk_surveyed *image = opk_survey_image(survey, row);

	if (image->ranges)
		return &image->ranges[row - image->first];
	return image->times ? &image->sample : NULL;
}

const char *opk_survey_name(const struct opk_survey *survey, size_t row)
{
	const struct opk_range *range = opk_survey_range(survey, row);

	return range && *range->name ? range->name : survey->names.items[row];
}
