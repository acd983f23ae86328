/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes recordings as a trace. A first look at all files finds the earliest time, and which
 * process ran on which GPU. Then each file is written.
 */
#include "trace/trace_inside.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/listing.h"
#include "base/option_struct.h"
#include "eval/door.h"
#include "eval/eval.h"

static void note_span(struct opk_trace *trace, uint64_t start, uint64_t end)
{
	trace->first = start < trace->first ? start : trace->first;
	trace->last = end > trace->last ? end : trace->last;
}

/* ---- a look at all of them ---------------------------------------------------------------- */

/* The current file. */
struct looking {
	struct opk_trace *trace;
	const struct opk_trace_file *file;
};

static int look_at_record(void *data, struct opk_ctx *ctx, const struct opk_activity *activity,
                          uint32_t *id)
{
	struct looking *looking = data;
	struct opk_trace *trace = looking->trace;
	struct opk_range range = opk_activity_range(activity);
	struct opk_trace_place place = opk_trace_place_of_record(activity);
	struct opk_trace_process *process = opk_trace_process_of(&trace->tracks, &place);
	bool accepted;

	if (!process)
		return opk_nomem(ctx, "a trace");
	*id = process->id;
	if (opk_activity_ran(activity))
		TRY(opk_trace_note_gpu(&trace->tracks, ctx, &place));
	TRY(opk_trace_where_accepts(&accepted, ctx, &looking->file->where, activity));
	trace->counts.records_left_out += !accepted;
	if (!accepted)
		return OPK_OK;
	note_span(trace, activity->start_ns, activity->end_ns);
	TRY(opk_trace_flows_note(&trace->flows, ctx, *id, activity));
	return activity->kind == OPK_ACTIVITY_KERNEL
	               ? opk_kernel_names_add(trace->names, ctx, &range, 1)
	               : OPK_OK;
}

static bool has_images(const struct opk_trace_file *file)
{
	return opk_file_find(file->file, OPK_SECTION_DATA) >= 0
	       || opk_file_find(file->file, OPK_SECTION_LEFT_OUT) >= 0;
}

static int check_whole(const struct opk_trace *trace, const struct opk_trace_file *file)
{
	bool allowed = trace->eval.allow_incomplete;

	return allowed ? OPK_OK
	               : opk_file_check_complete(trace->ctx, file->file,
	                                         OPK_REMEDY_ALLOW_INCOMPLETE);
}

static int look_at_ran(struct opk_trace *trace, struct opk_trace_file *file)
{
	struct looking looking = { trace, file };

	TRY(opk_file_meta(&file->meta, trace->ctx, file->file));
	TRY(check_whole(trace, file));
	file->place = opk_trace_place_of_run(file->meta);
	TRY(opk_trace_where_init(&file->where, trace->ctx, trace->eval.where,
	                         trace->eval.where_count, has_images(file),
	                         has_images(file) && file->meta->profiler == OPK_PROFILER_PM));
	return opk_trace_sweep_init(&file->sweep, trace->ctx, file->file, look_at_record, &looking);
}

/* Whether values are needed. Ranges without times or without a table are only counted. */
static int is_wanted(bool *wanted, struct opk_trace *trace, const struct opk_trace_file *file)
{
	const struct opk_range *ranges;
	size_t count;
	uint64_t start, end;

	*wanted = has_images(file) && file->meta->profiler == OPK_PROFILER_PM;
	if (*wanted || !has_images(file))
		return OPK_OK;
	TRY(opk_file_ranges(&ranges, &count, trace->ctx, file->file));
	for (size_t i = 0; !*wanted && i < count; i++)
		*wanted = opk_trace_range_times(&start, &end, &ranges[i]);
	if (!*wanted)
		trace->counts.ranges_without_times += count;
	*wanted |= !count;
	return OPK_OK;
}

/* Evaluates all wanted files at once, since small files share children. */
static int evaluate_wanted(struct opk_trace *trace, struct opk_trace_file **wanted,
                           struct opk_file **files, size_t count)
{
	opk_autofree struct opk_evaluation **evaluations = opk_alloc_array(count + 1,
	                                                                   sizeof *evaluations);

	if (!evaluations)
		return opk_nomem(trace->ctx, "a trace");
	TRY(opk_eval_files(evaluations, trace->ctx, files, count, &trace->eval));
	for (size_t i = 0; i < count; i++) {
		wanted[i]->evaluation = evaluations[i];
		trace->row_count += opk_evaluation_row_count(evaluations[i]);
		trace->counts.incomplete_samples += opk_evaluation_incomplete_samples(
			evaluations[i]);
	}
	return OPK_OK;
}

static int evaluate(struct opk_trace *trace)
{
	size_t most = trace->file_count + 1, count = 0;
	opk_autofree struct opk_trace_file **wanted = opk_alloc_array(most, sizeof *wanted);
	opk_autofree struct opk_file **files = opk_alloc_array(most, sizeof *files);

	if (!wanted || !files)
		return opk_nomem(trace->ctx, "a trace");
	for (size_t i = 0; i < trace->file_count; i++) {
		bool is;

		TRY(is_wanted(&is, trace, &trace->files[i]));
		wanted[count] = &trace->files[i];
		files[count] = trace->files[i].file;
		count += is;
	}
	return evaluate_wanted(trace, wanted, files, count);
}

static int look_at_sample(struct opk_trace *trace, const struct opk_trace_file *file,
                          const struct opk_row *row)
{
	struct opk_trace_place place = opk_trace_place_of(&file->place, row->range);
	struct opk_trace_process *process = opk_trace_process_of_gpu(&trace->tracks, &place);

	if (!process)
		return opk_nomem(trace->ctx, "a trace");
	process->many_devices |= process->has_device && process->device != place.device;
	process->has_device = true;
	process->device = place.device;
	note_span(trace, row->start_ns, row->end_ns);
	return OPK_OK;
}

static int look_at_range(struct opk_trace *trace, const struct opk_row *row)
{
	uint64_t start, end;

	if (!opk_trace_range_times(&start, &end, row->range)) {
		trace->counts.ranges_without_times++;
		return OPK_OK;
	}
	note_span(trace, start, end);
	return opk_kernel_names_add(trace->names, trace->ctx, row->range, 1);
}

static int look_at_rows(struct opk_trace *trace, const struct opk_trace_file *file)
{
	bool samples = file->meta->profiler == OPK_PROFILER_PM;
	const struct opk_row *row;

	for (;;) {
		TRY(opk_evaluation_next(&row, trace->ctx, file->evaluation));
		if (!row)
			return OPK_OK;
		if (!samples)
			TRY(look_at_range(trace, row));
		else if (!row->spans_earlier)
			TRY(look_at_sample(trace, file, row));
	}
}

static int fail_empty(const struct opk_trace *trace)
{
	const struct opk_trace_counts *counts = &trace->counts;
	bool chosen = trace->eval.where_count && (counts->records_left_out || trace->row_count);
	const char *why = counts->ranges_without_times ? "ranges are recorded without times"
	                  : chosen ? "no sample, launch or range meets the conditions"
	                  : counts->incomplete_samples ? "no sample was completed"
	                                               : "no sample and no launch is recorded";

	return opk_fail(trace->ctx, OPK_EUSAGE,
	                "there is nothing on a time axis: %s. PM samples, user ranges, and what "
	                "is recorded of what ran have times",
	                why);
}

static int look_at_all(struct opk_trace *trace)
{
	for (size_t i = 0; i < trace->file_count; i++)
		TRY(look_at_ran(trace, &trace->files[i]));
	TRY(opk_trace_flows_join(&trace->flows, trace->ctx));
	TRY(evaluate(trace));
	for (size_t i = 0; i < trace->file_count; i++) {
		if (trace->files[i].evaluation)
			TRY(look_at_rows(trace, &trace->files[i]));
	}
	trace->out.origin = trace->counts.origin_ns = trace->first;
	return trace->first == UINT64_MAX ? fail_empty(trace) : OPK_OK;
}

/* ---- the trace ---------------------------------------------------------------------------- */

static int put_file(struct opk_trace *trace, struct opk_trace_file *file)
{
	TRY(opk_trace_put_ran(trace, file));
	if (!file->evaluation)
		return OPK_OK;
	return file->meta->profiler == OPK_PROFILER_PM ? opk_trace_put_samples(trace, file)
	                                               : opk_trace_put_user_ranges(trace, file);
}

static void put_text_of_number(struct opk_json_writer *json, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, number);
	opk_json_add_string(json, name, text);
}

/* Writes numbers as text: viewers show it, and JavaScript's numbers can't hold 64 bits. */
static void put_other_data(struct opk_trace *trace)
{
	struct opk_json_writer *json = &trace->out.json;
	const struct opk_trace_counts *counts = &trace->counts;

	opk_json_key(json, "otherData");
	opk_json_begin_object(json);
	opk_json_add_string(json, "generator", "offpeak");
	opk_json_add_string(json, "version", opk_version());
	opk_json_add_string(json, "clock", "ts is host time less origin_ns");
	put_text_of_number(json, "origin_ns", counts->origin_ns);
	put_text_of_number(json, "samples", counts->samples);
	put_text_of_number(json, "values", counts->values);
	put_text_of_number(json, "missing_values", counts->missing_values);
	put_text_of_number(json, "first_samples_left_out", counts->first_samples);
	put_text_of_number(json, "kernels", counts->kernels);
	put_text_of_number(json, "copies", counts->copies);
	put_text_of_number(json, "sets", counts->sets);
	put_text_of_number(json, "nvtx_ranges", counts->nvtx_ranges);
	put_text_of_number(json, "ranges", counts->ranges);
	put_text_of_number(json, "calls", counts->calls);
	opk_json_end_object(json);
}

static int put_all(struct opk_trace *trace)
{
	TRY(opk_trace_open(&trace->out, trace->options.gzip));
	for (size_t i = 0; i < trace->file_count; i++)
		TRY(put_file(trace, &trace->files[i]));
	opk_trace_end_events(&trace->out);
	put_other_data(trace);
	trace->counts.events = trace->out.events;
	return opk_trace_close(&trace->out);
}

static int begin(struct opk_trace *trace, struct opk_file *const *files, size_t count)
{
	trace->files = opk_alloc_array(count + 1, sizeof *trace->files);
	if (!trace->files)
		return opk_nomem(trace->ctx, "a trace");
	trace->file_count = count;
	for (size_t i = 0; i < count; i++)
		trace->files[i].file = files[i];
	return opk_kernel_names_new(&trace->names, trace->ctx, trace->options.kernel_names);
}

static void clear(struct opk_trace *trace)
{
	for (size_t i = 0; i < trace->file_count; i++) {
		struct opk_trace_file *file = &trace->files[i];

		opk_evaluation_free(file->evaluation);
		opk_trace_sweep_clear(&file->sweep);
		opk_trace_where_clear(&file->where);
	}
	free(trace->files);
	opk_runs_clear(&trace->recordings);
	opk_trace_out_clear(&trace->out);
	opk_trace_tracks_clear(&trace->tracks);
	opk_trace_flows_clear(&trace->flows);
	opk_kernel_names_free(trace->names);
}

int opk_trace_write(struct opk_trace_counts *counts, struct opk_ctx *ctx,
                    struct opk_file *const *files, size_t count,
                    const struct opk_trace_options *given, const struct opk_sink *sink)
{
	OPK_OPTIONS(opk_trace_options, options, given);
	OPK_OPTIONS(opk_eval_options, eval, options.eval);
	__attribute__((cleanup(clear))) struct opk_trace trace = {
		.ctx = ctx,
		.options = options,
		.eval = eval,
		.out = { .ctx = ctx, .sink = *sink },
		.first = UINT64_MAX,
	};

	TRY(opk_runs_find(&trace.recordings, ctx, files, count));
	TRY(begin(&trace, trace.recordings.files, trace.recordings.count));
	TRY(opk_twice_check(ctx, files, count, OPK_OK));
	TRY(look_at_all(&trace));
	TRY(put_all(&trace));
	if (counts)
		*counts = trace.counts;
	return OPK_OK;
}

static int list_counts(struct opk_listing **out, struct opk_ctx *ctx,
                       const struct opk_trace_counts *of)
{
	struct opk_listing *rows = opk_listing_new(
		"events# samples# values# missing_values# first_samples# "
		"incomplete_samples# kernels# copies# sets# nvtx_ranges# ranges# "
		"records_left_out# ranges_without_times# origin_ns# calls#");

	opk_listing_row(rows, cell_number(of->events), cell_number(of->samples),
	                cell_number(of->values), cell_number(of->missing_values),
	                cell_number(of->first_samples), cell_number(of->incomplete_samples),
	                cell_number(of->kernels), cell_number(of->copies), cell_number(of->sets),
	                cell_number(of->nvtx_ranges), cell_number(of->ranges),
	                cell_number(of->records_left_out), cell_number(of->ranges_without_times),
	                cell_number(of->origin_ns), cell_number(of->calls));
	return opk_listing_finish(out, ctx, rows);
}

int opk_trace_save(struct opk_listing **counts, struct opk_ctx *ctx, struct opk_file *const *files,
                   size_t count, const struct opk_trace_options *options, const char *path)
{
	opk_autonewfile struct opk_newfile file = { 0 };
	opk_auto(opk_listing) struct opk_listing *listed = NULL;
	const struct opk_sink sink = { opk_newfile_write, &file };
	struct opk_trace_counts of;

	TRY(opk_newfile_create(&file, ctx, path, opk_check_output, OPK_OUTPUT_TRACE));
	TRY(opk_trace_write(&of, ctx, files, count, options, &sink));
	TRY(list_counts(&listed, ctx, &of));
	TRY(opk_newfile_commit(&file));
	*counts = opk_take(listed);
	return OPK_OK;
}
