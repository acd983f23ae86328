/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluation as its users see it: a child computes, rows are read from its spool. */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

#include "base/option_struct.h"
#include "resolve/resolve.h"
#include "container/container.h"
#include "eval/eval_inside.h"

int opk_set_meta_init(struct opk_set_meta *out, struct opk_ctx *ctx, const struct opk_set *set,
                      const char *chip, enum opk_profiler profiler, const struct opk_meta *recorded)
{
	struct opk_meta meta = { 0 };

	TRY(opk_set_resolve(&out->resolved, ctx, set, chip, profiler));
	TRY(opk_resolved_to_meta(&meta, &out->labels, ctx, &out->resolved));
	meta.metrics = opk_strlist_items(&out->resolved.metrics);
	meta.metric_count = out->resolved.metrics.count;
	/* What its formulas say of devices is the recording's. */
	meta.run = recorded ? recorded->run : NULL;
	meta.run_count = recorded ? recorded->run_count : 0;
	out->meta = meta;
	return OPK_OK;
}

void opk_set_meta_clear(struct opk_set_meta *meta)
{
	free(meta->labels);
	opk_resolved_clear(&meta->resolved);
}

/* The set on the recording's chip, with what it derives, instead of what the recording says. */
static int use_set(struct opk_evaluation *evaluation, struct opk_ctx *ctx, const char *chip,
                   enum opk_profiler profiler, const struct opk_set *set,
                   const struct opk_wanted *wanted)
{
	struct opk_set_meta *as = &evaluation->set;

	TRY(opk_set_meta_init(as, ctx, set, chip, profiler, evaluation->meta));
	return opk_columns_init(&evaluation->columns, ctx, &as->meta, wanted);
}

static int choose_columns(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                          const struct opk_eval_job *job, const struct opk_eval_options *options)
{
	const char *chip = job->meta ? job->meta->chip : options->chip;
	const struct opk_eval_inside *inside = opk_eval_inside(options);
	size_t conditions = opk_filter_value_count(evaluation->filter);
	opk_autofree const char **also = opk_alloc_array(conditions + inside->also_count + 1,
	                                                 sizeof *also);
	struct opk_wanted wanted = { .also = also, .also_count = conditions + inside->also_count };
	const struct opk_meta *meta = job->meta;

	evaluation->condition_count = conditions;
	evaluation->also = opk_alloc_array(wanted.also_count + 1, sizeof *evaluation->also);
	if (!also || !evaluation->also)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < conditions; i++)
		also[i] = opk_filter_value(evaluation->filter, i);
	for (size_t i = 0; i < inside->also_count; i++)
		also[conditions + i] = inside->also[i];
	if (options->set && chip)
		return use_set(evaluation, ctx, chip,
		               job->meta ? job->meta->profiler : options->profiler, options->set,
		               &wanted);
	wanted.shown = options->metrics;
	wanted.shown_count = options->metrics ? options->metric_count : 0;
	TRY(opk_nvprof_names_add(&evaluation->nvprof, ctx, &meta, options, &wanted));
	return opk_columns_init(&evaluation->columns, ctx, meta, &wanted);
}

static int allocate(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                    const struct opk_eval_job *job)
{
	for (size_t i = 0; i < job->metric_count; i++)
		if (!opk_strlist_add(&evaluation->metrics, job->metrics[i]))
			return opk_nomem(ctx, "an evaluation");
	evaluation->values = opk_alloc_array(job->metric_count, sizeof *evaluation->values);
	evaluation->measured = opk_alloc_array(job->metric_count, sizeof *evaluation->measured);
	evaluation->explained = opk_alloc_array(job->metric_count, sizeof *evaluation->explained);
	evaluation->bound = opk_alloc_array(job->metric_count, sizeof *evaluation->bound);
	if (!evaluation->values || !evaluation->measured || !evaluation->explained
	    || !evaluation->bound)
		return opk_nomem(ctx, "an evaluation");
	return opk_measured_init(&evaluation->passes, ctx, job->meta, job->metrics,
	                         job->metric_count);
}

int opk_evaluation_begin(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_eval_job *job,
                         const struct opk_eval_options *options, struct opk_filter *filter)
{
	struct opk_evaluation *evaluation = *out = opk_alloc(sizeof *evaluation);

	if (!evaluation) {
		opk_filter_free(filter);
		return opk_nomem(ctx, "an evaluation");
	}
	evaluation->meta = job->meta;
	evaluation->filter = filter;
	TRY(choose_columns(evaluation, ctx, job, options));
	job->plain = opk_eval_inside(options)->cupti_only;
	job->filter = filter;
	job->metrics = evaluation->columns.metrics;
	job->metric_count = evaluation->columns.metric_count;
	return allocate(evaluation, ctx, job);
}

int opk_evaluation_finish(struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	TRY(opk_spools_begin(&evaluation->spools, ctx, &evaluation->units,
	                     evaluation->metrics.count));
	TRY(opk_filter_check(evaluation->filter, ctx, opk_evaluation_profiler(evaluation)));
	return opk_columns_find_units(&evaluation->columns, ctx, &evaluation->units);
}

/* What every counter data image begins with; all else about it is NVIDIA's secret. */
static bool looks_like_image(const void *image, size_t size)
{
	static const char magic[] = "LOPDATA";

	return size > 64 && !memcmp(image, magic, sizeof magic);
}

/* A set means something on a chip alone, and that is the one of the image. */
static int find_origin(char **chip, struct opk_ctx *ctx, struct opk_eval_job *job,
                       struct opk_eval_options *options)
{
	struct opk_contain_options contain = opk_eval_contain(job->image_size);
	opk_autosent struct opk_result result = { 0 };
	int code = opk_contain(&result, ctx, opk_image_origin_in_child, job, &contain);

	if (code)
		return code;
	*chip = opk_get_bytes(NULL, &result, sizeof((struct opk_spool_header *)NULL)->chip - 1);
	options->profiler = (enum opk_profiler)opk_get_number(&result, OPK_PROFILER_PM);
	code = opk_result_check(&result, ctx);
	options->chip = job->chip = *chip;
	return code;
}

int opk_eval_image(struct opk_evaluation **out, struct opk_ctx *ctx, const void *image, size_t size,
                   const struct opk_eval_options *given)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	struct opk_eval_job job = {
		.image = image,
		.image_size = size,
		.chip = options.chip,
		.has_profiler = options.has_profiler,
		.profiler = options.profiler,
		.gpu_time_shift = options.gpu_time_shift,
	};
	struct opk_evaluation *evaluation = NULL;
	struct opk_filter *filter = NULL;
	opk_autofree char *chip = NULL;
	const char *join = opk_eval_inside(&options)->join;
	int code = OPK_OK;

	if (!options.set && (!options.metrics || !options.metric_count))
		return opk_fail(ctx, OPK_EUSAGE,
		                "a bare image does not say its metrics: name them");
	if (join && *join)
		return opk_fail(ctx, OPK_EUSAGE,
		                "a bare image has no range table, so its ranges can't be joined");
	if (size >= OPK_MAGIC_SIZE && !memcmp(image, OPK_MAGIC, OPK_MAGIC_SIZE))
		return opk_fail(ctx, OPK_EINPUT, "this is an .opk file, not a bare image");
	if (!looks_like_image(image, size))
		return opk_fail(ctx, OPK_EINPUT, "not a counter data image");
	if (options.set)
		code = find_origin(&chip, ctx, &job, &options);
	if (!code)
		code = opk_filter_of(&filter, ctx, &options);
	if (!code)
		code = opk_evaluation_begin(&evaluation, ctx, &job, &options, filter);
	if (!code)
		code = opk_eval_run(&evaluation->spools, ctx, &job, &options);
	if (!code)
		code = opk_evaluation_finish(evaluation, ctx);
	if (!code)
		code = opk_evaluation_note_remarks(evaluation, ctx, "the image");
	if (!code)
		*out = opk_take(evaluation);
	opk_evaluation_free(evaluation);
	return code;
}

void opk_evaluation_free(struct opk_evaluation *evaluation)
{
	if (!evaluation)
		return;
	opk_spools_clear(&evaluation->spools);
	opk_made_rows_clear(&evaluation->made);
	opk_filter_free(evaluation->filter);
	opk_columns_clear(&evaluation->columns);
	opk_set_meta_clear(&evaluation->set);
	opk_nvprof_names_clear(&evaluation->nvprof);
	opk_strlist_clear(&evaluation->metrics);
	opk_strlist_clear(&evaluation->units);
	free(evaluation->values);
	free(evaluation->also);
	free(evaluation->measured);
	opk_strlist_clear(&evaluation->doubts);
	free(evaluation->explained);
	free(evaluation->bound);
	opk_joining_free(evaluation->joining);
	opk_measured_clear(&evaluation->passes);
	free(evaluation);
}

const char *opk_evaluation_chip(const struct opk_evaluation *evaluation)
{
	return evaluation->spools.header.chip;
}

enum opk_profiler opk_evaluation_profiler(const struct opk_evaluation *evaluation)
{
	return (enum opk_profiler)evaluation->spools.header.profiler;
}

size_t opk_evaluation_metric_count(const struct opk_evaluation *evaluation)
{
	return evaluation->metrics.count;
}

const char *opk_evaluation_metric(const struct opk_evaluation *evaluation, size_t i)
{
	return evaluation->metrics.items[i];
}

const char *opk_evaluation_unit(const struct opk_evaluation *evaluation, size_t i)
{
	return evaluation->units.items[i];
}

size_t opk_evaluation_column_count(const struct opk_evaluation *evaluation)
{
	return evaluation->columns.names.count;
}

const char *opk_evaluation_column(const struct opk_evaluation *evaluation, size_t i)
{
	return evaluation->columns.names.items[i];
}

const struct opk_meta_heading *opk_evaluation_column_heading(
	const struct opk_evaluation *evaluation, size_t i)
{
	return evaluation->columns.headings[i];
}

const struct opk_meta_roofline *opk_evaluation_roofline(const struct opk_evaluation *evaluation)
{
	static const struct opk_meta_roofline none = { 0 };

	return evaluation->columns.meta ? &evaluation->columns.meta->roofline : &none;
}

const char *opk_evaluation_column_unit(const struct opk_evaluation *evaluation, size_t i)
{
	const struct opk_columns *columns = &evaluation->columns;
	size_t source = columns->sources[i];

	if (source >= columns->derived_count)
		return evaluation->units.items[source - columns->derived_count];
	return columns->derived[source].unit ? columns->derived[source].unit : "";
}

void opk_evaluation_compute(double *columns, const struct opk_evaluation *evaluation,
                            const double *metrics)
{
	opk_columns_compute(columns, &evaluation->columns, metrics);
}

void opk_evaluation_compute_also(double *also, const struct opk_evaluation *evaluation,
                                 const double *metrics)
{
	size_t conditions = evaluation->condition_count;

	opk_columns_compute_also(evaluation->also, &evaluation->columns, metrics);
	memcpy(also, evaluation->also + conditions,
	       (evaluation->columns.also_count - conditions) * sizeof *also);
}

bool opk_evaluation_chooses_values(const struct opk_evaluation *evaluation)
{
	return evaluation->condition_count > 0;
}

bool opk_evaluation_takes(const struct opk_evaluation *evaluation, const double *metrics)
{
	if (!evaluation->condition_count)
		return true;
	opk_columns_compute_also(evaluation->also, &evaluation->columns, metrics);
	return opk_filter_takes(evaluation->filter, evaluation->also);
}

void opk_evaluation_least(uint64_t *columns, const struct opk_evaluation *evaluation,
                          const uint64_t *metrics)
{
	opk_columns_least(columns, &evaluation->columns, metrics);
}

const struct opk_measured *opk_evaluation_passes(const struct opk_evaluation *evaluation)
{
	return &evaluation->passes;
}

struct opk_joining *opk_evaluation_joining(const struct opk_evaluation *evaluation)
{
	return evaluation->joining;
}

const struct opk_columns *opk_evaluation_columns(const struct opk_evaluation *evaluation)
{
	return &evaluation->columns;
}

uint64_t opk_evaluation_row_count(const struct opk_evaluation *evaluation)
{
	return evaluation->is_made ? evaluation->made.count : evaluation->spools.total_rows;
}

uint64_t opk_evaluation_incomplete_samples(const struct opk_evaluation *evaluation)
{
	return evaluation->spools.incomplete_samples;
}

static void apply_pass(struct opk_evaluation *evaluation, uint32_t pass)
{
	opk_measured_by(&evaluation->passes, pass);
	for (size_t i = 0; i < evaluation->metrics.count; i++)
		evaluation->measured[i] = opk_measured_has(&evaluation->passes, i, pass,
		                                           evaluation->values[i]);
}

/* What the recording says of the launch and its device. */
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

/* Attributes have their values since the rows were planned. */
static int describe_joined(struct opk_evaluation *evaluation, struct opk_ctx *ctx, uint64_t group)
{
	const struct opk_joining *joining = evaluation->joining;
	const struct opk_mean *mean;

	if (group >= joining->count)
		return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
	mean = &joining->means[group];
	evaluation->row.index = group;
	evaluation->row.name = joining->grouping.groups[group].name;
	evaluation->row.range = &joining->grouping.groups[group].range;
	for (size_t i = 0; i < evaluation->metrics.count; i++) {
		const struct opk_pass_list *passes = opk_measured_passes(&evaluation->passes, i);
		double *value = &evaluation->values[i];
		bool equal;

		if (evaluation->passes.attribute[i])
			*value = mean->values[i];
		else if (passes->count || !joining->passes || !isnan(*value))
			mean->counts[i] = opk_launches_least(&equal, passes, mean->launches,
			                                     joining->passes);
		if (!mean->counts[i])
			*value = (double)NAN;
		evaluation->measured[i] = mean->counts[i] > 0;
	}
	return OPK_OK;
}

void opk_evaluation_apply(struct opk_evaluation *evaluation)
{
	apply_pass(evaluation, 0);
	apply_attributes(evaluation);
}

/* What the file's tables say of a row. A child that ran wild may name any. */
static int describe_row(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                        const struct opk_spool_row *stored)
{
	const struct opk_segment *segment;

	if (evaluation->joining)
		return describe_joined(evaluation, ctx, stored->row);
	if (!evaluation->segment_count) {
		opk_evaluation_apply(evaluation);
		return OPK_OK;
	}
	if (stored->segment >= evaluation->segment_count)
		return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
	segment = &evaluation->segments[stored->segment];
	opk_segment_describe(&evaluation->row, &evaluation->sample, segment, stored->row);
	apply_pass(evaluation, segment->pass);
	apply_attributes(evaluation);
	return OPK_OK;
}

/* Makes the row of what was read. */
static int take_row(const struct opk_row **row, struct opk_ctx *ctx,
                    struct opk_evaluation *evaluation, const struct opk_spool_row *stored,
                    const char *name, uint64_t number)
{
	struct opk_row *current = &evaluation->row;

	*current = (struct opk_row){
		.index = number,
		.name = name,
		.start_ns = stored->start_ns,
		.end_ns = stored->end_ns,
		.spans_earlier = stored->spans_earlier,
		.values = evaluation->values,
		.measured = evaluation->measured,
	};
	TRY(describe_row(evaluation, ctx, stored));
	*row = current;
	return OPK_OK;
}

static int read_row(const struct opk_row **row, struct opk_ctx *ctx,
                    struct opk_evaluation *evaluation)
{
	struct opk_spool_row stored;
	const char *name;
	uint64_t number = 0;
	int code;

	*row = NULL;
	if (evaluation->is_made) {
		evaluation->mark = (struct opk_bookmark){ .number = evaluation->next_made };
		if (evaluation->next_made < evaluation->made.count)
			*row = opk_made_row(evaluation, evaluation->next_made++);
		return OPK_OK;
	}
	if (opk_spools_ended(&evaluation->spools))
		return OPK_OK;
	opk_spools_mark(&evaluation->mark, &evaluation->spools);
	code = opk_spools_next(&stored, &number, &name, evaluation->values, ctx,
	                       &evaluation->spools, evaluation->metrics.count);
	evaluation->mark.number = number;
	return code ? code : take_row(row, ctx, evaluation, &stored, name, number);
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
	struct opk_spool_row stored;
	const char *name;

	if (evaluation->is_made) {
		*row = opk_made_row(evaluation, mark->number);
		return OPK_OK;
	}
	TRY(opk_spools_reread(&stored, &name, evaluation->values, ctx, &evaluation->spools, mark,
	                      evaluation->metrics.count));
	return take_row(row, ctx, evaluation, &stored, name, mark->number);
}

int opk_evaluation_next_by_facts(const struct opk_row **row, struct opk_ctx *ctx,
                                 struct opk_evaluation *evaluation)
{
	int code;

	/* Where ranges were joined, those that it refuses are in no row. */
	do {
		code = read_row(row, ctx, evaluation);
	} while (!code && *row && evaluation->filter && !evaluation->joining
	         && !opk_filter_accepts(evaluation->filter, opk_evaluation_profiler(evaluation),
	                                *row));
	return code ? code : opk_filter_judged(evaluation->filter, ctx);
}

int opk_evaluation_next(const struct opk_row **row, struct opk_ctx *ctx,
                        struct opk_evaluation *evaluation)
{
	const struct opk_row *next = NULL;
	int code;

	do {
		code = opk_check_interrupt(ctx);
		if (!code)
			code = opk_evaluation_next_by_facts(&next, ctx, evaluation);
	} while (!code && next && !opk_evaluation_takes(evaluation, next->values));
	if (!code)
		*row = next;
	return code;
}
