/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-pass sets of a chip as metric sets, by name, and as a list. */
#include <string.h>
#include <strings.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "plan/single_pass.h"
#include "set/set.h"

OPK_DEFINE_AUTO(opk_single_pass_sets)

int opk_set_from_single_pass(struct opk_set **out, struct opk_ctx *ctx,
                             const struct opk_single_pass_set *single)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create(single->name, "");
	bool ok = set != NULL;

	for (size_t i = 0; ok && i < single->metric_count; i++)
		ok = opk_set_add_name(set, single->metrics[i]);
	if (!ok || !opk_set_complete(set))
		return opk_nomem(ctx, "a metric set");
	set->has_profiler = true;
	set->profiler = single->profiler;
	if (single->origin == OPK_SINGLE_PASS_CUPTI
	    && !(set->single_pass = opk_strdup(single->name)))
		return opk_nomem(ctx, "a metric set");
	*out = opk_take(set);
	return OPK_OK;
}

/* ---- by name */

static int fail_unknown_set(struct opk_ctx *ctx, const struct opk_single_pass_sets *sets,
                            const char *name, const char *chip)
{
	struct opk_nv_release release;

	for (size_t i = 0; i < sets->unusable_count; i++)
		if (!strcasecmp(sets->unusable[i].name, name))
			return opk_fail(
				ctx, OPK_EFAILED,
				"single-pass set '%s': CUPTI lists it for %s, but can't use it: %s",
				name, chip, sets->unusable[i].reason);
	release = opk_nv_release(ctx);
	opk_fail(ctx, OPK_EUSAGE, "%s has no single-pass set '%s' with %s%s", chip, name,
	         release.name,
	         release.lists_sets ? "" : ", and NVIDIA's own come with 13.2 and later");
	return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_LIST_SINGLE_PASS);
}

static int find_single_pass(struct opk_set **out, struct opk_ctx *ctx, const char *name,
                            const char *chip)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = NULL;
	const struct opk_single_pass_set *single;

	TRY(opk_single_pass_sets_quietly(&sets, ctx, chip));
	single = opk_single_pass_sets_find(sets, name);
	if (single)
		return opk_set_from_single_pass(out, ctx, single);
	return fail_unknown_set(ctx, sets, name, chip);
}

int opk_set_find_on(struct opk_set **out, struct opk_ctx *ctx, const char *spec, const char *chip)
{
	static const char prefix[] = "single-pass:";

	if (!strncmp(spec, prefix, sizeof prefix - 1))
		return find_single_pass(out, ctx, spec + sizeof prefix - 1, chip);
	return opk_set_find(out, ctx, spec);
}

/* ---- as a list */

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
