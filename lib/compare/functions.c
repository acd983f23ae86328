/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that rows of code are of, in each recording. */
#include <math.h>

#include "base/sum.h"
#include "compare/compare.h"

static int find_number(size_t *out, struct opk_diff *diff, struct opk_ctx *ctx, const char *name)
{
	struct opk_strlist *names = &diff->function_names;

	*out = names->count;
	if (opk_index_find(out, &diff->functions, name))
		return OPK_OK;
	return opk_strlist_add(names, name)
	                       && opk_index_add(&diff->functions, names->items[*out], *out, NULL)
	               ? OPK_OK
	               : opk_nomem(ctx, "a comparison");
}

int opk_compared_add_function(size_t *out, struct opk_diff *diff, struct opk_ctx *ctx,
                              struct opk_compared_source *source, const struct opk_row *row,
                              double samples)
{
	struct opk_compared_function *function;

	TRY(find_number(out, diff, ctx, row->range->kernel));
	while (source->functions.count <= *out)
		if (!opk_list_add(&source->functions))
			return opk_nomem(ctx, "a comparison");
	function = &source->functions.items[*out];
	function->launches = row->code->sampled_launches;
	function->samples += isnan(samples) ? 0 : samples;
	return OPK_OK;
}

/* Launches of a function that a recording has samples of. */
static uint64_t sampled_of(const struct opk_compared_source *source, size_t function)
{
	return function < source->functions.count ? source->functions.items[function].launches : 0;
}

double opk_compared_exposure(const struct opk_diff *diff, const struct opk_compared_source *source,
                             size_t function)
{
	return diff->found.summary.shares ? source->all_samples / 100
	                                  : (double)sampled_of(source, function) * source->exposure;
}

uint64_t opk_compared_sampled_of_side(const struct opk_diff *diff, enum opk_compared_side side,
                                      size_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < diff->source_count; i++)
		if (diff->sources[i].side == side)
			opk_sum_add(&sum, sampled_of(&diff->sources[i], function));
	return sum;
}

/* ---- whole functions -------------------------------------------------------------------- */

/* The samples of one function in the recordings of a side that have any of its launches. */
static struct opk_counted count_samples(double *samples, double *exposures,
                                        const struct opk_diff *diff, enum opk_compared_side side,
                                        size_t function)
{
	struct opk_counted counted = { samples, exposures, 0 };

	for (size_t i = 0; i < diff->source_count; i++) {
		const struct opk_compared_source *source = &diff->sources[i];
		double exposure = opk_compared_exposure(diff, source, function);

		if (source->side != side || !(exposure > 0))
			continue;
		exposures[counted.count] = exposure / source->most_weight;
		samples[counted.count++] = function < source->functions.count
		                                   ? source->functions.items[function].samples
		                                             / source->most_weight
		                                   : 0;
	}
	return counted;
}

struct room {
	double *samples[OPK_SIDES], *exposures[OPK_SIDES];
};

static void count_both(struct opk_counted sides[OPK_SIDES], const struct room *room,
                       const struct opk_diff *diff, size_t function)
{
	for (enum opk_compared_side side = OPK_BEFORE; side < OPK_SIDES; side++)
		sides[side] = count_samples(room->samples[side], room->exposures[side], diff, side,
		                            function);
}

static void compare_all(struct opk_diff *diff, const struct room *room)
{
	struct opk_dispersion dispersion = { 0 };
	struct opk_counted sides[OPK_SIDES];

	for (size_t i = 0; i < diff->function_names.count; i++) {
		count_both(sides, room, diff, i);
		for (int side = 0; side < OPK_SIDES; side++)
			opk_dispersion_add(&dispersion, &sides[side]);
	}
	for (size_t i = 0; i < diff->function_names.count; i++) {
		count_both(sides, room, diff, i);
		opk_compare_counts(&diff->of_functions[i], sides, &dispersion);
	}
}

int opk_compared_judge_functions(struct opk_diff *diff, struct opk_ctx *ctx)
{
	static const bool foremost[1] = { true };
	struct opk_diff_summary summary = { .level = diff->found.summary.level };
	size_t count = diff->function_names.count, sources = diff->source_count;
	opk_autofree double *numbers = opk_alloc_array(4 * sources + 1, sizeof *numbers);
	const struct room room = { { numbers, numbers + sources },
		                   { numbers + 2 * sources, numbers + 3 * sources } };

	if (!opk_compared_is_code(diff) || diff->options.rows == OPK_ROWS_FUNCTIONS)
		return OPK_OK;
	diff->of_functions = opk_alloc_array(count + 1, sizeof *diff->of_functions);
	if (!numbers || !diff->of_functions)
		return opk_nomem(ctx, "a comparison");
	compare_all(diff, &room);
	return opk_find_verdicts(&summary, ctx,
	                         &(struct opk_compared_table){ .values = diff->of_functions,
	                                                       .foremost = foremost,
	                                                       .rows = count,
	                                                       .columns = 1,
	                                                       .sampled = true });
}
