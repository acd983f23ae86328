/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrows from a call of the program to the first work that it launched. */
#include "trace/trace_inside.h"

#include <stdlib.h>

/* The arrow's id: numbers of processes in a trace are small, so that JavaScript can hold it. */
static uint64_t key_of(uint32_t process, const struct opk_activity *activity)
{
	return (uint64_t)process << 32 | activity->correlation;
}

/* In a file, work may come before the call that launched it. */
int opk_trace_flows_note(struct opk_trace_flows *flows, struct opk_ctx *ctx, uint32_t process,
                         const struct opk_activity *activity)
{
	bool call = activity->kind == OPK_ACTIVITY_CALL;
	uint64_t *key;

	if (!activity->correlation || !(call || opk_activity_ran(activity)))
		return OPK_OK;
	key = call ? opk_list_add(&flows->calls) : opk_list_add(&flows->ran);
	if (!key)
		return opk_nomem(ctx, "a trace");
	*key = key_of(process, activity);
	return OPK_OK;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Keeps the calls that launched something, each once. */
int opk_trace_flows_join(struct opk_trace_flows *flows, struct opk_ctx *ctx)
{
	uint64_t *calls = flows->calls.items, *ran = flows->ran.items;
	size_t kept = 0, at = 0;

	if (!flows->calls.count || !flows->ran.count)
		flows->calls.count = flows->ran.count = 0;
	if (!flows->calls.count)
		return OPK_OK;
	qsort(calls, flows->calls.count, sizeof *calls, by_key);
	qsort(ran, flows->ran.count, sizeof *ran, by_key);
	for (size_t i = 0; i < flows->calls.count; i++) {
		while (at < flows->ran.count && ran[at] < calls[i])
			at++;
		if (at < flows->ran.count && ran[at] == calls[i]
		    && (!kept || calls[kept - 1] != calls[i]))
			calls[kept++] = calls[i];
	}
	flows->calls.count = kept;
	free(opk_take(flows->ran.items));
	flows->ran.count = 0;
	flows->drawn = opk_alloc_array(kept + 1, sizeof *flows->drawn);
	return flows->drawn ? OPK_OK : opk_nomem(ctx, "a trace");
}

/* An arrow begins at the outermost call, which comes first, and ends at the first work. */
int opk_trace_put_flow(struct opk_trace *trace, const struct opk_activity *activity)
{
	struct opk_trace_flows *flows = &trace->flows;
	struct opk_trace_out *out = &trace->out;
	bool call = activity->kind == OPK_ACTIVITY_CALL;
	uint32_t process = trace->tracks.process->id;
	uint64_t key = key_of(process, activity), *found = NULL;
	unsigned char *drawn;

	if (flows->calls.count && (call || opk_activity_ran(activity)))
		found = bsearch(&key, flows->calls.items, flows->calls.count, sizeof key, by_key);
	if (!found)
		return OPK_OK;
	drawn = &flows->drawn[found - flows->calls.items];
	if (*drawn != (call ? 0 : 1))
		return OPK_OK;
	++*drawn;
	opk_trace_begin_event(out, call ? "s" : "f", process, trace->tracks.lane);
	opk_trace_put_time(out, "ts", activity->start_ns - out->origin);
	opk_json_add_string(&out->json, "cat", "launch");
	opk_json_add_string(&out->json, "name", "launch");
	opk_json_add_u64(&out->json, "id", key);
	if (!call)
		opk_json_add_string(&out->json, "bp", "e");
	return opk_trace_end_event(out);
}

void opk_trace_flows_clear(struct opk_trace_flows *flows)
{
	free(flows->calls.items);
	free(flows->ran.items);
	free(flows->drawn);
}
