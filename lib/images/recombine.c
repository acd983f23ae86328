/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes images with PerfWorks' combiner, in a child, or large sums in several. */
#include "images/images.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "container/container.h"

enum {
	TARGET_BYTES = 256 << 20, /* per image: the next one reads the sources again */
	MAX_TARGET_SLOTS = 1000,  /* its rows are one table, and kernel names take kilobytes */
	PART_ROWS = 4000,         /* a child for less takes longer than it saves */
	MOST_PARTS = 16,
};

size_t opk_recombine_slots(const struct opk_surveyed *image)
{
	uint64_t size = image->facts.slot_size ? image->facts.slot_size : 1;
	uint64_t slots = TARGET_BYTES / size;

	return slots > MAX_TARGET_SLOTS ? MAX_TARGET_SLOTS : slots ? (size_t)slots : 1;
}

/* ---- the child -------------------------------------------------------------------------- */

/* What one child does: all, the sums of these rows alone, or the sums of what others sent. */
struct part {
	const struct opk_recombination *job;
	bool some;
	size_t first, end; /* rows */
	struct opk_result *sent;
	size_t sent_count;
};

struct work {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_recombination *job;
	const struct part *part;
	/* The image read last, which the decoder owns. */
	const struct opk_surveyed *source;
	struct opk_decoder decoder;
	const void *image;
	size_t image_size;
	struct opk_layout layout; /* of the target's images, if it is not known that they fit */
	uint64_t done, total;     /* moves */
};

/* The combiner crashes on ranges from images of another layout. */
static int check_layout(struct work *w, const void *image, size_t size)
{
	bool fits = true;

	if (w->job->survey->assumed)
		TRY(opk_layout_fits(&fits, &w->layout, w->ctx, image, size));
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
	return check_layout(w, w->image, w->image_size);
}

static int finish(struct work *w, size_t target, const void *image, size_t size)
{
	const struct opk_recombination *job = w->job;

	if (job->use)
		return job->use(w->ctx, job->data, w->child, target, image, size);
	opk_put_bytes(w->child, image, size);
	return OPK_OK;
}

static bool is_sampled(const struct work *w, const struct opk_target *target)
{
	return opk_survey_image(w->job->survey, target->moves->row)->facts.profiler
	       == OPK_PROFILER_PM;
}

static bool is_mine(const struct work *w, size_t row)
{
	return !w->part->some || (row >= w->part->first && row < w->part->end);
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
		if (is_mine(w, target->moves[i].row))
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
	int code = is_sampled(w, target) ? OPK_OK : opk_nv_image_info(&info, w->ctx, image, size);

	if (code || is_sampled(w, target))
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

static int begin_image(struct opk_made *made, struct work *w, const struct opk_target *target,
                       const void *like, size_t like_size)
{
	TRY(opk_made_begin(made, w->ctx, like, like_size,
	                   &(struct opk_nv_room){ target->slots, longest_name(target) + 1 }));
	return is_sampled(w, target)
	               ? OPK_OK
	               : opk_blame_image(opk_nv_combiner_ranges(w->ctx, made->combiner,
	                                                        target->slots, target->names));
}

static int make_image(struct work *w, size_t index)
{
	const struct opk_target *target = &w->job->targets[index];
	opk_automade struct opk_made made = { 0 };

	TRY(begin_image(&made, w, target, w->image, w->image_size));
	TRY(add_moves(w, made.combiner, target));
	if (!w->part->some) {
		TRY(check_image(w, target, made.image, made.size));
		return finish(w, index, made.image, made.size);
	}
	opk_made_send(&made, w->child, target->slots);
	return OPK_OK;
}

static int add_sent(struct opk_made *made, struct work *w, const struct opk_target *target,
                    struct opk_result *sent)
{
	size_t size;
	opk_autofree void *image = NULL;

	TRY(opk_part_receive(&image, &size, w->ctx, sent, target->slots));
	if (!image)
		return OPK_OK;
	TRY(check_layout(w, image, size));
	if (!made->image)
		TRY(begin_image(made, w, target, image, size));
	return opk_made_add(made, w->ctx, w->child, image, sent, target->slots,
	                    opk_nv_combiner_sum);
}

static int join_parts(struct work *w, size_t index)
{
	const struct opk_target *target = &w->job->targets[index];
	opk_automade struct opk_made made = { 0 };

	for (size_t i = 0; i < w->part->sent_count; i++)
		TRY(add_sent(&made, w, target, &w->part->sent[i]));
	TRY(check_image(w, target, made.image, made.size));
	return finish(w, index, made.image, made.size);
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
	const struct opk_surveyed *source;
	size_t first = 0;
	int code;

	opk_layout_clear(&w->layout);
	w->source = NULL;
	if (w->part->sent)
		return join_parts(w, index);
	while (first < target->move_count && !is_mine(w, target->moves[first].row))
		first++;
	if (first == target->move_count) {
		opk_made_send(&(struct opk_made){ 0 }, w->child, target->slots);
		return OPK_OK;
	}
	source = opk_survey_image(w->job->survey, target->moves[first].row);
	code = read_source(w, target->moves[first].row);
	if (!code)
		code = target->trim ? trim_image(w, index) : make_image(w, index);
	if (code == OPK_EFAILED || code == OPK_EINPUT)
		opk_file_add_place(w->ctx, code, source->file, source->section);
	return code;
}

static int recombine_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct part *part = data;
	struct work w = { .ctx = ctx, .child = child, .job = part->job, .part = part };
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

/* Whether sums of parts are the sums: not of means, nor of samples, which are copied. */
static size_t count_parts(const struct opk_recombination *job)
{
	const struct opk_survey *survey = job->survey;
	size_t most = job->workers ? job->workers : opk_core_count();
	size_t count = survey->row_count / PART_ROWS;

	if (job->mean || !job->use || !survey->assumed)
		return 1;
	most = most < MOST_PARTS ? most : MOST_PARTS;
	count = count < most ? count : most;
	return count < survey->image_count ? count : survey->image_count;
}

/* Each part has whole images. */
static int run_parts(struct opk_result *result, struct opk_ctx *ctx,
                     const struct opk_recombination *job, size_t count,
                     const struct opk_contain_options *contain)
{
	const struct opk_survey *survey = job->survey;
	opk_autofree struct part *parts = opk_alloc_array(count, sizeof *parts);
	opk_autofree struct opk_result *sent = opk_alloc_array(count, sizeof *sent);
	struct part whole = { .job = job, .sent = sent, .sent_count = count };
	int code;

	if (!parts || !sent)
		return opk_nomem(ctx, "sums");
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct part){
			.job = job,
			.some = true,
			.first = survey->images[survey->image_count * i / count].first,
			.end = i + 1 < count
			               ? survey->images[survey->image_count * (i + 1) / count].first
			               : survey->row_count,
		};
	TRY(opk_contain_all(sent, ctx,
	                    &(struct opk_contained){ recombine_in_child, parts, sizeof *parts,
	                                             count },
	                    contain));
	code = opk_contain(result, ctx, recombine_in_child, &whole, contain);
	for (size_t i = 0; i < count; i++)
		opk_result_clear(&sent[i]);
	return code;
}

int opk_recombine(struct opk_result *result, struct opk_ctx *ctx,
                  const struct opk_recombination *recombination)
{
	struct opk_contain_options contain = opk_survey_contain(recombination->survey);
	size_t count = count_parts(recombination);

	contain.limits.memory += 4 * (uint64_t)TARGET_BYTES;
	if (count > 1)
		return run_parts(result, ctx, recombination, count, &contain);
	return opk_contain(result, ctx, recombine_in_child, &(struct part){ .job = recombination },
	                   &contain);
}

int opk_recombine_next(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *result)
{
	*image = opk_get_bytes(size, result, SIZE_MAX);
	return opk_result_check(result, ctx);
}
