/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the values of a recording's rows, so that they can be read without its images. */
#include <math.h>
#include <string.h>

#include "baked/baked.h"
#include "eval/eval_inside.h"

struct remark_column {
	size_t metric, kind;
	char *part;
	uint64_t *entries;
};

struct baking {
	struct opk_ctx *ctx;
	struct opk_value_sink *sink;
	size_t named; /* metrics of the evaluation; later ones only help to store these */
	struct opk_eval_task task;
	struct opk_value_table table;
	uint64_t room; /* rows of the table */
	uint64_t **columns;
	uint64_t *starts, *ends, *spans, *names;
	OPK_LIST(struct remark_column) remarks;
	double *values;
	struct opk_baked_image *images;
	size_t image_count;
};

static void clear(struct baking *b)
{
	for (size_t i = 0; i < b->remarks.count; i++)
		free(b->remarks.items[i].part);
	free(b->remarks.items);
	free(b->columns);
	free(b->values);
	free(b->images);
	opk_value_table_clear(&b->table);
	opk_eval_task_clear(&b->task);
}

/* ---- a table --------------------------------------------------------------------------------- */

static int add_metric(struct baking *b, size_t i)
{
	const struct opk_evaluation *evaluation = b->task.evaluation;
	bool named = i < b->named;

	b->columns[i] = NULL;
	if (opk_attribute_is_name(evaluation->metrics.items[i]))
		return OPK_OK;
	return opk_value_table_add(&b->columns[i], &b->table, b->ctx,
	                           named ? OPK_VALUE_METRIC : OPK_VALUE_HELP,
	                           named ? evaluation->metrics.items[i] : NULL,
	                           named ? evaluation->units.items[i] : NULL);
}

static int add_metrics(struct baking *b)
{
	for (size_t i = 0; i < b->task.evaluation->metrics.count; i++)
		TRY(add_metric(b, i));
	return OPK_OK;
}

static int add_columns(struct baking *b)
{
	struct opk_value_table *table = &b->table;

	TRY(add_metrics(b));
	TRY(opk_value_table_add(&b->starts, table, b->ctx, OPK_VALUE_START, NULL, NULL));
	TRY(opk_value_table_add(&b->ends, table, b->ctx, OPK_VALUE_END, NULL, NULL));
	TRY(opk_value_table_add(&b->spans, table, b->ctx, OPK_VALUE_SPANS, NULL, NULL));
	return opk_value_table_add(&b->names, table, b->ctx, OPK_VALUE_NAME, NULL, NULL);
}

static int begin_table(struct baking *b, uint64_t first)
{
	uint64_t left = b->task.evaluation->spools.total_rows - first;

	b->room = OPK_VALUES_AT_ONCE / (b->task.evaluation->metrics.count + 4) + 1;
	b->room = b->room < left ? b->room : left;
	b->table = (struct opk_value_table){ .kind = OPK_VALUES_OF_ROWS,
		                             .first = first,
		                             .count = b->room };
	return add_columns(b);
}

static bool is_empty(const struct opk_value_column *column, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (column->entries[i])
			return false;
	return true;
}

/* What images do not say, or tables say, needs no column. */
static void drop_empty(struct opk_value_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		struct opk_value_column *column = &table->columns[i];

		if (column->role > OPK_VALUE_METRIC && column->role <= OPK_VALUE_NAME
		    && is_empty(column, table->count))
			free(column->entries);
		else
			table->columns[kept++] = *column;
	}
	table->column_count = kept;
}

static int end_table(struct baking *b)
{
	int code;

	drop_empty(&b->table);
	code = opk_sink_add(b->sink, b->ctx, &b->table);
	opk_value_table_clear(&b->table);
	for (size_t i = 0; i < b->remarks.count; i++)
		free(b->remarks.items[i].part);
	b->remarks.count = 0;
	return code;
}

/* ---- remarks --------------------------------------------------------------------------------- */

static int add_remark_column(struct remark_column **out, struct baking *b,
                             const struct opk_remark *remark)
{
	struct remark_column *column = *out = opk_list_add(&b->remarks);

	if (!column)
		return opk_nomem(b->ctx, "remarks");
	*column = (struct remark_column){ .metric = remark->metric,
		                          .kind = remark->kind,
		                          .part = opk_strdup(remark->part) };
	if (!column->part)
		return opk_nomem(b->ctx, "remarks");
	TRY(opk_value_table_add(&column->entries, &b->table, b->ctx,
	                        OPK_VALUE_REMARK + (uint32_t)remark->kind,
	                        b->task.evaluation->metrics.items[remark->metric], remark->part));
	for (uint64_t i = 0; i < b->table.count; i++)
		column->entries[i] = opk_bits_of((double)NAN);
	return OPK_OK;
}

/* Only a missing part has a value; the others are marked with 1. */
static int take_remark(struct baking *b, const struct opk_remark *remark, uint64_t entry)
{
	struct remark_column *column = NULL;

	for (size_t i = 0; !column && i < b->remarks.count; i++)
		if (b->remarks.items[i].metric == remark->metric
		    && b->remarks.items[i].kind == remark->kind
		    && !strcmp(b->remarks.items[i].part, remark->part))
			column = &b->remarks.items[i];
	if (!column)
		TRY(add_remark_column(&column, b, remark));
	column->entries[entry] = opk_bits_of(remark->kind == OPK_PART_LACKS ? remark->most : 1);
	return OPK_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Times and names that the segment's tables do not have. */
static int take_facts(struct baking *b, const struct opk_spooled *read, uint64_t entry)
{
	const struct opk_segment *segment = &b->task.job.segments[read->row.segment];
	const struct opk_range *range = segment->ranges ? &segment->ranges[read->row.row] : NULL;
	bool timed = segment->times || (range && range->start_ns);

	b->starts[entry] = timed ? 0 : read->row.start_ns;
	b->ends[entry] = timed ? 0 : read->row.end_ns;
	b->spans[entry] = read->row.spans_earlier;
	if (!*read->name || (range && *range->name))
		return OPK_OK;
	if (!opk_strlist_add(&b->table.texts, read->name))
		return opk_nomem(b->ctx, "names of ranges");
	b->names[entry] = b->table.texts.count;
	return OPK_OK;
}

static void take_values(struct baking *b, uint64_t entry)
{
	for (size_t i = 0; i < b->task.evaluation->metrics.count; i++)
		if (b->columns[i])
			b->columns[i][entry] = opk_bits_of(b->values[i]);
}

static int take_row(struct baking *b, const struct opk_spooled *read)
{
	struct opk_spools *spools = &b->task.evaluation->spools;
	uint64_t entry;

	if (read->row.segment >= b->image_count)
		return opk_fail(b->ctx, OPK_EINPUT, "the evaluation's result is damaged");
	if (!b->table.columns)
		TRY(begin_table(b, read->at.number));
	entry = read->at.number - b->table.first;
	if (entry >= b->table.count || read->row.dropped)
		return opk_fail(b->ctx, OPK_EINPUT, "the evaluation's result is damaged");
	b->images[read->row.segment].rows++;
	take_values(b, entry);
	TRY(take_facts(b, read, entry));
	for (size_t i = 0; i < spools->of_row.count; i++)
		TRY(take_remark(b, &spools->of_row.items[i], entry));
	return entry + 1 == b->table.count ? end_table(b) : OPK_OK;
}

static int take_rows(struct baking *b)
{
	struct opk_spools *spools = &b->task.evaluation->spools;
	struct opk_spooled read;

	/* A table without rows has the units. */
	if (opk_spools_ended(spools)) {
		TRY(begin_table(b, 0));
		return end_table(b);
	}
	while (!opk_spools_ended(spools)) {
		TRY(opk_check_interrupt(b->ctx));
		TRY(opk_spools_next(&read, b->values, b->ctx, spools));
		TRY(take_row(b, &read));
	}
	return OPK_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int evaluate(struct baking *b, struct opk_file *file, const struct opk_strlist *metrics,
                    const char *join)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_eval_inside inside = { .from_images = true, .join = join };
	struct opk_eval_task *task = &b->task;
	size_t count;

	options.metrics = opk_strlist_items(metrics);
	options.metric_count = metrics->count;
	options.inside = &inside;
	TRY(opk_eval_task_begin(task, b->ctx, file, &options));
	task->job.apart = true;
	TRY(opk_evaluation_blame(b->ctx, file,
	                         opk_eval_run(&task->evaluation->spools, b->ctx, &task->job,
	                                      &options)));
	task->evaluation->spools.apart = true;
	TRY(opk_evaluation_blame(b->ctx, file, opk_evaluation_finish(task->evaluation, b->ctx)));
	count = task->evaluation->metrics.count;
	b->columns = opk_alloc_array(count + 1, sizeof *b->columns);
	b->values = opk_alloc_array(count + 1, sizeof *b->values);
	return b->columns && b->values ? OPK_OK : opk_nomem(b->ctx, "values");
}

/* For recordings whose rows are means of ranges. */
static int add_joined(struct baking *b, const struct opk_value_groups *groups)
{
	struct opk_spools *spools = &b->task.evaluation->spools;
	struct opk_spooled read;

	TRY(opk_value_groups_begin(&b->table, b->ctx, groups));
	TRY(add_metrics(b));
	while (!opk_spools_ended(spools)) {
		TRY(opk_spools_next(&read, b->values, b->ctx, spools));
		if (read.row.row >= groups->group_count)
			return opk_fail(b->ctx, OPK_EINPUT, "the evaluation's result is damaged");
		take_values(b, read.row.row);
		for (size_t i = 0; i < spools->of_row.count; i++)
			TRY(take_remark(b, &spools->of_row.items[i], read.row.row));
	}
	return end_table(b);
}

/* Hands over how the values were made. */
static void take_how(struct opk_baked *baked, struct baking *b)
{
	const struct opk_spools *spools = &b->task.evaluation->spools;

	baked->cupti_version = spools->header.versions.cupti;
	baked->nvperf_year = spools->header.versions.nvperf_year;
	baked->nvperf_number = spools->header.versions.nvperf_number;
	/* It is not known which image has them. */
	if (b->image_count)
		b->images[0].incomplete = spools->incomplete_samples;
	baked->image_count = b->image_count;
	baked->images = opk_take(b->images);
}

int opk_bake_rows(struct opk_baked *baked, struct opk_ctx *ctx, struct opk_value_sink *sink,
                  struct opk_file *file, const struct opk_strlist *metrics, size_t named)
{
	__attribute__((cleanup(clear))) struct baking b = { .ctx = ctx, .sink = sink };

	TRY(evaluate(&b, file, metrics, NULL));
	b.named = named;
	b.image_count = b.task.job.end;
	b.images = opk_alloc_array(b.image_count + 1, sizeof *b.images);
	if (!b.images)
		return opk_nomem(ctx, "values");
	TRY(take_rows(&b));
	take_how(baked, &b);
	return OPK_OK;
}

int opk_bake_joined(struct opk_ctx *ctx, struct opk_value_sink *sink, struct opk_file *file,
                    const struct opk_strlist *metrics)
{
	__attribute__((cleanup(clear))) struct baking b = { .ctx = ctx, .sink = sink };
	struct opk_value_groups groups;

	TRY(evaluate(&b, file, metrics, ""));
	b.named = metrics->count;
	groups = opk_joining_groups(b.task.evaluation->joining, &b.task.job);
	return add_joined(&b, &groups);
}
