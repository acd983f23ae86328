/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of an evaluation, one after the other: as children wrote them, or in memory. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "chip/door.h"
#include "eval/eval_inside.h"

/* ---- facts and attributes of a row --------------------------------------------------------- */

static void apply_pass(struct opk_evaluation *evaluation, uint32_t pass)
{
	opk_measured_by(&evaluation->passes, pass);
	for (size_t i = 0; i < evaluation->metrics.count; i++)
		evaluation->measured[i] = opk_measured_has(&evaluation->passes, i, pass,
		                                           evaluation->values[i]);
}

/* Fills in attributes: what the recording says of the launch and its device. */
static void apply_attributes(struct opk_evaluation *evaluation)
{
	const struct opk_measured *passes = &evaluation->passes;

	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		if (!passes->attribute[i])
			continue;
		evaluation->values[i] = opk_attribute_value(evaluation->metrics.items[i],
		                                            evaluation->meta,
		                                            evaluation->row.range);
		evaluation->measured[i] = !isnan(evaluation->values[i]);
	}
}

/* Adds what the file's tables say of a row. A child that ran wild may name any row. */
static int take_row(const struct opk_row **row, struct opk_ctx *ctx,
                    struct opk_evaluation *evaluation, const struct opk_spooled *read)
{
	const struct opk_segment *segment;

	evaluation->has_shown = evaluation->has_also = evaluation->has_counts = false;
	evaluation->row = (struct opk_row){
		.index = read->at.number,
		.name = read->name,
		.start_ns = read->row.start_ns,
		.end_ns = read->row.end_ns,
		.spans_earlier = read->row.spans_earlier,
		.values = evaluation->values,
		.measured = evaluation->measured,
	};
	*row = &evaluation->row;
	if (!evaluation->segment_count) {
		apply_pass(evaluation, 0);
		apply_attributes(evaluation);
		return OPK_OK;
	}
	if (read->row.segment >= evaluation->segment_count)
		return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
	segment = &evaluation->segments[read->row.segment];
	opk_segment_describe(&evaluation->row, &evaluation->sample, segment, read->row.row);
	apply_pass(evaluation, segment->pass);
	apply_attributes(evaluation);
	return OPK_OK;
}

/* ---- rows in memory ------------------------------------------------------------------------- */

int opk_evaluation_begin_made(struct opk_evaluation **out, struct opk_ctx *ctx,
                              struct opk_file *file, enum opk_profiler profiler,
                              const struct opk_eval_options *options)
{
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	struct opk_eval_job job = { .file = file, .has_profiler = true, .profiler = profiler };
	struct opk_spool_header *header;

	TRY(opk_filter_of(&filter, ctx, options));
	if (opk_profiler_is_code(profiler))
		opk_filter_judge_code(filter);
	TRY(opk_file_meta(&job.meta, ctx, file));
	TRY(opk_evaluation_blame(ctx, file, opk_filter_check(filter, ctx, profiler)));
	TRY(opk_evaluation_blame(ctx, file,
	                         opk_evaluation_begin(out, ctx, &job, options, opk_take(filter))));
	header = &(*out)->spools.header;
	header->profiler = profiler;
	snprintf(header->chip, sizeof header->chip, "%s", job.meta->chip);
	(*out)->is_made = true;
	return OPK_OK;
}

int opk_evaluation_put_made(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                            struct opk_made_rows *rows, const struct opk_evaluation *samples)
{
	size_t count = evaluation->metrics.count;

	for (size_t i = 0; i < count; i++) {
		const char *unit = samples      ? samples->units.items[i]
		                   : rows->code ? opk_code_unit(evaluation->metrics.items[i])
		                                : "";

		if (!opk_strlist_add(&evaluation->units, unit))
			return opk_nomem(ctx, "an evaluation");
	}
	if (samples) {
		memcpy(evaluation->explained, samples->explained, count * sizeof(bool));
		memcpy(evaluation->bound, samples->bound, count * sizeof(bool));
	}
	evaluation->made = *rows;
	*rows = (struct opk_made_rows){ 0 };
	return opk_columns_find_units(&evaluation->columns, ctx, &evaluation->units);
}

static size_t example_count(const struct opk_made_rows *made)
{
	return made->make ? made->examples : made->count;
}

size_t opk_evaluation_ranges(const struct opk_range **ranges,
                             const struct opk_evaluation *evaluation)
{
	*ranges = evaluation->made.ranges;
	return example_count(&evaluation->made);
}

void opk_evaluation_find_ran(bool *calls, bool *nodes, const struct opk_evaluation *evaluation)
{
	const struct opk_made_rows *made = &evaluation->made;

	for (size_t i = 0; made->ran && i < example_count(made); i++) {
		*calls |= made->ran[i].called > 0;
		*nodes |= made->ran[i].graph_node > 0;
	}
}

/* *ran may be NULL. */
static void find_made(const struct opk_range **range, const struct opk_ran **ran,
                      struct opk_evaluation *evaluation, size_t number)
{
	const struct opk_made_rows *made = &evaluation->made;

	if (made->make) {
		made->make(&evaluation->made_range, &evaluation->made_ran, made->maker, number);
		*range = &evaluation->made_range;
		*ran = &evaluation->made_ran;
		return;
	}
	*range = &made->ranges[number];
	*ran = made->ran ? &made->ran[number] : NULL;
}

static const struct opk_row *make_row(struct opk_evaluation *evaluation, size_t number)
{
	const struct opk_made_rows *made = &evaluation->made;
	const struct opk_range *range;
	const struct opk_ran *ran;
	size_t metrics = evaluation->metrics.count;
	const uint64_t *counts = made->joined ? made->joined[number].counts : NULL;

	find_made(&range, &ran, evaluation, number);
	memcpy(evaluation->values, made->values + number * metrics,
	       metrics * sizeof *evaluation->values);
	evaluation->has_shown = evaluation->has_also = evaluation->has_counts = false;
	evaluation->row = (struct opk_row){
		.index = number,
		.name = range->name,
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.values = evaluation->values,
		.measured = evaluation->measured,
		.range = range,
		.ran = ran,
		.joined = made->joined ? &made->joined[number] : NULL,
		.code = made->code ? &made->code[number] : NULL,
	};
	if (!counts) {
		apply_pass(evaluation, 0);
		apply_attributes(evaluation);
	}
	for (size_t i = 0; counts && i < metrics; i++)
		evaluation->measured[i] = counts[i] > 0;
	/* Counts are whole numbers: NaN stands for what was not counted here. */
	for (size_t i = 0; made->code && i < metrics; i++)
		evaluation->measured[i] = !isnan(evaluation->values[i]);
	return &evaluation->row;
}

/* ---- joined ranges -------------------------------------------------------------------------- */

/* Fills in a group's values, and how many ranges each is from; the plan has the attributes. */
static void fill_joined(struct opk_evaluation *evaluation, double *values, struct opk_mean *mean)
{
	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		const struct opk_pass_list *passes = opk_measured_passes(&evaluation->passes, i);
		bool equal;

		if (evaluation->passes.attribute[i])
			values[i] = mean->values[i];
		else if (passes->count || !evaluation->joining->passes || !isnan(values[i]))
			mean->counts[i] = opk_launches_least(&equal, passes, mean->launches,
			                                     evaluation->joining->passes);
		if (!mean->counts[i])
			values[i] = (double)NAN;
	}
}

static int read_joined(struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	const struct opk_joining *joining = evaluation->joining;
	size_t metrics = evaluation->metrics.count, rows = 0;

	for (; !opk_spools_ended(&evaluation->spools); rows++) {
		struct opk_spooled read;
		double *values;

		TRY(opk_spools_next(&read, evaluation->values, ctx, &evaluation->spools));
		if (read.row.row >= joining->count)
			return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
		values = evaluation->made.values + read.row.row * metrics;
		memcpy(values, evaluation->values, metrics * sizeof *values);
		fill_joined(evaluation, values, &joining->means[read.row.row]);
	}
	return rows == joining->count
	               ? OPK_OK
	               : opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
}

/* Whether the recording should have a metric: its passes are known, or some range has it. */
static bool is_expected(const struct opk_evaluation *evaluation, size_t metric)
{
	const struct opk_joining *joining = evaluation->joining;

	for (size_t i = 0; i < joining->count; i++)
		if (joining->means[i].counts[metric])
			return true;
	return opk_measured_passes(&evaluation->passes, metric)->count > 0;
}

int opk_evaluation_read_joined(struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	const struct opk_joining *joining = evaluation->joining;
	struct opk_made_rows *made = &evaluation->made;
	size_t count = joining->count;

	made->ranges = opk_alloc_array(count + 1, sizeof *made->ranges);
	made->joined = opk_alloc_array(count + 1, sizeof *made->joined);
	made->values = opk_alloc_array(count + 1, evaluation->metrics.count * sizeof(double) + 1);
	if (!made->ranges || !made->joined || !made->values)
		return opk_nomem(ctx, "joined ranges");
	TRY(read_joined(evaluation, ctx));
	for (size_t i = 0; i < count; i++) {
		const struct opk_grouped *group = &joining->grouping.groups[i];

		made->ranges[i] = group->range;
		made->ranges[i].name = group->name;
		made->ranges[i].duration_ns = opk_mean_of(group->durations, group->duration_count);
		made->joined[i] = (struct opk_joined){
			.many_streams = group->many_streams,
			.ranges = group->rows,
			.ranges_min = group->rows,
			.counts = joining->means[i].counts,
		};
	}
	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		if (!is_expected(evaluation, i))
			continue;
		for (size_t j = 0; j < count; j++)
			if (made->joined[j].counts[i] < made->joined[j].ranges_min)
				made->joined[j].ranges_min = made->joined[j].counts[i];
	}
	made->count = count;
	evaluation->is_made = true;
	return OPK_OK;
}

bool opk_evaluation_is_joined(const struct opk_evaluation *evaluation)
{
	return evaluation->joining != NULL;
}

uint64_t opk_evaluation_left_out(const struct opk_evaluation *evaluation)
{
	return evaluation->joining ? evaluation->joining->left_out : 0;
}

/* ---- columns of the row that was read last -------------------------------------------------- */

const double *opk_evaluation_values(struct opk_evaluation *evaluation)
{
	if (!evaluation->has_shown)
		opk_columns_compute(evaluation->shown, &evaluation->columns,
		                    evaluation->row.values);
	evaluation->has_shown = true;
	return evaluation->shown;
}

/* Computes `also`, in which the values for conditions come first. */
static const double *compute_also(struct opk_evaluation *evaluation)
{
	if (!evaluation->has_also && evaluation->columns.also_count)
		opk_columns_compute_also(evaluation->also, &evaluation->columns,
		                         evaluation->row.values);
	evaluation->has_also = true;
	return evaluation->also;
}

const double *opk_evaluation_also(struct opk_evaluation *evaluation)
{
	return compute_also(evaluation) + evaluation->condition_count;
}

const uint64_t *opk_evaluation_counts(struct opk_evaluation *evaluation)
{
	const struct opk_row *row = &evaluation->row;
	const struct opk_joined *joined = row->joined;

	if (evaluation->has_counts)
		return evaluation->counts;
	for (size_t i = 0; i < evaluation->metrics.count; i++)
		evaluation->launches[i] = joined     ? joined->counts[i]
		                          : row->ran ? row->ran->launches
		                                     : row->measured[i];
	opk_columns_least(evaluation->counts, &evaluation->columns, evaluation->launches);
	/* A value that needs no metric is from all ranges. */
	for (size_t i = 0; i < evaluation->columns.names.count; i++)
		if (evaluation->counts[i] == UINT64_MAX)
			evaluation->counts[i] = joined ? joined->ranges : 1;
	evaluation->has_counts = true;
	return evaluation->counts;
}

/* ---- one after the other -------------------------------------------------------------------- */

static int read_row(const struct opk_row **row, struct opk_ctx *ctx,
                    struct opk_evaluation *evaluation)
{
	struct opk_spooled read;

	*row = NULL;
	if (evaluation->is_made) {
		evaluation->mark = (struct opk_bookmark){ .number = evaluation->next_made };
		if (evaluation->next_made < evaluation->made.count)
			*row = make_row(evaluation, evaluation->next_made++);
		return OPK_OK;
	}
	if (opk_spools_ended(&evaluation->spools))
		return OPK_OK;
	TRY(opk_spools_next(&read, evaluation->values, ctx, &evaluation->spools));
	evaluation->mark = read.at;
	return take_row(row, ctx, evaluation, &read);
}

/* Joined ranges already met the conditions on facts, and so did the samples of bins. */
static int is_wanted(bool *wanted, struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                     const struct opk_row *row)
{
	*wanted = true;
	if (!evaluation->joining)
		TRY(opk_filter_accepts(wanted, ctx, evaluation->filter,
		                       opk_evaluation_profiler(evaluation), row,
		                       evaluation->bins ? ~opk_facts_of_bins : 0));
	if (!*wanted || !evaluation->condition_count)
		return OPK_OK;
	*wanted = opk_filter_takes(evaluation->filter, compute_also(evaluation));
	return OPK_OK;
}

int opk_evaluation_next(const struct opk_row **row, struct opk_ctx *ctx,
                        struct opk_evaluation *evaluation)
{
	const struct opk_row *next;
	bool wanted = true;

	do {
		TRY(opk_check_interrupt(ctx));
		TRY(read_row(&next, ctx, evaluation));
		if (next && evaluation->filter)
			TRY(is_wanted(&wanted, ctx, evaluation, next));
	} while (next && !wanted);
	*row = next;
	return OPK_OK;
}

void opk_evaluation_rewind(struct opk_evaluation *evaluation)
{
	evaluation->next_made = 0;
	opk_spools_rewind(&evaluation->spools);
}

struct opk_bookmark opk_evaluation_mark(const struct opk_evaluation *evaluation)
{
	return evaluation->mark;
}

int opk_evaluation_reread(const struct opk_row **row, struct opk_ctx *ctx,
                          struct opk_evaluation *evaluation, const struct opk_bookmark *mark)
{
	struct opk_spooled read;

	if (evaluation->is_made) {
		*row = make_row(evaluation, mark->number);
		return OPK_OK;
	}
	TRY(opk_spools_reread(&read, evaluation->values, ctx, &evaluation->spools, mark));
	return take_row(row, ctx, evaluation, &read);
}
