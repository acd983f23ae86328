/* SPDX-License-Identifier: BSD-2-Clause */
/* Where events are drawn: processes, and rows of slices in them. */
#include "trace/trace_inside.h"

#include <inttypes.h>
#include <string.h>

/* Separates the texts of a key, which may have any other character. */
#define SEPARATOR "\x1f"

/* The sort index of processes without a rank, which come after all ranks. */
enum { AFTER_RANKS = 1000000 };

/* More than a GPU runs at once, and than a viewer can show. */
enum { MAX_LANES = 4096 };

static void free_process(struct opk_trace_process *process)
{
	if (!process)
		return;
	free(process->key);
	free(process->name);
	free(process->host);
	free(process);
}

void opk_trace_tracks_clear(struct opk_trace_tracks *tracks)
{
	for (size_t i = 0; i < tracks->processes.count; i++)
		free_process(tracks->processes.items[i]);
	for (size_t i = 0; i < tracks->rows.count; i++) {
		struct opk_trace_row *row = tracks->rows.items[i];

		for (size_t k = 0; k < row->lanes.count; k++)
			free(row->lanes.items[k].ends);
		free(row->lanes.items);
		free(row->text);
		free(row);
	}
	for (size_t i = 0; i < tracks->gpus.count; i++)
		free(tracks->gpus.items[i].key);
	free(tracks->processes.items);
	free(tracks->rows.items);
	free(tracks->gpus.items);
	opk_index_clear(&tracks->process_numbers);
	opk_index_clear(&tracks->row_numbers);
	opk_index_clear(&tracks->gpu_numbers);
}

/* ---- places ------------------------------------------------------------------------------ */

struct opk_trace_place opk_trace_place_of(const struct opk_trace_place *run,
                                          const struct opk_range *range)
{
	struct opk_trace_place place = *run;

	if (!range)
		return place;
	place.device = range->device >= 0 ? range->device : 0;
	/* A merged recording has ranges of hosts other than the run's. */
	if (range->host && *range->host)
		place.host = range->host;
	if (range->gpu)
		place.gpu = range->gpu;
	if (range->rank >= 0)
		place.rank = range->rank;
	if (range->process)
		place.process = range->process;
	return place;
}

struct opk_trace_place opk_trace_place_of_record(const struct opk_activity *activity)
{
	return (struct opk_trace_place){
		.host = activity->host,
		.gpu = activity->gpu,
		.device = activity->device,
		.rank = activity->rank,
		.process = activity->process,
	};
}

struct opk_trace_place opk_trace_place_of_run(const struct opk_meta *meta)
{
	return (struct opk_trace_place){
		.host = opk_meta_host(meta),
		.gpu = opk_meta_gpu(meta, 0),
		.rank = opk_meta_rank(meta),
		.process = (uint32_t)strtoul(opk_meta_fact(meta, "process"), NULL, 10),
	};
}

/* ---- processes -------------------------------------------------------------------------- */

/* Takes over key and name. NULL when out of memory. */
static struct opk_trace_process *add_process(struct opk_trace_tracks *tracks, char *key, char *name,
                                             const struct opk_trace_place *place)
{
	struct opk_trace_process *process = opk_alloc(sizeof *process);
	struct opk_trace_process **slot = process ? opk_list_add(&tracks->processes) : NULL;

	if (!slot) {
		free(key);
		free(name);
		free(process);
		return NULL;
	}
	*slot = process;
	*process = (struct opk_trace_process){
		.key = key,
		.name = name,
		.host = opk_strdup(place->host),
		.rank = place->rank,
		.process = place->process,
		.id = ++tracks->last_id,
	};
	return key && name && process->host
	                       && opk_index_add(&tracks->process_numbers, key,
	                                        tracks->processes.count - 1, NULL)
	               ? process
	               : NULL;
}

static struct opk_trace_process *find_process(const struct opk_trace_tracks *tracks,
                                              const char *key)
{
	size_t found;

	return key && opk_index_find(&found, &tracks->process_numbers, key)
	               ? tracks->processes.items[found]
	               : NULL;
}

static char *name_process(const struct opk_trace_place *place)
{
	const char *on = *place->host ? " on " : "";
	char rank[24] = "", process[24] = "";

	if (place->rank >= 0)
		snprintf(rank, sizeof rank, "rank %d", place->rank);
	if (place->process)
		snprintf(process, sizeof process, "%sprocess %u", *rank ? ", " : "",
		         place->process);
	return opk_printf("%s%s%s%s", *rank || *process ? rank : "a process", process, on,
	                  place->host);
}

struct opk_trace_process *opk_trace_process_of(struct opk_trace_tracks *tracks,
                                               const struct opk_trace_place *place)
{
	struct opk_trace_process *last = tracks->process;
	opk_autofree char *key = NULL;

	if (last && last->rank == place->rank && last->process == place->process
	    && !strcmp(last->host, place->host))
		return last;
	key = opk_printf("%d" SEPARATOR "%u" SEPARATOR "%s", place->rank, place->process,
	                 place->host);
	last = find_process(tracks, key);
	if (!last)
		last = add_process(tracks, opk_take(key), name_process(place), place);
	tracks->process = last;
	return last;
}

static char *gpu_key(const struct opk_trace_place *place)
{
	return *place->gpu
	               ? opk_printf("gpu" SEPARATOR "%s" SEPARATOR "%s", place->host, place->gpu)
	               : opk_printf("device" SEPARATOR "%s" SEPARATOR "%d", place->host,
	                            place->device);
}

int opk_trace_note_gpu(struct opk_trace_tracks *tracks, struct opk_ctx *ctx,
                       const struct opk_trace_place *place)
{
	struct opk_trace_process *process = opk_trace_process_of(tracks, place);
	opk_autofree char *key = gpu_key(place);
	struct opk_trace_gpu *gpu;
	size_t known;

	if (!process || !key)
		return opk_nomem(ctx, "a trace");
	if (opk_index_find(&known, &tracks->gpu_numbers, key)) {
		gpu = &tracks->gpus.items[known];
		if (gpu->owner != process)
			gpu->owner = NULL;
		return OPK_OK;
	}
	gpu = opk_list_add(&tracks->gpus);
	if (!gpu)
		return opk_nomem(ctx, "a trace");
	*gpu = (struct opk_trace_gpu){ opk_take(key), process };
	if (!opk_index_add(&tracks->gpu_numbers, gpu->key, tracks->gpus.count - 1, NULL))
		return opk_nomem(ctx, "a trace");
	return OPK_OK;
}

static char *name_gpu(const struct opk_trace_place *place)
{
	opk_autofree char *gpu = *place->gpu ? opk_printf(" (%s)", place->gpu) : opk_strdup("");

	return gpu ? opk_printf("GPU %d%s%s%s", place->device, gpu, *place->host ? " on " : "",
	                        place->host)
	           : NULL;
}

struct opk_trace_process *opk_trace_process_of_gpu(struct opk_trace_tracks *tracks,
                                                   const struct opk_trace_place *place)
{
	struct opk_trace_place nobody = *place;
	opk_autofree char *key = gpu_key(place);
	struct opk_trace_process *process;
	size_t known;

	if (key && opk_index_find(&known, &tracks->gpu_numbers, key)
	    && tracks->gpus.items[known].owner)
		return tracks->gpus.items[known].owner;
	if (place->process || place->rank >= 0)
		return opk_trace_process_of(tracks, place);
	process = find_process(tracks, key);
	nobody.rank = -1;
	return process ? process : add_process(tracks, opk_take(key), name_gpu(place), &nobody);
}

static int put_metadata(struct opk_trace_out *out, const char *what, uint32_t process,
                        uint32_t thread, const char *name, uint64_t sort)
{
	opk_trace_begin_event(out, "M", process, thread);
	opk_json_add_string(&out->json, "name", what);
	opk_json_key(&out->json, "args");
	opk_json_begin_object(&out->json);
	if (name) {
		opk_json_add_string(&out->json, "name", name);
	} else {
		opk_json_key(&out->json, "sort_index");
		opk_json_put_u64(&out->json, sort);
	}
	opk_json_end_object(&out->json);
	return opk_trace_end_event(out);
}

int opk_trace_name_process(struct opk_trace_out *out, struct opk_trace_process *process)
{
	uint64_t sort = process->rank >= 0 ? (uint64_t)process->rank
	                                   : (uint64_t)AFTER_RANKS + process->id;

	if (process->named)
		return OPK_OK;
	process->named = true;
	TRY(put_metadata(out, "process_name", process->id, 0, process->name, 0));
	return put_metadata(out, "process_sort_index", process->id, 0, NULL, sort);
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool is_key(const struct opk_trace_row_key *a, const struct opk_trace_row_key *b)
{
	return a->kind == b->kind && a->device == b->device && a->context == b->context
	       && a->number == b->number;
}

static struct opk_trace_row *add_row(struct opk_trace_tracks *tracks, char *text,
                                     const struct opk_trace_process *process,
                                     const struct opk_trace_row_key *key)
{
	struct opk_trace_row **slot = opk_list_add(&tracks->rows);
	struct opk_trace_row *row = slot ? opk_alloc(sizeof *row) : NULL;

	if (!row) {
		tracks->rows.count -= slot != NULL;
		free(text);
		return NULL;
	}
	*row = (struct opk_trace_row){ .text = text, .key = *key, .process = process };
	*slot = row;
	return text && opk_index_add(&tracks->row_numbers, text, tracks->rows.count - 1, NULL)
	               ? row
	               : NULL;
}

static struct opk_trace_row *row_of(struct opk_trace_tracks *tracks,
                                    const struct opk_trace_process *process,
                                    const struct opk_trace_row_key *key)
{
	struct opk_trace_row *row = tracks->row;
	opk_autofree char *text = NULL;
	size_t known;

	if (row && row->process == process && is_key(&row->key, key))
		return row;
	text = opk_printf("%u %d %d %u %" PRIu64, process->id, key->kind, key->device, key->context,
	                  key->number);
	tracks->row = text && opk_index_find(&known, &tracks->row_numbers, text)
	                      ? tracks->rows.items[known]
	                      : add_row(tracks, opk_take(text), process, key);
	return tracks->row;
}

static char *name_row(const struct opk_trace_row_key *key)
{
	char context[24] = "";

	if (key->context > 1)
		snprintf(context, sizeof context, ", context %u", key->context);
	if (key->kind == OPK_TRACE_RANGES)
		return opk_strdup("ranges");
	if (key->kind == OPK_TRACE_PROFILED && key->device >= 0)
		return opk_printf("GPU %d: launches, with all that profiling them took",
		                  key->device);
	if (key->kind == OPK_TRACE_PROFILED)
		return opk_strdup("launches, with all that profiling them took");
	if (key->kind == OPK_TRACE_STREAM && key->device >= 0)
		return opk_printf("GPU %d, stream %" PRIu64 "%s", key->device, key->number,
		                  context);
	if (key->kind == OPK_TRACE_STREAM)
		return opk_printf("stream %" PRIu64 "%s", key->number, context);
	if (key->kind == OPK_TRACE_CALLS)
		return opk_printf("calls, thread %" PRIu64, key->number);
	return key->number ? opk_printf("NVTX, thread %" PRIu64, key->number)
	                   : opk_strdup("NVTX, whole process");
}

static int name_lane(struct opk_trace_out *out, const struct opk_trace_row *row, uint32_t id)
{
	opk_autofree char *first = name_row(&row->key), *other = NULL;
	const char *name = first;

	if (first && row->lanes.count > 1)
		name = other = opk_printf("%s (%zu)", first, row->lanes.count);
	if (!name)
		return opk_nomem(out->ctx, "a trace");
	TRY(put_metadata(out, "thread_name", row->process->id, id, name, 0));
	/* Lane ids are in the order of first slices. */
	return put_metadata(out, "thread_sort_index", row->process->id, id, NULL,
	                    (uint64_t)AFTER_RANKS * row->key.kind + id);
}

/* Closes slices that have ended; returns whether the lane has room for a slice of this row. */
static bool has_room(struct opk_trace_lane *lane, enum opk_trace_row_kind kind, uint64_t start,
                     uint64_t end)
{
	while (lane->depth && lane->ends[lane->depth - 1] <= start)
		lane->depth--;
	return !lane->depth || (kind != OPK_TRACE_STREAM && end <= lane->ends[lane->depth - 1]);
}

static bool take_room(struct opk_trace_lane *lane, uint64_t end)
{
	uint64_t *slot = opk_append(&lane->ends, &lane->capacity, &lane->depth, sizeof *slot);

	if (slot)
		*slot = end;
	return slot != NULL;
}

static int fail_crowded(struct opk_trace_out *out, const struct opk_trace_row *row, uint64_t start)
{
	opk_autofree char *name = name_row(&row->key);

	return opk_fail(out->ctx, OPK_EFAILED,
	                "%s: %s: more than %d slices at the same time, at start_ns %" PRIu64
	                "; leave some out by conditions",
	                row->process->name, name ? name : "", MAX_LANES, start);
}

static int find_lane(uint32_t *id, struct opk_trace_tracks *tracks, struct opk_trace_out *out,
                     const struct opk_trace_process *process, const struct opk_trace_slice *slice)
{
	struct opk_trace_row *row = row_of(tracks, process, &slice->key);
	struct opk_trace_lane *lane = NULL;

	for (size_t i = 0; row && !lane && i < row->lanes.count; i++)
		if (has_room(&row->lanes.items[i], slice->key.kind, slice->start, slice->end))
			lane = &row->lanes.items[i];
	if (row && !lane) {
		if (row->lanes.count == MAX_LANES)
			return fail_crowded(out, row, slice->start);
		lane = opk_list_add(&row->lanes);
		if (lane) {
			lane->id = ++tracks->last_id;
			TRY(name_lane(out, row, lane->id));
		}
	}
	if (!lane || !take_room(lane, slice->end))
		return opk_nomem(out->ctx, "a trace");
	*id = lane->id;
	return OPK_OK;
}

int opk_trace_begin_slice(struct opk_trace_out *out, struct opk_trace_tracks *tracks,
                          const struct opk_trace_slice *slice)
{
	struct opk_trace_process *process = opk_trace_process_of(tracks, &slice->place);
	uint32_t lane = 0;

	if (!process)
		return opk_nomem(out->ctx, "a trace");
	TRY(opk_trace_name_process(out, process));
	TRY(find_lane(&lane, tracks, out, process, slice));
	tracks->lane = lane;
	opk_trace_begin_event(out, "X", process->id, lane);
	opk_trace_put_time(out, "ts", slice->start - out->origin);
	opk_trace_put_time(out, "dur", slice->end - slice->start);
	opk_json_add_string(&out->json, "cat", slice->category);
	opk_json_key(&out->json, "name");
	opk_json_put_string(&out->json, slice->name);
	return OPK_OK;
}
