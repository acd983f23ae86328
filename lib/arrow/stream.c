/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of tables and lists as an Arrow C stream, which makes a batch when the consumer asks. */
#include <errno.h>

#include "arrow/arrow_inside.h"
#include "base/listing.h"

struct stream {
	struct opk_table *table;  /* NULL: the rows are a list's */
	struct opk_listing *list; /* or NULL */
	size_t next;              /* the next row of the list */
	bool *known;              /* one for each column: the list's current row has a value */
	struct opk_table_column *of_list;
	const struct opk_table_column *columns; /* of the table or the list */
	size_t column_count;
	struct opk_arrow_builder builder;
	int failed;  /* errno of the failure that ended the stream; 0: no failure */
	char *error; /* the failure's text; NULL: no failure, or out of memory */
};

static void free_stream(struct stream *stream)
{
	opk_arrow_builder_clear(&stream->builder);
	opk_table_free(stream->table);
	opk_listing_free(stream->list);
	free(stream->known);
	free(stream->of_list);
	free(stream->error);
	free(stream);
}

static void release(struct ArrowArrayStream *out)
{
	free_stream(out->private_data);
	*out = (struct ArrowArrayStream){ 0 };
}

/* ---- errors */

static char *causes_of(const struct opk_ctx *ctx)
{
	struct opk_buf text = { 0 };

	for (size_t i = 0; i < opk_error_count(ctx); i++) {
		opk_buf_add_text(&text, i ? "\n" : "");
		opk_buf_add_text(&text, opk_error_message(ctx, i));
	}
	return opk_buf_take_text(&text);
}

static int fail(struct stream *stream, int code)
{
	stream->failed = code == OPK_ENOMEM ? ENOMEM : EIO;
	if (code != OPK_ENOMEM)
		stream->error = causes_of(opk_table_error(stream->table));
	return stream->failed;
}

static const char *get_last_error(struct ArrowArrayStream *out)
{
	const struct stream *stream = out->private_data;

	if (stream->error)
		return stream->error;
	return stream->failed ? "out of memory" : NULL;
}

/* ---- schema and batches */

static bool describe(struct ArrowSchema *schema, const struct stream *stream)
{
	static const char *const facts[] = { "chip", "profiler", "set", "recorded_set" };
	enum { FACTS = sizeof facts / sizeof *facts };
	struct opk_property about[FACTS] = { { "chip", NULL } };
	size_t count = FACTS;

	for (size_t i = 0; stream->table && i < FACTS; i++)
		about[i] = (struct opk_property){ facts[i],
			                          opk_table_about(stream->table, facts[i]) };
	if (stream->list) {
		about->value = opk_listing_chip(stream->list);
		count = about->value != NULL;
	}
	return opk_arrow_schema(schema, stream->columns, stream->column_count, about, count);
}

static int get_schema(struct ArrowArrayStream *out, struct ArrowSchema *schema)
{
	struct stream *stream = out->private_data;

	if (stream->failed)
		return stream->failed;
	return describe(schema, stream) ? 0 : fail(stream, OPK_ENOMEM);
}

/* *cells is NULL after the last row. */
static int next_row(const union opk_cell **cells, const bool **known, struct stream *stream)
{
	if (stream->table)
		return opk_table_next(cells, known, stream->table);
	*cells = NULL;
	if (stream->next == opk_listing_count(stream->list))
		return OPK_OK;
	*cells = opk_listing_get(stream->list, stream->next++);
	*known = stream->known;
	for (size_t i = 0; i < stream->column_count; i++)
		stream->known[i] = cell_is_known(stream->columns[i].header.type, &(*cells)[i]);
	return OPK_OK;
}

static int fill(struct stream *stream)
{
	const union opk_cell *cells;
	const bool *known;

	do {
		TRY(next_row(&cells, &known, stream));
		if (cells && !opk_arrow_builder_add(&stream->builder, cells, known))
			return OPK_ENOMEM;
	} while (cells && !opk_arrow_builder_full(&stream->builder));
	return OPK_OK;
}

/* A released array marks the end of the stream. */
static int get_next(struct ArrowArrayStream *out, struct ArrowArray *array)
{
	struct stream *stream = out->private_data;
	int code;

	if (stream->failed)
		return stream->failed;
	*array = (struct ArrowArray){ 0 };
	code = fill(stream);
	if (!code && stream->builder.rows && !opk_arrow_builder_finish(array, &stream->builder))
		code = OPK_ENOMEM;
	return code ? fail(stream, code) : 0;
}

/* ---- begin */

static int begin(struct ArrowArrayStream *out, struct stream *stream)
{
	if (!opk_arrow_builder_init(&stream->builder, stream->columns, stream->column_count))
		return OPK_ENOMEM;
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, stream };
	return OPK_OK;
}

int opk_table_export_arrow(struct ArrowArrayStream *out, struct opk_table *table)
{
	struct stream *stream = opk_alloc(sizeof *stream);

	if (!stream)
		return OPK_ENOMEM;
	opk_table_columns(table, &stream->column_count);
	stream->columns = opk_table_get_column(table, 0);
	if (begin(out, stream)) {
		free_stream(stream);
		return OPK_ENOMEM;
	}
	stream->table = table;
	return OPK_OK;
}

int opk_listing_export_arrow(struct ArrowArrayStream *out, const struct opk_listing *list)
{
	struct stream *stream = opk_alloc(sizeof *stream);
	const struct opk_column *columns;

	if (!stream)
		return OPK_ENOMEM;
	stream->list = opk_listing_hold(list);
	columns = opk_listing_columns(list, &stream->column_count);
	stream->known = opk_alloc_array(stream->column_count + 1, sizeof *stream->known);
	stream->of_list = opk_alloc_array(stream->column_count + 1, sizeof *stream->of_list);
	stream->columns = stream->of_list;
	for (size_t i = 0; stream->of_list && i < stream->column_count; i++)
		stream->of_list[i].header = columns[i];
	if (!stream->known || !stream->of_list || begin(out, stream)) {
		free_stream(stream);
		return OPK_ENOMEM;
	}
	return OPK_OK;
}
