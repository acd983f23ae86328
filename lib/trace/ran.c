/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernels, copies and sets in rows of streams; NVTX ranges and calls in rows of threads. */
#include "trace/trace_inside.h"

#include <string.h>

static struct opk_trace_row_key row_of(const struct opk_activity *activity)
{
	if (!opk_activity_ran(activity))
		return (struct opk_trace_row_key){
			.kind = activity->kind == OPK_ACTIVITY_CALL ? OPK_TRACE_CALLS
			                                            : OPK_TRACE_NVTX,
			.number = activity->thread,
		};
	return (struct opk_trace_row_key){
		.kind = OPK_TRACE_STREAM,
		.device = activity->device,
		.context = activity->context,
		.number = activity->stream,
	};
}

static void put_arguments(struct opk_json_writer *json, const struct opk_activity *activity)
{
	struct opk_range range = opk_activity_range(activity);

	if (activity->kind != OPK_ACTIVITY_KERNEL)
		range.kernel = "";
	opk_json_key(json, "args");
	opk_json_begin_object(json);
	opk_trace_put_launch(json, &range);
	opk_json_add_u64(json, "static_shared_bytes", activity->static_shared_bytes);
	opk_json_add_u64(json, "bytes", activity->bytes);
	opk_json_add_u64(json, "correlation", activity->correlation);
	opk_json_add_u64(json, "graph_node", activity->graph_node);
	if (activity->external)
		opk_json_add_u64(json, "external", activity->external);
	opk_json_end_object(json);
}

static int put_slice(struct opk_trace *trace, const struct opk_activity *activity, const char *name)
{
	struct opk_trace_out *out = &trace->out;

	TRY(opk_trace_begin_slice(out, &trace->tracks,
	                          &(struct opk_trace_slice){
					  .place = opk_trace_place_of_record(activity),
					  .key = row_of(activity),
					  .start = activity->start_ns,
					  .end = activity->end_ns,
					  .category = opk_activity_word(activity),
					  .name = name,
				  }));
	put_arguments(&out->json, activity);
	TRY(opk_trace_end_event(out));
	return opk_trace_put_flow(trace, activity);
}

static void count(struct opk_trace_counts *counts, enum opk_activity_kind kind)
{
	counts->kernels += kind == OPK_ACTIVITY_KERNEL;
	counts->copies += kind == OPK_ACTIVITY_COPY;
	counts->sets += kind == OPK_ACTIVITY_SET;
	counts->nvtx_ranges += kind == OPK_ACTIVITY_RANGE;
	counts->calls += kind == OPK_ACTIVITY_CALL;
}

int opk_trace_put_ran(struct opk_trace *trace, struct opk_trace_file *file)
{
	const struct opk_activity *activity;

	for (;;) {
		struct opk_range range;
		bool accepted;

		TRY(opk_trace_sweep_next(&activity, trace->ctx, &file->sweep));
		if (!activity)
			return OPK_OK;
		TRY(opk_trace_where_accepts(&accepted, trace->ctx, &file->where, activity));
		if (!accepted)
			continue;
		range = opk_activity_range(activity);
		TRY(put_slice(trace, activity,
		              activity->kind == OPK_ACTIVITY_KERNEL
		                      ? opk_kernel_names_get(trace->names, &range)
		                      : activity->name));
		count(&trace->counts, activity->kind);
	}
}
