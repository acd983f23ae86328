/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-pass sets of a chip as a list. */
#include "base/listing.h"
#include "plan/door.h"

OPK_DEFINE_AUTO(opk_single_pass_sets)

int opk_single_pass_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = NULL;
	struct opk_listing *rows;

	TRY(opk_single_pass_sets_new(&sets, ctx, chip));
	rows = opk_listing_new(
		"set profiler origin metrics# left_out# metric_names* left_out_names*");
	for (size_t i = 0; i < opk_single_pass_sets_count(sets); i++) {
		const struct opk_single_pass_set *set = opk_single_pass_sets_get(sets, i);

		opk_listing_row(rows, cell_text(set->name),
		                cell_text(opk_profiler_name(set->profiler)),
		                cell_text(opk_single_pass_origin_name(set->origin)),
		                cell_number(set->metric_count), cell_number(set->left_out_count),
		                cell_list(set->metrics, set->metric_count),
		                cell_list(set->left_out, set->left_out_count));
	}
	return opk_listing_finish(out, ctx, rows);
}
