/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of a summary: its evaluation has what the set needs, so that the file is read once. */
#include <math.h>
#include <string.h>

#include "answers/answers_inside.h"
#include "base/metric.h"
#include "container/container.h"
#include "set/set.h"

/* ---- before the summary --------------------------------------------------------------------- */

/* Metrics that were recorded are no longer optional: CUPTI is not asked whether it accepts them. */
static void choose_recorded(struct opk_set_items *items, const struct opk_meta *meta)
{
	for (size_t i = 0; i < items->count; i++) {
		struct opk_set_item *item = &items->items[i];

		choose_recorded(&item->items, meta);
		if (item->kind == OPK_SET_ITEM_HEADING || !item->what.text
		    || !opk_meta_has_metric(meta, item->what.text))
			continue;
		item->kind = OPK_SET_ITEM_METRIC;
		item->optional = false;
	}
}

/* Attributes that the recording lacks are left out. */
static int list_metrics(struct opk_answers *a, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	for (size_t i = 0; i < a->set_columns.metric_count; i++) {
		const char *name = a->set_columns.metrics[i];
		int code = opk_attribute_check(ctx, name, meta);

		TRY(opk_allow(ctx, code, OPK_EUSAGE));
		if (!code && !opk_strlist_add(&a->metrics, name))
			return opk_nomem(ctx, "answers");
	}
	return OPK_OK;
}

int opk_answers_begin(struct opk_answers **out, struct opk_ctx *ctx, struct opk_file *file)
{
	static const struct opk_wanted all = { 0 };
	opk_auto(opk_answers) struct opk_answers *a = NULL;
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_answers_prepare(&a, ctx, meta));
	if (!opk_answers_have_needs(a, meta))
		return opk_fail(ctx, OPK_EUSAGE, "it lacks what answers need");
	choose_recorded(&a->set->items, meta);
	TRY(opk_set_meta_init(&a->set_meta, ctx, a->set, file, meta->chip, meta->profiler, meta));
	TRY(opk_columns_init(&a->set_columns, ctx, &a->set_meta.meta, &all));
	TRY(list_metrics(a, ctx, meta));
	a->timed = SIZE_MAX;
	*out = opk_take(a);
	return OPK_OK;
}

const struct opk_strlist *opk_answers_metrics(const struct opk_answers *answers)
{
	return &answers->metrics;
}

const char *opk_answers_set_hash(const struct opk_answers *answers)
{
	return answers->set_meta.resolved.hash;
}

const char *opk_answers_definition(const struct opk_answers *answers)
{
	return answers->set_meta.resolved.definition;
}

/* ---- while it is made ----------------------------------------------------------------------- */

void opk_answers_watch(struct opk_answers *answers, size_t time_column)
{
	answers->timed = time_column;
}

/* ---- after it ------------------------------------------------------------------------------- */

void opk_answers_compute(double *out, const struct opk_answers *a, size_t group)
{
	const struct opk_statistics *of = a->summary->groups[group].of->columns;
	double metrics[OPK_MOST_ANSWER_METRICS];

	for (size_t i = 0; i < a->set_columns.metric_count; i++)
		metrics[i] = a->places[i] == SIZE_MAX ? (double)NAN : of[a->places[i]].mean;
	opk_columns_compute(out, &a->set_columns, metrics);
}

static int find_places(struct opk_answers *a, struct opk_ctx *ctx)
{
	size_t count = a->set_columns.metric_count;

	if (count > OPK_MOST_ANSWER_METRICS)
		return opk_fail(ctx, OPK_EFAILED,
		                "the set answers has %zu metrics, %d are the most", count,
		                OPK_MOST_ANSWER_METRICS);
	a->places = opk_alloc_array(count + 1, sizeof *a->places);
	if (!a->places)
		return opk_nomem(ctx, "answers");
	for (size_t i = 0; i < count; i++)
		a->places[i] = opk_summary_find_metric(a->summary, a->set_columns.metrics[i]);
	return OPK_OK;
}

int opk_answers_finish(struct opk_answers *answers, struct opk_ctx *ctx,
                       const struct opk_summary *summary, bool some)
{
	answers->summary = summary;
	answers->kernels = summary->kind == OPK_SUMMARY_KERNELS;
	TRY(find_places(answers, ctx));
	TRY(opk_answers_index(answers, ctx, &answers->set_columns.names));
	return opk_answers_fill(answers, ctx, summary->group_count, some);
}
