/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges with values, if the recording has their times. */
#include "trace/trace_inside.h"

#include <math.h>
#include <string.h>

#include "eval/door.h"
#include "eval/eval.h"

/* A range's place in the evaluation, and its time. */
struct when {
	struct opk_bookmark mark;
	uint64_t start, end;
};

struct ranging {
	struct opk_trace *trace;
	struct opk_trace_file *file;
	size_t count; /* of columns */
	OPK_LIST(struct when) ranges;
};

bool opk_trace_range_times(uint64_t *start, uint64_t *end, const struct opk_range *range)
{
	if (!range || !range->start_ns)
		return false;
	*start = range->start_ns;
	*end = range->end_ns > *start ? range->end_ns : *start;
	if (*end == *start && __builtin_add_overflow(*start, range->duration_ns, end))
		*end = *start;
	return *end > *start;
}

static int by_start(const void *a, const void *b)
{
	const struct when *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static int find_ranges(struct ranging *r)
{
	struct opk_ctx *ctx = r->trace->ctx;
	const struct opk_row *row;
	int code;

	opk_evaluation_rewind(r->file->evaluation);
	while (!(code = opk_evaluation_next(&row, ctx, r->file->evaluation)) && row) {
		uint64_t start, end;
		struct when *when;

		if (!opk_trace_range_times(&start, &end, row->range))
			continue;
		when = opk_list_add(&r->ranges);
		if (!when)
			return opk_nomem(ctx, "a trace");
		*when = (struct when){ opk_evaluation_mark(r->file->evaluation), start, end };
	}
	if (!code && r->ranges.count)
		qsort(r->ranges.items, r->ranges.count, sizeof *r->ranges.items, by_start);
	return code;
}

/* JSON has no NaN and infinities: they are written as text. */
static void put_arguments(struct ranging *r, const struct opk_row *row)
{
	const double *values = opk_evaluation_values(r->file->evaluation);
	struct opk_json_writer *json = &r->trace->out.json;

	opk_json_key(json, "args");
	opk_json_begin_object(json);
	opk_trace_put_launch(json, row->range);
	opk_json_add_u64(json, "stream", row->range->stream);
	opk_json_add_u64(json, "launch", row->range->launch);
	opk_json_add_string(json, "nvtx", row->range->nvtx);
	for (size_t i = 0; i < r->count; i++) {
		opk_json_key(json, opk_evaluation_column(r->file->evaluation, i));
		if (isfinite(values[i]))
			opk_json_put_double(json, values[i]);
		else
			opk_json_put_string(json, isnan(values[i]) ? "nan"
			                          : values[i] < 0  ? "-inf"
			                                           : "inf");
	}
	opk_json_end_object(json);
}

/* A profiled launch has its kernel's name; its own name is only a number. */
static const char *name_of(struct opk_trace *trace, const struct opk_row *row)
{
	return *row->range->kernel ? opk_kernel_names_get(trace->names, row->range) : row->name;
}

/* Profiled launches have a row per device, since several GPUs are profiled at the same time. */
static struct opk_trace_row_key row_of(const struct opk_trace_file *file,
                                       const struct opk_range *range)
{
	if (!strcmp(file->meta->mode, "user"))
		return (struct opk_trace_row_key){ .kind = OPK_TRACE_RANGES };
	return (struct opk_trace_row_key){ .kind = OPK_TRACE_PROFILED, .device = range->device };
}

static int put_range(struct ranging *r, const struct when *when)
{
	struct opk_trace *trace = r->trace;
	const struct opk_row *row;

	TRY(opk_evaluation_reread(&row, trace->ctx, r->file->evaluation, &when->mark));
	TRY(opk_trace_begin_slice(&trace->out, &trace->tracks,
	                          &(struct opk_trace_slice){
					  .place = opk_trace_place_of(&r->file->place, row->range),
					  .key = row_of(r->file, row->range),
					  .start = when->start,
					  .end = when->end,
					  .category = "range",
					  .name = name_of(trace, row),
				  }));
	put_arguments(r, row);
	trace->counts.ranges++;
	return opk_trace_end_event(&trace->out);
}

static int put_ranges(struct ranging *r)
{
	TRY(find_ranges(r));
	for (size_t i = 0; i < r->ranges.count; i++)
		TRY(put_range(r, &r->ranges.items[i]));
	return OPK_OK;
}

int opk_trace_put_user_ranges(struct opk_trace *trace, struct opk_trace_file *file)
{
	struct ranging r = {
		.trace = trace,
		.file = file,
		.count = opk_evaluation_column_count(file->evaluation),
	};
	int code = put_ranges(&r);

	free(r.ranges.items);
	return code;
}
