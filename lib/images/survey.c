/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks NVIDIA's code what images hold, in a child. */
#include "images/images.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "container/container.h"
#include "eval/eval.h"

/* ---- the child -------------------------------------------------------------------------- */

struct work {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_survey *survey;
	struct opk_decoder decoder;
	const struct opk_file *decoded; /* the decoder's base is of it */
	struct opk_grouping gpus;
	OPK_LIST(struct layout {
		size_t gpu;
		struct opk_layout layout;
	})
	layouts;
};

static int find_slot_size(struct work *w, struct opk_surveyed_facts *facts, const void *image,
                          size_t size)
{
	opk_autofree void *one = NULL, *two = NULL;
	size_t one_size, two_size;

	TRY(opk_nv_image_like(&one, &one_size, w->ctx, image, size, &(struct opk_nv_room){ 1, 1 }));
	TRY(opk_nv_image_like(&two, &two_size, w->ctx, image, size, &(struct opk_nv_room){ 2, 1 }));
	facts->slot_size = two_size - one_size;
	return OPK_OK;
}

static int add_layout(struct work *w, size_t gpu)
{
	struct layout *added = opk_list_add(&w->layouts);

	if (!added)
		return opk_nomem(w->ctx, "layouts of images");
	added->gpu = gpu;
	return OPK_OK;
}

/* Finds the number of a layout of the image's GPU that fits, or of a new layout. */
static int find_layout(struct work *w, const struct opk_surveyed *surveyed,
                       struct opk_surveyed_facts *facts, const void *image, size_t size)
{
	const struct opk_segment *segment = surveyed->segment;
	bool fits = false;
	size_t gpu;

	TRY(opk_grouping_add(&gpu, &w->gpus, w->ctx, "",
	                     segment->ranges ? segment->ranges : &surveyed->sample));
	for (size_t i = 0; !fits; i++) {
		if (i == w->layouts.count)
			TRY(add_layout(w, gpu));
		if (w->layouts.items[i].gpu == gpu)
			TRY(opk_layout_fits(&fits, &w->layouts.items[i].layout, w->ctx, image,
			                    size));
		facts->layout = i;
	}
	return find_slot_size(w, facts, image, size);
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

static int look_at(struct work *w, const struct opk_surveyed *surveyed, const void *image,
                   size_t size, const struct opk_meta *meta)
{
	struct opk_surveyed_facts facts = { 0 };
	struct opk_nv_image_info info;
	size_t rows = 0;

	TRY(opk_blame_image(opk_nv_image_info(&info, w->ctx, image, size)));
	TRY(opk_blame_image(find_profiler(w, &facts, image, meta)));
	TRY(opk_blame_image(find_layout(w, surveyed, &facts, image, size)));
	/* Checks before copying: a copy looks whole even if passes are missing. */
	TRY(opk_image_check(&rows, w->ctx, &info, size, meta->profiler, surveyed->segment->pass));
	facts.rows = rows;
	facts.slots = info.slots;
	opk_put(w->child, &facts, sizeof facts);
	return meta->profiler == OPK_PROFILER_RANGE ? put_names(w, image, size, facts.rows)
	                                            : OPK_OK;
}

static int survey_image(struct work *w, const struct opk_surveyed *surveyed)
{
	const struct opk_meta *meta;
	const void *image;
	size_t size;

	if (w->decoded != surveyed->file)
		w->decoder.base.size = 0;
	w->decoded = surveyed->file;
	TRY(opk_file_meta(&meta, w->ctx, surveyed->file));
	TRY(opk_file_decode(&image, &size, w->ctx, surveyed->file, surveyed->section, &w->decoder));
	return look_at(w, surveyed, image, size, meta);
}

static int survey_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct work w = { .ctx = ctx, .child = child, .survey = data, .gpus.key = OPK_KEY_GPU };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < w.survey->image_count; i++) {
		const struct opk_surveyed *surveyed = &w.survey->images[i];

		if (surveyed->skipped)
			continue;
		opk_child_progress(child, i, w.survey->image_count);
		code = survey_image(&w, surveyed);
		if (code == OPK_EINPUT)
			opk_file_add_place(ctx, code, surveyed->file, surveyed->section);
	}
	for (size_t i = 0; i < w.layouts.count; i++)
		opk_layout_clear(&w.layouts.items[i].layout);
	free(w.layouts.items);
	opk_grouping_clear(&w.gpus);
	opk_decoder_clear(&w.decoder);
	return code;
}

/* ---- the parent ------------------------------------------------------------------------- */

/* A child that ran wild may send anything: the limit is a byte per row. */
static void get_facts(struct opk_surveyed *image, struct opk_result *result)
{
	uint64_t size = image->file->sections[image->section].plain_size;
	struct opk_surveyed_facts *facts = &image->facts;

	opk_get(result, facts, sizeof *facts);
	opk_result_expect(result, facts->slots <= size && facts->rows <= facts->slots
	                                  && facts->slot_size <= size + (1 << 20));
}

static int check_rows(struct opk_ctx *ctx, const struct opk_surveyed *image)
{
	const struct opk_segment *segment = image->segment;

	if (!opk_segment_is_counted(segment) || segment->row_count == image->facts.rows)
		return OPK_OK;
	opk_fail(ctx, OPK_EINPUT, "the tables have %zu rows for %ju ranges or samples",
	         segment->row_count, (uintmax_t)image->facts.rows);
	return opk_file_add_place(ctx, OPK_EINPUT, image->file, image->section);
}

static int read_image(struct opk_survey *survey, struct opk_ctx *ctx, struct opk_result *result,
                      struct opk_surveyed *image)
{
	if (image->skipped)
		image->facts.rows = image->segment->row_count;
	else
		get_facts(image, result);
	TRY(opk_result_check(result, ctx));
	TRY(check_rows(ctx, image));
	image->first = survey->row_count;
	survey->row_count += image->facts.rows;
	for (uint64_t i = 0; !result->code && i < image->facts.rows; i++) {
		if (image->facts.profiler == OPK_PROFILER_RANGE && !image->skipped)
			opk_get_text(&survey->names, result, OPK_MAX_RANGE_NAME);
		else if (!opk_strlist_add(&survey->names, ""))
			return opk_nomem(ctx, "rows");
	}
	return opk_result_check(result, ctx);
}

static int check_file(struct opk_ctx *ctx, struct opk_file *file)
{
	TRY(opk_file_check_complete(ctx, file, OPK_REMEDY_RECOVER));
	TRY(opk_baked_check_images(ctx, file, "this"));
	if (opk_file_find(file, OPK_SECTION_DATA) < 0
	    && opk_file_find(file, OPK_SECTION_INSTRUCTIONS) < 0)
		return opk_fail(ctx, OPK_EINPUT, "%s: no counter data", file->path);
	return OPK_OK;
}

/* Verifies all sections except skipped images. */
static int verify_file(struct opk_ctx *ctx, const struct opk_file *file,
                       const struct opk_survey *survey)
{
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type != OPK_SECTION_DATA)
			TRY(opk_file_verify(ctx, file, i));
	}
	for (size_t i = 0; i < survey->image_count; i++) {
		if (survey->images[i].file == file && !survey->images[i].skipped)
			TRY(opk_file_verify(ctx, file, survey->images[i].section));
	}
	return OPK_OK;
}

static int list_images(struct opk_survey *survey, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_segment *segments;
	struct opk_surveyed *grown;
	size_t count;

	TRY(opk_file_segments(&segments, &count, ctx, file));
	grown = opk_realloc_array(survey->images, survey->image_count + count, sizeof *grown);
	if (!grown)
		return opk_nomem(ctx, "counter data images");
	survey->images = grown;
	for (size_t i = 0; i < count; i++) {
		struct opk_surveyed *image = &grown[survey->image_count++];

		*image = (struct opk_surveyed){
			.file = file,
			.section = segments[i].image,
			.segment = &segments[i],
			.sample = { OPK_UNKNOWN_RANGE },
		};
		image->sample.host = segments[i].host;
		image->sample.gpu = segments[i].gpu;
		image->sample.rank = segments[i].rank;
		if (segments[i].times)
			image->sample.device = (int32_t)segments[i].times->device;
	}
	return OPK_OK;
}

struct opk_contain_options opk_survey_contain(const struct opk_survey *survey)
{
	struct opk_contain_options contain = { .phase = OPK_PHASE_IMAGES };

	/* Memory for an image and what is made from it, as in evaluation; one image at a time. */
	for (size_t i = 0; i < survey->image_count; i++) {
		const struct opk_surveyed *surveyed = &survey->images[i];
		uint64_t memory = 4 * surveyed->file->sections[surveyed->section].plain_size;

		if (!surveyed->skipped && memory > contain.limits.memory)
			contain.limits.memory = memory;
	}
	return contain;
}

static int ask(struct opk_survey *survey, struct opk_ctx *ctx)
{
	struct opk_contain_options contain = opk_survey_contain(survey);
	opk_autosent struct opk_result result = { 0 };

	/* Loads once for this child and for later ones that work on the images. */
	opk_nv_load(ctx);
	TRY(opk_contain(&result, ctx, survey_in_child, survey, &contain));

	for (size_t i = 0; i < survey->image_count; i++)
		TRY(read_image(survey, ctx, &result, &survey->images[i]));
	return OPK_OK;
}

/* Surveys the listed images of all files. */
static int survey(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t file_count)
{
	for (size_t i = 0; i < file_count; i++)
		TRY(verify_file(ctx, files[i], out));
	return ask(out, ctx);
}

int opk_survey_make(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                    size_t file_count)
{
	*out = (struct opk_survey){ 0 };
	for (size_t i = 0; i < file_count; i++) {
		TRY(check_file(ctx, files[i]));
		TRY(list_images(out, ctx, files[i]));
	}
	if (!out->image_count)
		return opk_fail(ctx, OPK_EINPUT, "%s: no counter data", files[0]->path);
	return survey(out, ctx, files, file_count);
}

/* Whether all rows of the segment, which begin at number `first`, are left out. */
static bool all_left_out(const struct opk_segment *segment, size_t first, const bool *left_out,
                         size_t count)
{
	bool all = opk_segment_is_counted(segment) && first + segment->row_count <= count;

	for (size_t i = 0; all && i < segment->row_count; i++)
		all = left_out[first + i];
	return all;
}

int opk_survey_make_some(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                         const bool *left_out, size_t count)
{
	size_t first = 0;

	/* The file was evaluated: if it is cut off, that was allowed. */
	*out = (struct opk_survey){ 0 };
	TRY(list_images(out, ctx, file));
	/* Row numbers are known up to the first image with an unknown number of rows. */
	for (size_t i = 0; i < out->image_count; i++) {
		const struct opk_segment *segment = out->images[i].segment;

		if (!opk_segment_is_counted(segment))
			break;
		out->images[i].skipped = all_left_out(segment, first, left_out, count);
		first += segment->row_count;
	}
	return survey(out, ctx, &file, 1);
}

/* ---- without NVIDIA's code -------------------------------------------------------------- */

/* The images of a GPU are taken for alike until they are combined. */
static int assume_facts(struct opk_surveyed *image, struct opk_ctx *ctx, struct opk_grouping *gpus,
                        uint64_t rows, enum opk_profiler profiler)
{
	const struct opk_segment *segment = image->segment;
	uint64_t size = image->file->sections[image->section].plain_size;
	size_t gpu;

	TRY(opk_grouping_add(&gpu, gpus, ctx, "",
	                     segment->ranges ? segment->ranges : &image->sample));
	image->facts = (struct opk_surveyed_facts){
		.rows = rows,
		.slots = rows,
		.slot_size = size / (rows ? rows : 1),
		.layout = gpu,
		.profiler = (int32_t)profiler,
	};
	return OPK_OK;
}

int opk_survey_can_assume(bool *out, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_segment *segments;
	const struct opk_meta *meta;
	size_t count;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_segments(&segments, &count, ctx, file));
	*out = meta->profiler == OPK_PROFILER_RANGE;
	for (size_t i = 0; i < count; i++)
		*out = *out && opk_segment_is_counted(&segments[i]);
	return OPK_OK;
}

int opk_survey_assume(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                      struct opk_strlist *names)
{
	struct opk_grouping gpus = { .key = OPK_KEY_GPU };
	int code;

	*out = (struct opk_survey){ .assumed = true };
	code = list_images(out, ctx, file);
	for (size_t i = 0; !code && i < out->image_count; i++) {
		out->images[i].first = out->row_count;
		out->row_count += out->images[i].segment->row_count;
		code = assume_facts(&out->images[i], ctx, &gpus, out->images[i].segment->row_count,
		                    OPK_PROFILER_RANGE);
	}
	opk_grouping_clear(&gpus);
	out->names = *names;
	*names = (struct opk_strlist){ 0 };
	return code;
}

static int take_baked(struct opk_survey *out, struct opk_ctx *ctx, const struct opk_baked *baked,
                      enum opk_profiler profiler)
{
	opk_autogrouping struct opk_grouping gpus = { .key = OPK_KEY_GPU };

	TRY(opk_baked_check_segments(ctx, baked, out->image_count ? out->images->segment : NULL,
	                             out->image_count));
	for (size_t i = 0; i < out->image_count; i++) {
		out->images[i].first = out->row_count;
		out->row_count += baked->images[i].rows;
		TRY(assume_facts(&out->images[i], ctx, &gpus, baked->images[i].rows, profiler));
	}
	return OPK_OK;
}

int opk_survey_of_baked(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                        struct opk_strlist *names)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	const struct opk_meta *meta;

	*out = (struct opk_survey){ .assumed = true };
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_baked_open(&baked, ctx, file));
	TRY(list_images(out, ctx, file));
	TRY(take_baked(out, ctx, opk_baked_get(baked), meta->profiler));
	out->names = *names;
	*names = (struct opk_strlist){ 0 };
	return OPK_OK;
}

void opk_survey_clear(struct opk_survey *survey)
{
	free(survey->images);
	opk_strlist_clear(&survey->names);
	*survey = (struct opk_survey){ 0 };
}

/* Empty images share `first` with the next one: takes the last image. */
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

	if (image->segment->ranges)
		return &image->segment->ranges[row - image->first];
	return &image->sample;
}

const char *opk_survey_name(const struct opk_survey *survey, size_t row)
{
	const struct opk_range *range = opk_survey_range(survey, row);

	return range && *range->name ? range->name : survey->names.items[row];
}
