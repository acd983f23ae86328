/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals without counters: from the ranges' own values, where a file has nothing else. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "baked/baked.h"
#include "eval/eval.h"
#include "images/images.h"

struct work {
	struct opk_ctx *ctx;
	struct opk_totals *totals;
	const struct opk_sums *sums;
	struct opk_measured passes; /* of the metrics */
	struct opk_rules rules;
	struct opk_strlist names; /* of metrics, then of helpers that the file has */
	size_t metric_count;
	struct opk_evaluation *rows;
	double *values;          /* row by row, one per name; NaN also where it was not measured */
	bool *measured;          /* row by row, one per metric */
	size_t *starts, *sorted; /* rows of group i: from starts[i] until before starts[i + 1] */
	struct opk_part_value *parts;
};

static void clear(struct work *w)
{
	opk_measured_clear(&w->passes);
	opk_rules_clear(&w->rules);
	opk_strlist_clear(&w->names);
	opk_evaluation_free(w->rows);
	free(w->values);
	free(w->measured);
	free(w->starts);
	free(w->sorted);
	free(w->parts);
}

static int list_names(struct work *w, const struct opk_evaluation *evaluation,
                      struct opk_file *file)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);
	opk_autostrlist struct opk_strlist of_rows = { 0 };
	const struct opk_meta *meta;

	w->metric_count = columns->metric_count;
	TRY(opk_file_meta(&meta, w->ctx, file));
	TRY(opk_measured_init(&w->passes, w->ctx, meta, columns->metrics, w->metric_count));
	TRY(opk_value_row_metrics(&of_rows, w->ctx, file));
	TRY(opk_rules_among(&w->rules, w->ctx, columns->metrics, w->metric_count, &of_rows));
	for (size_t i = 0; i < w->metric_count; i++)
		if (!opk_strlist_add(&w->names, columns->metrics[i]))
			return opk_nomem(w->ctx, "statistics");
	for (size_t i = 0; i < w->rules.helpers.count; i++)
		if (!opk_strlist_add(&w->names, w->rules.helpers.items[i]))
			return opk_nomem(w->ctx, "statistics");
	return OPK_OK;
}

static int read_rows(struct work *w, struct opk_file *file)
{
	struct opk_eval_options options = OPK_INIT(options);
	/* The caller's own rows have the same remarks. */
	const struct opk_eval_inside inside = { .silent = true };
	size_t names = w->names.count, rows = w->sums->survey->row_count;
	const struct opk_row *row;

	options.metrics = opk_strlist_items(&w->names);
	options.metric_count = names;
	options.allow_incomplete = true;
	options.inside = &inside;
	TRY(opk_eval_file(&w->rows, w->ctx, file, &options));
	w->values = opk_alloc_array(rows + 1, names * sizeof *w->values + 1);
	w->measured = opk_alloc_array(rows + 1, w->metric_count * sizeof *w->measured + 1);
	if (!w->values || !w->measured)
		return opk_nomem(w->ctx, "statistics");
	do {
		TRY(opk_evaluation_next(&row, w->ctx, w->rows));
		if (!row || row->index >= rows)
			continue;
		memcpy(w->values + row->index * names, row->values, names * sizeof *w->values);
		memcpy(w->measured + row->index * w->metric_count, row->measured,
		       w->metric_count * sizeof *w->measured);
	} while (row);
	return OPK_OK;
}

static int sort_rows(struct work *w)
{
	size_t groups = w->sums->groups.count, rows = w->sums->survey->row_count;

	w->starts = opk_alloc_array(groups + 2, sizeof *w->starts);
	w->sorted = opk_alloc_array(rows + 1, sizeof *w->sorted);
	w->parts = opk_alloc_array(rows + 1, sizeof *w->parts);
	if (!w->starts || !w->sorted || !w->parts)
		return opk_nomem(w->ctx, "statistics");
	/* While rows are sorted, the next one of group i goes to starts[i + 1]. */
	for (size_t i = 0; i < groups; i++)
		w->starts[i + 2] = w->starts[i + 1] + w->sums->groups.groups[i].rows;
	for (size_t i = 0; i < rows; i++)
		if (w->sums->group_of[i] != SIZE_MAX)
			w->sorted[w->starts[w->sums->group_of[i] + 1]++] = i;
	return OPK_OK;
}

static uint64_t ranges_of(const struct work *w, size_t row)
{
	const struct opk_range *range = opk_survey_range(w->sums->survey, row);

	return range && range->count ? range->count : 1;
}

/* A rollup that adds up over the rows of a GPU, one after the other, not over GPUs. */
static bool is_of_one_gpu(const char *metric)
{
	return opk_metric_degree(metric) == 1 && !strstr(metric, ".sum");
}

/* Where no row has all passes of a metric, rows together may: it was measured, without a value. */
static void count_together(struct work *w)
{
	bool equal;

	for (size_t i = 0; i < w->sums->count; i++)
		for (size_t j = 0; j < w->metric_count; j++) {
			const struct opk_pass_list *needed = opk_measured_passes(&w->passes, j);

			if (needed->count > 1)
				w->totals->counts[w->sums->sums[i].group * w->metric_count + j] +=
					opk_launches_least(&equal, needed,
				                           w->sums->sums[i].launches,
				                           w->sums->passes);
		}
}

static void combine(struct work *w, size_t group, size_t metric)
{
	size_t to = group * w->metric_count + metric, found = 0;
	const char *name = w->names.items[metric];
	struct opk_totals *totals = w->totals;
	int degree = opk_metric_degree(name);
	uint64_t count = 0;

	totals->values[to] = totals->added[to] = (double)NAN;
	totals->weights[to] = OPK_EXACT;
	if (opk_attribute_is_name(name))
		return;
	for (size_t i = w->starts[group]; i < w->starts[group + 1]; i++) {
		size_t row = w->sorted[i];
		const double *all = w->values + row * w->names.count;

		if (!w->measured[row * w->metric_count + metric])
			continue;
		w->parts[found] = (struct opk_part_value){ all[metric], ranges_of(w, row), all };
		count += w->parts[found].count;
		totals->added[to] = found++ ? totals->added[to] + all[metric] : all[metric];
	}
	if (!found)
		return;
	totals->counts[to] = count;
	if (found == 1)
		totals->values[to] = w->parts->value;
	else if (degree == 1 && totals->sources[group] == 1)
		totals->values[to] = totals->added[to];
	else if (found > totals->sources[group] && degree == 0)
		totals->weights[to] = opk_combine_ratios(&totals->values[to], &w->rules, metric,
		                                         w->parts, found);
	else if (found > totals->sources[group] && is_of_one_gpu(name))
		totals->values[to] = (double)NAN;
	else
		totals->weights[to] = opk_combine(&totals->values[to], &w->rules, metric, w->parts,
		                                  found);
}

/* How many GPUs each group's ranges are of. */
static void count_sources(struct work *w)
{
	for (size_t i = 0; i < w->sums->count; i++)
		w->totals->sources[w->sums->sums[i].group]++;
}

int opk_totals_of_rows(struct opk_totals *totals, struct opk_ctx *ctx,
                       const struct opk_evaluation *evaluation, struct opk_file *file,
                       const struct opk_sums *sums)
{
	__attribute__((
		cleanup(clear))) struct work w = { .ctx = ctx, .totals = totals, .sums = sums };

	*totals = (struct opk_totals){ 0 };
	TRY(list_names(&w, evaluation, file));
	TRY(opk_totals_allocate(totals, ctx, sums->groups.count, w.metric_count));
	TRY(read_rows(&w, file));
	TRY(sort_rows(&w));
	count_sources(&w);
	count_together(&w);
	for (size_t i = 0; i < sums->groups.count; i++)
		for (size_t j = 0; j < w.metric_count; j++)
			combine(&w, i, j);
	return OPK_OK;
}
