/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans sums: which ranges are added, and into which images. */
#include "images/images.h"

#include <string.h>

#include "container/container.h"

/* ---- groups of ranges ------------------------------------------------------------------- */

static int fail_layout(const struct opk_sums *sums, struct opk_ctx *ctx, size_t a, size_t b)
{
	const struct opk_surveyed *first = opk_survey_image(sums->survey, a);
	const struct opk_surveyed *other = opk_survey_image(sums->survey, b);

	opk_fail(ctx, OPK_EUSAGE,
	         "range '%s' of %s: section %zu, and range '%s' of %s: section %zu",
	         opk_survey_name(sums->survey, a), first->file->path, first->section + 1,
	         opk_survey_name(sums->survey, b), other->file->path, other->section + 1);
	return opk_add(ctx, OPK_EUSAGE,
	               "ranges of different GPUs, or of other counters or instances, can't "
	               "be summed: split or evaluate them apart, or put into the key what "
	               "distinguishes them, such as rank");
}

enum { MAX_LAYOUTS = 1 << 20 };

/* A row that sums ranges of different names has no name; its image has a number instead. */
static const char *name_of(const struct opk_survey *survey, size_t row,
                           const struct opk_range *range)
{
	return range->count && !*range->name ? "" : opk_survey_name(survey, row);
}

/* Finds a row's source: each layout of a group, GPU and metrics has its own, from 0. */
static int find_source(struct opk_sums *sums, struct opk_ctx *ctx, size_t row, const char *name,
                       bool single)
{
	uint64_t layout = opk_survey_image(sums->survey, row)->facts.layout;
	size_t sum = 0;
	int code;

	for (sums->parts.besides = sums->group_of[row] * MAX_LAYOUTS;; sums->parts.besides++) {
		code = opk_grouping_find(&sum, &sums->parts, ctx, name,
		                         opk_survey_range(sums->survey, row));
		if (code || sum == SIZE_MAX || sums->sums[sum].layout == layout)
			break;
		if (single)
			return fail_layout(sums, ctx, sums->sums[sum].first, row);
	}
	sums->sources.besides = sums->parts.besides;
	return code;
}

static int add_sum(struct opk_sums *sums, struct opk_ctx *ctx, size_t row, size_t source,
                   bool single)
{
	uint64_t *launches = opk_alloc_array(sums->passes + 1, sizeof *launches);

	if (!launches)
		return opk_nomem(ctx, "sums");
	sums->sums[sums->count++] = (struct opk_summed){
		.group = sums->group_of[row],
		.source = source,
		.pass = single ? opk_survey_range(sums->survey, row)->pass : 0,
		.launches = launches,
		.first = row,
		.layout = opk_survey_image(sums->survey, row)->facts.layout,
	};
	return OPK_OK;
}

static unsigned group_key(const struct opk_sums_options *options, const struct opk_range *range)
{
	unsigned key = options->key | (options->single ? OPK_KEY_GPU : 0);

	if (!options->part || options->level == OPK_ALL_LEVELS)
		return key;
	/* The final sum of the parts finds which ranges hold others. */
	return key | OPK_KEY_RANK | (*range->kernel ? 0 : OPK_KEY_NAME);
}

/*
 * Keeps ranges without a symbol apart: only the final sum knows which kernel of that name they
 * join. Keys of kernels and of other ranges differ.
 */
static uint64_t group_besides(const struct opk_sums_options *options, const struct opk_range *range)
{
	enum { NO_KERNEL = 2 };

	if (!options->part)
		return 0;
	return *range->kernel ? *range->symbol != 0 : NO_KERNEL;
}

static int add_row(struct opk_sums *sums, struct opk_ctx *ctx, size_t row,
                   const struct opk_sums_options *options)
{
	const struct opk_range *range = opk_survey_range(sums->survey, row);
	const char *name = name_of(sums->survey, row, range);
	size_t source;

	sums->groups.key = group_key(options, range);
	sums->groups.besides = group_besides(options, range);
	TRY(opk_grouping_add(&sums->group_of[row], &sums->groups, ctx, name, range));
	TRY(find_source(sums, ctx, row, name, options->single));
	TRY(opk_grouping_add(&source, &sums->sources, ctx, name, range));
	TRY(opk_grouping_add(&sums->sum_of[row], &sums->parts, ctx, name, range));
	if (sums->sum_of[row] == sums->count)
		TRY(add_sum(sums, ctx, row, source, options->single));
	sums->sums[sums->sum_of[row]].launches[range->pass] += range->count ? range->count : 1;
	return OPK_OK;
}

/* ---- images ----------------------------------------------------------------------------- */

static bool go_together(const struct opk_summed *a, const struct opk_summed *b)
{
	return a->layout == b->layout && a->pass == b->pass;
}

/* Sorts sums, so that all with the same layout and pass follow the first such sum. */
static int put_in_order(struct opk_sums *sums, struct opk_ctx *ctx)
{
	opk_autofree bool *placed = opk_alloc_array(sums->count + 1, sizeof *placed);
	size_t count = 0;

	if (!placed)
		return opk_nomem(ctx, "sums");
	for (size_t i = 0; i < sums->count; i++) {
		if (placed[i])
			continue;
		for (size_t j = i; j < sums->count; j++) {
			if (placed[j] || !go_together(&sums->sums[i], &sums->sums[j]))
				continue;
			placed[j] = true;
			sums->order[count] = j;
			sums->sums[j].place = count++;
		}
	}
	return OPK_OK;
}

/* Whether the sum at `place` fits into the image. */
static bool fits(const struct opk_sums *sums, const struct opk_target *target, size_t place)
{
	const struct opk_summed *first = &sums->sums[sums->order[place - target->slots]];
	const struct opk_summed *next = &sums->sums[sums->order[place]];

	return go_together(first, next)
	       && target->slots < opk_recombine_slots(opk_survey_image(sums->survey, first->first));
}

/*
 * Names slots by numbers, without repetition in an image. If a group has one sum per pass, the
 * number is the group's, by which the sums are joined. Groups are numbered in the order of the
 * file, so that a sum of sums has the same numbers.
 */
static int make_targets(struct opk_sums *sums, struct opk_ctx *ctx, bool single)
{
	opk_autofree size_t *numbers = opk_alloc_array(sums->groups.count + 1, sizeof *numbers);
	size_t numbered = 0;

	if (!numbers)
		return opk_nomem(ctx, "sums");
	for (size_t i = 0; i < sums->count; i++) {
		struct opk_summed *sum = &sums->sums[sums->order[i]];
		struct opk_target *target = sums->target_count
		                                    ? &sums->targets[sums->target_count - 1]
		                                    : NULL;
		size_t *group = &numbers[sum->group];
		char number[24];

		if (!*group)
			*group = ++numbered;
		snprintf(number, sizeof number, "%zu", single ? *group - 1 : sums->order[i]);
		if (!opk_strlist_add(&sums->numbers, number))
			return opk_nomem(ctx, "sums");
		if (!target || !fits(sums, target, i))
			target = &sums->targets[sums->target_count++];
		sum->target = (size_t)(target - sums->targets);
		sum->slot = target->slots++;
	}
	/* Names can be borrowed now that their list no longer grows. */
	for (size_t i = 0, first = 0; i < sums->target_count; first += sums->targets[i++].slots)
		sums->targets[i].names = opk_strlist_items(&sums->numbers) + first;
	return OPK_OK;
}

/* Adds the moves in the order of rows, for each target. */
static void make_moves(struct opk_sums *sums)
{
	size_t at = 0;

	for (size_t i = 0; i < sums->survey->row_count; i++)
		if (sums->sum_of[i] != SIZE_MAX)
			sums->targets[sums->sums[sums->sum_of[i]].target].move_count++;
	for (size_t i = 0; i < sums->target_count; i++) {
		sums->targets[i].moves = sums->moves + at;
		at += sums->targets[i].move_count;
		sums->targets[i].move_count = 0;
	}
	for (size_t i = 0; i < sums->survey->row_count; i++) {
		const struct opk_summed *sum;
		struct opk_target *target;

		if (sums->sum_of[i] == SIZE_MAX)
			continue;
		sum = &sums->sums[sums->sum_of[i]];
		target = &sums->targets[sum->target];
		sums->moves[(size_t)(target->moves - sums->moves) + target->move_count++] =
			(struct opk_move){ i, sum->slot };
	}
}

/* ---- all of it -------------------------------------------------------------------------- */

static int allocate(struct opk_sums *sums, struct opk_ctx *ctx)
{
	size_t rows = sums->survey->row_count + 1;

	sums->sums = opk_alloc_array(rows, sizeof *sums->sums);
	sums->group_of = opk_alloc_array(rows, sizeof *sums->group_of);
	sums->sum_of = opk_alloc_array(rows, sizeof *sums->sum_of);
	sums->order = opk_alloc_array(rows, sizeof *sums->order);
	sums->targets = opk_alloc_array(rows, sizeof *sums->targets);
	sums->moves = opk_alloc_array(rows, sizeof *sums->moves);
	return sums->sums && sums->group_of && sums->sum_of && sums->order && sums->targets
	                       && sums->moves
	               ? OPK_OK
	               : opk_nomem(ctx, "sums");
}

static int choose_rows(struct opk_sums *sums, struct opk_ctx *ctx,
                       const struct opk_sums_options *options)
{
	size_t rows = sums->survey->row_count;
	opk_autofree bool *dropped = opk_alloc_array(rows + 1, sizeof *dropped);

	if (!dropped)
		return opk_nomem(ctx, "sums");
	if (options->left_out)
		memcpy(dropped, options->left_out, rows);
	TRY(opk_levels_choose(dropped, ctx, sums->survey, options));
	for (size_t i = 0; i < rows; i++) {
		sums->group_of[i] = sums->sum_of[i] = SIZE_MAX;
		if (!dropped[i])
			TRY(add_row(sums, ctx, i, options));
	}
	return OPK_OK;
}

int opk_sums_init(struct opk_sums *out, struct opk_ctx *ctx, const struct opk_survey *survey,
                  const struct opk_sums_options *options)
{
	*out = (struct opk_sums){
		.survey = survey,
		.sources.key = OPK_KEY_GPU,
		.parts.key = OPK_KEY_GPU | (options->single ? OPK_KEY_PASS : 0),
	};
	for (size_t i = 0; i < survey->image_count; i++)
		if (out->passes < survey->images[i].segment->pass)
			out->passes = survey->images[i].segment->pass;
	TRY(allocate(out, ctx));
	TRY(choose_rows(out, ctx, options));
	TRY(put_in_order(out, ctx));
	TRY(make_targets(out, ctx, options->single));
	make_moves(out);
	return OPK_OK;
}

void opk_sums_clear(struct opk_sums *sums)
{
	opk_grouping_clear(&sums->groups);
	opk_grouping_clear(&sums->sources);
	opk_grouping_clear(&sums->parts);
	for (size_t i = 0; i < sums->count; i++)
		free(sums->sums[i].launches);
	free(sums->sums);
	free(sums->group_of);
	free(sums->sum_of);
	free(sums->order);
	opk_strlist_clear(&sums->numbers);
	free(sums->targets);
	free(sums->moves);
	*sums = (struct opk_sums){ 0 };
}
