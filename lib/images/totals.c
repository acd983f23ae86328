/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of key groups, from summed counters; over several GPUs, from the GPUs' values. */
#include <math.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "eval/door.h"
#include "images/images.h"

struct work {
	struct opk_totals *totals;
	const struct opk_evaluation *evaluation;
	const struct opk_sums *sums;
	size_t metric_count, name_count; /* without helpers; with helpers */
	const char **names;
	struct opk_rules rules; /* if some group has several sources */
	struct opk_measured measured;
	int *degrees;
	/* Members of the child alone. */
	struct opk_nv_evaluator *evaluator;
	struct opk_values by;
	double *evaluated; /* metrics of each sum, image by image and slot by slot */
	double *means;     /* the same for means if a metric needs them; or NULL */
	/*
	 * For each metric of each source: value, total, number of ranges, place of the sum or
	 * SIZE_MAX; and whether its passes have different numbers of ranges.
	 */
	double *values, *added;
	uint64_t *counts;
	size_t *places;
	bool *uneven;
	const struct opk_totals_options *options;
	struct opk_file *file;
};

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "statistics");
}

/* ---- sums ------------------------------------------------------------------------------- */

/* In the child, with the first image. */
static int begin_values(struct work *w, struct opk_ctx *ctx)
{
	const char *chip = opk_evaluation_chip(w->evaluation);

	opk_nv_evaluator_new(&w->evaluator, ctx, chip);
	opk_clear_errors(ctx);
	w->by = (struct opk_values){
		.chip = chip,
		.profiler = opk_evaluation_profiler(w->evaluation),
		.metrics = w->names,
		.metric_count = w->name_count,
		.evaluator = w->evaluator,
	};
	return opk_values_begin(&w->by, ctx);
}

/* In the child: the metrics of each range of an image. */
static int evaluate_image(struct opk_ctx *ctx, void *data, struct opk_child *child, size_t target,
                          const void *image, size_t size)
{
	struct work *w = data;
	const struct opk_target *made = &w->sums->targets[target];
	opk_autofree double *values = opk_alloc_array(w->name_count + 1, sizeof *values);

	if (!values)
		return fail_nomem(ctx);
	if (!w->by.wanted)
		TRY(begin_values(w, ctx));
	TRY(opk_values_of_image(&w->by, ctx, image, size, opk_measured_by(&w->measured, 0)));
	for (size_t i = 0; i < made->slots; i++) {
		opk_child_progress(child, i, made->slots);
		TRY(opk_values_of_range(values, &w->by, ctx, i));
		opk_put(child, values, w->name_count * sizeof *values);
	}
	return OPK_OK;
}

/* Evaluates the metrics of each sum, or of the mean of its ranges. */
static int evaluate_images(double *out, struct work *w, struct opk_ctx *ctx, bool mean)
{
	opk_autosent struct opk_result result = { 0 };

	TRY(opk_recombine(&result, ctx,
	                  &(struct opk_recombination){
				  .survey = w->sums->survey,
				  .mean = mean,
				  .targets = w->sums->targets,
				  .target_count = w->sums->target_count,
				  .workers = opk_evaluation_workers(w->evaluation),
				  .use = evaluate_image,
				  .data = w,
			  }));
	opk_get(&result, out, w->sums->count * w->name_count * sizeof *out);
	return opk_result_check(&result, ctx);
}

/* ---- values that the file has --------------------------------------------------------------- */

static struct opk_value_groups groups_of(const struct work *w, bool mean)
{
	return (struct opk_value_groups){
		.kind = mean ? OPK_VALUES_OF_MEANS : OPK_VALUES_OF_SUMS,
		.group_of = w->sums->sum_of,
		.row_count = w->sums->survey->row_count,
		.group_count = w->sums->count,
		.metrics = w->names,
		.metric_count = w->name_count,
	};
}

/* Reads them in the order of the images that would be made. */
static int read_baked(double *out, struct work *w, struct opk_ctx *ctx, bool mean)
{
	opk_autovalues struct opk_value_table table = { 0 };
	const struct opk_value_groups groups = groups_of(w, mean);
	bool found;

	TRY(opk_value_groups_gather(&found, &table, ctx, w->file, &groups));
	if (!found)
		return opk_fail(ctx, OPK_EUSAGE, "the file has no values of these sums");
	for (size_t j = 0; j < w->name_count; j++) {
		const struct opk_value_column *column = opk_value_table_find(&table,
		                                                             OPK_VALUE_METRIC,
		                                                             w->names[j]);

		for (size_t i = 0; i < w->sums->count; i++) {
			size_t entry = w->sums->order[i];

			out[i * w->name_count + j] = column ? opk_double_of(column->entries[entry])
			                                    : (double)NAN;
		}
	}
	return OPK_OK;
}

static const char *unit_of(const struct work *w, size_t name)
{
	return name < w->metric_count ? opk_evaluation_unit(w->evaluation, name) : "";
}

/* Whether some group's ranges are of several GPUs. */
static bool has_rules(const struct work *w)
{
	return w->sums->sources.count > w->sums->groups.count;
}

static int write_baked(const double *values, struct work *w, struct opk_ctx *ctx, bool mean)
{
	opk_autovalues struct opk_value_table table = { 0 };
	const struct opk_value_groups groups = groups_of(w, mean);

	TRY(opk_value_groups_begin(&table, ctx, &groups));
	for (size_t j = 0; j < w->name_count; j++) {
		uint64_t *entries;
		bool helps;

		/* A metric under a label may be evaluated under its own name, too. */
		if (opk_attribute_is_name(w->names[j])
		    || opk_value_table_find(&table, OPK_VALUE_METRIC, w->names[j]))
			continue;
		/* Sums of several GPUs are combined by these names. */
		helps = j < w->metric_count && !has_rules(w)
		        && opk_sink_helps(w->options->bake, w->names[j]);
		TRY(opk_value_table_add(&entries, &table, ctx,
		                        helps ? OPK_VALUE_HELP : OPK_VALUE_METRIC,
		                        helps ? NULL : w->names[j], helps ? NULL : unit_of(w, j)));
		for (size_t i = 0; i < w->sums->count; i++)
			entries[w->sums->order[i]] = opk_bits_of(values[i * w->name_count + j]);
	}
	return opk_sink_add(w->options->bake, ctx, &table);
}

static int evaluate(double **out, struct work *w, struct opk_ctx *ctx, bool mean)
{
	*out = opk_alloc_array(w->sums->count * w->name_count + 1, sizeof **out);
	if (!*out)
		return fail_nomem(ctx);
	if (w->options->baked)
		return read_baked(*out, w, ctx, mean);
	TRY(evaluate_images(*out, w, ctx, mean));
	return w->options->bake ? write_baked(*out, w, ctx, mean) : OPK_OK;
}

/* How many ranges the metric's passes have, and whether each pass has as many. */
static uint64_t count_ranges(bool *equal, const struct work *w, const struct opk_summed *sum,
                             size_t metric)
{
	return opk_launches_least(equal, opk_measured_passes(&w->measured, metric), sum->launches,
	                          w->sums->passes);
}

/* If a metric's passes have different numbers of ranges, sums of its counters don't match. */
static bool needs_means(const struct work *w)
{
	for (size_t i = 0; i < w->sums->count; i++)
		for (size_t j = 0; j < w->metric_count; j++) {
			bool equal;

			if (count_ranges(&equal, w, &w->sums->sums[i], j) && !equal)
				return true;
		}
	return false;
}

/* ---- sources ---------------------------------------------------------------------------- */

/* Whether some rows are sums: their mean is not the mean of the ranges. */
static bool has_sums(const struct work *w, size_t sum)
{
	const struct opk_grouped *part = &w->sums->parts.groups[sum];

	return part->ranges > part->rows;
}

static void add_metric(struct work *w, size_t place, size_t metric)
{
	size_t index = w->sums->order[place], from = place * w->name_count + metric;
	const struct opk_summed *sum = &w->sums->sums[index];
	size_t to = sum->source * w->metric_count + metric;
	bool known = opk_measured_passes(&w->measured, metric)->count, equal;
	uint64_t count = count_ranges(&equal, w, sum, metric);

	if (!opk_measured_by(&w->measured, 0)[metric] || !count
	    || (!known && w->sums->passes && isnan(w->evaluated[from])))
		return;
	w->places[to] = place;
	w->counts[to] = count;
	w->values[to] = w->added[to] = w->evaluated[from];
	if (equal)
		return;
	w->uneven[to] = true;
	w->values[to] = has_sums(w, index) ? (double)NAN : w->means[from];
	w->added[to] = w->values[to] * (double)count;
	if (w->degrees[metric] == 1)
		w->values[to] = (double)NAN;
}

static int add_sums(struct work *w, struct opk_ctx *ctx)
{
	size_t cells = w->sums->sources.count * w->metric_count + 1;

	w->values = opk_alloc_array(cells, sizeof *w->values);
	w->added = opk_alloc_array(cells, sizeof *w->added);
	w->counts = opk_alloc_array(cells, sizeof *w->counts);
	w->places = opk_alloc_array(cells, sizeof *w->places);
	w->uneven = opk_alloc_array(cells, sizeof *w->uneven);
	if (!w->values || !w->added || !w->counts || !w->places || !w->uneven)
		return fail_nomem(ctx);
	for (size_t i = 0; i < cells; i++)
		w->places[i] = SIZE_MAX;
	for (size_t i = 0; i < w->sums->count; i++)
		for (size_t j = 0; j < w->metric_count; j++)
			add_metric(w, i, j);
	return OPK_OK;
}

/* ---- groups ----------------------------------------------------------------------------- */

/* Sorts sources by group: those of group i are from `starts[i]` until before `starts[i + 1]`. */
static void sort_sources(const struct work *w, size_t *starts, size_t *sorted, size_t *group_of)
{
	size_t groups = w->sums->groups.count, sources = w->sums->sources.count;

	for (size_t i = 0; i < w->sums->count; i++)
		group_of[w->sums->sums[i].source] = w->sums->sums[i].group;
	for (size_t i = 0; i < sources; i++)
		starts[group_of[i] + 1]++;
	for (size_t i = 0; i < groups; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < sources; i++)
		sorted[starts[group_of[i]]++] = i;
	memmove(starts + 1, starts, groups * sizeof *starts);
	starts[0] = 0;
}

static void combine_metric(struct work *w, size_t group, size_t metric, const size_t *sources,
                           size_t count, struct opk_part_value *parts)
{
	struct opk_totals *totals = w->totals;
	size_t to = group * w->metric_count + metric, found = 0;

	totals->values[to] = totals->added[to] = (double)NAN;
	totals->weights[to] = OPK_EXACT;
	for (size_t i = 0; i < count; i++) {
		size_t at = sources[i] * w->metric_count + metric;

		if (w->places[at] == SIZE_MAX)
			continue;
		parts[found] = (struct opk_part_value){
			w->values[at],
			w->counts[at],
			w->evaluated + w->places[at] * w->name_count,
		};
		totals->counts[to] += w->counts[at];
		totals->uneven[to] |= w->uneven[at];
		totals->added[to] = found++ ? totals->added[to] + w->added[at] : w->added[at];
	}
	if (found == 1)
		totals->values[to] = parts->value;
	else if (found)
		totals->weights[to] = opk_combine(&totals->values[to], &w->rules, metric, parts,
		                                  found);
}

static int combine(struct work *w, struct opk_ctx *ctx)
{
	size_t groups = w->sums->groups.count, sources = w->sums->sources.count;
	opk_autofree size_t *starts = opk_alloc_array(groups + 2, sizeof *starts);
	opk_autofree size_t *sorted = opk_alloc_array(sources + 1, sizeof *sorted);
	opk_autofree size_t *group_of = opk_alloc_array(sources + 1, sizeof *group_of);
	opk_autofree struct opk_part_value *parts = opk_alloc_array(sources + 1, sizeof *parts);

	if (!starts || !sorted || !group_of || !parts)
		return fail_nomem(ctx);
	sort_sources(w, starts, sorted, group_of);
	for (size_t i = 0; i < groups; i++) {
		w->totals->sources[i] = starts[i + 1] - starts[i];
		for (size_t j = 0; j < w->metric_count; j++)
			combine_metric(w, i, j, sorted + starts[i], w->totals->sources[i], parts);
	}
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static int name_metrics(struct work *w, struct opk_ctx *ctx)
{
	const struct opk_columns *columns = opk_evaluation_columns(w->evaluation);
	int code = OPK_OK;

	if (has_rules(w))
		code = opk_rules_init(&w->rules, ctx, opk_evaluation_chip(w->evaluation),
		                      opk_evaluation_profiler(w->evaluation), columns->metrics,
		                      w->metric_count, w->options->baked ? w->file : NULL);
	w->name_count = w->metric_count + w->rules.helpers.count;
	w->names = opk_alloc_array(w->name_count + 1, sizeof *w->names);
	w->degrees = opk_alloc_array(w->metric_count + 1, sizeof *w->degrees);
	if (!w->names || !w->degrees)
		return fail_nomem(ctx);
	for (size_t i = 0; i < w->metric_count; i++) {
		w->names[i] = columns->metrics[i];
		w->degrees[i] = opk_metric_degree(columns->metrics[i]);
	}
	for (size_t i = w->metric_count; i < w->name_count; i++)
		w->names[i] = w->rules.helpers.items[i - w->metric_count];
	return code;
}

int opk_totals_allocate(struct opk_totals *totals, struct opk_ctx *ctx, size_t groups,
                        size_t metrics)
{
	size_t cells = groups * metrics + 1;

	totals->values = opk_alloc_array(cells, sizeof *totals->values);
	totals->added = opk_alloc_array(cells, sizeof *totals->added);
	totals->counts = opk_alloc_array(cells, sizeof *totals->counts);
	totals->weights = opk_alloc_array(cells, sizeof *totals->weights);
	totals->uneven = opk_alloc_array(cells, sizeof *totals->uneven);
	totals->sources = opk_alloc_array(groups + 1, sizeof *totals->sources);
	return totals->values && totals->added && totals->counts && totals->weights
	                       && totals->uneven && totals->sources
	               ? OPK_OK
	               : fail_nomem(ctx);
}

static int make(struct work *w, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_totals_allocate(w->totals, ctx, w->sums->groups.count, w->metric_count));
	TRY(name_metrics(w, ctx));
	TRY(opk_measured_init(&w->measured, ctx, meta, w->names, w->name_count));
	TRY(evaluate(&w->evaluated, w, ctx, false));
	if (needs_means(w))
		TRY(evaluate(&w->means, w, ctx, true));
	TRY(add_sums(w, ctx));
	return combine(w, ctx);
}

int opk_totals_init(struct opk_totals *totals, struct opk_ctx *ctx,
                    const struct opk_evaluation *evaluation, struct opk_file *file,
                    const struct opk_sums *sums, const struct opk_totals_options *options)
{
	struct work w = {
		.totals = totals,
		.options = options,
		.file = file,
		.evaluation = evaluation,
		.sums = sums,
		.metric_count = opk_evaluation_metric_count(evaluation),
	};
	int code;

	*totals = (struct opk_totals){ 0 };
	code = make(&w, ctx, file);
	opk_rules_clear(&w.rules);
	opk_measured_clear(&w.measured);
	free(w.names);
	free(w.degrees);
	free(w.evaluated);
	free(w.means);
	free(w.values);
	free(w.added);
	free(w.uneven);
	free(w.counts);
	free(w.places);
	return code;
}

void opk_totals_clear(struct opk_totals *totals)
{
	free(totals->values);
	free(totals->added);
	free(totals->counts);
	free(totals->weights);
	free(totals->uneven);
	free(totals->sources);
	*totals = (struct opk_totals){ 0 };
}
