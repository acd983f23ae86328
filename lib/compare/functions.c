/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that rows of code are of, in each recording. */
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
                              struct opk_compared_source *source, const struct opk_row *row)
{
	TRY(find_number(out, diff, ctx, row->range->kernel));
	while (source->functions.count <= *out)
		if (!opk_list_add(&source->functions))
			return opk_nomem(ctx, "a comparison");
	source->functions.items[*out].launches = row->code->sampled_launches;
	return OPK_OK;
}

uint64_t opk_compared_sampled(const struct opk_compared_source *source, size_t function)
{
	return function < source->functions.count ? source->functions.items[function].launches : 0;
}

uint64_t opk_compared_sampled_of_side(const struct opk_diff *diff, enum opk_compared_side side,
                                      size_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < diff->source_count; i++)
		if (diff->sources[i].side == side)
			opk_sum_add(&sum, opk_compared_sampled(&diff->sources[i], function));
	return sum;
}
