/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the call that launched a kernel: how long that took, and how long the GPU waited. */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "timeline/door.h"
#include "timeline/timeline_inside.h"

static int by_number(const struct opk_activity *x, const struct opk_activity *y)
{
	int order = x->host == y->host ? 0 : strcmp(x->host, y->host);

	if (order)
		return order;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* A call that was made inside another one comes after it. */
static int by_number_and_start(const void *a, const void *b)
{
	const struct opk_activity *x = *(const struct opk_activity *const *)a;
	const struct opk_activity *y = *(const struct opk_activity *const *)b;
	int order = by_number(x, y);

	if (order)
		return order;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

int opk_calls_find(struct opk_calls *calls, struct opk_ctx *ctx,
                   const struct opk_activity *activities, size_t count)
{
	calls->items = opk_alloc_array(count + 1, sizeof *calls->items);
	if (!calls->items)
		return opk_nomem(ctx, "calls");
	for (size_t i = 0; i < count; i++)
		if (activities[i].kind == OPK_ACTIVITY_CALL)
			calls->items[calls->count++] = &activities[i];
	qsort(calls->items, calls->count, sizeof *calls->items, by_number_and_start);
	return OPK_OK;
}

const struct opk_activity *opk_calls_of(const struct opk_calls *calls,
                                        const struct opk_activity *ran)
{
	size_t first = 0, end = calls->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (by_number(calls->items[middle], ran) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == calls->count || by_number(calls->items[first], ran)
	    || calls->items[first]->start_ns > ran->start_ns)
		return NULL;
	return calls->items[first];
}

uint64_t opk_calls_host_gap(const struct opk_activity *call, const struct opk_activity *ran,
                            uint64_t idle_from)
{
	if (ran->start_ns <= idle_from || call->start_ns <= idle_from)
		return 0;
	return call->start_ns - idle_from;
}

void opk_calls_clear(struct opk_calls *calls)
{
	free(calls->items);
	*calls = (struct opk_calls){ 0 };
}

/* ---- rows ------------------------------------------------------------------------------- */

static void add_call(struct opk_ran *ran, const struct opk_activity *call,
                     const struct opk_activity *activity, uint64_t idle_from)
{
	ran->called++;
	opk_sum_add(&ran->latency_ns, activity->start_ns - call->start_ns);
	if (activity->start_ns > idle_from)
		opk_sum_add(&ran->gap_ns, activity->start_ns - idle_from);
	opk_sum_add(&ran->host_gap_ns, opk_calls_host_gap(call, activity, idle_from));
}

/* Names the NVTX ranges in which the program launched it. */
static int add_nvtx(struct opk_ran_rows *rows, struct opk_ctx *ctx, const struct opk_file *file,
                    size_t row, struct opk_nvtx_ranges *ranges, const struct opk_activity *call)
{
	size_t at = opk_nvtx_at(ranges, call);
	const char *path;

	if (at == SIZE_MAX)
		return OPK_OK;
	TRY(opk_nvtx_path(&path, ranges, ctx, file, at));
	/* No more texts than paths are kept. */
	path = opk_texts_keep(&rows->nvtx, path);
	if (rows->nvtx.failed)
		return opk_nomem(ctx, "NVTX ranges");
	rows->made.ranges[row].nvtx = path;
	return OPK_OK;
}

int opk_ran_rows_add_calls(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	__attribute__((cleanup(opk_calls_clear))) struct opk_calls calls = { 0 };
	__attribute__((cleanup(opk_nvtx_clear))) struct opk_nvtx_ranges nvtx = { 0 };
	const struct opk_activity *activities;
	uint64_t idle_from = 0;
	size_t count;

	TRY(opk_file_activities(&activities, &count, ctx, file));
	TRY(opk_calls_find(&calls, ctx, activities, count));
	if (calls.count && rows->each_launch)
		TRY(opk_nvtx_find(&nvtx, ctx, activities, count));
	for (size_t i = 0; calls.count && i < rows->count; i++) {
		const struct opk_run_record *record = &rows->records[i];
		const struct opk_activity *ran = record->activity;
		const struct opk_activity *call = opk_calls_of(&calls, ran);

		/* Nothing is known of the time before a GPU's first record. */
		if (!i || record->gpu != rows->records[i - 1].gpu)
			idle_from = ran->start_ns;
		if (call)
			add_call(&rows->made.ran[record->row], call, ran, idle_from);
		if (call && nvtx.count)
			TRY(add_nvtx(rows, ctx, file, record->row, &nvtx, call));
		idle_from = ran->end_ns > idle_from ? ran->end_ns : idle_from;
	}
	return OPK_OK;
}
