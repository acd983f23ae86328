/* SPDX-License-Identifier: BSD-2-Clause */
/* A table as Arrow's C stream: batch after batch, as the consumer asks for them. */
#include <errno.h>

#include "arrow/arrow_inside.h"

struct stream {
	struct opk_table *table;
	struct opk_arrow_builder builder;
	int failed;  /* errno of the failure, after which there are no more batches; 0: none */
	char *error; /* what it was; NULL: none, or out of memory */
};

static void free_stream(struct stream *stream)
{
	opk_arrow_builder_clear(&stream->builder);
	opk_table_free(stream->table);
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

/* ---- what it gives */

/* The columns are in one piece. */
static bool describe(struct ArrowSchema *schema, const struct opk_table *table)
{
	static const char *const facts[] = { "chip", "profiler", "set", "recorded_set" };
	struct opk_property about[sizeof facts / sizeof *facts];
	size_t count = sizeof facts / sizeof *facts, columns;

	for (size_t i = 0; i < count; i++)
		about[i] = (struct opk_property){ facts[i], opk_table_about(table, facts[i]) };
	opk_table_columns(table, &columns);
	return opk_arrow_schema(schema, opk_table_get_column(table, 0), columns, about, count);
}

static int get_schema(struct ArrowArrayStream *out, struct ArrowSchema *schema)
{
	struct stream *stream = out->private_data;

	if (stream->failed)
		return stream->failed;
	return describe(schema, stream->table) ? 0 : fail(stream, OPK_ENOMEM);
}

static int fill(struct stream *stream)
{
	const union opk_cell *cells;
	const bool *known;
	int code;

	do {
		code = opk_table_next(&cells, &known, stream->table);
		if (!code && cells && !opk_arrow_builder_add(&stream->builder, cells, known))
			code = OPK_ENOMEM;
	} while (!code && cells && !opk_arrow_builder_full(&stream->builder));
	return code;
}

/* The end is a released array. */
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

int opk_table_export_arrow(struct ArrowArrayStream *out, struct opk_table *table)
{
	struct stream *stream = opk_alloc(sizeof *stream);
	size_t columns;

	opk_table_columns(table, &columns);
	if (!stream
	    || !opk_arrow_builder_init(&stream->builder, opk_table_get_column(table, 0), columns)) {
		free(stream);
		return OPK_ENOMEM;
	}
	stream->table = table;
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, stream };
	return OPK_OK;
}
