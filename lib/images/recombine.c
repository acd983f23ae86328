/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes images with PerfWorks' combiner, in a child. */
#include "images/images.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "container/container.h"

enum {
	TARGET_BYTES = 256 << 20, /* per image: the next one reads the sources again */
	MAX_TARGET_SLOTS = 1000,  /* its rows are one table, and kernel names take kilobytes */
};

size_t opk_recombine_slots(const struct opk_surveyed *image)
{
	uint64_t size = image->facts.slot_size ? image->facts.slot_size : 1;
	uint64_t slots = TARGET_BYTES / size;

	return slots > MAX_TARGET_SLOTS ? MAX_TARGET_SLOTS : slots ? (size_t)slots : 1;
}

/* ---- the child -------------------------------------------------------------------------- */

struct work {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_recombination *job;
	/* The image read last, which the decoder owns. */
	const struct opk_surveyed *source;
	struct opk_decoder decoder;
	const void *image;
	size_t image_size;
	struct opk_layout layout; /* of the target's images, if it is not known that they fit */
	uint64_t done, total;     /* moves */
};

/* The combiner crashes on ranges from images of another layout. */
static int check_layout(struct work *w)
{
	bool fits = true;

	if (w->job->survey->assumed)
		TRY(opk_layout_fits(&fits, &w->layout, w->ctx, w->image, w->image_size));
	return fits ? OPK_OK : opk_fail(w->ctx, OPK_EINPUT, "images of a GPU differ");
}

static int read_source(struct work *w, size_t row)
{
	const struct opk_surveyed *source = opk_survey_image(w->job->survey, row);

	if (source == w->source)
		return OPK_OK;
	/* The decoder's base is of one file. */
	if (!w->source || w->source->file != source->file)
		w->decoder.base.size = 0;
	w->source = NULL;
	TRY(opk_file_decode(&w->image, &w->image_size, w->ctx, source->file, source->section,
	                    &w->decoder));
	w->source = source;
	return check_layout(w);
}

static int finish(struct work *w, size_t target, const void *image, size_t size)
{
	const struct opk_recombination *job = w->job;

	if (job->use)
		return job->use(w->ctx, job->data, w->child, target, image, size);
	opk_put_bytes(w->child, image, size);
	return OPK_OK;
}

static bool is_sampled(const struct work *w)
{
	return w->source->facts.profiler == OPK_PROFILER_PM;
}

/* How many ranges of each slot and pass are in its mean; NULL if there can't be too many. */
struct averaged {
	uint32_t *counts;
	size_t passes; /* plus one for ranges with all passes */
};

static int begin_averaged(struct averaged *averaged, struct work *w,
                          const struct opk_target *target)
{
	const struct opk_survey *survey = w->job->survey;

	if (!w->job->mean || target->move_count <= OPK_MOST_AVERAGED)
		return OPK_OK;
	for (size_t i = 0; i < survey->image_count; i++)
		if (averaged->passes < survey->images[i].segment->pass)
			averaged->passes = survey->images[i].segment->pass;
	averaged->counts = opk_alloc_array(target->slots * (averaged->passes + 1),
	                                   sizeof *averaged->counts);
	return averaged->counts ? OPK_OK : opk_nomem(w->ctx, "means");
}

static bool is_full(struct averaged *averaged, size_t slot, uint32_t pass)
{
	uint32_t *count = averaged->counts;

	if (!count)
		return false;
	count += slot * (averaged->passes + 1) + pass;
	if (*count == OPK_MOST_AVERAGED)
		return true;
	++*count;
	return false;
}

static int add_move(struct work *w, struct opk_nv_combiner *combiner, const struct opk_move *move,
                    struct averaged *averaged)
{
	int code = read_source(w, move->row);
	size_t range;

	if (code || is_full(averaged, move->slot, w->source->segment->pass))
		return code;
	range = move->row - w->source->first;
	code = w->job->mean ? opk_nv_combiner_average(w->ctx, combiner, move->slot, w->image, range)
	                    : opk_nv_combiner_sum(w->ctx, combiner, move->slot, w->image, range);
	return opk_blame_image(code);
}

static int add_moves(struct work *w, struct opk_nv_combiner *combiner,
                     const struct opk_target *target)
{
	struct averaged averaged = { 0 };
	int code = begin_averaged(&averaged, w, target);

	for (size_t i = 0; !code && i < target->move_count; i++) {
		opk_child_progress(w->child, w->done++, w->total);
		code = add_move(w, combiner, &target->moves[i], &averaged);
	}
	free(averaged.counts);
	return code;
}

/* Counts the ranges that will be rows: marked as whole or, if each has one pass, all with data. */
static int check_image(struct work *w, const struct opk_target *target, const void *image,
                       size_t size)
{
	const struct opk_surveyed *first = opk_survey_image(w->job->survey, target->moves->row);
	struct opk_nv_image_info info;
	size_t made;
	int code = is_sampled(w) ? OPK_OK : opk_nv_image_info(&info, w->ctx, image, size);

	if (code || is_sampled(w))
		return opk_blame_image(code);
	made = first->segment->pass ? info.populated : info.completed;
	if (made != target->slots)
		return opk_fail(w->ctx, OPK_EINPUT, "PerfWorks' combiner made %zu ranges of %zu",
		                made, target->slots);
	return OPK_OK;
}

static size_t longest_name(const struct opk_target *target)
{
	size_t longest = 23;

	for (size_t i = 0; target->names && i < target->slots; i++)
		if (strlen(target->names[i]) > longest)
			longest = strlen(target->names[i]);
	return longest;
}

static int make_image(struct work *w, size_t index)
{
	const struct opk_target *target = &w->job->targets[index];
	struct opk_nv_combiner *combiner;
	opk_autofree void *image = NULL;
	size_t size;
	int code = opk_nv_image_like(&image, &size, w->ctx, w->image, w->image_size,
	                             &(struct opk_nv_room){ target->slots,
	                                                    longest_name(target) + 1 });

	if (!code)
		code = opk_nv_combiner_new(&combiner, w->ctx, image);
	if (code)
		return opk_blame_image(code);
	if (!is_sampled(w))
		code = opk_blame_image(
			opk_nv_combiner_ranges(w->ctx, combiner, target->slots, target->names));
	if (!code)
		code = add_moves(w, combiner, target);
	opk_nv_combiner_free(combiner);
	if (!code)
		code = check_image(w, target, image, size);
	return code ? code : finish(w, index, image, size);
}

static int trim_image(struct work *w, size_t index)
{
	size_t size = w->image_size;
	int code = opk_blame_image(opk_nv_trim_samples(&size, w->ctx, w->decoder.plain.data));

	/* The image in memory is no longer the source. */
	w->source = NULL;
	if (!code && size > w->image_size)
		return opk_fail(w->ctx, OPK_EINPUT, "PerfWorks made the image larger");
	return code ? code : finish(w, index, w->image, size);
}

static int make_target(struct work *w, size_t index)
{
	const struct opk_target *target = &w->job->targets[index];
	const struct opk_surveyed *source = opk_survey_image(w->job->survey, target->moves->row);
	int code;

	opk_layout_clear(&w->layout);
	w->source = NULL;
	code = read_source(w, target->moves->row);
	if (!code)
		code = target->trim ? trim_image(w, index) : make_image(w, index);
	if (code == OPK_EFAILED || code == OPK_EINPUT)
		opk_file_add_place(w->ctx, code, source->file, source->section);
	return code;
}

static int recombine_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct work w = { .ctx = ctx, .child = child, .job = data };
	int code = OPK_OK;

	for (size_t i = 0; i < w.job->target_count; i++)
		w.total += w.job->targets[i].move_count;
	for (size_t i = 0; !code && i < w.job->target_count; i++)
		code = make_target(&w, i);
	opk_decoder_clear(&w.decoder);
	opk_layout_clear(&w.layout);
	return code;
}

/* ---- the parent ------------------------------------------------------------------------- */

int opk_recombine(struct opk_result *result, struct opk_ctx *ctx,
                  const struct opk_recombination *recombination)
{
	struct opk_contain_options contain = opk_survey_contain(recombination->survey);

	contain.limits.memory += 4 * (uint64_t)TARGET_BYTES;
	return opk_contain(result, ctx, recombine_in_child, (void *)recombination, &contain);
}

int opk_recombine_next(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *result)
{
	*image = opk_get_bytes(size, result, SIZE_MAX);
	return opk_result_check(result, ctx);
}
