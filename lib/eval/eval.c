/* SPDX-License-Identifier: BSD-2-Clause */
/* An evaluation: its columns, and what they are computed from. */
#include <string.h>

#include "baked/baked.h"
#include "eval/eval_inside.h"

/* The metrics of a set that was not baked as it is now are known to the whole catalog alone. */
static int resolve_whole(struct opk_resolved *out, struct opk_ctx *ctx, const struct opk_set *set,
                         const struct opk_baked_origin *of)
{
	opk_autofree char *what = opk_printf("set %s, as it is now,", opk_set_name(set));
	int code = opk_set_resolve(out, ctx, set, of->chip, of->profiler);

	if (!what)
		return opk_nomem(ctx, "a set");
	if (code != OPK_ENVIDIA || !of->file || !opk_file_is_baked(of->file))
		return code;
	if (opk_file_find(of->file, OPK_SECTION_LEFT_OUT) >= 0) {
		opk_clear_errors(ctx);
		return opk_baked_lacks(ctx, of->file, what);
	}
	opk_add(ctx, code, "%s is not among the values that it has", what);
	return opk_advise(ctx, code, OPK_REMEDY_BAKE);
}

int opk_set_meta_init(struct opk_set_meta *out, struct opk_ctx *ctx, const struct opk_set *set,
                      const struct opk_file *file, const char *chip, enum opk_profiler profiler,
                      const struct opk_meta *recorded)
{
	const struct opk_baked_origin of = { file, chip, profiler };
	struct opk_meta meta = { 0 };
	bool found = false;

	if (file)
		TRY(opk_set_resolve_baked(&found, &out->resolved, ctx, set, &of));
	if (!found)
		TRY(resolve_whole(&out->resolved, ctx, set, &of));
	TRY(opk_resolved_to_meta(&meta, &out->labels, ctx, &out->resolved));
	meta.metrics = opk_strlist_items(&out->resolved.metrics);
	meta.metric_count = out->resolved.metrics.count;
	/* Device attributes in its formulas have the recording's values. */
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

/* Uses a set, resolved for the recording's chip, instead of the recording's metadata. */
static int use_set(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                   const struct opk_file *file, const char *chip, enum opk_profiler profiler,
                   const struct opk_set *set, const struct opk_wanted *wanted)
{
	struct opk_set_meta *as = &evaluation->set;

	TRY(opk_set_meta_init(as, ctx, set, file, chip, profiler, evaluation->meta));
	return opk_columns_init(&evaluation->columns, ctx, &as->meta, wanted);
}

/* Rows of code may be of both of its profilers, and in recordings of ranges. */
static enum opk_profiler profiler_of_set(const struct opk_eval_job *job,
                                         const struct opk_eval_options *options)
{
	enum opk_profiler of_set = opk_set_profiler(options->set);

	if (job->has_profiler && opk_profiler_is_code(job->profiler))
		return opk_profiler_is_code(of_set) ? of_set : job->profiler;
	return job->meta ? job->meta->profiler : options->profiler;
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
		return use_set(evaluation, ctx, inside->from_images ? NULL : job->file, chip,
		               profiler_of_set(job, options), options->set, &wanted);
	wanted.shown = options->metrics;
	wanted.shown_count = options->metrics ? options->metric_count : 0;
	TRY(opk_nvprof_names_add(&evaluation->nvprof, ctx, &meta, options, &wanted));
	return opk_columns_init(&evaluation->columns, ctx, meta, &wanted);
}

static int allocate(struct opk_evaluation *evaluation, struct opk_ctx *ctx,
                    const struct opk_eval_job *job)
{
	size_t columns = evaluation->columns.names.count;

	for (size_t i = 0; i < job->metric_count; i++)
		if (!opk_strlist_add(&evaluation->metrics, job->metrics[i]))
			return opk_nomem(ctx, "an evaluation");
	evaluation->values = opk_alloc_array(job->metric_count, sizeof *evaluation->values);
	evaluation->measured = opk_alloc_array(job->metric_count, sizeof *evaluation->measured);
	evaluation->explained = opk_alloc_array(job->metric_count, sizeof *evaluation->explained);
	evaluation->bound = opk_alloc_array(job->metric_count, sizeof *evaluation->bound);
	evaluation->launches = opk_alloc_array(job->metric_count, sizeof *evaluation->launches);
	evaluation->shown = opk_alloc_array(columns, sizeof *evaluation->shown);
	evaluation->counts = opk_alloc_array(columns, sizeof *evaluation->counts);
	if (!evaluation->values || !evaluation->measured || !evaluation->explained
	    || !evaluation->bound || !evaluation->launches || !evaluation->shown
	    || !evaluation->counts)
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
	evaluation->workers = options->workers;
	TRY(choose_columns(evaluation, ctx, job, options));
	job->plain = opk_eval_inside(options)->cupti_only;
	job->filter = filter;
	job->metrics = evaluation->columns.metrics;
	job->metric_count = evaluation->columns.metric_count;
	return allocate(evaluation, ctx, job);
}

int opk_evaluation_blame(struct opk_ctx *ctx, const struct opk_file *file, int code)
{
	return code ? opk_add(ctx, code, "can't evaluate %s", file->path) : OPK_OK;
}

int opk_evaluation_finish(struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	TRY(opk_spools_begin(&evaluation->spools, ctx, &evaluation->units,
	                     evaluation->metrics.count));
	TRY(opk_filter_check(evaluation->filter, ctx, opk_evaluation_profiler(evaluation)));
	return opk_columns_find_units(&evaluation->columns, ctx, &evaluation->units);
}

void opk_made_rows_clear(struct opk_made_rows *rows)
{
	if (rows->free_maker)
		rows->free_maker(rows->maker);
	free(rows->ranges);
	free(rows->ran);
	free(rows->joined);
	free(rows->code);
	opk_strlist_clear(&rows->texts);
	opk_strlist_clear(&rows->metrics);
	free(rows->values);
	*rows = (struct opk_made_rows){ 0 };
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
	free(evaluation->shown);
	free(evaluation->also);
	free(evaluation->launches);
	free(evaluation->counts);
	free(evaluation->measured);
	opk_strlist_clear(&evaluation->doubts);
	free(evaluation->explained);
	free(evaluation->bound);
	opk_joining_free(evaluation->joining);
	opk_bins_free(evaluation->bins);
	opk_measured_clear(&evaluation->passes);
	free(evaluation);
}

const char *opk_evaluation_chip(const struct opk_evaluation *evaluation)
{
	return evaluation->spools.header.chip;
}

uint32_t opk_evaluation_cupti(const struct opk_evaluation *evaluation)
{
	return evaluation->spools.header.versions.cupti;
}

enum opk_profiler opk_evaluation_profiler(const struct opk_evaluation *evaluation)
{
	return (enum opk_profiler)evaluation->spools.header.profiler;
}

size_t opk_evaluation_workers(const struct opk_evaluation *evaluation)
{
	return evaluation->workers;
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

bool opk_evaluation_chooses_values(const struct opk_evaluation *evaluation)
{
	return evaluation->condition_count > 0;
}

const struct opk_measured *opk_evaluation_passes(const struct opk_evaluation *evaluation)
{
	return &evaluation->passes;
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
