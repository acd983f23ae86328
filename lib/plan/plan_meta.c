/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan/plan_meta.h"

#include <string.h>

static void put_labels(struct opk_meta *meta, struct opk_meta_label *labels,
                       const struct opk_resolved *set)
{
	for (size_t i = 0; i < set->metrics.count; i++)
		if (*set->labels.items[i])
			labels[meta->label_count++] = (struct opk_meta_label){
				set->metrics.items[i], set->labels.items[i]
			};
	meta->labels = labels;
}

static void put_derived(struct opk_meta *meta, struct opk_meta_derived *derived,
                        const struct opk_resolved *set)
{
	for (size_t i = 0; i < set->derived_count; i++)
		derived[i] = (struct opk_meta_derived){ set->derived[i].name,
			                                set->derived[i].formula,
			                                set->derived[i].unit,
			                                set->derived[i].description };
	meta->derived = derived;
	meta->derived_count = set->derived_count;
}

static void put_headings(struct opk_meta *meta, struct opk_meta_heading *headings,
                         const struct opk_resolved *set)
{
	for (size_t i = 0; i < set->heading_count; i++)
		headings[i] = (struct opk_meta_heading){ set->headings[i].title,
			                                 set->headings[i].text,
			                                 set->headings[i].first,
			                                 set->headings[i].count };
	meta->headings = headings;
	meta->heading_count = set->heading_count;
}

/* The metrics as they are scheduled are the columns, unless the set says otherwise. */
static bool needs_columns(const struct opk_plan *plan)
{
	const struct opk_resolved *set = &plan->resolved;

	if (set->derived_count || set->heading_count || set->columns.count != plan->metrics.count)
		return true;
	for (size_t i = 0; i < plan->metrics.count; i++)
		if (strcmp(set->columns.items[i], plan->metrics.items[i]))
			return true;
	return false;
}

int opk_resolved_to_meta(struct opk_meta *meta, struct opk_plan_meta *lists, struct opk_ctx *ctx,
                         const struct opk_resolved *set)
{
	lists->labels = opk_alloc_array(set->metrics.count + 1, sizeof *lists->labels);
	lists->derived = opk_alloc_array(set->derived_count + 1, sizeof *lists->derived);
	lists->headings = opk_alloc_array(set->heading_count + 1, sizeof *lists->headings);
	if (!lists->labels || !lists->derived || !lists->headings)
		return opk_nomem(ctx, "metadata");
	meta->set_version = set->version;
	meta->set_hash = set->hash;
	put_labels(meta, lists->labels, set);
	put_derived(meta, lists->derived, set);
	put_headings(meta, lists->headings, set);
	meta->hidden = opk_strlist_items(&set->metrics) + set->shown;
	meta->hidden_count = set->metrics.count - set->shown;
	meta->columns = opk_strlist_items(&set->columns);
	meta->column_count = set->columns.count;
	return OPK_OK;
}

int opk_plan_to_meta(struct opk_meta *meta, struct opk_plan_meta *lists, struct opk_ctx *ctx,
                     const struct opk_plan *plan)
{
	int code = opk_resolved_to_meta(meta, lists, ctx, &plan->resolved);

	if (!code && !needs_columns(plan))
		meta->column_count = 0;
	return code;
}

void opk_plan_meta_clear(struct opk_plan_meta *lists)
{
	free(lists->labels);
	free(lists->derived);
	free(lists->headings);
	*lists = (struct opk_plan_meta){ 0 };
}
