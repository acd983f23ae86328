/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of metrics as a stream. Its batches are made at once: it needs the list no more. */
#include <errno.h>

#include "arrow/arrow_inside.h"
#include "plan/door.h"

enum { METRIC, TYPE, HW_UNIT, DIM_UNIT, DESCRIPTION, SCOPE, PASSES, METHOD, STATUS, COLUMNS };

static const struct opk_table_column columns[COLUMNS] = {
	[METRIC] = { .header = { "metric", OPK_CELL_STRING } },
	[TYPE] = { .header = { "type", OPK_CELL_STRING } },
	[HW_UNIT] = { .header = { "hw_unit", OPK_CELL_STRING } },
	[DIM_UNIT] = { .header = { "dim_unit", OPK_CELL_STRING } },
	[DESCRIPTION] = { .header = { "description", OPK_CELL_STRING } },
	[SCOPE] = { .header = { "scope", OPK_CELL_STRING } },
	/* If passes were counted. */
	[PASSES] = { .header = { "passes", OPK_CELL_UINT } },
	[METHOD] = { .header = { "method", OPK_CELL_STRING } },
	[STATUS] = { .header = { "status", OPK_CELL_STRING } },
};

struct stream {
	char *chip;
	size_t column_count;
	struct ArrowArray *batches;
	size_t count, capacity;
	size_t next;
	bool failed; /* out of memory */
};

static void free_stream(struct stream *stream)
{
	for (size_t i = stream->next; i < stream->count; i++)
		stream->batches[i].release(&stream->batches[i]);
	free(stream->batches);
	free(stream->chip);
	free(stream);
}

/* ---- what it gives */

static void release(struct ArrowArrayStream *out)
{
	free_stream(out->private_data);
	*out = (struct ArrowArrayStream){ 0 };
}

static const char *get_last_error(struct ArrowArrayStream *out)
{
	return ((const struct stream *)out->private_data)->failed ? "out of memory" : NULL;
}

static int get_schema(struct ArrowArrayStream *out, struct ArrowSchema *schema)
{
	struct stream *stream = out->private_data;
	const struct opk_property about[] = { { "chip", stream->chip } };

	stream->failed = !opk_arrow_schema(schema, columns, stream->column_count, about, 1);
	return stream->failed ? ENOMEM : 0;
}

/* The end is a released array. */
static int get_next(struct ArrowArrayStream *out, struct ArrowArray *array)
{
	struct stream *stream = out->private_data;

	*array = (struct ArrowArray){ 0 };
	if (stream->next < stream->count)
		*array = stream->batches[stream->next++];
	return 0;
}

/* ---- its batches */

struct cells {
	union opk_cell cells[COLUMNS];
	bool known[COLUMNS];
};

static void put_text(struct cells *row, size_t at, const char *text)
{
	row->cells[at].string = text;
	row->known[at] = text && *text;
}

static bool add_row(struct opk_arrow_builder *builder, const struct opk_listed_metric *metric)
{
	struct cells row;
	int passes = metric->sub.passes;

	put_text(&row, METRIC, metric->name);
	put_text(&row, TYPE, opk_metric_type_name(metric->of->type));
	put_text(&row, HW_UNIT, metric->of->hw_unit);
	put_text(&row, DIM_UNIT, metric->sub.dim_unit);
	put_text(&row, DESCRIPTION, metric->of->description);
	put_text(&row, SCOPE, opk_scope_name(metric->of->scope));
	row.cells[PASSES].uint = passes > 0 ? (uint64_t)passes : 0;
	row.known[PASSES] = passes > 0;
	put_text(&row, METHOD, opk_method_name(metric->sub.method));
	put_text(&row, STATUS, opk_refusal_name(passes));
	return opk_arrow_builder_add(builder, &(struct opk_table_row){ row.cells, row.known });
}

static bool add_batch(struct stream *stream, struct opk_arrow_builder *builder)
{
	struct ArrowArray *batch;

	if (!builder->rows)
		return true;
	if (!opk_grow(&stream->batches, &stream->capacity, stream->count, sizeof *stream->batches))
		return false;
	batch = &stream->batches[stream->count];
	stream->count += opk_arrow_builder_finish(batch, builder);
	return batch->release != NULL;
}

static bool fill(struct stream *stream, const struct opk_metric_list *list)
{
	struct opk_arrow_builder builder = { 0 };
	struct opk_listed_metric metric;
	bool good = opk_arrow_builder_init(&builder, columns, stream->column_count);

	for (size_t i = 0; good && i < opk_metric_list_count(list); i++) {
		opk_metric_list_get(&metric, list, i);
		good = add_row(&builder, &metric);
		if (good && opk_arrow_builder_full(&builder))
			good = add_batch(stream, &builder);
	}
	good = good && add_batch(stream, &builder);
	opk_arrow_builder_clear(&builder);
	return good;
}

int opk_metric_list_export_arrow(struct ArrowArrayStream *out, const struct opk_metric_list *list)
{
	struct stream *stream = opk_alloc(sizeof *stream);

	if (!stream)
		return OPK_ENOMEM;
	stream->column_count = opk_metric_list_counted(list) ? COLUMNS : PASSES;
	stream->chip = opk_strdup(opk_catalog_chip(opk_metric_list_catalog(list)));
	if (!stream->chip || !fill(stream, list)) {
		free_stream(stream);
		return OPK_ENOMEM;
	}
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, stream };
	return OPK_OK;
}
