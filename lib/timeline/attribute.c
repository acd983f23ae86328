/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides PM samples among what ran: values of kernels, or of each launch, and of idle time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "images/images.h"
#include "timeline/fit.h"

/* In samples: rows whose launches take less have fitted values, if these can be trusted. */
static const double MOST_FITTED = 20;
/* In samples: rows that ran for less, or have less evidence, get NaN. */
static const double LEAST_LENGTH = 1, LEAST_SHARED_LENGTH = 2, LEAST_EVIDENCE = 3.99;

struct work {
	struct opk_ctx *ctx;
	struct opk_ran_rows *rows;
	const struct opk_columns *columns;
	struct opk_evaluation *evaluation; /* of the samples */
	struct opk_rules rules;
	enum opk_kind *kinds;
	bool *is_within;          /* one per metric: its column says how far to trust it */
	struct opk_strlist names; /* metrics, then helpers */
	double *numbers;          /* of a sample: values, then their denominators */
	struct opk_column_file values;
	struct opk_sample *samples;
	size_t sample_count, sample_capacity;
	/* Over all GPUs. */
	struct opk_part *parts, *under; /* one per row, then idle time */
	double *evidence;               /* likewise */
	bool *in_rest;                  /* likewise: the estimate had no room for it */
	double *column, *denominators;  /* of all samples */
	bool *present;
	double interval; /* mean length of a sample, ns */
	bool has_short;  /* some rows' launches take few samples or less */
	struct opk_fitted fitted;
	struct gpu *gpus; /* set once GPUs are counted */
};

/* ---- metrics ---------------------------------------------------------------------------- */

/* The metric of a column: the column may be how far to trust the metric's value. */
static int add_name(struct work *w, size_t i)
{
	const char *name = w->columns->metrics[i];

	w->is_within[i] = opk_ends(name, OPK_WITHIN);
	return opk_strlist_take(&w->names,
	                        opk_strndup(name,
	                                    strlen(name)
	                                            - (w->is_within[i] ? strlen(OPK_WITHIN) : 0)))
	               ? OPK_OK
	               : opk_nomem(w->ctx, "kernels on the timeline");
}

/* Evaluates denominators only if a metric needs them. */
static int choose_metrics(struct work *w, const struct opk_file *file, const char *chip)
{
	size_t count = w->columns->metric_count;
	bool any = false;

	w->kinds = opk_alloc_array(count + 1, sizeof *w->kinds);
	w->is_within = opk_alloc_array(count + 1, sizeof *w->is_within);
	w->numbers = opk_alloc_array(2 * count + 1, sizeof *w->numbers);
	w->present = opk_alloc_array(2 * count + 1, sizeof *w->present);
	if (!w->kinds || !w->is_within || !w->numbers || !w->present)
		return opk_nomem(w->ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++) {
		TRY(add_name(w, i));
		w->kinds[i] = opk_kind_of(w->names.items[i]);
		any |= w->kinds[i] == OPK_MEAN;
	}
	if (any)
		TRY(opk_rules_init(&w->rules, w->ctx, chip, OPK_PROFILER_PM,
		                   opk_strlist_items(&w->names), count, file));
	for (size_t i = 0; i < w->rules.helpers.count; i++)
		if (!opk_strlist_add(&w->names, w->rules.helpers.items[i]))
			return opk_nomem(w->ctx, "kernels on the timeline");
	return OPK_OK;
}

/* ---- samples ---------------------------------------------------------------------------- */

static int evaluate(struct opk_evaluation **out, struct work *w, struct opk_file *file,
                    const struct opk_eval_options *options)
{
	struct opk_eval_inside inside = *opk_eval_inside(options);
	struct opk_eval_options inner = *options;

	inner.metrics = opk_strlist_items(&w->names);
	inner.metric_count = w->names.count;
	inner.set = NULL;
	inner.where_count = 0;
	inner.inside = &inside;
	inside.also_count = 0;
	return opk_eval_file(out, w->ctx, file, &inner);
}

static int take_sample(struct work *w, const struct opk_row *row)
{
	struct opk_sample *sample = opk_append(&w->samples, &w->sample_capacity, &w->sample_count,
	                                       sizeof *sample);
	size_t gpu, count = w->columns->metric_count;

	if (!sample)
		return opk_nomem(w->ctx, "kernels on the timeline");
	TRY(opk_ran_rows_gpu(&gpu, w->rows, w->ctx, row->range));
	*sample = (struct opk_sample){ .time = { row->start_ns, row->end_ns },
		                       .length = row->end_ns - row->start_ns,
		                       .gpu = (uint32_t)gpu,
		                       .row = (uint32_t)(w->sample_count - 1) };
	for (size_t i = 0; i < count; i++) {
		w->numbers[i] = row->values[i];
		w->numbers[count + i] = w->kinds[i] == OPK_MEAN
		                                ? opk_rules_denominator(&w->rules, i, row->values)
		                                : (double)NAN;
		w->present[i] = w->present[count + i] = true;
	}
	return opk_column_file_add(&w->values, w->ctx, w->numbers, w->present);
}

static int read_samples(struct work *w)
{
	const struct opk_row *row;
	size_t all;

	TRY(opk_column_file_init(&w->values, w->ctx, 2 * w->columns->metric_count));
	do {
		TRY(opk_evaluation_next(&row, w->ctx, w->evaluation));
		if (row && !row->spans_earlier)
			TRY(take_sample(w, row));
	} while (row);
	all = w->sample_count + 1;
	TRY(opk_samples_order(w->samples, &w->sample_count, w->ctx));
	free(w->present);
	w->column = opk_alloc_array(all, sizeof *w->column);
	w->denominators = opk_alloc_array(all, sizeof *w->denominators);
	w->present = opk_alloc_array(all, sizeof *w->present);
	return w->column && w->denominators && w->present
	               ? OPK_OK
	               : opk_nomem(w->ctx, "kernels on the timeline");
}

/* ---- one GPU ---------------------------------------------------------------------------- */

/* A GPU's samples and what ran on it, in the order of time. */
struct gpu {
	struct opk_stretch *stretches;
	struct opk_sample_time *times;
	const struct opk_sample *samples;
	size_t sample_count;
	uint32_t *kernel_of; /* one per row */
	size_t kernel_count;
	struct opk_overlaps overlaps;
	struct opk_estimator estimator;
	struct opk_fit fit;     /* if some rows may be fitted */
	double *values, *under; /* one per sample */
};

static void clear_gpu(struct gpu *gpu)
{
	free(gpu->stretches);
	free(gpu->times);
	free(gpu->kernel_of);
	free(gpu->values);
	free(gpu->under);
	opk_overlaps_clear(&gpu->overlaps);
	opk_estimator_clear(&gpu->estimator);
	opk_fit_clear(&gpu->fit);
}

struct kernel_time {
	uint64_t time;
	uint32_t kernel;
};

static int by_longest(const void *a, const void *b)
{
	const struct kernel_time *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time) - (x->time > y->time)
	                          : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

/* Numbers the kernels by time, the longest first; kernels beyond the room share the last number. */
static int number_kernels(struct gpu *gpu, struct work *w, const struct opk_run_record *records,
                          size_t count)
{
	size_t kernels = w->rows->kernels.count;
	opk_autofree struct kernel_time *times = opk_alloc_array(kernels + 1, sizeof *times);
	opk_autofree uint32_t *numbers = opk_alloc_array(kernels + 1, sizeof *numbers);

	gpu->kernel_of = opk_alloc_array(w->rows->made.count + 1, sizeof *gpu->kernel_of);
	if (!times || !numbers || !gpu->kernel_of)
		return opk_nomem(w->ctx, "kernels on the timeline");
	memset(gpu->kernel_of, 0xff, w->rows->made.count * sizeof *gpu->kernel_of);
	/* If nothing ran, all is idle time. */
	if (!count)
		return OPK_OK;
	for (size_t i = 0; i < kernels; i++)
		times[i].kernel = (uint32_t)i;
	for (size_t i = 0; i < count; i++)
		times[records[i].kernel].time += records[i].activity->end_ns
		                                 - records[i].activity->start_ns;
	qsort(times, kernels, sizeof *times, by_longest);
	gpu->kernel_count = kernels < OPK_MAX_ESTIMATED ? kernels : OPK_MAX_ESTIMATED;
	for (size_t i = 0; i < kernels; i++)
		numbers[times[i].kernel] = (uint32_t)(i < gpu->kernel_count
		                                              ? i
		                                              : gpu->kernel_count - 1);
	for (size_t i = 0; i < count; i++)
		gpu->kernel_of[records[i].row] = numbers[records[i].kernel];
	return OPK_OK;
}

/* The mean length of a row's launches; idle time counts as one launch with all pauses. */
static double length_of(const struct work *w, size_t row)
{
	const struct opk_ran *ran = &w->rows->made.ran[row];
	uint64_t launches = row == w->rows->made.count ? 1 : ran->launches;

	return launches ? (double)ran->time_ns / (double)launches : 0;
}

/* Whether all launches of a row together may say more than the samples that are divided. */
static bool may_be_fitted(const struct work *w, size_t row)
{
	return !w->rows->each_launch && row < w->rows->made.count
	       && w->rows->made.ran[row].launches >= OPK_FIT_LEAST
	       && length_of(w, row) < MOST_FITTED * w->interval;
}

static int begin_fit(struct gpu *gpu, struct work *w, const struct opk_run_record *records,
                     size_t count)
{
	opk_autofree uint32_t *units = opk_alloc_array(count + 1, sizeof *units);

	if (!units)
		return opk_nomem(w->ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++)
		units[i] = records[i].unit;
	return w->fitted.row_count
	               ? opk_fit_init(&gpu->fit, w->ctx, gpu->times, gpu->sample_count,
	                              gpu->stretches, count, units, w->rows->units.count)
	               : OPK_OK;
}

static int find_overlaps(struct gpu *gpu, struct work *w, const struct opk_run_record *records,
                         size_t count)
{
	gpu->stretches = opk_ran_stretches(records, count);
	gpu->times = opk_alloc_array(gpu->sample_count + 1, sizeof *gpu->times);
	gpu->values = opk_alloc_array(gpu->sample_count + 1, sizeof *gpu->values);
	gpu->under = opk_alloc_array(gpu->sample_count + 1, sizeof *gpu->under);
	if (!gpu->stretches || !gpu->times || !gpu->values || !gpu->under)
		return opk_nomem(w->ctx, "kernels on the timeline");
	for (size_t i = 0; i < gpu->sample_count; i++)
		gpu->times[i] = gpu->samples[i].time;
	TRY(opk_overlaps_init(&gpu->overlaps, w->ctx, gpu->stretches, count, gpu->times,
	                      gpu->sample_count));
	TRY(number_kernels(gpu, w, records, count));
	TRY(opk_estimator_init(&gpu->estimator, w->ctx, &gpu->overlaps, gpu->kernel_of,
	                       w->rows->made.count, gpu->kernel_count));
	return begin_fit(gpu, w, records, count);
}

/* Counts the samples of each row. */
static void count_samples(struct work *w, const struct gpu *gpu)
{
	const struct opk_overlaps *o = &gpu->overlaps;
	size_t idle = w->rows->made.count;
	struct opk_ran *ran = w->rows->made.ran;

	for (size_t i = 0; i < o->sample_count; i++) {
		for (size_t j = o->first[i]; j < o->first[i + 1]; j++) {
			double part = (double)(o->items[j].share / o->lengths[i]);

			ran[o->items[j].row].samples++;
			if (w->rows->each_launch)
				w->evidence[o->items[j].row] += part * part;
		}
		ran[idle].samples += o->idle[i] > 0;
	}
	/* Kernels beyond the room can't be told apart. */
	for (size_t i = 0; i < idle; i++) {
		uint32_t kernel = gpu->kernel_of[i];

		w->in_rest[i] |= kernel == OPK_MAX_ESTIMATED - 1;
		if (!w->rows->each_launch && kernel < OPK_MAX_ESTIMATED - 1)
			w->evidence[i] += gpu->estimator.evidence[kernel];
	}
	w->evidence[idle] += gpu->estimator.evidence[gpu->kernel_count];
}

/* ---- values ----------------------------------------------------------------------------- */

/* Whether every sample with a value has its denominator. */
static bool has_denominators(const struct work *w)
{
	bool any = false;

	for (size_t i = 0; i < w->sample_count; i++) {
		size_t row = w->samples[i].row;

		if (isnan(w->denominators[row]) && !isnan(w->column[row]))
			return false;
		any |= w->denominators[row] > 0;
	}
	return any;
}

static int read_metric(struct work *w, size_t metric)
{
	size_t count = w->columns->metric_count;

	TRY(opk_column_file_read(w->column, w->present, &w->values, w->ctx, metric));
	if (w->kinds[metric] != OPK_MEAN)
		return OPK_OK;
	TRY(opk_column_file_read(w->denominators, w->present, &w->values, w->ctx, count + metric));
	if (has_denominators(w))
		w->kinds[metric] = OPK_DIVIDED;
	return OPK_OK;
}

/* Adds the values of one GPU's samples for the current metric. */
static int add_metric(struct work *w, struct gpu *gpu, enum opk_kind kind)
{
	for (size_t i = 0; i < gpu->sample_count; i++) {
		double length = (double)gpu->samples[i].length;
		double value = w->column[gpu->samples[i].row];
		double under = w->denominators[gpu->samples[i].row];

		gpu->values[i] = kind == OPK_ADDS || kind == OPK_ELAPSES ? value / length : value;
		if (kind != OPK_DIVIDED)
			continue;
		gpu->under[i] = under / length;
		gpu->values[i] = under > 0 ? value * gpu->under[i] : gpu->under[i];
	}
	if (kind == OPK_MEAN || kind == OPK_ELAPSES || kind == OPK_CLOCK) {
		(kind == OPK_MEAN ? opk_overlaps_mean
		                  : opk_overlaps_whole)(w->parts, &gpu->overlaps,
		                                        w->rows->made.count, gpu->values);
		return OPK_OK;
	}
	opk_estimator_divide(w->parts, &gpu->estimator, gpu->values);
	TRY(opk_fitted_add(&w->fitted, w->ctx, &gpu->fit, gpu->values, false));
	if (kind != OPK_DIVIDED)
		return OPK_OK;
	opk_estimator_divide(w->under, &gpu->estimator, gpu->under);
	return opk_fitted_add(&w->fitted, w->ctx, &gpu->fit, gpu->under, true);
}

/*
 * Whether samples say anything about a row by itself: it is not too short or too rare. A row that
 * always runs beside others can't be told apart, and gets its share.
 */
static bool is_known(const struct work *w, size_t row)
{
	const struct opk_ran *ran = &w->rows->made.ran[row];
	double length = length_of(w, row);

	if (row == w->rows->made.count)
		return w->evidence[row] >= LEAST_EVIDENCE;
	if (!w->in_rest[row] && ran->shared_ns > ran->time_ns / 2
	    && length >= LEAST_SHARED_LENGTH * w->interval)
		return true;
	return w->evidence[row] >= LEAST_EVIDENCE && length >= LEAST_LENGTH * w->interval;
}

/* Whether all that ran at once gets all of a sample, which is not divided. */
static bool is_same_for_all(enum opk_kind kind)
{
	return kind == OPK_ELAPSES || kind == OPK_CLOCK;
}

static double divided_value(const struct work *w, size_t row, enum opk_kind kind)
{
	const struct opk_ran *ran = &w->rows->made.ran[row];
	const struct opk_part *part = &w->parts[row];

	if (!ran->launches
	    || !(is_known(w, row) || (is_same_for_all(kind) && may_be_fitted(w, row))))
		return (double)NAN;
	if (kind == OPK_DIVIDED)
		return part->amount / w->under[row].amount;
	if (kind == OPK_ADDS || kind == OPK_ELAPSES)
		return part->amount / part->time * length_of(w, row);
	return part->amount / part->time;
}

/* Puts a row's value, or how far to trust it, into the metric's columns. */
static void put_value(struct work *w, size_t row, size_t metric)
{
	enum opk_kind kind = w->kinds[metric];
	struct opk_ran *ran = &w->rows->made.ran[row];
	double *values = w->rows->made.values + row * w->columns->metric_count;
	double near = (double)NAN, value = (double)NAN;

	if (may_be_fitted(w, row))
		value = opk_fitted_value(&near, &w->fitted, row, kind, length_of(w, row));
	if (isnan(value)) {
		value = divided_value(w, row, kind);
		ran->divided |= w->has_short && !isnan(value) && !is_same_for_all(kind);
	} else {
		ran->fitted = true;
	}
	for (size_t i = metric; i < w->columns->metric_count; i++)
		if (!strcmp(w->names.items[i], w->names.items[metric]))
			values[i] = w->is_within[i] ? near : value;
}

static bool is_done(const struct work *w, size_t metric)
{
	return opk_texts_contain(opk_strlist_items(&w->names), metric, w->names.items[metric]);
}

/* A metric may have several columns. */
static int compute_metric(struct work *w, struct gpu *gpus, size_t metric)
{
	size_t rows = w->rows->made.count + 1;

	if (is_done(w, metric))
		return OPK_OK;
	if (w->kinds[metric] != OPK_CONSTANT)
		TRY(read_metric(w, metric));
	memset(w->parts, 0, rows * sizeof *w->parts);
	memset(w->under, 0, rows * sizeof *w->under);
	opk_fitted_begin(&w->fitted);
	for (size_t i = 0; w->kinds[metric] != OPK_CONSTANT && i < w->rows->gpus.count; i++)
		TRY(add_metric(w, &gpus[i], w->kinds[metric]));
	for (size_t i = 0; i < rows; i++)
		put_value(w, i, metric);
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

/*
 * Adds the samples before the first record and after the last one to idle time, since all that was
 * sampled is divided. Without records this is all samples.
 */
static void add_outer_pauses(struct work *w, const struct gpu *gpu,
                             const struct opk_run_record *records, size_t count)
{
	uint64_t first = count ? records->activity->start_ns : UINT64_MAX, last = first;
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < count; i++)
		if (records[i].activity->end_ns > last)
			last = records[i].activity->end_ns;
	for (size_t i = 0; i < gpu->sample_count; i++) {
		const struct opk_sample_time *time = &gpu->samples[i].time;

		if (time->start < first)
			before += (time->end < first ? time->end : first) - time->start;
		if (time->end > last)
			after += time->end - (time->start > last ? time->start : last);
	}
	if (before)
		opk_ran_rows_add_pause(w->rows, before);
	if (after)
		opk_ran_rows_add_pause(w->rows, after);
}

static int begin_gpu(struct gpu *gpu, struct work *w, size_t number)
{
	size_t first, count = opk_ran_rows_of_gpu(&first, w->rows, number), at = 0;
	const struct opk_run_record *records = w->rows->records + first;

	while (at < w->sample_count && w->samples[at].gpu < number)
		at++;
	gpu->samples = w->samples + at;
	while (at + gpu->sample_count < w->sample_count
	       && gpu->samples[gpu->sample_count].gpu == number)
		gpu->sample_count++;
	add_outer_pauses(w, gpu, records, count);
	TRY(find_overlaps(gpu, w, records, count));
	count_samples(w, gpu);
	return OPK_OK;
}

static int allocate(struct work *w)
{
	size_t rows = w->rows->made.count + 1;

	w->gpus = opk_alloc_array(w->rows->gpus.count, sizeof *w->gpus);
	w->parts = opk_alloc_array(rows, sizeof *w->parts);
	w->under = opk_alloc_array(rows, sizeof *w->under);
	w->evidence = opk_alloc_array(rows, sizeof *w->evidence);
	w->in_rest = opk_alloc_array(rows, sizeof *w->in_rest);
	w->rows->made.values = opk_alloc_array(rows * w->columns->metric_count + 1,
	                                       sizeof *w->rows->made.values);
	return w->gpus && w->parts && w->under && w->evidence && w->in_rest && w->rows->made.values
	               ? OPK_OK
	               : opk_nomem(w->ctx, "kernels on the timeline");
}

static int compute(struct work *w)
{
	size_t count = w->rows->gpus.count, rows = w->rows->made.count + 1;
	bool any = false;

	TRY(allocate(w));
	for (size_t i = 0; i < w->sample_count; i++)
		w->interval += (double)(w->samples[i].time.end - w->samples[i].time.start)
		               / (double)w->sample_count;
	for (size_t i = 0; i < rows; i++) {
		any |= may_be_fitted(w, i);
		w->has_short |= i + 1 < rows && length_of(w, i) < MOST_FITTED * w->interval;
	}
	TRY(opk_fitted_init(&w->fitted, w->ctx, any ? w->rows->made.count : 0));
	for (size_t i = 0; i < count; i++)
		TRY(begin_gpu(&w->gpus[i], w, i));
	for (size_t i = 0; i < w->columns->metric_count; i++)
		TRY(compute_metric(w, w->gpus, i));
	for (size_t i = 0; i < rows; i++) {
		w->rows->made.ran[i].samples_alone = w->evidence[i] > 0
		                                             ? (uint64_t)(w->evidence[i] + 0.01)
		                                             : 0;
		w->rows->made.ran[i].few = !is_known(w, i);
		w->rows->made.ran[i].unknown = !is_known(w, i) && !w->rows->made.ran[i].fitted;
	}
	return OPK_OK;
}

static void clear(struct work *w)
{
	opk_rules_clear(&w->rules);
	opk_column_file_clear(&w->values);
	free(w->kinds);
	opk_strlist_clear(&w->names);
	free(w->is_within);
	free(w->numbers);
	free(w->samples);
	free(w->parts);
	free(w->under);
	opk_fitted_clear(&w->fitted);
	free(w->evidence);
	free(w->in_rest);
	free(w->column);
	free(w->denominators);
	free(w->present);
	for (size_t i = 0; w->gpus && i < w->rows->gpus.count; i++)
		clear_gpu(&w->gpus[i]);
	free(w->gpus);
}

int opk_attribute(struct opk_ran_rows *rows, struct opk_evaluation **samples, struct opk_ctx *ctx,
                  struct opk_file *file, const struct opk_columns *columns,
                  const struct opk_eval_options *options)
{
	__attribute__((
		cleanup(clear))) struct work w = { .ctx = ctx, .rows = rows, .columns = columns };
	const struct opk_meta *meta;

	/* The metadata of columns may be a set's, which has no chip. */
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(choose_metrics(&w, file, meta->chip));
	TRY(evaluate(samples, &w, file, options));
	w.evaluation = *samples;
	TRY(read_samples(&w));
	return compute(&w);
}
