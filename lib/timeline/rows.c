/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes rows from records of what ran: one per launch, or one per kernel. */
#include "timeline/timeline_inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

/* ---- records ---------------------------------------------------------------------------- */

static int by_gpu_and_time(const void *a, const void *b)
{
	const struct opk_run_record *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->activity->start_ns != y->activity->start_ns)
		return x->activity->start_ns < y->activity->start_ns ? -1 : 1;
	return x->activity < y->activity ? -1 : x->activity > y->activity;
}

/* Finds each record's GPU and kernel, mostly the same as for the record before. */
static int find_groups(struct opk_ran_rows *rows, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct opk_run_record *record = &rows->records[i];
		const struct opk_range range = opk_activity_range(record->activity);
		size_t gpu, kernel, unit;

		TRY(opk_grouping_add(&gpu, &rows->gpus, ctx, "", &range));
		TRY(opk_grouping_add(&kernel, &rows->kernels, ctx,
		                     opk_activity_word(record->activity), &range));
		TRY(opk_grouping_add(&unit, &rows->units, ctx, opk_activity_word(record->activity),
		                     &range));
		record->gpu = (uint32_t)gpu;
		record->unit = (uint32_t)unit;
		record->kernel = (uint32_t)kernel;
	}
	return OPK_OK;
}

int opk_fail_no_launches(struct opk_ctx *ctx, const struct opk_file *file)
{
	opk_fail(ctx, OPK_EUSAGE, "%s does not say which kernels ran when", file->path);
	return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_TRACE);
}

static int take_records(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, ctx, file));
	rows->records = opk_alloc_array(count + 1, sizeof *rows->records);
	if (!rows->records)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < count; i++)
		if (opk_activity_ran(&activities[i]))
			rows->records[rows->count++].activity = &activities[i];
	if (!rows->count)
		return opk_fail_no_launches(ctx, file);
	TRY(find_groups(rows, ctx));
	qsort(rows->records, rows->count, sizeof *rows->records, by_gpu_and_time);
	return OPK_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void add_time(struct opk_ran *ran, uint64_t time)
{
	ran->least_ns = !ran->launches || time < ran->least_ns ? time : ran->least_ns;
	ran->most_ns = time > ran->most_ns ? time : ran->most_ns;
	ran->launches++;
	opk_sum_add(&ran->time_ns, time);
}

static void add_launch(struct opk_ran *ran, const struct opk_activity *activity)
{
	ran->kind = opk_activity_word(activity);
	if (!ran->launches)
		ran->graph_node = activity->graph_node;
	else if (ran->graph_node != activity->graph_node)
		ran->graph_node = 0;
	opk_sum_add(&ran->bytes, activity->bytes);
	add_time(ran, activity->end_ns - activity->start_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct opk_activity *x = (*(struct opk_run_record *const *)a)->activity;
	const struct opk_activity *y = (*(struct opk_run_record *const *)b)->activity;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Numbers the launches of all GPUs in the order of their starts. */
static int number_launches(struct opk_ran_rows *rows, struct opk_ctx *ctx)
{
	opk_autofree struct opk_run_record **order = opk_alloc_array(rows->count, sizeof *order);

	if (!order)
		return opk_nomem(ctx, "what ran");
	for (size_t i = 0; i < rows->count; i++)
		order[i] = &rows->records[i];
	qsort(order, rows->count, sizeof *order, by_time);
	for (size_t i = 0; i < rows->count; i++) {
		order[i]->row = (uint32_t)i;
		rows->made.ranges[i] = opk_activity_range(order[i]->activity);
	}
	return OPK_OK;
}

static void number_kernels(struct opk_ran_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->records[i].row = rows->records[i].kernel;
	for (size_t i = 0; i < rows->kernels.count; i++) {
		rows->made.ranges[i] = rows->kernels.groups[i].range;
		rows->made.ranges[i].name = rows->made.ranges[i].kernel;
	}
}

void opk_ran_rows_add_pause(struct opk_ran_rows *rows, uint64_t time)
{
	struct opk_ran *idle = &rows->made.ran[rows->made.count];
	struct opk_range *range = &rows->made.ranges[rows->made.count];

	add_time(idle, time);
	range->duration_ns = idle->time_ns;
	range->count = idle->launches > 1 ? idle->launches : 0;
}

/* Adds the last row: pauses between the first and last record of each GPU. */
static void add_idle(struct opk_ran_rows *rows)
{
	struct opk_range *range = &rows->made.ranges[rows->made.count];
	uint64_t end = 0;

	*range = (struct opk_range){ OPK_UNKNOWN_RANGE };
	range->name = range->kernel = "(idle)";
	rows->made.ran[rows->made.count].kind = "idle";
	for (size_t i = 0; i < rows->count; i++) {
		const struct opk_activity *next = rows->records[i].activity;

		if (!i || rows->records[i].gpu != rows->records[i - 1].gpu)
			end = next->start_ns;
		else if (next->start_ns > end)
			opk_ran_rows_add_pause(rows, next->start_ns - end);
		end = next->end_ns > end ? next->end_ns : end;
	}
}

static int make_rows(struct opk_ran_rows *rows, struct opk_ctx *ctx)
{
	size_t count = rows->each_launch ? rows->count : rows->kernels.count;
	struct opk_made_rows *made = &rows->made;

	made->count = count;
	made->ranges = opk_alloc_array(count + 1, sizeof *made->ranges);
	made->ran = opk_alloc_array(count + 1, sizeof *made->ran);
	if (!made->ranges || !made->ran)
		return opk_nomem(ctx, "what ran");
	if (rows->each_launch)
		TRY(number_launches(rows, ctx));
	else
		number_kernels(rows);
	for (size_t i = 0; i < rows->count; i++)
		add_launch(&made->ran[rows->records[i].row], rows->records[i].activity);
	for (size_t i = 0; i < count; i++) {
		made->ranges[i].duration_ns = opk_mean_of(made->ran[i].time_ns,
		                                          made->ran[i].launches);
		/* In a row of several launches, stream 0 means an unknown stream. */
		made->ranges[i].count = made->ran[i].launches > 1 ? made->ran[i].launches : 0;
	}
	add_idle(rows);
	return OPK_OK;
}

/* Finds how long others ran beside each launch of one GPU. */
static int find_shared(struct opk_ran_rows *rows, struct opk_ctx *ctx, size_t gpu)
{
	size_t first, count = opk_ran_rows_of_gpu(&first, rows, gpu);
	const struct opk_run_record *records = rows->records + first;
	opk_autofree struct opk_stretch *stretches = opk_ran_stretches(records, count);
	struct opk_overlaps overlaps;

	TRY(stretches ? opk_overlaps_init(&overlaps, ctx, stretches, count, NULL, 0)
	              : opk_nomem(ctx, "what ran"));
	for (size_t i = 0; i < count; i++)
		rows->made.ran[records[i].row].shared_ns += (uint64_t)overlaps.shared_of[i];
	opk_overlaps_clear(&overlaps);
	return OPK_OK;
}

struct opk_stretch *opk_ran_stretches(const struct opk_run_record *records, size_t count)
{
	struct opk_stretch *stretches = opk_alloc_array(count + 1, sizeof *stretches);

	for (size_t i = 0; stretches && i < count; i++)
		stretches[i] = (struct opk_stretch){
			records[i].activity->start_ns,
			records[i].activity->end_ns,
			records[i].row,
		};
	return stretches;
}

/* What keeps kernels apart besides their names. */
static int find_key(unsigned *key, struct opk_ctx *ctx, const char *by)
{
	static const unsigned known = OPK_KEY_SHAPE | OPK_KEY_SHARED | OPK_KEY_GPU | OPK_KEY_HOST
	                              | OPK_KEY_RANK;

	*key = 0;
	if (!by)
		return OPK_OK;
	TRY(opk_key_parse(key, ctx, by));
	return *key & ~known ? opk_fail(ctx, OPK_EUSAGE,
	                                "'%s': kernels that ran are kept apart by shape, device, "
	                                "host or rank",
	                                by)
	                     : OPK_OK;
}

int opk_ran_rows_init(struct opk_ran_rows *rows, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, bool each_launch, bool values)
{
	const struct opk_stats *stats = NULL;
	unsigned key;

	*rows = (struct opk_ran_rows){
		.gpus = { .key = OPK_KEY_GPU },
		.each_launch = each_launch,
	};
	TRY(find_key(&key, ctx, opk_eval_inside(options)->by));
	rows->kernels.key = OPK_KEY_KERNEL | OPK_KEY_NAME | key;
	rows->units.key = rows->kernels.key | OPK_KEY_SHAPE | OPK_KEY_SHARED;
	/* Without values, launches don't need all records at once. */
	if (each_launch && !values)
		TRY(opk_launches_make(&rows->made, ctx, file));
	if (rows->made.count)
		return OPK_OK;
	TRY(opk_file_stats(&stats, ctx, file));
	rows->whole = opk_file_complete(file) && !(stats && stats->drop_count);
	TRY(take_records(rows, ctx, file));
	TRY(make_rows(rows, ctx));
	for (size_t i = 0; i < rows->gpus.count; i++)
		TRY(find_shared(rows, ctx, i));
	return opk_ran_rows_add_calls(rows, ctx, file);
}

void opk_ran_rows_clear(struct opk_ran_rows *rows)
{
	free(rows->records);
	opk_grouping_clear(&rows->gpus);
	opk_grouping_clear(&rows->kernels);
	opk_grouping_clear(&rows->units);
	opk_made_rows_clear(&rows->made);
	opk_texts_clear(&rows->nvtx);
}

int opk_ran_rows_gpu(size_t *gpu, struct opk_ran_rows *rows, struct opk_ctx *ctx,
                     const struct opk_range *range)
{
	int code = opk_grouping_find(gpu, &rows->gpus, ctx, "", range);

	if (code || *gpu != SIZE_MAX || !rows->whole || !range || range->device < 0)
		return code;
	return opk_grouping_add(gpu, &rows->gpus, ctx, "", range);
}

/* The first record of this GPU or a later one, by which they are sorted. */
static size_t first_of(const struct opk_ran_rows *rows, size_t gpu)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->records[middle].gpu < gpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t opk_ran_rows_of_gpu(size_t *first, const struct opk_ran_rows *rows, size_t gpu)
{
	*first = first_of(rows, gpu);
	return first_of(rows, gpu + 1) - *first;
}
