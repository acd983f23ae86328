/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PM samples as counters: a value holds from its sample's start until the next one. Viewers draw it
 * until then even if a value or sample is missing, so a slice beside the counter marks such gaps.
 */
#include "trace/trace_inside.h"

#include <math.h>
#include <string.h>

#include "eval/eval.h"

/* A metric of a GPU. */
struct counter {
	char *name;
	struct opk_buf head, middle; /* of its events, around the time */
	char gap[24];                /* the id of its gaps */
	bool missing;                /* the last sample had no value */
};

/* A GPU that was sampled. */
struct source {
	const struct opk_trace_process *process;
	char *host, *gpu;
	int32_t device;
	struct counter *counters;
	char gap[24];
	bool any;             /* it had a sample */
	uint64_t end, length; /* of its last sample */
};

struct counting {
	struct opk_trace *trace;
	struct opk_trace_file *file;
	size_t count; /* of columns */
	OPK_LIST(struct source) sources;
	size_t at; /* the source of the last sample */
};

static void clear(struct counting *c)
{
	for (size_t i = 0; i < c->sources.count; i++) {
		struct source *source = &c->sources.items[i];

		for (size_t k = 0; source->counters && k < c->count; k++) {
			free(source->counters[k].name);
			opk_buf_clear(&source->counters[k].head);
			opk_buf_clear(&source->counters[k].middle);
		}
		free(source->counters);
		free(source->host);
		free(source->gpu);
	}
	free(c->sources.items);
}

/* ---- sources ---------------------------------------------------------------------------- */

/* {"ph":"C","pid":1,"name":"dram__bytes.sum","ts": and ,"args":{"byte": */
static void begin_counter(struct counter *counter, const struct source *source, const char *unit)
{
	struct opk_json_writer json = { &counter->head, false };

	opk_json_begin_object(&json);
	opk_json_key(&json, "ph");
	opk_json_put_string(&json, "C");
	opk_json_add_u64(&json, "pid", source->process->id);
	opk_json_add_string(&json, "name", counter->name);
	opk_json_key(&json, "ts");
	json = (struct opk_json_writer){ &counter->middle, true };
	opk_json_key(&json, "args");
	opk_json_begin_object(&json);
	opk_json_key(&json, *unit && strcmp(unit, "unitless") != 0 ? unit : "value");
}

static int begin_counters(struct counting *c, struct source *source)
{
	const struct opk_evaluation *evaluation = c->file->evaluation;
	bool failed;

	source->counters = opk_alloc_array(c->count + 1, sizeof *source->counters);
	failed = !source->counters;
	for (size_t i = 0; !failed && i < c->count; i++) {
		struct counter *counter = &source->counters[i];
		const char *name = opk_evaluation_column(evaluation, i);

		counter->name = source->process->many_devices
		                        ? opk_printf("GPU %d %s", source->device, name)
		                        : opk_strdup(name);
		snprintf(counter->gap, sizeof counter->gap, "%ju", (uintmax_t)++c->trace->last_gap);
		if (counter->name)
			begin_counter(counter, source, opk_evaluation_column_unit(evaluation, i));
		failed = !counter->name || counter->head.failed || counter->middle.failed;
	}
	return failed ? opk_nomem(c->trace->ctx, "a trace") : OPK_OK;
}

static bool is_source(const struct source *source, const struct opk_trace_place *place)
{
	return source->device == place->device && !strcmp(source->gpu, place->gpu)
	       && !strcmp(source->host, place->host);
}

static int add_source(struct counting *c, const struct opk_trace_place *place)
{
	struct opk_trace_process *process = opk_trace_process_of_gpu(&c->trace->tracks, place);
	struct source *source = process ? opk_list_add(&c->sources) : NULL;

	if (!source)
		return opk_nomem(c->trace->ctx, "a trace");
	c->at = c->sources.count - 1;
	source->process = process;
	source->device = place->device;
	source->host = opk_strdup(place->host);
	source->gpu = opk_strdup(place->gpu);
	snprintf(source->gap, sizeof source->gap, "%ju", (uintmax_t)++c->trace->last_gap);
	if (!source->host || !source->gpu)
		return opk_nomem(c->trace->ctx, "a trace");
	TRY(opk_trace_name_process(&c->trace->out, process));
	return begin_counters(c, source);
}

static int find_source(struct counting *c, const struct opk_row *row)
{
	struct opk_trace_place place = opk_trace_place_of(&c->file->place, row->range);

	if (c->at < c->sources.count && is_source(&c->sources.items[c->at], &place))
		return OPK_OK;
	for (c->at = 0; c->at < c->sources.count; c->at++)
		if (is_source(&c->sources.items[c->at], &place))
			return OPK_OK;
	return add_source(c, &place);
}

/* ---- gaps ------------------------------------------------------------------------------- */

struct gap {
	const char *id;
	const char *what, *of; /* its name */
};

/* Writes the begin "b" or end "e" of a slice beside the rows. */
static int put_gap(struct opk_trace *trace, const struct source *source, const struct gap *gap,
                   const char *phase, uint64_t time)
{
	struct opk_trace_out *out = &trace->out;
	opk_autofree char *name = opk_printf("%s%s", gap->what, gap->of);

	if (!name)
		return opk_nomem(trace->ctx, "a trace");
	opk_trace_begin_event(out, phase, source->process->id, 0);
	opk_trace_put_time(out, "ts", time - out->origin);
	opk_json_add_string(&out->json, "cat", "gap");
	opk_json_add_string(&out->json, "id", gap->id);
	opk_json_add_string(&out->json, "name", name);
	return opk_trace_end_event(out);
}

static int put_missing(struct opk_trace *trace, const struct source *source,
                       struct counter *counter, bool missing, uint64_t time)
{
	if (counter->missing == missing)
		return OPK_OK;
	counter->missing = missing;
	return put_gap(trace, source, &(struct gap){ counter->gap, "no value: ", counter->name },
	               missing ? "b" : "e", time);
}

/* Marks a time without samples: sampling stood still, or --where left samples out. */
static int put_pause(struct opk_trace *trace, const struct source *source, uint64_t until)
{
	char device[24] = "";
	const struct gap gap = { source->gap, "no samples", device };

	if (source->process->many_devices)
		snprintf(device, sizeof device, ": GPU %d", source->device);
	TRY(put_gap(trace, source, &gap, "b", source->end));
	return put_gap(trace, source, &gap, "e", until);
}

/* ---- values ----------------------------------------------------------------------------- */

static int put_value(struct opk_trace *trace, const struct source *source, struct counter *counter,
                     double value, uint64_t start)
{
	struct opk_trace_out *out = &trace->out;

	trace->counts.missing_values += !isfinite(value);
	TRY(put_missing(trace, source, counter, !isfinite(value), start));
	if (!isfinite(value))
		return OPK_OK;
	opk_trace_next_event(out);
	opk_buf_add(&out->text, counter->head.data, counter->head.size);
	opk_trace_add_time(&out->text, start - out->origin);
	opk_buf_add(&out->text, counter->middle.data, counter->middle.size);
	opk_buf_add_double(&out->text, value);
	opk_buf_add(&out->text, "}}", 2);
	trace->counts.values++;
	return opk_trace_flush(out);
}

static int put_sample(struct counting *c, const struct opk_row *row)
{
	const double *values = opk_evaluation_values(c->file->evaluation);
	struct opk_trace *trace = c->trace;
	struct source *source;

	TRY(find_source(c, row));
	source = &c->sources.items[c->at];
	if (source->any && row->start_ns > source->end
	    && row->start_ns - source->end > source->length)
		TRY(put_pause(trace, source, row->start_ns));
	for (size_t i = 0; i < c->count; i++)
		TRY(put_value(trace, source, &source->counters[i], values[i], row->start_ns));
	source->any = true;
	source->end = row->end_ns > source->end ? row->end_ns : source->end;
	source->length = row->end_ns - row->start_ns;
	trace->counts.samples++;
	return OPK_OK;
}

/* Ends open gaps, and marks the time after the last sample if other events follow. */
static int end_source(struct counting *c, struct source *source)
{
	struct opk_trace *trace = c->trace;

	for (size_t i = 0; i < c->count; i++)
		TRY(put_missing(trace, source, &source->counters[i], false, source->end));
	if (trace->last > source->end && trace->last - source->end > source->length)
		TRY(put_pause(trace, source, trace->last));
	return OPK_OK;
}

static int put_samples(struct counting *c)
{
	struct opk_trace *trace = c->trace;
	const struct opk_row *row;

	opk_evaluation_rewind(c->file->evaluation);
	for (;;) {
		TRY(opk_evaluation_next(&row, trace->ctx, c->file->evaluation));
		if (!row)
			break;
		opk_progress(trace->ctx, OPK_PHASE_TRACE, ++trace->row, trace->row_count);
		trace->counts.first_samples += row->spans_earlier;
		if (!row->spans_earlier)
			TRY(put_sample(c, row));
	}
	for (size_t i = 0; i < c->sources.count; i++)
		TRY(end_source(c, &c->sources.items[i]));
	return OPK_OK;
}

int opk_trace_put_samples(struct opk_trace *trace, struct opk_trace_file *file)
{
	__attribute__((cleanup(clear))) struct counting c = {
		.trace = trace,
		.file = file,
		.count = opk_evaluation_column_count(file->evaluation),
	};

	return put_samples(&c);
}
