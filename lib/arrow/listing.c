/* SPDX-License-Identifier: BSD-2-Clause */
/* A list as a stream. Its batches are made at once: it needs the list no more. */
#include <errno.h>

#include "arrow/arrow_inside.h"
#include "base/listing.h"

struct stream {
	char *chip; /* NULL: not of one */
	struct opk_table_column *columns;
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
	for (size_t i = 0; stream->columns && i < stream->column_count; i++)
		free((char *)(uintptr_t)stream->columns[i].header.name);
	free(stream->columns);
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

	stream->failed = !opk_arrow_schema(schema, stream->columns, stream->column_count, about,
	                                   stream->chip != NULL);
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

/* Whether there is a value, which builders take as that of a plain type. */
static bool is_known(union opk_cell *cell, enum opk_cell_type type)
{
	union opk_cell given = *cell;

	switch (type) {
	case OPK_CELL_STRING:
		return given.string && *given.string;
	case OPK_CELL_OPTIONAL:
		cell->uint = given.optional.uint;
		return given.optional.known;
	case OPK_CELL_OPTIONAL_BOOL:
		cell->boolean = given.optional.uint;
		return given.optional.known;
	case OPK_CELL_LIST:
	case OPK_CELL_EITHER:
		return false;
	default:
		return true;
	}
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

static bool fill(struct stream *stream, const struct opk_listing *list)
{
	opk_autofree union opk_cell *cells = opk_alloc_array(stream->column_count + 1,
	                                                     sizeof *cells);
	opk_autofree bool *known = opk_alloc_array(stream->column_count + 1, sizeof *known);
	struct opk_arrow_builder builder = { 0 };
	size_t unused;
	const struct opk_column *columns = opk_listing_columns(list, &unused);
	bool good = cells && known
	            && opk_arrow_builder_init(&builder, stream->columns, stream->column_count);

	for (size_t i = 0; good && i < opk_listing_count(list); i++) {
		for (size_t j = 0; j < stream->column_count; j++) {
			cells[j] = opk_listing_get(list, i)[j];
			known[j] = is_known(&cells[j], columns[j].type);
		}
		good = opk_arrow_builder_add(&builder, cells, known);
		if (good && opk_arrow_builder_full(&builder))
			good = add_batch(stream, &builder);
	}
	good = good && add_batch(stream, &builder);
	opk_arrow_builder_clear(&builder);
	return good;
}

static enum opk_cell_type plain_type(enum opk_cell_type type)
{
	switch (type) {
	case OPK_CELL_OPTIONAL:
		return OPK_CELL_UINT;
	case OPK_CELL_OPTIONAL_BOOL:
		return OPK_CELL_BOOL;
	case OPK_CELL_LIST:
	case OPK_CELL_EITHER:
		return OPK_CELL_STRING;
	default:
		return type;
	}
}

static bool take_columns(struct stream *stream, const struct opk_listing *list)
{
	const struct opk_column *columns = opk_listing_columns(list, &stream->column_count);

	stream->columns = opk_alloc_array(stream->column_count + 1, sizeof *stream->columns);
	for (size_t i = 0; stream->columns && i < stream->column_count; i++) {
		struct opk_column *column = &stream->columns[i].header;

		column->name = opk_strdup(columns[i].name);
		column->type = plain_type(columns[i].type);
		if (!column->name)
			return false;
	}
	return stream->columns != NULL;
}

int opk_listing_export_arrow(struct ArrowArrayStream *out, const struct opk_listing *list)
{
	struct stream *stream = opk_alloc(sizeof *stream);
	const char *chip = opk_listing_chip(list);

	if (!stream)
		return OPK_ENOMEM;
	stream->chip = chip ? opk_strdup(chip) : NULL;
	if ((chip && !stream->chip) || !take_columns(stream, list) || !fill(stream, list)) {
		free_stream(stream);
		return OPK_ENOMEM;
	}
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, stream };
	return OPK_OK;
}
